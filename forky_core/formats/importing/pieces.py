"""Reads the conversations of a source one after the other, each document with the importer for its format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from forky_core.conversation.identity import title_from, title_line
from forky_core.formats.contract import Importer, ParsedConversation, Sample, Unreadable
from forky_core.formats.fields import obj, objs, word
from forky_core.formats.files.json_nested import DEEP
from forky_core.formats.files.source import (
    Archive,
    ArchiveFiles,
    OpenedDocument,
    arrays_in,
    behind_words,
    is_packed,
    sample,
)
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import read_document
from forky_core.formats.forky_file.reading import is_ours
from forky_core.formats.registry import WIDE, importer_for
from forky_core.formats.tree import ImportedTree
from forky_core.model.errors import ForkyError
from forky_core.model.parts import Json
from forky_core.text.surroundings import first_spoken

UNKNOWN = "Its format is not known. Forky also reads a list of messages with a “role” and a “content”."
PACKED = "It is packed. Unpack it, and import what is in it."
NOTHING = "No file in it holds conversations."
NOT_READ = "It is a file of {}, which Forky does not read. {}"
LISTS = "Write its conversations as lists of messages with a “role” and a “content”, and import those."
_CARDS = ("chara_card_v2", "chara_card_v3")
_VALUES: Mapping[str, Callable[[Mapping[str, Json]], bool]] = {
    "Portable AI Memory": lambda one: one.get("schema") == "portable-ai-memory-conversation",
    "Chatbot UI": lambda one: "version" in one and isinstance(one.get("history"), list),
    "TypingMind": lambda one: any(
        "chatID" in chat for chat in (one, *objs(obj(one.get("data")).get("chats")))
    ),
    "Open Assistant": lambda one: "message_tree_id" in one,
    "a program for character cards": lambda one: one.get("spec") in _CARDS,
    "opencode’s former store": lambda one: "sessionID" in one or {"projectID", "directory"} <= one.keys(),
    "`codex exec --json`": lambda one: one.get("type") == "thread.started",
    "OpenHands with one event": lambda one: "source" in one and word(one.get("kind")).endswith("Event"),
    "`llm logs --json`": lambda one: {"conversation_id", "prompt", "response"} <= one.keys(),
    "HuggingChat": lambda one: any("ancestors" in said for said in objs(one.get("messages"))),
    "LangSmith": lambda one: {"run_type", "inputs"} <= one.keys(),
    "OpenAI’s batches": lambda one: {"custom_id", "response"} <= one.keys(),
    "Alpaca’s training data": lambda one: {"instruction", "output"} <= one.keys(),
    "Discord": lambda one: {"guild", "channel", "messages"} <= one.keys(),
    "Slack": lambda one: {"user", "text", "ts"} <= one.keys(),
}
_TEXTS = {
    "Microsoft Copilot": r"\ufeff?(Conversation,Time,Author|CreatedAt,Message|Timestamp,ClientApp),",
    "Perplexity": r"<img src=\"[^\"]*perplexity\.ai",
    "Google Takeout as a web page": r"(?s)<html>.*class=\"outer-cell mdl-cell",
}
"""Programs whose files are not read, with the sign of a value, or of the beginning of a text."""
_WAYS = {
    "opencode’s former store": "Write the session by `opencode export`, and import that.",
    "`codex exec --json`": "Import the session’s own file, which Codex keeps in its folder `sessions`.",
    "OpenHands with one event": "Download the conversation’s trajectory, and import that.",
    "`llm logs --json`": "Import the database that `llm logs path` names.",
    "Google Takeout as a web page": "Choose JSON for “My Activity” in Takeout, and import that.",
}
"""What to do instead of writing lists."""


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """One conversation of a source, or why it could not be read."""

    number: int
    """Its position in the source, by which a person chooses it."""
    importer: Importer | None
    """None for our own files, and for an unknown format."""
    found: ParsedConversation | Chat | Unreadable
    beside: ArchiveFiles
    """The files that its messages may name."""


def pieces(source: Archive) -> Iterator[SourcePiece]:
    """Yield the conversations of a file, an archive or a folder with the archives in it. Errors of documents are not
    raised but yielded as `Unreadable`.
    """
    number = 0
    for archive in source.each():
        if isinstance(archive, Unreadable):
            number += 1
            yield SourcePiece(number, None, archive, source.beside)
            continue
        for piece in _pieces(archive, number):
            number = piece.number
            yield piece
    if not number and source.path is None:
        yield SourcePiece(
            1, None, Unreadable("the folder" if source.folder else "the archive", NOTHING), source.beside
        )


def _pieces(archive: Archive, number: int) -> Iterator[SourcePiece]:
    """Yield the conversations of one archive, whose numbers follow `number`."""
    refused: set[str] = set()
    several = len(archive.readable) > 1 or archive.folder is not None
    for name, open in archive.readable:
        importer: Importer | None = None
        found: Iterable[ParsedConversation | Chat | Unreadable]
        try:
            opened = archive.document(name, open)
            beginning = sample(opened)
            if is_ours(beginning):
                found = (read_document(opened, archive.beside),)
            else:
                importer = importer_for(beginning)
                if importer is None:
                    opened, importer = _wrapped(opened)
                why = not_read(beginning) if importer is None or importer in WIDE else ""
                if why and why not in refused:
                    importer, found = None, (Unreadable(name, why),)
                    refused.add(why)
                elif importer is not None and not why:
                    found = importer.read(opened, archive.beside)
                elif several:
                    archive.unread.append(name)
                    continue
                else:
                    found = (Unreadable(name, _why(opened)),)
            del beginning  # It may be all of the document.
            for one in found:
                number += 1
                yield SourcePiece(number, importer, _located(one, name) if several else one, archive.beside)
        except (ForkyError, RecursionError) as error:
            number += 1
            why = DEEP if isinstance(error, RecursionError) else str(error)
            yield SourcePiece(number, importer, Unreadable(name, why), archive.beside)


def _located(
    found: ParsedConversation | Chat | Unreadable, name: str
) -> ParsedConversation | Chat | Unreadable:
    """`found`; what cannot be read is named with its file."""
    if isinstance(found, Unreadable) and found.label != name:
        return Unreadable(f"{name}: {found.label}", found.why)
    return found


def _wrapped(opened: OpenedDocument) -> tuple[OpenedDocument, Importer | None]:
    """Find conversations inside a document of an unknown format, and their importer."""
    for inner in (*behind_words(opened), *arrays_in(opened)):
        beginning = sample(inner)
        importer = importer_for(beginning)
        # Two importers accept nearly anything; inside an unknown object that would be a guess.
        if importer is not None and (importer not in WIDE or beginning.has("messages")):
            return inner, importer
    return opened, None


def _why(opened: OpenedDocument) -> str:
    """Return why no importer fits a document: its beginning cannot be read, or has no known format."""
    begins = next(iter(opened.values()), None)
    if isinstance(begins, Unreadable):
        return begins.why
    return PACKED if is_packed(opened.name) else UNKNOWN


def title_of(tree: ImportedTree) -> str:
    """Return the conversation's own title, or one made from its first question."""
    title = title_line(tree.found.title)
    if title:
        return title
    return title_from(first_spoken(m.text for m in tree.messages if m.role == "user" and not m.hidden))


def not_read(sample: Sample) -> str:
    """The sentence that names the program of a file that is not imported; "" for every other file."""
    found = [name for name, sign in _TEXTS.items() if re.match(sign, sample.text)]
    found += [name for name, fits in _VALUES.items() if any(map(fits, sample.objects))]
    return NOT_READ.format(found[0], _WAYS.get(found[0], LISTS)) if found else ""
