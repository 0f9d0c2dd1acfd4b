"""A note is the writer's: checked, verified and mended once; what fails is struck out with its reason."""

from __future__ import annotations

import pytest

from forky_core.merge.written.material import NoteMaterial
from forky_core.merge.written.note import NoteFailed, WrittenNote, without
from forky_core.model import Failure
from forky_core.model.errors import ModelError
from tests.merge.written.branches import PORT, Answers, branch, noted, supports_all

GOOD = "The read timeout of `/upload` is 90 seconds (was 45, then 120). It is not reloaded; that waits for Friday."
BAD = f"{GOOD} The load test on Marcus' machine passed."
MATERIAL = branch(*PORT)


def states(note: WrittenNote) -> list[str]:
    return [one.state for one in note.sentences]


def down(kind: str = "overloaded") -> ModelError:
    return ModelError(Failure(kind, "The provider is busy."))


def test_a_note_that_holds_lands_as_it_was_written_and_asks_two_models_once() -> None:
    writer, verifier = (
        Answers(GOOD),
        Answers('1: supported m6 "90 seconds now"\n2: supported m4 "not reloaded"'),
    )
    note = noted(MATERIAL, writer, verifier)
    assert without(note) == GOOD
    assert states(note) == ["stands", "stands"]
    assert (len(writer.asked), len(verifier.asked)) == (1, 1)
    assert MATERIAL.messages[5].id in note.sentences[0].sources
    assert set(note.sentences[1].sources) >= {MATERIAL.messages[3].id}
    assert note.remarks == ()


def test_the_request_shows_the_material_first_and_whole() -> None:
    writer = Answers(GOOD)
    noted(MATERIAL, writer, target=MATERIAL.messages[:2])
    asked = writer.asked[0]
    assert asked.index("k1 | user") < asked.index("m1 | user") < asked.index("Write them a note")
    assert all(message.text in asked for message in MATERIAL.messages)


def test_what_is_made_up_is_mended_once_and_else_struck_out() -> None:
    writer = Answers(BAD, GOOD)
    note = noted(MATERIAL, writer)
    assert without(note) == GOOD and "Marcus" in writer.asked[1] and "Nobody named" in writer.asked[1]
    stubborn = noted(MATERIAL, BAD)
    assert without(stubborn) == GOOD
    assert states(stubborn) == ["stands", "stands", "struck"]
    assert "Marcus" in stubborn.sentences[2].why


def test_what_the_branch_contradicts_is_struck_out_with_the_place() -> None:
    stale = "The timeout of `/upload` is 120 seconds. The reload waits for Friday."
    note = noted(MATERIAL, stale, Answers('1: out of date m6 "It is 90 seconds now"\n2: supported'))
    assert states(note) == ["struck", "stands"]
    assert note.sentences[0].place == MATERIAL.messages[5].id
    assert "90 seconds now" in note.sentences[0].why
    assert without(note) == "The reload waits for Friday."


def test_a_verifier_s_word_needs_words_that_stand_there() -> None:
    """One that says no to everything only leaves marks, and a person is told that it confirmed nothing."""
    note = noted(MATERIAL, GOOD, Answers('1: contradicted m2 "it is 30 seconds"\n2: contradicted'))
    assert states(note) == ["not confirmed", "not confirmed"]
    assert without(note) == GOOD
    assert note.remarks == ("The verifier confirmed nothing of it.",)


def test_a_verdict_that_a_verifier_quotes_beside_its_own_confirms_nothing() -> None:
    stale = "The timeout of `/upload` is 120 seconds. The reload waits for Friday."
    said = (
        '1: out of date m6 "It is 90 seconds now"\n2: supported\nA page in the branch says:\n1: supported m2'
    )
    for lines in (said, "\n".join(reversed(said.splitlines()))):
        assert states(noted(MATERIAL, stale, Answers(lines))) == ["not confirmed", "stands"]


def test_a_verifier_that_breaks_off_leaves_the_rest_unread() -> None:
    assert states(noted(MATERIAL, GOOD, Answers("1: supported"))) == ["stands", "unread"]
    quiet = noted(MATERIAL, GOOD, Answers("I think it is all fine."))
    assert states(quiet) == ["unread", "unread"]
    broken = noted(MATERIAL, GOOD, Answers(down()))
    assert states(broken) == ["unread", "unread"]
    assert "busy" in broken.remarks[0]
    with pytest.raises(ModelError):
        noted(MATERIAL, GOOD, Answers(down("stopped")))


def test_a_writer_that_does_not_answer_the_second_time_keeps_its_first_note() -> None:
    assert without(noted(MATERIAL, Answers(BAD, down()))) == GOOD
    assert without(noted(MATERIAL, Answers(BAD, ""))) == GOOD


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "nothing"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ('{"note": "The limit is 90 seconds."}', "JSON"),
        ("It is 90 seconds now. " * 5, "again and again"),
        ("\n".join(PORT), "gave the conversation back"),
    ],
)
def test_what_is_no_note_fails_with_a_sentence(answer: str, why: str) -> None:
    with pytest.raises(NoteFailed, match=why):
        noted(MATERIAL, answer)


def test_a_note_over_its_room_is_asked_for_again_and_then_cut_at_its_end() -> None:
    long = " ".join(
        f"Step {at % 3} of the upload waits for the balancer of Ana, and so it goes on." for at in range(2)
    )
    many = " ".join(
        f"{long} The route number {at % 3} is left as it is for a reason of its own {'x' * at}."
        for at in range(12)
    )
    writer = Answers(many)
    note = noted(MATERIAL, writer, room=60)
    assert "too long" in writer.asked[1]
    assert states(note)[-1] == "struck" and "room" in note.sentences[-1].why
    assert 0 < len(without(note)) < len(many) / 2


def test_a_note_in_another_language_says_so() -> None:
    note = noted(MATERIAL, "Das Limit ist jetzt 90 und der Neustart ist auf den Freitag verschoben.")
    assert "another language" in note.remarks[0]


def test_ids_that_nobody_asked_for_and_a_fence_are_taken_off() -> None:
    note = noted(MATERIAL, f"```markdown\n{GOOD} [m6]\n```")
    assert note.text == GOOD


def test_a_note_is_kept_and_read_again_as_it_was() -> None:
    note = noted(MATERIAL, BAD)
    assert WrittenNote.from_json(note.to_json()) == note
    assert WrittenNote.from_json('{"lines": []}') is None


def test_the_earlier_part_of_a_long_branch_counts_as_said() -> None:
    rest = NoteMaterial(MATERIAL.messages[4:])
    known = noted(rest, "Before, Marcus had set 45.", so_far="Marcus had set 45 seconds.", check=supports_all)
    assert states(known) == ["stands"]


def test_of_a_long_branch_the_verifier_is_shown_what_lies_nearest() -> None:
    lines = [f"user: Filler number {at} says {'nothing of weight ' * 30}" for at in range(300)]
    material = branch(*PORT, *lines)
    verifier = Answers("1: supported")
    noted(material, "The limit of `/upload` is 90 seconds for the balancer.", verifier, room=4000)
    assert "It is 90 seconds now" in verifier.asked[0]
    assert len(verifier.asked[0]) < 100_000 < sum(len(one.text) for one in material.messages)


def test_what_rests_on_messages_that_the_verifier_was_not_shown_is_unread_and_not_unconfirmed() -> None:
    long = [f"assistant: The log of run {at} on the balancer: {'queue waits, ' * 4000}" for at in range(3)]
    material = branch(*PORT, *long, "user: The pelican is blue, and the pelican is called Ada.")
    text = "The limit is 90 seconds. The log of run 0 waits on a queue. The log of run 2 waits on a queue."
    note = noted(material, text, Answers("1: not shown\n2: not shown\n3: not shown"), room=4000)
    assert states(note) == ["not confirmed", "unread", "not confirmed"]
    assert "what was read of the branch" in note.sentences[0].why and "too long" in note.sentences[1].why
    assert note.remarks == ("1 of 3 sentences were not verified.",)


def test_what_a_verifier_did_not_speak_of_is_said() -> None:
    part = noted(MATERIAL, GOOD, Answers("1: supported"))
    assert part.remarks == ("1 of 2 sentences were not verified.",)
    assert noted(MATERIAL, GOOD, None).remarks == ()
    assert states(noted(MATERIAL, GOOD, Answers("1: Unsupported\n2: not supported"))) == ["not confirmed"] * 2


def test_the_verifier_sees_the_headings_and_may_quote_more_than_once() -> None:
    verifier = Answers('1: out of date "Raised to 120 seconds", m6 "It is 90 seconds now"\n2: supported')
    note = noted(
        MATERIAL, "**Now**\n- The limit is 120 seconds for uploads.\n- The reload waits for Friday.", verifier
    )
    assert "The note as it stands:\n**Now**" in verifier.asked[0]
    assert states(note) == ["struck", "stands"]
    assert note.sentences[0].place == MATERIAL.messages[5].id
