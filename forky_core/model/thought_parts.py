"""The thoughts of a reply while they arrive, as parts of its message."""

from __future__ import annotations

from dataclasses import dataclass, field

from forky_core.model.hashing import mend_text
from forky_core.model.parts import ReasoningPart


@dataclass(slots=True)
class ThoughtParts:
    """Collects the pieces of thoughts: one part for each thought that its provider signed, one for all others."""

    _ended: list[ReasoningPart] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    """The pieces since the last signed thought."""

    def add(self, text: str, provider_metadata: str | None = None, *, redacted: bool = False) -> None:
        """Add a piece; `provider_metadata` ends a thought, with what its provider wants back."""
        self._pieces.append(text)
        if provider_metadata is not None:
            self._ended.append(ReasoningPart(self._rest, redacted, provider_metadata))
            self._pieces = []

    @property
    def _rest(self) -> str:
        return mend_text("".join(self._pieces))

    @property
    def text(self) -> str:
        return "".join((*(part.text for part in self._ended), *self._pieces))

    @property
    def parts(self) -> tuple[ReasoningPart, ...]:
        rest = self._rest
        return (*self._ended, ReasoningPart(rest)) if rest else tuple(self._ended)
