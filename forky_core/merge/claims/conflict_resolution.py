"""Conflicts and their resolution: both sides, the base, and a person's choice.

Settling writes a claim that supersedes every value of the conflict; leaving it open writes nothing and loses nothing. A
choice is stored under the hash of the values it was made between, whoever said them, as words rather than as "mine":
the same conflict the other way round gets the same resolution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from forky_core.merge.claims.claim_set import Claim, Conflict, folded
from forky_core.model import MessageId
from forky_core.model.errors import BadContent, there_are
from forky_core.model.parts import Json

Take = Literal["mine", "theirs", "both", "text"]
Policy = Literal["ask", "mine", "theirs", "newest"]
"""What happens to a conflict without a choice: it stays open, or one rule decides all."""

VERDICT = "verdict"
"""The key of a conflict between what answers to one question recommend."""
LONGEST_WORD = 400
"""The most characters of a person's own resolution."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice that settles a conflict."""

    take: Take
    text: str = ""
    """The words, for "text"."""
    by: str = ""
    """"" for the person; otherwise "remembered" or "policy newest". Choices that former versions stored may name the
    model whose words were taken."""
    source: str = ""
    """For "theirs" with several sources: the branch whose claims are taken."""

    def stored(self) -> list[Json]:
        return [self.take, self.text, self.by, *((self.source,) if self.source else ())]


@dataclass(frozen=True, slots=True)
class SourceClaims:
    """One branch's claims in a conflict."""

    name: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Clash:
    """A conflict of one merge: A, B, base and result."""

    conflict: Conflict
    mine: tuple[Claim, ...]
    """The target's claims."""
    theirs: tuple[Claim, ...]
    """The sources' claims; () if the target carries the conflict from an earlier merge."""
    base: tuple[Claim, ...]
    """The claims of both before the branches parted."""
    choice: Choice | None = None
    claims_by_source: tuple[SourceClaims, ...] = ()
    """The claims by branch, each claim once: the target first, then each source that has any."""

    @property
    def key(self) -> str:
        return self.conflict.key

    @property
    def result(self) -> Claim | None:
        """The claim that settles the conflict; None while it is open."""
        if self.choice is None:
            return None
        text, value = self._words(self.choice)
        over = tuple(sorted(claim.id for claim in self.conflict.claims))
        cites = tuple(dict.fromkeys(cite for claim in self.conflict.claims for cite in claim.cites))
        return Claim("decision", text, cites, self.key, value, supersedes=over)

    @property
    def taken(self) -> tuple[Claim, ...]:
        """The claims of the side that the choice takes; () while it is open, or if a person wrote the result."""
        if self.choice is None or self.choice.take == "text":
            return ()
        return self._side(self.choice)

    def _words(self, choice: Choice) -> tuple[str, str]:
        if choice.take == "text":
            text = " ".join(choice.text.split())
            return text, _value_in(text, self.conflict.claims)
        sides = self._side(choice)
        said = tuple(dict.fromkeys(claim.text for claim in sides))
        values = tuple(dict.fromkeys(claim.value or claim.text for claim in sides))
        return " / ".join(said), " and ".join(values)

    def _side(self, choice: Choice) -> tuple[Claim, ...]:
        """Return the claims that a choice takes; () if no branch of that name has any."""
        if choice.take == "mine":
            return self.mine
        if choice.take != "theirs":
            return (*self.mine, *self.theirs)
        if not choice.source:
            return self.theirs
        return next((one.claims for one in self.claims_by_source if one.name == choice.source), ())

    @property
    def sources(self) -> tuple[SourceClaims, ...]:
        """The claims of each source."""
        return tuple(one for one in self.claims_by_source if not set(one.claims) <= set(self.mine))

    @property
    def sources_differ(self) -> bool:
        """Whether several sources disagree, so that "theirs" is ambiguous."""
        return len(self.sources) > 1 and len({(c.says, c.polarity) for c in self.theirs}) > 1

    def chosen(self, choice: Choice | None) -> Clash:
        """Return the clash with this choice; None opens it again.

        Raises:
            BadContent: there is no such side, or the text is empty or too long.
        """
        if choice is not None:
            if choice.take not in get_args(Take):
                raise BadContent(
                    f"“{choice.take}” cannot be taken.", f"There are: {', '.join(get_args(Take))}."
                )
            if choice.take == "text" and not choice.text.strip():
                raise BadContent("A resolution needs some words.", "To leave it open, take nothing.")
            if len(choice.text) > LONGEST_WORD:
                raise BadContent(f"A resolution has at most {LONGEST_WORD} characters.")
            if choice.take == "theirs" and not choice.source and self.sources_differ:
                raise BadContent(
                    f"About “{self.key}” the branches say different things.",
                    f"Name one: {', '.join(f'“{one.name}”' for one in self.sources)}.",
                )
            if choice.take != "text" and not self._side(choice):
                raise BadContent(
                    f"Nothing is said about “{self.key}” on that side.", "Take the other, or both."
                )
        return replace(self, choice=choice)

    def remembered(self) -> dict[str, Json]:
        """Return the JSON under which the choice is stored."""
        result = self.result
        assert result is not None
        return {**self.stored(), "text": result.text}

    def stored(self) -> dict[str, Json]:
        """Return the JSON that says what the conflict is about and what was said."""
        return {"key": self.key, "values": [value.text for value in self.conflict.values]}


def _value_in(text: str, claims: Sequence[Claim]) -> str:
    """Return the value that a person's words name, if they name exactly one of the claims' values, else ""."""
    named = {claim.value for claim in claims if claim.value and folded(claim.value) in folded(text)}
    return next(iter(named)) if len(named) == 1 else ""


def remembered(clash: Clash, resolutions: Mapping[str, Json]) -> Clash:
    """Return the clash with the stored resolution of the same values.

    It stays open if a claim contradicts the resolution: somebody has said the rejected value again.
    """
    known = resolutions.get(clash.conflict.hash)
    again = any(claim.supersedes for claim in clash.conflict.claims)
    if again or not isinstance(known, dict) or not isinstance(known.get("text"), str):
        return clash
    text = known["text"].strip()
    return clash.chosen(Choice("text", text[:LONGEST_WORD], "remembered")) if text else clash


def by_policy(clash: Clash, policy: Policy, said_at: Callable[[MessageId], int]) -> Clash:
    """Return the clash with a policy's choice; it stays open if the policy cannot decide.

    `said_at` returns when a message was written, in microseconds; two values of the same moment stay open.
    """
    if clash.choice is not None or policy == "ask":
        return clash
    if policy != "newest":
        side = clash.mine if policy == "mine" else () if clash.sources_differ else clash.theirs
        return clash.chosen(Choice(policy, by=f"policy {policy}")) if side else clash
    dated = sorted(
        (
            (max(map(said_at, map(MessageId, value.cites)), default=0), value)
            for value in clash.conflict.values
        ),
        key=lambda one: one[0],
    )
    if len(dated) > 1 and dated[-1][0] == dated[-2][0]:
        return clash
    text = " / ".join(dict.fromkeys(claim.text for claim in dated[-1][1].claims))
    return clash.chosen(Choice("text", text[:LONGEST_WORD], "policy newest"))


def names(name: str, clash: Clash) -> bool:
    """Whether `name` is the hash or the key of the conflict."""
    return name == clash.conflict.hash or folded(name) == folded(clash.key)


def find(every: Sequence[Clash], name: str) -> Clash:
    """Return the conflict with that key or hash.

    Raises:
        BadContent: there is none.
    """
    for clash in every:
        if names(name, clash):
            return clash
    raise BadContent(
        f"There is no conflict about “{name}”.",
        there_are(clash.key for clash in every),
    )


def choose(found: Iterable[Clash], choices: Mapping[str, Choice | None]) -> tuple[Clash, ...]:
    """Return the conflicts with these choices, by key or by hash.

    Raises:
        BadContent: there is no such conflict, or the choice cannot be made.
    """
    every = tuple(found)
    wanted = {find(every, name).conflict.hash: choice for name, choice in choices.items()}
    return tuple(
        clash.chosen(wanted[clash.conflict.hash]) if clash.conflict.hash in wanted else clash
        for clash in every
    )
