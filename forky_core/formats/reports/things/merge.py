"""The report of a merge that has landed: its branches, each merged line with its message, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from forky_core.formats.reports.report import (
    Block,
    DataTable,
    Drawing,
    Exact,
    Report,
    ReportSection,
    Sentences,
)
from forky_core.formats.reports.things.material import Material, digits
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent, NotFound
from forky_core.model.model_names import without_server
from forky_core.render.drawings import merge_picture
from forky_core.render.steps import MergeStory, merge_story
from forky_core.views.captions import SOMEBODY, payload_summary, who
from forky_core.views.graph import line_of_text
from forky_core.views.payload import payload_rows
from forky_core.views.places import branch_for
from forky_core.views.shelf import title_or_placeholder
from forky_core.views.times import stamp_utc

_LONGEST = 200_000
"""How many characters of a block are listed line by line; the rest follows unchanged."""


class MergeThing:
    """Reports the merge whose message `which` names, or the newest merge on the branch."""

    name: ClassVar[str] = "merge"
    label: ClassVar[str] = "Merge"
    takes: ClassVar[str] = "the beginning of its message's id; without one, the newest merge of the branch"

    def report(self, material: Material, which: Sequence[str]) -> Report:
        """Raises NotFound if there is no such merge, and BadContent for a message that is none."""
        chat = material.chat
        message = _merge(material, which)
        branch = branch_for(message.id, chat.view, chat.visible, chat.branch_name)
        above = chat.path(message.parent) if message.parent is not None else ()
        story = merge_story(chat.visible.messages, message, above)
        message = material.included.of(message)
        sources = ", ".join(f"“{part.source}”" for part in message.merges)
        facts = [f"{payload_summary(part)}." for part in message.merges]
        when = (
            f"Landed on “{branch}” on {stamp_utc(message.created)}."
            if message.created
            else f"Landed on “{branch}”."
        )
        picture = Drawing(
            merge_picture(story, branch, chat.view, landed=True), f"The branch {sources} joins “{branch}”."
        )
        return Report(
            self.name,
            f"{title_or_placeholder(chat.title)}: {sources} merged into “{branch}”",
            (*facts, when),
            (
                ReportSection("The branches", (picture, *_lines(story, material))),
                *_blocks(material, message),
                *_left(material, message),
            ),
        )


def _merge(material: Material, which: Sequence[str]) -> Message:
    chat = material.chat
    if which:
        message = chat.message(which[0])
        if message.id not in chat.visible.messages:
            raise NotFound("This merge was undone.", "Redo it on the History page first.")
        if not message.merges:
            raise BadContent(f"“{line_of_text(message)[:60]}” is no merge.", "Name the message of a merge.")
        return message
    found = next((one for one in reversed(chat.path()) if one.merges), None)
    if found is None:
        raise NotFound(f"Nothing has been merged into “{chat.branch_name}” yet.", "Check out another branch.")
    return found


def _lines(story: MergeStory, material: Material) -> Iterator[Block]:
    for part, line in story.sides:
        cited, left = set(part.messages), set(part.omitted)
        rows = tuple(
            (
                _opening(material, material.chat.visible.messages[id]),
                "left out" if id in left else "cited" if id in cited else "not cited",
            )
            for id in line
        )
        yield Sentences((f"“{part.source}” said, from where it left the other branch:",))
        yield DataTable(("Message", "In the block"), rows)


def _blocks(material: Material, message: Message) -> Iterator[ReportSection]:
    several = len(message.merges) > 1
    for part in message.merges:
        title = f"What came over from “{part.source}”" if several else "What came over"
        by = (
            f"Written by {without_server(part.made_by)}."
            if part.made_by
            else "Written by rules, not by a model."
        )
        rows = tuple(
            (row.text, "; ".join(_cited(material, id) for id in row.cites))
            for row in payload_rows(part, _LONGEST)
            if row.text.strip()
        )
        listed: list[Block] = [Sentences((by,)), DataTable(("Line", "From"), rows)]
        if len(part.text) > _LONGEST:
            listed.append(Exact(part.text[_LONGEST:]))
        yield ReportSection(title, tuple(listed))


def _opening(material: Material, message: Message) -> str:
    return f"{who(message, (), material.label, SOMEBODY)}: {material.line(message)}"


def _cited(material: Material, id: MessageId) -> str:
    message = material.chat.visible.messages.get(id)
    return (
        _opening(material, message)
        if message is not None
        else f"message {digits(id)} of another conversation"
    )


def _left(material: Material, message: Message) -> Iterator[ReportSection]:
    rows = tuple(
        (part.source, _cited(material, MessageId(id))) for part in message.merges for id in part.omitted
    )
    if rows:
        yield ReportSection("What stayed behind", (DataTable(("Branch", "Message"), rows),))
