"""The viewer: what it says of a person is what the guard lets them do, and somebody alone may do everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import InTheWay, NotAllowed
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.viewer import Verb, Viewer
from tests.builders import talk, workspace
from tests.people.people import Office

DOES: Mapping[Verb, Callable[[Workspace, Conversation, Member], object]] = {
    "begin": lambda view, _chat, _me: view.create("Stones"),
    "operate": lambda view, _chat, _me: view.store.set_setting("default_model", "forky/quote"),
    "fork": lambda _view, chat, me: chat.fork(f"{me.handle}/idea"),
    "edit": lambda _view, chat, _me: chat.rename("Ships"),
    "own": lambda view, chat, _me: view.purge(chat.id),
}
"""What a verb permits, for those of them that the guard of the store decides about."""


def viewer_of(here: Office, member: Member) -> Viewer:
    return Viewer(here.guard(member))


def shared(here: Office) -> Conversation:
    ada = here.join("Ada", Role.OWNER)
    chat = talk(here.seen_by(ada).create("Boats"), "Why?", "Because.")
    here.team.sharing.share_with_everyone(chat.id, shared=True, by=ada.id)
    return chat


@pytest.mark.parametrize("verb", DOES)
@pytest.mark.parametrize("role", [Role.VIEWER, Role.COMMENTER, Role.EDITOR, Role.OWNER])
def test_what_the_viewer_may_do_is_what_the_guard_permits(here: Office, role: Role, verb: Verb) -> None:
    chat, me = shared(here), here.join("Me", role)
    about = None if verb in {"begin", "operate"} else chat.id
    says = viewer_of(here, me).may(verb, about)
    view, does = here.seen_by(me), True
    try:
        with suppress(InTheWay):  # The guard permits it; the store refuses what is not in the trash.
            DOES[verb](view, view.conversation(chat.id, "main"), me)
    except NotAllowed:
        does = False
    assert says == does


def test_a_reader_is_told_whom_to_ask_and_others_are_not(here: Office) -> None:
    chat, eve, bob = shared(here), here.join("Eve", Role.VIEWER), here.join("Bob", Role.COMMENTER)
    reads, writes = viewer_of(here, eve), viewer_of(here, bob)
    assert (
        reads.why_only_reads(chat)
        == "You can read this conversation. To write in it, ask Ada, whom it belongs to."
    )
    assert writes.why_only_reads(chat) == ""
    assert reads.why_not("begin", "make tokens") == (
        "Commenters, editors and owners of this workspace make tokens."
    )
    assert writes.why_not("begin", "make tokens") == ""
    assert (reads.mark(chat.id), writes.name_of(eve.id)) == (writes.mark(chat.id), "Eve")


@pytest.mark.parametrize(
    ("role", "own", "name"),
    [
        (Role.COMMENTER, False, "bob/what-else"),
        (Role.EDITOR, False, None),
        (Role.EDITOR, True, "bob/what-else"),
    ],
)
def test_a_fork_gets_a_name_that_its_author_may_write(
    here: Office, role: Role, own: bool, name: str | None
) -> None:
    chat, bob = shared(here), here.join("Bob", role)
    assert viewer_of(here, bob).fork_name(chat, "What else?", own=own) == name


def test_somebody_alone_may_do_everything_and_sees_all_of_it() -> None:
    whole, _models = workspace()
    chat, alone = talk(whole.create("Boats"), "Why?", "Because."), Viewer()
    assert all(alone.may(verb, about) for verb in DOES for about in (None, chat.id))
    assert alone.may_write(chat, "main") and not alone.why_only_reads(chat)
    assert alone.listed(whole.conversations(), "with_me") == whole.conversations()
    assert alone.fork_name(chat, "x", own=True) is None
    assert (alone.id, alone.mark(chat.id), alone.news_in([(chat.id, 1)])) == ("", None, {})
    assert list(alone.noted([b"a"], chat.id, "html")) == [b"a"]
    whole.close()
