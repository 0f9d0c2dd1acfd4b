"""Loading LiteLLM late, in the background and muzzled.

Its import takes seconds and well over 100 MB, so it starts in a thread once the app is up, and the offline path never
needs it. While it loads, the server goes on: what it hangs on other people's loggers is put off until it is there,
since a record logged meanwhile would import half of it from another thread and deadlock both. Some of its habits can
only be stopped by environment variables set before the import: fetching a price map and header lists from the network,
downloading what messages name, reading `./.env`, printing what was sent. This is the only module that imports it.
"""

from __future__ import annotations

import importlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from forky_core.interpreter import short_turns
from forky_core.llm.openai_transform import spare_messages, spare_pieces

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "CRITICAL",
    # It downloads no picture or file that a message names; linked_media.py sees to it that it never comes to that.
    "MAX_IMAGE_URL_DOWNLOAD_SIZE_MB": "0",
}

_started = threading.Lock()
_loaded = threading.Event()
_thread: threading.Thread | None = None
_module: Any = None
_error: BaseException | None = None
_afterwards: list[Callable[[Any], None]] = []


def warm_up() -> None:
    """Start loading in the background; harmless when it has started or is done."""
    global _thread  # noqa: PLW0603 - one import per process is what this module is for
    with _started:
        if _thread is None:
            _thread = threading.Thread(target=_load, name="forky-litellm", daemon=True)
            _thread.start()


def is_loaded() -> bool:
    return _loaded.is_set() and _error is None


def loaded() -> Any | None:
    """The litellm module where it is there already."""
    return _module if is_loaded() else None


def wait(seconds: float | None = None) -> bool:
    """Until it is loaded or cannot be; False where `seconds` ran out first."""
    warm_up()
    return _loaded.wait(seconds)


def litellm() -> Any:
    """The module, waiting for it. ImportError where it cannot be loaded."""
    wait()
    if _error is not None:
        raise ImportError(f"litellm cannot be loaded: {_error}") from _error
    return _module


def afterwards(work: Callable[[Any], None]) -> None:
    """Have this done with the module once it is loaded, before it is used; call it before that. It must not raise."""
    _afterwards.append(work)


def _load() -> None:
    global _module, _error  # noqa: PLW0603 - see above
    os.environ.update(_ENVIRONMENT)
    try:
        with short_turns(), _filters_put_off():
            module = importlib.import_module("litellm")
        _configure(module)
        for work in _afterwards:
            work(module)
        _module = module
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits for it
        _error = error
    finally:
        _loaded.set()


@contextmanager
def _filters_put_off() -> Iterator[None]:
    """Filters of litellm that are hung on a logger or handler meanwhile are hung there at the end, if all went well.

    They redact secrets, and import what they need for it at their first record: with the package half loaded, a line
    that the event loop logs would wait for the import while the import waits for it.
    """
    waiting: list[tuple[logging.Filterer, Any]] = []
    add_filter = logging.Filterer.addFilter

    def put_off(owner: logging.Filterer, filter: Any) -> None:
        if type(filter).__module__.split(".")[0] == "litellm":
            waiting.append((owner, filter))
        else:
            add_filter(owner, filter)

    logging.Filterer.addFilter = put_off  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        logging.Filterer.addFilter = add_filter  # type: ignore[method-assign]
    for owner, filter in waiting:
        owner.addFilter(filter)


def _configure(module: ModuleType) -> None:
    settings: Any = module
    settings.suppress_debug_info = True
    settings.disable_hf_tokenizer_download = True
    settings.telemetry = False
    settings.drop_params = True
    # It would read a vocabulary of 56 MB to count what the provider counts; ours are read when asked for (tokens.py).
    settings.disable_token_counter = True
    # httpx closes a connection when its stream is closed; the aiohttp transport leaves sessions to the collector.
    settings.disable_aiohttp_transport = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    spare_messages()
    spare_pieces()
