"""A model server that speaks OpenAI's protocol and takes as long as it says: `python bench/model_server.py PORT`.

Both sides of a comparison ask the same one, over a real connection, so that what is measured is the app around it.
"""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

QUICK, LONG, STEADY = "quick", "long", "steady"
"""Models: a short answer, and two that go on for minutes; the last in pieces, as providers send them."""
DELAY = 0.2
"""Seconds from the request to the first word."""
GAP = {QUICK: 0.01, LONG: 0.04, STEADY: 0.2}
"""Seconds between two words."""
WORDS = {QUICK: 12, LONG: 6_000, STEADY: 1_500}
PARAGRAPH = 60
"""Words after which a paragraph ends."""
_numbers = count(1)
_hushed = [0.0]
"""When answers were last told to end."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what it prints would be in the way of the table."""

    def do_GET(self) -> None:
        """The models; asked for `/v1/hush`, every answer in progress ends."""
        if self.path.endswith("/hush"):
            _hushed[0] = time.monotonic()
        body = json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in WORDS]})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        begun = time.monotonic()
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = asked["model"] if asked["model"] in WORDS else QUICK
        time.sleep(max(0.0, begun + DELAY - time.monotonic()))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            self._say(name, f"First{next(_numbers)}")
        except OSError:  # Whoever asked has gone.
            self.close_connection = True

    def _say(self, name: str, first: str) -> None:
        begun = time.monotonic()
        for number in range(WORDS[name]):
            if _hushed[0] > begun:
                break
            time.sleep(max(0.0, begun + number * GAP[name] - time.monotonic()))
            word = f"word{number}" if number else first
            end = " " if (number + 1) % PARAGRAPH else "\n\n"
            self._event({"content": word + end}, None, name)
        self._event({}, "stop", name)
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, delta: dict[str, Any], reason: str | None, name: str) -> None:
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
        chunk = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": name,
            "choices": [choice],
        }
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 500
    """Connections that wait to be taken: a hundred come at once."""


def main() -> None:
    server = _Server(("127.0.0.1", int(sys.argv[1])), _Handler)
    server.serve_forever()


if __name__ == "__main__":
    main()
