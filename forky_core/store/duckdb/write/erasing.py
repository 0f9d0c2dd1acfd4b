"""Erasing what a message says from the rows of the file (store/erasing.py says what that changes)."""

from __future__ import annotations

from functools import partial

from forky_core.model import ConversationId, MessageId
from forky_core.store.base import rewriting
from forky_core.store.contract import Erased
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.read.packs import drop_packs
from forky_core.store.duckdb.running import FileSession, execute, insert, write_setting
from forky_core.store.duckdb.write.batch import setting_generation
from forky_core.store.duckdb.write.writer import ERASED_BYTES
from forky_core.store.erasing import Rewriting, StoredConversation


def erase_rows(
    session: FileSession, conversation: ConversationId, message: MessageId, by: str, at: int
) -> Erased:
    """Erase what a message says; to be called inside a transaction. It raises what `erase_rows` of the base raises."""

    def write(here: int, stored: StoredConversation, new: Rewriting) -> None:
        for call in new.generations:
            execute(session.cursor, *setting_generation(here, call))
        rewriting.rewrite_rows(session, here, stored, new, partial(insert, session.cursor, "operations"))
        drop_packs(session.cursor, here)

    numbers = {ConversationId(id): number for id, number in session.rows(sql.CONVERSATIONS)}
    done = rewriting.erase_rows(
        session,
        numbers,
        conversation,
        message,
        by=by,
        at=at,
        lock=lambda _: None,  # There is one writer.
        write=write,
        write_setting=partial(write_setting, session),
    )
    write_setting(session, ERASED_BYTES, "1")
    return done
