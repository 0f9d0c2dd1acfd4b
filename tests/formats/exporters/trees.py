"""Generated conversations that branch, and what must be the same of them after a round trip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from hypothesis import strategies as st

from forky_core.formats.forky_file.chat import Chat
from forky_core.model import ConversationId, Message, MessageId, Role, seal
from forky_core.parts import Draft, Json, TextPart

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


def chat_with(messages: Iterable[Message], head: MessageId | None) -> Chat:
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
