"""Checks that the citations of a line exist and support it: its words, its quotations, its numbers."""

from __future__ import annotations

import re

from forky_core.merge.models.line_checks.evidence import Evidence, weighed, words_in_both
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.numbers import Number, components, numbers
from forky_core.merge.wording import speaker_of
from forky_core.retrieval.words import stem

LONGEST_LINE = 90
"""The longest line in words; one or two sentences are asked for, and models count loosely."""
LEAST_SHARED = 0.25
"""The share of a line's words that its cited messages must have."""
_SHORT = 8
"""The most words of a sentence that hardly stands without the one before."""
SMALL_NUMBERS = frozenset({"0", "1", "2", "3"})
"""Numbers that count as ordinary words when they are spelled out."""
_YEAR_DIGITS = 4
_ABOUT = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|over|under|some|ca\.?|etwa|rund|fast|environ|presque|unos|"
    r"casi)\b|~|≈|约|近|大约",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“([^”]+)”|„([^“”]+)[“”]|«\s?([^»]+?)\s?»|(?<!\w)\"([^\"]+)\"(?!\w)|「([^」]+)」")
_PLAIN_QUOTES = str.maketrans("’‘“”„«»\u00a0", '\'\'""""" ')


def unknown_citation(line: NoteLine, _here: Evidence) -> str | None:
    """Reject a line that cites an unknown id, or none at all."""
    if line.unknown:
        return f"It cites {', '.join(line.unknown)}, which is no message of the branch."
    return None if line.cites else "It cites no message."


def too_long(line: NoteLine, _here: Evidence) -> str | None:
    """Reject a line of more than LONGEST_LINE words."""
    return f"It is longer than {LONGEST_LINE} words." if len(line.text.split()) > LONGEST_LINE else None


def rests_on_courtesy(_line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that cites nothing but thanks and assent."""
    return None if here.sources else "What it cites is a courtesy, which says nothing."


def false_quotation(line: NoteLine, here: Evidence) -> str | None:
    """Reject words in quotation marks that the cited messages do not have; “…” may leave some out."""
    cited = _plain(here.text)
    for groups in _QUOTED.findall(line.text):
        quote = next(filter(None, groups)).strip()
        if _plain(quote) not in cited and _plain(quote.rstrip(".,!?…")) not in cited:
            pieces = [piece for piece in re.split(r"\s*(?:…|\.\.\.|\[…\])\s*", quote) if piece]
            if len(pieces) < 2 or any(_plain(piece) not in cited for piece in pieces):
                return f"“{quote[:80]}” does not stand in what it cites."
    return None


def other_words(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line that shares too few words with what it cites."""
    unspaced = here.transcript.unspaced
    mine = weighed(line.text) - {stem(word) for word in here.transcript.speakers}
    sources = [*here.sources]
    if all(len(one.text.split()) <= _SHORT and len(one.text) <= 8 * _SHORT for one in sources):
        sources += here.before()
    said = frozenset(word for one in sources for word in weighed(one.text))
    found = words_in_both(mine, said)
    least = 1 if len(mine) <= 3 or unspaced else 2
    share = LEAST_SHARED / 2 if unspaced else LEAST_SHARED
    if mine and (len(found) < least or len(found) < share * len(mine)):
        return "What it cites does not say this."
    return None


def other_number(line: NoteLine, here: Evidence) -> str | None:
    """Reject a number that the cited messages do not have, or have with another unit.

    The number of messages it cites is allowed: “edited five times”.
    """
    said = [number for one in here.sources for number in numbers(one.text)]
    said += [number for at in here.cited for number in numbers(speaker_of(here.transcript.messages[at]))]
    said += _answered(here)
    pieces = frozenset(piece for number in said for piece in components(number))
    about = _ABOUT.search(line.text) is not None
    for number in numbers(line.text):
        if number.spelled and number.forms <= SMALL_NUMBERS and not number.unit:
            continue
        alike = [other for other in said if number.same_value(other)]
        if _measures_alike(number, alike, said):
            continue
        if alike:
            other = alike[0]
            return f"“{number.shown} {number.unit}” is {other.shown} {other.unit} in what it cites."
        if _is_year(number) and any(form in here.transcript.whole for form in number.forms):
            continue
        if _year_in_short(number, pieces) or (number.spelled and str(len(here.cited)) in number.forms):
            continue
        if not components(number) <= pieces and not (about and any(number.near(other) for other in said)):
            return f"The number {number.shown} is not in what it cites."
    return None


def _answered(here: Evidence) -> list[Number]:
    """Return the numbers of the messages that cited ones answer: a line may state them together with the answer."""
    asked = (at - 1 for at in here.cited if at and here.transcript.messages[at].role == "assistant")
    return [
        number
        for at in asked
        if here.transcript.messages[at].role == "user"
        for one in here.transcript.sentences[at]
        if one.asks or len(here.transcript.sentences[at]) == 1
        for number in numbers(one.text)
    ]


def _is_year(number: Number) -> bool:
    """Whether a number is a recent year, which a branch names once for all."""
    return any(re.fullmatch(r"(?:19|20)\d\d", form) for form in number.forms)


def _year_in_short(number: Number, pieces: frozenset[str]) -> bool:
    """Whether the pieces have a year by its last two digits."""
    years = [
        form
        for form in number.forms
        if form.isdecimal() and len(form) == _YEAR_DIGITS and form[:2] in ("19", "20")
    ]
    return any(str(int(form[2:])) in pieces for form in years)


def _measures_alike(number: Number, alike: list[Number], said: list[Number]) -> bool:
    """Whether one of the branch's numbers equals this one, in its unit or in one that can be converted."""
    measured = [other for other in alike if other.unit] if number.unit else []
    if any(number.same_measure(other) for other in measured) or (alike and not measured):
        return True
    return any(number.unit and other.unit and number.same_measure(other) for other in said)


def _plain(text: str) -> str:
    """Normalise a text for comparing quotations: without emphasis, with plain quotation marks, white space folded."""
    plain = re.sub(r"[*`]|(?<!\w)_+|_+(?!\w)", "", text.translate(_PLAIN_QUOTES))
    return re.sub(r" (?=[.,;:!?')\"])|(?<=[(\"]) ", "", " ".join(plain.split()).casefold())
