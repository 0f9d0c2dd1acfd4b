"""What a token with scopes reaches and may change: at `/v1`, on branches of its own, and at the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.gateway.tokens import Token, Tokens
from forky_core.model import Change, ConversationId
from forky_core.model.errors import BadContent, ForkyError, NotAllowed, NotFound
from forky_core.model.parts import AttachmentPart
from forky_core.people.token_store import WORKSPACE, TokenRights, token_view
from forky_core.store.contract import Commit
from tests.gateway.served import Served
from tests.gateway.test_recording import ask
from tests.store.talk import generation

PROPOSES = ("read", "ask", "propose")


def rights_of(served: Served, token: Token) -> TokenRights:
    rights = served.tokens.rights(token)
    assert rights is not None
    return rights


def test_its_calls_are_recorded_on_branches_of_its_own_and_no_other_is_continued(spoken: Served) -> None:
    made = spoken.tokens.make("Agent", scopes=PROPOSES)
    with spoken.client(made.text) as client:

        def said(*texts: str) -> str:
            answered = client.post("/chat/completions", json=ask(*texts))
            assert answered.headers["x-forky-recorded"] == "yes"
            return str(answered.json()["choices"][0]["message"]["content"])

        first = said("Hi")
        [summary] = spoken.forky.conversations()
        chat = spoken.forky.conversation(summary.id)
        own = f"agent-{made.token.id}"
        assert list(chat.branches) == [f"{own}/main"]
        second = said("Hi", first, "And then?")
        assert list(chat.branches) == [f"{own}/main"], "a branch that it made goes on"
        persons = chat.fork("person")
        persons.say("What of cork?")
        persons.say("It floats.", role="assistant")
        said("Hi", first, "And then?", second, "What of cork?", "It floats.", "And ice?")
        chat = spoken.forky.conversation(summary.id)
        assert sorted(chat.branches) == [f"{own}/ice", f"{own}/main", "person"]
        assert [one.text for one in chat.checkout("person").path()][-1] == "It floats."


def test_a_session_of_a_token_that_proposes_is_one_conversation_with_its_sub_agents(spoken: Served) -> None:
    made = spoken.tokens.make("Agent", scopes=PROPOSES)
    with spoken.client(made.text) as client:

        def said(*texts: str, thread: str = "s", parent: str = "") -> str:
            headers = {"x-forky-thread": thread, **({"x-forky-parent": parent} if parent else {})}
            answered = client.post("/chat/completions", json=ask(*texts), headers=headers)
            assert answered.headers["x-forky-recorded"] == "yes", answered.headers["x-forky-recorded"]
            return str(answered.json()["choices"][0]["message"]["content"])

        first = said("It is 10:31. Why does it fail?")
        second = said("It is 10:32. Why does it fail?", first, "And then?")
        said("This session is being continued from a previous conversation. It fails.", second, "Mend it")
        found = said("Find the file", thread="a", parent="s")
        said("Find the file", found, "Go on", thread="a", parent="s")
    [summary] = spoken.forky.conversations()
    chat = spoken.forky.conversation(summary.id)
    own = f"agent-{made.token.id}"
    assert {name: len(chat.checkout(name).path()) for name in chat.branches} == {
        f"{own}/find-file": 11,
        f"{own}/main": 7,
    }


def test_tokens_with_like_names_write_on_no_branch_of_each_other(spoken: Served) -> None:
    one, other = (
        spoken.tokens.make(name, scopes=PROPOSES, reach=WORKSPACE).token for name in ("Agent", "agent!")
    )
    first, second = (token_view(spoken.forky, rights_of(spoken, token)) for token in (one, other))
    chat = first.create("Boats", branch=f"agent-{one.id}/main")
    chat.say("Why do boats float?")
    with pytest.raises(NotAllowed, match=f"below agent-{other.id}/"):
        second.conversation(chat.id, chat.branch.name).say("They sink.")


def test_it_keeps_beside_a_conversation_what_it_may_commit_and_no_more(spoken: Served) -> None:
    view = token_view(spoken.forky, TokenRights("Agent", "7", frozenset(PROPOSES)))
    chat = spoken.forky.create("Boats")
    view.store.keep_derived(chat.id, {"claims/1": "No.", "response/1": "Its own.", "tools/1": "[]"})
    kept = spoken.forky.store.derived(chat.id, ("claims/1", "response/1", "tools/1"))
    assert kept == {"response/1": "Its own.", "tools/1": "[]"}
    founding = Commit(ConversationId("new"), "create", "", derived={"published/page": "Cork."})
    with pytest.raises(NotAllowed, match="give anything away"):
        view.store.commit(founding)


def test_a_token_of_before_goes_on_with_any_branch_of_its_conversations(spoken: Served) -> None:
    [token] = spoken.tokens.all()
    assert not token.scopes and spoken.tokens.rights(token) is None
    with spoken.client() as client:
        first = client.post("/chat/completions", json=ask("Hi")).json()["choices"][0]["message"]["content"]
        [summary] = spoken.forky.conversations()
        chat = spoken.forky.conversation(summary.id)
        chat.fork("person").say("What of cork?")
        persons = chat.checkout("person")
        persons.say("It floats.", role="assistant")
        client.post("/chat/completions", json=ask("Hi", first, "What of cork?", "It floats.", "And ice?"))
    assert [one.text for one in spoken.forky.conversation(summary.id, "person").path()][-2] == "And ice?"


def _view(served: Served, *scopes: str, reach: str = WORKSPACE) -> Workspace:
    """The workspace as a new token with these scopes sees it."""
    token = served.tokens.make("Agent", scopes=scopes, reach=reach).token
    return token_view(served.forky, rights_of(served, token))


def test_a_token_stored_before_there_were_scopes_is_what_it_was(spoken: Served) -> None:
    plain, old = (spoken.tokens.make(name) for name in ("plain", "old"))
    entries = json.loads(spoken.forky.store.setting("gateway_tokens") or "[]")
    for entry in entries:
        del entry["scopes"], entry["reach"]
        entry["proposes"] = entry["name"] == "old"
    spoken.forky.store.set_setting("gateway_tokens", json.dumps(entries))
    read = {token.name: token for token in Tokens(spoken.forky.store)._stored() or ()}
    assert read["plain"] == replace(plain.token, scopes=(), reach="calls")
    assert spoken.tokens.rights(read["plain"]) is None and read["plain"].asks
    rights = rights_of(spoken, read["old"])
    assert rights.scopes == {"read", "ask", "propose"} and rights.id == old.token.id


@pytest.mark.parametrize(
    ("scopes", "reach", "says"),
    [(("rule",), "calls", "cannot be given “rule”"), (("read",), "nowhere", "nowhere")],
)
def test_an_unknown_scope_or_reach_is_refused(
    spoken: Served, scopes: tuple[str, ...], reach: str, says: str
) -> None:
    with pytest.raises(ForkyError, match=says):
        spoken.tokens.make("Agent", scopes=scopes, reach=reach)


def test_what_it_does_not_reach_is_not_found_by_any_method(spoken: Served) -> None:
    """The words of the refusal are those for a conversation that does not exist."""
    mine, other = (spoken.forky.create(title) for title in ("Mine", "Secret"))
    mine.say("Cork floats.")
    said = other.say("The password is heron.")
    file = spoken.forky.store.put_blob(b"heron", "text/plain", "heron.txt")
    other.say("See this.", attachments=[AttachmentPart(file, "text/plain", "heron.txt")])
    store = _view(spoken, "land", reach=mine.id).store
    [real] = spoken.forky.store.operations(other.id)[-1:]
    asked: list[Callable[[ConversationId], object]] = [
        store.view,
        store.messages,
        store.generations,
        store.operations,
        store.stems,
        store.verify,
        store.reuse,
        store.purge,
        lambda id: store.path(id, said.id),
        lambda id: store.message(id, said.id),
        lambda id: store.match(id, "b2"),
        lambda id: store.derived(id, ("posted/1",)),
        lambda id: store.search("heron", conversation=id),
        lambda id: store.stretch(id, after=0, most=9),
        lambda id: store.stretch_of_log(id, after=0, most=9),
        lambda id: store.keep_derived(id, {"posted/1": "x"}),
        lambda id: store.record(id, generation(1)),
        lambda id: store.erase(id, said.id, by="", at=1),
        lambda id: store.commit(Commit(id, "say", "", real.changes)),
    ]
    for ask_for in asked:
        words = []
        for id in (other.id, ConversationId("0" * len(other.id))):
            with pytest.raises(NotFound) as refused:
                ask_for(id)
            words.append(str(refused.value).replace(id, "…").replace(id[:8], "…"))
        assert words[0] == words[1]
    assert [one.title for one in store.conversations()] == ["Mine"]
    assert store.search("heron") == () and store.saying("The password is heron.", "user") == ()
    assert store.entries("title").keys() == {mine.id}
    assert store.settings_of(("gateway_tokens", "import/1")) == {}
    assert store.is_taken(other.id)
    with pytest.raises(NotFound):
        store.blob(file)


def test_it_reaches_what_it_began_itself(spoken: Served) -> None:
    spoken.forky.create("Somebody's")
    view = _view(spoken, "land", reach="calls")
    chat = view.create("Its own")
    chat.say("Cork floats.")
    assert [one.title for one in view.conversations()] == ["Its own"]
    assert {one.actor for one in spoken.forky.store.operations(chat.id)} == {"Agent"}
    assert _other(spoken).conversations() == ()


def _other(served: Served) -> Workspace:
    made = served.tokens.make("Agent 2", scopes=("land",)).token
    return token_view(served.forky, rights_of(served, made))


def _answered_on(chat: Conversation) -> None:
    chat.say("What of cork?")
    chat.say("Cork floats, since it is light.", role="assistant")


def _said(chat: Conversation) -> object:
    return chat.say("They sink.")


ACTS: dict[str, Callable[[Conversation], object]] = {
    "say": _said,
    "fork": lambda chat: chat.fork("aside"),
    "rename": lambda chat: chat.rename("Ships"),
    "undo": lambda chat: chat.undo(),
    "rules": lambda chat: chat.rules.set(system="Obey."),
    "trash": lambda chat: chat.trash(),
    "merge": lambda chat: chat.merge(chat.plan_merge("side")),
    "decline": lambda chat: chat.requests.decline(1),
}


@pytest.mark.parametrize("scope", ["read", "ask", "propose", "review"])
@pytest.mark.parametrize("act", ACTS)
def test_only_a_token_that_lands_changes_what_others_made(spoken: Served, scope: str, act: str) -> None:
    chat = spoken.forky.create("Boats")
    chat.say("Why do boats float?")
    _answered_on(chat.fork("side"))
    chat.say("Go on.")
    chat.requests.open("side")
    view, lands = _view(spoken, scope), _other_that_lands(spoken)
    before = len(spoken.forky.store.operations(chat.id))
    with pytest.raises(NotAllowed, match="may not"):
        ACTS[act](view.conversation(chat.id, "main"))
    assert len(spoken.forky.store.operations(chat.id)) == before
    ACTS[act](lands.conversation(chat.id, "main"))
    assert spoken.forky.store.operations(chat.id)[-1].actor == "Lander"


def _other_that_lands(served: Served) -> Workspace:
    made = served.tokens.make("Lander", scopes=("land",), reach=WORKSPACE).token
    return token_view(served.forky, rights_of(served, made))


def test_a_reviewer_comments_and_asks_for_changes_and_approves_nothing(spoken: Served) -> None:
    chat = spoken.forky.create("Boats")
    chat.say("Why do boats float?")
    _answered_on(chat.fork("side"))
    chat.say("Go on.")
    chat.requests.open("side")
    seen = _view(spoken, "review").conversation(chat.id, "main")
    seen.requests.comment(1, "Cork is not said to float.")
    seen.requests.ask_for_changes(1, "Say why.")
    [review] = chat.requests.reviews(1)
    assert (review.by, review.state) == ("Agent", "changes")
    with pytest.raises(NotAllowed, match="approve"):
        seen.requests.approve(1, seen.requests.plan(1))
    with pytest.raises(NotAllowed, match="may not"):
        seen.checkout("side").requests.open("main")


def test_a_token_asks_and_comments_in_no_other_name_and_writes_nothing_that_nobody_can_read(
    spoken: Served,
) -> None:
    chat = spoken.forky.create("Boats")
    chat.say("Why do boats float?")
    _answered_on(chat.fork("side"))
    chat.say("Go on.")
    chat.requests.open("side")
    agent, lander = _view(spoken, "ask", "propose", "review"), _other_that_lands(spoken)
    asked = dict(chat.view.entries["requests/1"])

    def refused(store: Any, key: str, after: Any, error: type[ForkyError] = NotAllowed) -> None:
        change = Change(key, chat.view.entries.get(key), after)
        with pytest.raises(error):
            store.commit(Commit(chat.id, "request", "", (change,)))

    for forged in ({}, {"by": "Agent", "state": "accepted"}, {"by": "Agent", "answered_by": "you"}):
        refused(agent.store, "requests/2", asked | forged)
    refused(agent.store, "requests/2", asked | {"by": "Agent", "comments": [["you", "Land it.", 1]]})
    refused(agent.store, "requests/1", asked | {"comments": [["you", "Land it.", 1]]})
    for view in (agent, lander):
        below = view.below or "x/"
        refused(view.store, f"heads/{below}x", 5, BadContent)
        refused(view.store, f"tags/{below}x", {"at": "b2:" + "0" * 32}, NotFound)
    agent.conversation(chat.id, "main").requests.comment(1, "Cork floats.")
    assert [one.by for one in chat.requests.get(1).comments] == ["Agent"]


def test_a_token_that_is_revoked_writes_nothing_more(spoken: Served) -> None:
    made = spoken.tokens.make("Agent", scopes=("land",), reach=WORKSPACE)
    chat = token_view(spoken.forky, rights_of(spoken, made.token)).create("Boats")
    chat.say("Why do boats float?")
    spoken.tokens.revoke(made.token.id)
    with pytest.raises(NotAllowed, match="was revoked"):
        chat.say("And ice?")
    assert len(spoken.forky.conversation(chat.id).path()) == 1


def test_two_tokens_share_one_tree_and_the_log_says_who(spoken: Served) -> None:
    chat = spoken.forky.create("Boats")
    chat.say("Why do boats float?")
    for name in ("Claude", "Codex"):
        made = spoken.tokens.make(name, scopes=("propose",), reach=chat.id)
        seen = token_view(spoken.forky, rights_of(spoken, made.token)).conversation(chat.id, "main")
        branch = seen.fork(f"{name.lower()}-{made.token.id}/idea")
        branch.say(f"{name} says so.")
        seen.requests.open(branch)
    chat = spoken.forky.conversation(chat.id)
    assert {one.by for one in chat.requests.all} == {"Claude", "Codex"}
    assert {one.actor for one in spoken.forky.store.operations(chat.id)} >= {"Claude", "Codex"}


def test_a_token_that_may_not_ask_is_refused_by_v1(spoken: Served) -> None:
    made = spoken.tokens.make("Agent", scopes=("read",), reach=WORKSPACE)
    with spoken.client(made.text) as client:
        refused = client.post("/chat/completions", json=ask("Hi"))
    assert refused.status_code == 403 and "may ask no model" in refused.text


def test_a_token_that_is_revoked_keeps_nothing_beside_a_conversation(spoken: Served) -> None:
    made = spoken.tokens.make("Agent", scopes=("land",), reach=WORKSPACE)
    store = token_view(spoken.forky, rights_of(spoken, made.token)).store
    chat = spoken.forky.create("Boats")
    spoken.tokens.revoke(made.token.id)
    with pytest.raises(NotAllowed, match="was revoked"):
        store.keep_derived(chat.id, {"passages": "x"})
    store.keep_derived(chat.id, {"passages": "x"}, waits=False)
    assert not spoken.forky.store.derived(chat.id, ("passages",))


def test_a_file_that_a_conversation_names_since_is_seen_by_who_looked_before(spoken: Served) -> None:
    chat = spoken.forky.create("Boats")
    made = spoken.tokens.make("Agent", scopes=("read",), reach=chat.id)
    store = token_view(spoken.forky, rights_of(spoken, made.token)).store
    file = spoken.forky.store.put_blob(b"a boat", "text/plain", "boat.txt")
    with pytest.raises(NotFound):
        store.blob(file)
    chat.say("Look.", attachments=[AttachmentPart(file, "text/plain", "boat.txt")])
    assert store.blob(file).content == b"a boat"
