"""Errors in the formats of the two protocols: a status and a sentence, never a stack trace.

Sources: OpenAI's API reference ("Error codes") and Anthropic's ("Errors").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from forky_core.model import Failure

Style = Literal["openai", "anthropic"]

_OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
_FAILURES = {
    "no_key": (401, "no_upstream_key"),
    "bad_key": (401, "upstream_key_refused"),
    "rate_limited": (429, "rate_limit_exceeded"),
    "overloaded": (503, "upstream_overloaded"),
    "context_overflow": (400, "context_length_exceeded"),
    "refused": (400, "content_filter"),
    "not_found": (404, "model_not_found"),
    "unreachable": (502, "upstream_unreachable"),
    "timeout": (504, "upstream_timeout"),
    "cut_off": (502, "upstream_cut_off"),
    "bad_request": (400, "upstream_refused_request"),
    "no_credit": (429, "insufficient_quota"),
    "not_allowed": (403, "model_not_allowed"),
}
"""Status and code for each `llm.contract.FailureKind`; any other is a 502."""


@dataclass(slots=True)
class ApiError(Exception):
    """An error that ends a call and is sent to its client."""

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, style: Style) -> dict[str, Any]:
        if style == "anthropic":
            kind = _ANTHROPIC_TYPES.get(self.status, "api_error")
            return {"type": "error", "error": {"type": kind, "message": self.message}}
        usual = "invalid_request_error" if self.status < 500 else "server_error"
        kind = _OPENAI_TYPES.get(self.status, usual)
        return {
            "error": {"message": self.message, "type": kind, "param": self.param, "code": self.code},
        }


def malformed(message: str, param: str | None = None) -> ApiError:
    """The error (400) for a request that its protocol does not allow; `param` names the field."""
    return ApiError(400, message, "invalid_value", param)


class OnlyTheirs(ApiError):
    """The request has something that only models of the protocol's own provider understand."""


def only_theirs(message: str, param: str) -> OnlyTheirs:
    """The error (400) for a field that only the protocol's own provider understands; `param` names the field."""
    return OnlyTheirs(400, message, "invalid_value", param)


def is_common(read: Callable[[Any], object], value: Any) -> bool:
    """Whether `read` takes this part of a request without raising OnlyTheirs."""
    try:
        read(value)
    except OnlyTheirs:
        return False
    return True


def unknown_model(name: str) -> ApiError:
    return ApiError(
        404, f"There is no model “{name[:200]}” here; GET /v1/models lists them.", "model_not_found", "model"
    )


def of_failure(failure: Failure) -> ApiError:
    """A model's or a provider's failure with the status that says whose fault it is."""
    status, code = _FAILURES.get(failure.kind, (502, "upstream_failed"))
    headers = {"retry-after": str(max(1, round(failure.retry_after)))} if failure.retry_after else {}
    if failure.kind == "no_credit":
        # The clients of both providers obey this header: retrying at once cannot help.
        headers["x-should-retry"] = "false"
    return ApiError(status, failure.sentence, code, headers=headers)
