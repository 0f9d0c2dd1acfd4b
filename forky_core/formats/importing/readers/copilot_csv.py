"""Microsoft Copilot's history: CSV with one of three headers; conversations are identified only by their titles."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from forky_core.formats.chaining import Chain
from forky_core.formats.contract import ParsedConversation, Sample, SourceDocument, SourceFiles, Unreadable
from forky_core.formats.fields import micros
from forky_core.formats.openai_messages import text_parts
from forky_core.model import Role
from forky_core.model.errors import BadContent

_HEADERS: dict[tuple[str, ...], tuple[str, str, str, str]] = {
    ("conversation", "time", "author", "message"): ("conversation", "time", "author", "message"),
    ("createdat", "messagecontent", "author", "chatname"): (
        "chatname",
        "createdat",
        "author",
        "messagecontent",
    ),
    ("timestamp", "clientapp", "prompt"): ("clientapp", "timestamp", "", "prompt"),
}
"""Known column names in any order: those of the conversation, the time, the author (none: the person), the text."""
_ANY = ("conversation", "time", "author", "message")
_PEOPLE = frozenset(("human", "user", "you", "me", ""))
_AMERICAN = ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M")


class CopilotCSV:
    name: ClassVar[str] = "copilot"
    label: ClassVar[str] = "Microsoft Copilot history"

    def fits(self, sample: Sample) -> bool:
        return sample.shape == "text" and _columns(sample.text.lstrip().partition("\n")[0]) is not None

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:  # noqa: ARG002 - it carries none
        try:
            text = document.text()
        except BadContent as error:
            yield Unreadable(document.name, str(error))
            return
        said: dict[str, list[tuple[int, Role, str]]] = {}
        longest = csv.field_size_limit(sys.maxsize)
        try:
            if _columns(text.lstrip().partition("\n")[0]) is None:
                yield Unreadable(document.name, "Its columns are not those of a history.")
                return
            for row in csv.DictReader(io.StringIO(text.lstrip(), newline="")):
                title, one = _row(row)
                said.setdefault(title, []).append(one)
        except csv.Error as error:
            yield Unreadable(document.name, f"It is no valid CSV: {error}.")
        finally:
            csv.field_size_limit(longest)
        for title, rows in said.items():
            yield _conversation(title, rows)


def _columns(line: str) -> tuple[str, str, str, str] | None:
    try:
        names = next(csv.reader([line.strip()]), [])
    except csv.Error:
        return None
    wanted = sorted(name.strip().lower() for name in names)
    return next((columns for header, columns in _HEADERS.items() if sorted(header) == wanted), None)


def _row(row: Mapping[str | None, str | list[str] | None]) -> tuple[str, tuple[int, Role, str]]:
    entry = {key.strip().lower(): value for key, value in row.items() if key and isinstance(value, str)}
    columns = next((found for header, found in _HEADERS.items() if header[0] in _keys(row)), _ANY)
    title, time, author, text = (entry.get(column, "") for column in columns)
    role: Role = "user" if author.strip().lower() in _PEOPLE else "assistant"
    return title.strip(), (_time(time.strip()), role, text)


def _keys(row: Mapping[str | None, str | list[str] | None]) -> set[str]:
    return {key.strip().lower() for key in row if key}


def _conversation(title: str, rows: list[tuple[int, Role, str]]) -> ParsedConversation:
    chain = Chain()
    for at, role, text in sorted(rows, key=lambda row: row[0]):
        chain.add(text_parts(text), role, created=at)
    return ParsedConversation(
        title, title, tuple(chain.nodes), chain.last, created=min(at for at, _, _ in rows)
    )


def _time(text: str) -> int:
    found = micros(text)
    for form in () if found else _AMERICAN:
        try:
            return max(0, round(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp() * 1_000_000))
        except (ValueError, OverflowError):
            continue
    return found
