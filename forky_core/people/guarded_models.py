"""The models that one person may ask. Every call to a provider is permitted or refused here.

It keeps the contract of the models on offer. Every way to ask (a page, `/v1`, an experiment and its judges, a written
merge, a summary, a query for documents) takes its models from the workspace of whoever asks, and so from here. Each
call is checked when it is made: by the person's membership, and what they may still spend. A refusal ends the call as a
failure, before a provider is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forky_core.conversation.allowance.account import SpendingRefused
from forky_core.conversation.allowance.book import Book, Spender
from forky_core.conversation.allowance.metering import Meter, MeteredEmbedder, MeteredModel
from forky_core.conversation.allowance.quotes import quote
from forky_core.conversation.session import Models, RestrictedModels
from forky_core.documents.searching import Embedder
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Model, ModelInfo, ProviderMessage
from forky_core.llm.upstream import Upstream
from forky_core.model.errors import StoreError
from forky_core.people.access import Access
from forky_core.people.refused_requests import NO_CREDIT
from forky_core.people.roles import Role


class GuardedModels(RestrictedModels):
    """The models on offer for one person; safe from any thread."""

    def __init__(self, models: Models, access: Access, book: Book) -> None:
        """`book` has the accounts of the workspace."""
        self._models = models
        self._access = access
        self._book = book

    @property
    def person(self) -> str:
        """The id of the person who asks."""
        return self._access.id

    # The contract of the models on offer.

    def models(self) -> tuple[ModelInfo, ...]:
        return self._models.models()

    def default(self) -> str:
        return self._models.default()

    def model(self, name: str) -> Model:
        return MeteredModel(self._models.model(name), self._begin, self.person)

    def can_write(self, name: str) -> bool:
        return self._models.can_write(name)

    def embedder(self, name: str) -> Embedder:
        if isinstance(self._models, Catalogue):
            info = self._models.model(name).info()
            return MeteredEmbedder(self._models.embedder(name), info, self._begin)
        return self._models.embedder(name)

    def upstream(self, name: str) -> Upstream | None:
        """The server to which a client's own bytes can be forwarded (`Catalogue.upstream`)."""
        return self._models.upstream(name) if isinstance(self._models, Catalogue) else None

    def unmetered(self, name: str) -> Model:
        """A model whose call is charged elsewhere, to `payer`. Raises NotFound if it is not available."""
        return self._models.model(name)

    # What is decided.

    def refusal(self, model: str) -> str:
        try:
            asked = quote(self._models.model(model).info(), (), {}, ends_itself=True)
            payer = self.payer()
            self._book.account(payer).most(payer.allowance, asked, payer.who, self._book.clock())
        except (SpendingRefused, StoreError) as error:
            return str(error)
        return ""

    def payer(self) -> Spender:
        """The account to which the person's calls are charged. Raises SpendingRefused if they are no member."""
        if not self._access.role:
            raise SpendingRefused(
                "not_allowed",
                "Only members of this workspace may ask models: ask an owner for an invitation.",
            )
        return self._access.team.allowances.spender(self.person)

    def require(self) -> None:
        """Raise SpendingRefused unless the person's role may have a program ask models."""
        self.payer()
        if self._access.role < Role.COMMENTER:
            raise SpendingRefused(
                "not_allowed",
                f"{self._access.role.phrase.capitalize()} may not ask models by a token: ask an owner.",
            )

    def why_not_asked(self) -> str:
        """Why the person's programs may ask models no more, as a sentence; "" if they may."""
        if not self._access.role:
            return "Whoever asked is no longer a member of this team."
        try:
            self.require()
        except SpendingRefused as refused:
            return str(refused)
        return ""

    def count_refusal(self) -> None:
        """Count, for the audit log, a call that was refused because of its cost. Raises nothing."""
        self._access.team.refused.count(NO_CREDIT, self.person)

    def _begin(
        self,
        info: ModelInfo,
        messages: Sequence[ProviderMessage],
        parameters: Mapping[str, Any],
        *,
        answers: int = 1,
    ) -> Meter:
        try:
            asked = quote(info, messages, parameters, answers=answers, ends_itself=True)
            return Meter(self._book, (self.payer(),), asked)
        except SpendingRefused as refused:
            if refused.kind == "no_credit":
                self.count_refusal()
            raise
