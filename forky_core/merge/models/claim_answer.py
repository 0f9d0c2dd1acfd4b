"""Parses a model's claims and checks each against the messages it cites (checks.py)."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from forky_core.merge.claims.claim_set import (
    LONGEST_QUOTE,
    SECTION_OF,
    Claim,
    ClaimType,
    Polarity,
    Status,
    Verbatim,
    VerbatimKind,
)
from forky_core.merge.models.checks import FailedCheck, invented, json_object, lost_negation, quoted, resolved
from forky_core.merge.models.reading import ClaimReading, DroppedClaim
from forky_core.merge.polarity import with_its_denial
from forky_core.model import MessageId
from forky_core.model.parts import Json

LONGEST_CLAIM = 45
"""The longest claim in words; 30 are asked for, and models count loosely."""
_LONGEST_QUOTED = LONGEST_QUOTE + 15
_LONGEST_SPAN = 600
"""Characters."""


def read(answer: str, texts: Mapping[MessageId, str]) -> tuple[ClaimReading, tuple[FailedCheck, ...]]:
    """Parse an answer about the messages `texts`: the claims that pass, and the failures of the rest."""
    value, wrong = json_object(answer)
    if wrong is not None:
        return ClaimReading(), (wrong,)
    entries = value.get("claims")
    lists = [value.get(name, []) for name in ("verbatim", "dropped", "conflicts_with_target")]
    if not isinstance(entries, list) or not all(isinstance(one, list) for one in lists):
        return ClaimReading(), (
            FailedCheck("schema", "The model's JSON does not have the form that was asked for."),
        )
    if not entries and not lists[0] and not lists[1]:
        return ClaimReading(), (FailedCheck("empty", "The model's summary is empty."),)
    reader = _AnswerReader(texts)
    for number, entry in enumerate(entries, 1):
        reader.claim(number, entry)
    spans = tuple(reader.spans(lists[0]))
    return (
        ClaimReading(
            tuple(reader.claims.values()), spans, tuple(reader.dropped(lists[1])), tuple(_keys(lists[2]))
        ),
        tuple(reader.failed),
    )


@dataclass(slots=True)
class _AnswerReader:
    texts: Mapping[MessageId, str]
    claims: dict[int, Claim] = field(default_factory=dict)
    """The claims by their number in the answer."""
    failed: list[FailedCheck] = field(default_factory=list)

    def fail(self, check: Any, sentence: str, number: int | None, shown: str = "") -> None:
        self.failed.append(FailedCheck(check, sentence, number, shown))

    def claim(self, number: int, entry: Json) -> None:
        wrong = _form(entry)
        if wrong:
            self.fail("schema", wrong, number)
            return
        found = [(cite, resolved(cite, self.texts)) for cite in entry["cites"]]
        missing = [cite for cite, id in found if id is None]
        for cite in missing:
            self.fail(
                "citation", f"it cites {str(cite)[:40]!r}, which is not merged.", number, str(cite)[:80]
            )
        if missing:
            return
        order = {id: at for at, id in enumerate(self.texts)}
        cites = tuple(sorted({id for _, id in found if id is not None}, key=order.__getitem__))
        text = " ".join(html.unescape(entry["text"]).split())
        before = len(self.failed)
        quote = self._founded(number, text, entry, [self.texts[id] for id in cites])
        if len(self.failed) > before:
            return
        earlier = [self.claims[at] for at in entry.get("supersedes", ()) if at in self.claims and at < number]
        self.claims[number] = Claim(
            cast("ClaimType", entry["type"]),
            text,
            cites,
            " ".join(html.unescape(entry.get("key", "")).split())[:80],
            " ".join(html.unescape(entry.get("value", "")).split())[:200],
            cast("Polarity", entry.get("polarity", "affirmed")),
            cast("Status", entry.get("status", "settled")),
            quote,
            tuple(sorted(claim.id for claim in earlier)),
        )

    def _founded(self, number: int, text: str, entry: Mapping[str, Json], sources: Sequence[str]) -> str:
        """Return the quotation as it stands in a source; failures of the claim are recorded."""
        quote = quoted(entry["quote"], sources)
        if quote is None:
            shown = entry["quote"][:80]
            self.fail("quote", f"the quote “{shown}” is not in the cited messages.", number, shown)
        elif len(quote.split()) > _LONGEST_QUOTED:
            self.fail("length", f"its quote is longer than {LONGEST_QUOTE} words.", number)
        everything = "\n".join(sources)
        for name in dict.fromkeys(
            (*invented(text, everything), *invented(entry.get("value", ""), everything))
        ):
            self.fail("invented", f"“{name}” is not in the cited messages.", number, name)
        if len(text.split()) > LONGEST_CLAIM:
            self.fail("length", f"it is longer than {LONGEST_CLAIM} words.", number)
        if quote is not None:
            clause = lost_negation(text, quote, sources)
            if clause:
                shown = " ".join(clause.split())[:120]
                self.fail("negation", f"it turns round what is said: “{shown}”.", number, shown)
        return quote or ""

    def spans(self, entries: Sequence[Json]) -> Iterator[Verbatim]:
        for entry in entries:
            if (
                not isinstance(entry, dict)
                or not isinstance(entry.get("span"), str)
                or not entry["span"].strip()
            ):
                self.fail("schema", "A verbatim entry has no span.", None)
                continue
            shown = entry["span"][:80]
            cite = resolved(entry.get("cite"), self.texts)
            if entry.get("kind") not in get_args(VerbatimKind):
                self.fail(
                    "schema", f"The kind {str(entry.get('kind'))[:40]!r} is not one of those asked for.", None
                )
            elif cite is None:
                self.fail("citation", f"“{shown}” cites a message which is not merged.", None, shown)
            elif (span := quoted(entry["span"], [self.texts[cite]])) is None or len(span) > _LONGEST_SPAN:
                self.fail("span", f"“{shown}” is not in the cited messages word for word.", None, shown)
            elif span := with_its_denial(span, self.texts[cite]):
                yield Verbatim(entry["kind"], cite, span)

    def dropped(self, entries: Sequence[Json]) -> Iterator[DroppedClaim]:
        """Yield remarks, which are no part of any payload; one without a citation is skipped."""
        for entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("cites"), list):
                cites = tuple(id for cite in entry["cites"] if (id := resolved(cite, self.texts)) is not None)
                if cites and isinstance(entry.get("why"), str):
                    yield DroppedClaim(cites, " ".join(entry["why"].split())[:200])


def _form(entry: Json) -> str:
    """Return how a claim departs from the requested form; "" if it does not."""
    if not isinstance(entry, dict):
        return "it is no claim."
    if not isinstance(entry.get("text"), str) or not entry["text"].strip():
        return "it has no text."
    if entry.get("type") not in SECTION_OF or entry["type"] not in get_args(ClaimType):
        return f"its type {str(entry.get('type'))[:40]!r} is not one of those asked for."
    if not isinstance(entry.get("cites"), list) or not entry["cites"]:
        return "it cites no message."
    if not isinstance(entry.get("quote"), str) or not entry["quote"].strip():
        return "it quotes nothing."
    for name in ("key", "value"):
        if not isinstance(entry.get(name, ""), str):
            return f"its {name} is no text."
    if entry.get("polarity", "affirmed") not in get_args(Polarity):
        return f"its polarity {str(entry['polarity'])[:40]!r} is not one of those asked for."
    if entry.get("status", "settled") not in get_args(Status):
        return f"its status {str(entry['status'])[:40]!r} is not one of those asked for."
    numbers = entry.get("supersedes", [])
    if not isinstance(numbers, list) or not all(isinstance(one, int) for one in numbers):
        return "what it supersedes is no list of numbers."
    return ""


def _keys(entries: Sequence[Json]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("key"), str) and entry["key"].strip():
            yield " ".join(entry["key"].split())[:80]
