from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from forky_core.documents import source as source_module
from forky_core.documents.chunking import SIZE, DocumentSection, chunked
from forky_core.documents.registry import kind_of
from forky_core.documents.source import source_of_bytes, source_of_file
from forky_core.model.errors import BadContent
from tests.documents.files import docx, pdf


def read(name: str, content: bytes) -> list[DocumentSection]:
    source = source_of_bytes(name, content)
    return [section for section, _ in kind_of(source).read(source)]


def places(name: str, content: bytes) -> list[tuple[str, str]]:
    return [(section.place, section.text.strip()) for section in read(name, content)]


def test_a_pdf_is_read_by_its_pages(tmp_path: Path) -> None:
    found = places("manual.pdf", pdf(tmp_path, "The pump needs oil.", "Every\nspring."))
    assert found == [("page 1", "The pump needs oil."), ("page 2", "Every\nspring.")]


def test_a_docx_is_read_by_its_headings() -> None:
    made = docx(
        ("Heading1", "Care"), ("Normal", "Oil the pump."), ("Heading2", "Winter"), ("Normal", "Drain it.")
    )
    assert places("care.docx", made) == [
        ("Care", "# Care\n\nOil the pump."),
        ("Care › Winter", "## Winter\n\nDrain it."),
    ]


def test_markdown_is_read_by_its_headings_and_not_by_those_in_code() -> None:
    code = b"```sh\n# not a heading\n```python\n# nor this\n```\n\n- ```sh\n# nor this\n  ```"
    text = b"# Setup\n\nFirst.\n\n## Linux\n\n" + code + b"\n\n# Use\n\nThen."
    assert [place for place, _ in places("guide.md", text)] == ["Setup", "Setup › Linux", "Use"]


def test_html_is_read_without_scripts() -> None:
    page = (
        b"<html><head><title>x</title></head><body><h1>Boats</h1><p>A sloop.</p><script>no()</script></body>"
    )
    assert places("boats.htm", page) == [("Boats", "# Boats\n\nA sloop.")]


def test_a_row_of_a_table_says_what_its_values_are() -> None:
    found = places("prices.csv", b"part;price\npump;12,50\nhose;3,20\n")
    assert found == [("rows 2–3", "part: pump · price: 12,50\npart: hose · price: 3,20")]


def test_code_is_cut_before_definitions() -> None:
    body = "".join(f"    x = {n}\n" for n in range(150))
    found = read("boats.py", f"import os\n\ndef sail():\n{body}\nclass Mast:\n{body}".encode())
    assert [section.place for section in found] == ["line 1, sail", "line 155, Mast"]
    assert found[1].text.startswith("class Mast:")


def test_plain_text_is_placed_by_its_lines() -> None:
    paragraphs = [f"Paragraph {n} " + "word " * 100 for n in range(10)]
    found = places("notes.txt", "\n\n".join(paragraphs).encode())
    assert [(place, text[:11]) for place, text in found] == [
        ("line 1", "Paragraph 0"),
        ("line 9", "Paragraph 4"),
        ("line 17", "Paragraph 8"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "shift_jis"])
def test_text_is_read_in_the_encoding_it_was_written_in(encoding: str) -> None:
    said = (
        "日本語の文書には目次があります。" * 20
        if encoding == "shift_jis"
        else "Die Größe des Schlauchs beträgt 12 mm. " * 20
    )
    assert places("größe.txt", said.encode(encoding))[0][1] == said.strip()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.txt", b"", "is empty"),
        ("photo.txt", b"\x89PNG\r\n\x1a\n" + bytes(50), "is a PNG picture"),
        ("blob.md", b"abc\0\1\2", "is no text"),
        ("old.doc", b"\xd0\xcf\x11\xe0" + bytes(600), "old Office format, or protected"),
        ("broken.docx", b"PK\x03\x04 nothing", "is damaged"),
        ("broken.pdf", b"%PDF-1.4 nothing at all", "is damaged"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(name: str, content: bytes, why: str) -> None:
    with pytest.raises(BadContent, match=why):
        read(name, content)


def test_a_protected_pdf_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(BadContent, match="protected by a password"):
        read("secret.pdf", pdf(tmp_path, "nobody reads this", password="mast"))


def test_a_pdf_of_pictures_asks_for_text_recognition(tmp_path: Path) -> None:
    with pytest.raises(BadContent, match="its 2 pages are pictures"):
        read("scan.pdf", pdf(tmp_path, "", ""))


def test_a_wrong_ending_does_not_matter_where_the_content_says_what_it_is(tmp_path: Path) -> None:
    assert places("notes.txt", pdf(tmp_path, "A page."))[0] == ("page 1", "A page.")
    assert places("page.txt", b"<!DOCTYPE html><p>A page.")[0] == ("", "A page.")


def test_a_file_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as out:
        out.truncate(500_000_000)
    with pytest.raises(BadContent, match="has 500 MB; at most 200 MB fit"):
        source_of_file(huge)
    monkeypatch.setattr(source_module, "LARGEST", 10)
    with pytest.raises(BadContent):
        source_of_bytes("a.txt", b"x" * 11)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadContent, match="is a folder"):
        source_of_file(tmp_path)
    with pytest.raises(BadContent, match="cannot be read"):
        source_of_file(tmp_path / "none.txt")


# Chunks


def test_a_chunk_begins_with_the_end_of_the_one_before() -> None:
    text = " ".join(f"Sentence number {n} says something." for n in range(200))
    found = list(chunked([DocumentSection("page 1", text)]))
    assert [chunk.number for chunk in found] == list(range(1, len(found) + 1)) and len(found) > 2
    for before, after in pairwise(found):
        assert 0 < after.overlap <= 201 and before.text.endswith(after.text[: after.overlap].strip())
    assert " ".join(chunk.text[chunk.overlap :] for chunk in found) == text


def test_no_chunk_crosses_a_heading() -> None:
    found = list(
        chunked(
            [
                DocumentSection("One", "a sloop", follows=False),
                DocumentSection("Two", "a ketch", follows=False),
            ]
        )
    )
    assert [(chunk.place, chunk.text, chunk.overlap) for chunk in found] == [
        ("One", "a sloop", 0),
        ("Two", "a ketch", 0),
    ]


@pytest.mark.parametrize("text", ["x" * 50_000, "漢字" * 20_000, "word " * 10_000, "line\n" * 10_000])
def test_text_without_a_place_to_cut_is_cut_all_the_same(text: str) -> None:
    found = list(chunked([DocumentSection("", text)]))
    assert max(len(chunk.text) - chunk.overlap for chunk in found) <= SIZE
    joined = "".join("".join(chunk.text[chunk.overlap :].split()) for chunk in found)
    assert joined == "".join(text.split())
