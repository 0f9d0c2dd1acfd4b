from __future__ import annotations

from typing import get_args

import pytest

from forky_core.llm.contract import FailureKind
from forky_core.llm.failures import CallContext, failure, failure_of, scrubbed

ASKED = CallContext("gpt-4o", "OpenAI", "OPENAI_API_KEY", secrets=("hunter2hunter2",))


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_every_kind_has_a_sentence_of_its_own(kind: FailureKind) -> None:
    sentence = failure(kind, ASKED).sentence
    others = {failure(other, ASKED).sentence for other in get_args(FailureKind) if other != kind}
    assert sentence not in others
    assert "{" not in sentence


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abc123DEF456",
        "hunter2hunter2",
        "AIzaSyA1234567890abcdef",
        "Bearer abcdef123456",
        "Authorization: Bearer abcdef123456",
        'api_key="abcdef123456"',
        "Incorrect API key provided: abcdef12***3456",
    ],
)
def test_nothing_that_looks_like_a_key_is_shown(secret: str) -> None:
    shown = scrubbed(f"It said {secret} and stopped.", ASKED.secrets)
    for part in ("abc123", "hunter2", "AIzaSy", "abcdef12"):
        assert part not in shown
    assert shown.endswith("and stopped.")


def test_a_repr_shows_no_key() -> None:
    assert "hunter2" not in repr(ASKED)


def test_a_long_message_is_cut_to_a_line() -> None:
    shown = scrubbed("word\n" * 1000)
    assert len(shown) <= 240
    assert "\n" not in shown


def test_the_cause_behind_a_cause_decides() -> None:
    outer = RuntimeError("Internal server error")
    outer.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert failure_of(outer, ASKED).kind == "unreachable"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            r"""AnthropicException - b'{"type":"error","error":{"message":"Invalid value for \'seed\'"}}'""",
            "Invalid value for 'seed'",
        ),
        ('GeminiException - {"error": {"message": "No such field", "code": 400}}', "No such field"),
        ('It has {"no": "message"} in it', 'It has {"no": "message"} in it'),
        ("It ends {early", "It ends {early"),
    ],
)
def test_of_a_body_that_is_quoted_its_message_is_said(words: str, said: str) -> None:
    class Refused(Exception):
        status_code = 400

    assert failure_of(Refused(words), ASKED).sentence.endswith(f"(400): {said}")


def test_causes_that_go_in_a_circle_end() -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert failure_of(first, ASKED).kind == "unknown"
