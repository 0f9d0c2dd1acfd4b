"""The models on offer and the one that will answer next: their names as every page's pickers say them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from forky_core.conversation.session import Models
from forky_core.llm.contract import OFFLINE, ModelInfo
from forky_core.model.errors import NotFound
from pages.ui.components.markdown import showable
from pages.ui.frame import Frame
from pages.ui.session import TabSession

ONCE = "chat.once"
"""The choice that holds the model of the next question alone, "" where the branch's answers."""

_ADDED, _BEFORE = "chat.added.", "chat.added_before."


@dataclass(frozen=True, slots=True)
class Asking:
    """The model that will answer the next question; the first of them, where several do."""

    name: str
    info: ModelInfo | None
    """None: nobody offers it any more."""
    once: bool
    """For the next question only."""


def asking(here: Frame) -> Asking:
    once = here.session.choices.get(ONCE, "")
    name = once or here.chat.people.answering[0]
    return Asking(name, known_model(here.forky.models, name), bool(once))


def added(here: Frame) -> tuple[str, ...]:
    """The models that are to answer beside that one, each on a branch of its own."""
    first = asking(here).name
    listed = here.session.choices.get(f"{_ADDED}{here.chat.id}", "").splitlines()
    return tuple(model for model in listed if model != first)


def add(here: Frame, models: Iterable[str]) -> None:
    """Have these models answer questions in this conversation beside the branch's own."""
    here.session.choices[f"{_ADDED}{here.chat.id}"] = "\n".join(models)


def added_before(here: Frame) -> tuple[str, ...]:
    """The models that answered the last such question beside the branch's own."""
    return tuple(here.session.choices.get(f"{_BEFORE}{here.chat.id}", "").splitlines())


def back_to_one(tab: TabSession, conversation: str, also: Iterable[str]) -> None:
    """After a question that `also` answered: the next one is for one model again, and these can be added anew."""
    if models := "\n".join(also):
        tab.choices[f"{_ADDED}{conversation}"], tab.choices[f"{_BEFORE}{conversation}"] = "", models


def label_of(models: Models, name: str) -> str:
    info = known_model(models, name)
    return info.label if info is not None else name


def known_model(models: Models, name: str) -> ModelInfo | None:
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


def choose_model(
    models: Models,
    label: str,
    key: str,
    chosen: str | None = None,
    *,
    none: str = "",
    offline: bool = True,
    without: Collection[str] = (),
    follows: bool = False,
    **named: Any,
) -> str | None:
    """Draw a choice of one model and return its name.

    `chosen` is chosen at first, and offered also where nobody else offers it; with `follows` it is chosen in each run.
    `none` says what it means that no model is chosen, and is the first entry, "". `offline` lists the offline models,
    too. `named` is handed on to Streamlit.
    """
    offered = {
        name: info
        for name, info in grouped(models).items()
        if name not in without and (offline or info.provider != OFFLINE)
    }
    names = [*([""] if none else []), *([chosen] if chosen and chosen not in offered else []), *offered]
    index: int | None = names.index(chosen or "") if chosen or none else None
    if follows:
        st.session_state[key], index = chosen or "", 0
    return st.selectbox(
        label,
        names,
        index=index,
        key=key,
        format_func=lambda name: (
            model_title(offered.get(name) or known_model(models, name), name) if name else none
        ),
        **named,
    )


def _offered(models: Models) -> dict[str, ModelInfo]:
    return {info.name: info for info in models.models()}


def model_title(info: ModelInfo | None, name: str) -> str:
    """As a line of a picker, which reads no Markdown."""
    if info is None:
        return showable(f"{name} (not on offer)")
    same = info.label.startswith(info.provider)
    return showable(info.label if same else f"{info.provider} · {info.label}")
