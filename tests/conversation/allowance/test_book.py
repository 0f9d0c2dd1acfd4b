"""Accounts: what is set aside, charged and given back, in any order, from many threads, and after a crash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from forky_core.conversation.allowance.account import LEASE, Account, Allowance, Hold, SpendingRefused, Sum
from forky_core.conversation.allowance.amounts import money, read_amount
from forky_core.conversation.allowance.book import Book, Spender
from forky_core.conversation.allowance.metering import Meter
from forky_core.conversation.allowance.quotes import LONGEST, quote
from forky_core.llm.contract import TextDelta
from forky_core.model.errors import BadContent, StoreError
from forky_core.store.contract import NewSetting
from forky_core.store.memory.store import MemoryStore
from tests.conversation.allowance.priced import DEAR, DOLLAR, OFFLINE, UNPRICED, asked
from tests.examples import examples
from tests.hangs import HANG
from tests.people.people import DAY, Clock


class SharedStore(MemoryStore):
    """A store that other processes might change, so that nothing is counted in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.is_exclusive = False


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=[MemoryStore, SharedStore], ids=["alone", "shared"])
def book(request: pytest.FixtureRequest, clock: Clock) -> Book:
    return Book(request.param(), clock)


def spender(key: str = "person/bob", **limits: Any) -> Spender:
    return Spender(key, "You", Allowance(**limits))


def refused(book: Book, who: Spender, **call: Any) -> SpendingRefused:
    with pytest.raises(SpendingRefused) as caught:
        book.set_aside(who, asked(**call))
    return caught.value


def test_the_most_is_set_aside_and_the_rest_is_given_back(book: Book) -> None:
    bob = spender(dollars_in_all=DOLLAR, answers_in_all=3)
    id, held = book.set_aside(bob, asked())
    assert held == DOLLAR // 100 + DOLLAR // 10
    account = book.account(bob)
    assert account.held == Sum(1, held) and account.left(bob.allowance, "dollars") == DOLLAR - held
    book.settle(bob, id, Sum(1, DOLLAR // 50))
    account = book.account(bob)
    assert account.held == Sum() and account.in_all == account.today == Sum(1, DOLLAR // 50)
    id, _ = book.set_aside(bob, asked())
    book.settle(bob, id, Sum())
    assert book.account(bob) == account, "a call of which nothing arrived costs nothing"


def test_a_call_that_can_cost_more_than_is_left_does_not_leave(book: Book) -> None:
    bob = spender(dollars_a_day=DOLLAR // 10)
    error = refused(book, bob)
    assert error.kind == "no_credit"
    assert str(error) == (
        "You may have $0.10 a day, $0.10 of it is left, and this call can cost $0.11: ask for a shorter answer "
        "(max_tokens) or a cheaper model."
    )
    assert book.set_aside(bob, asked(longest=DOLLAR // 20))[0]
    itself = replace(asked(), ends_itself=True)
    _, held = book.set_aside(bob, itself)
    assert held == DOLLAR // 25, "one that is ended where nothing is left may begin with what is"


def test_several_answers_at_once_need_room_for_all(book: Book) -> None:
    bob = spender(answers_in_all=2)
    said = str(refused(book, bob, answers=3))
    assert (
        said == "You may have 2 answers in all, 2 answers of it is left, and 3 were asked for: ask for fewer."
    )
    assert book.set_aside(bob, asked(answers=2))[0]


def test_day_and_in_all_answers_and_money_hold_each_for_itself(book: Book, clock: Clock) -> None:
    bob = spender(answers_a_day=2, dollars_a_day=DOLLAR, answers_in_all=3, dollars_in_all=10 * DOLLAR)

    def spend(dollars: int) -> None:
        id, _ = book.set_aside(bob, asked(0, dollars))
        book.settle(bob, id, Sum(1, dollars))

    spend(DOLLAR // 2)
    assert "You may have $1.00 a day, $0.50 of it is left" in str(refused(book, bob, longest=DOLLAR))
    spend(0)
    error = refused(book, bob, question=0, longest=0)
    assert str(error).startswith("You may have 2 answers a day, and today's is used up")
    assert error.retry_after is not None and 0 < error.retry_after <= 86_400
    clock.at += DAY
    spend(DOLLAR)
    error = refused(book, bob, question=0, longest=0)
    assert str(error) == "You may have 3 answers in all, and it is used up: an owner can raise it."
    assert error.retry_after is None
    assert book.account(bob).in_all == Sum(3, 3 * DOLLAR // 2)


def test_what_is_set_aside_for_running_calls_is_told_from_what_is_spent(book: Book) -> None:
    bob = spender(answers_a_day=1)
    id, _ = book.set_aside(bob, asked())
    error = refused(book, bob)
    assert "is set aside for calls that are being answered" in str(error) and error.retry_after == 5.0
    book.settle(bob, id, Sum())
    assert book.set_aside(bob, asked())[0]


def test_a_price_that_nobody_knows_needs_an_owners_word(book: Book) -> None:
    odd = quote(UNPRICED, (), {})
    with pytest.raises(SpendingRefused, match=r"What Odd costs is not known.*an owner can allow") as caught:
        book.set_aside(spender(dollars_a_day=DOLLAR), odd)
    assert caught.value.kind == "not_allowed"
    assert book.set_aside(spender("person/eve", answers_a_day=1), odd)[1] == 0
    allowed = spender("person/ada", dollars_a_day=0, answers_a_day=1, unpriced=True)
    assert book.set_aside(allowed, odd)[1] == 0
    with pytest.raises(SpendingRefused, match="1 answer a day"):
        book.set_aside(allowed, odd)


def test_offline_models_are_never_limited_and_free_ones_count_as_answers(book: Book) -> None:
    nothing = spender(answers_a_day=0, dollars_in_all=0)
    assert book.set_aside(nothing, quote(OFFLINE, (), {}))[1] == 0
    local = replace(DEAR, input_price=0.0, output_price=0.0)
    poor = spender("person/eve", dollars_in_all=0, answers_a_day=1)
    assert book.set_aside(poor, quote(local, (), {}))[1] == 0
    assert "1 answer a day" in str(refused(book, poor, question=0, longest=0))


def test_a_crash_leaves_nothing_set_aside_for_ever(clock: Clock) -> None:
    store = SharedStore()
    book, bob = Book(store, clock), spender(dollars_in_all=DOLLAR)
    silent, _ = book.set_aside(bob, asked())
    talking, _ = book.set_aside(bob, asked())
    clock.at += LEASE // 2
    assert book.renew(bob, talking, asked(), DOLLAR // 50) is not None
    clock.at += LEASE // 2 + 1
    assert book.account(bob).held == Sum(1, asked().most)
    assert book.account(bob).holds[silent].charged == Sum()
    clock.at += LEASE
    account = book.account(bob)
    assert account.held == Sum() and account.in_all == Sum(1, DOLLAR // 50)
    # A process that was only slow is charged what the call did cost, once.
    assert book.renew(bob, talking, asked(), DOLLAR // 40) is None
    for _ in range(2):
        book.settle(bob, talking, Sum(1, DOLLAR // 20))
        assert book.account(bob).in_all == Sum(1, DOLLAR // 20)
    clock.at += DAY
    assert book.account(bob).holds == {}


def test_a_restart_frees_what_the_process_before_had_set_aside(clock: Clock) -> None:
    store, bob = MemoryStore(), spender(dollars_in_all=DOLLAR)
    book = Book(store, clock)
    id, _ = book.set_aside(bob, asked())
    book.renew(bob, id, asked(), DOLLAR // 50)
    book.save()
    again = MemoryStore()
    again.set_setting(bob.setting, store.setting(bob.setting))
    account = Book(again, clock).account(bob)
    assert account.held == Sum() and account.in_all == Sum(1, DOLLAR // 50)


def test_a_restart_takes_nothing_back_of_a_call_whose_lease_had_ended(clock: Clock) -> None:
    store, bob = MemoryStore(), spender(dollars_in_all=DOLLAR)
    book = Book(store, clock)
    id, _ = book.set_aside(bob, asked())
    book.renew(bob, id, asked(), DOLLAR // 50)
    clock.at += LEASE
    other, _ = book.set_aside(bob, asked())
    book.settle(bob, other, Sum())
    book.save()
    again = MemoryStore()
    again.set_setting(bob.setting, store.setting(bob.setting))
    assert Book(again, clock).account(bob).in_all == Sum(1, DOLLAR // 50)


def test_what_is_spent_lasts_once_it_is_saved(clock: Clock) -> None:
    for kind in (MemoryStore, SharedStore):
        store, free = kind(), spender()
        book = Book(store, clock)
        for _ in range(3):
            book.settle(free, "", Sum(1, 5))
        assert book.account(free).today == Sum(3, 15)
        book.save()
        later = kind()
        later.set_setting(free.setting, store.setting(free.setting))
        assert Book(later, clock).account(free).in_all == Sum(3, 15)


def test_an_account_that_cannot_be_read_is_left_as_it_is_and_nothing_is_spent_from_it(book: Book) -> None:
    for text in ("", "{", "[]", '{"day": 7}', '{"day": "d", "today": [1], "in_all": "x", "holds": {}}'):
        assert Account.read(text) is None
    bob, free, eve = spender(answers_in_all=1), spender(), spender("person/eve")
    store, spoilt = book._store, '{"day": 7'
    store.set_setting(bob.setting, spoilt)
    with pytest.raises(StoreError, match=r"The account “allowance/person/bob” cannot be read"):
        book.account(bob)
    with pytest.raises(StoreError, match="cannot be read"):
        book.set_aside(bob, asked())
    book.settle(free, "", Sum(1, 5))
    book.settle(eve, "", Sum(1, 5))
    book.save()
    assert store.setting(bob.setting) == spoilt
    assert Account.read(store.setting(eve.setting) or "") == book.account(eve), "the others are charged"
    assert book.account(eve).in_all == Sum(1, 5)


def test_an_account_of_the_former_form_is_read() -> None:
    text = '{"day": "2026-11-26", "today": [1, 7], "in_all": [2, 9], "holds": {"a": [1, 50, 99, 3]}}'
    assert Account.read(text) == Account("2026-11-26", Sum(1, 7), Sum(2, 9), {"a": Hold(Sum(1, 50), 99, 3)})


@pytest.mark.parametrize("looked_at", [False, True])
def test_a_call_that_outlives_its_account_makes_no_new_one(book: Book, looked_at: bool) -> None:
    bob = spender(dollars_in_all=DOLLAR)
    id, _ = book.set_aside(bob, asked())
    book.save()
    book.forget([bob.key])
    if looked_at:
        assert book.renew(bob, id, asked(), DOLLAR) is None
    book.settle(bob, id, Sum(1, DOLLAR // 4))
    book.save()
    assert book._store.setting(bob.setting) is None
    assert book.account(bob).in_all == Sum()


def test_a_call_that_ends_while_its_account_is_removed_makes_no_new_one(clock: Clock) -> None:
    class Settling(MemoryStore):
        """A call ends just before an account is removed."""

        def settings_of(self, keys: Iterable[str]) -> Mapping[str, str]:
            found = super().settings_of(keys)
            book.settle(bob, id, Sum(1, 5))
            return found

    store, bob = Settling(), spender(dollars_in_all=DOLLAR)
    book = Book(store, clock)
    id, _ = book.set_aside(bob, asked())
    book.save()
    book.forget([bob.key])
    book.save()
    assert store.setting(bob.setting) is None


def test_a_call_over_midnight_is_charged_on_the_day_it_ends(book: Book, clock: Clock) -> None:
    bob = spender(dollars_a_day=DOLLAR)
    clock.at = clock.at // DAY * DAY + DAY - 1_000_000
    late, _ = book.set_aside(bob, asked(0, DOLLAR))
    clock.at += 2_000_000
    assert "is set aside" in str(refused(book, bob)), "what it can cost is the new day's"
    book.settle(bob, late, Sum(1, DOLLAR // 4))
    assert book.account(bob).today == Sum(1, DOLLAR // 4)


def test_fifty_threads_race_for_three_answers(book: Book) -> None:
    bob, begun = spender(answers_in_all=3), list[str]()

    def ask() -> None:
        try:
            id, _ = book.set_aside(bob, asked())
        except SpendingRefused:
            return
        begun.append(id)
        book.settle(bob, id, Sum(1, 1))

    threads = [Thread(target=ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert len(begun) == 3 and book.account(bob).in_all == Sum(3, 3)


def test_a_call_of_two_payers_is_paid_by_both_or_begun_by_neither(book: Book) -> None:
    token, bob = spender("token/1", dollars_a_day=DOLLAR), spender(answers_a_day=1)
    meter = Meter(book, (token, bob), asked())
    with pytest.raises(SpendingRefused):
        Meter(book, (token, bob), asked())
    assert book.account(token).held == Sum(1, asked().most), "the second call gave back what it had set aside"
    meter.sent()
    meter.settle(0.25)
    meter.settle(0.5)
    assert book.account(token).in_all == book.account(bob).in_all == Sum(1, DOLLAR // 4)


def test_an_answer_that_grows_sets_more_aside_until_nothing_is_left(book: Book) -> None:
    bob = spender(dollars_in_all=DOLLAR // 4)
    meter = Meter(book, (bob,), asked())
    meter.sent()
    while meter.go_on():
        meter.add([TextDelta("word " * 80)])
    assert DOLLAR // 4 < meter.arrived <= DOLLAR // 4 + DOLLAR // 100
    meter.settle()
    account = book.account(bob)
    assert account.held == Sum() and account.in_all.answers == 1
    assert account.left(bob.allowance, "dollars") == DOLLAR // 4 - account.in_all.dollars


def test_a_long_silent_call_keeps_its_lease(book: Book, clock: Clock) -> None:
    bob = spender(dollars_in_all=DOLLAR)
    meter = Meter(book, (bob,), asked())
    for _ in range(4):
        clock.at += LEASE // 2 + 1
        meter.add([TextDelta("word")])
        assert meter.go_on()
        assert book.account(bob).held.answers == 1
    meter.settle()
    assert book.account(bob).held == Sum()


@pytest.mark.parametrize(
    ("tokens", "failed", "dollars"),
    [(0, False, DOLLAR // 100), (0, True, None), (10, True, DOLLAR // 100 + DOLLAR // 1000)],
    ids=["left", "failed", "broken off"],
)
def test_a_question_that_was_sent_is_paid_for_unless_it_failed(
    book: Book, tokens: int, failed: bool, dollars: int | None
) -> None:
    bob = spender(dollars_in_all=DOLLAR)
    meter = Meter(book, (bob,), asked())
    meter.sent()
    meter.add([TextDelta("word" * tokens)])
    meter.settle(failed=failed)
    assert book.account(bob).in_all == (Sum(1, dollars) if dollars is not None else Sum())


def test_a_call_that_was_not_sent_costs_nothing(book: Book) -> None:
    bob = spender(dollars_in_all=DOLLAR // 5)
    meter = Meter(book, (bob,), asked())
    meter.add([TextDelta("word " * 10_000)])
    assert meter.go_on(), "nothing is set aside for a stored answer, however long it is"
    meter.settle(0.0)
    assert book.account(bob).in_all == book.account(bob).held == Sum()


def test_what_was_charged_before_the_database_broke_off_is_not_charged_again(clock: Clock) -> None:
    class Breaking(SharedStore):
        breaks = False

        def set_setting(self, key: str, value: NewSetting) -> str | None:
            changed = super().set_setting(key, value)
            if self.breaks:
                raise StoreError("The connection broke off.")
            return changed

    store, bob, free = Breaking(), spender(dollars_in_all=DOLLAR), spender("person/eve")
    book = Book(store, clock)
    id, _ = book.set_aside(bob, asked())
    store.breaks = True
    book.settle(bob, id, Sum(1, DOLLAR // 4))
    for _ in range(2):
        book.settle(free, "", Sum(1, 5))
        with pytest.raises(StoreError):
            book.save()
        assert book.account(bob).in_all == Sum(1, DOLLAR // 4)
    assert book.account(free).in_all == Sum(2, 10)
    store.breaks = False
    book.save()
    assert book.account(bob).in_all == Sum(1, DOLLAR // 4)
    assert book.account(free).in_all == Sum(2, 10)
    assert Account.read(store.setting(free.setting) or "") == book.account(free)


def test_an_account_knows_what_a_bounded_number_of_processes_added(clock: Clock) -> None:
    account = Account()
    for number in range(100):
        account = account.add(Sum(1), f"process-{number}", "1").add(Sum(1), f"process-{number}", "1")
    assert account.in_all == Sum(100) and len(account.added) == 64


def test_what_cannot_be_written_is_charged_later(clock: Clock) -> None:
    class Away(SharedStore):
        away = False

        def set_setting(self, key: str, value: NewSetting) -> str | None:
            if self.away:
                raise StoreError("The database is away.")
            return super().set_setting(key, value)

    store, bob = Away(), spender(dollars_in_all=DOLLAR)
    book = Book(store, clock)
    id, _ = book.set_aside(bob, asked())
    store.away = True
    book.settle(bob, id, Sum(1, DOLLAR // 4))
    with pytest.raises(StoreError):
        book.set_aside(bob, asked())
    with pytest.raises(StoreError):
        book.save()
    store.away = False
    book.save()
    account = book.account(bob)
    assert (account.in_all, account.held) == (Sum(1, DOLLAR // 4), Sum())


def test_a_quote_counts_the_question_and_the_longest_answers() -> None:
    words = ({"role": "user", "content": "x" * 400},)
    one = quote(DEAR, words, {})
    assert (one.question, one.longest, one.answers) == (DOLLAR // 1000, LONGEST * DOLLAR // 10_000, 1)
    assert one.most == one.question + one.longest
    able = replace(DEAR, max_output=2_000)
    assert quote(able, words, {}).longest == quote(able, words, {"max_tokens": 9_000}).longest == DOLLAR // 5
    for name in ("max_tokens", "max_completion_tokens"):
        short = quote(able, words, {name: 10}).longest
        assert short == quote(DEAR, words, {name: 10}).longest == DOLLAR // 1000
    for unknown in (
        {"max_tokens": True},
        {"max_tokens": 50.0},
        {"max_tokens": "50"},
        {"max_tokens": -1},
        {"max_output_tokens": 1},
    ):
        assert quote(able, words, unknown).longest == DOLLAR // 5, "nobody knows how a provider reads it"
    both = {"max_tokens": 100, "max_completion_tokens": 1}
    assert quote(able, words, both).longest == DOLLAR // 100, "the larger one may be the one that counts"
    assert quote(able, words, {}, answers=3).longest == 3 * DOLLAR // 5
    assert quote(OFFLINE, words, {}).answers == 0
    assert not quote(replace(DEAR, input_price=None), words, {}).priced


@pytest.mark.parametrize("text", ["-5", "nan", "inf", "1e400", "much", "0.0000000001", "9999999999", ""])
def test_amounts_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(BadContent):
        read_amount("dollars", text)


@pytest.mark.parametrize(
    ("text", "said"), [("$2.50", "$2.50"), ("0.00002", "$0.000020"), ("250,000", "$250,000.00")]
)
def test_money_is_read_and_written(text: str, said: str) -> None:
    assert money(read_amount("dollars", text)) == said


class AnyOrder(RuleBasedStateMachine):
    """Two books over one store, as two processes have it, against plain numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        store = SharedStore()
        self.books = [Book(store, self.clock), Book(store, self.clock)]
        self.bob = spender(answers_a_day=6, dollars_a_day=900, answers_in_all=40, dollars_in_all=4_000)
        self.spent: list[tuple[int, Sum]] = []
        self.open: list[tuple[str, int, int]] = []

    def used(self, *, today: bool) -> Sum:
        day = self.clock.at // DAY
        return sum((cost for of, cost in self.spent if not today or of == day), Sum())

    def left(self, unit: str) -> int:
        limits = self.bob.allowance
        held = Sum(sum(answers for _, _, answers in self.open), sum(most for _, most, _ in self.open))
        today, in_all = self.used(today=True), self.used(today=False)
        if unit == "answers":
            day, ever = (
                (limits.answers_a_day or 0) - today.answers,
                (limits.answers_in_all or 0) - in_all.answers,
            )
            return min(day, ever) - held.answers
        day, ever = (limits.dollars_a_day or 0) - today.dollars, (limits.dollars_in_all or 0) - in_all.dollars
        return min(day, ever) - held.dollars

    @rule(
        process=st.integers(0, 1),
        question=st.integers(0, 100),
        longest=st.integers(0, 300),
        answers=st.integers(1, 3),
    )
    def begin(self, process: int, question: int, longest: int, answers: int) -> None:
        fits = self.left("answers") >= answers and max(0, self.left("dollars")) >= question + longest
        try:
            id, held = self.books[process].set_aside(self.bob, asked(question, longest, answers))
        except SpendingRefused:
            assert not fits
            return
        assert fits and held == question + longest
        self.open.append((id, held, answers))

    @precondition(lambda self: self.open)
    @rule(process=st.integers(0, 1), share=st.integers(0, 4), data=st.data())
    def settle(self, process: int, share: int, data: st.DataObject) -> None:
        id, held, answers = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        cost = Sum(answers, held * share // 4) if share else Sum()
        for book in (self.books[process], *self.books):
            book.settle(self.bob, id, cost)
        self.spent.append((self.clock.at // DAY, cost))

    @precondition(lambda self: self.open)
    @rule(process=st.integers(0, 1), more=st.integers(0, 200), data=st.data())
    def grow(self, process: int, more: int, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.open) - 1))
        id, held, answers = self.open[at]
        left = max(0, self.left("dollars"))
        now = self.books[process].renew(self.bob, id, asked(0, 0, answers), held + more)
        assert now == (held + more if more <= left else None)
        if now is not None:
            self.open[at] = (id, now, answers)

    @precondition(lambda self: self.open)
    @rule()
    def crash(self) -> None:
        """Every call that is being answered is lost, with nothing of it noted."""
        self.clock.at += LEASE
        for id, _, answers in self.open:
            arrived = self.books[0]._stored(self.bob).holds[id].arrived
            self.spent.append((self.clock.at // DAY, Sum(answers if arrived else 0, arrived)))
        self.open.clear()

    @rule()
    def next_day(self) -> None:
        if not self.open:
            self.clock.at += DAY

    @invariant()
    def the_account_is_what_was_done(self) -> None:
        for book in self.books:
            account = book.account(self.bob)
            assert (account.today, account.in_all) == (self.used(today=True), self.used(today=False))
            assert account.held == Sum(
                sum(answers for _, _, answers in self.open), sum(most for _, most, _ in self.open)
            )
            assert account.in_all.dollars <= 4_000 and account.in_all.answers <= 40


AnyOrder.TestCase.settings = settings(
    max_examples=examples(40), stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
test_accounts_in_any_order = AnyOrder.TestCase
