"""The settings of a process, read from the environment once and passed on as a frozen value.

Keys of providers are not settings: they stay in the environment or in memory (llm/catalogue.py), so that printing the
settings never shows one.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from forky_core.model.errors import RequestError
from forky_core.process.log_setup import LogForm, LogLevel
from forky_core.process.vocabulary import SLOW_AFTER

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})
DEFAULT_ACTOR = "you"
"""The actor of operations where nothing names another one."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How a process logs."""

    form: LogForm = "plain"
    level: LogLevel = "info"


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
    actor: str = DEFAULT_ACTOR
    """FORKY_ACTOR: the name under which operations are recorded."""
    hosts: tuple[str, ...] = ()
    """FORKY_HOSTS: names besides this machine's own by which browsers and programs reach it, separated by commas or
    spaces."""
    origins: tuple[str, ...] = ()
    """FORKY_ORIGINS: what a proxy in front of Forky shows to browsers, as https://forky.example; separated likewise."""
    sign_in: Literal["auto", "always", "off"] = "auto"
    """FORKY_SIGN_IN: who must sign in: who comes from beyond this machine (`auto`), everybody (`always`), or nobody
    (`off`)."""
    team: bool = False
    """FORKY_TEAM: `on` where several people use this server: each signs in, and sees what is theirs or shared."""
    workspace_on_server: str = "main"
    """FORKY_WORKSPACE: the id of the workspace in a PostgreSQL database, which may have several. Default: main."""
    sign_in_providers: Path | None = None
    """FORKY_SIGN_IN_PROVIDERS: a TOML file with the identity providers by which people of a team sign in."""
    proxy_header: str = ""
    """FORKY_PROXY_HEADER: the header in which a proxy in front of a team's server names who is signed in there."""
    proxy_from: tuple[str, ...] = ()
    """FORKY_PROXY_FROM: the addresses and networks of the proxies that are believed when they report where a request
    comes from, and FORKY_PROXY_HEADER; separated by commas or spaces. Default: no proxy is believed."""
    proxy_role: str = ""
    """FORKY_PROXY_ROLE: the role with which the proxy's people come in for the first time. Default: by invitation."""
    audit_days: int = 0
    """FORKY_AUDIT_DAYS: how many days a team's audit log keeps an entry. Default: for ever."""
    password_hash: str | None = field(default=None, repr=False)
    """FORKY_PASSWORD_HASH: the Argon2 hash of the password that lets a browser in, not the one in `password_file()`."""
    log: LogSettings | None = None
    """FORKY_LOG: plain, json or off, and a level behind a colon. Default: plain for the app, with
    warnings alone on a terminal and from info on elsewhere; off for everything else."""
    slow: Mapping[str, float] = field(default_factory=dict)
    """FORKY_SLOW: seconds after which something is logged as slow: page=2,commit=0.5,gateway=60. Default: these."""
    metrics: bool | None = None
    """FORKY_METRICS: `on` serves /metrics to whoever has a token for it, `off` to nobody. Default: to this machine."""
    traces: bool = False
    """FORKY_TRACES: whether model calls are traced for OpenTelemetry."""

    @property
    def workspace(self) -> str:
        """The id of the workspace. A file has one: main, or the id that is its name, as that of a file which an earlier
        version made beside main.
        """
        if isinstance(self.database, Path):
            return self.database.stem if re.fullmatch(r"[0-9a-f]{16}", self.database.stem) else "main"
        return self.workspace_on_server

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from the variables of the process, or from those of `environment`.

        Raises:
            RequestError: a variable has a value that cannot be understood.
        """
        variables = os.environ if environment is None else environment

        def value(name: str) -> str:
            return variables.get(name, "").strip()

        return cls(
            database=_database(value("FORKY_DATABASE")),
            model=value("FORKY_MODEL") or None,
            servers=tuple(_server(url) for url in _several(value("FORKY_SERVERS"))),
            probe=_switch("FORKY_PROBE", value("FORKY_PROBE"), default=True),
            actor=value("FORKY_ACTOR") or DEFAULT_ACTOR,
            hosts=tuple(_host(host) for host in _several(value("FORKY_HOSTS"))),
            origins=tuple(_origin(origin) for origin in _several(value("FORKY_ORIGINS"))),
            sign_in=_sign_in(value("FORKY_SIGN_IN")),
            team=_switch("FORKY_TEAM", value("FORKY_TEAM"), default=False),
            workspace_on_server=value("FORKY_WORKSPACE") or "main",
            sign_in_providers=Path(value("FORKY_SIGN_IN_PROVIDERS")).expanduser()
            if value("FORKY_SIGN_IN_PROVIDERS")
            else None,
            proxy_header=_proxy_header(value("FORKY_PROXY_HEADER"), value("FORKY_PROXY_FROM")),
            proxy_from=tuple(_network(text) for text in _several(value("FORKY_PROXY_FROM"))),
            proxy_role=value("FORKY_PROXY_ROLE"),
            audit_days=_days("FORKY_AUDIT_DAYS", value("FORKY_AUDIT_DAYS")),
            password_hash=value("FORKY_PASSWORD_HASH") or None,
            log=_log(value("FORKY_LOG")),
            slow=_slow(value("FORKY_SLOW")),
            metrics=_switch("FORKY_METRICS", value("FORKY_METRICS"), default=True)
            if value("FORKY_METRICS")
            else None,
            traces=_switch("FORKY_TRACES", value("FORKY_TRACES"), default=False),
        )


_NO_MAIL = "Forky sends no mail any more: whoever runs it hands people the links that they need."
_NO_NIGHTLY_TABLES = "Forky writes no tables every night any more: Settings and `forky tables` make a copy for analysis when it is needed."
_ONE_WORKSPACE = (
    "A server has one workspace, whose owners decide about it; what is one's own is a private conversation."
)
GONE: Mapping[str, str] = {
    "FORKY_ANALYSIS": _NO_NIGHTLY_TABLES,
    "FORKY_ANALYSIS_AT": _NO_NIGHTLY_TABLES,
    "FORKY_ANALYSIS_REDACTED": _NO_NIGHTLY_TABLES,
    "FORKY_LARGE_FILES": "Forky keeps every file in the database. docs/postgresql.md (“Large files”) says how files that "
    "an earlier version put elsewhere come back.",
    "FORKY_HERALD": "Forky uses no Redis any more: processes that share a PostgreSQL database tell each other by it.",
    "FORKY_SMTP_HOST": _NO_MAIL,
    "FORKY_SMTP_PORT": _NO_MAIL,
    "FORKY_SMTP_SECURITY": _NO_MAIL,
    "FORKY_SMTP_USER": _NO_MAIL,
    "FORKY_SMTP_PASSWORD": _NO_MAIL,
    "FORKY_SMTP_PASSWORD_FILE": _NO_MAIL,
    "FORKY_SMTP_FROM": _NO_MAIL,
    "FORKY_WEBHOOKS": "Forky calls no webhooks any more: notices stay in the inbox.",
    "FORKY_KEY_FILE": "Forky stores no keys of providers any more: set their own variables, such as OPENAI_API_KEY.",
    "FORKY_WORKSPACES": "A server has one workspace. The files of others stay where they are, and Forky says at its start "
    "how each is opened by a server of its own.",
    "FORKY_MAKE_WORKSPACES": _ONE_WORKSPACE,
    "FORKY_PERSONAL_WORKSPACES": _ONE_WORKSPACE,
    "FORKY_OPEN_WORKSPACES": _ONE_WORKSPACE,
}
"""Variables that Forky no longer reads, each with a sentence that says what replaced it."""


def gone_settings(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return a sentence for each variable that is set although Forky no longer reads it."""
    variables = os.environ if environment is None else environment
    return tuple(
        f"{name} is set, and has no effect. {sentence}"
        for name, sentence in GONE.items()
        if variables.get(name, "").strip()
    )


def _days(name: str, value: str) -> int:
    if value and not (value.isascii() and value.isdigit()):
        raise RequestError(
            f"{name} is a number of days, and “{value[:40]}” is none.", f"For example: {name}=365"
        )
    return int(value or 0)


def _database(value: str) -> Path | str:
    if value == ":memory:" or "://" in value:
        return value
    return Path(value).expanduser() if value else data_folder() / "forky.duckdb"


def data_folder() -> Path:
    """Where the user's data lives on this system; not created here."""
    from platformdirs import user_data_path  # noqa: PLC0415 - only where no place was given

    return user_data_path("forky", appauthor=False)


def _several(value: str) -> list[str]:
    return [item for item in re.split(r"[,\s]+", value) if item]


def _host(name: str) -> str:
    if not re.fullmatch(r"[\w.-]+|\[[0-9a-f:.]+\]|[0-9a-f]*:[0-9a-f:.]+", name, re.IGNORECASE | re.ASCII):
        raise RequestError(
            f"FORKY_HOSTS holds “{name}”, which is no name of a host.",
            "Write names or addresses without http:// and without a port, several separated by commas.",
        )
    return name.lower().strip("[]")


def _origin(text: str) -> str:
    if not re.fullmatch(r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?/?", text, re.IGNORECASE | re.ASCII):
        raise RequestError(
            f"FORKY_ORIGINS holds “{text}”, which is no origin.",
            "Write what a browser's address begins with, as https://forky.example or http://10.0.0.5:8080.",
        )
    return text.lower().rstrip("/")


def _sign_in(value: str) -> Literal["auto", "always", "off"]:
    match value.lower():
        case "" | "auto":
            return "auto"
        case "always":
            return "always"
        case "off":
            return "off"
    raise RequestError(
        f"FORKY_SIGN_IN is “{value}”, which Forky does not know.",
        "Write auto (whoever comes from beyond this machine signs in), always (everybody does), or off (nobody does).",
    )


def _proxy_header(name: str, proxies: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]*", name):
        raise RequestError(
            f"FORKY_PROXY_HEADER is “{name[:80]}”, which is no header.", "Write it as X-Forwarded-Email."
        )
    if name and not proxies:
        raise RequestError(
            "FORKY_PROXY_HEADER needs FORKY_PROXY_FROM.",
            "Name the addresses of the proxy that it is believed from.",
        )
    return name


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError as error:
        raise RequestError(
            f"FORKY_PROXY_FROM holds “{text[:80]}”, which is neither an address nor a network.",
            "Write them as 10.0.0.5 or 10.0.0.0/24, several separated by commas.",
        ) from error


def password_file() -> Path:
    """Where `forky password` keeps the hash of the password: a file in the user's data folder."""
    return data_folder() / "password.json"


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


def _log(value: str) -> LogSettings | None:
    if not value:
        return None
    form, colon, level = value.lower().partition(":")
    level = level if colon else "info"
    if form not in get_args(LogForm) or level not in get_args(LogLevel):
        raise RequestError(
            f"FORKY_LOG is “{value[:80]}”, which is no way to log.",
            "Write plain, json or off; a level may follow: json:debug, plain:warning.",
        )
    return LogSettings(cast(LogForm, form), cast(LogLevel, level))


def _slow(value: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for word in filter(None, re.split(r"[,\s]+", value)):
        name, _, seconds = word.partition("=")
        if name not in SLOW_AFTER or not re.fullmatch(r"\d+(\.\d+)?", seconds):
            raise RequestError(
                f"FORKY_SLOW holds “{word[:80]}”, which says nothing of {', '.join(SLOW_AFTER)}.",
                "Write seconds for any of them: page=2,commit=0.5,gateway=60.",
            )
        found[name] = float(seconds)
    return found
