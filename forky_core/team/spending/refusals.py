"""Why a call of a model or an upload is refused, as a sentence with what can be done."""

from __future__ import annotations

from forky_core.llm.contract import Failed, FailureKind
from forky_core.model import Failure
from forky_core.model.errors import NotAllowed


class SpendingRefused(NotAllowed):
    """Something may not be done now because of what it costs or how much of it there was."""

    def __init__(
        self, kind: FailureKind, message: str, hint: str = "", *, retry_after: float | None = None
    ) -> None:
        """`retry_after` is in seconds, where waiting helps."""
        super().__init__(message, hint)
        self.kind: FailureKind = kind
        self.retry_after = retry_after

    @property
    def failure(self) -> Failure:
        """The refusal as the failure of a model call, with which the call ends."""
        return Failure(self.kind, str(self), self.retry_after)

    @property
    def event(self) -> Failed:
        return Failed(self.failure)
