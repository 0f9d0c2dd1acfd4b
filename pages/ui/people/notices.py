"""The part of "You" about the mail in which one's notices come besides the inbox."""

from __future__ import annotations

import streamlit as st

from forky_core.team.administration import Administration
from forky_core.team.delivery import MAIL_CHOICES, Delivery, MailChoice
from pages.ui import sign_in
from pages.ui.frame import saying
from pages.ui.session import Session
from pages.ui.workspace import Reader

_LABELS = {"at once": "At once", "daily": "Once a day", "never": "Never"}


def draw_notices(people: Administration, reader: Reader, held: Session) -> None:
    """Keys: `people.notices`."""
    delivery = sign_in.DELIVERY
    if delivery is None or not delivery.has_mail:
        return
    st.markdown("#### What is sent to you")
    _draw_mail(people, reader, held, delivery)


def _draw_mail(people: Administration, reader: Reader, held: Session, delivery: Delivery) -> None:
    if not people.me.email:
        st.caption("Mentions, replies and requests are sent by mail to whoever has confirmed an address.")
        return
    st.session_state["people.notices"] = delivery.choice(reader.access.id).mail
    st.segmented_control(
        "Mentions, replies and requests by mail",
        MAIL_CHOICES,
        key="people.notices",
        required=True,
        format_func=_LABELS.__getitem__,
        on_change=_choose,
        args=(reader, held, delivery),
    )


def _choose(reader: Reader, held: Session, delivery: Delivery) -> None:
    chosen: MailChoice = st.session_state["people.notices"]
    with saying(held):
        delivery.choose_mail(reader.access.id, chosen)
