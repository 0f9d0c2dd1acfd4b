"""A workspace moves to PostgreSQL, from it, and between two of its workspaces, with all that happened in it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.cli.parser import main
from forky_core.forky import Forky
from forky_core.store.postgresql.store import PostgresStore
from forky_core.welcome import make_welcome
from tests.examples import examples
from tests.store.movable_stores import KINDS
from tests.store.test_moving import assert_moves_whole

PAIRS = (("duckdb", "postgresql"), ("postgresql", "duckdb"), ("postgresql", "postgresql"))


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_whatever_happened_in_a_workspace_is_the_same_in_its_new_store(
    shared: str, kinds: tuple[str, str]
) -> None:
    @given(random=st.randoms(use_true_random=False))
    @settings(max_examples=examples(10))
    def check(random: Random) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, target = (
                PostgresStore.open(shared, workspace=uuid4().hex, connections=3)
                if kind == "postgresql"
                else KINDS[kind](Path(folder) / name)
                for kind, name in zip(kinds, ("from", "to"), strict=True)
            )
            assert_moves_whole(source, target, random)

    check()


def test_the_command_moves_a_file_to_a_server_and_back_with_its_ids(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, back = tmp_path / "here.duckdb", tmp_path / "back.duckdb"
    with Forky.open(here) as forky:
        chat = make_welcome(forky)
    assert main(["move", str(here), url]) == 0
    with Forky.open(url) as forky:
        moved_chat = forky.conversation(chat.id)
        moved_chat.ask("And on the server?")
        path = [message.id for message in moved_chat.path()]
    assert main(["move", url, str(back)]) == 0
    assert "secret" not in capsys.readouterr().out
    with Forky.open(back) as forky:
        assert [message.id for message in forky.conversation(chat.id).path()] == path
