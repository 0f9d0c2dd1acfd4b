"""The people of a workspace: who they are, how they prove it, and their role.

A person is a random id, which stands in operations and in the audit log. The name is kept here only, so that somebody
can be renamed or forgotten while every chain of hashes stays whole.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.model.errors import BadContent, InTheWay, NameTaken, NotFound
from forky_core.model.room import fit_name
from forky_core.people.audit import Audit
from forky_core.people.database import TeamDatabase, now
from forky_core.people.roles import Role

ID_PREFIX = "person:"
_ID = re.compile(rf"{ID_PREFIX}[0-9a-f]{{16}}(?![0-9a-f])")
_LONGEST_EMAIL = 254
"""The most characters of an address of e-mail (RFC 5321, section 4.5.3.1)."""
_LONGEST_HANDLE = 30
_FORGOTTEN = "Somebody who left"
GONE_ISSUERS = ("passkey", "mail")
"""Issuers of identities that let nobody in any more. They stay as they were stored."""


@dataclass(frozen=True, slots=True)
class Member:
    """A person, with their role in the workspace."""

    id: str
    """Random, and the same for ever: `ID_PREFIX` and sixteen hex digits."""
    handle: str
    """Lower-case letters, digits and hyphens; nobody else has it. A person's branches begin with it: `ada/idea`."""
    name: str
    email: str
    """"" if it is not known. It is never proof of who somebody is."""
    role: Role
    """`Role.NONE` for somebody who is no longer a member."""
    since: int
    """When they became a member: microseconds since the epoch, UTC; 0 for somebody who is none."""


_OUTLIVING = frozenset(
    {"audit", "holds", "ledger", "thread_comments", "thread_events", "uploads", "workspaces"}
)
"""Tables whose rows outlive the person they name by id: what they said and spent. Every other row about them goes."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A way in which a person proves who they are: a pair of issuer and subject that nobody else has."""

    issuer: str
    """Who vouches: "password", the address of an identity provider, or "proxy:" and the name of a header."""
    subject: str
    """What the issuer calls the person: a handle, or the provider's `sub`."""
    secret: str = ""
    """What is needed to check the proof, as the hash of a password; never the proof itself."""


class Members:
    """The people of one workspace."""

    def __init__(self, database: TeamDatabase, audit: Audit, workspace: str) -> None:
        self._database = database
        self._audit = audit
        self._workspace = workspace
        self.removed: Callable[[str, str], None] = lambda _member, _by: None
        """Called with the ids of a person who stops being a member and of who ends it, within the same transaction."""

    def all(self) -> Sequence[Member]:
        """All current members; those who have been here longest come first."""
        rows = self._database.many(
            ("p.id", "p.handle", "p.name", "p.email", "m.role", "m.since"),
            "FROM members m JOIN people p ON p.id = m.person WHERE m.workspace = ?",
            self._workspace,
        )
        members = [
            Member(id, handle, name, email, Role(role), since)
            for id, handle, name, email, role, since in rows
        ]
        return sorted((one for one in members if one.role), key=lambda one: (one.since, one.id))

    def member(self, id: str) -> Member:
        """The person with this id, also after they left. Raises NotFound for an unknown id."""
        found = self.find(id)
        if found is None:
            raise NotFound("There is no such person here.")
        return found

    def find(self, id: str) -> Member | None:
        """The person with this id, also after they left; None for an unknown id."""
        return next(iter(self._select("WHERE p.id = ?", id)), None)

    def by_handle(self, handle: str) -> Member | None:
        """The person with this handle, in any case; None if there is none."""
        return next(iter(self._select("WHERE p.handle = ?", handle.strip().lower())), None)

    def by_identity(self, issuer: str, subject: str) -> tuple[Member, Identity] | None:
        """The person who has an identity, and the identity as it is stored; None if nobody has it."""
        row = self._database.row("SELECT * FROM identities WHERE issuer = ? AND subject = ?", issuer, subject)
        if row is None:
            return None
        return self.member(row["person"]), Identity(row["issuer"], row["subject"], row["secret"])

    def identities(self, member: str) -> Sequence[Identity]:
        """Every identity of a person."""
        rows = self._database.rows(
            "SELECT issuer, subject, secret FROM identities WHERE person = ? ORDER BY created", member
        )
        return [Identity(*row) for row in rows]

    def locked_out(self) -> Sequence[Member]:
        """The members who can no longer sign in, because all of their identities are of `GONE_ISSUERS`. They need a
        password.
        """
        gone = ", ".join(f"'{issuer}'" for issuer in GONE_ISSUERS)
        rows = self._database.known(
            "SELECT person FROM identities GROUP BY person "  # noqa: S608 - names of ours
            f"HAVING max(CASE WHEN issuer IN ({gone}) THEN 0 ELSE 1 END) = 0 ORDER BY person"
        )
        return [member for row in rows if (member := self.member(row["person"])).role]

    def name_of(self, actor: str) -> str:
        """The name of an operation's actor: a person's name for their id, any other text unchanged."""
        if not actor.startswith(ID_PREFIX):
            return actor
        found = self._database.known("SELECT name FROM people WHERE id = ?", actor)
        return found[0]["name"] if found else _FORGOTTEN

    def full_name_of(self, actor: str) -> str:
        """The name of an operation's actor with their unique handle: "Ada (ada)"."""
        found = self.find(actor) if actor.startswith(ID_PREFIX) else None
        return f"{found.name} ({found.handle})" if found is not None else self.name_of(actor)

    def names_in(self, text: str) -> str:
        """The text, with people's ids replaced by their names."""
        return _ID.sub(lambda found: self.name_of(found[0]), text) if ID_PREFIX in text else text

    def role_of(self, member: str) -> Role:
        """The role of a person in the workspace; `Role.NONE` for anybody else."""
        found = self._database.known(
            "SELECT role FROM members WHERE workspace = ? AND person = ?", self._workspace, member
        )
        return Role(found[0]["role"]) if found else Role.NONE

    def is_elsewhere(self, member: str) -> bool:
        """Whether a person is a member of another workspace whose people are in the same database.

        A file may have memberships of workspaces that an earlier version kept on one server: no server reads those.
        """
        if not self._database.is_shared:
            return False
        found = self._database.known(
            "SELECT 1 FROM members WHERE person = ? AND workspace <> ? LIMIT 1", member, self._workspace
        )
        return bool(found)

    @property
    def has_owner(self) -> bool:
        return bool(self._owners())

    # Changes. `by` is the id of the person who makes it.

    def add(self, name: str, role: Role, *, handle: str = "", email: str = "", by: str = "") -> Member:
        """Add a person as a member. Without a handle they get one that is made from the name.

        Raises:
            BadName: the name cannot be used.
            BadContent: the handle or the address cannot.
            NameTaken: somebody has this handle.
        """
        id = f"{ID_PREFIX}{secrets.token_hex(8)}"
        name, email = fit_name(name), fit_email(email)
        with self._database.writing() as connection:
            chosen = fit_handle(handle) if handle else self._free_handle(name)
            if self._database.row("SELECT 1 FROM people WHERE handle = ?", chosen) is not None:
                raise NameTaken(f"Somebody is “{chosen}” already.", "Choose another handle.")
            connection.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?)", (id, chosen, name, email, now()))
            connection.execute(
                "INSERT INTO members VALUES (?, ?, ?, ?)", (self._workspace, id, role.value, now())
            )
            self._audit.note("member added", by or id, member=id, role=role.word)
        return self.member(id)

    def bring_back(self, member: str, role: Role) -> Member:
        """Make a member of somebody who left, or whose account comes from another workspace."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO members VALUES (?, ?, ?, ?)", (self._workspace, member, role.value, now())
            )
            self._audit.note("member added", member, member=member, role=role.word)
        return self.member(member)

    def rename(self, member: str, name: str) -> None:
        """Give a person another name, everywhere and at once. Raises BadName for one that cannot be used."""
        name = fit_name(name)
        with self._database.writing() as connection:
            connection.execute("UPDATE people SET name = ? WHERE id = ?", (name, member))
            self._audit.note("member renamed", member, member=member)

    def set_role(self, member: str, role: Role, *, by: str) -> None:
        """Give a person another role; it holds from the next thing that they do. Nothing is written if it is theirs.

        Raises:
            NotFound: they are not a member.
            InTheWay: they are the last owner.
        """
        with self._database.writing() as connection:
            self._require_other_owner(member, role)
            before = self.role_of(member)
            if not before:
                raise NotFound("That person is not a member.")
            if before is role:
                return
            connection.execute(
                "UPDATE members SET role = ? WHERE workspace = ? AND person = ?",
                (role.value, self._workspace, member),
            )
            self._audit.note("role changed", by, member=member, role=role.word)

    def remove(self, member: str, *, by: str) -> None:
        """End a membership: the person sees nothing here any more. What they wrote stays, under their name.

        Unless they are a member of another workspace in this database, every session of theirs ends, too.

        Raises:
            NotFound: they are not a member.
            InTheWay: they are the last owner.
        """
        with self._database.writing() as connection:
            self._require_other_owner(member, Role.NONE)
            gone = connection.execute(
                "DELETE FROM members WHERE workspace = ? AND person = ?", (self._workspace, member)
            )
            if not gone.rowcount:
                raise NotFound("That person is not a member.")
            connection.execute(
                "DELETE FROM shares WHERE workspace = ? AND person = ?", (self._workspace, member)
            )
            self.removed(member, by)
            self._audit.note("member removed" if by != member else "member left", by, member=member)

    def forget(self, member: str, *, by: str) -> None:
        """Forget a person: name, address, handle, identities, sessions, invitations, drafts and the like.

        Operations, comments and the audit log keep the random id, which then names nobody.

        Raises:
            InTheWay: they are the last owner.
        """
        with self._database.writing() as connection:
            # One of another workspace that has no other member, as personal ones of earlier versions, ends by itself.
            rows = self._database.rows(
                "SELECT workspace FROM members m WHERE person = ? AND (workspace = ? OR EXISTS "
                "(SELECT 1 FROM members o WHERE o.workspace = m.workspace AND o.person <> m.person))",
                member,
                self._workspace,
            )
            found = [row["workspace"] for row in rows]
            for workspace in found if self._database.is_shared else {self._workspace} & {*found}:
                there = Members(self._database, self._audit, workspace)
                there.removed = self.removed
                there.remove(member, by=by)
            connection.execute("DELETE FROM invitations WHERE made_by = ?", (member,))
            for table, columns in self._database.columns().items():
                if "person" in columns and table not in _OUTLIVING:
                    connection.execute(f'DELETE FROM "{table}" WHERE person = ?', (member,))  # noqa: S608 - names of our tables
            connection.execute("DELETE FROM people WHERE id = ?", (member,))
            self._audit.note("member forgotten", by, member=member)

    def keep_identity(self, member: str, identity: Identity) -> None:
        """Add an identity to a person, or replace the secret of one of theirs.

        Raises:
            NameTaken: it is somebody else's.
        """
        with self._database.writing() as connection:
            known = self.by_identity(identity.issuer, identity.subject)
            if known is not None and known[0].id != member:
                raise NameTaken("That belongs to somebody else here.")
            connection.execute(
                "INSERT INTO identities VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (issuer, subject) DO UPDATE SET secret = excluded.secret",
                (identity.issuer, identity.subject, member, identity.secret, now()),
            )
            self._audit.note(
                "way to sign in added" if known is None else "way to sign in changed",
                member,
                member=member,
                issuer=identity.issuer,
            )

    def drop_identity(self, member: str, issuer: str, subject: str) -> None:
        """Remove one of a person's identities.

        Raises:
            NotFound: they have no such identity.
            InTheWay: it is the only one they have that lets them in.
        """
        with self._database.writing() as connection:
            kept = [one for one in self.identities(member) if (one.issuer, one.subject) != (issuer, subject)]
            if len(kept) == len(self.identities(member)):
                raise NotFound("That is no way in which this person signs in.")
            if all(one.issuer in GONE_ISSUERS for one in kept):
                raise InTheWay("It is the only way to sign in that is left.", "Add another one first.")
            connection.execute("DELETE FROM identities WHERE issuer = ? AND subject = ?", (issuer, subject))
            self._audit.note("way to sign in removed", member, member=member, issuer=issuer)

    def _select(self, rest: str, *values: str) -> list[Member]:
        rows = self._database.known(
            "SELECT p.id, p.handle, p.name, p.email, coalesce(m.role, 0), coalesce(m.since, 0) FROM people p "  # noqa: S608 - fixed texts
            f"LEFT JOIN members m ON m.person = p.id AND m.workspace = ? {rest}",
            self._workspace,
            *values,
        )
        return [
            Member(id, handle, name, email, Role(role), since)
            for id, handle, name, email, role, since in rows
        ]

    def _owners(self) -> set[str]:
        rows = self._database.rows(
            "SELECT person FROM members WHERE workspace = ? AND role = ?", self._workspace, Role.OWNER.value
        )
        return {row["person"] for row in rows}

    def _require_other_owner(self, member: str, role: Role) -> None:
        if role is not Role.OWNER and self._owners() == {member}:
            raise InTheWay("A workspace keeps at least one owner.", "Make somebody else an owner first.")

    def _free_handle(self, name: str) -> str:
        """A handle that nobody has, made from a name. It must be taken in the same transaction."""
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[: _LONGEST_HANDLE - 4].strip("-") or "somebody"
        taken = {row["handle"] for row in self._database.rows("SELECT handle FROM people")}
        number = 1
        while (handle := base if number == 1 else f"{base}-{number}") in taken:
            number += 1
        return handle


def fit_handle(text: str) -> str:
    """A handle as it is stored. Raises BadContent for one that cannot be used."""
    handle = text.strip().lower()
    if not re.fullmatch(rf"[a-z0-9](?:[a-z0-9-]{{0,{_LONGEST_HANDLE - 2}}}[a-z0-9])?", handle):
        raise BadContent(
            f"“{text[:40]}” cannot be a handle.",
            f"One has up to {_LONGEST_HANDLE} letters from a to z, digits, and hyphens between them.",
        )
    return handle


def fit_email(text: str) -> str:
    """An address of e-mail in lower case, or "". Raises BadContent for what cannot be one."""
    address = text.strip().lower()
    if address and (len(address) > _LONGEST_EMAIL or not re.fullmatch(r"[^\s@<>\"]+@[^\s@<>\"]+", address)):
        raise BadContent(f"“{text[:40]}” is no address of e-mail.")
    return address
