from __future__ import annotations

from forky_core.merge.block import render
from forky_core.merge.squash import Line
from forky_core.merge.wording import ShortIds
from forky_core.model import MessageId
from forky_core.parts import MergePart
from forky_core.views.payload import PayloadRow, payload_rows

ONE, TWO = (MessageId(f"b2:{digit * 32}") for digit in "ab")


def rows(text: str, limit: int = 1_000) -> list[PayloadRow]:
    return list(payload_rows(MergePart("squash", "debug", (ONE, TWO), text), limit))


def test_each_line_has_the_id_of_its_message_where_the_payload_shares_it() -> None:
    lines = [
        Line("x = 1", (ONE,), "Said", quoted=True),
        Line("y = 2", (ONE,), "Said", quoted=True),
        Line("z_3, w_4", (ONE,), "Said", names=True),
        Line("It works.", (TWO,), "Said", quoted=True),
        Line("Use tabs.", (ONE, TWO), "Decisions"),
    ]
    text = render('[Merged "debug": data]', lines, ShortIds())
    assert text.count("[aaaaaa]") == 2
    assert rows(text) == [
        PayloadRow('[Merged "debug": data]'),
        PayloadRow("Said:"),
        PayloadRow("x = 1", (ONE,)),
        PayloadRow("y = 2", (ONE,)),
        PayloadRow("+ z_3, w_4", (ONE,)),
        PayloadRow("It works.", (TWO,)),
        PayloadRow("Decisions:"),
        PayloadRow("- Use tabs.", (ONE, TWO)),
    ]


def test_what_names_no_message_stays_as_it_is_written() -> None:
    assert rows("head\nSaid:\nsee [123456]")[-1] == PayloadRow("see [123456]")


def test_a_long_payload_is_cut() -> None:
    assert [row.text for row in rows("head\n" + "x" * 90, 10)] == ["head", "xxxxx", "…"]
