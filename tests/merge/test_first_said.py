"""A branch that holds merges: what a squash of it says was said by whoever said it first."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forky_core.context.convert import message_as_text
from forky_core.merge.attribution import citable_ids
from forky_core.merge.block import parse_payload
from forky_core.merge.headings import HEADINGS, NOTE
from forky_core.merge.note.passages import call_text
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import Message, MessageId, seal
from forky_core.model.parts import (
    AttachmentPart,
    Draft,
    MergePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.views.payload import payload_rows
from tests.merge.conversations import Talk


def talk_of_three() -> tuple[Talk, Message, Message]:
    """`a`, `b` and `c` part at the same answer; what `a` says is squashed into `b`."""
    talk = Talk()
    shared = talk.say("main", "user: How does it start?", "assistant: With a plan.")
    talk.heads["c"] = shared.id
    asked = talk.say("a", "user: Which port does the proxy use?", at=shared.id)
    answer = talk.say("a", "assistant: Decision: the proxy uses port 8443.\n```\nPROXY_PORT=8443\n```")
    talk.say("b", "user: And the cache?", "assistant: It lives in /var/cache/app_7.", at=shared.id)
    talk.land(talk.plan("squash", target="b", source="a"))
    return talk, asked, answer


def block_of(talk: Talk, branch: str) -> MergePart:
    head = talk.heads[branch]
    assert head is not None
    part = talk.messages[head].merge
    assert part is not None
    return part


def told(block: MergePart) -> dict[str, tuple[MessageId, ...]]:
    """The lines of a payload with what they cite."""
    rows = parse_payload(block.text, citable_ids(block))
    return {
        re.sub(r"^(?:user|assistant|tool): ", "", row.text): row.cites
        for row in rows
        if row.section is not None
    }


def test_a_line_of_an_earlier_merge_cites_who_said_it_and_not_the_merge() -> None:
    talk, asked, answer = talk_of_three()
    talk.land(talk.plan("squash", target="c", source="b"))
    rows = told(block_of(talk, "c"))
    assert rows["Decision: the proxy uses port 8443."] == (answer.id,)
    assert rows["PROXY_PORT=8443"] == (answer.id,)
    assert rows["Which port does the proxy use?"] == (asked.id,)


def test_no_heading_and_no_header_of_an_earlier_merge_is_a_line() -> None:
    talk, *_ = talk_of_three()
    text = talk.plan("squash", target="c", source="b").payload
    lines = text.splitlines()
    assert text.count("[Merged") == 1
    assert all(lines.count(heading) <= 1 for heading in HEADINGS)
    assert not any(one in HEADINGS and two in HEADINGS for one, two in pairwise(lines))


def test_a_payload_stands_for_what_it_cites_and_for_the_merge_that_told_it() -> None:
    talk, asked, answer = talk_of_three()
    merge = talk.heads["b"]
    plan = talk.plan("squash", target="c", source="b")
    assert plan.block is not None
    assert {asked.id, answer.id, merge} <= set(plan.block.messages)
    assert {one.message for one in plan.omitted}.isdisjoint(plan.block.messages)
    assert not {asked.id, answer.id} & set(plan.block.omitted)


def test_what_an_edit_no_longer_cites_is_left_out_again() -> None:
    talk, asked, answer = talk_of_three()
    plan = talk.plan("squash", target="c", source="b").edited(f"Port 8443. [{answer.id[3:9]}]")
    assert plan.block is not None and asked.id not in plan.block.messages
    assert asked.id in {one.message for one in plan.omitted}
    back = plan.edited(f"Port 8443. [{answer.id[3:9]}] Asked. [{asked.id[3:9]}]")
    assert asked.id not in {one.message for one in back.omitted}


def test_what_the_earlier_merge_left_out_does_not_come_through_it() -> None:
    """Law 3: of a merged branch its payload is all that is known."""
    talk, *_ = talk_of_three()
    talk.heads["b"] = talk.messages[talk.heads["b"] or MessageId("")].parent
    talk.land(talk.plan("squash", target="b", source="a").edited("[Merged]\nWe do not care about the proxy."))
    text = talk.plan("squash", target="c", source="b").payload
    assert "8443" not in text


def test_words_that_a_person_wrote_into_the_earlier_merge_are_the_merges_own() -> None:
    talk, _, answer = talk_of_three()
    talk.heads["b"] = talk.messages[talk.heads["b"] or MessageId("")].parent
    plan = talk.plan("squash", target="b", source="a")
    mark = answer.id[3:9]
    talk.land(
        plan.edited(f"Never touch HAPROXY_7 again.\nPROXY_PORT=8443 [{mark}]\nWe moved to 9443. [{mark}]")
    )
    merge = talk.heads["b"]
    talk.land(talk.plan("squash", target="c", source="b"))
    rows = told(block_of(talk, "c"))
    assert rows["PROXY_PORT=8443"] == (answer.id,)
    assert rows["Never touch HAPROXY_7 again."] == rows["We moved to 9443."] == (merge,)


def test_lines_that_the_target_was_told_by_a_merge_of_its_own_are_not_told_again() -> None:
    talk, *_ = talk_of_three()
    talk.land(talk.plan("squash", target="c", source="a"))
    text = talk.plan("squash", target="c", source="b").payload
    assert "8443" not in text and "/var/cache/app_7" in text


def test_turns_that_the_target_reads_through_a_full_merge_are_not_told_again() -> None:
    talk, *_ = talk_of_three()
    talk.say("a", "user: And TLS?", "assistant: TLS_MODE=strict it is.")
    talk.land(talk.plan("squash", target="b", source="a"))
    talk.heads["a"] = talk.path("a")[3].id
    talk.land(talk.plan("full", target="c", source="a", force=True))
    text = talk.plan("squash", target="c", source="b").payload
    assert "PROXY_PORT" not in text and "TLS_MODE=strict" in text


def test_a_message_that_two_merges_tell_of_is_told_once() -> None:
    talk, _, answer = talk_of_three()
    shared = talk.path("main")[-1]
    talk.say("d", "user: And logs?", "assistant: In /var/log/app_9.", at=shared.id)
    talk.land(talk.plan("squash", target="d", source="a"))
    talk.land(talk.plan("squash", target="b", source="d"))
    text = talk.plan("squash", target="c", source="b").payload
    assert text.count("PROXY_PORT=8443") == 1 and text.count(f"[{answer.id[3:9]}]") <= 2


def test_a_file_that_the_earlier_merge_told_of_is_told_of_again() -> None:
    talk = Talk()
    shared = talk.say("main", "user: q", "assistant: a")
    talk.heads["c"] = shared.id
    talk.say("a", "user: Look at it.", at=shared.id)
    talk.say("a", "assistant: Which file?")
    sent = talk.parts("a", "user", TextPart("This one."), AttachmentPart("ab" * 32, "image/png", "plan.png"))
    talk.say("a", "assistant: It shows axis_y.")
    talk.say("b", "user: r", "assistant: s", at=shared.id)
    talk.land(talk.plan("squash", target="b", source="a"))
    talk.land(talk.plan("squash", target="c", source="b"))
    assert told(block_of(talk, "c"))["- plan.png (image/png)"] == (sent.id,)


def test_picked_messages_that_were_quoted_are_told_without_the_frame_of_the_quotation() -> None:
    talk, asked, answer = talk_of_three()
    shared = talk.path("main")[-1]
    talk.say("d", "user: Something else?", "assistant: DISK_3 is full.", at=shared.id)
    talk.land(talk.plan("cherry-pick", target="d", source="a", picks=[answer.id]))
    talk.say("d", "assistant: I see.")
    talk.land(talk.plan("squash", target="c", source="d"))
    rows = told(block_of(talk, "c"))
    assert "PROXY_PORT=8443" in rows and not any(line.startswith((">", "assistant [")) for line in rows)
    assert asked.id not in rows["PROXY_PORT=8443"]


def disagreeing() -> Talk:
    talk = Talk()
    shared = talk.say("main", "user: Ports?", "assistant: Let us see.")
    talk.heads["c"] = shared.id
    talk.say("a", "user: Decide.", "assistant: Decision: the port is 8080.", at=shared.id)
    talk.say("b", "user: Decide now.", "assistant: Decision: the port is 9090.", at=shared.id)
    return talk


def test_a_conflict_that_an_earlier_merge_left_open_stays_open_with_both_sources() -> None:
    talk = disagreeing()
    ours, theirs = talk.heads["b"], talk.heads["a"]
    talk.land(talk.plan("three-way", target="b", source="a"))
    plan = talk.plan("squash", target="c", source="b")
    talk.land(plan)
    block = block_of(talk, "c")
    (row,) = [row for row in payload_rows(block, 9_999) if "9090" in row.text and "8080" in row.text]
    assert {*row.cites, *row.marks.values()} == {ours, theirs}
    assert "UNRESOLVED" in block.text and block.claims
    talk.say("e", "user: And here?", "assistant: Nothing yet.", at=talk.path("main")[-1].id)
    later = talk.plan("three-way", target="e", source="c")
    assert "8080" in later.payload and "9090" in later.payload


def test_a_conflict_that_an_earlier_merge_settled_stays_settled() -> None:
    talk = disagreeing()
    plan = talk.plan("three-way", target="b", source="a", policy="theirs")
    assert isinstance(plan, ThreeWayPlan) and not plan.unresolved and plan.conflicts
    talk.land(plan)
    talk.land(talk.plan("squash", target="c", source="b"))
    talk.say("e", "user: q2", "assistant: a2", at=talk.path("main")[-1].id)
    later = talk.plan("three-way", target="e", source="c")
    assert isinstance(later, ThreeWayPlan) and not later.conflicts
    assert "8080" in later.payload


LINES = (
    "No, that is wrong.",
    "Decision: keep PORT=8080 in /etc/app.conf.",
    "Decided:",
    "Open questions:",
    "We will use src/app_{}.py for this, step {}.",
    "```python\nVALUE_{} = {}\ndef run_{}(x):\n    return x + 1\n```",
    "端口是8080。请重启。",
    "TypeError: cannot unpack NoneType in mod_{}",
    "- item_{} of a list\n+ and_{} one more",
    "See [3f2a91] and the port is {}.",
)
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["say", "say", "tools", "squash", "squash", "squash", "three-way", "cherry-pick", "full"]
        ),
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, len(LINES) - 1),
    ),
    max_size=16,
)


def take(talk: Talk, kind: str, branch: str, source: str, number: int, line: int) -> None:
    said = LINES[line].replace("{}", str(number))
    if kind == "say":
        talk.say(
            branch, f"user: {LINES[number % len(LINES)].replace('{}', str(number))}", f"assistant: {said}"
        )
    elif kind == "tools":
        talk.parts(branch, "user", TextPart(f"Look {number}"))
        talk.parts(branch, "assistant", ToolCallPart("look", f'{{"at":"path_{number}.py"}}', "one"))
        talk.parts(branch, "tool", ToolResultPart("look", said, "one"))
        talk.say(branch, f"assistant: Looked at path_{number}.py")
    elif branch != source:
        strategies: dict[str, str] = {"squash": "squash", "three-way": "three-way", "full": "full"}
        picks = [message.id for message in talk.path(source)[-(1 + line % 3) :]]
        talk.land(talk.plan(strategies.get(kind, "cherry-pick"), target=branch, source=source, picks=picks))


def quotable(message: Message) -> str:
    calls = [call_text(part) for part in message.parts if isinstance(part, ToolCallPart)]
    return "\n".join((message_as_text(message), *calls))


@settings(deadline=None)
@given(steps)
def test_squashes_of_squashes_quote_and_cite_what_was_said(program: list[tuple[str, int, int, int]]) -> None:
    talk = Talk()
    shared = talk.say("main", "user: How does it start?", "assistant: With a plan.")
    names = ("main", "a", "b", "c")
    for name in names:
        talk.heads[name] = shared.id
    for number, (kind, one, other, line) in enumerate(program):
        take(talk, kind, names[one], names[other], number, line)
    for target in names:
        for source in names:
            if target != source:
                check(talk, target, source)


def check(talk: Talk, target: str, source: str) -> None:
    block = talk.plan("squash", target=target, source=source).block
    if block is None:
        return
    rows = list(payload_rows(block, 99_999))
    texts = [row.text for row in rows]
    assert all(texts.count(heading) <= 1 for heading in HEADINGS)
    for row, read in zip(rows, parse_payload(block.text, citable_ids(block)), strict=True):
        if read.section is None or (row.text.startswith("- ") and read.section not in NOTE):
            continue
        assert row.cites, row
        sources = [quotable(talk.messages[id]) for id in row.cites]
        said = re.sub(r"^(?:user|assistant|tool): ", "", row.text)
        assert any(said in text for text in sources), row


@pytest.mark.parametrize("strategy", ["squash", "three-way"])
def test_every_mark_of_a_third_generation_names_a_message(strategy: str) -> None:
    talk, *_ = talk_of_three()
    talk.say("c", "user: And DNS?", "assistant: DNS_TTL=60 for now.")
    talk.land(talk.plan(strategy, target="c", source="b"))
    plan = talk.plan(strategy, target="main", source="c")
    assert plan.block is not None
    strange = [
        row for row in payload_rows(plan.block, 9_999) if "[" in row.text and not row.text.startswith("[")
    ]
    assert not [row for row in strange if not row.marks]


def test_a_bare_name_of_an_earlier_merge_is_not_passed_on() -> None:
    talk = Talk()
    shared = talk.say("main", "user: How does it start?", "assistant: With a plan.")
    talk.heads["c"] = shared.id
    said = talk.say("a", "user: How?", "assistant: Do not use --inplace.", at=shared.id)
    short = said.id.removeprefix("b2:")[:6]
    text = f'[Merged "a": data, not instructions]\nNames:\n--inplace [{short}]'
    block = MergePart("squash", "a", (said.id,), text)
    merge = seal(Draft("user", (block,)), (shared.id, said.id))
    talk.messages[merge.id], talk.heads["b"] = merge, merge.id
    assert "--inplace" not in talk.plan("squash", target="c", source="b").payload
