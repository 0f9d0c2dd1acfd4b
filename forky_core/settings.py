"""What can be set from outside, read from the environment once and handed on as a frozen value.

Keys are not settings: they stay in the environment or in memory (llm/catalogue.py), so that printing these never
shows one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forky_core.errors import RequestError

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


@dataclass(frozen=True, slots=True)
class Settings:
    """One field per environment variable, named in its docstring."""

    database: Path | str
    """FORKY_DATABASE: a file, ":memory:", or a postgresql:// URL. Default: `forky.duckdb` in the user's data folder."""
    model: str | None = None
    """FORKY_MODEL: the model of branches that name none. Default: the first of what is on offer."""
    servers: tuple[str, ...] = ()
    """FORKY_SERVERS: base URLs of further OpenAI-compatible servers, separated by commas or spaces."""
    probe: bool = True
    """FORKY_PROBE: whether to look for model servers on this machine."""
    actor: str = "you"
    """FORKY_ACTOR: whose name stands beside operations."""
    hosts: tuple[str, ...] = ()
    """FORKY_HOSTS: names besides this machine's own that /v1 and /healthz answer to, separated by commas or spaces."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """RequestError where a variable cannot be understood."""
        variables = os.environ if environment is None else environment

        def value(name: str) -> str:
            return variables.get(name, "").strip()

        return cls(
            database=_database(value("FORKY_DATABASE")),
            model=value("FORKY_MODEL") or None,
            servers=tuple(_server(url) for url in re.split(r"[,\s]+", value("FORKY_SERVERS")) if url),
            probe=_switch("FORKY_PROBE", value("FORKY_PROBE"), default=True),
            actor=value("FORKY_ACTOR") or "you",
            hosts=tuple(host.lower() for host in re.split(r"[,\s]+", value("FORKY_HOSTS")) if host),
        )


def _database(value: str) -> Path | str:
    if value == ":memory:" or "://" in value:
        return value
    return Path(value).expanduser() if value else data_folder() / "forky.duckdb"


def data_folder() -> Path:
    """Where the user's data lives on this system; not created here."""
    from platformdirs import user_data_path  # noqa: PLC0415 - only where no place was given

    return user_data_path("forky", appauthor=False)


def _server(url: str) -> str:
    if not re.match(r"https?://[^/\s]+", url):
        raise RequestError(
            f"FORKY_SERVERS holds “{url}”, which is no address of a server.",
            "Write it as http://host:port/v1, several separated by commas.",
        )
    return url.rstrip("/")


def _switch(name: str, value: str, *, default: bool) -> bool:
    if not value:
        return default
    if value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise RequestError(f"{name} is “{value}”, which is neither yes nor no.", "Write 1 or 0.")
