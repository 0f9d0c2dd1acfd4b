"""A squash of a branch that an offline model answered quotes what it quoted, and nothing that Forky says around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core import Forky
from forky_core.conversation.conversation import Conversation
from forky_core.documents.offline_models import DIGEST, QUOTE
from forky_core.documents.retrieval.passages import quoted_in
from forky_core.welcome import make_welcome


@pytest.fixture
def ready() -> Iterator[Conversation]:
    with Forky.open(":memory:") as forky:
        yield make_welcome(forky)


FORKYS_OWN = (
    "Offline model",
    "does not think",
    "It found nothing",
    "From this conversation",
    "In a model's own words",
    "Settings shows",
    "Forky's guide",
    "The conversation so far",
    "other branches",
)


@pytest.mark.parametrize("model", [QUOTE, DIGEST])
@pytest.mark.parametrize(
    "question",
    [
        "Would level 3 be enough for us?",
        "What is the capital of France?",
        "hello",
        "Can you summarise this?",
        "How do I merge a branch?",
        "What about memory?",
    ],
)
def test_a_squash_quotes_nothing_of_forky_s_own(ready: Conversation, question: str, model: str) -> None:
    side = ready.fork("side")
    side.ask(question, model=model)
    payload = ready.plan_merge(side).payload.casefold()
    assert [own for own in FORKYS_OWN if own.casefold() in payload] == []


def test_the_quotation_stands_below_the_question_although_the_target_has_it(ready: Conversation) -> None:
    side = ready.fork("side")
    side.ask("What about memory?", model=QUOTE)
    payload = ready.plan_merge(side).payload
    assert "user: What about memory?" in payload
    assert "`--long=31` is what eats the memory" in payload


def test_only_an_offline_answer_is_stripped() -> None:
    assert quoted_in("> a quotation\n\nand words") == "> a quotation\n\nand words"
    assert quoted_in("**Offline model.** No.\n\n> one\n>\n> — *reply 1*\n\n> two") == "one\n\ntwo"
