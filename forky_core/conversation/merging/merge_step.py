"""Marks the verbs that plan and land merges, so that what fails in them is logged."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, Protocol, TypeVar

from forky_core.conversation.session import Session
from forky_core.model.errors import ModelError, Outdated, RequestError
from forky_core.process import events

P = ParamSpec("P")
T = TypeVar("T")
Step = Literal["plan", "land"]


class _OfConversation(Protocol):
    """A handle on a conversation, or a class of conversation/namespaces/ on one."""

    _session: Session


C = TypeVar("C", bound=_OfConversation)


def merge_step(
    step: Step,
) -> Callable[[Callable[Concatenate[C, P], T]], Callable[Concatenate[C, P], T]]:
    """Decorate a verb that plans or lands a merge: its failures are logged with a trace and raised again."""

    def decorate(verb: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, P], T]:
        @wraps(verb)
        def watched(owner: C, /, *args: P.args, **given: P.kwargs) -> T:
            try:
                return verb(owner, *args, **given)
            except Exception as error:
                if not _is_theirs(error):
                    events.merge_failed(conversation=owner._session.id, step=step, fault=error)
                raise

        return watched

    return decorate


def _is_theirs(error: Exception) -> bool:
    """Whether an error is a person's mistake or wish, or the result of a lost race."""
    stopped = isinstance(error, ModelError) and error.failure.kind == "stopped"
    return stopped or isinstance(error, RequestError | Outdated)
