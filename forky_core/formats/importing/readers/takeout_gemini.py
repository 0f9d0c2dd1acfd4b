"""Google Takeout's activity of the Gemini apps: one record for each prompt and its answer, which is HTML.

Most records do not name their conversation; each of those becomes a conversation of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from forky_core.documents.html_text import markdown_of
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, objs, seq, word
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import text_parts
from forky_core.model.opaque import not_understood
from forky_core.model.parts import Draft, Part

PROGRAM = Program(
    "Google Takeout", frozenset(("header", "products", "activityControls", "titleUrl", "locationInfos"))
)
_READ = frozenset(("title", "safeHtmlItem", "imageFile", "attachedFiles", "subtitles"))
USE = "It records a use of the app, no prompt."
_PREFIX = "Prompted "
_APPS = re.compile(r"\b(?:Gemini|Bard)\b")
"""The name of the program, which stands among words of the account's language."""
_CHAT = re.compile(r"gemini\.google\.com/(?:u/\d+/)?(?:app|gem/[\w-]+)/([0-9a-f]{8,})", re.ASCII)


class TakeoutGemini:
    name: ClassVar[str] = "takeout-gemini"
    label: ClassVar[str] = "Google Takeout: Gemini activity"

    def fits(self, sample: Sample) -> bool:
        return any(
            _APPS.search(word(value.get("header"))) is not None and "title" in value and "time" in value
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        beside: dict[str, str] = {}
        for name in files.names():
            beside.setdefault(name.rpartition("/")[2], name)
        chats: dict[str | int, list[Mapping[str, Any]]] = {}
        uses: list[Node] = []
        for number, value in enumerate(document.values()):
            if isinstance(value, Unreadable):
                yield value
                continue
            record = obj(value)
            links = (record.get("titleUrl"), *(one.get("url") for one in objs(record.get("details"))))
            chat = next(filter(None, (_CHAT.search(word(link)) for link in links)), None)
            if chat is not None or _is_prompt(record):
                chats.setdefault(chat.group(1) if chat is not None else number, []).append(record)
            elif record:
                uses.append(Node(f"use {number}", None, None, why=USE))
        for id, records in chats.items():
            records.reverse()  # The newest comes first.
            in_order = sorted(records, key=lambda one: micros(one.get("time")))
            found = _found(id if isinstance(id, str) else "", in_order, files, beside)
            yield replace(found, nodes=(*found.nodes, *uses))
            uses = []  # They are counted with the first conversation.
        if uses:
            yield ParsedConversation("", "", tuple(uses))


def _is_prompt(record: Mapping[str, Any]) -> bool:
    return bool(record.get("safeHtmlItem")) or word(record.get("title")).startswith(_PREFIX)


def _found(
    id: str, records: list[Mapping[str, Any]], files: SourceFiles, beside: Mapping[str, str]
) -> ParsedConversation:
    nodes: list[Node] = []
    last: str | None = None
    for number, record in enumerate(records, 1):
        nodes += _pair(str(number), last, record, files, beside)
        last = str(number)
    return ParsedConversation(id, "", tuple(nodes), last, created=micros(records[0].get("time")))


def _pair(
    id: str, parent: str | None, record: Mapping[str, Any], files: SourceFiles, beside: Mapping[str, str]
) -> list[Node]:
    """The prompt, and below it the answer if there is one."""
    title, at = word(record.get("title")), micros(record.get("time"))
    answer = markdown_of("\n\n".join(word(item.get("html")) for item in objs(record.get("safeHtmlItem"))))
    if not _is_prompt(record):
        return [Node(id, parent, None, why=USE)]
    parts: list[Part] = []
    for name in dict.fromkeys(map(word, (record.get("imageFile"), *seq(record.get("attachedFiles"))))):
        part = files.attach(beside.get(name.rpartition("/")[2], ""))
        parts += [part] if part is not None else []
    parts += text_parts(title.removeprefix(_PREFIX))
    names = [word(one.get("name")) for one in objs(record.get("subtitles"))]
    unread = [one for one in names if one.strip()]
    parts += [not_understood(PROGRAM.name, "subtitles", unread)] if unread else []
    for item in objs(record.get("safeHtmlItem")):
        parts += leftovers(item, ("html",), PROGRAM, within="safeHtmlItem.")
    details = [one for one in objs(record.get("details")) if not _CHAT.search(word(one.get("url")))]
    asked = Draft("user", (*parts, *leftovers({**record, "details": details}, _READ, PROGRAM)))
    if not answer:
        return [Node(id, parent, asked, created=at)]
    return [
        Node(f"{id}/asked", parent, asked, created=at, piece=True),
        Node(id, f"{id}/asked", Draft("assistant", tuple(text_parts(answer))), created=at),
    ]
