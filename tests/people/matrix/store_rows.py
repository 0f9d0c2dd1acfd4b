"""A row for every method of the stores' contracts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forky_core.model import Change, MessageId
from forky_core.model.errors import ForkyError, NotFound
from forky_core.store.contract import Commit
from tests.people.matrix.rules import ANYBODY, BEGIN, CHANGE, FOR_GOOD, MANAGE, NEVER, OWN_BRANCH, READ, Rule
from tests.people.matrix.world import Cell
from tests.store.talk import generation, said

Call = Callable[[Cell], object]
ON_OWN = "on a branch of one's own"


@dataclass(frozen=True)
class Row:
    """An entrance: what it is called, what it needs, and a call of it."""

    covers: str
    """The method, verb or route."""
    rule: Rule
    call: Call
    as_: str = ""
    """Which use of it, where there are several."""
    ends: tuple[type[ForkyError], ...] = ()
    """Errors of the verb itself, which comes only where somebody was let in."""

    @property
    def name(self) -> str:
        return f"{self.covers} {self.as_}".strip()


def listed(found: Callable[[Cell], object]) -> Call:
    """A call that looks at all conversations: it finds this one, or does not, and never raises."""

    def call(cell: Cell) -> object:
        if str(cell.id) not in repr(found(cell)):
            raise NotFound("It is not listed.")
        return None

    return call


def _commit(cell: Cell, branch: str, **more: object) -> Commit:
    head = cell.author.checkout(branch).head
    assert head is not None
    message = said("One more.", head)
    moved = Change(f"heads/{branch}", {"at": head.id}, {"at": message.id})
    return Commit(cell.id, "say", "Said", (moved,), (message,), **more)  # type: ignore[arg-type]


def _purge(cell: Cell) -> None:
    cell.first(lambda chat: chat.trash())
    cell.store.purge(cell.id)


def _into_trash(cell: Cell) -> Commit:
    cell.first(lambda chat: chat.take_back())
    return Commit(cell.id, "rename", "", (Change("trashed", None, True),))


def head_of(cell: Cell) -> MessageId:
    """The newest message of `main`, which somebody else has said."""
    head = cell.author.checkout("main").head
    assert head is not None
    return head.id


def _own(cell: Cell) -> str:
    return cell.branch("idea")


def _main_call(cell: Cell) -> None:
    """A record of a call on `main` that says that it is on a branch of one's own."""
    cell.store.record(cell.id, generation(1, "failed", branch=_own(cell)))


def _with_trash(cell: Cell) -> object:
    """What a search finds; one in the trash is found by no search, whoever asks, and is counted as listed here."""
    hits = cell.store.search("boats", limit=1) + cell.store.search("boats", limit=500)
    trashed = [one.id for one in cell.store.conversations(trashed=True)]
    return [hit.conversation for hit in hits], trashed


STORE: tuple[Row, ...] = (
    Row("identity", ANYBODY, lambda c: c.store.identity),
    Row("hear", ANYBODY, lambda c: c.store.hear(lambda _id: None)()),
    Row("documents", ANYBODY, lambda c: c.store.documents),
    Row("commit", CHANGE, lambda c: c.store.commit(_commit(c, "main")), "to main"),
    Row("commit", OWN_BRANCH, lambda c: c.store.commit(_commit(c, _own(c))), ON_OWN),
    Row(
        "commit",
        CHANGE,
        lambda c: c.store.commit(_commit(c, _own(c), generations=(generation(1, "failed", branch=_own(c)),))),
        "to a branch of one's own, with somebody else's call",
    ),
    Row("commit", CHANGE, lambda c: c.store.commit(Commit(c.id, "touch", "Nothing")), "of nothing"),
    Row(
        "commit",
        CHANGE,
        lambda c: c.store.commit(Commit(c.id, "share", "", (Change("title", "Boats", "Ships"),))),
        "of the title",
    ),
    Row(
        "commit",
        CHANGE,
        lambda c: c.store.commit(_into_trash(c)),
        "into the trash, under another verb's name",
    ),
    Row(
        "commit_all",
        CHANGE,
        lambda c: c.store.commit_all([_commit(c, _own(c)), _into_trash(c)]),
        "into the trash",
    ),
    Row(
        "commit",
        NEVER,
        lambda c: c.store.commit(
            Commit(c.id, "review", "", (Change("reviews/1/somebody else", None, {"state": "approved"}),))
        ),
        "of somebody else's review",
    ),
    Row("commit_all", CHANGE, lambda c: c.store.commit_all([_commit(c, "main")]), "to main"),
    Row("commit_all", OWN_BRANCH, lambda c: c.store.commit_all([_commit(c, _own(c))]), ON_OWN),
    Row(
        "commit_all",
        CHANGE,
        lambda c: c.store.commit_all([_commit(c, _own(c)), _commit(c, "main")]),
        "to both",
    ),
    Row("record", CHANGE, lambda c: c.store.record(c.id, generation(9)), "on main"),
    Row("record", OWN_BRANCH, lambda c: c.store.record(c.id, generation(9, branch=_own(c))), ON_OWN),
    Row("record", CHANGE, _main_call, "over that of another branch"),
    Row("view", READ, lambda c: c.store.view(c.id)),
    Row("operations", READ, lambda c: c.store.operations(c.id, after=1, limit=2)),
    Row("entries", READ, listed(lambda c: c.store.entries("title"))),
    Row("path", READ, lambda c: c.store.path(c.id, c.talk.last)),
    Row("message", READ, lambda c: c.store.message(c.id, c.talk.answer)),
    Row("messages", READ, lambda c: c.store.messages(c.id)),
    Row("stems", READ, lambda c: c.store.stems(c.id)),
    Row("stretch", READ, lambda c: c.store.stretch(c.id, after=0, most=3)),
    Row("at_hand", READ, lambda c: c.store.at_hand(c.id)),
    Row("path_overlap", READ, lambda c: c.store.path_overlap(c.id, [c.talk.question], most=9)),
    Row("stretch_of_log", READ, lambda c: c.store.stretch_of_log(c.id, after=0, most=3)),
    Row("stretch_of_calls", READ, lambda c: c.store.stretch_of_calls(c.id, after=None, most=3)),
    Row("match", READ, lambda c: c.store.match(c.id, c.talk.answer[:8])),
    Row("saying", READ, listed(lambda c: c.store.saying("Because.", "assistant"))),
    Row("generations", READ, lambda c: c.store.generations(c.id)),
    Row("reuse", READ, lambda c: c.store.reuse(c.id), "of one"),
    Row("reuse", ANYBODY, lambda c: c.store.reuse(), "of all"),
    Row("running", READ, listed(lambda c: c.store.running())),
    Row("running", READ, listed(lambda c: c.store.running(abandoned=True)), "abandoned"),
    Row(
        "conversations", READ, listed(lambda c: c.store.conversations() + c.store.conversations(trashed=True))
    ),
    Row("search", READ, lambda c: c.store.search("boats", conversation=c.id), "in one"),
    Row("search", READ, listed(_with_trash), "in all"),
    Row("put_blob", BEGIN, lambda c: c.store.put_blob(b"new", "text/plain")),
    Row("blob", ANYBODY, lambda c: None, "(see FILES)"),
    Row("drop_blobs", BEGIN, lambda c: c.store.drop_blobs([c.talk.file.sha256])),
    Row("derived", READ, lambda c: c.store.derived(c.id, ["kept"])),
    Row("derived_under", READ, listed(lambda c: c.store.derived_under("kept"))),
    Row("keep_derived", READ, lambda c: c.store.keep_derived(c.id, {"worked/out": "2"})),
    Row(
        "keep_derived",
        ANYBODY,
        lambda c: c.store.keep_derived(c.id, {"worked/out": "2"}, waits=False),
        "unwaited",
    ),
    Row("keep_derived", CHANGE, lambda c: c.store.keep_derived(c.id, {"published/1": "2"}), "for outside"),
    Row("keep_derived", CHANGE, lambda c: c.store.keep_derived(c.id, {"published/links": "[]"}), "as a link"),
    Row("forget_derived", ANYBODY, lambda c: c.store.forget_derived("kept")),
    Row("setting", ANYBODY, lambda c: c.store.setting("theme")),
    Row("settings_of", ANYBODY, lambda c: c.store.settings_of(("theme", "nobody"))),
    Row("set_setting", MANAGE, lambda c: c.store.set_setting("theme", "dark")),
    Row("set_setting", MANAGE, lambda c: c.store.set_setting("gateway_tokens", "[]"), "of tokens"),
    Row("set_setting", BEGIN, lambda c: c.store.set_setting("imports", "1"), "of imports"),
    Row("set_setting", MANAGE, lambda c: c.store.set_setting("theme", lambda _value: "dark"), "changed"),
    Row("set_setting", BEGIN, lambda c: c.store.set_setting("imports", lambda _: "1"), "of imports, changed"),
    Row("is_exclusive", ANYBODY, lambda c: c.store.is_exclusive),
    Row("process", ANYBODY, lambda c: c.store.process),
    Row("is_alive", ANYBODY, lambda c: c.store.is_alive("nobody")),
    Row("purge", FOR_GOOD, _purge),
    Row("erase", FOR_GOOD, lambda c: c.store.erase(c.id, head_of(c), by="", at=1)),
    Row("erased_of", ANYBODY, lambda c: c.store.erased_of(c.id, [head_of(c)]), "of a file one has"),
    Row("is_taken", ANYBODY, lambda c: c.store.is_taken(c.id), "by a file one has"),
    Row("verify", READ, lambda c: c.store.verify(c.id), "one"),
    Row("verify", MANAGE, lambda c: c.store.verify(), "all"),
    Row("status", ANYBODY, lambda c: c.store.status()),
    Row("close", ANYBODY, lambda c: c.store.close()),
)
"""The methods of `Store`, each in front of one conversation."""
