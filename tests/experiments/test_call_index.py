"""The calls of a conversation by where they were made: as if worked out anew, in few steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forky_core.experiments.cells import CellCalls
from forky_core.model import Generation, GenerationId, MessageId

PLACES = [(branch, MessageId(parent)) for branch in ("a", "b") for parent in ("1", "2")]
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.sampled_from(PLACES),
        st.sampled_from(["running", "done", "failed"]),
        st.integers(0, 3),
    ),
    max_size=40,
)


@dataclass
class Counted(Sequence[Generation]):
    """Calls that count how many of them are looked at."""

    calls: Sequence[Generation]
    looked: int = 0

    def read(self) -> Counted:
        return self

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, at: Any) -> Any:
        self.looked += 1
        return self.calls[at]


def called(number: int, **more: Any) -> Generation:
    values: dict[str, Any] = {
        "branch": "a",
        "parent": MessageId("1"),
        "status": "done",
        "started": number,
    } | more
    return Generation(GenerationId(f"g{number}"), model="m", **values)


def in_order(calls: dict[str, Generation]) -> tuple[Generation, ...]:
    return tuple(sorted(calls.values(), key=lambda call: (call.started, call.id)))


@given(CHANGES)
def test_an_index_that_follows_says_what_one_that_is_built_anew_says(
    changes: list[tuple[int, tuple[str, MessageId], str, int]],
) -> None:
    calls: dict[str, Generation] = {}
    index = CellCalls()
    for number, (branch, parent), status, started in changes:
        known = calls.get(f"g{number}")
        if known is not None and known.status != "running":
            continue
        message = MessageId(f"m{number % 3}") if status != "running" else None
        call = known or called(number, branch=branch, parent=parent, started=started)
        calls[call.id] = replace(call, status=status, message=message)  # type: ignore[arg-type]
        assert index.update(lambda: in_order(calls))
        listed = in_order(calls)
        for place in PLACES:
            assert index.latest(*place) == {(c.branch, c.parent): c for c in listed}.get(place)
        for made in ("m0", "m1", "m2"):
            anywhere = {c.message: c for c in listed}.get(MessageId(made))
            for on in {one for one, _ in PLACES}:
                own = {(c.branch, c.message): c for c in listed}.get((on, MessageId(made)))
                assert index.of_message(on, MessageId(made)) == (own or anywhere)


def test_one_more_call_takes_few_steps() -> None:
    index = CellCalls()
    calls = [called(number) for number in range(1_000)]
    index.update(lambda: calls)
    begun = called(1_001, status="running")
    for following in ([*calls, begun], [*calls, replace(begun, status="done")], [*calls, begun]):
        counted = Counted(following)
        assert index.update(counted.read) and counted.looked <= 2


def test_calls_that_are_gone_or_stand_elsewhere_need_another_index() -> None:
    index = CellCalls()
    index.update(lambda: [called(1), called(2)])
    assert not index.update(lambda: [called(1)])
    index = CellCalls()
    index.update(lambda: [called(1, status="running")])
    assert not index.update(lambda: [called(1, branch="b")])
