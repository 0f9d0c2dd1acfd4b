"""What the person who opened a poll sees above the ballot: the address for others, who has voted, and the reveal."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from urllib.parse import urlencode, urlsplit

import streamlit as st

from forky_core.model.errors import ForkyError, NotInstalled
from forky_core.render.qr import qr_uri
from forky_core.views.voting import Ballot, outcome_of
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame, saying
from pages.ui.vote.bars import bars_html

_LOOK_EVERY = 1.0
"""Seconds between two updates of the votes."""
_NAMES = 30


def draw_host(frame: Frame, ballot: Ballot) -> None:
    """Keys: `vote.reveal`."""
    address = address_of(frame, ballot.poll.number)
    with st.container(key="vote-host", border=True):
        code, words = st.columns([1, 3], vertical_alignment="center")
        # Without the package for QR codes only the address is shown.
        with code, suppress(NotInstalled):
            if address:
                alt = "QR code of the address"
                st.html(f'<div class="fk-qr"><img src="{escape(qr_uri(address))}" alt="{alt}"></div>')
        with words:
            st.markdown("**Let the others vote:** point a phone at the code, or send the address.")
            st.code(address or f"/vote?{_query(frame, ballot.poll.number)}", language=None, wrap_lines=True)
            if is_this_machine(address):
                st.caption(
                    "This address leads to this computer only. So that phones reach it, start Forky with "
                    "`forky serve --address 0.0.0.0` and open it by this computer's name or address."
                )
            _draw_live(frame, ballot)
            _draw_reveal(frame, ballot)


def _draw_live(frame: Frame, ballot: Ballot) -> None:
    number = ballot.poll.number

    @st.fragment(run_every=_LOOK_EVERY, key=f"vote.host.{number}")
    @error_boundary
    def live() -> None:
        try:
            outcome = outcome_of(frame.chat, number)
            revealed = not frame.chat.polls.get(number).open
        except ForkyError:
            st.rerun()
        if revealed:
            st.rerun()
        voters = frame.chat.polls.voters(number)
        names = ", ".join(plain_label(name, 40) for name in voters[-_NAMES:])
        people = "1 person" if len(voters) == 1 else f"{len(voters)} people"
        st.markdown(f":material/group: **{people}** voted" + (f": {names}" if names else "."))
        with st.expander("Count so far, for your eyes only", icon=":material/bar_chart:", key="vote.counts"):
            st.html(bars_html(outcome, str))

    live()


def _draw_reveal(frame: Frame, ballot: Ballot) -> None:
    if why_only_reads(frame.chat):
        return
    st.button(
        "Reveal",
        key="vote.reveal",
        type="primary",
        icon=":material/visibility:",
        help="End the vote and show names and counts to everybody",
        on_click=_reveal,
        args=(frame, ballot.poll.number),
    )


def _reveal(frame: Frame, number: int) -> None:
    with saying(frame.session):
        done(frame.session, frame.chat.polls.reveal(number))


def address_of(frame: Frame, number: int) -> str:
    """Return the address of a poll for this browser; "" if Streamlit does not know the browser's address."""
    here = urlsplit(st.context.url or "")
    if not here.netloc:
        return ""
    path = here.path.rstrip("/")
    folder = path if path.endswith("/vote") else f"{path}/vote"
    return f"{here.scheme}://{here.netloc}{folder}?{_query(frame, number)}"


def _query(frame: Frame, number: int) -> str:
    return urlencode({"c": str(frame.chat.id), "poll": str(number)})


def is_this_machine(address: str) -> bool:
    """Whether only this machine can open an address."""
    host = urlsplit(address).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
