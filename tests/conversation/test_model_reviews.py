"""A model reads the note of a merge request beside its branch; its words are data, its quotations are looked up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.model_reviews import NotReviewed
from forky_core.conversation.merging.review_log import MOST_FINDINGS, Review, ReviewFinding
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Fail, ScriptedModel
from forky_core.model.errors import BadContent, InTheWay, ModelError, NothingToDo
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels, debugged, talk
from tests.conversation.test_requests import as_

NOTE = "Enums fail on Tuesdays.\nMembers are collected lazily.\nUpgrade to version 9."


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def chat(models: ScriptedModels) -> Conversation:
    """A request whose author wrote three lines of their own."""
    chat = debugged(Workspace(MemoryStore(), models))
    chat.requests.open_plan(chat.plan_merge("debug").edited(NOTE))
    return chat


def reviewed(chat: Conversation, models: ScriptedModels, answer: str) -> Review:
    models.two.enqueue(answer)
    chat.requests.review_by(1, "scripted/two")
    (review,) = chat.requests.reviews(1)
    return review


def test_what_it_finds_stands_at_the_lines_with_words_of_the_branch(
    chat: Conversation, models: ScriptedModels
) -> None:
    review = reviewed(
        chat,
        models,
        '1: contradicted m2 "runs before the class body"\n2: supported m4 "collect members lazily"\n3: not shown\n'
        'missing m2 "parser.py line 42"',
    )
    [because] = [one.id for one in chat.checkout("debug").path() if "parser.py" in one.text]
    assert (review.by, review.state, review.text) == (
        "scripted/two",
        "read",
        "It read 3 of 3 sentences beside the branch.",
    )
    assert review.findings == (
        ReviewFinding("contradicts", "runs before the class body", because, "Enums fail on Tuesdays."),
        ReviewFinding("unsupported", "Upgrade to version 9.", None, "Upgrade to version 9."),
        ReviewFinding("missing", "parser.py line 42", because),
    )
    [request] = models.two.requests
    asked = str(request.messages[0]["content"])
    assert "parser.py line 42" in asked and "1. Enums fail on Tuesdays." in asked and "missing m4" in asked


def test_a_review_is_data_and_holds_nothing_up(chat: Conversation, models: ScriptedModels) -> None:
    review = reviewed(
        chat, models, '1: supported m2 "enum"\n2: supported m4 "lazily"\n3: supported m2 "parser"\nLand it.'
    )
    assert review.findings == () and review.text.endswith("and found nothing.")
    assert chat.requests.get(1).state == "open" and chat.requests.authors(1) == {chat._session.actor}
    as_(chat, "bob").requests.approve(1)
    assert {one.state for one in chat.requests.reviews(1)} == {"read", "approved"}
    operation = next(one for one in chat.history.operations if "scripted/two" in one.summary)
    assert (operation.verb, operation.actor) == ("review", chat._session.actor)
    chat.undo()
    assert [one for one in chat.requests.reviews(1) if one.state == "read"] == [review]


def test_words_that_stand_nowhere_are_no_quotation(chat: Conversation, models: ScriptedModels) -> None:
    review = reviewed(
        chat,
        models,
        '1: contradicted m2 "it works since Monday"\n2: supported m4 "lazily"\nmissing m2 "the moon is made of cheese"',
    )
    assert review.findings == (
        ReviewFinding("unsupported", "Enums fail on Tuesdays.", None, "Enums fail on Tuesdays."),
    )
    assert review.text == "It read 2 of 3 sentences beside the branch."


def test_an_order_that_the_note_passes_on_is_named(chat: Conversation, models: ScriptedModels) -> None:
    [finding] = reviewed(chat, models, '3: order m4 "Call `collect_members(cls)`"').findings
    assert (finding.verdict, finding.line) == ("unsupported", "Upgrade to version 9.")
    assert "order" in finding.why


@pytest.mark.parametrize(
    "answer", ["", "Looks good to me! Ship it.", "{}", "99: not shown", "not shown " * 5_000]
)
def test_an_answer_about_nothing_is_kept_nowhere(
    chat: Conversation, models: ScriptedModels, answer: str
) -> None:
    count = len(chat.history.operations)
    models.two.enqueue(answer)
    with pytest.raises(NotReviewed, match="says nothing about the note"):
        chat.requests.review_by(1, "scripted/two")
    assert chat.requests.reviews(1) == () and len(chat.history.operations) == count


def test_a_model_that_dies_half_way_leaves_nothing(chat: Conversation, models: ScriptedModels) -> None:
    models.two.enqueue("1: not shown\n2:", Fail("unreachable"))
    with pytest.raises(ModelError):
        chat.requests.review_by(1, "scripted/two")
    assert chat.requests.reviews(1) == ()


def test_an_offline_model_cannot_review(chat: Conversation, models: ScriptedModels) -> None:
    models.two = ScriptedModel(info=replace(models.two.info(), provider="Offline"))
    with pytest.raises(BadContent, match="only quotes"):
        chat.requests.review_by(1, "scripted/two")
    assert not models.two.requests


def test_a_merge_that_brings_messages_as_they_are_has_no_note(models: ScriptedModels) -> None:
    chat = debugged(Workspace(MemoryStore(), models))
    chat.requests.open("debug", strategy="full")
    with pytest.raises(NothingToDo, match="no note"):
        chat.requests.review_by(1, "scripted/two")
    assert not models.two.requests


def meanwhile(models: ScriptedModels, happens: Callable[[], object]) -> None:
    """Have something happen while the second model reads."""

    def answer(_request: Request) -> str:
        happens()
        return "1: not shown"

    models.two = ScriptedModel("scripted/two", answer=answer)


def test_a_request_that_lands_while_the_model_reads_gets_no_review(
    chat: Conversation, models: ScriptedModels
) -> None:
    bob = as_(chat, "bob")
    meanwhile(models, lambda: bob.merge(bob.requests.accepting(1, bob.requests.plan(1))))
    with pytest.raises(InTheWay, match="accepted by bob"):
        chat.requests.review_by(1, "scripted/two")
    assert chat.requests.reviews(1) == ()
    with pytest.raises(InTheWay):
        chat.requests.review_by(1, "scripted/two")
    assert len(models.two.requests) == 1


def test_a_branch_that_moves_while_the_model_reads_makes_the_review_an_old_one(
    chat: Conversation, models: ScriptedModels
) -> None:
    meanwhile(models, lambda: talk(chat.checkout("debug"), "And flags?", "They work."))
    chat.requests.review_by(1, "scripted/two")
    (review,) = chat.requests.reviews(1)
    assert review.outdated(chat.requests.get(1), chat.requests.heads(1)) == "“debug” has moved since"


def test_a_review_of_the_same_model_takes_the_place_of_the_last(
    chat: Conversation, models: ScriptedModels
) -> None:
    reviewed(chat, models, "1: not shown")
    models.two.enqueue("2: not shown")
    as_(chat, "bob").requests.review_by(1, "scripted/two")
    (review,) = chat.requests.reviews(1)
    assert review.findings[0].line == "Members are collected lazily."


def test_a_flood_of_findings_is_cut(models: ScriptedModels) -> None:
    chat = debugged(Workspace(MemoryStore(), models))
    note = "\n".join(f"Fact number {at} is new." for at in range(60))
    chat.requests.open_plan(chat.plan_merge("debug").edited(note))
    review = reviewed(chat, models, "\n".join(f"{at}: not shown" for at in range(1, 61)))
    assert len(review.findings) == MOST_FINDINGS


def test_nobody_writes_a_models_review_in_anothers_name(chat: Conversation, models: ScriptedModels) -> None:
    review = reviewed(chat, models, "1: not shown")
    stored = dict(review.stored())
    for key, value in (
        ("reviews/1/bob/scripted/two", stored),
        ("reviews/1/ann", stored),
        ("reviews/1/ann/scripted/two", stored | {"state": "approved"}),
        ("reviews/1/ann/scripted/two", stored | {"findings": [["perhaps", "x", None, "", ""]]}),
        ("reviews/1/ann/scripted/two", stored | {"findings": 5}),
    ):
        tx = as_(chat, "ann")._session.change()
        tx.set(key, value)
        tx.publish("review", "Reviewed")
    assert chat.requests.reviews(1) == (review,)
