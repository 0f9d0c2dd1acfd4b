"""The part of a conversation that a link shows: a value from which its page is drawn and that can be forked.

Both are made from the same value, so that nobody can fork what they are not shown. Where everything on the shared paths
goes along, the messages are the original ones, and their ids hold in whatever conversation they land. Where something
is left out or replaced, the messages from there on down are others, as in a redacted export.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from forky_core.conversation.conversation import Conversation
from forky_core.formats.exporting.redaction import PrivateValue, findings, redacted
from forky_core.formats.exporting.rewriting import RewriteRules, rewritten, with_only
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored_log import each_call
from forky_core.formats.forky_file.writing import chat_of, part_of
from forky_core.formats.reports.included import Included, included_named
from forky_core.model import MessageId
from forky_core.model.errors import BadContent, NotFound, NothingToDo
from forky_core.model.left_out import FILE_LEFT_OUT
from forky_core.model.parts import TextPart
from forky_core.people.links.link import LinkDraft, value_digest
from forky_core.store.contract import Store
from forky_core.views.listed import listed_branches
from forky_core.views.places import branch_for

WITH_PATH = "path"
"""Beside a message's id: the link shows everything that led to it, too."""


def shared_tips(chat: Conversation, draft: LinkDraft) -> Mapping[str, MessageId]:
    """The heads of what is shared, by the names of their branches, as the conversation is now.

    Raises:
        NotFound: the branch or the message is not there, or was undone.
        NothingToDo: there is no message yet.
        BadContent: the draft does not say which branch or message.
    """
    if draft.thing == "conversation":
        branches = listed_branches(chat.view, {chat.branch_name}).values()
        tips = {branch.name: branch.head for branch in branches if branch.head is not None}
    elif not draft.which:
        raise BadContent(f"Which {draft.thing} is to be shared?", "Name it.")
    elif draft.thing == "branch":
        head = chat.checkout(draft.which[0]).branch.head
        tips = {draft.which[0]: head} if head is not None else {}
    else:
        message = chat.message(draft.which[0])
        if message.id not in chat.visible.messages:
            raise NotFound("This message was undone or removed.")
        if not included_named(draft.included).shows(message):
            raise NotFound("This message is hidden.", "Include what is hidden, or the rules if it is one.")
        here = any(one.id == message.id for one in chat.path())
        named = (
            chat.branch_name if here else branch_for(message.id, chat.view, chat.visible, chat.branch_name)
        )
        tips = {named: message.id}
    if not tips:
        raise NothingToDo("Nothing was said there yet.")
    return tips


def shared_part(
    store: Store,
    chat: Conversation,
    draft: LinkDraft,
    tips: Mapping[str, MessageId],
    included: Included,
) -> Chat:
    """What a link shows of a conversation, before anything private is replaced."""
    part = _bare(part_of(chat_of(store, chat.id, files=included.documents), tips), included)
    part = _without_what_is_left_out(part, included)
    if draft.thing == "message" and WITH_PATH not in draft.which:
        part = with_only(part, [branch.head for branch in part.view.branches.values() if branch.head])
    return part


def private_in(part: Chat, spared: Collection[str]) -> tuple[PrivateValue, ...]:
    """What looks private in it, but for the values that were spared."""
    return tuple(one for one in findings(part) if value_digest(one.value) not in spared)


def without_private_values(part: Chat, spared: Collection[str]) -> Chat:
    """A copy with placeholders in place of what looks private; the part itself if there is nothing."""
    copy = redacted(part, private_in(part, spared))
    if copy is part or not part.copied_of:
        return copy
    return replace(copy, forked_from=MappingProxyType({"id": part.copied_of, "name": copy.title}))


def _bare(part: Chat, included: Included) -> Chat:
    """The part without what belongs to this workspace: where it came from, rules and costs."""
    wanted = ("title", "heads", "rules", "memory") if included.rules else ("title", "heads")
    entries = {key: value for key, value in part.entries.items() if key.partition("/")[0] in wanted}
    return replace(
        part,
        entries=MappingProxyType(entries),
        generations=each_call(part.generations, included.call),
        origins=(),
        forked_from=None,
        passage_of=part.passage_of if included.documents else _no_passage,
    )


def _no_passage(_address: str) -> None:
    return None


def _without_what_is_left_out(part: Chat, included: Included) -> Chat:
    if all(included.leaves_whole(message) for message in part.messages.values()):
        return part
    rules = RewriteRules(
        "shared with " + (" ".join(included.names) or "the words alone"),
        keeps=included.shows,
        parts=lambda message: included.parts(message) or (TextPart(FILE_LEFT_OUT),),
    )
    return replace(
        rewritten(part, rules), forked_from=MappingProxyType({"id": str(part.id), "name": part.title})
    )
