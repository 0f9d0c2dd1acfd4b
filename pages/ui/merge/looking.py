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
    heads, seen = _last_look(frame, f"looked/{request.number}/{viewer().id}", drawn)
    fresh = set[MessageId]()
    for side in sides:
        known = heads or request.source_heads
        last = max((at for at, id in enumerate(side.turns) if id in known), default=len(side.turns) - 1)
        fresh.update(side.turns[last + 1 :])
    changed = (line for digest, line in digests.items() if digest not in seen) if seen else ()
    return frozenset(fresh), frozenset(changed)


def _last_look(frame: Frame, key: str, drawn: str) -> tuple[frozenset[str], frozenset[str]]:
    """The heads and the digests of lines that the reader saw before this look, which is kept as what is `drawn`."""
    visit, store, here = frame.session.visit, frame.forky.store, f"{frame.chat.id} {key}"
    if here not in visit:
        visit[here] = store.derived(frame.chat.id, [key]).get(key, "")
    if visit.get(f"{here} drawn", visit[here]) != drawn:
        with suppress(ForkyError):  # It is a convenience: the page is drawn.
            store.keep_derived(frame.chat.id, {key: drawn}, waits=False)
        visit[f"{here} drawn"] = drawn
    with suppress(ValueError, TypeError):
        heads, lines = json.loads(visit[here])
        return frozenset(heads), frozenset(lines)
    return frozenset(), frozenset()
