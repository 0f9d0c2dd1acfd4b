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
_VALUES: tuple[tuple[str, str, Callable[[Mapping[str, Json]], bool]], ...] = (
    ("Portable AI Memory", LISTS, lambda value: value.get("schema") == "portable-ai-memory-conversation"),
    ("Chatbot UI", LISTS, lambda value: "version" in value and isinstance(value.get("history"), list)),
    (
        "TypingMind",
        LISTS,
        lambda value: any("chatID" in chat for chat in (value, *objs(obj(value.get("data")).get("chats")))),
    ),
    ("Open Assistant", LISTS, lambda value: "message_tree_id" in value),
    ("a program for character cards", LISTS, lambda value: value.get("spec") in _CARDS),
    (
        "opencode’s former store, one of many",
        "Write the session by `opencode export`, and import that.",
        lambda value: "sessionID" in value or {"projectID", "directory"} <= value.keys(),
    ),
    (
        "`codex exec --json`",
        "Import the session’s own file, which Codex keeps in its folder `sessions`.",
        lambda value: value.get("type") == "thread.started",
    ),
    (
        "OpenHands, one of many with an event each",
        "Download the conversation’s trajectory, and import that.",
        lambda value: "source" in value and word(value.get("kind")).endswith("Event"),
    ),
    (
        "`llm logs --json`",
        "Import the database that `llm logs path` names.",
        lambda value: {"conversation_id", "prompt", "response"} <= value.keys(),
    ),
    ("HuggingChat", LISTS, lambda value: any("ancestors" in one for one in objs(value.get("messages")))),
    ("LangSmith", LISTS, lambda value: {"run_type", "inputs"} <= value.keys()),
    ("OpenAI’s batches", LISTS, lambda value: {"custom_id", "response"} <= value.keys()),
    ("Alpaca’s training data", LISTS, lambda value: {"instruction", "output"} <= value.keys()),
    ("Discord", LISTS, lambda value: {"guild", "channel", "messages"} <= value.keys()),
    ("Slack", LISTS, lambda value: {"user", "text", "ts"} <= value.keys()),
)
_TEXTS = (
    (
        "Microsoft Copilot",
        LISTS,
        re.compile(r"\ufeff?(?:Conversation,Time,Author|CreatedAt,Message|Timestamp,ClientApp),"),
    ),
    ("Perplexity", LISTS, re.compile(r"<img src=\"[^\"]*perplexity\.ai")),
    (
        "Google Takeout, as a web page",
        "Choose JSON for “My Activity” in Takeout, and import that.",
        re.compile(r"<html>.*class=\"outer-cell mdl-cell", re.DOTALL),
    ),
)
"""Programs whose files are not read, with what to do instead, and how a value or a text of one is recognised."""


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
                elif len(archive.readable) > 1 or archive.folder is not None:
                    archive.unread.append(name)
                    continue
                else:
                    found = (Unreadable(name, _why(opened)),)
            del beginning  # It may be all of the document.
            for one in found:
                number += 1
                yield SourcePiece(number, importer, one, archive.beside)
        except (ForkyError, RecursionError) as error:
            number += 1
            why = DEEP if isinstance(error, RecursionError) else str(error)
            yield SourcePiece(number, importer, Unreadable(name, why), archive.beside)


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
    found = [(name, way) for name, way, sign in _TEXTS if sign.match(sample.text)]
    found += [(name, way) for name, way, fits in _VALUES if any(map(fits, sample.objects))]
    return NOT_READ.format(*found[0]) if found else ""
