"""A conversation to be shown: as a presentation of one branch, and as a replay of its history (forky_core/render/)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forky_core.conversation.branch_origins import BranchOrigins
from forky_core.formats.exporting.losses import Kind, losses, many
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import linked
from forky_core.formats.forky_file.writing import checked_out
from forky_core.render.material import ShownConversation
from forky_core.render.presentation import presentation_page
from forky_core.render.replay import replay
from forky_core.render.replay_page import replay_page
from forky_core.render.steps import presentation

_PRESENTED: frozenset[Kind] = frozenset(
    ("merges", "tree", "branch names", "tags", "tools", "files", "reasoning", "authors", "reverts")
)
_REPLAYED: frozenset[Kind] = frozenset(("merges", "tree", "branch names", "authors", "reverts"))


class PresentationExporter:
    name: ClassVar[str] = "presentation"
    label: ClassVar[str] = "Presentation (HTML, step by step)"
    suffix: ClassVar[str] = ".presentation.html"
    media_type: ClassVar[str] = "text/html"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        branch = checked_out(chat)
        others = sum(name != branch for name in chat.view.branches)
        beside = (
            f"It steps along “{branch}” alone: {many(others, 'other branch')} only on its map.",
            *losses(chat, _PRESENTED),
        )
        return beside if others else beside[1:]

    def write(self, chat: Chat) -> Iterator[bytes]:
        for piece in presentation_page(presentation(_shown(visible(chat), checked_out(chat)))):
            yield piece.encode()


class ReplayExporter:
    name: ClassVar[str] = "replay"
    label: ClassVar[str] = "Replay (HTML, how it grew)"
    suffix: ClassVar[str] = ".replay.html"
    media_type: ClassVar[str] = "text/html"
    holds_log: ClassVar[bool] = True

    def losses(self, chat: Chat) -> tuple[str, ...]:
        lost = losses(chat, _REPLAYED | {"log", "undone"})
        return ("It holds the first line of each message alone.", *lost) if chat.messages else lost

    def write(self, chat: Chat) -> Iterator[bytes]:
        known = chat if chat.operations else visible(chat)
        made = replay(_shown(known, checked_out(chat)), known.operations, known.messages)
        for piece in replay_page(made):
            yield piece.encode()


def _shown(chat: Chat, branch: str) -> ShownConversation:
    stems = linked(chat.messages)
    return ShownConversation(
        chat.title,
        chat.view,
        branch,
        chat.messages,
        {id: stems[id] for id in chat.messages},
        tuple(chat.generations),
        chat.blobs,
        origin_of=BranchOrigins(chat.operations).of,
    )
