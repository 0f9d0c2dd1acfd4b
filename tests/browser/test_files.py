"""A ChatGPT zip comes in and leads to a message; a conversation leaves as a page that runs and asks for nothing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from forky_core.forky import Forky
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value, exported_part, pieces
from forky_core.formats.forky_file.files import load
from tests.browser.conftest import Watched, expect, told
from tests.builders import talk
from tests.formats.test_landing import chat
from tests.hangs import HANG

pytestmark = pytest.mark.browser
Watch = Callable[..., Watched]
HOSTILE = "</script><script>alert(1)</script><img src=https://evil.example/x onerror=alert(2)> `code`"


def sharing(forky: Forky) -> str:
    one = talk(forky.create("Sharing"), HOSTILE, "first answer")
    talk(one.fork("side"), "a needle in the haystack", "found it")
    return one.id


def page_of_it(forky: Forky) -> str:
    """That conversation as a web page."""
    one, to = forky.conversation(forky.conversations()[0].id), exporter("html")
    return b"".join(pieces(exported_part(export_value(forky.store, one), to, log=False), to)).decode()


@pytest.mark.long
def test_a_chatgpt_zip_comes_in_and_leads_to_its_messages(app: str, watch: Watch, tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(
            "conversations.json", json.dumps([chat("a", "From elsewhere", "hello from the past")])
        )
    watched = watch()
    page = watched.open(f"{app}/library")
    page.get_by_role("radio", name="Import").or_(page.get_by_role("button", name="Import")).first.click()
    page.locator('[class*="st-key-import-file"] input[type=file]').set_input_files(str(archive))
    page.get_by_role("button", name="Import 1 conversation").click()
    expect(page.get_by_text("1 conversation imported")).to_be_visible()
    page.get_by_role("link", name="From elsewhere").first.click()
    expect(page.get_by_text("hello from the past").filter(visible=True).first).to_be_visible()
    assert watched.problems == []


def test_a_page_is_downloaded_and_opens_without_a_network(
    begun: Any, watch: Watch, browser: Any, tmp_path: Path
) -> None:
    address = begun(sharing)
    page = watch().open(f"{address}/library")
    row = page.locator('[class*="st-key-row-"]', has=page.get_by_role("link", name="Sharing"))
    row.locator('[class*="st-key-library-export"] button:visible').first.click()
    button = page.get_by_role("link", name="Download")
    expect(button).to_be_visible()
    with page.expect_download() as waiting:
        button.click()
    file = tmp_path / "Sharing.html"
    waiting.value.save_as(file)
    assert waiting.value.suggested_filename == "Sharing.html"
    assert file.read_text() == told(address, page_of_it)
    foreign = {"origin": "https://evil.example"}
    refused = httpx.get(waiting.value.url, headers=foreign, timeout=HANG, trust_env=False)
    assert refused.status_code == 403, "only Forky's own page may have it"
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 800}, color_scheme="dark")
    try:
        read_alone(context.new_page(), file, tmp_path)
    finally:
        context.close()


def read_alone(alone: Any, file: Path, folder: Path) -> None:
    problems: list[str] = []
    asked: list[str] = []
    alone.on("console", lambda message: problems.append(message.text))
    alone.on("pageerror", lambda error: problems.append(str(error)))
    alone.on("dialog", lambda dialog: problems.append(dialog.message))
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(file.as_uri())
    expect(alone.locator("article")).to_have_count(4)
    expect(alone.get_by_text("</script><script>alert(1)</script>").first).to_be_visible()
    assert alone.evaluate("document.documentElement.scrollWidth") <= 390
    alone.get_by_role("searchbox").fill("needle")
    expect(alone.locator("article:visible")).to_have_count(1)
    alone.get_by_role("searchbox").fill("")
    alone.locator("#branch").select_option(label="main")
    expect(alone.locator("article:visible")).to_have_count(2)
    with alone.expect_download() as waiting:
        alone.get_by_role("button", name="Take the Forky file").click()
    back = folder / "back.forky.jsonl"
    waiting.value.save_as(back)
    assert load(back).messages == load(file).messages
    assert problems == []
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []
