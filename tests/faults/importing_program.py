"""A process that imports a file into a database, with a copy of it in a temporary folder, and is meant to be killed."""

from __future__ import annotations

import sys
from pathlib import Path

from forky_core.forky import Forky
from forky_core.formats.importing import batches
from forky_core.formats.importing.file_import import FileImport
from tests.builders import ScriptedModels


def main(database: str, file: str) -> None:
    """Prints `spool FOLDER` and, for each conversation that is looked at, `looked NUMBER`."""
    batches.MOST_MESSAGES = 20
    with Forky.open(database, models=ScriptedModels()) as forky:
        with Path(file).open("rb") as content:
            incoming = FileImport(forky, Path(file).name, content)
        say(f"spool {incoming._folder}")
        incoming.wait()
        incoming.land()
        done = 0
        while incoming.busy:
            now = incoming.progress.done if incoming.progress is not None else 0
            if now != done:
                done = now
                say(f"looked {now}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
