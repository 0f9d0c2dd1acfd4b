"""Whether a merge request has the reviews that the rule of its target requires, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.merging.review_log import Review
from forky_core.team.members import ID_PREFIX
from forky_core.team.protection import BranchRule
from forky_core.team.roles import Role


@dataclass(frozen=True, slots=True)
class ReviewStanding:
    """The reviews of one request, held against the rule of the branch that it is for."""

    rule: BranchRule
    approved: tuple[str, ...]
    """The ids of people whose approvals count."""
    waiting_for: tuple[str, ...]
    """The named reviewers who have not approved it as it is now."""
    asking: tuple[str, ...]
    """Those who ask for changes, which holds it up."""
    void: Mapping[str, str]
    """Whose approvals do not count, and why, as a clause."""
    imported: bool
    """Whether nobody knows who proposed it: it came with a file, or is from before there was a team."""

    @property
    def missing(self) -> int:
        """How many approvals are missing besides those of the named reviewers."""
        return max(0, self.rule.approvals - len(self.approved) - len(self.waiting_for))

    @property
    def ready(self) -> bool:
        """Whether it may land."""
        return not (self.missing or self.waiting_for or self.asking or self.imported)

    def sentence(self, name_of: Callable[[str], str]) -> str:
        """What is missing, or that nothing is."""
        if self.imported:
            return "Nobody knows who proposed it, since it came with a file or is from before the team: make it anew."
        if self.asking:
            asks = "asks" if len(self.asking) == 1 else "ask"
            return f"{_names(self.asking, name_of)} {asks} for changes."
        said = []
        if self.waiting_for:
            said.append(f"It waits for the approval of {_names(self.waiting_for, name_of)}.")
        if self.missing:
            said.append(f"It has {len(self.approved)} of {_approvals(self.rule.approvals)}.")
        if not said:
            return "It may land." if not self.approved else f"Approved by {_names(self.approved, name_of)}."
        said += [
            f"The approval of {name_of(person)} does not count: {why}." for person, why in self.void.items()
        ]
        return " ".join(said)


def standing(
    rule: BranchRule,
    reviews: Sequence[Review],
    authors: frozenset[str],
    role_of: Callable[[str], Role],
    outdated: Callable[[Review], str],
) -> ReviewStanding:
    """Hold the reviews of a request against a rule.

    `role_of` is what a person may do in the conversation now; `outdated` says, as a clause, why a review is of an
    earlier state, or "".
    """
    approved, asking, void = [], [], {}
    for review in reviews:
        person = review.by
        role = role_of(person)
        counts = role >= Role.EDITOR or (person in rule.reviewers and role >= Role.COMMENTER)
        if review.state == "changes":
            if counts:
                asking.append(person)
        elif person in authors:
            void[person] = "it is of a proposal of their own"
        elif not counts:
            void[person] = (
                "they may not edit this conversation"
                if role
                else "they do not see this conversation any more"
            )
        elif why := outdated(review):
            void[person] = why
        else:
            approved.append(person)
    return ReviewStanding(
        rule,
        tuple(approved),
        tuple(person for person in rule.reviewers if person not in approved),
        tuple(asking),
        void,
        not authors or not all(author.startswith(ID_PREFIX) for author in authors),
    )


def _approvals(number: int) -> str:
    return "1 approval" if number == 1 else f"{number} approvals"


def _names(people: Sequence[str], name_of: Callable[[str], str]) -> str:
    *others, last = (name_of(person) for person in people)
    return f"{', '.join(others)} and {last}" if others else last
