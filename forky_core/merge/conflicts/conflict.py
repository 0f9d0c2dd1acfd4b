"""The texts that a merge compares, and a conflict between them: what it is about, what each side says of it word for
word, who found it, and a person's choice.

Leaving a conflict open loses nothing. A choice is remembered by the words that it was made between, whoever said them
and whatever the conflict was called, so that the same conflict is not asked about again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

from forky_core.context.convert import message_as_text
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent, there_are
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Json

Take = Literal["mine", "theirs", "both", "text"]
Policy = Literal["ask", "mine", "theirs", "newest"]
"""What happens to a conflict without a choice: it stays open, or one rule decides all."""

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
    """For "theirs" with several sources: the branch whose words are taken."""

    def stored(self) -> list[Json]:
        return [self.take, self.text, self.by, *((self.source,) if self.source else ())]


@dataclass(frozen=True, slots=True)
class Quotation:
    """What one side says, word for word."""

    side: str
    """The name of a branch, or the label of an answer."""
    message: MessageId
    text: str
    stance: str = ""
    """Equal for sides that say the same in other words; "" if only their words tell."""

    @property
    def says(self) -> str:
        """What tells whether two sides say the same."""
        return self.stance or folded(self.text)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Quotations from at least two sides that cannot all hold."""

    about: str
    """The subject, in a few words."""
    says: tuple[Quotation, ...]
    """The quotations by side, the target's first."""
    found_by: str = ""
    """The model that named it; "" if rules did: then it is only possible."""
    target: str = ""
    """The side that is “mine” in a choice; "" if every side is another's."""
    choice: Choice | None = None

    @property
    def possible(self) -> bool:
        """Whether only rules found it, which nobody has confirmed."""
        return not self.found_by

    @property
    def hash(self) -> str:
        """A hash of the quoted words, whoever said them."""
        return content_hash(sorted({folded(one.text) for one in self.says})).removeprefix("b2:")

    @property
    def by_side(self) -> Mapping[str, tuple[Quotation, ...]]:
        """The quotations of each side, the target's first."""
        names = dict.fromkeys((*([self.target] if self.mine else []), *(one.side for one in self.says)))
        return {name: tuple(one for one in self.says if one.side == name) for name in names}

    @property
    def mine(self) -> tuple[Quotation, ...]:
        """The target's words."""
        return tuple(one for one in self.says if one.side == self.target)

    @property
    def theirs(self) -> tuple[Quotation, ...]:
        """The words of all other sides."""
        return tuple(one for one in self.says if one.side != self.target)

    @property
    def cites(self) -> tuple[MessageId, ...]:
        return tuple(dict.fromkeys(one.message for one in self.says))

    @property
    def texts(self) -> tuple[str, ...]:
        """The different quotations."""
        return tuple(dict.fromkeys(one.text for one in self.says))

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sides other than the target."""
        return tuple(name for name in self.by_side if name != self.target)

    @property
    def taken(self) -> tuple[Quotation, ...]:
        """The words that the choice takes; () while it is open, or if a person wrote the result."""
        return () if self.choice is None else self._words_of(self.choice)

    @property
    def rejected(self) -> tuple[Quotation, ...]:
        """The words that the choice rejects; () while it is open."""
        if self.choice is None or self.choice.take == "both":
            return ()
        kept = {one.says for one in self.taken}
        own = folded(self.choice.text)
        return tuple(one for one in self.says if one.says not in kept and folded(one.text) not in own)

    @property
    def result(self) -> str:
        """What holds, in words; "" while it is open."""
        if self.choice is None:
            return ""
        if self.choice.take == "text":
            return " ".join(self.choice.text.split())
        return " / ".join(dict.fromkeys(one.text for one in self.taken))

    def _words_of(self, choice: Choice) -> tuple[Quotation, ...]:
        match choice.take:
            case "text":
                return ()
            case "mine":
                return self.mine
            case "both":
                return self.says
            case "theirs":
                return self.by_side.get(choice.source, ()) if choice.source else self.theirs

    def chosen(self, choice: Choice | None) -> Conflict:
        """Return the conflict with this choice; None opens it again.

        Raises:
            BadContent: there is no such side, or the text is empty or too long.
        """
        if choice is not None:
            self._refuse(choice)
        return replace(self, choice=choice)

    def _refuse(self, choice: Choice) -> None:
        if choice.take not in get_args(Take):
            raise BadContent(f"“{choice.take}” cannot be taken.", f"There are: {', '.join(get_args(Take))}.")
        if choice.take == "text" and not choice.text.strip():
            raise BadContent("A resolution needs some words.", "To leave it open, take nothing.")
        if len(choice.text) > LONGEST_WORD:
            raise BadContent(f"A resolution has at most {LONGEST_WORD} characters.")
        if choice.take == "theirs" and not choice.source and self.sources_differ:
            raise BadContent(
                f"About “{self.about}” the branches say different things.",
                f"Name one: {', '.join(f'“{name}”' for name in self.sources)}.",
            )
        if choice.take != "text" and not self._words_of(choice):
            raise BadContent(
                f"Nothing is said about “{self.about}” on that side.", "Take the other, or both."
            )

    @property
    def sources_differ(self) -> bool:
        """Whether several sources disagree, so that “theirs” is ambiguous."""
        return len(self.sources) > 1 and len({one.says for one in self.theirs}) > 1

    def is_same(self, texts: Iterable[str]) -> bool:
        """Whether a conflict between these words is this one: each side's words are in one of them, or it in them."""
        others = [folded(text) for text in texts]
        met = [
            {at for at, other in enumerate(others) if mine in other or other in mine}
            for mine in {folded(text) for text in self.texts}
        ]
        return all(met) and len(set().union(*met)) > 1

    def stored(self) -> dict[str, Json]:
        """Return the JSON that says what the conflict is about, what was said and, once it is settled, what holds."""
        entry: dict[str, Json] = {"key": self.about, "values": list(self.texts)}
        return {**entry, "text": self.result} if self.choice is not None else entry


def folded(text: str) -> str:
    """Return words as they are compared: in any case and spacing, without signs at their ends."""
    return " ".join(text.split()).strip(" .,;:!`*_\"'“”‘’").casefold()


def remembered(conflict: Conflict, resolutions: Mapping[str, Json]) -> Conflict:
    """Return the conflict with the resolution that is stored for the same words, if there is one."""
    for entry in (resolutions.get(conflict.hash), *resolutions.values()):
        if not isinstance(entry, dict):
            continue
        values, text = entry.get("values"), entry.get("text")
        texts = [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
        if isinstance(text, str) and text.strip() and conflict.is_same(texts):
            return conflict.chosen(Choice("text", text.strip()[:LONGEST_WORD], "remembered"))
    return conflict


def by_policy(conflict: Conflict, policy: Policy, said_at: Callable[[MessageId], int]) -> Conflict:
    """Return the conflict with a policy's choice; it stays open if the policy cannot decide.

    `said_at` returns when a message was written, in microseconds; two quotations of the same moment stay open.
    """
    if conflict.choice is not None or policy == "ask":
        return conflict
    if policy != "newest":
        side = conflict.mine if policy == "mine" else () if conflict.sources_differ else conflict.theirs
        return conflict.chosen(Choice(policy, by=f"policy {policy}")) if side else conflict
    dated = sorted(((said_at(one.message), one.text) for one in conflict.says), reverse=True)
    if len(dated) > 1 and dated[0][0] == dated[1][0]:
        return conflict
    return conflict.chosen(Choice("text", dated[0][1][:LONGEST_WORD], "policy newest"))


def names(name: str, conflict: Conflict) -> bool:
    """Whether `name` is the hash or the subject of the conflict."""
    return name == conflict.hash or folded(name) == folded(conflict.about)


def find(every: Sequence[Conflict], name: str) -> Conflict:
    """Return the conflict with that subject or hash.

    Raises:
        BadContent: there is none.
    """
    for conflict in every:
        if names(name, conflict):
            return conflict
    raise BadContent(f"There is no conflict about “{name}”.", there_are(one.about for one in every))


def choose(found: Iterable[Conflict], choices: Mapping[str, Choice | None]) -> tuple[Conflict, ...]:
    """Return the conflicts with these choices, by subject or by hash.

    Raises:
        BadContent: there is no such conflict, or the choice cannot be made.
    """
    every = tuple(found)
    wanted = {find(every, name).hash: choice for name, choice in choices.items()}
    return tuple(one.chosen(wanted[one.hash]) if one.hash in wanted else one for one in every)


def told_apart(found: Iterable[Conflict]) -> tuple[Conflict, ...]:
    """Return the conflicts so that no two have one subject."""
    used: set[str] = set()
    made: list[Conflict] = []
    for one in found:
        about, number = one.about, 2
        while folded(about) in used:
            about, number = f"{one.about} ({number})", number + 1
        used.add(folded(about))
        made.append(replace(one, about=about))
    return tuple(made)


MOST_CHARACTERS = 40_000
"""The newest characters of each side that are compared."""
CUT = f"Only the newest {MOST_CHARACTERS:,} characters of each branch were compared."


@dataclass(frozen=True)
class ComparedSide:
    """One branch or one answer, as far as another may contradict it."""

    name: str
    said: tuple[Message, ...]
    """In order; a merge is replaced by the lines of its payload, each as a message of the one it cites."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each message."""
        return tuple(map(message_as_text, self.said))

    @property
    def hash(self) -> str:
        told = zip(self.said, self.texts, strict=True)
        return content_hash([[one.id, one.role, text] for one, text in told])

    def newest(self) -> ComparedSide:
        """Return the side with as many of its last messages as are compared; at least one, cut at its beginning."""
        room, kept = MOST_CHARACTERS, len(self.said)
        while kept and (room := room - len(self.texts[kept - 1])) >= 0:
            kept -= 1
        return self if not kept else ComparedSide(self.name, self.said[kept:])


def newest(sides: Iterable[ComparedSide]) -> tuple[tuple[ComparedSide, ...], bool]:
    """Return what is compared of these sides, and whether that is less than all."""
    every = tuple(sides)
    kept = tuple(side.newest() for side in every)
    return kept, any(len(a.said) < len(b.said) for a, b in zip(kept, every, strict=True))


def of_answers(answers: Iterable[tuple[str, Message]]) -> tuple[ComparedSide, ...]:
    """Return named answers to one question as sides."""
    return tuple(ComparedSide(name, (answer,)) for name, answer in answers)


def in_order(sides: Sequence[ComparedSide]) -> list[int]:
    """Return the places of the sides in an order that depends on their texts alone, so that no name or place is
    preferred and the same texts are the same request.
    """
    hashes = [side.hash for side in sides]
    return sorted(range(len(sides)), key=lambda at: (hashes[at], at))
