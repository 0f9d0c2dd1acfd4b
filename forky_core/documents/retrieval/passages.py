"""Parses a request: who said what, which documents are attached, and what the question is.

The offline models see exactly what any model is sent (law 7), so everything here is taken from the provider messages of
the request and nothing else.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from forky_core.llm.contract import Passage, ProviderMessage
from forky_core.llm.tokens import message_text
from forky_core.model.hashing import mend_text

OPENING = "**Offline model"
"""The beginning of every offline answer: it says what it is, and marks text that is not quoted as if someone had said
it."""

QUOTES = f"{OPENING}.**"
"""The beginning of an answer that consists of quotations."""


def past_opening(text: str) -> str:
    """Return an offline answer without its opening line; any other text unchanged."""
    return text.partition("\n\n")[2] or text if text.startswith(OPENING) else text


def quoted_in(text: str) -> str:
    """Return what an offline answer quotes, without what Forky says around it; any other text unchanged.

    A quotation loses its marks and its source; the line that names the documents stays. A page of Forky's guide and a
    digest of the conversation quote nothing.
    """
    if not text.startswith(OPENING):
        return text
    quoted = (
        line
        for line in text.splitlines()
        if (line.startswith(">") and not _SOURCE_OF.match(line)) or _SOURCES.match(line)
    )
    return "\n".join(line.removeprefix(">").removeprefix(" ") for line in quoted)


_SOURCE_OF = re.compile(r"> — \*.*\*$")
_FILE_OPENS = re.compile(r'<file name="([^"<>\n]{0,300})">\n')
_FILE_CLOSES = "\n</file>"
"""The marks that context/quoting.py puts around a text file; the closing mark cannot occur inside one."""
_PASSAGE_OPENS = re.compile(r'<passage number="(\d{1,4})" source="([^"<>\n]{0,500})">\n')
_PASSAGE_CLOSES = "\n</passage>"
_SEARCHED = re.compile(
    r'^\[(?:Passages found for |The documents were searched for )(?:"([^"\n]{0,800})")?.*\]$', re.MULTILINE
)
_SOURCES = re.compile(r"^SOURCES: .*$", re.MULTILINE)
"""The texts that context/citing.py puts below a question and an answer; the closing mark cannot occur inside a
passage."""
_MERGE_OPENS = "[Merged "
_MERGED = re.compile(r"^\[Merged |\bmerged (?:from )?(?:the )?branch\b|<merge\b", re.IGNORECASE)
_SUMMED_UP = re.compile(r"\[The [\d,]+ earlier messages of this conversation, summed up [^\n]*\]\n")
"""A summary that a memory policy sends before the recent messages (merge/summary.py); an empty line ends it."""
_STAGE_DIRECTION = re.compile(r"^\[(?:attached: |End of the merged |The assistant opens ).*\]$", re.MULTILINE)
"""Lines that the context builder writes."""
_CITATION = re.compile(r"\s*(?:\[[0-9a-f]{6,32}\]\s*)+$")
_HEADING = re.compile(r"^(?:[A-Z][a-z]+ ){0,3}?[A-Za-z]+:$")
_READ_WITH_FILES = 200_000
"""The most characters of a message that are read, with the files in it."""
_READ = 20_000
"""The most characters of a message's own text that are read."""
_LONG_QUESTION = 600
"""The length in characters above which only the last paragraph counts as the question and the rest as material."""
_DOCUMENT_PASSAGE = 1200
"""The size of a passage of a document in characters; it is at least one paragraph."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message of a dialogue, with a label by which a person can find it."""

    text: str
    role: str
    label: str
    """ "your message 3", "reply 3", "message 3 by Ada" """
    turn: int
    """The number of the user message it belongs to, from 1; 0 before the first."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One request, split into earlier messages, documents, and the question."""

    utterances: tuple[Utterance, ...]
    documents: tuple[Passage, ...]
    question: str
    searched: bool = False
    """Whether documents were searched for the question."""
    search: str = ""
    """The search text: the question, made to stand alone."""


def dialogue(messages: Sequence[ProviderMessage]) -> Dialogue:
    """Parse a request; the last user message is the question."""
    last = max((i for i, message in enumerate(messages) if message.get("role") == "user"), default=None)
    said: list[Utterance] = []
    documents: list[Passage] = []
    question = ""
    turn = 0
    searched: re.Match[str] | None = None
    for index, message in enumerate(messages):
        role = str(message.get("role", ""))
        turn += role == "user"
        text, quoted = _without_passages(mend_text(_words(message)[:_READ_WITH_FILES]))
        searched = _SEARCHED.search(text)
        text, found = _without_documents(_SOURCES.sub("", _SEARCHED.sub("", text)))
        found += quoted
        text = text[:_READ]
        if _SUMMED_UP.match(text):
            summary, _, text = text.partition("\n\n")
            said.append(Utterance(unwrapped(summary), role, "the summary", turn))
        # A merged block is sent in one message with the text after it.
        while text.startswith(_MERGE_OPENS) and "\n\n" in text:
            block, _, text = text.partition("\n\n")
            if brought := unwrapped(block):
                said.append(Utterance(brought, role, f"merged into message {turn}", turn))
        documents += [*found, *_files(message)]
        if index == last:
            question, text = split_question(text)
        if text.strip() and not (role == "assistant" and text.lstrip().startswith(OPENING)):
            label = _label(message, role, turn, text)
            said.append(Utterance(unwrapped(text.strip()), role, label, turn))
    search = (searched[1] or "") if searched is not None else ""
    return Dialogue(tuple(said), tuple(documents), question, searched is not None, search)


def _words(message: ProviderMessage) -> str:
    """Return a message's text without its tool calls."""
    return message_text({"content": message.get("content")})


def split_question(text: str) -> tuple[str, str]:
    """Return (question, material): of a long message only the last paragraph is the question."""
    text = text.strip()
    if len(text) <= _LONG_QUESTION:
        return text, ""
    rest, _, ending = text.rpartition("\n\n")
    if rest and len(ending) <= _LONG_QUESTION:
        return ending.strip(), rest
    return text[-_LONG_QUESTION:], text


def _label(message: ProviderMessage, role: str, turn: int, text: str) -> str:
    name = message.get("name")
    match role:
        case "user" if _MERGED.search(text[:400]):
            return f"merged into message {turn}"
        case "user":
            return f"message {turn} by {name}" if name else f"your message {turn}"
        case "assistant":
            return f"reply {turn}" if turn else "the opening"
        case "tool":
            return f"tool result in reply {turn}"
    return "the system prompt"


def _without_documents(text: str) -> tuple[str, list[Passage]]:
    """Return the text without the files quoted in it, and their passages. Linear in the length of any text."""
    kept: list[str] = []
    found: list[Passage] = []
    at = 0
    while (opening := _FILE_OPENS.search(text, at)) is not None:
        end = text.find(_FILE_CLOSES, opening.end() - 1)
        if end < 0:
            break
        kept.append(text[at : opening.start()])
        found += document_passages(opening.group(1) or "document", text[opening.end() : end])
        at = end + len(_FILE_CLOSES)
    kept.append(text[at:])
    return _STAGE_DIRECTION.sub("", "".join(kept)), found


def _without_passages(text: str) -> tuple[str, list[Passage]]:
    """Return the text without the passages found for it, and those passages; their labels include their numbers."""
    kept: list[str] = []
    found: list[Passage] = []
    at = 0
    while (opening := _PASSAGE_OPENS.search(text, at)) is not None:
        end = text.find(_PASSAGE_CLOSES, opening.end() - 1)
        if end < 0:
            break
        kept.append(text[at : opening.start()])
        number, source = opening.groups()
        found.append(Passage(text[opening.end() : end], f"[{number}] {source}", "document"))
        at = end + len(_PASSAGE_CLOSES)
    kept.append(text[at:])
    return "".join(kept), found


def unwrapped(text: str) -> str:
    """Return the lines of a merge's block or a summary, without header, headings and citations; any other text
    unchanged.
    """
    if not text.startswith(_MERGE_OPENS) and not _SUMMED_UP.match(text):
        return text
    _, _, body = text.partition("]\n")
    lines = (
        _CITATION.sub("", line.removeprefix("- ")) for line in body.splitlines() if not _HEADING.match(line)
    )
    return "\n\n".join(lines)


def _files(message: ProviderMessage) -> Iterator[Passage]:
    """Yield the passages of text files sent as OpenAI file parts with a data URL."""
    content: Any = message.get("content")
    for part in content if isinstance(content, list) else ():
        file = part.get("file") if isinstance(part, dict) else None
        if isinstance(file, dict):
            text = _decoded(str(file.get("file_data", "")))
            if text:
                yield from document_passages(str(file.get("filename") or "file"), text)


def _decoded(data_url: str) -> str:
    head, _, body = data_url.partition(",")
    if not head.startswith("data:text/") and not head.startswith("data:application/json"):
        return ""
    try:
        raw = base64.b64decode(body, validate=True) if head.endswith(";base64") else unquote_to_bytes(body)
    except binascii.Error:
        return ""
    return raw.decode("utf-8", "replace")


def document_passages(name: str, text: str) -> tuple[Passage, ...]:
    """Split a document into passages of whole paragraphs; a paragraph longer than a passage is cut at line ends."""
    passages: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        for piece in _pieces(paragraph.strip("\n")):
            if passages and len(passages[-1]) + len(piece) < _DOCUMENT_PASSAGE:
                passages[-1] += f"\n\n{piece}"
            elif piece.strip():
                passages.append(piece)
    numbered = len(passages) > 1
    return tuple(
        Passage(piece, f"{name}, part {number}" if numbered else name, "document")
        for number, piece in enumerate(passages, 1)
    )


def _pieces(paragraph: str) -> Iterator[str]:
    while len(paragraph) > _DOCUMENT_PASSAGE:
        cut = paragraph.rfind("\n", 0, _DOCUMENT_PASSAGE)
        cut = cut if cut > 0 else paragraph.rfind(" ", 0, _DOCUMENT_PASSAGE)
        cut = cut if cut > 0 else _DOCUMENT_PASSAGE
        yield paragraph[:cut]
        paragraph = paragraph[cut:].lstrip("\n ")
    yield paragraph
