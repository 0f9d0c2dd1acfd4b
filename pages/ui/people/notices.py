"""The part of "You" about where one's notices go besides the inbox: to one's address, and to a webhook."""

from __future__ import annotations

import streamlit as st

from forky_core.model.errors import ForkyError
from forky_core.team.administration import Administration
from forky_core.team.delivery import MAIL_CHOICES, Delivery, MailChoice
from pages.ui import sign_in
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.session import Session
from pages.ui.workspace import Reader

_LABELS = {"at once": "At once", "daily": "Once a day", "never": "Never"}
_FRESH = "people.webhook.fresh"
_REFUSED = "people.webhook.refused"


def draw_notices(people: Administration, reader: Reader, held: Session) -> None:
    """Keys: `people.notices` and `people.webhook.` with `open`, `url`, `save`, `remove`, `copied`."""
    delivery = sign_in.DELIVERY
    if delivery is None or not (delivery.has_mail or delivery.has_webhooks):
        return
    st.markdown("#### What is sent to you")
    if delivery.has_mail:
        _draw_mail(people, reader, held, delivery)
    if delivery.has_webhooks:
        _draw_webhook(reader, held, delivery)


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


def _draw_webhook(reader: Reader, held: Session, delivery: Delivery) -> None:
    choice = delivery.choice(reader.access.id)
    if choice.webhook:
        with st.container(key="row-provider-webhook", horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/webhook: {plain_label(choice.webhook, 120)}", width="stretch")
            st.button(
                "Remove",
                key="people.webhook.remove",
                type="tertiary",
                icon=":material/delete:",
                help="Nothing is sent there any more",
                on_click=_remove,
                args=(reader, held, delivery),
            )
        if choice.problem:
            st.warning(
                plain_label(f"The last notice did not get there. {choice.problem}", 300),
                icon=":material/warning:",
            )
    if secret := held.choices.get(_FRESH):
        with st.container(border=True, key="webhook-fresh"):
            st.markdown("**The secret that signs what is sent.** Copy it now: it is not shown again.")
            st.code(secret, language=None, wrap_lines=True)
            st.button("I have copied it", key="people.webhook.copied", on_click=_copied, args=(held,))
    with (
        st.expander(
            "Another webhook" if choice.webhook else "Send notices to a program of yours",
            key="people.webhook.open",
            icon=":material/webhook:",
        ),
        st.form("people.webhook", border=False),
    ):
        st.text_input("Its address", key="people.webhook.url", placeholder="https://…", max_chars=500)
        st.caption("Each notice is sent to it as JSON, signed with a secret that you are shown once.")
        if refused := held.choices.pop(_REFUSED, None):
            st.error(plain_label(refused, 400), icon=":material/error:")
        st.form_submit_button(
            "Send notices there", key="people.webhook.save", on_click=_save, args=(reader, held, delivery)
        )


def _save(reader: Reader, held: Session, delivery: Delivery) -> None:
    """What is refused says so beside the button, and keeps what was entered."""
    url = str(st.session_state["people.webhook.url"] or "").strip()
    try:
        secret = delivery.choose_webhook(reader.access.id, url)
    except ForkyError as error:
        held.choices[_REFUSED] = str(error)
        return
    if secret:
        held.choices[_FRESH] = secret
    st.session_state["people.webhook.url"] = ""


def _remove(reader: Reader, held: Session, delivery: Delivery) -> None:
    with saying(held):
        delivery.choose_webhook(reader.access.id, "")
        held.say("The webhook is removed.")


def _copied(held: Session) -> None:
    held.choices.pop(_FRESH, None)
