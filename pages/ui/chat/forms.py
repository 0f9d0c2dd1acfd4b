"""The forms that open below a cell: edit and ask again, answer again, tag, threads; and a prune's dialog."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from forky_core.conversation.namespaces.branches import PrunePlan
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import count
from pages.ui.chat.threads import draw_threads
from pages.ui.components.buttons import button, main_button, submit_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import choose_model
from pages.ui.components.notice import done
from pages.ui.frame import Frame, go, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.person import viewer
from pages.ui.session import stop_acting

_Verb = Callable[[Frame, MessageId], None]
FORMS = frozenset({"edit", "regenerate", "tag", "threads"})


def draw_form(here: Frame, act: str, message: Message) -> None:
    """Keys: `chat.form_text`, `chat.form_name`, `chat.form_model`, `chat.form_go`, `chat.form_cancel`."""
    with st.container(key="chat-form", border=True):
        if act == "threads":
            draw_threads(here, message)
            return
        with kept_fields(act, here.chat.id, here.chat.branch_name, message.id):
            match act:
                case "tag":
                    _name_tag(here, message)
                case "edit":
                    _edit(here, message)
                case "regenerate":
                    _regenerate(here, message)


def _name_tag(here: Frame, message: Message) -> None:
    with st.form("chat-named", border=False):
        st.text_input("Name of the tag", key="chat.form_name", placeholder="a word or two", max_chars=100)
        with st.container(horizontal=True):
            submit_button("Tag", "chat.form_go", _carry_out, here, _tag, message.id)
            st.form_submit_button("Cancel", key="chat.form_cancel", on_click=_close, args=(here,))


def _edit(here: Frame, message: Message) -> None:
    st.text_area("Say this instead", message.text, key="chat.form_text", height="content")
    _buttons(
        here,
        "Ask on a new branch" if message.role == "user" else "Keep on a new branch",
        _say_instead,
        message,
    )
    st.caption("What was said stays as it is, on its own branch.")


def _regenerate(here: Frame, message: Message) -> None:
    call = here.origins.of(message.id).call
    # What a model said under its own name, that one is asked for again.
    own = call.model if call is not None and message.name else None
    current = own or here.chat.rules.current.model or here.forky.models.default()
    choose_model(here.forky.models, "Answer again with", "chat.form_model", current)
    if here.chat.rules.current.documents.on:
        searched = call.consulted.search if call is not None and call.consulted is not None else ""
        st.text_input("Search the documents for", searched, key="chat.form_search", max_chars=400)
    _buttons(here, "Answer again", _answer_again, message)


def _buttons(here: Frame, label: str, verb: _Verb, message: Message) -> None:
    with st.container(horizontal=True):
        main_button(label, "chat.form_go", _carry_out, here, verb, message.id)
        button("Cancel", "chat.form_cancel", _close, here)


def _close(here: Frame) -> None:
    here.session.acting = None


def _carry_out(here: Frame, verb: _Verb, id: MessageId) -> None:
    """Once: a browser that shows the form still may press again after the press that closed it."""
    if here.session.acting is not None:
        verb(here, id)


def _tag(here: Frame, id: MessageId) -> None:
    with saying(here.session):
        done(here.session, here.chat.tags.add(st.session_state["chat.form_name"], id))
        here.session.acting = None


def _say_instead(here: Frame, id: MessageId) -> None:
    with saying(here.session):
        text = st.session_state["chat.form_text"]
        forked, _ = here.chat.edit(id, text, branch=viewer().fork_name(here.chat, text, own=False))
        here.session.acting = None
        go(forked)


def _answer_again(here: Frame, id: MessageId) -> None:
    with saying(here.session):
        search = str(st.session_state.get("chat.form_search") or "")
        chat, _ = here.chat.regenerate(id, model=st.session_state["chat.form_model"], search=search)
        here.session.acting = None
        go(chat)


@st.dialog("Clear away", icon=":material/content_cut:", on_dismiss=stop_acting)
def confirm_prune(here: Frame, id: MessageId) -> None:
    """Keys: `prune.go`, `prune.cancel`."""
    try:
        plan = here.chat.branches.plan_prune(id)
    except ForkyError as error:
        st.markdown(plain_label(str(error), 400))
        return
    st.markdown(f"This puts **{count(plan.hidden, 'message')}** out of sight, from here to the end.")
    for sentence in _effects(plan.removed, plan.moved.name if plan.moved else None):
        st.markdown(f"- {plain_label(sentence, 300)}")
    st.caption("Undo brings everything back.")
    with st.container(horizontal=True):
        pruned = main_button("Clear away", "prune.go", _prune, here, plan)
        if button("Cancel", "prune.cancel", _close, here) or pruned:
            st.rerun()


def _prune(here: Frame, plan: PrunePlan) -> None:
    here.session.acting = None
    with saying(here.session):
        done(here.session, here.chat.branches.prune(plan))
        names = here.chat.view.branches
        go(here.chat if here.chat.branch_name in names else here.chat.checkout(next(iter(names))))


def _effects(removed: tuple[str, ...], moved: str | None) -> list[str]:
    effects = []
    if removed:
        names = ", ".join(f"“{name}”" for name in removed[:6]) + (" …" if len(removed) > 6 else "")
        effects.append(f"{'This branch goes' if len(removed) == 1 else 'These branches go'}: {names}.")
    if moved:
        effects.append(f"“{moved}” is set back to before it.")
    return effects
