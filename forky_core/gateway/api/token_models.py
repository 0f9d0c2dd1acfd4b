"""The models that a token may ask by a verb: those that its maker named, charged to the token's allowance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forky_core.conversation.allowance.account import SpendingRefused
from forky_core.conversation.allowance.metering import Meter, MeteredModel
from forky_core.conversation.allowance.quotes import quote
from forky_core.conversation.session import Models, RestrictedModels
from forky_core.documents.searching import Embedder
from forky_core.gateway.tokens import Token, Tokens
from forky_core.llm.contract import Model, ModelInfo, ProviderMessage
from forky_core.model.errors import NotAllowed, StoreError


class TokenModels(RestrictedModels):
    """The models on offer for one token; safe from any thread."""

    def __init__(self, models: Models, token: Token, tokens: Tokens) -> None:
        """`models` are those that the token's owner may ask, who pays as well."""
        self._models = models
        self._token = token
        self._tokens = tokens

    def models(self) -> tuple[ModelInfo, ...]:
        return tuple(one for one in self._models.models() if self._token.may_use(one.name))

    def default(self) -> str:
        return self._models.default()

    def model(self, name: str) -> Model:
        """The model with this name, which counts tokens for every token and answers those that may use it.

        Raises NotFound if it is not available.
        """
        return MeteredModel(self._models.model(name), self._begin, f"token:{self._token.id}")

    def can_write(self, name: str) -> bool:
        return self._token.may_use(name) and self._models.can_write(name)

    def embedder(self, name: str) -> Embedder:
        return self._models.embedder(name)

    def refusal(self, model: str) -> str:
        if not self._token.may_use(model):
            return self._not_used(model)
        if isinstance(self._models, RestrictedModels) and (why := self._models.refusal(model)):
            return why
        payer = self._tokens.spender(self._token)
        try:
            asked = quote(self.model(model).info(), (), {}, ends_itself=True)
            self._tokens.book.account(payer).most(
                payer.allowance, asked, payer.who, self._tokens.book.clock()
            )
        except (SpendingRefused, StoreError) as error:
            return str(error)
        return ""

    def _not_used(self, model: str) -> str:
        return f"The token “{self._token.name}” may not use the model “{model[:200]}”."

    def _begin(
        self,
        info: ModelInfo,
        messages: Sequence[ProviderMessage],
        parameters: Mapping[str, Any],
        *,
        answers: int = 1,
    ) -> Meter:
        if not self._token.may_use(info.name):
            raise NotAllowed(self._not_used(info.name))
        asked = quote(info, messages, parameters, answers=answers, ends_itself=True)
        return Meter(self._tokens.book, (self._tokens.spender(self._token),), asked)
