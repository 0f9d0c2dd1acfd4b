"""The role that each person has in each conversation.

A conversation belongs to whoever began it and is theirs alone until they share it: with the whole workspace, where
everybody then has the role they have in the workspace, or with single people. The highest role counts. One that nobody
of the team began, as those from before there was a team, belongs to the owners of the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, InTheWay, NotFound
from forky_core.people.audit import Audit
from forky_core.people.database import TeamDatabase
from forky_core.people.members import Member, Members
from forky_core.people.roles import Role

Whose = Literal["all", "mine", "with_me", "by_me"]
"""Which conversations of a list are asked for."""
OWNERS = ""
"""In place of a person's id: the conversation belongs to the owners of the workspace."""


@dataclass(frozen=True, slots=True)
class SharedWith:
    """The people with whom a conversation is shared."""

    owner: str
    """The id of the person it belongs to, or `OWNERS`."""
    everyone: bool
    """Whether every member sees it, with the role they have in the workspace."""
    people: Mapping[str, Role]
    """The roles of single people, by their ids."""

    def role_of(self, member: str, general: Role) -> Role:
        """The role here of a person with this role in the workspace; `Role.NONE` if they may not see it."""
        if general is Role.NONE:
            return Role.NONE
        if self.owner == member or (self.owner == OWNERS and general is Role.OWNER):
            return Role.OWNER
        return max(self.people.get(member, Role.NONE), general if self.everyone else Role.NONE)


@dataclass(frozen=True, slots=True)
class _Rights:
    """Every conversation of a workspace, by who may see it."""

    owned: Mapping[str, Sequence[ConversationId]]
    """By their owners' ids, or `OWNERS`."""
    shared: Sequence[ConversationId]
    """Those that every member sees."""
    given: Mapping[str, Mapping[ConversationId, Role]]
    """The roles of single people, by their ids."""


@dataclass(frozen=True, slots=True)
class SharingMark:
    """The mark of one conversation."""

    kind: Literal["private", "people", "everyone"]
    words: str
    """Whose it is, if it is not the reader's, and who sees it, in a few words."""


class Sharing:
    """The conversations of one workspace, and with whom each is shared."""

    def __init__(self, database: TeamDatabase, audit: Audit, members: Members, workspace: str) -> None:
        self._database = database
        self._audit = audit
        self._members = members
        self._workspace = workspace
        self.dropped: Callable[[ConversationId], None] = lambda _conversation: None
        """Called with a conversation that is forgotten, within the same transaction."""

    def known(self, conversation: ConversationId) -> bool:
        """Whether it is recorded to whom a conversation belongs."""
        return self._row(conversation) is not None

    def begin(self, conversation: ConversationId, owner: str) -> None:
        """Record to whom a new conversation belongs.

        Raises:
            InTheWay: somebody else is beginning one with this id.
        """
        with self._database.writing() as connection:
            known = self._row(conversation)
            if known is not None and known[0] != owner:
                raise InTheWay(
                    "Somebody else is bringing in the same conversation.", "Try again in a moment."
                )
            connection.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, 0, 1) ON CONFLICT DO NOTHING",
                (self._workspace, conversation, owner),
            )

    def adopt(self, owners: Iterable[tuple[ConversationId, str]]) -> None:
        """Record to whom conversations belong that were begun without a team; recorded ones stay as they are."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO conversations VALUES (?, ?, ?, 0, 0) ON CONFLICT DO NOTHING",
                [(self._workspace, conversation, owner) for conversation, owner in owners],
            )

    def forget_others(self, existing: Iterable[ConversationId]) -> None:
        """Forget conversations that do not exist: a crash can leave the record of one that was never written."""
        rows = self._database.rows(
            "SELECT conversation FROM conversations WHERE workspace = ?", self._workspace
        )
        for id in {row["conversation"] for row in rows} - set(existing):
            self.drop(ConversationId(id))

    def drop(self, conversation: ConversationId) -> None:
        """Delete the record of a conversation that was deleted for good."""
        with self._database.writing() as connection:
            for table in ("conversations", "shares", "named_files", "protected_branches"):
                connection.execute(
                    f"DELETE FROM {table} WHERE workspace = ? AND conversation = ?",  # noqa: S608 - fixed names
                    (self._workspace, conversation),
                )
            self.dropped(conversation)

    def of(self, conversation: ConversationId) -> SharedWith:
        """With whom a conversation is shared. Raises NotFound if it is not recorded."""
        row = self._row(conversation)
        if row is None:
            raise NotFound("There is no such conversation.")
        shares = self._database.rows(
            "SELECT person, role FROM shares WHERE workspace = ? AND conversation = ?",
            self._workspace,
            conversation,
        )
        people = {share["person"]: Role(share["role"]) for share in shares}
        return SharedWith(row[0], bool(row[1]), people)

    def of_all(self) -> Mapping[ConversationId, SharedWith]:
        """With whom each conversation is shared."""
        people: dict[str, dict[str, Role]] = {}
        for conversation, person, role in self._database.many(
            ("conversation", "person", "role"), "FROM shares WHERE workspace = ?", self._workspace
        ):
            people.setdefault(conversation, {})[person] = Role(role)
        rows = self._database.many(
            ("conversation", "owner", "shared"), "FROM conversations WHERE workspace = ?", self._workspace
        )
        return {
            ConversationId(id): SharedWith(owner, bool(shared), people.get(id, {}))
            for id, owner, shared in rows
        }

    def role_in(self, conversation: ConversationId, member: str) -> Role:
        """What a person may do in a conversation; `Role.NONE` if they may not see it."""
        try:
            return self.of(conversation).role_of(member, self._members.role_of(member))
        except NotFound:
            return Role.NONE

    def readers(self, conversation: ConversationId) -> Sequence[tuple[Member, Role]]:
        """Every member who may see a conversation, with their role in it; the longest-standing come first."""
        try:
            shared = self.of(conversation)
        except NotFound:
            return ()
        roles = [(member, shared.role_of(member.id, member.role)) for member in self._members.all()]
        return [(member, role) for member, role in roles if role]

    def roles_in(self, member: str) -> Mapping[ConversationId, Role]:
        """A person's role in each conversation that they may see."""
        general = self._members.role_of(member)
        if general is Role.NONE:
            return {}
        rights = self._database.made(("rights", self._workspace), self._rights)
        roles = {id: role for id, role in rights.given.get(member, {}).items() if role}
        for id in rights.shared:
            roles[id] = max(roles.get(id, Role.NONE), general)
        for owner in (member, OWNERS) if general is Role.OWNER else (member,):
            roles.update(dict.fromkeys(rights.owned.get(owner, ()), Role.OWNER))
        return roles

    def _rights(self) -> _Rights:
        """Read once for everybody: a person has a role in few of the conversations of a large workspace."""
        owned: dict[str, list[ConversationId]] = {}
        given: dict[str, dict[ConversationId, Role]] = {}
        every = self.of_all()
        for id, found in every.items():
            owned.setdefault(found.owner, []).append(id)
            for person, role in found.people.items():
                given.setdefault(person, {})[id] = role
        return _Rights(owned, [id for id, found in every.items() if found.everyone], given)

    # Changes. `by` is the id of the person who makes it; whether they may is asked before.

    def share_with_everyone(self, conversation: ConversationId, *, shared: bool, by: str) -> None:
        """Show a conversation to all members, or to single people only."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE conversations SET shared = ? WHERE workspace = ? AND conversation = ?",
                (int(shared), self._workspace, conversation),
            )
            event = "shared with everybody" if shared else "no longer shared with everybody"
            self._audit.note(event, by, conversation=conversation)

    def share(self, conversation: ConversationId, member: str, role: Role, *, by: str) -> None:
        """Give one person a role in a conversation; `Role.NONE` takes it away.

        Raises:
            NotFound: they are not a member.
            BadContent: it is theirs.
        """
        with self._database.writing() as connection:
            if not self._members.role_of(member):
                raise NotFound("That person is not a member.")
            if self.of(conversation).owner == member:
                raise BadContent("This conversation belongs to them.", "Hand it over to take it from them.")
            connection.execute(
                "DELETE FROM shares WHERE workspace = ? AND conversation = ? AND person = ?",
                (self._workspace, conversation, member),
            )
            if role:
                connection.execute(
                    "INSERT INTO shares VALUES (?, ?, ?, ?)",
                    (self._workspace, conversation, member, role.value),
                )
            self._audit.note(
                "shared" if role else "no longer shared",
                by,
                conversation=conversation,
                member=member,
                role=role.word,
            )

    def hand_over(self, conversation: ConversationId, to: str, *, by: str) -> None:
        """Give a conversation to somebody else, who is its owner from then on; the former one stays an editor.

        Raises:
            NotFound: they are not a member.
        """
        with self._database.writing() as connection:
            if not self._members.role_of(to):
                raise NotFound("That person is not a member.")
            former = self.of(conversation).owner
            connection.execute(
                "UPDATE conversations SET owner = ? WHERE workspace = ? AND conversation = ?",
                (to, self._workspace, conversation),
            )
            connection.execute(
                "DELETE FROM shares WHERE workspace = ? AND conversation = ? AND person = ?",
                (self._workspace, conversation, to),
            )
            if former not in (OWNERS, to) and self._members.role_of(former):
                self.share(conversation, former, Role.EDITOR, by=by)
            self._audit.note("handed over", by, conversation=conversation, member=to)

    def hand_all_over(self, member: str, to: str, *, by: str) -> int:
        """Give every conversation of a person to somebody else, or with `OWNERS` to the owners; returns how many."""
        owned = [id for id, shared in self.of_all().items() if shared.owner == member]
        with self._database.writing() as connection:
            for conversation in owned:
                connection.execute(
                    "UPDATE conversations SET owner = ? WHERE workspace = ? AND conversation = ?",
                    (to, self._workspace, conversation),
                )
                connection.execute(
                    "DELETE FROM shares WHERE workspace = ? AND conversation = ? AND person = ?",
                    (self._workspace, conversation, to),
                )
                self._audit.note("handed over", by, conversation=conversation, member=to)
        return len(owned)

    def _row(self, conversation: ConversationId) -> tuple[str, int] | None:
        row = self._database.row(
            "SELECT owner, shared FROM conversations WHERE workspace = ? AND conversation = ?",
            self._workspace,
            conversation,
        )
        return (row["owner"], row["shared"]) if row else None


def mark_of(shared: SharedWith, reader: str, name_of: Callable[[str], str]) -> SharingMark:
    """The mark of a conversation for a reader; `name_of` is the name of a person's id."""
    if shared.owner != reader:
        whose = "The owners" if shared.owner == OWNERS else name_of(shared.owner)
        if shared.everyone:
            return SharingMark("everyone", f"{whose} · everybody")
        return SharingMark("people" if shared.people else "private", whose)
    if shared.everyone:
        return SharingMark("everyone", "Everybody")
    if shared.people:
        one = len(shared.people) == 1
        seen_by = name_of(next(iter(shared.people))) if one else f"{len(shared.people)} people"
        return SharingMark("people", f"With {seen_by}")
    return SharingMark("private", "Private")


def belongs_here(shared: SharedWith | None, reader: str, whose: Whose) -> bool:
    """Whether a conversation is among those that a reader asks for."""
    if whose == "all" or shared is None:
        return whose == "all"
    own = shared.owner == reader
    match whose:
        case "mine":
            return own
        case "with_me":
            return not own
        case "by_me":
            return own and (shared.everyone or bool(shared.people))
