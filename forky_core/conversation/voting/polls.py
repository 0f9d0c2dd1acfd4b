"""`Conversation.polls`: votes on answers. Each verb is one operation in the log, with its author.

A vote writes only the voter's own entry and names the reveal as a condition, so that any number of people vote at once
without a conflict, and none of them after the reveal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.identity import now, title_line
from forky_core.conversation.session import short
from forky_core.conversation.transaction import after_races, with_a_free_key
from forky_core.conversation.validation import fit_text
from forky_core.conversation.voting.poll import (
    BAD,
    MARK,
    POLLS,
    TIE,
    Poll,
    PollCandidate,
    Vote,
    poll_in,
    poll_key,
    polls_in,
    reveal_key,
    vote_in,
    vote_key,
    votes_in,
)
from forky_core.conversation.voting.shuffling import seen_by
from forky_core.conversation.voting.tally import Tally, tally
from forky_core.conversation.voting.voting import (
    LONGEST_NOTE,
    MEMBER,
    called,
    candidate_named,
    candidate_of,
    fit_criteria,
    fit_scores,
    refuse_unfit,
    shared_question,
    voter_of,
)
from forky_core.model import MessageId, Operation
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NothingToDo
from forky_core.text.counting import counted


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
        session, ids = self._session, tuple(dict.fromkeys(ids))
        if len(ids) == 1 < len(candidates):
            raise BadContent(
                "These are one and the same answer, word by word: there is nothing to choose between.",
                "Choose answers that differ.",
            )
        line, named = title_line(title), fit_criteria(criteria)
        shown = session.visible.messages
        gone = next((id for id in ids if id not in shown), None)
        if gone is not None:
            raise InTheWay(f"The answer {short(gone)} was removed.", "Undo brings it back.")
        refuse_unfit([shown[id] for id in ids])
        made_by = [candidate_of(session, id) for id in ids]
        question = shared_question(ids, shown)

        def put() -> Poll:
            tx = session.require_not_trashed()
            known = polls_in(tx.view)
            same = next((one for one in known if one.open and set(one.messages) == set(ids)), None)
            if same is not None:
                raise InTheWay(f"Poll {same.number} asks that already.", "Vote in it, or reveal it first.")
            number = max((one.number for one in known), default=0) + 1
            poll = Poll(number, tuple(made_by), self.voter, now(), question, line, named, blind)
            tx.set(MARK, True)
            tx.set(poll_key(number), poll.stored())
            tx.publish("poll", f"Opened {called(poll)} on {len(ids)} answers")
            return poll

        return with_a_free_key(MARK, put)

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
        session, person = self._session, self.voter
        words = fit_text(note, "A note").strip()
        if len(words) > LONGEST_NOTE:
            raise BadContent(f"A note has at most {LONGEST_NOTE:,} characters; this one has {len(words):,}.")

        def put() -> Operation:
            tx = session.require_not_trashed()
            poll = poll_in(tx.view, number)
            if poll.revealed is not None:
                raise InTheWay(
                    f"{called(poll, begins=True)} was revealed by {session.name_of(poll.revealed.by)} and takes no more votes."
                )
            chosen = choice if choice in (TIE, BAD) else candidate_named(poll, person, choice)
            if chosen not in (TIE, BAD) and chosen not in session.visible.messages:
                raise InTheWay("That answer was removed meanwhile.", "Choose another one.")
            given = fit_scores(poll, person, scores or {})
            key = vote_key(number, person)
            changes = key in tx.view.entries
            tx.set(key, Vote(person, chosen, now(), words, given).stored())
            tx.require(poll_key(number))
            tx.require(reveal_key(number))
            return tx.publish(
                "vote", f"{person} {'changed a vote' if changes else 'voted'} in {called(poll)}"
            )

        return with_a_free_key(POLLS, put)

    def mine(self, number: int) -> Vote | None:
        """This person's vote; None if there is none yet."""
        return vote_in(self._session.view, number, self.voter)

    def voters(self, number: int) -> tuple[str, ...]:
        """Who has voted, in the order in which they did; not for what."""
        return tuple(one.person for one in votes_in(self._session.view, number))

    def tally(self, number: int) -> Tally:
        """The votes so far, counted. While a poll hides them, only the person who opened it may see the counts.

        Raises NotAllowed if they are hidden from this person.
        """
        view = self._session.view
        poll, votes = poll_in(view, number), votes_in(view, number)
        if poll.hidden and self.voter != poll.by:
            raise NotAllowed(
                f"The votes are hidden until {called(poll)} is revealed; {len(votes)} came in so far.",
                f"It was opened by {self._session.name_of(poll.by)}.",
            )
        return tally(poll, votes)

    def votes(self, number: int) -> tuple[Vote, ...]:
        """Everybody's votes with their notes; only this person's own while the poll hides them."""
        view = self._session.view
        poll, found = poll_in(view, number), votes_in(view, number)
        return tuple(one for one in found if one.person == self.voter) if poll.hidden else found

    def reveal(self, number: int) -> Operation:
        """Close the poll and show names, counts and votes to everybody.

        Raises:
            NotAllowed: somebody else of the team opened it.
            InTheWay: somebody has revealed it already.
        """
        session = self._session

        def put() -> Operation:
            tx = session.require_not_trashed()
            poll = poll_in(tx.view, number)
            if poll.revealed is not None:
                name = session.name_of(poll.revealed.by)
                raise InTheWay(f"{called(poll, begins=True)} was revealed by {name} already.")
            # Other names are no identity: whoever has the file itself may reveal a poll opened under one.
            if poll.by.startswith(MEMBER) and poll.by != self.voter:
                raise NotAllowed(f"Only {session.name_of(poll.by)} reveals {called(poll)}, having opened it.")
            tx.set(reveal_key(number), {"by": self.voter, "at": now()})
            tx.require(poll_key(number))
            voted = counted(len(votes_in(tx.view, number)), "vote")
            return tx.publish("reveal", f"Revealed {called(poll)} after {voted}")

        return after_races(put)

    @property
    def voter(self) -> str:
        """The name that this person's votes carry."""
        return voter_of(self._session)

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
