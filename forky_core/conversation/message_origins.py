"""The model call that each message came from, by message and branch.

A message is its content, so models that said the same in one place share one message. What a call cost, how long it
took and how it ended belong to the call, and the call belongs to the branch on which it was made. So a message alone
does not say which call is meant: whoever shows one as part of a branch asks for its origin on that branch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forky_core.conversation.branch_origins import UNKNOWN, BranchOrigin
from forky_core.model import Generation, MessageId


@dataclass(frozen=True, slots=True)
class MessageOrigin:
    """The model call that a message came from, as seen from a branch."""

    call: Generation | None = None
    """The call that gave it; None if no model did, or if several did and the branch does not say which one is meant."""
    models: tuple[str, ...] = ()
    """The model of that call, or else every model that said the same, in the order in which they were asked."""


NO_MODEL = MessageOrigin()


@dataclass(frozen=True, slots=True)
class CallIndex:
    """All calls of a conversation in the order they were started, with an index by message."""

    calls: Sequence[Generation]
    newest: Mapping[MessageId, Generation]
    """The newest call that gave each message. It need not be the one that a branch got the message from."""
    several: Mapping[MessageId, Sequence[Generation]]
    """All calls, oldest first, that gave a message which more than one gave."""
    unanswered: frozenset[MessageId | None]
    """The messages with a call below them that produced none."""

    def of(self, message: MessageId) -> Sequence[Generation]:
        """All calls that produced a message, oldest first."""
        newest = self.newest.get(message)
        return self.several.get(message) or ((newest,) if newest is not None else ())


def call_index(calls: Sequence[Generation]) -> CallIndex:
    """Return the index of these calls."""
    newest: dict[MessageId, Generation] = {}
    several: dict[MessageId, list[Generation]] = {}
    for call in calls:
        if call.message is not None:
            if call.message in newest:
                several.setdefault(call.message, [newest[call.message]]).append(call)
            newest[call.message] = call
    return CallIndex(calls, newest, several, frozenset(call.parent for call in calls if call.message is None))


def no_log(_branch: str) -> BranchOrigin:
    """The origin that every branch has where no log is available."""
    return UNKNOWN


@dataclass(frozen=True, slots=True)
class MessageOrigins:
    """The model calls that the messages of a conversation came from, as seen from one branch, or with None from no
    branch in particular.
    """

    index: CallIndex
    branch: str | None = None
    origin_of: Callable[[str], BranchOrigin] = field(default=no_log, compare=False)
    """Looks a branch's origin up in the log. It is asked only about messages that several branches got from calls."""

    def of(self, message: MessageId) -> MessageOrigin:
        """The origin of this message."""
        newest = self.index.newest.get(message)
        if newest is None:
            return NO_MODEL
        several = self.index.several.get(message)
        call = newest if several is None else self._own(several)
        if call is not None:
            return MessageOrigin(call, (call.model,))
        return MessageOrigin(None, tuple(dict.fromkeys(one.model for one in several or ())))

    def calls_on(self, path: Collection[MessageId]) -> Iterator[Generation]:
        """The calls that produced the messages of this branch's path, and its calls whose answers were replaced."""
        own = {call.id for message in path if (call := self.of(message).call) is not None}
        for call in self.index.calls:
            if call.id in own or (call.parent in path and self.is_own(call)):
                yield call

    def is_own(self, call: Generation) -> bool:
        """Whether a call was made on this branch, under the name that it has or had."""
        if self.branch is None:
            return False
        return call.branch == self.branch or any(
            call.branch == name and call.started <= until
            for name, until in self.origin_of(self.branch).former
        )

    def _own(self, calls: Sequence[Generation]) -> Generation | None:
        """Which of several calls gave the message on this branch.

        That is the newest call of the branch itself. A branch that was forked later made none: it has the message from
        a branch with the same model, if only one model's call can be meant.
        """
        if len({call.branch for call in calls}) == 1:
            return calls[-1]
        if self.branch is None:
            return None
        for own in ([c for c in calls if c.branch == self.branch], [c for c in calls if self.is_own(c)]):
            if own:
                return own[-1]
        model = self.origin_of(self.branch).model
        same = [call for call in calls if call.model == model]
        return same[0] if len(same) == 1 else None
