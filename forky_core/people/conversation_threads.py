"""The threads of one conversation, as one member may read and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from forky_core.conversation.people.authors import Authors
from forky_core.conversation.validation import fit_text
from forky_core.model import ConversationId, Message, MessageId
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound, NothingToDo
from forky_core.model.parts import TextPart
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.members import Member
from forky_core.people.mentions import handles_in, mentioned_in, readers_of
from forky_core.people.roles import Role
from forky_core.people.threads import UNDO, Comment, Thread, ThreadCount, ThreadEvent
from forky_core.store.deciding import no_conversation
from forky_core.views.times import stamp_utc

LONGEST_COMMENT = 10_000
"""The most characters of a comment."""
LONGEST_QUOTE = 500
"""The most characters of a message that a thread quotes."""
MOST_THREADS, MOST_COMMENTS = 2_000, 1_000
"""Threads of a conversation, and comments of a thread."""


class ConversationThreads:
    """The threads of a conversation for one member. Every method raises NotFound if they may not see it.

    Whoever sees the conversation reads its threads; from a commenter up one writes in them. Only the author of a
    comment changes it; they delete it, and so do owners of the conversation.
    """

    def __init__(self, store: GuardedStore, conversation: ConversationId) -> None:
        """`store` is that of the member who acts."""
        self._store = store
        self._access = store.access
        self._team = store.access.team
        self._conversation = conversation

    # Reading.

    @property
    def may_write(self) -> bool:
        """Whether the member may write in threads here."""
        return self._role >= Role.COMMENTER and not self._store.view(self._conversation).trashed

    @property
    def may_moderate(self) -> bool:
        """Whether the member may delete comments of others."""
        return self._role >= Role.OWNER

    @property
    def counts(self) -> Mapping[MessageId, ThreadCount]:
        """The number of threads at each message that has any."""
        self._require(Role.VIEWER)
        return self._team.threads.counts(self._conversation)

    def all(self) -> Sequence[Thread]:
        """Every thread, the oldest first."""
        self._require(Role.VIEWER)
        return [self._seen(thread) for thread in self._team.threads.of(self._conversation)]

    def on(self, message: MessageId) -> Sequence[Thread]:
        """The threads of one message, the oldest first."""
        self._require(Role.VIEWER)
        return [self._seen(thread) for thread in self._team.threads.of(self._conversation, message)]

    def thread(self, id: str) -> Thread:
        """The thread with this id. Raises NotFound if there is none here."""
        self._require(Role.VIEWER)
        return self._seen(self._thread(id))

    def events(self, *, after: int = 0) -> Sequence[ThreadEvent]:
        """What was done in threads, oldest first."""
        self._require(Role.VIEWER)
        return self._team.threads.events(self._conversation, after=after)

    @property
    def readers(self) -> Mapping[str, Member]:
        """Who can be mentioned here, by handle: everybody who may see the conversation."""
        self._require(Role.VIEWER)
        return readers_of(self._team, self._conversation)

    # Writing.

    def begin(self, message: str, text: str, *, quote: str = "") -> Thread:
        """Begin a thread on a message, or on words of it, and return it.

        Raises:
            NotFound: there is no such message.
            BadContent: the text is empty or too long, or the words are not in the message.
            NotAllowed: the member may only read here.
            InTheWay: the conversation is in the trash, or has too many threads.
        """
        words = self._writing(text)
        about = self._store.message(self._conversation, MessageId(message))
        quoted = _fit_quote(quote, about)
        with self._team.database.writing():
            if sum(one.open + one.resolved for one in self.counts.values()) >= MOST_THREADS:
                raise InTheWay(
                    f"A conversation has at most {MOST_THREADS:,} threads.", "Reply in one of them."
                )
            id = self._team.threads.begin(self._conversation, about.id, quoted, self._access.id, words)
            told = self._tell_mentioned(words, about.id, id)
            author = self._author_of(about.id)
            if author and author not in told:
                self._team.inbox.tell(
                    author,
                    "thread",
                    by=self._access.id,
                    conversation=self._conversation,
                    quote=words,
                    message=about.id,
                    thread=id,
                )
        return self.thread(id)

    def reply(self, thread: str, text: str) -> Thread:
        """Add a comment to a thread, which is open again then. Raises as `begin` does."""
        words = self._writing(text)
        with self._team.database.writing():
            found = self._thread(thread)
            if len(found.comments) >= MOST_COMMENTS:
                raise InTheWay(f"A thread has at most {MOST_COMMENTS:,} comments.", "Begin another one.")
            self._team.threads.reply(found, self._access.id, words)
            told = self._tell_mentioned(words, found.message, thread)
            for person in dict.fromkeys(comment.person for comment in found.comments):
                if person not in told:
                    self._team.inbox.tell(
                        person,
                        "reply",
                        by=self._access.id,
                        conversation=self._conversation,
                        quote=words,
                        message=found.message,
                        thread=thread,
                    )
        return self.thread(thread)

    def edit(self, thread: str, comment: str, text: str) -> None:
        """Change a comment of one's own. People who are newly mentioned get a notice.

        Raises:
            NotFound: there is no such comment, or it is deleted.
            NotAllowed: it is somebody else's, or the member may only read here.
            BadContent: the text is empty or too long.
            NothingToDo: it says that already.
        """
        words = self._writing(text)
        with self._team.database.writing():
            found, old = self._comment(thread, comment)
            if old.person != self._access.id:
                raise NotAllowed("Somebody else wrote this comment.", "Reply to it.")
            if old.deleted:
                raise NotFound("This comment was deleted.")
            if old.text == words:
                raise NothingToDo("The comment says that already.")
            self._team.threads.edit(found, old, words)
            self._tell_mentioned(words, found.message, thread, but=handles_in(old.text))

    def delete(self, thread: str, comment: str) -> None:
        """Delete a comment of one's own, or as an owner of the conversation somebody else's.

        Raises:
            NotFound: there is no such comment, or it is deleted.
            NotAllowed: it is somebody else's.
        """
        self._require(Role.COMMENTER)
        with self._team.database.writing():
            found, old = self._comment(thread, comment)
            if old.person != self._access.id and self._role < Role.OWNER:
                raise NotAllowed(
                    "Somebody else wrote this comment.", "They can delete it, and so can an owner."
                )
            if old.deleted:
                raise NotFound("This comment was deleted.")
            self._team.threads.delete(found, old, by=self._access.id)

    def undelete(self, thread: str, comment: str) -> None:
        """Take back that a comment of one's own was deleted, within a day.

        Raises:
            NotFound: there is no such comment, or its words are gone.
            NotAllowed: it is somebody else's.
        """
        self._require(Role.COMMENTER)
        self._team.threads.forget_deleted()
        with self._team.database.writing():
            found, old = self._comment(thread, comment)
            if old.person != self._access.id:
                raise NotAllowed("Somebody else wrote this comment.")
            if not old.deleted:
                raise NothingToDo("This comment was not deleted.")
            if not old.text:
                raise NotFound(
                    f"The words of this comment are gone, {UNDO // 3_600_000_000} hours after it was deleted."
                )
            self._team.threads.undelete(found, old)

    def resolve(self, thread: str, *, resolved: bool = True) -> None:
        """Close a thread, or open it again; it stays readable.

        Raises:
            NothingToDo: it is so already.
            NotAllowed: the member may only read here.
        """
        self._require(Role.COMMENTER)
        with self._team.database.writing():
            found = self._thread(thread)
            if bool(found.resolved) == resolved:
                raise NothingToDo(f"This thread is {'resolved' if resolved else 'open'} already.")
            self._team.threads.resolve(found, self._access.id, resolved=resolved)

    # What the methods above ask.

    @property
    def _role(self) -> Role:
        return self._access.role_in(self._conversation)

    def _require(self, role: Role) -> None:
        """Raises NotFound if the member may not see the conversation, NotAllowed if their role in it is too low."""
        if not self._role:
            raise no_conversation(self._conversation)
        if self._role < role:
            raise NotAllowed(
                f"You are {self._role.phrase} of this conversation; writing in a thread needs {role.phrase}.",
                "Ask whoever it belongs to.",
            )
        if role > Role.VIEWER and self._store.view(self._conversation).trashed:
            raise InTheWay("This conversation is in the trash.", "Take it back first.")

    def _writing(self, text: str) -> str:
        """The words as they are stored, of somebody who may write them here."""
        self._require(Role.COMMENTER)
        words = fit_text(text, "A comment").strip()
        if not words:
            raise BadContent("A comment needs some words.")
        if len(words) > LONGEST_COMMENT:
            raise BadContent(f"A comment has at most {LONGEST_COMMENT:,} characters.")
        return words

    def _thread(self, id: str) -> Thread:
        found = self._team.threads.find(self._conversation, id)
        if found is None:
            raise NotFound("There is no such thread in this conversation.")
        return found

    def _comment(self, thread: str, comment: str) -> tuple[Thread, Comment]:
        found = self._thread(thread)
        for one in found.comments:
            if one.id == comment:
                return found, one
        raise NotFound("There is no such comment in this thread.")

    def _seen(self, thread: Thread) -> Thread:
        """The thread as the member reads it: of what others have deleted the words are missing."""
        comments = tuple(
            replace(one, text="") if one.deleted and one.person != self._access.id else one
            for one in thread.comments
        )
        return replace(thread, comments=comments)

    def _tell_mentioned(
        self, text: str, message: MessageId, thread: str, *, but: Sequence[str] = ()
    ) -> set[str]:
        """Tell everybody whom a text mentions and who may see the conversation; the ids of those who were told."""
        told = set()
        for person in mentioned_in(self._team, self._conversation, text, but=but):
            if self._team.inbox.tell(
                person,
                "mention",
                by=self._access.id,
                conversation=self._conversation,
                quote=text,
                message=message,
                thread=thread,
            ):
                told.add(person)
        return told

    def _author_of(self, message: MessageId) -> str:
        """The id of the member who said a message; "" if it was nobody in particular."""
        authors = Authors()
        authors.add(self._store.operations(self._conversation))
        author = authors.of(message)
        return author if self._team.members.find(author) is not None else ""


def _fit_quote(quote: str, message: Message) -> str:
    """The quoted words as they are stored. Raises BadContent for words that the message does not have.

    A browser shows the message without its Markdown, so only letters and digits are compared.
    """
    words = " ".join(fit_text(quote, "A quotation").split())
    if not words:
        return ""
    if len(words) > LONGEST_QUOTE:
        words = words[: LONGEST_QUOTE - 1].rstrip() + "…"
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
    if not _signs(words) or _signs(words) not in _signs(text):
        raise BadContent("These words are not in the message.", "Select words of the message itself.")
    return words


def _signs(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def threads_file(
    title: str,
    threads: Iterable[Thread],
    name_of: Callable[[str], str],
    words_of: Callable[[MessageId], str],
) -> str:
    """Every thread with what it is about, who said what and when. `words_of` is how a message begins.

    What was deleted is left out. Everything that people wrote is quoted, so that none of it is read as a heading.
    """
    return "\n".join(_file_lines(title, threads, name_of, words_of))


def _file_lines(
    title: str,
    threads: Iterable[Thread],
    name_of: Callable[[str], str],
    words_of: Callable[[MessageId], str],
) -> Iterator[str]:
    yield f"# Threads of “{_one_line(title)}”"
    for number, thread in enumerate(threads, 1):
        said = [comment for comment in thread.comments if not comment.deleted]
        if not said:
            continue
        state = f"resolved {stamp_utc(thread.resolved)}" if thread.resolved else "open"
        yield ""
        yield f"## {number}, {state}, on message {thread.message.removeprefix('b2:')[:8]}"
        yield ""
        yield f"About: {_one_line(thread.quote or words_of(thread.message) or 'the whole message')}"
        for comment in said:
            edited = ", edited" if comment.edited else ""
            yield ""
            yield f"**{_one_line(name_of(comment.person))}**, {stamp_utc(comment.at)}{edited}:"
            yield ""
            yield from (f"> {line}" for line in comment.text.splitlines() or [""])
    yield ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
