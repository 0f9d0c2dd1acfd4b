"""What every importer promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, get_args

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.contract import Importer, ParsedConversation, Sample, Shape
from forky_core.formats.files.source import opened, sample
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.registry import IMPORTERS, REGISTRY, importer_for, importers
from forky_core.formats.tree import build_tree
from forky_core.model.parts import Json
from tests.formats.postcards import READER, STACK, PostcardReader
from tests.formats.seeds import Seed, seeds, whole
from tests.formats.sources import read, written
from tests.packages import installed

EVERY: tuple[Importer, ...] = (*IMPORTERS, READER)
NOTHING: tuple[tuple[Json, ...], ...] = ((), ({},), (None, 1, "", []), ({"": None},))


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    with REGISTRY.added(READER):
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A file for each importer, by its name."""
    folder = tmp_path_factory.mktemp("files")
    found: dict[str, Path] = {}
    for seed in (*seeds(folder), Seed(READER.name, "value", STACK)):
        path = folder / f"{seed.importer}.json"
        path.write_bytes(whole(seed))
        found.setdefault(seed.importer, path)
    return found


@pytest.mark.parametrize("importer", EVERY, ids=lambda one: one.name)
class TestEvery:
    def test_it_says_what_it_is(self, importer: Importer) -> None:
        assert importer in importers() and REGISTRY.find(importer.name) is importer
        assert isinstance(importer, Importer)
        for words in (importer.name, importer.label):
            assert words.strip() == words != ""

    def test_it_fits_nothing_that_says_nothing(self, importer: Importer) -> None:
        for shape in get_args(Shape):
            for values in NOTHING:
                assert not importer.fits(Sample("file", shape, values))

    def test_its_file_is_read_by_it_and_grows_into_trees_that_add_up(
        self, importer: Importer, files: Mapping[str, Path]
    ) -> None:
        with opened(files[importer.name]) as archive:
            (document,) = archive.documents
            assert importer_for(sample(document)) is importer
        found = list(read(importer, files[importer.name]))
        assert found
        for one in found:
            assert isinstance(one, ParsedConversation)
            assert build_tree(one).messages and build_tree(one).account.adds_up

    def test_a_preview_and_the_history_say_its_label(
        self, importer: Importer, files: Mapping[str, Path], forky: Workspace
    ) -> None:
        path = files[importer.name]
        assert {line.label for line in preview(forky, path)} == {importer.label}
        done = import_file(forky, path)
        said = {
            operation.summary
            for id in done.conversations
            for operation in forky.conversation(id).history.since(0)
        }
        assert any(f"({importer.label})" in summary for summary in said)

    def test_a_preview_counts_branches_as_the_library_does(
        self, importer: Importer, files: Mapping[str, Path], forky: Workspace
    ) -> None:
        path = files[importer.name]
        said = {(line.title, line.branches) for line in preview(forky, path) if not line.problem}
        import_file(forky, path)
        assert {(summary.title, summary.branches) for summary in forky.conversations()} == said

    def test_what_was_imported_is_recognised(
        self, importer: Importer, files: Mapping[str, Path], forky: Workspace
    ) -> None:
        first = import_file(forky, files[importer.name])
        again = import_file(forky, files[importer.name])
        assert first.conversations
        assert again.conversations == () and again.unchanged


def test_no_two_have_the_same_name() -> None:
    assert len(set(REGISTRY.names)) == len(importers())


def test_an_installed_one_is_asked_before_those_that_fit_nearly_everything(tmp_path: Path) -> None:
    REGISTRY.remove(READER)
    try:
        path = written(tmp_path, STACK)
        with opened(path) as archive, installed(tmp_path, REGISTRY, cards="tests.formats.postcards:READER"):
            assert importer_for(sample(archive.documents[0])) is READER
            assert importers()[:-3] == IMPORTERS[:-2] and importers()[-3] is READER
        with opened(path) as archive:
            left = importer_for(sample(archive.documents[0]))
            assert left is not None and left.name == "messages"
    finally:
        REGISTRY.add(READER)


class Clumsy(PostcardReader):
    name: ClassVar[str] = "clumsy"

    def fits(self, sample: Sample) -> bool:
        return bool(sample.values[99])


def test_one_of_a_package_that_fails_to_look_at_a_file_leaves_it_to_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Forky.open(":memory:") as forky, REGISTRY.added(Clumsy()), caplog.at_level(logging.WARNING):
        REGISTRY.remove(READER)
        try:
            done = import_file(forky, written(tmp_path, STACK))
        finally:
            REGISTRY.add(READER)
        assert len(done.conversations) == 1
    (record,) = [one for one in caplog.records if one.name == "forky.plugin"]
    assert 'name=clumsy reason="it failed to look at a file"' in record.getMessage()
