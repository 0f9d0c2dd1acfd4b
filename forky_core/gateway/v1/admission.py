"""Admission of a call: its token, its limits, and the model that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forky_core.conversation.allowance.account import SpendingRefused
from forky_core.conversation.allowance.metering import Meter
from forky_core.conversation.allowance.quotes import quote
from forky_core.gateway.tokens import PREFIX, Token, Tokens
from forky_core.gateway.v1.recording import Caller
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Model, ModelInfo
from forky_core.llm.upstream import Upstream
from forky_core.model.errors import NotFound
from forky_core.people.guarded_models import GuardedModels
from forky_core.wire.contract import ClientRequest, ProtocolAdapter
from forky_core.wire.errors import ApiError, OnlyTheirs, of_failure, unknown_model

if TYPE_CHECKING:
    from forky_core.conversation.workspace import Workspace
    from forky_core.store.contract import Store


@dataclass(frozen=True, slots=True)
class AdmittedCall:
    """An admitted call, and who answers it: a server that is sent its bytes, or a model."""

    call: ClientRequest
    info: ModelInfo
    upstream: Upstream | None
    model: Model | None


def bearer(headers: Mapping[str, str]) -> str:
    """The text of the token that a request brings along; "" if it brings none."""
    kind, _, text = headers.get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()


def unknown_token(text: str) -> ApiError:
    """The error (401) for a token that is none or is revoked."""
    kept = "It is not one of Forky's." if not text.startswith(PREFIX) else "It is unknown or revoked."
    said = f"The token was not accepted. {kept}"
    return ApiError(401, said, "invalid_api_key", headers={"www-authenticate": "Bearer"})


def authorised(store: Store, headers: Mapping[str, str]) -> Token:
    """The caller's token. Raises ApiError (401) without a valid one."""
    text = bearer(headers)
    if not text:
        raise ApiError(
            401,
            "A token is needed. Make one in Forky's Settings and send it as a bearer.",
            "no_token",
            headers={"www-authenticate": "Bearer"},
        )
    token = Tokens(store).of(text)
    if token is None:
        raise unknown_token(text)
    if token.metrics:
        said = f"The token “{token.name}” reads /metrics and can ask nothing. Make another one in Settings."
        raise ApiError(403, said, "forbidden")
    return token


def admit(
    forky: Workspace, caller: Caller, adapter: ProtocolAdapter, payload: Mapping[str, Any]
) -> AdmittedCall:
    """Read a request and find the model that answers it.

    Raises:
        ApiError: malformed (400), a model that this token or its owner may not use (403) or that is unknown (404).
    """
    theirs: OnlyTheirs | None = None
    try:
        call = adapter.read(payload)
    except OnlyTheirs as error:
        theirs, call = error, adapter.read(adapter.without_theirs(payload))
    upstream, model = _answering(forky, call.model, adapter)
    if theirs is not None and upstream is None:
        raise theirs
    info = upstream.info if upstream is not None else model.info() if model is not None else None
    assert info is not None
    token = caller.token
    if not token.asks:
        raise ApiError(403, f"The token “{token.name}” may ask no model.", "forbidden")
    if not token.may_use(info.name):
        raise ApiError(
            403,
            f"The token “{token.name}” may not use the model “{info.name}”.",
            "model_not_allowed",
            "model",
        )
    if isinstance(forky.models, GuardedModels):
        try:
            forky.models.require()
        except SpendingRefused as refused:
            raise of_failure(refused.failure) from refused
    return AdmittedCall(call, info, upstream, model)


def begin_payment(forky: Workspace, caller: Caller, admitted: AdmittedCall) -> Meter:
    """Set aside the most that a call can cost, of the token's allowance and of the one of the member whose it is.

    Settle what is returned, whatever becomes of the call.

    Raises:
        ApiError: so much is not left (429), or what the model costs is not known (403).
    """
    call, models = admitted.call, forky.models
    payers = [caller.tokens.spender(caller.token)]
    try:
        if isinstance(models, GuardedModels):
            payers.append(models.payer())
        asked = quote(admitted.info, call.messages, call.parameters, answers=call.answers)
        return Meter(caller.tokens.book, payers, asked)
    except SpendingRefused as refused:
        if refused.kind == "no_credit" and isinstance(models, GuardedModels):
            models.count_refusal()
        raise of_failure(refused.failure) from refused


def _answering(forky: Workspace, name: str, adapter: ProtocolAdapter) -> tuple[Upstream | None, Model | None]:
    models = forky.models
    try:
        if isinstance(models, Catalogue | GuardedModels):
            upstream = models.upstream(name)
            if upstream is not None and adapter.path in upstream.speaks:
                return upstream, None
        return None, models.unmetered(name) if isinstance(models, GuardedModels) else models.model(name)
    except NotFound:
        raise unknown_model(name) from None
