"""With what a branch asks: its model, its system prompt, its parameters (law 4). Changing them forks nothing."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from forky_core.model import Rules
from forky_core.model.parts import Json
from pages.ui.components.buttons import main_button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import (
    ONCE,
    Asking,
    add,
    added,
    added_before,
    asking,
    choose_model,
    grouped,
    label_of,
    model_title,
)
from pages.ui.components.notice import done
from pages.ui.frame import Frame, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.streamlit_patches.renewing import anew

_NUMBERS = ("temperature", "max_tokens")
_SHOWN = 28
"""Letters of a model's name on its button, so that the line holds Send too."""
_MOST_ASKED = 4
"""Models that answer one question side by side."""


def draw_model_picker(here: Frame) -> None:
    """Keys: `chat.model.<n>`, `chat.model_once`; where several answer in turn, `chat.model_alone.<n>`."""
    now, turns = asking(here), here.chat.people.room.models
    title = model_title(now.info, now.name) + (" · once" if now.once else "")
    if turns and not now.once:
        title = ", ".join(label_of(here.forky.models, name) for name in turns)
    with st.popover(
        plain_label(title, _SHOWN), key="chat.models", type="tertiary", icon=":material/neurology:"
    ):
        if turns:
            _draw_in_turn(here, now)
        else:
            _draw_of_branch(here, now)


def _draw_in_turn(here: Frame, now: Asking) -> None:
    named = ", ".join(label_of(here.forky.models, name) for name in here.chat.people.room.models)
    st.caption(
        plain_label(f"In this conversation answer, in turn: {named}. “Who takes part” changes that.", 400)
    )
    key = anew("chat.model_alone", f"{here.chat.id}/{now.name if now.once else ''}")
    choose_model(
        here.forky.models,
        "Who answers the next question alone",
        key,
        now.name if now.once else None,
        placeholder="nobody: all of them answer",
        on_change=_choose_alone,
        args=(here, key),
    )


def _choose_alone(here: Frame, key: str) -> None:
    here.session.choices[ONCE] = st.session_state[key] or ""


def _draw_of_branch(here: Frame, now: Asking) -> None:
    key = anew("chat.model", f"{here.chat.id}/{here.chat.branch_name}/{now.name}")
    choose_model(here.forky.models, "Model", key, now.name, on_change=_choose, args=(here, key))
    st.toggle(
        "For the next question only",
        key="chat.model_once",
        value=now.once,
        help="Otherwise the branch keeps the model. Nothing that was said changes.",
        on_change=_choose,
        args=(here, key),
    )


def _choose(here: Frame, key: str) -> None:
    name = st.session_state[key]
    if st.session_state["chat.model_once"]:
        here.session.choices[ONCE] = name
        return
    here.session.choices[ONCE] = ""
    current = here.chat.rules.current.model or here.forky.models.default()
    if name != current:
        with saying(here.session):
            here.chat.rules.set(model=name)
            st.rerun()


def draw_added_models(here: Frame) -> None:
    """Those that answer beside the branch's, and a field for one more.

    Keys: `chat.model_drop.<n>`, `chat.model_add.<n>`.
    """
    offered, now, names = grouped(here.forky.models), asking(here), added(here)
    for number, name in enumerate(names):
        quiet_button(
            plain_label(label_of(here.forky.models, name), _SHOWN),
            f"chat.model_drop.{number}",
            add,
            here,
            [other for other in names if other != name],
            icon="close",
            help="Do not ask this model",
        )
    if not names and (
        before := [name for name in added_before(here) if name in offered and name != now.name]
    ):
        again = " and ".join(label_of(here.forky.models, name) for name in before)
        quiet_button(
            plain_label(again, _SHOWN),
            "chat.model_again",
            add,
            here,
            before,
            icon="add",
            help="Ask them beside it once more, as before",
        )
    asked = {now.name, *names}
    if offered.keys() - asked and len(asked) < _MOST_ASKED and (now.once or not here.chat.people.room.models):
        key = anew("chat.model_add", f"{here.chat.id}/{now.name}/{names}")
        choose_model(
            here.forky.models,
            "Ask a second model",
            key,
            without=asked,
            placeholder="Ask a second model",
            label_visibility="collapsed",
            on_change=_add,
            args=(here, key),
            width=134,
        )


def _add(here: Frame, key: str) -> None:
    add(here, [*added(here), *filter(None, [st.session_state[key]])])


def draw_rules(here: Frame) -> None:
    """Keys: `chat.system.<n>`, `chat.temperature.<n>`, `chat.max_tokens.<n>`, `chat.rules_save`."""
    rules = here.chat.rules.current
    mark = f"{here.chat.id}/{here.chat.branch_name}/{hash((rules.system, str(rules.parameters)))}"
    keys = {name: anew(f"chat.{name}", mark) for name in ("system", *_NUMBERS)}
    with (
        st.expander("System prompt and settings", key="chat.rules", icon=":material/tune:"),
        kept_fields("rules", here.chat.id, here.chat.branch_name),
    ):
        st.text_area(
            f"System prompt of “{plain_label(here.chat.branch_name)}”",
            rules.system or "",
            key=keys["system"],
            height=140,
            placeholder=_inherited(rules),
        )
        left, right = st.columns(2)
        left.number_input(
            "Temperature",
            0.0,
            2.0,
            _number(rules.parameters, "temperature"),
            step=0.1,
            key=keys["temperature"],
            placeholder="default",
        )
        right.number_input(
            "Max tokens",
            1,
            1_000_000,
            _whole(rules.parameters),
            step=256,
            key=keys["max_tokens"],
            placeholder="default",
        )
        main_button("Save for this branch", "chat.rules_save", _save, here, keys)
        others = sorted(set(rules.parameters) - set(_NUMBERS))
        if others:
            st.caption(plain_label(f"Also set: {', '.join(others)}. They stay."))


def _inherited(rules: Rules) -> str:
    return (
        ""
        if rules.system
        else "None of its own: a system message of the conversation speaks, if there is one."
    )


def _save(here: Frame, keys: Mapping[str, str]) -> None:
    said, rules = {name: st.session_state[key] for name, key in keys.items()}, here.chat.rules.current
    parameters = {k: v for k, v in rules.parameters.items() if k not in _NUMBERS}
    parameters |= {name: said[name] for name in _NUMBERS if said[name] is not None}
    with saying(here.session):
        done(here.session, here.chat.rules.set(system=said["system"] or None, parameters=parameters))
    st.rerun()


def _number(parameters: Mapping[str, Json], name: str) -> float | None:
    value = parameters.get(name)
    return min(max(float(value), 0.0), 2.0) if isinstance(value, int | float) else None


def _whole(parameters: Mapping[str, Json]) -> int | None:
    value = parameters.get("max_tokens")
    return value if isinstance(value, int) and value > 0 else None
