"""A workspace with one conversation for each way in which a person can stand to it, put back after every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.indexes import Indexes
from forky_core.conversation.visible import VisibleCaches
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import ForkyError
from forky_core.model.parts import AttachmentPart
from forky_core.people.conversation_threads import ConversationThreads
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.members import Member, Members
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS, Sharing
from forky_core.people.team import Team
from forky_core.people.views import member_view
from forky_core.store.memory.documents import MemoryDocuments
from forky_core.store.memory.store import MemoryStore, _StoredConversation
from tests.builders import talk, workspace
from tests.people.people import in_sqlite
from tests.store.talk import generation

T = TypeVar("T")
AUTHOR = "the author"
SITUATIONS = (
    "own",
    "shared with everybody",
    "shared with me as viewer",
    "shared with me as commenter",
    "shared with me as editor",
    "shared with me as owner",
    "somebody else's",
    "the team's",
    "own, in the trash",
    "shared with me as editor, in the trash",
    "purged by somebody else",
    "taken from me",
    "in another workspace",
    "never there",
)
"""How a person can stand to a conversation. One that was taken from them they could edit before; one in another
workspace is their own there."""
WORKSPACE_ROLES = tuple(Role)
"""`Role.NONE` is somebody who was a member and is one no longer."""
NEVER_THERE = ConversationId("01890000-0000-7000-8000-0000000000ff")


def role_in(situation: str, general: Role) -> Role:
    """The role that a person with this role in the workspace has in such a conversation."""
    if general is Role.NONE:
        return Role.NONE
    if situation.startswith("own"):
        return Role.OWNER
    if situation == "shared with everybody":
        return general
    if situation == "the team's":
        return Role.OWNER if general is Role.OWNER else Role.NONE
    for role in (Role.VIEWER, Role.COMMENTER, Role.EDITOR, Role.OWNER):
        if situation.startswith(f"shared with me as {role.word}"):
            return role
    return Role.NONE


@dataclass(frozen=True)
class Talk:
    """The messages of every conversation here; they are the same in each."""

    question: MessageId
    answer: MessageId
    last: MessageId
    side: MessageId
    sibling: MessageId
    file: AttachmentPart
    document: str


@dataclass(frozen=True)
class ThreadIds:
    """A thread of a conversation, and comments of it."""

    thread: str
    mine: str
    theirs: str
    gone: str
    """Mine, and deleted."""


NO_THREAD = ThreadIds("none", "none", "none", "none")


class World:
    """The workspace, its team, and a person with one role in it."""

    def __init__(self, general: Role, folder: Path) -> None:
        self.general = general
        self.store = MemoryStore()
        self.elsewhere = MemoryStore()
        """The store of another workspace, whose people are in the same database."""
        self.team = Team(None)
        self.whole, self.models = workspace(self.store)
        self.whole.actor = AUTHOR
        self.store.set_setting("scope_salt", "5a17" * 8)
        self.ada = self.team.members.add("Ada", Role.OWNER)
        self.me: Member = self.team.members.add("Me", Role.VIEWER)
        self.file = folder / "notes.txt"
        self.file.write_text("Boats float because they are lighter than the water they push away.")
        self.plans: dict[str, Any] = {}
        self.ids: dict[str, ConversationId] = {}
        self.threads: dict[ConversationId, ThreadIds] = {}
        for situation in SITUATIONS:
            self._make(situation)
        if general:
            self.team.members.set_role(self.me.id, general, by=self.ada.id)
        else:
            self.team.members.remove(self.me.id, by=self.ada.id)
        self.keep()

    def keep(self) -> None:
        """Every cell begins with what there is now."""
        self._people = in_sqlite(self.team).serialize()
        self._conversations = _copied(self.store)
        self._people_as_of = in_sqlite(self.team).total_changes

    def _make(self, situation: str) -> None:
        chat = talk(
            self.whole.create("Boats", model="scripted/one"), "Why do boats float?", "Because.", "All?"
        )
        chat.say("Nearly all.", role="assistant")
        question, answer, _, last = chat.path()
        side = talk(chat.fork("side", at=answer.id), "And stones?", "They sink.")
        talk(chat.fork(f"{self.me.handle}/idea", at=answer.id), "And ice?", "Ice floats.")
        again = chat.fork("again", at=answer.parent)
        again.say("Density.", role="assistant")
        chat.tags.add("named")
        chat.tags.add(f"{self.me.handle}/tag")
        chat.stashes.create(draft="put aside")
        chat.polls.open([answer.id, again.path()[-1].id])
        chat.requests.open("side")
        file = self.whole.attach(b"a boat", name="boat.txt")
        chat.fork("with a file").say("Look.", attachments=[file])
        document = chat.documents.append("Stones sink because they are heavy.", name="stones.txt")
        self.talk = Talk(
            question.id, answer.id, last.id, side.path()[-1].id, again.path()[-1].id, file, document.id
        )
        id = chat.id
        self.store.record(id, generation(1, "running", branch="main"))
        self.store.keep_derived(id, {"kept": "1"})
        self.ids[situation] = id
        self.team.sharing.adopt([(id, self._owner(situation))])
        if situation == "shared with everybody":
            self.team.sharing.share_with_everyone(id, shared=True, by=self.ada.id)
        elif situation == "taken from me" or situation.startswith("shared with me"):
            role = role_in(situation, Role.VIEWER) or Role.EDITOR
            self.team.sharing.share(id, self.me.id, role, by=self.ada.id)
        self.threads[id] = self._discuss(id, answer.id)
        if situation.endswith("in the trash"):
            chat.trash()
        if situation == "in another workspace":
            self.elsewhere._conversations[id] = self.store._conversations.pop(id)
            self.team.sharing.drop(id)
            database, audit = self.team.database, self.team.audit
            members = Members(database, audit, "elsewhere")
            if not members.role_of(self.me.id):
                members.bring_back(self.me.id, Role.OWNER)
            Sharing(database, audit, members, "elsewhere").adopt([(id, self.me.id)])
        if situation == "never there":
            del self.store._conversations[id]
            self.team.sharing.drop(id)
            self.ids[situation] = NEVER_THERE

    def _discuss(self, id: ConversationId, message: MessageId) -> ThreadIds:
        """A thread with a comment of mine, of somebody else, and one of mine that is deleted."""
        threads = self.team.threads
        thread = threads.begin(id, message, "", self.me.id, "Mine")
        made = threads.find(id, thread)
        assert made is not None
        theirs = threads.reply(made, self.ada.id, "Theirs")
        gone = threads.reply(made, self.me.id, "Gone")
        deleted = next(one for one in threads.of(id)[0].comments if one.id == gone)
        threads.delete(made, deleted, by=self.me.id)
        return ThreadIds(thread, made.comments[0].id, theirs, gone)

    def _owner(self, situation: str) -> str:
        return (
            OWNERS
            if situation == "the team's"
            else self.me.id
            if situation.startswith("own")
            else self.ada.id
        )

    def cell(self, situation: str) -> Cell:
        """The workspace as it was made, and this person in front of one of its conversations."""
        for job in self.whole.replies.running():
            job.stop()
            job.wait()
        _restore(self.store, self._conversations)
        connection = in_sqlite(self.team)
        if connection.total_changes != self._people_as_of:
            with self.team.database._lock:  # A thread of the cell before may be asking: SQLite would crash.
                connection.deserialize(self._people)
                self.team.database._own_changes += 1
                self._people_as_of = connection.total_changes
        id = self.ids[situation]
        mine = _fresh(member_view(self.whole, self.team, self.me.id))
        handle = Conversation(mine._session(id), "main")
        if situation == "taken from me" and self.general:
            assert len(handle.path()) == 4, "it was there a moment ago"
            self.team.sharing.share(id, self.me.id, Role.NONE, by=self.ada.id)
        if situation == "purged by somebody else":
            author = self.whole.through(self.store, AUTHOR)
            author.conversation(id).trash()
            self.store.purge(id)
            self.team.sharing.drop(id)
        gone = {"purged by somebody else", "in another workspace", "never there"}
        model = self.ids["somebody else's"] if situation in gone else id
        return Cell(
            self,
            situation,
            id,
            mine,
            handle,
            _fresh(self.whole.through(self.store, AUTHOR)).conversation(model, "main"),
        )

    def close(self) -> None:
        self.whole.close()
        self.team.close()


@dataclass
class Cell:
    """One person in front of one conversation."""

    world: World
    situation: str
    id: ConversationId
    forky: Workspace
    """The workspace as they see it."""
    chat: Conversation
    """Their handle on the conversation, with `main` checked out; opening it has asked nothing."""
    author: Conversation
    """Somebody's handle who may do everything: on this conversation, or on one with the same words."""

    @property
    def store(self) -> GuardedStore:
        assert isinstance(self.forky.store, GuardedStore)
        return self.forky.store

    @property
    def talk(self) -> Talk:
        return self.world.talk

    @property
    def ids(self) -> ThreadIds:
        """The thread of the conversation."""
        return self.world.threads.get(self.id, NO_THREAD)

    @property
    def threads(self) -> ConversationThreads:
        """The threads of the conversation, as they may use them."""
        return ConversationThreads(self.store, self.id)

    @property
    def own(self) -> Conversation:
        """Their handle on the branch that is theirs."""
        return Conversation(self.chat._session, self.branch("idea"))

    def branch(self, name: str) -> str:
        """The name of a branch of their own."""
        return f"{self.world.me.handle}/{name}"

    def planned(self, kind: str, plan: Callable[[Conversation], T]) -> T:
        """A plan that the author has made, once for all rows: it is the same in every conversation here."""
        if kind not in self.world.plans:
            self.world.plans[kind] = plan(self.author)
        made: T = self.world.plans[kind]
        return made

    def first(self, work: Callable[[Conversation], object]) -> object:
        """Have the author do something before."""
        with suppress(ForkyError):  # In the trash.
            return work(self.author)
        return None


def _fresh(view: Workspace) -> Workspace:
    """The view with caches of its own: those of the row before remember another past."""
    view.visible_caches, view.indexes = VisibleCaches(), Indexes()
    return view


def _copied(store: MemoryStore) -> MemoryStore:
    copy = MemoryStore()
    _restore(copy, store)
    return copy


def _is_same(one: _StoredConversation, kept: _StoredConversation) -> bool:
    """Whether a conversation is as it was kept; every commit makes another view."""
    return one.view is kept.view and one.generations == kept.generations and one.derived == kept.derived


def _copy_of(one: _StoredConversation) -> _StoredConversation:
    return replace(
        one,
        messages=dict(one.messages),
        operations=list(one.operations),
        generations=dict(one.generations),
        moved=dict(one.moved),
        derived=dict(one.derived),
    )


def _restore(store: MemoryStore, kept: MemoryStore) -> None:
    """Give a store the content of another one."""
    now = store._conversations
    store._conversations = {
        id: now[id] if id in now and _is_same(now[id], one) else _copy_of(one)
        for id, one in kept._conversations.items()
    }
    store._blobs, store._settings = dict(kept._blobs), dict(kept._settings)
    documents: MemoryDocuments = store.documents
    documents._kept = {id: replace(one, keys=list(one.keys)) for id, one in kept.documents._kept.items()}
    documents._chunks, documents._vectors = dict(kept.documents._chunks), dict(kept.documents._vectors)
    documents._last = kept.documents._last


@contextmanager
def world(general: Role, folder: Path) -> Iterator[World]:
    made = World(general, folder)
    try:
        yield made
    finally:
        made.close()
