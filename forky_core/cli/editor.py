"""Lets the person at the terminal edit a text in the editor that `VISUAL` or `EDITOR` names, as Git does."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from forky_core.model.errors import BadContent

COMMENT = "# "
"""The beginning of the comment lines above the text, which are instructions and not part of it."""


def edited(text: str, comments: tuple[str, ...], name: str = "merge.md") -> str:
    """Open the editor and return the text that the person saved, without the comment lines; "" if it is empty.

    Raises:
        BadContent: no editor is set, it does not start, or it ends with an error.
    """
    command = _command()
    with tempfile.TemporaryDirectory(prefix="forky-") as folder:  # Nobody else may read it.
        file = Path(folder) / name
        file.write_text("".join(f"{COMMENT}{line}\n" for line in comments) + f"\n{text}\n", "utf-8")
        try:
            ended = subprocess.run([*command, str(file)], check=False)
        except OSError as error:
            raise BadContent(
                f"The editor “{command[0]}” does not start.", "Set VISUAL or EDITOR to one that does."
            ) from error
        if ended.returncode:
            raise BadContent(f"The editor ended with code {ended.returncode}: nothing was written.")
        try:
            saved = file.read_text("utf-8-sig", "replace")
        except OSError as error:
            raise BadContent("The editor left no file: nothing was written.") from error
        return without_comment(saved)


def without_comment(text: str) -> str:
    """Remove the leading comment lines; later lines that begin like a comment belong to the text."""
    lines = text.splitlines()
    while lines and (lines[0].startswith(COMMENT) or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines).rstrip()


def _command() -> list[str]:
    """Return the command in `VISUAL`, or else in `EDITOR`, split into words."""
    chosen = os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()
    if not chosen:
        raise BadContent("No editor is set.", "Set VISUAL or EDITOR, for example: EDITOR=nano forky merge …")
    try:
        words = shlex.split(chosen, posix=os.name != "nt")
    except ValueError as error:
        raise BadContent(f"VISUAL or EDITOR cannot be read: {chosen}") from error
    return [word.strip('"') for word in words] if os.name == "nt" else words
