"""The Chat page as a person uses it: ask, fork, edit, switch, stash, settings, undo, links."""

from __future__ import annotations

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.views.notebook import MORE, window_start
from pages.ui.drafts import drafts
from tests.builders import talk, texts
from tests.pages.apptest import (
    act,
    answered,
    ask,
    ask_sidebar,
    branch_shown,
    by_key,
    choose_branch,
    click_graph,
    keys,
    latest,
    open_app,
    press,
    press_late,
    settled,
    words,
)
from tests.pages.apptest import html as html_pieces

_TOLD = ("Nothing has been said here yet.", "forky.drafting", "chat.send.2", "forky.keeping")
"""What the browser is told of an empty conversation: the text in place of messages, where a question goes, Send, and
what became of the questions that it handed over.
"""


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    return talk(forky.create("Names"), "Name it", "Forky", "Why?", "It forks")


def opened(chat: Conversation, **params: str) -> AppTest:
    return settled(open_app(c=chat.id, **params))


def shown(test: AppTest) -> str:
    """Every piece of text and HTML of the page."""
    pieces = [str(element.value) for element in (*test.markdown, *test.caption)]
    pieces += html_pieces(test)
    return "\n".join(pieces).replace("\u2060", "").replace("\\", "")


def test_without_a_conversation_the_page_says_how_to_begin(forky: Forky) -> None:
    test = settled(open_app())
    assert "No conversation yet" in shown(test) and "chat.first" in keys(test)


def test_a_question_is_answered_below_it_and_the_composer_is_empty_again(chat: Conversation) -> None:
    test = opened(chat)
    ask(test, chat, "How do I merge?")
    assert len(texts(chat)) == 6 and texts(chat)[4] == "How do I merge?"
    assert by_key(test, "chat.draft").value == ""
    assert texts(chat)[5].split("\n")[0].replace("**", "") in words(test)


@pytest.mark.parametrize("at_head", [True, False])
def test_sending_white_space_sends_nothing_and_says_so(chat: Conversation, at_head: bool) -> None:
    test = opened(chat, **({} if at_head else {"m": chat.path()[1].id.removeprefix("b2:")}))
    by_key(test, "chat.draft").set_value(" \n ")
    latest(test, "chat.send").click().run()
    assert "There is nothing to send. Type something, or attach a file." in shown(settled(test))
    assert len(texts(chat)) == 4 and list(chat.branches) == ["main"]


def test_asking_at_an_earlier_message_starts_a_branch_that_is_named_after_the_question(
    chat: Conversation,
) -> None:
    path = chat.path()
    test = opened(chat, b="main", m=path[1].id.removeprefix("b2:"))
    assert "2 later messages" in shown(test)
    by_key(test, "chat.draft").set_value("Shorter, please")
    latest(test, "chat.send").click().run()
    assert "On a new branch: “shorter”" in shown(test)
    answered(test, chat)
    assert test.query_params["b"] in ("shorter", ["shorter"])
    assert texts(chat) == ["Name it", "Forky", "Why?", "It forks"]
    assert texts(chat.checkout("shorter"))[:3] == ["Name it", "Forky", "Shorter, please"]


def test_a_link_to_a_message_is_looked_at_from_a_branch_that_leads_there(chat: Conversation) -> None:
    side = talk(chat.fork("side", at=chat.path()[1].id), "Another way", "Spoon")
    test = opened(chat, m=side.path()[2].id.removeprefix("b2:"))
    assert branch_shown(test) == "side, earlier"
    assert "Another way" in shown(test) and "It forks" not in shown(test)


def test_a_link_to_a_branch_alone_opens_it_in_the_newest_conversation(chat: Conversation) -> None:
    talk(chat.fork("side", at=chat.path()[1].id), "Another way", "Spoon")
    test = settled(open_app(b="main"))
    assert branch_shown(test) == "main" and "It forks" in shown(test)


def test_new_begins_a_conversation_at_once_and_none_while_one_is_empty(
    forky: Forky, chat: Conversation
) -> None:
    test = opened(chat)
    ask_sidebar(test, new=1)
    assert "Nothing has been said here yet." in shown(settled(test))
    assert len(forky.conversations()) == 2
    ask_sidebar(test, new=1)
    assert "Nothing has been said in this new chat yet." in shown(settled(test))
    assert len(forky.conversations()) == 2


def test_a_link_to_nowhere_explains_itself_and_shows_the_conversation(chat: Conversation) -> None:
    test = opened(chat, m="ffffffff")
    assert "It forks" in shown(test) and "No message" in shown(test)
    assert "m" not in test.query_params


def test_a_reader_whose_branch_is_deleted_elsewhere_stays_there_with_the_draft(
    forky: Forky, chat: Conversation
) -> None:
    side = talk(chat.fork("side", at=chat.path()[1].id), "Another way", "Spoon")
    test = opened(side, b="side")
    by_key(test, "chat.draft").set_value("half a thought").run()
    forky.conversation(chat.id).branches.delete("side")
    test.run()
    assert "“side” was renamed or deleted meanwhile. You are on “main” now." in shown(test)
    assert "It forks" not in shown(test)
    assert by_key(test, "chat.draft").value == "half a thought"
    answered(latest(test, "chat.send").click().run(), chat)
    assert texts(chat.checkout("main")) == ["Name it", "Forky", "Why?", "It forks"]
    assert texts(chat.checkout("half-thought"))[:3] == ["Name it", "Forky", "half a thought"]


def test_a_draft_comes_along_when_its_branch_is_renamed_elsewhere(chat: Conversation) -> None:
    test = opened(chat, b="main")
    by_key(test, "chat.draft").set_value("half a thought").run()
    chat.branches.rename("trunk")
    test.run()
    assert test.query_params["b"] == "trunk" and "m" not in test.query_params
    assert "“main” was renamed or deleted meanwhile. You are on “trunk” now." in shown(test)
    assert by_key(test, "chat.draft").value == "half a thought"
    drafts().clear(f"{chat.id}/trunk")


def test_a_conversation_in_the_trash_says_so_and_is_taken_back_from_where_it_is_read(
    chat: Conversation,
) -> None:
    chat.trash()
    test = opened(chat)
    assert "in the trash" in shown(test)
    by_key(test, "trashed.back").click().run()
    assert not chat.view.trashed and "in the trash" not in shown(test).replace("back from the trash", "")


def test_taking_up_a_stash_is_said_and_brings_no_file_twice(forky: Forky, chat: Conversation) -> None:
    file = forky.attach(b"seen", media_type="text/plain", name="note.txt")
    chat.stashes.create(draft="for later", attachments=(file.sha256,))
    test = opened(chat, b="main")
    for _ in range(2):
        by_key(test, "chat.stash_apply.1").click().run()
        assert "Took up “for later”" in shown(settled(test))
    assert [one.name for one in drafts().at(f"{chat.id}/main").files] == ["note.txt"]
    drafts().clear(f"{chat.id}/main")


def test_switching_branches_keeps_each_draft_where_it_was_typed(chat: Conversation) -> None:
    chat.fork("side", at=chat.path()[1].id)
    test = opened(chat, b="main")
    by_key(test, "chat.draft").set_value("half a thought")
    choose_branch(test, "side")
    assert by_key(settled(test), "chat.draft").value == ""
    choose_branch(test, "main")
    assert by_key(settled(test), "chat.draft").value == "half a thought"
    drafts().clear(f"{chat.id}/main")


def test_choosing_a_branch_that_was_deleted_meanwhile_is_said_and_leads_nowhere(chat: Conversation) -> None:
    chat.fork("side", at=chat.path()[1].id)
    test = opened(chat, b="main")
    chat.branches.delete("side")
    settled(choose_branch(test, "side"))
    assert branch_shown(test) == "main" and "no branch “side”" in shown(test)


def test_editing_a_question_forks_and_overwrites_nothing(chat: Conversation) -> None:
    question = chat.path()[2].id
    test = act(opened(chat, b="main"), "edit", question)
    by_key(test, "chat.form_text").set_value("Why that name?")
    answered(press(test, "chat.form_go"), chat)
    assert texts(chat) == ["Name it", "Forky", "Why?", "It forks"]
    assert len(chat.branches) == 2 and "Why that name?" in shown(test) and "2/2" in shown(test)


@pytest.mark.parametrize("at", [1, 3], ids=["an earlier message", "the newest one"])
def test_the_next_question_starts_a_branch_at_a_message(chat: Conversation, at: int) -> None:
    test = act(opened(chat, b="main"), "fork", chat.path()[at].id)
    assert "Your next question starts a branch here" in shown(test) and list(chat.branches) == ["main"]
    ask(test, chat, "Debug it")
    assert branch_shown(test) == "debug" and texts(chat) == ["Name it", "Forky", "Why?", "It forks"]
    assert chat.checkout("debug").path()[at].id == chat.path()[at].id
    chat.undo()
    assert list(chat.branches) == ["main"] and "Why?" in shown(opened(chat, b="main"))


def test_a_branch_that_was_not_asked_on_is_left_with_what_was_typed(chat: Conversation) -> None:
    test = opened(chat, b="main")
    by_key(test, "chat.draft").set_value("Hm").run()
    act(test, "fork", chat.path()[3].id)
    assert by_key(test, "chat.draft").value == "Hm"
    press(test, "chat.to_newest")
    assert by_key(test, "chat.draft").value == "Hm" and "Your next question" not in shown(test)


def test_answering_again_keeps_both_answers(chat: Conversation) -> None:
    test = act(opened(chat, b="main"), "regenerate", chat.path()[3].id)
    by_key(test, "chat.form_model").set_value("offline/digest")
    answered(press(test, "chat.form_go"), chat)
    assert texts(chat)[3] != "It forks" and "2/2" in shown(test)
    assert "It forks" in {message.text for message in chat.visible.messages.values()}


def test_pruning_asks_first_and_can_be_undone(chat: Conversation) -> None:
    test = act(opened(chat, b="main"), "prune", chat.path()[2].id)
    assert "2 messages" in shown(test)
    press(test, "prune.go")
    assert texts(chat) == ["Name it", "Forky"]
    by_key(test, "bar.undo").click().run()
    assert texts(chat) == ["Name it", "Forky", "Why?", "It forks"]


def test_the_branch_one_is_on_leads_from_an_earlier_message_to_its_end(chat: Conversation) -> None:
    test = opened(chat, b="main", m=chat.path()[1].id.removeprefix("b2:"))
    assert branch_shown(test) == "main, earlier"
    choose_branch(test, "main")
    settled(test)
    assert branch_shown(test) == "main" and "m" not in test.query_params


def test_stashing_what_is_typed_and_popping_it_brings_it_back(chat: Conversation) -> None:
    test = opened(chat, b="main")
    by_key(test, "chat.draft").set_value("for later")
    latest(test, "chat.stash_go").click().run()
    settled(test.run())
    assert by_key(test, "chat.draft").value == "" and chat.view.stashes[0].draft == "for later"
    press(test, "chat.stash_pop.1")
    assert by_key(test, "chat.draft").value == "for later" and chat.view.stashes == ()
    drafts().clear(f"{chat.id}/main")


def test_the_settings_of_a_branch_change_without_touching_what_was_said(chat: Conversation) -> None:
    before = chat.branch.head
    test = opened(chat, b="main")
    latest(test, "chat.system").set_value("Be brief.")
    latest(test, "chat.temperature").set_value(0.2)
    press(test, "chat.rules_save")
    rules = chat.rules.current
    assert rules.system == "Be brief." and rules.parameters["temperature"] == pytest.approx(0.2)
    assert chat.branch.head == before
    chat.undo()
    assert latest(settled(test.run()), "chat.system").value == ""


def test_a_question_to_two_models_has_both_answers_below_it_and_goes_on_from_the_preferred(
    chat: Conversation,
) -> None:
    chat.rules.set(model="offline/quote")
    test = opened(chat, b="main")
    latest(test, "chat.model_add").set_value("offline/digest").run()
    ask(settled(test), chat, "How do I import a file?")
    assert "chat.model_drop.0" not in keys(settled(test)), "the next question is for one model again"
    press(test, "chat.model_again")
    assert "chat.model_drop.0" in keys(settled(test))
    test = opened(chat, b="main")
    first, second = (chat.checkout(name).branch.head for name in ("main", "digest"))
    assert first and second and "Offline: quotes" in shown(test) and "Offline: digest" in shown(test)
    assert shown(test).index(f'data-cell="{first}"') < shown(test).index(f'data-cell="{second}"')
    act(test, "promote", second)
    assert chat.branch.head == second and "The next question goes on from here." in shown(test)
    assert f'data-cell="{first}"' in shown(test)
    ask(test, chat, "And then?")
    assert f'data-cell="{first}"' not in shown(test) and chat.path()[-3].id == second


def test_the_meter_opens_what_the_model_reads_beside_the_chat(chat: Conversation) -> None:
    test = opened(chat, b="main")
    press(test, "chat.reads")
    assert by_key(settled(test), "chat.graph_as").value == "What is sent"


def test_a_model_that_was_added_can_be_left_out_again(chat: Conversation) -> None:
    test = opened(chat, b="main")
    latest(test, "chat.model_add").set_value("offline/digest").run()
    press(test, "chat.model_drop.0")
    ask(test, chat, "Why?")
    assert set(chat.view.branches) == {"main"}


def test_choosing_a_model_sets_it_for_the_branch_or_for_one_question(chat: Conversation) -> None:
    test = opened(chat, b="main")
    latest(test, "chat.model").set_value("offline/digest").run()
    assert chat.rules.current.model == "offline/digest"
    by_key(settled(test.run()), "chat.model_once").set_value(True).run()
    latest(test, "chat.model").set_value("offline/quote").run()
    assert chat.rules.current.model == "offline/digest"
    ask(test, chat, "Who are you?")
    assert chat.calls.generations[-1].model == "offline/quote"


def test_a_click_on_the_graph_checks_that_message_out(chat: Conversation) -> None:
    side = talk(chat.fork("side", at=chat.path()[1].id), "Another way", "Spoon")
    head = side.branch.head
    assert head is not None
    test = settled(click_graph(opened(chat, b="main"), head, "chat.graph"))
    assert branch_shown(test) == "side" and "Spoon" in shown(test)
    earlier = settled(click_graph(test, chat.path()[0].id, "chat.graph"))
    assert branch_shown(earlier) == "side, earlier"
    assert "chat.to_newest" in keys(earlier)


def test_a_lost_race_keeps_the_draft_and_offers_both_ways_on(chat: Conversation) -> None:
    test = opened(chat, b="main")
    talk(chat, "From another tab", "Yes")
    by_key(test, "chat.draft").set_value("What I typed")
    latest(test, "chat.send").click().run()
    settled(test.run())
    assert "What I typed" not in texts(chat) and by_key(test, "chat.draft").value == "What I typed"
    assert "has moved meanwhile" in shown(test)
    by_key(test, "chat.race_fork").click().run()
    answered(test, chat)
    fork = next(name for name in chat.branches if name != "main")
    assert texts(chat.checkout(fork))[:5] == ["Name it", "Forky", "Why?", "It forks", "What I typed"]


@pytest.mark.parametrize("button", ["chat.send", "chat.stash_go"])
def test_what_is_typed_goes_where_its_field_was_drawn_for_or_nowhere(
    forky: Forky, chat: Conversation, button: str
) -> None:
    other = talk(forky.create("Shared"), "Who reads this?", "Everybody")
    kept = f"{other.id}/main"
    drafts().write(kept, "Half a question for all")
    test = opened(chat)
    by_key(test, "chat.draft").set_value("What do I keep to myself?")
    press_late(test, latest(test, button), c=other.id)
    assert len(texts(chat)) == 4 and len(texts(other)) == 2 and not other.view.stashes
    assert "Nothing was done, because the page had just changed." in shown(test)
    assert drafts().at(f"{chat.id}/main").text == "What do I keep to myself?"
    assert by_key(test, "chat.draft").value == drafts().at(kept).text == "Half a question for all"


def test_the_composer_is_of_the_place_before_anything_else_shows_it(
    forky: Forky, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    take = ForwardMsgQueue.enqueue

    def record(queue: ForwardMsgQueue, message: ForwardMsg) -> None:
        sent.append(str(message))
        take(queue, message)

    monkeypatch.setattr(ForwardMsgQueue, "enqueue", record)
    empty = forky.create()
    test = opened(talk(forky.create("Names"), "Name it", "Forky"))
    sent.clear()
    test.query_params["c"] = empty.id
    settled(test.run())
    told = {word: [at for at, message in enumerate(sent) if word in message] for word in _TOLD}
    (said,), (typed,), (button,), (stored,) = told.values()
    assert typed < button < said and button < stored


def test_a_question_whose_model_is_gone_stays_with_a_sentence_and_a_way_on(chat: Conversation) -> None:
    chat.say("Anybody there?")
    test = opened(chat, b="main")
    assert "Nobody has answered this yet" in shown(test)
    by_key(test, "chat.again.0").click().run()
    answered(test, chat)
    assert len(texts(chat)) == 6 and "chat.again.0" not in keys(test)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "![x](https://evil.example/p.png)",
        ":red[x] :material/bolt: $a$ `",
        '"><button data-act="prune">',
        "\u202egnp\x00",
        "a\ud83d",
    ],
)
def test_hostile_text_is_text_wherever_it_stands(forky: Forky, hostile: str) -> None:
    chat = talk(forky.create(hostile), hostile, hostile)
    chat.tags.add("t" + hostile.replace("\u202e", "").replace("\x00", ""))
    chat.stashes.create(draft=hostile)
    html = "\n".join(body for body in html_pieces(opened(chat)) if "<style>" not in body)
    assert "<script" not in html and 'data-act="prune"' not in html.replace("&quot;", "'")


def test_a_megabyte_is_shown_cut_until_asked_for(forky: Forky) -> None:
    chat = talk(forky.create("Long"), "word " * 200_000)
    test = opened(chat)
    toggles = [key for key in keys(test) if key.endswith(".all")]
    assert len(toggles) == 1 and len(shown(test)) < 100_000


def test_only_a_window_of_a_long_path_is_drawn_until_more_is_asked_for(forky: Forky) -> None:
    chat = talk(forky.create("Long"), *(f"message number {i}" for i in range(80)))
    first = window_start(chat.path())
    test = opened(chat)
    assert f"message number {first - 1}" not in shown(test) and f"message number {first}" in shown(test)
    by_key(test, "chat.earlier").click().run()
    now = first - MORE
    assert f"message number {now}" in shown(settled(test)) and f"message number {now - 1}" not in shown(test)
    while "chat.earlier" in keys(test):
        by_key(test, "chat.earlier").click().run()
    assert all(f"message number {i}" in shown(test) for i in range(80))


def test_a_message_is_taken_back_from_here_on_and_undo_brings_it_back(chat: Conversation) -> None:
    answer = chat.path()[1].id
    test = act(opened(chat), "revert", answer)
    by_key(test, "revert.note").set_value("That name is taken.")
    settled(test.run())
    test = settled(by_key(test, "revert.go").click().run())
    assert "Left out. Go on" in shown(test) and "Nobody has answered" not in shown(test)
    said = [item["content"] for item in chat.context().messages]
    assert "Forky" not in said and any("That name is taken." in text for text in said)
    chat.undo()
    assert "Forky" in [item["content"] for item in chat.context().messages]


def test_a_conflict_that_landed_open_is_shown_and_settled(torn: Conversation) -> None:
    chat = torn
    chat.merge(chat.plan_merge("debug", strategy="three-way"))
    test = opened(chat, b="main")
    assert "**1 possible conflict** open" in shown(test)
    test = settled(by_key(test, "chat.settle").click().run())
    by_key(test, "settle.take.0").set_value("1")
    settled(test.run())
    settled(by_key(test, "settle.go").click().run())
    assert chat.merges.unresolved == ()
    after = shown(settled(test.run()))
    assert "Settled 1 conflict on “main”" in after and "**1 possible conflict** open" not in after


def test_a_file_that_is_only_named_to_the_model_is_said_before_it_is_sent(chat: Conversation) -> None:
    test = opened(chat)
    by_key(test, "chat.files.0").upload("paper.pdf", b"%PDF-1.4", "application/pdf").run()
    assert "“paper.pdf” – Only named" in shown(test) and "The Documents page reads PDF" in shown(test)
    by_key(test, "chat.unfile.0").click().run()
    assert "Only named" not in shown(test)
    by_key(test, "chat.files.1").upload("list.csv", b"a,b\n1,2\n", "text/csv").run()
    assert "Only named" not in shown(test)
