"""Import and export in the Library as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.transaction import Transaction
from forky_core.forky import Forky
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.formats.importing import batches
from forky_core.formats.importing.import_record import imports, source_of
from forky_core.formats.importing.landing import ImportProgress, import_file
from forky_core.gateway.downloading import PREFIX, Download
from forky_core.people.members import Member
from pages.ui.components.downloads import offers
from tests.builders import origin_of, talk
from tests.formats.test_following import line, write
from tests.formats.test_landing import chat
from tests.hangs import HANG, eventually
from tests.pages.apptest import by_key, html, keys, latest, press, settled, words
from tests.pages.teams import TeamServer
from tests.pages.workspaces import open_page


def import_tab() -> AppTest:
    test = open_page("library.py")
    by_key(test, "library.tab").select("import").run()
    return test


def read(test: AppTest) -> AppTest:
    """The page when what was dropped or pasted has been looked through."""
    test.session_state["session"].incoming.wait()
    return settled(test.run())


def importing(content: bytes, name: str = "conversations.json") -> AppTest:
    test = import_tab()
    return read(by_key(test, "import.file.0").upload(name, content, "application/json").run())


def pasting(text: str) -> AppTest:
    test = import_tab()
    latest(test, "import.paste").set_value(text)
    return read(by_key(test, "import.pasted").click().run())


def land(test: AppTest) -> AppTest:
    file = test.session_state["session"].incoming
    by_key(test, "import.land").click().run()
    file.wait()
    return settled(test.run())


def export(*titles: str) -> bytes:
    return json.dumps([chat(title, title, "x") for title in titles]).encode()


def test_a_file_is_looked_at_ticked_landed_and_taken_back(forky: Forky) -> None:
    test = importing(export("One", "Two", "Three"))
    assert "3 conversations in it" in words(test)
    assert forky.conversations() == ()
    by_key(test, "import.none").click().run()
    assert by_key(test, "import.land").disabled
    by_key(test, "import.tick.0.2").check().run()
    land(test)
    assert [one.title for one in forky.conversations()] == ["Two"]
    assert "1 conversation imported" in words(test)
    press(test, "import.undo.0")
    assert forky.conversations() == ()
    assert imports(forky.store) == ()


def test_what_is_not_understood_is_said_counted_and_shown_as_a_closed_box(forky: Forky) -> None:
    said = [
        {"role": "user", "content": "Which?"},
        {"role": "assistant", "content": "", "widget": {"rows": ["8443"]}},
    ]
    test = importing(json.dumps([{"title": "Ports", "messages": said}]).encode())
    assert "1 part not understood" in words(test)
    land(test)
    (warning,) = test.warning
    assert warning.value.replace("\\", "") == "1 part was kept without being understood."
    assert "field “widget” of a message from another program" in words(test)
    (summary,) = forky.conversations()
    chat_page = settled(open_page("chat.py", conversation=summary.id))
    (box,) = [piece for piece in html(chat_page) if "Not understood by Forky" in piece]
    assert "8443" in box and "<details" in box and " open" not in box.partition(">")[0]


def test_files_dropped_together_have_an_account_each(forky: Forky) -> None:
    test = import_tab()
    zone = by_key(test, "import.file.0")
    zone.upload("one.json", export("One", "Two"), "application/json")
    zone.upload("empty.json", b"", "application/json")
    read(zone.upload("three.json", export("Three"), "application/json").run())
    for part in ("3 files", "3 conversations in them", "is empty"):
        assert part in words(test)
    by_key(test, "import.tick.0.1").uncheck().run()
    land(test)
    assert words(test).count("1 conversation imported") == 2
    assert len(imports(forky.store)) == 2
    by_key(test, "import.undo.0").click().run()
    assert [one.title for one in settled(test) and forky.conversations()] == ["Three"]
    assert words(test).count("1 conversation imported") == 1, "the account of the other stays"
    by_key(test, "import.undo.2").click().run()
    assert forky.conversations() == ()
    assert "import.file.1" in keys(settled(test))


def test_what_was_imported_before_is_said_listed_and_can_be_undone(forky: Forky) -> None:
    press(land(importing(export("One"))), "import.next")
    assert len(forky.conversations()) == 1
    test = importing(export("One"))
    assert "imported before" in words(test)
    press(test, "import.close")
    assert "Past imports" in words(test)
    press(test, "import.past.1")
    assert forky.conversations() == ()
    assert "Past imports" not in words(test)


@pytest.fixture
def broken(forky: Forky, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of an import that was broken off after two of its four conversations."""
    monkeypatch.setattr(batches, "MOST_MESSAGES", 2)
    path = tmp_path / "big.json"
    path.write_bytes(export("One", "Two", "Three", "Four"))

    def end(now: ImportProgress) -> None:
        if now.done == 2:
            raise KeyboardInterrupt

    source = source_of(path, lies_there=False)
    with pytest.raises(KeyboardInterrupt):
        import_file(forky, path, chosen={1, 2, 3}, on_progress=end, source=source)
    assert len(forky.conversations()) == 2
    return path


def test_an_import_that_was_broken_off_is_finished_with_its_file(forky: Forky, broken: Path) -> None:
    assert "An import was broken off: 2 of 3 conversations came in." in words(settled(open_page("chat.py")))
    test = open_page("library.py")
    assert "2 of 3 conversations came in" in words(test)
    assert "Forky keeps no copy of the file. To finish, choose it again (" in words(test)
    by_key(test, "broken_off.finish.1").click().run()
    (info,) = settled(test).info
    assert "To finish the import, choose “big.json”" in info.value.replace("\\", "")
    read(by_key(test, "import.file.0").upload("big.json", broken.read_bytes(), "application/json").run())
    assert "This goes on with the import of “big.json” that was broken off" in words(test)
    assert "broken_off.finish.1" not in keys(test), "it is on its way"
    assert by_key(test, "import.land").label == "Finish the import"
    assert [by_key(test, f"import.tick.0.{at}").value for at in (1, 2, 3, 4)] == [True, True, True, False]
    land(test)
    assert "1 conversation imported. 2 conversations had been here already" in words(test)
    assert "This finished the import that was broken off, which had brought 2 conversations" in words(test)
    assert "An import was broken off" not in words(test)
    assert sorted(one.title for one in forky.conversations()) == ["One", "Three", "Two"]
    by_key(test, "import.undo.0").click().run()
    assert forky.conversations() == ()
    assert "broken off" not in words(settled(open_page("chat.py")))


def test_an_import_that_was_broken_off_is_taken_away_in_one_click(forky: Forky, broken: Path) -> None:
    test = open_page("library.py")
    by_key(test, "broken_off.take_away.1").click().run()
    assert "Took 2 conversations of that import back; what was new is in the trash" in words(settled(test))
    assert "An import was broken off" not in words(test)
    assert forky.conversations() == () and len(forky.conversations(trashed=True)) == 2
    assert imports(forky.store) == ()


def test_an_import_that_was_broken_off_is_kept_as_it_is(forky: Forky, broken: Path) -> None:
    test = open_page("library.py")
    by_key(test, "broken_off.keep.1").click().run()
    assert "An import was broken off" not in words(settled(test))
    assert len(forky.conversations()) == 2
    by_key(test, "library.tab").select("import").run()
    by_key(test, "import.past.1").click().run()
    assert forky.conversations() == ()


def test_another_file_does_not_finish_an_import(forky: Forky, broken: Path) -> None:
    test = open_page("library.py")
    by_key(test, "broken_off.finish.1").click().run()
    said = words(
        read(by_key(test, "import.file.0").upload("other.json", export("Five"), "application/json").run())
    )
    assert "This is another file than the “big.json” whose import was broken off" in said
    land(test)
    assert [(one.number, one.state) for one in imports(forky.store)] == [(2, "finished"), (1, "broken off")]


def test_a_file_that_still_lies_there_is_finished_without_being_chosen(
    forky: Forky, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST_MESSAGES", 2)
    path = tmp_path / "here.json"
    path.write_bytes(export("One", "Two"))

    def end(_: ImportProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(forky, path, on_progress=end)
    test = open_page("library.py")
    assert "The file is still there" in words(test)
    land(read(by_key(test, "broken_off.finish.1").click().run()))
    assert sorted(one.title for one in forky.conversations()) == ["One", "Two"]
    assert [(one.number, one.state) for one in imports(forky.store)] == [(1, "finished")]


def test_the_line_on_the_first_page_stays_closed(forky: Forky, broken: Path) -> None:
    test = settled(open_page("chat.py"))
    by_key(test, "broken_off.close").click().run()
    assert "broken off" not in words(settled(test))
    assert "broken off" in words(settled(open_page("library.py")))


def test_a_file_that_is_no_conversation_is_a_sentence(forky: Forky) -> None:
    assert "no conversation in it" in words(importing(b"\x00\x01\x02", "film.bin"))
    test = importing(b"")
    assert "is empty" in words(test)
    by_key(test, "import.next").click().run()
    assert "import.file.1" in keys(settled(test))


def test_what_was_pasted_and_is_no_file_is_a_sentence(forky: Forky) -> None:
    assert "Paste what is in a file first" in words(press(import_tab(), "import.pasted"))
    assert "no conversation in it" in words(pasting("just some words"))
    assert forky.conversations() == ()


def test_a_pasted_file_is_forked_and_a_newer_one_pulled(forky: Forky) -> None:
    with Forky.open(":memory:") as elsewhere:
        theirs = talk(elsewhere.create("Pelicans"), "A name?", "Percy.")
        first = "".join(written(chat_of(elsewhere.store, theirs.id)))
        talk(theirs.fork("side", at=theirs.path()[0].id), "A longer one?", "Percival.")
        newer = "".join(written(chat_of(elsewhere.store, theirs.id)))
    test = pasting(first)
    assert not [key for key in keys(test) if key and key.startswith("import.pull")]
    by_key(test, "import.fork").click().run()
    (mine,) = forky.conversations()
    assert mine.id != theirs.id
    chat = talk(forky.conversation(mine.id), "Mine?", "Yes.")
    assert origin_of(chat) == (theirs.id, "Pelicans")
    test = pasting(newer)
    by_key(test, f"import.pull.{mine.id}").click().run()
    assert "Brought 2 messages" in words(settled(test))
    assert [one.id for one in forky.conversations()] == [mine.id]
    here = forky.conversation(mine.id)
    assert [one.text for one in here.checkout("side").path()] == ["A name?", "A longer one?", "Percival."]
    assert [one.text for one in here.checkout("main").path()] == ["A name?", "Percy.", "Mine?", "Yes."]
    test = pasting(newer)
    by_key(test, f"import.pull.{mine.id}").click().run()
    assert "Nothing is new" in words(settled(test))


def test_a_conversation_that_lost_its_branches_keeps_no_page_from_opening(forky: Forky) -> None:
    kept, lost = talk(forky.create("Kept"), "a"), talk(forky.create("Lost"), "b")
    tx = Transaction(forky.store, lost.id, lost.view, "you", alone=True)
    for key in lost.view.entries:
        tx.set(key, None)
    tx.publish("undo", "Undid: Imported “Lost”", reverts=[1])
    assert settled(open_page("chat.py", c=lost.id)).session_state["session"].conversation == kept.id
    test = settled(open_page("library.py"))
    press(test, f"library.delete.{lost.id}")
    assert [one.id for one in forky.conversations()] == [kept.id]


def sharing(id: str) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("share_dialog.py")), default_timeout=HANG)
    test.session_state["id"] = id
    return settled(test.run())


def test_the_library_opens_the_dialog(forky: Forky) -> None:
    one = talk(forky.create("Mail"), "I am ada@example.com")
    test = open_page("library.py")
    by_key(test, f"library.export.{one.id}").click().run()
    assert "share.download" in keys(settled(test))


def test_the_dialog_says_what_is_lost_and_what_looks_private(forky: Forky) -> None:
    one = talk(forky.create("Mail"), "I am ada@example.com", "Hello")
    talk(one.fork("other", at=one.path()[0].id), "b", "c")
    test = sharing(one.id)
    assert "1 value may be private" in words(test)
    by_key(test, "share.format").select("messages").run()
    by_key(test, "share.dialect").select("sharegpt").run()
    said = words(settled(test))
    assert "It cannot hold branches" in said
    assert "[e" in said
    by_key(test, "share.scope").select("branch").run()
    assert "It cannot hold branches" not in words(settled(test))


def test_the_button_leads_to_the_exporters_file_without_what_is_ticked(forky: Forky) -> None:
    one = talk(forky.create("Mail of ada@example.com"), "I am ada@example.com", "Hello")
    test = sharing(one.id)
    by_key(test, "share.format").select("markdown").run()
    replaced = offered(settled(test))
    assert replaced.name == "Mail-of-e-mail-1.md"
    assert b"I am [e-mail 1]" in b"".join(replaced.pieces())
    by_key(test, f"share.tick.{one.id}.0").uncheck().run()
    plain, to = offered(settled(test)), exporter("markdown")
    assert plain.name == "Mail-of-ada-example-com.md"
    assert b"".join(plain.pieces()) == b"".join(to.write(chat_of(forky.store, one.id)))


def offered(test: AppTest) -> Download:
    """What the dialog's button leads to."""
    found = offers.find(by_key(test, "share.download").proto.url.removeprefix(f"{PREFIX}/"))
    assert found is not None
    return found


def test_chosen_messages_need_a_choice_and_a_branch_some_messages(forky: Forky) -> None:
    one = talk(forky.create("Names"), "a", "b")
    test = sharing(one.id)
    by_key(test, "share.scope").select("messages").run()
    assert "Choose the messages" in words(settled(test))
    by_key(test, "share.messages").select(one.path()[0].id).run()
    assert "share.download" in keys(settled(test))
    test = sharing(forky.create("Nothing").id)
    by_key(test, "share.scope").select("branch").run()
    assert "is empty" in words(settled(test))


def test_the_log_stays_here_until_it_is_wanted(forky: Forky) -> None:
    one = talk(forky.create("Mail"), "Hello")
    one.say("I am ada@example.com")
    one.undo()
    test = sharing(one.id)
    assert "share.log" not in keys(test), "only a Forky file can hold it"
    by_key(test, "share.format").select("forky").run()
    assert "Not in the file: 1 undone message and the operation log" in words(settled(test))
    assert "may be private" not in words(test)
    by_key(test, "share.log").set_value(True).run()
    assert "Leaving with it: 1 undone message and the operation log" in words(settled(test))
    assert "1 value may be private" in words(test)
    assert "an undone message" in words(test)


def test_a_program_s_sessions_are_followed_from_the_library(
    forky: Forky, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = tmp_path / "codex" / "sessions"
    write(sessions / "a.jsonl", line(1, "Why?"), line(2, "Because."))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    test = import_tab()
    assert by_key(test, "follow.where").options == [f"Codex · {sessions}", "Another folder …"]
    settled(by_key(test, "follow.begin").click().run())
    eventually(lambda: [one.title for one in forky.conversations()] == ["Why?"])
    eventually(lambda: "last heard" in words(settled(test.run())))
    assert by_key(test, "follow.where").options == ["Another folder …"]
    settled(by_key(test, "follow.stop.0").click().run())
    assert "what came in stays" in words(test) and "follow.stop.0" not in keys(test)
    by_key(test, "follow.path").input(str(tmp_path / "none")).run()
    settled(by_key(test, "follow.begin").click().run())
    assert "is no folder on the machine" in words(test)


def test_on_a_team_s_server_no_folder_is_followed(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    test = settled(import_tab())
    assert "import.file.0" in keys(test) and "follow.where" not in keys(test)
