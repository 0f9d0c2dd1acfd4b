"""What a question costs is decided where it goes to a provider, whichever way it is asked."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from threading import Event, Thread

import pytest

from forky_core.conversation.workspace import Workspace
from forky_core.llm.contract import Done, Failed, TextDelta
from forky_core.llm.scripted import Fail, Until
from forky_core.model import Failure
from forky_core.model.errors import ModelError, NotAllowed
from forky_core.store.memory.store import MemoryStore
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.guarded_models import GuardedModels
from forky_core.team.spending.limits import EVERYBODY
from forky_core.team.spending.quotes import LONGEST, quote
from forky_core.team.spending.refusals import SpendingRefused
from forky_core.team.team import Team
from forky_core.team.views import join_team, member_view
from tests.team.spending.priced import (
    DEAR,
    DOLLAR,
    OFFLINE,
    PricedModels,
    events,
    left,
    paid,
    question,
    refusal,
)


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


@pytest.fixture
def shop() -> Iterator[Shop]:
    opened = Shop()
    yield opened
    opened.whole.close()
    opened.team.close()


def grant(shop: Shop, dollars: float = 1.0) -> None:
    shop.team.spending.accounts.grant(shop.bob.id, "dollars", round(dollars * DOLLAR), by=shop.ada.id)


def test_an_answer_is_charged_to_whoever_asked_with_its_place(shop: Shop) -> None:
    grant(shop)
    chat = shop.of(shop.bob).create("Boats")
    chat.ask("Why do boats float?")
    assert left(shop.team, shop.bob.id) == round(0.95 * DOLLAR)
    (line,) = shop.team.spending.ledger.sums("branch")
    assert (line.key, line.calls, line.dollars) == ((chat.id, "main"), 1, DOLLAR // 20)
    assert shop.team.spending.ledger.sums("person")[0].key == (shop.bob.id,)


def test_at_zero_a_post_is_kept_and_the_model_is_not_asked(shop: Shop) -> None:
    shop.team.spending.accounts.grant(shop.bob.id, "messages", 1, by=shop.ada.id)
    chat = shop.of(shop.bob).create("Boats")
    chat.ask("One?")
    posted = chat.people.post("Two?")
    assert posted.job is None and "Your balance of 1 message is used up" in posted.silent
    assert [message.text for message in chat.path()] == ["One?", "Yes.", "Two?"]
    with pytest.raises(NotAllowed, match="used up"):
        chat.ask("Three?")
    assert len(shop.models.dear.requests) == 1
    again = chat.people.post("Four?", model="offline/quote")
    assert again.job is not None
    again.job.result()
    assert len(shop.models.offline.requests) == 1


def test_an_owner_is_charged_for_their_own_questions_only(shop: Shop) -> None:
    grant(shop)
    chat = shop.of(shop.bob).create("Boats")
    shop.team.sharing.share_with_everyone(chat._session.id, shared=True, by=shop.bob.id)
    shop.of(shop.ada).conversation(chat.id).ask("And stones?")
    assert left(shop.team, shop.bob.id) == DOLLAR
    assert shop.team.spending.ledger.sums("person")[0].key == (shop.ada.id,)


def test_a_failed_call_costs_nothing_and_a_stopped_one_what_arrived(shop: Shop) -> None:
    grant(shop)
    dear = shop.models_of(shop.bob).model(DEAR.name)
    shop.models.dear.enqueue(Fail("overloaded", "Busy."))
    assert refusal(events(dear)) == "Busy."
    assert left(shop.team, shop.bob.id) == DOLLAR

    go, stop = Event(), Event()
    shop.models.dear.enqueue("word " * 80, Until(go), "more")
    stream = dear.stream(question(), stop)
    assert isinstance(next(stream), TextDelta)
    stop.set()
    assert list(stream) == []
    spent = DOLLAR - left(shop.team, shop.bob.id)
    assert spent == round((5 * 1e-5 + 100 * 1e-4) * DOLLAR)  # 5 tokens of the question, 100 of the answer.
    assert shop.team.spending.accounts.set_aside(shop.bob.id) == (0, 0)


def test_an_answer_that_breaks_off_is_charged_what_arrived(shop: Shop) -> None:
    grant(shop)
    shop.models.dear.enqueue("word " * 80, Failed(Failure("cut_off", "It broke off.")))
    events(shop.models_of(shop.bob).model(DEAR.name))
    assert left(shop.team, shop.bob.id) < DOLLAR


def test_a_stream_that_is_left_is_settled(shop: Shop) -> None:
    grant(shop)
    shop.models.dear.enqueue("some words", "and more")
    stream = shop.models_of(shop.bob).model(DEAR.name).stream(question(), Event())
    assert isinstance(stream, Generator)
    next(stream)
    stream.close()
    assert shop.team.spending.accounts.set_aside(shop.bob.id) == (0, 0)
    assert left(shop.team, shop.bob.id) < DOLLAR


def test_an_answer_ends_when_nothing_is_left_to_go_on_with(shop: Shop) -> None:
    grant(shop, 0.25)
    shop.models.dear.enqueue(*(["word " * 800] * 10), paid(5.0))
    found = events(shop.models_of(shop.bob).model(DEAR.name))
    assert "was used up while this answer was written" in refusal(found)
    assert 1 < sum(isinstance(event, TextDelta) for event in found) < 10
    assert abs(left(shop.team, shop.bob.id)) <= DOLLAR // 10


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
    assert isinstance(found[-1], Done)
    assert shop.team.spending.ledger.sums("person")[0].dollars == round(0.07 * DOLLAR)
    assert "only members may ask" in refusal(events(dear))


def test_every_way_to_ask_is_refused_alike(shop: Shop) -> None:
    """Merges, reviews, fusions, summaries, bisections and side questions take their models from the same place."""
    chat = shop.of(shop.bob).create("Boats")
    chat.ask("Why do boats float?")
    side = chat.fork("side")
    side.ask("And stones?")
    chat.ask("And ice?")
    asked = len(shop.models.dear.requests)
    chat.say("And oil?")
    shop.team.spending.limits.set(shop.bob.id, "messages_a_day", 0, by=shop.ada.id)
    ways = (
        lambda: chat.ask("Again?", model=DEAR.name),
        lambda: chat.regenerate(chat.path()[-1].id, model=DEAR.name),
        lambda: chat.replies.start(model=DEAR.name),
        lambda: chat.plan_merge("side", strategy="squash", model=DEAR.name),
        lambda: chat.bisections.run("Which?", bool, model=DEAR.name),
    )
    for way in ways:
        with pytest.raises((NotAllowed, ModelError), match="may spend 0 messages a day"):
            way()
    assert len(shop.models.dear.requests) == asked


def test_too_many_questions_in_a_minute_are_refused_with_when_to_try_again(shop: Shop) -> None:
    shop.team.spending.limits.set(EVERYBODY, "requests_a_minute", 2, by=shop.ada.id)
    dear = shop.models_of(shop.bob).model(DEAR.name)
    assert [refusal(events(dear)) for _ in range(2)] == ["", ""]
    end = events(dear)[-1]
    assert isinstance(end, Failed) and end.failure.kind == "rate_limited"
    assert end.failure.retry_after is not None and 0 < end.failure.retry_after <= 60
    assert refusal(events(shop.models_of(shop.ada).model(DEAR.name))) == ""


def test_only_an_owner_reaches_the_models_behind_the_checks(shop: Shop) -> None:
    assert shop.models_of(shop.ada).catalogue().models() == shop.models.models()
    with pytest.raises(NotAllowed):
        shop.models_of(shop.bob).catalogue()


def test_alone_nothing_is_checked_and_nothing_is_kept() -> None:
    models = PricedModels()
    forky = Workspace(MemoryStore(), models)
    chat = forky.create("Boats")
    chat.ask("Why?")
    assert not isinstance(chat._session.models, GuardedModels) and len(models.dear.requests) == 1
    forky.close()


def test_of_many_calls_at_the_same_moment_only_those_leave_that_can_be_paid_for(shop: Shop) -> None:
    """Nothing of an answer that comes in one piece is counted before its end, so that its most is set aside."""
    grant(shop, 0.05)
    models, begun = shop.models_of(shop.bob), []
    for _ in range(100):
        with suppress(SpendingRefused):
            begun.append(models.begin(DEAR, question().messages, {}))
    assert len(begun) == 1 and left(shop.team, shop.bob.id) == 0
    begun[0].settle(0.01, arrived=True)
    short = {"max_tokens": 50}
    for _ in range(100):
        with suppress(SpendingRefused):
            begun.append(models.begin(DEAR, question().messages, short))
    assert 5 <= len(begun) - 1 <= 8, "half a cent each, of four that are left"
    for meter in begun[1:]:
        meter.settle(0.005, arrived=True)
    assert left(shop.team, shop.bob.id) >= -DOLLAR // 100


def test_a_quote_counts_the_question_and_the_longest_answers() -> None:
    words = ({"role": "user", "content": "x" * 400},)
    one = quote(DEAR, words, {})
    assert (one.question, one.step, one.messages) == (DOLLAR // 1000, LONGEST * DOLLAR // 10_000, 1)
    assert one.ahead == one.question + one.step
    able = replace(DEAR, max_output=2_000)
    assert quote(able, words, {}).step == quote(able, words, {"max_tokens": 9_000}).step == DOLLAR // 5
    for name in ("max_tokens", "max_completion_tokens"):
        assert quote(able, words, {name: 10}).step == quote(DEAR, words, {name: 10}).step == DOLLAR // 1000
    assert quote(able, words, {}, answers=3).step == 3 * DOLLAR // 5
    assert quote(OFFLINE, words, {}).messages == 0
    assert not quote(replace(DEAR, input_price=None), words, {}).priced
