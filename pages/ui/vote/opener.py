"""Decides who opened a poll and so may reveal it: in a team by the person's identity, otherwise by their browser.

On the server of one person everybody may enter any name, so a name proves nothing. The browser that opens a poll
therefore gets a secret in a cookie, and the database stores a hash of it.
"""

from __future__ import annotations

import hashlib
import secrets

from forky_core.conversation.voting.poll import Poll
from pages.ui.frame import Frame
from pages.ui.person import OPENER, cookie, names_themselves


def remember_opener(frame: Frame, poll: Poll) -> None:
    """Let this browser reveal the poll that it has just opened. Call it in a handler."""
    if not names_themselves():
        return
    secret = _secret(frame) or secrets.token_urlsafe(24)
    frame.session.cookies[OPENER] = secret
    frame.forky.store.set_setting(_setting(frame, poll), proof(secret, poll))


def opened_it(frame: Frame, poll: Poll) -> bool:
    """Whether the reader is the person who opened the poll."""
    if frame.chat.polls.voter != poll.by:
        return False
    if not names_themselves():
        return True
    stored, secret = frame.forky.store.setting(_setting(frame, poll)), _secret(frame)
    return bool(stored and secret) and secrets.compare_digest(stored or "", proof(secret, poll))


def _secret(frame: Frame) -> str:
    return frame.session.cookies.get(OPENER) or cookie(OPENER)


def _setting(frame: Frame, poll: Poll) -> str:
    return f"poll_opener/{frame.chat.id}/{poll.number}"


def proof(secret: str, poll: Poll) -> str:
    """Return the hash by which the database recognises the browser that opened a poll.

    It includes the time, because the number of a poll that is undone is used again.
    """
    return hashlib.sha256(f"{secret}/{poll.number}/{poll.at}".encode()).hexdigest()
