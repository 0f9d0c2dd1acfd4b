"""Threads: what people say to each other about a message or about a line of it, beside the conversation.

No model reads them, no export has them unless somebody asks for it, and undo in the conversation leaves them as they
are (docs/design/threads-live-beside-the-conversations.md). What was done is in a log of its own, without its words.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.model import ConversationId, MessageId
from forky_core.people.database import TeamDatabase, now

EventKind = Literal["began", "replied", "edited", "deleted", "undeleted", "resolved", "reopened"]
UNDO = 24 * 3600 * 1_000_000
"""Microseconds in which the author of a deleted comment can take it back; after them its words are gone for good."""
_MOST_COUNTED = 500
"""Conversations whose threads are kept counted."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment in a thread."""

    id: str
    person: str
    """Who said it, by id."""
    text: str
    """"" once it is deleted, for everybody but its author."""
    at: int
    """Microseconds since the epoch, UTC."""
    edited: int
    """When it was changed last; 0 if it never was."""
    deleted: int
    """When it was deleted; 0 if it was not."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A discussion of one message."""

    id: str
    conversation: ConversationId
    message: MessageId
    quote: str
    """The words of the message that it is about, as they stood there; "" for the whole message."""
    begun: int
    resolved: int
    """When it was resolved; 0 while it is open."""
    comments: tuple[Comment, ...]
    """Oldest first; the first one began it."""


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """One line of the log of threads: who did what, without its words."""

    number: int
    thread: str
    message: MessageId
    at: int
    person: str
    event: EventKind


@dataclass(frozen=True, slots=True)
class ThreadCount:
    """The number of threads at a message."""

    open: int
    resolved: int


class Threads:
    """The threads of one workspace. conversation_threads.py asks whether somebody may read or write one."""

    def __init__(self, database: TeamDatabase, workspace: str, clock: Callable[[], int] = now) -> None:
        self._database = database
        self._workspace = workspace
        self._clock = clock
        self._counted: dict[str, tuple[int, Mapping[MessageId, ThreadCount]]] = {}
        """Counts of conversations, each with the version of the database that they are from."""
        self.changed: Callable[[str], None] = lambda _conversation: None
        """Called with the id of a conversation whose threads have changed, after it was written."""

    # Reading.

    def of(self, conversation: ConversationId, message: MessageId | None = None) -> Sequence[Thread]:
        """The threads of a conversation, or of one message of it, the oldest first."""
        self.forget_deleted()
        rows = self._database.rows(
            "SELECT * FROM threads WHERE workspace = ? AND conversation = ? AND (? = '' OR message = ?) ORDER BY begun, id",
            self._workspace,
            conversation,
            message or "",
            message or "",
        )
        comments: dict[str, list[Comment]] = {}
        for row in self._database.rows(
            "SELECT c.thread, c.id, c.person, c.text, c.at, c.edited, c.deleted FROM thread_comments c JOIN threads t ON t.id = c.thread "
            "WHERE t.workspace = ? AND t.conversation = ? AND (? = '' OR t.message = ?) ORDER BY c.number",
            self._workspace,
            conversation,
            message or "",
            message or "",
        ):
            fields = dict(row)
            comments.setdefault(fields.pop("thread"), []).append(Comment(**fields))
        return [
            Thread(
                row["id"],
                conversation,
                MessageId(row["message"]),
                row["quote"],
                row["begun"],
                row["resolved"],
                tuple(comments.get(row["id"], ())),
            )
            for row in rows
        ]

    def find(self, conversation: ConversationId, thread: str) -> Thread | None:
        """The thread with this id in a conversation; None if there is none."""
        row = self._database.row(
            "SELECT message FROM threads WHERE workspace = ? AND conversation = ? AND id = ?",
            self._workspace,
            conversation,
            thread,
        )
        found = self.of(conversation, MessageId(row["message"])) if row is not None else ()
        return next((one for one in found if one.id == thread), None)

    def counts(self, conversation: ConversationId) -> Mapping[MessageId, ThreadCount]:
        """The number of threads at each message of a conversation that has any."""
        version = self._database.version
        known = self._counted.get(conversation)
        if known is not None and known[0] == version:
            return known[1]
        rows = self._database.rows(
            "SELECT message, sum(CASE resolved WHEN 0 THEN 1 ELSE 0 END), sum(CASE resolved WHEN 0 THEN 0 ELSE 1 END) FROM threads "
            "WHERE workspace = ? AND conversation = ? GROUP BY message",
            self._workspace,
            conversation,
        )
        found = {MessageId(message): ThreadCount(open, resolved) for message, open, resolved in rows}
        if len(self._counted) >= _MOST_COUNTED:
            self._counted.clear()
        self._counted[conversation] = (version, found)
        return found

    def events(self, conversation: ConversationId, *, after: int = 0) -> Sequence[ThreadEvent]:
        """The log of a conversation's threads, oldest first, with numbers above `after`."""
        rows = self._database.rows(
            "SELECT number, thread, message, at, person, event FROM thread_events "
            "WHERE workspace = ? AND conversation = ? AND number > ? ORDER BY number",
            self._workspace,
            conversation,
            after,
        )
        return [
            ThreadEvent(number, thread, MessageId(message), at, person, event)
            for number, thread, message, at, person, event in rows
        ]

    def version(self, conversation: ConversationId) -> int:
        """The number of the last event of a conversation's threads; 0 if there was none."""
        ((last,),) = self._database.known(
            "SELECT max(number) FROM thread_events WHERE workspace = ? AND conversation = ?",
            self._workspace,
            conversation,
        )
        return int(last or 0)

    def forget_deleted(self) -> None:
        """Empty the words of comments that were deleted more than `UNDO` ago."""
        long_ago = self._clock() - UNDO
        gone = "deleted > 0 AND deleted < ? AND text <> ''"
        if self._database.row(f"SELECT 1 FROM thread_comments WHERE {gone} LIMIT 1", long_ago) is not None:  # noqa: S608 - a fixed text
            with self._database.writing() as connection:
                connection.execute(f"UPDATE thread_comments SET text = '' WHERE {gone}", (long_ago,))  # noqa: S608 - a fixed text

    # Writing. Each belongs to a transaction of the database that goes on, if there is one.

    def begin(
        self, conversation: ConversationId, message: MessageId, quote: str, person: str, text: str
    ) -> str:
        """Begin a thread and return its id."""
        thread = secrets.token_hex(8)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, 0)",
                (thread, self._workspace, conversation, message, quote, self._clock()),
            )
            self._insert(thread, person, text)
            self._log(conversation, thread, message, person, "began")
        return thread

    def reply(self, thread: Thread, person: str, text: str) -> str:
        """Add a comment to a thread, which is open again then, and return the comment's id."""
        with self._database.writing() as connection:
            connection.execute("UPDATE threads SET resolved = 0 WHERE id = ?", (thread.id,))
            comment = self._insert(thread.id, person, text)
            self._log(thread.conversation, thread.id, thread.message, person, "replied")
        return comment

    def edit(self, thread: Thread, comment: Comment, text: str) -> None:
        """Change the words of a comment."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE thread_comments SET text = ?, edited = ? WHERE id = ?",
                (text, self._clock(), comment.id),
            )
            self._log(thread.conversation, thread.id, thread.message, comment.person, "edited")

    def delete(self, thread: Thread, comment: Comment, *, by: str) -> None:
        """Delete a comment. Its author can take that back within a day; one that another deletes is gone at once."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE thread_comments SET deleted = ?, text = ? WHERE id = ?",
                (self._clock(), comment.text if by == comment.person else "", comment.id),
            )
            self._log(thread.conversation, thread.id, thread.message, by, "deleted")

    def undelete(self, thread: Thread, comment: Comment) -> None:
        """Bring a deleted comment back."""
        with self._database.writing() as connection:
            connection.execute("UPDATE thread_comments SET deleted = 0 WHERE id = ?", (comment.id,))
            self._log(thread.conversation, thread.id, thread.message, comment.person, "undeleted")

    def resolve(self, thread: Thread, person: str, *, resolved: bool) -> None:
        """Close a thread, or open it again."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE threads SET resolved = ? WHERE id = ?", (self._clock() if resolved else 0, thread.id)
            )
            event: EventKind = "resolved" if resolved else "reopened"
            self._log(thread.conversation, thread.id, thread.message, person, event)

    def forget(self, conversation: ConversationId) -> None:
        """Forget the threads of a conversation that is gone for good, with their log."""
        with self._database.writing() as connection:
            for table in ("threads", "thread_events"):
                connection.execute(
                    f"DELETE FROM {table} WHERE workspace = ? AND conversation = ?",  # noqa: S608 - fixed names
                    (self._workspace, conversation),
                )

    def _insert(self, thread: str, person: str, text: str) -> str:
        comment = secrets.token_hex(8)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO thread_comments (id, thread, person, text, at) VALUES (?, ?, ?, ?, ?)",
                (comment, thread, person, text, self._clock()),
            )
        return comment

    def _log(
        self,
        conversation: ConversationId,
        thread: str,
        message: MessageId,
        person: str,
        event: EventKind,
    ) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO thread_events (workspace, conversation, thread, message, at, person, event) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self._workspace, conversation, thread, message, self._clock(), person, event),
            )
            self._database.afterwards(lambda: self.changed(conversation))
