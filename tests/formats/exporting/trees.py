"""Generated conversations that branch, and what must be the same of them after a round trip."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from hypothesis import strategies as st

from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Blob, ConversationId, Message, MessageId, Role, seal
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    Json,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    canonical_json,
)

Turn = tuple[Role, str]
ROLES: tuple[Role, ...] = ("user", "assistant", "system")

# Words as somebody may write them: any script, code, quotes, HTML, nothing that only a source with lone halves has.
words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40).filter(
    lambda text: text.strip() != ""
) | st.sampled_from(
    ("<script>alert(1)</script>", "```py\nx = 1\n```", "line\nline", "</script>", '"\\u003c"', "# no heading")
)


@st.composite
def chats(draw: st.DrawFn) -> Chat:
    """A tree of up to 24 messages with a branch at every end, checked out on `main`."""
    messages: list[Message] = []
    for _ in range(draw(st.integers(1, 24))):
        at = draw(st.integers(-1, len(messages) - 1)) if messages else -1
        parent = messages[at].id if at >= 0 else None
        role: Role = draw(st.sampled_from(ROLES))
        message = seal(Draft(role, (TextPart(draw(words)),)), (parent,), created=1_700_000_000_000_000)
        if message.id not in {one.id for one in messages}:
            messages.append(message)
    head = draw(st.sampled_from(messages)).id
    return chat_with(messages, head)


PNG = b"\x89PNG\r\n\x1a\n"
_tools = st.sampled_from(("search", "read_file", "run"))
_arguments = st.dictionaries(
    st.sampled_from(("q", "path", "n")), words | st.integers(0, 9), min_size=1, max_size=2
)


@st.composite
def rich_chats(draw: st.DrawFn, *, images: bool) -> Chat:
    """A tree like that of `chats`: answers also think and call tools, each call is answered by a message of its own,
    questions may have a picture above the words, and speakers a name.
    """
    messages: dict[MessageId, Message] = {}
    blobs: dict[str, Blob] = {}

    def say(role: Role, parent: MessageId | None, *parts: Part, name: str | None = None) -> MessageId:
        made = seal(Draft(role, parts, name), (parent,), created=1_700_000_000_000_000)
        messages.setdefault(made.id, made)
        return made.id

    ends: list[MessageId] = []
    for number in range(draw(st.integers(1, 8))):
        at = draw(st.sampled_from([*ends, *ends[-1:] * len(ends)])) if ends else None
        asked: list[Part] = [TextPart(draw(words))]
        if images and draw(st.booleans()):
            content = PNG + draw(st.binary(max_size=8))
            blob = Blob(hashlib.sha256(content).hexdigest(), "image/png", "cat.png", content)
            blobs[blob.sha256] = blob
            asked.insert(0, AttachmentPart(blob.sha256, blob.media_type, blob.name))
        name = draw(st.sampled_from((None, "ada", "bob")))
        at = say("user", at, *asked, name=name)
        answer: list[Part] = [TextPart(draw(words))]
        if draw(st.booleans()):
            answer.insert(0, ReasoningPart(draw(words)))
        calls = [
            ToolCallPart(draw(_tools), canonical_json(draw(_arguments)), f"call_{number}_{which}")
            for which in range(draw(st.integers(0, 2)))
        ]
        at = say("assistant", at, *answer, *calls)
        for call in calls:
            at = say("tool", at, ToolResultPart(call.name, draw(words), call.tool_call_id))
        ends.append(at)
    return chat_with(messages.values(), draw(st.sampled_from(ends)), blobs)


def chat_with(
    messages: Iterable[Message], head: MessageId | None, blobs: Mapping[str, Blob] = MappingProxyType({})
) -> Chat:
    """A conversation of these messages: `main` at `head`, a branch at every other end."""
    by_id = {message.id: message for message in messages}
    inner = {parent for message in by_id.values() for parent in message.parents}
    entries: dict[str, Json] = {"title": "A title", "heads/main": {"at": head}}
    for number, id in enumerate(id for id in by_id if id not in inner and id != head):
        entries[f"heads/branch-{number}"] = {"at": id}
    return Chat(
        ConversationId("01890f0c-27c1-7000-8000-000000000001"),
        MappingProxyType(by_id),
        (),
        MappingProxyType(entries),
        blobs=MappingProxyType(dict(blobs)),
    )


def shape(messages: Mapping[MessageId, Message]) -> set[tuple[Turn, ...]]:
    """Every message as the turns that lead to it: texts, roles and the tree in one."""
    return {path(messages, id) for id in messages}


def path(messages: Mapping[MessageId, Message], id: MessageId | None) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    while id is not None:
        message = messages[id]
        turns.insert(0, (message.role, message.text))
        id = message.parent
    return tuple(turns)


Said = tuple[str, ...]


def told(messages: Mapping[MessageId, Message]) -> set[tuple[Said, ...]]:
    """What leads to every end, part by part: roles, names, words, thoughts, calls with their arguments, results and
    pictures. How parts are shared out among messages does not count, nor do the ids of calls; so an end from which
    another one goes on, part by part, is none.
    """
    ways: dict[MessageId, tuple[Said, ...]] = {}
    for message in messages.values():
        before = ways[message.parent] if message.parent is not None else ()
        ways[message.id] = before + tuple(_said(message, part) for part in message.parts)
    inner = {message.parent for message in messages.values()}
    ends = {way for id, way in ways.items() if id not in inner}
    return {end for end in ends if not any(len(end) < len(way) and way[: len(end)] == end for way in ends)}


def _said(message: Message, part: Part) -> Said:
    who = (message.role, message.name or "")
    match part:
        case TextPart() | ReasoningPart():
            return (*who, part.type, part.text)
        case ToolCallPart():
            return (*who, part.type, part.name, part.arguments)
        case ToolResultPart():
            return (*who, part.type, part.name, part.output)
        case AttachmentPart():
            return (*who, part.type, part.sha256, part.media_type, part.name)
    raise AssertionError(part)
