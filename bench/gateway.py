"""The gateway beside LiteLLM's proxy: what each adds before the first byte, and a hundred streams at once.

Own delay is the time to the first byte of a stream through the gateway less the time of the same call to the model
server directly, the sides taking turns; every question is new, so that each is filed as a conversation of its own.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import httpx
from playwright.sync_api import sync_playwright

from bench.audience import clicks, hush, seed
from bench.litellm_proxy import KEY, litellm_proxy
from bench.measure import Line
from bench.screens import ForkyScreen
from bench.serving import CHECKOUT, model_server, streamlit
from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens
from tests.browser.conftest import FLAGS
from tests.llm import third_party
from tests.programs import chromium

STREAMS = 100
_MEDIAN, _P99 = 15.0, 40.0
"""Milliseconds."""
_SEED = 17


def _token(folder: Path) -> str:
    with Forky.open(folder / "forky.duckdb") as forky:
        return Tokens(forky.store).make("bench").text


def _first_byte(client: httpx.Client, question: str) -> float:
    """Milliseconds; the rest of the answer is read."""
    body = {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": question}]}
    begun = time.perf_counter()
    with client.stream("POST", "chat/completions", json=body) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        spent = (time.perf_counter() - begun) * 1000
        assert answer.status_code == 200, answer.read()
        for _ in pieces:
            pass
    return spent


def delay_lines(rounds: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as kept, contextlib.ExitStack() as open_:
        folder = Path(kept)
        token = _token(folder)
        mock = open_.enter_context(third_party.running(folder))
        keys = {"OPENAI_API_KEY": "sk-upstream", "OPENAI_BASE_URL": mock.base_url}
        served = open_.enter_context(streamlit(CHECKOUT / "app.py", folder, **keys))
        proxy = open_.enter_context(litellm_proxy(folder, mock.base_url))
        sides = [
            open_.enter_context(_client(url, key))
            for url, key in ((mock.base_url, "x"), (f"{served.url}/v1", token), (proxy, KEY))
        ]
        _load(served.url, token)
        taken: list[list[float]] = []
        for number in range(rounds + 20):
            spent = [_first_byte(side, f"{number}: say hello") for side in sides]
            taken += [spent] if number >= 20 else []
    ours = [through - direct for direct, through, _ in taken]
    theirs = [through - direct for direct, _, through in taken]
    yield Line("own delay before the first byte, beside LiteLLM's proxy", median(ours), median(theirs), 0.5)
    slow_ours, slow_theirs = (quantiles(side, n=100)[98] for side in (ours, theirs))
    yield Line("  … 99 of 100 within", slow_ours, slow_theirs, 0.5)
    yield Line("  … beside the goal", median(ours), _MEDIAN, 1.0)
    yield Line("  … 99 of 100, beside the goal", slow_ours, _P99, 1.0)


def _load(url: str, token: str) -> None:
    """Have Forky load LiteLLM, as the proxy has: a call that is not passed on waits for it."""
    asked = {"model": "gpt-4o", "max_tokens": 9, "messages": [{"role": "user", "content": "say hello"}]}
    with _client(f"{url}/v1", token) as client:
        client.post("messages", json=asked).raise_for_status()


def _client(url: str, key: str) -> httpx.Client:
    headers = {"authorization": f"Bearer {key}"}
    return httpx.Client(base_url=f"{url}/", headers=headers, timeout=60, trust_env=False)


def stream_lines(rounds: int) -> Iterator[Line]:
    """Idle, then the same clicks while a hundred programs stream."""
    program = chromium()
    if program is None:
        raise SystemExit("No Chromium on this machine (set CHROMIUM=/path/to/it).")
    rng = random.Random(_SEED)
    with (
        tempfile.TemporaryDirectory() as kept,
        sync_playwright() as play,
        model_server(Path(kept)) as model,
    ):
        folder = Path(kept)
        place = model.removeprefix("http://").removesuffix("/v1")
        token = _token(folder)
        conversation, places, _ = seed(folder, f"{place}/steady")
        browser = play.chromium.launch(executable_path=str(program), args=FLAGS)
        with streamlit(CHECKOUT / "app.py", folder, FORKY_SERVERS=model) as served:
            screen = ForkyScreen(browser, served.url)
            screen.open(conversation, places[0])
            clicks(screen, places, rng, 3)
            idle = clicks(screen, places, rng, rounds)
            command = [sys.executable, "-m", "bench.gateway_callers", served.url, token]
            command += [f"{place}/steady", str(STREAMS)]
            with subprocess.Popen(
                command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as callers:
                assert callers.stdout is not None
                assert callers.stdout.readline().startswith("streaming"), "They could not begin."
                busy = clicks(screen, places, rng, rounds)
                hush(model)
                whole = int(callers.stdout.readline().split()[1])
            screen.close()
        browser.close()
        with Forky.open(folder / "forky.duckdb") as forky:
            ended = [
                generation.status
                for summary in forky.conversations()
                if summary.title.startswith("How long is string number")
                for generation in forky.store.generations(summary.id)
            ]
    yield Line(f"of {STREAMS} streams at once, whole", whole, STREAMS, 1.0, "", at_least=True)
    yield Line("  … recorded whole", ended.count("done"), STREAMS, 1.0, "", at_least=True)
    yield Line("a click meanwhile, beside idle", median(busy), median(idle), 2)


def lines(*, quick: bool) -> list[Line]:
    """The whole table, as `python -m bench` prints it; `quick` takes few rounds."""
    return [*delay_lines(30 if quick else 200), *stream_lines(3 if quick else 12)]
