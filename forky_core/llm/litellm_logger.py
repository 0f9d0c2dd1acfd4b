"""Records every call of a program that uses LiteLLM: `litellm.callbacks = [ForkyLogger(…)]`.

A call goes to the record endpoint of a running Forky, or as a line to a spool file that `forky import` reads. Sending
happens in a separate thread and never raises: a program must not wait or fail because its log does. Calls that cannot
be sent are spooled if there is a spool, and otherwise logged as lost.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import threading
import urllib.error
import urllib.request
from collections import OrderedDict
from datetime import datetime
from pathlib import Path
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from forky_core.llm.litellm_streams import AbandonedStream, Streams
from forky_core.process import events
from forky_core.process.private_files import append_line

_WAITING = 10_000
"""The most calls that wait to be sent."""
_AT_EXIT = 10.0
"""Seconds for which the end of a program waits for these calls."""
_PATIENCE = 10.0
_REMEMBERED = 1_000
_LEFT = "The program left the stream before its end."
_LEFT_OUT = frozenset({"api_key", "extra_headers", "headers", "metadata", "stream", "stream_options"})


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as an error: urllib would send the token on to wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


class ForkyLogger(CustomLogger):  # type: ignore[misc]  # LiteLLM's annotations are not read
    """A LiteLLM callback. Give a `url` with a `token`, a `spool` file, or both.

    Without arguments it uses FORKY_URL (http://127.0.0.1:8501) and FORKY_TOKEN, or FORKY_SPOOL, of the environment.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        spool: str | Path | None = None,
        session: str = "",
        client: str = "litellm",
    ) -> None:
        super().__init__()
        spool = spool or os.environ.get("FORKY_SPOOL") or None
        self._spool = Path(spool).expanduser() if spool else None
        self._token = token or os.environ.get("FORKY_TOKEN") or ""
        self._url = (url or os.environ.get("FORKY_URL") or "http://127.0.0.1:8501").rstrip("/")
        if not self._token and self._spool is None:
            raise ValueError("ForkyLogger needs a token of a running Forky, or a spool file.")
        self._session, self._client = session, client
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(_WAITING)
        self._recorded: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()
        self._streams = Streams(lambda: self in litellm.callbacks, self._note_stream)
        self._sender = threading.Thread(target=self._send_all, name="forky-logger", daemon=True)
        self._sender.start()
        atexit.register(self.close)

    # LiteLLM calls these by keyword, and several for some calls: only the first is recorded.

    async def async_post_call_success_deployment_hook(
        self,
        request_data: Any,
        response: Any,
        call_type: Any,  # noqa: ARG002
    ) -> None:
        """Record an asynchronous call whose answer is about to be returned.

        LiteLLM reports it later in a task, which is lost if the program's event loop ends first: for
        `asyncio.run(litellm.acompletion(…))`, nearly always.
        """
        logging_obj = request_data.get("litellm_logging_obj")
        details = getattr(logging_obj, "model_call_details", None)
        if isinstance(details, dict):
            details = {**details, "response_cost": _cost(response)}
            self._note(details, response, details.get("start_time"), _now())

    def log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        self._note(kwargs, response_obj, start_time, end_time)

    def log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002
        self._note(kwargs, None, start_time, end_time)

    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        self._note(kwargs, response_obj, start_time, end_time)

    async def async_log_failure_event(
        self,
        kwargs: Any,
        response_obj: Any,  # noqa: ARG002
        start_time: Any,
        end_time: Any,
    ) -> None:
        self._note(kwargs, None, start_time, end_time)

    def flush(self) -> None:
        """Wait until every call so far was sent."""
        self._waiting.join()

    def close(self) -> None:
        """Send what waits, within a time limit, and stop; calls that LiteLLM reports at its own end are sent
        directly.
        """
        if self._sender.is_alive():
            self._streams.close(_AT_EXIT)
            self._waiting.put(None)
            self._sender.join(_AT_EXIT)
        atexit.unregister(self.close)

    def _note_stream(self, gone: AbandonedStream) -> None:
        """Record a stream that LiteLLM has not reported, because the program abandoned it or did not read its very
        end.
        """
        if gone.chunks and not self._is_recorded(gone.details):
            ended = any(choice.finish_reason for chunk in gone.chunks for choice in chunk.choices)
            whole = _together(gone.chunks)
            details = {**gone.details, "response_cost": _cost(whole) if whole.usage else None}
            self._note(details, whole, details["start_time"], _now(), left=not ended)

    def _note(self, kwargs: Any, response: Any, started: Any, finished: Any, *, left: bool = False) -> None:
        try:
            call = self._call(kwargs, response, started, finished)
            if call is None:
                return
            if left:
                call["error"] = _LEFT
            if self._sender.is_alive():
                self._waiting.put_nowait(call)
            else:
                self._deliver(json.dumps(call, default=str))
        except queue.Full:
            events.call_unsent(reason="too many wait")
        except Exception as error:  # noqa: BLE001 - a program must not fail because its log does
            events.call_unsent(reason="failed", fault=error)

    def _call(self, kwargs: Any, response: Any, started: Any, finished: Any) -> dict[str, Any] | None:
        messages = kwargs.get("messages")
        if not isinstance(messages, list) or not messages:
            return None  # The call is no conversation: an embedding, a picture or speech.
        if self._is_recorded(kwargs, now=True):
            return None
        id = str(kwargs.get("litellm_call_id") or "")
        whole = (
            kwargs.get("async_complete_streaming_response")
            or kwargs.get("complete_streaming_response")
            or response
        )
        standard = kwargs.get("standard_logging_object") or {}
        within = kwargs.get("litellm_params") or {}
        parameters = {
            name: value
            for name, value in (kwargs.get("optional_params") or {}).items()
            if name not in _LEFT_OUT and value is not None
        }
        failed = response is None
        if failed and (arrived := self._streams.arrived(id)):
            whole = _together(arrived)
        request = {**parameters, "model": kwargs.get("model"), "messages": messages}
        return {
            "forky": "call",
            "id": id,
            "request": request,
            "response": whole.model_dump() if hasattr(whole, "model_dump") else None,
            "error": _error(kwargs, standard) if failed else "",
            "started": _seconds(started),
            "finished": _seconds(finished),
            "cost": kwargs.get("response_cost"),
            "client": self._client,
            "session": self._session
            or str(standard.get("session_id") or within.get("litellm_session_id") or ""),
        }

    def _is_recorded(self, kwargs: Any, *, now: bool = False) -> bool:
        """Whether this call was recorded before; `now` marks it as recorded."""
        id = str(kwargs.get("litellm_call_id") or "")
        with self._lock:
            recorded = id in self._recorded
            if now:
                self._recorded[id] = None
            while len(self._recorded) > _REMEMBERED:
                self._recorded.popitem(last=False)
            return recorded

    def _send_all(self) -> None:
        while True:
            call = self._waiting.get()
            try:
                if call is None:
                    return
                self._deliver(json.dumps(call, default=str))
            except Exception as error:  # noqa: BLE001 - as above
                events.call_unsent(reason="failed", fault=error)
            finally:
                self._waiting.task_done()

    def _deliver(self, line: str) -> None:
        if self._token:
            try:
                self._post(line)
            except (OSError, urllib.error.URLError) as error:
                if self._spool is None:
                    events.call_unsent(reason="no answer", fault=error)
                    return
            else:
                return
        assert self._spool is not None
        append_line(self._spool, line)

    def _post(self, line: str) -> None:
        request = urllib.request.Request(  # noqa: S310 - the address that the program's author gave
            f"{self._url}/v1/forky/record",
            line.encode("utf-8", "replace"),
            {"authorization": f"Bearer {self._token}", "content-type": "application/json"},
        )
        with _OPENER.open(request, timeout=_PATIENCE):
            pass


def _seconds(moment: Any) -> float | None:
    return moment.timestamp() if isinstance(moment, datetime) else None


def _now() -> datetime:
    return datetime.now()  # noqa: DTZ005 - as LiteLLM's own


def _together(chunks: list[Any]) -> Any:
    """Return the reply that these chunks make, with the usage that the provider reported, if it did."""
    whole = litellm.stream_chunk_builder(list(chunks))
    if not any(getattr(chunk, "usage", None) for chunk in chunks):
        whole.usage = None
    return whole


def _cost(response: Any) -> float | None:
    """Return the cost in US dollars; None if the price map does not have the model."""
    try:
        return float(litellm.completion_cost(completion_response=response))
    except Exception:  # noqa: BLE001 - it raises plain ones for what it does not know
        return None


def _error(kwargs: Any, standard: Any) -> str:
    return str(standard.get("error_str") or kwargs.get("exception") or "The call failed.")[:600]
