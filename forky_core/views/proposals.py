"""What became of branches that somebody proposed, for a page that shows several side by side and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from forky_core.conversation.conversation import Conversation

ProposalState = Literal["open", "sent back", "brought back", "declined"]
_ANSWERED: Mapping[str, ProposalState] = {"accepted": "brought back", "declined": "declined"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """The newest request that proposes a branch."""

    request: int
    into: str
    state: ProposalState
    """`sent back`: somebody asked for changes, and it is open still."""

    @property
    def is_open(self) -> bool:
        """Whether nobody has accepted or declined it."""
        return self.state in ("open", "sent back")

    @property
    def label(self) -> str:
        """The state as a page says it."""
        return "Open request" if self.state == "open" else self.state.capitalize()


def proposals(chat: Conversation) -> Mapping[str, Proposal]:
    """Return what became of each proposed branch of a conversation, by its name."""
    found: dict[str, Proposal] = {}
    for request in chat.requests.all:
        state = _ANSWERED.get(request.state, "open")
        if state == "open" and any(one.state == "changes" for one in chat.requests.reviews(request.number)):
            state = "sent back"
        for name in request.sources if request.graft is None else ():
            found.setdefault(name, Proposal(request.number, request.into, state))
    return found
