"""What the person took back in prose, set against what contradicts it."""

from __future__ import annotations

from forky_core.merge.superseded import superseded_in
from tests.merge.conversations import Talk


def test_what_a_person_takes_back_is_found_wherever_it_was_said() -> None:
    """The contradiction is found with the first of both sentences; the second says the same, without its full stop."""
    talk = Talk()
    talk.say("main", "user: use port 8080 for the server. It is free; use port 8080 for the server")
    talk.say("main", "assistant: Noted.", "user: Actually, use port 9090 for the server instead of 8080.")
    found = superseded_in(talk.path("main"))
    assert [one.earlier for one in found] == ["use port 8080 for the server.", "use port 8080 for the server"]


def test_what_a_model_takes_back_is_not_told() -> None:
    talk = Talk()
    talk.say(
        "main", "user: Use port 8080 for the server.", "assistant: Actually, use port 9090 instead of 8080."
    )
    assert superseded_in(talk.path("main")) == ()
