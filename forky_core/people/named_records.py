"""Refuses changes in somebody else's name to merge requests, polls and votes.

A view holds who asked for a merge, commented, answered, opened a poll, voted and revealed it. The verbs write the
person who acts; a commit that is made without them may write anybody. The guarded store asks this module of each
commit, so that these records mean what they say, whoever writes them and by whatever verb.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from forky_core.conversation.merging.merge_request import REQUESTS, MergeRequest, renamed_in
from forky_core.conversation.voting.poll import BAD, POLLS, TIE, Poll, Vote
from forky_core.formats.forky_file.entries import check_entry
from forky_core.formats.forky_file.lines import BadLine
from forky_core.model import Change, ConversationId, MessageId
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound
from forky_core.model.parts import Json
from forky_core.people.members import ID_PREFIX
from forky_core.people.needed_roles import needed_on_branch
from forky_core.people.roles import Role
from forky_core.store.contract import Commit, Store
from forky_core.store.deciding import as_stored

_HEADS = "heads/"
_VOTES = "votes/"
_SOMEBODY = "somebody (imported)"
_PERSON = re.compile(rf"{ID_PREFIX}[0-9a-f]{{16}}")


@dataclass(frozen=True, slots=True)
class NamedRecords:
    """Checks the commits of one person to one conversation."""

    store: Store
    """The whole one, unguarded."""
    conversation: ConversationId
    actor: str
    """The person's id, which their records carry."""
    handle: str
    """The one that their own branches begin with."""
    role: Role
    """Their role in the conversation."""
    written: Collection[MessageId] = ()
    """The messages that are written with the commit, or before it."""

    def checked(self, commit: Commit) -> Commit:
        """Return the commit, extended so that it fails if what was checked changes first.

        Raises:
            NotAllowed: it speaks in somebody else's name, or changes what is theirs to change.
            InTheWay: it votes in a poll that has been revealed.
            BadContent: a value has not the form that its key asks for.
        NotFound: a branch, a tag or something kept would stand at a message that is not there.
        """
        required: list[Change] = []
        for change in commit.changes:
            if change.before == change.after:
                continue
            if change.key.startswith(POLLS):
                required += self._reveal_required(commit, change)
            try:
                self._check(commit, change)
            except (NotAllowed, BadContent, NotFound):
                if not self._brings_back(change):
                    raise
        return replace(commit, changes=(*commit.changes, *required)) if required else commit

    def _check(self, commit: Commit, change: Change) -> None:
        check_values(self.store, self.conversation, (change,), self.written)
        if change.key.startswith(REQUESTS):
            self._check_request(commit, change)
        elif change.key.startswith(POLLS):
            number, _, rest = change.key.removeprefix(POLLS).partition("/")
            if rest.startswith(_VOTES):
                self._check_vote(commit, change, number, rest.removeprefix(_VOTES))
            else:
                self._check_poll(change, "The end of a poll" if rest else "A poll")

    # Merge requests.

    def _check_request(self, commit: Commit, change: Change) -> None:
        old = _request(change.key, change.before) if change.before is not None else None
        if change.after is None:
            if old is None or not self._owns(old):
                raise _not_theirs()
            return
        new = _request(change.key, change.after)
        if old is None:
            is_open = new.state == "open" and not new.answered_by
            if not is_open or not all(self._may_name(by) for by in (new.by, *(c.by for c in new.comments))):
                raise _forged("A merge request")
            return
        if new.by != old.by:
            raise _forged("A merge request")
        self._check_comments(old, new)
        if _proposal(new) != _proposal(old) and not (
            self._owns(old) or self._follows_rename(commit, old, new)
        ):
            raise _not_theirs()
        self._check_answer(commit, old, new)

    def _check_comments(self, old: MergeRequest, new: MergeRequest) -> None:
        """Nobody changes, removes or writes a comment of somebody else."""
        theirs = tuple(one for one in old.comments if one.by != self.actor)
        kept = tuple(one for one in new.comments if one.by != self.actor)
        if kept[: len(theirs)] != theirs or not all(self._may_name(one.by) for one in kept[len(theirs) :]):
            raise _forged("A comment")

    def _check_answer(self, commit: Commit, old: MergeRequest, new: MergeRequest) -> None:
        if (new.state, new.answered_by) == (old.state, old.answered_by):
            return
        if old.answered_by == self.actor and (new.state, new.answered_by) == ("open", ""):
            return
        if old.state != "open" or not self._may_name(new.answered_by):
            raise _forged("The answer to a merge request")
        if new.state == "accepted":
            landing = f"{_HEADS}{old.into}"
            if not any(one.key == landing and one.before != one.after for one in commit.changes):
                raise NotAllowed("A request is accepted by bringing in what it proposes.")
        elif not self._owns(old) and needed_on_branch(old.into, self.handle) > Role.COMMENTER:
            raise _not_theirs()

    def _owns(self, request: MergeRequest) -> bool:
        return self.role >= Role.EDITOR or request.by == self.actor

    def _follows_rename(self, commit: Commit, old: MergeRequest, new: MergeRequest) -> bool:
        """Whether a request only has another name for a branch that the same commit renames."""
        heads = [one for one in commit.changes if one.key.startswith(_HEADS)]
        gone = {one.key.removeprefix(_HEADS): one.before for one in heads if one.after is None}
        made = {one.key.removeprefix(_HEADS): one.after for one in heads if one.before is None}
        return any(
            head == place and renamed_in(old, name, other) == new
            for name, head in gone.items()
            for other, place in made.items()
        )

    # Polls.

    def _check_poll(self, change: Change, what: str) -> None:
        """A poll and its end are written once."""
        by = change.after.get("by") if isinstance(change.after, Mapping) else None
        if change.before is not None or not isinstance(by, str) or not self._may_name(by):
            raise _forged(what)

    def _check_vote(self, commit: Commit, change: Change, number: str, person: str) -> None:
        """A vote is the voter's own, and for what the poll offers."""
        if not self._may_name(person):
            raise _forged("A vote")
        if change.after is None:
            return
        asked = self._entry_with(commit, f"{POLLS}{number}")
        # A log that an editor imports brings its polls in the commits before their votes.
        if asked is not None or self.role < Role.EDITOR:
            _check_choice(number, asked, Vote.from_stored(person, change.after))

    def _reveal_required(self, commit: Commit, change: Change) -> Iterator[Change]:
        """For a vote: the poll is not revealed, and is not by the time at which the store writes."""
        number, _, rest = change.key.removeprefix(POLLS).partition("/")
        if not rest.startswith(_VOTES):
            return
        key = f"{POLLS}{number}/revealed"
        if self._entry_with(commit, key) is not None and self._entry(key) is not None:
            raise InTheWay("This poll was revealed and takes no more votes.")
        if not any(one.key == key for one in commit.changes):
            yield Change(key, None, None)

    # What both ask.

    def _may_name(self, person: str) -> bool:
        """Whether a new record may carry this name: one's own. A file that an editor imports may have names of people
        elsewhere, who are nobody here.
        """
        return person == self.actor or (self.role >= Role.EDITOR and not person.startswith(ID_PREFIX))

    def _entry(self, key: str) -> Json | None:
        return self.store.view(self.conversation).entries.get(key)

    def _entry_with(self, commit: Commit, key: str) -> Json | None:
        """What stands under a key once the commit is made."""
        return next((one.after for one in reversed(commit.changes) if one.key == key), self._entry(key))

    def _brings_back(self, change: Change) -> bool:
        """Whether an editor puts a key back to what it was before, as undo, redo and restore do."""
        if self.role < Role.EDITOR:
            return False
        value = as_stored(change.after)
        return any(
            one.key == change.key and value in (one.before, one.after)
            for operation in self.store.operations(self.conversation)
            for one in operation.changes
        )


def without_other_people(commit: Commit, actor: str) -> Commit:
    """A commit of an imported history in which nobody but `actor` counts as a person of this team.

    A file may carry anybody's id, and so says nothing about who asked, answered, reviewed, voted or erased. Others
    become plain names, the same one wherever the same id stands.
    """

    def plain(value: Json) -> Json:
        if isinstance(value, str):
            names = value != actor and _PERSON.fullmatch(value)
            return f"{_SOMEBODY} {sha256(value.encode()).hexdigest()[:6]}" if names else value
        if isinstance(value, Mapping):
            return {plain(key): plain(one) for key, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list | tuple) else value

    changes = tuple(
        Change("/".join(plain(part) for part in one.key.split("/")), plain(one.before), plain(one.after))
        for one in commit.changes
    )
    return replace(commit, changes=changes, actor=plain(commit.actor))


def _request(key: str, value: Json) -> MergeRequest:
    try:
        return MergeRequest.from_stored(int(key.removeprefix(REQUESTS)), value)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadContent("That is no merge request.") from error


def _proposal(request: MergeRequest) -> MergeRequest:
    """A request without what people say to it."""
    return replace(request, comments=(), state="open", answered_by="")


def check_values(
    store: Store, conversation: ConversationId, changes: Iterable[Change], written: Collection[MessageId]
) -> None:
    """Refuse values that would keep everybody else from reading a conversation; `written` are new messages of it.

    Raises:
        BadContent: a value has not the form that its key asks for.
        NotFound: a branch, a tag or something kept would stand at a message that is not there.
    """
    for change in changes:
        try:
            named = check_entry(change.key, change.after) if change.after is not None else ()
        except BadLine as error:
            raise BadContent(f"That cannot be kept: {error}.") from error
        for tip in named:
            if tip not in written:
                store.message(conversation, MessageId(tip))


def _check_choice(number: str, asked: Json, vote: Vote) -> None:
    """Raise BadContent for a vote that is none in this poll."""
    if not isinstance(asked, Mapping):
        raise BadContent(f"There is no poll {number[:20]} to vote in.")
    poll = Poll.from_stored(int(number), asked, None)
    scored = {criterion for given in vote.scores.values() for criterion in given}
    if vote.choice not in (TIE, BAD, *poll.messages) or not vote.scores.keys() <= set(poll.messages):
        raise BadContent(f"That is no answer of poll {number}.")
    if not scored <= set(poll.criteria):
        raise BadContent(f"That is no criterion of poll {number}.")


def _forged(what: str) -> NotAllowed:
    return NotAllowed(f"{what} is in the name of the person who makes it, and nobody else changes that.")


def _not_theirs() -> NotAllowed:
    return NotAllowed(
        "A request for review is changed by whoever made it, and by editors of the conversation.",
        "Comment on it, or make one of your own.",
    )
