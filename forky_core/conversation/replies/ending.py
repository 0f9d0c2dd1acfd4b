"""How a reply ends: whole, stopped, cut off or failed; and its generation then. A failure is never text (law 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from forky_core.conversation.identity import now
from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.model import Failure, Generation, GenerationStatus, Usage
from forky_core.model.errors import LONGEST_SENTENCE
from forky_core.model.hashing import mend_text

NO_USAGE = Usage()
_LONGEST_REASON = 100
"""Characters of a word that says how a model ended."""


@dataclass(frozen=True, slots=True)
class End:
    """How a model's stream came out."""

    status: GenerationStatus
    finish_reason: str | None
    usage: Usage
    failure: Failure | None
    cause: BaseException | None = None
    """The exception the failure comes from, for the log."""


def cut(job: ReplyJob, failure: Failure, usage: Usage = NO_USAGE, cause: BaseException | None = None) -> End:
    """How a reply ends that did not come to its own end: nothing arrived, or what did is kept."""
    return End("interrupted" if job.parts else "failed", None, usage, failure, cause)


def ended(generation: Generation, end: End) -> Generation:
    return replace(
        generation,
        status=end.status,
        finish_reason=mend_text(end.finish_reason[:_LONGEST_REASON]) if end.finish_reason else None,
        usage=end.usage,
        failure=_told(end.failure) if end.failure else None,
        finished=now(),
        partial=(),
    )


def _told(failure: Failure) -> Failure:
    """A failure that can be stored and shown, whatever a model put into it."""
    return replace(
        failure,
        kind=mend_text(failure.kind[:_LONGEST_REASON]),
        sentence=mend_text(failure.sentence[:LONGEST_SENTENCE]).strip() or "The model gave no reason.",
    )
