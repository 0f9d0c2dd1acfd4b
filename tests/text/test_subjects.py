"""What a question is about, in the words that a person would name a branch by."""

from __future__ import annotations

import pytest

from forky_core.text.subjects import LONGEST_SUBJECT, subject


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Why does the backup upload everything twice?", "backup-upload-twice"),
        ("Why is the nightly backup slow?", "nightly-backup-slow"),
        ("Let us follow the memory of zstd: how much does it take?", "memory-of-zstd"),
        ("Would lz4 be faster than zstd here?", "lz4-faster-than-zstd"),
        ("That was good! I cook on Sundays. Which sauces keep for a week?", "sauces-for-week"),
        ("Thanks, that helped a lot. Are there other ways to protect my eyes?", "protect-eyes"),
        ("How do I write a parser in COBOL?", "parser-in-cobol"),
        ("What's the weather like in Oslo today?", "weather-in-oslo"),
        ("After a change of the log level, what do I do?", "change-of-log-level"),
        ("leave the buffer on, the server is slow", "buffer-server-slow"),
        ("What was the ruling in the US called when nobody paid?", "ruling-in-us"),
        ("warm-ups for 12 year olds who think they are too cool?", "warm-ups-for-12-year-olds"),
        ("And the risks?", "risks"),
        ("Summarize this letter.", "summarize-letter"),
        ("Das Tablet flackert, was kann ich machen?", "tablet-flackert"),
        ("quelle liste pour l'électricien ?", "liste-pour-électricien"),
        ("¿Por qué no abre el ascensor?", "abre-ascensor"),
        ("帮我写一个 Python 快速排序", "python-快速排序"),
        ("Which off-site storage is the cheapest one?", "off-site-storage-cheapest"),
        ("Peux-tu expliquer la liste des prix ?", "expliquer-liste-prix"),
        ("Who are you?", "who-are-you"),
        ("!!!", ""),
    ],
)
def test_a_subject_is_what_a_person_would_write(text: str, name: str) -> None:
    assert subject(text) == name


def test_a_long_word_and_a_long_text_have_a_short_subject() -> None:
    assert len(subject("x" * 100)) == LONGEST_SUBJECT
    assert subject(
        "Is the cache of the index too small for so many conversations on this machine? " * 50
    ) == ("cache-of-index-small")
