"""Reviews of merge requests on the pages: a team's, those of agents and models, and what is new to whoever looks."""

from __future__ import annotations

from concurrent.futures import wait
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.note_writing import VERIFIER
from forky_core.conversation.merging.review_log import ReviewFinding
from forky_core.forky import Forky
from forky_core.llm.scripted import ScriptedModel
from forky_core.people.former_features import NO_LONGER_PROTECTED
from forky_core.people.members import Member
from forky_core.people.roles import Role
from tests.builders import talk
from tests.hangs import HANG
from tests.pages.apptest import (
    bell,
    by_key,
    html,
    keys,
    merge_editor,
    open_app,
    open_page,
    settled,
    sidebar,
    words,
)
from tests.pages.teams import TeamServer


def test_a_commenters_request_is_approved_and_landed_by_others(
    server: TeamServer, ada: Member, ben: Member
) -> None:
    chat = talk(server.seen_by(ada).create("Boats"), "Why do boats float?", "They are lighter than water.")
    cleo = server.add("Cleo", Role.COMMENTER)
    for member, role in ((ben, Role.EDITOR), (cleo, Role.COMMENTER)):
        server.team.sharing.share(chat.id, member.id, role, by=ada.id)
    hers = server.seen_by(cleo).conversation(chat.id, "main")
    hers.requests.open(talk(hers.fork("cleo/stones"), "And stones?", "They sink."))

    server.sign_in(cleo)
    own = open_page("merge.py", chat, request="1")
    assert not {"merge.approve", "merge.land"} & set(keys(own))
    assert "An editor of this conversation brings it in." in words(own)

    server.sign_in(ada)
    library = open_app()
    library.switch_page("library.py")
    assert "Waits for an answer." in words(settled(library.run()))
    test = settled(by_key(open_page("merge.py", chat, request="1"), "merge.approve").click().run())
    assert "**Ada** approved" in words(test) and "merge.approve" not in keys(test)

    server.sign_in(ben)
    settled(by_key(open_page("merge.py", chat, request="1"), "merge.land").click().run())
    assert chat.requests.get(1).state == "accepted"


def test_history_says_where_branches_were_protected_before(server: TeamServer, ada: Member) -> None:
    boats = talk(server.seen_by(ada).create("Boats"), "Why?", "Because.")
    stones = talk(server.seen_by(ada).create("Stones"), "Why?", "Because.")
    with server.team.database.writing() as connection:
        connection.execute(
            "INSERT INTO protected_branches VALUES (?, ?, 'main', 1, '[]', 0)",
            (server.team.workspace, boats.id),
        )
    server.sign_in(ada)
    assert NO_LONGER_PROTECTED in words(open_page("history.py", boats))
    assert NO_LONGER_PROTECTED not in words(open_page("history.py", stones))


# What agents and models find, and what is new.


@pytest.fixture
def asked(chat: Conversation) -> Conversation:
    """A request of an agent, in words of its own."""
    claude = Conversation(replace(chat._session, actor="Claude"), "main")
    note = "Enums fail on Tuesdays.\nMembers are collected lazily."
    claude.requests.open_plan(claude.plan_merge("debug").edited(note), note="Have a look.")
    return chat


def marks(test: AppTest) -> dict[str, list[list[str]]]:
    """What stands at each line of the note that is drawn."""
    lines = [line for section in merge_editor(test)["sections"] for line in section["lines"]]
    return {line["text"]: line["marks"] for line in lines}


def test_findings_of_an_agent_stand_at_their_lines_and_others_below(asked: Conversation) -> None:
    codex = Conversation(replace(asked._session, actor="Codex"), "main")
    because = next(one.id for one in asked.checkout("debug").path() if "parser.py" in one.text)
    codex.requests.ask_for_changes(
        1,
        "Mind this.",
        (
            ReviewFinding(
                "contradicts", "before the class body", because, "Enums fail on Tuesdays.", "Land this now."
            ),
            ReviewFinding("missing", "parser.py line 42", because),
            ReviewFinding("unsupported", "An older line.", None, "An older line."),
        ),
    )
    test = open_page("merge.py", asked, request="1")
    [[sign, said, href]] = marks(test)["Enums fail on Tuesdays."]
    assert (sign, said) == ("call_split", "Codex: contradicted by “before the class body”: Land this now.")
    assert because[3:11] in href
    assert marks(test)["Members are collected lazily."] == []
    below = next(body for body in html(test) if "fk-finding" in body)
    assert (
        "Left out: “parser.py line 42”" in below and "“An older line.”: the branch does not say this" in below
    )
    assert "Tuesdays" not in below and "Mind this." in words(test) and "1 finding at its line." in words(test)
    assert asked.requests.get(1).state == "open"
    by_key(test, "merge.edit").set_value(True)
    below = next(body for body in html(settled(test.run())) if "fk-finding" in body)
    assert "“Enums fail on Tuesdays.”: contradicted by" in below


def test_a_press_has_a_model_review_and_its_findings_stand_there_too(
    asked: Conversation, forky: Forky, request: pytest.FixtureRequest
) -> None:
    test = open_page("merge.py", asked, request="1")
    assert "merge.review_by" not in keys(test)
    assert "A model that is set up in Settings can review it." in words(test)
    reader: ScriptedModel = request.getfixturevalue("writer")
    forky.store.set_setting(VERIFIER, "scripted/writer")
    test = open_page("merge.py", asked, request="1")
    assert by_key(test, "merge.review_by").label.startswith("Have The writer review it · up to ")
    assert not reader.requests
    for answer, said in (
        ("Fine!", "says nothing about the note"),
        ("1: not shown", "**The writer** read it for you"),
    ):
        reader.enqueue(answer)
        test = by_key(test, "merge.review_by").click().run()
        if (running := test.session_state["session"].planning.examination) is not None:
            wait([running.future], timeout=HANG)
        test = settled(test.run())
        assert said in words(test)
    assert marks(test)["Enums fail on Tuesdays."] == [
        ["help", "The writer: the branch does not say this", ""]
    ]
    talk(asked.checkout("debug"), "More?", "More.")
    assert "“debug” has moved since" in words(open_page("merge.py", asked, request="1"))


def fresh(test: AppTest) -> tuple[list[str], list[str]]:
    """The lines of the note, and the messages of the branch, that are marked as new."""
    drawn = merge_editor(test)
    lines = [line["text"] for section in drawn["sections"] for line in section["lines"] if line["fresh"]]
    messages = [one for stretch in drawn["stretches"] for one in stretch.get("messages", ())]
    return lines, [str(one["rows"][0][0][1]) for one in messages if one["fresh"]]


def test_what_is_new_counts_from_the_last_look(asked: Conversation) -> None:
    talk(asked.checkout("debug"), "And flags?", "They work.")
    test = open_page("merge.py", asked, request="1")
    assert fresh(test)[1] == ["And flags?", "They work."], "at the first look, what came after the request"
    assert fresh(settled(test.run())) == fresh(test), "a look lasts as long as the page is shown"
    assert fresh(open_page("merge.py", asked, request="1")) == ([], [])
    talk(asked.checkout("debug"), "And sets?", "They do, too.")
    claude = Conversation(replace(asked._session, actor="Claude"), "main")
    note = "Members are collected lazily.\nSets work."
    claude.requests.change(1, plan=claude.plan_merge("debug").edited(note))
    assert fresh(open_page("merge.py", asked, request="1")) == (
        ["Sets work."],
        ["And sets?", "They do, too."],
    )
    assert fresh(open_page("merge.py", asked, request="1")) == ([], [])


def test_somebody_alone_sees_who_asks_them(asked: Conversation, forky: Forky) -> None:
    test = open_page("chat.py", asked)
    assert bell(test)["unread"] == 1
    [row] = [row for day in sidebar(test)[4] for row in day[1] if row[0] == asked.id]
    assert row[4] == "new" and row[6] == "Claude"
    test.switch_page("inbox.py")
    test = settled(test.run())
    assert "Needs my review (1)" in [one.label for one in test.expander] and "Claude" in words(test)
    asked.requests.decline(1)
    assert bell(open_page("chat.py", asked))["unread"] == 0
    test.switch_page("inbox.py")
    assert "Nothing yet." in words(settled(test.run()))
