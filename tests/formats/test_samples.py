"""Real files of other people's programs, against the numbers of an independent reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.formats.account import ImportAccount
from forky_core.formats.contract import Unreadable
from forky_core.formats.files.source import opened, sample
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.registry import importer_for
from forky_core.formats.tree import build_tree
from tests.formats.sources import SAMPLES

pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the sample files are not beside the checkout")


def rows() -> Iterator[tuple[str, int, int]]:
    """File, conversations and nodes, from the table beside the samples."""
    if not SAMPLES.exists():
        return
    for line in (SAMPLES / "README.md").read_text("utf-8").splitlines():
        match = re.match(r"\| ([\w./-]+) \|.*?\| (\d+) \| (\d+) \|", line)
        if match and not match.group(1).startswith(FORMER):
            yield match.group(1), int(match.group(2)), int(match.group(3))


FORMER = ("chatbotui/", "oasst/", "pam/")
"""Folders of programs whose files are no longer read."""
READ_AS_ONE = {"llm-sqlite/llm-0.27.1-legacy.db": 3}
"""A database of three conversations, which the independent reader told as one file."""


@pytest.mark.parametrize(("name", "conversations", "nodes"), list(rows()))
def test_every_node_of_a_sample_is_accounted_for(name: str, conversations: int, nodes: int) -> None:
    accounts = []
    with opened(SAMPLES / name) as archive:
        for document in archive.documents:
            importer = importer_for(sample(document))
            if importer is not None:
                found = importer.read(document, archive.beside)
                accounts += [build_tree(one).account for one in found if not isinstance(one, Unreadable)]
    assert accounts, "no importer reads this format"
    account = sum(accounts, ImportAccount())
    assert account.adds_up
    assert (account.conversations, account.seen) == (READ_AS_ONE.get(name, conversations), nodes)


@pytest.mark.parametrize("name", [name for name, _, _ in rows()])
def test_a_sample_lands_once_and_verifies(name: str, forky: Workspace) -> None:
    lines = [line for line in preview(forky, SAMPLES / name) if not line.problem]
    first = import_file(forky, SAMPLES / name)
    assert len(first.conversations) == len(lines)
    again = import_file(forky, SAMPLES / name)
    assert (again.number, again.conversations, again.unchanged) == (0, (), len(lines))
    assert forky.verify().clean
