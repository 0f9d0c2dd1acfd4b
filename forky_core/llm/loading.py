"""Loads LiteLLM late and in the background; the only module that imports it.

Its import takes seconds and well over 100 MB, so it happens in a thread, and the offline path never needs it. Some of
its habits can only be stopped by environment variables that it reads while it is imported: fetching a price map and
header lists from the network, reading `./.env`, and importing more of itself at the first line that anybody logs, which
deadlocks if that line comes from another thread meanwhile. The variables are set only during the import, if nobody has
set them, and removed after it. A LiteLLM that the program has imported already is used unchanged.

The settings of LiteLLM stay those of the program. What Forky's own calls need is passed with each call
(litellm_calls.py, litellm_model.py). The app, which is a process of Forky's own, changes more by `mute`
(forky_core/llm/process_tuning.py).
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from forky_core.process.extras import needed_for
from forky_core.process.scheduling import short_switch_interval

_REDACTION_OFF = "LITELLM_DISABLE_REDACT_SECRETS"
_WHILE_IMPORTING = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
    _REDACTION_OFF: "true",
}
"""Names that only LiteLLM reads, so that other threads are not affected."""
_WHEN_MUTED = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "CRITICAL",
    # It downloads no picture or file that a message names; linked_media.py prevents that before.
    "MAX_IMAGE_URL_DOWNLOAD_SIZE_MB": "0",
}
_MUTED_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai")

_started = threading.Lock()
_loaded = threading.Event()
_thread: threading.Thread | None = None
_module: Any = None
_error: BaseException | None = None
_muted = False
_calls = 0
"""The calls that run `without_advice`."""
_suppressed = False
"""What the program's setting was before them."""
_afterwards: list[Callable[[Any], None]] = []


def warm_up() -> None:
    """Start loading in the background; harmless if it has started or is done."""
    global _thread  # noqa: PLW0603 - one import per process is what this module is for
    with _started:
        if _thread is None:
            _thread = threading.Thread(target=_load, name="forky-litellm", daemon=True)
            _thread.start()


def is_loaded() -> bool:
    return _loaded.is_set() and _error is None


def loaded() -> Any | None:
    """Return the litellm module if it is loaded, else None."""
    return _module if is_loaded() else None


def wait(seconds: float | None = None) -> bool:
    """Wait until the module is loaded or has failed to load; return False if `seconds` ran out first."""
    warm_up()
    return _loaded.wait(seconds)


def litellm() -> Any:
    """Return the module, waiting for it.

    Raises:
        NotInstalled: it, or a package that it needs, is not there.
        ImportError: it cannot be loaded.
    """
    wait()
    if isinstance(_error, ModuleNotFoundError):
        with needed_for("Asking this model", "litellm"):
            raise _error
    if _error is not None:
        raise ImportError(f"litellm cannot be loaded: {_error}") from _error
    return _module


def afterwards(work: Callable[[Any], None]) -> None:
    """Run `work` with the module once it is loaded, before it is used; call this before that. It must not raise."""
    _afterwards.append(work)


@contextmanager
def without_advice() -> Iterator[None]:
    """Have LiteLLM print no advice to standard output while a call of Forky's runs, and leave its setting as it was.

    Only the thread of the loop (loop.py) uses it.
    """
    global _calls, _suppressed  # noqa: PLW0603 - one LiteLLM per process
    if (module := loaded()) is None:
        yield
        return
    _suppressed = _suppressed if _calls else module.suppress_debug_info
    _calls, module.suppress_debug_info = _calls + 1, True
    try:
        yield
    finally:
        _calls -= 1
        if not _calls:
            module.suppress_debug_info = _suppressed or _muted


def mute() -> None:
    """Change LiteLLM's settings for the whole process; process_tuning.py lists them. Call it before the import."""
    global _muted  # noqa: PLW0603 - one LiteLLM per process
    with _started:
        if not _muted:
            _muted = True
            os.environ.update(_WHEN_MUTED)
            for name in _MUTED_LOGGERS:
                logging.getLogger(name).setLevel(logging.CRITICAL)
            if (module := loaded()) is not None:
                _set_up(module)
            else:
                afterwards(_set_up)


def _set_up(settings: Any) -> None:
    settings.suppress_debug_info = True
    settings.disable_hf_tokenizer_download = True
    settings.disable_token_counter = True
    settings.disable_aiohttp_transport = True
    for name in _MUTED_LOGGERS:  # Again: LiteLLM sets levels while it is imported.
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _load() -> None:
    global _module, _error  # noqa: PLW0603 - see above
    try:
        if "litellm" in sys.modules:
            module = importlib.import_module("litellm")
        else:
            with short_switch_interval(), _environment() as added:
                module = importlib.import_module("litellm")
                importlib.import_module("litellm.anthropic_beta_headers_manager")._load_beta_headers_config()
            if _REDACTION_OFF in added:
                _redact_again()
        for work in _afterwards:
            work(module)
        _module = module
    except BaseException as error:  # noqa: BLE001 - `litellm()` raises it for its caller
        _error = error
    finally:
        _loaded.set()


@contextmanager
def _environment() -> Iterator[set[str]]:
    """Set the variables for the import; yield the names of those that were not set, which are removed at the end."""
    added = {name for name in _WHILE_IMPORTING if name not in os.environ}
    os.environ.update({name: _WHILE_IMPORTING[name] for name in added})
    try:
        yield added
    finally:
        for name in added:
            os.environ.pop(name, None)


def _redact_again() -> None:
    """Make LiteLLM's log filters remove secrets, as they do if their variable is not set.

    The variable is read once, by a module from which others copy the value. While it was set, the filters that the
    import puts on loggers of other packages let records pass without importing anything.
    """
    for name, module in tuple(sys.modules.items()):
        if name.startswith("litellm.") and getattr(module, "_ENABLE_SECRET_REDACTION", None) is False:
            module._ENABLE_SECRET_REDACTION = True  # type: ignore[attr-defined]  # put back to its default
