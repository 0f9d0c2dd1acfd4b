"""The content that a link shows: rendered once for a link to a fixed state, and at every visit for a live one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.redaction import PrivateValue, reworded
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.exporting.writers.page import plain_page
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.reports.included import EVERYTHING, Included, included_named
from forky_core.formats.reports.private_texts import private_values, without_private
from forky_core.formats.reports.publishing import report_of, write_report
from forky_core.formats.reports.things.replay import EVERYTHING as WITH_WHAT_WAS_UNDONE
from forky_core.model.errors import BadContent, NotFound
from forky_core.people.links.link import WITH_PATHS, Link, LinkDraft, value_digest
from forky_core.people.links.shared_part import private_in, shared_part, shared_tips, without_private_values
from forky_core.views.shelf import title_or_placeholder


@dataclass(frozen=True, slots=True)
class LinkContent:
    """What a link shows, before anything private is replaced."""

    draft: LinkDraft
    """With the heads of what is shared, if that is a part of the conversation."""
    kind: str
    """In words, e.g. "Branch"."""
    title: str
    """Unchanged, also where it is private."""
    seen: tuple[PrivateValue, ...]
    """What looks private in it."""
    messages: int
    """How many messages there are; 0 if it is no part of the conversation."""
    ids_hold: bool
    """Whether the messages are the original ones, but for what is replaced as private."""
    _written: Callable[[Collection[PrivateValue]], Iterator[bytes]]

    def ticked(self, spared: Collection[str]) -> tuple[PrivateValue, ...]:
        """The values to be replaced: all but those whose `value_digest` was spared."""
        return tuple(one for one in self.seen if value_digest(one.value) not in spared)

    def page(self, spared: Collection[str]) -> Iterator[bytes]:
        """The page, piece by piece, with placeholders for every private value that is not spared."""
        return self._written(self.ticked(spared))

    def shown_title(self, spared: Collection[str]) -> str:
        """The title as the page has it."""
        return reworded(self.title, self.ticked(spared))


def content_of(forky: Workspace, draft: LinkDraft) -> LinkContent:
    """The content that a link would show of the conversation now, as the person of `forky` sees it.

    Raises:
        NotFound: there is no such conversation or thing in it, or none any more.
        BadContent, NothingToDo: the draft does not say what, or there is nothing to show.
    """
    included = included_named(draft.included)
    chat = forky.conversation(draft.conversation, draft.branch or None)
    if chat.view.trashed:
        raise NotFound("This conversation is in the trash.")
    if draft.thing in WITH_PATHS:
        return _of_part(forky, chat, draft, included)
    return _of_report(forky, chat, draft, included)


def page_of(forky: Workspace, link: Link) -> bytes:
    """The page of a live link. Raises as `content_of` does."""
    return b"".join(content_of(forky, link).page(link.spared))


def part_of_link(forky: Workspace, link: LinkDraft) -> Chat:
    """What a link shows of a conversation, as a value that can be forked.

    Raises:
        BadContent: what it shows is no whole path of messages.
        NotFound: it is not there any more.
    """
    if not link.can_be_forked:
        raise BadContent("What this link shows cannot be forked.", "Ask for a link to the conversation.")
    chat = forky.conversation(link.conversation, link.branch or None)
    tips = shared_tips(chat, link) if link.live else link.tips
    part = shared_part(forky.store, chat, link, tips, included_named(link.included))
    return without_private_values(part, link.spared)


def _of_part(forky: Workspace, chat: Conversation, draft: LinkDraft, included: Included) -> LinkContent:
    tips = shared_tips(chat, draft)
    draft = replace(draft, tips=MappingProxyType(dict(tips)))
    part = shared_part(forky.store, chat, draft, tips, included)

    def written(ticked: Collection[PrivateValue]) -> Iterator[bytes]:
        spared = {value_digest(one.value) for one in seen} - {value_digest(one.value) for one in ticked}
        shown = without_private_values(part, spared)
        return plain_page(_nothing_hidden(shown) if included.hidden else shown)

    seen = private_in(part, ())
    return LinkContent(
        draft,
        draft.thing.capitalize(),
        title_or_placeholder(part.title),
        seen,
        len(part.messages),
        part.id == draft.conversation,
        written,
    )


def _of_report(forky: Workspace, chat: Conversation, draft: LinkDraft, included: Included) -> LinkContent:
    if WITH_WHAT_WAS_UNDONE in draft.which and draft.thing == "replay" and included != EVERYTHING:
        raise BadContent(
            "What was undone goes into a link only where everything does.",
            f"Include {', '.join(EVERYTHING.names)}, or leave it out.",
        )
    report = report_of(forky, chat, draft.thing, draft.which, included)
    return LinkContent(
        replace(draft, branch=chat.branch_name),
        draft.thing.capitalize(),
        report.title,
        private_values(report),
        0,
        False,
        lambda ticked: write_report(without_private(report, ticked), "html"),
    )


def _nothing_hidden(part: Chat) -> Chat:
    """The part with its hidden messages in sight."""
    shown = visible(part)
    return replace(
        shown,
        messages=MappingProxyType({one.id: replace(one, hidden=False) for one in shown.messages.values()}),
    )
