"""Sessions of other programs that go on from a branch: Forky wrote how they begin (exporting/agent_sessions.py).

What the program adds to such a session comes home below the message from which the session was written, by its file and
by its calls. How it begins is no new content, although its messages differ from the branch's own where something was
left out or became text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.recording.scopes import Scopes
from forky_core.conversation.recording.session_places import CONTINUED
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import ParsedConversation
from forky_core.formats.files.source import opened
from forky_core.formats.importing.import_transaction import Key, session_of
from forky_core.formats.importing.pieces import pieces
from forky_core.formats.tree import build_tree
from forky_core.model import ConversationId, Operation
from forky_core.model.errors import BadContent


def record_continuation(forky: Workspace, chat: Conversation, file: Path, program: str) -> Operation:
    """Read a session file back that was just written from the checked-out branch, and remember it."""
    with opened(file) as archive:
        piece = next(pieces(archive))
    if not isinstance(piece.found, ParsedConversation) or piece.importer is None:
        raise BadContent(f"“{file}” cannot be read back.")
    tree = build_tree(piece.found)
    tx = Transaction(forky.store, chat.id, chat.view, forky.actor)
    entry = [chat.branch_name, chat.branch.head, tree.head]
    known = chat.view.entries.get(CONTINUED)
    id = f"{piece.importer.name}:{piece.found.source_id}"
    tx.set(CONTINUED, {**(known if isinstance(known, dict) else {}), id: entry})
    if session := session_of(piece.importer.name, tree):
        tx.set(Scopes(forky.store, forky.owner).of_file(session), chat.branch_name)
    return tx.publish("continue", f"Continued “{chat.branch_name}” in {program}")


def continued(forky: Workspace) -> Mapping[Key, ConversationId]:
    """The conversations that sessions go on from, by the format and the id of each session."""
    return {
        (kind, id): conversation
        for conversation, sessions in forky.store.entries(CONTINUED).items()
        for name in (sessions if isinstance(sessions, dict) else ())
        for kind, _, id in (name.partition(":"),)
    }
