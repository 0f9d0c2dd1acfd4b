"""Whoever can only read is offered nothing that would be refused, and reads why."""

from __future__ import annotations

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.experiments.experiments import Experiments
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.render.trees import html_of
from pages.ui.experiments.starting import example
from tests.builders import talk
from tests.pages.apptest import by_key, cells, compared, keys, open_app, open_page, settled, words
from tests.pages.teams import TeamServer

WHY = "You can read this conversation. To write in it, ask Ada, whom it belongs to."
WRITES = {
    "chat.py": {"chat.draft", "chat.send.1"},
    "merge.py": {"merge.land", "merge.propose_it"},
    "compare.py": {"compare.ask", "can.vote"},
    "library.py": {"library.new"},
    "documents.py": {"documents.files.0"},
    "context.py": {"context.save"},
    "settings.py": {"settings.token.name"},
    "experiments.py": {"experiments.run", "experiments.rows", "experiments.column", "experiments.checks"},
}
"""Keys of what writes on each page."""


@pytest.fixture
def chat(server: TeamServer, ada: Member) -> Conversation:
    """Ada's, of two branches and an experiment."""
    begun = talk(server.seen_by(ada).create("Boats"), "Why do boats float?", "They are lighter than water.")
    talk(begun.fork("harbour"), "Which harbour is the port?", "The port is Bergen.")
    talk(begun, "How deep is a keel?", "A metre.")
    Experiments(begun).create(example())
    return begun


def reader(server: TeamServer, ada: Member, chat: Conversation, role: Role) -> Member:
    member = server.add("Cleo", role)
    server.team.sharing.share(chat.id, member.id, role, by=ada.id)
    return member


def drawn(page: str, chat: Conversation) -> set[str]:
    if page in {"library.py", "documents.py", "settings.py"}:  # They are of no conversation.
        test = open_app()
        test.switch_page(page)
        return set(keys(settled(test.run())))
    params = {"with": "main,harbour"} if page == "compare.py" else {}
    params |= {"source": "harbour"} if page == "merge.py" else {}
    test = open_page(page, chat, **params)
    return {*keys(test), *(["can.vote"] if page == "compare.py" and compared(test)["can"]["vote"] else [])}


@pytest.mark.parametrize("page", WRITES)
def test_a_viewer_is_offered_nothing_that_writes_and_an_owner_is(
    server: TeamServer, ada: Member, chat: Conversation, page: str
) -> None:
    viewer = reader(server, ada, chat, Role.VIEWER)
    server.sign_in(viewer)
    assert not drawn(page, chat) & WRITES[page]
    server.sign_in(ada)
    assert drawn(page, chat) >= WRITES[page]


@pytest.mark.parametrize("page", ["chat.py", "merge.py", "compare.py", "context.py", "experiments.py"])
def test_in_the_trash_an_owner_is_offered_to_take_it_back_and_nothing_that_writes(
    server: TeamServer, ada: Member, chat: Conversation, page: str
) -> None:
    server.sign_in(ada)
    chat.trash()
    found = drawn(page, chat)
    assert not found & WRITES[page] and "trashed.back" in found
    chat.take_back()
    found = drawn(page, chat)
    assert found >= WRITES[page] and "trashed.back" not in found


def test_a_commenter_is_not_offered_to_undo_what_an_owner_trashed(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    chat.trash()
    commenter = reader(server, ada, chat, Role.COMMENTER)
    server.sign_in(commenter)
    test = open_page("chat.py", chat)
    assert by_key(test, "bar.undo").disabled and "trashed.back" not in keys(test)
    server.sign_in(ada)
    assert not by_key(open_page("chat.py", chat), "bar.undo").disabled


def test_a_viewer_reads_why_in_the_place_of_what_writes(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    server.sign_in(reader(server, ada, chat, Role.VIEWER))
    for page, params in (
        ("chat.py", {}),
        ("compare.py", {"with": "main,harbour"}),
        ("merge.py", {"source": "harbour"}),
    ):
        assert WHY in words(open_page(page, chat, **params))


def test_a_viewer_s_cells_and_columns_have_no_acts_that_write(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    server.sign_in(reader(server, ada, chat, Role.VIEWER))
    acts = set(
        re.findall(r"data-act='?\"?([a-z]+)", "".join(map(html_of, cells(open_page("chat.py", chat)))))
    )
    assert acts == {"copy", "more", "sibling"}
    board = compared(open_page("compare.py", chat, **{"with": "main,harbour"}))
    assert board["reads"] and not any(column["promote"] or column["merge"] for column in board["columns"])


def test_a_commenter_proposes_what_an_editor_lands(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    server.sign_in(reader(server, ada, chat, Role.COMMENTER))
    test = open_page("merge.py", chat, source="harbour")
    assert "merge.propose_it" in keys(test) and "merge.land" not in keys(test)
    assert "Ask somebody to look first, and an editor of this conversation brings it in." in words(test)


def test_a_commenter_s_menu_on_a_branch_of_somebody_else_offers_to_fork_and_nothing_that_is_refused(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    commenter = reader(server, ada, chat, Role.COMMENTER)
    server.sign_in(commenter)
    offered = menu(open_page("chat.py", chat))
    assert offered == {
        "fork",
        "compare",
        "present",
        "mark_a",
        "mark_b",
        "link",
        "erase",
        "ways-compare",
        "ways-take",
    }
    own = server.seen_by(commenter).conversation(chat.id).fork("cleo/keel")
    assert menu(open_page("chat.py", own)) > offered


def menu(test: AppTest) -> set[str]:
    """The acts of a message's menu."""
    (heard,) = [one for one in test.get("bidi_component") if one.proto.component_name == "forky.acts"]
    return {entry[0] for entry in json.loads(heard.proto.json)["menu"]}
