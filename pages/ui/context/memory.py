"""The form of a memory policy, for the branch or for the conversation, with what it does to the prompt cache."""

from __future__ import annotations

import streamlit as st

from forky_core.model.memory import AMOUNTS, POLICIES, SHARE, Memory
from forky_core.views.context import cache_hint
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import grouped, model_title
from pages.ui.components.notice import done
from pages.ui.frame import Frame, saying

_INHERIT = "inherit"
_NAMES = {
    _INHERIT: "As the conversation",
    "everything": "Everything",
    "last": "The last messages",
    "characters": "A budget in characters",
    "tokens": "A budget in tokens",
    "summary": "A summary, and the recent messages",
}
_UNITS = {"last": "Messages", "characters": "Characters", "summary": "Recent messages"}
_RULES = "rules, without a model"


def draw_memory(here: Frame) -> None:
    """Keys: `context.whose`, `context.save`; `context.policy.…`, `.amount.…`, `.share.…`, `.by.…`, which begin anew
    with what they stand for.
    """
    with st.container(key="context-memory"):
        name = plain_label(here.chat.branch_name, 40)
        whose = st.segmented_control(
            "Memory",
            ("branch", "conversation"),
            default="branch",
            required=True,
            key="context.whose",
            format_func=lambda which: (
                f"Memory of “{name}”" if which == "branch" else "Of the whole conversation"
            ),
            label_visibility="collapsed",
        )
        own = here.chat.rules.memory if whose == "branch" else here.chat.view.memory
        options: list[str] = [*([_INHERIT] if whose == "branch" else []), *POLICIES]
        policy_now = own.policy if own is not None and own.policy in options else options[0]
        mark = f"{here.chat.id}.{here.chat.branch_name}.{own.told if own else ''}"
        with st.container(horizontal=True, vertical_alignment="bottom"):
            policy = st.selectbox(
                "What is sent",
                options,
                index=options.index(policy_now),
                format_func=lambda option: _named(here, option),
                key=f"context.policy.{whose}.{mark}",
                width=300,
            )
            wanted = _amounts(here, policy, own, mark)
            st.button(
                "Save",
                key="context.save",
                type="secondary" if wanted == own else "primary",
                disabled=wanted == own,
                on_click=_save,
                args=(here, whose, wanted),
            )
        shown = wanted if wanted is not None else here.chat.view.memory
        st.caption(
            f"{cache_hint(shown.policy)} System prompts, pinned messages and the newest question are always sent."
        )


def _named(here: Frame, option: str) -> str:
    return _NAMES[option] if option != _INHERIT else f"{_NAMES[option]}: {here.chat.view.memory.told}"


def _amounts(here: Frame, policy: str, own: Memory | None, mark: str) -> Memory | None:
    """What the fields beside the policy say; None: as the conversation."""
    if policy == _INHERIT:
        return None
    if policy == "everything":
        return Memory()
    now = own if own is not None and own.policy == policy else None
    if policy == "tokens":
        return _tokens(now, mark)
    amount = st.number_input(
        _UNITS[policy],
        1,
        100_000_000,
        now.least if now is not None else AMOUNTS[policy],
        key=f"context.amount.{policy}.{mark}",
        width=200,
    )
    return Memory(policy, int(amount), model=_by(here, now, mark) if policy == "summary" else None)


def _tokens(now: Memory | None, mark: str) -> Memory:
    share = SHARE if now is None or now.share is None else now.share
    if now is not None and now.amount is not None:
        share = 0.0
    percent = st.number_input(
        "% of the model's window",
        0,
        100,
        round(share * 100),
        key=f"context.share.{mark}",
        width=170,
        help="0: a number of tokens instead",
    )
    if percent:
        return Memory("tokens", share=percent / 100)
    amount = st.number_input(
        "Tokens",
        1,
        100_000_000,
        now.amount if now is not None and now.amount is not None else 8_000,
        key=f"context.amount.tokens.{mark}",
        width=150,
    )
    return Memory("tokens", int(amount))


def _by(here: Frame, now: Memory | None, mark: str) -> str | None:
    offered = grouped(here.forky.models)
    names = [_RULES, *(name for name in offered if not name.startswith("offline/"))]
    chosen = now.model if now is not None and now.model is not None else _RULES
    if chosen not in names:
        names.append(chosen)
    said = st.selectbox(
        "Written by",
        names,
        index=names.index(chosen),
        format_func=lambda name: name if name == _RULES else model_title(offered.get(name), name),
        key=f"context.by.{mark}",
        width=230,
    )
    return None if said == _RULES else said


def _save(here: Frame, whose: str, wanted: Memory | None) -> None:
    with saying(here.session):
        if whose == "branch":
            done(here.session, here.chat.set_memory(wanted))
        else:
            done(here.session, here.chat.set_conversation_memory(wanted or Memory()))
