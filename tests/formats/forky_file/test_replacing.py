"""A file takes the place of another whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.formats.forky_file.files import replacing
from forky_core.model.errors import BadContent


def write_half_and_raise(path: Path, error: Exception) -> None:
    with replacing(path) as out:
        out.write(b"half")
        raise error


def names(folder: Path) -> list[str]:
    return [found.name for found in folder.iterdir()]


def test_a_file_that_was_written_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b"old")
    with replacing(path) as out:
        out.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and names(tmp_path) == ["chat.jsonl"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(28, "No space left on device"), "No space left"),
        (ValueError("embedded null"), "no name of a file"),
    ],
)
def test_a_write_that_fails_is_a_sentence_and_leaves_what_was_there(
    tmp_path: Path, error: Exception, why: str
) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(BadContent, match=f"{why}.*Nothing of it was kept"):
        write_half_and_raise(path, error)
    assert path.read_bytes() == b"old" and names(tmp_path) == ["chat.jsonl"]


@pytest.mark.parametrize("name", ["no/such/folder/chat.jsonl", "chat\0.jsonl"])
def test_a_place_where_no_file_can_be_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadContent, match="cannot be written"), replacing(tmp_path / name):
        pytest.fail("there is nothing to write to")
    assert names(tmp_path) == []


def test_another_failure_leaves_as_it_is_and_nothing_beside_the_file(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    with pytest.raises(ZeroDivisionError):
        write_half_and_raise(path, ZeroDivisionError())
    assert names(tmp_path) == []
