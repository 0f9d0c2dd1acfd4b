"""docs/operating.md does what it says: its commands are run, its units are verified, its configurations are read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from forky_core.forky import Forky
from forky_core.gateway.access.credentials import PasswordFile
from forky_core.people import team_file
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.process.settings import Settings
from tests.app_server import served
from tests.builders import ScriptedModels, talk
from tests.hangs import HANG, eventually
from tests.operating.page import BLOCKS, PAGE, blocks
from tests.programs import CHECKOUT

SYSTEMD = shutil.which("systemd-analyze")
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
BASH = shutil.which("bash") if sys.platform == "linux" else None
PRELUDE = """
set -euo pipefail
runuser() { test "$1 $2 $3" = "-u forky --"; shift 3; "$@"; }
systemctl() { echo "systemctl $*" >> "$RECORD"; }
"""
"""What stands for the machine: the test's own user for forky, and a service that is only noted."""


def run(script: str, folder: Path, *, port: int = 1, given: str = "") -> str:
    """Run commands of the page with `folder` in the place of /var/lib; what they print."""
    assert BASH
    for old, new in {
        ".venv/bin/python": sys.executable,
        "/opt/forky": str(CHECKOUT),
        "/var/lib": str(folder),
        "/etc/systemd/system": str(folder / "systemd"),
        "127.0.0.1:8501": f"127.0.0.1:{port}",
    }.items():
        script = script.replace(old, new)
    done = subprocess.run(
        [BASH, "-c", PRELUDE + script],
        env={"PATH": os.environ["PATH"], "RECORD": str(folder / "systemctl.txt"), "LANG": "C.UTF-8"},
        input=given,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def command(*words: str) -> str:
    """The one tested block of shell commands that holds all these words."""
    (found,) = [text for text in blocks("") if all(word in text for word in words)]
    return found


FUNCTION = "forky() {"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """/var/lib with a conversation in its database."""
    for name in ("forky", "forky-backups"):
        (tmp_path / name).mkdir()
    with Forky.open(tmp_path / "forky" / "forky.duckdb", models=ScriptedModels()) as forky:
        talk(forky.create("Before"), "a", "b")
    return tmp_path


def put_aside(folder: Path) -> set[str]:
    """The names of the files that a restore has kept."""
    return {path.name for path in folder.glob("forky/aside-*/*")}


def titles(folder: Path) -> set[str]:
    with Forky.open(folder / "forky" / "forky.duckdb", models=ScriptedModels()) as forky:
        return {summary.title for summary in forky.conversations()}


@pytest.mark.skipif(BASH is None, reason="No bash on this machine.")
def test_a_backup_is_checked_and_brings_back_what_it_holds(folder: Path) -> None:
    function = command(FUNCTION)
    run(command('mkdir "$to"'), folder)
    assert (folder / "systemctl.txt").read_text().split("\n")[:2] == [
        "systemctl stop forky",
        "systemctl start forky",
    ]
    assert "1 conversation, 2 messages" in run(function + command("--database", "verify"), folder)
    with Forky.open(folder / "forky" / "forky.duckdb", models=ScriptedModels()) as forky:
        talk(forky.create("After"), "c", "d")
    assert titles(folder) == {"Before", "After"}
    assert "clean" in run(function + command("$aside", "forky verify"), folder)
    assert titles(folder) == {"Before"}
    assert put_aside(folder) == {"forky.duckdb"}


@pytest.mark.skipif(BASH is None, reason="No bash on this machine.")
def test_the_people_of_a_team_are_backed_up_and_restored_with_the_conversations(folder: Path) -> None:
    def names(*added: str) -> list[str]:
        team = Team(team_file(folder / "forky" / "forky.duckdb"))
        for name in added:
            team.members.add(name, Role.OWNER)
        found = [member.name for member in team.members.all()]
        team.close()
        return found

    names("Ada")
    run(command('mkdir "$to"'), folder)
    assert names("Bob") == ["Ada", "Bob"]
    run(command(FUNCTION) + command("$aside", "forky verify"), folder)
    assert names() == ["Ada"]
    assert put_aside(folder) == {"forky.duckdb", "forky.people.sqlite"}


@pytest.mark.skipif(BASH is None, reason="No bash on this machine.")
def test_a_log_that_a_crash_left_is_backed_up_and_restored_with_its_database(folder: Path) -> None:
    script = (
        "import os\n"
        "from forky_core.forky import Forky\n"
        "forky = Forky.open(os.environ['FILE'])\n"
        "forky.create('Crashed').say('the last words', role='user')\n"
        "os._exit(1)\n"
    )
    file = folder / "forky" / "forky.duckdb"
    variables = os.environ | {"FILE": str(file), "FORKY_PROBE": "0"}
    subprocess.run([sys.executable, "-c", script], env=variables, cwd=CHECKOUT, check=False)
    assert file.with_name("forky.duckdb.wal").exists()
    function = command(FUNCTION)
    run(command('mkdir "$to"'), folder)
    run(function + command("$aside", "forky verify"), folder)
    assert titles(folder) == {"Before", "Crashed"}
    assert put_aside(folder) == {"forky.duckdb", "forky.duckdb.wal"}


@pytest.mark.skipif(BASH is None, reason="No bash on this machine.")
def test_a_password_is_set_where_the_service_looks_for_it(folder: Path) -> None:
    said = run(command(FUNCTION) + command("forky password"), folder, given="a long pass phrase\n")
    place = folder / "forky" / "password.json"
    assert str(place) in said
    assert PasswordFile(place).password() is not None


@pytest.mark.skipif(BASH is None or shutil.which("curl") is None, reason="No bash or curl on this machine.")
def test_its_health_is_answered_and_its_metrics_to_a_token(folder: Path) -> None:
    """With the environment of the page, whose names beyond this machine close `/metrics` to whoever has no token."""
    made = run(command(FUNCTION) + command("token make"), folder)
    token = next(line for line in made.splitlines() if line.startswith("forky-"))
    database = str(folder / "forky" / "forky.duckdb")
    with served(CHECKOUT / "app.py", folder, **environment(), FORKY_DATABASE=database) as address:
        port = int(address.rpartition(":")[2])
        # Right after its start the database is still being opened.
        eventually(lambda: httpx.get(f"{address}/readyz", timeout=HANG, trust_env=False).is_success)
        said = run(command("/healthz", "/readyz"), folder, port=port)
        numbers = run(f"TOKEN={token}\n" + command("/metrics"), folder, port=port)
        assert httpx.get(f"{address}/metrics", timeout=HANG, trust_env=False).status_code == 401
    assert '"status":"ok"' in said and '"ready": true' in said and "forky_" in numbers


def environment() -> dict[str, str]:
    """The variables of the page's environment file, but for the place of the data."""
    (text,) = blocks("environment")
    lines = dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))
    assert lines.pop("XDG_DATA_HOME") == "/var/lib"
    return lines


def test_the_environment_of_the_page_is_understood() -> None:
    lines = environment()
    settings = Settings.from_environment(lines)
    assert settings.origins == ("https://forky.example",)
    told = (CHECKOUT / "docs" / "operating.md").read_text("utf-8").partition("## Configuration")[2]
    assert [name for name in lines if name.startswith("FORKY_") and f"`{name}`" not in told] == []


@pytest.mark.skipif(BASH is None, reason="No bash on this machine.")
def test_the_units_that_are_installed_are_those_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "systemd").mkdir()
    run(command("/etc/systemd/system"), tmp_path)
    on_the_page = {re.findall(r"# /etc/systemd/system/(\S+)", unit)[0]: unit for unit in blocks("unit")}
    assert {path.name: path.read_text() for path in (tmp_path / "systemd").iterdir()} == on_the_page


@pytest.mark.skipif(SYSTEMD is None, reason="No systemd-analyze on this machine.")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    assert SYSTEMD
    units = []
    program = Path(sys.executable).resolve()
    for unit in blocks("unit"):
        name = re.match(r"# /etc/systemd/system/(\S+)", unit)
        assert name
        text = unit.replace("/opt/forky/.venv/bin/python", str(program)).replace("/opt/forky", str(CHECKOUT))
        units.append(tmp_path / name[1])
        units[-1].write_text(text)
    done = subprocess.run(
        [SYSTEMD, "verify", "--man=no", *units], capture_output=True, text=True, timeout=HANG, check=False
    )
    about = [line for line in done.stderr.splitlines() if "forky" in line]
    assert (done.returncode, about) == (0, []), done.stderr


@pytest.mark.skipif(SYSTEMD is None, reason="No systemd-analyze on this machine.")
def test_the_service_is_as_closed_as_it_can_be(tmp_path: Path) -> None:
    assert SYSTEMD
    unit = tmp_path / "forky.service"
    unit.write_text(blocks("unit")[0])
    command = [SYSTEMD, "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    if "unrecognized option" in done.stderr:
        pytest.skip("This systemd-analyze is too old.")
    assert done.returncode == 0, done.stdout[-400:]


def test_every_command_of_the_page_says_how_it_was_tried() -> None:
    """A block of commands is marked as tested, or follows a paragraph that says that it was run by hand."""
    assert re.search(r"\*By hand\* were run on \d{4}-\d{2}-\d{2}", PAGE)
    for block in BLOCKS:
        if block.kind is None:
            before = PAGE[: PAGE.index(f"```{block.language}\n{block.text}```")].rstrip().split("\n\n")[-1]
            assert before.startswith("By hand"), block.text


def test_the_page_names_no_file_twice_with_other_words() -> None:
    """The unit, the environment and the commands agree about where things are."""
    (service, backup, _timer) = blocks("unit")
    (variables,) = blocks("environment")
    assert "EnvironmentFile=/etc/forky/forky.env" in service
    assert variables.startswith("# /etc/forky/forky.env")
    assert "StateDirectory=forky forky-backups" in service and "/var/lib/forky-backups/" in backup
    assert "XDG_DATA_HOME=/var/lib\n" in variables and "XDG_DATA_HOME=/var/lib " in command(FUNCTION)
    port = re.search(r"--server.port (\d+)", service)
    assert port and all(
        f"127.0.0.1:{port[1]}" in text for kind in ("caddy", "nginx") for text in blocks(kind)
    )
