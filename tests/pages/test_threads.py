"""Threads, the bar of what is new, what happened so far, the Inbox and drafts, on the pages of a team's server."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.people import team_file
from forky_core.people.conversation_threads import ConversationThreads
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.threads import Thread
from pages.ui import sign_in, workspace
from pages.ui.chat.news import names_of
from pages.ui.chat.threads import comment_words
from pages.ui.components.downloads import offers
from pages.ui.drafts import TypedDraft, drafts
from pages.ui.registry import pages
from tests.builders import talk
from tests.hangs import HANG
from tests.pages import apptest
from tests.pages.apptest import act, bell, by_key, cells, html, keys, latest, press, said, settled
from tests.pages.teams import TeamServer, team_server
from tests.pages.workspaces import empty_workspace, open_page

HOSTILE = "@ben <img src=x onerror=alert(1)> **bold** [x](javascript:alert(1))"


@pytest.fixture
def chat(server: TeamServer, ada: Member, ben: Member) -> Conversation:
    """Ada's, which Ben may comment on."""
    begun = talk(server.seen_by(ada).create("Boats"), "Why do boats float?", "They are lighter than water.")
    server.team.sharing.share(begun.id, ben.id, Role.COMMENTER, by=ada.id)
    return begun


def threads(server: TeamServer, member: Member, chat: Conversation) -> ConversationThreads:
    store = server.seen_by(member).store
    assert isinstance(store, GuardedStore)
    return ConversationThreads(store, chat.id)


def shown(chat: Conversation, **params: str) -> AppTest:
    return apptest.open_page("chat.py", chat, **params)


def answer(chat: Conversation) -> str:
    return str(chat.path()[-1].id)


def everything(test: AppTest) -> str:
    return "\n".join([said(test), *html(test)])


def counted(test: AppTest) -> list[str]:
    """The labels of the buttons that open threads."""
    return [label for tree in cells(test) for label in _labels(tree)]


def _labels(tree: object) -> list[str]:
    if not isinstance(tree, list):
        return []
    attributes = tree[1] if len(tree) > 1 and isinstance(tree[1], dict) else {}
    own = [attributes["aria-label"]] if attributes.get("data-act") == "threads" else []
    return own + [label for child in tree for label in _labels(child)]


def begun(server: TeamServer, member: Member, chat: Conversation, text: str = "Is that so?") -> Thread:
    return threads(server, member, chat).begin(answer(chat), text)


# Threads.


def test_the_server_of_one_person_has_no_threads_and_hides_the_bell_while_nothing_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with empty_workspace(monkeypatch) as forky:
        test = shown(talk(forky.create("Alone"), "hello", "hi"))
        assert counted(test) == [] and "chat.threads" not in keys(test)
        assert bell(test)["hides"] and not bell(test)["unread"]
        assert "people" not in {page.name for page in pages()}
        (act(test, "threads", answer(forky.conversation(forky.conversations()[0].id))))
        assert "chat.form_cancel" not in keys(test)


def test_a_thread_is_begun_replied_to_resolved_and_counted(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    server.sign_in(ben)
    test = shown(chat)
    assert counted(test) == ["Discuss this …"] * 2
    (act(test, "threads", answer(chat)))
    by_key(test, f"chat.say.new{answer(chat)}").set_value("Is that so, @ada?")
    press(test, "chat.say_go.new")
    (thread,) = threads(server, ada, chat).on(chat.path()[-1].id)
    assert thread.comments[0].person == ben.id and thread.quote == ""
    assert counted(test) == ["Discuss this …", "1 open thread"]
    assert '<span class="fk-mention" title="Ada">@ada</span>' in everything(test)
    assert by_key(test, f"chat.say.new{answer(chat)}").value == ""
    by_key(test, f"chat.say.{thread.id}").set_value("Yes.")
    press(test, f"chat.say_go.{thread.id}")
    press(test, f"thread.resolve.{thread.id}")
    assert counted(test)[-1] == "1 resolved thread"
    press(test, f"thread.reopen.{thread.id}")
    press(test, "chat.form_cancel")
    assert "chat.say_go.new" not in keys(test) and counted(test)[-1] == "1 open thread"


def test_a_line_of_the_message_can_be_chosen_and_selected_words_are(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    server.sign_in(ben)
    test = shown(chat)
    acts = apptest._component(test, "chat.acts", "forky.acts")
    apptest._tell(
        test, acts, "act", {"name": "threads", "id": answer(chat), "quote": "lighter  than", "n": 1}
    )
    settled(test)
    by_key(test, f"chat.say.new{answer(chat)}").set_value("How much?")
    press(test, "chat.say_go.new")
    (thread,) = threads(server, ada, chat).all()
    assert thread.quote == "lighter than"
    assert '<div class="fk-quoted">lighter than</div>' in everything(test)


def test_ones_own_comment_is_edited_deleted_and_taken_back(
    server: TeamServer, ben: Member, chat: Conversation
) -> None:
    thread = begun(server, ben, chat, "A slip")
    (comment,) = thread.comments
    server.sign_in(ben)
    test = act(shown(chat), "threads", answer(chat))
    press(test, f"thread.edit.{comment.id}")
    by_key(test, f"chat.say.{comment.id}").set_value("No slip")
    press(test, f"chat.say_go.{comment.id}")
    assert "No slip" in everything(test) and "<small>edited</small>" in everything(test)
    press(test, f"thread.delete.{comment.id}")
    assert "You deleted this comment." in everything(test) and "No slip" not in everything(test)
    press(test, f"thread.undelete.{comment.id}")
    assert "No slip" in everything(test)


def test_a_viewer_reads_and_has_nothing_to_write_with(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    thread = begun(server, ada, chat)
    server.team.sharing.share(chat.id, ben.id, Role.VIEWER, by=ada.id)
    server.sign_in(ben)
    test = act(shown(chat), "threads", answer(chat))
    assert "Is that so?" in everything(test)
    assert not [key for key in keys(test) if key.startswith(("chat.say", "thread."))]
    assert f"thread.resolve.{thread.id}" not in keys(test)


def test_what_somebody_wrote_is_text_and_never_obeyed(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    begun(server, ada, chat, HOSTILE)
    server.sign_in(ben)
    test = act(shown(chat), "threads", answer(chat))
    drawn = everything(test)
    assert "<img src=x" not in drawn and "&lt;img src=x onerror=alert(1)&gt; **bold**" in drawn
    assert server.team.inbox.unread(ben.id) == 1
    (notice, *_) = server.team.inbox.of(ben.id)
    server.team.inbox.mark(ben.id, notice.number, read=False)
    test = settled(open_page("inbox.py"))
    assert "<img src=x" not in everything(test) and "&lt;img src=x" in everything(test)


def test_a_mention_of_an_outsider_is_mere_text_and_lists_nobody(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    eve = server.add("Eve <b>X</b>", Role.EDITOR)
    begun(server, ada, chat, f"@{eve.handle} and @ben")
    server.sign_in(ben)
    test = act(shown(chat), "threads", answer(chat))
    drawn = everything(test)
    assert f"@{eve.handle}" in drawn and "Eve" not in drawn and 'title="Ben">@ben</span>' in drawn
    mentions = apptest._component(test, "chat.mentions", "forky.mentions")
    assert eve.handle not in mentions.proto.json and '"ben"' in mentions.proto.json
    server.sign_in(eve)
    assert server.team.inbox.of(eve.id) == []
    assert "Nothing yet." in said(settled(open_page("inbox.py")))


def test_names_are_escaped_in_mentions() -> None:
    evil = Member("person:1", "eve", '"><script>', "", Role.EDITOR, 0)
    drawn = comment_words("@eve", {"eve": evil})
    assert "<script>" not in drawn and "&quot;&gt;&lt;script&gt;" in drawn


def test_the_list_of_threads_leads_to_each(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    thread = begun(server, ada, chat)
    server.sign_in(ben)
    test = press(shown(chat), "chat.threads")
    press(test, f"threads.go.{thread.id}")
    assert f"chat.say_go.{thread.id}" in keys(test)


def test_history_lists_what_was_done_in_threads_and_not_what_was_said(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    begun(server, ada, chat, "xylophone")
    server.sign_in(ben)
    drawn = everything(apptest.open_page("history.py", chat))
    assert "began a thread on" in drawn and "xylophone" not in drawn


def test_an_export_has_threads_only_where_that_is_ticked(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    begun(server, ada, chat, "xylophone")
    server.sign_in(ben)
    test = AppTest.from_file(str(Path(__file__).with_name("share_dialog.py")), default_timeout=HANG)
    test.session_state["id"] = chat.id
    settled(test.run())
    assert kept_threads() == []
    by_key(test, "share.threads").set_value(True)
    settled(test.run())
    (text,) = kept_threads()
    assert "> xylophone" in text and "**Ada**" in text


def kept_threads() -> list[str]:
    """What is in the files of threads that are offered for download."""
    found = [one for one in offers._offered.values() if one.name.endswith("-threads.md")]
    return [b"".join(one.pieces()).decode() for one in found]


# What is new, and what happened so far.


def test_whoever_comes_back_is_told_what_is_new_and_led_to_it(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    server.sign_in(ada)
    assert "chat.news" not in keys(shown(chat))
    # Ben writes on a branch of his own, and in a thread.
    by_ben = server.seen_by(ben).conversation(chat.id).fork("ben/idea")
    asked = by_ben.say("And stones?")
    begun(server, ben, chat)
    assert "3 new" in everything(settled(open_page("library.py")))
    test = shown(chat)
    assert "**3 new** since" in said(test) and "by Ben" in said(test)
    press(test, "chat.news")
    assert test.query_params["b"] in ("ben/idea", ["ben/idea"]) and asked.text in "".join(html(test))
    press(test, "chat.news")
    assert "Is that so?" in everything(test)
    assert "That was all" in said(test)
    press(test, "chat.news_close")
    assert " new** since" not in said(test)
    assert "chat.news" not in keys(shown(chat))
    assert " new</span>" not in everything(settled(open_page("library.py")))


def test_whoever_was_added_reads_what_happened_so_far_once(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    server.sign_in(ben)
    assert '<span class="fk-new">New</span>' in everything(settled(open_page("library.py")))
    test = shown(chat)
    drawn = everything(test)
    assert "What happened so far" in drawn and "It belongs to Ada; you are a commenter of it." in drawn
    assert "They are lighter than water." in drawn and 'data-act="visit"' in drawn
    press(test, "chat.so_far_close")
    assert "What happened so far" not in said(test)
    assert "What happened so far" not in said(shown(chat))
    assert "What happened so far" in said(shown(chat, so_far="1"))


def test_what_happened_so_far_names_who_said_it_and_says_you_to_nobody_else(
    server: TeamServer, ada: Member, ben: Member
) -> None:
    words = "The secret word is xylophone."
    begun = talk(server.seen_by(ada).create("Words"), words, "Noted.")
    server.team.sharing.share(begun.id, ben.id, Role.COMMENTER, by=ada.id)
    for member, name in ((ben, "Ada"), (ada, "You")):
        server.sign_in(member)
        drawn = everything(shown(begun, so_far="1"))
        assert f'<span class="fk-said-by">{name}</span>The secret word' in drawn
        assert f"{name}: {words}" in drawn, "the message that it cites is named alike"


@pytest.mark.parametrize(
    ("names", "joined"),
    [
        ("Ada", "Ada"),
        ("Ada Ben", "Ada and Ben"),
        ("Ada Ben Eve", "Ada, Ben and Eve"),
        ("A B C D", "A, B and 2 others"),
    ],
)
def test_names_are_joined_for_a_sentence(names: str, joined: str) -> None:
    assert names_of(names.split()) == joined


# The Inbox.


def test_a_notice_leads_to_its_thread_and_is_read_then(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    thread = begun(server, ada, chat, "@ben, look")
    server.sign_in(ben)
    test = settled(open_page("inbox.py"))
    first, second = server.team.inbox.of(ben.id)
    assert first.address == f"/?c={chat.id}&m={answer(chat).removeprefix('b2:')}&thread={thread.id}"
    assert f"inbox.open.{first.number}" in keys(test) and "2 notices not read" in said(test)
    press(test, f"inbox.open.{first.number}")
    assert f"chat.say_go.{thread.id}" in keys(test) and "thread" not in test.query_params
    assert server.team.inbox.unread(ben.id) == 1
    test = settled(open_page("inbox.py"))
    press(test, f"inbox.mark.{second.number}")
    assert "You have read everything." in said(test)
    by_key(test, "inbox.shown").set_value("all")
    settled(test.run())
    assert f"inbox.open.{first.number}" in keys(test)
    press(test, f"inbox.mark.{first.number}")
    press(test, "inbox.mark_all")
    assert server.team.inbox.unread(ben.id) == 0


def test_notices_of_what_one_may_no_longer_see_are_gone_and_their_address_opens_nothing(
    server: TeamServer, ada: Member, ben: Member, chat: Conversation
) -> None:
    thread = begun(server, ada, chat, "@ben, xylophone")
    server.team.sharing.share(chat.id, ben.id, Role.NONE, by=ada.id)
    server.sign_in(ben)
    assert "xylophone" not in everything(settled(open_page("inbox.py")))
    own = talk(server.seen_by(ben).create("Mine"), "hello", "hi")
    test = shown(own, thread=thread.id)
    assert "no such thread" in said(test) and "xylophone" not in everything(test)
    params = {"c": str(chat.id), "thread": thread.id}
    drawn = everything(open_page("chat.py", **params))
    assert "xylophone" not in drawn and "lighter than water" not in drawn


# Drafts.


def test_drafts_are_ones_own_and_survive_another_browser_and_a_restart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    database = tmp_path / "forky.duckdb"
    with team_server(monkeypatch, database=database) as server:
        ada, ben = server.add("Ada", Role.OWNER), server.add("Ben", Role.EDITOR)
        chat = talk(server.seen_by(ada).create("Boats"), "hello", "hi")
        server.team.sharing.share(chat.id, ben.id, Role.EDITOR, by=ada.id)
        server.sign_in(ada)
        test = shown(chat)
        typing = apptest._component(test, "chat.typing", "forky.drafting")
        apptest._tell(test, typing, "draft", {"place": f"{chat.id}/main", "text": "Shall we float \ud800?"})
        settled(test)
        assert by_key(shown(chat), "chat.draft").value == "Shall we float \ufffd?"
        server.sign_in(ben)
        assert by_key(shown(chat), "chat.draft").value == ""
        # Another process, as after a restart or on another node.
        other = Team(team_file(database))
        for module in (sign_in, workspace):
            monkeypatch.setattr(module, "TEAM", other)
        workspace._views.clear()
        server.sign_in(ada)
        test = shown(chat)
        assert by_key(test, "chat.draft").value == "Shall we float \ufffd?"
        settled(latest(test, "chat.send").click().run())
        assert by_key(shown(chat), "chat.draft").value == ""
        other.close()


def test_a_draft_keeps_its_files_and_what_is_searched_for(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    server.sign_in(ada)
    file = server.seen_by(ada).attach(b"a boat", name="boat.txt")

    def keep() -> TypedDraft:
        kept = drafts()
        kept.write("there", "text")
        kept.attach("there", (file,))
        kept.word("there", "boats  and ships")
        return drafts().at("there")

    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr("pages.ui.drafts.team", lambda: server.team)
        patch.setattr("pages.ui.drafts.reader_id", lambda: ada.id)
        assert keep() == TypedDraft("text", (file,), "boats and ships")
        drafts().move("there", "elsewhere")
        assert drafts().at("there").empty and drafts().at("elsewhere").text == "text"
        drafts().clear("elsewhere")
    assert server.team.database.rows("SELECT * FROM drafts") == []
