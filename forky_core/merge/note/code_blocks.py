"""Joins lines of code into one passage: a reader of a note can use a whole block, but hardly a part of one."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from forky_core.merge.note.passages import NotePassage

MOST_LINES = 8
"""The most lines of a block that is quoted: a command to run, a setting, an error."""


def with_code_blocks(found: Sequence[NotePassage]) -> list[NotePassage]:
    """Return passages with one for each block of code in place of its lines, indented as little as can be.

    A block that is too long is left out, and so is what an edit takes out.
    """
    joined: list[NotePassage] = []
    for (_, shape), run in groupby(found, key=lambda one: (one.turn, one.shape)):
        mine = list(run)
        if shape == "code" and len(mine) <= MOST_LINES:
            text = textwrap.dedent("\n".join(one.whole_row.rstrip() for one in mine)).strip("\n")
            joined.append(replace(mine[0], text=text, whole_row=text))
        elif shape not in ("code", "removed"):
            joined += mine
    return joined
