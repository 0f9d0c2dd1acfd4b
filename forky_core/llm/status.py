"""Describes for the Settings page, in a sentence, what is set and what is missing for each provider and server."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.llm.contract import OFFLINE
from forky_core.llm.keys import Keys, KeySource
from forky_core.llm.probing import LocalServer, ServerAnswer
from forky_core.llm.providers import Provider


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """One line of the Settings page."""

    id: str
    name: str
    key: KeySource
    variable: str
    """The environment variable of its key; "" if none is needed."""
    found: bool
    """Whether its models can be called: a key is set, or a server answered."""
    models: int
    base_url: str
    """The base URL, if it is not the provider's default."""
    sentence: str
    """A sentence about what is set or missing, and what to do."""


def keyed_status(provider: Provider, keys: Keys, models: int) -> ProviderStatus:
    """Return the status of a provider with a key; `models` is the number of its models."""
    key, source, variable = keys.find(provider)
    base_url = keys.base_url(provider) or ""
    sentences = {
        "entered": "Key entered here; kept in memory until Forky stops.",
        "environment": f"Key found in {variable}.",
        "secrets": f"Key found in .streamlit/secrets.toml as {variable}.",
        "missing": f"No key. Set {variable} before starting Forky, or enter one here.",
    }
    count = models if key else 0
    return ProviderStatus(
        provider.id, provider.label, source, variable, bool(key), count, base_url, sentences[source]
    )


def server_status(server: LocalServer, keys: Keys, found: ServerAnswer | None) -> ProviderStatus:
    """Return the status of a server; `found` is None if it was not asked yet."""
    source: KeySource = "not needed"
    if keys.entered(server.id):
        source = "entered"
    count = len(found.models) if found else 0
    if found is None:
        sentence = "Looking for it …"
    elif count:
        sentence = f"Running, with {count} model{'' if count == 1 else 's'}."
    else:
        sentence = found.problem
    answered = found.answered if found else False
    return ProviderStatus(server.id, server.label, source, "", answered, count, server.shown_url, sentence)


def offline_status(models: int) -> ProviderStatus:
    """Return the status of the offline models."""
    sentence = "Always there: quotes and digests."
    return ProviderStatus("offline", OFFLINE, "not needed", "", True, models, "", sentence)
