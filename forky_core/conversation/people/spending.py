"""The allowance of a participant in a conversation: how much `Person.messages` and `Person.dollars` leave for the day.

Names are self-chosen, so that this is an agreement among people who share a room. Models of unknown price count as
answers alone, since nobody here is asked about prices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forky_core.allowance.account import Account, Allowance
from forky_core.allowance.amounts import NANO, amount_text, money, nanodollars
from forky_core.allowance.book import Spender
from forky_core.allowance.metering import Meter, MeteredModel
from forky_core.allowance.quotes import quote
from forky_core.conversation.session import RestrictedModels, Session
from forky_core.llm.contract import Answering, ModelInfo, ProviderMessage
from forky_core.model.errors import NotAllowed
from forky_core.model.room import Person


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
    spender = _spender(session, person)
    return Spending(person, session.book.account(spender) if spender is not None else Account())


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
    """The model, with its calls charged to the participant who asks, where their spending is limited."""
    name = asker(session)
    if name is None:
        return model
    spender = _spender(session, _participant(session, name))
    if spender is None:
        return model
    payers = (spender,)

    def begin(info: ModelInfo, messages: Sequence[ProviderMessage], parameters: Mapping[str, Any]) -> Meter:
        return Meter(session.book, payers, quote(info, messages, parameters, ends_itself=True))

    return MeteredModel(model, begin, spender.key)


def _participant(session: Session, name: str) -> Person:
    """Whoever has this name in the room; a member of the team is known by their sign-in."""
    return session.view.room.person(name, known=session.name_of(session.actor) != session.actor)


def _spender(session: Session, person: Person) -> Spender | None:
    """A participant as whoever pays; None where nothing limits them."""
    allowance = allowance_of(person)
    if not allowance.is_limited:
        return None
    return Spender(f"room/{session.id}/{person.name.casefold()}", person.name, allowance)
