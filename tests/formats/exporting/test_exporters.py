"""What every exporter promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forky_core.cli.parser import main
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.exporting.exporting import Exporter
from forky_core.formats.exporting.registry import EXPORTERS, REGISTRY, exporter, exporters
from forky_core.formats.exporting.sharing import exported_part, file_name, pieces, save_as
from forky_core.formats.exporting.writers.message_arrays import DIALECTS
from forky_core.formats.forky_file.writing import chat_of
from forky_core.model.errors import NotFound
from tests.builders import talk
from tests.formats.forky_file.chats import with_everything
from tests.formats.postcards import WRITER
from tests.packages import installed

EVERY: tuple[Exporter, ...] = (*EXPORTERS, WRITER)
DATED = {"llm"}
"""A database says when its tables were made."""


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    with REGISTRY.added(WRITER):
        yield


Command = Callable[..., int]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """`forky export` of a conversation in a database of its own."""
    database = str(tmp_path_factory.mktemp("database") / "chats.duckdb")
    with Forky.open(database) as forky:
        id = talk(forky.create("Ports"), "Which port?", "Port 8443.").id
    return lambda *words: main(["--database", database, "export", id, *words])


@pytest.fixture
def chat(forky: Workspace) -> Conversation:
    return with_everything(forky)


@pytest.mark.parametrize("to", EVERY, ids=lambda one: one.name)
class TestEvery:
    def test_it_says_what_it_is(self, to: Exporter) -> None:
        assert to in exporters() and exporter(to.name) is to
        assert isinstance(to, Exporter)
        assert to.label.strip() == to.label != ""
        assert re.fullmatch(r"[a-z0-9.-]+", to.name)
        assert re.fullmatch(r"(\.[a-z0-9]+)+", to.suffix) and re.fullmatch(
            r"\w+/[\w.+-]+(; .*)?", to.media_type
        )
        assert file_name("A title?", to) == f"A-title{to.suffix}"

    def test_it_writes_everything_and_nothing(
        self, to: Exporter, forky: Workspace, chat: Conversation
    ) -> None:
        assert b"".join(to.write(chat_of(forky.store, chat.id)))
        empty = forky.create("Nothing said")
        assert b"".join(to.write(chat_of(forky.store, empty.id)))

    def test_exporting_twice_gives_the_same_bytes(
        self, to: Exporter, forky: Workspace, chat: Conversation
    ) -> None:
        whole = chat_of(forky.store, chat.id)
        one, two = b"".join(to.write(whole)), b"".join(to.write(whole))
        assert to.name in DATED or one == two

    def test_what_it_does_not_hold_is_said_in_sentences(
        self, to: Exporter, forky: Workspace, chat: Conversation
    ) -> None:
        for sentence in to.losses(chat_of(forky.store, chat.id)):
            assert not sentence[0].islower() and sentence.endswith(".")

    def test_it_changes_nothing_of_the_conversation(
        self, to: Exporter, forky: Workspace, chat: Conversation
    ) -> None:
        before = chat_of(forky.store, chat.id)
        list(pieces(exported_part(before, to, log=True), to))
        assert chat_of(forky.store, chat.id) == before

    def test_the_file_is_what_it_writes(
        self, to: Exporter, forky: Workspace, chat: Conversation, tmp_path: Path
    ) -> None:
        whole = chat_of(forky.store, chat.id)
        save_as(whole, to, tmp_path / "file")
        assert (tmp_path / "file").stat().st_size > 0
        assert to.name in DATED or (tmp_path / "file").read_bytes() == b"".join(to.write(whole))

    def test_the_command_line_writes_it_by_its_name(
        self, to: Exporter, command: Command, tmp_path: Path
    ) -> None:
        assert command("--as", to.name, "-o", str(tmp_path / "out")) == 0
        assert b"8443" in (tmp_path / "out").read_bytes()


def test_no_two_have_the_same_name() -> None:
    assert len(set(REGISTRY.names)) == len(exporters())


def test_a_name_that_nobody_knows_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(NotFound, match=r"html, .*postcards"):
        exporter("haiku")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_messages_are_written_in_the_dialect_that_is_named(dialect: str, tmp_path: Path) -> None:
    database, named, meant = str(tmp_path / "chats.duckdb"), tmp_path / "out", tmp_path / f"x.{dialect}.json"
    with Forky.open(database) as forky:
        one = talk(forky.create("Ports"), "Which port?", "Port 8443.")
        written = b"".join(exporter("messages", dialect).write(chat_of(forky.store, one.id)))
    assert main(["--database", database, "export", one.id, "--dialect", dialect, "-o", str(named)]) == 0
    assert main(["--database", database, "export", one.id, "-o", str(meant)]) == 0
    assert named.read_bytes() == meant.read_bytes() == written


@pytest.mark.parametrize(("name", "dialect"), [("messages", "haiku"), ("markdown", "openai")])
def test_a_dialect_that_a_format_does_not_have_is_refused(name: str, dialect: str) -> None:
    with pytest.raises(NotFound, match="openai, anthropic, sharegpt"):
        exporter(name, dialect)


@pytest.mark.parametrize(
    ("asked", "instead"),
    [
        (("--as", "sharegpt"), "“messages” with the dialect sharegpt"),
        (("--as", "llama.cpp"), "“forky”"),
        (("--as", "notebook"), "“markdown” or “html”"),
        (("-o", "x.ipynb"), "“markdown” or “html”"),
    ],
)
def test_a_format_that_is_gone_says_what_to_write_instead(
    asked: tuple[str, ...], instead: str, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*asked) == 2
    assert instead in capsys.readouterr().err


def test_the_command_line_knows_a_format_by_the_end_of_a_files_name(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "trip.postcards.json"
    assert command("-o", str(out)) == 0
    assert out.read_bytes().startswith(b'{"stack"')


def test_an_installed_package_adds_one_by_an_entry_point(tmp_path: Path) -> None:
    REGISTRY.remove(WRITER)
    try:
        with installed(tmp_path, REGISTRY, cards="tests.formats.postcards:WRITER"):
            assert exporter("postcards") is WRITER
    finally:
        REGISTRY.add(WRITER)
