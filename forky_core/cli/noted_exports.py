"""What a command writes as a file, noted in the audit log of the team whose workspace it is from."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from forky_core.model import ConversationId

if TYPE_CHECKING:
    from forky_core.forky import Forky

_TEAM = "forky_core.people.views"
"""The module that opens the workspace of a team (parser.py). It is imported only if the database has a team."""


def note_operators_export(forky: Forky, conversation: ConversationId, form: str, thing: str = "") -> None:
    """Note that the operator exports a conversation, as `people.export_audit.note_export` does."""
    if _TEAM in sys.modules:
        from forky_core.people.export_audit import note_export  # noqa: PLC0415 - see above

        note_export(forky.store, conversation, form, thing)


def note_operators_tables(forky: Forky, form: str, only: Iterable[ConversationId] | None) -> None:
    """Note that the operator exports the tables for analysis, as `people.export_audit.note_tables` does."""
    if _TEAM in sys.modules:
        from forky_core.people.export_audit import note_tables  # noqa: PLC0415 - see above

        note_tables(forky.store, form, only)
