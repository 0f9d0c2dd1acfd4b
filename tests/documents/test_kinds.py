"""What every kind of document promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event

import pytest

from forky_core.documents.extraction import extracted
from forky_core.documents.kinds import DocumentKind
from forky_core.documents.readers import Readers
from forky_core.documents.registry import KINDS, REGISTRY, kind_of, kinds, labels, media_type
from forky_core.documents.source import DocumentSource, source_of_bytes
from forky_core.model.errors import BadContent
from tests.documents.files import docx, pdf
from tests.documents.recipes import BOX, CLUMSY, RECIPES
from tests.packages import installed

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


def test_a_kind_of_a_package_that_fails_to_look_leaves_the_file_to_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
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
