"""Replies as background jobs: they are saved as they arrive, anyone can watch or stop them, and a crash loses at most a
second.

A job belongs to no tab. It lands as one operation; if the branch moved meanwhile, the reply is kept beside it instead
of being lost or overwriting anything. A failure is recorded with the generation, never as text (law 6).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import replace

from forky_core.conversation.replies.ending import End, cut, ended
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.transaction import Transaction
from forky_core.llm.contract import (
    Answering,
    Consulted,
    Done,
    Failed,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.model import (
    ConversationId,
    Failure,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Usage,
    View,
    seal,
)
from forky_core.model.erasure import erased_since
from forky_core.model.errors import ForkyError, InTheWay, NotAllowed, NotFound, Outdated, StoreError
from forky_core.model.graph import ancestors, parents_in
from forky_core.model.parts import Draft, Part, TextPart
from forky_core.process import events
from forky_core.store.contract import Store
from forky_core.store.herald import Heard, Herald

SAVE_EVERY = 0.5
_ERASED = Failure(
    "refused", "A message was erased while this was answered, and might be repeated in it. Ask again."
)
_STUCK = 1.0
"""Seconds after which a reply whose model does not heed that it is to stop ends without it."""
"""Seconds between two saves of what has arrived."""
_ENDED = 50
"""Replies that can still be watched when they have ended: a browser may ask for a short one only then."""
SERVER_STOPPED = Failure(
    "crash", "Forky stopped while this reply was being written. Resume it, or ask again."
)
"""How a reply ended that its process could not finish, whether that was stopped or killed."""


class Replies:
    """The replies that this process is writing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._jobs: dict[GenerationId, ReplyJob] = {}
        self._ended: deque[GenerationId] = deque()
        self._lock = threading.Lock()
        self._saver: threading.Thread | None = None
        self._closing = threading.Event()
        self._herald = Herald()

    @property
    def closing(self) -> bool:
        """Whether Forky is shutting down, so that no reply can be started."""
        return self._closing.is_set()

    def running(self, conversation: ConversationId | None = None) -> tuple[ReplyJob, ...]:
        """Jobs that have not landed, oldest first."""
        with self._lock:
            return tuple(
                job
                for job in self._jobs.values()
                if job.running and conversation in (None, job.place.conversation)
            )

    def hear(self, heard: Heard) -> Callable[[], None]:
        """Have `heard` called whenever a reply begins or ends in a conversation; returns the function that stops it."""
        return self._herald.hear(heard)

    def find(self, id: str) -> ReplyJob | None:
        """The job that is writing this generation or wrote it lately; None if there is none."""
        with self._lock:
            return self._jobs.get(GenerationId(id))

    def on_branch(self, conversation: ConversationId, branch: str) -> ReplyJob | None:
        """The job that is writing to this branch; None if there is none."""
        return next((job for job in self.running(conversation) if job.place.branch == branch), None)

    def start(
        self,
        target: ReplyTarget,
        generation: Generation,
        model: Answering,
        request: Request,
        *,
        store: Store,
        actor: str,
        prompt: Callable[[], str] = str,
    ) -> ReplyJob:
        """Start a reply. Its generation is durable, as running, before the model is called.

        `store` is that of whoever asks. `prompt` computes the prompt hash; it is called once the answer has arrived.

        Raises:
            InTheWay: a reply is being written on this branch.
        """
        job = ReplyJob(target, generation, store)
        job.by = actor
        with self._lock:
            if self._closing.is_set():
                raise InTheWay("Forky is shutting down.", "Ask again when it is back.")
            if any(
                other.running
                and (other.place.conversation, other.place.branch) == (target.conversation, target.branch)
                for other in self._jobs.values()
            ):
                raise InTheWay(
                    f"A reply is being written on “{target.branch}”.", "Wait for it, stop it, or fork."
                )
            self._jobs[generation.id] = job
        try:
            store.record(target.conversation, generation)
        except BaseException:
            with self._lock:
                del self._jobs[generation.id]
            raise
        _log_start(job)
        self._herald.tell([target.conversation])
        threading.Thread(
            target=self._run,
            args=(job, model, request, actor, prompt),
            name=f"reply-{generation.id}",
            daemon=True,
        ).start()
        self._start_saver()
        return job

    def open(self, target: ReplyTarget, generation: Generation, *, store: Store) -> ReplyJob:
        """Create a job whose text comes from outside, for a generation that is stored as running; `end` lands it.

        Others may write to the same branch: the one that lands second is kept beside it.

        Raises:
            InTheWay: Forky is shutting down.
        """
        job = ReplyJob(target, generation, store, fed=True)
        with self._lock:
            if self._closing.is_set():
                raise InTheWay("Forky is shutting down.", "Ask again when it is back.")
            self._jobs[generation.id] = job
        _log_start(job)
        self._herald.tell([target.conversation])
        self._start_saver()
        return job

    def give(
        self,
        target: ReplyTarget,
        generation: Generation,
        parts: tuple[Part, ...],
        *,
        store: Store,
        actor: str,
        label: str,
    ) -> ReplyJob:
        """Create a job that has landed already, from a stored answer.

        Raises:
            StoreError: it could not be written.
        """
        job = ReplyJob(target, generation, store, fed=True)
        for part in parts:
            if isinstance(part, TextPart):
                job.take(TextDelta(part.text))
        end = End(
            "done",
            generation.finish_reason,
            generation.usage,
            None,
            provider_reason=generation.provider_reason,
        )
        job.finish(*_land(store, target, generation, parts, end, actor, f"{label} (a stored answer)"))
        return job

    def end(self, job: ReplyJob, end: End, actor: str, label: str) -> None:
        """Land a job, once; `label` is the model's name in the log."""
        with job.saving:
            if not job.running:
                return
            generation = replace(job.generation, first_token=job.first_token, consulted=job.consulted)
            try:
                parts = job.parts
                if _repeats_erased(job):
                    parts, end = (), replace(end, status="failed", failure=_ERASED)
                generation, message = _land(job.store, job.place, generation, parts, end, actor, label)
            except (NotAllowed, NotFound, InTheWay) as error:
                # Whoever asked may no longer write here. What had arrived is not added to the conversation.
                failure = Failure("refused", f"This reply was not added. {error}")
                generation, message = replace(ended(generation, end), status="failed", failure=failure), None
                with suppress(ForkyError):  # The conversation may have been deleted for good.
                    self._store.record(job.place.conversation, generation)
            except Exception as error:  # noqa: BLE001
                # The disk is full or the file missing: the reply cannot be stored, and its watchers must learn that.
                _log_unsaved(job, error)
                failure = Failure("store", f"The reply could not be saved. {error}{_saved_before(job)}")
                generation, message = replace(ended(generation, end), status="failed", failure=failure), None
            _log_end(job, generation, end.cause)
            job.finish(generation, message)
        with self._lock:
            self._ended.append(job.generation.id)
            if len(self._ended) > _ENDED:
                self._jobs.pop(self._ended.popleft(), None)
        self._herald.tell([job.place.conversation])

    def recover(self, actor: str = "Forky", *, among: Container[GenerationId] | None = None) -> int:
        """Land replies whose process is gone, as interrupted; returns their number. `among`: no others.

        Where other processes write the same database, call it from time to time; else before `start`, and with `among`
        for those of a process that wrote through this one.
        """
        found = 0
        for conversation, id in self._store.running(abandoned=True):
            with self._lock:
                if id in self._jobs or (among is not None and id not in among):
                    continue
            try:
                generation = next(g for g in self._store.generations(conversation) if g.id == id)
                self._end_abandoned(conversation, generation, actor)
            except (InTheWay, NotFound):
                continue  # Another process was first, or has deleted the conversation.
            events.reply_recovered(conversation=conversation, generation=id)
            found += 1
        return found

    def _end_abandoned(self, conversation: ConversationId, generation: Generation, actor: str) -> None:
        end = End("interrupted" if generation.partial else "failed", None, Usage(), SERVER_STOPPED)
        if generation.parent is None:
            self._store.record(conversation, ended(generation, end))
        else:
            target = self._place_of(conversation, generation)
            _land(self._store, target, generation, generation.partial, end, actor, generation.model)

    def _place_of(self, conversation: ConversationId, generation: Generation) -> ReplyTarget:
        """The target of a reply recovered after a crash; the expected head follows from the view."""
        assert generation.parent is not None
        branch = self._store.view(conversation).branches.get(generation.branch)
        replaces = None
        if branch is not None and branch.head is not None:
            head = self._store.message(conversation, branch.head)
            if head.parent == generation.parent and head.role == "assistant":
                replaces = head.id
        return ReplyTarget(conversation, generation.branch, generation.parent, replaces)

    def close(self, seconds: float = 5.0) -> None:
        """Stop every reply, keeping what has arrived, and wait until they have ended."""
        self._closing.set()
        jobs = self.running()
        for job in jobs:
            job.stop(SERVER_STOPPED)
        for job in jobs:
            if job.fed:
                self.end(job, cut(job, SERVER_STOPPED), "Forky", job.generation.model)
        for job in jobs:
            job.wait(seconds)

    def _run(
        self, job: ReplyJob, model: Answering, request: Request, actor: str, prompt: Callable[[], str]
    ) -> None:
        try:
            end = _consume(job, lambda: model.stream(request, job.stopping))
            job.generation = replace(job.generation, prompt=job.generation.prompt or prompt())
            self.end(job, end, actor, model.info().label)
        except BaseException as error:  # noqa: BLE001 - whoever waits for the reply would wait for ever
            self.end(job, _own_error(job, error), actor, job.generation.model)

    def _start_saver(self) -> None:
        with self._lock:
            if self._saver is None or not self._saver.is_alive():
                self._saver = threading.Thread(target=self._save_all, name="reply-saver", daemon=True)
                self._saver.start()

    def _save_all(self) -> None:
        while not self._closing.wait(SAVE_EVERY):
            with self._lock:
                jobs = [job for job in self._jobs.values() if job.running]
                if not jobs:
                    self._saver = None
                    return
            for job in jobs:
                self._save(job)
                if job.stopping.is_set() and not job.fed and time.monotonic() - job.stop_asked > _STUCK:
                    self.end(job, _stopped(job), "Forky", job.generation.model)

    def _save(self, job: ReplyJob) -> None:
        with job.saving:
            snapshot = job.snapshot()
            if snapshot is None:
                return
            try:
                if _repeats_erased(job):
                    job.stop(_ERASED)
                    return
                job.store.record(job.place.conversation, snapshot)
            except (NotAllowed, NotFound, InTheWay):
                job.stop()  # Landing is refused in the same way and says why.
            except StoreError as error:
                # Landing will fail in the same way and report it; one missed save must not stop the others.
                job.mark_unsaved()
                _log_unsaved(job, error)
            else:
                job.saved = sum(len(part.text) for part in snapshot.partial if isinstance(part, TextPart))


def _saved_before(job: ReplyJob) -> str:
    """A sentence about what is stored of a reply whose end could not be saved."""
    if not job.saved:
        return ""
    return (
        f" Its first {job.saved:,} characters were saved before that: they come back as an interrupted reply when "
        "Forky is started again."
    )


def _consume(job: ReplyJob, stream: Callable[[], Iterator[object]]) -> End:
    """Read the model's stream into the job until it ends."""
    try:
        for event in stream():
            match event:
                case Consulted(looked):
                    job.consulted = looked
                case TextDelta() | ReasoningDelta() | ToolCallDone():
                    job.take(event)
                case Done(finish_reason, usage, provider_reason):
                    if not job.parts:
                        failure = Failure("empty", "The model ended without saying anything. Ask again.")
                        return End("failed", finish_reason, usage, failure, provider_reason=provider_reason)
                    return End("done", finish_reason, usage, None, provider_reason=provider_reason)
                case Failed(failure, usage, cause, provider_reason):
                    return cut(job, failure, usage, cause, provider_reason)
    except BaseException as error:  # noqa: BLE001
        # The contract forbids it, but a bug in a plug-in must not leave a job running for ever.
        return _own_error(job, error)
    if job.stopping.is_set():
        return _stopped(job)
    failure = Failure("cut_off", "The reply ended without saying that it was complete.")
    return cut(job, failure)


def _repeats_erased(job: ReplyJob) -> bool:
    """Whether a message was erased that the model may have read, so that its answer may repeat it."""
    return erased_since(job.store.view(job.place.conversation).entries, job.generation.started)


def _stopped(job: ReplyJob) -> End:
    if job.cut_by is not None:
        return cut(job, job.cut_by)
    return End("stopped", None, Usage(), Failure("stopped", "You stopped this reply."))


def _own_error(job: ReplyJob, error: BaseException) -> End:
    failure = Failure("unknown", f"The model stopped with an error of its own ({type(error).__name__}).")
    return cut(job, failure, cause=error)


def _log_start(job: ReplyJob) -> None:
    events.reply_started(
        conversation=job.place.conversation,
        generation=job.generation.id,
        model=job.generation.model,
        recorded=job.fed,
    )


def _log_unsaved(job: ReplyJob, error: Exception) -> None:
    events.reply_unsaved(conversation=job.place.conversation, generation=job.generation.id, fault=error)


def _log_end(job: ReplyJob, call: Generation, cause: BaseException | None) -> None:
    conversation, usage = job.place.conversation, call.usage
    if call.failure is not None and call.status != "stopped":
        events.reply_failed(
            conversation=conversation,
            generation=call.id,
            model=call.model,
            kind=call.failure.kind,
            fault=cause,
        )
    events.reply_ended(
        conversation=conversation,
        generation=call.id,
        model=call.model,
        state=call.status,
        seconds=call.seconds or 0.0,
        recorded=job.fed,
        first_word=call.seconds_to_first_token,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost=usage.cost,
    )


def _land(  # noqa: PLR0917 - all of it belongs to one reply
    store: Store,
    target: ReplyTarget,
    generation: Generation,
    parts: tuple[Part, ...],
    end: End,
    actor: str,
    label: str,
) -> tuple[Generation, Message | None]:
    """Land a reply: one operation if there is a message, else only the end of the generation.

    `label` is the model's name in the log.
    """
    closed = ended(generation, end)
    if not parts:
        store.record(target.conversation, closed)
        return closed, None
    message = seal(Draft("assistant", parts, target.speaker), (target.parent,), created=generation.started)
    closed = replace(closed, message=message.id)
    while True:
        view = store.view(target.conversation)
        tx = Transaction(store, target.conversation, view, actor, [message], [closed])
        entry = view.entries.get(f"heads/{target.branch}")
        if entry == {"at": target.expected_head}:
            tx.move(target.branch, message.id)
            if target.replaces is not None and target.replaces != message.id:
                tx.keep(target.replaces)
            summary = f"{label} answered on “{target.branch}”"
        elif entry is None and not target.kept_without_branch:
            gone = f"; “{target.branch}” had been removed" if target.branch else " aside"
            summary = f"{label} answered{gone}"
        else:
            # Somebody moved or removed the branch meanwhile: the reply stays visible beside it.
            if not _is_seen(store, target.conversation, view, message.id):
                tx.keep(message.id)
            summary = f"{label} answered once more"
            if target.branch:
                summary = f"{label} answered; “{target.branch}” had moved, so the reply is kept beside it"
        if not tx.changes and (entry is not None or target.kept_without_branch):
            # The same text exists already: no new message, but one more generation.
            store.record(target.conversation, closed)
            return closed, tx.stored(message)
        try:
            tx.publish("reply", summary, group=target.group)
        except Outdated:
            continue
        return closed, tx.stored(message)


def _is_seen(store: Store, conversation: ConversationId, view: View, message: MessageId) -> bool:
    """Whether a message with this id is stored and visible already."""
    stored = store.messages(conversation)
    return message in stored and message in ancestors(view.tips & stored.keys(), parents_in(stored))
