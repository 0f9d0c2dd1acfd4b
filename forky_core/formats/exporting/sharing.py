"""Exporting: which part of a conversation is exported, and the file that holds it (law 8).

`export_value` makes the value to export, an exporter of registry.py writes it. Nothing here changes the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.voting.poll import POLLS
from forky_core.formats.exporting.exporting import Exporter
from forky_core.formats.exporting.losses import many
from forky_core.formats.exporting.rewriting import visible, with_only
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import replacing
from forky_core.formats.forky_file.writing import chat_of, part_of
from forky_core.model import MessageId
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.store.contract import Store


def export_value(
    store: Store,
    conversation: Conversation,
    *,
    branch: str | None = None,
    messages: Sequence[MessageId] = (),
    files: bool = True,
) -> Chat:
    """The value to export: everything, the messages of a branch, or chosen messages as a conversation of their own.

    Raises:
        NothingToDo: the branch is empty.
        NotFound: there is no such branch or message.
    """
    chat = chat_of(store, conversation.id, files=files)
    if messages:
        return with_only(chat, [conversation.message(id).id for id in messages])
    if branch is None:
        return chat
    head = conversation.checkout(branch).branch.head
    if head is None:
        raise NothingToDo(f"“{branch}” is empty.")
    return part_of(chat, {branch: head})


def exported_part(chat: Chat, to: Exporter, *, log: bool) -> Chat:
    """The part of `chat` that the file holds: with invisible messages only if the format has a log and `log` is set."""
    return chat if holds_log(to) and (log or not chat.operations) else visible(chat)


def holds_log(to: Exporter) -> bool:
    """Whether the format holds the operation log and messages that are invisible by now, as Forky's own does.

    An exporter says so by an attribute `holds_log = True`.
    """
    return bool(getattr(to, "holds_log", False))


def hidden_content(chat: Chat) -> str:
    """What a Forky file with its log holds of `chat` beyond its visible part, as text; "" if there is nothing."""
    if not chat.operations:
        return ""
    undone, stashes = len(chat.messages) - len(visible(chat).messages), len(chat.view.stashes)
    votes = sum(key.startswith(POLLS) and "/votes/" in key for key in chat.entries)
    counted = ((undone, "undone message"), (stashes, "stash"), (votes, "vote"))
    things = [many(number, noun) for number, noun in counted if number]
    log = f"the operation log ({many(len(chat.operations), 'operation')})"
    return f"{', '.join(things)} and {log}" if things else log


def file_name(title: str, to: Exporter) -> str:
    """The name of the file: the title with only the characters that every file system allows."""
    words = re.sub(r"[^\w]+", "-", title).strip("-")[:60].strip("-")
    return (words or "conversation") + to.suffix


def pieces(chat: Chat, to: Exporter) -> Iterator[bytes]:
    """The bytes of the file, piece by piece.

    Raises:
        BadContent: the format cannot hold the conversation.
    """
    try:
        yield from to.write(chat)
    except RecursionError as error:
        raise BadContent("It is nested too deep for this format.") from error


def save_as(chat: Chat, to: Exporter, path: Path | str) -> None:
    """Write the file completely, then put it in place of an existing one.

    Raises:
        BadContent: it cannot be written there.
    """
    with replacing(Path(path)) as out:
        for piece in pieces(chat, to):
            out.write(piece)
