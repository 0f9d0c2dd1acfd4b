"""Who opened a poll, and so may reveal it: by their identity in a team, by their browser where names prove nothing.

On the server of one person whoever opens the page may give any name. So the browser that opens a poll keeps a secret in
a cookie, and the database a hash of it.
"""

from __future__ import annotations

import hashlib
import secrets

from forky_core.conversation.voting.poll import Poll
from pages.ui.frame import Frame
from pages.ui.person import OPENER, cookie, names_themselves


def remember_opener(frame: Frame, poll: Poll) -> None:
    """In a handler: let this browser reveal the poll that it has just opened."""
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
    kept, secret = frame.forky.store.setting(_setting(frame, poll)), _secret(frame)
    return bool(kept and secret) and secrets.compare_digest(kept or "", proof(secret, poll))


def _secret(frame: Frame) -> str:
    return frame.session.cookies.get(OPENER) or cookie(OPENER)


def _setting(frame: Frame, poll: Poll) -> str:
    return f"poll_opener/{frame.chat.id}/{poll.number}"


def proof(secret: str, poll: Poll) -> str:
    """The hash by which the database knows the browser that opened a poll.

    The time is in it, because a poll that is undone gives its number to the next one.
    """
    return hashlib.sha256(f"{secret}/{poll.number}/{poll.at}".encode()).hexdigest()
