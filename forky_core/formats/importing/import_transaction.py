"""Builds the transaction that creates an imported conversation, or adds what is new to an existing one.

Facts that are not part of messages are stored with them: which model answered and when (generations), the source's own
ids and fields, and, in the view, the conversation's origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from forky_core.conversation.identity import named_id, new_id, title_line
from forky_core.conversation.recording.scopes import Scopes
from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import Importer, Node
from forky_core.formats.forky_file.kept_lines import ORIGINS, cut, missing
from forky_core.formats.importing.pieces import title_of
from forky_core.formats.importing.pointing import point
from forky_core.formats.tree import ImportedTree
from forky_core.model import (
    EMPTY_VIEW,
    ConversationId,
    Failure,
    Generation,
    GenerationId,
    GenerationStatus,
    MessageId,
    Rules,
)
from forky_core.model.hashing import content_hash, mend_json, mend_text
from forky_core.model.parts import Json, canonical_json
from forky_core.text.surroundings import program_in

ORIGIN = "origin"
"""The key in a view for the origin of an imported conversation."""

MAIN = "main"
"""The name of the checked-out branch if the source has no name for it."""

Key = tuple[str, str]
"""The format and the source's id, which identify a conversation."""


def key_of(importer: Importer, tree: ImportedTree) -> Key:
    source = tree.found.source_id
    return importer.name, source or content_hash(sorted(message.id for message in tree.messages))


def imported_before(forky: Workspace) -> dict[Key, ConversationId]:
    """Return the conversations that were imported before; of two with the same key, the most recently changed."""
    origins = forky.store.entries(ORIGIN)
    if not origins:
        return {}
    order = [summary.id for summary in (*forky.conversations(trashed=True), *forky.conversations())]
    return {
        (str(origin.get("format")), str(origin.get("id"))): id
        for id in order
        if isinstance(origin := origins.get(id), dict)
    }


def origin_of(key: Key, file: str, tree: ImportedTree) -> dict[str, Json]:
    """Return the entry of a view that describes the conversation's source."""
    entry: dict[str, Json] = {
        "format": key[0],
        "id": key[1],
        "file": file,
        "account": tree.account.stored(),
    }
    if tree.found.extra:
        entry["x"] = dict(tree.found.extra)
    return entry


def _new_conversation(forky: Workspace, key: Key) -> ConversationId:
    """Return the id of a conversation that nobody has imported yet.

    If the same one is imported at this moment in another tab or process, both get the same id, so that the store
    accepts only one. Different people get different ids, because they may not see each other's conversations.
    """
    id = ConversationId(named_id("import", forky.actor, *key))
    return ConversationId(new_id()) if forky.store.is_taken(id) else id


def session_of(format: str, tree: ImportedTree) -> str:
    """Return the id of the session whose file it is, as calls have it; "" if its program's calls name none."""
    return f"{format}:{tree.found.session}" if tree.found.session else ""


def creation(
    forky: Workspace, importer: Importer, key: Key, tree: ImportedTree, origin: Mapping[str, Json]
) -> Transaction:
    """Return a transaction that creates the conversation."""
    tx = Transaction(forky.store, _new_conversation(forky, key), EMPTY_VIEW, forky.actor, in_bulk=True)
    title = title_of(tree)
    if title:
        tx.set("title", title)
    tx.create_branch(tree.branch, tree.head, Rules(system=tree.found.system or None))
    for name, tip in tree.branches.items():
        tx.create_branch(name, tip, Rules())
    for tip in tree.kept:
        tx.keep(tip)
    _tell_origin(tx, forky, tree, origin)
    if tree.found.folder:
        tx.set("program", program_in(importer.label.removesuffix(" session"), tree.found.folder))
    tx.messages = list(tree.messages)
    tx.generations = _generations(tree)
    tx.derived = cut(ORIGINS, _origin_rows(tree))
    return tx


def names_a_branch(forky: Workspace, known: ConversationId, tree: ImportedTree) -> bool:
    """Whether the file names a branch that the conversation does not have."""
    return tree.branch != MAIN and tree.branch not in forky.store.view(known).branches


def extension(
    forky: Workspace, known: ConversationId, tree: ImportedTree, origin: Mapping[str, Json] | None
) -> Transaction:
    """Return a transaction that adds new content to a conversation that was imported before.

    `origin` is None for a session that goes on from the conversation, or whose calls are recorded there.
    """
    view = forky.store.view(known)
    here = forky.store.messages(known)
    tx = Transaction(forky.store, known, view, forky.actor, in_bulk=True)
    fresh = [message for message in tree.messages if message.id not in here]
    tx.messages = list(fresh)
    tx.generations = [one for one in _generations(tree) if (one.message or one.parent) not in here]
    tips = {tree.branch: tree.head, **tree.branches}
    point(
        tx,
        view,
        {name: (tip, Rules()) for name, tip in tips.items() if tip is not None},
        tree.kept,
        {**here, **{message.id: message for message in fresh}},
        named=() if tree.branch == MAIN else (tree.branch,),
    )
    tx.set("trashed", None)
    if origin is not None:
        _tell_origin(tx, forky, tree, origin)
    tx.derived = missing(forky.store, known, ORIGINS, _origin_rows(tree))
    return tx


def _tell_origin(tx: Transaction, forky: Workspace, tree: ImportedTree, origin: Mapping[str, Json]) -> None:
    """Set what says where a conversation comes from, and by what calls of the same session find it."""
    tx.set(ORIGIN, dict(origin))
    if session := session_of(str(origin["format"]), tree):
        tx.set(Scopes(forky.store, forky.owner).of_file(session), tree.branch)


def _origin_rows(tree: ImportedTree) -> list[str]:
    """Return the nodes' own ids and fields, as lines to store with the conversation."""
    rows: dict[str, None] = {}
    for origin in tree.origins:
        row: dict[str, Json] = {"message": origin.message, "id": origin.node.id}
        if origin.node.extra:
            row["x"] = dict(origin.node.extra)
        line = canonical_json(row)
        try:
            line.encode()
        except UnicodeEncodeError:
            line = canonical_json(mend_json(row))
        rows[line] = None
    return list(rows)


_model_line = lru_cache(1_000)(title_line)
"""Cached, since there are few models and it is called for every reply."""


def _generations(tree: ImportedTree) -> list[Generation]:
    """Return the model, time and outcome of replies whose source has these facts (law 2)."""
    by_id = {message.id: message for message in tree.messages}
    found = [
        _generation(
            failed.node,
            failed.question,
            None,
            "failed" if failed.node.status == "done" else failed.node.status,
        )
        for failed in tree.failed
    ]
    for origin in tree.origins:
        node, message = origin.node, by_id[origin.message]
        if message.role == "assistant" and (node.model or node.failure or node.status != "done"):
            found.append(_generation(node, message.parent, message.id, node.status))
    return found


def _generation(
    node: Node, parent: MessageId | None, message: MessageId | None, status: GenerationStatus
) -> Generation:
    at = max(0, node.created)
    return Generation(
        GenerationId(new_id()),
        MAIN,
        parent,
        _model_line(node.model) or "unknown",
        status,
        message,
        usage=node.usage,
        failure=Failure("unknown", mend_text(node.failure)) if node.failure else None,
        started=at,
        finished=at,
    )
