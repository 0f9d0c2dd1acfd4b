"""A conversation is moved between workspaces with all its ids, by whoever it belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.conversation.conversation import MOVED_AWAY
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import AdoptResult, adopt
from forky_core.formats.forky_file.chat import Chat
from forky_core.model.document import SearchScope
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound, StoreDamaged
from forky_core.team.roles import Role
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.workspaces import moving
from forky_core.workspaces.moving import move_conversation
from tests.builders import talk, texts
from tests.store.document_laws import hits
from tests.workspaces.building import Building


class Move:
    """A conversation of Ada's in the first workspace, and a workspace of hers to move it to."""

    def __init__(self, here: Building) -> None:
        self.here = here
        self.ada = here.person("Ada", Role.OWNER)
        self.ben = here.person("Ben", Role.EDITOR)
        self.club = here.make("The boat club", self.ada)
        forky = here.seen_by(self.ada)
        chat = talk(forky.create("Boats"), "Which ones float?", "Nearly all.", "And stones?", "They sink.")
        side = talk(chat.fork("side", at=chat.path()[1].id), "And ice?", "It floats.")
        chat.tags.add("named")
        chat.merge(chat.plan_merge(side, strategy="squash"))
        self.file = forky.attach(b"a boat", name="boat.txt")
        chat.fork("with a file").say("Look.", attachments=[self.file])
        self.document = chat.documents.append("Stones sink because they are heavy.", name="stones.txt")
        here.team.sharing.share(chat.id, self.ben.id, Role.EDITOR, by=self.ada.id)
        self.id = chat.id

    def __call__(self, person: str = "", source: str = WORKSPACE, target: str = "") -> None:
        target = target or self.club
        here = self.here
        teams = [here.team.of(one) for one in (source, target)]
        move_conversation(
            self.id, person or self.ada.id, here.whole(source), teams[0], here.whole(target), teams[1]
        )


@pytest.fixture
def move(here: Building) -> Move:
    return Move(here)


def test_it_keeps_every_id_and_its_whole_log(here: Building, move: Move) -> None:
    store = here.first.store
    messages, log = list(store.messages(move.id)), store.operations(move.id)
    move()
    there = here.seen_by(move.ada, move.club)
    assert list(there.store.messages(move.id)) == messages
    assert there.store.operations(move.id) == log
    assert here.others.whole(move.club).store.verify(move.id).clean
    assert there.store.blob(move.file.sha256).content == b"a boat"
    assert [one.id for one in there.store.documents.documents()] == [move.document.id]
    (chunk,) = there.store.documents.chunks(move.document.id)
    assert chunk.text == "Stones sink because they are heavy."
    of_it = SearchScope(workspace=False, named=(move.document.id,))
    assert hits(here.others.whole(move.club).store, "heavy stones", of_it) == {chunk.text}


def test_the_original_is_in_the_trash_and_can_be_taken_back(here: Building, move: Move) -> None:
    move()
    mine = here.seen_by(move.ada)
    assert mine.conversation(move.id).view.trashed and move.id not in {one.id for one in mine.conversations()}
    talk(here.seen_by(move.ada, move.club).conversation(move.id, "main"), "Only in the club.")
    mine.conversation(move.id).take_back()
    assert "Only in the club." not in texts(mine.conversation(move.id, "main"))


def test_its_threads_go_with_it_with_their_authors_times_and_log(here: Building, move: Move) -> None:
    view = here.seen_by(move.ada)
    message = view.conversation(move.id).path()[0].id
    threads = here.team.threads
    begun = threads.begin(move.id, message, "", move.ben.id, "Do they?")
    (thread,) = threads.of(move.id)
    threads.reply(thread, move.ada.id, "They do.")
    threads.resolve(thread, move.ada.id, resolved=True)
    before = threads.of(move.id)
    move()
    there = here.team.of(move.club).threads
    (copy,) = there.of(move.id)
    assert (copy.message, copy.quote, copy.begun, copy.resolved) == (
        message,
        before[0].quote,
        before[0].begun,
        before[0].resolved,
    )
    assert copy.id != begun
    assert [(one.person, one.text, one.at) for one in copy.comments] == [
        (one.person, one.text, one.at) for one in before[0].comments
    ]
    assert [one.event for one in there.events(move.id)] == ["began", "replied", "resolved"]
    assert there.counts(move.id)[message].resolved == 1
    there.reply(copy, move.ada.id, "Only in the club.")
    assert threads.of(move.id) == before, "what was left in the trash keeps its own"


def test_the_log_says_that_it_was_moved(here: Building, move: Move) -> None:
    move()
    (last,) = here.first.store.operations(move.id, limit=1)
    assert (last.verb, last.summary) == ("trash", MOVED_AWAY)


def test_with_whom_it_was_shared_is_left_behind(here: Building, move: Move) -> None:
    here.join(move.club, move.ben, Role.OWNER)
    move()
    with pytest.raises(NotFound):
        here.seen_by(move.ben, move.club).conversation(move.id)
    with pytest.raises(NotFound):
        here.seen_by(move.ben, move.club).store.blob(move.file.sha256)


def test_only_its_owner_moves_it_to_where_they_may_begin_conversations(here: Building, move: Move) -> None:
    here.join(move.club, move.ben, Role.OWNER)
    with pytest.raises(NotAllowed):
        move(move.ben.id)
    eve = here.person("Eve", Role.OWNER)
    with pytest.raises(NotFound):
        move(eve.id)
    other = here.make("Ben's", move.ben)
    with pytest.raises(NotFound):
        move(target=other)
    here.join(other, move.ada, Role.VIEWER)
    with pytest.raises(NotAllowed):
        move(target=other)
    with pytest.raises(BadContent):
        move(target=WORKSPACE)
    assert not here.first.conversation(move.id).view.trashed
    for one in (other, move.club):
        assert here.others.whole(one).conversations() == ()


def test_it_is_not_moved_onto_one_with_its_id(here: Building, move: Move) -> None:
    move()
    here.seen_by(move.ada).conversation(move.id).take_back()
    with pytest.raises(InTheWay):
        move()
    assert here.team.of(move.club).sharing.role_in(move.id, move.ada.id) is Role.OWNER


def test_a_copy_that_is_not_right_is_removed_and_nothing_is_moved(
    here: Building, move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = adopt

    def wrong(target: Workspace, chat: Chat) -> AdoptResult:
        made = right(target, chat)
        here.others.whole(move.club).conversation(move.id).tags.add("not in the original")
        return made

    monkeypatch.setattr(moving, "adopt", wrong)
    with pytest.raises(StoreDamaged, match="removed"):
        move()
    assert not here.first.conversation(move.id).view.trashed
    assert here.others.whole(move.club).conversations(trashed=True) == ()
    assert not here.team.of(move.club).sharing.known(move.id)
    monkeypatch.undo()
    move()


def test_both_workspaces_note_it_without_a_title(here: Building, move: Move, tmp_path: Path) -> None:
    move()
    club = here.team.of(move.club).audit.within()
    assert [entry.event for entry in club][-1] == "conversation moved here"
    assert "Boats" not in "".join(entry.about for entry in here.team.audit.within())
    assert here.team.audit.first_broken() is None and tmp_path.exists()
