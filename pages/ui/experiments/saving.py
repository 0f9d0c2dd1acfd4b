"""Saving a changed experiment from a form of a dialog."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import streamlit as st

from forky_core.experiments.experiments import Experiments
from forky_core.model.errors import BadContent, ForkyError, NothingToDo
from forky_core.model.experiment import Experiment
from forky_core.model.parts import Json
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.frame import Frame

_MISTAKE = "experiments.mistake"


def save(frame: Frame, experiments: Experiments, make: Callable[[], Experiment]) -> None:
    """In a handler: save what `make` returns. What is wrong with it is said by `close_after`."""
    st.session_state.pop(_MISTAKE, None)
    try:
        done(frame.session, experiments.save(make()))
    except NothingToDo:
        pass
    except ForkyError as error:
        st.session_state[_MISTAKE] = str(error)


def close_after(pressed: bool) -> None:  # noqa: FBT001 - what the button returned
    """In a dialog: close it once its button was pressed; after a mistake it stays and says what is wrong."""
    if not pressed:
        return
    mistake = st.session_state.pop(_MISTAKE, None)
    if mistake is None:
        st.rerun()
    st.caption(f":material/error: {plain_label(mistake, 400)}")


def there(experiments: Experiments, name: str) -> Experiment:
    """In a dialog: the experiment. Closes the dialog where it was deleted meanwhile, here or in another tab."""
    if name not in experiments:
        st.rerun()
    return experiments[name]


def forget_mistakes() -> None:
    """When a dialog opens."""
    st.session_state.pop(_MISTAKE, None)


def typed(key: str) -> str:
    """In a handler: what stands in a field."""
    return str(st.session_state.get(key) or "")


def values_in(text: str, what: str) -> dict[str, Json]:
    """`name: value`, one a line; a value that is JSON is taken as such. Raises BadContent."""
    made: dict[str, Json] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise BadContent(
                f"“{line[:60]}” is no {what}.",
                f"Write one a line: {'temperature: 0' if what == 'parameter' else 'country: Italy'}",
            )
        try:
            made[name.strip()] = json.loads(value)
        except ValueError:
            made[name.strip()] = value.strip()
    return made


def lines_of(values: Mapping[str, Json]) -> str:
    """The values as `values_in` reads them."""
    return "\n".join(f"{name}: {_written(value)}" for name, value in values.items())


def _written(value: Json) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return json.dumps(value, ensure_ascii=False) if "\n" in value or value != value.strip() else value
    return json.dumps(value, ensure_ascii=False)
