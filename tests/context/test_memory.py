"""What a memory policy sends, and that the account says what it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.context.account import Context
from forky_core.context.build import Summary
from forky_core.context.memory_policies import POLICIES, fit_memory, parse_memory, policy_of
from forky_core.context.window import MessageCosts, choose_window
from forky_core.llm.tokens import estimate_tokens, message_text
from forky_core.model import Message, Rules, seal
from forky_core.model.document import DocumentSearch, OfferedPassage
from forky_core.model.errors import BadContent
from forky_core.model.memory import Memory
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    MergePart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.model.room import Voices
from tests.context.test_build import PNG, Role, chain, contents, context, paths
from tests.context.validity import problems


def talk(count: int, words: str = "so it was said") -> tuple[Message, ...]:
    """Questions and answers in turn, all of one length; a question at the end."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return chain(*((roles[number % 2], f"{number:06} {words}") for number in range(count)))


def sent(built: Context) -> list[str]:
    return [message["content"] for message in built.messages]


def summarise(stretches: Sequence[Sequence[Message]]) -> Summary:
    return Summary(f"[Summary of {sum(map(len, stretches))}]") if stretches else Summary("")


def test_the_last_messages_are_sent_by_whole_turns() -> None:
    path = talk(9)
    assert sent(context(path, memory=Memory("last", 5))) == [message.text for message in path[4:]]
    # Four would begin with an answer whose question is not sent.
    assert sent(context(path, memory=Memory("last", 4))) == [message.text for message in path[6:]]


def test_what_says_nothing_is_none_of_the_last_messages() -> None:
    path = talk(9)
    revert = seal(Draft("user", (RevertPart((path[0].id,)),)), (path[-1].id,))
    for memory in (Memory("last", 5), Memory("last", 1), Memory("tokens", 1)):
        assert sent(context([*path, revert], memory=memory)) == sent(context(path, memory=memory))


def test_the_newest_question_is_sent_even_where_there_is_room_for_nothing() -> None:
    for memory in (Memory("last", 1), Memory("tokens", 1), Memory("characters", 1)):
        assert sent(context(talk(9), memory=memory)) == ["000008 so it was said"]


def test_what_must_be_sent_and_does_not_fit_is_said() -> None:
    built = context(talk(9), Rules(system="Be brief."), memory=Memory("tokens", 4))
    assert "needs more than 4 tokens" in built.warnings[0]
    assert contents(built)[0] == ("system", "Be brief.")


def test_a_last_n_costs_the_same_at_a_hundred_messages_and_at_ten_thousand() -> None:
    memory = Memory("last", 20)
    short, long = context(talk(101), memory=memory), context(talk(10_001), memory=memory)
    assert len(short.messages) == len(long.messages) == 19
    assert short.tokens == long.tokens
    assert sum(map(len, sent(short))) == sum(map(len, sent(long)))


def test_turns_are_sought_no_further_back_than_is_kept() -> None:
    path = talk(1_000)
    seen: set[int] = set()

    class Watched(tuple[Message, ...]):
        __slots__ = ()

        def __getitem__(self, at: Any) -> Any:
            seen.update(range(*at.indices(len(self))) if isinstance(at, slice) else (at,))
            return super().__getitem__(at)

    ones = [1] * len(path)
    kept = choose_window(MessageCosts(Watched(path), ones, [True] * len(path)), frozenset(), 20)
    assert kept.start == 980
    assert min(seen) >= 970


def test_what_is_left_out_stays_in_the_account_with_its_reason() -> None:
    path = talk(9)
    built = context(path, memory=Memory("last", 5))
    assert [item.message for item in built.items] == [message.id for message in path]
    assert [item.message for item in built.left_out] == [message.id for message in path[:4]]
    assert {item.why for item in built.left_out} == {"Not sent: this branch remembers the last 5 messages."}
    assert all(item.tokens for item in built.left_out)


def test_what_is_pinned_is_sent_whatever_its_age_and_does_not_count_as_one_of_the_last() -> None:
    path = talk(9)
    built = context(path, Rules(pins=(path[1].id,)), memory=Memory("last", 5))
    # An assistant's words come first now, so that a line stands before them.
    assert sent(built)[1:] == [path[1].text, *(message.text for message in path[4:])]
    assert problems(built.messages) == []


def test_a_pinned_tool_call_brings_its_results() -> None:
    path = chain(
        ("user", "List"),
        Draft("assistant", (ToolCallPart("ls", "{}", "a"),)),
        Draft("tool", (ToolResultPart("ls", "one.txt", "a"),)),
        ("assistant", "There is one file."),
        *((("assistant" if n % 2 else "user"), f"more {n}") for n in range(9)),
    )
    for pinned in path[1:3]:
        built = context(path, Rules(pins=(pinned.id,)), memory=Memory("last", 3))
        assert [m["role"] for m in built.messages][:3] == ["user", "assistant", "tool"]
        assert len(built.messages) == 6


def test_a_pinned_set_larger_than_the_window_is_said_plainly() -> None:
    path = talk(9, "many words " * 50)
    built = context(path, Rules(pins=tuple(m.id for m in path[:4])), memory=Memory("last", 1), window=200)
    assert any("The pinned messages alone take" in warning for warning in built.warnings)
    assert built.overflows


def test_pinning_a_turn_of_a_merge_keeps_the_merge() -> None:
    side = chain(("user", "Which port?"), ("assistant", "8080"))
    block = MergePart("full", "debug", tuple(m.id for m in side), "[Header]")
    path = chain(("user", "Hi"), ("assistant", "Ho"), Draft("user", (block,)), *((("user"), "on"),))
    rest = chain(*((("assistant" if n % 2 == 0 else "user"), f"more {n}") for n in range(8)), below=path[-1])
    built = context((*path, *rest), Rules(pins=(side[1].id,)), memory=Memory("last", 2), also=side)
    assert any("8080" in text for text in sent(built))


def test_a_share_of_an_unknown_window_sends_everything_and_says_so() -> None:
    built = context(talk(9), memory=Memory("tokens"))
    assert len(built.messages) == 9
    assert "window of this model is not known" in built.warnings[0]


def test_half_of_the_window_is_the_budget_where_nobody_said() -> None:
    path = talk(201)
    built = context(path, memory=Memory("tokens"), window=400)
    assert built.tokens <= 200
    assert "50% of the model's window" in built.left_out[0].why


def test_a_budget_is_cut_in_steps_so_that_the_beginning_stays_for_several_questions() -> None:
    path = talk(801)
    first = [sent(context(path[:end], memory=Memory("tokens", 1_000)))[0] for end in range(601, 641, 2)]
    assert len(set(first)) <= 3
    exact = [sent(context(path[:end], memory=Memory("last", 100)))[0] for end in range(601, 641, 2)]
    assert len(set(exact)) == 20


def test_a_turn_longer_than_the_budget_keeps_its_question_and_its_newest_steps() -> None:
    steps: list[Draft] = []
    for number in range(20):
        steps.append(Draft("assistant", (ToolCallPart("look", "{}", f"c{number}"),)))
        steps.append(Draft("tool", (ToolResultPart("look", f"found {number} " + "x" * 60, f"c{number}"),)))
    path = chain(("user", "Hi"), ("assistant", "Ho"), ("user", "Look everywhere"), *steps)
    built = context(path, memory=Memory("tokens", 120))
    assert problems(built.messages) == []
    assert built.messages[0]["content"] == "Look everywhere"
    assert "found 19" in built.messages[-1]["content"]
    assert built.tokens <= 120


@pytest.mark.parametrize(("memory", "measure"), [("tokens:400", "tokens"), ("characters:1600", "characters")])
def test_passages_take_their_room_within_a_budget(memory: str, measure: str) -> None:
    document_search = DocumentSearch(
        "oil", (OfferedPassage(1, "manual.txt, line 1", "doc:0#1", "Oil the pump. " * 20),)
    )
    path, kept = talk(201), parse_memory(memory)
    without, given = context(path, memory=kept), context(path, memory=kept, document_search=document_search)
    assert 0 < len([i for i in given.items if i.included and i.kind == "message"]) < len(without.messages)
    assert "Oil the pump." in given.messages[-1]["content"] and not given.warnings
    assert (given.tokens if measure == "tokens" else _characters(given)) <= policy_of(kept).least(kept)
    small = context(path, memory=replace(kept, amount=30), document_search=document_search)
    assert "the newest question and the passages found for it) needs more than 30" in small.warnings[0]


def test_a_summary_speaks_for_what_is_older() -> None:
    path = talk(61)
    built = context(path, memory=Memory("summary", 20), summarise=summarise)
    assert sent(built)[0] == f"[Summary of 40]\n\n{path[40].text}"
    assert sent(built)[1:] == [message.text for message in path[41:]]
    assert next(item.kind for item in built.items if item.included) == "summary"
    assert len(built.left_out) == 40


def test_a_summary_is_made_for_the_same_stretches_while_a_range_grows() -> None:
    path, seen = talk(200), set[tuple[int, ...]]()

    def note(stretches: Sequence[Sequence[Message]]) -> Summary:
        seen.add(tuple(map(len, stretches)))
        return Summary("[so far]")

    for end in range(61, 81):
        context(path[:end], memory=Memory("summary", 20), summarise=note)
    assert seen == {(20, 20), (20, 20, 20)}


def test_a_pinned_message_of_the_older_part_is_sent_and_not_summed_up() -> None:
    path = talk(61)
    built = context(path, Rules(pins=(path[2].id,)), memory=Memory("summary", 20), summarise=summarise)
    assert sent(built)[0] == f"{path[2].text}\n\n[Summary of 39]\n\n{path[40].text}"


def test_a_policy_nobody_knows_sends_everything() -> None:
    assert len(context(talk(9), memory=Memory("by-smell", 3)).messages) == 9


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("everything", Memory()),
        ("last:7", Memory("last", 7)),
        ("last", Memory("last")),
        (" Tokens:50% ", Memory("tokens", share=0.5)),
        ("tokens:8,000", Memory("tokens", 8_000)),
        ("characters:40_000", Memory("characters", 40_000)),
        ("summary:20", Memory("summary", 20)),
    ],
)
def test_a_policy_is_typed_as_a_person_would(typed: str, meant: Memory) -> None:
    assert parse_memory(typed) == meant
    assert Memory.from_stored(meant.stored()) == meant


@pytest.mark.parametrize(
    "typed", ["", "some", "last:0", "last:-3", "last:x", "tokens:0%", "tokens:101%", "everything:3"]
)
def test_what_is_no_policy_is_refused(typed: str) -> None:
    with pytest.raises(BadContent):
        parse_memory(typed)


def test_fields_of_a_later_version_are_kept() -> None:
    later = {"policy": "last", "amount": 3, "mood": "good"}
    assert Memory.from_stored(later).stored() == later


memories = st.builds(
    Memory,
    st.sampled_from([policy.name for policy in POLICIES]),
    # Passages with the line above them take some two hundred tokens, or seven hundred characters.
    st.one_of(st.none(), st.integers(1, 40), st.integers(150, 350), st.integers(500, 1_200)),
    st.sampled_from([None, 0.1, 1.0]),
)


def _characters(built: Context) -> int:
    return sum(len(message_text(message)) for message in built.messages)


def _tokens(built: Context) -> int:
    return built.tokens


CALL = ToolCallPart("ls", "{}", None)
NEWEST: tuple[Role, str] = ("user", "The newest question")


@pytest.mark.parametrize(
    ("policy", "amounts", "path"),
    [
        ("tokens", range(1, 30), chain(Draft("system", (CALL,)), NEWEST)),
        ("characters", range(80, 240, 4), chain(Draft("user", (CALL,)), NEWEST)),
        (
            "characters",
            range(160, 320, 4),
            chain(Draft("user", (CALL, AttachmentPart(PNG, "image/png"))), NEWEST),
        ),
        ("characters", range(20, 60), chain(NEWEST, Draft("assistant", (ToolCallPart("ls", "{}", "a"),)))),
    ],
    ids=["a call in a system message", "a call in a question", "an unsent picture", "a call without result"],
)
def test_what_becomes_words_is_weighed_as_them(
    policy: str, amounts: range, path: tuple[Message, ...]
) -> None:
    for amount in amounts:
        memory = Memory(policy, amount)
        _within_budget(context(path, Rules(), memory=memory, summarise=summarise), memory, None)


@given(paths, memories, st.data())
def test_whatever_the_policy_it_can_be_sent_within_budget_and_the_account_adds_up(
    drafts: list[Draft], memory: Memory, data: st.DataObject
) -> None:
    named = [replace(draft, name=data.draw(names)) for draft in drafts]
    before, side = _merged(chain(*named), data.draw(merges))
    path = (
        *before,
        *chain(("user", "The newest question"), *data.draw(tails), below=before[-1] if before else None),
    )
    ids, brought = [message.id for message in path], [message.id for message in side]
    older = [message.id for message in (*before, *side)]
    rules = Rules(
        system=data.draw(st.sampled_from([None, "Be brief."])),
        pins=tuple(data.draw(st.lists(st.sampled_from([*ids, *brought]), max_size=2))),
        exclusions=tuple(data.draw(st.lists(st.sampled_from(older), max_size=2))) if older else (),
    )
    window = data.draw(st.sampled_from([None, 60, 400]))
    voices = data.draw(
        st.sampled_from([None, Voices(("Ana", "system")), Voices(("Ana", "One", "Two"), "One")])
    )
    document_search = data.draw(found)
    built = context(
        path,
        rules,
        memory=memory,
        window=window,
        summarise=summarise,
        voices=voices,
        document_search=document_search,
        also=side,
    )
    assert problems(built.messages) == []
    assert built.tokens == sum(item.tokens for item in built.items if item.included)
    accounted = {item.message for item in built.items if item.message is not None}
    assert set(ids) <= accounted <= {*ids, *brought}
    assert all(item.why for item in built.items)
    if rules.system:
        assert built.messages[0]["content"].startswith(rules.system)
    assert any("The newest question" in str(message["content"]) for message in built.messages)
    for passage in document_search.passages if document_search is not None else ():
        assert passage.text in str(built.messages[-1]["content"])
    _within_budget(built, memory, window)
    # Whatever is pinned and could be sent, is.
    out = {item.message for item in built.left_out if item.why.startswith("Not sent")}
    assert not out & set(rules.pins)


merges: st.SearchStrategy[tuple[str, list[Draft]] | None] = st.none() | st.tuples(
    st.sampled_from(["full", "squash", "cherry-pick"]), paths.map(lambda drafts: drafts[:3])
)


def _merged(
    path: tuple[Message, ...], merge: tuple[str, list[Draft]] | None
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The path with a merge at its end, and what that brings."""
    if merge is None or not path or not merge[1]:
        return path, ()
    strategy, drafts = merge
    side = chain(*drafts, below=path[0])
    block = MergePart(strategy, "side", tuple(message.id for message in side), "[Merged from “side”]")
    return (*path, seal(Draft("user", (block,)), (path[-1].id, side[-1].id))), side


names = st.sampled_from([None, "Ana", "system", "One", "Two"])
found = st.sampled_from(
    [
        None,
        DocumentSearch("boats"),
        DocumentSearch(
            "oil", (OfferedPassage(1, "manual.txt, line 1", "doc:0#1", "Oil the pump every spring."),)
        ),
        DocumentSearch(
            "oil", tuple(OfferedPassage(n, "a.txt", f"doc:0#{n}", f"Passage {n}.") for n in (1, 2, 3))
        ),
    ]
)
tails: st.SearchStrategy[list[Draft]] = st.lists(
    st.sampled_from(
        [
            Draft("assistant", (TextPart("So it is."),)),
            Draft("assistant", (ToolCallPart("ls", "{}", "a"),)),
            Draft("tool", (ToolResultPart("ls", "here", "a"),)),
        ]
    ),
    max_size=3,
)


def _within_budget(built: Context, memory: Memory, window: int | None) -> None:
    measures: dict[str, Callable[[Any], int]] = {"tokens": _tokens, "characters": _characters}
    measure = measures.get(memory.policy)
    if measure is None or any("needs more than" in warning for warning in built.warnings):
        return
    room = memory.amount if memory.policy == "tokens" else policy_of(memory).least(memory)
    if room is None:
        if window is None:
            return
        room = int(window * (memory.share or 0.5))
    assert measure(built) <= room, memory


def test_fitting_leaves_out_what_a_policy_has_no_use_for() -> None:
    assert fit_memory(Memory("everything", 4, 0.5, "gpt-4o")) == Memory()
    assert fit_memory(Memory("last", 4, 0.5, "gpt-4o")) == Memory("last", 4)
    assert estimate_tokens("") == 0
