"""Calls of LiteLLM without its token counting.

Before it returns a stream, and again at its end, LiteLLM prices the call. It counts what the provider has not counted
(yet), with a vocabulary of 56 MB that it reads first, or with one that it downloads for the name of a model. Forky uses
the provider's own counts and no others. The setting that stops LiteLLM applies to the whole process; so each call has
its own record of itself (LiteLLM's `litellm_logging_obj`), which prices nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from forky_core.llm import loading


def has_callbacks() -> bool:
    """Whether LiteLLM has callbacks in this process, which receive the whole answer with its price."""
    litellm = loading.litellm()
    return bool(litellm.callbacks or litellm.success_callback or litellm._async_success_callback)


def unpriced(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for `litellm.acompletion` with a record of the call that prices nothing."""
    utils: Any = importlib.import_module("litellm.utils")
    call = {"litellm_call_id": str(uuid4()), **arguments}
    record, call = utils.function_setup("acompletion", utils.Rules(), datetime.now(), **call)  # noqa: DTZ005 - as LiteLLM does
    record._response_cost_calculator = _no_price
    return {**call, "litellm_logging_obj": record}


def _no_price(*_: Any, **__: Any) -> None:
    """Replaces a method that computes a price."""
