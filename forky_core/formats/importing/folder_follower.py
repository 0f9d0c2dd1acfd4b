"""Follows folders for a running app: sessions of agents' programs come into the Library while they are written.

The folders are followed again when the app starts. One thread looks at all.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.formats.importing.followed_folders import FollowedFolder, change_followed, followed
from forky_core.formats.importing.following import EVERY, Watch, is_database
from forky_core.model.errors import BadContent, ForkyError, NotFound, NothingToDo

_MOST = 20
"""The most folders that are followed."""


class FolderFollower:
    """Follows the folders of a workspace; safe from any thread."""

    def __init__(self, forky: Workspace) -> None:
        self._forky = forky
        self._lock = Lock()
        self._stop = Event()
        self._watches: dict[str, Watch] = {}
        self._problems: dict[str, str] = {}
        self._thread: Thread | None = None
        if followed(forky.store):
            self._run()

    def folders(self) -> tuple[FollowedFolder, ...]:
        kept = followed(self._forky.store)
        return tuple(replace(one, problem=self._problems.get(path, "")) for path, one in kept.items())

    def follow(self, path: str) -> FollowedFolder:
        """Follow a folder or a program's database from now on, with all that is in it.

        Raises:
            BadContent: it is neither, or too many are followed.
            NothingToDo: it is followed already.
        """
        place = Path(path.strip()).expanduser()
        if not path.strip() or not (place.is_dir() or (place.is_file() and is_database(place))):
            raise BadContent(
                f"“{path.strip()[:200]}” is no folder on the machine that Forky runs on, nor a program's database."
            )
        folder = FollowedFolder(str(place.resolve()))
        kept = followed(self._forky.store)
        if folder.path in kept:
            raise NothingToDo(f"{folder.path} is followed already.")
        if len(kept) >= _MOST:
            raise BadContent(f"At most {_MOST} folders are followed.")
        change_followed(self._forky.store, lambda folders: {**folders, folder.path: folder})
        self._run()
        return folder

    def forget(self, path: str) -> None:
        """Follow a folder no more; what came from it stays. Raises NotFound if it is not followed."""
        if path not in followed(self._forky.store):
            raise NotFound("This folder is not followed.")
        change_followed(
            self._forky.store, lambda folders: {name: one for name, one in folders.items() if name != path}
        )
        self._watches.pop(path, None)

    def close(self) -> None:
        """Stop, after the file that is being imported."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._look_again, name="forky-follow", daemon=True)
                self._thread.start()

    def _look_again(self) -> None:
        while not self._stop.is_set():
            with suppress(ForkyError):  # The pages say what is wrong with the database.
                for folder in followed(self._forky.store).values():
                    self._look(folder)
            self._stop.wait(EVERY)

    def _look(self, folder: FollowedFolder) -> None:
        watch = self._watches.setdefault(folder.path, Watch(Path(folder.path), folder.read))
        try:
            if not watch.path.exists():
                raise BadContent("It is not there any more.")
            for done in watch.look(self._forky, self._stop):
                if done.conversations:
                    folder = replace(folder, heard=now())
            if watch.read != folder.read:
                now_read = replace(folder, read=watch.read)
                change_followed(
                    self._forky.store,
                    lambda folders: {**folders, folder.path: now_read} if folder.path in folders else folders,
                )
            self._problems.pop(folder.path, None)
        except (ForkyError, OSError) as error:
            self._problems[folder.path] = str(error)
