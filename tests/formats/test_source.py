from __future__ import annotations

import gzip
import io
import json
import stat
import zipfile
from pathlib import Path

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.account import ImportAccount
from forky_core.formats.contract import Unreadable
from forky_core.formats.files import json_nested, source
from forky_core.formats.files.encodings import Utf8Stream
from forky_core.formats.files.source import opened, sample
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.importing.pieces import NOTHING, PACKED, pieces
from forky_core.formats.importing.running_import import PACKED_UNREAD, UNREAD
from forky_core.formats.tree import UNREADABLE
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json
from tests.formats.sources import packed, written


def shape_of(path: Path) -> str:
    with opened(path) as archive:
        return archive.documents[0].shape


def test_the_shape_is_found_by_the_content(tmp_path: Path) -> None:
    assert shape_of(written(tmp_path, "[1]", "a.txt")) == "array"
    assert shape_of(written(tmp_path, '{\n "a": 1\n}')) == "object"
    assert shape_of(written(tmp_path, '{"a": 1}\n{"a": 2}\n')) == "lines"
    assert shape_of(written(tmp_path, "# Title\n")) == "text"


def test_members_that_lead_out_of_the_archive_are_left_out(tmp_path: Path) -> None:
    path = packed(
        tmp_path, {"../evil.json": "[]", "/abs.json": "[]", "C:\\x.json": "[]", "a/good.json": "[1]"}
    )
    with opened(path) as archive:
        assert [document.name for document in archive.documents] == ["a/good.json"]
        assert len(archive.refused) == 3


def test_links_and_bombs_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        link = zipfile.ZipInfo("link.json")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("bomb.json", b" " * 20_000_000)
    with opened(path) as found:
        assert found.documents == []
        assert {one.label for one in found.refused} == {"link.json", "bomb.json"}


def test_an_archive_with_too_many_members_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_MEMBERS", 2)
    path = packed(tmp_path, {"a.json": "[]", "b.json": "[]", "c.json": "[]"})
    with pytest.raises(BadContent, match="3 members"), opened(path):
        pass


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive"])
def test_what_cannot_be_opened_ends_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(content)
    with pytest.raises(BadContent), opened(path):
        pass
    with pytest.raises(BadContent, match="cannot be read"), opened(tmp_path / "gone.json"):
        pass


def test_a_sample_looks_at_a_few_elements_only(tmp_path: Path) -> None:
    path = written(tmp_path, [{"n": n} for n in range(100)])
    with opened(path) as archive:
        assert len(sample(archive.documents[0]).values) == 8


def test_why_nobody_knows_a_file_is_said(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000 + "]" * 100_000)
    with opened(deep) as archive:
        (piece,) = pieces(archive)
    assert piece.found == Unreadable("deep.json", json_nested.DEEP)


def test_an_archive_without_conversations_says_so(tmp_path: Path) -> None:
    path = tmp_path / "inner.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("other.zip", b"PK")
        packed.writestr("settings.json", "{}")
        packed.writestr("more.json", "{}")
    with opened(path) as archive:
        (piece,) = pieces(archive)
    assert isinstance(piece.found, Unreadable)
    assert piece.found.why == NOTHING


TOLD = "한글 ü 😂"
WRITTEN = json.dumps([{"messages": [{"role": "user", "content": TOLD}]}], ensure_ascii=False)
HALVES = WRITTEN.encode().replace("😂".encode(), b"\xed\xa0\xbd\xed\xb8\x82")
ENCODED = {
    "utf-8": WRITTEN.encode(),
    "utf-8 with a mark": WRITTEN.encode("utf-8-sig"),
    "utf-16 with a mark": WRITTEN.encode("utf-16"),
    "utf-16-le": WRITTEN.encode("utf-16-le"),
    "utf-16-be": WRITTEN.encode("utf-16-be"),
    "utf-32 with a mark": WRITTEN.encode("utf-32"),
    "gzip": gzip.compress(WRITTEN.encode()),
    "gzip of utf-16": gzip.compress(WRITTEN.encode("utf-16")),
    "surrogate halves of three bytes": HALVES,
    "escaped halves": json.dumps([{"messages": [{"role": "user", "content": TOLD}]}]).encode(),
}


@pytest.mark.parametrize("content", ENCODED.values(), ids=ENCODED)
def test_a_file_is_read_in_any_encoding_also_in_an_archive(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "chat.json.gz"
    path.write_bytes(content)
    for one in (path, packed(tmp_path, {"chat.json.gz": content})):
        with Forky.open(":memory:") as forky:
            done = import_file(forky, one)
            (message,) = forky.conversation(done.conversations[0]).path()
            assert (message.text, done.account.notes) == (TOLD, {})


def test_halves_are_joined_wherever_a_block_of_the_file_ends() -> None:
    for size in range(1, 12):
        stream, read = Utf8Stream(io.BytesIO(HALVES), "utf-8"), b""
        while data := stream.read(size):
            read += data
        assert read == WRITTEN.encode()


def test_a_character_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    for bad in (b"\xed\xa0\xbd", b"\xff", b"\\ud83d"):
        path.write_bytes(b'[{"messages": [{"role": "user", "content": "a' + bad + b'b"}]}]')
        with Forky.open(":memory:") as forky:
            done = import_file(forky, path)
            (message,) = forky.conversation(done.conversations[0]).path()
            assert (message.text, done.account.notes) == ("a\ufffdb", {UNREADABLE: 1})


def test_a_packed_file_that_is_cut_or_too_tight_ends_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "chat.json.gz"
    for content in (gzip.compress(WRITTEN.encode())[:-9], gzip.compress(b'["' + b" " * 20_000_000 + b'"]')):
        path.write_bytes(content)
        with Forky.open(":memory:") as forky:
            done = import_file(forky, path)
            assert done.problems and not done.conversations


def test_an_export_that_another_program_wrapped_in_an_object_is_read(tmp_path: Path) -> None:
    said = {"uuid": "m", "sender": "human", "text": "one", "content": []}
    chats = [{"uuid": str(at), "name": "n", "chat_messages": [said]} for at in range(3)]
    for value in ({"conversations": chats}, {"version": 1, "data": {"chats": chats}}):
        with Forky.open(":memory:") as forky:
            path = written(tmp_path, value)
            assert len(import_file(forky, path).conversations) == 3
            assert [line.label for line in preview(forky, path)] == ["Claude export"] * 3


def test_files_of_an_archive_that_nobody_read_are_named(tmp_path: Path, forky: Workspace) -> None:
    chats = [{"messages": [{"role": "user", "content": "one"}]}]
    others = {f"notes/{at:02}.json": "[1]" for at in range(30)}
    path = packed(
        tmp_path, {"conversations.json": json.dumps(chats), "projects.json": '[{"name": "p"}]', **others}
    )
    done = import_file(forky, path)
    assert len(done.conversations) == 1
    assert done.account.notes[UNREAD.format("projects.json")] == 1
    assert sum(done.account.notes.values()) == 31


def test_an_archive_in_an_archive_is_named_unless_a_message_has_it(tmp_path: Path, forky: Workspace) -> None:
    chat = {"id": "c", "mapping": {"m": {"id": "m", "parent": None, "message": _with_a_file("file-abc")}}}
    members = {"conversations.json": json.dumps([chat]), "file-abc-mine.zip": "mine", "rest/more.zip": "more"}
    done = import_file(forky, packed(tmp_path, members))
    assert dict(done.account.notes) == {PACKED_UNREAD.format("rest/more.zip"): 1}
    alone = written(tmp_path, "7z", "chats.7z")
    assert [line.problem for line in preview(forky, alone)] == [PACKED]


def _with_a_file(id: str) -> Json:
    return {
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["Look."]},
        "metadata": {"attachments": [{"id": id, "name": "mine.zip"}]},
    }


def test_what_is_stored_already_is_not_counted_as_imported(tmp_path: Path, forky: Workspace) -> None:
    def chat(*texts: str) -> Json:
        return {"conversations": [{"from": "human", "value": text} for text in texts]}

    path = written(tmp_path, [chat("hi", "hello"), chat("hi", "hello"), chat("hi", "hello")])
    done = import_file(forky, path)
    assert (len(done.conversations), done.unchanged) == (1, 2)
    assert (done.account.imported, done.account.already, done.account.seen) == (2, 4, 6)
    again = import_file(forky, path).account
    assert (again.imported, again.already, again.adds_up) == (0, 6, True)
    assert ImportAccount.from_stored(again.stored()) == again


def test_json_behind_words_that_a_program_printed_is_read(tmp_path: Path, forky: Workspace) -> None:
    session = {
        "info": {"id": "ses_1", "title": "Rivers"},
        "messages": [{"info": {"id": "m", "role": "user"}, "parts": [{"type": "text", "text": "Längster?"}]}],
    }
    path = written(tmp_path, f"Sitzung für Köln: ses_1{json.dumps(session, indent=1, ensure_ascii=False)}")
    (id,) = import_file(forky, path).conversations
    assert [message.text for message in forky.conversation(id).path()] == ["Längster?"]
    assert import_file(forky, written(tmp_path, "Just [a note] with {signs}\n")).problems


def test_rows_of_two_files_with_the_same_short_number_are_two_conversations(
    tmp_path: Path, forky: Workspace
) -> None:
    for name in ("one", "two"):
        row = {"id": 7, "messages": [{"role": "user", "content": name}]}
        assert len(import_file(forky, written(tmp_path, [row], f"{name}.json")).conversations) == 1
    assert len(forky.conversations()) == 2
