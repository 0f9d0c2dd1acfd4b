"""A summary of a branch for somebody who joins late: the note that a squash of the whole branch would make.

Rules write it, so that it costs nothing and waits for nobody; each of its lines cites the messages that it is from.
"""

from __future__ import annotations

from forky_core.conversation.merging.merging import inputs_of
from forky_core.conversation.session import Session
from forky_core.merge.options import MergeOptions
from forky_core.merge.squash import squash_of
from forky_core.model import Branch, Rules
from forky_core.model.parts import MergePart
from forky_core.model.payload_kinds import SQUASH


def so_far(session: Session, branch: str) -> MergePart | None:
    """The note of a branch from its first message on; None if nothing was said on it."""
    of = session.branch(branch)
    if of.head is None:
        return None
    inputs = inputs_of(session, Branch("", None, Rules()), of)
    found = inputs.incoming()
    if not found.turns:
        return None
    plan = squash_of(inputs, found, MergeOptions(SQUASH.name))
    parts = (part for draft in plan.drafts for part in draft.draft.parts)
    return next((part for part in parts if isinstance(part, MergePart)), None)
