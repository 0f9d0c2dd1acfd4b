"""What code can check of a summary that a model wrote, before anything of it is accepted.

Every claim names the messages it rests on and quotes one of them; a citation must lie in what is merged, a quote must
be found letter for letter, and no number or name may appear that the cited messages do not hold. Each failure is a
sentence for the person.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.merge.units import atoms, is_name
from forky_core.model import MessageId
from forky_core.parts import Json

SECTION_OF: Mapping[str, str] = {
    "constraint": "Constraints",
    "correction": "Corrections",
    "decision": "Decisions",
    "result": "Results",
    "verbatim": "Word for word",
    "failed_attempt": "Tried without success",
    "open_question": "Open questions",
    "todo": "To do",
    "preference": "Preferences",
    "fact": "Facts",
}
"""Types of claims with their headings, the most important first."""
LONGEST_CLAIM = 60
"""Words."""

_PROSE = re.compile(r"[A-Za-z][a-z]*(?:[-'’][A-Za-z]?[a-z]*)*|[A-Z]{2,5}s?")
"""Words that only look like names: "re-run", "Side-effect", "JSON"."""
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
]


@dataclass(frozen=True, slots=True)
class Failed:
    """One thing that a model's answer failed."""

    check: CheckName
    sentence: str
    """What is wrong, for people and for the model that is asked to mend it."""
    entry: int | None = None
    """Number of the claim, from 1; None: the answer as a whole."""
    shown: str = ""
    """The text that failed, where there is one."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One line of a model's summary."""

    type: str
    text: str
    cites: tuple[MessageId, ...]
    quote: str


def read_claims(answer: str, texts: Mapping[MessageId, str]) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """The claims of a model's answer about the messages `texts`, and what is wrong with it; () where nothing is."""
    entries, problem = _entries(answer)
    if problem:
        return (), (problem,)
    claims: list[Claim] = []
    problems: list[str] = []
    for number, entry in enumerate(entries, 1):
        claim, wrong = _claim(entry, texts)
        problems += [f"Line {number}: {sentence}" for sentence in wrong]
        if claim is not None:
            claims.append(claim)
    return tuple(claims), tuple(problems)


def json_object(answer: str) -> tuple[dict[str, Json], Failed | None]:
    """The one JSON object of a model's answer, in a fence or without, or what the answer is instead."""
    text = answer.strip()
    fenced = _FENCED.search(text)
    if fenced and not text.startswith(("{", "[")):
        text = fenced.group(1).strip()
    if not text:
        return {}, Failed("empty", "The model answered nothing.")
    if not text.startswith(("{", "[")):
        if _REFUSAL.match(text):
            return {}, Failed("refusal", "The model refused to sum it up.", shown=text[:200])
        return {}, Failed(
            "reply", "The model replied to the conversation instead of summing it up.", shown=text[:200]
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}, Failed("json", "The model's JSON is cut off or broken.", shown=text[-200:])
    if not isinstance(value, dict):
        return {}, Failed("schema", "The model's JSON does not have the form that was asked for.")
    return value, None


def _entries(answer: str) -> tuple[Sequence[Json], str]:
    value, wrong = json_object(answer)
    if wrong is not None:
        return (), wrong.sentence
    lines = value.get("lines")
    if not isinstance(lines, list):
        return (), "The model's JSON does not have the form that was asked for."
    return (lines, "") if lines else ((), "The model's summary is empty.")


def _claim(entry: Json, texts: Mapping[MessageId, str]) -> tuple[Claim | None, list[str]]:
    if not isinstance(entry, dict):
        return None, ["it is no claim."]
    kind, text, quote, cites = (entry.get(key) for key in ("type", "text", "quote", "cites"))
    if not isinstance(text, str) or not text.strip():
        return None, ["it has no text."]
    if kind not in SECTION_OF:
        return None, [f"its type {kind!r} is not one of those asked for."]
    if not isinstance(cites, list) or not cites:
        return None, ["it cites no message."]
    if not isinstance(quote, str) or not quote.strip():
        return None, ["it quotes nothing."]
    found = [_resolved(cite, texts) for cite in cites]
    wrong = [
        f"it cites {cite!r}, which is not merged."
        for cite, id in zip(cites, found, strict=True)
        if id is None
    ]
    if wrong:
        return None, wrong
    claim = Claim(
        str(kind), " ".join(html.unescape(text).split()), tuple(dict.fromkeys(filter(None, found))), quote
    )
    return claim, _unfounded(claim, [texts[id] for id in claim.cites])


def _resolved(cite: Json, texts: Mapping[MessageId, str]) -> MessageId | None:
    digits = cite.strip("[] ").removeprefix("b2:") if isinstance(cite, str) else ""
    fitting = [id for id in texts if len(digits) >= 6 and id.removeprefix("b2:").startswith(digits)]
    return fitting[0] if len(fitting) == 1 else None


def _unfounded(claim: Claim, sources: Sequence[str]) -> list[str]:
    wrong: list[str] = []
    if not _quoted(claim.quote, sources):
        wrong.append(f"the quote “{claim.quote[:80]}” is not in the cited messages.")
    if claim.type == "verbatim" and not _quoted(claim.text, [" ".join(source.split()) for source in sources]):
        wrong.append(f"“{claim.text[:80]}” is not in the cited messages word for word.")
    wrong += [f"“{name}” is not in the cited messages." for name in invented(claim.text, "\n".join(sources))]
    if len(claim.text.split()) > LONGEST_CLAIM:
        wrong.append(f"it is longer than {LONGEST_CLAIM} words.")
    return wrong


def _quoted(quote: str, sources: Sequence[str]) -> bool:
    forms = (quote, html.unescape(quote), quote.strip(), html.unescape(quote).strip())
    return any(form in source for form in forms for source in sources)


def invented(text: str, source: str) -> tuple[str, ...]:
    """Numbers and identifiers of `text` that `source` does not hold."""
    known = source.casefold()
    return tuple(name for name in atoms(text) if _must_be_known(name) and not _holds(known, name.casefold()))


def _must_be_known(name: str) -> bool:
    core = name.strip("/.:-()")
    return is_name(name) and bool(core) and not _PROSE.fullmatch(core)


def _holds(source: str, name: str) -> bool:
    core = re.escape(name.strip("/.:-()"))
    return re.search(rf"(?<![\w]){core}(?![\w])", source) is not None
