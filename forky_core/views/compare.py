"""The view model of Compare: the shared beginning, then turn by turn each side's messages, with their cost.

The shared part is the beginning of every side's context. After it, turns are put side by side in order; a question that
all sides were asked aligns them on one row again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from forky_core.conversation.branch_origins import BranchOrigin
from forky_core.conversation.message_origins import MessageOrigin, MessageOrigins, call_index, no_log
from forky_core.conversation.visible import Visible
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Generation, Message, MessageId
from forky_core.model.graph import is_ancestor, parents_in
from forky_core.views.captions import dollars, seconds, tokens
from forky_core.views.shelf import count
from forky_core.views.sides import Side


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """One message of a column."""

    message: Message
    origin: MessageOrigin
    """Who gave it, as seen from the column's branch."""
    tokens: int
    """The provider's count for the answer, else an estimate."""
    same_as: str | None
    """The label of the first column that has this very message from the same call; None in that column itself."""

    @property
    def generation(self) -> Generation | None:
        """The call that gave it; None if no model did, or if it is not known which of several."""
        return self.origin.call

    @property
    def seconds(self) -> float | None:
        return self.generation.seconds if self.generation else None

    @property
    def seconds_to_first_token(self) -> float | None:
        return self.generation.seconds_to_first_token if self.generation else None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question with its answers. The first turn of a column may have no question, if that is among the shared
    messages.
    """

    question: ColumnEntry | None
    answers: tuple[ColumnEntry, ...]
    brought: tuple[ColumnEntry, ...] = ()
    """Merges that the question could use."""

    @property
    def text(self) -> str:
        """The text of the answers."""
        return "\n\n".join(entry.message.text for entry in self.answers if entry.message.role == "assistant")


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over the answers of a column after the shared part."""

    answers: int
    tokens: int
    cost: float | None
    """US dollars; None if the price of one of them is not known."""
    seconds: float | None
    """None if no answer was made by a model."""
    first_token: float | None = None
    """Mean seconds until an answer began; None if that is not known."""
    rate: float | None = None
    """Tokens per second while they were written; None if that is not known."""


@dataclass(frozen=True, slots=True)
class Column:
    side: Side
    messages: int
    """The number of messages after the shared part."""
    models: tuple[str, ...]
    """The models that answered there, in order, each once."""
    total: Total
    unanswered: Generation | None
    """The failed call at its end, if it produced no message."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """Turns side by side, one for each column; None where a column has none."""

    turns: tuple[Turn | None, ...]

    @property
    def asked(self) -> Message | None:
        """The question, if every column was asked the same."""
        questions = [turn.question.message if turn and turn.question else None for turn in self.turns]
        first = questions[0]
        if first is None or any(q is None or q.parts != first.parts for q in questions):
            return None
        return first

    @property
    def rivals(self) -> tuple[Message, ...]:
        """The row's answers to the same question, which can be fused; () if there are fewer than two.

        Columns that were asked the same each answer it, also where more was said before it in one than in another.
        """
        answers = [turn.answers[0].message for turn in self.turns if turn is not None and turn.answers]
        together = self.asked is not None
        beside: dict[MessageId | None, dict[MessageId, Message]] = {}
        for answer in answers:
            if answer.role == "assistant" and answer.text:
                beside.setdefault(None if together else answer.parent, {})[answer.id] = answer
        most = max(beside.values(), key=len, default={})
        return tuple(most.values()) if len(most) > 1 else ()


@dataclass(frozen=True, slots=True)
class Comparison:
    shared: tuple[Message, ...]
    columns: tuple[Column, ...]
    rows: tuple[TurnRow, ...]
    notes: tuple[str, ...]
    """Sentences about how the sides relate, if there is something to say."""


def compare(
    sides: Sequence[Side],
    visible: Visible,
    generations: Sequence[Generation],
    path_of: Callable[[MessageId], Sequence[Message]],
    origin_of: Callable[[str], BranchOrigin] = no_log,
) -> Comparison:
    """Compare the sides.

    A side is a branch, also where another one has the same head: models that said the same have a column each.
    `origin_of` looks a branch up in the log.
    """
    index = call_index(generations)
    lines = [
        _SidePath(
            side,
            tuple(path_of(side.head)) if side.head is not None else (),
            MessageOrigins(index, side.name_of_branch, origin_of),
        )
        for side in sides
    ]
    shared = _shared(lines)
    shown: dict[MessageId, list[tuple[Generation | None, str]]] = {}
    turns = [_turns(line, shared, shown) for line in lines]
    columns = tuple(
        _column(line.side, len(line.path) - shared, own, generations)
        for line, own in zip(lines, turns, strict=True)
    )
    return Comparison(lines[0].path[:shared] if lines else (), columns, _rows(turns), _notes(lines, visible))


@dataclass(frozen=True, slots=True)
class _SidePath:
    """A side with the messages that lead to its head, and who gave them there."""

    side: Side
    path: tuple[Message, ...]
    origins: MessageOrigins

    def call(self, message: MessageId) -> Generation | None:
        return self.origins.of(message).call


def _shared(lines: Sequence[_SidePath]) -> int:
    """Return the number of messages that all sides begin with.

    An answer that several sides have from calls of their own is not shared. Sides that have everything in common show
    their last answer all the same.
    """
    shortest = min((len(line.path) for line in lines), default=0)
    several = lines[0].origins.index.several if lines else {}
    for at in range(shortest):
        id = lines[0].path[at].id
        if any(line.path[at].id != id for line in lines):
            return at
        if id in several and len({call.id for line in lines if (call := line.call(id)) is not None}) > 1:
            return at
    if len(lines) > 1 and all(len(line.path) == shortest for line in lines):
        path = lines[0].path
        asked = (at for at in range(shortest - 1, -1, -1) if path[at].role == "user" and not path[at].merges)
        return min(next(asked, -1) + 1, shortest)
    return shortest


def _turns(
    line: _SidePath, shared: int, shown: dict[MessageId, list[tuple[Generation | None, str]]]
) -> list[Turn]:
    """Return the turns of a side; `shown` has what the sides before it show, and gets what this one does."""
    turns: list[Turn] = []
    question: ColumnEntry | None = None
    answers: list[ColumnEntry] = []
    brought: list[ColumnEntry] = []
    for message in line.path[shared:]:
        if message.hidden:
            continue
        origin = line.origins.of(message.id)
        known = shown.setdefault(message.id, [])
        same = next(
            (label for call, label in known if None in (call, origin.call) or call is origin.call), None
        )
        known.append((origin.call, line.side.label))
        entry = ColumnEntry(message, origin, _tokens(message, origin.call), same)
        if message.role != "user":
            answers.append(entry)
            continue
        if question is not None or answers:
            turns.append(Turn(question, tuple(answers), tuple(brought)))
            question, answers, brought = None, [], []
        if message.merge is not None or message.reverts:
            brought.append(entry)
        else:
            question = entry
    if question is not None or answers or brought:
        turns.append(Turn(question, tuple(answers), tuple(brought)))
    return turns


def _tokens(message: Message, call: Generation | None) -> int:
    counted = call.usage.completion_tokens if call else None
    return counted if counted is not None else estimate_tokens(message.text)


def _column(side: Side, messages: int, turns: Iterable[Turn], generations: Sequence[Generation]) -> Column:
    answers = [entry for turn in turns for entry in turn.answers if entry.message.role == "assistant"]
    made = [entry.generation for entry in answers if entry.generation is not None]
    costs = [call.usage.cost for call in made]
    known = [cost for cost in costs if cost is not None]
    times = [entry.seconds for entry in answers if entry.seconds is not None]
    begun = [entry.seconds_to_first_token for entry in answers if entry.seconds_to_first_token is not None]
    timed = [entry for entry in answers if entry.seconds]
    total = Total(
        len(answers),
        sum(entry.tokens for entry in answers),
        sum(known) if len(known) == len(costs) else None,
        sum(times) if times else None,
        sum(begun) / len(begun) if begun else None,
        sum(entry.tokens for entry in timed) / sum(entry.seconds or 0 for entry in timed) if timed else None,
    )
    models = tuple(dict.fromkeys(model for entry in answers for model in entry.origin.models))
    return Column(side, messages, models, total, _unanswered(side, generations))


def _unanswered(side: Side, generations: Sequence[Generation]) -> Generation | None:
    here = [
        call
        for call in generations
        if call.parent == side.head and side.head is not None and call.branch == side.branch
    ]
    return here[-1] if here and here[-1].message is None and here[-1].status != "running" else None


def _rows(columns: Sequence[Sequence[Turn]]) -> tuple[TurnRow, ...]:
    """Align turns in rows: the columns meet again at each question that all were asked."""
    rows: list[TurnRow] = []
    done = [0] * len(columns)
    for meeting in (*_meetings(columns), tuple(len(column) for column in columns)):
        width = max((end - start for start, end in zip(done, meeting, strict=True)), default=0)
        for step in range(width):
            places = [start + step for start in done]
            rows.append(
                TurnRow(
                    tuple(
                        column[place] if place < end else None
                        for column, place, end in zip(columns, places, meeting, strict=True)
                    )
                )
            )
        if all(place < len(column) for place, column in zip(meeting, columns, strict=True)) and columns:
            rows.append(TurnRow(tuple(column[place] for column, place in zip(columns, meeting, strict=True))))
        done = [place + 1 for place in meeting]
    return tuple(rows)


def _meetings(columns: Sequence[Sequence[Turn]]) -> list[tuple[int, ...]]:
    """Return the positions, one for each column, of questions that all columns were asked in the same order."""
    if len(columns) < 2:
        return []
    asked = [[t.question.message.text if t.question else None for t in column] for column in columns]
    met: list[tuple[int, ...]] = [(at,) for at, text in enumerate(asked[0]) if text is not None]
    for other in asked[1:]:
        texts = [asked[0][places[0]] for places in met]
        blocks = SequenceMatcher(None, texts, other, autojunk=False).get_matching_blocks()
        met = [(*met[block.a + step], block.b + step) for block in blocks for step in range(block.size)]
    return met


def _notes(lines: Sequence[_SidePath], visible: Visible) -> tuple[str, ...]:
    notes = [
        f"“{line.side.label}” is empty: nothing has been said there yet."
        for line in lines
        if not line.side.head
    ]
    filled = [line for line in lines if line.path]
    if len(filled) > 1 and len(filled) == len(lines) and len({line.path[0].id for line in lines}) > 1:
        notes.append("They have nothing in common: each begins on its own.")
    for at, one in enumerate(filled):
        for other in filled[at + 1 :]:
            notes += _relation(one, other, visible)
    return tuple(notes)


def _relation(one: _SidePath, other: _SidePath, visible: Visible) -> list[str]:
    names = f"“{one.side.label}” and “{other.side.label}”"
    if one.side.head == other.side.head and one.side.head is not None:
        calls = {call.id for line in (one, other) if (call := line.call(one.side.head)) is not None}
        if len(calls) > 1:
            return [f"{names} gave the same answer, word by word."]
        return [f"{names} stand at the same message."]
    said: list[str] = []
    for low, high in ((one.side, other), (other.side, one)):
        line = [message.id for message in high.path]
        if low.head in line:
            further = count(len(line) - line.index(low.head) - 1, "message")
            said.append(f"“{high.side.label}” goes on from “{low.label}”: {further} more.")
        elif _brought_in(low, high.side, visible):
            said.append(f"“{low.label}” was brought back into “{high.side.label}” already.")
    return said


def _brought_in(low: Side, high: Side, visible: Visible) -> bool:
    known = visible.messages
    if low.head is None or high.head is None or low.head not in known or high.head not in known:
        return False
    return is_ancestor(low.head, high.head, parents_in(known))


@dataclass(frozen=True, slots=True)
class ColumnNumber:
    """One number of what a column took."""

    name: str
    shown: str
    best: bool
    """Whether no other column has a better one, and one has a worse one."""


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    of: Callable[[Total], float | None]
    shown: Callable[[float], str]
    most_is_best: bool = False


def _span(value: float) -> str:
    return seconds(value) if value >= 1 else f"{value * 1000:,.0f} ms"


_MEASURES = (
    _Measure("Tokens", lambda total: total.tokens or None, lambda value: tokens(round(value))),
    _Measure("Cost", lambda total: total.cost, lambda value: dollars(value) if value else "free"),
    _Measure("First token", lambda total: total.first_token, _span),
    _Measure("Total time", lambda total: total.seconds, _span),
    _Measure(
        "Tokens per second", lambda total: total.rate, lambda value: f"{value:,.0f}/s", most_is_best=True
    ),
)


def column_numbers(columns: Sequence[Column]) -> tuple[tuple[ColumnNumber, ...], ...]:
    """Return what each column took: five numbers, with the best of each named. One that is not known is left out."""
    found: list[list[ColumnNumber]] = [[] for _ in columns]
    for measure in _MEASURES:
        values = [measure.of(column.total) if column.total.answers else None for column in columns]
        known = [value for value in values if value is not None]
        most, least = max(known, default=0.0), min(known, default=0.0)
        best = most if measure.most_is_best else least
        for numbers, value in zip(found, values, strict=True):
            if value is not None:
                wins = value == best and least < most
                numbers.append(ColumnNumber(measure.name, measure.shown(value), wins))
    return tuple(map(tuple, found))
