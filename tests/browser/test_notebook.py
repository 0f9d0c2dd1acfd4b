"""Cells that the notebook draws by itself look as Streamlit would draw them, and do what its elements do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import CHECKOUT, expect, rarely, served, settled
from tests.browser.prose_texts import TEXTS
from tests.browser.test_hostile import ALLOWED_HREF
from tests.builders import talk
from tests.pages.hostile import REFUSED

pytestmark = pytest.mark.browser
_COMPARE = """
() => {
  const KEPT = "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr input li ol p pre strong table td th tr ul".split(" ");
  const STYLES = ["color", "fontSize", "fontWeight", "fontFamily", "fontStyle", "lineHeight", "textDecorationLine", "textAlign", "whiteSpace",
    "letterSpacing", "listStyleType", "verticalAlign", "opacity", "borderTopWidth", "borderTopColor", "borderLeftWidth", "borderBottomWidth"];
  const round = (number) => Math.round(number * 2) / 2;
  const seen = (root) => {
    const at = root.getBoundingClientRect(), found = [];
    for (const one of root.querySelectorAll("*")) {
      const tag = one.localName;
      if (!KEPT.includes(tag) || one.closest("[data-testid=stHeaderActionElements]") || (tag === "code" && one.closest("pre"))) continue;
      const box = one.getBoundingClientRect(), style = getComputedStyle(one), ground = style.backgroundColor;
      found.push({ tag, text: tag === "pre" ? one.querySelector("code").textContent : one.textContent.replace(/\\s+/g, ""), href: one.getAttribute("href"), title: one.getAttribute("title"),
        checked: one.checked, start: one.start, box: [box.x - at.x, box.y - at.y, box.width, box.height].map(round),
        ground, ...Object.fromEntries(STYLES.map((name) => [name, style[name]])) });
      if (tag === "pre") { const code = one.querySelector("code"), style = getComputedStyle(code); found.push({ tag: "pre code", size: style.fontSize, family: style.fontFamily, line: style.lineHeight, color: style.color }); }
    }
    return { found, text: root.textContent, height: round(at.height) };
  };
  const differences = [];
  let count = 0;
  for (const theirs of document.querySelectorAll('[class*="st-key-cell-theirs-"]')) {
    const number = theirs.className.match(/st-key-cell-theirs-(\\d+)/)[1];
    const ours = document.querySelector(`.st-key-cell-ours-${number}`);
    const pairs = [theirs, ours].map((one) => [...one.querySelectorAll('[data-testid="stMarkdownContainer"]')].map(seen));
    count++;
    if (pairs[0].length !== pairs[1].length) { differences.push({ number, pieces: pairs.map((one) => one.length) }); continue; }
    pairs[0].forEach((one, at) => {
      const other = pairs[1][at];
      const shape = (of) => of.found.map((e) => e.tag + ":" + (e.text ?? "")).join("|");
      if (shape(one) !== shape(other)) { differences.push({ number, theirs: shape(one), ours: shape(other) }); return; }
      if (one.height !== other.height) differences.push({ number, height: [one.height, other.height] });
      one.found.forEach((element, nth) => {
        for (const name in element)
          if (JSON.stringify(element[name]) !== JSON.stringify(other.found[nth][name]))
            differences.push({ number, tag: element.tag, name, theirs: element[name], ours: other.found[nth][name], text: (element.text ?? "").slice(0, 40) });
      });
    });
  }
  return { count, differences };
}
"""
_HREFS = """() => [...document.querySelectorAll('[class*="st-key-cell-ours-"] a')].map((one) => one.getAttribute("href"))"""
_OTHERS = """() => document.querySelectorAll('[class*="st-key-cell-ours-"] :is(img, iframe, object, embed, form, script, style)').length"""
_HOLD = """
() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) { window.held ? window.held.push(() => send.call(this, data)) : send.call(this, data); };
  window.release = () => { const waiting = window.held; window.held = null; waiting.forEach((one) => one()); };
}
"""
"""What a page sends waits where `window.held` is a list, until `release()`."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(
        CHECKOUT / "tests" / "browser" / "notebook_app.py", tmp_path_factory.mktemp("notebook")
    ) as address:
        yield address


def drawn(page: Any, address: str, show: str) -> Any:
    page.goto(f"{address}/?show={show}")
    expect(page.get_by_role("button", name="Press")).to_be_visible()
    return settled(page)


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
def test_a_text_looks_as_streamlits_markdown_does(both: str, watch: Any, scheme: str, width: int) -> None:
    page = drawn(watch(scheme=scheme, width=width).page, both, "texts")
    found = page.evaluate(_COMPARE)
    assert found["differences"] == []
    assert found["count"] == len(TEXTS)


@pytest.mark.long
def test_a_hostile_text_makes_no_link_and_no_element_of_its_own(both: str, watch: Any) -> None:
    page = drawn(watch().page, both, "refused")
    assert page.locator('[class*="st-key-cell-ours-"]').count() > len(REFUSED) // 2
    found = page.evaluate(_HREFS)
    assert found and [href for href in found if not ALLOWED_HREF.match(href)] == []
    assert page.evaluate(_OTHERS) == 0 and page.evaluate("window.canary") is None


def versions(forky: Forky) -> str:
    """A conversation whose answer has two versions, each with more below it."""
    code = "```python\nx = 1\n```\n\n> so"
    chat = talk(forky.create("Versions"), "Which?", "The first.", "And then?", code)
    talk(chat.fork("other", at=chat.path()[0].id), "The second.", "And now?", "It ends here.")
    return chat.id


@pytest.fixture
def forked(begun: Any) -> str:
    """The address at which the first of them is looked at."""
    return f"{begun(versions)}/?b=main"


def held(watched: Any, address: str) -> Any:
    """The page, from which nothing is sent until `release()`."""
    watched.page.add_init_script(f"({_HOLD})()")
    page = watched.open(address)
    page.wait_for_function("() => window.__forkyAhead?.size")
    page.evaluate("() => { window.held = []; }")
    return page


def test_the_version_beside_is_there_before_the_server_has_heard_of_the_press(
    forked: str, watch: Any
) -> None:
    watched = watch()
    page = held(watched, forked)
    cell = page.locator('[class*="st-key-cell-"]', has_text="The first.")
    cell.locator("[data-act=sibling]").last.click()
    expect(page.locator("[data-cell]")).to_have_count(4)
    expect(page.get_by_text("It ends here.", exact=True)).to_be_in_viewport()
    assert page.evaluate("window.held.length") > 0 and "b=main" in page.url
    last = page.locator("[data-cell]").last.element_handle()
    page.evaluate("release()")
    page.wait_for_url("**b=other*")
    settled(page)
    assert last.evaluate("(one) => one.isConnected"), "what was shown is what the page says"
    assert watched.problems == []


@pytest.mark.long
def test_a_press_that_led_nowhere_shows_the_path_again(forked: str, watch: Any) -> None:
    page = held(watch(), forked)
    page.locator("[data-act=sibling]").last.click()
    expect(page.get_by_text("It ends here.", exact=True)).to_be_visible()
    expect(page.get_by_text("The first.", exact=True)).to_be_visible()
    expect(page.get_by_text("It ends here.", exact=True)).to_have_count(0)


@pytest.mark.long
def test_what_changes_in_a_cell_leaves_the_rest_of_it_as_it_is(forked: str, watch: Any) -> None:
    page = watch().open(forked)
    cell = page.locator('[class*="st-key-cell-"]', has_text="The first.")
    words = cell.get_by_text("The first.", exact=True).element_handle()
    more = cell.locator("[data-act=more]")
    rarely(cell, "pick")
    expect(cell.locator("[data-act=pick]")).to_have_attribute("aria-pressed", "true")
    settled(page)
    expect(more).to_be_focused()
    assert words.evaluate("(one) => one.isConnected")
    expect(page.locator("[data-cell]")).to_have_count(4)


@pytest.mark.long
def test_code_is_coloured_and_copied(forked: str, watch: Any) -> None:
    watched = watch()
    watched.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = watched.open(forked)
    code = page.locator(".fk-code")
    expect(code.locator(".token.number")).to_have_text("1")
    code.hover()
    copy = code.get_by_role("button", name="Copy to clipboard")
    copy.click()
    expect(copy).to_have_attribute("data-done", "")
    assert page.evaluate("navigator.clipboard.readText()") == "x = 1"


@pytest.mark.long
def test_a_form_opens_below_its_cell_and_the_cells_after_it_stay_below(forked: str, watch: Any) -> None:
    page = watch().open(forked)
    cell = page.locator('[class*="st-key-cell-"]', has_text="The first.")
    cell.hover()
    cell.locator("[data-act=fork]").click()
    form = page.locator(".st-key-chat-form")
    expect(form).to_be_visible()
    expect(page.locator("[data-cell]")).to_have_count(4)
    above, below = (
        page.get_by_text(words, exact=True).bounding_box() for words in ("The first.", "And then?")
    )
    box = form.bounding_box()
    assert above["y"] < box["y"] < below["y"]
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    expect(page.locator("[data-cell]")).to_have_count(4)
