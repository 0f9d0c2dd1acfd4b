"""The lines of deploy/Dockerfile: what it copies is there, who runs, what is kept, and that its health check works.

Building it needs Docker and a network; the workflow does that with the commands of docs/operating.md.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from forky_core.cli.parser import parser
from forky_core.process.settings import Settings
from tests.app_server import free_port, served
from tests.hangs import HANG
from tests.operating.page import blocks
from tests.programs import CHECKOUT

DOCKERFILE = (CHECKOUT / "deploy" / "Dockerfile").read_text("utf-8")
JOINED = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE))
LINES = [tuple(line.split(maxsplit=1)) for line in JOINED.splitlines() if line.strip()]


def of(instruction: str) -> list[str]:
    return [rest for name, rest in LINES if name == instruction]


def only(instruction: str) -> str:
    (rest,) = of(instruction)
    return rest


def test_what_it_copies_is_there_and_let_through_and_nothing_private_is() -> None:
    copied = [name for rest in of("COPY") for name in rest.split()[:-1]]
    assert [name for name in copied if not (CHECKOUT / name).exists()] == []
    ignored = (CHECKOUT / "deploy" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert ignored[1] == "*"
    assert sorted(line[1:] for line in ignored if line.startswith("!")) == sorted(copied)
    assert {"app.py", "pages", "forky_core", ".streamlit/config.toml"} <= set(copied)


def test_it_installs_nothing_but_what_is_locked() -> None:
    (install,) = [rest for rest in of("RUN") if "pip install" in rest]
    assert "--require-hashes -r requirements.txt" in install
    assert not [rest for rest in of("RUN") if "apt-get" in rest or "curl" in rest]


def test_it_runs_as_a_user_without_rights_who_owns_the_data_alone() -> None:
    user = only("USER")
    assert user not in {"root", "0"}
    names = [name for name, _ in LINES]
    assert names.index("USER") < names.index("CMD") and max(
        at for at, name in enumerate(names) if name in {"COPY", "RUN"}
    ) < names.index("USER")
    assert f"install -d -o {user} -g {user} -m 700 {only('VOLUME')}" in " ".join(of("RUN"))
    assert not [rest for rest in of("COPY") if "--chown" in rest]


def test_its_data_lies_in_the_volume(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = dict(word.split("=", 1) for word in shlex.split(only("ENV")))
    if sys.platform != "linux":
        pytest.skip("XDG_DATA_HOME is read on Linux, which the image is.")
    monkeypatch.setenv("XDG_DATA_HOME", variables["XDG_DATA_HOME"])
    database = Settings.from_environment(variables).database
    assert isinstance(database, Path)
    assert database.is_relative_to(only("VOLUME"))
    assert not {name for name in variables if name.startswith("FORKY_SIGN") or "PASSWORD" in name}


def test_its_command_is_one_of_forky_and_listens_at_the_port_that_it_exposes() -> None:
    words = json.loads(only("CMD"))
    assert words[:3] == ["python", "-m", "forky_core"]
    options = parser().parse_args(words[3:])
    assert (options.command, options.address, str(options.port)) == ("serve", "0.0.0.0", only("EXPOSE"))  # noqa: S104 - inside a container


@pytest.fixture
def health_check() -> list[str]:
    words = json.loads(only("HEALTHCHECK").partition("CMD ")[2])
    assert f"127.0.0.1:{only('EXPOSE')}/healthz" in words[-1]
    return [sys.executable, *words[1:]]


def test_its_health_check_passes_where_forky_listens_everywhere_and_fails_where_it_does_not(
    health_check: list[str], tmp_path: Path
) -> None:
    def check(port: str) -> int:
        words = [word.replace(only("EXPOSE"), port) for word in health_check]
        return subprocess.run(words, capture_output=True, timeout=HANG, check=False).returncode

    with served(CHECKOUT / "app.py", tmp_path, STREAMLIT_SERVER_ADDRESS="0.0.0.0") as address:  # noqa: S104 - as in the container
        assert check(address.rpartition(":")[2]) == 0
    assert check(str(free_port())) != 0


def test_the_commands_of_the_page_are_those_of_the_workflow() -> None:
    run, password = blocks("container")
    workflow = (CHECKOUT / ".github/workflows/ci.yml").read_text("utf-8")
    assert [line for line in run.splitlines() if f"- run: {line}\n" not in workflow] == []
    assert "docker build -f deploy/Dockerfile -t forky ." in DOCKERFILE
    words = shlex.split(password)
    assert parser().parse_args(words[words.index("forky_core") + 1 :]).command == "password"
