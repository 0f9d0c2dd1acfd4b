"""What was chosen on the Settings page and outlives the server: the default model and further model servers.

They are small values of the database, so that they come with it. A key is never among them: an address that could
hold one is refused before it gets here (llm/addresses.py).
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forky_core.llm.addresses import Network, checked_url, is_this_machine, written_network
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.probing import ServerProposal
from forky_core.model.errors import ForkyError
from forky_core.process.lazy_names import import_when_used
from forky_core.store.contract import Store

if TYPE_CHECKING:
    from forky_core.conversation.merging import note_writing
else:
    import_when_used(globals(), __spec__)

_MODEL = "default_model"

_SERVERS = "model_servers"


def restore_preferences(store: Store, models: Catalogue) -> None:
    """Tell a new catalogue what was chosen; what cannot be understood any more is passed over."""
    for kept in _kept_servers(store):
        with suppress(ForkyError):
            models.add_server(kept.server)
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


def choose_verifier(store: Store, name: str | None) -> None:
    """Who reads each sentence of a written merge beside its branch; None: the model that wrote it."""
    store.set_setting(note_writing.VERIFIER, name)


def chosen_verifier(store: Store) -> str | None:
    return store.setting(note_writing.VERIFIER)


def add_server(store: Store, models: Catalogue, agreed: ServerProposal) -> str:
    """Look for models at one more server, from now on; its id. `agreed`: what a person has seen and agreed to.

    Raises:
        NothingToDo: it is in the list already; nothing was kept.
    """
    server = models.add_server(agreed.server)
    _keep_servers(store, [*_kept_servers(store), agreed])
    return server.id


def remove_server(store: Store, models: Catalogue, id: str) -> None:
    """Look there no more. NotFound where it was not added here."""
    base_url = next((status.base_url for status in models.providers() if status.id == id), "")
    models.remove_server(id)
    _keep_servers(store, [kept for kept in _kept_servers(store) if kept.server.base_url != base_url])


def _kept_servers(store: Store) -> list[ServerProposal]:
    try:
        kept = json.loads(store.setting(_SERVERS) or "[]")
    except (ValueError, RecursionError):
        return []
    servers = []
    for entry in kept if isinstance(kept, list) else ():
        with suppress(ForkyError):
            servers += _kept_server(entry)
    return servers


def _kept_server(entry: object) -> list[ServerProposal]:
    """One entry: the URL and the network that a person agreed to, or a URL that an earlier version wrote.

    Such a URL was typed without being asked about: where it spells a private address out, that was what was meant.
    What a name stands for was not said, so it may be asked on the internet only.
    """
    match entry:
        case str(url):
            url = checked_url(url)
            return [ServerProposal(url, written_network(urlsplit(url).hostname or "") or _by_its_name(url))]
        case {"url": str(url), "network": ("loopback" | "private" | "public") as network}:
            return [ServerProposal(checked_url(url), network)]
        case _:
            return []


def _by_its_name(url: str) -> Network:
    return "loopback" if is_this_machine(url) else "public"


def _keep_servers(store: Store, servers: list[ServerProposal]) -> None:
    entries = [{"url": one.server.base_url, "network": one.network} for one in servers]
    store.set_setting(_SERVERS, json.dumps(entries) if entries else None)
