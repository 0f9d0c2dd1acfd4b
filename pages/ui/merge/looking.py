"""What of a request is new since its reader looked at it last: kept beside the conversation, for each person, as drawn.

A look lasts as long as the page is shown, so that what is marked as new stays marked meanwhile.
"""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import blake2b

from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.merge.plan import MergePlan
from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.payload import payload_rows
from pages.ui.frame import Frame
from pages.ui.person import viewer


def new_since_last_look(
    frame: Frame, request: MergeRequest, plan: MergePlan | None
) -> tuple[frozenset[MessageId], frozenset[str]]:
    """The messages of the sources, and the lines of the note that `plan` proposes, that the reader has not seen; at the
    first look, the messages that came after the request.
    """
    if plan is None or plan.strategy != request.strategy:
        return frozenset(), frozenset()
    sides = plan.sides or (plan,)
    blocks = [side.block for side in sides if side.block is not None]
    lines = {
        " ".join(words.split())
        for block in blocks
        for row in payload_rows(block, len(block.text))
        for words in (row.text, row.text.partition(": ")[2])
        if row.kind == "line" and words
    }
    digests = {blake2b(line.encode("utf-8", "replace"), digest_size=6).hexdigest(): line for line in lines}
    drawn = json.dumps([sorted({side.turns[-1] for side in sides if side.turns}), sorted(digests)])
    store, key = frame.forky.store, f"looked/{request.number}/{viewer().id}"
    stored = store.derived(frame.chat.id, [key]).get(key, "")
    before = frame.session.visit.setdefault(f"{frame.chat.id} {key}", stored)
    if stored != drawn:
        with suppress(ForkyError):  # It is a convenience: the page is drawn.
            store.keep_derived(frame.chat.id, {key: drawn}, waits=False)
    heads, seen = json.loads(before) if before else (request.source_heads, digests)
    fresh = set[MessageId]()
    for side in sides:
        last = max((at for at, id in enumerate(side.turns) if id in heads), default=len(side.turns) - 1)
        fresh.update(side.turns[last + 1 :])
    return frozenset(fresh), frozenset(line for digest, line in digests.items() if digest not in seen)
