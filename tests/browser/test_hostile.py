"""What models write, in a real browser: links lead nowhere they may not, and diagrams draw and do nothing else.

The texts are drawn by Forky's pages on a server without Forky's Content-Security-Policy, so that the escaping alone has
to hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, PATIENCE, expect, served
from tests.builders import talk
from tests.hostile_texts import ALLOWED, DIAGRAMS, ENORMOUS, REFUSED, UNREADABLE, mixed

pytestmark = pytest.mark.browser
HREFS = """
() => [...document.querySelectorAll('[class*="st-key-text-"]')].map((one) => ({
  hrefs: [...one.querySelectorAll('a[href]')].map((link) => link.getAttribute('href')),
  others: one.querySelectorAll('img, .fk-picture, iframe, object, embed, form').length,
  text: one.querySelector('.fk-text').innerText,
}))
"""
INSIDE = """
async () => Promise.all([...document.querySelectorAll('[data-diagram] img')].map(async (picture) => {
  const text = await (await fetch(picture.src)).text();
  const svg = new DOMParser().parseFromString(text, 'image/svg+xml');
  const active = [...svg.querySelectorAll('script, a, image, img, iframe, object, embed, use')];
  const values = [...svg.querySelectorAll('*')].flatMap((node) => [...node.attributes]);
  const acts = values.filter((one) => /^on/i.test(one.name) || /href|src/i.test(one.name) && !one.value.startsWith('#'));
  const styles = [...svg.querySelectorAll('style')].map((node) => node.textContent);
  const fetched = [...values.map((one) => one.value), ...styles].join('\\n').match(/(?:url|src|image)\\(\\s*["']?[^#"'\\s]|@import/gi);
  return { active: active.map((node) => node.outerHTML), addresses: [...acts.map((one) => one.value), ...(fetched ?? [])] };
}))
"""
"""Of each picture that Mermaid made: elements that would load or lead anywhere, and addresses."""
ALLOWED_HREF = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(
        CHECKOUT / "tests" / "browser" / "hostile_app.py", tmp_path_factory.mktemp("hostile")
    ) as address:
        yield address


_WIDE = """
() => [...document.querySelectorAll(".fk-text :not(pre *, .fk-table *)")].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML)
"""
"""What reaches beyond the screen and stands in no box that scrolls."""


def drawn(page: Any, address: str, show: str) -> Any:
    page.goto(f"{address}/?show={show}")
    expect(page.get_by_text("Drawn.", exact=True)).to_be_visible()
    page.locator(".fk-cell").first.wait_for()
    return page


def still(page: Any) -> None:
    """Every diagram is a picture or refused."""
    page.wait_for_function(
        """() => {
          const waits = [...document.querySelectorAll('[data-diagram]')].find((one) => !one.querySelector('.fk-picture img, details[open]'));
          waits?.scrollIntoView();
          return !waits && document.querySelector('[data-testid=stSkeleton], [aria-busy=true]') === null;
        }""",
        polling=300,  # It is drawn when it has come into sight, which takes a moment without scrolling.
        timeout=PATIENCE,
    )


def test_a_link_to_anything_but_the_web_or_mail_is_text(texts: str, watch: Any) -> None:
    page = drawn(watch().page, texts, "refused")
    found = page.evaluate(HREFS)
    assert len(found) == len(REFUSED)
    for text, one in zip(REFUSED, found, strict=True):
        assert one["hrefs"] == [href for href in one["hrefs"] if ALLOWED_HREF.match(href)], text
        assert one["others"] == 0, text
    plain = found[REFUSED.index("[go](data:text/html,<script>window.canary=1</script>)")]
    assert plain["text"] == "[go](data:text/html,<script>window.canary=1</script>)"
    assert page.evaluate("window.canary") is None


@pytest.mark.long
def test_a_narrow_screen_shows_every_text_without_moving_sideways(texts: str, watch: Any) -> None:
    page = drawn(watch(width=320).page, texts, "texts")
    assert page.evaluate("document.querySelector('.stMain').scrollWidth") <= 320
    assert page.evaluate(_WIDE) == []


@pytest.mark.long
def test_texts_put_together_at_random_hold_no_such_link_either(texts: str, watch: Any) -> None:
    page = drawn(watch().page, texts, "mixed")
    for text, one in zip(mixed(800, seed=7), page.evaluate(HREFS), strict=True):
        assert one["hrefs"] == [href for href in one["hrefs"] if ALLOWED_HREF.match(href)], text
        assert one["others"] == 0, text


@pytest.mark.long
def test_a_link_to_the_web_a_mail_or_a_heading_stays_one(texts: str, watch: Any) -> None:
    page = drawn(watch().page, texts, "allowed")
    found = [one["hrefs"] for one in page.evaluate(HREFS)]
    assert found == [[href] if href != "#install" else [] for href in ALLOWED.values()], (
        "it has no such heading"
    )


def test_a_hostile_diagram_loads_nothing_runs_nothing_and_links_nowhere(texts: str, watch: Any) -> None:
    page = watch().page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    dialogs: list[str] = []

    def refuse(dialog: Any) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    drawn(page, texts, "diagrams")
    still(page)
    pictures = page.locator("[data-diagram] img")
    assert pictures.count() > len(DIAGRAMS) / 2
    assert [
        url for url in asked if not url.startswith((texts, texts.replace("http", "ws"), "blob:", "data:"))
    ] == []
    assert page.evaluate("window.canary") is None
    assert dialogs == []
    links = page.locator('[class*="st-key-text-"] a')
    assert links.count() == 0
    inside = page.evaluate(INSIDE)
    assert inside == [{"active": [], "addresses": []}] * len(inside)


@pytest.mark.long
def test_an_enormous_diagram_is_shown_as_its_source_and_the_page_answers(texts: str, watch: Any) -> None:
    page = drawn(watch().page, texts, "enormous")
    still(page)
    sources = page.locator(".fk-diagram:has(details[open])")
    expect(sources).to_have_count(len(ENORMOUS))
    expect(sources.first).to_contain_text("Diagram, shown as its source: it is longer than 8,000 characters.")
    page.get_by_role("button", name="Press").click()
    expect(page.get_by_text("Pressed.", exact=True)).to_be_visible()


@pytest.mark.long
def test_a_diagram_that_cannot_be_read_shows_its_source_and_no_error(texts: str, watch: Any) -> None:
    page = drawn(watch().page, texts, "unreadable")
    expect(page.locator(".fk-diagram pre")).to_have_text(UNREADABLE)
    expect(page.locator(".fk-diagram pre")).to_be_visible()
    expect(page.locator(".fk-diagram summary")).to_have_text("Source: Mermaid cannot read it")


@pytest.mark.long
def test_a_diagram_in_a_quotation_is_one_too(texts: str, watch: Any) -> None:
    page = drawn(watch().page, texts, "quoted")
    expect(page.locator("blockquote .fk-diagram pre")).to_have_text(UNREADABLE)


def flow(forky: Forky) -> str:
    drawing = "   ```mermaid\n   flowchart LR\n     A --> B\n     style A fill:#fff\n   ```"
    return talk(forky.create("Flow"), "Draw it.", f"So:\n\n1. In a list\n{drawing}\n2. On.").id


@pytest.mark.long
def test_the_source_of_a_diagram_is_one_key_away_in_light_and_dark(begun: Any, watch: Any) -> None:
    address = begun(flow)
    for scheme in ("light", "dark"):
        watched = watch(scheme=scheme)
        page = watched.open(address)
        still(page)
        picture = page.locator("[data-diagram] img")
        expect(picture).to_be_visible()
        source = page.locator(".fk-diagram pre")
        expect(source).to_be_hidden()
        page.locator(".fk-diagram summary").focus()
        page.keyboard.press("Enter")
        expect(source).to_have_text("flowchart LR\n  A --> B\n  style A fill:#fff")
        expect(page.get_by_role("listitem").filter(has_text="On.")).to_be_visible()
        assert watched.problems == []
