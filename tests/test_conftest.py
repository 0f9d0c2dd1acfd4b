"""The guard of conftest.py guards."""

from __future__ import annotations

import logging
import re
import shlex
import socket
from pathlib import Path

import httpx
import pytest

from tests import conftest
from tests.hangs import HANG
from tests.programs import CHECKOUT

pytest_plugins = ["pytester"]

MAKEFILE = CHECKOUT / "Makefile"
QUICK = ("-p", "no:langsmith_plugin")
"""As in pyproject.toml, which the runs below do not read."""


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "example.com"])
def test_no_test_can_leave_this_machine(address: str) -> None:
    with pytest.raises(OSError, match="may not leave"):
        socket.create_connection((address, 80), timeout=1)
    conftest._attempts.clear()


def test_a_swallowed_attempt_is_remembered() -> None:
    with pytest.raises(httpx.ConnectError):
        httpx.get("http://192.0.2.1/", trust_env=False)
    assert conftest._attempts == ["socket.getaddrinfo 192.0.2.1"]
    conftest._attempts.clear()


def test_this_machine_may_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=HANG).close()


def test_only_browser_tests_are_tried_again_and_the_summary_says_so(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(conftest.__file__).read_text("utf-8"))
    pytester.makeini("[pytest]\naddopts = -raR\nmarkers =\n  browser: in a browser\n  long: takes long\n")
    pytester.makepyfile(
        """
        import pytest
        tries = []

        @pytest.mark.browser
        def test_in_a_browser():
            tries.append(1)
            assert len(tries) == 3

        def test_elsewhere():
            tries.append(1)
            assert len(tries) == 5
        """
    )
    done = pytester.runpytest_subprocess(*QUICK)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["RERUN *test_in_a_browser", "FAILED *test_elsewhere*", "*2 rerun*"])


def test_long_tests_wait_for_the_second_command_and_for_nothing_else(pytester: pytest.Pytester) -> None:
    """`make test` leaves them out by their mark alone; `make test-all` and `make mutate` leave nothing out."""
    commands = re.findall(
        r"^(test|test-all): .*\n\t@\$\(TESTS\)(.*) \$\(ARGS\)$", MAKEFILE.read_text("utf-8"), re.MULTILINE
    )
    assert dict(commands) == {"test": ' -m "not long"', "test-all": ""}
    assert "not long" not in (CHECKOUT / "tests/mutation/__main__.py").read_text("utf-8")
    pytester.makeconftest(Path(conftest.__file__).read_text("utf-8"))
    pytester.makeini("[pytest]\nmarkers = long: takes long\n")
    pytester.makepyfile(
        """
        import pytest
        from hypothesis import settings

        @pytest.mark.long
        def test_takes_long(): pass

        def test_is_quick(): print("examples:", settings().max_examples)
        """
    )
    gate = pytester.runpytest_subprocess(*QUICK, "-rP", *shlex.split(dict(commands)["test"]))
    gate.assert_outcomes(passed=1, deselected=1)
    gate.stdout.fnmatch_lines(["examples: 20"])
    everything = pytester.runpytest_subprocess(*QUICK, "-rP")
    everything.assert_outcomes(passed=2)
    everything.stdout.fnmatch_lines(["examples: 100"])


def test_what_is_drawn_at_random_follows_from_the_seed_that_is_printed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeconftest(Path(conftest.__file__).read_text("utf-8"))
    pytester.makepyfile("import random\n\ndef test_it():\n    print('drawn', random.random())\n")
    drawn = []
    for seed in ("7", "7", "8"):
        monkeypatch.setenv("TEST_SEED", seed)
        done = pytester.runpytest_subprocess(*QUICK, "-rP")
        done.stdout.fnmatch_lines([f"seed: TEST_SEED={seed}"])
        drawn += [line for line in done.outlines if line.startswith("drawn")]
    assert drawn[0] == drawn[1] != drawn[2]


def test_tests_are_shared_out_by_file_and_those_in_a_browser_in_two_parts(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(conftest.__file__).read_text("utf-8"))
    report = "def test_it(worker_id):\n    print(__name__, worker_id)\n"
    browser = ("tests/browser/test_a", "tests/browser/test_h", "tests/browser/test_i", "tests/browser/test_z")
    files = (*browser, "tests/test_c", "tests/test_d")
    for name in files:
        path = pytester.path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{report}\n\ndef test_it_again(worker_id):\n    print(__name__, worker_id)\n")
    done = pytester.runpytest_subprocess(*QUICK, "-n2", "-rP", "--import-mode=importlib")
    done.assert_outcomes(passed=2 * len(files))
    printed = {line for line in done.outlines if " gw" in line and line.startswith("tests.")}
    assert len(printed) == len(files), "each file ran in one process"
    workers = {file.replace(".", "/"): worker for file, worker in map(str.split, printed)}
    a, h, i, z = (workers[name] for name in browser)
    assert a == h != i == z


def test_loggers_may_be_made_while_a_test_begins() -> None:
    for _ in logging.root.manager.loggerDict.values():
        logging.getLogger("tests.made_meanwhile")
    assert "tests.made_meanwhile" in logging.root.manager.loggerDict


def test_a_script_of_streamlit_is_not_the_main_module_of_the_next_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(Path(conftest.__file__).read_text("utf-8"))
    pytester.makepyfile(
        """
        import sys
        from streamlit.testing.v1 import AppTest

        ours = sys.modules["__main__"]

        def test_runs_a_script():
            AppTest.from_string("1").run()
            assert sys.modules["__main__"] is not ours

        def test_starts_a_process():
            assert sys.modules["__main__"] is ours
        """
    )
    pytester.runpytest_subprocess(*QUICK).assert_outcomes(passed=2)
