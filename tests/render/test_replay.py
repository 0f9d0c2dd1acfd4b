from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.visible import visible_part
from forky_core.conversation.workspace import Workspace
from forky_core.model import Message, MessageId, Operation, seal
from forky_core.model import view as views
from forky_core.model.errors import ForkyError
from forky_core.model.experiment import CellAddress, RowCheck
from forky_core.model.operation import Change
from forky_core.model.parts import Draft, TextPart
from forky_core.render.material import ShownConversation, log_of, shown_conversation
from forky_core.render.replay import Replay, ReplayState, replay
from forky_core.render.replay_page import film, replay_page
from forky_core.views.listed import continued_cells
from forky_core.welcome import make_welcome
from tests.builders import talk, workspace
from tests.examples import examples
from tests.experiments.grids import capitals, opened
from tests.hangs import HANG


def replayed(forky: Workspace, chat: Conversation) -> Replay:
    return replay(shown_conversation(chat, forky.store), *log_of(chat, forky.store))


def check(forky: Workspace, chat: Conversation, made: Replay) -> None:
    """The picture after each operation is the graph that the conversation had then."""
    operations = chat.history.operations
    stored = forky.store.messages(chat.id)
    assert [frame.number for frame in made.frames] == [operation.number for operation in operations]
    for operation, state in zip(operations, made.states(), strict=True):
        view = views.replayed(operations[: operation.number])
        visible = visible_part(stored, view)
        rows = {made.rows[row].message for row in state.rows}
        assert rows == {id for id, message in visible.messages.items() if not message.hidden}
        assert {
            name: made.rows[row].message if row >= 0 else None for name, row in state.branches.items()
        } == {name: branch.head for name, branch in view.branches.items()}
        assert state.title == view.title
    for edge in made.layout.edges:
        assert edge.source < edge.target, "a message stands below what it continues"


GESTURES = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "say", "say", "fork", "merge", "undo", "redo", "delete", "tag", "restore", "rename"]
        ),
        st.integers(0, 9),
    ),
    max_size=25,
)


@settings(max_examples=examples(40), deadline=None)
@given(GESTURES)
def test_applying_the_differences_gives_the_graph_at_each_operation(gestures: list[tuple[str, int]]) -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Film"), "First.", "Answer.")
    for number, (verb, pick) in enumerate(gestures):
        with suppress(ForkyError):
            gesture(chat, verb, pick, number)
    check(forky, chat, replayed(forky, chat))


def gesture(chat: Conversation, verb: str, pick: int, number: int) -> None:
    names = sorted(chat.branches)
    here = chat.checkout(names[pick % len(names)])
    match verb:
        case "say":
            talk(here, f"Message {number}: the value is {pick}.")
        case "fork":
            path = here.path()
            here.fork(at=path[pick % len(path)].id if path else None)
        case "merge":
            here.merge(here.plan_merge(names[(pick + 1) % len(names)]))
        case "undo":
            chat.undo()
        case "redo":
            chat.redo()
        case "delete":
            here.branches.delete()
        case "tag":
            here.tags.add(f"tag {number}")
        case "restore":
            chat.history.restore(1 + pick)
        case _:
            chat.rename(f"Film {number}")


def test_the_ready_conversation_is_replayed(forky: Workspace) -> None:
    chat = make_welcome(forky)
    made = replayed(forky, chat)
    check(forky, chat, made)
    assert [row.merge for row in made.rows].count(True) == 1


def test_what_was_undone_is_shown_and_goes_again(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which?")
    chat.say("80.", role="assistant")
    chat.undo()
    made = replayed(forky, chat)
    assert [row.text for row in made.rows] == ["Which?", "80."]
    assert made.frames[-1].disappeared == (1,)


@pytest.mark.parametrize("with_log", [True, False])
def test_the_run_of_an_experiment_is_one_step_and_its_cells_are_not_drawn(with_log: bool) -> None:
    forky, _, chat, experiments = opened()
    talk(chat, "Which capitals?", "Those of Europe.")
    experiments.save(capitals(checks=[RowCheck("judge", "Is it right?", model="scripted/judge")]))
    experiments.run("capitals")
    experiments.start("capitals", cells=[CellAddress(2, "one")], again=True).wait(HANG)
    talk(chat, "Thanks.")
    made = folded(forky, chat, with_log=with_log)
    assert [row.text for row in made.rows] == ["Which capitals?", "Those of Europe.", "Thanks."]
    assert set(end_of(made).branches) == {"main"}
    runs = [frame.summary for frame in made.frames if frame.summary.startswith("Ran the experiment")]
    if with_log:
        assert runs == [
            "Ran the experiment “capitals”: 8 cells",
            "Ran the experiment “capitals”: 1 cell",
        ]
        chat.undo()
        chat.undo()
        chat.redo()
        assert len(folded(forky, chat, with_log=True).rows) == 3
    else:
        assert runs == ["Ran the experiment “capitals”: 8 cells asked"]
        assert [frame.number for frame in made.frames] == [1, 2, 3, 4]


@pytest.mark.parametrize("with_log", [True, False])
def test_a_cell_on_which_somebody_went_on_is_drawn_and_so_is_the_one_that_is_checked_out(
    with_log: bool,
) -> None:
    forky, _, chat, experiments = opened()
    talk(chat, "Which capitals?")
    experiments.save(capitals())
    experiments.run("capitals")
    chat.checkout("capitals/1/one").say("Thanks.")
    chat.fork("capitals/ideas").say("Mine.")
    assert continued_cells(chat.view, chat.visible.messages) == {"capitals/1/one", "capitals/ideas"}
    cell = chat.checkout("capitals/2/two")
    made = folded(forky, cell, with_log=with_log)
    end = end_of(made)
    drawn = {"main", "capitals/1/one", "capitals/2/two", "capitals/ideas"}
    assert set(end.branches) == drawn
    for name, row in end.branches.items():
        assert made.rows[row].message == chat.branches[name].head
    assert end.rows == set(range(len(made.rows))) and len(made.rows) == 1 + 3 + 2 + 1
    if with_log:
        chat.undo()
        assert set(end_of(folded(forky, cell, with_log=True)).branches) == drawn


def test_the_replay_of_the_ready_conversation_shows_what_a_person_would_tell(forky: Workspace) -> None:
    chat = make_welcome(forky)
    for with_log in (True, False):
        made = folded(forky, chat, with_log=with_log)
        assert not [name for name in end_of(made).branches if name.startswith("what main knows/")]
        assert sum(frame.summary.startswith("Ran the experiment") for frame in made.frames) == 1
    assert len(replayed(forky, chat).rows) > len(folded(forky, chat, with_log=True).rows) + 8


def folded(forky: Workspace, chat: Conversation, *, with_log: bool) -> Replay:
    """The replay without the cells of experiments."""
    shown = shown_conversation(chat, forky.store)
    given = log_of(chat, forky.store) if with_log else ((), shown.messages)
    return replay(shown, *given, cells=False)


def end_of(made: Replay) -> ReplayState:
    *_, end = made.states()
    return end


def test_a_message_never_changes_its_row_or_lane(forky: Workspace) -> None:
    chat = make_welcome(forky)
    before = replayed(forky, chat)
    talk(chat.fork("more", at=chat.path()[1].id), "And?", "Yes.")
    after = replayed(forky, chat)
    assert [row.message for row in after.rows[: len(before.rows)]] == [row.message for row in before.rows]


def test_without_a_log_the_messages_come_one_after_another(forky: Workspace) -> None:
    chat = make_welcome(forky)
    shown = shown_conversation(chat, forky.store)
    made = replay(shown, (), shown.messages)
    assert len(made.frames) == len(made.rows) == len(shown.messages)
    *_, end = made.states()
    assert {made.rows[row].message for row in end.branches.values()} == {
        branch.head for branch in chat.branches.values()
    }


def test_the_page_holds_what_the_frames_say(forky: Workspace) -> None:
    chat = make_welcome(forky)
    made = replayed(forky, chat)
    page = "".join(replay_page(made))
    block = page.partition('id="film">')[2].partition("</script>")[0]
    assert json.loads(block) == json.loads(json.dumps(film(made)))


def test_ten_thousand_operations_stay_small(forky: Workspace) -> None:
    """A picture for each would be fifty million rows."""
    chat = forky.create("Long")
    messages: dict[MessageId, Message] = {}
    operations: list[Operation] = []
    head: MessageId | None = None
    for number in range(1, 10_001):
        made = seal(
            Draft("user" if number % 2 else "assistant", (TextPart(f"turn {number}"),)),
            (head,) if head else (),
        )
        messages[made.id] = made
        change = Change("heads/main", {"at": head} if head else None, {"at": made.id})
        operations.append(
            Operation(
                chat.id,
                number,
                str(number),
                None,
                number * 10**6,
                "you",
                "ask",
                f"Asked on “main”: turn {number}",
                (change,),
            )
        )
        head = made.id
    shown = shown_conversation(chat, forky.store)
    shown = replace(shown, messages=messages, stems=messages)
    made_film = replay(shown, operations, messages)
    assert sum(len(frame.appeared) for frame in made_film.frames) == 10_000
    assert len("".join(replay_page(made_film))) < 2_500_000
    state = ReplayState(frozenset(), {}, "")
    for frame in made_film.frames[:3]:
        state = state.after(frame)
    assert state.rows == {0, 1, 2}


def test_a_purged_message_leaves_a_hole_and_no_error(forky: Workspace) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    shown: ShownConversation = shown_conversation(chat, forky.store)
    kept = {id: message for id, message in shown.messages.items() if message.role == "user"}
    made = replay(shown, chat.history.operations, kept)
    assert len(made.rows) == 1
