"""What a tab shows: the elements and blocks that the server has drawn, found by their keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.Block_pb2 import Block
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsgMetadata


@dataclass(slots=True)
class Node:
    """An element or a block of the page."""

    fragment: str = ""
    script: str = ""
    run: str = ""
    block: Block | None = None
    element: Element | None = None
    children: dict[int, Node] = field(default_factory=dict)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children.values():
            yield from child.walk()

    def drop(self, is_stale: Callable[[Node], bool]) -> None:
        """Take away what is stale below this node."""
        for at, child in list(self.children.items()):
            if is_stale(child):
                del self.children[at]
            else:
                child.drop(is_stale)

    @property
    def widget(self) -> Any:
        """The message of the element's kind."""
        assert self.element is not None
        return getattr(self.element, self.element.WhichOneof("type") or "empty")

    @property
    def id(self) -> str:
        """Streamlit's id of a widget or of a block that has one; "" for anything else."""
        if self.block is not None:
            return str(self.block.id)
        kind = self.element.WhichOneof("type") if self.element is not None else None
        return str(getattr(self.widget, "id", "")) if kind is not None else ""


class Drawing:
    """The page of a tab."""

    def __init__(self) -> None:
        self._root = Node()

    def nodes(self) -> Iterator[Node]:
        return (node for node in self._root.walk() if node.block is not None or node.element is not None)

    def find(self, key: str) -> Node | None:
        """The widget or container of this key, which may end in `*`."""
        for node in self.nodes():
            id = node.id
            if id and (f"-{key[:-1]}" in id if key.endswith("*") else id.endswith(f"-{key}")):
                return node
        return None

    def keys(self) -> list[str]:
        """The keys of what is on the page, for whoever asks why something is not."""
        return [node.id.rpartition("-")[2] for node in self.nodes() if node.id and node.element is not None]

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    def component(self, name: str) -> Any:
        """The data of the first component of this name; None if the page has none."""
        node = self.find_component(name)
        if node is None:
            return None
        found = json.loads(node.widget.json)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    def find_component(self, name: str) -> Node | None:
        """The first component of this name, which may be the last part of a longer one."""
        for node in self.nodes():
            if node.element is not None and node.element.WhichOneof("type") == "bidi_component":
                called = node.element.bidi_component.component_name
                if called == name or called.endswith(f".{name}"):
                    return node
        return None

    def has_dialog(self) -> bool:
        """Whether a dialog is open."""
        return any(
            node.block is not None and node.block.WhichOneof("type") == "dialog" and node.block.dialog.is_open
            for node in self.nodes()
        )

    def texts(self) -> str:
        """The words of the page, for a look at what it says."""
        found = []
        for node in self.nodes():
            kind = node.element.WhichOneof("type") if node.element is not None else None
            if kind in ("markdown", "html", "alert"):
                found.append(node.widget.body)
            elif kind == "bidi_component" and node.widget.component_name == "forky.cells":
                found.append(node.widget.json)
        return "\n".join(found)

    def draw(self, delta: Delta, metadata: ForwardMsgMetadata, run: str) -> Node | None:
        """Put what a run has sent in its place.

        Returns the element, where it is one that is seen at once: what is in a popover comes when that is opened.
        """
        path = list(metadata.delta_path)
        parent, is_folded = self._root, False
        for at in path[:-1]:
            parent = parent.children.setdefault(at, Node(run=run))
            is_folded |= parent.block is not None and parent.block.WhichOneof("type") == "popover"
        match delta.WhichOneof("type"):
            case "add_block":
                before = parent.children.get(path[-1])
                kept = before.children if before is not None and before.element is None else {}
                node = Node(block=delta.add_block, children=kept)
            case "new_element":
                node = Node(element=delta.new_element)
            case _:  # What is there for a moment only.
                return None
        node.fragment, node.script, node.run = delta.fragment_id, metadata.active_script_hash, run
        parent.children[path[-1]] = node
        return node if node.element is not None and not is_folded else None

    def drop(self, is_stale: Callable[[Node], bool]) -> None:
        """Take away what is stale."""
        for root in self._root.children.values():
            root.drop(is_stale)
