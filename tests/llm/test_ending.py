"""A program that ends without closing its database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forky_core.forky import Forky
from tests.hangs import HANG
from tests.llm.wire import answer, serving
from tests.providers.scripted import End, Mark, Text, provider

CHECKOUT = Path(__file__).parents[2]
PROGRAM = """
import sys
from forky_core import Forky, ForkyError
forky = Forky.open(sys.argv[1])
chat = forky.create("Left open", model=sys.argv[2])
try:
    chat.ask("Hello?")
except ForkyError as error:
    print(error)
"""
WITHOUT_THREADS = """
from forky_core.llm import loading
loading.litellm()
from litellm.litellm_core_utils.thread_pool_executor import executor
executor.shutdown()
"""
"""LiteLLM's threads are no more when a program ends, while an answer may still arrive."""
REFUSED = answer("401 Unauthorized", {"error": {"message": "No such key.", "type": "authentication_error"}})


def run(
    database: Path, model: str, *, program: str = PROGRAM, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, str(database), model],
        cwd=CHECKOUT,
        env={**os.environ, "FORKY_PROBE": "off", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG,
    )


@pytest.mark.parametrize("provider", ["GEMINI", "ANTHROPIC", "OPENAI"])
def test_a_program_ends_after_a_call_that_a_provider_refused(provider: str, tmp_path: Path) -> None:
    model = {"GEMINI": "gemini/gemini-2.5-pro", "ANTHROPIC": "claude-sonnet-4-5", "OPENAI": "gpt-4o"}[
        provider
    ]
    with serving([REFUSED]) as wire:
        url = f"http://127.0.0.1:{wire.port}"
        ran = run(
            tmp_path / "forky.duckdb", model, **{f"{provider}_BASE_URL": url, f"{provider}_API_KEY": "k-test"}
        )
    assert (ran.returncode, ran.stderr) == (0, "")
    (said,) = ran.stdout.splitlines()
    assert "did not accept the key (401)" in said


def test_nothing_is_complained_of_where_a_program_ends_with_an_answer(tmp_path: Path) -> None:
    with provider("openai-chat") as server:
        server.answer(Text("8080."), End("reason_of_next_year"), Mark())
        ran = run(
            tmp_path / "forky.duckdb", "gpt-4o", program=WITHOUT_THREADS + PROGRAM, **server.environment
        )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_what_was_said_is_saved_and_nothing_is_complained_of(tmp_path: Path) -> None:
    ran = run(tmp_path / "forky.duckdb", "offline/quote")
    assert (ran.returncode, ran.stderr) == (0, "")
    with Forky.open(tmp_path / "forky.duckdb") as forky:
        (left,) = forky.conversations()
        assert left.messages == 2
        assert forky.verify().findings == ()


FORKED = """
import os, sys
from forky_core import Forky, ForkyError
forky = Forky.open(sys.argv[1])
chat = forky.create("Before", model=sys.argv[2])
chat.ask("Hello?")
child = os.fork()
if not child:
    for use in (lambda: chat.ask("Mine?"), lambda: forky.create("Mine"), lambda: Forky.open(":memory:").create("Own")):
        try:
            use()
            print("done", flush=True)
        except ForkyError as error:
            print(error, flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1], len(list(chat)))
chat.ask("Still there?")
"""


def test_a_fork_of_a_program_is_told_to_open_the_database_itself(tmp_path: Path) -> None:
    ran = run(tmp_path / "forky.duckdb", "offline/quote", program=FORKED)
    assert ran.returncode == 0, ran.stderr
    refused = (
        "forky.duckdb was opened by another process, of which this one is a fork. Open it after the fork"
    )
    *said, ended = ran.stdout.splitlines()
    assert [line.partition(", in one")[0] for line in said] == [refused, refused, "done"]
    assert ended == "0 2"
