"""The messages that a tab keeps, so that the server need not send them again."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class MessageCache:
    """By hash, as Streamlit's browser keeps them: each until so many runs went by without it."""

    def __init__(self) -> None:
        self.oldest = 2
        """Runs that a message outlives; the server says how many."""
        self._kept: dict[str, tuple[ForwardMsg, int]] = {}
        self._runs = 0

    def keep(self, message: ForwardMsg) -> None:
        self._kept[message.hash] = message, self._runs

    def find(self, hash: str) -> ForwardMsg | None:
        """The message that the server refers to."""
        known = self._kept.get(hash)
        if known is None:
            return None
        self._kept[hash] = known[0], self._runs
        return known[0]

    def end_run(self, fragments: Collection[str]) -> None:
        """A run has ended: of these fragments, or of the whole page where there are none."""
        self._runs += 1
        for hash, (message, seen) in list(self._kept.items()):
            is_of_run = not fragments or message.delta.fragment_id in fragments
            if is_of_run and self._runs - seen > self.oldest:
                del self._kept[hash]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)
