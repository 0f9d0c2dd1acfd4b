"""The models of a running Forky, asked through its `/v1` with a token, so that keys stay where they are."""

from __future__ import annotations

import json
import threading
from typing import Any, NoReturn

from forky_core.llm.contract import Model, ModelInfo
from forky_core.llm.failures import CallContext
from forky_core.model.errors import NotFound, StoreError

_PATIENCE = 20.0
UNRECORDED = "forky/unrecorded"
"""Below /v1: calls there are not recorded, since whoever asks keeps the answer itself. Only a token with scopes may."""


class ServedModels:
    """The models that a token may use at a server; safe from any thread."""

    def __init__(self, address: str, token: str) -> None:
        self._base = (address if "://" in address else f"http://{address}").rstrip("/")
        self._token = token
        self._lock = threading.Lock()
        self._made: dict[str, Model] = {}
        self._listed: tuple[ModelInfo, ...] | None = None

    def models(self) -> tuple[ModelInfo, ...]:
        """The models on offer, as the server lists them. Raises StoreError if it does not answer."""
        with self._lock:
            if self._listed is None:
                self._listed = tuple(self._info(entry) for entry in self._asked()["data"])
            return self._listed

    def model(self, name: str) -> Model:
        info = next((one for one in self.models() if one.name == name), None)
        if info is None:
            raise NotFound(f"The server offers no model “{name[:80]}” to this token.")
        from forky_core.llm.litellm_model import LiteLLMModel, ModelConnection  # noqa: PLC0415 - it is slow to import

        with self._lock:
            if name not in self._made:
                asked = CallContext(name, info.provider, base_url=self._base, secrets=(self._token,))
                base = f"{self._base}/v1/{UNRECORDED}"
                connection = ModelConnection(f"openai/{name}", asked, self._token, base_url=base)
                self._made[name] = LiteLLMModel(info, connection)
            return self._made[name]

    def default(self) -> str:
        """The first model that the server lists."""
        offered = self.models()
        if not offered:
            raise NotFound("The server offers no model to this token.")
        return offered[0].name

    def can_write(self, name: str) -> bool:
        """Whether the server offers a model of that name."""
        return any(one.name == name for one in self.models())

    def embedder(self, name: str) -> NoReturn:
        """Raise NotFound: no server of Forky embeds for others."""
        raise NotFound(f"There is no embedding model “{name[:80]}” behind a token.")

    def _info(self, entry: Any) -> ModelInfo:
        return ModelInfo(
            str(entry["id"]),
            str(entry.get("display_name") or entry["id"]),
            str(entry.get("owned_by", "")),
            entry.get("context_window"),
        )

    def _asked(self) -> Any:
        import httpx  # noqa: PLC0415 - reading and writing conversations does without

        try:
            answer = httpx.get(
                f"{self._base}/v1/models",
                headers={"authorization": f"Bearer {self._token}"},
                timeout=_PATIENCE,
            )
            answer.raise_for_status()
            return answer.json()
        except (httpx.HTTPError, json.JSONDecodeError) as error:
            raise StoreError(f"The models at {self._base} cannot be listed: {error}") from error
