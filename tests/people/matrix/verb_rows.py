"""A row for every public verb and property of `Conversation`, of its namespaces, and of `Workspace`."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.bisecting import Bisection
from forky_core.conversation.recording.recording import Reply
from forky_core.conversation.replies.asking_around import ReplyAttempt
from forky_core.conversation.session import short
from forky_core.documents.source import source_of_bytes
from forky_core.merge.conflicts.examination import NotExamined
from forky_core.merge.plan import MergePlan
from forky_core.merge.rebase import RebasePlan
from forky_core.merge.written.plan import SquashRejected
from forky_core.model.errors import BadContent, NotAllowed, NothingToDo
from forky_core.model.memory import Memory
from forky_core.model.parts import Draft, TextPart
from forky_core.model.room import Person, Room
from forky_core.wire.call import Call as ProgramCall
from forky_core.wire.chat import chat_call
from tests.loops import finished
from tests.people.matrix.rules import (
    ADD_DOCUMENT,
    ADD_OWN_DOCUMENT,
    ANYBODY,
    BEGIN,
    CHANGE,
    FOR_GOOD,
    MANAGE,
    OFFER,
    OWN_BRANCH,
    READ,
    RECORD,
)
from tests.people.matrix.store_rows import ON_OWN, Row, head_of, listed
from tests.people.matrix.world import Cell

DRAFT = Draft("user", (TextPart("And cork?"),))


def _wait(started: object) -> object:
    """Wait for every reply that a verb has started; raise why there is none."""
    for one in started if isinstance(started, tuple) else (started,):
        if isinstance(one, ReplyAttempt) and one.error is not None:
            raise one.error
        job = one if hasattr(one, "wait") else getattr(one, "job", None)
        if job is not None:
            job.wait()
    return started


def _purged(cell: Cell) -> None:
    cell.first(lambda chat: chat.trash())
    cell.forky.purge(cell.id)


def _merge_plan(cell: Cell) -> MergePlan:
    return cell.planned("merge", lambda chat: chat.plan_merge("side"))


def _rebase_plan(cell: Cell) -> RebasePlan:
    return cell.planned("rebase", lambda chat: chat.checkout("side").merges.plan_rebase("main"))


def _found(cell: Cell) -> Bisection:
    search = cell.author.bisections.start()
    while search.first is None:
        search = search.with_result(passed=False)
    return search


def _side(cell: Cell) -> Conversation:
    return Conversation(cell.chat._session, "side")


def _revealed(chat: Conversation) -> None:
    chat.polls.reveal(1)


def _another(cell: Cell) -> Conversation:
    """A conversation that is theirs, to graft from; the author's where they have none."""
    theirs = cell.world.ids["own"]
    if cell.world.general:
        return cell.forky.conversation(theirs, "side")
    return cell.author


def _graft(cell: Cell) -> object:
    return cell.chat.merges.plan_graft(_another(cell))


def _away(cell: Cell) -> object:
    """A graft *from* the conversation into one that is theirs."""
    if not cell.world.general:
        return cell.chat.view
    own = Conversation(cell.forky._session(cell.world.ids["own"]), "main")
    other = Conversation(cell.chat._session, "side")
    return own.merges.plan_graft(other)


def _withdrawn(cell: Cell) -> object:
    cell.chat.requests.ask_for_changes(1, "Say why.")
    return cell.chat.requests.withdraw_review(1)


def _programs(text: str = "And cork?") -> ProgramCall:
    return chat_call({"model": "scripted/one", "messages": [{"role": "user", "content": text}]})


VERBS: tuple[Row, ...] = (
    # What is read.
    Row("id", ANYBODY, lambda c: c.chat.id),
    Row("view", READ, lambda c: c.chat.view),
    Row("title", READ, lambda c: c.chat.title),
    Row("branch", READ, lambda c: c.chat.branch),
    Row("head", READ, lambda c: c.chat.head),
    Row("visible", READ, lambda c: c.chat.visible),
    Row("path", READ, lambda c: c.chat.path()),
    Row("path", READ, lambda c: c.chat.path(c.talk.side), "to a message"),
    Row("diff", READ, lambda c: c.chat.diff("main", "side")),
    Row("message", READ, lambda c: c.chat.message(c.talk.answer)),
    Row("message", READ, lambda c: c.chat.message(c.talk.answer[:9]), "by its first digits"),
    Row("context", READ, lambda c: c.chat.context()),
    Row("checkout", READ, lambda c: c.chat.checkout("side")),
    # What is said and asked.
    Row("say", CHANGE, lambda c: c.chat.say("Cork.")),
    Row("say", OWN_BRANCH, lambda c: c.own.say("Cork."), ON_OWN),
    Row("append", CHANGE, lambda c: c.chat.append([DRAFT])),
    Row("append", OWN_BRANCH, lambda c: c.own.append([DRAFT]), ON_OWN),
    Row("ask", CHANGE, lambda c: c.chat.ask("And cork?")),
    Row("ask", OWN_BRANCH, lambda c: c.own.ask("And cork?"), ON_OWN),
    Row("ask_async", CHANGE, lambda c: finished(c.chat.ask_async("And cork?"))),
    Row("ask_async", OWN_BRANCH, lambda c: finished(c.own.ask_async("And cork?")), ON_OWN),
    Row("send", CHANGE, lambda c: _wait(c.chat.send("And cork?"))),
    Row("send", OWN_BRANCH, lambda c: _wait(c.own.send("And cork?")), ON_OWN),
    Row("ask_all", CHANGE, lambda c: _wait(c.chat.ask_all("And cork?", ["main", "side"]))),
    Row("ask_all", OWN_BRANCH, lambda c: _wait(c.chat.ask_all("And?", [c.branch("idea")])), ON_OWN),
    Row("ask_models", CHANGE, lambda c: _wait(c.chat.ask_models("And cork?", ["scripted/one"]))),
    Row("edit", CHANGE, lambda c: _wait(c.chat.edit(c.talk.question, "Why not?", branch="x"))),
    Row(
        "edit",
        OWN_BRANCH,
        lambda c: _wait(c.chat.edit(c.talk.question, "Why not?", branch=c.branch("x"))),
        ON_OWN,
    ),
    Row("regenerate", CHANGE, lambda c: _wait(c.chat.regenerate())),
    Row("regenerate", OWN_BRANCH, lambda c: _wait(c.own.regenerate()), ON_OWN),
    # Branches and merges.
    Row("fork", CHANGE, lambda c: c.chat.fork("x")),
    Row("fork", OWN_BRANCH, lambda c: c.chat.fork(c.branch("x")), ON_OWN),
    Row("plan_merge", READ, lambda c: c.chat.plan_merge("side")),
    Row(
        "plan_merge",
        READ,
        lambda c: c.chat.plan_merge("side", model="scripted/one", force=True),
        "by a model",
        ends=(SquashRejected,),
    ),
    Row("merge", CHANGE, lambda c: c.chat.merge(_merge_plan(c))),
    Row(
        "merge",
        OWN_BRANCH,
        lambda c: c.own.merge(
            c.planned("merge own", lambda chat: chat.checkout(c.branch("idea")).plan_merge("side"))
        ),
        ON_OWN,
    ),
    Row("plan_revert", READ, lambda c: c.chat.plan_revert(c.talk.last)),
    Row(
        "revert",
        CHANGE,
        lambda c: c.chat.revert(c.planned("revert", lambda chat: chat.plan_revert(c.talk.last))),
    ),
    Row("undo", CHANGE, lambda c: c.chat.undo()),
    Row("redo", CHANGE, lambda c: (c.first(lambda chat: chat.undo()), c.chat.redo())),
    Row("history.refuse_if_changed", READ, lambda c: c.chat.history.refuse_if_changed(c.chat.view.version)),
    Row("history.plan_erasure", READ, lambda c: c.chat.history.plan_erasure(head_of(c))),
    Row("history.erase", FOR_GOOD, lambda c: c.chat.history.erase(head_of(c), confirm=short(head_of(c)))),
    Row("note", CHANGE, lambda c: c.chat.note(c.talk.answer, "Slowly.")),
    Row("rename", CHANGE, lambda c: c.chat.rename("Ships")),
    Row("put_into", CHANGE, lambda c: c.chat.put_into("Sea")),
    Row("trash", CHANGE, lambda c: c.chat.trash()),
    Row("take_back", CHANGE, lambda c: (c.first(lambda chat: chat.trash()), c.chat.take_back())),
    # Rules.
    Row("rules.current", READ, lambda c: c.chat.rules.current),
    Row("rules.memory", READ, lambda c: c.chat.rules.memory),
    Row("rules.set", CHANGE, lambda c: c.chat.rules.set(system="Be brief.")),
    Row("rules.set", OWN_BRANCH, lambda c: c.own.rules.set(system="Be brief."), ON_OWN),
    Row("rules.exclude", CHANGE, lambda c: c.chat.rules.exclude(c.talk.answer)),
    Row("rules.exclude", OWN_BRANCH, lambda c: c.own.rules.exclude(c.talk.answer), ON_OWN),
    Row(
        "rules.include",
        CHANGE,
        lambda c: (
            c.first(lambda chat: chat.rules.exclude(c.talk.answer)),
            c.chat.rules.include(c.talk.answer),
        ),
        ends=(NothingToDo,),
    ),
    Row("rules.pin", CHANGE, lambda c: c.chat.rules.pin(c.talk.answer)),
    Row("rules.pin", OWN_BRANCH, lambda c: c.own.rules.pin(c.talk.answer), ON_OWN),
    Row(
        "rules.unpin",
        CHANGE,
        lambda c: (c.first(lambda chat: chat.rules.pin(c.talk.answer)), c.chat.rules.unpin(c.talk.answer)),
        ends=(NothingToDo,),
    ),
    Row("rules.set_memory", CHANGE, lambda c: c.chat.rules.set_memory(Memory("last", 4))),
    Row("rules.set_memory", OWN_BRANCH, lambda c: c.own.rules.set_memory(Memory("last", 4)), ON_OWN),
    Row(
        "rules.set_conversation_memory",
        CHANGE,
        lambda c: c.chat.rules.set_conversation_memory(Memory("last", 4)),
    ),
    # Documents.
    Row("documents.documents", READ, lambda c: c.chat.documents.documents()),
    Row("documents.of_conversation", READ, lambda c: c.chat.documents.of_conversation.documents()),
    Row("documents.size", READ, lambda c: c.chat.documents.size),
    Row("documents.look", READ, lambda c: c.chat.documents.look("stones")),
    Row("documents.retrieve", READ, lambda c: c.chat.documents.retrieve("stones")),
    Row("documents.find_for", READ, lambda c: c.chat.documents.find_for("stones?")),
    Row(
        "documents.write_query", READ, lambda c: c.chat.documents.write_query("stones?"), ends=(NothingToDo,)
    ),
    Row("documents.cited", READ, lambda c: c.chat.documents.cited(f"doc:{c.talk.document[:12]}#1")),
    Row("documents.embed_missing", ANYBODY, lambda c: c.chat.documents.embed_missing()),
    Row("documents.append", ADD_DOCUMENT, lambda c: c.chat.documents.append("Cork floats.")),
    Row("documents.append", ADD_OWN_DOCUMENT, lambda c: c.own.documents.append("Cork floats."), ON_OWN),
    Row("documents.extend", ADD_DOCUMENT, lambda c: c.chat.documents.extend(["Cork floats."])),
    Row("documents.add_documents", ADD_DOCUMENT, lambda c: c.chat.documents.add_documents([c.world.file])),
    Row(
        "documents.add_sources",
        ADD_DOCUMENT,
        lambda c: c.chat.documents.add_sources([source_of_bytes("cork.txt", b"Cork floats.")]),
    ),
    Row("documents.use", CHANGE, lambda c: c.chat.documents.use()),
    Row("documents.use", OWN_BRANCH, lambda c: c.own.documents.use(), ON_OWN),
    Row("documents.remove", CHANGE, lambda c: c.chat.documents.remove(c.talk.document)),
    Row("documents.reset", CHANGE, lambda c: c.chat.documents.reset()),
    # People.
    Row("people.me", ANYBODY, lambda c: c.chat.people.me),
    Row("people.as_person", ANYBODY, lambda c: c.chat.people.as_person("Bob")),
    Row(
        "people.as_person", CHANGE, lambda c: c.chat.people.as_person("Bob").say("Cork."), "to say something"
    ),
    Row("people.author_of", READ, lambda c: c.chat.people.author_of(c.talk.answer)),
    Row("people.room", READ, lambda c: c.chat.people.room),
    Row("people.answering", READ, lambda c: c.chat.people.answering),
    Row("people.spent", READ, lambda c: c.chat.people.spent("Bob")),
    Row("people.post", CHANGE, lambda c: _wait(c.chat.people.post("And cork?"))),
    Row("people.post", OWN_BRANCH, lambda c: _wait(c.own.people.post("And cork?")), ON_OWN),
    Row(
        "people.post_from",
        CHANGE,
        lambda c: _wait(c.chat.people.post_from(c.talk.answer, "And cork?", branch="x")),
    ),
    Row(
        "people.post_from",
        OWN_BRANCH,
        lambda c: _wait(c.chat.people.post_from(c.talk.answer, "And cork?", branch=c.branch("x"))),
        ON_OWN,
    ),
    Row("people.has_post", READ, lambda c: c.chat.people.has_post("a")),
    Row("people.set", CHANGE, lambda c: c.chat.people.set(Person("Bob"))),
    Row(
        "people.remove",
        CHANGE,
        lambda c: (c.first(lambda chat: chat.people.set(Person("Bob"))), c.chat.people.remove("Bob")),
    ),
    Row("people.set_room", CHANGE, lambda c: c.chat.people.set_room(Room(answers="asked"))),
    # Branches and tags by name.
    Row("branches.owner", READ, lambda c: c.chat.branches.owner()),
    Row("branches.origin", READ, lambda c: c.chat.branches.origin("main")),
    Row("branches.keys", READ, lambda c: c.chat.branches.keys()),
    Row("branches.values", READ, lambda c: c.chat.branches.values()),
    Row("branches.items", READ, lambda c: c.chat.branches.items()),
    Row("branches.get", READ, lambda c: c.chat.branches.get("side")),
    Row("branches.begin", CHANGE, lambda c: c.chat.branches.begin("x")),
    Row("branches.begin", OWN_BRANCH, lambda c: c.chat.branches.begin(c.branch("x")), "of one's own"),
    Row("branches.rename", CHANGE, lambda c: _side(c).branches.rename("x")),
    Row(
        "branches.rename", CHANGE, lambda c: _side(c).branches.rename(c.branch("x")), "to a name of one's own"
    ),
    Row("branches.rename", CHANGE, lambda c: c.own.branches.rename("x"), "of one's own to another name"),
    Row("branches.rename", OWN_BRANCH, lambda c: c.own.branches.rename(c.branch("x")), "of one's own"),
    Row("branches.delete", CHANGE, lambda c: c.chat.branches.delete("side")),
    Row("branches.delete", OWN_BRANCH, lambda c: c.chat.branches.delete(c.branch("idea")), "of one's own"),
    Row("branches.promote", CHANGE, lambda c: c.chat.branches.promote(c.talk.sibling)),
    Row("branches.promote", OWN_BRANCH, lambda c: c.own.branches.promote(c.talk.sibling), "of one's own"),
    Row("branches.empty", CHANGE, lambda c: c.chat.branches.empty()),
    Row("branches.empty", OWN_BRANCH, lambda c: c.own.branches.empty(), "of one's own"),
    Row("branches.plan_prune", READ, lambda c: c.chat.branches.plan_prune(c.talk.side)),
    Row(
        "branches.prune",
        CHANGE,
        lambda c: c.chat.branches.prune(
            c.planned("prune", lambda chat: chat.branches.plan_prune(c.talk.side))
        ),
    ),
    Row("tags.keys", READ, lambda c: c.chat.tags.keys()),
    Row("tags.values", READ, lambda c: c.chat.tags.values()),
    Row("tags.items", READ, lambda c: c.chat.tags.items()),
    Row("tags.get", READ, lambda c: c.chat.tags.get("named")),
    Row("tags.add", CHANGE, lambda c: c.chat.tags.add("x")),
    Row("tags.add", OWN_BRANCH, lambda c: c.chat.tags.add(c.branch("x")), "of one's own"),
    Row("tags.remove", CHANGE, lambda c: c.chat.tags.remove("named")),
    Row("tags.remove", OWN_BRANCH, lambda c: c.chat.tags.remove(c.branch("tag")), "of one's own"),
    # Stashes and history.
    Row("stashes.all", READ, lambda c: c.chat.stashes.all),
    Row("stashes.create", CHANGE, lambda c: c.chat.stashes.create(draft="x")),
    Row("stashes.apply", READ, lambda c: c.chat.stashes.apply(1), "of a draft"),
    Row("stashes.pop", CHANGE, lambda c: c.chat.stashes.pop(1)),
    Row("stashes.drop", CHANGE, lambda c: c.chat.stashes.drop(1)),
    Row("history.operations", READ, lambda c: c.chat.history.operations),
    Row("history.since", READ, lambda c: c.chat.history.since(1)),
    Row("history.by_others", READ, lambda c: c.chat.history.by_others(1)),
    Row("history.timeline", READ, lambda c: c.chat.history.timeline),
    Row("history.next_undo", READ, lambda c: c.chat.history.next_undo),
    Row("history.next_redo", READ, lambda c: c.chat.history.next_redo),
    Row("history.plan_restore", READ, lambda c: c.chat.history.plan_restore(2)),
    Row("history.restore", CHANGE, lambda c: c.chat.history.restore(c.author.view.version - 1)),
    Row("history.verify", READ, lambda c: c.chat.history.verify()),
    # Further merges.
    Row("merges.plan_graft", READ, _graft, ends=(BadContent, NotAllowed)),
    Row("merges.plan_graft", READ, _away, "from it", ends=(BadContent,)),
    Row(
        "merges.plan_fuse",
        READ,
        lambda c: c.chat.merges.plan_fuse([c.talk.answer, c.talk.sibling]),
        ends=(NothingToDo,),
    ),
    Row("merges.replan", READ, lambda c: c.chat.merges.replan(_merge_plan(c))),
    Row("merges.plan_rebase", READ, lambda c: _side(c).merges.plan_rebase("main")),
    Row("merges.rebase", CHANGE, lambda c: _side(c).merges.rebase(_rebase_plan(c))),
    Row(
        "merges.replay",
        CHANGE,
        lambda c: _wait(_side(c).merges.replay(_rebase_plan(c), model="scripted/one")),
    ),
    Row("merges.so_far", READ, lambda c: c.chat.merges.so_far()),
    Row("merges.examined", READ, lambda c: c.chat.merges.examined([c.chat.path()[-1].id])),
    Row(
        "merges.examine",
        READ,
        lambda c: c.chat.merges.examine(c.chat.plan_merge("side"), model="scripted/one"),
        ends=(NotExamined,),
    ),
    Row("merges.unresolved", READ, lambda c: c.chat.merges.unresolved),
    Row(
        "merges.plan_resolution",
        READ,
        lambda c: c.chat.merges.plan_resolution({}),
        ends=(NothingToDo, BadContent),
    ),
    # Requests, bisections, polls.
    Row("requests.all", READ, lambda c: c.chat.requests.all),
    Row("requests.get", READ, lambda c: c.chat.requests.get(1)),
    Row("requests.open", OWN_BRANCH, lambda c: c.chat.requests.open(c.branch("idea"))),
    Row(
        "requests.open_plan",
        OWN_BRANCH,
        lambda c: c.chat.requests.open_plan(
            c.planned("merge from own", lambda chat: chat.plan_merge(c.branch("idea")))
        ),
    ),
    Row("requests.plan", READ, lambda c: c.chat.requests.plan(1)),
    Row("requests.with_edits", READ, lambda c: c.chat.requests.with_edits(1, _merge_plan(c))),
    Row("requests.reviews", READ, lambda c: c.chat.requests.reviews(1)),
    Row("requests.authors", READ, lambda c: c.chat.requests.authors(1)),
    Row("requests.heads", READ, lambda c: c.chat.requests.heads(1)),
    Row("requests.approve", OWN_BRANCH, lambda c: c.chat.requests.approve(1)),
    Row("requests.ask_for_changes", OWN_BRANCH, lambda c: c.chat.requests.ask_for_changes(1, "Say why.")),
    Row("requests.review_by", OWN_BRANCH, lambda c: c.chat.requests.review_by(1, "scripted/one")),
    Row("requests.withdraw_review", OWN_BRANCH, _withdrawn),
    Row("requests.comment", OWN_BRANCH, lambda c: c.chat.requests.comment(1, "Good.")),
    Row("requests.change", CHANGE, lambda c: c.chat.requests.change(1, note="Better.")),
    Row("requests.decline", CHANGE, lambda c: c.chat.requests.decline(1)),
    Row(
        "requests.accepting",
        READ,
        lambda c: c.chat.requests.accepting(1, c.planned("request", lambda chat: chat.requests.plan(1))),
    ),
    Row("bisections.start", READ, lambda c: c.chat.bisections.start()),
    Row("bisections.record", CHANGE, lambda c: c.chat.bisections.record(_found(c))),
    Row(
        "bisections.run",
        CHANGE,
        lambda c: c.chat.bisections.run("Float?", lambda answer: False),
        ends=(NothingToDo,),
    ),
    Row("polls.all", READ, lambda c: c.chat.polls.all),
    Row("polls.get", READ, lambda c: c.chat.polls.get(1)),
    Row("polls.open", CHANGE, lambda c: c.chat.polls.open([c.talk.side, c.talk.last])),
    Row("polls.order", READ, lambda c: c.chat.polls.order(1)),
    Row("polls.vote", OWN_BRANCH, lambda c: c.chat.polls.vote(1, "A")),
    Row(
        "polls.vote", CHANGE, lambda c: c.chat.people.as_person("Bob").polls.vote(1, "A"), "as somebody else"
    ),
    Row("polls.mine", READ, lambda c: c.chat.polls.mine(1)),
    Row("polls.voters", READ, lambda c: c.chat.polls.voters(1)),
    Row("polls.tally", READ, lambda c: (c.first(_revealed), c.chat.polls.tally(1)), ends=(NotAllowed,)),
    Row("polls.votes", READ, lambda c: c.chat.polls.votes(1)),
    Row("polls.reveal", CHANGE, lambda c: c.chat.polls.reveal(1)),
    Row("polls.voter", ANYBODY, lambda c: c.chat.polls.voter),
    # Replies and calls.
    Row("replies.current", READ, lambda c: c.chat.replies.current),
    Row("replies.running", READ, lambda c: c.chat.replies.running),
    Row("replies.is_written_elsewhere", READ, lambda c: c.chat.replies.is_written_elsewhere),
    Row(
        "replies.start",
        CHANGE,
        lambda c: (c.first(lambda chat: chat.say("And cork?")), _wait(c.chat.replies.start())),
        ends=(NothingToDo,),
    ),
    Row("replies.resume", READ, lambda c: c.chat.replies.resume(), "of nothing", ends=(NothingToDo,)),
    Row("calls.generations", READ, lambda c: c.chat.calls.generations),
    Row("calls.origins", READ, lambda c: c.chat.calls.origins.of(c.chat.path()[-1].id)),
    Row("calls.origins_on", READ, lambda c: c.chat.calls.origins_on(None).of(c.chat.path()[-1].id)),
    Row("calls.prepare", READ, lambda c: c.chat.calls.prepare("And cork?")),
    Row("calls.account_of", ANYBODY, lambda c: None, "(see FILES)"),
    Row(
        "calls.find_or_create",
        CHANGE,
        lambda c: c.chat.calls.find_or_create([{"role": "user", "content": "x"}]),
    ),
    Row("calls.reuses_answers", READ, lambda c: c.chat.calls.reuses_answers),
    Row("calls.set_reuse", CHANGE, lambda c: c.chat.calls.set_reuse(True)),
    Row("calls.reuse", READ, lambda c: c.chat.calls.reuse),
)
"""Of a conversation, by the name under which a person finds it."""

WORKSPACE: tuple[Row, ...] = (
    Row("through", ANYBODY, lambda c: c.forky.through(c.store, "somebody")),
    Row("through", READ, lambda c: c.forky.through(c.store, "somebody").conversation(c.id), "to one"),
    Row("close", ANYBODY, lambda c: c.forky.close()),
    Row("create", BEGIN, lambda c: c.forky.create("New")),
    Row("conversation", READ, lambda c: c.forky.conversation(c.id), ends=()),
    Row(
        "conversations", READ, listed(lambda c: c.forky.conversations() + c.forky.conversations(trashed=True))
    ),
    Row("moved", ANYBODY, lambda c: c.forky.moved),
    Row("search", READ, lambda c: c.forky.search("boats", conversation=c.id), "in one"),
    Row("attach", BEGIN, lambda c: c.forky.attach(b"new", name="new.txt")),
    Row("purge", FOR_GOOD, _purged),
    Row(
        "begin",
        RECORD,
        lambda c: c.forky.begin(_programs(), scope="x", conversation=c.id).cut("Enough."),
        "in one",
    ),
    Row("begin", BEGIN, lambda c: c.forky.begin(_programs(), scope="x").cut("Enough."), "a new one"),
    Row(
        "record",
        RECORD,
        lambda c: c.forky.record(_programs(), _reply(), scope="x", conversation=c.id),
        "in one",
    ),
    Row("record", BEGIN, lambda c: c.forky.record(_programs(), _reply(), scope="x"), "a new one"),
    Row("reuse", ANYBODY, lambda c: c.forky.reuse()),
    Row("polls", ANYBODY, lambda c: c.forky.polls),
    Row("verify", MANAGE, lambda c: c.forky.verify()),
    Row("documents", ANYBODY, lambda c: c.forky.documents.documents()),
    Row("documents", OFFER, lambda c: c.forky.documents.append("Cork."), "to add to"),
    Row("choose_embedding", MANAGE, lambda c: c.forky.choose_embedding(None)),
)
"""Of the workspace; those that are about documents and files alone are in file_rows.py."""


def _reply() -> Reply:
    return Reply((TextPart("Yes."),))
