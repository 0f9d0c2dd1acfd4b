"""Daily allowances for a person's questions, computed from the log: an answer's operation names who asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from forky_core.conversation.session import RestrictedModels, Session
from forky_core.model import MessageId, Operation
from forky_core.model.errors import NotAllowed
from forky_core.model.room import Person


@dataclass(frozen=True, slots=True)
class Spending:
    """What one person has used since midnight, by the server's clock."""

    person: Person
    answers: int
    dollars: float
    listed: bool = True
    """False for a name that is not on the conversation's list, where only who is on it may ask."""

    @property
    def refusal(self) -> str:
        """A polite sentence if the allowance permits no answer now, else ""."""
        name = self.person.name
        if not self.listed:
            return f"{name} is not on the list of who may ask here; somebody on it can add them."
        if not self.person.asks:
            return f"{name} takes part without asking the model; somebody else can have it answer."
        if self.person.messages is not None and self.answers >= self.person.messages:
            many = "1 answer" if self.person.messages == 1 else f"{self.person.messages} answers"
            return f"{name} has had today's {many}; the next ones come tomorrow, or somebody else asks."
        if self.person.dollars is not None and self.dollars >= self.person.dollars:
            return f"{name} has used today's ${self.person.dollars:.2f}; the model answers again tomorrow."
        return ""

    def of_several(self, many: int) -> tuple[int, str]:
        """How many of `many` answers the allowance permits, and a sentence if not all; else (many, "")."""
        left = many if self.person.messages is None else max(0, self.person.messages - self.answers)
        if left >= many:
            return many, ""
        name = self.person.name
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
            facts.append(f"${self.dollars:.2f} of ${self.person.dollars:.2f} today")
        return ", ".join(facts)


def asker(session: Session) -> str | None:
    """The name of whoever asks, as allowances know it: the one they gave, or a team member's; None for nobody."""
    if session.person is not None:
        return session.person
    name = session.name_of(session.actor)
    return name if name != session.actor else None


def spent(session: Session, name: str) -> Spending:
    """What a person has used so far today. Undo gives nothing back: the answers were paid for.

    Names are compared without regard to case. Where somebody's spending is limited here, whoever is not on the list may
    not ask; members of a team are known by their sign-in instead.
    """
    signed_in = session.name_of(session.actor) != session.actor
    room = session.view.room
    person = room.person(name, known=signed_in)
    same = name.casefold()

    def is_them(actor: str) -> bool:
        return session.name_of(actor).casefold() == same

    if not person.asks and not room.knows(name):
        return Spending(person, 0, 0.0, listed=False)
    if not person.limited:
        return Spending(person, 0, 0.0)
    midnight = _midnight()
    answered: set[tuple[str, MessageId]] = set()
    for operation in reversed(session.store.operations(session.id)):
        if operation.at < midnight:
            break
        if operation.verb == "reply" and is_them(operation.actor):
            answered.update(_landed(operation))
    running = sum(is_them(job.by) for job in session.replies.running(session.id))
    dollars = sum(
        call.usage.cost or 0.0
        for call in session.generations()
        if call.message is not None
        and not answered.isdisjoint(((call.branch, call.message), (_BESIDE, call.message)))
        and call.started >= midnight - _DAY
    )
    return Spending(person, len(answered) + running, dollars)


def refuse_to_spend(session: Session, model: str | None = None) -> None:
    """Raise NotAllowed if whoever asks may have no answer of a model now.

    Raises:
        NotFound: there is no such model.
    """
    if (name := asker(session)) is not None:
        refusal = spent(session, name).refusal
        if refusal:
            raise NotAllowed(refusal)
    if isinstance(session.models, RestrictedModels):
        refusal = session.models.refusal(model or session.models.default())
        if refusal:
            raise NotAllowed(refusal)


_DAY = 86_400_000_000
"""A day in microseconds."""
_BESIDE = ""
"""In the place of a branch: the reply is kept beside the one it was meant for, which had moved."""


def _landed(operation: Operation) -> set[tuple[str, MessageId]]:
    """The reply that an operation added, with its branch, of which it is the new head; or kept beside the branch."""
    moved = {
        (c.key.removeprefix("heads/"), MessageId(c.after["at"]))
        for c in operation.changes
        if c.key.startswith("heads/") and c.after and c.after["at"]
    }
    kept = {c.key.removeprefix("kept/") for c in operation.changes if c.key.startswith("kept/") and c.after}
    return moved or {(_BESIDE, MessageId(id)) for id in kept}


def _midnight() -> int:
    now = datetime.now(UTC).astimezone()
    start = now - timedelta(
        hours=now.hour, minutes=now.minute, seconds=now.second, microseconds=now.microsecond
    )
    return int(start.timestamp() * 1_000_000)
