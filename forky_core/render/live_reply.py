"""A reply as it is drawn while it is written: once for all who watch it."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from forky_core.conversation.replies.reply_job import ReplyJob
from forky_core.model.hashing import mend_text
from forky_core.render.live_prose import ProseWriter

_lock = threading.Lock()
_drawings: WeakKeyDictionary[ReplyJob, _ReplyDrawing] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class DrawnReply:
    """How far a reply is drawn."""

    position: int
    """The pieces of the reply that are in it."""
    blocks: tuple[str, ...]
    """JSON of the trees of each block that is whole."""
    rest: str
    """JSON, in ASCII, of what may still change: `reasoning`, a text, and `last`, the trees below the blocks."""
    ended: bool
    """Whether it is the whole reply."""


class _ReplyDrawing:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._writer = ProseWriter()
        self._reasoning = ""
        self._drawn = DrawnReply(0, (), '{"reasoning":"","last":[]}', ended=False)

    def drawn(self, job: ReplyJob) -> DrawnReply:
        before = self._drawn
        news = job.since(before.position)
        if (news.position, news.ended) != (before.position, before.ended):
            self._reasoning += news.reasoning
            self._writer.add(news.text)
            prose = self._writer.draw(whole=news.ended)
            rest = f'{{"reasoning":{json.dumps(mend_text(self._reasoning))},"last":{prose.last}}}'
            self._drawn = DrawnReply(news.position, prose.blocks, rest, news.ended)
        return self._drawn


def drawn_reply(job: ReplyJob) -> DrawnReply:
    """Return a reply as it is drawn by now. It can take a moment, and may be called from any thread."""
    with _lock:
        drawing = _drawings.setdefault(job, _ReplyDrawing())
    with drawing.lock:
        return drawing.drawn(job)
