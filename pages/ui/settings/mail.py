"""The part of Settings about mail: by which server, whether it gets through, and a test; owners of a team see it."""

from __future__ import annotations

import streamlit as st

from forky_core.team.letters import trial_letter
from forky_core.team.mail import Mailer, MailFailed
from forky_core.views.shelf import count
from pages.ui import sign_in
from pages.ui.components.markdown import plain_label
from pages.ui.session import Session
from pages.ui.workspace import Reader

_FAILED = "settings.mail.failed"
_SECURITY = {"starttls": "STARTTLS", "tls": "TLS", "off": "no encryption"}


def draw_mail(reader: Reader, held: Session) -> None:
    """Keys: `settings.mail.test`."""
    st.markdown("#### Mail")
    mailer = sign_in.MAILER
    if mailer is None:
        st.caption(
            "This Forky sends no mail. With `FORKY_SMTP_HOST` and `FORKY_SMTP_FROM` it sends invitations, links for "
            "signing in, other passwords, and notices."
        )
        return
    server, status = mailer.server, mailer.status
    told = [f"{count(status.sent, 'mail')} sent since the start"]
    if status.waiting:
        told.append(f"{status.waiting} waiting")
    if status.lost:
        told.append(f"{status.lost} did not get through")
    st.caption(
        plain_label(
            f"From {server.sender} by {server.host}, port {server.port}, with {_SECURITY[server.security]}. "
            f"{', '.join(told)}.",
            400,
        ).replace("@", "@\u2060")
    )
    failed = held.choices.pop(_FAILED, None) or status.problem
    if failed:
        st.warning(plain_label(failed, 400), icon=":material/warning:")
    address = reader.access.member.email
    st.button(
        "Send me a test",
        key="settings.mail.test",
        icon=":material/outgoing_mail:",
        disabled=not address,
        help="To your own address" if address else "Confirm an address first: People, You",
        on_click=_test,
        args=(mailer, address, held),
    )


def _test(mailer: Mailer, address: str, held: Session) -> None:
    try:
        mailer.send_now(trial_letter(address))
    except MailFailed as error:
        held.choices[_FAILED] = str(error)
        return
    held.say(f"The mail server took a test for {address}.")
