"""docs/extending.md is a package: each example is written to a file, installed, and found in its registry."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core import extending
from forky_core.context import memory_policies
from forky_core.documents import registry as documents
from forky_core.documents.readers import Readers
from forky_core.documents.source import source_of_bytes
from forky_core.forky import Forky
from forky_core.formats import registry as importers
from forky_core.formats.exporting import registry as exporters
from forky_core.formats.exporting.sharing import export_value, pieces
from forky_core.formats.importing.landing import import_file
from forky_core.merge import strategies
from forky_core.process.plugins import Registry
from forky_core.wire import registry as protocols
from pages.ui import registry as pages
from tests.builders import ScriptedModels, talk, workspace
from tests.gateway.served import serving
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
        memory_policies.REGISTRY,
        documents.REGISTRY,
        protocols.REGISTRY,
        pages.REGISTRY,
    )
}
TELEGRAPH = "tests/gateway/telegraph.py"
"""The example of a protocol, which the page only names."""
_EXAMPLE = re.compile(
    rf"^`(\w+\.py)`.*?^```python\n(.*?)^```.*?^```toml\n(.*?)^```|`{TELEGRAPH}`.*?^```toml\n(.*?)^```",
    re.DOTALL | re.MULTILINE,
)
EXAMPLES = [
    (file, source, settings) if file else ("telegraph.py", (CHECKOUT / TELEGRAPH).read_text("utf-8"), other)
    for file, source, settings, other in _EXAMPLE.findall(PAGE)
]


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
    assert list(REGISTRIES) == list(entry_points())
    for _, contract, file in rows:
        module, _, name = contract.rpartition(".")
        assert hasattr(importlib.import_module(module), name), contract
        assert (CHECKOUT / file).is_file()


@pytest.mark.parametrize("group", list(entry_points()))
def test_what_the_package_names_is_offered(group: str, caplog: pytest.LogCaptureFixture) -> None:
    assert [one.name for one in REGISTRIES[group].others] == list(entry_points()[group])
    assert [record for record in caplog.records if record.name == "forky.plugin"] == []


def test_a_package_that_imports_from_where_the_names_were_is_offered_and_told_where_they_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for file, source, _ in EXAMPLES:
        old = source.replace("from forky_core.extending import", "from forky_core import")
        (tmp_path / file).write_text(f"{old}\nfrom forky_core.settings import Settings\n")
    with pytest.warns(DeprecationWarning, match="goes away in Forky") as told:
        names = {group: [one.name for one in registry.others] for group, registry in REGISTRIES.items()}
    assert names == {group: list(points) for group, points in entry_points().items()}
    sentences = " ".join({str(one.message) for one in told})
    for new in ("extending.Strategy", "extending.Node", "extending.MemoryPolicy", "extending.DocumentKind"):
        assert f"is now `forky_core.{new}`" in sentences
    assert "`forky_core.settings` is now `forky_core.process.settings`" in sentences
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
        file = b"".join(pieces(export_value(forky.store, chat), exporters.exporter("script")))
    assert file == b"user: The first day.\nuser: The second day.\n"


def test_the_memory_policy_chooses() -> None:
    chat = talk(workspace()[0].create("Ports"), "Which port?", "Port 8443.", "And the host?")
    chat.rules.set_memory(memory_policies.parse_memory("questions"))
    said = "\n".join(str(message["content"]) for message in chat.context().messages)
    assert "Which port?" in said and "And the host?" in said and "8443" not in said


def test_the_document_is_read_in_a_process_of_its_own() -> None:
    film = source_of_bytes("film.srt", b"1\n00:01 --> 00:02\nIt will\nrain.\n\n2\n00:03 --> 00:04\nAgain.\n")
    readers = Readers()
    try:
        found = [(one.kind, one.chunk.text) for one in readers.read(film)]
        assert len(readers.processes) == 1
    finally:
        readers.close()
    assert {kind for kind, _ in found} == {"subtitles"} and "It will\nrain." in found[0][1]


def test_a_program_adds_a_strategy_and_a_kind_of_document_without_a_package(tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "forky_made_up-1.dist-info")
    haiku, film = importlib.import_module("haiku").HAIKU, importlib.import_module("subtitles").SUBTITLES
    assert haiku not in extending.strategies() and film not in documents.kinds()
    extending.add_strategy(haiku)
    extending.add_document_kind(film)
    try:
        assert haiku in extending.strategies() and film in documents.kinds()
        test_the_document_is_read_in_a_process_of_its_own()
    finally:
        extending.remove_strategy(haiku)
        extending.remove_document_kind(film)
    assert haiku not in extending.strategies() and film not in documents.kinds()


def test_the_protocol_answers() -> None:
    with serving(ScriptedModels()) as served, served.client() as client:
        answer = client.post("/wires", json={"model": "scripted/one", "wire": "Which port? STOP"})
    assert answer.json()["wire"] == "one says: Which port? STOP"


def test_the_page_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with empty_workspace(monkeypatch):
        shown = settled(open_page(str(tmp_path / "tides.py")))
    assert "High tide for 0 conversations." in words(shown)
