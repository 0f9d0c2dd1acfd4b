"""A spool file: the calls that ForkyLogger wrote while no Forky was running, one a line.

Programs send the whole array each time, so calls share their beginnings; here they become a tree: a message is
identified by its path, and calls of one session with the same first messages are one conversation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from forky_core.formats.chaining import openai_chain
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import objs
from forky_core.formats.recorded_call import PROGRAM, RecordedCall, is_call, read_call
from forky_core.model.errors import BadContent
from forky_core.model.hashing import content_hash, mend_json
from forky_core.model.parts import Draft


class RecordedCalls:
    name: ClassVar[str] = "recorded-calls"
    label: ClassVar[str] = "Recorded calls (LiteLLM)"

    def fits(self, sample: Sample) -> bool:
        return any(is_call(value) for value in sample.values)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        trees: dict[str, _Tree] = {}
        for number, value in enumerate(document.values(), 1):
            if isinstance(value, Unreadable):
                yield value
                continue
            try:
                call = read_call(value)
            except BadContent as error:
                yield Unreadable(f"line {number}", str(error))
                continue
            path = _path(call, files)
            root = hashlib.sha256(f"{call.session}\n{path[0].id}".encode("utf-8", "replace")).hexdigest()[:32]
            trees.setdefault(root, _Tree(root)).add(call, path)
        for tree in trees.values():
            yield tree.found()


@dataclass(slots=True)
class _Tree:
    id: str
    nodes: dict[str, Node] = field(default_factory=dict)
    current: str | None = None
    model: str = ""

    def add(self, call: RecordedCall, path: list[Node]) -> None:
        for node in path:
            self.nodes.setdefault(node.id, node)
        self.current, self.model = path[-1].id, call.model or self.model
        for answer in call.answers:
            if not answer.parts:
                continue
            draft = Draft("assistant", answer.parts)
            id = _id(path[-1].id, draft)
            said = Node(
                id,
                path[-1].id,
                draft,
                created=call.finished or call.started,
                model=call.model,
                status=answer.status,
                usage=answer.usage,
            )
            # An earlier array may have contained the answer's text, but not who gave it.
            known = self.nodes.get(id)
            self.nodes[id] = said if known is None else replace(said, parent=known.parent)
            self.current = id

    def found(self) -> ParsedConversation:
        nodes = tuple(self.nodes.values())
        return ParsedConversation(
            source_id=self.id,
            title="",
            nodes=nodes,
            current=self.current,
            created=next((node.created for node in nodes if node.created), 0),
            model=self.model,
        )


def _path(call: RecordedCall, files: SourceFiles) -> list[Node]:
    """The nodes of a call's array, each identified by its path."""
    chain = openai_chain(objs(call.request.get("messages")), files, PROGRAM)
    path: list[Node] = []
    for node in chain.nodes:
        assert node.draft is not None
        parent = path[-1].id if path else None
        id = _id(parent, node.draft)
        path.append(replace(node, id=id, parent=parent, created=node.created or call.started, piece=False))
    return path


def _id(parent: str | None, draft: Draft) -> str:
    parts = [part.hashed() for part in draft.parts]
    return content_hash(mend_json({"parent": parent, "role": draft.role, "name": draft.name, "parts": parts}))
