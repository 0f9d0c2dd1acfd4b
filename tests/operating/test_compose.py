"""The compose files of deploy/: what they mount, set and publish, and the scripts by which they replicate PostgreSQL.

Starting them needs Docker; docs/operating.md says when that was done.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address, ip_network
from pathlib import Path
from secrets import randbelow
from typing import Any

import psycopg
import pytest

from forky_core import Forky
from tests.hangs import HANG, eventually
from tests.operating.page import PAGE
from tests.programs import CHECKOUT
from tests.store.postgresql.server import Server, unmade_server, unprivileged

yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with mkdocs and LiteLLM, is not installed.")
DEPLOY = CHECKOUT / "deploy"
FILES = ("compose.yaml", "compose-two.yaml")
OF_THE_OPERATOR = {"./forky.pem"}
NODES = {"compose.yaml": ("forky",), "compose-two.yaml": ("one", "two")}
CONFIGURATIONS = {"caddy": "Caddyfile", "haproxy": "haproxy.cfg"}
PASSWORD = "it's @ a/pass\\word"
LOOPBACK = f"127.{64 + randbelow(64)}.{randbelow(256)}.{1 + randbelow(254)}"
"""An address of this machine at which nobody else listens."""


def services(file: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOY / file).read_text("utf-8"))["services"]
    return found


@pytest.mark.parametrize("file", FILES)
def test_files_that_are_mounted_are_there(file: str) -> None:
    sources = {volume.split(":")[0] for service in services(file).values() for volume in service["volumes"]}
    files = {source for source in sources if source.startswith("./")} - OF_THE_OPERATOR
    assert {"./Caddyfile", "./haproxy.cfg"} <= files
    assert [name for name in files if not (DEPLOY / name).is_file()] == []
    declared = yaml.safe_load((DEPLOY / file).read_text("utf-8"))["volumes"]
    assert {source for source in sources if not source.startswith("./")} == set(declared)


@pytest.mark.parametrize("file", FILES)
def test_only_the_proxies_are_reachable_from_outside(file: str) -> None:
    assert {name for name, service in services(file).items() if "ports" in service} == set(CONFIGURATIONS)


def test_every_node_is_run_without_rights_and_with_settings_that_the_page_explains() -> None:
    nodes = [services(file)[name] for file, names in NODES.items() for name in names]
    same = (
        "cap_drop",
        "security_opt",
        "read_only",
        "tmpfs",
        "restart",
        "stop_grace_period",
        "env_file",
        "expose",
    )
    assert len({str([node[key] for key in same]) for node in nodes}) == 1
    assert (nodes[0]["cap_drop"], nodes[0]["read_only"]) == (["ALL"], True)
    names = {name for node in nodes for name in node["environment"]} - {"PGPASSWORD"}
    assert [name for name in names if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("proxy", CONFIGURATIONS)
def test_a_proxy_is_given_what_its_configuration_reads_and_every_node(file: str, proxy: str) -> None:
    service = services(file)[proxy]
    used = set(re.findall(r"FORKY_\w+", (DEPLOY / CONFIGURATIONS[proxy]).read_text("utf-8")))
    second = {"FORKY_SECOND_AT"} if len(NODES[file]) == 1 else set()
    assert set(service["environment"]) == used - second
    at = [service["environment"][name] for name in ("FORKY_AT", "FORKY_SECOND_AT") if name not in second]
    assert at == [f"{node}:8501" for node in NODES[file]]
    assert set(service["depends_on"]) == set(NODES[file])


@pytest.mark.parametrize("file", FILES)
def test_every_node_believes_the_proxies_and_nobody_else_there(file: str) -> None:
    network = yaml.safe_load((DEPLOY / file).read_text("utf-8"))["networks"]["default"]["ipam"]["config"][0]
    proxies = {services(file)[name]["networks"]["default"]["ipv4_address"] for name in CONFIGURATIONS}
    for name in NODES[file]:
        assert set(services(file)[name]["environment"]["FORKY_PROXY_FROM"].split(",")) == proxies
    for address in map(ip_address, proxies):
        assert address in ip_network(network["subnet"]) and address not in ip_network(network["ip_range"])


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="Linux has all of 127.0.0.0/8, where the port is free.")
def test_the_scripts_make_a_standby_and_forky_goes_on_with_it_once_it_is_promoted(
    primary: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    address = services("compose-two.yaml")["one"]["environment"]["FORKY_DATABASE"]
    assert "@primary,standby/" in address
    with following(primary) as standby:
        url = address.replace("@primary,standby/", "@/") + f"&host={primary.folder},{standby}"
        with Forky.open(url) as forky:
            chat = forky.create("Ports")
            chat.say("Said to the primary.")
            eventually(lambda: same_place(primary.folder, standby))
            primary.stop()
            control = run('exec pg_ctl --pgdata="$PGDATA" --wait promote', primary, standby)
            assert control.wait(HANG) == 0, log_of(standby)
            chat.say("Said to the standby.")
            said = [message.text for message in chat.path()]
    assert said == ["Said to the primary.", "Said to the standby."]


@pytest.fixture
def primary() -> Iterator[Server]:
    """A server as the image of PostgreSQL makes it, prepared by deploy/postgresql/primary.sh."""
    with unmade_server() as server:
        server.make()
        access = "local all postgres trust\nlocal all all scram-sha-256\nhost all all all scram-sha-256\n"
        (server.folder / "data" / "pg_hba.conf").write_text(access)
        server.start(listen_addresses=LOOPBACK)
        text = (DEPLOY / "postgresql" / "primary.sh").read_text("utf-8")
        # PostgreSQL of the tests is built without ICU.
        script = text.replace("icu ICU_LOCALE 'und'", "builtin BUILTIN_LOCALE 'C.UTF-8'")
        passwords = {"FORKY_DATABASE_PASSWORD": PASSWORD, "STANDBY_PASSWORD": PASSWORD}
        preparing = run(script, server, server.folder, PGHOST=str(server.folder), **passwords)
        assert preparing.wait(HANG) == 0, log_of(server.folder)
        server.execute("SELECT pg_reload_conf()")  # The image starts the server anew.
        yield server


@contextmanager
def following(primary: Server) -> Iterator[Path]:
    """The folder of a standby that deploy/postgresql/standby.sh runs, after a first copy that was broken off."""
    script = (DEPLOY / "postgresql" / "standby.sh").read_text("utf-8")
    with unmade_server() as server:
        folder = server.folder
        assert run('mkdir "$PGDATA"; echo 18 > "$PGDATA/PG_VERSION"', primary, folder).wait(HANG) == 0
        options = ("-c", "listen_addresses=", "-c", "fsync=off", "-k", str(folder))
        process = run(script, primary, folder, *options, PGHOSTADDR=LOOPBACK, PGPASSWORD=PASSWORD)
        try:
            eventually(lambda: process.poll() is not None or same_place(primary.folder, folder))
            assert process.poll() is None, log_of(folder)
            yield folder
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(HANG)


def run(
    script: str, server: Server, folder: Path, *arguments: str, **environment: str
) -> subprocess.Popen[bytes]:
    """Start a script as the user whom PostgreSQL runs as, with the data in a folder and its programs on the path."""
    variables = {
        "PATH": f"{server.programs}:{os.environ['PATH']}",
        "PGDATA": str(folder / "data"),
        **environment,
    }
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [*unprivileged(), "sh", "-euc", script, "sh", *arguments],
            env=variables,
            stdout=log,
            stderr=log,
            cwd=folder,
        )


def log_of(folder: Path) -> str:
    return (folder / "log").read_text("utf-8", "replace")[-3000:]


def same_place(primary: Path, standby: Path) -> bool:
    """Whether the standby in a folder has replayed the whole log of the primary."""
    try:
        with socket_of(standby) as here, socket_of(primary) as there:
            replayed = here.execute("SELECT pg_last_wal_replay_lsn()").fetchone()
            return replayed == there.execute("SELECT pg_current_wal_lsn()").fetchone()
    except psycopg.OperationalError:
        return False


def socket_of(folder: Path) -> psycopg.Connection:
    return psycopg.connect(f"postgresql://postgres@/postgres?host={folder}", autocommit=True)
