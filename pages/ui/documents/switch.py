"""The composer's switch: whether this branch answers from documents, and what the next question is searched for as."""

from __future__ import annotations

import streamlit as st

from forky_core.llm.contract import OFFLINE
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button
from pages.ui.components.links import page_link
from pages.ui.components.models import choose_model
from pages.ui.components.notice import done
from pages.ui.drafts import drafts
from pages.ui.frame import Frame, saying
from pages.ui.streamlit_patches.renewing import anew


def draw_document_use(here: Frame, place: str) -> None:
    """Keys: `chat.documents.<n>`, `chat.condenser.<n>`, `chat.search.<n>`, `chat.word_search`."""
    use = here.chat.rules.current.documents
    on = " · on" if use.on else ""
    with st.expander(f"Documents{on}", key="chat.documents_use", icon=":material/description:"):
        mark = f"{here.chat.id}/{here.chat.branch_name}/{use.on}/{use.condenser}"
        key = anew("chat.documents", mark)
        st.toggle(
            "Answer from documents",
            use.on,
            key=key,
            help="What bears on the question is sent along behind the history, and the answer says where it stands",
            on_change=_switch,
            args=(here, key),
        )
        if use.on:
            _draw_count(here)
        page_link("documents.py", "Add or read documents", icon="arrow_forward")
        if use.on:
            _draw_search(here, place)
            _draw_wording(here, place, use.condenser)
            _draw_condenser(here, use.condenser)


def _draw_count(here: Frame) -> None:
    documents, passages = here.chat.documents.size
    if documents:
        st.caption(f"{count(documents, 'document')}, {count(passages, 'passage')} can be found from here.")
    else:
        st.caption("There is no document yet: add some first. Other branches are looked through as well.")


def _draw_search(here: Frame, place: str) -> None:
    """What the question will be searched for as; empty: what the rule makes of it, shown as the placeholder."""
    draft = drafts().at(place)
    typed = draft.text
    meant = "the question, made to stand alone"
    if typed.strip():
        try:
            document_search = here.chat.documents.find_for(typed, at=here.at)
        except ForkyError:
            document_search = None
        meant = document_search.search if document_search is not None else meant
    key = anew("chat.search", f"{place}/{here.chat.branch.head}/{draft.search}")
    st.text_input(
        "Search the documents for",
        draft.search,
        key=key,
        placeholder=meant,
        max_chars=400,
        help="The question, made to stand alone; what is asked stays as it is",
        on_change=_word,
        args=(place, key),
    )


def _word(place: str, key: str) -> None:
    drafts().word(place, str(st.session_state[key] or ""))


def _draw_wording(here: Frame, place: str, condenser: str | None) -> None:
    """Key: `chat.word_search`. Have the model word the search before anything is sent, to be read and changed."""
    if condenser is None or not quiet_button(
        "Word it now",
        "chat.word_search",
        icon="edit_note",
        disabled=not drafts().at(place).text.strip(),
        help="Asks the model below; otherwise it is asked once the question is sent",
    ):
        return
    with saying(here.session):
        worded = here.chat.documents.write_query(drafts().at(place).text, at=here.at)
        if worded:
            drafts().word(place, worded)
        else:
            here.session.say("The model worded nothing of use: the rule's wording stands.")
    st.rerun()


def _draw_condenser(here: Frame, condenser: str | None) -> None:
    if not condenser and all(info.provider == OFFLINE for info in here.forky.models.models()):
        return
    key = anew("chat.condenser", f"{here.chat.id}/{here.chat.branch_name}/{condenser}")
    choose_model(
        here.forky.models,
        "Follow-up questions are worded by",
        key,
        condenser,
        none="A rule, without a model",
        offline=False,
        on_change=_condense,
        args=(here, key),
    )


def _switch(here: Frame, key: str) -> None:
    with saying(here.session):
        done(here.session, here.chat.documents.use(on=bool(st.session_state[key])))
    st.rerun()


def _condense(here: Frame, key: str) -> None:
    with saying(here.session):
        done(here.session, here.chat.documents.use(on=True, condenser=st.session_state[key] or None))
    st.rerun()
