"""Ask before merging: what picks point at and leave behind is told, with hidden and already picked ones counted."""

from __future__ import annotations

import pytest

from forky_core.merge.pointing import Dangling, dangling_in
from forky_core.model.parts import Draft, TextPart, ToolCallPart, ToolResultPart
from tests.merge.conversations import Talk, forked


def picked(words: str) -> tuple[Talk, str]:
    talk = forked()
    talk.say("debug", "user: How?", f"assistant: {words}")
    return talk, talk.path("debug")[-1].id


@pytest.mark.parametrize(
    "words",
    [
        "Do it as above.",
        "As mentioned earlier, it is slow.",
        "Use the previous answer.",
        "The above is wrong.",
        "As you said, no.",
        "Siehe oben.",
        "Wie bereits erwähnt geht es nicht.",
        "Das oben genannte Skript.",
        "Comme mentionné, non.",
        "Voir ci-dessus.",
        "Véase más arriba.",
        "如上所述。",
        "上記の通りです。",
    ],
)
def test_dangling_references_are_pointed_out_when_picking(words: str) -> None:
    talk, id = picked(words)
    plan = talk.plan("cherry-pick", picks=(id,))
    assert [(one.message, one.kind) for one in plan.dangling] == [(id, "reference")]
    assert plan.dangling[0].words in words
    assert any("points at a message that does not come along" in warning for warning in plan.warnings)


@pytest.mark.parametrize(
    "words", ["The lid is above the pot.", "It ran the last time.", "Last week it rained.", "Look around."]
)
def test_words_that_point_nowhere_are_left_alone(words: str) -> None:
    talk, id = picked(words)
    assert talk.plan("cherry-pick", picks=(id,)).dangling == ()


def test_what_is_pointed_at_and_comes_along_or_is_there_is_no_loss() -> None:
    talk, id = picked("As above.")
    question = talk.path("debug")[-2].id
    assert talk.plan("cherry-pick", picks=(question, id)).dangling == ()
    first = talk.say("near", "user: As above, but shorter?", at=talk.path("main")[-1].id)
    talk.say("near", "assistant: Short.")
    assert talk.plan("cherry-pick", source="near", picks=(first.id,)).dangling == ()


def test_a_tool_result_left_behind_is_pointed_out() -> None:
    talk = forked()
    talk.say("debug", "user: List")
    call = talk.parts("debug", "assistant", ToolCallPart("ls", "{}", "a"))
    talk.add("debug", Draft("tool", (ToolResultPart("ls", "one.txt", "a"),)), hidden=True)
    talk.say("debug", "assistant: One.")
    plan = talk.plan("cherry-pick", picks=(call.id,))
    assert plan.dangling == (Dangling(call.id, "tool", "ls"),)
    assert any("without its result" in warning for warning in plan.warnings)


def test_hidden_and_already_picked_messages_are_counted() -> None:
    talk = forked()
    hidden = talk.add("debug", Draft("user", (TextPart("structure"),)), hidden=True)
    talk.say("debug", "user: Then?", "assistant: Done.")
    path = [message.id for message in talk.path("debug")[2:]]
    talk.land(talk.plan("cherry-pick", picks=path[:2]))
    plan = talk.plan("cherry-pick", picks=path)
    assert "2 of 5 already picked." in plan.warnings and "1 message hidden, left out." in plan.warnings
    assert hidden.id in [one.message for one in plan.omitted]


def test_every_pointer_is_told_of_its_own_message() -> None:
    talk = forked()
    talk.say("debug", "user: How?", "assistant: As above.", "user: Why?", "assistant: Siehe oben.")
    found = dangling_in([talk.path("debug")[-1], talk.path("debug")[-3]], ())
    assert [one.words for one in found] == ["Siehe oben", "As above"]
