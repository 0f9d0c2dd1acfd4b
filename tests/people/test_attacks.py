"""Two members of a team try to reach what is the other's alone; nothing of it is found."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import new_id, now
from forky_core.conversation.recording.recording import Reply
from forky_core.documents.source import source_of_bytes
from forky_core.formats.account import ImportAccount
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.formats.importing import import_record
from forky_core.formats.importing.import_record import ImportedFile, ImportRecorder, broken_off, imports
from forky_core.formats.importing.landing import import_file
from forky_core.gateway.tokens import Tokens
from forky_core.model import Change, ConversationId, ConversationSummary, Message, MessageId, View
from forky_core.model.document import DocumentId
from forky_core.model.errors import InTheWay, NotAllowed, NotFound
from forky_core.model.parts import AttachmentPart, TextPart
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.links.link import LinkDraft
from forky_core.people.links.links import LISTED, Links
from forky_core.people.links.making import make_link
from forky_core.people.roles import Role
from forky_core.people.views import join_team
from forky_core.store.contract import Commit
from forky_core.store.memory.store import MemoryStore
from forky_core.wire.chat import chat_call
from tests.builders import talk
from tests.formats.reports.links import link_to
from tests.people.people import Office, office
from tests.store.talk import said

NOWHERE = ConversationId("01890000-0000-7000-8000-0000000000ff")
SECRET = "The merger is called Heron."


class Two:
    """Ada with a secret, and Mallory, who wants it and is an editor here."""

    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada = here.team.members.add("Ada", Role.OWNER)
        self.mallory = here.team.members.add("Mallory", Role.EDITOR)
        self.hers, self.his = here.seen_by(self.ada), here.seen_by(self.mallory)
        self.secret = talk(self.hers.create("Heron"), SECRET, "I keep it to myself.")
        self.file = self.hers.attach(b"salaries", name="salaries.txt")
        self.secret.say("Here they are.", attachments=[self.file])
        self.document = self.secret.documents.append("Heron is worth nine millions.", name="worth.txt")
        self.own = talk(self.his.create("Mine"), "Let me see.", "See what?")

    def share(self, role: Role) -> Conversation:
        """Mallory's handle on the secret, which is shared with him."""
        self.here.team.sharing.share(self.secret.id, self.mallory.id, role, by=self.ada.id)
        return self.his.conversation(self.secret.id)


@pytest.fixture
def two(here: Office) -> Two:
    return Two(here)


def same_error(attempt: Callable[[str], object], real: str, made_up: str) -> None:
    """Both are not found, in the same words."""
    said = []
    for id in (real, made_up):
        with pytest.raises(NotFound) as refused:
            attempt(id)
        said.append(f"{refused.value} {refused.value.hint}".replace(id, "…").replace(id[:12], "…"))
    assert said[0] == said[1]


def test_ids_and_their_beginnings_open_nothing(two: Two) -> None:
    same_error(two.his.conversation, two.secret.id, NOWHERE)
    with pytest.raises(NotFound):
        two.his.conversation(two.secret.id[:-1])
    assert two.his.conversation(two.own.id[:-1]).id == two.own.id
    head = two.secret.path()[-1].id
    same_error(two.own.message, head, "b2:" + "0" * 32)
    for attempt in (
        lambda: two.own.path(head),
        lambda: two.own.fork("x", at=head),
        lambda: two.own.people.post_from(head, "What is this?"),
        lambda: two.own.merges.plan_rebase(head),
        lambda: two.own.plan_merge("main", picks=[head]),
        lambda: two.own.tags.add("x", head),
        lambda: two.own.branches.promote(head),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_a_message_cannot_be_attached_below_one_of_another_conversation(two: Two) -> None:
    head = two.secret.path()[-1]
    below = said("And then?", head)
    entry = two.own.view.entries["heads/main"]
    commit = Commit(two.own.id, "say", "", (Change("heads/main", entry, {"at": below.id}),), (below,))
    same = replace(commit, messages=(said("And then?", said("never said")),))
    for one in (commit, same):
        with pytest.raises(NotFound):
            two.his.store.commit(one)


def test_the_hash_of_a_file_opens_nothing_by_itself(two: Two) -> None:
    made_up = hashlib.sha256(b"nothing").hexdigest()

    def named(sha256: str) -> None:
        two.own.say("This one.", attachments=[AttachmentPart(sha256, "text/plain", "x")])

    for attempt in (two.his.store.blob, named, lambda id: two.own.stashes.create(attachments=[id])):
        same_error(attempt, two.file.sha256, made_up)
    for key, value in (
        ("documents", [two.document.id]),
        ("rules/main", {"documents": {"own": [two.document.id]}}),
    ):
        before = two.own.view.entries.get(key)
        with pytest.raises(NotFound):
            two.his.store.commit(Commit(two.own.id, "x", "", (Change(key, before, value),)))
    with pytest.raises(NotFound):
        two.own.documents.cited(f"doc:{two.document.id[:12]}#1")
    assert two.own.documents.retrieve("Heron") == ()
    two.his.store.drop_blobs([two.file.sha256])
    assert two.hers.store.blob(two.file.sha256).content == b"salaries"
    two.own.say(two.file.sha256)
    with pytest.raises(NotFound):
        two.his.store.blob(two.file.sha256)


@pytest.mark.parametrize("where", ["message", "title", "prompt", "tag"])
def test_a_text_that_is_a_hash_names_no_file(where: str) -> None:
    """Also in a conversation from before there was a team, whose files are worked out when they are asked for."""
    with office() as here:
        old = talk(here.whole.create("Old"), "Long ago.", "Yes.")
        join_team(here.whole, here.team, shown_to_all=old.id)
        two = Two(here)
        mine, hash = two.his.conversation(old.id), two.file.sha256
        if where == "message":
            mine.say(hash)
        elif where == "title":
            mine.rename(hash)
        elif where == "prompt":
            mine.rules.set(system=hash)
        else:
            mine.tags.add(hash)
        with pytest.raises(NotFound):
            two.his.store.blob(hash)


def test_files_from_before_the_team_are_seen_with_their_conversation() -> None:
    with office() as here:
        file = here.whole.attach(b"old", name="old.txt")
        shown, hidden = here.whole.create("Shown"), here.whole.create("Hidden")
        shown.say("Here.", attachments=[file])
        other = here.whole.attach(b"older", name="older.txt")
        hidden.say("Here.", attachments=[other])
        join_team(here.whole, here.team, shown_to_all=shown.id)
        two = Two(here)
        assert two.his.store.blob(file.sha256).content == b"old"
        with pytest.raises(NotFound):
            two.his.store.blob(other.sha256)
        assert two.hers.store.blob(other.sha256).content == b"older"


def test_looking_through_everything_finds_nothing_of_it(two: Two) -> None:
    two.hers.store.keep_derived(two.secret.id, {"kept": "1"})
    assert two.his.search("Heron") == () and two.his.store.saying(SECRET, "user") == ()
    assert two.his.store.derived_under("kept") == {}
    assert set(two.his.store.entries("title")) == {two.own.id}
    assert [one.id for one in two.his.conversations()] == [two.own.id]
    before = two.his.moved
    two.secret.say("Later.", role="assistant")
    assert two.his.moved == before < two.hers.moved
    two.secret.trash()
    assert two.his.conversations(trashed=True) == ()
    assert len(two.hers.search("mine", limit=1)) == 0


def test_a_search_finds_ones_own_behind_many_of_others(two: Two) -> None:
    for number in range(30):
        two.secret.say(f"Boats {number} boats boats", role="user")
    two.own.say("One boats here")
    assert [hit.conversation for hit in two.his.search("boats", limit=2)] == [two.own.id]


def test_a_call_is_never_answered_from_another_persons_store(two: Two) -> None:
    """Also where scope, program, prompt and model are the same."""
    call = chat_call(
        {"model": "scripted/one", "temperature": 0, "messages": [{"role": "user", "content": SECRET}]}
    )
    made = two.hers.record(call, Reply((TextPart("Heron it is."),)), scope="same")
    assert made.created and not two.hers.record(call, Reply((TextPart("It is."),)), scope="same").created
    asked = two.his.begin(call, scope="same", reuse=True)
    assert asked.reused is None and asked.conversation not in {made.target.conversation, two.secret.id}
    asked.cut("Enough.")
    assert two.his.store.view(asked.conversation).version
    assert not two.here.team.sharing.role_in(asked.conversation, two.ada.id)
    with pytest.raises(NotFound):
        two.his.begin(call, scope="same", conversation=two.secret.id, reuse=True)


def test_a_history_that_is_brought_in_speaks_in_nobodys_name(two: Two) -> None:
    """A file with Ada's id as the author of what she never did."""
    chat = chat_of(two.his.store, two.own.id)
    forged = tuple(replace(one, actor=two.ada.id) for one in chat.operations)
    made = adopt(two.his, replace(chat, id=NOWHERE, operations=forged))
    actors = {operation.actor for operation in two.his.store.operations(made.conversation)}
    assert two.ada.id not in actors and "Ada" not in {two.his.name_of(actor) for actor in actors}
    assert two.his.store.verify(made.conversation).clean
    commit = Commit(
        ConversationId(NOWHERE[:-1] + "e"), "create", "", (Change("title", None, "x"),), actor=two.ada.id
    )
    assert two.his.store.commit(commit).actor != two.ada.id


def test_a_file_under_the_id_of_somebodys_conversation_changes_nothing_of_it(two: Two) -> None:
    before = two.hers.store.operations(two.secret.id)
    chat = replace(chat_of(two.his.store, two.own.id), id=two.secret.id)
    landed = adopt(two.his, chat)
    assert landed.conversation not in {two.secret.id, two.own.id}, "it comes in as his own"
    with pytest.raises(NotFound):
        two.his.store.commit(Commit(two.secret.id, "create", "", (Change("title", None, "x"),)))
    assert two.hers.store.operations(two.secret.id) == before
    assert two.here.team.sharing.of(two.secret.id).owner == two.ada.id


def test_grafts_fusions_and_requests_reach_no_other_conversation(two: Two) -> None:
    away = Conversation(two.his._session(two.secret.id), "main")
    for attempt in (
        lambda: two.own.merges.plan_graft(away),
        lambda: two.own.requests.open(away),
        lambda: two.own.merges.plan_fuse([two.secret.path()[1].id]),
        lambda: away.replies.running,
    ):
        with pytest.raises(NotFound):
            attempt()


def test_a_viewer_shows_others_nothing_that_he_worked_out(two: Two) -> None:
    mine = two.share(Role.VIEWER)
    two.hers.store.keep_derived(two.secret.id, {"read/1": "true"})
    two.his.store.keep_derived(mine.id, {"read/1": "forged", "read/2": "forged"})
    assert two.hers.store.derived(mine.id, ["read/1", "read/2"]) == {"read/1": "true"}
    with pytest.raises(NotAllowed):
        two.his.store.keep_derived(mine.id, {"published/1": "forged"})
    two.his.store.forget_derived("read/1")
    assert two.hers.store.derived(mine.id, ["read/1"]) == {"read/1": "true"}


def test_a_commenter_changes_neither_what_others_read_nor_their_calls(two: Two) -> None:
    mine = two.share(Role.COMMENTER)
    fork = mine.fork(f"{two.mallory.handle}/x")
    head = fork.head
    assert head is not None
    entry, below = {"at": head.id}, said("More.", head)
    change = Change(f"heads/{fork.branch_name}", entry, {"at": below.id})
    derived = {"published/1": "forged", "import/1": "forged", "passages": "kept"}
    two.his.store.commit(Commit(mine.id, "say", "", (change,), (below,), derived=derived))
    assert two.hers.store.derived(mine.id, derived) == {"passages": "kept"}
    answered = two.secret.ask("Who knows?")
    call = next(one for one in two.secret.calls.generations if one.message == answered.id)
    with pytest.raises(NotAllowed):
        two.his.store.record(mine.id, replace(call, branch=fork.branch_name, status="failed"))
    assert two.secret.calls.generations[-1].status == "done"


def test_who_is_shown_a_conversation_cannot_take_its_documents_away(two: Two) -> None:
    two.share(Role.EDITOR)
    keeper = two.his.store.documents
    for attempt in (
        lambda: keeper.drop([two.document.id]),
        lambda: keeper.shelve(two.document.id, "trash"),
        lambda: keeper.shelve(two.document.id, "workspace"),
        lambda: two.his.delete_document(two.document.id),
    ):
        with pytest.raises((NotAllowed, InTheWay)):
            attempt()
    assert two.hers.store.documents.document(two.document.id).shelf == ""


def test_whoever_has_the_bytes_sees_the_document_and_gets_no_other_with_it(two: Two) -> None:
    added = two.own.documents.add_sources([source_of_bytes("mine.txt", b"Heron is worth nine millions.")])
    assert [one.id for one in added.documents] == [two.document.id]
    other = two.secret.documents.append("Another secret.")
    assert DocumentId(other.id) not in two.his.store.documents.known([other.id])


def test_tokens_are_shown_to_owners_only_and_a_members_look_breaks_none(two: Two) -> None:
    his, whole = Tokens(two.his.store), Tokens(two.here.whole.store)
    assert his.all() == ()
    made = Tokens(two.hers.store).make("Ada's program", person=two.ada.id)
    assert his.all() == () and his.of(made.text) is not None and whole.of(made.text) is not None
    with pytest.raises(NotAllowed):
        his.make("mine", person=two.ada.id)
    with pytest.raises(NotAllowed):
        his.revoke(made.token.id)
    assert [one.name for one in whole.all()] == ["Ada's program"] and whole.of(made.text) is not None


def test_settings_are_an_owners_to_change(two: Two) -> None:
    two.hers.store.set_setting("default_model", "offline/quote")
    for key in ("default_model", "reviewer", "embedding", "servers", "gateway_tokens", "anything"):
        with pytest.raises(NotAllowed):
            two.his.store.set_setting(key, "forged")
    assert two.his.store.setting("gateway_tokens") is None
    nobody = two.here.team.members.add("Eve", Role.VIEWER)
    view = two.here.seen_by(nobody)
    two.here.team.members.remove(nobody.id, by=two.ada.id)
    assert view.store.setting("default_model") is None


def test_links_of_others_are_neither_listed_nor_revoked(two: Two) -> None:
    links = Links(two.hers.store)
    link = link_to(two.hers, two.secret, "replay").link.id
    theirs = Links(two.his.store)
    assert theirs.all() == () and [one.id for one in links.all()] == [link]
    same_error(theirs.revoke, link, "00000000")
    two.share(Role.VIEWER)
    assert [one.id for one in theirs.all()] == [link]
    with pytest.raises(NotAllowed):
        theirs.revoke(link)
    assert links.revoke(link).revoked and Links(two.here.whole.store).all()[0].revoked


@pytest.mark.parametrize("role", [Role.VIEWER, Role.COMMENTER])
@pytest.mark.parametrize("live", [False, True])
def test_who_may_not_edit_gives_nothing_away(two: Two, role: Role, live: bool) -> None:
    mine = two.share(role)
    with pytest.raises(NotAllowed):
        link_to(two.his, mine, "branch", "main", live=live)
    with pytest.raises(NotAllowed):
        Links(two.his.store).make_audience(mine.id, (), title="", by=two.mallory.id)
    made = link_to(two.hers, two.secret, "branch", "main")
    two.his.store.forget_derived(LISTED)
    two.his.store.forget_derived(f"published/{made.link.id}")
    links = Links(two.here.whole.store)
    assert b"Heron" in links.page(links.find(made.secret))
    if role is Role.COMMENTER:
        before = links.all(mine.id)
        fork = mine.fork(f"{two.mallory.handle}/y")
        head = fork.path()[-1]
        below = said("More.", head)
        change = Change(f"heads/{fork.branch_name}", {"at": head.id}, {"at": below.id})
        derived = {LISTED: "[]", "passages": "kept"}
        two.his.store.commit(Commit(mine.id, "say", "", (change,), (below,), derived=derived))
        assert links.all(mine.id) == before


def test_a_link_to_ones_own_conversation_reaches_no_other(two: Two) -> None:
    """By the ids and hashes of what is somebody else's."""
    head = two.secret.path()[-1].id
    for thing, which in (("message", (head,)), ("branch", (head,)), ("comparison", (f"@{head[3:]}", "main"))):
        with pytest.raises(NotFound):
            link_to(two.his, two.own, thing, *which)
    draft = LinkDraft(two.secret.id, "conversation", live=True)
    same_error(
        lambda id: make_link(two.his, replace(draft, conversation=ConversationId(id))), two.secret.id, NOWHERE
    )


class Counting(MemoryStore):
    """A store that counts how often a conversation is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def view(self, conversation: ConversationId) -> View:
        self.asked.append("view")
        return super().view(conversation)

    def message(self, conversation: ConversationId, message: MessageId) -> Message:
        self.asked.append("message")
        return super().message(conversation, message)

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        self.asked.append("conversations")
        return super().conversations(trashed=trashed)


def test_what_is_hidden_costs_the_store_as_much_as_what_does_not_exist() -> None:
    """So that the time of an answer tells nothing."""
    store = Counting()
    with office(store) as here:
        two = Two(here)
        asked, message = [], two.secret.path()[0].id
        for id in (two.secret.id, NOWHERE):
            store.asked.clear()
            with pytest.raises(NotFound):
                two.his.conversation(id)
            with pytest.raises(NotFound):
                two.his.store.message(id, message)
            asked.append(list(store.asked))
        assert asked[0] == asked[1]


def test_a_reply_that_is_written_stops_with_the_role(two: Two) -> None:
    mine = two.share(Role.EDITOR)
    models = two.here.whole.models
    job = mine.send("Tell me more.")
    job.wait()
    assert mine.head is not None and models.default() == "scripted/one"
    two.share(Role.VIEWER)
    with pytest.raises(NotAllowed):
        mine.send("More.")
    two.here.team.sharing.share(two.secret.id, two.mallory.id, Role.NONE, by=two.ada.id)
    before = len(two.secret.path())
    with pytest.raises(NotFound):
        mine.send("More.")
    assert len(two.secret.path()) == before


def test_a_guarded_store_of_nobody_shows_nothing(two: Two) -> None:
    nobody = GuardedStore(two.here.whole.store, two.here.team, "")
    assert (
        nobody.conversations() == () and nobody.search("Heron") == () and nobody.documents.documents() == ()
    )
    with pytest.raises(NotFound):
        nobody.view(two.secret.id)
    with pytest.raises(NotAllowed):
        nobody.put_blob(b"x", "text/plain")


def test_nobody_learns_which_files_others_brought_in(two: Two, tmp_path: Path) -> None:
    file = tmp_path / "layoffs.jsonl"
    file.write_text("".join(written(chat_of(two.his.store, two.own.id))))
    two.his.conversation(two.own.id).trash()
    two.his.purge(two.own.id)
    import_file(two.hers, file)
    assert [one.source.file for one in imports(two.hers.store)] == ["layoffs.jsonl"]
    assert imports(two.his.store) == ()


def test_nobody_learns_of_anothers_interrupted_import(two: Two) -> None:
    recorder = ImportRecorder(two.hers.store, ImportedFile("layoffs.jsonl", "sha256:1", 1), None)
    commit = Commit(two.secret.id, "import", "Imported", at=1, messages=(said("Brought."),))
    two.hers.store.commit_all(recorder.marked([commit], after=two.secret.view.version))
    recorder.release()
    assert [one.source.file for one in broken_off(two.hers.store)] == ["layoffs.jsonl"]
    assert broken_off(two.his.store) == () == imports(two.his.store)
    two.share(Role.VIEWER)
    assert [one.source.file for one in broken_off(two.his.store)] == ["layoffs.jsonl"]


def test_ones_own_imports_are_listed_behind_many_of_others(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_record, "_AT_FIRST", 2)
    for forky, chat in ((two.his, two.own), *((two.hers, two.secret),) * 7):
        recorder = ImportRecorder(forky.store, ImportedFile("talk.jsonl", f"sha256:{new_id()}", 1), None)
        commit = Commit(chat.id, "import", "Imported", at=now(), messages=(said(f"Brought as {new_id()}."),))
        forky.store.commit_all(recorder.marked([commit], after=chat.view.version))
        recorder.finish(ImportAccount(1), {})
    assert [one.number for one in imports(two.his.store, most=5)] == [1]
    assert [one.number for one in imports(two.hers.store, most=3)] == [8, 7, 6]
