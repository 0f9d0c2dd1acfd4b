"""On a team's server every file that somebody takes of a conversation is an entry of the audit log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import StoreError
from forky_core.people.audit import AuditFilter
from forky_core.people.members import Member
from pages.ui.components.downloads import offers
from tests.builders import debugged
from tests.hangs import HANG
from tests.pages.apptest import by_key, settled
from tests.pages.teams import TeamServer
from tests.people.people import in_sqlite


@pytest.fixture
def chat(server: TeamServer, bob: Member) -> Conversation:
    """Bob's, and he looks at it."""
    begun = debugged(server.seen_by(bob))
    server.sign_in(bob)
    return begun


def dialog(file: str, chat: Conversation, **state: object) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name(file)), default_timeout=HANG)
    for key, value in {"id": chat.id, **state}.items():
        test.session_state[key] = value
    return settled(test.run())


def take(server: TeamServer, bob: Member, test: AppTest, key: str) -> bytes:
    """The file that a button leads to."""
    found = offers.find(by_key(test, key).proto.url.rpartition("/")[2], bob.id)
    assert found is not None
    return b"".join(found.pieces())


def entries(server: TeamServer) -> list[tuple[str, dict[str, str]]]:
    """Who exported, and what the entry says of it."""
    page = server.team.audit.page(1, 50, AuditFilter(events=("conversation exported",)))
    return [(one.person, json.loads(one.about)) for one in reversed(page)]


def test_each_download_of_a_conversation_is_an_entry_and_looking_at_the_dialog_is_none(
    server: TeamServer, bob: Member, chat: Conversation
) -> None:
    test = dialog("share_dialog.py", chat)
    by_key(test, "share.format").select("markdown").run()
    assert entries(server) == []
    assert chat.path()[0].text.encode() in take(server, bob, settled(test), "share.download")
    by_key(test, "share.format").select("html").run()
    by_key(settled(test), "share.scope").set_value("branch").run()
    take(server, bob, settled(test), "share.download")
    assert entries(server) == [
        (bob.id, {"conversation": chat.id, "form": "markdown"}),
        (bob.id, {"conversation": chat.id, "form": "html", "thing": "branch"}),
    ]
    assert chat.title not in str(server.team.audit.entries())
    assert server.team.audit.first_broken() is None


def test_what_is_given_away_as_a_file_is_an_entry(
    server: TeamServer, bob: Member, chat: Conversation
) -> None:
    test = dialog("give_dialog.py", chat, thing="comparison", which=("main", "debug"))
    take(server, bob, test, "give.download")
    assert entries(server) == [(bob.id, {"conversation": chat.id, "form": "html", "thing": "comparison"})]


def test_nothing_leaves_where_the_entry_cannot_be_written(
    server: TeamServer, bob: Member, chat: Conversation
) -> None:
    test = dialog("share_dialog.py", chat)
    in_sqlite(server.team).execute("PRAGMA query_only = 1")
    with pytest.raises(StoreError):
        take(server, bob, test, "share.download")
    in_sqlite(server.team).execute("PRAGMA query_only = 0")
    take(server, bob, test, "share.download")
