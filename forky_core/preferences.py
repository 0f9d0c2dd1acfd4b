"""What was chosen on the Settings page and outlives the server: the default model and further model servers.

They are small values of the database, so that they come with it. A key is never among them: an address that could
hold one is refused before it gets here (llm/probing.py).
"""

from __future__ import annotations

import json
from contextlib import suppress

from forky_core.errors import ForkyError
from forky_core.llm.catalogue import Catalogue
from forky_core.store.contract import Store

_MODEL = "default_model"
_SERVERS = "model_servers"


def restore_preferences(store: Store, models: Catalogue) -> None:
    """Tell a new catalogue what was chosen; what cannot be understood any more is passed over."""
    for url in _kept_servers(store):
        with suppress(ForkyError):
            models.add_server(url)
    with suppress(ForkyError):
        models.choose_default(store.setting(_MODEL))


def choose_default(store: Store, models: Catalogue, name: str | None) -> None:
    """Who answers on branches that name nobody; None: whoever Forky finds best.

    Raises:
        NotFound: nobody offers it; nothing was kept.
    """
    models.choose_default(name)
    store.set_setting(_MODEL, name)


def chosen_default(store: Store) -> str | None:
    return store.setting(_MODEL)


def add_server(store: Store, models: Catalogue, url: str) -> str:
    """Look for models at one more address, from now on; the id of the server.

    Raises:
        BadContent, NothingToDo: nothing was kept.
    """
    server = models.add_server(url)
    _keep_servers(store, [*_kept_servers(store), server.base_url])
    return server.id


def remove_server(store: Store, models: Catalogue, id: str) -> None:
    """Look there no more. NotFound where it was not added here."""
    base_url = next((status.base_url for status in models.providers() if status.id == id), "")
    models.remove_server(id)
    _keep_servers(store, [url for url in _kept_servers(store) if url != base_url])


def _kept_servers(store: Store) -> list[str]:
    try:
        kept = json.loads(store.setting(_SERVERS) or "[]")
    except (ValueError, RecursionError):
        return []
    return [url for url in kept if isinstance(url, str)] if isinstance(kept, list) else []


def _keep_servers(store: Store, urls: list[str]) -> None:
    store.set_setting(_SERVERS, json.dumps(urls) if urls else None)
