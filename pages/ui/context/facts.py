"""What a context comes to: tokens, room, cost now, what was sent before, and what the prompt cache saved so far."""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.conversation.replies.preparing import PreparedRequest
from forky_core.views import captions
from forky_core.views.savings import savings
from pages.ui.components.markdown import plain_label, showable
from pages.ui.frame import Frame


def draw_facts(here: Frame, made: PreparedRequest) -> None:
    st.html(
        _bar(made) + f'<div class="fk-facts">{"".join(f"<span>{fact}</span>" for fact in _facts(made))}</div>'
    )
    for warning in made.context.warnings:
        st.warning(plain_label(warning, 400), icon=":material/warning:")
    path = {message.id for message in here.chat.path(here.at)}
    branch, whole = savings(here.origins.calls_on(path)), savings(here.origins.index.calls)
    if branch.sentence:
        said = f"On this branch {branch.sentence}."
        if whole.cached != branch.cached and whole.sentence:
            said += f" In the whole conversation {whole.sentence}."
        st.caption(plain_label(said, 400))


def _facts(made: PreparedRequest) -> list[str]:
    context = made.context
    sent = len([item for item in context.items if item.included])
    facts = [
        f"<b>{context.tokens:,}</b> tokens in {sent:,} {'item' if sent == 1 else 'items'}",
        f"{len(context.left_out):,} not sent" if context.left_out else "nothing left out",
    ]
    if context.room is not None and context.window is not None:
        room = (
            f"<b>{context.room:,}</b> of {context.window:,} left in the window"
            if context.room >= 0
            else f"<b>{-context.room:,}</b> more than the window of {context.window:,} holds"
        )
        facts.append(room)
    else:
        facts.append("the window of this model is not known")
    if made.cost is not None:
        facts.append(
            f"<b>{escape(captions.about(made.cost))}</b> to send now"
            if made.cost
            else "costs nothing to send"
        )
    if made.cached:
        facts.append(f"<b>{made.cached / max(context.tokens, 1):.0%}</b> sent before: {made.cached:,} tokens")
    else:
        facts.append("none of it was sent lately")
    facts.append(escape(showable(made.model.label)))
    return facts


def _bar(made: PreparedRequest) -> str:
    """Nothing where the window is not known: a full bar would say that there is no room left."""
    context = made.context
    if context.window is None:
        return ""
    whole = max(context.window, context.tokens, 1)
    known = made.cached / whole
    fresh = (context.tokens - made.cached) / whole
    over = " fk-over" if context.overflows else ""
    return (
        f'<div class="fk-bar{over}" role="img" aria-label="{context.tokens:,} tokens of {whole:,}">'
        f'<span class="fk-known" style="width:{known:.4%}"></span><span style="width:{fresh:.4%}"></span></div>'
    )
