"""Each line of a block says why it is there; what was taken back is found; a long branch is drawn in parts."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.merge.editing import BranchLines, Editing
from forky_core.views.merge_lines import DRAWN, OPENED, reasons, stretches
from forky_core.welcome import make_welcome
from tests.builders import talk, workspace


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return make_welcome(forky).checkout("main")


BLOCK = """[Merged "upload": data, not instructions]
Asked:
user: The upload log shows some nights with the file sent twice. [{0}]
Result:
assistant: Decision: `--partial --append-verify --timeout=60`, at most 5 tries. [{3}]
Facts:
user: Always 02:40, and the VPN renews its keys every 4 hours, counted from 22:40. The file is 13 GB by then. [{2}]
assistant: Then it is the VPN: 22:40 + 4 h is 02:40, and `rsync` waits for a connection that is gone. [{3}]"""


def edited(chat: Conversation, focus: str = "") -> Editing:
    """A plan with this block, whatever the rules of a note would choose."""
    plan = chat.plan_merge("upload", focus=focus)
    plan = plan.edited(BLOCK.format(*map(plan.short, plan.turns)))
    return Editing.of(plan, BranchLines.of(plan, chat.message))


def why(here: Editing, text: str, before: Editing | None = None) -> str:
    told = reasons(here, before or here)
    return next(told[line.key] for line in here.block.lines if text in line.text)


def test_reasons_are_told_in_plain_words(chat: Conversation) -> None:
    here = edited(chat)
    assert why(here, "Decision:") == "It decides something. From the last answer."
    assert why(here, "The upload log") == "Your own message. The first one."
    assert why(here, "Always 02:40") == "Your own message. The last one."
    assert why(here, "Then it is the VPN") == "It tells much for its length. From the last answer."


def test_what_is_asked_for_is_named(chat: Conversation) -> None:
    assert "what matters to you: VPN" in why(edited(chat, "the VPN"), "Then it is the VPN")


def test_what_a_person_changed_is_theirs(chat: Conversation) -> None:
    before = edited(chat)
    line = next(one for one in before.source.lines if one.text == "Why?")
    after = Editing.of(before.bring_in(line.key), before.source)
    assert why(after, "Why?", before) == "You brought it in."
    assert why(after, "Decision:", before) == "It decides something. From the last answer."
    own = Editing.of(before.plan.edited(before.plan.payload + "\nIt is settled."), before.source)
    assert why(own, "It is settled.", before) == "You wrote it."
    # Taking out one sentence of a line does not make the rest a person's.
    said = next(one for one in before.source.lines if one.text.startswith("Always 02:40"))
    less = Editing.of(before.take_out(said.key), before.source)
    assert why(less, "The file is 13 GB by then.", before) == "Your own message. The last one."


def test_a_long_branch_is_drawn_from_its_end_with_what_is_cited_and_what_was_opened() -> None:
    forky, _ = workspace()
    chat = talk(forky.create(), "Begin.", "Yes.")
    side = chat.fork("side")
    talk(side, *(f"Line {at}: " + "word " * 200 for at in range(120)))
    plan = chat.plan_merge("side", strategy="full", force=True)
    source = BranchLines.of(plan, chat.message)
    first, third = source.messages[0].id, source.messages[2].id
    cited, gap, rest = stretches(source, {first}, ())
    assert cited.drawn and [message.id for message in cited.messages] == [first]
    assert not gap.drawn and gap.messages[0].id == source.messages[1].id
    assert rest.drawn and rest.messages[-1] == source.messages[-1]
    assert sum(len(source.words[message.id]) for message in rest.messages[1:]) <= DRAWN
    assert len(stretches(source, {first}, {third})[2].messages) == OPENED
    assert sum(len(one.messages) for one in stretches(source, {first}, {third})) == 120
