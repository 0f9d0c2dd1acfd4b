"""The models as one person may ask them: the only place where it is decided whether a question goes to a provider.

It keeps the contract of the models on offer. Every way to ask (a page, `/v1`, an experiment and its judges, a written
merge, a summary, a query for documents) takes its models from the workspace of whoever asks, and so from here. Each
call is checked when it is made: by the person's membership, how often they ask, and what they may still spend. A
refusal ends the call as a failure, before a provider is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from typing import Any

from forky_core.conversation.session import Models, RestrictedModels
from forky_core.documents.searching import Embedder
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import (
    Done,
    Failed,
    Model,
    ModelEvent,
    ModelInfo,
    ProviderMessage,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.llm.tokens import estimate_tokens
from forky_core.llm.upstream import Upstream, priced
from forky_core.model import ConversationId, Failure, Usage
from forky_core.model.document import Numbers
from forky_core.model.errors import ModelError, StoreError
from forky_core.team.access import Access
from forky_core.team.refused_requests import NO_CREDIT
from forky_core.team.roles import Role
from forky_core.team.spending.meter import USED_UP, Meter
from forky_core.team.spending.quotes import Quote, quote
from forky_core.team.spending.refusals import SpendingRefused

_NO_PARAMETERS: Mapping[str, Any] = {}


class GuardedModels(RestrictedModels):
    """The models on offer for one person; safe from any thread."""

    def __init__(self, models: Models, access: Access, conversation: str = "") -> None:
        """`conversation` is where the questions are asked; "" for none in particular."""
        self._models = models
        self._access = access
        self._conversation = conversation

    def within(self, conversation: ConversationId) -> GuardedModels:
        """The same models for the questions of one conversation, which the account names."""
        return GuardedModels(self._models, self._access, conversation)

    @property
    def person(self) -> str:
        """The id of the person who asks."""
        return self._access.id

    def catalogue(self) -> Models:
        """All models, without these checks, for whoever sets them up. Raises NotAllowed for anybody but an owner."""
        self._access.require(Role.OWNER, "decide about models, keys and servers")
        return self._models

    # The contract of the models on offer.

    def models(self) -> tuple[ModelInfo, ...]:
        return self._models.models()

    def default(self) -> str:
        return self._models.default()

    def model(self, name: str) -> MeteredModel:
        return MeteredModel(self, self._models.model(name))

    def can_write(self, name: str) -> bool:
        return self._models.can_write(name)

    def embedder(self, name: str) -> Embedder:
        if isinstance(self._models, Catalogue):
            return MeteredEmbedder(self, self._models.embedder(name), self._models.model(name).info())
        return self._models.embedder(name)

    def upstream(self, name: str) -> Upstream | None:
        """The server to which a client's own bytes can be forwarded (`Catalogue.upstream`)."""
        return self._models.upstream(name) if isinstance(self._models, Catalogue) else None

    # What is decided.

    def refusal(self, name: str) -> str:
        """Why a model would not answer the person now, as a sentence; "" if it would. Nothing is set aside."""
        info = self._models.model(name).info()
        try:
            self._require_member()
            refused = self._access.team.spending.accounts.refusal(
                self.person, quote(info, (), _NO_PARAMETERS, conversation=self._conversation)
            )
        except (SpendingRefused, StoreError) as error:
            return str(error)
        return str(refused) if refused is not None else ""

    def require(self) -> None:
        """Raise SpendingRefused unless the person's role may have a program ask models."""
        self._require_member()
        if self._access.role < Role.COMMENTER:
            raise SpendingRefused(
                "not_allowed",
                f"As {self._access.role.phrase} of this workspace you may not ask models by a token.",
                "Ask an owner of it.",
            )

    def count_request(self) -> None:
        """Count a request of a program. Raises SpendingRefused where the person sends too many."""
        spending = self._access.team.spending
        spending.program_rate.count(self.person, spending.limits.of(self.person).requests_a_minute)

    def count_refusal(self, reason: str) -> None:
        """Count a refused call of the person for the audit log. It raises nothing."""
        self._access.team.refused.count(reason, self.person)

    def begin(
        self,
        info: ModelInfo,
        messages: Sequence[ProviderMessage],
        parameters: Mapping[str, Any],
        *,
        answers: int = 1,
        conversation: str = "",
        branch: str = "",
        counted: bool = False,
    ) -> Meter:
        """Set aside what a call may cost, and return its meter, which must be settled.

        `conversation` and `branch` are where it is asked, if that is known. `counted` says that the request has been
        counted already.

        Raises:
            SpendingRefused: the call may not be made.
            StoreError: the file of the people cannot be read or written now.
        """
        spending = self._access.team.spending
        self._require_member()
        if not counted:
            spending.question_rate.count(self.person, spending.limits.of(self.person).requests_a_minute)
        asked = quote(
            info,
            messages,
            parameters,
            answers=answers,
            conversation=conversation or self._conversation,
            branch=branch,
        )
        return self._meter(asked)

    def begin_embedding(self, info: ModelInfo, texts: Sequence[str]) -> Meter:
        """The same for a call that turns texts into vectors; it has no answer to pay for."""
        self._require_member()
        words: tuple[ProviderMessage, ...] = tuple({"role": "user", "content": text} for text in texts)
        asked = quote(info, words, {"max_tokens": 1}, conversation=self._conversation)
        return self._meter(asked)

    def _meter(self, asked: Quote) -> Meter:
        accounts = self._access.team.spending.accounts
        try:
            return Meter(accounts, accounts.reserve(self.person, asked))
        except SpendingRefused as refused:
            if refused.kind == "no_credit":
                self.count_refusal(NO_CREDIT)
            raise

    def _require_member(self) -> None:
        if not self._access.role:
            raise SpendingRefused(
                "not_allowed",
                "You are not a member of this workspace, and only members may ask models.",
                "Ask an owner for an invitation.",
            )


class MeteredModel:
    """A model whose calls are checked and paid for."""

    def __init__(self, models: GuardedModels, model: Model) -> None:
        self._models = models
        self._model = model
        self.count_tokens = model.count_tokens

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeteredModel) and (other._model, other._models.person) == (
            self._model,
            self._models.person,
        )

    def __hash__(self) -> int:
        return hash((id(self._model), self._models.person))

    def info(self) -> ModelInfo:
        return self._model.info()

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        info = self.info()
        try:
            meter = self._models.begin(
                info,
                request.messages,
                request.parameters,
                conversation=request.conversation,
                branch=request.branch,
            )
        except SpendingRefused as refused:
            yield refused.event
            return
        except StoreError as error:
            yield Failed(Failure("unknown", str(error)), cause=error)
            return
        try:
            for event in self._model.stream(request, stop):
                match event:
                    case TextDelta(text) | ReasoningDelta(text):
                        meter.add(text)
                    case ToolCallDone(arguments=arguments):
                        meter.add(arguments or "{}")
                    case Done(_, usage):
                        meter.settle(_cost(usage, info), arrived=True)
                    case Failed(_, usage):
                        meter.settle(usage.cost)
                yield event
                if isinstance(event, TextDelta | ReasoningDelta) and not meter.go_on():
                    meter.settle()
                    yield USED_UP.event
                    return
        finally:
            meter.settle()


class MeteredEmbedder:
    """An embedding model whose calls are checked and paid for."""

    def __init__(self, models: GuardedModels, embedder: Embedder, info: ModelInfo) -> None:
        self._models = models
        self._embedder = embedder
        self._info = info

    @property
    def name(self) -> str:
        return self._embedder.name

    def embed(self, texts: Sequence[str]) -> Numbers:
        try:
            meter = self._models.begin_embedding(self._info, texts)
        except SpendingRefused as refused:
            raise ModelError(refused.failure) from refused
        arrived = False
        try:
            rows = self._embedder.embed(texts)
            arrived = True
        finally:
            tokens = sum(estimate_tokens(text) for text in texts)
            meter.settle(priced(Usage(tokens, 0), self._info), arrived=arrived)
        return rows


def _cost(usage: Usage, info: ModelInfo) -> float | None:
    return usage.cost if usage.cost is not None else priced(usage, info)
