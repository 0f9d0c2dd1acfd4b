"""What code can check in a summary that a model wrote, before anything of it is accepted.

Every claim names the messages it rests on and quotes one of them; a citation must be among the merged messages, a
quotation must stand in one letter for letter, and no number or name may appear that the cited messages do not have. A
denial may not get lost. Each failure is a value with a sentence for the person, so that a page can show what failed.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from forky_core.merge.claims.cues import DENIES
from forky_core.merge.note.passages import atoms, is_name
from forky_core.model import MessageId
from forky_core.model.parts import Json

_PROSE = re.compile(r"[A-Za-z][a-z]*(?:[-'’][A-Za-z]?[a-z]*)*|[A-Z]{2,5}s?")
"""Words that only look like names: "re-run", "Side-effect", "JSON"."""
_CLAUSE_END = re.compile(
    r"[.!?;:\n。！？；]\s*|,\s+(?:so|but|and|then|because|which|while|although)\b|\b(?:but|because)\b"
)
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]*_]*\s*$")
_FENCED = re.compile(r"^```(?:json)?[ \t]*\n(.*?)\n?```[ \t]*$", re.DOTALL | re.MULTILINE)
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m|i am)\s+(?:very\s+)?(?:sorry|afraid|unable)|sorry\b|i\s+(?:can['’]?t|can\s?not|won['’]?t|must\s+decline)|"
    r"as\s+an?\s+(?:ai|language\s+model)|unfortunately,?\s+i\b)",
    re.IGNORECASE,
)


CheckName = Literal[
    "reply",
    "refusal",
    "json",
    "schema",
    "empty",
    "citation",
    "quote",
    "span",
    "invented",
    "negation",
    "length",
    "size",
    "unsupported",
    "number",
    "subject",
    "speaker",
    "certain",
    "modality",
    "superseded",
    "instruction",
    "repeat",
]


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """One failed check of a model's answer."""

    check: CheckName
    sentence: str
    """What is wrong, for people and for the model that is asked to repair it."""
    entry: int | None = None
    """The number of the claim or the line, from 1; None for the answer as a whole."""
    shown: str = ""
    """The text that failed, if there is one."""


def sentences(failed: Iterable[FailedCheck]) -> tuple[str, ...]:
    """Return the failures for a person, each with the number of its line."""
    return tuple(f"Line {one.entry}: {one.sentence}" if one.entry else one.sentence for one in failed)


def json_object(answer: str) -> tuple[dict[str, Json], FailedCheck | None]:
    """Parse a model's answer as one JSON object, fenced or not; a failure says what the answer is instead."""
    text = answer.strip()
    fenced = _FENCED.search(text)
    if fenced and not text.startswith(("{", "[")):
        text = fenced.group(1).strip()
    if not text:
        return {}, FailedCheck("empty", "The model answered nothing.")
    if not text.startswith(("{", "[")):
        if _REFUSAL.match(text):
            return {}, FailedCheck("refusal", "The model refused to sum it up.", shown=text[:200])
        return {}, FailedCheck(
            "reply", "The model replied to the conversation instead of summing it up.", shown=text[:200]
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}, FailedCheck("json", "The model's JSON is cut off or broken.", shown=text[-200:])
    if not isinstance(value, dict):
        return {}, FailedCheck("schema", "The model's JSON does not have the form that was asked for.")
    return value, None


def resolved(cite: Json, among: Iterable[MessageId]) -> MessageId | None:
    """Return the one message that a citation names by its first digits; None if none or several match."""
    digits = cite.strip("[] ").removeprefix("b2:") if isinstance(cite, str) else ""
    fitting = [id for id in among if len(digits) >= 6 and id.removeprefix("b2:").startswith(digits)]
    return fitting[0] if len(fitting) == 1 else None


def quoted(quote: str, sources: Iterable[str]) -> str | None:
    """Return the quotation as it stands letter for letter in one of the sources; None if it does not."""
    forms = dict.fromkeys((quote, html.unescape(quote), quote.strip(), html.unescape(quote).strip()))
    return next((form for form in forms if any(form in source for source in sources)), None)


def lost_negation(text: str, quote: str, sources: Iterable[str]) -> str:
    """Return the clause around a quotation if it denies what the claim affirms, or the other way round; else "".

    Judged by words such as “not” and by words that deny in themselves ("avoid", "without"); if a model turns a denial
    round by an antonym, it passes or is refused by luck, so every claim is shown with its quotation.
    """
    clause = next((_clause(source, quote) for source in sources if quote in source), "")
    said, claimed = DENIES.search(clause), DENIES.search(text)
    if said and not claimed:
        return clause
    if claimed and not said and not any(DENIES.search(source) for source in sources):
        return clause or quote
    return ""


def _clause(source: str, quote: str) -> str:
    start = source.index(quote)
    before, after = source[:start], source[start + len(quote) :]
    cut = [match.end() for match in _CLAUSE_END.finditer(before)]
    stop = _CLAUSE_END.search(after)
    head = before[cut[-1] :] if cut else before
    if _SENTENCE_END.search(quote):
        return (head + quote).strip()
    return (head + quote + (after[: stop.start()] if stop else after)).strip()


def invented(text: str, source: str) -> tuple[str, ...]:
    """Return the numbers and identifiers of `text` that `source` does not have."""
    known = source.casefold()
    return tuple(name for name in atoms(text) if _must_be_known(name) and not _holds(known, name.casefold()))


def _must_be_known(name: str) -> bool:
    core = name.strip("/.:-()")
    return is_name(name) and bool(core) and not _PROSE.fullmatch(core)


def _holds(source: str, name: str) -> bool:
    core = re.escape(name.strip("/.:-()"))
    return re.search(rf"(?<![\w]){core}(?![\w])", source) is not None
