"""Whatever a file holds ends in an account that adds up or in a sentence, and nothing half-written is left of it.

The mutations are drawn by a fixed generator, so that a run is the same everywhere; `ROUNDS` of them make a longer one.
"""

from __future__ import annotations

import io
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.contract import Importer, ParsedConversation, Unreadable
from forky_core.formats.files.source import ArchiveFiles, OpenedDocument, document, sample
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.importing.undo_import import undo_import
from forky_core.formats.registry import IMPORTERS, importer_for
from forky_core.formats.tree import build_tree
from forky_core.model.errors import ForkyError
from forky_core.model.parts import canonical_json
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels
from tests.formats.seeds import Seed, seeds
from tests.formats.spoiling import spoilt

FILES = 2_400 * int(os.environ.get("ROUNDS", "1"))
LANDED = 240
GROUPS = 8
"""The files are shared out, so that a failure names a smaller group."""


@pytest.fixture(scope="module")
def sown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Seed, ...]:
    return seeds(tmp_path_factory.mktemp("seeds"))


def as_document(data: bytes) -> OpenedDocument:
    return document("chat.json", lambda: io.BytesIO(data))


def by_name(name: str) -> Importer:
    return next(importer for importer in IMPORTERS if importer.name == name)


def whole(seed: Seed) -> bytes:
    """The seed's file as it is: a generator that changes nothing."""
    if isinstance(seed.content, bytes):
        return seed.content
    if isinstance(seed.content, str):
        return seed.content.encode()
    rows = seed.content if seed.kind == "lines" else [seed.content]
    return "\n".join(canonical_json(row) for row in rows).encode()


def mutated(sown: tuple[Seed, ...], first: int, step: int, count: int) -> Iterator[tuple[int, Seed, bytes]]:
    for number in range(first, count, step):
        seed = sown[number % len(sown)]
        yield number, seed, spoilt(seed, random.Random(number))


def check(found: ParsedConversation | Unreadable, size: int) -> None:
    if isinstance(found, Unreadable):
        assert found.why.endswith("."), found
        return
    assert len(found.nodes) <= size, "more nodes than the file has bytes"
    tree = build_tree(found)
    assert tree.account.adds_up, tree.account
    known: set[str] = set()
    for message in tree.messages:
        assert known.issuperset(message.parents)
        known.add(message.id)
    assert {*tree.branches.values(), *tree.kept} <= known
    assert (tree.head in known) == bool(known)


def test_every_importer_has_a_seed_and_reads_it_whole(sown: tuple[Seed, ...]) -> None:
    assert {seed.importer for seed in sown} == {importer.name for importer in IMPORTERS}
    for seed in sown:
        opened = as_document(whole(seed))
        importer = importer_for(sample(opened))
        assert importer is not None, seed
        assert importer.name == seed.importer
        for found in importer.read(opened, ArchiveFiles()):
            assert isinstance(found, ParsedConversation), found
            assert build_tree(found).messages


@pytest.mark.parametrize("group", range(GROUPS))
def test_a_mutated_file_ends_in_an_account_or_a_sentence(sown: tuple[Seed, ...], group: int) -> None:
    for number, seed, data in mutated(sown, group, GROUPS, FILES):
        try:
            opened = as_document(data)
            looked_at = sample(opened)
            chosen = next(iter([one for one in IMPORTERS if one.fits(looked_at)]), None)
            # What only the first elements look like is read by the seed's own importer all the same.
            for importer in {by_name(seed.importer), chosen or by_name(seed.importer)}:
                for found in importer.read(opened, ArchiveFiles()):
                    check(found, len(data))
        except ForkyError:
            continue  # A sentence.
        except Exception as error:
            error.add_note(f"file number {number}, a spoilt {seed.importer}: {data[:2_000]!r}")
            raise


def test_what_lands_of_mutated_files_is_whole_and_can_be_taken_back(
    sown: tuple[Seed, ...], tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    landed = 0
    for number, seed, data in mutated(sown, 0, FILES // LANDED, FILES):
        path.write_bytes(data)
        workspace = Workspace(MemoryStore(), ScriptedModels())
        try:
            lines = list(preview(workspace, path))
            done = import_file(workspace, path)
            assert done.account.adds_up
            assert len(done.conversations) <= len([line for line in lines if not line.problem])
            assert workspace.store.verify().clean
            landed += len(done.conversations)
            if done.number:
                undo_import(workspace, done.number)
        except ForkyError:
            pass  # A sentence.
        except Exception as error:
            error.add_note(f"file number {number}, a spoilt {seed.importer}: {data[:2_000]!r}")
            raise
        assert workspace.conversations() == ()
    assert landed > LANDED // 4, "most of them hold something still"
