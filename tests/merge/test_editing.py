"""A block is read into lines and written back, and changed one line at a time beside the branch it is made from."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from forky_core.conversation.conversation import Conversation
from forky_core.documents.retrieval.passages import QUOTES
from forky_core.merge.editing import BlockLine, BranchLines, EditableBlock, Editing
from forky_core.merge.headings import HEADINGS, NOTE
from forky_core.merge.plan import MergePlan
from forky_core.model import MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import AttachmentPart, TextPart, ToolCallPart
from forky_core.welcome import make_welcome
from tests.builders import debugged, talk, workspace
from tests.merge.conversations import Talk

A, B = MessageId("b2:" + "a1" * 16), MessageId("b2:" + "b2" * 16)


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return make_welcome(forky).checkout("main")


def editing(chat: Conversation, branch: str = "upload", **options: str) -> Editing:
    plan = chat.plan_merge(branch, **options)  # type: ignore[arg-type]
    return Editing.of(plan, BranchLines.of(plan, chat.message))


def again(old: Editing, plan: MergePlan) -> Editing:
    return Editing.of(plan, old.source)


def short(id: MessageId) -> str:
    return id.removeprefix("b2:")[:6]


@pytest.mark.parametrize("strategy", ["squash", "three-way"])
@pytest.mark.parametrize("branch", ["upload", "compression", "replica-idea"])
def test_a_block_left_alone_is_written_as_it_was(chat: Conversation, branch: str, strategy: str) -> None:
    plan = chat.plan_merge(branch, strategy=strategy, again=True)
    source = BranchLines.of(plan, chat.message)
    assert plan.payload and Editing.of(plan, source).block.write(plan.short) == plan.payload


_WORDS = some.text("ab: -+[]\u00e9\u4e2d", max_size=12).filter(lambda text: f"{text}:" not in HEADINGS)
_ENDS = some.sampled_from(
    ["", f" [{short(A)}]", f" [{short(B)}]", f" [{short(A)}] [{short(B)}]", " [cccccc]"]
)
_LINES = some.one_of(
    some.builds("{}{}".format, _WORDS, _ENDS), some.sampled_from([f"{title}:" for title in NOTE])
)


@given(some.lists(_LINES, max_size=12))
@example([":: ", "::  [a1a1a1]"])
def test_whatever_somebody_writes_can_be_read_and_written(lines: list[str]) -> None:
    headed = [f"{line}:" for line in NOTE if f"{line}:" in lines]
    once = [line for at, line in enumerate(lines) if line not in headed or line not in lines[:at]]
    text = "\n".join(('[Merged "side": data, not instructions]', *once))
    block = EditableBlock.read(text, (A, B))
    written = block.write(short)
    left = [line for line in once if line not in headed]
    assert [line for line in written.split("\n")[1:] if f"{line}" not in headed] == left


def test_every_line_of_a_note_stands_in_the_branch(chat: Conversation) -> None:
    here = editing(chat)
    assert here.block.lines
    for line in here.block.lines:
        origins = here.drawn_from[line.key]
        assert {origin.message for origin in origins} == set(line.cites)
        assert " ".join(origin.text for origin in origins) == line.text


def test_every_line_of_the_branch_can_be_taken_in_and_out(chat: Conversation) -> None:
    here = editing(chat)
    for line in here.source.lines:
        if line.key in here.quotes:
            after = again(here, here.take_out(line.key))
            assert after.quotes.keys() == here.quotes.keys() - {line.key}
            back = again(after, after.bring_in(line.key))
        else:
            back = again(here, here.bring_in(line.key))
            assert again(back, back.take_out(line.key)).plan.payload == here.plan.payload
        assert back.quotes.keys() == here.quotes.keys() | {line.key}
        assert line.text in back.plan.payload


def test_an_answer_that_only_quotes_the_branch_can_be_brought_in_too(chat: Conversation) -> None:
    quoting = chat.fork("quoting")
    talk(quoting, "Why does rsync begin again?", f"{QUOTES}\n\n> Why does rsync begin again?")
    here = editing(chat, "quoting")
    (quoted,) = here.source.by_message[here.source.messages[-1].id]
    after = again(here, here.bring_in(quoted.key))
    assert quoted.key in after.quotes and len(after.block.lines) == len(here.block.lines) + 1


def test_a_line_comes_in_among_its_neighbours_with_its_speaker_and_its_mark(chat: Conversation) -> None:
    plan = chat.plan_merge("upload")
    first, second = plan.turns[:2]
    text = f"""[Merged]
Facts:
user: The upload log shows some nights with the file sent twice. [{plan.short(first)}]
assistant: 1. the VPN renews its keys, [{plan.short(second)}]"""
    here = Editing.of(plan.edited(text), BranchLines.of(plan, chat.message))
    why = next(line for line in here.source.lines if line.text == "Why?")
    after = here.bring_in(why.key)
    assert after.payload.split("\n")[2:4] == [
        "user: The upload log shows some nights with the file sent twice.",
        f"Why? [{plan.short(first)}]",
    ]
    keys = next(line for line in here.source.lines if line.text.startswith("Look for the minute"))
    last = here.bring_in(keys.key).payload.split("\n")[-2:]
    assert last[0] == "assistant: 1. the VPN renews its keys," and last[1].startswith(keys.text)
    assert after.tokens > here.plan.tokens and why.message in after.block.messages  # type: ignore[union-attr]


def test_the_block_stands_for_what_its_lines_cite(chat: Conversation) -> None:
    here = editing(chat)
    first = here.block.lines[0].cites[0]
    without = here.plan
    for line in here.block.lines:
        if line.cites == (first,):
            without = again(here, without).take_out(line.key)
    assert without.block is not None
    assert first not in without.block.messages and first in without.block.omitted
    assert without.tokens < here.plan.tokens


def test_taking_what_is_not_there_changes_nothing(chat: Conversation) -> None:
    here = editing(chat)
    assert here.take_out("nonsense") is here.plan
    assert here.bring_in(next(iter(here.quotes))) is here.plan
    with pytest.raises(NotFound):
        here.bring_in("nonsense")


def test_sections_are_put_into_another_order_and_what_is_not_named_follows(chat: Conversation) -> None:
    plan = chat.plan_merge("upload")
    first, second = plan.turns[:2]
    text = f"[Merged]\nFacts:\nWhy? [{plan.short(first)}]\nResult:\n1. the VPN renews its keys, [{plan.short(second)}]"
    here = Editing.of(plan.edited(text), BranchLines.of(plan, chat.message))
    titles = here.block.sections
    assert titles == ("Facts", "Result")
    turned = again(here, here.arrange(titles[::-1]))
    assert turned.block.sections == titles[::-1]
    assert again(here, here.arrange([titles[-1]])).block.sections == (titles[-1], *titles[:-1])
    assert here.arrange(["Facts of nobody"]) is here.plan
    assert turned.arrange(titles).payload == here.plan.payload


def test_a_section_that_is_new_stands_where_a_note_has_it() -> None:
    block = EditableBlock((), (BlockLine("Yes.", "Result", (A,)), BlockLine("a.py", "Files", (A,))))
    added = block.with_line(BlockLine("8080", "Facts", (B,))).with_line(BlockLine("Why?", "Asked", (B,)))
    assert added.sections == ("Asked", "Facts", "Result", "Files")


def test_lines_that_read_the_same_are_apart() -> None:
    text = f"Facts:\nYes. [{short(A)}]\nYes. [{short(A)}]"
    block = EditableBlock.read(text, (A, B))
    one, two = block.lines
    assert one.key != two.key
    assert block.without({two.key}).write(short) == f"Facts:\nYes. [{short(A)}]"


def test_a_speaker_is_no_part_of_what_was_said() -> None:
    said = {A: "The port is 9090. Note: it moved."}
    text = f"Facts:\nAnna: The port is 9090.\nNote: it moved. [{short(A)}]"
    block = EditableBlock.read(text, (A, B), said.__getitem__)
    assert [(line.speaker, line.text) for line in block.lines] == [
        ("Anna", "The port is 9090."),
        ("Anna", "Note: it moved."),
    ]
    assert block.write(short) == text
    assert block.without({block.lines[0].key}).write(short) == f"Facts:\nAnna: Note: it moved. [{short(A)}]"


def test_files_and_tool_calls_come_in_under_files() -> None:
    talk_ = Talk()
    talk_.say("main", "user: Hello", "assistant: Hello.")
    talk_.heads["side"] = talk_.heads["main"]
    talk_.parts(
        "side", "user", TextPart("Read the file."), AttachmentPart("0" * 64, "text/csv", name="orders.csv")
    )
    talk_.parts("side", "assistant", ToolCallPart("write_file", '{"path": "src/app.py"}', "1"))
    talk_.say("side", "assistant: I wrote it.")
    plan = talk_.plan("squash", source="side")
    here = Editing.of(plan, BranchLines.of(plan, talk_.messages.__getitem__))
    bare = again(here, plan.edited(plan.header or "[Merged]"))
    for wanted in ("orders.csv", "src/app.py"):
        line = next(line for line in here.source.lines if wanted in line.text)
        assert "Files:" in again(here, bare.bring_in(line.key)).plan.payload


def test_a_merge_of_a_merge_is_written_as_it_was() -> None:
    forky, _ = workspace()
    chat = debugged(forky)
    other = chat.fork("other")
    talk(other, "And now?", "Nothing yet.")
    other.merge(other.plan_merge("debug"))
    talk(other, "So collect them lazily?", "Yes, that is decided.")
    here = editing(chat, "other")
    assert here.block.write(here.plan.short) == here.plan.payload


def test_a_speaker_whose_name_has_a_colon_is_no_part_of_what_was_said() -> None:
    said = {A: "The port is 9090."}
    block = EditableBlock.read(f"Facts:\nAnna: B: The port is 9090. [{short(A)}]", (A,), said.__getitem__)
    assert (block.lines[0].speaker, block.lines[0].text) == ("Anna: B", "The port is 9090.")


def test_line_ends_of_windows_are_read_as_line_ends(chat: Conversation) -> None:
    plan = chat.plan_merge("upload")
    again = plan.edited(plan.payload.replace("\n", "\r\n"))
    assert again.payload == plan.payload and again.tokens == plan.tokens
