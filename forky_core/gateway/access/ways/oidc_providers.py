"""The identity providers that the operator names in a TOML file (FORKY_SIGN_IN_PROVIDERS).

docs/team.md has an example of one.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from forky_core.gateway.access.origins import is_loopback
from forky_core.model.errors import RequestError
from forky_core.model.parts import Json
from forky_core.people.roles import ASSIGNABLE, Role, role_named

_KEYS = frozenset(
    ("name", "label", "issuer", "client_id", "client_secret", "client_secret_env", "scopes", "role", "rules")
)


@dataclass(frozen=True, slots=True)
class RoleRules:
    """Which role the values of a claim give."""

    claim: str
    values: Mapping[Role, frozenset[str]]

    def role(self, claims: Mapping[str, Json]) -> Role:
        """The highest role that a person's claims give; `Role.NONE` if they give none."""
        found = claims.get(self.claim)
        has = {str(value) for value in (found if isinstance(found, list) else [found]) if value is not None}
        return max((role for role, values in self.values.items() if values & has), default=Role.NONE)


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """One identity provider that speaks OpenID Connect."""

    name: str
    """One word of lower-case letters, digits and hyphens; it stands in the address that the provider returns to."""
    label: str
    """What the sign-in page calls it."""
    issuer: str
    """Its address; what it publishes about itself lies below."""
    client_id: str
    client_secret: str = field(default="", repr=False)
    """"" for a client without a secret, which proves itself by PKCE alone."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    role: Role | None = None
    """The role of whoever comes by it for the first time or, if there are rules, of whoever fits none of them."""
    rules: RoleRules | None = None
    """They are applied at every sign-in."""


def read_providers(file: Path, environment: Mapping[str, str] | None = None) -> tuple[IdentityProvider, ...]:
    """The providers that a file names. Raises RequestError if it cannot be read or makes no sense."""
    variables = os.environ if environment is None else environment
    try:
        found = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise RequestError(f"FORKY_SIGN_IN_PROVIDERS: {file} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise RequestError(f"FORKY_SIGN_IN_PROVIDERS: {file} is no TOML: {error}.") from error
    tables = found.get("provider")
    if found.keys() != {"provider"} or not isinstance(tables, list):
        raise RequestError(f"{file} should hold [[provider]] tables and nothing else.")
    try:
        providers = tuple(_provider(table, variables) for table in tables)
    except RequestError as error:
        raise RequestError(f"{file}: {error}") from error
    names = [provider.name for provider in providers]
    if len(set(names)) < len(names):
        raise RequestError(f"{file}: two providers have the same name.")
    return providers


def _provider(table: Any, environment: Mapping[str, str]) -> IdentityProvider:
    if not isinstance(table, dict):
        raise RequestError("provider is no table.")
    name = _text(table, "name")
    if not re.fullmatch(r"[a-z0-9-]{1,30}", name):
        raise RequestError(
            f"“{name[:40]}” cannot be a provider's name.", "Write lower-case letters and digits."
        )
    if unknown := sorted(table.keys() - _KEYS):
        raise RequestError(f"The provider “{name}” has “{unknown[0]}”, which Forky does not know.")
    issuer = _text(table, "issuer")
    place = urlsplit(issuer)
    if not place.hostname or not (
        place.scheme == "https" or (place.scheme == "http" and is_loopback(place.hostname))
    ):
        raise RequestError(f"The issuer of the provider “{name}” is no https:// address.")
    scopes = table.get("scopes", ["openid", "profile", "email"])
    if not _is_texts(scopes) or "openid" not in scopes:
        raise RequestError(f"The scopes of the provider “{name}” are no list that has “openid” in it.")
    return IdentityProvider(
        name,
        _text(table, "label", name),
        issuer,
        _text(table, "client_id"),
        _secret(table, name, environment),
        tuple(scopes),
        role_named(_text(table, "role")) if "role" in table else None,
        _rules(table["rules"], name) if "rules" in table else None,
    )


def _text(table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise RequestError(f"A provider needs “{key}”, a text.")
    return value.strip()


def _secret(table: Mapping[str, Any], name: str, environment: Mapping[str, str]) -> str:
    if "client_secret_env" not in table:
        return _text(table, "client_secret") if "client_secret" in table else ""
    variable = _text(table, "client_secret_env")
    if not environment.get(variable):
        raise RequestError(f"The secret of the provider “{name}” should be in {variable}, which is not set.")
    return environment[variable]


def _rules(table: Any, name: str) -> RoleRules:
    words = {role.word for role in ASSIGNABLE}
    if not isinstance(table, dict) or not table.keys() <= words | {"claim"}:
        raise RequestError(
            f"The rules of the provider “{name}” hold something else than a claim and roles.",
            f"The roles are {', '.join(role.word for role in ASSIGNABLE)}.",
        )
    values = {role_named(word): given for word, given in table.items() if word != "claim"}
    if not values or not all(_is_texts(given) for given in values.values()):
        raise RequestError(f"The rules of the provider “{name}” should give a list of values for each role.")
    return RoleRules(_text(table, "claim"), {role: frozenset(given) for role, given in values.items()})


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
