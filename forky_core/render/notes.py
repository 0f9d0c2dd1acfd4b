"""The notes window of a presenter: facts about each step that the audience does not need to see."""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.model import Generation, Message, MessageId
from forky_core.model.model_names import without_server
from forky_core.render.material import ShownConversation
from forky_core.views.captions import dollars, ended, payload_summary, seconds, tokens
from forky_core.views.shelf import count
from forky_core.views.times import stamp_utc

CHARACTERS_PER_MINUTE = 900
"""Characters of text that a listener reads in a minute, at 150 words."""


def title_notes(shown: ShownConversation, path: Sequence[Message], *, compared: bool) -> tuple[str, ...]:
    others = [name for name in shown.view.branches if name != shown.branch]
    merges = sum(bool(message.merges) for message in path)
    letters = sum(len(message.text) for message in path)
    notes = [f"“{shown.branch}”: {count(len(path), 'message')}, {count(merges, 'merge')}."]
    if letters:
        minutes = max(1, round(letters / CHARACTERS_PER_MINUTE))
        notes.append(f"Read aloud or read along, the whole path takes about {count(minutes, 'minute')}.")
    if others:
        named = ", ".join(f"“{name}”" for name in others[:6])
        notes.append(f"Beside it: {named}{' …' if len(others) > 6 else ''}.")
    if compared:
        notes.append("A comparison follows at the end.")
    return tuple(notes)


def message_notes(
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
        notes.append("A revert further down takes this back.")
    return tuple(notes)


def merge_notes(kind: str, message: Message) -> tuple[str, ...]:
    if kind == "branches":
        lines = (f"“{part.source}”: {count(len(part.messages), 'message')} cited." for part in message.merges)
        return (*lines, "Next: the text that came over.")
    if kind == "block":
        written = [f"Written by {without_server(part.made_by)}." for part in message.merges if part.made_by]
        return (
            *(f"{payload_summary(part)}." for part in message.merges),
            *(written or ["Written by rules, not by a model."]),
            "A model that answers below reads this text and nothing else of the branch.",
        )
    left = sum(len(part.omitted) for part in message.merges)
    stays = f"{count(left, 'message')} stayed behind; the branch still has {'it' if left == 1 else 'them'}."
    when = f"Landed {stamp_utc(message.created)}." if message.created else ""
    return tuple(note for note in (when, stays if left else "Nothing was left out.") if note)
