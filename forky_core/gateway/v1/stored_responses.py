"""Answers of `/v1/responses` that a later request may continue by `previous_response_id` alone.

Such a request has only the new turn. The turns before it are the path to the answer in the tree, so the id of an answer
is stored with its conversation: continuing works across restarts, while the conversation exists. The newest answers are
also cached in memory, the only place for an answer that was not recorded. What was recorded is continued as it stands
in the tree: not at all once the conversation is gone or in the trash, and without what was erased. The same holds
for recorded turns before an answer that was not recorded.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forky_core.gateway.fair_dict import FairDict
from forky_core.model import Blob, ConversationId, Message, MessageId
from forky_core.model.erasure import ERASED
from forky_core.model.errors import NotFound, StoreError
from forky_core.model.hashing import mend_text
from forky_core.model.media import as_data_url
from forky_core.model.parts import (
    AttachmentPart,
    MergePart,
    OpaquePart,
    ReasoningPart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.store.contract import Store
from forky_core.wire.contract import Response

MOST = 2_000
"""Answers that are cached in memory."""
Items = tuple[Any, ...]
Place = tuple[ConversationId, MessageId]
"""The conversation and message in which an answer is stored."""


@dataclass(frozen=True, slots=True)
class _StoredTurns:
    """The turns up to an answer."""

    recorded: Items
    place: Place | None
    """Where the recorded ones are in the tree; None if there are none."""
    others: Items = ()
    """Those after them, which were not recorded."""

    @property
    def all(self) -> Items:
        return (*self.recorded, *self.others)


class StoredResponses:
    """Answers by token, so that no program continues another's."""

    def __init__(self, most: int = MOST) -> None:
        self._kept: FairDict[tuple[str, str], _StoredTurns] = FairDict(most)
        """The turns up to an answer, by its token and its id."""
        self._lock = threading.Lock()

    def full_request(self, store: Store, token: str, payload: Mapping[str, Any]) -> dict[str, Any] | None:
        """The request with the turns that it continues; None if they are not known."""
        before = payload.get("previous_response_id")
        if not before:
            return dict(payload)
        name = (token, str(before))
        with self._lock:
            turns = self._kept.get(name)
        turns = _stored(store, _key(*name)) if turns is None else _as_it_stands(store, turns)
        with self._lock:
            if turns is None:
                self._kept.pop(name)
                return None
            self._kept.put(name, turns, token)
        return {**payload, "input": [*turns.all, *_items(payload.get("input"))]}

    def save(
        self,
        token: str,
        id: str,
        payload: Mapping[str, Any],
        response: Response,
        place: Place | None = None,
    ) -> None:
        """Store an answer, which is recorded at this place; `payload` is the whole request. If it asks not to be
        stored, it is not.
        """
        if payload.get("store") is False:
            return
        items = (*_items(payload.get("input")), *_said(response))
        turns = _StoredTurns(items if place else (), place, () if place else items)
        with self._lock:
            before = self._kept.get((token, str(payload.get("previous_response_id"))))
            if place is None and before is not None:
                turns = replace(before, others=items[len(before.recorded) :])
            self._kept.put((token, id), turns, token)


def save_id(store: Store, token: str, id: str, conversation: ConversationId, answer: MessageId) -> None:
    """Store the id of an answer. Raises StoreError, NotFound."""
    store.keep_derived(conversation, {_key(token, id): answer})


def _key(token: str, id: str) -> str:
    named = f"{token} {mend_text(id)}".encode()
    return f"response/{hashlib.blake2b(named, digest_size=16).hexdigest()}"


def _stored(store: Store, key: str) -> _StoredTurns | None:
    try:
        for conversation, answer in store.derived_under(key).items():
            place = (conversation, MessageId(answer))
            if not store.view(conversation).trashed:
                return _StoredTurns(tuple(items_of(store.path(*place), store.blob)), place)
    except (StoreError, NotFound):
        return None
    return None


def _as_it_stands(store: Store, turns: _StoredTurns) -> _StoredTurns | None:
    """The turns, if they may still be continued: the recorded ones read anew where something of them was erased."""
    if turns.place is None:
        return turns
    conversation, answer = turns.place
    try:
        view = store.view(conversation)
        if view.trashed:
            return None
        if any(key.startswith(ERASED) for key in view.entries):
            return replace(turns, recorded=tuple(items_of(store.path(conversation, answer), store.blob)))
    except (StoreError, NotFound):
        return None
    return turns


def items_of(path: Sequence[Message], blob: Callable[[str], Blob]) -> Iterator[dict[str, Any]]:
    """A path as the items of a request; thoughts are left out, as no other model may have them."""
    for message in path:
        content: list[dict[str, Any]] = []
        calls: list[dict[str, Any]] = []
        for part in message.parts:
            match part:
                case TextPart(text) | MergePart(text=text):
                    content.append({"type": "input_text", "text": text})
                case AttachmentPart(sha256, media_type, name):
                    content.append(_file(blob(sha256), media_type, name))
                case ToolCallPart(name, arguments, id):
                    calls.append(
                        {"type": "function_call", "call_id": id or "", "name": name, "arguments": arguments}
                    )
                case ToolResultPart(_, output, id):
                    calls.append({"type": "function_call_output", "call_id": id or "", "output": output})
                case ReasoningPart() | RevertPart() | OpaquePart():
                    pass
        if content:
            role = message.role if message.role in {"system", "assistant"} else "user"
            yield {"type": "message", "role": role, "content": content}
        yield from calls


def _file(file: Blob, media_type: str, name: str) -> dict[str, Any]:
    url = as_data_url(file.content, media_type)
    if media_type.startswith("image/"):
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "file_data": url, "filename": name or "file"}


def _items(value: Any) -> Items:
    if isinstance(value, str):
        return ({"role": "user", "content": value},)
    return tuple(value) if isinstance(value, list) else (value,)


def _said(response: Response) -> Items:
    message = ({"role": "assistant", "content": "".join(response.text)},) if response.text else ()
    calls = (
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in response.calls
    )
    return (*message, *calls)
