"""Looks up API keys in the environment, a mapping of secrets, or memory. Only this module stores keys.

A key never enters the database, an export, a log or the `repr` of anything here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Literal

from forky_core.llm.providers import Provider
from forky_core.model.errors import BadContent

KeySource = Literal["entered", "environment", "secrets", "missing", "not needed"]
_LONGEST = 8_000
"""The longest key in characters; signed tokens of some providers have two thousand."""


def fit_key(key: str | None) -> str:
    """Return a key as it is used; "" for none.

    Raises:
        BadContent: it cannot be a key.
    """
    key = (key or "").strip()
    if key and (not key.isascii() or not key.isprintable() or " " in key):
        raise BadContent(
            "A key holds no spaces, line ends or accents.", "Copy it again from the provider's page."
        )
    if len(key) > _LONGEST:
        raise BadContent(f"A key of {len(key):,} characters cannot be one.", "Copy it again.")
    return key


class Keys:
    """API keys, looked up at every call, so that a key set later is found."""

    def __init__(self, secrets: Mapping[str, object] | None, environment: Mapping[str, str] | None) -> None:
        self._secrets = {name: value for name, value in (secrets or {}).items() if isinstance(value, str)}
        self._environment = environment
        self._entered: dict[str, str] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "Keys(…)"

    @property
    def environment(self) -> Mapping[str, str]:
        return os.environ if self._environment is None else self._environment

    def enter(self, id: str, key: str | None) -> None:
        """Store a key in memory until the server stops; None or "" removes it.

        Raises:
            BadContent: it cannot be a key.
        """
        key = fit_key(key)
        with self._lock:
            self._entered.pop(id, None)
            if key:
                self._entered[id] = key

    def entered(self, id: str) -> str | None:
        with self._lock:
            return self._entered.get(id)

    def find(self, provider: Provider) -> tuple[str | None, KeySource, str]:
        """Return (key, source, variable): the variable it was found in or should be set in."""
        if key := self.entered(provider.id):
            return key, "entered", provider.variables[0]
        places: tuple[tuple[KeySource, Mapping[str, str]], ...] = (
            ("environment", self.environment),
            ("secrets", self._secrets),
        )
        for source, mapping in places:
            for variable in provider.variables:
                if key := mapping.get(variable, "").strip():
                    # Streamlit copies secrets.toml into the environment; a person looks for it in the file.
                    copied = self._secrets.get(variable, "").strip() == key
                    return key, "secrets" if copied else source, variable
        return None, "missing", provider.variables[0]

    def base_url(self, provider: Provider) -> str | None:
        """Return a provider's base URL from the environment, in the variables that its own clients read."""
        for ending in ("BASE_URL", "API_BASE"):
            if url := self.environment.get(f"{provider.id.upper()}_{ending}", "").strip():
                return url.rstrip("/")
        return None
