"""What one installs is what one runs: the wheel holds the library, the app and all they read, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement

from tests.app_server import free_port
from tests.hangs import HANG, eventually
from tests.programs import CHECKOUT

PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
SOURCES = (
    "LICENSE",
    "README.md",
    "app.py",
    "pyproject.toml",
    ".streamlit",
    "forky_core",
    "pages",
)
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built in a copy of it and unpacked."""
    pytest.importorskip("hatchling.build", reason="hatchling, which builds the wheel, is not installed.")
    copy, built = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("built")
    # Keys belong to a person, and what Python has compiled to this machine.
    private = shutil.ignore_patterns("__pycache__", "secrets.toml")
    for name in SOURCES:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, copy / name, ignore=private)
        else:
            shutil.copy(CHECKOUT / name, copy)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(built)],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": "", "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (file,) = built.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(built / "unpacked")
    return built / "unpacked"


def files_of(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def test_the_wheel_holds_the_library_and_the_app_and_nothing_else(wheel: Path) -> None:
    expected = {"forky_app/app.py", "forky_app/.streamlit/config.toml"}
    expected |= {f"forky_app/pages/{name}" for name in files_of(CHECKOUT / "pages")}
    expected |= {f"forky_core/{name}" for name in files_of(CHECKOUT / "forky_core")}
    assert {Path(name).suffix for name in expected} >= {".py", ".js", ".css", ".svg", ".sql", ".json", ".md"}
    assert {name for name in files_of(wheel) if ".dist-info/" not in name} == expected


def test_it_installs_the_command_and_the_whole_app_by_its_plain_name(wheel: Path) -> None:
    (about,) = wheel.glob("*.dist-info")
    assert "forky = forky_core.__main__:main" in (about / "entry_points.txt").read_text("utf-8")
    lines = (about / "METADATA").read_text("utf-8").splitlines()
    needs = {line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")}
    plain = {Requirement(need).name for need in needs if "extra ==" not in need}
    assert plain == {Requirement(line).name for line in PYPROJECT["project"]["dependencies"]}


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_the_app_of_the_wheel_comes_up(wheel: Path, tmp_path: Path) -> None:
    """In a folder that holds nothing else, so that no file of the checkout can be imported or served."""
    port = free_port()
    command = [sys.executable, "-m", "forky_core", "up", "--no-browser", "--port", str(port)]
    variables = os.environ | {
        "FORKY_DATABASE": str(tmp_path / "forky.duckdb"),
        "FORKY_PROBE": "0",
        "PYTHONPATH": str(wheel),
    }
    log = tmp_path / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=out, stderr=out)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=HANG, trust_env=False) as browser:
            eventually(lambda: server.poll() is not None or "Forky: http" in log.read_text("utf-8"))
            eventually(lambda: server.poll() is not None or answers(browser))
            assert server.poll() is None, log.read_text("utf-8")
            assert browser.get("/healthz").json()["status"] == "ok"
            assert "<html" in browser.get("/").text
            assert browser.get("/favicon.png").headers["content-type"].startswith("image/svg")
    finally:
        server.terminate()
        server.wait(HANG)


def answers(browser: httpx.Client) -> bool:
    try:
        return browser.get("/healthz").is_success
    except httpx.TransportError:
        return False
