"""What a model found in a range of messages: claims, texts to preserve word for word, and deliberate omissions."""

from __future__ import annotations

import json
from dataclasses import dataclass

from forky_core.merge.claims.claim_set import Claim, Verbatim
from forky_core.model import MessageId
from forky_core.model.parts import canonical_json


@dataclass(frozen=True, slots=True)
class DroppedClaim:
    """Something that a model left out on purpose."""

    cites: tuple[MessageId, ...]
    why: str


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """The parts of one answer that passed the checks."""

    claims: tuple[Claim, ...] = ()
    verbatim: tuple[Verbatim, ...] = ()
    dropped: tuple[DroppedClaim, ...] = ()
    against: tuple[str, ...] = ()
    """Keys of the target that the model thinks are contradicted: a hint; code decides."""

    @property
    def says_something(self) -> bool:
        """Whether any part passed, including a mere statement that nothing is worth reporting."""
        return bool(self.claims or self.verbatim or self.dropped)

    def __add__(self, other: ClaimReading) -> ClaimReading:
        return ClaimReading(
            self.claims + other.claims,
            self.verbatim + other.verbatim,
            self.dropped + other.dropped,
            tuple(dict.fromkeys(self.against + other.against)),
        )

    def to_json(self) -> str:
        return canonical_json(
            {
                "claims": [claim.stored() for claim in self.claims],
                "verbatim": [one.stored() for one in self.verbatim],
                "dropped": [[list(one.cites), one.why] for one in self.dropped],
                "against": list(self.against),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> ClaimReading | None:
        """Parse what `to_json` wrote; return None for anything else."""
        try:
            entry = json.loads(text)
            return cls(
                tuple(map(Claim.from_stored, entry["claims"])),
                tuple(map(Verbatim.from_stored, entry["verbatim"])),
                tuple(DroppedClaim(tuple(cites), why) for cites, why in entry["dropped"]),
                tuple(entry["against"]),
            )
        except (ValueError, KeyError, TypeError):
            return None
