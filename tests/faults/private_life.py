"""A life of Forky in a process of its own: start, chat, import, backup, migration, repair, export.

Arguments: a folder, and a umask in octal. Writes what somebody else could have opened at any moment.
"""

from __future__ import annotations

import gzip
import os
import stat
import sys
import threading
from pathlib import Path

from forky_core import Forky
from forky_core.formats.exporting.registry import exporter
from forky_core.formats.exporting.sharing import export_value, save_as
from forky_core.formats.importing.landing import import_file
from forky_core.process.private_files import new_file
from forky_core.store.duckdb.file.repair import repair
from forky_core.store.duckdb.file.wal import log_of
from forky_core.store.duckdb.store import DuckDBStore
from tests.store.next_schema import A_COLUMN_MORE
from tests.store.released import make_schema_5


class Watched:
    """Collects every file and folder that somebody else could have opened while it looked, with its permissions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> set[str]:
        self._thread.start()
        return self.seen

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.0005):
            self._look(self.folder)

    def _look(self, folder: Path) -> None:
        """Below a folder of its owner's alone nobody else can open anything."""
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
            except OSError:
                continue  # It is gone already.
            if mode & 0o077 and not stat.S_ISLNK(mode):
                self.seen.add(f"{entry.name} {stat.S_IMODE(mode):o}")
                if stat.S_ISDIR(mode):
                    self._look(Path(entry.path))


def private_copy(content: bytes, path: Path) -> None:
    """As a careful person would make it."""
    with os.fdopen(new_file(path), "wb") as out:
        out.write(content)


def live(folder: Path) -> None:
    data = folder / "made" / "data"
    place, old, crashed = (data / f"{name}.duckdb" for name in ("forky", "old", "crashed"))
    with Forky.open(place) as forky:
        chat = forky.create("Names")
        chat.ask("Suggest a name.")
        forky.attach(b"bytes", name="a.txt")
        save_as(export_value(forky.store, chat), exporter("forky"), folder / "chat.forky.jsonl")
        import_file(forky, folder / "chat.forky.jsonl")
        assert isinstance(forky.store, DuckDBStore) and forky.store.rest()
        chat.ask("And another one?")
        forky.backup()
        chat.ask("And a third one?")
        private_copy(place.read_bytes(), crashed)
        private_copy(bytes(16) + log_of(place).read_bytes()[16:], log_of(crashed))
    private_copy(gzip.decompress(make_schema_5.FILE.read_bytes()), old)
    with DuckDBStore.open(old, migrations=A_COLUMN_MORE) as store:
        assert store.conversations()
    assert repair(crashed).copies


if __name__ == "__main__":
    os.umask(int(sys.argv[2], 8))
    with Watched(Path(sys.argv[1])) as found:
        live(Path(sys.argv[1]))
    sys.stdout.write("\n".join(sorted(found)))
