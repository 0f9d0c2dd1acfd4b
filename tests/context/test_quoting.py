"""Which attachments have words that can be quoted to a model, and which words those are."""

from __future__ import annotations

import pytest

from forky_core.context.quoting import file_text
from forky_core.model.library import Blob

LATIN = "Größe: 3".encode("latin-1")


@pytest.mark.parametrize(
    ("media_type", "content", "text"),
    [
        ("text/plain", "Größe: 3".encode(), "Größe: 3"),
        ("text/plain", "\ufeffGröße".encode(), "Größe"),
        ("text/plain; charset=latin-1", LATIN, "Gr\ufffd\ufffde: 3"),
        ("application/json", b"{}\0", "{}\0"),
        ("application/ld+json", LATIN, "Gr\ufffd\ufffde: 3"),
        ("application/octet-stream", b"words", "words"),
        ("", b"words", "words"),
        ("application/octet-stream", LATIN, None),
        ("application/octet-stream", b"wor\0ds", None),
        ("application/pdf", b"words", None),
    ],
)
def test_a_file_that_is_declared_as_text_is_quoted_and_another_only_where_it_reads_as_one(
    media_type: str, content: bytes, text: str | None
) -> None:
    assert file_text(Blob("0" * 64, media_type, "a name", content)) == text
