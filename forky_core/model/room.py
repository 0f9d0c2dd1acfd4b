"""Who takes part in a conversation, and when a model answers them: values, read from a conversation's view.

A person is a name, and perhaps an address where they come from elsewhere. With more than one the model sees
`name: text` and is told who is in the room. Names are what people say of themselves: they tell voices apart and prove
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from forky_core.model.errors import BadContent, BadName
from forky_core.model.parts import Json

Answers = Literal["always", "addressed", "asked"]
"""When a model answers what is posted: always; when it is addressed by its name or with @; only when it is asked to."""

ANSWERS: tuple[Answers, ...] = get_args(Answers)
CALLED = "Forky"
"""What a model answers to where nobody named it."""
LONGEST = 60
"""Characters of a name or an address."""
PEOPLE = "people/"
ROOM = "room"
_RESERVED = frozenset({"system", "assistant", "user", "tool", "developer", "model"})


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who takes part."""

    name: str
    address: str = ""
    """A telephone number or an e-mail address, where they come from elsewhere. Never sent to a model."""
    asks: bool = True
    """Whether a model may answer them: it is paid for."""
    messages: int | None = None
    """Answers a day at most; None: any number."""
    dollars: float | None = None
    """US dollars a day at most; None: any amount."""

    @property
    def limited(self) -> bool:
        return not self.asks or self.messages is not None or self.dollars is not None

    def stored(self) -> dict[str, Json]:
        """Only what differs from the default."""
        entry: dict[str, Json] = {}
        if self.address:
            entry["address"] = self.address
        if not self.asks:
            entry["asks"] = False
        if self.messages is not None:
            entry["messages"] = self.messages
        if self.dollars is not None:
            entry["dollars"] = self.dollars
        return entry

    @classmethod
    def from_stored(cls, name: str, entry: Mapping[str, Json]) -> Person:
        """TypeError for what no person is stored as."""
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
    """Everybody in a conversation."""

    people: tuple[Person, ...] = ()
    """By name."""
    answers: Answers = "always"
    called: str = CALLED
    """The name a model answers to."""
    models: tuple[str, ...] = ()
    """Models that answer in turn, each under its own name; (): the branch's model."""

    @property
    def several(self) -> bool:
        """Whether there are voices to tell apart."""
        return len(self.people) > 1 or len(self.models) > 1

    def person(self, name: str) -> Person:
        """A person nobody has set anything for may do everything."""
        return next((one for one in self.people if one.name == name), Person(name))

    def stored(self) -> dict[str, Json]:
        """The room without its people; only what differs from the default."""
        entry: dict[str, Json] = {}
        if self.answers != "always":
            entry["answers"] = self.answers
        if self.called != CALLED:
            entry["called"] = self.called
        if self.models:
            entry["models"] = list(self.models)
        return entry


def room_in(entries: Mapping[str, Any]) -> Room:
    """The room of a view's entries. TypeError for what none is stored as."""
    people = tuple(
        Person.from_stored(key.removeprefix(PEOPLE), entry)
        for key, entry in sorted(entries.items())
        if key.startswith(PEOPLE)
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
    """A name as it is kept: one line, without what would end it before the text it stands in front of.

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
    """As it can be kept.

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
    """A person's name as the model reads it: one that sounds like a role, or like the model, says what it is."""
    return f"{name} (a person)" if name.casefold() in _RESERVED | {called.casefold()} else name


def addressed(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Which of these names a text speaks to: it holds the name as a word, or `@` before it.

    A bare `@` speaks to all of them. An emoji is a name like any other.
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
    """How a model hears a room: who speaks by name, and which name is its own."""

    names: tuple[str, ...]
    """Of everybody, people and models."""
    own: str = ""
    """Of the model that is asked; "": it has none."""
    called: str = CALLED

    def spoken(self, name: str, text: str) -> str:
        """`name: text`; a line of the text that begins like another's words is set in, so that nobody is put on."""
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
        """What the model is told of the room."""
        others = [shown_name(name, self.called) for name in self.names if name != self.own]
        you = f" You are {self.own or self.called}: answer as yourself, without your name before it."
        return f"[In this conversation take part: {', '.join(others)}. Each message begins with its author's name.{you}]"
