"""What holds for every test: nothing leaves this machine, no key and no database of the person's is touched.

Connections are watched by an audit hook, which sees every socket of this process whichever library opens it. An
attempt is refused, and fails the test even where the code under test takes the refusal for a dead network.

A test in a browser is tried up to three times, and named in the summary where it needed that: a machine under load can
drop a frame, for which Chromium then waits for ever (an `evaluate` that never comes back). No other test has a second
chance. What tests draw at random follows from one seed, which the head of a run prints; `TEST_SEED=…`
draws the same again, and where CI is set it is always the same. Hypothesis prints how to repeat what failed.

Where several processes share the tests (`make test`), a file stays in one of them, and tests/browser in two: each opens
a browser of its own, which waits for its server as often as it works. Nobody else is left to use the second core at the
end, since they take longer than all other tests.
"""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.assertion import rewrite
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from tests.store.postgresql.server import Server

settings.register_profile("here", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# The processes that share the tests, and the programs that tests start, get it from the environment.
SEED = os.environ.setdefault("TEST_SEED", "0" if os.environ.get("CI") else str(random.randrange(10**6)))

_attempts: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """`make test` tries fewer of the examples of each property, `make test-all` and `make mutate` all of them."""
    if hasattr(config, "workerinput"):
        gc.disable()  # Until all is collected.
    if config.option.markexpr == "not long":
        settings.register_profile("gate", settings.default, max_examples=20)
        settings.load_profile("gate")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Rewrite a share of the files' assertions before collecting; else each process rewrites all of a new checkout.

    Only where folders are asked for. What cannot be read or kept is left to pytest, which says so of the file.
    """
    shared = getattr(session.config, "workerinput", None)
    state = session.config.stash.get(rewrite.assertstate_key, None)
    if shared is None or state is None or sys.dont_write_bytecode:
        return
    if not all(Path(asked).is_dir() for asked in session.config.args):
        return
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    for file in files[int(shared["workerid"].removeprefix("gw")) :: shared["workercount"]]:
        kept = rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"
        with suppress(OSError, SyntaxError):
            if not kept.exists():  # Where it is out of date pytest writes it anew.
                kept.parent.mkdir(parents=True, exist_ok=True)
                digest, code = rewrite._rewrite_test(file, session.config)
                rewrite._write_pyc(state, code, digest, kept)


SECOND_CHANCES = 2
_HUNG = 240
"""Seconds after which a try in a browser is ended; the longest takes half of them on a busy machine."""
_SAID_OF_A_TRY = 6
"""Lines that the summary has of an attempt that failed."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("browser") and not item.get_closest_marker("long"):
            if config.pluginmanager.hasplugin("timeout"):
                item.add_marker(pytest.mark.timeout(_HUNG))
            if config.pluginmanager.hasplugin("rerunfailures"):
                item.add_marker(pytest.mark.flaky(reruns=SECOND_CHANCES))


def pytest_collection_finish() -> None:
    """Leave what was collected out of later collections of garbage: each would go through a million objects."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a test in a browser needed another try."""
    for report in terminalreporter.stats.get("rerun", ()):
        why = str(report.longrepr).rstrip().splitlines()
        raised = [line for line in why if line.startswith("E ")] or why
        terminalreporter.write_line(f"tried again: {report.nodeid}")
        for line in raised[:_SAID_OF_A_TRY]:
            terminalreporter.write_line(f"    {line[:200]}")


def pytest_report_header() -> str:
    return f"seed: TEST_SEED={SEED}"


@pytest.fixture(autouse=True)
def drawn_from_the_seed() -> None:
    random.seed(SEED)


class ByFile(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Shares out files, and tests/browser as two of about as many tests: up to test_h…, and from there on."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/browser/"):
            return "tests/browser/a-h" if nodeid < "tests/browser/test_i" else "tests/browser/i-z"
        return str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


class Loggers(dict[str, logging.Logger | logging.PlaceHolder]):
    """By name. pytest goes through them before each step of a test, while LiteLLM, loaded in a thread, makes more."""

    def values(self) -> list[logging.Logger | logging.PlaceHolder]:  # type: ignore[override]  # of one moment
        return list(super().values())


logging.root.manager.loggerDict = Loggers(logging.root.manager.loggerDict)


def _is_here(host: object) -> bool:
    """This machine, or a name that RFC 6761 promises never to resolve."""
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if name in {"", "localhost"} or name.endswith((".localhost", ".invalid")):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if not _is_here(host):
        _attempts.append(f"{event} {host}")
        raise ConnectionRefusedError(f"Tests may not leave this machine ({host}).")


sys.addaudithook(_refuse_network)


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> Iterator[None]:
    _attempts.clear()
    yield
    assert _attempts == []


_main = sys.modules["__main__"]


@pytest.fixture(autouse=True)
def the_main_module_stays() -> Iterator[None]:
    """Streamlit puts each script that it runs in its place; a process started by a later test would run that first."""
    yield
    sys.modules["__main__"] = _main


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """The one PostgreSQL of this process, for all tests that neither stop nor set it; each makes databases in it."""
    from tests.store.postgresql.server import running_server  # noqa: PLC0415 - it skips where the package is not there

    with running_server() as server:
        yield server


@pytest.fixture(autouse=True, scope="session")
def a_bare_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # Tests are also run without patches of Streamlit, to see which need them.
        for name in os.environ.keys() - {"FORKY_STREAMLIT_PATCHES"}:
            if name.startswith(("FORKY_", "STREAMLIT_")) or name.endswith(("_API_KEY", "_PROXY", "_proxy")):
                patch.delenv(name)
        patch.setenv("FORKY_DATABASE", str(tmp_path_factory.mktemp("database") / "forky.duckdb"))
        yield
