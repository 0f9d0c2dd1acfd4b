from __future__ import annotations

import inspect
from collections.abc import Mapping

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import NotFound, NothingToDo
from tests.builders import begun, talk, workspace
from tests.programs import CHECKOUT

MOST = 47
"""Public names of a handle: what somebody reads who types `chat.` and waits for the list."""
NAMESPACES = {
    name: inspect.signature(value.fget).return_annotation.partition("[")[0]
    for name, value in vars(Conversation).items()
    if isinstance(value, property) and value.fget is not None
}


def public(kind: type) -> list[str]:
    return sorted(name for name in dir(kind) if not name.startswith("_"))


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return forky.create("Names")


def test_a_handle_has_few_names_of_its_own(chat: Conversation) -> None:
    names = {name for name in dir(chat) if not name.startswith("_")}
    assert "branch_name" in names
    assert len(names) <= MOST, sorted(names)


def test_every_name_of_a_handle_says_what_it_does() -> None:
    silent = [name for name in public(Conversation) if not inspect.getdoc(getattr(Conversation, name))]
    assert silent == []


def test_every_topic_is_in_the_reference(chat: Conversation) -> None:
    reference = (CHECKOUT / "docs" / "reference.md").read_text("utf-8")
    for name in NAMESPACES:
        kind = type(getattr(chat, name))
        assert f".{kind.__name__}\n" in reference, kind


@pytest.mark.parametrize("name", NAMESPACES)
def test_every_public_member_behind_a_name_has_a_docstring(chat: Conversation, name: str) -> None:
    kind = type(getattr(chat, name))
    own = [member for member in vars(kind) if not member.startswith("_")]
    assert own
    # The class's own docstring, and not one that it inherits.
    assert [member for member in own if not vars(kind)[member].__doc__] == []


def test_what_stands_behind_a_name_follows_a_renamed_branch(chat: Conversation) -> None:
    rules, replies, documents = chat.rules, chat.replies, chat.documents
    assert chat.branches.rename("trunk") is chat
    rules.set(system="Be brief.")
    documents.append("The pump is called X200.")
    assert replies.current is None
    assert rules.current.system == "Be brief."
    assert [document.id for document in chat.documents.documents()] == list(rules.current.documents.own)


def test_a_branch_that_was_looked_up_is_asked_and_read() -> None:
    chat, models = begun("Which port?", "8080.", title="Ports")
    debug = chat.fork("debug")
    models.one.enqueue("8443.")
    before = chat.branches["debug"]
    reply = before.ask("And over TLS?", model="scripted/one")
    after = chat.branches["debug"]
    assert [message.text for message in after.messages] == ["Which port?", "8080.", "And over TLS?", "8443."]
    assert [message.text for message in before.messages] == ["Which port?", "8080."]
    assert (after.head, after.rules, after.name) == (reply.id, debug.branch.rules, "debug")
    assert type(after.chat) is Conversation and after.chat.head == reply
    assert after == debug.branch != before and debug.branch == after and after != "debug"
    assert chat.branches.begin("empty").branches["empty"].messages == ()


def test_a_conversation_yields_its_messages(chat: Conversation) -> None:
    assert list(chat) == []
    talk(chat, "Which port?", "8080.")
    assert [message.text for message in chat] == ["Which port?", "8080."] and list(chat) == [*chat.path()]


def test_a_diff_has_what_only_one_of_two_branches_says(chat: Conversation) -> None:
    talk(chat, "Which port?", "8080.")
    side, empty = chat.fork("side"), chat.branches.begin("empty")
    talk(side, "And over TLS?", "8443.")
    talk(chat, "Thanks.", "You are welcome.")

    def said(left: str, right: str) -> tuple[list[str], list[str]]:
        found = chat.diff(left, right)
        return [one.text for one in found.left], [one.text for one in found.right]

    thanks, tls = ["Thanks.", "You are welcome."], ["And over TLS?", "8443."]
    assert said("main", "side") == (thanks, tls) and said("side", "main") == (tls, thanks)
    assert said("main", "main") == ([], [])
    assert said("empty", "side") == ([], ["Which port?", "8080.", *tls])
    chat.merge(chat.plan_merge("side"))
    assert said("main", "side")[1] == [] and chat.diff("side", "main").right[-1] == chat.head
    with pytest.raises(NotFound):
        chat.diff("main", "nowhere")
    assert empty.head is None


def test_branches_are_a_mapping_of_the_current_view(chat: Conversation) -> None:
    branches = chat.branches
    aside = branches.begin("aside")
    assert isinstance(branches, Mapping)
    assert (list(branches), len(branches)) == (["aside", "main"], 2)
    assert branches == chat.view.branches == dict(branches.items())
    assert list(branches.values()) == [branches[name] for name in branches]
    assert list(branches.keys()) == list(branches)
    assert repr(branches) == "<Branches ['aside', 'main']>"
    chat.branches.delete(aside.branch_name)
    assert "aside" not in branches
    with pytest.raises(KeyError):
        _ = branches["aside"]
    with pytest.raises(NotFound):
        chat.branches.delete("aside")


def test_tags_are_a_mapping_from_names_to_messages(chat: Conversation) -> None:
    tags = chat.tags
    with pytest.raises(NothingToDo, match="nothing to tag"):
        tags.add("first")
    first = chat.say("Hello")
    chat.say("Hello again")
    tags.add("first", at=first.id)
    tags.add("last")
    assert dict(tags.items()) == {"first": first.id, "last": chat.path()[-1].id} == chat.view.tags
    assert set(tags.values()) == {first.id, chat.path()[-1].id}
    assert list(tags.keys()) == list(tags)
    assert (len(tags), repr(tags)) == (2, "<Tags ['first', 'last']>")
    tags.remove("last")
    assert set(tags) == {"first"}
    with pytest.raises(NotFound, match="no tag"):
        tags.remove("last")


def test_stashes_are_listed_until_they_are_dropped(chat: Conversation) -> None:
    kept = chat.stashes.create(draft="Later")
    assert chat.stashes.all == (kept,) == chat.view.stashes
    chat.stashes.drop(kept.number)
    assert not chat.stashes.all


def test_the_documents_of_a_conversation_are_found_from_each_of_its_branches(chat: Conversation) -> None:
    (shared,) = chat.documents.of_conversation.extend(["The warranty of the X200 pump is two years."])
    own = chat.documents.append("The X200 pump weighs nine kilograms.")
    aside = chat.checkout(chat.branches.begin().branch_name)
    chat.documents.remove(own.id)
    assert [one.id for one in chat.documents.documents()] == []
    for each in (chat, aside):
        assert each.documents.of_conversation.documents() == (shared,)
        assert shared.id in {one.document.id for one in each.documents.retrieve("warranty of the pump")}
