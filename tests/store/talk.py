"""Short ways to say a commit, for the tests of stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import count

from forky_core.model import (
    Change,
    ConversationId,
    Failure,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Operation,
    Usage,
    Verb,
    seal,
)
from forky_core.model.document import DocumentSearch, OfferedPassage
from forky_core.model.parts import Draft, Json, ReasoningPart, TextPart
from forky_core.store.contract import Commit, Store

HERE = ConversationId("01890000-0000-7000-8000-000000000001")
ELSEWHERE = ConversationId("01890000-0000-7000-8000-000000000002")
UNKNOWN = MessageId("b2:" + "0" * 32)

_clock = count(1_700_000_000_000_000, 1_000_000)


def now() -> int:
    """A later moment at each call."""
    return next(_clock)


def said(
    text: str, *parents: Message | None, role: str = "user", sources: Sequence[Message] = (), **more: bool
) -> Message:
    """The message with that text below those parents."""
    draft = Draft(role, (TextPart(text),), sources=tuple(m.id for m in sources))  # type: ignore[arg-type]
    return seal(draft, [p.id if p is not None else None for p in parents], created=now(), **more)


def generation(number: int, status: str = "running", **more: object) -> Generation:
    """A record of a model call with that number in its id."""
    id = GenerationId(f"01890000-0000-7000-8000-{number:012d}")
    return replace(
        Generation(id, "main", None, "offline/quote", status, started=number),  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )


def full_generation(number: int, reply: Message, text: str | None = None) -> Generation:
    """A record of a model call that produced `reply`, with a value of its own in every field.

    With `text`, each of its texts is that one.
    """
    id = generation(number).id
    plain = Generation(id, "", None, "", "failed")
    known = {
        "parent": reply.id,
        "message": reply.id,
        "parameters": {"temperature": 0.2},
        "usage": Usage(10, 5, 3, 2, 1, 0.25, 0.125),
        "failure": Failure("rate_limited", text or "Too many requests.", 3.5),
        "started": number,
        "first_token": number + 1,
        "finished": number + 2,
        "partial": (TextPart(text or "so far"), ReasoningPart(text or "hm")),
        "reused": generation(number + 1).id,
        "consulted": DocumentSearch(
            text or "boats", (OfferedPassage(1, "boats.md", "doc:3f2a#1"),), text or "One was not read."
        ),
    }
    others = {
        one.name: _made_up(str(one.type), one.name, number, text)
        for one in fields(plain)
        if one.name not in {*known, "id", "status"}
    }
    full = replace(plain, **known, **others)  # type: ignore[arg-type]
    unset = [
        one.name
        for one in fields(full)
        if one.name not in {"id", "status"}
        and text != ""
        and getattr(full, one.name) == getattr(plain, one.name)
    ]
    assert unset == [], "Give a new field a value here: stores and files are tested with it."
    return full


def _made_up(kind: str, name: str, number: int, text: str | None) -> object:
    """A value for a field of this type."""
    values = {"str": name if text is None else text, "int": number, "float": number / 4, "bool": True}
    return values.get(kind.removesuffix(" | None"))


def thread(length: int, below: Message | None = None, word: str = "turn") -> list[Message]:
    """A first-parent run of that many messages."""
    run: list[Message] = []
    for number in range(length):
        below = said(f"{word} {number}", below, role="user" if number % 2 == 0 else "assistant")
        run.append(below)
    return run


def at(message: Message | None) -> Json:
    """The value of a head."""
    return {"at": message.id if message is not None else None}


def change(
    store: Store,
    *changes: Change,
    messages: Sequence[Message] = (),
    here: ConversationId = HERE,
    verb: Verb = "change",
    summary: str = "Changed something",
) -> Operation:
    return store.commit(Commit(here, verb, summary, changes, tuple(messages), at=now()))


def begin(
    store: Store, *messages: Message, here: ConversationId = HERE, title: str = "A talk", branch: str = "main"
) -> Operation:
    """A new conversation with one branch at the last of `messages`."""
    head = messages[-1] if messages else None
    changes = (Change("title", None, title), Change(f"heads/{branch}", None, at(head)))
    return change(store, *changes, messages=messages, here=here, verb="create", summary="Created")


def move(
    store: Store,
    before: Message | None,
    *messages: Message,
    branch: str = "main",
    here: ConversationId = HERE,
    summary: str = "Asked",
) -> Operation:
    """Add `messages` and move the branch from `before` to the last of them."""
    moved = Change(f"heads/{branch}", at(before), at(messages[-1]))
    return change(store, moved, messages=messages, here=here, verb="ask", summary=summary)


def point(store: Store, name: str, message: Message | None, here: ConversationId = HERE) -> Operation:
    """A new branch at `message`."""
    return change(
        store, Change(f"heads/{name}", None, at(message)), here=here, verb="fork", summary=f"Forked “{name}”"
    )


def ids(messages: Sequence[Message]) -> list[MessageId]:
    return [message.id for message in messages]
