"""The notices of people: who mentioned them, answered them, or shared something with them.

A notice belongs to one person. It has a sentence and an address, and at most a few words of what was written. Notices
about a conversation are there only while that person may see it: whoever loses the right to it loses them at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from forky_core.model import ConversationId
from forky_core.model.parts import canonical_json
from forky_core.people.database import TeamDatabase, now
from forky_core.people.members import Members
from forky_core.people.sharing import Sharing

NoticeKind = Literal[
    "mention",
    "reply",
    "thread",
    "review",
    "comment",
    "approved",
    "changes",
    "withdrawn",
    "landed",
    "declined",
    "shared",
    "handed over",
    "role",
    "added",
]
KEPT = 500
"""Notices of a person that are kept; the oldest go first."""
QUOTED = 120
"""The most characters of what somebody wrote that a notice quotes."""
_TITLE = 80
_MOST_COUNTED = 2_000
"""People whose unread notices are kept counted."""
_SENTENCES: Mapping[NoticeKind, str] = {
    "mention": "{who} mentioned you in {where}.",
    "reply": "{who} replied in a thread of {where}.",
    "thread": "{who} began a thread on your message in {where}.",
    "review": "{who} asks for a review, request {number} in {where}.",
    "comment": "{who} commented on request {number} in {where}.",
    "approved": "{who} approved your request {number} in {where}.",
    "changes": "{who} asks for changes to your request {number} in {where}.",
    "withdrawn": "{who} took their review of your request {number} in {where} back.",
    "landed": "{who} brought in your request {number} in {where}.",
    "declined": "{who} declined your request {number} in {where}.",
    "shared": "{who} shared {where} with you; you are {role} of it.",
    "handed over": "{who} handed {where} over to you.",
    "role": "{who} made you {role} of this workspace.",
    "added": "{who} added you to this workspace; you are {role} of it.",
}
_AUDITED: Mapping[str, NoticeKind] = {
    "shared": "shared",
    "handed over": "handed over",
    "role changed": "role",
}
"""Events of the audit log that are news to the person they are about."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice for one person."""

    person: str
    """Whose it is, by id."""
    kind: NoticeKind
    sentence: str
    address: str
    """Where it leads: a path of this server, with its query."""
    at: int
    """Microseconds since the epoch, UTC."""
    number: int = 0
    """Later ones have higher numbers."""
    quote: str = ""
    """The first words of what was written; "" if nothing was."""
    read: bool = False


class Inbox:
    """The notices of one workspace."""

    def __init__(
        self,
        database: TeamDatabase,
        members: Members,
        sharing: Sharing,
        workspace: str,
    ) -> None:
        self._database = database
        self._members = members
        self._sharing = sharing
        self._workspace = workspace
        self._counted: dict[str, tuple[int, int]] = {}
        """The number of unread notices of people, each with the version of the database that it is from."""
        self.changed: Callable[[str], None] = lambda _person: None
        """Called with the id of a person whose notices have changed, after it was written."""
        self.title_of: Callable[[ConversationId], str] = lambda _conversation: ""
        """Returns the title of a conversation, or "" where none can be read."""

    # Reading. Each of these is for the person whose id is given, and shows only what they may see now.

    def of(self, person: str, *, unread: bool = False, most: int = 100, after: int = 0) -> Sequence[Notice]:
        """The notices of a person with a number above `after`, newest first."""
        visible = self._sharing.roles_in(person)
        rows = self._database.rows(
            "SELECT * FROM notices WHERE workspace = ? AND person = ? AND read <= ? AND number > ? "
            "ORDER BY number DESC",
            self._workspace,
            person,
            0 if unread else 1,
            after,
        )
        if not self._members.role_of(person):
            return []
        seen = [row for row in rows if not row["conversation"] or row["conversation"] in visible]
        return [self._notice(row) for row in seen[:most]]

    def unread(self, person: str) -> int:
        """The number of unread notices of a person."""
        version = self._database.version
        known = self._counted.get(person)
        if known is None or known[0] != version:
            if len(self._counted) > _MOST_COUNTED:
                self._counted.clear()
            known = self._counted[person] = (version, self._count(person))
        return known[1]

    def _count(self, person: str) -> int:
        if not self._members.role_of(person):
            return 0
        visible = self._sharing.roles_in(person)
        rows = self._database.rows(
            "SELECT conversation, count(*) AS unread FROM notices WHERE workspace = ? AND person = ? AND read = 0 "
            "GROUP BY conversation",
            self._workspace,
            person,
        )
        return sum(row["unread"] for row in rows if not row["conversation"] or row["conversation"] in visible)

    def mark(self, person: str, number: int, *, read: bool = True) -> None:
        """Mark one notice of a person as read or as unread; one of somebody else stays as it is."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE notices SET read = ? WHERE number = ? AND person = ?", (int(read), number, person)
            )
            self._database.afterwards(lambda: self.changed(person))

    def mark_all(self, person: str) -> None:
        """Mark every notice of a person as read."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE notices SET read = 1 WHERE workspace = ? AND person = ?", (self._workspace, person)
            )
            self._database.afterwards(lambda: self.changed(person))

    def mark_threads(self, person: str, threads: Sequence[str]) -> None:
        """Mark a person's notices about these threads as read, because they are looking at the threads."""
        rows = self._database.rows(
            "SELECT number, about FROM notices WHERE workspace = ? AND person = ? AND read = 0",
            self._workspace,
            person,
        )
        shown = [row["number"] for row in rows if json.loads(row["about"]).get("thread") in threads]
        if shown:
            with self._database.writing():
                for number in shown:
                    self.mark(person, number)

    # Writing.

    def tell(
        self,
        person: str,
        kind: NoticeKind,
        *,
        by: str = "",
        conversation: ConversationId | None = None,
        quote: str = "",
        **about: str | int,
    ) -> bool:
        """Give a person a notice, unless they caused it or may not see what it is about. Returns whether they got it.

        `about` says where it leads: the `message`, `thread` or `request`, and the `role` that they were given. Within
        a transaction of the database it is part of that.
        """
        if person == by or not self._members.role_of(person):
            return False
        if conversation is not None and not self._sharing.role_in(conversation, person):
            return False
        title = _shortened(self.title_of(conversation), _TITLE) if conversation is not None else ""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO notices (workspace, person, kind, conversation, cause, quote, title, about, at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._workspace,
                    person,
                    kind,
                    conversation or "",
                    by,
                    _shortened(quote, QUOTED),
                    title,
                    canonical_json(about),
                    now(),
                ),
            )
            connection.execute(
                "DELETE FROM notices WHERE person = ? AND number <= "
                "(SELECT number FROM notices WHERE person = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (person, person, KEPT),
            )
            self._database.afterwards(lambda: self.changed(person))
        return True

    def note_audited(self, event: str, by: str, about: Mapping[str, str | int]) -> None:
        """Give a person a notice of an audited event that concerns them: a share, a hand-over or another role."""
        kind = _AUDITED.get(event)
        if kind is None:
            return
        id = about.get("conversation")
        conversation = ConversationId(str(id)) if id is not None else None
        self.tell(
            str(about.get("member", "")),
            kind,
            by=by,
            conversation=conversation,
            role=str(about.get("role", "")),
        )

    def forget(self, conversation: ConversationId) -> None:
        """Forget every notice about a conversation that is gone for good."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM notices WHERE workspace = ? AND conversation = ?",
                (self._workspace, conversation),
            )

    def _notice(self, row: object) -> Notice:
        found = dict(row)  # type: ignore[call-overload]
        about = json.loads(found["about"])
        conversation = ConversationId(found["conversation"])
        title = (_shortened(self.title_of(conversation), _TITLE) if conversation else "") or found["title"]
        return Notice(
            found["person"],
            found["kind"],
            _sentence(found["kind"], self._members.name_of(found["cause"]), title, about),
            _address(found["kind"], conversation, about),
            found["at"],
            found["number"],
            found["quote"],
            bool(found["read"]),
        )


def _sentence(kind: NoticeKind, name: str, title: str, about: Mapping[str, str | int]) -> str:
    who, where = name or "Somebody", f"“{title or 'Untitled'}”"
    role = str(about.get("role", ""))
    if kind == "role" and not name:
        return f"You are {_an(role)} of this workspace now."
    return _SENTENCES[kind].format(who=who, where=where, role=_an(role), number=about.get("request", ""))


def _an(role: str) -> str:
    return f"{'an' if role[:1] in 'aeiou' else 'a'} {role}"


def _address(kind: NoticeKind, conversation: ConversationId, about: Mapping[str, str | int]) -> str:
    if kind in {"role", "added"}:
        return "/people"
    if "request" in about:
        return "/merge?" + urlencode(
            {"c": conversation, "b": about.get("branch", ""), "request": about["request"]}
        )
    place: dict[str, str] = {"c": conversation}
    if message := str(about.get("message", "")):
        place["m"] = message.removeprefix("b2:")
    if thread := about.get("thread"):
        place["thread"] = str(thread)
    if kind == "shared":
        place["so_far"] = "1"
    return "/?" + urlencode(place)


def _shortened(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
