"""The ways to sign in that the operator's settings offer, in the order in which the sign-in page shows them."""

from __future__ import annotations

from forky_core.gateway.access.ways.contract import WayIn
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.access.ways.reset import ResetWay
from forky_core.people.roles import role_named
from forky_core.process.settings import Settings


def ways_from(settings: Settings) -> list[WayIn]:
    """Every way to sign in. Raises RequestError if a setting makes no sense."""
    ways: list[WayIn] = []
    if settings.sign_in_providers is not None:
        from forky_core.gateway.access.ways.oidc import OidcWay  # noqa: PLC0415 - only where there are providers
        from forky_core.gateway.access.ways.oidc_providers import read_providers  # noqa: PLC0415

        ways.append(OidcWay(read_providers(settings.sign_in_providers)))
    if settings.proxy_header:
        from forky_core.gateway.access.ways.proxy import ProxyWay  # noqa: PLC0415 - only where there is a proxy

        role = role_named(settings.proxy_role) if settings.proxy_role else None
        ways.append(ProxyWay(settings.proxy_header, role))
    return [*ways, PasswordWay(), ResetWay()]
