"""A persistent cache of the notes that models wrote about a conversation, so that none is paid for twice.

A branch too long for the model is read in pieces, each with the note of the pieces before it. Each note is stored under
the ids of all messages up to its end, the model and the focus, the last one also under what its reader knows; when a
branch has grown, the stored ones are reused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event

from forky_core.context.convert import message_as_text
from forky_core.conversation.replies.once import ask_once
from forky_core.conversation.session import Session
from forky_core.llm.contract import Model, ProviderMessage
from forky_core.merge.written.material import NoteMaterial
from forky_core.merge.written.note import NoteModels, WrittenNote, without, write_note
from forky_core.merge.written.requests import REQUEST, known_turns
from forky_core.merge.written.verifier import Ask
from forky_core.model import Message
from forky_core.model.hashing import content_hash

PIECE = 24_000
"""The most tokens of a piece; half the window of a model with a smaller one."""
VERIFIER = "merge_reviewer"
"""The setting with the name of the model that reads what another one wrote; without it, the writer does so itself."""
SO_FAR = 1_200
"""The tokens of the note on a long branch's earlier pieces; its last piece decides which of it is needed."""


@dataclass(frozen=True, slots=True)
class NoteWriter:
    """A model that writes the note of a merge for one person's plan."""

    session: Session
    name: str
    focus: str
    stop: Event
    afresh: bool = False
    """Whether to ignore the cache."""
    known_before: Sequence[Message] = ()
    """What the reader knew when the merge was planned first: a note that was written then is used, too."""

    def write(
        self,
        material: NoteMaterial,
        target: Sequence[Message],
        room: int,
        count_tokens: Callable[[str], int],
    ) -> WrittenNote:
        """The note on a branch, in about `room` tokens. A branch too long for the model is read in pieces.

        Raises:
            NoteFailed: what it answered is no note.
            ModelError: the model did not answer, or was stopped.
            NotFound: the model is gone.
        """
        verifier = self.session.store.setting(VERIFIER) or self.name
        messages = material.messages
        parts = list(pieces(messages, self.session.models.model(self.name)))
        note: WrittenNote | None = None
        start = 0
        for at, piece in enumerate(parts):
            end, is_last = start + len(piece), at == len(parts) - 1
            size = room if is_last else SO_FAR
            readers = (target, self.known_before) if is_last else ((),)
            keys = [self._key(messages[:end], size, verifier if is_last else "", known) for known in readers]
            found = None if self.afresh else self._stored(keys)
            if found is None:
                found = write_note(
                    # What the last piece makes of the earlier ones is verified, and not what they were told by.
                    NoteModels(self._ask(self.name), self._ask(verifier) if is_last else None),
                    replace(material, messages=messages[:end]),
                    room=size,
                    count_tokens=count_tokens,
                    focus=self.focus,
                    target=target,
                    so_far=without(note) if note is not None else "",
                    start=start,
                )
                # One that nobody verified is asked for again the next time.
                if not is_last or any(one.state != "unread" for one in found.sentences):
                    self.session.store.keep_derived(self.session.id, {keys[0]: found.to_json()})
            note, start = found, end
        return note if note is not None else WrittenNote("")

    def _ask(self, name: str) -> Ask:
        def ask(messages: tuple[ProviderMessage, ...]) -> str:
            return ask_once(self.session, name, messages, stop=self.stop)

        return ask

    def _stored(self, keys: Sequence[str]) -> WrittenNote | None:
        kept = self.session.store.derived(self.session.id, keys)
        return next((note for key in keys if (note := WrittenNote.from_json(kept.get(key, "")))), None)

    def _key(self, messages: Sequence[Message], room: int, verifier: str, known: Sequence[Message]) -> str:
        """Return the key under which the note on these messages is stored, for a reader who knows the `known` ones."""
        ids = [message.id for message in messages]
        asked = [REQUEST, room, self.name, verifier, self.focus.strip(), known_turns(known), ids]
        return f"note/{content_hash(asked).removeprefix('b2:')}"


def pieces(turns: Sequence[Message], model: Model) -> Iterator[Sequence[Message]]:
    """Yield a branch in the pieces that a model reads one after the other; one that is short is one piece."""
    window = model.info().context_window
    most = min(PIECE, window // 2) if window else PIECE
    piece: list[Message] = []
    spent = 0
    for turn in turns:
        cost = model.count_tokens(message_as_text(turn))
        if piece and spent + cost > most:
            yield piece
            piece, spent = [], 0
        piece.append(turn)
        spent += cost
    if piece:
        yield piece
