"""Who takes part: who one is in this tab, everybody else with what they may spend, and when a model answers."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.namespaces.participants import MOST_MODELS
from forky_core.model.errors import ForkyError
from forky_core.model.room import ANSWERS, Answers, Person, Room, fit_name
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import grouped, model_title
from pages.ui.components.notice import done
from pages.ui.frame import Frame
from pages.ui.person import COOKIE, names_themselves
from pages.ui.session import TabSession

_ANSWERS: dict[Answers, str] = {
    "always": "Always",
    "addressed": "When it is addressed",
    "asked": "When somebody asks it to",
}


def link_people(here: Frame) -> bool:
    """A button that says who one is, where several may take part; whether it was pressed. Keys: `chat.people`."""
    room = here.chat.people.room
    if here.session.person is None and not room.several:
        return False
    others = len({person.name for person in room.people} - {here.session.person})
    me = here.session.person
    told = f"{me}, {others} more" if me and others else me or "Who are you?"
    return quiet_button(
        plain_label(told, 40), "chat.people", icon="group", help="Who takes part, and when a model answers"
    )


@st.dialog("Who takes part", width="medium")
def people(here: Frame) -> None:
    draw_people(here)


def draw_people(here: Frame) -> None:
    """Keys: `people.me`, `people.me_go`, `people.remove.<n>`, `people.name`, … `people.go`, `people.answers` …"""
    if names_themselves():
        st.caption("Whoever has a name here is known by it: the model reads who says what.")
        draw_me(here.session)
    _draw_everybody(here)
    _draw_room(here)


def draw_me(tab: TabSession) -> None:
    """Who one is. Keys: `people.me`, `people.me_go`."""
    with st.form("people-me", border=False):
        line = st.container(horizontal=True, vertical_alignment="bottom")
        line.text_input(
            "You are",
            tab.person or "",
            key="people.me",
            max_chars=60,
            placeholder="Your name",
            help="It stands on what you say from now on, and this browser remembers it. Empty: nobody in particular",
        )
        pressed = line.form_submit_button("Save my name", key="people.me_go", type="primary")
    if not pressed:
        return
    said = str(st.session_state["people.me"]).strip()
    try:
        tab.person = fit_name(said) if said else None
        tab.cookies[COOKIE] = tab.person or ""
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    st.rerun()


def _draw_everybody(here: Frame) -> None:
    room = here.chat.people.room
    for number, person in enumerate(room.people):
        with st.container(key=f"line-person-{number}", horizontal=True, vertical_alignment="center"):
            told = here.chat.people.spent(person.name).sentence
            facts = " · ".join(fact for fact in (person.address, told) if fact)
            st.markdown(
                f"**{plain_label(person.name, 60)}**"
                + (f" :gray[{plain_label(facts, 160)}]" if facts else ""),
                width="stretch",
            )
            if quiet_button(
                f"Remove {plain_label(person.name, 30)}",
                f"people.remove.{number}",
                icon="person_remove",
                help="They take part no longer; what they said stays",
            ):
                done(here.session, here.chat.people.remove(person.name))
                st.rerun()
    with st.expander("Add somebody, or change their allowance", icon=":material/person_add:"):
        _draw_person(here)


def _draw_person(here: Frame) -> None:
    with st.form("people-add", border=False):
        left, right = st.columns(2)
        left.text_input("Name", key="people.name", max_chars=60)
        right.text_input(
            "Address",
            key="people.address",
            max_chars=60,
            help="A telephone number or e-mail address, where they come from elsewhere. No model ever reads it",
        )
        left, right = st.columns(2)
        left.number_input(
            "Answers a day", 0, 1_000_000, None, key="people.messages", placeholder="any number"
        )
        right.number_input(
            "Dollars a day", 0.0, 1_000_000.0, None, step=0.5, key="people.dollars", placeholder="any amount"
        )
        st.toggle("A model answers them", value=True, key="people.asks")
        if not st.form_submit_button("Save this person", key="people.go"):
            return
    state = st.session_state
    person = Person(
        state["people.name"],
        state["people.address"],
        state["people.asks"],
        state["people.messages"],
        state["people.dollars"],
    )
    try:
        done(here.session, here.chat.people.set(person))
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    st.rerun()


def _draw_room(here: Frame) -> None:
    room, offered = here.chat.people.room, grouped(here.forky.models)
    with st.form("people-room", border=False):
        left, right = st.columns(2)
        answers = left.selectbox(
            "A model answers",
            ANSWERS,
            index=ANSWERS.index(room.answers),
            key="people.answers",
            format_func=_ANSWERS.__getitem__,
        )
        called = right.text_input(
            "It is called", room.called, key="people.called", max_chars=60, help="Or write @ to address it"
        )
        models = st.multiselect(
            "Models that answer in turn",
            [*offered, *(name for name in room.models if name not in offered)],
            default=list(room.models),
            max_selections=MOST_MODELS,
            key="people.models",
            format_func=lambda name: model_title(offered.get(name), name),
            placeholder="the branch's model alone",
            help="With two or more, each answers under its own name and reads what the others said",
        )
        if not st.form_submit_button("Save when models answer", key="people.room_go"):
            return
    try:
        done(here.session, here.chat.people.set_room(Room((), answers, called, tuple(models))))
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    st.rerun()
