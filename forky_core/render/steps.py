"""The steps of a presentation: the title, each message of the path, three for each merge, and those of a comparison.

Links, the notes window and the browsers of followers name a step by its key. The key depends on what the step shows and
not on its position, so that it stays valid when the conversation grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.context.masking import reverted_with_tool_calls
from forky_core.model import Generation, Linked, Message, MessageId
from forky_core.model.model_names import without_server
from forky_core.model.parts import MergePart
from forky_core.render.material import ShownConversation
from forky_core.views.captions import dollars, ended, payload_brought_back, seconds, tokens, who
from forky_core.views.compare import Comparison, TurnRow, compare
from forky_core.views.graph import line_of_text
from forky_core.views.shelf import count
from forky_core.views.sides import read_sides
from forky_core.views.times import stamp_utc

StepKind = Literal["title", "message", "branches", "block", "landed", "sides", "row", "nothing"]
MOST_ALTERNATIVES = 12
"""How many answers a step offers at most besides the one on the path."""
_CHARACTERS_PER_MINUTE = 900
"""Characters of text that a listener reads in a minute, at 150 words."""


@dataclass(frozen=True, slots=True)
class MergeStory:
    """A merge on the path, for the three steps that show it."""

    message: Message
    base: MessageId | None
    """The last message that both sides share; None for unrelated histories."""
    trunk: tuple[MessageId, ...]
    """The path from the base to the message that the merge continues."""
    sides: tuple[tuple[MergePart, tuple[MessageId, ...]], ...]
    """Each payload with the line of messages that was merged, without those that are missing."""


@dataclass(frozen=True, slots=True)
class PresentationStep:
    """What one press of the arrow key shows."""

    key: str
    """Unique in the presentation; consists of letters, digits and hyphens."""
    kind: StepKind
    heading: str
    """A line that announces the step, for the notes window and for screen readers."""
    message: Message | None = None
    """The message of the path that the step shows, or that the graph marks meanwhile."""
    alternatives: tuple[MessageId, ...] = ()
    """All messages at this place, oldest first, if there are several."""
    caption: str = ""
    """Who wrote it."""
    number: int = 0
    """The position of the message on the path, from 1."""
    labels: tuple[str, ...] = ()
    """The branches and tags that point to it."""
    taken_back: bool = False
    """Whether a revert further down masks it."""
    merge: MergeStory | None = None
    row: TurnRow | None = None
    """The turns that a step of a comparison shows side by side."""
    notes: tuple[str, ...] = ()
    """Facts for the speaker in the notes window."""
    note: str = ""
    """The note that the speaker wrote."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """A conversation as steps."""

    shown: ShownConversation
    steps: tuple[PresentationStep, ...]
    comparison: Comparison | None
    captions: Mapping[MessageId, str]
    """Who wrote each alternative."""

    def step(self, key: str) -> PresentationStep | None:
        return next((step for step in self.steps if step.key == key), None)


def presentation(shown: ShownConversation, sides: Sequence[str] = ()) -> Presentation:
    """Return the steps of the branch that is shown; `sides` (values of `with=`) are compared at the end.

    Sides that no longer exist are left out.
    """
    path = [message for message in _path(shown) if not message.hidden]
    comparison = _comparison(shown, sides)
    captions: dict[MessageId, str] = {}
    steps = [_title_step(shown, path, comparison)]
    steps += _path_steps(shown, path, captions)
    if not path:
        steps.append(PresentationStep("nothing", "nothing", "Nothing has been said here yet"))
    if comparison is not None:
        steps += _comparison_steps(comparison)
    return Presentation(shown, tuple(steps), comparison, captions)


def key_of(message: MessageId) -> str:
    return f"m-{message.removeprefix('b2:')}"


def _path(shown: ShownConversation) -> list[Message]:
    line: list[Message] = []
    at = shown.head
    while at is not None and at in shown.stems:
        message = shown.messages[at]
        line.append(message)
        at = message.parent
    return line[::-1]


def _title_step(
    shown: ShownConversation, path: Sequence[Message], comparison: Comparison | None
) -> PresentationStep:
    heading = shown.title or "A conversation"
    return PresentationStep(
        "title", "title", heading, notes=_title_notes(shown, path, compared=comparison is not None)
    )


def _path_steps(
    shown: ShownConversation, path: Sequence[Message], captions: dict[MessageId, str]
) -> Iterator[PresentationStep]:
    origins = shown.origins
    siblings = _siblings(shown.stems, path)
    labels = _labels(shown)
    reverted = reverted_with_tool_calls(path)
    written = shown.view.notes
    for number, message in enumerate(path, 1):
        caption = who(message, origins.of(message.id).models, shown.label, shown.author(message.id))
        about = (caption, number, labels.get(message.id, ()), message.id in reverted)
        if message.merges:
            yield from _merge_steps(shown, message, path[: number - 1], about)
            continue
        others = siblings.get(message.id, ())
        for id in others:
            captions[id] = who(shown.messages[id], origins.of(id).models, shown.label, shown.author(id))
        yield PresentationStep(
            key_of(message.id),
            "message",
            f"{caption}: {line_of_text(message)}",
            message,
            others,
            *about,
            notes=_message_notes(message, origins.of(message.id).call, others, reverted.get(message.id)),
            note=written.get(message.id, ""),
        )


def _merge_steps(
    shown: ShownConversation,
    message: Message,
    above: Sequence[Message],
    about: tuple[str, int, tuple[str, ...], bool],
) -> Iterator[PresentationStep]:
    story = merge_story(shown.stems, message, above)
    sources = ", ".join(f"“{part.source}”" for part, _ in story.sides)
    headings: tuple[tuple[StepKind, str], ...] = (
        ("branches", f"The branches: {sources} and “{shown.branch}”"),
        ("block", f"The note: {' · '.join(payload_brought_back(part) for part, _ in story.sides)}"),
        ("landed", f"Brought into “{shown.branch}”"),
    )
    for kind, heading in headings:
        yield PresentationStep(
            key_of(message.id) if kind == "landed" else f"{key_of(message.id)}-{kind}",
            kind,
            heading,
            message,
            (),
            *about,
            merge=story,
            notes=_merge_notes(kind, message),
            note=shown.view.notes.get(message.id, ""),
        )


def merge_story(stems: Mapping[MessageId, Linked], message: Message, above: Sequence[Message]) -> MergeStory:
    """Find what a merge joined. `above` is the path to the merge without its own message; `stems` has all messages."""
    on_path = {one.id: place for place, one in enumerate(above)}
    sides: list[tuple[MergePart, tuple[MessageId, ...]]] = []
    forked_at: list[int] = []
    merged = message.parents[1:]
    for place, part in enumerate(message.merges):
        tip = merged[place] if place < len(merged) else None
        line: list[MessageId] = []
        while tip is not None and tip in stems and tip not in on_path:
            if not stems[tip].hidden:
                line.append(tip)
            tip = stems[tip].parent
        forked_at.append(on_path[tip] if tip is not None and tip in on_path else -1)
        sides.append((part, tuple(reversed(line))))
    start = min(forked_at, default=-1)
    return MergeStory(
        message,
        above[start].id if start >= 0 else None,
        tuple(one.id for one in above[start + 1 :]) if start >= 0 else tuple(one.id for one in above),
        tuple(sides),
    )


def _comparison(shown: ShownConversation, words: Sequence[str]) -> Comparison | None:
    if not words:
        return None
    visible = shown.visible()
    sides, _ = read_sides(words, shown.view, visible)
    if len(sides) < 2:
        return None

    def path_of(head: MessageId) -> tuple[Message, ...]:
        line: list[Message] = []
        at: MessageId | None = head
        while at is not None and at in visible.messages:
            line.append(visible.messages[at])
            at = line[-1].parent
        return tuple(reversed(line))

    return compare(sides, visible, shown.generations, path_of, shown.origin_of)


def _comparison_steps(comparison: Comparison) -> Iterator[PresentationStep]:
    names = " and ".join(f"“{column.side.label}”" for column in comparison.columns)
    together = count(len(comparison.shared), "message")
    yield PresentationStep(
        "sides",
        "sides",
        f"Side by side: {names}",
        comparison.shared[-1] if comparison.shared else None,
        notes=(f"They share {together}. What follows is turn by turn.", *comparison.notes),
    )
    for at, row in enumerate(comparison.rows, 1):
        asked = row.asked
        heading = line_of_text(asked) if asked is not None else f"Turn {at} of each"
        yield PresentationStep(
            f"row-{at}",
            "row",
            heading,
            row=row,
            number=at,
            notes=(f"Turn {at} of {len(comparison.rows)} side by side.",),
        )


def _siblings(
    stems: Mapping[MessageId, Linked], path: Sequence[Message]
) -> Mapping[MessageId, tuple[MessageId, ...]]:
    """Map each message of the path that has siblings to all messages at its place, oldest first."""
    above = {message.parent for message in path}
    below: dict[MessageId | None, list[MessageId]] = {}
    for id, stem in stems.items():
        if stem.parent in above and not stem.hidden:
            below.setdefault(stem.parent, []).append(id)
    found: dict[MessageId, tuple[MessageId, ...]] = {}
    for message in path:
        siblings = below.get(message.parent, [])
        if len(siblings) > 1:
            others = [id for id in siblings if id != message.id][:MOST_ALTERNATIVES]
            found[message.id] = tuple(id for id in siblings if id == message.id or id in others)
    return found


def _labels(shown: ShownConversation) -> Mapping[MessageId, tuple[str, ...]]:
    names: dict[MessageId, list[str]] = {}
    for branch in shown.view.branches.values():
        if branch.head is not None:
            names.setdefault(branch.head, []).append(branch.name)
    for tag, target in shown.view.tags.items():
        names.setdefault(target, []).append(tag)
    return {id: tuple(found) for id, found in names.items()}


def _title_notes(shown: ShownConversation, path: Sequence[Message], *, compared: bool) -> tuple[str, ...]:
    others = [name for name in shown.view.branches if name != shown.branch]
    merges = sum(bool(message.merges) for message in path)
    letters = sum(len(message.text) for message in path)
    notes = [f"“{shown.branch}”: {count(len(path), 'message')}, {count(merges, 'merge')}."]
    if letters:
        minutes = max(1, round(letters / _CHARACTERS_PER_MINUTE))
        notes.append(f"Read aloud or read along, the whole path takes about {count(minutes, 'minute')}.")
    if others:
        named = ", ".join(f"“{name}”" for name in others[:6])
        notes.append(f"Beside it: {named}{' …' if len(others) > 6 else ''}.")
    if compared:
        notes.append("A comparison follows at the end.")
    return tuple(notes)


def _message_notes(
    message: Message,
    call: Generation | None,
    alternatives: Sequence[MessageId],
    taken_back: MessageId | None,
) -> tuple[str, ...]:
    notes = [f"Written {stamp_utc(message.created)}."] if message.created else []
    if call is not None:
        facts = [without_server(call.model)]
        if call.usage.completion_tokens is not None:
            facts.append(f"{tokens(call.usage.completion_tokens)} tokens")
        if call.usage.cost:
            facts.append(dollars(call.usage.cost))
        if call.seconds is not None:
            facts.append(seconds(call.seconds))
        notes.append(f"{', '.join(facts)}.")
        if why := ended(call):
            notes.append(why)
    if alternatives:
        place = alternatives.index(message.id) + 1
        notes.append(f"{place} of {len(alternatives)} at this place. S shows the others.")
    if taken_back is not None:
        notes.append("Further down it is left out.")
    return tuple(notes)


def _merge_notes(kind: str, message: Message) -> tuple[str, ...]:
    if kind == "branches":
        lines = (f"“{part.source}”: {count(len(part.messages), 'message')} cited." for part in message.merges)
        return (*lines, "Next: the text that came over.")
    if kind == "block":
        written = [f"Written by {without_server(part.made_by)}." for part in message.merges if part.made_by]
        return (
            *(f"{payload_brought_back(part)}." for part in message.merges),
            *(written or ["Written by rules, not by a model."]),
            "A model that answers below reads this text and nothing else of the branch.",
        )
    left = sum(len(part.omitted) for part in message.merges)
    stays = f"{count(left, 'message')} stayed behind; the branch still has {'it' if left == 1 else 'them'}."
    when = f"Brought in {stamp_utc(message.created)}." if message.created else ""
    return tuple(note for note in (when, stays if left else "Nothing was left out.") if note)
