"""Computes vectors of texts with an embedding model through LiteLLM: an option for finding documents by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forky_core.llm import loading, loop
from forky_core.llm.failures import failure, failure_of
from forky_core.llm.litellm_model import NO_KEY, ModelConnection
from forky_core.model.document import Numbers
from forky_core.model.errors import ModelError
from forky_core.process.extras import needed_for

_PATIENCE = 60.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class LiteLLMEmbedder:
    """An embedding model; each list of texts is one call of LiteLLM."""

    name: str
    connection: ModelConnection

    def embed(self, texts: Sequence[str]) -> Numbers:
        """Return the vectors as float32, a row of length 1 for each text.

        Raises:
            ModelError: the model did not answer, or not with a vector for each text.
        """
        with needed_for("Searching documents by meaning", "documents"):
            import numpy as np  # noqa: PLC0415 - the first page does without it

        connection = self.connection
        if connection.needs_key and not connection.key:
            raise ModelError(failure("no_key", connection.asked))
        arguments: dict[str, Any] = {"api_base": connection.base_url} if connection.base_url else {}
        if connection.key or connection.base_url:
            arguments["api_key"] = connection.key or NO_KEY
        if connection.reach is not None or connection.style == "openai":
            arguments |= connection.client()
        try:
            # On our loop: called here, LiteLLM would create a loop in the main thread and leave it open.
            answer = loop.submit(
                loading.litellm().aembedding(
                    model=connection.model, input=list(texts), timeout=_PATIENCE, max_retries=0, **arguments
                )
            ).result()
            entries = sorted(answer.data, key=lambda entry: int(entry["index"]))
            rows = np.array([entry["embedding"] for entry in entries], np.float32)
        except Exception as error:
            raise ModelError(failure_of(error, connection.asked)) from error
        if rows.ndim != 2 or len(rows) != len(texts):
            raise ModelError(failure("bad_request", connection.asked))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Numbers = rows / np.where(lengths > 0, lengths, 1)
        return unit
