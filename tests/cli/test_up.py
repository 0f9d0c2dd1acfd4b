from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from argparse import _SubParsersAction
from pathlib import Path
from urllib.error import URLError

import pytest

from forky_core.cli import up
from forky_core.cli.browser import open_once_up
from forky_core.cli.help_screen import GROUPS
from forky_core.cli.parser import COMMANDS, main, parser
from tests.cli.conftest import environment
from tests.hangs import HANG


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("verb", [("up", "--no-browser"), ("serve",)], ids=lambda words: words[0])
def test_it_answers_on_this_machine_and_ends_with_its_process(
    verb: tuple[str, ...], tmp_path: Path, database: Path
) -> None:
    port = free_port()
    command = [sys.executable, "-m", "forky_core", "--database", database.name, *verb, "--port", str(port)]
    quiet = {name: value for name, value in environment().items() if name != "PYTHONWARNINGS"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert healthy(port, server), server.communicate()[0]
            assert server.stdout
            assert any(f"http://127.0.0.1:{port}" in line for line in server.stdout)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(HANG)
    with pytest.raises(URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2)


def healthy(port: int, server: subprocess.Popen[str]) -> bool:
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as answer:
                return b'"ok"' in answer.read()
        except OSError:
            time.sleep(0.2)
    return False


def test_it_takes_the_next_free_port_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(up, "FIRST_PORT", port)
        found = up._port("127.0.0.1", None)
        assert found > port
        assert f"Port {port} is taken; Forky listens on {found}." in capsys.readouterr().err
        assert main(["up", "--port", str(port)]) == 2
    assert f"Port {port} of 127.0.0.1 cannot be listened on." in capsys.readouterr().err


@pytest.mark.parametrize("path", ["a\0b.duckdb", "~nobody-of-that-name/forky.duckdb"])
def test_it_says_of_an_impossible_path_that_it_is_one(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--database", path, "up"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("There can be no database at")
    assert "Traceback" not in error


def test_the_browser_opens_once_the_server_takes_connections_and_not_before() -> None:
    opened: list[str] = []
    port = free_port()
    assert not open_once_up(f"http://127.0.0.1:{port}", patience=0.1, open_page=opened.append)
    assert opened == []
    with socket.socket() as server:
        server.bind(("127.0.0.1", port))
        server.listen()
        assert open_once_up(f"http://127.0.0.1:{port}", open_page=opened.append)
    assert opened == [f"http://127.0.0.1:{port}"]


@pytest.mark.parametrize(
    ("words", "environment", "expected"),
    [
        (["up"], {"DISPLAY": ":0"}, ["http://127.0.0.1:9"]),
        (["up", "--address", "::1"], {"DISPLAY": ":0"}, ["http://[::1]:9"]),
        (["up", "--no-browser"], {"DISPLAY": ":0"}, []),
        (["serve"], {"DISPLAY": ":0"}, []),
        (["up"], {}, []),
        (["up"], {"DISPLAY": ":0", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, []),
        (["up", "--address", "0.0.0.0"], {"DISPLAY": ":0"}, []),  # noqa: S104 - nothing listens here
    ],
)
def test_a_browser_opens_only_where_a_person_sits_before_it(
    words: list[str], environment: dict[str, str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(up, "_port", lambda _address, _asked: 9)
    monkeypatch.setattr(up, "_open_once_up", opened.append)
    monkeypatch.setattr(up, "_become", lambda _command, _folder, _environment: 0)
    assert main(words) == 0
    assert opened == expected


def test_without_streamlit_it_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(up, "find_spec", lambda _name: None)
    assert main(["up"]) == 2
    assert "forky[app]" in capsys.readouterr().err


def test_the_help_fits_on_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = parser().format_help().splitlines()
    assert len(lines) <= 46
    assert max(map(len, lines)) <= 80


def test_the_help_has_every_command_once_also_in_a_narrow_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    (commands,) = (one for one in parser()._actions if isinstance(one, _SubParsersAction))
    named = [name for _, group in GROUPS for names, _ in group for name in names.split(", ")]
    assert sorted(named) == sorted(commands.choices)
    lines = parser().format_help().splitlines()
    for names in (names for _, group in GROUPS for names, _ in group):
        assert sum(line.startswith(f"  {names} ") for line in lines) == 1, names
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize("module", COMMANDS)
def test_a_command_is_found_in_its_module_alone(module: str) -> None:
    """A command imports no other module than its own."""
    names = COMMANDS[module]
    (found,) = (one for one in parser(names[0])._actions if isinstance(one, _SubParsersAction))
    assert sorted(found.choices) == sorted(names)


def test_serve_has_a_help_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("up", "serve"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        said = capsys.readouterr().out
        assert said.startswith(f"usage: forky {command} ") and "--port" in said
        assert ("--no-browser" in said) is (command == "up")


def test_a_workspace_that_is_named_of_a_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--database", str(tmp_path / "forky.duckdb"), "--workspace", "club", "serve"]) == 2
    assert "Traceback" not in capsys.readouterr().err
