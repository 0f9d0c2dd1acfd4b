"""The log of a whole process, which a test cannot set up in its own: each runs a program and reads what it wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.hangs import HANG
from tests.programs import CHECKOUT

CANARY = "canary-4711"
BEGIN = """
import logging, sys, threading, warnings
from forky_core.process import events
from forky_core.process.log_setup import set_up_logging
other = logging.getLogger("somebody.else")
text = "canary" + "-4711"
"""


def written(program: str, form: str, level: str = "debug", before: str = "") -> str:
    """What a program wrote to standard error; `before` runs before the log is set up."""
    source = f"{BEGIN}\n{before}\nset_up_logging({form!r}, {level!r})\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=HANG
    )
    assert done.stdout == ""
    return done.stderr


def lines(program: str, level: str = "debug", before: str = "") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in written(program, "json", level, before).splitlines()]
    assert CANARY not in json.dumps(found)
    return found


def test_an_event_is_a_line_of_json_with_its_fields() -> None:
    (line,) = lines("events.import_ended(state='done', conversations=2, messages=7, size=9, seconds=.5)")
    assert line.pop("at").endswith("+00:00")
    assert line == {
        "level": "info",
        "event": "import.ended",
        "state": "done",
        "conversations": 2,
        "messages": 7,
        "size": 9,
        "seconds": 0.5,
    }


def test_a_trace_is_below_a_plain_line() -> None:
    said = written(
        """
def fails(): raise ValueError(text)
try: fails()
except ValueError as error: events.import_failed(fault=error)
""",
        "plain",
    )
    first, second, *frames = said.splitlines()
    assert first.endswith("WARNING import.failed") and second == "    ValueError"
    assert frames and all(frame.startswith("      <string>:") for frame in frames)
    assert CANARY not in said


@pytest.mark.parametrize(("level", "said"), [("debug", 2), ("info", 1), ("warning", 0)])
def test_the_level_is_forkys(level: str, said: int) -> None:
    program = """
events.page_ran(page="chat", kind="page", state="done", seconds=0.1)
events.store_closed()
other.info("Of another library, below a warning.")
"""
    assert len(lines(program, level)) == said


def test_off_logs_nothing_at_all() -> None:
    program = """
events.store_closed()
other.error("Somebody failed.")
warnings.warn(text)
thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join()
"""
    assert written(program, "off", before="logging.basicConfig()") == ""


def test_of_another_librarys_words_only_those_are_kept_that_stand_in_its_code() -> None:
    found = lines(
        """
def warn():
    other.warning("The disk of %s is full.", text)
    other.warning(f"The disk of {text} is full.")
    other.warning(text)
    other.error("Nothing works.")
warn()
""",
        before="logging.basicConfig()",
    )
    assert [line.get("message") for line in found] == [
        "The disk of %s is full.",
        None,
        None,
        "Nothing works.",
    ]
    assert {line["library"] for line in found} == {"somebody.else"}
    assert all(line["place"].startswith("<string>:") for line in found)


def test_another_librarys_handler_learns_no_more() -> None:
    said = written(
        """
handler = logging.StreamHandler(sys.stderr)
handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
other.addHandler(handler)
try: raise ValueError(text)
except ValueError: other.exception(f"It failed: {text}")
""",
        "plain",
    )
    assert said.count("ValueError") == 2 and CANARY not in said


def test_what_a_filter_of_another_library_made_text_of_is_still_one_event() -> None:
    (line,) = lines(
        """
def flatten(record):
    record.msg, record.args = record.getMessage(), None
    return True
other.addFilter(flatten)
def warn(): other.warning("Nothing works.")
warn()
"""
    )
    assert (line["event"], line["message"]) == ("library.warned", "Nothing works.")


def test_failures_that_nobody_waits_for_are_traces_without_words() -> None:
    found = lines(
        """
import asyncio, gc
def fails(): raise ValueError(text)
thread = threading.Thread(target=fails, name="worker"); thread.start(); thread.join()
class Ends:
    def __del__(self): fails()
Ends()
async def forgotten(): fails()
async def main():
    task = asyncio.ensure_future(forgotten())
    await asyncio.sleep(0.01)
    del task
    gc.collect()
asyncio.run(main())
warnings.warn(text, UserWarning)
"""
    )
    assert [line["event"] for line in found] == [*["thread.failed"] * 2, *["library.warned"] * 2]
    assert [line.get("thread") for line in found[:2]] == ["worker", "finalizer"]
    assert all(line["fault"][0]["type"] == "ValueError" for line in found[:3])
    assert [line["library"] for line in found[2:]] == ["asyncio", "UserWarning"]


def test_loggers_with_handlers_of_their_own_write_through_the_one_of_the_process() -> None:
    (line,) = lines(
        """
def warn(): other.warning("Nothing works.")
warn()
""",
        before="other.addHandler(logging.StreamHandler(sys.stderr)); other.propagate = False",
    )
    assert line["message"] == "Nothing works."


def test_a_closed_standard_error_ends_nothing() -> None:
    assert written("sys.stderr.close()\nevents.store_closed()\nother.error('Nothing works.')", "json") == ""
