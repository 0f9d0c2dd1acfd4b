"""What a question costs is decided where it goes to a provider, whichever way it is asked."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from threading import Event, Thread
from typing import Any

import pytest

from forky_core.conversation.allowance.account import Account, SpendingRefused, Sum
from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import Done, Failed, ModelEvent, Request, TextDelta
from forky_core.llm.scripted import Fail, Hang, Until
from forky_core.model import Failure
from forky_core.model.errors import ModelError, NotAllowed
from forky_core.people.guarded_models import GuardedModels
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from forky_core.store.memory.store import MemoryStore
from tests.conversation.allowance.priced import (
    DEAR,
    DOLLAR,
    OFFLINE,
    PricedModels,
    events,
    paid,
    question,
    refusal,
)
from tests.hangs import HANG


class Shop:
    """A workspace whose models cost something, and its team."""

    def __init__(self) -> None:
        self.team = Team(None)
        self.models = PricedModels()
        self.whole = Workspace(MemoryStore(), self.models)
        self.ada = self.team.members.add("Ada", Role.OWNER)
        self.bob = self.team.members.add("Bob", Role.EDITOR)
        join_team(self.whole, self.team)

    def of(self, member: Member) -> Workspace:
        return member_view(self.whole, self.team, member.id)

    def models_of(self, member: Member) -> GuardedModels:
        models = self.of(member).models
        assert isinstance(models, GuardedModels)
        return models

    def allow(self, **fields: Any) -> None:
        """Set Bob's allowance."""
        self.team.allowances.set(self.bob.id, fields, by=self.ada.id)  # type: ignore[arg-type]

    def account(self, member: Member) -> Account:
        return self.whole.book.account(self.team.allowances.spender(member.id))

    @property
    def spent(self) -> int:
        return self.account(self.bob).in_all.dollars


@pytest.fixture
def shop() -> Iterator[Shop]:
    opened = Shop()
    yield opened
    opened.whole.close()
    opened.team.close()


def test_an_answer_is_charged_to_whoever_asked(shop: Shop) -> None:
    shop.allow(dollars_in_all=DOLLAR)
    chat = shop.of(shop.bob).create("Boats")
    chat.ask("Why do boats float?")
    assert shop.spent == DOLLAR // 20 and shop.account(shop.bob).today.answers == 1
    shop.team.sharing.share_with_everyone(chat._session.id, shared=True, by=shop.bob.id)
    shop.of(shop.ada).conversation(chat.id).ask("And stones?")
    assert shop.spent == shop.account(shop.ada).in_all.dollars == DOLLAR // 20


def test_at_zero_a_post_is_kept_and_the_model_is_not_asked(shop: Shop) -> None:
    shop.allow(answers_in_all=1)
    chat = shop.of(shop.bob).create("Boats")
    chat.ask("One?")
    posted = chat.people.post("Two?")
    assert posted.job is None and "You may have 1 answer in all, and it is used up" in posted.silent
    assert [message.text for message in chat.path()] == ["One?", "Yes.", "Two?"]
    with pytest.raises(NotAllowed, match="used up"):
        chat.ask("Three?")
    assert len(shop.models.dear.requests) == 1
    again = chat.people.post("Four?", model=OFFLINE.name)
    assert again.job is not None
    again.job.result()
    assert len(shop.models.offline.requests) == 1


def test_a_failed_call_costs_nothing_and_a_stopped_one_what_arrived(shop: Shop) -> None:
    shop.allow(dollars_in_all=DOLLAR)
    dear = shop.models_of(shop.bob).model(DEAR.name)
    shop.models.dear.enqueue(Fail("overloaded", "Busy."))
    assert refusal(events(dear)) == "Busy."
    assert shop.spent == 0

    go, stop = Event(), Event()
    shop.models.dear.enqueue("word " * 80, Until(go), "more")
    stream = dear.stream(question(), stop)
    assert isinstance(next(stream), TextDelta)
    stop.set()
    assert list(stream) == []
    assert shop.spent == round(
        (5 * 1e-5 + 100 * 1e-4) * DOLLAR
    )  # 5 tokens of the question, 100 of the answer.
    assert shop.account(shop.bob).held.dollars == 0


def test_an_answer_that_breaks_off_or_is_left_is_charged_what_arrived(shop: Shop) -> None:
    shop.allow(dollars_in_all=DOLLAR)
    shop.models.dear.enqueue("word " * 80, Failed(Failure("cut_off", "It broke off.")))
    events(shop.models_of(shop.bob).model(DEAR.name))
    once = shop.spent
    assert once > 0
    shop.models.dear.enqueue("some words", "and more")
    stream = shop.models_of(shop.bob).model(DEAR.name).stream(question(), Event())
    assert isinstance(stream, Generator)
    next(stream)
    stream.close()
    assert shop.spent > once and shop.account(shop.bob).held.answers == 0


def test_a_call_that_is_left_before_its_first_piece_is_charged_its_question(shop: Shop) -> None:
    shop.allow(dollars_in_all=DOLLAR)
    stop = Event()
    shop.models.dear.enqueue(Hang())
    reading = Thread(target=lambda: events(shop.models_of(shop.bob).model(DEAR.name), stop=stop))
    reading.start()
    while not shop.models.dear.requests:
        pass
    stop.set()
    reading.join(HANG)
    assert shop.account(shop.bob).in_all == Sum(1, round(5 * 1e-5 * DOLLAR))
    assert shop.account(shop.bob).held == Sum()


def test_a_call_that_is_stopped_before_it_is_sent_costs_nothing(shop: Shop) -> None:
    shop.allow(dollars_in_all=DOLLAR)
    stop = Event()
    stop.set()
    assert events(shop.models_of(shop.bob).model(DEAR.name), stop=stop) == []
    assert shop.account(shop.bob).in_all == shop.account(shop.bob).held == Sum()


def test_a_plug_in_that_raises_before_its_first_event_costs_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(request: Request, stop: Event) -> Iterator[ModelEvent]:
        yield TextDelta(request.parameters["no such parameter"])

    shop.allow(dollars_in_all=DOLLAR)
    monkeypatch.setattr(shop.models.dear, "stream", breaks)
    with pytest.raises(KeyError, match="no such parameter"):
        events(shop.models_of(shop.bob).model(DEAR.name))
    assert shop.account(shop.bob).in_all == shop.account(shop.bob).held == Sum()


def test_an_answer_ends_when_nothing_is_left_to_go_on_with(shop: Shop) -> None:
    shop.allow(dollars_in_all=DOLLAR // 4)
    shop.models.dear.enqueue(*(["word " * 800] * 10), paid(5.0))
    found = events(shop.models_of(shop.bob).model(DEAR.name))
    assert "was used up while this answer was written" in refusal(found)
    assert 1 < sum(isinstance(event, TextDelta) for event in found) < 10
    assert abs(shop.spent - DOLLAR // 4) <= DOLLAR // 10


def test_a_person_who_is_removed_while_a_reply_streams_pays_for_it_and_asks_no_more(shop: Shop) -> None:
    go = Event()
    shop.models.dear.enqueue("begun", Until(go), "and ended", paid(0.07))
    dear = shop.models_of(shop.bob).model(DEAR.name)
    found: list[object] = []
    reading = Thread(target=lambda: found.extend(events(dear)))
    reading.start()
    while not shop.models.dear.requests:
        pass
    shop.team.members.remove(shop.bob.id, by=shop.ada.id)
    go.set()
    reading.join()
    assert isinstance(found[-1], Done) and shop.spent == round(0.07 * DOLLAR)
    assert "Only members of this workspace may ask" in refusal(events(dear))


def test_every_way_to_ask_is_refused_alike(shop: Shop) -> None:
    """Merges, reviews, fusions, summaries, bisections and side questions take their models from the same place."""
    chat = shop.of(shop.bob).create("Boats")
    chat.ask("Why do boats float?")
    side = chat.fork("side")
    side.ask("And stones?")
    chat.ask("And ice?")
    asked = len(shop.models.dear.requests)
    chat.say("And oil?")
    shop.allow(answers_a_day=0)
    ways = (
        lambda: chat.ask("Again?", model=DEAR.name),
        lambda: chat.regenerate(chat.path()[-1].id, model=DEAR.name),
        lambda: chat.replies.start(model=DEAR.name),
        lambda: chat.plan_merge("side", strategy="squash", model=DEAR.name),
        lambda: chat.bisections.run("Which?", bool, model=DEAR.name),
    )
    for way in ways:
        with pytest.raises((NotAllowed, ModelError), match="You may have 0 answers a day"):
            way()
    assert len(shop.models.dear.requests) == asked


def test_a_price_that_nobody_knows_needs_an_owners_word(shop: Shop) -> None:
    shop.allow(dollars_a_day=DOLLAR)
    odd = shop.models_of(shop.bob).model("odd/one")
    assert "What Odd costs is not known" in refusal(events(odd))
    shop.allow(dollars_a_day=DOLLAR, unpriced=1)
    assert refusal(events(odd)) == "" and shop.account(shop.bob).today.answers == 1


def test_alone_nothing_is_checked_and_nothing_is_kept() -> None:
    models = PricedModels()
    forky = Workspace(MemoryStore(), models)
    chat = forky.create("Boats")
    chat.ask("Why?")
    assert not isinstance(chat._session.models, GuardedModels) and len(models.dear.requests) == 1
    forky.close()


def test_of_many_calls_at_the_same_moment_only_those_leave_that_can_be_paid_for(shop: Shop) -> None:
    shop.allow(dollars_in_all=DOLLAR // 20)
    models, begun = shop.models_of(shop.bob), []
    for parameters in ({}, {"max_tokens": 50}):
        for _ in range(100):
            try:
                begun.append(models._begin(DEAR, question().messages, parameters))
            except SpendingRefused:
                continue
            begun[-1].sent()
        if not parameters:
            assert len(begun) == 1 and shop.account(shop.bob).held.dollars == DOLLAR // 20
            begun[0].settle(0.01)
    assert 5 <= len(begun) - 1 <= 8, "half a cent each, of four that are left"
    for meter in begun[1:]:
        meter.settle(0.005)
    assert shop.spent <= DOLLAR // 20
