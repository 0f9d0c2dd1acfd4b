"""Admission of a call: its token, its limits, and the model that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from forky_core.gateway.tokens import PREFIX, Token, Tokens, amount
from forky_core.gateway.v1.api_errors import ApiError, OnlyTheirs, of_failure, unknown_model
from forky_core.gateway.v1.calls import ClientRequest, ProtocolAdapter
from forky_core.gateway.v1.recording import Caller
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Model, ModelInfo
from forky_core.llm.upstream import Upstream
from forky_core.model.errors import NotFound
from forky_core.team.refused_requests import NOTHING_TODAY
from forky_core.team.spending.guarded_models import GuardedModels
from forky_core.team.spending.meter import Meter
from forky_core.team.spending.quotes import quote
from forky_core.team.spending.refusals import SpendingRefused

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
    """The error (401) for a token that is none, is revoked, or belongs to another workspace."""
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
    if token.daily is not None and not info.free and info.input_price is None and not token.unpriced:
        raise ApiError(
            403,
            f"What “{info.name}” costs is not known, and the token “{token.name}” has a limit of "
            f"{amount(token.daily)} a day. "
            "A token may be made that uses such models too; they count nothing.",
            "model_not_allowed",
            "model",
        )
    return AdmittedCall(call, info, upstream, model)


def begin_spending(forky: Workspace, caller: Caller, admitted: AdmittedCall) -> Callable[[float], None]:
    """Set aside what a call may cost of what its token's limit leaves.

    Returns the function that charges what the call did cost, in US dollars: call it once, whatever becomes of the call.

    Raises:
        ApiError: the limit of the day is used up (429).
    """
    token, tokens, call = caller.token, caller.tokens, admitted.call
    if admitted.info.free or token.daily is None:
        return partial(tokens.spend, token)
    asked = quote(admitted.info, call.messages, call.parameters, answers=call.answers)
    spend = tokens.begin_call(token, asked.ahead)
    if spend is None:
        if isinstance(forky.models, GuardedModels):
            forky.models.count_refusal(NOTHING_TODAY)
        raise ApiError(
            429,
            f"The token “{token.name}” has spent its {amount(token.daily)} of today, or calls that are being answered "
            "may need the rest; midnight (UTC) begins a new day.",
            "insufficient_quota",
            # Retrying sooner cannot help; the clients of both providers obey this header.
            headers={"x-should-retry": "false"},
        )
    return spend


def begin_payment(forky: Workspace, admitted: AdmittedCall) -> Meter | None:
    """Set aside what a forwarded call may cost the member of a team whose token it is; None for any other call.

    A call that a model of Forky's answers is paid for by that model.

    Raises:
        ApiError: there is not enough left (429), or they may not ask (403).
    """
    if admitted.upstream is None or not isinstance(forky.models, GuardedModels):
        return None
    call = admitted.call
    try:
        return forky.models.begin(
            admitted.info, call.messages, call.parameters, answers=call.answers, counted=True
        )
    except SpendingRefused as refused:
        raise of_failure(refused.failure) from refused


def _answering(forky: Workspace, name: str, adapter: ProtocolAdapter) -> tuple[Upstream | None, Model | None]:
    models = forky.models
    try:
        if isinstance(models, Catalogue | GuardedModels):
            upstream = models.upstream(name)
            if upstream is not None and adapter.path in upstream.speaks:
                return upstream, None
        return None, models.model(name)
    except NotFound:
        raise unknown_model(name) from None
