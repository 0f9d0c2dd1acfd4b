"""Compare as a person uses it: look, ask all, ask several models, see the difference, promote the winner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import Fail, ScriptedModel
from forky_core.render.trees import text_of as tree_text
from tests.builders import talk, texts
from tests.hangs import HANG
from tests.pages.apptest import (
    answered,
    by_key,
    compare_act,
    compared,
    conflict,
    keys,
    latest,
    open_page,
    param,
    settled,
    words,
)
from tests.pages.workspaces import empty_workspace

HOSTILE = ":red[x] **b** `c` <script>alert(1)</script>"


@pytest.fixture
def one() -> ScriptedModel:
    return ScriptedModel("scripted/one", answer=lambda _: "By train, in nine hours.")


@pytest.fixture
def forky(monkeypatch: pytest.MonkeyPatch, one: ScriptedModel) -> Iterator[Forky]:
    with empty_workspace(monkeypatch) as opened:
        assert isinstance(opened.models, Catalogue)
        opened.models.add(one)
        opened.models.add(ScriptedModel("scripted/two", answer=lambda _: "By boat, in two days."))
        yield opened


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    chat = talk(forky.create("Trip", model="scripted/one"), "Where to?", "Norway.")
    talk(chat.fork("train"), "By train?", "It takes nine hours.")
    return talk(chat, "By boat?", "It takes two days.")


def compare(chat: Conversation, **params: str) -> AppTest:
    return open_page("compare.py", chat, **params)


def columns(test: AppTest) -> list[str]:
    """The keys of the columns, in their order."""
    return [head["key"] for head in compared(test)["columns"]]


def said(test: AppTest, column: int | None = None) -> str:
    """What the columns say, or one of them, without any markup."""
    shown = []
    for row in compared(test)["rows"]:
        shown.append(text_of(row["asked"] or []))
        for at, cell in enumerate(row["cells"]):
            if column in (None, at):
                shown += (
                    f"{entry['took']} {entry.get('same', '')} {text_of(entry['blocks'])}" for entry in cell
                )
    return "\n".join(shown)


def text_of(blocks: list[Any]) -> str:
    """What blocks say, without what is missing in them."""
    return "".join(
        one if isinstance(one, str) else text_of(one[2:])
        for one in blocks
        if isinstance(one, str) or one[0] != "del"
    )


def marked(test: AppTest, mark: str) -> list[str]:
    return [
        "".join(map(tree_text, one[2:]))
        for row in compared(test)["rows"]
        for one in elements([block for cell in row["cells"] for entry in cell for block in entry["blocks"]])
        if one[0] in ("mark", "del") and one[1]["class"] == mark
    ]


def elements(trees: list[Any]) -> Iterator[list[Any]]:
    for tree in trees:
        if isinstance(tree, list):
            yield tree
            yield from elements(tree[2:])


def ask(test: AppTest, text: str) -> AppTest:
    by_key(test, "compare.ask").set_value(text)
    return settled(test.run())


def test_it_opens_with_the_branch_at_hand_and_its_nearest_relative(chat: Conversation) -> None:
    test = compare(chat)
    assert columns(test) == ["main", "train"]
    assert compared(test)["shared"] == "2 messages in common, up to “Norway.”"
    assert "It takes two days." in said(test, 0) and "It takes nine hours." in said(test, 1)


def test_a_link_names_the_sides_and_what_is_gone_is_said(chat: Conversation) -> None:
    test = compare(chat, **{"with": "train,main,gone"})
    assert columns(test) == ["train", "main"]
    assert "“gone” is not in this conversation any more." in words(test)


def test_a_branch_that_is_deleted_while_it_is_read_is_said_and_kept(chat: Conversation) -> None:
    test = compare(chat)
    assert "It takes nine hours." in said(test, 1)
    chat.branches.delete("train")
    test = settled(test.run())
    assert "“train” is not in this conversation any more. What was read of it stays here." in words(test)
    assert compared(test)["columns"][1]["name"] == "train (deleted)"
    assert "It takes nine hours." in said(test, 1)
    answered(ask(test, "How long?"), chat)
    assert texts(chat)[-1] == "By train, in nine hours." and "train" not in chat.branches


def test_what_was_merged_before_a_question_to_all_stands_above_it_and_files_are_named(
    forky: Forky, chat: Conversation
) -> None:
    file = forky.attach(b"Bergen 8:03", media_type="text/plain", name="timetable.txt")
    chat.checkout("train").say("See this", attachments=[file])
    chat.merge(chat.plan_merge("train"))
    test = answered(ask(compare(chat), "How much?"), chat)
    shown = str(compared(test)["rows"])
    assert "Brought back from “train”" in shown and "timetable.txt" in shown


def test_adding_a_column_changes_the_link_and_one_without_anything_of_its_own_shows_where_it_ends(
    chat: Conversation,
) -> None:
    chat.fork("third", at=chat.path()[1].id)
    test = compare(chat)
    test = settled(latest(test, "compare.add").set_value("third").run())
    assert param(test, "with") == "main,train,third"
    assert "“main” goes on from “third”: 2 messages more." in compared(test)["notes"]
    assert [head["empty"] for head in compared(test)["columns"]] == [False, False, True]
    assert text_of(compared(test)["last"]) == "Norway."


def test_one_question_goes_to_all_and_one_undo_takes_it_back(chat: Conversation) -> None:
    before = chat.view.entries
    test = answered(ask(compare(chat), "How long?"), chat)
    assert texts(chat)[-2:] == texts(chat.checkout("train"))[-2:] == ["How long?", "By train, in nine hours."]
    assert text_of(compared(test)["rows"][-1]["asked"]) == "How long?"
    by_key(test, "bar.undo").click().run()
    assert chat.view.entries == before


def test_one_column_fails_alone_and_can_be_asked_again(chat: Conversation, one: ScriptedModel) -> None:
    chat.checkout("train").rules.set(model="scripted/two")
    one.enqueue(Fail("overloaded", "The model is busy."))
    test = answered(ask(compare(chat), "How long?"), chat)
    assert "The model is busy." in compared(test)["ends"]["main"]["why"]
    assert "By boat, in two days." in said(test, 1)
    answered(compare_act(test, "again", key="main"), chat)
    assert texts(chat)[-1] == "By train, in nine hours."


def test_several_models_answer_on_branches_of_their_own(chat: Conversation) -> None:
    test = compare(chat)
    latest(test, "compare.whom").set_value("models").run()
    by_key(test, "compare.models").set_value([]).run()
    assert by_key(ask(test, "How long?"), "compare.ask").proto.value == "How long?"  # It was not asked.
    by_key(test, "compare.models").set_value(["scripted/one", "scripted/two"]).run()
    test = answered(ask(test, "How long?"), chat)
    assert columns(test) == ["one", "two"] and by_key(test, "compare.ask").proto.value == ""
    assert texts(chat.checkout("two"))[-1] == "By boat, in two days."
    assert texts(chat)[-1] == "It takes two days."


@pytest.fixture
def four(forky: Forky) -> list[str]:
    """Four models, of which two say the same."""
    assert isinstance(forky.models, Catalogue)
    forky.models.add(ScriptedModel("scripted/three", answer=lambda _: "By boat, in two days."))
    forky.models.add(ScriptedModel("scripted/four", answer=lambda _: "On foot."))
    return [f"scripted/{name}" for name in ("one", "two", "three", "four")]


def ask_several(test: AppTest, models: list[str], text: str) -> AppTest:
    by_key(test, "compare.models").set_value(models).run()
    return ask(test, text)


@pytest.mark.parametrize("begun", [False, True])
def test_every_one_of_several_models_is_seen_with_its_answer_also_where_two_say_the_same(
    forky: Forky, four: list[str], begun: bool
) -> None:
    chat = forky.create("Four")
    if begun:
        talk(chat, "Where to?", "Norway.")
    asked = answered(ask_several(compare(chat), four, "How?"), chat)
    opened = compare(chat)
    assert chat.branches["two"].head == chat.branches["three"].head
    for test in (asked, opened, compare(chat, **{"with": "one,two,three,four"})):
        assert columns(test) == ["one", "two", "three", "four"]
        assert [head["name"] for head in compared(test)["columns"]] == [f"Scripted: {name}" for name in four]
        for column, (model, text) in enumerate(
            zip(four, ("By train", "By boat", "By boat", "On foot"), strict=True)
        ):
            assert model in said(test, column) and text in said(test, column)
    assert "“Scripted: scripted/two” and “Scripted: scripted/three” gave the same answer" in "".join(
        compared(opened)["notes"]
    )
    chat.branches.delete("two")
    left = compare(chat)
    assert columns(left) == ["one", "three", "four"]
    assert "scripted/three" in said(left, 1) and "By boat" in said(left, 1)


def test_two_models_that_say_the_same_at_every_level_have_a_column_each(
    forky: Forky, four: list[str]
) -> None:
    chat = forky.create("Twins")
    test = answered(ask_several(compare(chat), four[1:3], "How?"), chat)
    for question in ("And back?", "And then?"):
        test = answered(ask(test, question), chat)
    assert chat.branches["two"].head == chat.branches["three"].head
    for page in (test, compare(chat), compare(chat, **{"with": "two,three"})):
        assert len(compared(page)["rows"]) == 3
        for column, model in enumerate(four[1:3]):
            assert said(page, column).count(f"Scripted: {model}") == 3
            assert said(page, column).count("By boat, in two days.") == 3
    compare_act(test, "promote", key="three", branch="main")
    assert texts(chat)[-1] == "By boat, in two days."
    assert "Scripted: scripted/two and Scripted: scripted/three" in words(open_page("chat.py", chat))
    for name, model in (("two", four[1]), ("three", four[2])):
        shown = words(open_page("chat.py", chat.checkout(name)))
        assert shown.count(f"Scripted: {model}") == 3 and "they said the same" not in shown


def test_a_conversation_with_one_branch_says_what_to_do_and_an_empty_one_that_it_is(forky: Forky) -> None:
    lone = talk(forky.create("Alone", model="scripted/one"), "Hello", "Hi")
    test = compare(lone)
    assert "Start a branch on the Chat page" in words(test)
    by_key(test, "compare.models").set_value(["scripted/one", "scripted/two"]).run()
    answered(ask(test, "How long?"), lone)
    assert columns(test) == ["one", "two"]
    empty = forky.create("New")
    empty.fork("blank")
    assert "Ask several models" in words(compare(empty))
    test = compare(empty, **{"with": "main,blank"})
    assert "“blank” is empty" in "".join(compared(test)["notes"])
    assert [head["empty"] for head in compared(test)["columns"]] == [True, True]


def test_where_a_branch_only_goes_on_there_is_a_question_to_models_and_a_choice_of_branches(
    forky: Forky,
) -> None:
    chat = talk(forky.create("Trip", model="scripted/one"), "Where to?", "Norway.")
    talk(aside := chat.fork("aside"), "By train?", "It takes nine hours.")
    test = compare(aside)
    assert "with" not in test.query_params and "compare.surface" not in keys(test)
    by_key(test, "compare.sides").set_value(["main"]).run()
    assert "with" not in test.query_params
    test = settled(by_key(test, "compare.sides").set_value(["main", "aside"]).run())
    assert columns(test) == ["main", "aside"]
    test = compare(aside)
    by_key(test, "compare.models").set_value(["scripted/two", "scripted/one"]).run()
    test = answered(ask(test, "How long?"), aside)
    assert [head["name"] for head in compared(test)["columns"]] == [
        "Scripted: scripted/two",
        "Scripted: scripted/one",
    ]
    assert latest(test, "compare.whom").value == "columns"


def test_the_difference_of_two_answers_is_marked_in_their_text(chat: Conversation) -> None:
    test = compare(chat)
    assert marked(test, "clash") == ["two days", "nine hours"] and marked(test, "gone") == ["two days"]
    test = settled(compare_act(test, "marks", value="off"))
    assert marked(test, "clash") == [] and compared(test)["marks"] == "off"
    assert compared(compare(chat))["marks"] == "on"


def test_answers_with_little_in_common_are_marked_only_when_it_is_asked_for(chat: Conversation) -> None:
    talk(chat, "Why?", "Fjords are best seen from a deck.")
    talk(chat.checkout("train"), "Why?", "Nobody gets seasick on rails, and tickets cost less.")
    test = compare(chat, **{"with": "main,train"})
    assert marked(test, "clash") == ["two days", "nine hours"] and marked(test, "only") == []
    talk(chat.fork("deck", at=chat.path()[1].id), "Why?", "Fjords are best seen from a deck.")
    test = compare(chat, **{"with": "deck,train"})
    assert compared(test)["marks"] == "off" and marked(test, "only") == []
    test = settled(compare_act(test, "marks", value="on"))
    assert compared(test)["marks"] == "on" and len(marked(test, "only")) == 2


def test_of_answers_that_a_model_examined_what_it_found_is_marked(
    chat: Conversation, one: ScriptedModel
) -> None:
    talk(chat, "When?", "Pack light. Take the early one.")
    talk(chat.checkout("train"), "When?", "Sleep well before you go. I would not take the early one, never.")
    test = settled(compare_act(compare(chat), "panel", kind="claims", row=1))
    one.enqueue(conflict("the train", "Take the early one.", "I would not take the early one, never."))
    test = examined(settled(compare_act(test, "examine", row=1)))
    assert marked(test, "clash")[2:] == ["Take the early one", "I would not take the early one, never"]


def test_the_pinned_column_is_what_the_others_are_compared_with_and_is_kept_in_the_link(
    chat: Conversation,
) -> None:
    test = settled(compare_act(compare(chat), "pin", key="train"))
    assert test.query_params["pin"] in ("train", ["train"])
    assert [head["pinned"] for head in compared(test)["columns"]] == [False, True]
    assert marked(test, "gone") == ["nine hours"]
    test = settled(compare_act(test, "order", keys=["train", "main"]))
    assert [head["key"] for head in compared(test)["columns"]] == ["train", "main"]
    assert compared(test)["columns"][0]["pinned"] and columns(test) == ["train", "main"]


@pytest.mark.parametrize(
    ("keys", "then"),
    [
        (["third", "main"], ["third", "main"]),
        *(
            (nothing, ["main", "train", "third"])
            for nothing in (["train"], ["train"] * 2, [], "main", ["no", "such"])
        ),
    ],
)
def test_an_order_takes_columns_out_unless_no_two_are_left(
    chat: Conversation, keys: object, then: list[str]
) -> None:
    chat.fork("third")
    test = compare(chat, **{"with": "main,train,third"})
    test = settled(compare_act(test, "order", keys=keys))
    assert [head["key"] for head in compared(test)["columns"]] == then


def test_the_numbers_of_each_column_are_told_with_the_best(chat: Conversation) -> None:
    test = answered(ask(compare(chat), "How long?"), chat)
    for head in compared(test)["columns"]:
        names = [one["name"] for one in head["numbers"]]
        assert {"Tokens", "Cost", "Total time"} <= set(names)
    assert sum(one["best"] for head in compared(test)["columns"] for one in head["numbers"]) > 0


def test_claims_and_pairs_are_shown_for_a_row(chat: Conversation) -> None:
    talk(chat, "When?", "The train leaves at 8:00. Whales sing loudly.")
    talk(chat.checkout("train"), "When?", "The train leaves at 9:00. Whales sing loudly.")
    test = settled(compare_act(compare(chat), "panel", kind="claims", row=1))
    (point,) = compared(test)["panel"]["points"]
    assert (point["kind"], point["says"][0][1]) == ("conflict", "The train leaves at 8:00.")
    assert compared(test)["panel"]["model"] == "" and not compared(test)["panel"]["busy"]
    test = settled(compare_act(test, "panel", kind="pairs", row=1))
    assert compared(test)["panel"]["shares"][0][1] == pytest.approx(7 / 8)  # A time of day is one word.
    test = settled(compare_act(test, "panel", kind="shared"))
    assert text_of(compared(test)["panel"]["messages"][1]["blocks"]) == "Norway."
    test = settled(compare_act(test, "panel", kind=""))
    assert compared(test)["panel"] is None


def examined(test: AppTest) -> AppTest:
    """The page when the model that was asked has read the answers."""
    if (running := test.session_state["compare.examining"]) is not None:
        running[1].future.exception(timeout=HANG)
    return settled(test.run())


def test_a_press_has_a_model_read_the_answers_of_a_row_and_says_what_it_found(
    chat: Conversation, one: ScriptedModel
) -> None:
    talk(chat, "When?", "Take the early one.")
    talk(chat.checkout("train"), "When?", "I would not take the early one.")
    test = settled(compare_act(compare(chat), "panel", kind="claims", row=1))
    panel = compared(test)["panel"]
    assert panel["points"] == [] and panel["model"] == "" and not one.requests
    assert panel["ask"][0].startswith("Examine with ") and "in one request" in panel["ask"][1]
    one.enqueue("Both are fine.")
    test = settled(compare_act(test, "examine", row=1))
    test = examined(test)
    panel = compared(test)["panel"]
    assert "did not answer in the form" in panel["failed"] and panel["model"] == "" and not panel["busy"]
    one.enqueue(conflict("the train", "Take the early one.", "I would not take the early one."))
    test = settled(compare_act(test, "examine", row=1, n=2))
    test = examined(test)
    panel = compared(test)["panel"]
    assert panel["model"] == "Scripted: scripted/one" and panel["failed"] == ""
    (point,) = panel["points"]
    assert [text for _, text in point["says"]] == ["Take the early one.", "I would not take the early one."]


def test_the_winner_is_promoted_and_undo_moves_it_back(chat: Conversation) -> None:
    head, winner = chat.branch.head, chat.branches["train"].head
    test = compare(chat)
    assert ["main", "main"] in compared(test)["columns"][1]["promote"]
    test = compare_act(test, "promote", key="train", branch="main")
    assert chat.branch.head == winner
    by_key(settled(test), "notice.undo").click().run()
    assert chat.branch.head == head


def test_two_answers_to_one_question_are_compared_and_asked_on(chat: Conversation) -> None:
    chat.ask("How long?")
    forked, job = chat.regenerate(model="scripted/two")
    newer = job.result()
    older = next(id for id in chat.visible.siblings(newer.id) if id != newer.id)
    test = compare(forked, **{"with": f"main,@{older[3:15]}"})
    assert "By boat, in two days." in said(test, 0) and "By train, in nine hours." in said(test, 1)
    assert "one, answer 1/2: By train" in str(compared(test)["columns"][1]), "its model comes first"
    answered(ask(test, "Sure?"), chat)
    assert columns(test) == ["main", "sure"]
    assert [m.text for m in chat.checkout("sure").path()[-3:-1]] == ["By train, in nine hours.", "Sure?"]


def test_hostile_names_and_messages_stay_text(forky: Forky) -> None:
    chat = talk(forky.create(HOSTILE), "a", "b")
    talk(chat.fork(HOSTILE[:90]), HOSTILE, f"{HOSTILE} more")
    talk(chat, HOSTILE, HOSTILE)
    test = compare(chat)
    assert said(test, 0).count(HOSTILE.replace("**b**", "b").replace("`c`", "c")) == 2
    assert compared(test)["columns"][0]["name"] == "main"
    assert not any(":red[" in str(e.value) for e in (*test.markdown, *test.caption))
    assert not any("<script>" in e.proto.body for e in test.get("html"))


def test_an_answer_without_end_is_cut_and_shown_whole_when_asked_for(chat: Conversation) -> None:
    talk(chat, "Long?", "A sentence with eight words stands here. " * 5_000)
    talk(chat.checkout("train"), "Long?", "No.")
    test = compare(chat)
    (entry,) = compared(test)["rows"][-1]["cells"][0]
    assert entry["left"] > 150_000 and "No." in said(test, 1)
    test = settled(compare_act(test, "whole", id=entry["id"]))
    (entry,) = compared(test)["rows"][-1]["cells"][0]
    assert entry["left"] == 0 and len(text_of(entry["blocks"])) > 200_000


def test_a_message_in_other_columns_too_is_not_drawn_twice(chat: Conversation) -> None:
    talk(chat.checkout("train").fork("deeper"), "Which line?", "The Bergen line.")
    test = compare(chat, **{"with": "main,train,deeper"})
    assert said(test).count("It takes nine hours.") == 1
    question, answer = compared(test)["rows"][0]["cells"][2]
    assert text_of(question["blocks"]) == "By train?" and answer["same"] == "train"


def test_an_act_leads_to_the_chat_or_the_merge(chat: Conversation) -> None:
    test = compare(chat)
    assert compared(test)["columns"][1]["merge"] == "main"
    test = settled(compare_act(test, "merge", key="train"))
    assert (param(test, "source"), param(test, "b")) == ("train", "main")
    test = settled(compare_act(compare(chat), "open", key="train"))
    assert param(test, "b") == "train" and "It takes nine hours." in words(test)


def test_what_several_were_given_is_proposed_by_one_press_and_each_column_says_what_became_of_it(
    forky: Forky, chat: Conversation
) -> None:
    for attempt in chat.ask_models("How do we get there?", ["scripted/one", "scripted/two"]):
        assert attempt.job is not None
        attempt.job.wait(HANG)
    names = [name for name in chat.branches if name in ("one", "two")]
    test = compare(chat, **{"with": ",".join(names)})
    assert compared(test)["can"]["propose"] == 2
    assert [column["proposal"] for column in compared(test)["columns"]] == ["", ""]
    test = settled(compare_act(test, "propose"))
    assert compared(test)["can"]["propose"] == 0, "nothing is proposed twice"
    assert [column["proposal"] for column in compared(test)["columns"]] == ["Open request", "Open request"]
    assert {(one.source, one.into) for one in chat.requests.all} == {("one", "main"), ("two", "main")}
    assert all(one.note.startswith("One of 2 side by side:") for one in chat.requests.all)
    settled(compare_act(test, "propose"))
    assert len(chat.requests.all) == 2
    first, second = (
        next(one.number for one in chat.requests.all if one.source == name) for name in ("one", "two")
    )
    other = forky.through(forky.store, "Ann").conversation(chat.id, "main")
    other.requests.ask_for_changes(first, "Say how long.")
    test = compare(chat, **{"with": "one,two"})
    assert [column["proposal"] for column in compared(test)["columns"]] == ["Sent back", "Open request"]
    led = settled(compare_act(test, "merge", key="one"))
    assert (param(led, "request"), param(led, "b")) == (str(first), "main")
    main = chat.checkout("main")
    main.merge(main.requests.accepting(second, main.requests.plan(second)))
    main.requests.decline(first)
    test = compare(chat, **{"with": "one,two"})
    assert [column["proposal"] for column in compared(test)["columns"]] == ["Declined", "Brought back"]
    assert [column["request"] for column in compared(test)["columns"]] == [0, 0]


def test_acts_that_name_nothing_here_change_nothing(chat: Conversation) -> None:
    test, before = compare(chat), chat.view
    for name in (
        *["pin", "open", "merge", "promote", "stop", "again", "panel", "whole", "fuse", "order", "marks"],
        *["propose", "no such"],
    ):
        test = settled(compare_act(test, name, key="nobody", branch="nowhere", row=99, keys=None, id=7))
    assert chat.view == before and len(compared(test)["columns"]) == 2


def long_ago(chat: Conversation, turns: int) -> None:
    for number in range(turns):
        talk(chat, f"Question {number}?", f"Answer {number}. " * 60)
        talk(chat.checkout("train"), f"Question {number}?", f"Reply {number}. " * 60)


def test_a_long_comparison_opens_at_the_last_turn_that_two_columns_have(chat: Conversation) -> None:
    long_ago(chat, 40)
    for number in range(20):
        talk(chat, f"Further {number}?", f"Tail {number}. " * 60)
    test = compare(chat)
    data = compared(test)
    assert data["open"] == 40 and data["before"] > 20 and data["after"] > 5
    first, last = data["rows"][0]["n"], data["rows"][-1]["n"]
    data = compared(settled(compare_act(test, "earlier")))
    assert data["rows"][0]["n"] < first and data["rows"][-1]["n"] == last
    data = compared(settled(compare_act(test, "later")))
    assert data["rows"][-1]["n"] > last


def test_what_arrives_moves_no_row_out_of_the_window(chat: Conversation) -> None:
    long_ago(chat, 40)
    test = compare(chat)
    before = [row["n"] for row in compared(test)["rows"]]
    test = answered(ask(test, "How long?"), chat)
    assert [row["n"] for row in compared(test)["rows"]] == [*before, before[-1] + 1]


def test_twelve_columns_are_compared_and_a_thirteenth_is_not(chat: Conversation) -> None:
    names = ["main", *(f"side{number}" for number in range(12))]
    for name in names[1:]:
        talk(chat.fork(name), "Which?", f"The way of {name}.")
    test = compare(chat, **{"with": ",".join(names)})
    assert [head["key"] for head in compared(test)["columns"]] == names[:12]
