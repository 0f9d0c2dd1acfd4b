"""The words above a payload name the source by the facts of this very merge."""

from __future__ import annotations

from forky_core.model.parts import Draft
from tests.merge.conversations import Talk, forked


def test_a_header_names_the_message_at_which_the_branches_parted() -> None:
    talk = forked()
    fork = talk.path("main")[1]
    header = talk.plan("full").header
    assert f'forked at {fork.id[3:9]} "It runs codegen first."' in header
    assert not any(id[3:9] in header for id in talk.messages if id != fork.id)


def test_a_header_names_a_fork_that_has_no_words_by_its_id_alone() -> None:
    talk = Talk()
    fork = talk.add("main", Draft("assistant", ()))
    talk.say("debug", "user: Why?", "assistant: Because.", at=fork.id)
    talk.say("main", "user: And the tests?", "assistant: They run after it.")
    assert talk.plan("full").header.startswith(
        f'[Merged branch "debug", forked at {fork.id[3:9]}. Its 2 messages'
    )


def test_a_header_says_where_the_branches_share_nothing() -> None:
    talk = Talk()
    talk.say("main", "user: One.", "assistant: Two.")
    talk.say("debug", "user: Three.", "assistant: Four.")
    assert '"debug", sharing no message with this conversation. Its 2' in talk.plan("full").header


def test_a_header_names_the_merge_that_an_earlier_merge_of_the_branch_left() -> None:
    talk = forked()
    (landed, *_) = talk.land(talk.plan("squash"))
    talk.say("debug", "user: And what of strings?", "assistant: They are read as enums.")
    header = talk.plan("full").header
    assert f'"debug", continues merge {landed.id[3:9]}. Its 2 messages' in header
