"""What is typed and not yet sent, by conversation and branch, kept in the server process.

So a draft outlives switching branches and pages and a reload of the tab; it is the person's, not the tab's. Nothing
of it is in the database: what was not sent was not said.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

import streamlit as st

from forky_core.model.parts import AttachmentPart
from pages.ui.workspace import viewer_id

_MOST = 2_000
"""Drafts of a person that are kept; the one that was touched longest ago goes first."""
_MOST_PEOPLE = 1_000


@dataclass(frozen=True, slots=True)
class Draft:
    """One message being written."""

    text: str = ""
    files: tuple[AttachmentPart, ...] = ()
    search: str = ""
    """What documents are to be searched for in its place; "": what a rule, or a model, makes of it."""

    @property
    def empty(self) -> bool:
        return not self.text.strip() and not self.files and not self.search


class Drafts:
    """Safe from any thread."""

    def __init__(self) -> None:
        self._drafts: OrderedDict[str, Draft] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, place: str) -> Draft:
        with self._lock:
            return self._drafts.get(place, Draft())

    def write(self, place: str, text: str) -> None:
        self._put(place, replace(self.at(place), text=text))

    def attach(self, place: str, files: tuple[AttachmentPart, ...]) -> None:
        self._put(place, replace(self.at(place), files=files))

    def word(self, place: str, search: str) -> None:
        self._put(place, replace(self.at(place), search=" ".join(search.split())))

    def clear(self, place: str) -> None:
        self._put(place, Draft())

    def move(self, place: str, to: str) -> None:
        self._put(to, self.at(place))
        self.clear(place)

    def _put(self, place: str, draft: Draft) -> None:
        with self._lock:
            self._drafts.pop(place, None)
            if not draft.empty:
                self._drafts[place] = draft
            while len(self._drafts) > _MOST:
                self._drafts.popitem(last=False)


def drafts() -> Drafts:
    """Those of whoever looks at this page; on the server of one person, those of the server."""
    by_person, reader = _by_person(), viewer_id()
    found = by_person.setdefault(reader, Drafts())
    while len(by_person) > _MOST_PEOPLE:
        by_person.pop(next(iter(by_person)), None)
    return found


@st.cache_resource(show_spinner=False)
def _by_person() -> dict[str, Drafts]:
    return {}
