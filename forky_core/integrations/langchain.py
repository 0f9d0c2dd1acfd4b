"""For programs that use LangChain: a chat history that is a branch of a Forky conversation.

    RunnableWithMessageHistory(chain, lambda session: ForkyChatMessageHistory(session, forky=forky))

The session's id is the branch's name, so what LangChain says is read, forked and merged like anything else. Needs
`forky[langchain]`. A message keeps its words, thoughts, tool calls and their results, and its pictures and files: those
that hold their data as attachments, any other block as it came.
"""

from __future__ import annotations

import base64
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
from forky_core.formats.speaking import content_parts, in_turns
from forky_core.model import Message, Role
from forky_core.model.errors import BadContent, NameTaken, NotFound, NothingToDo
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
from forky_core.opaque import is_left_unsaid

_SHARED = "langchain_conversation"
"""The setting that names the conversation of sessions that name none."""
_ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


class ForkyChatMessageHistory(BaseChatMessageHistory):
    """The messages of one branch, as LangChain reads and adds them."""

    def __init__(
        self,
        session_id: str,
        *,
        forky: Workspace | str | Path | None = None,
        conversation: str | None = None,
    ) -> None:
        """`forky` is an open one, or where its database is (None: the usual one), which is then opened.

        `conversation` is the id of the one whose branch it is; without it, sessions are branches of one conversation
        called “LangChain”.
        """
        self._opened = None if isinstance(forky, Workspace) else Forky.open(forky)
        self._forky: Workspace = forky if isinstance(forky, Workspace) else self._opened or Forky.open()
        self.session_id = session_id
        self.conversation = _branch(self._forky, conversation, session_id)
        """With the session's branch checked out."""

    def close(self) -> None:
        """Close the database, where this opened it."""
        if self._opened is not None:
            self._opened.close()

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # LangChain declares a plain attribute
        """What the branch holds, oldest first."""
        return [said for message in self.conversation.path() for said in self._read(message)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Put them at the branch's head, as one operation."""
        drafts = [draft for message in messages for draft in self._drafts(message)]
        if drafts:
            self.conversation.append(drafts)

    def clear(self) -> None:
        """Empty the branch. What it held stays in sight, and undo brings it back."""
        with suppress(NothingToDo):
            self.conversation.empty()

    # Both ways between LangChain's messages and ours

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
            # Tool calls stand beside the blocks as well, in one form for all providers.
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
        """Its words; a list of blocks where there is more than that."""
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
    """Keeps the bytes that a message carries."""

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
    """LangChain's own block of a picture or a file that holds its data, as OpenAI's API has it; any other as it is."""
    if not isinstance(block, dict) or block.get("type") not in ("image", "file", "audio", "video"):
        return block
    data = block.get("data") if block.get("source_type") == "base64" else block.get("base64")
    if not isinstance(data, str):
        return block
    url = f"data:{block.get('mime_type') or 'application/octet-stream'};base64,{data}"
    named = block.get("filename") or block.get("name") or ""
    return {"type": "file", "file": {"file_data": url, "filename": named}}


def _shown(forky: Workspace, part: AttachmentPart) -> dict[str, Any]:
    data = base64.b64encode(forky.store.blob(part.sha256).content).decode()
    url = f"data:{part.media_type};base64,{data}"
    if part.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"file_data": url, "filename": part.name}}


def _call(part: ToolCallPart) -> dict[str, Any]:
    arguments = json.loads(part.arguments)
    args = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"name": part.name, "args": args, "id": part.tool_call_id, "type": "tool_call"}


def _branch(forky: Workspace, conversation: str | None, name: str) -> Conversation:
    """The branch of that name, made where there is none."""
    chat = forky.conversation(conversation) if conversation is not None else _shared(forky, name)
    with suppress(NameTaken):
        return chat.begin(name)
    return chat.checkout(branch_name(name))


def _shared(forky: Workspace, name: str) -> Conversation:
    known = forky.store.setting(_SHARED)
    with suppress(NotFound):
        if known is not None and not (chat := forky.conversation(known)).view.trashed:
            return chat
    chat = forky.create("LangChain", branch=name)
    forky.store.set_setting(_SHARED, chat.id)
    return chat
