"""For programs that use LangChain: a chat history that is a branch of a Forky conversation.

    RunnableWithMessageHistory(chain, lambda session: ForkyChatMessageHistory(session, forky=forky))

The session's id is the branch's name, so the branch can be read, forked and merged like any other. Needs
`forky[langchain]`. A message keeps its text, reasoning, tool calls and their results, and its pictures and files: those
with inline data become attachments, any other block is stored unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import branch_name
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.openai_messages import content_parts, in_turns
from forky_core.model import Message, Role
from forky_core.model.errors import BadContent, NameTaken, NotFound, NothingToDo
from forky_core.model.media import as_data_url
from forky_core.model.opaque import is_left_unsaid
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    canonical_json,
)

_SHARED = "langchain_conversation"
"""The setting with the id of the conversation for sessions that name none."""
_ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


class ForkyChatMessageHistory(BaseChatMessageHistory):
    """A LangChain message history that reads and appends to one branch."""

    def __init__(
        self,
        session_id: str,
        *,
        forky: Workspace | str | Path | None = None,
        conversation: str | None = None,
    ) -> None:
        """`forky` is an open workspace, or the path of a database to open (None: the default one).

        `conversation` is the id of the branch's conversation; without it, sessions are branches of one conversation
        called “LangChain”.
        """
        self._opened = None if isinstance(forky, Workspace) else Forky.open(forky)
        self._forky: Workspace = forky if isinstance(forky, Workspace) else self._opened or Forky.open()
        self.session_id = session_id
        self.conversation = _branch(self._forky, conversation, session_id)
        """The conversation with the session's branch checked out."""

    def close(self) -> None:
        """Close the database if this history opened it."""
        if self._opened is not None:
            self._opened.close()

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # LangChain declares a plain attribute
        """The branch's messages, oldest first."""
        return [said for message in self.conversation.path() for said in self._read(message)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages to the branch, as one operation."""
        drafts = [draft for message in messages for draft in self._drafts(message)]
        if drafts:
            self.conversation.append(drafts)

    def clear(self) -> None:
        """Empty the branch. Its former messages stay visible, and undo restores them."""
        with suppress(NothingToDo):
            self.conversation.branches.empty()

    # Conversion between LangChain's messages and ours.

    def _drafts(self, message: BaseMessage) -> Iterator[Draft]:
        role = _ROLES.get(message.type.removesuffix("MessageChunk").lower(), "user")
        if isinstance(message, ToolMessage):
            text = message.content if isinstance(message.content, str) else message.text
            failed = text if message.status == "error" else None
            yield Draft("tool", (ToolResultPart(message.name or "", text, message.tool_call_id, failed),))
            return
        parts: list[Part] = []
        thought = message.additional_kwargs.get("reasoning_content")
        if isinstance(thought, str) and thought.strip():
            parts.append(ReasoningPart(thought))
        blocks: Any = message.content
        if isinstance(blocks, list):
            # LangChain repeats tool calls outside the blocks, in one form for all providers.
            blocks = [one for one in blocks if not (isinstance(one, dict) and one.get("type") == "tool_use")]
            blocks = [
                {"type": "text", "text": one} if isinstance(one, str) else _spelled(one) for one in blocks
            ]
        parts += content_parts(blocks, _Files(self._forky))
        if isinstance(message, AIMessage):
            parts += [
                ToolCallPart(call["name"], canonical_json(call["args"]), call["id"])
                for call in message.tool_calls
            ]
        for says, said in in_turns(parts or [TextPart("")], role):
            yield Draft(says, said, message.name if says == role else None)

    def _read(self, message: Message) -> Iterator[BaseMessage]:
        results = [part for part in message.parts if isinstance(part, ToolResultPart)]
        for part in results:
            yield ToolMessage(
                part.output,
                tool_call_id=part.tool_call_id or "",
                name=part.name or None,
                status="error" if part.exception is not None else "success",
            )
        content = self._content(message)
        match message.role:
            case "assistant":
                thought = "".join(part.text for part in message.parts if isinstance(part, ReasoningPart))
                yield AIMessage(
                    content,
                    id=message.id,
                    name=message.name,
                    tool_calls=[_call(part) for part in message.parts if isinstance(part, ToolCallPart)],
                    additional_kwargs={"reasoning_content": thought} if thought else {},
                )
            case "system":
                yield SystemMessage(content, id=message.id, name=message.name)
            case "user":
                yield HumanMessage(content, id=message.id, name=message.name)
            case _ if content and not results:
                yield HumanMessage(content, id=message.id)

    def _content(self, message: Message) -> Any:
        """The message's text, or a list of blocks if it has more than text."""
        blocks: list[dict[str, Any]] = []
        for part in message.parts:
            match part:
                case TextPart(text):
                    blocks.append({"type": "text", "text": text})
                case AttachmentPart():
                    blocks.append(_shown(self._forky, part))
                case OpaquePart(block) if not is_left_unsaid(part):
                    blocks.append(json.loads(block))
                case _:
                    pass
        return blocks if any(block["type"] != "text" for block in blocks) else message.text


class _Files:
    """Stores the files of a message as attachments."""

    def __init__(self, forky: Workspace) -> None:
        self._forky = forky

    def names(self) -> tuple[str, ...]:
        return ()

    def attach(self, name: str, media_type: str = "", shown: str = "") -> AttachmentPart | None:  # noqa: ARG002
        return None

    def attach_bytes(self, content: bytes, media_type: str = "", shown: str = "") -> AttachmentPart | None:
        try:
            return self._forky.attach(content, media_type=media_type, name=shown)
        except BadContent:
            return None


def _spelled(block: Any) -> Any:
    """A LangChain block of a picture or file with inline data, converted to OpenAI's form; any other
    block unchanged.
    """
    if not isinstance(block, dict) or block.get("type") not in ("image", "file", "audio", "video"):
        return block
    data = block.get("data") if block.get("source_type") == "base64" else block.get("base64")
    if not isinstance(data, str):
        return block
    url = f"data:{block.get('mime_type') or 'application/octet-stream'};base64,{data}"
    named = block.get("filename") or block.get("name") or ""
    return {"type": "file", "file": {"file_data": url, "filename": named}}


def _shown(forky: Workspace, part: AttachmentPart) -> dict[str, Any]:
    url = as_data_url(forky.store.blob(part.sha256).content, part.media_type)
    if part.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url, "filename": part.name}}


def _call(part: ToolCallPart) -> dict[str, Any]:
    arguments = json.loads(part.arguments)
    args = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"name": part.name, "args": args, "id": part.tool_call_id, "type": "tool_call"}


def _branch(forky: Workspace, conversation: str | None, name: str) -> Conversation:
    """The conversation with the branch of that name checked out; the branch is created if there is none."""
    chat = forky.conversation(conversation) if conversation is not None else _shared(forky, name)
    with suppress(NameTaken):
        return chat.branches.begin(name)
    return chat.checkout(branch_name(name))


def _shared(forky: Workspace, name: str) -> Conversation:
    known = forky.store.setting(_SHARED)
    with suppress(NotFound):
        if known is not None and not (chat := forky.conversation(known)).view.trashed:
            return chat
    chat = forky.create("LangChain", branch=name)
    forky.store.set_setting(_SHARED, chat.id)
    return chat
