"""One value for whoever looks at a page or sends a request: what they may do, their name, and what waits for them.

The pages of the app know nothing else of a team. Somebody who is alone on their machine is the owner of everything, so
that the same code serves both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

from forky_core.conversation.allowance.book import Book
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import free_name, suggested_name
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, ConversationSummary
from forky_core.people.access import Access
from forky_core.people.administration import Administration
from forky_core.people.allowance_desk import AllowanceDesk
from forky_core.people.conversation_sharing import ConversationSharing
from forky_core.people.conversation_threads import ConversationThreads
from forky_core.people.export_audit import note_tables, noted
from forky_core.people.former_features import NO_LONGER_PROTECTED, formerly_protected, no_longer_used
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.inbox import Inbox
from forky_core.people.last_seen import Seen
from forky_core.people.members import Member
from forky_core.people.news import News, news_in, news_since
from forky_core.people.review_lists import ReviewLists, review_lists
from forky_core.people.roles import Role
from forky_core.people.sharing import SharingMark, Whose, belongs_here, mark_of
from forky_core.store.contract import Store

Verb = Literal["begin", "offer", "operate", "fork", "edit", "own"]
"""Of the workspace: begin conversations and bring some along; offer documents to everybody; decide about models, keys
and storage. Of a conversation: make branches of one's own; change all of it; erase it and delete it for good.
"""
_NEEDED: Mapping[Verb, Role] = {
    "begin": Role.COMMENTER,
    "offer": Role.EDITOR,
    "operate": Role.OWNER,
    "fork": Role.COMMENTER,
    "edit": Role.EDITOR,
    "own": Role.OWNER,
}

_alone: WeakKeyDictionary[Store, tuple[tuple[int, str], ReviewLists]] = WeakKeyDictionary()
"""What waits for somebody alone, by the state of the store that it was worked out for."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """What one person may do and is shown. `Viewer()` is alone on their machine and may do everything."""

    store: GuardedStore | None = None
    """The store as they may use it."""
    session: str = ""
    """The id of the session by which they are signed in; "" where that is not known, or nobody signs in."""

    @property
    def alone(self) -> bool:
        """Whether there is no team. What is said below to be of a team's member must not be asked then."""
        return self.store is None

    @property
    def id(self) -> str:
        """The id of the person; "" of somebody alone."""
        return "" if self.store is None else self.store.access.id

    @property
    def me(self) -> Member:
        """The member as they are now. Raises NotFound if they were forgotten."""
        return self.access.member

    def name_of(self, actor: str) -> str:
        """The name of a person by their id; any other text unchanged."""
        return actor if self.alone else self.access.team.members.name_of(actor)

    # What they may do.

    def may(self, verb: Verb, conversation: ConversationId | None = None) -> bool:
        """Whether they may do this in the workspace, or in the conversation that is named."""
        if self.alone:
            return True
        role = self.access.role if conversation is None else self.access.role_in(conversation)
        return role >= _NEEDED[verb]

    def why_not(self, verb: Verb, what: str) -> str:
        """Who may do something in the workspace, as a sentence; "" if they may. `what` says it as “make tokens”."""
        who = _NEEDED[verb].and_above.capitalize()
        return "" if self.may(verb) else f"{who} of this workspace {what}."

    def may_write(self, chat: Conversation, branch: str) -> bool:
        """Whether they may change a branch directly, by asking on it or by a merge without a request."""
        return self.may("edit", chat.id) or (
            self.may("fork", chat.id) and branch.startswith(f"{self.me.handle}/")
        )

    def why_only_reads(self, chat: Conversation) -> str:
        """Why they may read a conversation and write nothing in it, as a sentence; "" if they may write."""
        if self.may("fork", chat.id):
            return ""
        owner = self.access.owner_of(chat.id)
        whom = f"{owner}, whom it belongs to" if owner else "an owner of this workspace"
        return f"You can read this conversation. To write in it, ask {whom}."

    def fork_name(self, chat: Conversation, text: str, *, own: bool) -> str | None:
        """The name of a new branch on which they may write, for what is sent; None for one that is made from the text.

        `own` makes one below their handle.
        """
        taken = chat.view.branches
        if self.alone or (not own and self.may_write(chat, suggested_name(text, taken))):
            return None
        return free_name(f"{self.me.handle}/{suggested_name(text, ())}", taken)

    # What they are shown.

    def listed(
        self, everything: Sequence[ConversationSummary], whose: Whose
    ) -> Sequence[ConversationSummary]:
        """Those of the conversations that they ask for; all of them to somebody alone."""
        if self.alone:
            return everything
        shared = self.access.shared
        return [one for one in everything if belongs_here(shared.get(one.id), self.id, whose)]

    def mark(self, conversation: ConversationId) -> SharingMark | None:
        """Whose a conversation is and who sees it; None if that is recorded nowhere, or there is no team."""
        shared = None if self.alone else self.access.shared.get(conversation)
        return mark_of(shared, self.id, self.name_of) if shared is not None else None

    def no_longer_protected(self, conversation: ConversationId) -> str:
        """A sentence about protection of branches that an earlier version had here; "" where there was none."""
        if self.alone:
            return ""
        team = self.access.team
        return (
            NO_LONGER_PROTECTED if conversation in formerly_protected(team.database, team.workspace) else ""
        )

    # What is new to them, and what waits for them.

    @property
    def inbox(self) -> Inbox:
        """The notices of the team, each read by its person's id."""
        return self.access.team.inbox

    def reviews(self, forky: Workspace) -> ReviewLists:
        """The merge requests that wait for their answer, and their own. `forky` is theirs.

        They are worked out anew when a conversation or a role has changed.
        """
        if self.alone:
            key = (forky.moved, forky.actor)
            known = _alone.get(forky.store)
            if known is None or known[0] != key:
                known = _alone[forky.store] = (key, review_lists(forky, None))
            return known[1]
        access, named = self.access, ("reviews", self.id, forky.moved)
        return access.team.database.made(named, lambda: review_lists(forky, access))

    def unread(self, forky: Workspace) -> int:
        """How many notices they have not read; of somebody alone, the requests that wait for them."""
        return len(self.reviews(forky).to_review) if self.alone else self.inbox.unread(self.id)

    def seen(self, conversation: ConversationId) -> Seen | None:
        """How far they have seen a conversation; None if they have never looked at it."""
        return self.access.team.seen.of(self.id, conversation)

    def note_seen(self, conversation: ConversationId, operation: int, event: int) -> None:
        """Record that they have seen a conversation up to this operation and this event of its threads."""
        self.access.team.seen.note(self.id, conversation, operation, event)

    def news_since(self, conversation: ConversationId, seen: Seen) -> News:
        """What others did in a conversation that they have seen so far."""
        return news_since(self.access.team, self.id, conversation, seen, self._guarded)

    def news_in(self, listed: Iterable[tuple[ConversationId, int]]) -> Mapping[ConversationId, int]:
        """How much is new in those of these conversations where something is, given with the time of the last
        operation; 0 for one that they have never opened and did not begin. Nothing is new to somebody alone.
        """
        if self.alone:
            return {}
        shared = self.access.shared
        found = news_in(self.access.team, self.id, listed, self._guarded)
        return {
            id: news.count if news is not None else 0
            for id, news in found.items()
            # What one has begun oneself, as by an import, is nothing new.
            if news is not None or (id in shared and shared[id].owner != self.id)
        }

    # What they do beside the conversations, as members of a team.

    def threads(self, conversation: ConversationId) -> ConversationThreads:
        """The threads of a conversation as they may read and write them."""
        return ConversationThreads(self._guarded, conversation)

    def threads_version(self, conversation: ConversationId) -> int | None:
        """The number of the last event of a conversation's threads; None where there is no team."""
        return None if self.alone else self.access.team.threads.version(conversation)

    def sharing(self, conversation: ConversationId) -> ConversationSharing:
        """With whom a conversation is shared, as they may see and change it."""
        return ConversationSharing(self.access, conversation)

    @property
    def administration(self) -> Administration:
        """The people of the workspace as they may see and change them."""
        return Administration(self.access)

    def spending(self, book: Book) -> AllowanceDesk:
        """Allowances as they may see and change them. `book` has the accounts of the workspace."""
        return AllowanceDesk(self.access, book)

    def no_longer_used(self) -> Sequence[str]:
        """A sentence for each thing of an earlier version that concerns them and is not used any more."""
        return () if self.alone else no_longer_used(self.access)

    # The audit log.

    def noted(
        self, pieces: Iterable[bytes], conversation: ConversationId, form: str, thing: str = ""
    ) -> Iterator[bytes]:
        """The pieces of a file in which a conversation leaves; it is noted when the first one is taken."""
        return iter(pieces) if self.store is None else noted(pieces, self.store, conversation, form, thing)

    def note_tables(self, form: str) -> None:
        """Note that they take the tables for analysis along."""
        if self.store is not None:
            note_tables(self.store, form)

    @property
    def _guarded(self) -> GuardedStore:
        assert self.store is not None, "this is asked of members of a team only"
        return self.store

    @property
    def access(self) -> Access:
        """Their rights as a member of the team."""
        return self._guarded.access
