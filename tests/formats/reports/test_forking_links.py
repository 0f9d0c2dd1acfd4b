"""Forking what a link shows: the ids hold, what is not shown does not come along, and it merges back."""

from __future__ import annotations

import re

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model.errors import BadContent, NotAllowed, NotFound
from forky_core.people.links.content import part_of_link
from forky_core.people.links.forking import fork_branch, fork_part, forked_before, own_sight_of
from forky_core.people.links.link import NewLink
from forky_core.people.links.links import Links
from forky_core.people.roles import Role
from tests.builders import origin_of, talk, workspace
from tests.formats.reports.given import given
from tests.formats.reports.hidden import with_hidden
from tests.formats.reports.links import link_to
from tests.people.people import office


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
        assert origin_of(own) == (chat.id, "Ports")
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
def test_what_the_page_leaves_out_is_in_no_fork(why: str, forky: Workspace) -> None:
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


def test_costs_and_parameters_are_in_no_fork_and_its_models_are(forky: Workspace) -> None:
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


def test_a_fork_in_which_values_were_replaced_brings_back_only_what_is_new(forky: Workspace) -> None:
    chat = talk(
        forky.create("Sign-in"),
        "ada@example.com and bea@example.com cannot sign in, why?",
        "Look at the clock. Did ada@example.com call +49 30 901820?",
    )
    talk(chat.fork("side"), "What is the time-out?", "The time-out is 30 minutes for ada@example.com.")
    main = chat.checkout("main")
    main.merge(main.plan_merge("side", strategy="squash"))
    talk(main, "Noted.")
    own = forked(forky, link_to(forky, main), forky)
    assert "ada@" not in str(forky.store.messages(own.id))
    talk(own, "And from two places?", "Then [e-mail 1] has two sessions, and the port is 443.")
    for strategy in ("squash", "full", "three-way"):
        plan = main.merges.plan_graft(own, strategy=strategy)
        assert "443" in plan.payload
        for old in ("cannot sign in", "Look at the clock", "30 minutes", "user: What is"):
            assert old not in plan.payload
        assert any("4 messages are copies" in one for one in plan.warnings)
        assert not any("share no message" in one for one in plan.warnings)
    main.merge(main.merges.plan_graft(own, strategy="squash"))
    assert forky.store.verify(chat.id).clean
    talk(own, "And from three?", "Three sessions.")
    plan = main.merges.plan_graft(own, strategy="squash")
    assert "Three sessions" in plan.payload and "443" not in plan.payload


def test_a_fork_without_the_files_and_rules_of_its_original_brings_back_only_what_is_new() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Ports"), "Which?", "Port 80.")
    chat.say("", attachments=[forky.attach(b"salaries", name="salaries.txt")])
    with_hidden(forky, chat, "A note that nobody sees.")
    talk(chat, "It is for ada@example.com.")
    own = forked(forky, link_to(forky, chat), forky)
    talk(own, "And encrypted?", "Port 443.")
    plan = chat.merges.plan_graft(own)
    assert plan.turns == tuple(one.id for one in own.path()[-2:])
    assert plan.fast_forward is None and plan.drafts, "moving there would lose what was left out"


def test_messages_that_only_resemble_the_originals_are_merged(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Ask ada@example.com or bea@example.com?", "Ada, ada@example.com.")
    other = talk(chat.fork("other"), "Why?", "She knows.")
    own = forked(forky, link_to(forky, other), forky)
    talk(own, "Since when?", "Since May.")
    plan = chat.checkout("main").merges.plan_graft(own, strategy="full")
    assert [one.text for one in own.path()][-4:] == ["Why?", "She knows.", "Since when?", "Since May."]
    assert plan.turns == tuple(one.id for one in own.path()[-4:]), "main has the first two, and no more"


def test_short_ids_in_a_merge_lead_to_the_messages_of_the_copy(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Hello, ada@example.com.", "Hi.")
    side = talk(chat.fork("side"), "Which port?", "Port 443 for ada@example.com.", "Why?", "It is encrypted.")
    for strategy in ("squash", "full", "three-way"):
        main = chat.checkout("main").fork(f"with-{strategy}")
        main.merge(main.plan_merge(side, strategy=strategy))
        talk(main, "Fine.")
        again = main.fork(f"again-{strategy}")
        talk(side, f"And {strategy}?", "Port 22.")
        again.merge(again.plan_merge(side, strategy=strategy))
        part = part_of_link(forky, Links(forky.store).find(link_to(forky, again).secret))
        marks = {
            mark
            for message in part.messages.values()
            for merge in message.merges
            for mark in re.findall(r"(?:\[|at |merge )([0-9a-f]{6,32})\b", merge.text)
        }
        assert marks or strategy == "full"
        old = {one.id.partition(":")[2] for one in forky.store.messages(chat.id).values()}
        new = {one.partition(":")[2] for one in part.messages}
        for mark in marks:
            assert any(one.startswith(mark) for one in new), mark
            assert not any(one.startswith(mark) for one in old - new), mark


def test_the_system_prompt_of_a_merged_branch_is_a_rule_and_goes_along_only_with_them() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Ports"), "Which?", "Port 80.")
    side = chat.fork("side")
    side.rules.set(system="Speak like a pirate.")
    talk(side, "And encrypted?", "Port 443, arr.")
    main = chat.checkout("main")
    main.merge(main.plan_merge("side", strategy="squash"))
    talk(main, "Fine.")
    assert "pirate" in str(main.path())
    own = forked(forky, link_to(forky, main), forky)
    assert "pirate" not in str(forky.store.messages(own.id)) and "443" in str(own.path())
    talk(own, "Thanks.", "Port 8443 is free, too.")
    plan = main.merges.plan_graft(own)
    assert "8443" in plan.payload and "Which?" not in plan.payload
    whole = forked(forky, link_to(forky, main, included=("rules",)), forky)
    assert "pirate" in str(whole.path())
