"""How a reply ends: complete, stopped, cut off or failed; and its generation then. A failure is never text (law 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from forky_core.conversation.identity import now
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.model import Failure, Generation, GenerationStatus, Usage
from forky_core.model.errors import LONGEST_SENTENCE
from forky_core.model.hashing import mend_text

NO_USAGE = Usage()
_LONGEST_REASON = 100
"""The most characters of a model's finish reason."""


@dataclass(frozen=True, slots=True)
class End:
    """How a model's stream ended."""

    status: GenerationStatus
    finish_reason: str | None
    usage: Usage
    failure: Failure | None
    cause: BaseException | None = None
    """The exception behind the failure, for the log."""
    provider_reason: str = ""
    """The provider's own word for the reason."""


def cut(
    job: ReplyJob,
    failure: Failure,
    usage: Usage = NO_USAGE,
    cause: BaseException | None = None,
    provider_reason: str = "",
) -> End:
    """The end of a reply that did not finish by itself: it failed if nothing arrived, else what arrived is kept."""
    return End("interrupted" if job.parts else "failed", None, usage, failure, cause, provider_reason)


def ended(generation: Generation, end: End) -> Generation:
    return replace(
        generation,
        status=end.status,
        finish_reason=mend_text(end.finish_reason[:_LONGEST_REASON]) if end.finish_reason else None,
        usage=end.usage,
        failure=_told(end.failure) if end.failure else None,
        finished=now(),
        partial=(),
        provider_reason=mend_text(end.provider_reason[:_LONGEST_REASON]),
    )


def _told(failure: Failure) -> Failure:
    """The failure made safe to store and show, whatever a model put into it."""
    return replace(
        failure,
        kind=mend_text(failure.kind[:_LONGEST_REASON]),
        sentence=mend_text(failure.sentence[:LONGEST_SENTENCE]).strip() or "The model gave no reason.",
    )
