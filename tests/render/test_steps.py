from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model import MessageId
from forky_core.render.material import shown_conversation
from forky_core.render.steps import Presentation, key_of, presentation
from forky_core.welcome import make_welcome
from tests.builders import debugged, talk


def presented(forky: Workspace, chat: Conversation, *sides: str) -> Presentation:
    return presentation(shown_conversation(chat, forky.store), sides)


def test_it_begins_with_the_title_and_has_a_step_for_each_message(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which port?", "8443.")
    made = presented(forky, chat)
    assert [step.kind for step in made.steps] == ["title", "message", "message"]
    assert made.steps[0].heading == "Ports"
    assert [step.key for step in made.steps[1:]] == [key_of(message.id) for message in chat.path()]


def test_a_merge_is_told_in_three_steps(forky: Workspace) -> None:
    chat = debugged(forky)
    chat.merge(chat.plan_merge("debug"))
    made = presented(forky, chat)
    assert [step.kind for step in made.steps[-3:]] == ["branches", "block", "landed"]
    story = made.steps[-1].merge
    assert story is not None
    assert story.base == chat.path()[1].id
    assert story.trunk == tuple(message.id for message in chat.path()[2:-1])
    ((part, line),) = story.sides
    assert part.source == "debug"
    assert line == tuple(message.id for message in chat.checkout("debug").path()[2:])


def test_an_octopus_has_a_line_for_each_source(forky: Workspace) -> None:
    chat = debugged(forky)
    talk(chat.fork("naming"), "How do we call it?", "Decision: call it enumgen.")
    chat.merge(chat.plan_merge(["debug", "naming"]))
    story = presented(forky, chat).steps[-1].merge
    assert story is not None
    assert [part.source for part, _ in story.sides] == ["debug", "naming"]


def test_the_answers_beside_one_are_at_its_step_oldest_first(forky: Workspace) -> None:
    chat = make_welcome(forky)
    made = presented(forky, chat)
    (step,) = [step for step in made.steps if step.alternatives]
    assert step.message is not None
    assert step.message.id in step.alternatives
    assert set(step.alternatives) == set(chat.visible.siblings(step.message.id))
    assert all(made.captions[id] == "Assistant" for id in step.alternatives)


def test_a_comparison_comes_at_the_end_turn_by_turn(forky: Workspace) -> None:
    chat = make_welcome(forky)
    made = presented(forky, chat, "main", "upload")
    assert [step.key for step in made.steps[-3:]] == ["sides", "row-1", "row-2"]
    assert made.comparison is not None
    assert [column.side.key for column in made.comparison.columns] == ["main", "upload"]


def test_a_side_that_is_gone_leaves_the_rest_as_it_is(forky: Workspace) -> None:
    chat = make_welcome(forky)
    assert presented(forky, chat, "main", "gone").steps == presented(forky, chat).steps


def test_every_step_has_a_key_of_its_own_and_something_for_the_speaker(forky: Workspace) -> None:
    made = presented(forky, make_welcome(forky), "main", "upload", "compression")
    keys = [step.key for step in made.steps]
    assert len(set(keys)) == len(keys)
    assert all(step.notes for step in made.steps)
    assert all(made.step(key) is not None for key in keys)
    assert made.step("elsewhere") is None


def test_an_empty_conversation_says_so(forky: Workspace) -> None:
    assert [step.kind for step in presented(forky, forky.create("Empty")).steps] == ["title", "nothing"]


def test_what_was_taken_back_is_marked(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which port?", "80.", "Sure?", "No.")
    asked: MessageId = chat.path()[2].id
    chat.revert(chat.plan_revert(asked))
    gone = [step.message.id for step in presented(forky, chat).steps if step.taken_back and step.message]
    assert asked in gone


def test_a_speakers_note_is_kept_with_the_message_and_can_be_undone(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which port?", "8443.")
    answer = chat.path()[1].id
    chat.note(answer, "Ask who has met this.")
    assert presented(forky, chat).steps[-1].note == "Ask who has met this."
    assert len(chat.path()) == 2
    chat.undo()
    assert presented(forky, chat).steps[-1].note == ""
    chat.redo()
    chat.note(answer, " ")
    assert chat.view.notes == {}
