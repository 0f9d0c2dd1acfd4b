"""A token that proposes and lands nothing, at `/v1`: its calls stand on branches of its own."""

from __future__ import annotations

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
        assert list(chat.branches) == ["agent/main"]
        second = said("Hi", first, "And then?")
        assert list(chat.branches) == ["agent/main"], "a branch that it made goes on"
        persons = chat.fork("person")
        persons.say("What of cork?")
        persons.say("It floats.", role="assistant")
        said("Hi", first, "And then?", second, "What of cork?", "It floats.", "And ice?")
        chat = spoken.forky.conversation(summary.id)
        assert sorted(chat.branches) == ["agent/and-ice", "agent/main", "person"]
        assert [one.text for one in chat.checkout("person").path()][-1] == "It floats."


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
