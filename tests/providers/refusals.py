"""What each provider's API refuses about a request, as far as Forky could send it.

Written from the providers' documentation and from the errors that people report, not from Forky's code. Every rule says
where it is documented. Texts of errors are shortened.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

Wire = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "deepseek", "local"]
Body = Mapping[str, Any]


def signature(text: str) -> str:
    """The signature that the scripted Claude and Gemini give to a text; they accept no other with it."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def refusal(wire: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """Return the status and the body of the answer with which a provider refuses a request; None if it accepts it."""
    found = next(_RULES[wire](body), None)
    if found is None:
        return None
    if wire == "anthropic":
        return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": found}}
    if wire == "gemini":
        return 400, {"error": {"code": 400, "message": found, "status": "INVALID_ARGUMENT"}}
    return 400, {"error": {"message": found, "type": "invalid_request_error", "param": None, "code": None}}


# OpenAI's chat form


def _openai_chat(body: Body) -> Iterator[str]:
    """https://platform.openai.com/docs/api-reference/chat/create: the fields of messages and parts."""
    messages = body.get("messages") or []
    if not messages:
        yield "Invalid 'messages': empty array."
    known = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call"}
    for at, message in enumerate(messages):
        for field in sorted(message.keys() - known):
            yield f"Unknown parameter: 'messages[{at}].{field}'."
        for call in message.get("tool_calls") or ():
            for field in sorted(call.keys() - {"id", "type", "function", "custom"}):
                yield f"Unknown parameter: 'messages[{at}].tool_calls[0].{field}'."
            if len(call["id"]) > 64:
                yield f"Invalid 'messages[{at}].tool_calls[0].id': string too long."
    yield from _call_order(messages)
    yield from _chat_pictures(messages, _FOUR)


def _local(body: Body) -> Iterator[str]:
    """llama.cpp decodes pictures with stb_image, which knows no WebP (its tools/mtmd); Ollama knows no GIF."""
    messages = body.get("messages") or []
    yield from _call_order(messages)
    yield from _chat_pictures(messages, {"image/png", "image/jpeg"})


def _deepseek(body: Body) -> Iterator[str]:
    """https://api-docs.deepseek.com/guides/thinking_mode: thinking is on unless a request turns it off; where the model
    called a tool between two questions, all its reasoning from there must be passed back in every later request, else:
    400. Reported with the sentence below, for instance in anomalyco/opencode#24083 and #24722.
    """
    messages = body.get("messages") or []
    yield from _call_order(messages)
    thinks = body.get("model") != "deepseek-chat"
    if isinstance(body.get("thinking"), dict):
        thinks = body["thinking"].get("type") == "enabled"
    called = False
    for message in messages:
        if message["role"] == "user":
            called = False
        called = called or bool(message.get("tool_calls"))
        if thinks and called and message["role"] == "assistant" and not message.get("reasoning_content"):
            yield "The `reasoning_content` in the thinking mode must be passed back to the API."
        for field in ("thinking_blocks", "provider_specific_fields", "reasoning_items"):
            if field in message:
                yield f"Failed to deserialize the JSON body: unknown field `{field}`"


def _call_order(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """https://platform.openai.com/docs/guides/function-calling; the sentences are reported in miurla/morphic#136 and
    jeremychone/rust-genai#112.
    """
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                yield "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            waiting.discard(message.get("tool_call_id", ""))
            continue
        if waiting:
            yield "An assistant message with 'tool_calls' must be followed by tool messages."
        waiting = {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "assistant" and not (message.get("content") or message.get("tool_calls")):
            yield "Invalid value for 'content': expected a string, got null."
    if waiting:
        yield "An assistant message with 'tool_calls' must be followed by tool messages."


_FOUR = {"image/png", "image/jpeg", "image/gif", "image/webp"}


def _chat_pictures(messages: Sequence[Mapping[str, Any]], accepted: set[str]) -> Iterator[str]:
    """https://platform.openai.com/docs/guides/images-vision lists PNG, JPEG, WebP and GIF; the sentence is reported in
    vercel/ai#1544. Pictures stand in user messages only.
    """
    for message in messages:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part.get("type") != "image_url":
                continue
            kind = part["image_url"]["url"].removeprefix("data:").partition(";")[0]
            if kind not in accepted:
                yield f"You uploaded an unsupported image ({kind})."
            if message["role"] != "user":
                yield "Invalid 'messages': 'image_url' is only allowed for messages with role 'user'."


# OpenAI's responses


def _openai_responses(body: Body) -> Iterator[str]:
    """https://platform.openai.com/docs/api-reference/responses/create and …/docs/guides/reasoning: an output belongs to
    a call of the input, and sealed reasoning is verified.
    """
    items = body.get("input")
    called: set[str] = set()
    for item in items if isinstance(items, list) else ():
        match item.get("type", "message"):
            case "function_call":
                called.add(item["call_id"])
            case "function_call_output" if item["call_id"] not in called:
                yield f"No tool call found for function call output with call_id {item['call_id']}."
            case "reasoning":
                words = "".join(part.get("text", "") for part in item.get("summary") or ())
                if item.get("encrypted_content") != signature(words):
                    yield "The encrypted content could not be verified."


# Anthropic


def _anthropic(body: Body) -> Iterator[str]:
    """https://docs.claude.com/en/api/messages: required fields, roles, and blocks without text."""
    if not isinstance(body.get("max_tokens"), int):
        yield "max_tokens: Field required"
    messages = body.get("messages") or []
    for at, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            yield f'messages: Unexpected role "{message["role"]}".'
        if message.keys() - {"role", "content"}:
            yield f"messages.{at}: Extra inputs are not permitted"
        if not message["content"]:
            yield f"messages.{at}: all messages must have non-empty content"
        for number, block in enumerate(_blocks(message)):
            if block["type"] == "text" and not block["text"].strip():
                yield f"messages.{at}.content.{number}: text content blocks must be non-empty"
            if block["type"] == "image":
                yield from _anthropic_picture(block, f"messages.{at}.content.{number}")
    if messages and messages[0]["role"] != "user":
        yield "messages: first message must use the user role"
    yield from _anthropic_calls(messages)
    yield from _anthropic_thoughts(body, messages)


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _anthropic_picture(block: Mapping[str, Any], place: str) -> Iterator[str]:
    """https://docs.claude.com/en/docs/build-with-claude/vision; reported in anthropics/claude-code#8184."""
    source = block["source"]
    if source["type"] == "base64" and source["media_type"] not in _FOUR:
        yield f"{place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"


def _anthropic_calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use: results stand right after their
    call, before any text.
    """
    waiting: set[str] = set()
    for at, message in enumerate(messages):
        results = {block["tool_use_id"] for block in _blocks(message) if block["type"] == "tool_result"}
        if results - waiting:
            yield f"messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks."
        if waiting - results:
            yield f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after."
        waiting = {block["id"] for block in _blocks(message) if block["type"] == "tool_use"}
    if waiting:
        yield "messages: `tool_use` ids were found without `tool_result` blocks immediately after."


def _anthropic_thoughts(body: Body, messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """https://docs.claude.com/en/docs/build-with-claude/extended-thinking: signatures are verified; the last turn
    begins with a thought if thinking is enabled and the turn calls a tool (not under “adaptive”), and holds none if
    thinking is disabled. The sentences are reported in pydantic/pydantic-ai#2075 and anthropics/claude-code#10627.
    """
    for at, message in enumerate(messages):
        for number, block in enumerate(_blocks(message)):
            if block["type"] == "thinking" and block.get("signature") != signature(block["thinking"]):
                yield f"messages.{at}.content.{number}: Invalid `signature` in `thinking` block"
    spoken = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    if not spoken:
        return
    last = _blocks(messages[spoken[-1]])
    kind = (body.get("thinking") or {}).get("type", "disabled")
    if kind == "disabled" and any(block["type"] in _THINKING for block in last):
        yield "When `thinking` is disabled, an `assistant` message in the final position cannot contain `thinking`."
    if kind == "enabled" and any(block["type"] == "tool_use" for block in last):
        first = spoken[-1]
        while first - 2 in spoken and _blocks(messages[first - 1])[0]["type"] == "tool_result":
            first -= 2
        if _blocks(messages[first])[0]["type"] not in _THINKING:
            yield f"messages.{first}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."


_THINKING = {"thinking", "redacted_thinking"}


# Gemini

_SKIP = base64.b64encode(b"skip_thought_signature_validator").decode()


def _gemini(body: Body) -> Iterator[str]:
    """https://ai.google.dev/api/generate-content and …/gemini-api/docs/image-understanding (PNG, JPEG, WebP, HEIC,
    HEIF; microsoft/vscode#286628 reports GIF).
    """
    contents = body.get("contents") or []
    accepted = {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}
    for content in contents:
        if not content.get("parts"):
            yield "Unable to submit request because it must include at least one parts field."
        for part in content["parts"]:
            inline = part.get("inlineData") or part.get("inline_data")
            if inline and (kind := inline.get("mimeType") or inline.get("mime_type")) not in accepted:
                yield f"Unsupported MIME type: {kind}"
    yield from _gemini_calls(contents)


def _calls(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [part for part in content["parts"] if "functionCall" in part or "function_call" in part]


def _gemini_calls(contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """https://ai.google.dev/gemini-api/docs/function-calling and …/thought-signatures: as many responses as calls
    (google-gemini/gemini-cli#5443), and the signature on the first call of each step since the last question
    (langgenius/dify-official-plugins#2088); a documented word stands for the signature of a call from elsewhere.
    """
    questions = [
        at
        for at, content in enumerate(contents)
        if content.get("role") == "user" and any("text" in part for part in content["parts"])
    ]
    for at, content in enumerate(contents):
        calls = _calls(content)
        if not calls:
            continue
        after = contents[at + 1]["parts"] if at + 1 < len(contents) else []
        responses = [part for part in after if "functionResponse" in part or "function_response" in part]
        if len(responses) != len(calls):
            yield "Please ensure that the number of function response parts is equal to the number of function call parts."
        call = calls[0].get("functionCall") or calls[0]["function_call"]
        given = calls[0].get("thoughtSignature")
        if given is None and questions and at > questions[-1]:
            yield "Function call is missing a thought_signature in functionCall parts."
        if given is not None and given not in (signature(call["name"]), _SKIP):
            yield "Thought signature is not valid"


_RULES: dict[str, Callable[[Body], Iterator[str]]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "deepseek": _deepseek,
    "local": _local,
}
