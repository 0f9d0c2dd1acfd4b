"""Merge requests as two people use them: propose, find, look, talk, change, accept, decline."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from tests.builders import talk
from tests.pages.apptest import (
    by_key,
    edit_merge,
    keys,
    merge_editor,
    open_page,
    param,
    press,
    settled,
    texts,
    words,
)
from tests.pages.test_merge import lines, merge, preview, told
from tests.pages.test_merge_ways import take, taken


@pytest.fixture
def proposed(chat: Conversation) -> Conversation:
    chat.requests.open("debug", note="Why enums fail")
    return chat


def look(chat: Conversation) -> AppTest:
    return press(merge(chat), "merge.look.1")


def test_proposing_merges_nothing_and_opens_the_request(chat: Conversation) -> None:
    head = chat.branch.head
    wanted = {"source": "debug", "strategy": "full"}
    test = merge(chat, **wanted)
    by_key(test, "merge.propose_note").set_value("Have a look, please.")
    test = press(test, "merge.propose_it")
    assert chat.branch.head == head
    (request,) = chat.requests.all
    assert (request.source, request.into, request.strategy) == ("debug", "main", "full")
    assert request.note == "Have a look, please."
    assert param(test, "request") == "1"
    assert "Have a look, please." in words(test) and "Asked for a review of “debug” into “main”" in words(
        test
    )
    assert "Request 1 proposes that already." in words(press(merge(chat, **wanted), "merge.propose_it"))
    press(test, "notice.undo")
    assert chat.requests.all == ()


def test_a_branch_of_another_conversation_is_proposed_and_accepted(forky: Forky, chat: Conversation) -> None:
    other = talk(forky.create("Elsewhere"), "What did we decide?", "Decision: use port 9191 for the proxy.")
    test = press(merge(chat, graft=other.id, source="main", focus="port"), "merge.propose_it")
    request = chat.requests.get(1)
    assert request.graft is not None and request.graft.conversation == other.id
    assert (param(test, "graft"), param(test, "focus")) == (str(other.id), "port")
    assert "“main of Elsewhere” into “main”" in words(test) and "about “port”" in words(test)
    talk(other, "More?", "More.")
    test = look(chat)
    assert "“main of Elsewhere” has moved on since" in words(test)
    press(test, "merge.land")
    assert chat.requests.get(1).state == "accepted" and "9191" in chat.path()[-1].text


def test_every_choice_of_the_author_is_shown_and_lands(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug"))
    chat.revert(chat.plan_revert(chat.path()[-1].id))
    chosen = {"focus": "lazily", "budget": "200", "again": "1"}
    test = press(merge(chat, source="debug", **chosen), "merge.propose_it")
    assert {name: param(test, name) for name in chosen} == chosen
    options = chat.requests.get(1).options
    assert (options.focus, options.budget, options.again) == ("lazily", 200, True)
    test = look(chat)
    assert {name: param(test, name) for name in chosen} == chosen
    assert "about “lazily”, in at most 200 tokens, as if it had never come" in words(test)
    plan = chat.requests.plan(1)
    assert preview(test) == told(plan) and "lazily" in plan.payload
    press(test, "merge.land")
    assert chat.head is not None and chat.head.text == plan.payload


def test_words_of_the_author_are_proposed_and_can_be_taken_back(chat: Conversation) -> None:
    test = merge(chat, source="debug")
    by_key(test, "merge.edit").set_value(True)
    by_key(test := settled(test.run()), "merge.text").set_value("What we found out.")
    test = press(settled(test.run()), "merge.propose_it")
    assert dict(chat.requests.get(1).words) == {"debug": "What we found out."}
    test = look(chat)
    assert "in words of its author" in words(test) and preview(test) == "What we found out."
    back = press(test, "merge.reset")
    assert "Enum" in preview(back)
    press(back, "merge.change.go")
    assert chat.requests.get(1).words == {}
    press(look(chat), "merge.land")
    assert chat.head is not None and "What we found out." not in chat.head.text


def test_what_is_settled_of_a_conflict_is_proposed(forky: Forky) -> None:
    chat = talk(forky.create("Server"), "Set up the server.", "OK.")
    talk(chat.fork("debug"), "No, use port 9090.", "Fine.")
    talk(chat, "Use port 8080.", "Fine.")
    test = merge(chat, source="debug", strategy="three-way")
    press(take(test, "theirs"), "merge.propose_it")
    test = look(chat)
    assert "with 1 conflict settled" in words(test) and taken(test) == "theirs"
    press(test, "merge.land")
    assert chat.merges.unresolved == () and "9090" in chat.path()[-1].text


def test_picks_are_proposed_looked_at_changed_and_accepted(chat: Conversation) -> None:
    question, answer = (message.id for message in chat.checkout("debug").path()[-2:])
    test = press(
        merge(chat, source="debug", strategy="cherry-pick", picks=question[3:11]), "merge.propose_it"
    )
    assert chat.requests.get(1).picks == (question,)
    assert "as chosen messages: 1 message" in words(test)
    test = settled(by_key(test, f"merge.pick.{answer}").check().run())
    assert param(test, "request") == "1", "ticking another message goes on with the request"
    test = press(test, "merge.change.go")
    assert chat.requests.get(1).picks == (question, answer)
    assert chat.requests.get(1).state == "open"
    test = merge(chat)
    assert "2 messages chosen" in words(test)
    press(press(test, "merge.look.1"), "merge.land")
    assert chat.requests.get(1).state == "accepted"
    assert [message.text for message in chat.path()[-2:]] == [
        chat.message(question).text,
        chat.message(answer).text,
    ]


def test_several_branches_are_proposed_and_accepted(chat: Conversation) -> None:
    talk(chat.fork("idea", at=chat.path()[1].id), "Another idea?", "Decision: generate stubs as well.")
    test = merge(chat, source="debug")
    by_key(test, "merge.others").set_value(["idea"])
    test = press(settled(test.run()), "merge.propose_it")
    assert chat.requests.get(1).sources == ("debug", "idea")
    talk(chat.checkout("idea"), "More?", "Also docs.")
    test = look(chat)
    assert by_key(test, "merge.others").value == ["idea"]
    assert "“debug”, “idea” into “main”" in words(test) and "“idea” has moved on since" in words(test)
    assert "merge.change.go" in keys(test)
    press(test, "merge.land")
    assert chat.head is not None and len(chat.head.parents) == 3
    assert chat.requests.get(1).state == "accepted"


def test_choosing_other_branches_lets_go_of_the_request(chat: Conversation) -> None:
    talk(chat.fork("idea", at=chat.path()[1].id), "Another idea?", "Decision: generate stubs as well.")
    chat.requests.open(["debug", "idea"])
    for fewer in (True, False):
        test = look(chat)
        if fewer:
            by_key(test, "merge.others").set_value([])
        test = settled(test.run()) if fewer else press(test, "merge.swap")
        assert "request" not in test.query_params
        assert by_key(test, "merge.land").label == "Bring it in"


def test_chat_shows_that_a_request_waits_and_leads_to_it(proposed: Conversation) -> None:
    links = [
        (link.proto.label, link.proto.query_string)
        for link in open_page("chat.py", proposed).get("page_link")
    ]
    assert any(label == "1 request" and "request=1" in query for label, query in links)
    test = merge(proposed, request="1")
    assert (by_key(test, "merge.source").value, by_key(test, "merge.target").value) == ("debug", "main")
    assert "Why enums fail" in words(test)
    proposed.requests.decline(1)
    assert not any(
        link.proto.label == "1 request" for link in open_page("chat.py", proposed).get("page_link")
    )


def test_accepting_lands_the_preview_and_closes_the_request(proposed: Conversation) -> None:
    talk(proposed.checkout("debug"), "And sets?", "The same.")
    test = look(proposed)
    assert "“debug” has moved on since; it is shown as it is now." in words(test)
    assert "2 messages new since you looked" in words(test)
    shown = [one for stretch in merge_editor(test)["stretches"] for one in stretch.get("messages", ())]
    assert [one["fresh"] for one in shown][-2:] == [True, True] and not shown[0]["fresh"]
    assert by_key(test, "merge.land").label == "Accept and bring it in"
    plan = proposed.requests.plan(1)
    assert preview(test) == told(plan)
    test = press(test, "merge.land")
    assert proposed.head is not None and proposed.head.text == plan.payload
    assert proposed.requests.get(1).state == "accepted"
    assert "Brought back from “debug”" in words(test) and "request" not in test.query_params
    press(test, "merge.undo")
    assert proposed.requests.get(1).state == "open"


def test_a_comment_is_said_with_its_author_and_needs_some_words(proposed: Conversation) -> None:
    test = look(proposed)
    by_key(test, "merge.comment").set_value(" ")
    test = press(test, "merge.comment_it")
    assert "A comment needs some words." in words(test) and by_key(test, "merge.comment").value == " "
    by_key(test, "merge.comment").set_value("Looks right to me.")
    test = press(test, "merge.comment_it")
    assert "Looks right to me." in words(test)
    assert proposed.requests.get(1).comments[0].text == "Looks right to me."
    assert by_key(test, "merge.comment").value == ""


def test_a_comment_on_a_line_stands_below_that_line(proposed: Conversation) -> None:
    test = look(proposed)
    line = lines(test)[0]["text"]
    test = settled(edit_merge(test, {"act": "comment", "text": line}))
    assert by_key(test, "merge.comment").label.startswith("On “")
    by_key(test, "merge.comment").set_value("Is that so?")
    test = press(test, "merge.comment_it")
    assert proposed.requests.get(1).comments[0].text == f"> {line}\n\nIs that so?"
    assert [one["marks"] for one in lines(test) if one["marks"]] == [[["comment", "you: Is that so?", ""]]]


def test_a_request_is_changed(proposed: Conversation) -> None:
    test = look(proposed)
    by_key(test, "merge.change.note.1").set_value("Enums, mended")
    by_key(test, "merge.strategy").set_value("three-way")
    test = settled(test.run())
    assert param(test, "request") == "1", "another way to merge it goes on with the request"
    test = press(test, "merge.change.go")
    request = proposed.requests.get(1)
    assert (request.note, request.strategy, request.state) == ("Enums, mended", "three-way", "open")
    assert by_key(test, "merge.strategy").value == "three-way"
    assert "says that already" in words(press(test, "merge.change.go"))


def test_declining_says_why_and_changes_no_branch(proposed: Conversation) -> None:
    heads = {name: branch.head for name, branch in proposed.branches.items()}
    test = look(proposed)
    by_key(test, "merge.decline.why.1").set_value("Not yet.")
    test = press(settled(test.run()), "merge.decline.go")
    assert proposed.requests.get(1).state == "declined"
    assert {name: branch.head for name, branch in proposed.branches.items()} == heads
    assert "declined by" in words(test) and "Not yet." in words(test)
    assert "merge.propose_it" in keys(test)


def test_a_request_of_a_deleted_branch_can_only_be_declined(proposed: Conversation) -> None:
    proposed.fork("other")
    proposed.branches.delete("debug")
    test = merge(proposed)
    assert "“debug” is not there any more." in words(test) and "merge.look.1" not in keys(test)
    press(test, "merge.decline_gone.1")
    assert proposed.requests.get(1).state == "declined"


def test_one_that_was_answered_meanwhile_lands_nothing(proposed: Conversation) -> None:
    test = look(proposed)
    proposed.requests.decline(1)
    head = proposed.branch.head
    test = press(test, "merge.land")
    assert proposed.branch.head == head
    assert "was declined by" in words(test)


def test_hostile_words_stay_words(chat: Conversation) -> None:
    chat.requests.open("debug", note=":red[x] <script>alert(1)</script>")
    (note,) = texts(look(chat))
    assert note[2:] == [["p", 0, ":red[x] <script>alert(1)</script>"]]
