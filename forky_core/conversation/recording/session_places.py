"""Finds where a call belongs whose program names its session: the id decides the conversation, the content the place.

The session is recorded in the view of its conversation (scopes.py). Whatever the program rewrites, its calls go there.
What it asks for itself, such as a title, is filed aside. The summary with which it goes on after a compaction goes
below the branch's head, and a sub-agent's task below the call that gave it: both begin a context anew, as they do for
the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from forky_core.conversation.identity import new_id
from forky_core.conversation.recording.scopes import Scopes
from forky_core.conversation.session import Session
from forky_core.matching.finding import PlaceMatch
from forky_core.matching.rewritten import content_of, is_unspoken
from forky_core.model import ConversationId, Message, MessageId, View
from forky_core.model.parts import Draft, MergePart, Part, TextPart, ToolCallPart, canonical_json
from forky_core.model.payload_kinds import COMPACTION, TASK
from forky_core.store.contract import Store
from forky_core.text.surroundings import (
    asks_aside,
    asks_for_title,
    bare,
    first_spoken,
    is_recap,
    is_summary,
    spoken,
    summary_in,
)
from forky_core.wire.call import Call, text_of_turn
from forky_core.wire.session_ids import SessionIds

CONTINUED = "continued"
"""The key in a view for sessions whose beginning Forky wrote: `format:id` → the branch, its head when the file was
written, and the id of the message that the file has in its place (formats/importing/continuations.py).
"""
_ANSWERS = 6
"""How many of the newest answers are looked for in a summary."""
_LEAST = 200
"""The least characters of an answer that shows a message which repeats it to be a summary."""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A conversation, and where in it an array belongs."""

    session: Session
    match: PlaceMatch
    version: int
    """The version of its view when it was matched; 0 if the conversation has yet to be created."""
    call: Call
    """The call as it is filed."""
    keys: tuple[str, ...] = ()
    """The keys of the view for its session: within its scope, and for the session's file; () if it named none."""
    branch: str = ""
    """The branch on which the session wrote last; "" if it has none."""
    aside: bool = False
    """Whether the program asks for itself."""
    forks: bool = False
    """Whether the session goes on from what another one said, on a branch of its own."""


def continuation(view: View, id: str) -> tuple[str, tuple[MessageId, MessageId]] | None:
    """For a session, the branch from which it goes on, and the message of its file up to which Forky wrote it, with the
    one from which it did; None if Forky wrote nothing of it.
    """
    sessions = view.entries.get(CONTINUED)
    match sessions.get(id) if isinstance(sessions, dict) else None:
        case [str(branch), str(head), str(written)]:
            return branch, (MessageId(written), MessageId(head))
    return None


class SessionPlaces:
    """Finds places of calls that name their sessions."""

    def __init__(
        self, repo_of: Callable[[ConversationId], Session], store: Store, scopes: Scopes, below: str
    ) -> None:
        self._repo_of = repo_of
        self._store = store
        self._scopes = scopes
        self._below = below

    def find(self, call: Call, scope: str, ids: SessionIds) -> FoundPlace | None:
        """The place of a call in the conversation of its session, or of the one that began it; None without either.

        A session's file that was imported before its calls counts as well, for the first token that names the session.
        """
        keys = self._keys(scope, ids)
        for named in ids.all:
            key = self._scopes.session(scope, named)
            for id in self._scopes.opened(key):
                session = self._repo_of(id)
                call = _as_written(session, call, named)
                return self._within(session, call, keys, key, is_own=named == ids.own)
        for named in ids.all:
            key, taken = self._scopes.of_file(named), self._scopes.of_calls(named)
            for session in map(self._repo_of, self._scopes.opened(key)):
                if taken not in session.view.entries:
                    call = _as_written(session, call, named)
                    return self._within(session, call, keys, key, is_own=named == ids.own)
        return None

    def begin(self, call: Call, scope: str, ids: SessionIds, by_content: Iterable[FoundPlace]) -> FoundPlace:
        """The place of the first call of a session: where a stored answer is continued, such as by a fork of another
        session, or a new conversation.
        """
        keys = self._keys(scope, ids)
        going_on = [place for place in by_content if _answers(call.turns, place.match)]
        if going_on:
            best = max(going_on, key=lambda place: place.match.known - place.match.skipped)
            return replace(best, keys=keys, forks=True)
        new = self._repo_of(ConversationId(new_id()))
        return FoundPlace(new, PlaceMatch(None, 0), 0, call, keys, aside=_is_aside(call))

    def _keys(self, scope: str, ids: SessionIds) -> tuple[str, ...]:
        return self._scopes.session(scope, ids.own), self._scopes.of_calls(ids.own)

    def _within(
        self, session: Session, call: Call, keys: tuple[str, ...], known: str, *, is_own: bool
    ) -> FoundPlace:
        view = session.view
        match = session.match(call.turns, rewritten=True)
        if match.message is None and (recap := _with_recap(call)) is not None:
            call, match = recap, session.match(recap.turns, rewritten=True)
        wrote = str(view.entries.get(known) or "") if is_own else ""
        place = FoundPlace(session, match, view.version, call, keys, wrote, _is_aside(call))
        if place.aside:
            return place
        branch = self._branch(session, view, known)
        head = view.branch(branch).head if branch else None
        at = self._summary(session, call.turns, match.known) if head is not None else None
        if at is not None and (compacted := _compacted(call, at, branch, session.path(head))) is not None:
            return replace(place, call=compacted, match=PlaceMatch(head, 0))
        if match.message is not None or head is None:
            return place
        if not is_own:
            caller = _caller(session, call.turns) or head
            return replace(
                place, call=_begun(call, TASK.name, branch), match=PlaceMatch(caller, 0), forks=True
            )
        return replace(place, aside=not call.tools and _has_tools(session))

    def _branch(self, session: Session, view: View, key: str) -> str:
        """The branch on which a session wrote last; "" if it has none."""
        name = view.entries.get(key)
        if isinstance(name, str) and f"heads/{name}" in view.entries:
            return name
        heads = [
            (session.message(branch.head).created, name)
            for name, branch in view.branches.items()
            if branch.head is not None and name.startswith(self._below)
        ]
        return max(heads)[1] if heads else ""

    def _summary(self, session: Session, turns: Sequence[Draft], known: int) -> int | None:
        """The turn that is the summary of what stands above, among those that are not stored."""
        texts: list[str] | None = None
        for at in range(known, len(turns)):
            text = text_of_turn(turns[at])
            if turns[at].role != "user" or not text.strip():
                continue
            if is_summary(bare(text)):
                return at
            if len(text) >= _LEAST:
                texts = _newest_answers(session) if texts is None else texts
                if any(answer in bare(text) for answer in texts):
                    return at
        return None


def _as_written(session: Session, call: Call, id: str) -> Call:
    """The call of a session whose beginning Forky wrote, with the messages in its place from which it did."""
    goes_on = continuation(session.view, id)
    if goes_on is None or goes_on[1][1] not in session.messages:
        return call
    path = session.path(goes_on[1][1])
    end = content_of(path[-1])
    found = [at for at, turn in enumerate(call.turns) if content_of(turn) == end]
    if not found:
        return call
    often = sum(content_of(message) == end for message in path)
    beginning = (Draft(message.role, message.parts, message.name) for message in path)
    return replace(call, turns=(*beginning, *call.turns[found[:often][-1] + 1 :]))


def _newest_answers(session: Session) -> list[str]:
    said = (
        bare(summary_in(one.text))
        for one in reversed(tuple(session.messages.values()))
        if one.role == "assistant"
    )
    return [text for text, _ in zip(said, range(_ANSWERS), strict=False) if len(text) >= _LEAST]


def _is_aside(call: Call) -> bool:
    """Whether a program asks for itself, and no person reads the answer."""
    texts = [text_of_turn(turn) for turn in call.turns if turn.role == "user"]
    if not texts:
        return False
    last = next(turn for turn in reversed(call.turns) if turn.role != "system")
    return (not call.tools and asks_for_title(call.system or "", texts[0])) or (
        last.role == "user" and asks_aside(spoken(texts[-1]))
    )


def _with_recap(call: Call) -> Call | None:
    """The call with a summary that its program sends as a question and an answer in one message; None without one."""
    first = next((at for at, turn in enumerate(call.turns) if turn.role != "system"), 0)
    pair, others = call.turns[first : first + 2], call.turns[first + 2 :]
    if len(pair) < 2 or pair[1].role != "assistant" or not is_recap(text_of_turn(pair[0])):
        return None
    text = "\n\n".join(text_of_turn(turn).strip() for turn in pair)
    return replace(call, turns=(*call.turns[:first], replace(pair[0], parts=(TextPart(text),)), *others))


def _has_tools(session: Session) -> bool:
    return any("tools" in call.parameters for call in session.generations()[-20:])


def _answers(turns: Sequence[Draft], match: PlaceMatch) -> bool:
    """Whether an answer is among the turns that are stored."""
    return any(turn.role == "assistant" for turn in turns[match.skipped : match.known])


def _compacted(call: Call, at: int, branch: str, path: Sequence[Message]) -> Call | None:
    """The call as it goes on below `path` with the summary that is its turn `at`; None if it says other things above
    the summary that stand nowhere on the path.
    """
    on_path: dict[str, list[MessageId]] = {}
    for message in path:
        on_path.setdefault(content_of(message), []).append(message.id)
    last = max(place for place, turn in enumerate(call.turns) if turn.role != "system")
    kept: list[MessageId] = []
    end = at + 1
    for place, turn in enumerate(call.turns):
        if place == at or turn.role == "system":
            continue
        there = on_path.get(content_of(turn)) if place != last or turn.role != "user" else None
        if there:
            kept.append(there.pop())
            end = max(end, place + 1)
        elif place < at and not is_unspoken(turn):
            return None
        elif place > at and not is_unspoken(turn):
            break
    turns = (_beginning(call.turns[at], COMPACTION.name, branch, kept), *call.turns[end:])
    return replace(call, turns=turns)


def _begun(call: Call, kind: str, branch: str) -> Call:
    first, *others = call.turns
    return replace(call, turns=(_beginning(first, kind, branch), *others))


def _beginning(turn: Draft, kind: str, branch: str, kept: Sequence[MessageId] = ()) -> Draft:
    """A turn as the message with which a context begins anew."""
    others: tuple[Part, ...] = tuple(part for part in turn.parts if not isinstance(part, TextPart))
    return replace(turn, parts=(MergePart(kind, branch, tuple(kept), text_of_turn(turn)), *others))


def _caller(session: Session, turns: Sequence[Draft]) -> MessageId | None:
    """The newest message that calls a tool with what these turns begin with, as the call of a sub-agent does."""
    said = first_spoken(text_of_turn(turn) for turn in turns if turn.role == "user")
    quoted = str(canonical_json(said))[1:-1]
    for message in reversed(tuple(session.messages.values())) if said else ():
        if any(isinstance(part, ToolCallPart) and quoted in part.arguments for part in message.parts):
            return message.id
    return None
