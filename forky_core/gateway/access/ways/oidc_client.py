"""Asks an identity provider who somebody is: authorization code with PKCE, state and nonce (OpenID Connect Core 1.0).

Requests are made with httpx and never block the server; Authlib and joserfc check what comes back. A person is named by
the issuer and the subject of the ID token, never by an address of e-mail.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

from forky_core.gateway.access.origins import is_loopback
from forky_core.gateway.access.ways.oidc_providers import IdentityProvider
from forky_core.model.errors import BadContent, BadName, ForkyError
from forky_core.model.parts import Json
from forky_core.model.room import LONGEST, fit_name
from forky_core.people.admission import Proof
from forky_core.people.members import Identity, fit_email
from forky_core.people.roles import Role
from forky_core.process.extras import needed_for

if TYPE_CHECKING:
    import ssl

PATIENCE = 10.0
"""Seconds that a provider has for its part of a sign-in."""
LEEWAY = 120
"""Seconds by which the provider's clock may differ."""
FRESH = 3600.0
"""Seconds after which what a provider publishes about itself is read again."""
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
"""Signatures that are made with the provider's private key; not `none`, and none with a secret that is shared."""
_Result = TypeVar("_Result")


class ProviderFailed(ForkyError):
    """A sign-in that the provider refused, did not finish, or answered with what cannot be trusted."""

    def __init__(self, reason: str, message: str) -> None:
        """`reason` is one word or two, for the audit log."""
        super().__init__(message)
        self.reason = reason


class ProviderClient:
    """Talks to one provider. Only the event loop may use it."""

    def __init__(self, provider: IdentityProvider, *, clock: Callable[[], float] = time.time) -> None:
        self.provider = provider
        self._clock = clock
        self._tls: ssl.SSLContext | None = None
        self._metadata: Mapping[str, Any] = {}
        self._read_at = 0.0
        self._keys: Any = None

    async def authorization(
        self, redirect: str, state: str, nonce: str, verifier: str, *, asks_again: bool = False
    ) -> str:
        """The address at the provider to send a browser to; `asks_again` has somebody asked who has signed in there.

        Raises:
            ProviderFailed: the provider does not answer.
        """
        await self._load()
        prompt = "login" if asks_again else ""
        return await self._in_time(self._authorization(redirect, state, nonce, verifier, prompt))

    async def prove(self, redirect: str, answer: Mapping[str, str], nonce: str, verifier: str) -> Proof:
        """Who somebody is, from what the provider's answer brought back; `redirect` as at the beginning.

        Raises:
            ProviderFailed: the provider refuses, does not answer, or says what cannot be trusted.
        """
        await self._load()
        return await self._in_time(self._prove(redirect, answer, nonce, verifier))

    async def _load(self) -> None:
        """Import what is needed, in a thread; the provider's time has not begun."""
        if self._tls is None:
            self._tls = await asyncio.to_thread(_load)

    async def _in_time(self, work: Awaitable[_Result]) -> _Result:
        label = self.provider.label
        try:
            async with asyncio.timeout(PATIENCE):
                return await work
        except TimeoutError as error:
            raise _silent(label) from error

    async def _authorization(self, redirect: str, state: str, nonce: str, verifier: str, prompt: str) -> str:
        metadata = await self._published()
        # It was imported in a thread before (`_load`), since that takes half a second.
        from authlib.oauth2.rfc7636 import create_s256_code_challenge  # noqa: PLC0415

        question = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": redirect,
            "scope": " ".join(self.provider.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        if prompt:
            question["prompt"] = prompt
        place = self._endpoint(metadata, "authorization_endpoint")
        return f"{place}{'&' if '?' in place else '?'}{urlencode(question)}"

    async def _prove(self, redirect: str, answer: Mapping[str, str], nonce: str, verifier: str) -> Proof:
        metadata = await self._published()
        sent = answer.get("iss")
        if (sent or metadata.get("authorization_response_iss_parameter_supported")) and sent != metadata[
            "issuer"
        ]:
            raise self._untrusted("issuer")
        token = await self._token(metadata, redirect, answer.get("code", ""), verifier)
        claims = await self._checked(metadata, token, nonce)
        wanted = {"name", "email", *([self.provider.rules.claim] if self.provider.rules else [])}
        if not wanted <= claims.keys() and "userinfo_endpoint" in metadata and "access_token" in token:
            claims = await self._user_info(metadata, str(token["access_token"]), claims)
        return self._proof(str(metadata["issuer"]), claims)

    async def _published(self) -> Mapping[str, Any]:
        """What the provider publishes about itself (OpenID Connect Discovery 1.0)."""
        if self._metadata and time.monotonic() - self._read_at < FRESH:
            return self._metadata
        issuer = self.provider.issuer
        metadata = await self._asked("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if str(metadata.get("issuer", "")).rstrip("/") != issuer.rstrip("/"):
            raise self._untrusted("issuer")
        self._metadata, self._read_at, self._keys = metadata, time.monotonic(), None
        return metadata

    async def _token(
        self, metadata: Mapping[str, Any], redirect: str, code: str, verifier: str
    ) -> Mapping[str, Any]:
        provider = self.provider
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        basic = provider.client_secret and "client_secret_basic" in methods
        auth = (quote(provider.client_id, safe=""), quote(provider.client_secret, safe="")) if basic else None
        if not basic:
            form["client_id"] = provider.client_id
            if provider.client_secret:
                form["client_secret"] = provider.client_secret
        return await self._asked("POST", self._endpoint(metadata, "token_endpoint"), data=form, auth=auth)

    async def _checked(
        self, metadata: Mapping[str, Any], token: Mapping[str, Any], nonce: str
    ) -> dict[str, Json]:
        """The claims of the ID token, if its signature, issuer, audience, times and nonce are right."""
        from authlib.oidc.core import CodeIDToken  # noqa: PLC0415 - see `_authorization`
        from joserfc import jwt  # noqa: PLC0415
        from joserfc.errors import ExpiredTokenError, InvalidKeyIdError, JoseError  # noqa: PLC0415
        from joserfc.jws import JWSRegistry  # noqa: PLC0415

        accepted = JWSRegistry(algorithms=_ALGORITHMS, strict_check_header=False)
        text = token.get("id_token")
        if not isinstance(text, str):
            raise self._untrusted("ID token")
        try:
            try:
                signed = jwt.decode(text, await self._key_set(metadata), registry=accepted)
            except InvalidKeyIdError:  # The provider has a new key.
                signed = jwt.decode(text, await self._key_set(metadata, anew=True), registry=accepted)
        except (JoseError, ValueError) as error:
            raise self._untrusted("signature") from error
        options = {
            "iss": {"essential": True, "value": metadata["issuer"]},
            "aud": {"essential": True, "value": self.provider.client_id},
            "sub": {"essential": True},
        }
        known = {
            "nonce": nonce,
            "client_id": self.provider.client_id,
            "access_token": token.get("access_token"),
        }
        claims = CodeIDToken(signed.claims, signed.header, options, known)
        try:
            claims.validate(now=int(self._clock()), leeway=LEEWAY)
        except JoseError as error:
            claim = getattr(error, "claim", None) or "claims"
            if isinstance(error, ExpiredTokenError) or claim in {"iat", "nbf"}:
                sentence = f"The clocks of this server and of {self.provider.label} do not agree."
                raise ProviderFailed(
                    "clock", f"{sentence} Whoever runs this Forky has to set them."
                ) from error
            raise self._untrusted("issuer" if claim == "iss" else str(claim)) from error
        return dict(claims)

    async def _key_set(self, metadata: Mapping[str, Any], *, anew: bool = False) -> Any:
        from joserfc.errors import JoseError  # noqa: PLC0415 - see `_authorization`
        from joserfc.jwk import KeySet, import_key  # noqa: PLC0415

        if self._keys is None or anew:
            published = await self._asked("GET", self._endpoint(metadata, "jwks_uri"))
            keys = []
            for key in published.get("keys", []):
                try:
                    keys.append(import_key(key))
                except (JoseError, ValueError, KeyError, TypeError):  # A kind of key that is not known here.
                    continue
            self._keys = KeySet(keys)
        return self._keys

    async def _user_info(
        self, metadata: Mapping[str, Any], access: str, claims: dict[str, Json]
    ) -> dict[str, Json]:
        """The claims with those that the provider gives only when asked."""
        place = self._endpoint(metadata, "userinfo_endpoint")
        more = await self._asked("GET", place, headers={"authorization": f"Bearer {access}"})
        if more.get("sub") != claims["sub"]:
            raise self._untrusted("user info")
        return {**more, **claims}

    def _proof(self, issuer: str, claims: Mapping[str, Json]) -> Proof:
        provider = self.provider
        role, newcomer = None, provider.role
        if provider.rules is not None:
            role = provider.rules.role(claims) or provider.role or Role.NONE
            newcomer = None
        return Proof(
            "oidc",
            Identity(issuer, str(claims["sub"])),
            name=_name(claims),
            email=_verified_email(claims),
            role=role,
            newcomer=newcomer,
        )

    def _endpoint(self, metadata: Mapping[str, Any], name: str) -> str:
        """One of the provider's addresses; only an encrypted one, except on this machine."""
        address = str(metadata.get(name, ""))
        place = urlsplit(address)
        encrypted = place.scheme == "https" or (place.scheme == "http" and is_loopback(place.hostname or ""))
        if encrypted and address.isascii() and address.isprintable():
            return address
        raise self._untrusted(name.replace("_", " "))

    async def _asked(self, method: str, address: str, **question: Any) -> dict[str, Any]:
        """The JSON object at an address of the provider."""
        import httpx  # noqa: PLC0415 - see `_authorization`

        try:
            async with httpx.AsyncClient(
                verify=cast("ssl.SSLContext", self._tls), timeout=PATIENCE
            ) as client:
                answer = await client.request(method, address, **question)
            found = answer.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise _silent(self.provider.label) from error
        if method == "POST" and 400 <= answer.status_code < 500:
            sentence = f"{self.provider.label} did not accept what your browser brought back. Start again."
            raise ProviderFailed("code", sentence)
        if answer.status_code != 200 or not isinstance(found, dict):
            raise _silent(self.provider.label)
        return found

    def _untrusted(self, what: str) -> ProviderFailed:
        sentence = f"What {self.provider.label} says about you cannot be trusted: its {what} is not the expected one."
        return ProviderFailed(what, sentence)


def _silent(label: str) -> ProviderFailed:
    return ProviderFailed("no answer", f"{label} does not answer now. Try again in a while.")


def _load() -> ssl.SSLContext:
    """Import what signing in by a provider needs; returns the certificates that are trusted. It takes half a second."""
    with needed_for("Signing in with OpenID Connect", "sign-in"):
        import authlib.oauth2.rfc7636  # noqa: PLC0415
        import authlib.oidc.core  # noqa: PLC0415, F401
        import httpx  # noqa: PLC0415
        import joserfc.jwt  # noqa: PLC0415, F401

    return httpx.create_ssl_context()


def _name(claims: Mapping[str, Json]) -> str:
    for claim in ("name", "preferred_username", "nickname"):
        try:
            return fit_name(str(claims.get(claim) or "")[:LONGEST])
        except BadName:
            continue
    try:
        return fit_name(str(claims.get("email") or "").partition("@")[0][:LONGEST])
    except BadName:
        return "Somebody new"


def _verified_email(claims: Mapping[str, Json]) -> str:
    """The address that the provider has verified; some say so with a text."""
    try:
        return (
            fit_email(str(claims.get("email") or ""))
            if claims.get("email_verified") in (True, "true")
            else ""
        )
    except BadContent:
        return ""
