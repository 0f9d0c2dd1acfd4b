"""What a link shows to somebody who is signed in, so that they can fork it."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.formats.forky_file.chat import Chat
from forky_core.model.errors import NotFound
from forky_core.people.links.content import part_of_link
from forky_core.people.links.link import Link, LinkEnded
from pages.ui.workspace import links_seen_by, may_share, shown_by, whole_workspace


@dataclass(frozen=True, slots=True)
class SharedByLink:
    """What a link shows of a conversation."""

    link: Link
    part: Chat


def opened_link(secret: str) -> SharedByLink:
    """What the link of this secret shows, as it shows it to everybody.

    Raises:
        NotFound: there is no such link, or it is over.
        BadContent: what it shows cannot be forked.
    """
    link = links_seen_by(None).find(secret)
    if link.live and not may_share(link):
        raise LinkEnded("What this link showed is not there any more.")
    try:
        part = part_of_link(shown_by(link.by) if link.live else whole_workspace(), link)
    except NotFound as error:
        raise LinkEnded("What this link showed is not there any more.") from error
    return SharedByLink(link, part)
