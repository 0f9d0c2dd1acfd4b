"""Summaries of the older part of a path: made once for each range of messages, and cached with the conversation.

A chapter (merge/summary.py) is cached under the ids of its messages and its writer, so that all branches share it, and
it is made again only if its messages change (by an exclusion, a pin, a revert). Rules read at once. A model writes in
the background, while another answers: no question waits for it, and what is sent is at every moment what the inspector
shows (law 7).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from forky_core.context.build import Summarise, Summary
from forky_core.conversation.merging.note_writing import NoteWriter
from forky_core.conversation.session import BackgroundTask, Session
from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.summary import (
    SUMMARY,
    Chapter,
    as_told,
    chapter,
    chapter_room,
    write,
    written_chapter,
)
from forky_core.merge.written.material import NoteMaterial
from forky_core.merge.written.note import NoteFailed
from forky_core.model import Message
from forky_core.model.errors import ForkyError
from forky_core.model.hashing import content_hash
from forky_core.model.memory import Memory
from forky_core.process import events

_BY_RULES = "{} reads what is new while it answers; until then rules speak for it."


def summariser(session: Session, memory: Memory) -> Summarise:
    """The function that summarises for a branch. Rules read what the model has not read yet, so that nothing waits."""
    return lambda stretches: _summary(session, memory, stretches)


def _summary(session: Session, memory: Memory, stretches: Sequence[Sequence[Message]]) -> Summary:
    by_model = [_key(stretch, memory.model) if memory.model else "" for stretch in stretches]
    by_rules = [_key(stretch, "") for stretch in stretches]
    kept = session.store.derived(session.id, [key for key in (*by_model, *by_rules) if key])
    chapters: list[Chapter] = []
    fresh: dict[str, str] = {}
    used: list[str] = []
    for stretch, model_key, rules_key in zip(stretches, by_model, by_rules, strict=True):
        key = model_key if model_key in kept else rules_key
        found = Chapter.from_json(kept[key]) if key in kept else None
        if found is None:
            key = rules_key
            found = chapter(as_told(stretch, session.messages.__getitem__))
            fresh[key] = found.to_json()
        chapters.append(found)
        used.append(key)
    whole = f"summary/text/{_digest(used)}"
    text = session.store.derived(session.id, [whole]).get(whole)
    by = memory.model if memory.model and any(key in by_model for key in used) else None
    if text is None:
        text = write(stretches, chapters, by=by or "")
        fresh[whole] = text
    if fresh:
        session.store.keep_derived(session.id, fresh)
    due = memory.model and any(key not in by_model for key in used)
    return Summary(text, by or "", _BY_RULES.format(memory.model) if due else "")


class SummaryJob(BackgroundTask):
    """A background job in which a model writes the chapters of a summary."""

    def __init__(self, session: Session, model: str, stretches: Sequence[Sequence[Message]]) -> None:
        super().__init__()
        self.error: ForkyError | None = None
        """The reason it ended early; what was written before is cached, and rules summarise the rest."""
        self._session, self._model, self._stretches = session, model, stretches

    def begin(self) -> None:
        threading.Thread(target=self._run, name="summary", daemon=True).start()

    def _chapter(self, writer: NoteWriter, told: Sequence[Message]) -> Chapter:
        """What the model writes, or the chapter by rules where that is no note: nobody pays for it a second time."""
        try:
            written = writer.write(NoteMaterial(tuple(told)), (), chapter_room(told), estimate_tokens)
        except NoteFailed:
            return chapter(told)
        return written_chapter(written)

    def _run(self) -> None:
        writer = NoteWriter(self._session, self._model, "", self._stop)
        try:
            for stretch in self._stretches:
                told = as_told(stretch, self._session.messages.__getitem__)
                made = self._chapter(writer, told)
                self._session.store.keep_derived(
                    self._session.id, {_key(stretch, self._model): made.to_json()}
                )
        except ForkyError as error:
            self.error = error
            events.background_failed(conversation=self._session.id, work="summary", fault=error)
        finally:
            self._session.summing.discard(self)
            self._ended.set()


def read_ahead(session: Session, memory: Memory, stretches: Sequence[Sequence[Message]]) -> SummaryJob | None:
    """Have the memory's model read new messages in the background; None if there are none or it is doing so already."""
    if memory.model is None or not stretches or session.summing:
        return None
    keys = [_key(stretch, memory.model) for stretch in stretches]
    kept = session.store.derived(session.id, keys)
    todo = [stretch for stretch, key in zip(stretches, keys, strict=True) if key not in kept]
    if not todo:
        return None
    job = SummaryJob(session, memory.model, todo)
    session.summing.add(job)
    job.begin()
    return job


def _key(stretch: Sequence[Message], model: str | None) -> str:
    return f"summary/{_digest([SUMMARY, model or '', *(message.id for message in stretch)])}"


def _digest(words: Sequence[str]) -> str:
    return content_hash("\n".join(words)).removeprefix("b2:")
