from __future__ import annotations

from forky_core.merge.block import PayloadLine, render
from forky_core.merge.conflicts.conflict import Choice, Conflict, Quotation
from forky_core.merge.conflicts.findings import MergeFindings
from forky_core.merge.wording import ShortIds
from forky_core.model import MessageId
from forky_core.model.parts import MergePart
from forky_core.views.payload import PayloadRow, payload_rows, payload_text, text_rows

ONE, TWO = (MessageId(f"b2:{digit * 32}") for digit in "ab")


def rows(text: str, limit: int = 1_000) -> list[PayloadRow]:
    return list(payload_rows(MergePart("squash", "debug", (ONE, TWO), text), limit))


def test_each_line_has_the_id_of_its_message_where_the_payload_shares_it() -> None:
    lines = [
        PayloadLine("x = 1", (ONE,), "Said", quoted=True),
        PayloadLine("y = 2", (ONE,), "Said", quoted=True),
        PayloadLine("It works.", (TWO,), "Said", quoted=True),
        PayloadLine("Use tabs.", (ONE, TWO), "Decisions"),
    ]
    text = render('[Merged "debug": data]', lines, ShortIds())
    assert text.count("[aaaaaa]") == 2
    assert rows(text) == [
        PayloadRow('[Merged "debug": data]', kind="header"),
        PayloadRow("Said:", kind="heading"),
        PayloadRow("x = 1", (ONE,)),
        PayloadRow("y = 2", (ONE,)),
        PayloadRow("It works.", (TWO,)),
        PayloadRow("Decisions:", kind="heading"),
        PayloadRow("- Use tabs.", (ONE, TWO)),
    ]


def test_on_a_terminal_each_line_ends_in_the_marks_of_its_messages() -> None:
    text = "head\nSaid:\nx = 1\ny = 2 [aaaaaa]\nIt works. [bbbbbb]"
    merge = MergePart("squash", "debug", (ONE, TWO), text)
    assert payload_text(merge, lambda id: id[3:5]) == "head\nSaid:\nx = 1 [aa]\ny = 2 [aa]\nIt works. [bb]"


def test_a_mark_inside_a_line_is_drawn_where_it_names_a_message() -> None:
    text = 'head\n- port: "a" says “1” [aaaaaa]; "b" says “2” [cccccc] [bbbbbb]'
    row = list(payload_rows(MergePart("three-way", "debug", (ONE, TWO), text), 999))[-1]
    assert row.cites == (TWO,)
    assert row.drawn(str.upper, lambda id: f"<{id[3]}>") == '- PORT: "A" SAYS “1” <a>; "B" SAYS “2” [CCCCCC]'


def test_what_the_other_side_of_a_conflict_rests_on_is_named_too() -> None:
    """A three-way payload stands for the source's messages and cites the target's beside them."""
    words = (Quotation("main", TWO, "port 2"), Quotation("debug", ONE, "port 1"))
    claims = MergeFindings((Conflict("port", words, choice=Choice("text", "1")),)).to_json()
    merge = MergePart(
        "three-way", "debug", (ONE,), "head\nSettled:\n- port: 1 [aaaaaa] [bbbbbb]", claims=claims
    )
    assert list(payload_rows(merge, 999))[-1] == PayloadRow("- port: 1", (ONE, TWO))


def test_what_names_no_message_stays_as_it_is_written() -> None:
    assert rows("head\nSaid:\nsee [123456]")[-1] == PayloadRow("see [123456]")


def test_a_long_payload_is_cut() -> None:
    assert [row.text for row in rows("head\n" + "x" * 90, 10)] == ["head", "xxxxx", "…"]


def test_a_number_in_a_line_opens_what_the_answer_cites_that_the_line_is_taken_from() -> None:
    text = (
        "head\nSaid:\nEvery spring [1].\nSOURCES: [1] manual.md (doc:aaaa#2) [aaaaaa]\n"
        "Two years [1].\nSOURCES: [1] manual.md (doc:aaaa#3) [bbbbbb]\nAnd [1] there.\n"
    )
    found = {row.text: row for row in rows(text)}
    assert found["Every spring [1]."].opens == {1: "doc:aaaa#2"}
    assert found["Two years [1]."].opens == {1: "doc:aaaa#3"}
    assert found["And [1] there."].opens == {}
    drawn = found["Two years [1]."].drawn(str.upper, str, lambda number, address: f"<{number} {address}>")
    assert drawn == "TWO YEARS [<1 doc:aaaa#3>]."
    assert found["Two years [1]."].drawn(str.upper, str) == "TWO YEARS [1]."


def test_turns_shown_as_they_were_said_keep_every_line() -> None:
    text = "assistant:\nEvery spring [1]. [aaaaaa]\n\nSOURCES: [1] manual.md (doc:aaaa#2)"
    found = list(text_rows(text, 1_000))
    assert "\n".join(row.text for row in found) == text
    assert [row.opens for row in found] == [{}, {1: "doc:aaaa#2"}, {}, {1: "doc:aaaa#2"}]
