"""Records a call in the Library: its question at once, its answers as they arrive.

A program must not fail because its conversation could not be recorded: an error here becomes a sentence in a header and
a line of the log, and the call continues without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from forky_core.gateway.tokens import Token, Tokens
from forky_core.gateway.v1.stored_responses import Place
from forky_core.llm.contract import Done, Failed
from forky_core.model import ConversationId, GenerationId, Message, MessageId
from forky_core.model.end_reasons import EndReason
from forky_core.model.errors import ForkyError
from forky_core.process import events
from forky_core.wire.contract import ClientRequest, Indexed
from forky_core.wire.session_ids import SessionIds

if TYPE_CHECKING:  # The server's start does not wait for these imports.
    from forky_core.conversation.recording.recording import Recording
    from forky_core.conversation.workspace import Workspace
    from forky_core.wire.call import Call as ReadCall

_YES, _NO = frozenset({"yes", "true", "1", "on"}), frozenset({"no", "false", "0", "off"})


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a call."""

    token: Token
    client: str
    """The program's name as it gives it."""
    headers: Mapping[str, str] = field(repr=False)
    """Headers by lower-case names."""
    tokens: Tokens = field(repr=False)
    """All tokens, which count what this one spends."""

    @property
    def scope(self) -> str:
        """The scope whose conversations the call is matched with."""
        return f"token:{self.token.id}"

    @property
    def actor(self) -> str:
        return f"{self.token.name} ({self.client})" if self.client else self.token.name

    @property
    def reuses(self) -> bool | None:
        """Whether a stored answer may be used; None: as the conversation is set."""
        word = self.headers.get("x-forky-reuse", "").lower()
        return True if word in _YES else False if word in _NO else None


class RecordingHandle:
    """The recording of one call. Its methods never raise; `begin` must not be called on an event loop."""

    def __init__(self, why_not: str = "", token: str = "") -> None:
        """`token` is the name of the caller's token."""
        self._token = token
        self._recordings: list[Recording] = []
        self._why_not = why_not
        self.reused: Message | None = None
        """The stored answer that is used for this call."""
        self._ended = threading.Lock()
        self._landed = False

    @classmethod
    def begin(
        cls,
        forky: Workspace,
        caller: Caller,
        call: ClientRequest,
        read: Callable[[], ReadCall],
        name: str,
        ids: SessionIds | None,
    ) -> RecordingHandle:
        """Store the question; `read` returns the call in the form that is matched. `name` is the model's full name, and
        `ids` name the program's session.
        """
        if not caller.token.records:
            return cls("recording is off for this token")
        kept = cls(token=caller.token.name)
        try:
            asked = replace(read(), model=name)
            reuse = caller.reuses if call.answers == 1 else False
            first = forky.begin(asked, scope=caller.scope, client=caller.actor, reuse=reuse, ids=ids)
            kept._recordings.append(first)
            kept.reused = first.reused
            kept._recordings += [first.another() for _ in range(1, call.answers)]
        except ForkyError as error:
            kept._refuse(str(error), error)
        except Exception as error:  # noqa: BLE001 - the program is answered all the same
            kept._refuse("an error inside Forky; its log has it", error)
        return kept

    def _refuse(self, why: str, error: Exception) -> None:
        events.gateway_unrecorded(token=self._token, fault=error)
        self._why_not = why

    @property
    def filed(self) -> tuple[ConversationId, GenerationId] | None:
        """The conversation and the generation of the first answer; None if nothing is recorded."""
        first = next(iter(self._recordings), None)
        return (first.conversation, first.generation) if first is not None else None

    @property
    def branch(self) -> str:
        """The branch on which the call is recorded; "" if it is not."""
        return self._recordings[0].branch if self._recordings else ""

    @property
    def reused_end(self) -> EndReason:
        """Why the stored answer that is used for this call ended."""
        asked = self._recordings[0].asked
        return EndReason(asked.finish_reason or "stop", asked.provider_reason)

    def headers(self) -> dict[str, str]:
        if not self._recordings or self._why_not:
            return {"x-forky-recorded": f"no; {_ascii(self._why_not)}"}
        first = self._recordings[0]
        return {
            "x-forky-recorded": "yes",
            "x-forky-conversation": first.conversation,
            **({"x-forky-branch": quote(first.branch)} if first.branch else {}),
            "x-forky-message": first.question,
            **({"x-forky-reused": "yes", "x-forky-reply": self.reused.id} if self.reused is not None else {}),
        }

    def place(self, landed: Sequence[str]) -> Place | None:
        """Where the first of the `landed` answers is stored; None if there is none."""
        answer = self.reused.id if self.reused is not None else next(iter(landed), None)
        return (self._recordings[0].conversation, MessageId(answer)) if answer is not None else None

    def take(self, pieces: Iterable[Indexed]) -> bool:
        """Record pieces of the answers; False if a person stopped one of these answers in Forky."""
        goes_on = True
        recordings = [] if self._landed or self.reused is not None else self._recordings
        for index, event in pieces:
            if index < len(recordings) and not isinstance(event, Done | Failed):
                try:
                    goes_on = recordings[index].take(event) and goes_on
                except Exception as error:  # noqa: BLE001 - as above
                    events.gateway_unrecorded(token=self._token, fault=error)
        return goes_on

    def land(self, ends: Mapping[int, Done | Failed], cut: str = "") -> tuple[str, ...]:
        """End every answer and return the ids of the landed messages. `cut` says what cut off answers without an entry
        in `ends`.
        """
        landed: list[str] = []
        with self._ended:
            recordings = [] if self.reused is not None or self._landed else self._recordings
            self._landed = True
            for index, recording in enumerate(recordings):
                try:
                    message = _end(recording, ends.get(index), cut)
                except Exception as error:  # noqa: BLE001 - as above
                    events.gateway_unrecorded(token=self._token, fault=error)
                    self._why_not = f"the reply could not be saved: {error}"
                else:
                    landed += [message.id] if message is not None else []
        return tuple(landed)


def _end(recording: Recording, end: Done | Failed | None, cut: str) -> Message | None:
    match end:
        case Done(reason, usage, provider_reason):
            return recording.done(reason, usage, provider_reason)
        case Failed(failure, usage, cause, provider_reason):
            return recording.failed(failure, usage, cause, provider_reason)
        case None:
            return recording.cut(cut or "The reply ended without saying that it was complete.")


_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "…": "..."})


def _ascii(text: str) -> str:
    """The text as a header can carry it."""
    return " ".join(text.translate(_PLAIN).encode("ascii", "replace").decode().split())[:300]
