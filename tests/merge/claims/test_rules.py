"""What the rules find, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.merge.claims.claim_set import LONGEST_QUOTE, Claim
from forky_core.merge.claims.rules import claims_of
from forky_core.model import Message, Role, seal
from forky_core.model.parts import Draft, TextPart


def said(text: str, role: Role = "user") -> Message:
    return seal(Draft(role, (TextPart(text),)), ())


def found(text: str, role: Role = "user") -> list[Claim]:
    return list(claims_of(said(text, role)))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("The server listens on port 8080.", "port", "8080"),
        ("Use port 9090 for the API.", "api port", "9090"),
        ("The name of the tool is “Forky”.", "name of tool", "Forky"),
        ("The tool will be called Forky.", "name of tool", "Forky"),
        ("Call the command line `fk`.", "name of command line", "fk"),
        ("Let's go with Postgres as the database because it scales.", "database", "Postgres"),
        ("We use DuckDB for storage.", "storage", "DuckDB"),
        ("The timeout is 30 seconds now.", "timeout", "30 seconds"),
        ("The deadline is Friday.", "deadline", "Friday"),
        ("Raise the limit to 50 MB.", "limit", "50 MB"),
        ("```sh\nexport ENUM_BASE=16\n```", "enum_base", "16"),
    ],
)
def test_a_plain_statement_has_a_key_and_a_value(text: str, key: str, value: str) -> None:
    claims = found(text)
    assert [(claim.key, claim.value) for claim in claims] == [(key, value)]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("With the box ticked the session time-out is 14 days.", "session time-out (with the box ticked)"),
        ("Without the box, the session time-out is 14 days.", "session time-out (without the box)"),
        ("The session time-out is 14 days if the box is ticked.", "session time-out (if the box is ticked)"),
        ("In staging the timeout is 5 seconds while it deploys.", "timeout (staging, while it deploys)"),
    ],
)
def test_what_holds_under_a_condition_has_a_key_of_its_own(text: str, key: str) -> None:
    (claim,) = found(text)
    assert (claim.key, claim.polarity) == (key, "affirmed")


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Decision: the port is 8080.", "decision"),
        ("The port must be 8080.", "constraint"),
        ("I prefer that the port is 8080.", "preference"),
        ("I tried port 8080 but it failed.", "failed_attempt"),
        ("It turned out that the port is 8080.", "result"),
        ("TODO: the port is 8080.", "fact"),
        ("No, the port is 8080.", "correction"),
    ],
)
def test_a_cue_gives_the_type_which_stored_merges_name(text: str, type: str) -> None:
    assert [claim.type for claim in found(text)] == [type]


@pytest.mark.parametrize("text", ["Decision: collect members lazily.", "It must not run before codegen."])
def test_what_says_nothing_of_a_key_is_no_claim(text: str) -> None:
    assert found(text) == []


def test_a_denial_is_kept_as_one() -> None:
    (claim,) = found("The port is not 8080.")
    assert (claim.polarity, claim.value) == ("negated", "8080")


@pytest.mark.parametrize(
    "text",
    [
        "Is the port 8080?",
        "If the port is 8080, nothing works.",
        "Whales sing.",
        "",
        "It is fine.",
        "```python\nport = 8080\n```",
    ],
)
def test_questions_conditions_and_small_talk_claim_nothing(text: str) -> None:
    assert found(text) == []


def test_a_model_that_says_no_corrects_nobody_and_tools_claim_nothing() -> None:
    assert [claim.type for claim in found("No, the port is 8080.", "assistant")] == ["fact"]
    assert found("The port is 8080.", "tool") == []


@given(st.text(max_size=300), st.sampled_from(["The port is 8080.", "Decision: x.", "A_B=1", ""]))
def test_every_quotation_is_letter_for_letter_from_its_message_and_short(noise: str, plain: str) -> None:
    text = f"{noise}\n{plain} {noise}"
    message = said(text)
    for claim in claims_of(message):
        assert claim.quote in text
        assert 0 < len(claim.quote.split()) <= LONGEST_QUOTE
        assert claim.cites == (message.id,)
        assert claim.value in text


def test_a_piece_of_a_long_sentence_is_no_claim_without_the_words_that_deny_it() -> None:
    reasons = (
        "for reasons that the people of the other team have written down at great length in their plan and "
        * 2
    )
    assert found(f"We should never, {reasons} set the timeout to 30 seconds.") == []
    assert [one.value for one in found(f"We should now, {reasons} set the timeout to 30 seconds.")] == [
        "30 seconds"
    ]
