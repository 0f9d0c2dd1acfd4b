"""Several answers made into one."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.merge.conflicts.conflict import Choice
from forky_core.merge.picked_parts import PickedPart
from forky_core.merge.written.plan import SquashRejected
from forky_core.model.errors import BadContent, NothingToDo, Outdated
from tests.builders import ScriptedModels, begun, land, talk, workspace
from tests.context.validity import problems

ANSWERS = (
    "Use SQLite for the cache. The port is 8080. Start it with `make run`.",
    "Use SQLite for the cache. The port is 9090. Remember to rotate the log files weekly.",
    "Whales sing.",
)


@pytest.fixture
def chat() -> Conversation:
    """Three answers to one question; the branch stands at the last."""
    chat, models = begun("Hello", "Hello.", title="Cache")
    for answer in ANSWERS:
        models.one.enqueue(answer)
    chat.ask("Which cache, on which port?")
    for _ in ANSWERS[1:]:
        chat.regenerate()[1].result()
    return chat


def models(chat: Conversation) -> ScriptedModels:
    found = chat._session.models
    assert isinstance(found, ScriptedModels)
    return found


def test_the_context_then_shows_the_question_and_the_fused_answer_only(chat: Conversation) -> None:
    plan = chat.merges.plan_fuse()
    land(chat, plan)
    fused = chat.head
    assert fused is not None and fused.role == "assistant"
    assert [message.text for message in chat.path()][:3] == ["Hello", "Hello.", "Which cache, on which port?"]
    assert chat.path()[-1].id == fused.id and len(chat.path()) == 4
    assert fused.parents == (chat.path()[2].id, *plan.turns)


def test_candidates_are_shuffled_by_a_seed_that_is_recorded(chat: Conversation) -> None:
    plan, again, other = chat.merges.plan_fuse(), chat.merges.plan_fuse(), chat.merges.plan_fuse(seed=3)
    assert plan.turns == again.turns and plan.seed == again.seed
    assert chat.merges.plan_fuse(seed=plan.seed).turns == plan.turns
    assert {chat.merges.plan_fuse(seed=seed).turns for seed in range(9)} != {other.turns}
    chat.merge(plan)
    assert chat.head is not None and chat.head.merge is not None
    assert chat.head.merge.messages == plan.turns


def test_without_a_model_every_sentence_is_one_of_theirs_and_the_text_says_so(chat: Conversation) -> None:
    plan = chat.merges.plan_fuse()
    assert plan.payload.startswith("[Put together by rule from 3 answers")
    body = plan.payload.split("They disagree:")[0].split("\n\n", 1)[1]
    for line in body.splitlines():
        said = line.removeprefix("- ").rsplit(" (", 1)[0]
        assert not said or said == "Also said:" or any(said in answer for answer in ANSWERS)
    assert plan.payload.count("Use SQLite for the cache.") == 1
    assert "Whales sing." in plan.payload


def test_what_they_disagree_on_is_listed_by_label(chat: Conversation) -> None:
    (port,) = chat.merges.plan_fuse().conflicts
    assert port.about == "port" and port.possible
    assert sorted(port.texts) == ["The port is 8080.", "The port is 9090."]


def test_the_best_is_offered_with_the_rule_that_chose_it(chat: Conversation) -> None:
    plan = chat.merges.plan_fuse()
    assert chat.message(plan.best_message).text in ANSWERS[:2]
    assert "shares most with the others" in plan.why
    if chat.head is not None and chat.head.id != plan.best_message:
        chat.branches.promote(plan.best_message)
    assert chat.head is not None and chat.head.id == plan.best_message


def test_fusing_is_one_operation_and_one_undo_and_the_candidates_stay_in_sight(chat: Conversation) -> None:
    head, count = chat.head, len(chat.history.operations)
    plan = chat.merges.plan_fuse()
    chat.merge(plan)
    assert len(chat.history.operations) == count + 1
    assert all(id in chat.visible.messages for id in plan.turns)
    chat.undo()
    assert chat.head == head


def test_a_fused_answer_can_be_fused_no_further_with_itself(chat: Conversation) -> None:
    first = chat.merges.plan_fuse()
    chat.merge(first)
    assert set(chat.merges.plan_fuse().turns) == set(first.turns)


def test_answers_above_the_head_are_fused_on_a_branch_of_their_own(chat: Conversation) -> None:
    answers = list(chat.merges.plan_fuse().turns)
    talk(chat, "And then?", "Then nothing.")
    plan = chat.merges.plan_fuse(answers)
    head = chat.head
    chat.merge(plan)
    assert chat.head == head
    assert chat.checkout("cache-port").path()[-1].merge is not None


def test_answers_that_contradict_each_other_are_both_shown_and_warned_of() -> None:
    chat, models = begun("Hello", "Hello.", title="Queue")
    answers = ("Yes. We must use Redis for the queue.", "No. We must not use Redis for the queue.")
    for answer in answers:
        models.one.enqueue(answer)
    chat.ask("Do we use Redis for the queue?")
    chat.regenerate()[1].result()
    plan = chat.merges.plan_fuse()
    (clash,) = plan.conflicts
    assert list(clash.by_side) == ["A", "B"]
    assert any(
        warning.startswith("The answers may contradict each other: A says “") for warning in plan.warnings
    )
    below = plan.payload.split("They disagree:")[1]
    assert "We must use Redis for the queue" in below and "We must not use Redis for the queue" in below


def test_answers_that_agree_are_fused_without_a_warning_of_contradiction() -> None:
    chat, models = begun("Hello", "Hello.", title="Agreed")
    for answer in ("We use Redis for the queue.", "Redis it is, for the queue. Pin its version."):
        models.one.enqueue(answer)
    chat.ask("What do we use for the queue?")
    chat.regenerate()[1].result()
    plan = chat.merges.plan_fuse()
    assert plan.conflicts == () and "They disagree" not in plan.payload
    assert all("contradict" not in warning for warning in plan.warnings)


def test_a_fusion_that_was_overtaken_is_refused(chat: Conversation) -> None:
    plan = chat.merges.plan_fuse()
    talk(chat, "Quick?", "Yes.")
    with pytest.raises(Outdated):
        chat.merge(plan)


def test_fewer_than_two_answers_or_answers_to_other_questions_are_refused(chat: Conversation) -> None:
    with pytest.raises(BadContent, match="two answers"):
        chat.merges.plan_fuse([chat.path()[-1].id])
    with pytest.raises(BadContent, match="one question"):
        chat.merges.plan_fuse([chat.path()[1].id, chat.path()[-1].id])
    forky, _ = workspace()
    with pytest.raises(NothingToDo):
        forky.create().merges.plan_fuse()


def test_a_model_fuses_from_escaped_labelled_answers_and_is_checked(chat: Conversation) -> None:
    text = "Use SQLite. The answers disagree on the port: 8080 or 9090."
    models(chat).two.enqueue(text)
    plan = chat.merges.plan_fuse(model="scripted/two")
    assert plan.payload == text
    (warning,) = plan.warnings
    assert warning.startswith("The answers may contradict each other: ")
    prompt = models(chat).two.requests[0].messages[0]["content"]
    assert prompt.index('<answer label="A">') < prompt.index("Write the answer alone")
    chat.merge(plan)
    assert chat.head is not None and chat.head.merge is not None
    assert chat.head.merge.made_by == "scripted/two"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "answered nothing"),
        ("Use Redis 7.", "Redis|7"),
        ('{"answer": "Use SQLite."}', "in the form"),
    ],
)
def test_a_fusion_that_fails_leaves_the_one_by_rule_badged(chat: Conversation, answer: str, why: str) -> None:
    models(chat).two.enqueue(answer)
    models(chat).two.enqueue(answer)
    with pytest.raises(SquashRejected, match=why) as refused:
        chat.merges.plan_fuse(model="scripted/two")
    assert refused.value.plan.payload == chat.merges.plan_fuse().payload and refused.value.plan.badge


def test_a_fused_answer_comes_along_when_its_branch_is_merged(chat: Conversation) -> None:
    side = chat.fork("side", at=chat.path()[2].id)
    side.branches.promote(chat.merges.plan_fuse().turns[0])
    side.merge(side.merges.plan_fuse(list(chat.merges.plan_fuse().turns)))
    talk(chat, "And?", "Good.")
    plan = chat.plan_merge("side", strategy="full")
    assert any(message == side.path()[-1].id for message in plan.turns)


def answered(*answers: str) -> Conversation:
    """A question with these answers; the branch stands at the last."""
    chat, models = begun("Hello", "Hello.", title="Database")
    for answer in answers:
        models.one.enqueue(answer)
    chat.ask("Which database should the cache use?")
    for _ in answers[1:]:
        chat.regenerate()[1].result()
    return chat


SQLITE = "Use SQLite for the cache. It needs no server. Back it up each night."
POSTGRES = "Several machines write. **Verdict: PostgreSQL.** Its pools cope with bursts."


@pytest.fixture
def torn() -> Conversation:
    """Two answers that a model has found to recommend different things."""
    chat = answered(SQLITE, POSTGRES)
    models(chat).one.enqueue(
        "\n\n".join(
            f'CONFLICT the database\n{a}: "Use SQLite for the cache."\n{b}: "**Verdict: PostgreSQL.**"'
            for a, b in ("AB", "BA")
        )
    )
    chat.merges.examine(chat.merges.plan_fuse())
    return chat


def test_what_answers_disagree_on_is_listed_and_not_among_what_only_one_says(torn: Conversation) -> None:
    plan = torn.merges.plan_fuse()
    union, _, disagree = plan.payload.partition("They disagree:\n- the database: ")
    assert "SQLite for the cache" in disagree and "PostgreSQL" in disagree and "possibly" not in disagree
    assert not any(
        line.startswith("- ") and ("SQLite" in line or "PostgreSQL" in line) for line in union.splitlines()
    )


@pytest.mark.parametrize(("kept", "lost"), [("Use SQLite", "PostgreSQL"), ("Verdict: PostgreSQL", "SQLite")])
def test_a_settled_conflict_leads_and_the_other_is_left_out(torn: Conversation, kept: str, lost: str) -> None:
    plan = torn.merges.plan_fuse()
    (label,) = [one.label for one in plan.candidates if kept in one.message.text]
    settled = plan.resolved({"the database": Choice("theirs", source=label)})
    assert settled.best == label and settled.unresolved == ()
    torn.merge(settled)
    landed = torn.path()[-1].text
    assert kept in landed and lost not in landed
    assert "Back it up each night." in landed and "Its pools cope with bursts." in landed
    assert settled.resolved({"the database": None}) == plan


def test_a_resolution_of_ones_own_takes_both_out(torn: Conversation) -> None:
    torn.merge(torn.merges.plan_fuse().resolved({"the database": Choice("text", "Redis")}))
    landed = torn.path()[-1].text
    assert "Decided: Redis." in landed and "SQLite" not in landed and "PostgreSQL" not in landed


def test_picked_parts_are_one_answer_in_which_each_names_its_own() -> None:
    chat = answered(
        SQLITE, f"{POSTGRES}\n\n```sql\nselect 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    )
    one, two = map(chat.message, chat.merges.plan_fuse().turns)
    sqlite, postgres = (one, two) if one.text == SQLITE else (two, one)
    head = "| a | b |\n| --- | --- |"
    parts = (
        PickedPart(sqlite.id, SQLITE),
        PickedPart(postgres.id, "```sql\nselect 1\n```"),
        PickedPart(postgres.id, "| 1 | 2 |", head),
        PickedPart(postgres.id, "| 3 | 4 |", head),
    )
    plan = chat.merges.plan_fuse(parts=parts)
    marks = [f"[{plan.short(message.id)}]" for message in (sqlite, postgres)]
    assert plan.payload.split("\n\n") == [
        f"{SQLITE} {marks[0]}",
        "```sql\nselect 1\n```",
        f"From {marks[1]}.",
        f"{head}\n| 1 | 2 |\n| 3 | 4 |",
        f"From {marks[1]}.",
    ]
    chat.merge(plan)
    assert chat.path()[-1].text == plan.payload and set(chat.path()[-1].parents[1:]) == {one.id, two.id}
    chat.undo()
    assert chat.path()[-1].merge is None


@pytest.mark.parametrize("text", ["Use Redis.", "It needs a server.", "Back it up. It needs no server."])
def test_a_part_that_its_answer_does_not_say_is_refused(text: str) -> None:
    chat = answered(SQLITE, POSTGRES)
    said = {chat.message(id).text: id for id in chat.merges.plan_fuse().turns}
    parts = [PickedPart(said[SQLITE], text), PickedPart(said[POSTGRES], POSTGRES)]
    with pytest.raises(BadContent, match="is not in the answer"):
        chat.merges.plan_fuse(parts=parts)


def test_answers_to_one_question_on_several_branches_are_fused_too() -> None:
    chat, models = begun("Hello", "Hello.", title="Ports")
    other = talk(chat.fork("other"), "Something else first.", "Fine.")
    models.one.enqueue("The port is 8080. Open it in the firewall.")
    chat.ask("Which port?")
    models.one.enqueue("The port is 8080. Watch its traffic.")
    other.ask("Which port?")
    answers = [message.id for one in (chat, other) if (message := one.head)]
    plan = chat.merges.plan_fuse(answers)
    assert not plan.forks
    question = chat.path()[-2].id
    chat.merge(plan)
    assert chat.path()[-1].parents == (question, *plan.turns)
    assert "Watch its traffic." in chat.path()[-1].text and "Open it" in chat.path()[-1].text
    assert problems(chat.context().messages) == []
