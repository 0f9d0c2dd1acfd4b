"""A file that did not arrive is named with its size and the reason; the rest of the drop comes in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.browser.conftest import expect
from tests.browser.test_chat import DRAFT, ask, begin
from tests.formats.importing.test_chatgpt import conversation, entry

pytestmark = pytest.mark.browser
_DROP = """
([selector, size]) => {
  const bag = new DataTransfer();
  bag.items.add(new File([new Uint8Array(size)], "film.txt"));
  bag.items.add(new File(["Oil the pump."], "note.txt"));
  for (const name of ["dragenter", "dragover", "drop"])
    document.querySelector(selector).dispatchEvent(
      new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: bag }));
}
"""


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


@pytest.mark.long
def test_of_several_documents_the_one_that_is_too_large_is_named(
    app: str, watch: Any, tmp_path: Path
) -> None:
    watched = watch()
    page = watched.open(f"{app}/documents")
    (note := tmp_path / "note.md").write_text("Oil the pump.")
    chooser = page.locator("[class*=st-key-documents-files] input[type=file]")
    chooser.set_input_files([sparse(tmp_path / "film.txt", 210_000_000), note])
    expect(page.get_by_text("Added 1 document, 1 passage.")).to_be_visible()
    told = page.get_by_text("“film.txt” has 210 MB; at most 200 MB fit.")
    expect(told).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(told).to_have_count(0)
    assert watched.problems == []


@pytest.mark.long
def test_of_several_files_dropped_on_the_composer_too(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    page.evaluate(_DROP, [DRAFT, 60_000_000])
    told = page.get_by_text("“film.txt” has 60 MB; at most 50 MB can be attached.")
    expect(told).to_be_visible()
    expect(page.get_by_role("button", name="note.txt")).to_be_visible()
    ask(page, "What is in it?")
    expect(told).to_have_count(0)


@pytest.mark.long
def test_of_an_import_too_and_the_rest_is_looked_at(app: str, watch: Any, tmp_path: Path) -> None:
    watched = watch()
    page = watched.open(f"{app}/library")
    page.get_by_role("radio", name="Import").click()
    (talk := tmp_path / "talk.md").write_text("# Oil\n\n## User\n\nWhen?\n\n## Assistant\n\nNow.\n")
    chooser = page.locator("[class*=st-key-import-file] input[type=file]")
    chooser.set_input_files([sparse(tmp_path / "years.zip", 1_200_000_000), talk])
    told = page.get_by_text("“years.zip” has 1,200 MB; at most 1,000 MB can be dropped here.")
    expect(told).to_be_visible()
    expect(page.get_by_role("button", name="Not now")).to_be_visible()
    page.get_by_role("button", name="Not now").click()
    expect(told).to_have_count(0)
    assert watched.problems == []


@pytest.mark.long
def test_a_file_of_a_library_is_taken_up_to_the_limit_that_the_page_names(
    app: str, watch: Any, tmp_path: Path
) -> None:
    watched = watch()
    page = watched.open(f"{app}/library")
    page.get_by_role("radio", name="Import").click()
    with ZipFile(large := tmp_path / "years.zip", "w") as packed:
        packed.writestr("conversations.json", json.dumps(conversation(entry("q", "root", "user", "When?"))))
        packed.writestr("film.mp4", bytes(60_000_000))
    with page.expect_response("**/_stcore/upload_file/**") as answered:
        page.locator("[class*=st-key-import-file] input[type=file]").set_input_files(large)
    assert answered.value.status == 204
    expect(page.get_by_role("button", name="Not now")).to_be_visible()
    assert watched.problems == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("status", "told"),
    [
        (413, "did not arrive. It is more than this server, or a proxy in front of it, takes."),
        (502, "did not arrive. The server answered 502."),
        (0, "did not arrive. The connection ended while it was sent."),
    ],
)
def test_a_file_that_a_proxy_refuses_is_named_with_the_reason(
    app: str, watch: Any, tmp_path: Path, status: int, told: str
) -> None:
    page = watch().open(f"{app}/library")
    page.get_by_role("radio", name="Import").click()
    page.route(
        "**/_stcore/upload_file/**",
        lambda route: route.fulfill(status=status) if status else route.abort("connectionreset"),
    )
    page.locator("[class*=st-key-import-file] input[type=file]").set_input_files(
        sparse(tmp_path / "years.zip", 3_000_000)
    )
    sentence = page.get_by_text(f"“years.zip” (3 MB) {told}")
    expect(sentence).to_be_visible()
    page.unroute("**/_stcore/upload_file/**")
    (talk := tmp_path / "talk.md").write_text("# Oil\n\n## User\n\nWhen?\n\n## Assistant\n\nNow.\n")
    page.locator("[class*=st-key-import-file] input[type=file]").set_input_files(talk)
    expect(page.get_by_role("button", name="Not now")).to_be_visible()
    expect(sentence).to_have_count(0)
