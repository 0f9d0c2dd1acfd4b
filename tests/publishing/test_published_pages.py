"""Pages at an address: who can open them, for how long, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.conversation import identity
from forky_core.forky import Forky
from forky_core.model.errors import BadContent, NotFound, NothingToDo
from forky_core.publishing import published_pages
from forky_core.publishing.forms.csv_table import CsvTable
from forky_core.publishing.forms.slides import Slides
from forky_core.publishing.forms.web_page import WebPage
from forky_core.publishing.publishing import report_of
from tests.builders import ScriptedModels, talk
from tests.publishing.given import Given, given

Pages = published_pages.PublishedPages


def publish(made: Given, **more: float) -> published_pages.NewPage:
    report = made.report("comparison", ("main", "third"))
    return Pages(made.forky.store).publish(report, WebPage(), made.chat.id, **more)  # type: ignore[arg-type]


def test_the_address_opens_the_page_as_it_was_and_nothing_else() -> None:
    made = given()
    new = publish(made)
    made.chat.say("Said afterwards.")
    page = Pages(made.forky.store).open(new.secret)
    assert b"The port is 8080." in page.content and b"Said afterwards." not in page.content
    assert page.policy.startswith("default-src 'none'; style-src 'sha256-")
    for wrong in ("", new.secret[:-1], new.page.id, new.page.sha256, "x" * 10_000, "\u202e"):
        with pytest.raises(NotFound, match="There is no such page"):
            Pages(made.forky.store).open(wrong)


def test_the_secret_is_in_no_setting_and_in_no_log() -> None:
    made = given()
    before = made.chat.view.version
    new = publish(made)
    assert new.secret not in (made.forky.store.setting("published_pages") or "")
    assert made.chat.view.version == before
    assert new.secret not in repr(new.page)


def test_a_revoked_page_is_closed_at_once_and_what_it_said_is_deleted() -> None:
    made = given()
    new, other = publish(made), publish(made)
    pages = Pages(made.forky.store)
    pages.revoke(new.page.id)
    with pytest.raises(NotFound):
        pages.open(new.secret)
    assert pages.open(other.secret).content
    assert made.forky.store.derived(made.chat.id, [f"published/{new.page.id}"]) == {}
    assert [page.id for page in pages.all()] == [other.page.id, new.page.id]
    with pytest.raises(NothingToDo, match="revoked before"):
        pages.revoke(new.page.id)
    with pytest.raises(NotFound, match="no published page"):
        pages.revoke("nobody")


def test_an_expired_page_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    made = given()
    new = publish(made, days=1)
    pages = Pages(made.forky.store)
    later = identity.now() + 86_400_000_001
    monkeypatch.setattr(published_pages, "now", lambda: later)
    with pytest.raises(NotFound):
        pages.open(new.secret)
    publish(made)
    assert made.forky.store.derived(made.chat.id, [f"published/{new.page.id}"]) == {}
    assert [page.is_open(later) for page in pages.all()] == [True, False]


def test_a_page_goes_with_its_conversation() -> None:
    made = given()
    new = publish(made)
    pages = Pages(made.forky.store)
    made.chat.trash()
    with pytest.raises(NotFound):
        pages.open(new.secret)
    made.chat.take_back()
    assert pages.open(new.secret).content
    made.chat.trash()
    assert pages.is_in_trash(pages.all()[0])
    made.forky.purge(made.chat.id)
    with pytest.raises(NotFound):
        pages.open(new.secret)
    assert pages.all() == ()


def test_a_page_is_in_no_table_any_more_once_its_conversation_is_deleted_for_good(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        chat = talk(forky.create("Ports"), "Which?", "80.")
        talk(chat.fork("side"), "Sure?")
        Pages(forky.store).publish(report_of(forky, chat, "comparison"), WebPage(), chat.id)
        chat.trash()
        forky.purge(chat.id)
        assert forky.store.setting("published_pages") == "[]"


def test_visits_are_counted() -> None:
    made = given()
    new = publish(made)
    pages = Pages(made.forky.store)
    for _ in range(3):
        pages.open(new.secret)
    (page,) = pages.all(made.chat.id)
    assert page.opened == 3 and page.last >= page.published
    assert pages.all(made.forky.create("Other").id) == ()


@pytest.mark.parametrize("days", [0, -1, 367, float("nan")])
def test_days_that_cannot_be_kept_are_refused(days: float) -> None:
    with pytest.raises(BadContent, match="at most 366 days"):
        publish(given(), days=days)


def test_only_a_page_can_stand_at_an_address_and_only_one_that_is_not_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = given()
    report = made.report("comparison", ("main", "third"))
    pages = Pages(made.forky.store)
    with pytest.raises(BadContent, match="is no page"):
        pages.publish(report, CsvTable(), made.chat.id)
    monkeypatch.setattr(published_pages, "LARGEST", 1_000)
    with pytest.raises(BadContent, match="The page has more than"):
        pages.publish(report, Slides(), made.chat.id)
    monkeypatch.setattr(published_pages, "MOST", 0)
    monkeypatch.setattr(published_pages, "LARGEST", 10_000_000)
    with pytest.raises(BadContent, match="Revoke one first"):
        pages.publish(report, Slides(), made.chat.id)


def test_pages_outlive_the_server(tmp_path: Path) -> None:
    file = tmp_path / "forky.duckdb"
    with Forky.open(file, models=ScriptedModels()) as forky:
        chat = talk(forky.create("Ports"), "Which?", "80.")
        talk(chat.fork("side"), "Sure?")
        new = Pages(forky.store).publish(report_of(forky, chat, "comparison"), WebPage(), chat.id, by="Ada")
    with Forky.open(file, models=ScriptedModels()) as forky:
        assert b"Sure?" in Pages(forky.store).open(new.secret).content
        (page,) = Pages(forky.store).all()
        assert (page.by, page.thing, page.form) == ("Ada", "comparison", "html")
        assert forky.verify().clean
