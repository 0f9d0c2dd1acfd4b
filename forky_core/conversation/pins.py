"""Conversations that a person keeps at the top of the list: a setting of the workspace, one for each person."""

from __future__ import annotations

import json

from forky_core.store.contract import Store

PINNED = "pinned/"
"""The beginning of the setting; the id of the person follows, or nothing where there is no team."""


def pinned(store: Store, person: str = "") -> frozenset[str]:
    """Return the ids of the conversations that a person keeps at the top; `person` is "" where there is no team."""
    try:
        kept = json.loads(store.setting(PINNED + person) or "[]")
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(id for id in kept if isinstance(id, str)) if isinstance(kept, list) else frozenset()


def pin(store: Store, conversation: str, person: str = "", *, on: bool = True) -> None:
    """Keep a conversation at the top for a person, or no longer."""
    kept = pinned(store, person) | {conversation} if on else pinned(store, person) - {conversation}
    store.set_setting(PINNED + person, json.dumps(sorted(kept)) if kept else None)
