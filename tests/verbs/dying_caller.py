"""A process that is killed when a verb has changed something and has not answered yet."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from forky_core.forky import Forky
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.verbs.calling import call
from forky_core.verbs.verb import VerbCaller


def main(path: str, verb: str, arguments: str) -> None:
    def die(*_values: Any, **_named: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    # What is called once the verb is done.
    DuckDBStore.keep_derived = die  # type: ignore[method-assign]
    call(VerbCaller(Forky.open(Path(path)), "you", "test"), verb, json.loads(arguments))
