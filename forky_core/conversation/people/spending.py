"""The allowance of a participant in a conversation: how much `Person.messages` and `Person.dollars` leave for the day.

Names are self-chosen, so that this is an agreement among people who share a room. Models of unknown price count as
answers alone, since nobody here is asked about prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forky_core.conversation.allowance.account import Account, Allowance, SpendingRefused
from forky_core.conversation.allowance.amounts import NANO, amount_text, money, nanodollars
from forky_core.conversation.allowance.book import Spender
from forky_core.conversation.allowance.metering import Begin, Meter, MeteredEmbedder, MeteredModel
from forky_core.conversation.allowance.quotes import quote
from forky_core.conversation.session import RestrictedModels, Session
from forky_core.documents.searching import Embedder
from forky_core.llm.contract import Answering, ModelInfo, ProviderMessage
from forky_core.matching.keys import digest
from forky_core.model import ConversationId, Operation
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.model.room import PEOPLE, Person


@dataclass(frozen=True, slots=True)
class Spending:
    """What one person has used today (UTC)."""

    person: Person
    account: Account
    listed: bool = True
    """False for a name that is not on the conversation's list, where only who is on it may ask."""

    @property
    def answers(self) -> int:
        """The answers they had today, those included that are being written."""
        return self.account.today.answers + self.account.held.answers

    @property
    def dollars(self) -> float:
        return self.account.today.dollars / NANO

    @property
    def refusal(self) -> str:
        """A polite sentence if the allowance permits no answer now, else ""."""
        name, allowance = self.person.name, allowance_of(self.person)
        if not self.listed:
            return f"{name} is not on the list of who may ask here; somebody on it can add them."
        if not self.person.asks:
            return f"{name} takes part without asking the model; somebody else can have it answer."
        answers, dollars = self.account.left(allowance, "answers"), self.account.left(allowance, "dollars")
        if answers is not None and answers <= 0:
            had = amount_text("answers", self.person.messages or 0)
            return f"{name} has had today's {had}; the next ones come tomorrow, or somebody else asks."
        if dollars is not None and dollars <= 0:
            return f"{name} has used today's ${self.person.dollars:.2f}; the model answers again tomorrow."
        return ""

    def of_several(self, many: int) -> tuple[int, str]:
        """How many of `many` answers the allowance permits, and a sentence if not all; else (many, "")."""
        left = self.account.left(allowance_of(self.person), "answers")
        if left is None or left >= many:
            return many, ""
        name, left = self.person.name, max(0, left)
        answer = "model answers" if left == 1 else "models answer"
        told = f"{name} has {left} of today's answers left, so that {left} {answer} of the {many} here."
        return left, f"{told} The next ones come tomorrow, or somebody else asks."

    @property
    def sentence(self) -> str:
        """What is left, for the person: "3 of 20 answers today"; "" if there is no limit."""
        if not self.person.asks:
            return "takes part without asking the model"
        facts = []
        if self.person.messages is not None:
            facts.append(f"{self.answers} of {self.person.messages} answers today")
        if self.person.dollars is not None:
            facts.append(f"{money(self.account.today.dollars)} of ${self.person.dollars:.2f} today")
        return ", ".join(facts)


def allowance_of(person: Person) -> Allowance:
    dollars = None if person.dollars is None else nanodollars(person.dollars)
    return Allowance(person.messages, dollars, unpriced=True)


def asker(session: Session) -> str | None:
    """The name by which allowances know the person who asks: the one they gave, or a team member's; None if nobody is
    named.
    """
    if session.person is not None:
        return session.person
    name = session.name_of(session.actor)
    return name if name != session.actor else None


def spent(session: Session, name: str) -> Spending:
    """What a person has used so far today. Undo gives nothing back: the answers were paid for.

    Names are compared without regard to case. Where somebody's spending is limited here, whoever is not on the list may
    not ask; members of a team are known by their sign-in instead.
    """
    person = _participant(session, name)
    if not person.asks and not session.view.room.knows(name):
        return Spending(person, Account(), listed=False)
    if not allowance_of(person).is_limited:
        return Spending(person, Account())
    return Spending(person, session.book.account(_spender(session, person)))


def refuse_to_spend(session: Session, model: str | None = None) -> None:
    """Raise NotAllowed if the person who asks may have no more answers now.

    Raises:
        NotFound: there is no such model.
    """
    name = model or session.models.default()
    if (who := asker(session)) is not None:
        refusal = spent(session, who).refusal
        if refusal:
            raise NotAllowed(refusal)
    if isinstance(session.models, RestrictedModels):
        refusal = session.models.refusal(name)
        if refusal:
            raise NotAllowed(refusal)


def paid_for(session: Session, model: Answering) -> Answering:
    """The model as the participant who asks may ask it, and pays for it where their spending is limited.

    Every call of a model for a conversation is made through this or through `paid_embedder`.
    """
    begin = _payment(session)
    return model if begin is None else MeteredModel(model, begin, _key(session.id, asker(session) or ""))


def paid_embedder(session: Session, name: str) -> Embedder:
    """The embedding model of this name, likewise. Raises NotFound if nobody offers it."""
    embedder, begin = session.models.embedder(name), _payment(session)
    if begin is None:
        return embedder
    try:
        info = session.models.model(name).info()
    except NotFound:
        info = ModelInfo(name, name, "")
    return MeteredEmbedder(embedder, info, begin)


def _payment(session: Session) -> Begin | None:
    """What begins the calls of whoever asks; None where nothing limits them."""
    name = asker(session)
    person = _participant(session, name) if name is not None else None
    if person is None or not person.limited:
        return None
    payer = _spender(session, person)

    def begin(
        info: ModelInfo,
        messages: Sequence[ProviderMessage],
        parameters: Mapping[str, Any],
        *,
        answers: int = 1,
    ) -> Meter:
        if not person.asks:
            raise SpendingRefused("not_allowed", spent(session, person.name).refusal)
        asked = quote(info, messages, parameters, answers=answers, ends_itself=True)
        return Meter(session.book, (payer,), asked)

    return begin


def _participant(session: Session, name: str) -> Person:
    """Whoever has this name in the room; a member of the team is known by their sign-in."""
    return session.view.room.person(name, known=session.name_of(session.actor) != session.actor)


def _spender(session: Session, person: Person) -> Spender:
    """A participant as whoever pays."""
    return Spender(_key(session.id, person.name), person.name, allowance_of(person))


def _key(conversation: ConversationId, name: str) -> str:
    """The key of a participant's account, which does not have their name in it: accounts outlive names."""
    return f"room/{conversation}/{digest(f'{conversation} {name.casefold()}'.encode()).hex()}"


def account_keys(conversation: ConversationId, operations: Iterable[Operation]) -> set[str]:
    """The keys of the accounts of everybody who has taken part in a conversation, by its log."""
    changes = (change.key for operation in operations for change in operation.changes)
    return {_key(conversation, key.removeprefix(PEOPLE)) for key in changes if key.startswith(PEOPLE)}
