"""The app in a real Chromium: a server on a free port, with a database of its own, and a page that watches.

Stories share a server, and each begins with the ready conversation alone (`app`, `slow`) or with what a function of its
file makes (`begun`); tests that change nothing share another (`unchanged_app`). Those that only a browser can tell and
that show the main ways run in `make test`; the others have the mark `long`.

Every page records violations of the Content-Security-Policy and errors of scripts; `watched.problems` lists them.
What a test claims about a page it claims with Playwright's `expect`, which waits until it holds: a page is never asked
once, and never after a pause.
"""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from forky_core.forky import Forky
from forky_core.people import team_file
from forky_core.people.team import Team
from forky_core.welcome import make_welcome
from pages.ui.chat.acts import MENU
from pages.ui.registry import front_page, pages
from tests.app_server import free_port, printed, served
from tests.browser.apps import ready
from tests.hangs import HANG
from tests.programs import CHECKOUT, headless_chromium

__all__ = [
    "CHECKOUT",
    "PAGES",
    "Watched",
    "expect",
    "free_port",
    "listed_under_you",
    "menu",
    "present_link",
    "rarely",
    "served",
    "settled",
]

playwright = pytest.importorskip("playwright.sync_api")
BROWSER = CHECKOUT / "tests/browser"
PAGES = tuple("" if page is front_page() else page.name for page in pages())
"""The addresses of all pages, below the app's own."""
PATIENCE = 150_000
"""Milliseconds after which what a page waits for is taken not to come: the one limit of the tests."""
playwright.expect.set_options(timeout=PATIENCE)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


REBOUND = "rebound.example"
"""A foreign name that resolves to this machine, for the browser of the tests."""
_SETTLED = """
() => {
  const app = document.querySelector('[data-testid=stApp]');
  const drawn = document.querySelector('[data-testid=stMainBlockContainer] :is(button, [data-testid=stText])');
  return app?.dataset.testScriptState === 'notRunning' && drawn !== null
    && document.querySelector('[data-stale=true], [data-testid=stSkeleton], .fk-opening') === null;
}
"""
"""Streamlit is at rest before the first run too: so something of the page has to be there."""


class _Expectation:
    """Playwright's assertions about a page or a locator, which wait as well where a locator meets two elements.

    While Streamlit draws a page anew, the element of the run before stands beside its successor for a moment.
    Playwright waits for everything but that.
    """

    def __init__(self, subject: Any) -> None:
        self._assertions = playwright.expect(subject)

    def __getattr__(self, name: str) -> Any:
        assertion = getattr(self._assertions, name)

        def waiting(*args: Any, **named: Any) -> None:
            given_up = time.monotonic() + PATIENCE / 1000
            while True:
                try:
                    assertion(*args, **named)
                except AssertionError as error:
                    if "strict mode violation" not in str(error) or time.monotonic() > given_up:
                        raise
                else:
                    return

        return waiting


def expect(subject: Any) -> Any:
    """What a test claims about a page or a locator, as Playwright's `expect`."""
    return _Expectation(subject)


def listed_under_you(page: Any, name: str) -> Any:
    """The link to a page that the navigation lists in its menu, which is opened."""
    page.get_by_test_id("stTopNavSection").get_by_text("You", exact=True).click()
    return page.get_by_test_id("stTopNavDropdownLink").filter(has_text=name)


def menu(page: Any, line: str) -> None:
    """Choose a line of the title bar's menu, by its beginning."""
    page.locator(".st-key-bar-menu button:visible").first.click()
    page.locator("[role=menu] [role=menuitem]").filter(has_text=line).first.click()


def rarely(cell: Any, act: str) -> None:
    """Do with a message what only its menu has, or what a line of it shows."""
    cell.locator('[data-act="more"]').first.click()
    way = next((way for name, _, _, way, _ in MENU if name == act), "")
    for one in filter(None, (way, act)):
        cell.page.locator(f'.fk-menu [data-act="{one}"]').click()


def present_link(page: Any) -> Any:
    """The link to the presentation of a branch, in the dialog that the menu opens."""
    menu(page, "Start a demo")
    return page.locator(".st-key-chat-present a").first


def settled(page: Any) -> Any:
    """The page, once the script has drawn it to the end and nothing of an earlier run is left."""
    page.wait_for_function(_SETTLED, timeout=PATIENCE)
    broken = page.locator("[data-testid=stException], [class*=st-key-page-failed]")
    assert broken.count() == 0, f"The page broke; its server's log says where: {broken.first.inner_text()}"
    return page


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = headless_chromium()
    if program is None:
        pytest.skip("No Chromium on this machine (set CHROMIUM=/path/to/it).")
    with playwright.sync_playwright() as play:
        rules = f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"
        opened = play.chromium.launch(executable_path=str(program), args=[*FLAGS, rules])
        yield opened
        opened.close()


def told(address: str, by: Callable[[Forky], str], *, anew: bool = False) -> str:
    """What a function of a test's file says of the workspace of a server of stories; `anew` empties that before."""
    query = urlencode({"by": f"{by.__module__}:{by.__name__}", **({"anew": 1} if anew else {})})
    with urllib.request.urlopen(f"{address}/story?{query}", timeout=HANG) as answer:  # noqa: S310 - our own address
        return str(answer.read().decode())


@pytest.fixture(scope="session")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app that the stories share."""
    with served(BROWSER / "stories_app.py", tmp_path_factory.mktemp("stories")) as address:
        yield address


@pytest.fixture(scope="session")
def slow_stories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(BROWSER / "slow_app.py", tmp_path_factory.mktemp("slow")) as address:
        yield address


@pytest.fixture
def begun(stories: str) -> Callable[[Callable[[Forky], str]], str]:
    """`begun(pumps)` is the address of the app with what the function `pumps` makes, and nothing else."""

    def begin(by: Callable[[Forky], str]) -> str:
        told(stories, by, anew=True)
        return stories

    return begin


@pytest.fixture
def app(begun: Callable[[Callable[[Forky], str]], str]) -> str:
    """The address of the app with the ready conversation and no other."""
    return begun(ready)


@pytest.fixture
def slow(slow_stories: str) -> str:
    """The same, with a model that takes its time."""
    told(slow_stories, ready, anew=True)
    return slow_stories


@pytest.fixture
def team_app(tmp_path: Path) -> Iterator[str]:
    """The address of a team's server without anybody yet."""
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on") as address:
        yield address


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """The people of that server, changed from another process as `forky admin` does."""
    opened = Team(team_file(tmp_path / "forky.duckdb"))
    yield opened
    opened.close()


PASSWORD = "correct horse"


def join(page: Any, address: str, name: str) -> None:
    """Come in by an invitation."""
    page.goto(address)
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Handle").fill(name.partition(" ")[0].lower())
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Come in").click()
    settled(page)


def first_owners_address(address: str, folder: Path) -> str:
    found = re.search(r"http\S+/join/\S+", printed(folder, address))
    assert found is not None, printed(folder, address)
    return found[0]


@pytest.fixture(scope="session")
def unchanged_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one app for all tests that only look at its ready conversation, so that they share a server.

    A test that changes anything takes `app`: the operations are counted at the end.
    """
    folder = tmp_path_factory.mktemp("unchanged")
    with served(CHECKOUT / "app.py", folder) as address:
        yield address
    with Forky.open(":memory:") as new:
        expected = len(new.store.operations(make_welcome(new).id))
    with Forky.open(folder / "forky.duckdb") as forky:
        counts = [len(forky.store.operations(one.id)) for one in forky.conversations()]
    assert counts == [expected], "A test that takes unchanged_app changed something."


class Watched:
    """A browser page and what went wrong on it."""

    def __init__(
        self, browser: Any, *, width: int = 1400, height: int = 900, scheme: str = "light", zone: str = "UTC"
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
            timezone_id=zone,
        )
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))

    def _console(self, message: Any) -> None:
        if message.type == "error" and "Content Security Policy" in message.text:
            self.problems.append(message.text)

    def open(self, url: str) -> Any:
        """The page, once it is drawn."""
        self.page.goto(url)
        return settled(self.page)

    def shot(self, path: Path) -> None:
        self.page.screenshot(path=str(path), full_page=False)


@pytest.fixture
def watch(browser: Any) -> Iterator[Any]:
    """`watch(width=390, scheme="dark")` opens another page; all are closed at the end."""
    opened: list[Watched] = []

    def open_one(**options: Any) -> Watched:
        opened.append(Watched(browser, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.context.close()
