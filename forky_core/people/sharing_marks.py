"""The mark beside a conversation in a list: whose it is and who sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from forky_core.people.sharing import OWNERS, SharedWith

Whose = Literal["all", "mine", "with_me", "by_me"]


@dataclass(frozen=True, slots=True)
class SharingMark:
    """The mark of one conversation."""

    kind: Literal["private", "people", "everyone"]
    words: str
    """Whose it is, if it is not the reader's, and who sees it, in a few words."""


def mark_of(shared: SharedWith, reader: str, name_of: Callable[[str], str]) -> SharingMark:
    """The mark of a conversation for a reader; `name_of` is the name of a person's id."""
    if shared.owner != reader:
        whose = "The owners" if shared.owner == OWNERS else name_of(shared.owner)
        if shared.everyone:
            return SharingMark("everyone", f"{whose} · everybody")
        return SharingMark("people" if shared.people else "private", whose)
    if shared.everyone:
        return SharingMark("everyone", "Everybody")
    if shared.people:
        one = len(shared.people) == 1
        seen_by = name_of(next(iter(shared.people))) if one else f"{len(shared.people)} people"
        return SharingMark("people", f"With {seen_by}")
    return SharingMark("private", "Private")


def belongs_here(shared: SharedWith | None, reader: str, whose: Whose) -> bool:
    """Whether a conversation is among those that a reader asks for."""
    if whose == "all" or shared is None:
        return whose == "all"
    own = shared.owner == reader
    match whose:
        case "mine":
            return own
        case "with_me":
            return not own
        case "by_me":
            return own and (shared.everyone or bool(shared.people))
