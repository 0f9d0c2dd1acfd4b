"""Two servers of one team over PostgreSQL, behind HAProxy and behind Caddy with the configurations of deploy/."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.app_server import free_port, started
from tests.browser.conftest import CHECKOUT, FLAGS, expect, settled
from tests.browser.test_behind_a_proxy import HOST, Model, running
from tests.browser.test_chat import DRAFT, ask, holds, new
from tests.browser.test_team_behind_a_proxy import PROXIES
from tests.hangs import HANG, eventually
from tests.programs import headless_chromium
from tests.store.postgresql.server import TEMPLATE, running_server

pytestmark = [pytest.mark.browser, pytest.mark.long]
PASSWORD = "a pass phrase of the test"
MOST_PEOPLE = 6
"""Who come in until one of them is at the other server."""


class Servers(NamedTuple):
    """Two servers behind a proxy."""

    port: int
    """Where the proxy speaks TLS, on 127.0.0.1."""
    team: Team
    """The people, as another process has them."""
    url: str
    """Of the database."""
    processes: dict[int, subprocess.Popen[bytes]]
    """The servers by the numbers of their processes."""


@pytest.fixture(params=PROXIES)
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Servers]:
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    port, plain = free_port(), free_port()
    with ExitStack() as stack:
        url = stack.enter_context(running_server()).database(TEMPLATE)
        environment = {
            "FORKY_DATABASE": url,
            "FORKY_TEAM": "on",
            "FORKY_ORIGINS": f"https://{HOST}",
            "FORKY_SERVERS": f"http://127.0.0.1:{model.server_port}/v1",
        }
        found = [stack.enter_context(started(CHECKOUT / "app.py", tmp_path, **environment)) for _ in range(2)]
        addresses = [address.removeprefix("http://") for address, _ in found]
        processes = {process.pid: process for _, process in found}
        command, variables = request.param(tmp_path, port, plain)
        variables |= {
            "HOME": str(tmp_path),
            "XDG_DATA_HOME": str(tmp_path),
            "FORKY_AT": addresses[0],
            "FORKY_SECOND_AT": addresses[1],
        }
        stack.enter_context(running(command, port, tmp_path / "proxy.log", **variables))
        team = Team(url)
        stack.callback(team.close)
        yield Servers(port, team, url, processes)
    model.shutdown()
    model.server_close()


@pytest.fixture
def browser_at(servers: Servers, browser: Any) -> Iterator[Any]:
    rules = f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{servers.port}"
    opened = browser.browser_type.launch(executable_path=headless_chromium(), args=[*FLAGS, rules])
    yield opened
    opened.close()


def come_in(browser: Any, servers: Servers, name: str, role: Role) -> Any:
    """A page of a browser of their own, in which somebody who was invited has come in."""
    context = browser.new_context(ignore_https_errors=True, viewport={"width": 1400, "height": 900})
    context.set_default_timeout(HANG * 1000)
    page = context.new_page()
    _, secret = servers.team.invitations.make(role)
    page.goto(f"https://{HOST}/join/{secret}")
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Handle").fill(name.lower())
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"https://{HOST}/")
    return settled(page)


def server_of(page: Any) -> str:
    """The proxy's name for the server that somebody is at."""
    (name,) = [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "forky-server"]
    return str(name)


def writer_of(url: str) -> int:
    """The number of the process that writes the newest reply."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT process FROM forky.generations WHERE process <> '' ORDER BY id DESC"
        ).fetchone()
    assert found is not None
    return int(found[0].split(" ")[-2])


def test_a_server_is_killed_and_the_other_one_goes_on(servers: Servers, browser_at: Any) -> None:
    ada = come_in(browser_at, servers, "Ada", Role.OWNER)
    new(ada, "Ports")
    Model.go_on.clear()
    ask(ada, "Which port is it?")
    messages = ada.get_by_role("log", name="Messages")
    expect(messages).to_contain_text("First")
    settled(ada)
    ada.locator(DRAFT).fill("And half a thought")
    member = servers.team.members.by_handle("ada")
    assert member is not None
    eventually(lambda: any_draft(servers.team, "And half a thought"))
    place = ada.url
    eventually(lambda: writer_of(servers.url))
    servers.processes[writer_of(servers.url)].kill()
    expect(messages).to_contain_text("Which port is it?")
    expect(ada.get_by_role("button", name="Resume").first).to_be_visible()
    expect(messages).to_contain_text("First")
    holds(ada, "And half a thought")
    assert ada.url == place, "she is where she was, and signed in"
    Model.go_on.set()
    ask(ada, "And which one is free?")
    expect(messages).to_contain_text("First and last.")
    settled(ada)


def test_people_at_two_servers_see_what_the_other_says(servers: Servers, browser_at: Any) -> None:
    Model.go_on.set()
    ada = come_in(browser_at, servers, "Ada", Role.OWNER)
    new(ada, "Ports")
    ask(ada, "Which port is it?")
    expect(ada.get_by_role("log", name="Messages")).to_contain_text("First and last.")
    for number in range(MOST_PEOPLE):
        ben = come_in(browser_at, servers, f"Ben{number}", Role.EDITOR)
        if server_of(ben) != server_of(ada):
            break
    else:
        pytest.fail("Everybody came to the same server.")
    member = servers.team.members.by_handle(f"ben{number}")
    owner = servers.team.members.by_handle("ada")
    assert member is not None and owner is not None
    (conversation,) = [id for id in servers.team.sharing.of_all() if id in ada.url]
    servers.team.sharing.share(conversation, member.id, Role.EDITOR, by=owner.id)
    ben.goto(ada.url)
    settled(ben)
    expect(ben.get_by_role("log", name="Messages")).to_contain_text("Which port is it?")
    her_sight_of_ben = ada.get_by_role("button", name=re.compile(r"^Ben\d, on"))
    expect(her_sight_of_ben).to_be_visible()
    expect(ben.get_by_role("button", name=re.compile("^Ada, on"))).to_be_visible()
    ben.get_by_placeholder(re.compile("Ask")).first.press_sequentially("Shall we")
    expect(her_sight_of_ben).to_have_attribute("data-typing", "")
    ask(ada, "Said at one server.")
    expect(ben.get_by_role("log", name="Messages")).to_contain_text("Said at one server.")
    ben.goto(f"https://{HOST}/library")
    expect(her_sight_of_ben).to_have_count(0)
    servers.team.members.remove(member.id, by=owner.id)
    ben.goto(f"https://{HOST}/library")
    ben.wait_for_url("**/sign-in*")


def any_draft(team: Team, text: str) -> bool:
    return any(text in row["content"] for row in team.database.rows("SELECT content FROM drafts"))
