"""Two copies of one conversation that both went on are united: each message keeps its author, by a file and by Git."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.people.authors import Authors
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import adopt, fork_file, pull
from forky_core.formats.forky_file.files import load, save
from forky_core.formats.forky_file.uniting import unite_chats
from forky_core.formats.forky_file.writing import checked_out
from forky_core.formats.importing.import_record import imports
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.undo_import import undo_import
from tests.builders import debugged, talk, texts
from tests.formats.forky_file.chats import copy_of, value_of
from tests.formats.forky_file.test_giving_back import somebody
from tests.formats.forky_file.test_uniting import commit, git, with_the_driver


def apart(ana: Workspace) -> tuple[Conversation, Conversation]:
    """A conversation of Ana, and Ben's copy of it under the same id; both went on."""
    chat = debugged(ana)
    ben = somebody("ben")
    copy = ben.conversation(adopt(ben, value_of(chat)).conversation, "main")
    talk(copy, "Ben's?", "b", "More of Ben's?", "bb")
    talk(copy.checkout("debug"), "Ben's, there?")
    talk(chat.checkout("main"), "Ana's?", "a")
    return chat, copy


def authors_of(chat: Conversation) -> dict[str, str]:
    """Who said what, by the operations."""
    authors = Authors()
    authors.add(chat.history.operations)
    return {one.text: who for one in chat.visible.messages.values() if (who := authors.of(one.id))}


SAID = {"Ana's?": "ana", "a": "ana", "Ben's?": "ben", "b": "ben", "bb": "ben", "Ben's, there?": "ben"}


def test_by_a_file_each_message_keeps_its_author_and_one_undo_takes_all_of_it_back() -> None:
    ana = somebody("ana")
    chat, copy = apart(ana)
    before = chat.view.branches
    done = adopt(ana, value_of(copy))
    assert (done.outcome, done.messages) == ("grown", 5)
    assert texts(chat.checkout("main"))[-1] == "a" and texts(chat.checkout("main-2"))[-1] == "bb"
    assert texts(chat.checkout("debug"))[-1] == "Ben's, there?", "what continues a branch moves it"
    assert SAID.items() <= authors_of(chat).items()
    first, *others = chat.history.operations[-6:]
    assert (first.actor, first.summary) == ("ana", "Brought 5 messages from a file")
    assert {(one.actor, one.group) for one in others} == {("ben", first.number)}
    assert [one.at for one in others] == sorted(one.at for one in value_of(copy).operations[-5:])
    assert adopt(ana, value_of(copy)).outcome == "unchanged" and ana.verify().clean
    chat.undo()
    assert chat.view.branches == before
    chat.redo()
    assert texts(chat.checkout("main-2"))[-1] == "bb"


def test_by_git_each_message_keeps_its_author_and_the_history_says_what_came_from_the_copy(
    tmp_path: Path,
) -> None:
    ana = somebody("ana")
    chat, copy = apart(ana)
    with_the_driver(tmp_path)
    commit(tmp_path, copy)
    git(tmp_path, "checkout", "-qb", "ben")
    commit(tmp_path, talk(copy, "Ben's last?"))
    git(tmp_path, "checkout", "-q", "main")
    commit(tmp_path, chat)
    git(tmp_path, "merge", "-q", "ben", "-m", "both")
    both = load(tmp_path / "talk.forky.jsonl")
    assert checked_out(both) == "main"
    done = copy_of(both)
    assert (SAID | {"Ben's last?": "ben"}).items() <= authors_of(done).items()
    (united,) = (one for one in done.history.operations if one.verb == "unite")
    assert (united.actor, united.summary) == ("forky merge-file", "United with a copy: 6 messages more")
    assert {one.actor for one in done.history.operations if one.group == united.number} == {"ben"}
    assert done.history.verify().clean
    assert checked_out(value_of(done)) == "main", "what uniting moved was looked at by nobody"
    assert adopt(ana, both).outcome == "grown" and ana.verify().clean
    assert SAID.items() <= authors_of(chat).items()


def test_uniting_the_other_way_round_says_the_same() -> None:
    chat, copy = apart(somebody("ana"))
    for ours, theirs in ((chat, copy), (copy, chat)):
        done = unite_chats(value_of(ours), value_of(theirs))
        assert SAID.items() <= authors_of(copy_of(done.chat)).items()
        again = unite_chats(done.chat, value_of(theirs))
        assert (again.messages, len(again.chat.operations)) == (0, len(done.chat.operations))


def test_news_of_an_original_keep_their_authors_in_the_fork() -> None:
    ana = somebody("ana")
    chat = debugged(ana)
    ben = somebody("ben")
    fork = ben.conversation(fork_file(ben, value_of(chat)).conversation, "main")
    talk(fork, "Ben's?")
    talk(chat, "Ana's?", "a")
    pull(ben, fork.id, value_of(chat))
    assert {"Ana's?": "ana", "a": "ana", "Ben's?": "ben"}.items() <= authors_of(fork).items()
    assert texts(fork.checkout("origin/main"))[-1] == "a"


def test_what_comes_without_a_log_is_nobodys_and_not_the_importers() -> None:
    """A link carries no log: it would name messages that the link does not show."""
    ana = somebody("ana")
    chat, copy = apart(ana)
    silent = replace(value_of(copy), operations=())
    assert adopt(ana, silent).messages == 5
    said = authors_of(chat)
    assert said["a"] == "ana" and "b" not in said and ana.verify().clean


def test_an_import_of_a_copy_that_both_went_on_is_taken_back_whole(tmp_path: Path) -> None:
    ana = somebody("ana")
    chat, copy = apart(ana)
    before = chat.view.branches
    file = tmp_path / "copy.forky.jsonl"
    save(value_of(copy), file)
    assert import_file(ana, file).whole
    (record,) = imports(ana.store)
    undo_import(ana, record.number)
    assert chat.view.branches == before
