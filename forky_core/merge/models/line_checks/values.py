"""The numbers and names of a text, as values that belong to a subject."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from forky_core.merge.models.line_checks.support import SMALL_NUMBERS
from forky_core.merge.models.numbers import numbers
from forky_core.merge.models.transcript import Transcript
from forky_core.merge.note.passages import atoms, is_name
from forky_core.retrieval.words import STOPWORDS


@dataclass(frozen=True)
class StatedValue:
    """A number or a name that belongs to a subject."""

    kind: str
    key: str
    shown: str = field(compare=False)

    @property
    def is_number(self) -> bool:
        return self.kind == "number"


def values_of(text: str, transcript: Transcript, told: str = "") -> frozenset[StatedValue]:
    """Return the values of a text; `transcript` distinguishes names from other capitalised words.

    A word that is capitalised only at the beginning of a sentence counts as a name if the line, `told`, has it, too.
    """
    found = {
        StatedValue("number", min(number.forms), number.shown)
        for number in numbers(text)
        if not (number.spelled and number.forms <= SMALL_NUMBERS)
    }
    for name in atoms(text):
        if name[0].isdigit() or name.casefold() in STOPWORDS:
            continue
        if is_name(name) and not re.fullmatch(r"[\w]+(?:-[\w]+)+", name):
            kind = "capitals" if name.isupper() else "name"
            found.add(StatedValue(kind, re.sub(r"['’]s$", "", name.casefold()), name))
        elif not transcript.capital_nouns and _proper(name, transcript, told):
            found.add(StatedValue("name", re.sub(r"['’]s$", "", name.casefold()), name))
    return frozenset(found)


def _proper(word: str, transcript: Transcript, told: str) -> bool:
    """Whether a word is a name: a speaker's, or one that the branch writes with a capital and never without."""
    bare = re.sub(r"['’]s$", "", word)
    if bare.casefold() in transcript.speakers:
        return bare[:1].isupper()
    if not bare[:1].isupper() or len(bare) < 3:
        return False
    if bare.casefold() in transcript.smalls:
        return False
    return bare in transcript.capitals or (bare in transcript.initials and (not told or bare in told))
