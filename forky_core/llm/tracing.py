"""Traces model calls for OpenTelemetry with LiteLLM's own exporter: where a call's time goes, never its content.

The app turns it on (FORKY_TRACES); the exporter reads OpenTelemetry's own variables, and its packages are optional
(docs/observing.md). By default, LiteLLM's exporter writes prompts and answers into spans. A setting turns that off; but
for a call that fails it still writes the provider's words, which often repeat the prompt.
"""

from __future__ import annotations

from typing import Any

from forky_core.llm import loading
from forky_core.process import events

_NO_CONTENT = "NO_CONTENT"
_SERVICE = "forky"


def trace_model_calls() -> None:
    """Start tracing once LiteLLM is loaded. Without OpenTelemetry's packages nothing is traced, and the log says so."""
    loading.afterwards(_install)


def _install(litellm: Any) -> None:
    try:
        litellm.callbacks.append(_exporter())
    except Exception as error:  # noqa: BLE001 - models are asked all the same
        events.traces_failed(fault=error)


def _exporter() -> Any:
    from litellm.integrations.opentelemetry import (  # noqa: PLC0415 - half a second, and only where it is asked for
        OpenTelemetry,
        OpenTelemetryConfig,
    )

    class TraceExporter(OpenTelemetry):  # type: ignore[misc]  # litellm is not type-checked
        """LiteLLM's exporter, which writes only the type and the status of a failure."""

        def _record_exception_on_span(self, span: Any, kwargs: dict[str, Any]) -> None:
            error = kwargs.get("exception")
            if error is None:
                return
            span.set_attribute("error.type", type(error).__name__)
            status = getattr(error, "status_code", None)
            if isinstance(status, int):
                span.set_attribute("http.response.status_code", status)

    config = OpenTelemetryConfig.from_env()
    config.capture_message_content = _NO_CONTENT
    if config.service_name == "litellm":
        config.service_name = _SERVICE
    return TraceExporter(config=config)
