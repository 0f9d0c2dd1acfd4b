"""Moving a conversation from one workspace of a server to another.

It is copied with every id it has: the messages keep theirs since these are hashes of what they say, and the operations
theirs since each is made again with all that enters its id. So a link to a message, and what cites it, stay right. The
copy is checked before the original goes to the trash, from where it can be taken back.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from forky_core.forky import Forky
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of
from forky_core.model import ConversationId
from forky_core.model.document import DocumentId
from forky_core.model.errors import BadContent, ForkyError, InTheWay, NotAllowed, NotFound, StoreDamaged
from forky_core.store.deciding import no_conversation
from forky_core.store.moving.contract import MovableStore
from forky_core.store.moving.documents import copy_document
from forky_core.team.guarded_store import files_of
from forky_core.team.roles import Role
from forky_core.team.team import Team
from forky_core.team.team_workspaces import NO_WORKSPACE
from forky_core.team.views import member_view


def move_conversation(
    id: ConversationId, person: str, source: Forky, from_team: Team, target: Forky, to_team: Team
) -> None:
    """Copy a conversation into another workspace, where it belongs to whoever moves it, and trash the original.

    `source` and `target` are whole workspaces, each with its team. What the conversation names goes with it:
    attachments, documents and threads. With whom it was shared does not, and links that were given away end.

    Raises:
        NotFound: the person does not see the conversation, or may not enter the other workspace.
        NotAllowed: it does not belong to them, or they may not begin conversations in the other workspace.
        InTheWay: a reply is being written in it, it is in the trash, or the other workspace has one with this id.
        StoreDamaged: the copy is not what the original is; it was removed.
    """
    _require_rights(id, person, from_team, to_team)
    mine = member_view(source, from_team, person)
    chat = mine.conversation(id)
    if chat.view.trashed:
        raise InTheWay("This conversation is in the trash.", "Take it back first.")
    if source.replies.running(id):
        raise InTheWay("A reply is being written in this conversation.", "Wait for it, or stop it.")
    if _is_there(target, id):
        raise InTheWay("This conversation cannot be moved there.", "That workspace has had it before.")
    version = chat.view.version
    to_team.sharing.begin(id, person)
    try:
        files = files_of(source.store, id)
        _copy_documents(source, target, files, person, to_team)
        to_team.files.give(person, files)
        to_team.files.name(id, files)
        adopt(target, chat_of(source.store, id))
        _check(id, version, source, target)
        from_team.threads.copy_to(to_team.workspace, id)
    except BaseException:
        _remove(id, target, to_team)
        raise
    with from_team.database.writing():
        from_team.audit.note("conversation moved away", person, conversation=id, to=to_team.workspace)
        to_team.audit.note("conversation moved here", person, conversation=id)
    chat.trash(moved=True)


def _require_rights(id: ConversationId, person: str, from_team: Team, to_team: Team) -> None:
    role = from_team.sharing.role_in(id, person)
    if not role:
        raise no_conversation(id)
    if role is not Role.OWNER:
        raise NotAllowed("Only whoever a conversation belongs to may move it.", "Ask them.")
    there = to_team.workspaces.role_in(to_team.workspace, person)
    if not there:
        raise NotFound(NO_WORKSPACE)
    if there < Role.COMMENTER:
        raise NotAllowed("You may only read in that workspace.", "Ask an owner of it.")
    if from_team.workspace == to_team.workspace:
        raise BadContent("The conversation is in this workspace already.")


def _is_there(forky: Forky, id: ConversationId) -> bool:
    with suppress(NotFound):
        forky.store.view(id)
        return True
    return False


def _copy_documents(source: Forky, target: Forky, files: set[str], person: str, to_team: Team) -> None:
    """Copy the documents that a conversation names; there they are offered to it alone."""
    here, there = source.store, target.store
    assert isinstance(here, MovableStore)
    assert isinstance(there, MovableStore)
    wanted = [DocumentId(file) for file in sorted(files)]
    known = there.documents.known(wanted)
    for document in here.documents.known(wanted).values():
        if document.id not in known and document.whole:
            to_team.files.give(person, [document.id])
            copy_document(here.documents, there.documents, replace(document, shelf=""))


def _check(id: ConversationId, version: int, source: Forky, target: Forky) -> None:
    """Raise StoreDamaged unless the copy has the same log, by its chained ids, and every id in it can be derived."""
    original, copy = source.store.operations(id, limit=1), target.store.operations(id, limit=1)
    if original[0].number != version:
        raise InTheWay("Somebody changed the conversation meanwhile.", "Move it again.")
    if [one.id for one in original] != [one.id for one in copy] or not target.store.verify(id).clean:
        raise StoreDamaged("The copy is not what the conversation is. It was removed, and nothing was moved.")


def _remove(id: ConversationId, target: Forky, to_team: Team) -> None:
    """Remove what there is of a copy."""
    with suppress(ForkyError):
        target.conversation(id).trash()
        target.purge(id)
    if not _is_there(target, id):
        to_team.threads.forget(id)
        to_team.sharing.drop(id)
