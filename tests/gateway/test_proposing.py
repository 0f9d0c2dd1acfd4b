"""A token that proposes and lands nothing, at `/v1`: its calls stand on branches of its own."""

from __future__ import annotations

import pytest

from forky_core.model import ConversationId
from forky_core.model.errors import NotAllowed
from forky_core.people.proposing_store import proposing_view
from forky_core.store.contract import Commit
from tests.gateway.served import Served
from tests.gateway.test_recording import ask


def test_its_calls_are_recorded_on_branches_of_its_own_and_no_other_is_continued(spoken: Served) -> None:
    made = spoken.tokens.make("Agent", proposes=True)
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


def test_tokens_with_like_names_write_on_no_branch_of_each_other(spoken: Served) -> None:
    one, other = (spoken.tokens.make(name, proposes=True).token for name in ("Agent", "agent!"))
    first, second = (proposing_view(spoken.forky, token.name, token.id) for token in (one, other))
    chat = first.create("Boats", branch=f"agent-{one.id}/main")
    chat.say("Why do boats float?")
    with pytest.raises(NotAllowed, match=f"below agent-{other.id}/"):
        second.conversation(chat.id, chat.branch.name).say("They sink.")


def test_it_keeps_beside_a_conversation_what_it_may_commit_and_no_more(spoken: Served) -> None:
    view = proposing_view(spoken.forky, "Agent", "7")
    chat = spoken.forky.create("Boats")
    view.store.keep_derived(chat.id, {"claims/1": "No.", "response/1": "Its own.", "tools/1": "[]"})
    kept = spoken.forky.store.derived(chat.id, ("claims/1", "response/1", "tools/1"))
    assert kept == {"response/1": "Its own.", "tools/1": "[]"}
    founding = Commit(ConversationId("new"), "create", "", derived={"published/page": "Cork."})
    with pytest.raises(NotAllowed, match="give anything away"):
        view.store.commit(founding)


def test_a_token_of_before_goes_on_with_any_branch_of_its_conversations(spoken: Served) -> None:
    [token] = spoken.tokens.all()
    assert not token.proposes
    with spoken.client() as client:
        first = client.post("/chat/completions", json=ask("Hi")).json()["choices"][0]["message"]["content"]
        [summary] = spoken.forky.conversations()
        chat = spoken.forky.conversation(summary.id)
        chat.fork("person").say("What of cork?")
        persons = chat.checkout("person")
        persons.say("It floats.", role="assistant")
        client.post("/chat/completions", json=ask("Hi", first, "What of cork?", "It floats.", "And ice?"))
    assert [one.text for one in spoken.forky.conversation(summary.id, "person").path()][-2] == "And ice?"
