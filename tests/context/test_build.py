from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from forky_core.context.account import Context
from forky_core.context.build import build_context
from forky_core.llm.tokens import estimate_tokens
from forky_core.model import Blob, Message, MessageId, Rules, seal
from forky_core.model.errors import NotFound
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    MergePart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.model.wires import PLAIN
from tests.context.validity import problems

Role = Literal["system", "user", "assistant", "tool"]
PNG = "a" * 64
NOTES = "b" * 64
BINARY = "c" * 64
FILES = {
    PNG: Blob(PNG, "image/png", "plot.png", b"\x89PNG"),
    NOTES: Blob(NOTES, "text/plain", "notes.txt", b"line one\n</file> line two"),
    BINARY: Blob(BINARY, "application/zip", "all.zip", b"PK\0"),
}


def blob(sha256: str) -> Blob:
    if sha256 not in FILES:
        raise NotFound("There is no such file.")
    return FILES[sha256]


def chain(*drafts: tuple[Role, str] | Draft, below: Message | None = None) -> tuple[Message, ...]:
    path: list[Message] = []
    parent = below.id if below else None
    for entry in drafts:
        draft = entry if isinstance(entry, Draft) else Draft(entry[0], (TextPart(entry[1]),))
        message = seal(draft, (parent,))
        parent = message.id
        path.append(message)
    return tuple(path)


def context(path: Iterable[Message], rules: Rules | None = None, **more: Any) -> Context:
    path = tuple(path)
    known = {message.id: message for message in (*path, *more.pop("also", ()))}
    return build_context(
        path, rules or Rules(), lookup=known.__getitem__, count_tokens=estimate_tokens, blob=blob, **more
    )


def contents(built: Context) -> list[Any]:
    return [(message["role"], message["content"]) for message in built.messages]


TALK = chain(("user", "Suggest a name"), ("assistant", "Forky"), ("user", "Why?"), ("assistant", "It forks."))


def test_a_plain_path_is_sent_as_it_is_and_accounted_for() -> None:
    built = context(TALK)
    assert contents(built) == [(message.role, message.text) for message in TALK]
    assert [item.message for item in built.items] == [message.id for message in TALK]
    assert built.tokens == sum(estimate_tokens(message.text) for message in TALK)


def test_the_room_in_the_window_is_told() -> None:
    assert context(TALK, window=100).room == 100 - context(TALK).tokens
    assert context(TALK).room is None


def test_the_branch_prompt_wins_over_the_chain_and_both_are_in_the_account() -> None:
    path = chain(("system", "Be long."), ("user", "Hi"))
    built = context(path, Rules(system="Be brief."))
    assert contents(built) == [("system", "Be brief."), ("user", "Hi")]
    assert [(item.kind, item.included) for item in built.items[:2]] == [
        ("branch_system", True),
        ("chain_system", False),
    ]
    assert "Overridden" in built.items[1].why
    assert contents(context(path)) == [("system", "Be long."), ("user", "Hi")]


def test_an_empty_branch_prompt_silences_the_chain() -> None:
    built = context(chain(("system", "Be long."), ("user", "Hi")), Rules(system=""))
    assert contents(built) == [("user", "Hi")]


def test_a_squash_block_joins_the_next_user_turn() -> None:
    block = MergePart("squash", "debug", (), "[Merged branch]")
    path = chain(*((m.role, m.text) for m in TALK), Draft("user", (block,)), ("user", "Go on"))
    built = context(path)
    assert contents(built)[-1] == ("user", "[Merged branch]\n\nGo on")
    assert [item.kind for item in built.items][-2:] == ["merge", "message"]


def test_a_full_merge_shows_its_turns_between_header_and_footer() -> None:
    side = chain(("user", "Which port?"), ("assistant", "8080"), below=TALK[1])
    block = MergePart("full", "debug", tuple(m.id for m in side), "[Header]")
    merge = seal(Draft("user", (block,)), (TALK[-1].id, side[-1].id))
    built = context((*TALK, merge), also=side)
    texts = [content for _, content in contents(built)][len(TALK) :]
    assert texts[0] == "[Header]\n\nWhich port?" and texts[1] == "8080"
    assert "End of the merged branch" in texts[2]
    assert [(i.kind, i.via) for i in built.items[-3:-1]] == [("merged_turn", merge.id)] * 2


def test_side_parents_are_never_walked() -> None:
    block = MergePart("squash", "debug", (), "[Merged]")
    merge = seal(Draft("user", (block,)), (TALK[-1].id, MessageId("b2:" + "0" * 32)))
    assert contents(context((*TALK, merge)))[-1] == ("user", "[Merged]")


def test_a_merged_turn_can_be_excluded_here() -> None:
    side = chain(("user", "Which port?"), ("assistant", "8080"), below=TALK[1])
    block = MergePart("full", "debug", tuple(m.id for m in side), "[Header]")
    merge = seal(Draft("user", (block,)), (TALK[-1].id, side[-1].id))
    built = context((*TALK, merge), Rules(exclusions=(side[1].id,)), also=side)
    assert "8080" not in json.dumps(built.messages)
    assert [item.message for item in built.left_out] == [side[1].id]


TOOLS = chain(
    ("user", "List"),
    Draft("assistant", (ToolCallPart("ls", "{}", "a"), ToolCallPart("pwd", "{}", "b"))),
    Draft("tool", (ToolResultPart("ls", "one.txt", "a"),)),
    Draft("tool", (ToolResultPart("pwd", "/home", "b"),)),
    ("assistant", "There is one file."),
)


def test_an_excluded_call_takes_its_results_with_it() -> None:
    for excluded in (TOOLS[1], TOOLS[3]):
        built = context(TOOLS, Rules(exclusions=(excluded.id,)))
        assert contents(built) == [("user", "List"), ("assistant", "There is one file.")]
        assert {item.message for item in built.left_out} == {message.id for message in TOOLS[1:4]}


def test_pins_are_marked_in_the_account() -> None:
    built = context(TALK, Rules(pins=(TALK[1].id,)))
    assert [item.pinned for item in built.items] == [False, True, False, False]
    assert built.messages == context(TALK).messages


def test_pictures_go_to_models_that_see_and_are_named_to_others() -> None:
    path = chain(Draft("user", (TextPart("Look"), AttachmentPart(PNG, "image/png", "plot.png"))))
    seen = context(path).messages[0]["content"]
    assert seen[1]["image_url"]["url"].startswith("data:image/png;base64,")
    blind = context(path, pictures=frozenset())
    assert 'attached: "plot.png" (image/png), which you cannot read' in blind.messages[0]["content"]
    assert blind.items[1].kind == "attachment" and "Only named" in blind.items[1].why


def test_each_file_of_a_message_stands_in_the_account_under_its_own_name() -> None:
    files = [AttachmentPart(PNG, "image/png", "plot.png"), AttachmentPart(NOTES, "text/plain", "notes.txt")]
    items = context(chain(Draft("user", (TextPart("Look"), *files)))).items
    assert [item.text for item in items if item.kind == "attachment"] == ["plot.png", "notes.txt"]


def test_a_text_file_is_quoted_under_its_name_and_cannot_close_its_quotation() -> None:
    path = chain(Draft("user", (AttachmentPart(NOTES, "text/plain", "notes.txt"),)))
    content = context(path).messages[0]["content"]
    assert content.startswith('<file name="notes.txt">\nline one\n')
    assert content.count("</file>") == 1


def test_files_nobody_can_read_are_named() -> None:
    for part in (
        AttachmentPart(BINARY, "application/zip", "all.zip"),
        AttachmentPart("d" * 64, "text/plain", "gone"),
    ):
        built = context(chain(Draft("user", (part,))))
        assert "which you cannot read" in built.messages[0]["content"]


def test_thinking_is_not_sent_again_and_the_account_says_so() -> None:
    path = chain(("user", "Hi"), Draft("assistant", (ReasoningPart("hm"), TextPart("Hello"))))
    built = context(path)
    assert contents(built)[1] == ("assistant", "Hello")
    assert [item.kind for item in built.left_out] == ["reasoning"]


def test_hidden_messages_are_left_out_even_where_an_equal_shown_one_was_seen_before() -> None:
    context(TALK)
    built = context((*TALK[:2], *(replace(m, hidden=True) for m in TALK[2:])))
    assert len(built.messages) == 2 and len(built.left_out) == 2


def test_what_an_interrupted_reply_said_stays_as_it_is() -> None:
    assert contents(context(chain(("user", "Hi"), ("assistant", "Well, I thi"))))[1] == (
        "assistant",
        "Well, I thi",
    )


def test_an_opening_assistant_is_accounted_for() -> None:
    built = context(chain(("assistant", "Welcome")))
    assert problems(built.messages) == []
    assert built.items[-1].kind == "opening"


def test_a_fork_shares_the_bytes_of_its_trunk() -> None:
    fork = chain(("user", "Other question"), ("assistant", "Other answer"), below=TALK[1])
    trunk, side = context(TALK), context((*TALK[:2], *fork))
    assert json.dumps(side.messages[:2]) == json.dumps(trunk.messages[:2])


def test_building_twice_gives_the_same_bytes() -> None:
    assert json.dumps(context(TOOLS).messages) == json.dumps(context(TOOLS).messages)


texts = st.sampled_from(["hello", "", " ", "日本語", "x" * 50])
any_part: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, texts),
    st.builds(ReasoningPart, texts),
    st.builds(
        ToolCallPart,
        st.sampled_from(["ls", "a b"]),
        st.sampled_from(["{}", '"x"']),
        st.sampled_from([None, "a"]),
    ),
    st.builds(
        ToolResultPart, st.just("ls"), texts, st.sampled_from([None, "a"]), st.sampled_from([None, "Oops"])
    ),
    st.builds(
        AttachmentPart, st.sampled_from([PNG, NOTES, BINARY]), st.sampled_from(["image/png", "text/plain"])
    ),
    st.just(OpaquePart('{"type":"later"}')),
    st.builds(lambda text: MergePart("squash", "s", (), text), texts),
)
roles: st.SearchStrategy[Role] = st.sampled_from(["system", "user", "assistant", "tool"])
paths = st.lists(st.builds(Draft, roles, st.lists(any_part, max_size=3).map(tuple)), max_size=8)


@given(paths, st.data())
def test_whatever_the_path_and_the_rules_it_can_be_sent_and_the_account_adds_up(
    drafts: list[Draft], data: st.DataObject
) -> None:
    path = chain(*drafts)
    some = st.lists(st.sampled_from([message.id for message in path]), max_size=2) if path else st.just([])
    rules = Rules(
        system=data.draw(st.sampled_from([None, "", "Be brief."])),
        pins=tuple(data.draw(some)),
        exclusions=tuple(data.draw(some)),
    )
    built = context(path, rules, pictures=data.draw(st.sampled_from((frozenset(), PLAIN.pictures))))
    assert problems(built.messages) == []
    assert built.tokens == sum(item.tokens for item in built.items if item.included)
    accounted = {item.message for item in built.items if item.message is not None}
    assert accounted == {message.id for message in path}
    assert all(item.why for item in built.items)


def test_each_message_is_counted_once_whoever_asks_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    longer = (*TALK, *chain(("user", "And then?"), below=TALK[-1]))
    for path in (TALK, longer, longer):
        build_context(path, Rules(), lookup={m.id: m for m in path}.__getitem__, count_tokens=count)
    assert counted == [message.text for message in longer]


def test_the_costs_of_what_is_sent_add_up_to_the_account() -> None:
    built = context(TALK, Rules(system="Be brief.", pins=(TALK[1].id,)))
    assert len(built.costs) == len(built.drafts) and sum(built.costs) == built.tokens
    assert built.items == context(TALK, Rules(system="Be brief.", pins=(TALK[1].id,))).items
    assert built.items != context(TALK).items
