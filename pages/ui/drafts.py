"""What is typed and not yet sent, by conversation and branch.

A draft outlives switching branches and pages and a reload of the tab; it is the person's, not the tab's. On the server
of one person it is kept in the process. A team's is in the file of its people (people/stored_drafts.py), so that
another browser, another node or a later start of the server goes on with it. No conversation has it: what was not
sent was not said.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

import streamlit as st

from forky_core.model import Branch, ConversationId, MessageId
from forky_core.model.hashing import mend_text
from forky_core.model.parts import AttachmentPart, Json, part_from_stored
from pages.ui.person import StoredDrafts
from pages.ui.sign_in import team
from pages.ui.workspace import reader_id

_MOST = 2_000
"""Drafts that are kept in the process; the one that was touched longest ago goes first."""
_LONGEST = 1_000_000
"""Characters of a member's draft that are kept."""


@dataclass(frozen=True, slots=True)
class TypedDraft:
    """One message being written."""

    text: str = ""
    files: tuple[AttachmentPart, ...] = ()
    search: str = ""
    """What documents are to be searched for in its place; "": what a rule, or a model, makes of it."""

    @property
    def empty(self) -> bool:
        return not self.text.strip() and not self.files and not self.search


class Drafts:
    """The drafts of one reader, kept in the process. Safe from any thread."""

    def __init__(self) -> None:
        self._drafts: OrderedDict[str, TypedDraft] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, place: str) -> TypedDraft:
        with self._lock:
            return self._drafts.get(place, TypedDraft())

    def write(self, place: str, text: str) -> None:
        self._put(place, replace(self.at(place), text=text))

    def attach(self, place: str, files: tuple[AttachmentPart, ...]) -> None:
        self._put(place, replace(self.at(place), files=files))

    def word(self, place: str, search: str) -> None:
        self._put(place, replace(self.at(place), search=" ".join(search.split())))

    def clear(self, place: str) -> None:
        self._put(place, TypedDraft())

    def move(self, place: str, to: str) -> None:
        self._put(to, self.at(place))
        self.clear(place)

    def _put(self, place: str, draft: TypedDraft) -> None:
        with self._lock:
            self._drafts.pop(place, None)
            if not draft.empty:
                self._drafts[place] = draft
            while len(self._drafts) > _MOST:
                self._drafts.popitem(last=False)


class MembersDrafts(Drafts):
    """The drafts of one member of a team, read from and written to the file of its people."""

    def __init__(self, kept: StoredDrafts, person: str) -> None:
        super().__init__()
        self._kept = kept
        self._person = person

    def at(self, place: str) -> TypedDraft:
        found = self._kept.at(self._person, place)
        if found is None:
            return TypedDraft()
        files = (part_from_stored(file) for file in found.get("files", ()))
        return TypedDraft(
            str(found.get("text", "")),
            tuple(file for file in files if isinstance(file, AttachmentPart)),
            str(found.get("search", "")),
        )

    def _put(self, place: str, draft: TypedDraft) -> None:
        if draft == self.at(place):
            return
        content: dict[str, Json] = {"text": mend_text(draft.text[:_LONGEST]), "search": draft.search}
        if draft.files:
            content["files"] = [file.stored() for file in draft.files]
        self._kept.keep(self._person, place, None if draft.empty else content)


def drafts(person: str | None = None) -> Drafts:
    """Those of a person, by their id, or of whoever looks at this page; of the server if it is one person's."""
    members = team()
    if members is None:
        return _of_the_server()
    return MembersDrafts(members.drafts, reader_id() if person is None else person)


def draft_place(
    conversation: ConversationId, branch: Branch, at: MessageId | None, *, begins: bool = False
) -> str:
    """Return the name of the place of a draft below a message of a branch; `begins`: it begins another one there."""
    return f"{conversation}/{branch.name}" + ("" if at == branch.head and not begins else f"/{at}")


@st.cache_resource(show_spinner=False)
def _of_the_server() -> Drafts:
    return Drafts()
