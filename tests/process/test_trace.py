from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from forky_core.model.errors import StoreError
from forky_core.process.trace import Trace, trace_of

CANARY = "the canary sings of 4711"


def caught(depth: int = 0) -> Exception:
    def deeper(left: int) -> None:
        if left:
            deeper(left - 1)
        json.loads(f"[{CANARY}]")

    try:
        try:
            deeper(depth)
        except ValueError as error:
            raise StoreError(f"“{CANARY}” cannot be read.") from error
    except StoreError as error:
        return error
    raise AssertionError("Nothing was raised.")


def test_a_trace_names_types_and_places_of_the_whole_chain_and_no_word() -> None:
    trace = trace_of(caught())
    assert [fault.type for fault in trace.faults] == [
        "forky_core.model.errors.StoreError",
        "json.decoder.JSONDecodeError",
    ]
    said = "\n".join(trace.lines())
    assert "tests/process/test_trace.py" in said and "caught.<locals>.deeper" in said
    assert "json/decoder.py" in said
    assert CANARY not in said and CANARY not in repr(trace)


def test_a_trace_names_no_folder_of_this_machine() -> None:
    said = "\n".join(trace_of(caught()).lines())
    assert str(Path(__file__).parents[2]) not in said and str(Path.home()) not in said
    assert "/lib/python" not in said


def test_a_deep_stack_is_cut_in_its_middle() -> None:
    frames = trace_of(caught(500)).faults[1].frames
    assert len(frames) == 41
    assert "frames" in frames[8]


def test_numbers_of_an_error_are_told() -> None:
    class Refused(Exception):
        status_code = 429

    assert (
        str(trace_of(OSError(errno.ENOSPC, CANARY, "/home/ada/private.db")).faults[0]) == "OSError (ENOSPC)"
    )
    assert str(trace_of(Refused(CANARY)).faults[0]).endswith("Refused (429)")


def test_errors_that_came_together_are_all_told() -> None:
    found = trace_of(ExceptionGroup(CANARY, [ValueError(CANARY), KeyError(CANARY)]))
    assert [fault.type for fault in found.faults] == ["ExceptionGroup", "ValueError", "KeyError"]


def test_a_circle_of_causes_ends() -> None:
    one, two = ValueError(CANARY), KeyError(CANARY)
    one.__cause__, two.__cause__ = two, one
    assert isinstance(trace_of(one), Trace) and len(trace_of(one).faults) == 2


def test_what_was_hidden_on_purpose_stays_hidden() -> None:
    def hide() -> None:
        try:
            json.loads(f"[{CANARY}]")
        except ValueError:
            raise KeyError(CANARY) from None

    with pytest.raises(KeyError) as error:
        hide()
    assert [fault.type for fault in trace_of(error.value).faults] == ["KeyError"]
