"""Names that look like somebody else's: “Аda” with a Cyrillic А, “Ada” in wide letters, or simply another “Ada”.

A name is free, so such a one is not refused; it is shown with a warning, and the handle below it is what nobody else
has. This compares letters that fonts draw alike, the ones that people are deceived with most; it is no proof.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from forky_core.people.members import Member

_ALIKE = str.maketrans(
    "авгеёзіјкмнорсѕтухһԁԛԝӏαβγεηικνορτυχωϲ01|ıłøđ",
    "abree3ijkmhopcstyxhdqwlabyenikvoptuxwcollilod",
)


def skeleton(name: str) -> str:
    """A form of a name that names which look alike have in common."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(c for c in plain if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    return "".join(letters.translate(_ALIKE).replace("rn", "m").replace("vv", "w").split())


def look_alikes(members: Sequence[Member]) -> Mapping[str, Member]:
    """For each member whose name looks like that of a longer-standing member: that member. By id."""
    first: dict[str, Member] = {}
    found: dict[str, Member] = {}
    for member in sorted(members, key=lambda one: (one.since, one.id)):
        known = first.setdefault(skeleton(member.name), member)
        if known.id != member.id:
            found[member.id] = known
    return found
