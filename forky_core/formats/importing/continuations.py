"""Sessions of other programs that go on from a branch: Forky wrote how they begin (exporting/agent_sessions.py).

What the program adds to such a session comes home below the message from which the session was written. How it begins
is no new content, although its messages differ from the branch's own where something was left out or became text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import ParsedConversation
from forky_core.formats.files.source import opened
from forky_core.formats.importing.import_transaction import Key
from forky_core.formats.importing.pieces import pieces
from forky_core.formats.tree import ImportedTree, build_tree
from forky_core.model import ConversationId, Message, MessageId, Operation, View, seal
from forky_core.model.errors import BadContent
from forky_core.model.parts import Draft, Json

CONTINUED = "continued"
"""The key in a view for these sessions: `format:id` → the branch, its head when the file was written, and the id of the
message that the file has in its place."""


def record_continuation(forky: Workspace, chat: Conversation, file: Path, program: str) -> Operation:
    """Read a session file back that was just written from the checked-out branch, and remember it."""
    with opened(file) as archive:
        piece = next(pieces(archive))
    if not isinstance(piece.found, ParsedConversation) or piece.importer is None:
        raise BadContent(f"“{file}” cannot be read back.")
    tree = build_tree(piece.found)
    tx = Transaction(forky.store, chat.id, chat.view, forky.actor)
    entry: list[Json] = [chat.branch_name, chat.branch.head, tree.head]
    tx.set(CONTINUED, {**_sessions(chat.view), f"{piece.importer.name}:{piece.found.source_id}": entry})
    return tx.publish("continue", f"Continued “{chat.branch_name}” in {program}")


def continued(forky: Workspace) -> Mapping[Key, ConversationId]:
    """The conversations that sessions go on from, by the format and the id of each session."""
    return {
        (kind, id): conversation
        for conversation, sessions in forky.store.entries(CONTINUED).items()
        for name in (sessions if isinstance(sessions, dict) else ())
        for kind, _, id in (name.partition(":"),)
    }


def _sessions(view: View) -> Mapping[str, Json]:
    sessions = view.entries.get(CONTINUED)
    return sessions if isinstance(sessions, dict) else {}


def without_beginning(view: View, key: Key, tree: ImportedTree) -> ImportedTree | None:
    """The tree of a session without what Forky wrote of it, as it goes on; None if Forky wrote nothing of it."""
    match _sessions(view).get(":".join(key)):
        case [str(branch), str(head), str(written)]:
            return _moved(replace(tree, branch=branch), MessageId(written), MessageId(head))
    return None


def _moved(tree: ImportedTree, written: MessageId, to: MessageId) -> ImportedTree:
    """The tree with what goes on from `written` below `to`. What goes on from an earlier message stays, with those
    above it; so does everything if the program has rewritten its beginning.
    """
    by_id = {message.id: message for message in tree.messages}
    if written not in by_id:
        return tree
    beginning: set[MessageId] = set()
    at: MessageId | None = written
    while at is not None:
        beginning.add(at)
        at = by_id[at].parent
    kept: set[MessageId] = set()
    for message in tree.messages:
        at = message.id if message.id not in beginning else None
        while at is not None and at != written and at not in kept:
            kept.add(at)
            at = by_id[at].parent
    ids, messages = {written: to}, list[Message]()
    for message in tree.messages:
        if message.id in kept:
            draft = Draft(message.role, message.parts, message.name, message.sources)
            parent = ids[message.parent] if message.parent is not None else None
            messages.append(seal(draft, (parent,), created=message.created, hidden=message.hidden))
            ids[message.id] = messages[-1].id
    return replace(
        tree,
        messages=tuple(messages),
        origins=tuple(replace(one, message=ids[one.message]) for one in tree.origins if one.message in kept),
        head=ids.get(tree.head, to) if tree.head is not None else to,
        branches={name: ids[tip] for name, tip in tree.branches.items() if tip in ids},
        kept=tuple(ids[tip] for tip in tree.kept if tip in ids),
        failed=tuple(
            replace(one, question=ids.get(one.question, to) if one.question is not None else None)
            for one in tree.failed
        ),
    )
