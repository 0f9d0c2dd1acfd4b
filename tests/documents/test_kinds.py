"""What every kind of document promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from forky_core.documents.extraction import extracted
from forky_core.documents.kinds import DocumentKind
from forky_core.documents.readers import Readers
from forky_core.documents.registry import (
    KINDS,
    REGISTRY,
    add_document_kind,
    kind_of,
    kinds,
    labels,
    media_type,
    remove_document_kind,
)
from forky_core.documents.source import DocumentSource, source_of_bytes
from forky_core.model.errors import BadContent
from tests.documents.files import docx, pdf
from tests.documents.recipes import BOX, CLUMSY, RECIPES
from tests.hangs import HANG
from tests.packages import installed
from tests.programs import CHECKOUT

EVERY = (*KINDS, RECIPES)
NEVER = Event()
PICTURE = b"\x89PNG\r\n\x1a\n\0\0"


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    with REGISTRY.added(RECIPES):
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, DocumentSource]:
    """A file of each kind, by the kind's name; all of them say “water”."""
    made = {
        "text": ("a.txt", b"Flour and water."),
        "markdown": ("a.md", b"# Bread\n\nFlour and water."),
        "html": ("a.html", b"<h1>Bread</h1><p>Flour and water."),
        "pdf": ("a.pdf", pdf(tmp_path_factory.mktemp("pdf"), "Flour and water.")),
        "docx": ("a.docx", docx(("Heading1", "Bread"), ("Normal", "Flour and water."))),
        "table": ("a.csv", b"bread,soup\nflour,water\n"),
        "code": ("a.py", b"def bread():\n    return 'flour and water'\n"),
        "recipes": ("a.recipes", BOX),
    }
    return {name: source_of_bytes(*file) for name, file in made.items()}


@pytest.mark.parametrize("kind", EVERY, ids=lambda one: one.name)
class TestEvery:
    def test_it_says_what_it_is(self, kind: DocumentKind) -> None:
        assert kind in kinds() and REGISTRY.find(kind.name) is kind
        assert kind.label in labels() and media_type(kind.name) == kind.media_type
        assert all(ending.startswith(".") and ending == ending.lower() for ending in kind.endings)

    def test_no_other_kind_has_its_name_its_label_or_an_ending_of_its(self, kind: DocumentKind) -> None:
        for other in EVERY:
            if other is not kind:
                assert {other.name, other.label}.isdisjoint({kind.name, kind.label})
                assert other.endings.isdisjoint(kind.endings)

    def test_its_file_is_recognised_and_read(
        self, kind: DocumentKind, files: Mapping[str, DocumentSource]
    ) -> None:
        source = files[kind.name]
        assert kind_of(source) is kind
        found = list(kind.read(source))
        assert "water" in " ".join(section.text for section, _ in found)
        shares = [done for _, done in found]
        assert shares == sorted(shares) and 0 < shares[-1] <= 1

    def test_a_content_that_is_recognised_counts_more_than_a_name(
        self, kind: DocumentKind, files: Mapping[str, DocumentSource]
    ) -> None:
        source = files[kind.name]
        renamed = DocumentSource("notes.txt", source.size, source.open)
        if kind.recognises(source, source.start()):
            assert kind_of(renamed) is kind

    def test_what_is_of_no_kind_is_recognised_by_none(self, kind: DocumentKind) -> None:
        for content in (b" ", b"\0", PICTURE, b"PK\x03\x04 nothing", b"plain words"):
            assert not kind.recognises(source_of_bytes("odd", content), content)

    def test_a_damaged_file_is_refused_in_a_sentence_or_read(
        self, kind: DocumentKind, files: Mapping[str, DocumentSource]
    ) -> None:
        content = files[kind.name].start()
        for damaged in (content[:20], content[: len(content) // 2], b"\xff" * 100):
            try:
                list(kind.read(source_of_bytes(files[kind.name].name, damaged)))
            except BadContent as error:
                refused = str(error)
            else:
                refused = "."
            assert refused.endswith(".")

    def test_the_process_that_reads_documents_reads_it(
        self, kind: DocumentKind, files: Mapping[str, DocumentSource], tmp_path: Path
    ) -> None:
        REGISTRY.remove(RECIPES)
        try:
            with installed(tmp_path, REGISTRY, recipes="tests.documents.recipes:RECIPES"):
                readers = Readers()
                try:
                    found = [(one.kind, one.chunk) for one in readers._read(files[kind.name], NEVER)]
                finally:
                    readers.close()
            assert found == [(kind.name, chunk) for chunk, _ in extracted(files[kind.name], kind)]
        finally:
            REGISTRY.add(RECIPES)


def test_an_added_kind_reaches_the_process_that_reads(files: Mapping[str, DocumentSource]) -> None:
    readers = Readers()

    def read() -> set[str]:
        return {one.kind for one in readers._read(files["recipes"], NEVER)}

    try:
        assert read() == {"recipes"}
        (reader,) = readers.processes
        remove_document_kind(RECIPES)
        try:
            with pytest.raises(BadContent, match="there is nothing in it that could be quoted"):
                read()
        finally:
            add_document_kind(RECIPES)
        assert read() == {"recipes"} and readers.processes == (reader,)
    finally:
        readers.close()


def test_a_kind_that_another_process_cannot_import_is_refused_when_it_is_added() -> None:
    with pytest.raises(ValueError, match="“homeless” cannot be added from here") as refused:
        add_document_kind(replace(RECIPES, name="homeless"))
    assert str(refused.value).endswith("a module other than the program's main one.")
    assert REGISTRY.find("homeless") is None


def test_a_kind_of_the_main_program_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "from dataclasses import replace\n"
        "from forky_core import add_document_kind\n"
        "from tests.documents.recipes import RECIPES\n"
        "MINE = replace(RECIPES, name='mine')\n"
        "add_document_kind(RECIPES)\n"
        "try:\n"
        "    add_document_kind(MINE)\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=HANG,
    )
    assert ran.stdout.startswith("The kind of document “mine” cannot be added from here.")


def test_an_added_kind_that_cannot_be_loaded_any_more_is_named(tmp_path: Path) -> None:
    (tmp_path / "short_lived.py").write_text(
        "from dataclasses import replace\n"
        "from tests.documents.recipes import RECIPES\n"
        "KIND = replace(RECIPES, name='short lived', recognises=lambda _source, start: start == b'short')\n"
    )
    readers = Readers()
    sys.path.insert(0, str(tmp_path))
    try:
        with REGISTRY.added(importlib.import_module("short_lived").KIND):
            (tmp_path / "short_lived.py").unlink()
            with pytest.raises(
                BadContent,
                match=r"“short_lived:KIND” cannot be loaded \(ModuleNotFoundError\).*remove the kind",
            ):
                list(readers._read(source_of_bytes("a.recipes", BOX), NEVER))
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("short_lived")
        readers.close()


def test_a_kind_that_fails_to_look_leaves_the_file_to_others(caplog: pytest.LogCaptureFixture) -> None:
    with REGISTRY.added(CLUMSY):
        assert kind_of(source_of_bytes("notes", b"Plain words.")).name == "text"
        with pytest.raises(BadContent, match="a PNG picture"):
            kind_of(source_of_bytes("notes", PICTURE))
    assert "name=clumsy" in caplog.text


def test_a_refusal_says_what_can_be_added() -> None:
    with pytest.raises(
        BadContent, match="Add text, Markdown, HTML, PDF, DOCX, CSV, code or boxes of recipes"
    ):
        kind_of(source_of_bytes("a.png", PICTURE))
