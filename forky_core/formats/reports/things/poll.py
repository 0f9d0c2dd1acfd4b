"""The report of a poll: the answers and, once it is revealed, the votes and notes. It reveals nothing of a blind
poll.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from forky_core.conversation.voting.poll import Poll
from forky_core.conversation.voting.voting import called
from forky_core.formats.reports.report import (
    Block,
    DataTable,
    Leaf,
    Report,
    ReportColumn,
    ReportSection,
    Sentences,
    SideBySide,
    Value,
)
from forky_core.formats.reports.things.material import Material
from forky_core.model.errors import BadContent, NotFound
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import stamp_utc
from forky_core.views.voting import CHOICES, Ballot, BallotOption, PollResult, ballot_of, outcome_of


class PollThing:
    """Reports the poll whose number is in `which`, or the newest."""

    name: ClassVar[str] = "poll"
    label: ClassVar[str] = "Vote"
    takes: ClassVar[str] = "its number; without one, the newest poll of the conversation"

    def report(self, material: Material, which: Sequence[str]) -> Report:
        """Raises NotFound if there is no such poll."""
        chat = material.chat
        number = _number(material, which)
        ballot = ballot_of(chat, number)
        poll = ballot.poll
        outcome = None if poll.hidden else outcome_of(chat, number)
        title = poll.title or (material.line(ballot.question)[:120] if ballot.question is not None else "")
        sections = [_counts(material, outcome)] if outcome is not None else []
        sections.append(_answers(material, ballot))
        if outcome is not None and outcome.notes:
            sections.append(_notes(outcome))
        return Report(
            self.name,
            title or f"A vote in “{title_or_placeholder(chat.title)}”",
            tuple(_about(poll, ballot, outcome)),
            tuple(sections),
        )


def _number(material: Material, which: Sequence[str]) -> int:
    if which:
        if not which[0].isdecimal():
            raise BadContent(
                f"“{which[0][:40]}” is no number of a poll.", "The Votes page shows the numbers."
            )
        return int(which[0])
    newest = next(iter(material.chat.polls.all), None)
    if newest is None:
        raise NotFound("There is no poll in this conversation.", "Open one on the Compare page.")
    return newest.number


def _about(poll: Poll, ballot: Ballot, outcome: PollResult | None) -> Iterator[str]:
    yield f"{called(poll, begins=True).rstrip(',')}, opened by {poll.by} on {stamp_utc(poll.at)}."
    if poll.revealed is not None:
        yield f"Revealed by {poll.revealed.by} on {stamp_utc(poll.revealed.at)}."
    else:
        yield "People can still vote."
    if outcome is None:
        yield f"{_voted(ballot.voters)} Names and counts are hidden until the reveal."
    elif (first := next((row for row in outcome.rows if row.leads), None)) is not None:
        yield f"{first.option.letter} is ahead with {first.votes} of {count(outcome.votes, 'vote')}."
    else:
        yield f"No answer is ahead, after {count(outcome.votes, 'vote')}."


def _voted(number: int) -> str:
    return "One person has voted." if number == 1 else f"{number} people have voted."


def _counts(material: Material, outcome: PollResult) -> ReportSection:
    criteria = tuple(dict.fromkeys(name for row in outcome.rows for name in row.scores))
    head = ("Answer", "By", "Votes", "Share", *criteria)
    rows: list[tuple[Value, ...]] = [
        (
            row.option.letter,
            row.option.made_by(material.label),
            row.votes,
            f"{row.share:.0%}",
            *(
                f"{row.scores[name].mean:.1f} ({row.scores[name].given})" if name in row.scores else "–"
                for name in criteria
            ),
        )
        for row in outcome.rows
    ]
    others = (("Tie", outcome.ties), (CHOICES["bad"], outcome.bad))
    rows += [
        (name, "", number, _share(number, outcome.votes), *("–" for _ in criteria)) for name, number in others
    ]
    blocks: list[Block] = [DataTable(head, tuple(rows))]
    if outcome.unread:
        blocks.append(
            Sentences((f"{count(outcome.unread, 'vote')} could not be read and count for nothing.",))
        )
    return ReportSection("The result", tuple(blocks))


def _share(number: int, votes: int) -> str:
    return f"{number / votes if votes else 0:.0%}"


def _answers(material: Material, ballot: Ballot) -> ReportSection:
    blocks: list[Block] = []
    if ballot.question is not None:
        blocks += material.blocks(ballot.question)
    columns = [
        ReportColumn(option.letter, option.made_by(material.label), _option(material, option))
        for option in ballot.options
    ]
    return ReportSection("The answers", (*blocks, SideBySide(tuple(columns))))


def _option(material: Material, option: BallotOption) -> tuple[Leaf, ...]:
    if option.removed:
        return (Sentences(("This answer was removed after the poll was opened. Its votes are kept.",)),)
    blocks: list[Leaf] = []
    for message in option.turns:
        if message.role == "user":
            blocks.append(Sentences(("Then somebody asked:",)))
        blocks += material.blocks(message)
        if message.role == "user":
            blocks.append(Sentences(("And the answer:",)))
    return tuple(blocks)


def _notes(outcome: PollResult) -> ReportSection:
    rows = tuple((note.person, note.choice, note.text) for note in outcome.notes)
    return ReportSection("Why", (DataTable(("Voter", "Choice", "Note"), rows),))
