"""The values of widgets, in the messages of Streamlit: what one begins with, what it is told, what is sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState


def _one(options: Sequence[str], at: int | None) -> str | None:
    return options[at] if at is not None and 0 <= at < len(options) else None


def value_of(kind: str, one: Any, *, told: bool) -> tuple[str, Any] | None:
    """The field of a widget's state and its value: as the server tells it now, or as the widget begins with."""

    def said(name: str) -> Any:
        return getattr(one, name) if one.HasField(name) else None

    match kind:
        case "text_input" | "text_area":
            return "string_value", said("value" if told else "default")
        case "selectbox" | "radio":
            return "string_value", said("raw_value") if told else _one(one.options, said("default"))
        case "checkbox":
            return "bool_value", one.value if told else one.default
        case "slider":
            return "double_array_value", list(one.value if told else one.default)
        case "multiselect":
            chosen = one.raw_values if told else [_one(one.options, at) for at in one.default]
            return "string_array_value", list(chosen)
        case "button_group":
            chosen = (
                one.raw_values if told else [_one([o.content for o in one.options], at) for at in one.default]
            )
            return "string_array_value", list(chosen)
        case "pagination":
            return "int_value", (one.value if told else 0) or one.default or 1
        case "feedback":
            return "string_value", str(one.value) if told and one.HasField("value") else ""
        case "file_uploader":
            return "file_uploader_state_value", []
    return None


def set_value(state: WidgetState, name: str, value: Any) -> None:
    """Fill the field of a state that `value_of` names."""
    if name.endswith("_array_value"):
        getattr(state, name).data.extend(value)
    elif name == "file_uploader_state_value":
        state.file_uploader_state_value.uploaded_file_info.extend(value)
    else:
        setattr(state, name, value)


def trigger(id: str) -> WidgetState:
    """The state of a button that is pressed."""
    return WidgetState(id=id, trigger_value=True)


def event(component: str, name: str, value: object) -> WidgetState:
    """The state with which a component, by its id, says that something has happened."""
    said = json.dumps([{"event": name, "value": value}])
    return WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{component}__events", json_trigger_value=said)
