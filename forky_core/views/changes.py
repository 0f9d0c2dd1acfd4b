"""Describes a changed key of a view in a sentence: the History page shows it below an operation.

The log has keys with their values before and after; here are the words for them. Every key gets some, even one that a
later version of Forky writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forky_core.context.memory_policies import label_of
from forky_core.conversation.session import short
from forky_core.conversation.voting.poll import MARK, POLLS
from forky_core.model import Change, MessageId
from forky_core.model.memory import EVERYTHING, Memory
from forky_core.model.parts import Json

_LONGEST = 120
"""The most characters of a value that are quoted."""
_SWITCHES = {
    "trashed": ("Moved to the trash", "Taken out of the trash"),
    "scope": ("Calls of one token go on here", "No program's calls go on here"),
    "opens": ("Found by how it begins", "No longer found by how it begins"),
    "reuse": ("Stored answers are given again at temperature 0", "Every call is made, whatever is stored"),
}
_SETTINGS = {"system": "system prompt", "model": "model"}


def sentences(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return a sentence for each changed key, branches first. A removed branch's settings are not listed separately."""
    known = tuple(changes)
    removed = {f"rules/{change.key.removeprefix('heads/')}" for change in known if _is_removed_branch(change)}
    return tuple(
        sentence
        for change in sorted(known, key=lambda change: (_rank(change.key), change.key))
        if change.key not in removed
        for sentence in (_poll(change) if _is_of_a_poll(change) else _sentences(change))
    )


def _is_removed_branch(change: Change) -> bool:
    return change.key.startswith("heads/") and change.after is None


def _rank(key: str) -> int:
    order = ("title", "trashed", "heads", "rules", "tags", "stash", "kept")
    kind = key.partition("/")[0]
    return order.index(kind) if kind in order else len(order)


def _sentences(change: Change) -> Sequence[str]:
    kind, _, name = change.key.partition("/")
    match kind:
        case "title" | "folder" | "program":
            return [f"{kind.capitalize()}: {_quoted(change.before)} → {_quoted(change.after)}"]
        case "trashed" | "scope" | "opens" | "reuse":
            return [_SWITCHES[kind][0 if change.after else 1]]
        case "heads":
            return [_pointer(f"Branch “{name}”", change)]
        case "tags":
            return [_pointer(f"Tag “{name}”", change)]
        case "kept":
            place = short(MessageId(name))
            said = "stays in sight without a branch" if change.after else "is no longer kept without a branch"
            return [f"Message {place} {said}"]
        case "stash":
            return [_stash(name, change)]
        case "requests" | "reviews":
            return _of_a_request(kind, name, change)
        case "memory":
            was, now = (_memory(entry, label_of(EVERYTHING)) for entry in (change.before, change.after))
            return [f"Memory: {was} → {now}"]
        case "people":
            return [_person(name, change)]
        case "room":
            return ["When models answer, and which of them, changed"]
        case "rules":
            return _rules(name, change.before or {}, change.after or {})
        case _:
            return [_other(kind, name, change)]


def _pointer(what: str, change: Change) -> str:
    if change.before is None:
        return f"{what}: new, at {_at(change.after)}"
    if change.after is None:
        return f"{what}: removed, was at {_at(change.before)}"
    return f"{what}: {_at(change.before)} → {_at(change.after)}"


def _at(entry: Any) -> str:
    id = entry.get("at") if isinstance(entry, Mapping) else None
    return short(MessageId(id)) if id else "nothing yet"


def _stash(number: str, change: Change) -> str:
    entry: Any = change.after if change.after is not None else change.before
    note = _quoted(entry.get("note") if isinstance(entry, Mapping) else None)
    if change.before is None:
        return f"Put aside {number}: {note}"
    return f"Put aside {number}: {note} {'taken off the list' if change.after is None else 'changed'}"


def _request(number: str, change: Change) -> str:
    was, now = (entry if isinstance(entry, Mapping) else {} for entry in (change.before, change.after))
    known = now or was
    what = f"Request for review {number}, {_quoted(known.get('source'))} into {_quoted(known.get('into'))}"
    if not now:
        return f"{what}: removed"
    state = _quoted(now.get("state"))
    return f"{what}: changed" if now.get("state") == was.get("state") else f"{what}: {state}"


def _of_a_request(kind: str, name: str, change: Change) -> Sequence[str]:
    if change.before == change.after:
        # A review requires its request to stay as it is, and a landing its reviews.
        return []
    return [_request(name, change) if kind == "requests" else _review(name, change.after)]


def _review(name: str, after: Any) -> str:
    number, _, person = name.partition("/")
    state = after.get("state") if isinstance(after, Mapping) else None
    said = {"approved": "approves", "changes": "asks for changes", "withdrawn": "withdraws the review"}
    return f"Request for review {number}: {person} {said.get(str(state), 'reviews it')}"


def _is_of_a_poll(change: Change) -> bool:
    return change.key == MARK or change.key.startswith(POLLS)


def _poll(change: Change) -> Sequence[str]:
    """Return what happened to a poll, never who chose what or which model made what: the poll may be blind."""
    number, _, rest = change.key.removeprefix(MARK).removeprefix("/").partition("/")
    kind, _, person = rest.partition("/")
    if change.before == change.after:
        # A vote requires the reveal to stay as it is.
        return []
    given, gone = change.before is None, change.after is None
    if kind == "votes":
        return [
            f"Poll {number}: {person} {'voted' if given else 'took a vote back' if gone else 'changed a vote'}"
        ]
    if kind == "revealed":
        return [f"Poll {number}: {'open again' if gone else 'revealed'}"]
    if not number:
        return []
    return [f"Poll {number}: {'opened' if given else 'removed' if gone else 'changed'}"]


def _other(kind: str, name: str, change: Change) -> str:
    """A sentence for a key of an experiment, or for one that a later version of Forky wrote."""
    if not kind.startswith("experiment"):
        what = f"Note at message {short(MessageId(name))}" if kind == "notes" else change.key
        return f"{what}: {_quoted(change.before)} → {_quoted(change.after)}"
    first, _, rest = name.partition("/")
    if kind == "experiment-rows":
        return f"Experiment “{first}”: rows changed"
    if kind in ("experiment-marks", "experiment-scores"):
        who = "a person's mark" if kind == "experiment-marks" else "the verdict of code or an embedding model"
        return f"Experiment “{first}”, cell {rest}: {who}"
    if not isinstance(change.after, Mapping):
        return f"Experiment “{name}”: deleted"
    size = f"{change.after.get('rows', 0)} × {len(change.after.get('columns', ()))}"
    return f"Experiment “{name}”: {size}, {'new' if change.before is None else 'changed'}"


def _rules(branch: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Sequence[str]:
    """Return the changed settings, each by its own name."""
    return [
        line
        for key in ("system", "model", "parameters", "memory", "pins", "exclusions")
        if before.get(key) != after.get(key)
        for line in _setting(f"Branch “{branch}”", key, before.get(key), after.get(key))
    ]


def _setting(branch: str, key: str, before: Any, after: Any) -> Sequence[str]:
    if key == "parameters":
        was, will_be = before or {}, after or {}
        return [
            f"{branch}, {name}: {_quoted(was.get(name))} → {_quoted(will_be.get(name))}"
            for name in sorted({*was, *will_be})
            if was.get(name) != will_be.get(name)
        ]
    if key in ("pins", "exclusions"):
        what = "pinned" if key == "pins" else "left out of the context"
        return [f"{branch}, messages {what}: {len(before or ())} → {len(after or ())}"]
    if key == "memory":
        return [f"{branch}, memory: {_memory(before)} → {_memory(after)}"]
    return [f"{branch}, {_SETTINGS[key]}: {_quoted(before)} → {_quoted(after)}"]


def _person(name: str, change: Change) -> str:
    if change.before is None:
        return f"{name} takes part"
    return f"{name} takes part no longer" if change.after is None else f"{name}: address or allowance changed"


def _memory(entry: Any, otherwise: str = "the conversation's") -> str:
    return label_of(Memory.from_stored(entry)) if entry is not None else otherwise


def _quoted(value: Json | None) -> str:
    if value is None or value == "":
        return "none"
    line = " ".join(str(value).split())
    return f"“{line if len(line) <= _LONGEST else line[: _LONGEST - 1] + '…'}”"
