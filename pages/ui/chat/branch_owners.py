"""Whose a branch is, and whether it is protected. Only a team's server shows it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import suggested_name
from forky_core.model.errors import ForkyError
from forky_core.team.protection import rule_words
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.people.protecting import protection
from pages.ui.workspace import reader


def branch_facts(here: Frame) -> Callable[[str], str] | None:
    """A function that says of a branch whose it is and whether it is protected; None where nobody signs in."""
    who, rules = reader(), protection(here.chat)
    if who is None or rules is None:
        return None
    me, name_of, owner_of = who.access.id, here.forky.name_of, here.chat.branches.owner

    def facts(branch: str) -> str:
        owner = owner_of(branch)
        name = name_of(owner)  # From before there was a team, it is none of a person.
        made = "made by you" if owner == me else f"made by {name}" if name != owner else ""
        return ", ".join(fact for fact in ("protected" if rules.rule_for(branch) else "", made) if fact)

    return facts


def draw_whose(here: Frame) -> None:
    """Beside the box of branches: whose the one is that is checked out, and what protects it."""
    facts, rules = branch_facts(here), protection(here.chat)
    if facts is None or rules is None:
        return
    said, rule = facts(here.chat.branch_name), rules.rule_for(here.chat.branch_name)
    if said:
        icon = ":material/shield_lock: " if rule is not None else ""
        words = rule_words(rule, here.forky.name_of) if rule is not None else None
        st.caption(
            f"{icon}{plain_label(said[0].upper() + said[1:], 60)}",
            width="content",
            help=plain_label(words, 300) if words is not None else None,
        )


def why_kept_off(here: Frame, branch: str) -> str:
    """Why the reader cannot write to a branch but may fork it, as a sentence; "" if they can write."""
    rules = protection(here.chat)
    if rules is None:
        return ""
    try:
        if rules.may_write(branch) or not rules.may_fork:
            return ""
        if rules.keeps_out(branch):
            return f"“{branch}” is protected and changes by merge requests."
    except ForkyError:  # It was taken away just now; sending says so.
        return ""
    return f"You write on branches of your own, and ask for their merge into “{branch}”."


def fork_name(chat: Conversation, typed: str, text: str, *, own: bool) -> str | None:
    """The name of a fork for what is being sent: what was typed, or None for one that is made from the text.

    On a team's server it is one on which the reader may write; `own` makes one below their handle, if none was typed.
    """
    rules = protection(chat)
    if rules is None or (
        not typed.strip() and not own and rules.may_write(suggested_name(text, chat.branches))
    ):
        return typed.strip() or None
    return rules.name_for_fork(typed, text)
