"""Forking what a link shows: the ids hold, what is not shown does not come along, and it merges back."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import BadContent, NotAllowed, NotFound
from forky_core.publishing.links.content import part_of_link
from forky_core.publishing.links.forking import fork_branch, fork_part, forked_before, own_sight_of
from forky_core.publishing.links.link import NewLink
from forky_core.publishing.links.links import Links
from forky_core.team.roles import Role
from tests.builders import talk, workspace
from tests.publishing.given import given
from tests.publishing.hidden import with_hidden
from tests.publishing.links import link_to
from tests.team.people import office


def forked(whole: Workspace, new: NewLink, into: Workspace) -> Conversation:
    return fork_part(into, part_of_link(whole, Links(whole.store).find(new.secret)))


def test_a_person_forks_what_another_shared_and_it_merges_back() -> None:
    with office() as here:
        ada, ben = here.join("Ada"), here.join("Ben")
        hers, his = here.seen_by(ada), here.seen_by(ben)
        chat = talk(hers.create("Ports"), "Which port?", "Port 80.")
        talk(chat.fork("other"), "Nobody else reads this.")
        new = link_to(hers, chat)
        own = forked(here.whole, new, his)
        assert [one.id for one in own.path()] == [one.id for one in chat.path()]
        assert own.view.entries["forked_from"] == {"id": chat.id, "name": "Ports"}
        assert list(own.view.branches) == ["main"]
        assert "Nobody else" not in str(his.store.messages(own.id))
        assert not his.search("Nobody") and his.store.verify(own.id).clean
        with pytest.raises(NotFound):
            his.conversation(chat.id)
        talk(own, "And encrypted?", "Decision: port 443.")
        here.team.sharing.share(own.id, ada.id, Role.VIEWER, by=ben.id)
        plan = chat.merges.plan_graft(hers.conversation(own.id))
        assert "443" in plan.payload and len(plan.graft.taken_in if plan.graft else ()) == 2, (
            "only what is new"
        )
        chat.merge(plan)
        assert chat.head is not None and any("443" in merge.text for merge in chat.head.merges)
        assert hers.store.verify(chat.id).clean


def test_a_commenter_may_fork_into_a_branch_below_their_handle() -> None:
    with office() as here:
        ada, ben = here.join("Ada"), here.join("Ben", Role.COMMENTER)
        hers, his = here.seen_by(ada), here.seen_by(ben)
        chat = talk(hers.create("Ports"), "Which port?", "Port 80.")
        new = link_to(hers, chat)
        link = Links(here.whole.store).find(new.secret)
        part = part_of_link(here.whole, link)
        assert own_sight_of(his, link) is None
        here.team.sharing.share(chat.id, ben.id, Role.COMMENTER, by=ada.id)
        seen = own_sight_of(his, link)
        assert seen is not None
        with pytest.raises(NotAllowed):
            fork_branch(seen, part, "idea")
        made = fork_branch(seen, part, "ben/idea")
        assert made.head == chat.head


def test_who_may_begin_no_conversation_cannot_fork() -> None:
    with office() as here:
        ada, eve = here.join("Ada"), here.join("Eve", Role.VIEWER)
        chat = talk(here.seen_by(ada).create("Ports"), "Which port?", "Port 80.")
        new = link_to(here.seen_by(ada), chat)
        with pytest.raises(NotAllowed):
            forked(here.whole, new, here.seen_by(eve))


@pytest.mark.parametrize("why", ["hidden", "private", "file"])
def test_what_the_page_leaves_out_is_in_no_fork(why: str) -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Ports"), "Which?", "Port 80.")
    secret = {"hidden": "nobody sees", "private": "ada@example.com", "file": "salaries"}[why]
    if why == "hidden":
        with_hidden(forky, chat, "A note that nobody sees.")
        chat.say("And then?")
    elif why == "private":
        chat.say("Write to ada@example.com.")
    else:
        chat.say("Here.", attachments=[forky.attach(b"salaries", name="salaries.txt")])
    into, _ = workspace()
    own = forked(forky, link_to(forky, chat), into)
    held = [
        str(into.store.messages(own.id)),
        str(into.store.view(own.id)),
        str(into.store.generations(own.id)),
    ]
    assert secret not in "".join(held)
    ours, theirs = [one.id for one in own.path()], [one.id for one in chat.path()]
    assert ours[:2] == theirs[:2] and ours[2:] != theirs[2:], "ids hold up to there"
    origin = own.view.entries["forked_from"]
    assert isinstance(origin, dict) and origin["of"] == chat.id


def test_costs_and_parameters_are_in_no_fork_and_its_models_are() -> None:
    forky, _ = workspace()
    chat = forky.create("Ports", system="Speak like a pirate.")
    chat.ask("Which port?")
    into, _ = workspace()
    own = forked(forky, link_to(forky, chat), into)
    (call,) = into.store.generations(own.id)
    assert call.model == "scripted/one" and call.usage.completion_tokens is None and not call.parameters
    assert own.branch.rules.system is None
    whole = forked(forky, link_to(forky, chat, included=("rules", "costs")), into)
    assert whole.branch.rules.system == "Speak like a pirate."


def test_a_link_to_something_as_it_was_is_forked_as_it_was() -> None:
    made = given()
    new = link_to(made.forky, made.chat, "conversation")
    heads = {name: one.head for name, one in made.chat.view.branches.items() if "/" not in name}
    made.chat.say("Later.")
    made.chat.checkout("debug").branches.delete()
    own = forked(made.forky, new, made.forky)
    assert {name: one.head for name, one in own.view.branches.items()} == heads
    before = forked_before(made.forky, part_of_link(made.forky, Links(made.forky.store).find(new.secret)))
    assert before is not None and before.id == own.id


def test_a_comparison_cannot_be_forked_and_neither_can_one_message() -> None:
    made = given()
    for thing, which in (("comparison", ("main", "debug")), ("message", (made.chat.path()[0].id,))):
        new = link_to(made.forky, made.chat, thing, *which)
        with pytest.raises(BadContent, match="cannot be forked"):
            forked(made.forky, new, made.forky)
