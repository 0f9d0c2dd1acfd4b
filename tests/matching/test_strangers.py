"""What two strangers of one scope both say puts neither into the other's conversation, unless it is enough."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.recording.recording import Recorded, Reply
from forky_core.conversation.workspace import Workspace
from forky_core.matching.distinctive import LONG, SHORT, worth
from forky_core.model.parts import TextPart
from forky_core.wire.chat import chat_call
from tests.builders import workspace
from tests.examples import examples

Said = list[dict[str, Any]]

STOCK = (
    ("continue", "Done."),
    ("ok", "Sure, I can help with that."),
    ("yes, please", "Klar, mache ich."),
    ("go on", "D'accord, je continue."),
    ("weiter", "好的，没问题。"),
    ("thanks!", "You're welcome!"),
)
"""What somebody says, and the answer, in every second conversation."""


def turns(*texts: str, answers_first: bool = False) -> Said:
    """The texts in turn, of the user and of the assistant."""
    roles = ("assistant", "user") if answers_first else ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def filed(forky: Workspace, said: Sequence[dict[str, Any]], answer: str, scope: str = "s") -> Recorded:
    return forky.record(chat_call(list(said)), Reply((TextPart(answer),)), scope=scope)


def pairs(asked: Sequence[tuple[str, str]]) -> list[str]:
    return [text for pair in asked for text in pair]


@given(st.lists(st.sampled_from(STOCK), min_size=1, max_size=2), st.integers(0, 1))
@settings(max_examples=examples(40), deadline=None)
def test_strangers_who_share_stock_phrases_never_meet(asked: list[tuple[str, str]], cut: int) -> None:
    """One said them in the midst of something; the other sends an array that begins with them."""
    forky, _ = workspace()
    theirs = turns("Write a parser for ports in Rust", "Here is one: fn port() …", *pairs(asked))
    first = filed(forky, [*theirs, *turns("And the tests?")], "They follow below.")
    mine = turns(*pairs(asked))[cut:]
    second = filed(forky, [*mine, *turns("How do I bake bread?")], "Knead it.")
    assert (second.created, second.known) == (True, 0)
    assert second.conversation != first.conversation
    assert len(forky.conversation(first.conversation).visible.messages) == len(theirs) + 2


phrases = st.text("abc def", min_size=LONG, max_size=60).map(str.strip).filter(lambda text: worth(text) > 1)


@given(
    st.lists(st.tuples(phrases, phrases), min_size=1, max_size=3, unique_by=(lambda p: p[0], lambda p: p[1])),
    st.integers(0, 1),
    st.randoms(use_true_random=False),
)
@settings(max_examples=examples(60), deadline=None)
def test_what_two_conversations_say_after_different_words_proves_nothing(
    asked: list[tuple[str, str]], cut: int, chance: Random
) -> None:
    """However long the phrases are: that they are stock is known from the store itself."""
    forky, _ = workspace()
    for number, order in enumerate((asked, chance.sample(asked, len(asked)))):
        begun = turns(f"Opening number {number}", f"An answer of its own, {number}")
        filed(forky, begun[:1], begun[1]["content"])  # Now what opens so is this conversation.
        filed(forky, [*begun, *turns(*pairs(order), f"The last question, {number}")], "The last answer.")
    assert len(forky.conversations()) == 2
    mine = turns(*pairs(asked))[cut:]
    second = filed(forky, [*mine, *turns("How do I bake bread?")], "Knead it.")
    assert (second.created, second.known) == (True, 0)


LONG_TALK = turns(
    "Which port does the ledger service listen on?",
    "It listens on port 8443, behind the proxy.",
    "And which certificate does it present there?",
    "The one that the cluster's own authority signs.",
    "continue",
    "Done.",
    "How long is that certificate valid?",
    "For ninety days; it is renewed after sixty.",
)


@pytest.mark.parametrize(
    ("sent", "known", "skipped"),
    [
        pytest.param(LONG_TALK[6:], 2, 0, id="a question and its answer"),
        pytest.param(LONG_TALK[4:], 4, 0, id="stock phrases among others"),
        pytest.param(LONG_TALK[3:], 5, 0, id="an answer first"),
        pytest.param([*turns("Summary: ports"), *LONG_TALK[5:]], 4, 1, id="a summary in place of the head"),
    ],
)
def test_a_sliding_window_with_two_distinctive_turns_stays_in_its_conversation(
    sent: Said, known: int, skipped: int, forky: Workspace
) -> None:
    first = filed(forky, LONG_TALK[:-1], LONG_TALK[-1]["content"])
    filed(forky, turns("Something else entirely", "continue, please", "go on"), "Done.")
    found = filed(forky, [*sent, *turns("Who renews it?")], "A cron job.")
    assert (found.conversation, found.known, found.skipped) == (first.conversation, known, skipped)


def test_many_short_turns_in_a_row_are_as_good_as_two_long_ones(forky: Workspace) -> None:
    short = turns(*(f"{what} {number}" for number in range(6) for what in ("question", "answer")))
    first = filed(forky, short[:-1], short[-1]["content"])
    assert filed(forky, [*short[6:], *turns("next")], "!").conversation == first.conversation
    assert filed(forky, [*short[8:], *turns("next")], "!").created


def test_one_turn_is_never_enough(forky: Workspace) -> None:
    filed(forky, LONG_TALK[:-1], LONG_TALK[-1]["content"])
    assert filed(forky, [*LONG_TALK[7:], *turns("Who renews it?")], "A cron job.").created


def test_the_same_answer_again_and_again_counts_once(forky: Workspace) -> None:
    canned = "I have completed the changes you asked for."
    filed(forky, turns("Write a parser for ports", canned, "continue", canned, "continue"), canned)
    again = turns(canned, "continue", canned, answers_first=True)
    assert filed(forky, [*again, *turns("How do I bake bread?")], "Knead it.").created


def test_a_copy_of_the_history_makes_nothing_common(forky: Workspace) -> None:
    """Clients that rewrite their first message at each turn leave full copies."""
    talk = turns(
        *pairs(
            [
                (f"Question {at} about the certificates", f"The answer to it is {at}, as you can see.")
                for at in range(8)
            ]
        )
    )
    for hour in range(3):
        filed(forky, [*turns(f"It is {hour} o'clock."), *talk[1:-1]], talk[-1]["content"])
    found = filed(forky, [*talk[12:], *turns("Who renews it?")], "A cron job.")
    assert (found.created, found.known) == (False, 4)


def test_what_is_said_in_another_scope_makes_nothing_common(forky: Workspace) -> None:
    first = filed(forky, LONG_TALK[:-1], LONG_TALK[-1]["content"])
    for number in range(3):
        for one in LONG_TALK:
            filed(forky, turns(f"Asked {number}", one["content"], "go on"), one["content"], scope="other")
    assert filed(forky, [*LONG_TALK[6:], *turns("Who?")], "Cron.").conversation == first.conversation


def test_tools_prove_nothing(forky: Workspace) -> None:
    """Two who read the same file share the call and its result."""
    call = {
        "role": "assistant",
        "content": "I look at the file.",
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"of":"a"}'}}
        ],
    }
    result = {"role": "tool", "tool_call_id": "c", "content": "What stands in the file. " * 20}
    filed(
        forky,
        [*turns("Explain the file", "Which one do you mean by that?", "a"), call, result],
        "It is short.",
    )
    mine: Said = [call, result, *turns("It is short.", answers_first=True)]
    assert filed(forky, [*mine, *turns("How do I bake bread?")], "Knead it.").created


def test_a_conversation_that_is_named_needs_no_proof(forky: Workspace) -> None:
    chat = forky.create()
    chat.calls.find_or_create(turns("Write a parser", "Done.", "Thanks", "You are welcome."))
    assert (
        chat.calls.find_or_create([*turns("You are welcome.", answers_first=True), *turns("More")]).known == 1
    )


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("", 0),
        ("Done.", 0),
        ("x" * (SHORT - 1), 0),
        ("x" * SHORT, 1),
        ("x" * (LONG - 1), 1),
        ("x" * LONG, 3),
        ("好的", 0),
        ("好的，没问题", 1),
        ("请你把这个函数改成异步的吧", 3),
    ],
)
def test_what_a_text_is_worth_grows_with_its_length(text: str, points: int) -> None:
    assert worth(text) == points
