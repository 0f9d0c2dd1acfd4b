"""Quotes a denied quotation with its whole sentence, so that it is not read as its opposite.

A command or a name that is quoted word for word says nothing about itself: a reader assumes that it was used. Whether a
sentence denies, supposes or asks is judged by words such as “not”, “avoid”, “instead of”, “would” in some languages,
and for the sentence as a whole: “use A, not B” states neither.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from forky_core.merge.claims.cues import DENIES
from forky_core.merge.note.passages import atoms, is_named, sentences
from forky_core.retrieval.cues import is_question

Stance = Literal["stated", "denied", "open"]
"""How a sentence treats the names in it; `open`: it supposes, doubts or asks."""

_OPEN = (
    r"maybe|perhaps|possibly|probably|might|could|would|suppose\w*|imagine|assuming|hypothetical\w*|in\s+theory|allegedly"
    r"|supposedly|doubt\w*|unsure|uncertain|unclear|unlikely|suspect\w*|whether|what\s+about|how\s+about"
    r"|vielleicht|womöglich|eventuell|könnte\w*|würde\w*|wäre\w*|hätte\w*|falls|angenommen|unsicher|fraglich|bezweif\w*|ob"
    r"|peut-être|pourrai\w*|serai[ts]\w*|douteu\w*|doute\w*|quizás?|tal\s+vez|podría\w*|sería\w*|dud\w*|forse|talvez"
)
_UNSPACED_OPEN = "也许|也許|可能|如果|假如|要是|吗|嗎|怀疑|懷疑|是否|かもしれ|もし|ですか|만약|아마"
_SUPPOSITION = re.compile(
    rf"(?<![\w-])(?:{_OPEN})(?![\w-])|{_UNSPACED_OPEN}|^\W*(?:if|unless|in\s+case|wenn|si)\b",
    re.IGNORECASE,
)
_CODE_DENIAL = re.compile(
    r"\b(?:do\s+not|don['’]t|never|must\s+not|deprecated|avoid|instead\s+of|no\s+longer|nicht|jamais|nunca)\b|不要|勿",
    re.IGNORECASE,
)
"""For code, where “not” and “no” are part of the language: only words that a comment would use."""
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|</?\w{1,8}>")
_MARKED = re.compile(
    r"^[ \t]*(?:>[ \t]?)*(?:(?P<item>[-*+•|]|\d{1,3}[.)])|(?P<heading>\#{1,6}))(?=[ \t|])[ \t]*"
)
_FENCE = re.compile(r"^[ \t>]*(```|~~~)")
_POINTS_BACK = re.compile(
    r"\b(?:it|that|this|them|those|these|es|ihn|sie|das|dies\w*|le|la|les|lo|los|las|ça|cela|eso|esto)\b|它|这|這|那",
    re.IGNORECASE,
)


def stance(sentence: str) -> Stance:
    """Return how a sentence of prose treats the names in it."""
    # Names are removed first: `--no-cache` denies nothing. Words of letters alone stay, however they are written:
    # "NOT".
    names = [atom for atom in atoms(sentence) if is_named(atom) and not atom.isalpha()]
    bare = _EMPHASIS.sub("", sentence)
    for name in sorted(names, key=len, reverse=True):
        bare = bare.replace(name, "…")
    if DENIES.search(bare):
        return "denied"
    return "open" if is_question(sentence) or _SUPPOSITION.search(bare) else "stated"


def with_its_denial(span: str, text: str) -> str:
    """Return a quotation from `text`, or the first whole sentence with it if every such sentence denies it.

    Returns "" if that sentence spans several lines and cannot be quoted, or if the denial stands outside it: in a
    heading, say, or in the next sentence.
    """
    holding = _of_text(text, (span,))
    if not holding or any(mention.stance == "stated" for mention in holding) or stance(span) != "stated":
        return span
    whole = holding[0].text
    return whole if whole in text and stance(whole) != "stated" else ""


@dataclass(slots=True)
class _Mention:
    """A sentence, or a line of code."""

    text: str
    stance: Stance


def _of_text(text: str, about: Collection[str]) -> list[_Mention]:
    """Return the sentences of a text that have any of these names, in order, each with its stance.

    A line that ends in a colon applies to the list or the code below it, and “leave it out” to the sentence before.
    """
    found: list[_Mention] = []
    above: Stance = "stated"
    for paragraph, marked, code in _paragraphs(text):
        if code:
            if any(name in paragraph for name in about):
                denied = above != "stated" or _CODE_DENIAL.search(paragraph) is not None
                found.append(_Mention(paragraph, "denied" if denied else "stated"))
            continue
        before: _Mention | None = None
        for sentence in sentences(paragraph):
            told = any(name in sentence for name in about)
            if before is not None and not told and _points_back(sentence) and stance(sentence) == "denied":
                before.stance = "denied"
            before = _Mention(sentence, stance(sentence)) if told else None
            if before is not None:
                if marked and before.stance != "denied" and above != "stated":
                    before.stance = above
                found.append(before)
        if marked == "item":
            continue
        leads = marked == "heading" or paragraph.endswith((":", "："))
        above = stance(paragraph) if leads else "stated"
        if marked == "heading" and above == "open":
            above = "stated"
    return found


def _points_back(sentence: str) -> bool:
    """Whether a denial names nothing itself, so that it is about the previous sentence."""
    return not any(is_named(atom) for atom in atoms(sentence)) and _POINTS_BACK.search(sentence) is not None


def _paragraphs(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield joined lines of one paragraph; the sign that makes them an item or a heading; whether they are code."""
    lines: list[str] = []
    marked, fenced = "", False
    for raw in text.splitlines():
        fence = _FENCE.match(raw) is not None
        sign = None if fenced else _MARKED.match(raw)
        if lines and (fence or fenced or sign or not raw.strip()):
            yield " ".join(lines), marked, False
            lines, marked = [], ""
        if fence:
            fenced = not fenced
        elif fenced:
            yield raw.strip(), "", True
        elif raw.strip():
            if sign:
                marked = "heading" if sign["heading"] else "item"
            lines.append(raw[sign.end() if sign else 0 :].strip())
    if lines:
        yield " ".join(lines), marked, False
