"""The folders and databases that a running app follows, as a setting of the workspace, and those of programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from forky_core.formats.session_folders import session_folders
from forky_core.store.contract import Store

_SETTING = "followed"


@dataclass(frozen=True, slots=True)
class FollowedFolder:
    """A folder or a database that is followed."""

    path: str
    read: int = 0
    """When the file changed last that was imported (Watch.read)."""
    heard: int = 0
    """When something new last came from it, in microseconds since the epoch; 0 if nothing did."""
    problem: str = ""
    """Why it cannot be followed at the moment, as a sentence."""


def known_places() -> Mapping[str, Path]:
    """Return where programs of agents are known to keep their sessions on this machine, by their names."""
    return {name: path for name, path in session_folders().items() if path.exists()}


Folders = dict[str, FollowedFolder]
"""Followed folders by their paths."""


def followed(store: Store) -> Folders:
    return _read(store.setting(_SETTING))


def change_followed(store: Store, change: Callable[[Folders], Folders]) -> None:
    """Change which folders are followed, or what is kept of them."""

    def changed(text: str | None) -> str | None:
        folders = change(_read(text))
        return json.dumps([asdict(replace(one, problem="")) for one in folders.values()]) if folders else None

    store.set_setting(_SETTING, changed)


def _read(text: str | None) -> Folders:
    return {one["path"]: FollowedFolder(**one) for one in json.loads(text or "[]")}
