"""Who takes part in a conversation, and when a model answers them: values, read from a conversation's view.

A person is a name, perhaps with an address elsewhere. With more than one participant the model sees `name: text` and a
line that lists them. Names are self-chosen: they distinguish the participants and prove nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from forky_core.model.changed_fields import changed_fields
from forky_core.model.errors import BadContent, BadName
from forky_core.model.parts import Json

Answers = Literal["always", "addressed", "asked"]
"""When a model answers a post: `always`; `addressed`, only by its name or with @; `asked`, only on request."""

ANSWERS: tuple[Answers, ...] = get_args(Answers)
CALLED = "Forky"
"""The name a model answers to by default."""
LONGEST = 60
"""The longest name or address, in characters."""
PEOPLE = "people/"
ROOM = "room"
_RESERVED = frozenset({"system", "assistant", "user", "tool", "developer", "model"})


@dataclass(frozen=True, slots=True)
class Person:
    """A person who takes part in a conversation, with what they may ask."""

    name: str
    address: str = ""
    """A telephone number or an e-mail address, for people who write from elsewhere. Never sent to a model."""
    asks: bool = True
    """Whether a model may answer this person, which costs money."""
    messages: int | None = None
    """The most answers a day; None for no limit."""
    dollars: float | None = None
    """The most US dollars a day; None for no limit."""

    @property
    def limited(self) -> bool:
        return not self.asks or self.messages is not None or self.dollars is not None

    def stored(self) -> dict[str, Json]:
        """Return the person as JSON, without the fields that have their default."""
        return changed_fields(self, "address", "asks", "messages", "dollars")

    @classmethod
    def from_stored(cls, name: str, entry: Mapping[str, Json]) -> Person:
        """Read what `stored()` wrote.

        Raises:
            TypeError: the entry is not of that form.
        """
        address, asks = entry.get("address", ""), entry.get("asks", True)
        messages, dollars = entry.get("messages"), entry.get("dollars")
        if not isinstance(address, str) or not isinstance(asks, bool):
            raise TypeError("a person has an address and may ask or not")
        if isinstance(messages, bool) or not isinstance(messages, int | None):
            raise TypeError("an allowance in messages is a whole number")
        if isinstance(dollars, bool) or not isinstance(dollars, int | float | None):
            raise TypeError("an allowance in money is a number")
        return cls(name, address, asks, messages, dollars)


@dataclass(frozen=True, slots=True)
class Room:
    """The participants of a conversation, and how models answer them."""

    people: tuple[Person, ...] = ()
    """Sorted by name."""
    answers: Answers = "always"
    called: str = CALLED
    """The name a model answers to."""
    models: tuple[str, ...] = ()
    """Models that answer in turn, each under its own name; with (), the branch's model answers."""

    @property
    def several(self) -> bool:
        """Whether there is more than one person or more than one model."""
        return len(self.people) > 1 or len(self.models) > 1

    def knows(self, name: str) -> bool:
        """Whether a person of this name, in any case, is on the list."""
        same = name.casefold()
        return any(one.name.casefold() == same for one in self.people)

    def person(self, name: str, *, known: bool = False) -> Person:
        """Return the person of that name, in any case.

        One who is not on the list may do everything, unless somebody's allowance is limited: then a new name would be a
        way around it, and such a person may not ask. `known` says that it is certain who they are.
        """
        same = name.casefold()
        found = next((one for one in self.people if one.name.casefold() == same), None)
        if found is not None:
            return found
        return Person(name, asks=known or not any(one.limited for one in self.people))

    def stored(self) -> dict[str, Json]:
        """Return the room as JSON, without its people and without the fields that have their default."""
        return changed_fields(self, "answers", "called", "models")


def room_in(entries: Mapping[str, Any]) -> Room:
    """Read the room from a view's entries.

    Raises:
        TypeError: an entry is not of the stored form.
    """
    people = tuple(
        Person.from_stored(key.removeprefix(PEOPLE), entries[key])
        for key in sorted(key for key in entries if key.startswith(PEOPLE))
    )
    entry = entries.get(ROOM) or {}
    answers, called, models = (
        entry.get("answers", "always"),
        entry.get("called", CALLED),
        entry.get("models", ()),
    )
    if not isinstance(called, str) or not all(isinstance(model, str) for model in models):
        raise TypeError("a room has names")
    return Room(people, answers if answers in ANSWERS else "always", called, tuple(models))


def fit_name(text: str, what: str = "A person") -> str:
    """Return a name in its storable form: one line, without the characters that end a name before a text.

    Raises:
        BadName: nothing is left of it, or it is too long.
    """
    name = " ".join("".join(c if c.isprintable() and c not in ':<>[]"' else " " for c in text).split())
    if not name:
        raise BadName(f"{what} needs a name.", "Letters, digits or an emoji.")
    if len(name) > LONGEST:
        raise BadName(f"A name has at most {LONGEST} characters; this one has {len(name)}.")
    return name


def fit_person(person: Person) -> Person:
    """Return the person in a form that can be stored.

    Raises:
        BadName, BadContent: its name, address or allowance makes no sense.
    """
    address = " ".join(person.address.split())
    if len(address) > LONGEST or not address.isprintable():
        raise BadContent(f"An address is one line of at most {LONGEST} characters.")
    if person.messages is not None and not 0 <= person.messages <= 1_000_000:
        raise BadContent("An allowance is a number of answers a day, from 0 on.")
    if person.dollars is not None and not 0 <= person.dollars <= 1_000_000:
        raise BadContent("An allowance is an amount of dollars a day, from 0 on.")
    return Person(fit_name(person.name), address, person.asks, person.messages, person.dollars)


def shown_name(name: str, called: str = CALLED) -> str:
    """Return a person's name as the model reads it: “(a person)” is added if it is the name of a role or of the
    model.
    """
    return f"{name} (a person)" if name.casefold() in _RESERVED | {called.casefold()} else name


def addressed(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a text addresses: it has the name as a word, with or without `@`.

    A bare `@` addresses all of them. An emoji is a name like any other.
    """
    every = tuple(names)
    if re.search(r"(?<![\w@])@(?=\s|$|[,.!?:;])", text):
        return every
    return tuple(
        name
        for name in every
        if name and re.search(rf"(?<!\w)@?{re.escape(name)}(?!\w)", text, re.IGNORECASE)
    )


@dataclass(frozen=True, slots=True)
class Voices:
    """The names in a conversation of several participants, as one model is sent them."""

    names: tuple[str, ...]
    """The names of all people and models."""
    own: str = ""
    """The name of the model that is called; "" if it has none."""
    called: str = CALLED

    def spoken(self, name: str, text: str) -> str:
        """Return `name: text`, with every line indented that begins with another participant's name, so that nobody can
        speak as another.
        """
        guarded = text
        if any(f"{other}:" in text for other in self.names):
            lines = (
                f"  {line}" if any(line.lstrip().startswith(f"{other}:") for other in self.names) else line
                for line in text.split("\n")
            )
            guarded = "\n".join(lines)
        return f"{shown_name(name, self.called)}: {guarded}"

    @property
    def told(self) -> str:
        """The line that tells the model who takes part."""
        others = [shown_name(name, self.called) for name in self.names if name != self.own]
        you = f" You are {self.own or self.called}: answer as yourself, without your name before it."
        return f"[In this conversation take part: {', '.join(others)}. Each message begins with its author's name.{you}]"
