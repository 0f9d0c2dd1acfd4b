"""Models that answer one after another: the second reads the first one's answer, as somebody else's message.

Each starts when the one before it has ended. If one fails, the others still answer; a person's Stop ends the round.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from forky_core.conversation.replies.asking import answer
from forky_core.conversation.replies.once import NO_PARAMETERS
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.session import BackgroundTask, Session
from forky_core.model import Rules
from forky_core.model.errors import ForkyError
from forky_core.model.parts import Json
from forky_core.process import events


def models_of(session: Session, rules: Rules, alone: str | None = None) -> tuple[str, ...]:
    """The models that answer on a branch with these rules: `alone`, or else the room's, or the branch's."""
    return (alone,) if alone else session.view.room.models or (rules.model or session.models.default(),)


def answer_in_turn(
    session: Session,
    target: ReplyTarget,
    rules: Rules,
    models: Sequence[str],
    *,
    parameters: Mapping[str, Json] = NO_PARAMETERS,
    search: str = "",
) -> ReplyJob:
    """Start the first model's reply at `target`; the others follow below it by themselves."""
    first, *others = models
    job = answer(session, target, rules, model=first, parameters=parameters, search=search)
    if others:
        turn = Round(session, job, rules, others, parameters, search)
        session.replays.add(turn)
        turn.begin()
    return job


class Round(BackgroundTask):
    """The models that answer after the first."""

    def __init__(
        self,
        session: Session,
        first: ReplyJob,
        rules: Rules,
        models: Sequence[str],
        parameters: Mapping[str, Json],
        search: str,
    ) -> None:
        super().__init__()
        self._session, self._job, self._rules, self._models = session, first, rules, tuple(models)
        self._parameters, self._search = parameters, search

    def stop(self) -> None:
        """Let no other model answer; the one that is writing is stopped too."""
        super().stop()
        self._job.stop()

    def begin(self) -> None:
        threading.Thread(target=self._run, name="round", daemon=True).start()

    def _run(self) -> None:
        try:
            for model in self._models:
                self._job.wait()
                said, before = self._job.message, self._job.place
                if self._stop.is_set() or self._job.generation.status == "stopped":
                    return
                target = replace(
                    before, parent=said.id if said else before.parent, replaces=None, speaker=None
                )
                if self._session.branch(target.branch).head != target.parent:
                    return  # Somebody has continued the branch meanwhile, so the round is over.
                self._job = answer(
                    self._session,
                    target,
                    self._rules,
                    model=model,
                    parameters=self._parameters,
                    search=self._search,
                )
            self._job.wait()
        except ForkyError as error:
            events.background_failed(conversation=self._session.id, work="round", fault=error)
        finally:
            self._session.replays.discard(self)
            self._ended.set()
