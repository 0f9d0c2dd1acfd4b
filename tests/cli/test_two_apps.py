"""Two apps with a database each: a conversation goes from one to the other by a link, and comes home.

People use the command line beside their app; what they do goes through the app.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from forky_core.forky import Forky
from tests.app_server import started
from tests.cli.conftest import CHECKOUT, Run
from tests.hangs import HANG


@pytest.fixture
def apps(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The addresses of Ana's app and of Ben's."""
    for name in ("ana", "ben"):
        (tmp_path / name).mkdir()
    with (
        started(CHECKOUT / "app.py", tmp_path / "ana") as (ana, _),
        started(CHECKOUT / "app.py", tmp_path / "ben") as (ben, _),
    ):
        for address in (ana, ben):
            httpx.get(f"{address}/readyz", trust_env=False, timeout=HANG)
        yield {"ana": ana, "ben": ben}


def test_a_conversation_goes_to_another_app_and_comes_home(
    apps: dict[str, str], forky: Run, tmp_path: Path
) -> None:
    def at(name: str, line: str, *words: str) -> Any:
        done = forky(f"--database {tmp_path / name / 'forky.duckdb'} {line}", *words)
        assert done.code == 0, done
        return done.rows[0] if len(done.rows) == 1 else done.rows

    home = at("ana", "say --title Ports --json", "Which port does the gateway use?")["conversation"]
    made = at("ana", f"link make branch --conversation {home} --live --returns --server {apps['ana']} --json")
    address = made["address"]
    assert "Open in my Forky" in httpx.get(address, trust_env=False, timeout=HANG).text

    fork = at("ben", f"import {address} --json")["conversation"]
    assert fork != home
    folder = f"--database {tmp_path / 'ben' / 'forky.duckdb'}"
    token = forky(f"{folder} token make ben --scope land --reach {fork}").out.splitlines()[0]
    with Forky.connect(apps["ben"], token) as there:
        there.conversation(fork, "main").say("Decision: the gateway uses port 8443.", role="assistant")
    at("ana", f"say --conversation {home} --branch main --json", "Meanwhile, is it encrypted?")
    back = f"link return --conversation {fork} --json"
    assert at("ben", back) == {"messages": 1, "requests": [1]}
    assert at("ben", back) == {"messages": 0, "requests": []}

    request = at("ana", f"request list --conversation {home} --json")
    assert (request["number"], request["into"]) == (1, "main") and "ben" in request["note"]
    theirs = at("ben", f"log {fork} --branch main --json")
    brought = at("ana", f"log {home} --branch {request['source']} --json")
    assert [one["id"] for one in brought] == [one["id"] for one in theirs]
    assert "ben" in str(at("ana", f"history --conversation {home} --json"))
    at("ana", f"request accept 1 --conversation {home} --by-rules --yes --json")
    landed = at("ana", f"log {home} --branch main --json")
    assert theirs[-1]["id"] in str(landed) and "encrypted" in str(landed)

    news = at("ben", f"import {address} --json")
    assert (news["conversation"], news["outcome"]) == (fork, "grown")
    assert at("ben", f"log {fork} --branch main --json") == landed
    at("ana", f"link revoke {made['id']} --json")
    over = forky(f"{folder} {back}")
    assert over.code == 2 and "revoked" in over.err
