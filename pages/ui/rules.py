"""With what a branch asks: its model, its system prompt, its parameters (law 4). Changing them forks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from forky_core.errors import NotFound
from forky_core.llm.contract import ModelInfo
from forky_core.model import Rules
from forky_core.parts import Json
from forky_core.repo.repo import Models
from pages.ui.frame import Frame, saying
from pages.ui.markdown import plain_label, showable

_NUMBERS = ("temperature", "max_tokens")
ONCE = "chat.once"
"""The choice that holds the model of the next question alone, "" where the branch's answers."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The model that will answer the next question."""

    name: str
    info: ModelInfo | None
    """None: nobody offers it any more."""
    once: bool
    """For the next question only."""


def asking(here: Frame) -> Asking:
    once = here.session.choices.get(ONCE, "")
    name = once or here.chat.rules.model or here.forky.models.default()
    return Asking(name, _known(here.forky.models, name), bool(once))


def label_of(models: Models, name: str) -> str:
    info = _known(models, name)
    return info.label if info is not None else name


def _known(models: Models, name: str) -> ModelInfo | None:
    """Also of a model that can be asked and is not listed, such as an older one of a provider with a key."""
    if (info := _offered(models).get(name)) is not None:
        return info
    try:
        return models.model(name).info()
    except NotFound:
        return None


def grouped(models: Models) -> dict[str, ModelInfo]:
    """The models on offer by name, those of one provider together, in the order the catalogue gives them."""
    offered = _offered(models)
    order = {provider: i for i, provider in enumerate(dict.fromkeys(i.provider for i in offered.values()))}
    return dict(sorted(offered.items(), key=lambda item: order[item[1].provider]))


def _offered(models: Models) -> dict[str, ModelInfo]:
    return {info.name: info for info in models.models()}


def model_title(info: ModelInfo | None, name: str) -> str:
    """As a line of a picker, which reads no Markdown."""
    if info is None:
        return showable(f"{name} (not on offer)")
    same = info.label.startswith(info.provider)
    return showable(info.label if same else f"{info.provider} · {info.label}")


def draw_model_picker(here: Frame) -> None:
    """Keys: `chat.model.<n>`, `chat.model_once`."""
    offered, now = grouped(here.forky.models), asking(here)
    names = list(offered) if now.name in offered else [now.name, *offered]
    key = anew("chat.model", f"{here.chat.id}/{here.chat.branch_name}/{now.name}")
    with st.popover(
        plain_label(model_title(now.info, now.name), 40) + (" · once" if now.once else ""),
        key="chat.models",
        type="tertiary",
        icon=":material/neurology:",
    ):
        st.selectbox(
            "Model",
            names,
            index=names.index(now.name),
            key=key,
            format_func=lambda name: model_title(offered.get(name) or _known(here.forky.models, name), name),
            on_change=_choose,
            args=(here, key),
        )
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
    current = here.chat.rules.model or here.forky.models.default()
    if name != current:
        with saying(here.session):
            here.chat.set_rules(model=name)
            st.rerun()


def draw_rules(here: Frame) -> None:
    """Keys: `chat.system.<n>`, `chat.temperature.<n>`, `chat.max_tokens.<n>`, `chat.rules_save`."""
    rules = here.chat.rules
    mark = f"{here.chat.id}/{here.chat.branch_name}/{hash((rules.system, str(rules.parameters)))}"
    keys = {name: anew(f"chat.{name}", mark) for name in ("system", *_NUMBERS)}
    with st.popover("Settings", key="chat.rules", type="tertiary", icon=":material/tune:"):
        st.text_area(
            f"System prompt of {plain_label(here.chat.branch_name)}",
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
        st.button(
            "Save for this branch", key="chat.rules_save", type="primary", on_click=_save, args=(here, keys)
        )
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
    said, rules = {name: st.session_state[key] for name, key in keys.items()}, here.chat.rules
    parameters = {k: v for k, v in rules.parameters.items() if k not in _NUMBERS}
    parameters |= {name: said[name] for name in _NUMBERS if said[name] is not None}
    with saying(here.session):
        here.session.say(here.chat.set_rules(system=said["system"] or None, parameters=parameters).sentence)
    st.rerun()


def _number(parameters: Mapping[str, Json], name: str) -> float | None:
    value = parameters.get(name)
    return min(max(float(value), 0.0), 2.0) if isinstance(value, int | float) else None


def _whole(parameters: Mapping[str, Json]) -> int | None:
    value = parameters.get("max_tokens")
    return value if isinstance(value, int) and value > 0 else None


def anew(key: str, mark: str) -> str:
    """A key for a widget that begins anew whenever what it stands for changed elsewhere (another branch, undo).

    Its value must be its default and not set through the session: a popover mounts its widgets when it is opened, and
    what the session set in an earlier run is lost on them.
    """
    marks: dict[str, tuple[str, int]] = st.session_state.setdefault("chat._marks", {})
    seen, number = marks.get(key, ("", 0))
    if seen != mark:
        number += 1
        marks[key] = (mark, number)
    return f"{key}.{number}"
