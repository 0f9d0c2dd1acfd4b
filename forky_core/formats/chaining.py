"""What importers share: reading a document value by value, and nodes for sources without a tree, in which each message
follows the one before it.

One message of a source may become several of ours (a call, its result, the answer): then its own id is that of the
last, so that the message after it becomes a child of the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forky_core.formats.contract import (
    NOTHING,
    Node,
    ParsedConversation,
    Result,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import count, micros, obj, shallow, word, wrapped
from forky_core.formats.leftovers import Program, names, says_something
from forky_core.formats.openai_messages import in_turns, openai_parts
from forky_core.formats.roles import role_of
from forky_core.model import Role, Usage
from forky_core.model.opaque import not_understood
from forky_core.model.parts import Draft, Json, Part


def read_values(
    document: SourceDocument, conversations: Callable[[Json], Iterable[Result]]
) -> Iterator[Result]:
    """The conversations in each value of a document, one value at a time."""
    for value in document.values():
        if isinstance(value, Unreadable):
            yield value
        else:
            yield from conversations(value)


def no_messages(value: Mapping[str, Any], field: str, *, titled: str = "title") -> Unreadable:
    """Why a conversation without its field of messages could not be read."""
    return Unreadable(word(value.get(titled)) or "untitled", f"It has no messages (no `{field}`).")


def spread(node: Node, parts: list[Part], role: Role) -> list[Node]:
    """The nodes of one source message: one for each change of role among its parts. The last keeps its id."""
    turns = in_turns(parts, role)
    if len(turns) <= 1:
        says, said = turns[0] if turns else (role, ())
        name = node.draft.name if node.draft is not None else None
        return [replace(node, draft=Draft(says, said, name))]
    nodes: list[Node] = []
    parent = node.parent
    for number, (says, said) in enumerate(turns, 1):
        id = node.id if number == len(turns) else f"{node.id}/{number}"
        last = number == len(turns)
        extra = node.extra if last else NOTHING
        nodes.append(
            replace(
                node,
                id=id,
                parent=parent,
                draft=Draft(says, said),
                extra=extra,
                piece=not last,
                failure=node.failure if last else "",
                note=node.note if last else "",
            )
        )
        parent = id
    return nodes


def unknown_line(id: str, parent: str | None, line: Json, program: Program) -> Node:
    """The node that keeps a line or an element of a file of which an importer knows nothing: it is hidden, and counted
    among what was not understood.
    """
    said = wrapped(line)
    kind = word(said.get("type")) or "line"
    parts = (not_understood(program.name, kind, shallow(dict(said))),) if says_something(line) else ()
    return Node(id, parent, Draft("system", parts), created=micros(said.get("timestamp")), hidden=True)


@dataclass(slots=True)
class Chain:
    """Builds a line of nodes."""

    nodes: list[Node] = field(default_factory=list)
    last: str | None = None
    _taken: set[str] = field(default_factory=set)

    def add(self, parts: list[Part], role: Role, **more: Any) -> None:
        """Append a message below `last`. A repeated id is made unique, and later messages follow this one."""
        named = str(more.pop("id", "") or f"#{len(self._taken) + 1}")
        id, number = named, 1
        while id in self._taken:
            number += 1
            id = f"{named}#{number}"
        self._taken.add(id)
        self.nodes += spread(
            Node(id, self.last, Draft(role, (), more.pop("name", None)), **more), parts, role
        )
        self.last = id

    def conversation(self, source_id: str, title: str, **more: Any) -> ParsedConversation:
        """The conversation that ends with the last message."""
        return ParsedConversation(source_id, title, tuple(self.nodes), self.last, **more)


def openai_chain(
    messages: Sequence[Mapping[str, Any]], files: SourceFiles, program: Program, *, model: str = ""
) -> Chain:
    """A chain of messages in OpenAI's or Anthropic's API format."""
    chain = Chain()
    for message in messages:
        role = role_of(message.get("role"))
        chain.add(
            openai_parts(message, files, program),
            role,
            id=word(message.get("id")),
            created=next(
                (
                    at
                    for key in ("created_at", "timestamp", "createdAt", "create_time")
                    if (at := micros(message.get(key)))
                ),
                0,
            ),
            model=(word(message.get("model")) or model) if role == "assistant" else "",
            usage=usage_of(message.get("usage")),
            name=word(message.get("name")) or None if role in ("user", "assistant") else None,
        )
    return chain


_COUNTS = (
    names("prompt_tokens input_tokens promptTokens input promptTokenCount promptTokensCount"),
    names(
        "completion_tokens output_tokens completionTokens output candidatesTokenCount predictedTokensCount"
    ),
    names("cache_read_input_tokens cached_tokens cacheRead cached cachedContentTokenCount"),
    names("cache_creation_input_tokens cacheWrite"),
)
"""The names that programs have for each count of `Usage`."""


def usage_of(usage: Json) -> Usage:
    """Token usage, under any of the names that programs have for its counts."""
    counts = {name: found for name, value in obj(usage).items() if (found := count(value)) is not None}
    return Usage(*(next((counts[name] for name in known if name in counts), None) for known in _COUNTS))
