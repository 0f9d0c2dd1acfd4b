"""A database with a bit of everything that the tables for analysis tell of."""

from __future__ import annotations

from pathlib import Path

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.parts import Draft, TextPart
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.welcome import make_welcome
from tests.builders import talk, workspace


def fill(path: Path) -> tuple[Workspace, DuckDBStore, Conversation]:
    """The ready conversation with a three-way merge, and what was taken back, pruned, tagged, stashed and trashed."""
    store = DuckDBStore.open(path)
    forky, _ = workspace(store)
    chat = make_welcome(forky)
    chat.merge(chat.plan_merge("upload", strategy="three-way"))
    side = chat.fork("side")
    side.say("This is taken back.")
    side.undo()
    kept = side.ask("Is this kept? Write to ada@example.com.")
    side.tags.add("kept", kept.id)
    side.ask("And this?")
    side.branches.prune(side.branches.plan_prune(side.path()[-1].id))
    side.stashes.create(draft="put aside")
    side.append([Draft("assistant", (TextPart("Two parts, "), TextPart("and “quotes” with \\ and \x00.")))])
    chat.fork("gone").say("Deleted with its branch.")
    chat.branches.delete("gone")
    ports = talk(forky.create("Ports"), "Where does it listen?", "Let us see.")
    talk(ports.fork("debug"), "And?", "The port is 9090.")
    ports.merge(talk(ports, "So?", "The port is 8080.").plan_merge("debug", strategy="three-way"))
    voted = ports.fork("voted")
    voted.ask("Which one is clearer?")
    ports.fork("third").ask("A third?")
    for candidates, title, blind in (
        (("voted", "debug"), "Clearer?", True),
        (("voted", "third"), "Hidden", True),
        (("third", "debug"), "", False),
    ):
        poll = voted.polls.open(candidates, title=title, blind=blind)
        voted.polls.vote(poll.number, "tie", note="Both are.")
    voted.polls.reveal(1)
    request = ports.requests.open(voted, note="Both are clear.", strategy="squash")
    ports.requests.open([voted, "third"], strategy="full")
    reviewed = Workspace(store, forky.models, actor="ada").conversation(ports.id)
    reviewed.requests.ask_for_changes(request.number, "Shorter.")
    reviewed.requests.approve(request.number, text="Good.")
    reviewed.requests.ask_for_changes(2, "Not this.")
    reviewed.requests.withdraw_review(2)
    other = forky.create("Another, in the trash")
    other.ask("Hello?")
    other.trash()
    return forky, store, chat
