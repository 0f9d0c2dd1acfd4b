"""What a token may do that proposes and lands nothing, whoever its owner is."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.model import Change
from forky_core.people.token_store import TokenRights, token_view
from forky_core.store.contract import Commit
from tests.people.matrix.rules import NEVER, OWN_BRANCH, READ
from tests.people.matrix.store_rows import Row, head_of
from tests.people.matrix.world import Cell, _fresh
from tests.store.talk import generation

PROPOSES = TokenRights("agent", "7", frozenset({"read", "ask", "propose"}))


def _through(cell: Cell, branch: str = "main") -> Conversation:
    """The conversation as a token of the person sees it that is called “agent”."""
    view = _fresh(token_view(cell.forky, PROPOSES))
    return Conversation(view._session(cell.id), branch)


def _asked(cell: Cell) -> object:
    """A fork that the token makes, goes on with and proposes."""
    forked = _through(cell).fork(cell.branch("agent-7/idea"), at=cell.talk.answer)
    forked.say("And cork?")
    forked.say("It floats.", role="assistant")
    return forked.checkout("main").requests.open(forked)


def _keeps(cell: Cell) -> None:
    """The token keeps what is shown on a published page, beside the conversation."""
    _through(cell)._session.store.keep_derived(cell.id, {"published/page": "Cork."})


def _accepted(cell: Cell) -> Commit:
    """A request that somebody made is closed as accepted."""
    before = cell.author.view.entries["requests/1"]
    assert isinstance(before, dict)
    after = {**before, "state": "accepted", "answered_by": cell.world.me.id}
    return Commit(cell.id, "comment", "", (Change("requests/1", before, after),))


PROPOSING: tuple[Row, ...] = (
    Row("path", READ, lambda c: _through(c).path()),
    Row("requests.open", OWN_BRANCH, _asked, "from a branch of its own"),
    Row("requests.comment", OWN_BRANCH, lambda c: _through(c).requests.comment(1, "Good.")),
    Row(
        "record",
        OWN_BRANCH,
        lambda c: _through(c)._session.store.record(c.id, generation(9, branch=c.branch("agent-7/idea"))),
        "on a branch of its own",
    ),
    Row("say", NEVER, lambda c: _through(c).say("Cork."), "on main"),
    Row("say", NEVER, lambda c: _through(c, c.branch("idea")).say("Cork."), "on a branch of its owner"),
    Row("fork", NEVER, lambda c: _through(c).fork(c.branch("x")), "beside its own"),
    Row(
        "merge",
        NEVER,
        lambda c: _through(c).merge(c.planned("merge", lambda chat: chat.plan_merge("side", force=True))),
        "into main",
    ),
    Row("commit", NEVER, lambda c: _through(c)._session.store.commit(_accepted(c)), "that accepts a request"),
    Row("requests.decline", NEVER, lambda c: _through(c).requests.decline(1)),
    Row("undo", NEVER, lambda c: _through(c).undo()),
    Row("rename", NEVER, lambda c: _through(c).rename("Ships")),
    Row("put_into", NEVER, lambda c: _through(c).put_into("Sea")),
    Row("trash", NEVER, lambda c: _through(c).trash()),
    Row("tags.add", NEVER, lambda c: _through(c).tags.add("x")),
    Row("erase", NEVER, lambda c: _through(c)._session.store.erase(c.id, head_of(c), by="", at=1)),
    Row("purge", NEVER, lambda c: _through(c)._session.store.purge(c.id)),
    Row("record", NEVER, lambda c: _through(c)._session.store.record(c.id, generation(9)), "on main"),
    Row("keep_derived", NEVER, _keeps, "of what is shown outside"),
)
