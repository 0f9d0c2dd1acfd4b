"""docs/extending.md is a package: each example is written to a file, installed, and found in its registry."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.documents import registry as documents
from forky_core.documents.readers import Readers
from forky_core.documents.source import source_of_bytes
from forky_core.forky import Forky
from forky_core.formats import registry as importers
from forky_core.formats.exporting import registry as exporters
from forky_core.formats.exporting.sharing import pieces, shared
from forky_core.formats.importing.landing import import_file
from forky_core.gateway.v1.protocols import registry as protocols
from forky_core.merge import strategies
from forky_core.plugins import Registry
from pages.ui import registry as pages
from tests.builders import talk, workspace
from tests.packages import write_package
from tests.pages.apptest import settled, words
from tests.pages.workspaces import empty_workspace, open_page
from tests.programs import CHECKOUT

PAGE = (CHECKOUT / "docs/extending.md").read_text("utf-8")
REGISTRIES: dict[str, Registry[Any]] = {
    one.group: one
    for one in (
        strategies.REGISTRY,
        importers.REGISTRY,
        exporters.REGISTRY,
        documents.REGISTRY,
        protocols.REGISTRY,
        pages.REGISTRY,
    )
}
WITHOUT_EXAMPLE = {protocols.REGISTRY.group}
EXAMPLES = re.findall(
    r"^`(\w+\.py)`.*?^```python\n(.*?)^```.*?^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
)


def entry_points() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for _, _, settings in EXAMPLES:
        found |= tomllib.loads(settings)["project"]["entry-points"]
    return found


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for file, source, _ in EXAMPLES:
        (tmp_path / file).write_text(source)
    write_package(tmp_path, **{group.replace(".", "_"): points for group, points in entry_points().items()})
    monkeypatch.syspath_prepend(str(tmp_path))
    for registry in REGISTRIES.values():
        registry.forget_installed()
    yield
    for registry in REGISTRIES.values():
        registry.forget_installed()
    for file, _, _ in EXAMPLES:
        sys.modules.pop(file.removesuffix(".py"), None)


def test_the_table_and_the_examples_name_every_group() -> None:
    rows = re.findall(r"^\| `(forky\.\w+)` \| .*? \| `([\w.]+)`.* \| `([\w./]+)` \|$", PAGE, re.MULTILINE)
    assert [group for group, _, _ in rows] == list(REGISTRIES)
    assert [group for group in REGISTRIES if group not in WITHOUT_EXAMPLE] == list(entry_points())
    for _, contract, file in rows:
        module, _, name = contract.rpartition(".")
        assert hasattr(sys.modules[module], name), contract
        assert (CHECKOUT / file).is_file()


@pytest.mark.parametrize("group", list(entry_points()))
def test_what_the_package_names_is_offered(group: str, caplog: pytest.LogCaptureFixture) -> None:
    assert [one.name for one in REGISTRIES[group].others] == list(entry_points()[group])
    assert [record for record in caplog.records if record.name == "forky.plugin"] == []


def test_the_strategy_merges() -> None:
    chat = talk(workspace()[0].create("Ports"), "Hello.", "Hello.")
    talk(chat.fork("debug"), "Where does it listen?", "The port is 8443.")
    chat.merge(chat.plan_merge("debug", strategy="haiku"))
    assert "The port is" in chat.path()[-1].text or "The port is" in str(chat.context().messages)


def test_the_importer_reads_and_the_exporter_writes(tmp_path: Path) -> None:
    (tmp_path / "june.txt").write_text("My diary\nThe first day.\nThe second day.\n")
    with Forky.open(":memory:") as forky:
        done = import_file(forky, tmp_path / "june.txt")
        chat = forky.conversation(done.conversations[0])
        file = b"".join(pieces(shared(forky.store, chat), exporters.exporter("script")))
    assert file == b"user: The first day.\nuser: The second day.\n"


def test_the_document_is_read_in_a_process_of_its_own() -> None:
    film = source_of_bytes("film.srt", b"1\n00:01 --> 00:02\nIt will\nrain.\n\n2\n00:03 --> 00:04\nAgain.\n")
    readers = Readers()
    try:
        found = [(one.kind, one.chunk.text) for one in readers.read(film)]
        assert len(readers.processes) == 1
    finally:
        readers.close()
    assert {kind for kind, _ in found} == {"subtitles"} and "It will\nrain." in found[0][1]


def test_the_page_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with empty_workspace(monkeypatch):
        shown = settled(open_page(str(tmp_path / "tides.py")))
    assert "High tide for 0 conversations." in words(shown)
