"""What every page promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app import addresses
from forky_core.forky import Forky
from pages.ui.gone_pages import GONE
from pages.ui.page import Page
from pages.ui.registry import REGISTRY, front_page, head_of, pages, pages_in
from tests.hangs import HANG
from tests.packages import installed
from tests.pages.apptest import SHELL, settled, words
from tests.pages.weather import WEATHER
from tests.pages.workspaces import open_page
from tests.programs import CHECKOUT

EVERY = (*(page for page in REGISTRY.ours if not page.of_team), WEATHER)
"""Those of the server of one person; tests/pages/test_team_people.py has a team's."""


@pytest.mark.parametrize("page", EVERY, ids=lambda one: one.name)
class TestEvery:
    def test_it_says_what_it_is(self, page: Page) -> None:
        with REGISTRY.added(WEATHER):
            assert page in pages() and REGISTRY.find(page.name) is page
        assert page.title.strip() == page.title != ""
        assert page.script is not None and page.script.is_file()

    def test_it_opens_where_there_is_no_conversation(self, forky: Forky, page: Page) -> None:
        with REGISTRY.added(WEATHER):
            shown = settled(open_page(str(page.script)))
        assert len(shown.main) > 0

    def test_no_other_page_has_its_name_or_its_title(self, page: Page) -> None:
        for field in ("name", "title"):
            assert [getattr(one, field) for one in (*REGISTRY.ours, WEATHER)].count(getattr(page, field)) == 1


def test_every_file_of_the_folder_but_the_frame_is_a_page() -> None:
    files = {path.name for path in (CHECKOUT / "pages").glob("*.py")}
    assert {page.script.name for page in REGISTRY.ours if page.script is not None} == files - {"shell.py"}


def test_the_front_page_is_the_first_of_ours_and_is_listed() -> None:
    with REGISTRY.added(WEATHER):
        assert front_page() is pages()[0] is REGISTRY.ours[0] and front_page().shown
        assert [page.order for page in pages()] == sorted(page.order for page in pages())


def test_a_file_that_is_added_is_a_page_and_comes_last_where_it_names_no_place(tmp_path: Path) -> None:
    (tmp_path / "tides.py").write_text(
        'import nothing_of_this_is_run\nPAGE = Page(title="Tides", icon="waves", shown=False)\nmain()\n'
    )
    (tmp_path / "moon.py").write_text(
        'PAGE = Page(\n    title="Moon (full)",\n    icon="moon",\n    order=2,\n)\n'
    )
    (tmp_path / "shell.py").write_text("main()\n")
    moon, tides = pages_in(tmp_path)
    assert moon == Page(title="Moon (full)", icon="moon", order=2, script=tmp_path / "moon.py")
    assert tides == Page(title="Tides", icon="waves", shown=False, script=tmp_path / "tides.py")
    assert (moon.name, tides.name) == ("moon", "tides")


@pytest.mark.parametrize(
    ("head", "error"),
    [
        ('PAGE = Page(title="Tides", icon="waves", order=first())', ValueError),
        ('PAGE = Page(title="Tides")', TypeError),
        ('PAGE = Page(title="Tides", icon="waves", order=1, colour="blue")', TypeError),
    ],
)
def test_a_head_that_cannot_be_read_is_an_error(tmp_path: Path, head: str, error: type[Exception]) -> None:
    (tmp_path / "tides.py").write_text(head)
    with pytest.raises(error):
        head_of(tmp_path / "tides.py")


def test_an_installed_package_adds_a_page_and_a_broken_one_breaks_no_other(
    tmp_path: Path, forky: Forky, caplog: pytest.LogCaptureFixture
) -> None:
    places = ("NO_SCRIPT", "NO_ADDRESS", "SECOND_LIBRARY", "WEATHER", "OF_NOBODY")
    with installed(tmp_path, REGISTRY, **{name.lower(): f"tests.pages.weather:{name}" for name in places}):
        assert REGISTRY.others == (WEATHER,)
        assert "It will rain." in words(settled(open_page(str(WEATHER.script))))
        assert "no conversation yet" in words(settled(open_page("history.py")))
    assert len([record for record in caplog.records if record.name == "forky.plugin"]) == len(places) - 1


@pytest.mark.parametrize(("name", "sentence"), GONE.items())
def test_the_address_of_a_page_that_is_gone_says_where_it_is_now(
    forky: Forky, name: str, sentence: str
) -> None:
    test = AppTest.from_file(str(SHELL), default_timeout=HANG).run()
    test._page_hash = calc_hash(name)
    assert sentence in words(settled(test.run()))
    assert name in addresses() and name not in {page.name for page in pages()}
