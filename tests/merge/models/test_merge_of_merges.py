"""Lines that a model wrote about a branch, where that branch is merged again: they cite what they were written from."""

from __future__ import annotations

from forky_core.merge.models.squash import squash_with_model
from forky_core.merge.plan import MergePlan
from tests.merge.conversations import Talk

RESULT = "Codegen is fixed on enums by setting ENUM_BASE=16."
FACT = "`out/table_3.json` comes from step 3 and follows codegen."
NOTE = f"Facts\n- {FACT} [m10]\nResult\n- {RESULT} [m2]"


def written_into_debug() -> tuple[Talk, list[str]]:
    """`debug` with a written merge of `deep` and turns after it; and the ids that the merge's lines cite."""
    talk = Talk()
    shared = talk.say("main", "user: How does the build work?", "assistant: It runs codegen first.")
    talk.say("debug", "user: Let us look at the build.", at=shared.id)
    begun = talk.say("debug", "assistant: Where do we begin? There is much output to read before we decide.")
    talk.say("deep", "user: Why does codegen fail on enums?", at=begun.id)
    talk.say("deep", "assistant: Because enum_table.py reads port 8080. Set ENUM_BASE=16 to fix it.")
    for number in range(8):
        talk.say("deep", f"user: What does step {number} do?")
        talk.say("deep", f"assistant: Step {number} writes out/table_{number}.json. It follows codegen.")
    deep = talk.path("deep")[4:]
    talk.land(written(talk.plan("squash", target="debug", source="deep"), talk, NOTE))
    talk.say("debug", "user: And the docs?", "assistant: `make docs` builds the docs in 40 s.")
    for number in range(6):
        talk.say("debug", f"user: And chapter {number}, what is in it, please, for the record?")
        talk.say(
            "debug", f"assistant: Chapter {number} tells how to set option x{number} and who may change it."
        )
    return talk, [deep[1].id[3:9], deep[9].id[3:9]]


def written(plan: MergePlan, talk: Talk, note: str) -> MergePlan:
    return squash_with_model(plan, lookup=talk.messages.__getitem__, ask=lambda _: note, model="test/model")


def test_quoted_lines_stand_beside_written_ones_which_keep_their_words_their_citations_and_their_sections() -> (
    None
):
    talk, (fix, step) = written_into_debug()
    rows = talk.plan("squash").payload.splitlines()
    assert rows.count(f"- {RESULT} [{fix}]") == 1
    assert rows.count(f"- {FACT} [{step}]") == 1
    assert rows.index("Facts:") < rows.index(f"- {FACT} [{step}]") < rows.index("Result:")
    assert rows.index("Result:") < rows.index(f"- {RESULT} [{fix}]")


def test_a_written_line_that_is_merged_again_is_neither_a_quotation_nor_said_by_the_merge() -> None:
    talk, (fix, _) = written_into_debug()
    merge = next(message for message in talk.path("debug") if message.merges)
    plan = talk.plan("squash")
    line = next(row for row in plan.payload.splitlines() if RESULT in row)
    assert line.startswith("- ") and fix in line and merge.id[3:9] not in plan.payload
    assert merge.id in plan.turns and plan.block is not None and merge.id in plan.block.messages


def test_a_model_that_cites_the_earlier_merge_cites_what_that_was_written_from() -> None:
    talk, (fix, _) = written_into_debug()
    again = "Result\n- ENUM_BASE=16 fixes codegen on enums. [m3]\nFacts\n- `make docs` builds the docs. [m5]"
    rows = written(talk.plan("squash"), talk, again).payload.splitlines()
    assert f"- ENUM_BASE=16 fixes codegen on enums. [{fix}]" in rows


def test_a_third_merge_still_cites_the_first_messages_once() -> None:
    talk, (fix, step) = written_into_debug()
    talk.land(talk.plan("squash"))
    talk.heads["other"] = talk.path("main")[0].id
    payload = talk.plan("squash", target="other", source="main").payload
    assert payload.count(RESULT) == 1 and f"{RESULT} [{fix}]" in payload
    assert payload.count(FACT) == 1 and f"{FACT} [{step}]" in payload
