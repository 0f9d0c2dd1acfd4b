"""The report of a replay: how the conversation grew, operation by operation; its page has a slider over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from forky_core.formats.reports.included import EVERYTHING as EVERYTHING_ALONG
from forky_core.formats.reports.included import Included
from forky_core.formats.reports.private_texts import reworded_value
from forky_core.formats.reports.report import DataTable, Report, ReportSection, Reword
from forky_core.formats.reports.things.material import Material
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent
from forky_core.render.material import log_of, shown_conversation, somebody
from forky_core.render.replay import Replay, ReplayFrame, replay
from forky_core.render.replay_page import replay_page
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import stamp_utc

_TOGETHER = 12
"""How many operations are in one section."""


EVERYTHING = "everything"
"""The value of `which` for a replay with undone operations."""


class ReplayThing:
    """Reports how the visible conversation grew, message by message; with `everything`, every operation of the log.

    The log contains the first lines of undone messages, which only `everything` reveals. Without it, the run of an
    experiment is one step, and its cells are not drawn.
    """

    name: ClassVar[str] = "replay"
    label: ClassVar[str] = "Replay"
    takes: ClassVar[str] = (
        f"“{EVERYTHING}”, to have every operation in it and what was undone; else what can be seen"
    )

    def report(self, material: Material, which: Sequence[str]) -> Report:
        """Raises BadContent if anything but `everything` is named: a replay is of a whole conversation."""
        if list(which) not in ([], [EVERYTHING]):
            raise BadContent("A replay is of a whole conversation.", f"It takes “{EVERYTHING}” or nothing.")
        shown = shown_conversation(material.chat, material.forky.store, label=material.label)
        operations, messages = log_of(material.chat, material.forky.store) if which else ((), shown.messages)
        included = material.included
        shown = replace(shown, messages=_as_included(shown.messages, included), author=somebody)
        made = replay(shown, operations, _as_included(messages, included), cells=bool(which))
        people = len({frame.actor for frame in made.frames})
        by = f" by {people} people and programs" if people > 1 else ""
        return Report(
            self.name,
            f"Replay of {title_or_placeholder(made.title)}",
            (f"{count(len(made.frames), 'operation')}{by}, {count(len(made.rows), 'message')}.",),
            tuple(_sections(made)),
            page=partial(_page, made),
        )


def _as_included(messages: Mapping[MessageId, Message], included: Included) -> Mapping[MessageId, Message]:
    """Return the messages for the report. Those that it must not contain are hidden, so that they are not drawn."""
    if included == EVERYTHING_ALONG:
        return messages
    return {
        id: included.of(message) if included.shows(message) else replace(message, hidden=True, parts=())
        for id, message in messages.items()
    }


def _page(made: Replay, word: Reword) -> Iterator[bytes]:
    for piece in replay_page(reworded_value(made, word)):
        yield piece.encode("utf-8", "replace")


def _sections(made: Replay) -> Iterator[ReportSection]:
    head = ("Operation", "When", "Who", "What")
    for some in _groups(made.frames):
        rows = tuple((one.number, _when(one), one.actor, one.summary) for one in some)
        title = (
            f"Operations {some[0].number} to {some[-1].number}"
            if len(some) > 1
            else f"Operation {some[0].number}"
        )
        yield ReportSection(title, (DataTable(head, rows),))


def _groups(frames: Sequence[ReplayFrame]) -> Iterator[Sequence[ReplayFrame]]:
    return (frames[at : at + _TOGETHER] for at in range(0, len(frames), _TOGETHER))


def _when(frame: ReplayFrame) -> str:
    return stamp_utc(frame.at) if frame.at else ""
