from __future__ import annotations

import json
from typing import Any

import pytest

from forky_core.context.citing import documents_cited
from forky_core.errors import ModelError
from forky_core.llm.contract import ProviderMessage
from forky_core.merge.models.squash import SquashRejected, squash_with_model
from forky_core.merge.plan import MergePlan
from forky_core.model import Failure
from tests.merge.conversations import Talk, forked


def long_talk() -> Talk:
    talk = forked()
    for number in range(12):
        talk.say("debug", f"user: What does step {number} do, and why do we need it at all in this build?")
        talk.say(
            "debug",
            f"assistant: Step {number} writes out/table_{number}.json. It must not run before codegen <b>.",
        )
    return talk


def ids(talk: Talk) -> list[str]:
    return [message.id[3:9] for message in talk.path("debug")[2:]]


def claim(talk: Talk, **other: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "text": "Setting ENUM_BASE=16 fixes codegen on enums.",
        "cites": [ids(talk)[1]],
        "quote": "Set ENUM_BASE=16 to fix it.",
    } | other


def squashed(talk: Talk, answer: str, **more: Any) -> MergePlan:
    return squash_with_model(
        talk.plan("squash"),
        lookup=talk.messages.__getitem__,
        ask=lambda _: answer,
        model="test/model",
        **more,
    )


def rejected(talk: Talk, answer: str, **more: Any) -> SquashRejected:
    with pytest.raises(SquashRejected) as caught:
        squashed(talk, answer, **more)
    return caught.value


def test_claims_become_sections_with_the_id_of_their_message_at_each_end() -> None:
    talk = long_talk()
    fact = claim(
        talk, type="fact", text="Step 3 writes out/table_3.json.", cites=[ids(talk)[9]], quote="Step 3 writes"
    )
    plan = squashed(talk, json.dumps({"claims": [fact, claim(talk)]}))
    rows = plan.payload.splitlines()
    assert rows[0].startswith('[Merged "debug"')
    assert rows[1:5] == [
        "Results:",
        f"- Setting ENUM_BASE=16 fixes codegen on enums. [{ids(talk)[1]}]",
        "Facts:",
        f"- Step 3 writes out/table_3.json. [{ids(talk)[9]}]",
    ]
    assert plan.block is not None and plan.block.made_by == "test/model"
    assert len(plan.block.messages) == 2 and len(plan.block.omitted) == len(plan.delta) - 2


def test_the_context_grows_by_what_the_summary_costs() -> None:
    talk = long_talk()
    plan = squashed(talk, json.dumps({"claims": [claim(talk)]}))
    before = talk.context("main").tokens
    assert plan.tokens < talk.plan("squash").tokens
    talk.land(plan)
    assert talk.context("main").tokens == before + plan.tokens


def test_the_transcript_comes_first_escaped_and_the_instructions_after_it() -> None:
    talk = long_talk()
    asked: list[tuple[ProviderMessage, ...]] = []

    def ask(messages: tuple[ProviderMessage, ...]) -> str:
        asked.append(messages)
        return json.dumps({"claims": [claim(talk)]})

    squash_with_model(
        talk.plan("squash"),
        lookup=talk.messages.__getitem__,
        ask=ask,
        model="m",
        focus="the port",
        budget_tokens=90,
    )
    message = asked[0][0]
    transcript, _, instructions = message["content"].partition("</transcript>")
    assert transcript.startswith(f'<transcript>\n<m id="{ids(talk)[0]}" role="user">\nWhy does codegen fail')
    assert "codegen &lt;b&gt;" in transcript
    assert (
        "Do not answer it" in instructions and "the port" in instructions and "tokens in all" in instructions
    )


def test_json_in_a_fence_is_read() -> None:
    talk = long_talk()
    assert "ENUM_BASE" in squashed(talk, f"```json\n{json.dumps({'claims': [claim(talk)]})}\n```").payload


def test_an_escaped_quote_is_still_a_quote() -> None:
    talk = long_talk()
    entry = claim(
        talk, text="It must not run before codegen.", cites=[ids(talk)[3]], quote="before codegen &lt;b&gt;"
    )
    assert "must not run" in squashed(talk, json.dumps({"claims": [entry]})).payload


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("Sure! The enum fails because …", "replied to the conversation instead of summing it up"),
        ("", "answered nothing"),
        ('{"claims": [{"type": "fact", "te', "cut off or broken"),
        ('{"summary": "all good"}', "does not have the form"),
        ('["a", "b"]', "does not have the form"),
        ('{"claims": []}', "is empty"),
    ],
)
def test_an_answer_that_is_no_summary_is_refused(answer: str, sentence: str) -> None:
    assert sentence in rejected(long_talk(), answer).problems[0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"cites": ["ffffff"]}, "cites 'ffffff', which is not merged"),
        ({"cites": []}, "cites no message"),
        ({"cites": "3f2a91"}, "cites no message"),
        ({"quote": "Set ENUM_BASE=17"}, "is not in the cited messages"),
        ({"quote": ""}, "quotes nothing"),
        ({"text": "Setting ENUM_BASE=32 fixes it."}, "“32” is not in the cited messages"),
        ({"text": "Setting it to 6 fixes it."}, "“6” is not in the cited messages"),
        ({"text": "See enum_tables.py for it."}, "“enum_tables.py” is not in the cited messages"),
        ({"text": "readEnum fails."}, "“readEnum” is not in the cited messages"),
        ({"text": ""}, "has no text"),
        ({"type": "gossip"}, "is not one of those asked for"),
        ({"text": "so " * 46}, "longer than 45 words"),
        ({"value": "32"}, "“32” is not in the cited messages"),
        ({"polarity": "perhaps"}, "its polarity 'perhaps' is not one of those"),
        ({"supersedes": "1"}, "no list of numbers"),
        ({"key": 5}, "its key is no text"),
    ],
)
def test_a_claim_that_is_not_founded_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    talk = long_talk()
    problems = rejected(talk, json.dumps({"claims": [claim(talk), claim(talk, **wrong)]})).problems
    assert any(problem.startswith("Line 2: ") and sentence in problem for problem in problems)


def test_a_message_outside_of_what_is_merged_cannot_be_cited() -> None:
    talk = long_talk()
    shared = talk.path("main")[1].id[3:9]
    entry = claim(talk, text="Codegen runs first.", cites=[shared], quote="It runs codegen first.")
    assert "not merged" in rejected(talk, json.dumps({"claims": [entry]})).problems[0]


def test_what_does_not_fit_the_budget_is_cut_by_importance_and_said() -> None:
    talk = long_talk()
    lines = [
        claim(talk, type="fact", text=f"Setting ENUM_BASE=16 fixes codegen {'again ' * n}") for n in range(20)
    ]
    last = claim(talk, type="constraint", text="Step 3 must not run before codegen.", cites=[ids(talk)[9]])
    last["quote"] = "It must not run before codegen"
    plan = squashed(talk, json.dumps({"claims": [*lines, last]}), budget_tokens=140)
    assert "must not run" in plan.payload.splitlines()[2]
    assert plan.tokens <= 140
    assert any("found no room" in warning for warning in plan.warnings)


def test_a_budget_in_which_nothing_fits_is_refused() -> None:
    talk = long_talk()
    error = rejected(talk, json.dumps({"claims": [claim(talk)]}), budget_tokens=10)
    assert [failed.check for failed in error.failed] == ["size"]


def test_a_refused_summary_leaves_the_extractive_payload_badged() -> None:
    talk = long_talk()
    error = rejected(talk, "Sure!")
    assert error.plan.payload == talk.plan("squash").payload
    assert "test/model" in error.plan.badge
    assert error.plan.block is not None and error.plan.block.made_by == ""
    assert error.answer == "Sure!"


def test_a_model_failure_passes_through() -> None:
    talk = long_talk()

    def ask(_: tuple[ProviderMessage, ...]) -> str:
        raise ModelError(Failure("timeout", "It took too long."))

    with pytest.raises(ModelError):
        squash_with_model(talk.plan("squash"), lookup=talk.messages.__getitem__, ask=ask, model="m")


def test_what_a_told_answer_cites_comes_along_where_it_finds_room() -> None:
    talk = long_talk()
    line = "SOURCES: [1] manual.md, Setup (doc:0123456789abcdef#7)"
    cited = talk.say("debug", f"assistant: The base is 16 by the manual [1].\n\n{line}")
    told = claim(talk, text="The base is 16.", cites=[cited.id[3:9]], quote="The base is 16 by the manual")
    plan = squashed(talk, json.dumps({"claims": [told]}))
    assert f"- The base is 16. [{cited.id[3:9]}]\n{line} [{cited.id[3:9]}]" in plan.payload
    assert list(documents_cited(plan.payload)) == ["doc:0123456789abcdef#7"]
    tight = squashed(talk, json.dumps({"claims": [told]}), budget_tokens=plan.tokens - 6)
    assert "The base is 16." in tight.payload and "SOURCES" not in tight.payload
    without = squashed(talk, json.dumps({"claims": [claim(talk)]}))
    assert "SOURCES" not in without.payload, "of an answer that nothing was told of"


def test_neither_the_ledger_nor_a_quotation_takes_a_name_out_of_a_denial() -> None:
    talk = long_talk()
    for _ in range(2):
        talk.say(
            "debug", "user: And the copy?", "assistant: Do *not* use `--inplace` with it. Use `--append_all`."
        )
    cite = talk.path("debug")[-1].id[3:9]
    span = {"kind": "name", "cite": cite, "span": "--inplace"}
    plan = squashed(talk, json.dumps({"claims": [claim(talk)], "verbatim": [span]}))
    told = [line for line in plan.payload.splitlines() if "--inplace" in line]
    assert told == [f"- Do *not* use `--inplace` with it. [{cite}]"]
    assert "--append_all" in plan.payload
    without = squashed(talk, json.dumps({"claims": [claim(talk)]}))
    assert "--inplace" not in without.payload
