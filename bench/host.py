"""What Forky costs the program that imports it: `python -m bench.host [ROUNDS] [CHECKOUT …]`.

Medians over processes, each of which imports Forky, asks a model server that runs here, and asks it again with a
thousand messages. Several checkouts (the one before a change, say) take turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PROGRAM = """
import json, os, resource, sys, time
tuned = sys.argv[1] == "tuned"
begun = time.perf_counter()
from forky_core import Forky
found = {"import": time.perf_counter() - begun}
if tuned:
    try:
        from forky_core.llm.process_tuning import tune_process
        tune_process()
    except ImportError:
        pass
def ask(chat, name):
    begun, worked = time.perf_counter(), time.process_time()
    chat.ask("And?", model="gpt-4o")
    found[name] = time.perf_counter() - begun
    found[name + ", processor"] = time.process_time() - worked
with Forky.open(":memory:") as forky:
    chat = forky.create("Short")
    ask(chat, "first ask")
    for _ in range(3):
        ask(chat, "fourth ask")
    long = forky.create("Long")
    for number in range(500):
        long.say(f"Question {number}?")
        long.say(f"Answer {number}.", role="assistant")
    ask(long, "ask, 1,000 messages")
    ask(long, "ask again, 1,000 messages")
found["MB at most"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""


class ModelServer(BaseHTTPRequestHandler):
    """Answers in 200 pieces, in OpenAI's protocol."""

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        about = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        ends = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 7, "completion_tokens": 200, "total_tokens": 207}
        deltas = [{"role": "assistant", "content": f"word{number} "} for number in range(200)]
        chunks = [
            {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        chunks += [{**about, "choices": ends}, {**about, "choices": [], "usage": usage}]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(body.encode())


def measured(checkout: Path, kind: str, base_url: str) -> dict[str, float]:
    environment = os.environ | {"PYTHONPATH": str(checkout), "FORKY_PROBE": "off"}
    environment |= {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-0123456789"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        env=environment,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(rounds: int, checkouts: list[Path]) -> None:
    kinds = [(checkout, kind) for checkout in checkouts for kind in ("library", "tuned")]
    results: list[list[dict[str, float]]] = [[] for _ in kinds]
    with ThreadingHTTPServer(("127.0.0.1", 0), ModelServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for _ in range(rounds):
            for found, (checkout, kind) in zip(results, kinds, strict=True):
                found.append(measured(checkout, kind, f"http://127.0.0.1:{server.server_port}/v1"))
        server.shutdown()
    for found, (checkout, kind) in zip(results, kinds, strict=True):
        print(f"{checkout.name}, {kind}:")
        for name in found[0]:
            values = sorted(one[name] for one in found)
            print(f"  {name:<40}{statistics.median(values):10.3f}   ({values[0]:.3f} – {values[-1]:.3f})")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if sys.argv[1:] else 7,
        [Path(one).resolve() for one in sys.argv[2:]] or [CHECKOUT],
    )
