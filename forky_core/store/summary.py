"""The line of the Library that stands for a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forky_core.model import ConversationId, ConversationSummary, View
from forky_core.model.experiment import experiments_in, is_cell
from forky_core.model.parts import Json

_HEADS = "heads/"


def summary_of(
    id: ConversationId,
    entries: Mapping[str, Json],
    moved: Callable[[str], int],
    *,
    created: int,
    updated: int,
    messages: int,
) -> ConversationSummary:
    """The line, from a view's entries or those that matter for it.

    `moved` gives the number of the operation that last changed a key. The branches of experiments' cells are neither
    counted nor resumed at: they stand in the experiment's table.
    """
    view = View(entries, 0)
    experiments = frozenset(experiments_in(view))
    heads = sorted(key for key in entries if key.startswith(_HEADS))
    listed = [key for key in heads if not is_cell(key.removeprefix(_HEADS), experiments)]
    return ConversationSummary(
        id=id,
        title=view.title,
        created=created,
        updated=updated,
        messages=messages,
        branches=len(listed),
        trashed=view.trashed,
        branch=max(listed or heads, key=moved, default="").removeprefix(_HEADS),
        program=view.program,
        folder=view.folder,
    )
