"""`Conversation.polls`: votes on answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.voting import voting
from forky_core.conversation.voting.poll import (
    Poll,
    PollCandidate,
    Vote,
    poll_in,
    polls_in,
    vote_in,
    votes_in,
)
from forky_core.conversation.voting.shuffling import seen_by
from forky_core.conversation.voting.tally import Tally
from forky_core.model import MessageId, Operation
from forky_core.model.errors import NothingToDo


class Polls:
    """The polls of one conversation, for one person: blind votes on answers, and their results."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def all(self) -> tuple[Poll, ...]:
        """Every poll, newest first."""
        return polls_in(self._session.view)

    def get(self, number: int) -> Poll:
        """The poll with this number. Raises NotFound if there is none."""
        return poll_in(self._session.view, number)

    def open(
        self,
        candidates: Sequence[str] = (),
        *,
        title: str = "",
        criteria: Sequence[str] = (),
        blind: bool = True,
    ) -> Poll:
        """Open a poll on two to nine answers: siblings, or the heads of branches.

        `candidates` are message ids or names of branches; the default is the head of this branch and its siblings.
        `criteria` are what each answer can be scored by. Without `blind`, names and counts are seen while people vote.

        Raises:
            NotFound: there is no such message.
            BadContent: too few or too many candidates, one that is no answer, or a criterion that cannot be kept.
            InTheWay: an open poll asks the same already, or one of them is not shown any more.
        """
        ids = [self._message(one) for one in candidates] if candidates else self._siblings()
        return voting.open_poll(self._session, ids, title, criteria, blind=blind)

    def order(self, number: int) -> tuple[PollCandidate, ...]:
        """The candidates in the order in which this person sees them: the first is A, or key 1.

        From the reveal on everybody has the same.
        """
        return seen_by(self.get(number), self.voter)

    def vote(
        self,
        number: int,
        choice: str,
        *,
        note: str = "",
        scores: Mapping[str, Mapping[str, int]] | None = None,
    ) -> Operation:
        """Vote, or change this person's vote while the poll is open.

        `choice` is a letter or key as `order` gives them, a message id, "tie", or "bad" if no answer is good enough.
        `scores` gives candidates, named likewise, 1 to 5 by criterion.

        Raises:
            NotFound: there is no such poll.
            BadContent: the choice is none of its candidates, or a score or a note cannot be kept.
            InTheWay: the poll was revealed, or the chosen answer was removed meanwhile.
        """
        return voting.vote(self._session, number, choice, note, scores)

    def mine(self, number: int) -> Vote | None:
        """This person's vote; None if there is none yet."""
        return vote_in(self._session.view, number, self.voter)

    def voters(self, number: int) -> tuple[str, ...]:
        """Who has voted, in the order in which they did; not for what."""
        return tuple(one.person for one in votes_in(self._session.view, number))

    def tally(self, number: int) -> Tally:
        """The votes, counted. Raises NotAllowed if the poll hides them from this person."""
        return voting.count(self._session, number)

    def votes(self, number: int) -> tuple[Vote, ...]:
        """Everybody's votes with their notes; only this person's own while the poll hides them."""
        return voting.votes(self._session, number)

    def reveal(self, number: int) -> Operation:
        """Close the poll and show names, counts and votes. Raises InTheWay if it is revealed already."""
        return voting.reveal(self._session, number)

    @property
    def voter(self) -> str:
        """The name that this person's votes carry."""
        return voting.voter_of(self._session)

    def _message(self, name: str) -> MessageId:
        branch = self._session.view.branches.get(name)
        if branch is None:
            return self._session.message(name).id
        if branch.head is None:
            raise NothingToDo(f"“{name}” is empty.", "Ask something there first.")
        return branch.head

    def _siblings(self) -> tuple[MessageId, ...]:
        head = self._chat.branch.head
        if head is None:
            raise NothingToDo("There is no answer to vote on yet.", "Ask something first.")
        return self._session.visible.siblings(head)
