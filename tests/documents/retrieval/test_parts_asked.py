from __future__ import annotations

import pytest

from forky_core.documents.retrieval.parts_asked import parts_asked


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How long is the kettle's warranty, and which port does the build server use?",
            ("How long is the kettle's warranty", "which port does the build server use"),
        ),
        (
            "Thank you. When do backups run? Wie lange dauert das Visum für Indien oder für China?",
            ("Thank you  When do backups run", "Wie lange dauert das Visum für Indien für China"),
        ),
        ("水壶的保修期多长，构建服务器用哪个端口？", ("水壶的保修期多长", "构建服务器用哪个端口")),
    ],
)
def test_each_thing_that_is_asked_is_a_part(question: str, parts: tuple[str, ...]) -> None:
    assert parts_asked(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?!",
        "How long is the warranty?",
        "What do the terms and conditions say?",
        "And in winter? (Pump X200, bearing, Molykote)",
        "Does the e-mail of version 2.5 say so?",
    ],
)
def test_a_question_about_one_thing_has_no_parts(question: str) -> None:
    assert parts_asked(question) == ()


def test_a_long_text_has_an_end() -> None:
    assert len(parts_asked("the red pump, the blue valve, " * 50)) == 4
