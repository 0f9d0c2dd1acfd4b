"""Turns an exception deep inside a client library into a sentence that a person can act on.

LiteLLM reports a refused connection, an unknown host and a missing key all as a 500, so the chain of causes is searched
for the real reason. A sentence says what happened and what to do, and never contains a key.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from forky_core.llm.addresses import AddressRefused
from forky_core.llm.contract import FailureKind
from forky_core.model import Failure
from forky_core.model.errors import NotInstalled

_SECRET = re.compile(
    r"\bBearer\s+[^\s\"',}]+"
    r"|\b(?:sk|pk|rk|gsk|xai|key|pplx|csk|fw|tgp|hf)[-_][\w\-*.]{4,}|\bAIza[\w\-*]{8,}"
    r"|\b(?:api[-_ ]?key|access[-_ ]?token|authorization)(?:\s+provided)?[\"']?\s*[:=]\s*[\"']?(?:Bearer\s+)?[^\s\"',}]+",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too many tokens|prompt is too long|exceeds? the (?:available )?"
    r"context|input is too long|n_ctx|max(?:imum)? .{0,20}tokens.{0,40}exceed|input token count.{0,40}exceeds",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|credit balance|billing|payment", re.IGNORECASE
)
_POLICY = re.compile(
    r"content[ _](?:policy|filter|management)|safety system|responsible ai|blocked by", re.IGNORECASE
)
_NO_HOST = re.compile(
    r"name or service not known|nodename nor servname|getaddrinfo|name resolution|cannot connect to host .* ssl:default "
    r"\[(?:name|temporary failure|no address)",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"connection refused|all connection attempts failed|errno 111|errno 61|winerror 10061", re.IGNORECASE
)
_NO_KEY = re.compile(
    r"api[_ ]key.{0,40}(?:must be set|missing|not set|required|not provided)|missing .{0,30}api key",
    re.IGNORECASE,
)
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class CallContext:
    """The model and provider of a request, for the sentence of an error."""

    model: str
    provider: str
    """The provider's name for people."""
    variable: str = ""
    """The environment variable with the key, if there is one."""
    base_url: str = ""
    local: bool = False
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that must never be shown."""
    unproven: bool = False
    """Whether it is beyond this machine and has not answered as a model server yet; no sentence reveals how it
    failed."""


def failure_of(error: BaseException, asked: CallContext) -> Failure:
    """Describe an error by the most specific exception in its chain of causes."""
    chain = tuple(_chain(error))
    if (refused := next((link for link in chain if isinstance(link, AddressRefused)), None)) is not None:
        return Failure("unreachable", str(refused))
    if (absent := next((link for link in chain if isinstance(link, NotInstalled)), None)) is not None:
        return Failure("bad_request", str(absent))
    if asked.unproven:
        return failure("unreachable", asked)
    status = next((status for link in chain if (status := _status(link))), None)
    words = " ".join(str(link) for link in chain)
    kind = _kind(chain, status, words)
    after = _retry_after(chain) if kind in ("rate_limited", "overloaded") else None
    return Failure(kind, sentence(kind, asked, status=status, words=_message(chain), after=after), after)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and all its causes, outermost first, each once."""
    visited: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop(0)
        if not isinstance(link, BaseException) or id(link) in visited:
            continue
        visited.add(id(link))
        yield link
        waiting += [getattr(link, "original_exception", None), link.__cause__, link.__context__]


def _names(link: BaseException) -> frozenset[str]:
    return frozenset(kind.__name__ for kind in type(link).__mro__)


def _status(link: BaseException) -> int | None:
    status = getattr(link, "status_code", None)
    # LiteLLM sets 500 and 503 on errors without a server's answer: only a real response counts for those.
    if isinstance(status, int) and status not in (500, 503):
        return status
    response = getattr(link, "response", None)
    if isinstance(status, int) and response is not None and getattr(response, "headers", None):
        return status
    return None


def _kind(chain: tuple[BaseException, ...], status: int | None, words: str) -> FailureKind:
    names = frozenset[str]().union(*(_names(link) for link in chain))
    return (
        _network_kind(chain, names, words)
        or _named_kind(names, words)
        or _status_kind(status, words)
        or _last_kind(names, words)
    )


def _network_kind(chain: tuple[BaseException, ...], names: frozenset[str], words: str) -> FailureKind | None:
    gone = (socket.gaierror, ConnectionRefusedError)
    if any(isinstance(link, gone) for link in chain) or _NO_HOST.search(words) or _NO_ANSWER.search(words):
        return "unreachable"
    if names & {"ConnectTimeout", "ConnectError", "ClientConnectorError"}:
        return "unreachable"
    if names & {"ReadTimeout", "APITimeoutError", "Timeout", "TimeoutException", "TimeoutError"} or any(
        isinstance(link, TimeoutError | asyncio.TimeoutError) for link in chain
    ):
        return "timeout"
    return None


def _named_kind(names: frozenset[str], words: str) -> FailureKind | None:
    if "ContextWindowExceededError" in names or _OVERFLOW.search(words):
        return "context_overflow"
    if "ContentPolicyViolationError" in names:
        return "refused"
    if _NO_KEY.search(words):
        return "no_key"
    return None


def _status_kind(status: int | None, words: str) -> FailureKind | None:
    match status:
        case 401 | 403:
            return "bad_key"
        case 404:
            return "not_found"
        case 408:
            return "timeout"
        case 413:
            return "context_overflow"
        case 402 | 429:
            return "rate_limited"
        case 301 | 302 | 303 | 307 | 308:
            return "bad_request"
        case 400 | 405 | 409 | 415 | 422:
            return "refused" if _POLICY.search(words) else "bad_request"
        case int() if status >= 500:
            return "overloaded"
    return None


def _last_kind(names: frozenset[str], words: str) -> FailureKind:
    if names & {
        "RemoteProtocolError",
        "ReadError",
        "IncompleteRead",
        "ClientPayloadError",
        "MidStreamFallbackError",
    }:
        return "cut_off"
    if names & {"AuthenticationError", "PermissionDeniedError"}:
        return "bad_key"
    if "BadRequestError" in names or "LLM Provider NOT provided" in words:
        return "bad_request"
    if names & {"InternalServerError", "ServiceUnavailableError", "APIError"}:
        return "overloaded"
    return "unknown"


def _retry_after(chain: tuple[BaseException, ...]) -> float | None:
    """Return the seconds of a Retry-After header, in either of its two forms."""
    for link in chain:
        headers: Mapping[str, Any] | None = getattr(getattr(link, "response", None), "headers", None)
        value = (headers or {}).get("retry-after") or (
            getattr(link, "litellm_response_headers", None) or {}
        ).get("retry-after")
        if not value:
            continue
        try:
            return max(0.0, float(value))
        except ValueError:
            when = email.utils.parsedate_tz(str(value))
            if when:
                return max(0.0, email.utils.mktime_tz(when) - time.time())
    return None


_REPORTED = (
    (re.compile(r"rate_?limit|quota|exhausted", re.IGNORECASE), 429),
    (re.compile(r"overload|unavailable|server_?error|api_error|internal", re.IGNORECASE), 503),
    (re.compile(r"authentication|permission|unauthori", re.IGNORECASE), 401),
    (re.compile(r"not_?found", re.IGNORECASE), 404),
    (re.compile(r"invalid|bad_?request", re.IGNORECASE), 400),
)
"""The statuses of errors by the names that providers give them."""


def reported(error: object) -> tuple[FailureKind, str]:
    """Return the kind of an error that a provider reports within an answer, as an object or as words, and its words."""
    fields = error if isinstance(error, dict) else {"message": error}
    words, code = str(fields.get("message") or ""), fields.get("code")
    name = " ".join(str(fields.get(field) or "") for field in ("type", "code", "status"))
    named = next((status for pattern, status in _REPORTED if pattern.search(name)), None)
    kind = _named_kind(frozenset(), words) or _status_kind(code if isinstance(code, int) else named, words)
    return kind or "unknown", words


_BODY = re.compile(r"(b['\"])?(\{.{2,20000}\})", re.DOTALL)


def _message(chain: tuple[BaseException, ...]) -> str:
    """Return the provider's own message from its JSON body, else the words of the innermost error."""
    for link in chain:
        body = getattr(link, "body", None)
        inner = body.get("error", body) if isinstance(body, dict) else None
        message = inner.get("message") if isinstance(inner, dict) else None
        if isinstance(message, str) and message:
            return re.sub(r"^litellm\.\w+: ", "", message)
    words = str(chain[0]) if chain else ""
    return _in_json(words) or re.sub(r"^(?:litellm\.)?\w*(?:Error|Exception)\w*: ", "", words)


def _in_json(words: str) -> str:
    """Return the message of a JSON body that an error's words quote, as bytes or as text; "" if there is none."""
    quoted = _BODY.search(words)
    if quoted is None:
        return ""
    try:
        body = json.loads(re.sub(r"\\(['\\])", r"\1", quoted[2]) if quoted[1] else quoted[2])
    except ValueError:
        return ""
    inner = body.get("error", body) if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    return message if isinstance(message, str) else ""


def scrubbed(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return one line of at most 240 characters without anything that looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    text = " ".join(_SECRET.sub("[key]", text).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 2].rstrip() + " …"


_SENTENCES: Mapping[str, str] = {
    "no_key": "No key is set for {who}. {set_key}",
    "bad_key": "{who} did not accept the key{code}. {check_key}",
    "forbidden": "{who} does not let this key use {model}{code}. Check what it may do, or choose another model.",
    "rate_limited": "{who} limits how often it can be asked{code}. Try again {when}, or choose another model.",
    "quota": "{who} says that the account's quota is used up{code}. Check its plan, or choose another model.",
    "overloaded": "{who} is overloaded or failing{code}. Try again {when}, or choose another model.",
    "context_overflow": (
        "The conversation is longer than {model} can read. Leave messages out, fork further up, merge branches as a "
        "squash, or choose a model with a larger context."
    ),
    "refused": "{who} refused to answer because of its content rules. Word it differently, or choose another model.",
    "not_found": "{who} has no model “{model}”{code}. Choose another one, or check the name.",
    "unreachable": "{who} cannot be reached. Check the network, or choose a model on this machine or an offline one.",
    "silent": "Nothing answers at {url}. Start {who}, or choose another model.",
    "moved": (
        "{who} sends requests on to another address{code}, which Forky does not follow. Correct the address in Settings."
    ),
    "unproven": "{who} did not answer as a model server. Check its address and key in Settings, or choose another model.",
    "timeout": "{who} stopped answering. Ask again, or choose another model.",
    "cut_off": "The reply broke off before it was finished. Resume it, or ask again.",
    "given_up": "{who} gave up before the reply was finished ({words}). Ask again, or choose another model.",
    "bad_request": "{who} did not accept the request{code}: {words}",
    "no_credit": "Nothing is left to ask {model} with. Ask an owner of the workspace, or choose another model.",
    "not_allowed": "You may not ask {model} here. Ask an owner of the workspace, or choose another model.",
    "unknown": "{who} failed in a way Forky does not know: {words}",
}


def sentence(
    kind: FailureKind,
    asked: CallContext,
    *,
    status: int | None = None,
    words: str = "",
    after: float | None = None,
) -> str:
    """Return a sentence about what happened and what to do."""
    variable = asked.variable
    return _SENTENCES[_variant(kind, asked, status, words)].format(
        who=asked.provider,
        model=asked.model,
        url=asked.base_url,
        code=f" ({status})" if status else "",
        when=_in(after),
        set_key=f"Set {variable} or enter a key in Settings." if variable else "Enter one in Settings.",
        check_key=f"Check {variable}, or enter another key in Settings."
        if variable
        else "Enter another in Settings.",
        words=scrubbed(words, asked.secrets) or "it gave no reason.",
    )


def _variant(kind: FailureKind, asked: CallContext, status: int | None, words: str) -> str:
    """Return the name of the more specific sentence if a kind has several."""
    if kind == "bad_key" and status == HTTPStatus.FORBIDDEN:
        return "forbidden"
    if kind == "rate_limited" and _QUOTA.search(words):
        return "quota"
    if status in (301, 302, 303, 307, 308):
        return "moved"
    if kind == "unreachable" and asked.unproven:
        return "unproven"
    if kind == "unreachable" and asked.local:
        return "silent"
    return kind


def _in(after: float | None) -> str:
    if after is None:
        return "in a moment"
    seconds = max(1, round(after))
    return "in 1 second" if seconds == 1 else f"in {seconds} seconds"


def failure(kind: FailureKind, asked: CallContext) -> Failure:
    """Return a failure that Forky found itself."""
    return Failure(kind, sentence(kind, asked))


def given_up(asked: CallContext, word: str) -> Failure:
    """Return the failure of an answer that its provider ended with a word that means an error."""
    sentence = _SENTENCES["given_up"].format(who=asked.provider, words=scrubbed(word, asked.secrets))
    return Failure("cut_off", sentence)
