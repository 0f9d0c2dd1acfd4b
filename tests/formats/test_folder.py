"""A folder is read like an archive: every session below it, in one import, with one undo."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from forky_core.cli.importing import INCOMPLETE
from forky_core.cli.parser import main
from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.import_record import imports
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.importing.running_import import PACKED_UNREAD, UNREAD
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model.parts import AttachmentPart
from tests.formats.sources import packed

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(40)


def said(*texts: str) -> str:
    return json.dumps([{"messages": [{"role": "user", "content": text}]} for text in texts])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "sessions"
    for name in ("a/b/deep.json", "z.json", ".hidden/one.json", ".git/no.json", "node_modules/no.json"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(said(f"from {name}"))
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-abc"},
        "What is it?",
    ]
    message = {"author": {"role": "user"}, "content": {"content_type": "multimodal_text", "parts": parts}}
    chat = {"id": "c", "mapping": {"m": {"id": "m", "parent": None, "message": message}}}
    (top / "export").mkdir()
    (top / "export" / "conversations.json").write_text(json.dumps([chat]))
    (top / "export" / "file-abc-cat.png").write_bytes(PICTURE)
    (top / "notes.txt").write_text("Buy milk.")
    (top / "empty.json").write_text("")
    (top / "broken.zip").write_bytes(b"PK\x03\x04 no archive")
    packed(top / "a", {"conversations.json": said("in an archive"), "projects.json": "[1]"})
    (top / "loop").symlink_to(top)
    return top


def test_every_file_below_a_folder_is_read_in_one_import_that_one_undo_takes_back(
    folder: Path, forky: Workspace
) -> None:
    lines = list(preview(forky, folder))
    done = import_file(forky, folder)
    texts = {forky.conversation(id).path()[0].text for id in done.conversations}
    names = ("a/b/deep.json", "z.json", ".hidden/one.json")
    assert texts == {"What is it?", "in an archive", *(f"from {name}" for name in names)}
    assert [line.number for line in lines] == list(range(1, 7))
    assert [line.title for line in lines if line.problem] == ["broken.zip"]
    assert [one.label for one in done.problems] == ["broken.zip"]
    unread = {UNREAD.format(name) for name in ("notes.txt", "export.zip/projects.json")}
    assert {*done.account.notes} == unread and done.account.adds_up
    parts = [part for id in done.conversations for part in forky.conversation(id).path()[0].parts]
    (picture,) = [part for part in parts if isinstance(part, AttachmentPart)]
    assert forky.store.blob(picture.sha256).content == PICTURE
    assert len(imports(forky.store)) == 1
    again = import_file(forky, folder)
    assert (again.number, again.conversations, again.unchanged) == (0, (), 5)
    assert undo_import(forky, done.number) == 5
    assert forky.conversations() == ()


def test_a_file_whose_name_is_no_text_is_named_all_the_same(tmp_path: Path, forky: Workspace) -> None:
    for name in (b"no\xff.md", b"old\xff.jsonl.zst"):
        (tmp_path / os.fsdecode(name)).write_text("just words")
    (tmp_path / "one.json").write_text(said("one"))
    done = import_file(forky, tmp_path)
    assert {*done.account.notes} == {
        UNREAD.format("no\ufffd.md"),
        PACKED_UNREAD.format("old\ufffd.jsonl.zst"),
    }
    assert imports(forky.store)[0].state == "finished"


def test_a_broken_line_is_named_with_its_file(tmp_path: Path, forky: Workspace) -> None:
    (tmp_path / "cut.jsonl").write_text(
        json.dumps({"messages": [{"role": "user", "content": "one"}]}) + '\n{"mess'
    )
    (tmp_path / "whole.json").write_text(said("two"))
    done = import_file(forky, tmp_path)
    assert [problem.label for problem in done.problems] == ["cut.jsonl: line 2"]
    alone = import_file(forky, tmp_path / "cut.jsonl")
    assert [problem.label for problem in alone.problems] == ["line 2"]


def test_chosen_conversations_of_a_folder_are_imported(folder: Path, forky: Workspace) -> None:
    chosen = [line for line in preview(forky, folder) if line.title == "from z.json"]
    done = import_file(forky, folder, chosen=[line.number for line in chosen])
    assert [forky.conversation(id).path()[0].text for id in done.conversations] == ["from z.json"]


def test_a_folder_without_conversations_says_so(tmp_path: Path, forky: Workspace) -> None:
    done = import_file(forky, tmp_path)
    assert [(one.label, one.why) for one in done.problems] == [
        ("the folder", "No file in it holds conversations.")
    ]


def test_the_command_line_reads_a_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = ["--database", str(tmp_path / "chats.duckdb")]
    assert main([*database, "import", str(folder)]) == INCOMPLETE
    assert "sessions: 5 conversations imported" in capsys.readouterr().out
    assert main([*database, "import", "--follow", str(folder), "--only", "1"]) == 2


def test_a_preview_of_an_unknown_file_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.json"
    path.write_text('{"x": 1}')
    assert main(["import", "--preview", "--json", str(path)]) == 1
    assert json.loads(capsys.readouterr().out)["problem"]
    path.write_text(said("one"))
    assert main(["import", "--preview", str(path)]) == 0
