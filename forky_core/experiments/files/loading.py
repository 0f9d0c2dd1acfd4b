"""Reads YAML, JSON, CSV and JSON Lines into plain JSON values, within limits: a file may come from anybody."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from forky_core.model.errors import BadContent
from forky_core.model.hashing import mend_text
from forky_core.model.parts import Json
from forky_core.process.extras import needed_for

LARGEST = 100_000_000
"""The most bytes of a file."""
_MOST_VALUES = 2_000_000
"""The most values of one file. YAML's aliases can make billions from a few lines."""
_MOST_MERGED = 10_000
"""The most fields that YAML's `<<` may put into one object."""
_DEEPEST = 80
_BROKEN = (ValueError, RecursionError, LookupError, AttributeError, TypeError)
"""The errors that PyYAML raises for values that do not fit their tag or form."""


class Folder:
    """The folder of the file that is read. The file may refer only to files in this folder or below."""

    def __init__(self, path: Path | None) -> None:
        self._path = path.resolve() if path is not None else None

    def find(self, name: str) -> tuple[Path, ...]:
        """Return the files of this name or pattern, sorted.

        Raises:
            BadContent: there is none, or it is outside of the folder.
        """
        wanted = name.removeprefix("file://")
        if self._path is None:
            raise BadContent(
                f"“{wanted[:100]}” is another file, which was not given with this one.",
                "Run it from the command line, or put the text in its place.",
            )
        pattern = Path(wanted)
        if pattern.is_absolute() or ".." in pattern.parts:
            raise BadContent(
                f"“{wanted[:100]}” lies outside of the folder of this file, and is not read.",
                "What is read may be sent to a model: put it beside the file.",
            )
        try:
            found = (
                sorted(self._path.glob(wanted)) if any(c in wanted for c in "*?[") else [self._path / wanted]
            )
            inside = tuple(one for one in found if one.resolve().is_relative_to(self._path) and one.is_file())
        except (OSError, ValueError):
            inside = ()
        if not inside:
            raise BadContent(f"There is no file “{wanted[:100]}” beside this one.")
        return inside


def text_in(file: Path) -> str:
    """Return the text of a file.

    Raises:
        BadContent: the file cannot be read, is too large, or is not text.
    """
    try:
        if file.stat().st_size > LARGEST:
            raise BadContent(f"“{file.name}” is larger than {LARGEST // 1_000_000} MB.", "Split it.")
        return decoded(file.read_bytes(), file.name)
    except OSError as error:
        raise BadContent(f"“{file.name[:100]}” cannot be read: {error.strerror or error}.") from error


def decoded(content: bytes, name: str) -> str:
    """Decode bytes to text. Raises BadContent."""
    for encoding in ("utf-8-sig", "utf-16") if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        raise BadContent(f"“{name[:100]}” is no text.") from None


def yaml_in(text: str, name: str) -> Json:
    """Read the value of a YAML or JSON text. Raises BadContent."""
    with needed_for("Reading a YAML file", "experiments"):
        import yaml  # noqa: PLC0415 - only such files need it
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _Plain(name).value(json.loads(text), 0)
        except (ValueError, RecursionError):
            pass  # YAML may begin like this, too.
    try:
        found = yaml.load(text, _loader())  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, *_BROKEN) as error:
        raise _unreadable(error, name) from error
    return _Plain(name).value(found, 0)


@cache
def _loader() -> Any:
    import yaml  # noqa: PLC0415 - as above

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """A SafeLoader that limits how many fields a merge (`<<: [*a, *a]`) may produce."""

        def flatten_mapping(self, node: Any) -> None:
            before = len(node.value)
            super().flatten_mapping(node)
            if len(node.value) > max(before, _MOST_MERGED):
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"more than {_MOST_MERGED:,} fields are merged into one object",
                    node.start_mark,
                )

    return Loader


def _unreadable(error: Exception, name: str) -> BadContent:
    mark = getattr(error, "problem_mark", None)
    where = f", line {mark.line + 1}" if mark is not None else ""
    why = (str(getattr(error, "problem", None) or error).splitlines() or ["it is broken"])[0][:160]
    return BadContent(f"“{name[:100]}” cannot be read{where}: {why}.")


class _Plain:
    """Converts what a YAML reader returns to plain JSON, and limits the number of values."""

    def __init__(self, name: str) -> None:
        self._name, self._left = name, _MOST_VALUES

    def value(self, found: Any, depth: int) -> Json:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise BadContent(f"“{self._name[:100]}” holds too much: more values than a person would write.")
        if isinstance(found, str):
            return mend_text(found)
        if isinstance(found, Mapping):
            return {mend_text(str(key)): self.value(item, depth + 1) for key, item in found.items()}
        if isinstance(found, list | tuple | set):
            return [self.value(item, depth + 1) for item in found]
        if isinstance(found, date):
            return found.isoformat()
        if isinstance(found, float) and not math.isfinite(found):
            return str(found)
        return found if isinstance(found, bool | int | float) or found is None else mend_text(str(found))


def table_in(text: str, name: str) -> Iterator[dict[str, str]]:
    """Yield the lines of a CSV text as objects with the names of its first line. Commas, tabs or semicolons may
    separate fields.

    Fields may have any length. Python's csv module refuses long ones unless its limit is raised for the whole process.

    Raises:
        BadContent: a quotation is not closed.
    """
    first, _, _ = text.lstrip("\r\n").partition("\n")
    mark = max(",;\t", key=first.count)
    lines = _lines(text, mark, name)
    head = [cell.strip() for cell in next(lines, [])]
    for line in lines:
        if any(cell.strip() for cell in line):
            yield {key: cell for key, cell in zip(head, line, strict=False) if key}


def _lines(text: str, mark: str, name: str) -> Iterator[list[str]]:
    at, end, line = 0, len(text), list[str]()
    stops = re.compile(rf"[{mark}\n\r]")
    while at < end:
        if text[at] == '"':
            cell, at = _quoted(text, at + 1, name)
            after = at
        else:
            cell, after = "", at
        found = stops.search(text, after)
        stop = found.start() if found is not None else end
        line.append(cell + text[after:stop])
        if stop >= end or text[stop] != mark:
            yield line
            line = []
            at = stop + (2 if text[stop : stop + 2] == "\r\n" else 1)
        else:
            at = stop + 1
            if at >= end:
                line.append("")
    if line:
        yield line


def _quoted(text: str, at: int, name: str) -> tuple[str, int]:
    """Read a quoted field, in which a doubled quotation mark stands for one; return it and the position after it."""
    pieces: list[str] = []
    while True:
        close = text.find('"', at)
        if close < 0:
            raise BadContent(f"“{name[:100]}”: a quotation begins and never ends: {text[at : at + 40]!r}.")
        pieces.append(text[at:close])
        if text[close + 1 : close + 2] != '"':
            return "".join(pieces), close + 1
        pieces.append('"')
        at = close + 2


def json_lines_in(text: str, name: str) -> Iterator[Json]:
    """Yield the values of a JSON Lines text. Raises BadContent."""
    # `splitlines` would also split at other characters that JSON may contain, such as U+2028.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadContent(f"“{name[:100]}”, line {number}, is no JSON: {str(error)[:100]}.") from error
        yield _Plain(name).value(found, 0)
