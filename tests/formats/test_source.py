from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from forky_core.formats.contract import Unreadable
from forky_core.formats.files import json_nested, source
from forky_core.formats.files.source import opened, sample
from forky_core.formats.importing.pieces import NOTHING, pieces
from forky_core.model.errors import BadContent
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
