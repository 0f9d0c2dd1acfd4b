"""The compose files of deploy/: what they mount, set and publish.

Starting them needs Docker; docs/operating.md says when that was done.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.operating.page import PAGE
from tests.programs import CHECKOUT

yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with mkdocs and LiteLLM, is not installed.")
DEPLOY = CHECKOUT / "deploy"
FILES = ("compose.yaml", "compose-two.yaml")
OF_THE_OPERATOR = {"./forky.pem"}
NODES = {"compose.yaml": ("forky",), "compose-two.yaml": ("one", "two")}
CONFIGURATIONS = {"caddy": "Caddyfile", "haproxy": "haproxy.cfg"}


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
