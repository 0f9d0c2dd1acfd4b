"""Unites two copies of one conversation: a merge driver for Git, and for anybody with two files.

The messages of both sides are kept. Refs are decided one by one against the common state: if one side moved a ref, its
move counts; if both did, the tip that continues the other; and if neither does, both are kept, the other side's under a
name of its own. So there is never a conflict marker, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from forky_core.conversation.identity import LONGEST_NAME, free_name
from forky_core.conversation.voting.poll import POLLS
from forky_core.formats.forky_file.authored import with_authors
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import UNITE, checked_out
from forky_core.model import Change, Generation, Message, MessageId, Operation
from forky_core.model.erasure import ERASED, Passages, operation_id_now, said_erased
from forky_core.model.errors import BadContent
from forky_core.model.graph import is_ancestor, parents_in
from forky_core.model.parts import Json
from forky_core.model.view import replayed
from forky_core.store.contract import Commit

ACTOR = "forky merge-file"
THEIRS = "-theirs"
"""The suffix of the other side's branch name if both sides moved it to different lines."""

_Entries = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class UniteResult:
    """The united conversation, and how it was made."""

    chat: Chat
    messages: int
    """How many messages the other side added."""
    parted: tuple[tuple[str, str], ...]
    """Branches and tags that both sides had moved: the name, and the name of the other side's."""
    overruled: tuple[str, ...]
    """Keys with a single value (title, rules) that both sides changed: ours is kept."""


def unite_chats(ours: Chat, theirs: Chat, base: Chat | None = None) -> UniteResult:
    """Unite both sides' messages and branches.

    `base` is the common ancestor of both copies; it is needed only if a file has no log.

    Raises:
        BadContent: they are files of different conversations.
    """
    if ours.id != theirs.id:
        raise BadContent(
            f"“{ours.title}” and “{theirs.title}” are different conversations.",
            "Fork one into the other's workspace, or graft it.",
        )
    messages = {**ours.messages, **theirs.messages}
    erased_by_us, erased_by_them = ours.view.erasures, theirs.view.erasures
    messages |= {id: ours.messages[id] for id in erased_by_us if id in ours.messages}
    agree = set(erased_by_us) == set(erased_by_them)
    passages = _erased_by_one(ours, theirs)
    common = _common(ours, theirs)
    shared = replayed(ours.operations[:common]).entries if common else (base.entries if base else {})
    deciding = _Deciding(ours.entries, theirs.entries, shared, messages)
    entries = deciding.entries()
    if not agree:
        erased = {
            key: value
            for key, value in (*ours.entries.items(), *theirs.entries.items())
            if key.startswith(ERASED)
        }
        entries = {**passages.cut_json(entries, short=True), **erased}
    chat = Chat(
        ours.id,
        MappingProxyType(messages),
        _generations(ours, theirs),
        MappingProxyType(entries),
        # The log of the side that has erased nothing still repeats the text.
        _log(ours, theirs, common, entries, messages) if agree else (),
        MappingProxyType({**ours.blobs, **theirs.blobs}),
        tuple({repr(sorted(row.items())): row for row in (*ours.origins, *theirs.origins)}.values()),
        tuple(dict.fromkeys((*ours.other_lines, *theirs.other_lines))),
        ours.forked_from,
        lambda address: ours.passage_of(address) or theirs.passage_of(address),
        checked_out(ours),
    )
    brought = len(messages) - len(ours.messages)
    return UniteResult(chat, brought, tuple(deciding.parted), tuple(deciding.overruled))


def _erased_by_one(ours: Chat, theirs: Chat) -> Passages:
    """The texts of messages that one side has erased and the other one still has."""
    sides = ((ours, theirs), (theirs, ours))
    erased = [
        (other.messages[id], erasure)
        for side, other in sides
        for id, erasure in side.view.erasures.items()
        if erasure.whole and id in other.messages and id not in other.view.erasures
    ]
    instead = said_erased(erased[0][1].at) if erased else ""
    return Passages((message for message, _ in erased), instead)


def _common(ours: Chat, theirs: Chat) -> int:
    """The length of the logs' common beginning, found by bisection, since ids are chained."""
    low, high = 0, min(len(ours.operations), len(theirs.operations))
    while low < high:
        middle = (low + high + 1) // 2
        if ours.operations[middle - 1].id == theirs.operations[middle - 1].id:
            low = middle
        else:
            high = middle - 1
    return low


def _generations(ours: Chat, theirs: Chat) -> tuple[Generation, ...]:
    found = {one.id: one for one in (*theirs.generations, *ours.generations)}
    return tuple(sorted(found.values(), key=lambda one: (one.started, one.id)))


def _log(
    ours: Chat, theirs: Chat, common: int, entries: _Entries, messages: Mapping[MessageId, Message]
) -> Sequence[Operation]:
    """Our log with one more operation for their changes, and one for each of theirs that added messages; their log if
    it only continues ours.
    """
    if not ours.operations:
        return ()
    if common == len(theirs.operations):
        return ours.operations
    if common == len(ours.operations):
        return theirs.operations
    view = replayed(ours.operations).entries
    changes = tuple(
        Change(key, view.get(key), entries.get(key))
        for key in sorted({*view, *entries})
        if view.get(key) != entries.get(key)
    )
    brought = tuple(message for id, message in messages.items() if id not in ours.messages)
    if not brought and not changes:
        return ours.operations
    many = "1 message" if len(brought) == 1 else f"{len(brought)} messages"
    summary = f"United with a copy: {many} more"
    log = list(ours.operations)
    at = max(log[-1].at, theirs.operations[-1].at)
    one = Commit(ours.id, UNITE, summary, changes, brought, actor=ACTOR, at=at)
    for commit in with_authors(one, theirs, messages, len(log)):
        number, last, what = len(log) + 1, log[-1].id, (commit.at, commit.actor, commit.verb, commit.summary)
        made = Operation(ours.id, number, "", last, *what, commit.changes, commit.group)
        log.append(replace(made, id=operation_id_now(made)))
    return tuple(log)


class _Deciding:
    def __init__(
        self, ours: _Entries, theirs: _Entries, shared: _Entries, messages: Mapping[MessageId, Message]
    ) -> None:
        self._ours, self._theirs, self._shared = ours, _with_own_polls(theirs, ours), shared
        self._messages = messages
        self.parted: list[tuple[str, str]] = []
        self.overruled: list[str] = []

    def entries(self) -> dict[str, Json]:
        entries = dict(self._ours)
        for key in sorted({*self._theirs, *self._shared}):
            theirs, ours = self._theirs.get(key), self._ours.get(key)
            if theirs == ours or theirs == self._shared.get(key):
                continue
            if ours == self._shared.get(key):
                _set(entries, key, theirs)
            else:
                self._both(entries, key, ours, theirs)
        return {key: entries[key] for key in sorted(entries) if _has_its_branch(key, entries)}

    def _both(self, entries: dict[str, Json], key: str, ours: Json, theirs: Json) -> None:
        """Decide a key that both sides changed to different values."""
        kind, _, name = key.partition("/")
        if ours is None or theirs is None:
            _set(
                entries, key, ours if theirs is None else theirs
            )  # Deleted there, moved here: the moved ref is kept.
        elif kind == "heads" and self._continues(theirs, ours):
            entries[key] = theirs
        elif kind == "heads" and self._continues(ours, theirs):
            entries[key] = ours
        elif kind in ("heads", "tags") and self._is_named(entries, kind, theirs):
            return  # An earlier uniting has named it.
        elif kind in ("heads", "tags"):
            other = self._other_name(entries, kind, name)
            entries[f"{kind}/{other}"] = theirs
            rules = self._theirs.get(f"rules/{name}")
            if kind == "heads" and rules is not None:
                entries[f"rules/{other}"] = rules
            self.parted.append((name, other))
        elif kind == "stash":
            taken = [int(one.removeprefix("stash/")) for one in entries if one.startswith("stash/")]
            entries[f"stash/{max(taken) + 1}"] = theirs
        else:
            self.overruled.append(key)

    def _other_name(self, entries: _Entries, kind: str, name: str) -> str:
        taken = {one.removeprefix(f"{kind}/") for one in entries if one.startswith(f"{kind}/")}
        return free_name(name[: LONGEST_NAME - len(THEIRS) - 4] + THEIRS, taken)

    def _is_named(self, entries: _Entries, kind: str, place: Json) -> bool:
        """Whether one of our refs leads to it: a branch through any parent, a tag directly."""
        refs = [value for key, value in entries.items() if key.startswith(f"{kind}/")]
        if kind == "tags":
            return place in refs
        return any(ref["at"] is not None and self._continues(ref, place) for ref in refs)

    def _continues(self, later: Json, earlier: Json) -> bool:
        at, before = later["at"], earlier["at"]
        if before is None:
            return True
        return at is not None and is_ancestor(before, at, parents_in(self._messages))


def _set(entries: dict[str, Json], key: str, value: Json) -> None:
    if value is None:
        entries.pop(key, None)
    else:
        entries[key] = value


def _with_own_polls(theirs: _Entries, ours: _Entries) -> _Entries:
    """Their entries, with new numbers for polls whose number another poll of ours has: a vote stays in its poll."""
    numbers = {
        name: int(name)
        for side in (ours, theirs)
        for key in side
        if key.startswith(POLLS) and (name := key.removeprefix(POLLS)).isdecimal()
    }
    free = max(numbers.values(), default=0) + 1
    moved: dict[str, str] = {}
    for name in sorted(numbers, key=int):
        key = f"{POLLS}{name}"
        if key in ours and key in theirs and ours[key] != theirs[key]:
            moved[name], free = str(free), free + 1
    if not moved:
        return theirs
    return {_renumbered(key, moved): value for key, value in theirs.items()}


def _renumbered(key: str, moved: Mapping[str, str]) -> str:
    if not key.startswith(POLLS):
        return key
    number, slash, rest = key.removeprefix(POLLS).partition("/")
    return f"{POLLS}{moved.get(number, number)}{slash}{rest}"


def _has_its_branch(key: str, entries: _Entries) -> bool:
    """Whether the branch of a `rules/` key still exists; otherwise its rules are dropped."""
    return not key.startswith("rules/") or key.replace("rules/", "heads/", 1) in entries


@dataclass(frozen=True, slots=True)
class CopyDifference:
    """What each of two copies of a conversation has that the other lacks."""

    only_left: tuple[Message, ...]
    only_right: tuple[Message, ...]
    moved: tuple[tuple[str, Json, Json], ...]
    """Key, value on the left, value on the right; None: absent."""

    @property
    def same(self) -> bool:
        return not (self.only_left or self.only_right or self.moved)


def difference(left: Chat, right: Chat) -> CopyDifference:
    """Compare two files by content; they may be of different conversations."""
    keys = sorted({*left.entries, *right.entries})
    return CopyDifference(
        tuple(message for id, message in left.messages.items() if id not in right.messages),
        tuple(message for id, message in right.messages.items() if id not in left.messages),
        tuple(
            (key, left.entries.get(key), right.entries.get(key))
            for key in keys
            if left.entries.get(key) != right.entries.get(key)
        ),
    )
