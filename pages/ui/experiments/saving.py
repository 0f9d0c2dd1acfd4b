"""Saving a changed experiment from a form of a dialog."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import streamlit as st

from forky_core.experiments.experiments import Experiments
from forky_core.model.errors import BadContent, ForkyError, NothingToDo
from forky_core.model.experiment import Experiment
from forky_core.model.parts import Json
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.frame import Frame

_MISTAKE = "experiments.mistake"


def save(frame: Frame, experiments: Experiments, make: Callable[[], Experiment]) -> None:
    """Save what `make` returns; `close_after` shows a mistake in it. Call it in a handler."""
    st.session_state.pop(_MISTAKE, None)
    try:
        done(frame.session, experiments.save(make()))
    except NothingToDo:
        pass
    except ForkyError as error:
        st.session_state[_MISTAKE] = str(error)


def save_button(
    frame: Frame, experiments: Experiments, label: str, key: str, icon: str, make: Callable[[], Experiment]
) -> bool:
    """A quiet button of a dialog that saves what `make` returns. Key: `experiments.<key>`."""
    return quiet_button(label, f"experiments.{key}", save, frame, experiments, make, icon=icon)


def close_after(pressed: bool) -> None:  # noqa: FBT001 - what the button returned
    """Close the dialog if its button was pressed, or show the mistake that `save` found. Call it in a dialog."""
    if not pressed:
        return
    mistake = st.session_state.pop(_MISTAKE, None)
    if mistake is None:
        st.rerun()
    st.caption(f":material/error: {plain_label(mistake, 400)}")


def there(experiments: Experiments, name: str) -> Experiment:
    """Return the experiment, or close the dialog if it was deleted meanwhile. Call it in a dialog."""
    if name not in experiments:
        st.rerun()
    return experiments[name]


def forget_mistakes() -> None:
    """Forget the mistake of an earlier dialog. Call it when a dialog opens."""
    st.session_state.pop(_MISTAKE, None)


def typed(key: str) -> str:
    """Return the text of a field. Call it in a handler."""
    return str(st.session_state.get(key) or "")


def values_in(text: str, what: str) -> dict[str, Json]:
    """Read lines of the form `name: value`, in which a value may be JSON; BadContent names the line that is none."""
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
    """Write values as lines that `values_in` reads."""
    return "\n".join(f"{name}: {_written(value)}" for name, value in values.items())


def _written(value: Json) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return json.dumps(value, ensure_ascii=False) if "\n" in value or value != value.strip() else value
    return json.dumps(value, ensure_ascii=False)
