"""The part of "You" about one's address of e-mail: which one it is, and how another one is confirmed."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from forky_core.gateway.access.team_sign_in import AGAIN
from forky_core.gateway.access.ways.address import PATH
from forky_core.gateway.access.ways.per_address import PerAddress
from forky_core.model.errors import BadContent, ForkyError
from forky_core.team.account import CONFIRM_MINUTES, MAIL, ProofNeeded
from forky_core.team.administration import Administration
from forky_core.team.letters import confirm_letter
from pages.ui import sign_in
from pages.ui.components.links import mailed_address
from pages.ui.components.markdown import plain_label
from pages.ui.session import Session
from pages.ui.workspace import Reader

JOINER = "\u2060"
"""Behind the @ of an address, which then is no link to a mail program; draws nothing."""
_SENT = PerAddress()
"""How many links a person has had sent, by their id: to addresses that may be anybody's."""
_REFUSED = "people.address.refused"
_PROVE = "people.address.prove"


def draw_address(people: Administration, reader: Reader, held: Session) -> None:
    """Keys: `people.address.` with `open`, `new`, `save`, `again`."""
    me = people.me
    st.markdown("#### E-mail")
    shown = plain_label(me.email, 254).replace("@", f"@{JOINER}") if me.email else "No address is known."
    lets_in = any(way.issuer == MAIL and way.subject == me.email for way in people.ways_in())
    if sign_in.MAILER is None:
        st.caption(f"{shown} This Forky sends no mail, so that no address can be confirmed.")
        return
    st.caption(
        f"{shown} · confirmed: links that are sent to it let you in."
        if lets_in
        else f"{shown} Confirm an address, and links that are sent to it let you in."
    )
    title = "Change your address" if lets_in else "Confirm an address"
    with (
        st.expander(title, key="people.address.open", icon=":material/alternate_email:"),
        st.form("people.address", border=False),
    ):
        st.text_input(
            "E-mail",
            "" if lets_in else me.email,
            key="people.address.new",
            autocomplete="email",
            max_chars=254,
        )
        st.caption("Forky sends a link to it, which you open in this browser.")
        if held.choices.pop(_PROVE, None):
            place = f"{AGAIN}?{urlencode({'next': '/people?tab=me'})}"
            st.html(
                '<p role="alert">This asks who you are once more. '
                f'<a href="{place}" target="_self">Show that it is you</a>, and come back here.</p>'
            )
        if refused := held.choices.pop(_REFUSED, None):
            st.error(plain_label(refused, 400), icon=":material/error:")
        st.form_submit_button(
            "Send me the link", key="people.address.save", on_click=_send, args=(people, reader, held)
        )


def _send(people: Administration, reader: Reader, held: Session) -> None:
    mailer = sign_in.MAILER
    assert mailer is not None
    try:
        if not _SENT.allows(reader.access.id):
            raise BadContent("Many links were sent to you in the last hour.", "Try again in an hour.")
        address, secret = people.change_address(
            reader.session, str(st.session_state["people.address.new"] or "")
        )
    except ProofNeeded:
        held.choices[_PROVE] = "yes"
        return
    except ForkyError as error:
        held.choices[_REFUSED] = str(error)
        return
    place = f"{mailed_address()}{PATH}/{secret}"
    if mailer.send(confirm_letter(address, place, minutes=CONFIRM_MINUTES)):
        held.say(f"A link is on its way to {address}. Open it in this browser.")
    else:
        held.choices[_REFUSED] = "Too many mails wait to be sent. Try again in a while."
