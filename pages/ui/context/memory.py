"""The form of a memory policy, for the branch or for the conversation, with what it does to the prompt cache."""

from __future__ import annotations

import streamlit as st

from forky_core.context.memory_policies import label_of, policies, policy_of
from forky_core.context.memory_policy import MemoryPolicy
from forky_core.model.memory import MOST, Memory
from pages.ui.components.choices import choose_one
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import choose_model
from pages.ui.components.notice import done
from pages.ui.frame import Frame, saying

_INHERIT = "inherit"


def draw_memory(here: Frame) -> None:
    """Keys: `context.whose`, `context.save`; `context.policy.…`, `.amount.…`, `.share.…`, `.by.…`, which begin anew
    with what they stand for.
    """
    with st.container(key="context-memory"):
        name = plain_label(here.chat.branch_name, 40)
        whose = choose_one(
            "Memory",
            {"branch": f"Memory of “{name}”", "conversation": "Of the whole conversation"},
            "context.whose",
        )
        own = here.chat.rules.current.memory if whose == "branch" else here.chat.view.memory
        options: list[str] = [
            *([_INHERIT] if whose == "branch" else []),
            *(policy.name for policy in policies()),
        ]
        policy_now = own.policy if own is not None and own.policy in options else options[0]
        mark = f"{here.chat.id}.{here.chat.branch_name}.{label_of(own) if own else ''}"
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
            f"{policy_of(shown).cache_hint} System prompts, pinned messages and the newest question are always sent."
        )


def _named(here: Frame, option: str) -> str:
    if option == _INHERIT:
        return f"As the conversation: {label_of(here.chat.view.memory)}"
    return policy_of(Memory(option)).label


def _amounts(here: Frame, name: str, own: Memory | None, mark: str) -> Memory | None:
    """What the fields beside the policy say; None: as the conversation."""
    if name == _INHERIT:
        return None
    policy = policy_of(Memory(name))
    if not policy.unit:
        return Memory(name)
    now = own if own is not None and own.policy == name else None
    share = _share(policy, now, mark)
    if share:
        return Memory(name, share=share)
    amount = st.number_input(
        policy.unit,
        1,
        MOST,
        policy.least(now) if now is not None else policy.amount,
        key=f"context.amount.{name}.{mark}",
        width=200,
    )
    return Memory(name, int(amount), model=_by(here, now, mark) if policy.written else None)


def _share(policy: MemoryPolicy, now: Memory | None, mark: str) -> float | None:
    """The share of the window that the field says; None where an amount counts."""
    if policy.share is None:
        return None
    share = policy.share if now is None or now.share is None else now.share
    if now is not None and now.amount is not None:
        share = 0.0
    percent = st.number_input(
        "% of the model's window",
        0,
        100,
        round(share * 100),
        key=f"context.share.{mark}",
        width=170,
        help=f"0: a number of {policy.unit.lower()} instead",
    )
    return percent / 100 if percent else None


def _by(here: Frame, now: Memory | None, mark: str) -> str | None:
    chosen, key = now.model if now is not None else None, f"context.by.{mark}"
    none = "rules, without a model"
    return (
        choose_model(here.forky.models, "Written by", key, chosen, none=none, offline=False, width=230)
        or None
    )


def _save(here: Frame, whose: str, wanted: Memory | None) -> None:
    with saying(here.session):
        if whose == "branch":
            done(here.session, here.chat.rules.set_memory(wanted))
        else:
            done(here.session, here.chat.rules.set_conversation_memory(wanted or Memory()))
