"""What Settings keeps beyond the server: a default model and servers, in the database, and never a key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from forky_core.documents.offline_models import offline_models
from forky_core.llm.addresses import NAMED, Network
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.probing import ServerProposal
from forky_core.model.errors import BadContent, NotFound, NothingToDo
from forky_core.preferences import (
    _kept_servers,
    add_server,
    choose_default,
    chosen_default,
    remove_server,
    restore_preferences,
)
from forky_core.process.settings import Settings
from forky_core.store.memory.store import MemoryStore

QUIET = Settings(database=":memory:", probe=False)


def catalogue(**environment: str) -> Catalogue:
    async def nowhere(_host: str, _port: int) -> Sequence[str]:
        raise OSError

    settings = Settings.from_environment({"FORKY_PROBE": "0", **environment})
    return Catalogue(offline=offline_models(), settings=settings, environment={}, resolver=nowhere)


def test_a_chosen_default_survives_a_restart() -> None:
    store, models = MemoryStore(), catalogue()
    assert models.default() == "offline/quote"
    choose_default(store, models, "offline/digest")
    assert models.default() == chosen_default(store) == "offline/digest"
    again = catalogue()
    restore_preferences(store, again)
    assert again.default() == "offline/digest"
    choose_default(store, again, None)
    assert again.default() == "offline/quote"


def test_the_environment_decides_over_what_was_chosen_and_what_is_there_over_what_has_gone() -> None:
    store, models = MemoryStore(), catalogue(FORKY_MODEL="offline/quote")
    with pytest.raises(NotFound):
        choose_default(store, models, "no-such-model")
    assert chosen_default(store) is None
    choose_default(store, models, "offline/digest")
    assert models.default() == "offline/quote" and models.default_is_set_outside
    store.set_setting("default_model", "no-such-model")
    restore_preferences(store, models := catalogue())
    assert models.default() == "offline/quote"


def test_an_added_server_is_listed_kept_and_removed() -> None:
    store, models = MemoryStore(), catalogue()
    id = add_server(store, models, models.propose_server("127.0.0.1:1"))
    assert id == "127.0.0.1:1"
    again = catalogue()
    restore_preferences(store, again)
    assert [(s.id, s.base_url) for s in again.providers() if s.id == id] == [(id, "http://127.0.0.1:1/v1")]
    remove_server(store, again, id)
    last = catalogue()
    restore_preferences(store, last)
    for models in (again, last):
        assert id not in [status.id for status in models.providers()]


def test_a_server_is_added_once_and_only_such_are_removed() -> None:
    store, models = MemoryStore(), catalogue(FORKY_SERVERS="http://127.0.0.1:2/v1")
    assert models.added_servers == ()
    with pytest.raises(NotFound):
        remove_server(store, models, "127.0.0.1:2")
    proposed = models.propose_server("http://127.0.0.1:1/v1")
    add_server(store, models, proposed)
    with pytest.raises(NothingToDo):
        models.propose_server("http://127.0.0.1:1")
    with pytest.raises(NothingToDo):
        add_server(store, models, proposed)


@pytest.mark.parametrize("network", ["loopback", "private", "public"])
def test_what_was_agreed_to_survives_a_restart(network: Network) -> None:
    store = MemoryStore()
    agreed = ServerProposal("http://models.test:1", network)
    add_server(store, catalogue(), agreed)
    again = catalogue()
    restore_preferences(store, again)
    (server,) = again._servers
    assert server == agreed.server
    assert server.reach == (NAMED if network == "private" else {network})


@pytest.mark.parametrize(
    ("url", "reach"),
    [
        ("http://192.168.1.20:1/v1", "loopback private public"),
        ("http://nas.local:1/v1", "loopback private public"),
        ("http://localhost:1/v1", "loopback"),
        ("http://[::1]:1/v1", "loopback"),
        ("http://nas:1/v1", "public"),
        ("https://models.example.com/v1", "public"),
    ],
)
def test_a_server_that_an_earlier_version_added_is_asked_where_its_address_says(url: str, reach: str) -> None:
    store = MemoryStore()
    store.set_setting("model_servers", json.dumps([url]))
    (kept,) = _kept_servers(store)
    assert (kept.server.base_url, set(kept.server.reach)) == (url, set(reach.split()))


@pytest.mark.parametrize(
    "address",
    [
        "",
        "   ",
        "http://",
        "ftp://host/v1",
        "javascript:alert(1)",
        "http://host:99999/v1",
        "http://host:port/v1",
        "http://[::1/v1",
        "http://user:sk-secret@host/v1",
        "http://host/v1?api_key=sk-secret",
        "http://host/v1#sk-secret",
        "http://ho st/v1",
        "http://höst/v1",
        "http://host/\0",
        "http://" + "x" * 1_000_000,
    ],
)
def test_what_is_no_address_or_holds_a_secret_is_refused_and_not_kept(address: str) -> None:
    store, models = MemoryStore(), catalogue()
    with pytest.raises(BadContent):
        models.propose_server(address)
    assert store.setting("model_servers") is None
    assert models.added_servers == ()


@pytest.mark.parametrize(
    "kept",
    [
        "{",
        "[1, null]",
        '["javascript:x"]',
        '["http://169.254.169.254/v1"]',
        '[{"url": "http://169.254.169.254/v1", "network": "public"}]',
        '[{"url": "http://127.0.0.1/v1", "network": "refused"}]',
        '[{"url": 1, "network": "public"}]',
        '"text"',
        "[" * 100_000,
    ],
)
def test_what_cannot_be_understood_any_more_is_passed_over(kept: str) -> None:
    store, models = MemoryStore(), catalogue()
    store.set_setting("model_servers", kept)
    restore_preferences(store, models)
    assert models.added_servers == ()


def test_a_key_that_streamlit_copied_from_the_file_is_said_to_come_from_the_file(tmp_path: Path) -> None:
    key = {"OPENAI_API_KEY": "sk-made-up"}
    models = Catalogue(key, QUIET, offline=offline_models(), environment=key)
    status = next(one for one in models.providers() if one.id == "openai")
    assert (status.key, "secrets.toml" in status.sentence) == ("secrets", True)
