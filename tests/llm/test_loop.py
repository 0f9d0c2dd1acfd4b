"""The loop of the models' streams ends with the program, and says nothing of it."""

from __future__ import annotations

import subprocess
import sys

from tests.hangs import HANG
from tests.programs import CHECKOUT

PROGRAM = """
import asyncio
from forky_core.llm.loop import submit

async def work():
    await asyncio.gather(asyncio.sleep(600), asyncio.sleep(600))

submit(work())
left = submit(work())
left.cancel()
"""


def test_a_program_that_ends_leaves_no_task_that_complains() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
