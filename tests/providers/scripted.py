"""Scripted providers: servers on this machine that speak a provider's wire format and answer what a test wrote.

A script is a list of pieces in a common form (`Text`, `Thought`, `Call` …); each wire format encodes them as the events
that the real provider sends, in the provider's own words. A request that the real provider would refuse is refused here
as well, as far as refusals.py knows it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from forky_core.llm.catalogue import Catalogue
from forky_core.process.settings import Settings
from tests.providers.refusals import refusal, signature


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call whose arguments arrive in these pieces."""

    id: str
    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A piece of a refusal, which OpenAI sends apart from the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class End:
    """Why the answer ended, in the provider's own word."""

    word: str


@dataclass(frozen=True, slots=True)
class Mark:
    """The event after which the provider sends nothing more; Gemini has none."""


@dataclass(frozen=True, slots=True)
class Raw:
    """An event as it is: an object, or the text of the data line."""

    data: Any


Piece = Text | Thought | Call | Refusal | End | Mark | Raw
Encoder = Callable[[Sequence[Piece]], Iterator[Any]]
"""Turns a script into the data of events; an object or a text each."""

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def chat_chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
        **more,
    }


def chat_events(script: Sequence[Piece]) -> Iterator[Any]:
    """`/chat/completions`: OpenAI, DeepSeek and local servers."""
    calls = -1
    for piece in script:
        match piece:
            case Text(text):
                yield chat_chunk({"content": text})
            case Thought(text):
                yield chat_chunk({"reasoning_content": text})
            case Refusal(text):
                yield chat_chunk({"refusal": text})
            case Call(id, name, arguments):
                calls += 1
                function = {"name": name, "arguments": ""}
                begun = {"index": calls, "id": id, "type": "function", "function": function}
                yield chat_chunk({"tool_calls": [begun]})
                for part in arguments:
                    yield chat_chunk({"tool_calls": [{"index": calls, "function": {"arguments": part}}]})
            case End(word):
                yield chat_chunk({}, word)
                yield {**chat_chunk({}), "choices": [], "usage": USAGE}
            case Mark():
                yield "[DONE]"
            case Raw(data):
                yield data


def anthropic_events(script: Sequence[Piece]) -> Iterator[Any]:  # noqa: C901 - a case for each kind of piece
    """`/v1/messages`: blocks that open, grow and close."""
    usage = {"input_tokens": 3, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    number, kind = -1, ""
    thought: list[str] = []

    def grow(
        wanted: str, begun: dict[str, Any], deltas: Sequence[dict[str, Any]], *, anew: bool = False
    ) -> Iterator[Any]:
        nonlocal number, kind
        if kind != wanted or anew:
            yield from close()
            number, kind = number + 1, wanted
            yield {"type": "content_block_start", "index": number, "content_block": {"type": wanted, **begun}}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": number, "delta": delta}

    def close() -> Iterator[Any]:
        nonlocal kind
        if kind == "thinking":
            signed = {"type": "signature_delta", "signature": signature("".join(thought))}
            thought.clear()
            yield {"type": "content_block_delta", "index": number, "delta": signed}
        if kind:
            yield {"type": "content_block_stop", "index": number}
        kind = ""

    for piece in script:
        match piece:
            case Text(text) | Refusal(text):
                yield from grow("text", {"text": ""}, [{"type": "text_delta", "text": text}])
            case Thought(text):
                begun = {"thinking": "", "signature": ""}
                thought.append(text)
                yield from grow("thinking", begun, [{"type": "thinking_delta", "thinking": text}])
            case Call(id, name, arguments):
                deltas = [{"type": "input_json_delta", "partial_json": part} for part in arguments]
                yield from grow("tool_use", {"id": id, "name": name, "input": {}}, deltas, anew=True)
            case End(word):
                yield from close()
                stop = {"stop_reason": word, "stop_sequence": None}
                yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}}
            case Mark():
                yield {"type": "message_stop"}
            case Raw(data):
                yield data


def gemini_events(script: Sequence[Piece]) -> Iterator[Any]:
    """`:streamGenerateContent`: the reason stands on the last piece of the content; no mark follows."""
    pieces = list(script)
    for number, piece in enumerate(pieces):
        after = pieces[number + 1] if number + 1 < len(pieces) else None
        part: dict[str, Any]
        match piece:
            case Text(text) | Refusal(text):
                part = {"text": text}
            case Thought(text):
                part = {"text": text, "thought": True}
            case Call(_, name, arguments):
                call = {"name": name, "args": json.loads("".join(arguments))}
                part = {"functionCall": call, "thoughtSignature": signature(name)}
            case End(word):
                if number == 0 or isinstance(pieces[number - 1], Raw):
                    yield _gemini({"index": 0, "finishReason": word})
                continue
            case Mark():
                continue
            case Raw(data):
                yield data
                continue
        candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": [part]}}
        if isinstance(after, End):
            candidate["finishReason"] = after.word
        yield _gemini(candidate)


def _gemini(candidate: dict[str, Any]) -> dict[str, Any]:
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
    return {"candidates": [candidate], "usageMetadata": usage}


def responses_events(script: Sequence[Piece]) -> Iterator[Any]:  # noqa: C901, PLR0915 - a case for each kind of piece
    """`/v1/responses`: items that are added, grow and are done."""
    head = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "scripted",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    items: list[dict[str, Any]] = []
    texts: list[str] = []
    kind = ""
    word = ""
    yield {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}}

    def opened(wanted: str) -> Iterator[Any]:
        nonlocal kind
        if kind == wanted:
            return
        yield from close()
        kind = wanted
        item = _item(wanted, f"item_{len(items)}", None)
        yield {"type": "response.output_item.added", "output_index": len(items), "item": item}

    def close() -> Iterator[Any]:
        nonlocal kind
        if not kind:
            return
        item = _item(kind, f"item_{len(items)}", "".join(texts))
        yield {"type": "response.output_item.done", "output_index": len(items), "item": item}
        items.append(item)
        texts.clear()
        kind = ""

    for piece in script:
        where = {"item_id": f"item_{len(items)}", "output_index": len(items)}
        match piece:
            case Text(text):
                yield from opened("message")
                where = {"item_id": f"item_{len(items)}", "output_index": len(items)}
                texts.append(text)
                yield {"type": "response.output_text.delta", **where, "content_index": 0, "delta": text}
            case Refusal(text):
                yield from opened("refusal")
                where = {"item_id": f"item_{len(items)}", "output_index": len(items)}
                texts.append(text)
                yield {"type": "response.refusal.delta", **where, "content_index": 0, "delta": text}
            case Thought(text):
                yield from opened("reasoning")
                where = {"item_id": f"item_{len(items)}", "output_index": len(items)}
                texts.append(text)
                name = "response.reasoning_summary_text.delta"
                yield {"type": name, **where, "summary_index": 0, "delta": text}
            case Call(id, name, arguments):
                yield from close()
                where = {"item_id": f"item_{len(items)}", "output_index": len(items)}
                item = {"id": where["item_id"], "type": "function_call", "call_id": id, "name": name}
                begun = {**item, "arguments": "", "status": "in_progress"}
                yield {
                    "type": "response.output_item.added",
                    "output_index": where["output_index"],
                    "item": begun,
                }
                for part in arguments:
                    yield {"type": "response.function_call_arguments.delta", **where, "delta": part}
                whole = {**item, "arguments": "".join(arguments), "status": "completed"}
                yield {
                    "type": "response.output_item.done",
                    "output_index": where["output_index"],
                    "item": whole,
                }
                items.append(whole)
            case End(reason):
                yield from close()
                word = reason
            case Mark():
                status = "completed" if word == "completed" else "incomplete"
                details = None if word == "completed" else {"reason": word}
                usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
                response = {
                    **head,
                    "status": status,
                    "incomplete_details": details,
                    "output": items,
                    "usage": usage,
                }
                yield {"type": f"response.{status}", "response": response}
            case Raw(data):
                yield data


def _item(kind: str, id: str, text: str | None) -> dict[str, Any]:
    if kind == "reasoning":
        summary = [] if text is None else [{"type": "summary_text", "text": text}]
        return {"id": id, "type": "reasoning", "summary": summary}
    content: list[dict[str, Any]] = []
    if text is not None and kind == "refusal":
        content = [{"type": "refusal", "refusal": text}]
    elif text is not None:
        content = [{"type": "output_text", "text": text, "annotations": []}]
    status = "in_progress" if text is None else "completed"
    return {"id": id, "type": "message", "role": "assistant", "status": status, "content": content}


@dataclass(frozen=True, slots=True)
class WireFormat:
    """A provider's protocol."""

    name: str
    model: str
    """A model that is reached in this format, by Forky's name for it."""
    events: Encoder
    path: str
    """The end of the path of its requests."""
    variable: str = ""
    """The beginning of the environment variables with its key and address; "" for a local server."""
    base: str = "/v1"
    """What the address in the variable ends with."""


WIRES: dict[str, WireFormat] = {
    wire.name: wire
    for wire in (
        WireFormat("openai-chat", "gpt-4o", chat_events, "/chat/completions", "OPENAI"),
        WireFormat("openai-responses", "o3-pro", responses_events, "/responses", "OPENAI"),
        WireFormat(
            "anthropic", "anthropic/claude-sonnet-4-5", anthropic_events, "/messages", "ANTHROPIC", ""
        ),
        WireFormat(
            "gemini",
            "gemini/gemini-2.5-pro",
            gemini_events,
            ":streamGenerateContent",
            "GEMINI",
            "/v1beta",
        ),
        WireFormat("deepseek", "deepseek/deepseek-chat", chat_events, "/chat/completions", "DEEPSEEK"),
        WireFormat("local", "", chat_events, "/chat/completions"),
    )
}


@dataclass(slots=True)
class ScriptedProvider:
    """A running server. Each request gets the next script; the last one is used again and again."""

    wire: WireFormat
    port: int
    scripts: list[tuple[Piece, ...]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the requests so far."""
    refused: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """The requests that were answered with an error, as status and body."""
    whole: dict[str, Any] | None = None
    """An answer that is sent in one piece, as by a server that does not stream."""
    cut_at: tuple[int, ...] = ()
    """The positions, in bytes, at which the stream is cut into separate writes."""
    breaks_off: bool = False
    """Whether the connection is closed without the end of the response's encoding, as when a cable is pulled."""

    def answer(self, *script: Piece) -> None:
        """Answer the next request with this script."""
        self.scripts.append(script)

    def bytes_of(self, script: Sequence[Piece]) -> bytes:
        return b"".join(event_bytes(data) for data in self.wire.events(script))

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which Forky finds this server."""
        url = f"http://127.0.0.1:{self.port}"
        if not self.wire.variable:
            return {"FORKY_SERVERS": f"{url}/v1"}
        return {
            f"{self.wire.variable}_API_KEY": "k-test",
            f"{self.wire.variable}_BASE_URL": f"{url}{self.wire.base}",
        }

    def catalogue(self) -> Catalogue:
        """The models of this server, as Forky offers them."""
        environment = {"FORKY_PROBE": "0", **self.environment}
        return Catalogue(settings=Settings.from_environment(environment), environment=environment, usual=())


def event_bytes(data: Any) -> bytes:
    """Encode an event as it goes over the wire."""
    text = data if isinstance(data, str) else json.dumps(data)
    kind = data.get("type") if isinstance(data, dict) else None
    head = f"event: {kind}\n" if isinstance(kind, str) else ""
    return f"{head}data: {text}\n\n".encode()


@contextmanager
def provider(name: str) -> Iterator[ScriptedProvider]:
    """Run a scripted provider of this wire format on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            running.requests.append(body)
            if not self.path.partition("?")[0].endswith(running.wire.path):
                self._json(404, {"error": {"message": f"{self.path} is not served here."}})
                return
            if (refused := refusal(name, body)) is not None:
                running.refused.append(refused)
                self._json(*refused)
                return
            if running.whole is not None:
                self._json(200, running.whole)
                return
            script = running.scripts.pop(0) if len(running.scripts) > 1 else running.scripts[0]
            self._stream(running.bytes_of(script))

        def _stream(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            ends = [0, *sorted(at for at in running.cut_at if 0 < at < len(content)), len(content)]
            for start, end in pairwise(ends):
                piece = content[start:end]
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
            if not running.breaks_off:
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        def _json(self, status: int, value: object) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = ScriptedProvider(WIRES[name], server.server_port)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
