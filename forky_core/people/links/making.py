"""Making a link: what it shows is drawn once, with placeholders for what looks private, before it has an address."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from forky_core.conversation.workspace import Workspace
from forky_core.people.links.content import LinkContent, content_of
from forky_core.people.links.link import DAYS, LinkDraft, NewLink
from forky_core.people.links.links import Links


def make_link(
    forky: Workspace,
    draft: LinkDraft,
    *,
    days: float = DAYS,
    by: str | None = None,
    links: Links | None = None,
) -> NewLink:
    """Make a link to something of a conversation as the person of `forky` sees it. Its secret is not stored.

    `by` says who makes it (default: the person of `forky`).

    Raises:
        NotFound: there is no such thing, or the person may not see it.
        NotAllowed: they may not share it.
        BadContent, NothingToDo: the draft does not say what, there is nothing to show, or too much.
    """
    return make_link_to(
        content_of(forky, draft),
        draft.spared,
        days=days,
        by=forky.actor if by is None else by,
        links=links or Links(forky.store),
    )


def make_link_to(
    content: LinkContent, spared: Collection[str], *, links: Links, days: float = DAYS, by: str = ""
) -> NewLink:
    """Make a link to what was drawn and looked at before. Raises as `Links.make` does."""
    draft = replace(content.draft, spared=tuple(spared))
    title = content.shown_title(draft.spared)
    return links.make(draft, content.page(draft.spared), title=title, days=days, by=by)
