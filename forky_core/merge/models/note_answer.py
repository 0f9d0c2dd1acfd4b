"""Parses a model's answer as a note: its lines, each with its section and the ids it names, whatever markup it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from forky_core.merge.headings import ASKED, FACTS, FILES, OPEN, RESULT, TRIED
from forky_core.merge.models.checks import FailedCheck, resolved
from forky_core.model import MessageId

_ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("asked", "ask", "goal", "task", "question", "request", "purpose"), ASKED),
    **dict.fromkeys(
        ("result", "results", "outcome", "conclusion", "decision", "decisions", "summary"), RESULT
    ),
    **dict.fromkeys(
        (
            "tried and undone",
            "tried & undone",
            "tried",
            "undone",
            "tried and abandoned",
            "abandoned",
            "superseded",
        ),
        TRIED,
    ),
    **dict.fromkeys(("facts", "fact", "key facts", "details"), FACTS),
    **dict.fromkeys(
        ("open", "open questions", "open points", "next steps", "next", "todo", "to do", "pending"), OPEN
    ),
    **dict.fromkeys(("files", "file", "files changed", "changed files"), FILES),
}
_NAMES = "|".join(sorted(map(re.escape, _ALIASES), key=len, reverse=True))
_HEADING = re.compile(
    rf"^[\W_]*(?:\d+[.)]\s*)?(?:section\s+)?(?P<name>{_NAMES})\s*(?:\*\*|__|\]|\))?\s*(?:[:：—–-]\s*)?(?:\*\*|__)?\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_SIGN = re.compile(r"^\s*(?:>\s*)*(?:[-*+•–—·]|\(?\d{1,2}[.)]|\[[ xX]?\])\s+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_NOTHING = re.compile(
    r"^\W*(?:none|nothing|nil|n/?a|not applicable|no files?(?: (?:were )?changed)?|empty|keine?|nichts|aucune?|rien|ninguno|nada|无|没有)\W*$",
    re.IGNORECASE,
)
_NUMBER = r"(?:ids?\s*:?\s*|see\s+|msgs?\.?\s*|messages?\s+|\^)?m?\s?\d{1,4}(?!\d)"
_JOIN = r"(?:\s*(?:,|;|/|&|-|–|—|\.\.)\s*|\s+(?:(?:and|und|et|y|to)\s+)?|(?=m))"
_GROUP = re.compile(
    rf"\s*[\[({{【<（]\s*(?P<inside>{_NUMBER}(?:{_JOIN}{_NUMBER})*)\s*[\])}}】>）]", re.IGNORECASE
)
_HEX_GROUP = re.compile(r"\s*\[(?P<inside>(?:b2:)?[0-9a-f]{6,32}(?:\s*[,;]\s*(?:b2:)?[0-9a-f]{6,32})*)\]")
_BARE_END = re.compile(r"(?:\s+|\s*[—–-]\s*)(?P<inside>m\d{1,4}(?:\s*[,;&]?\s*m\d{1,4})*)\s*$", re.IGNORECASE)
_RANGE = re.compile(r"m?\s?(\d{1,4})\s*(?:-|–|—|to|\.\.)\s*m?\s?(\d{1,4})", re.IGNORECASE)
_LONGEST_RANGE = 12
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m|i am)\s+(?:very\s+)?(?:sorry|afraid|unable)|sorry\b|i\s+(?:can['’]?t|can\s?not|won['’]?t|must\s+decline)|"
    r"as\s+an?\s+(?:ai|language\s+model)|unfortunately,?\s+i\b)",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?<![\w.`/])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_LABEL = re.compile(r"\bm\d{1,4}\b")


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line of a note as a model wrote it."""

    number: int
    """Counted from 1 over the whole answer."""
    section: str
    text: str
    """The text without its list sign and its ids."""
    cites: tuple[MessageId, ...]
    """In the order of the branch."""
    unknown: tuple[str, ...] = ()
    """Ids it names that no message has."""
    quoted: Literal["", "instead", "later"] = ""
    """"" for the model's words. Otherwise a sentence of its one message, word for word: `instead` of a line that failed
    a check, or `later`, below a line, because the person said it last."""


def read_note(answer: str, ids: Mapping[str, MessageId]) -> tuple[tuple[NoteLine, ...], FailedCheck | None]:
    """Parse an answer into lines, or return why it is no note. `ids` are the messages by “m1”, “m2” …"""
    text = answer.strip()
    if not text:
        return (), FailedCheck("empty", "The model answered nothing.")
    lines, headed = _lines(text)
    found: list[NoteLine] = []
    for section, line in lines:
        said, marks = _without_marks(line, ids)
        said = _EMPHASIS.sub(r"\2", said).strip()
        if not said or _NOTHING.match(said):
            continue
        cites, unknown = _named(marks, ids)
        found.append(NoteLine(len(found) + 1, section, said, cites, unknown))
    if any(line.cites for line in found) or (headed and found and not _REFUSAL.match(text)):
        return tuple(found), None
    if headed and not found:
        return (), FailedCheck("empty", "The model found nothing worth telling.")
    if _REFUSAL.match(text):
        return (), FailedCheck("refusal", "The model refused to sum it up.", shown=text[:200])
    return (), FailedCheck(
        "reply", "The model replied to the conversation instead of writing the note.", shown=text[:200]
    )


def _lines(text: str) -> tuple[list[tuple[str, str]], bool]:
    """Return the items of an answer with their sections, and whether it has headings; wrapped lines are joined."""
    found: list[tuple[str, str]] = []
    section, headed, begun = FACTS, False, False
    for raw in text.splitlines():
        if _FENCE.match(raw) or not raw.strip(" \t-*_=#"):
            begun = False
            continue
        if (heading := _heading(raw)) is not None:
            section, rest = heading
            headed, begun = True, bool(rest)
            if rest:
                found.append((section, rest))
            continue
        item = _SIGN.match(raw)
        line = raw[item.end() :].strip() if item else raw.strip()
        ended = bool(found) and _ends_in_marks(found[-1][1])
        if begun and not item and (not ended or _GROUP.fullmatch(line)) and found[-1][0] == section:
            found[-1] = (section, f"{found[-1][1]} {line}")
        elif headed or _ends_in_marks(line):
            found.append((section, line))
            begun = True
    return found, headed


def _heading(raw: str) -> tuple[str, str] | None:
    match = _HEADING.match(raw)
    if match is None:
        return None
    rest = match["rest"].strip().strip("*_").strip()
    alone = not rest
    marked = (
        re.search(r"[:：]|\*\*|__|^\s*#", raw[: match.start("rest")] + raw[match.end("name") :][:3])
        is not None
    )
    # “Result: …” is a heading with its first line; “Results came in late” and “- Facts about it” are none.
    if not alone and not marked:
        return None
    return _ALIASES[match["name"].casefold()], _SIGN.sub("", rest)


def _ends_in_marks(line: str) -> bool:
    bare = line.rstrip(" .。*_")
    return any(match.end() >= len(bare) for match in _GROUP.finditer(bare)) or bool(
        _BARE_END.search(bare) or any(match.end() >= len(bare) for match in _HEX_GROUP.finditer(bare))
    )


def _without_marks(line: str, ids: Mapping[str, MessageId]) -> tuple[str, list[str]]:
    """Return a line without the ids that it names, and those ids; brackets around anything else stay."""
    marks: list[str] = []
    end = len(line.rstrip(" .。*_"))

    def take(match: re.Match[str]) -> str:
        inside = match["inside"]
        # A bare number counts as an id only in square brackets at the end: “(2024)” and “items[0]” are text.
        labelled = _LABEL.search(inside.replace(" ", "").casefold()) is not None
        final = match.group().strip()[0] in "[【" and _GROUP.sub("", line[match.end() : end]).strip() == ""
        if not labelled and not final:
            return match.group()
        marks.append(inside)
        return ""

    said = _GROUP.sub(take, line)

    def take_hex(match: re.Match[str]) -> str:
        if any(resolved(one, ids.values()) for one in re.split(r"[,;\s]+", match["inside"])):
            marks.append(match["inside"])
            return ""
        return match.group()

    said = _HEX_GROUP.sub(take_hex, said)
    if bare := _BARE_END.search(said.rstrip(" .")):
        marks.append(bare["inside"])
        said = said[: bare.start()]
    said = re.sub(r"\s+([.,。，])(?=\s|$)", r"\1", said)
    return " ".join(said.split()).strip("_ ").strip(), marks


def _named(
    marks: Sequence[str], ids: Mapping[str, MessageId]
) -> tuple[tuple[MessageId, ...], tuple[str, ...]]:
    names: dict[str, None] = {}
    found: set[MessageId] = set()
    for mark in marks:
        rest = mark
        for first, last in _RANGE.findall(mark):
            if 0 < int(last) - int(first) <= _LONGEST_RANGE:
                names.update(dict.fromkeys(f"m{at}" for at in range(int(first), int(last) + 1)))
        for piece in re.findall(r"(?:b2:)?[0-9a-f]{6,32}|\d{1,4}", _RANGE.sub(_ends, rest)):
            if len(piece) >= 6:
                id = resolved(piece, ids.values())
                if id is not None:
                    found.add(id)
                else:
                    names[piece] = None
            else:
                names[f"m{int(piece)}"] = None
    found |= {ids[name] for name in names if name in ids}
    unknown = tuple(name for name in names if name not in ids)
    return tuple(id for id in ids.values() if id in found), unknown


def _ends(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2]}"


def merged(lines: Iterable[NoteLine], also: NoteLine) -> list[NoteLine]:
    """Return the lines with the citations of `also`, which repeats one of them, added to that line."""
    return [
        replace(line, cites=tuple(dict.fromkeys((*line.cites, *also.cites))))
        if line.number == also.number
        else line
        for line in lines
    ]
