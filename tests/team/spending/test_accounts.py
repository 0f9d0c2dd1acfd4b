"""Balances: what is granted, set aside, charged and freed, in any order and from several processes at once."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from forky_core.model.errors import BadContent, NotFound, NothingToDo
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.spending.accounts import LEASE, Hold
from forky_core.team.spending.amounts import MOST_DOLLARS, Unit
from forky_core.team.spending.limits import EVERYBODY
from forky_core.team.spending.refusals import SpendingRefused
from forky_core.team.team import Team
from tests.examples import examples
from tests.hangs import HANG
from tests.programs import CHECKOUT
from tests.team.people import DAY, Clock
from tests.team.spending.priced import DOLLAR, asked, left


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def team(clock: Clock) -> Iterator[Team]:
    opened = Team(None, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def bob(team: Team) -> Member:
    team.members.add("Ada", Role.OWNER)
    return team.members.add("Bob", Role.EDITOR)


def grant(team: Team, person: Member, amount: int, unit: Unit = "dollars") -> None:
    team.spending.accounts.grant(person.id, unit, amount, by="")


def test_whoever_was_granted_nothing_spends_as_before_and_is_counted(team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    hold = accounts.reserve(bob.id, asked())
    assert hold.id == "" and accounts.set_aside(bob.id) == (0, 0)
    accounts.settle(hold, DOLLAR // 20, arrived=True)
    assert accounts.spent_today(bob.id) == (DOLLAR // 20, 1)
    assert accounts.balances(bob.id) == {}


def test_a_call_sets_aside_what_it_may_cost_and_is_charged_what_it_did(team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    grant(team, bob, DOLLAR)
    hold = accounts.reserve(bob.id, asked(0.01, 0.1))
    assert left(team, bob.id) == DOLLAR - round(0.11 * DOLLAR)
    accounts.settle(hold, round(0.03 * DOLLAR), arrived=True)
    assert left(team, bob.id) == round(0.97 * DOLLAR)
    assert accounts.balances(bob.id)["dollars"].granted == DOLLAR


def test_a_call_of_which_nothing_arrived_costs_nothing(team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    grant(team, bob, DOLLAR)
    grant(team, bob, 3, "messages")
    accounts.settle(accounts.reserve(bob.id, asked()), DOLLAR, arrived=False)
    assert left(team, bob.id) == DOLLAR and accounts.balances(bob.id)["messages"].amount == 3
    assert accounts.spent_today(bob.id) == (0, 0)


def test_at_zero_it_is_refused_with_what_to_do(team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    grant(team, bob, 1, "messages")
    accounts.settle(accounts.reserve(bob.id, asked()), None, arrived=True)
    with pytest.raises(
        SpendingRefused, match=r"Your balance of 1 message is used up\. Ask an owner to top it up"
    ) as refused:
        accounts.reserve(bob.id, asked())
    assert refused.value.kind == "no_credit" and refused.value.retry_after is None
    accounts.grant(bob.id, "messages", 1, by="")
    assert accounts.reserve(bob.id, asked()).id


def test_a_question_that_is_dearer_than_what_is_left_says_so(team: Team, bob: Member) -> None:
    grant(team, bob, DOLLAR // 100)
    with pytest.raises(SpendingRefused, match=r"would cost about \$0.05, and \$0.01 is left"):
        team.spending.accounts.reserve(bob.id, asked(0.05))


def test_what_is_set_aside_elsewhere_is_told_from_what_is_spent(team: Team, bob: Member) -> None:
    grant(team, bob, 1, "messages")
    hold = team.spending.accounts.reserve(bob.id, asked())
    with pytest.raises(SpendingRefused, match="set aside for answers that are being written") as refused:
        team.spending.accounts.reserve(bob.id, asked())
    assert refused.value.retry_after
    team.spending.accounts.settle(hold, None, arrived=False)
    assert team.spending.accounts.reserve(bob.id, asked()).id


def test_a_day_has_its_own_limit_and_a_new_one_begins_at_midnight(
    team: Team, bob: Member, clock: Clock
) -> None:
    accounts = team.spending.accounts
    team.spending.limits.set(EVERYBODY, "messages_a_day", 1, by="")
    accounts.settle(accounts.reserve(bob.id, asked()), None, arrived=True)
    with pytest.raises(SpendingRefused, match="You may spend 1 message a day") as refused:
        accounts.reserve(bob.id, asked())
    assert refused.value.retry_after is not None and 0 < refused.value.retry_after <= 86_400
    clock.at += DAY
    assert accounts.reserve(bob.id, asked()).id


def test_a_limit_of_ones_own_counts_instead_of_everybodys(team: Team, bob: Member) -> None:
    limits = team.spending.limits
    limits.set(EVERYBODY, "dollars_a_day", 0, by="")
    assert limits.of(bob.id).dollars_a_day == 0
    limits.set(bob.id, "dollars_a_day", None, by="")
    assert limits.of(bob.id).dollars_a_day is None
    assert team.spending.accounts.reserve(bob.id, asked()).id == ""
    limits.unset(bob.id, "dollars_a_day", by="")
    with pytest.raises(SpendingRefused):
        team.spending.accounts.reserve(bob.id, asked())


def test_where_credit_is_needed_nobody_spends_without_a_grant(team: Team, bob: Member) -> None:
    team.spending.limits.set(EVERYBODY, "needs_credit", 1, by="")
    with pytest.raises(SpendingRefused, match=r"You have no credit here yet\. Ask an owner"):
        team.spending.accounts.reserve(bob.id, asked())
    grant(team, bob, DOLLAR)
    assert team.spending.accounts.reserve(bob.id, asked()).id


def test_an_unknown_person_may_not_spend(team: Team, bob: Member) -> None:
    for person in ("person:0123456789abcdef", "", "Bob", bob.id.upper()):
        with pytest.raises(SpendingRefused, match="only members may ask models"):
            team.spending.accounts.reserve(person, asked())
        with pytest.raises(NotFound):
            team.spending.accounts.grant(person, "dollars", DOLLAR, by="")
    team.members.remove(bob.id, by="")
    with pytest.raises(SpendingRefused, match="only members may ask models"):
        team.spending.accounts.reserve(bob.id, asked())


@pytest.mark.parametrize("amount", [0, -1, -DOLLAR, MOST_DOLLARS + 1])
def test_a_grant_is_above_zero_and_not_without_end(team: Team, bob: Member, amount: int) -> None:
    with pytest.raises(BadContent, match="A grant is more than zero"):
        grant(team, bob, amount)
    with pytest.raises(BadContent if amount <= 0 else NothingToDo):
        team.spending.accounts.take_back(bob.id, "dollars", amount, by="")
    assert team.spending.accounts.balances(bob.id) == {}


def test_grants_do_not_overflow(team: Team, bob: Member) -> None:
    grant(team, bob, MOST_DOLLARS)
    with pytest.raises(BadContent, match="at most"):
        grant(team, bob, 1)


def test_only_what_is_left_can_be_taken_back(team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    grant(team, bob, DOLLAR)
    accounts.reserve(bob.id, asked(0.5, 0.0))
    with pytest.raises(NothingToDo, match=r"Only \$0.50 can be taken back"):
        accounts.take_back(bob.id, "dollars", DOLLAR, by="")
    assert accounts.take_back(bob.id, "dollars", DOLLAR // 2, by="").granted == DOLLAR // 2
    accounts.end(bob.id, by="")
    assert accounts.balances(bob.id) == {}
    with pytest.raises(NothingToDo):
        accounts.end(bob.id, by="")


def test_what_a_dead_process_set_aside_is_charged_with_what_had_arrived_and_freed(
    team: Team, bob: Member, clock: Clock
) -> None:
    accounts = team.spending.accounts
    grant(team, bob, DOLLAR)
    silent, talking = accounts.reserve(bob.id, asked()), accounts.reserve(bob.id, asked())
    talking.used, talking.arrived = round(0.02 * DOLLAR), True
    accounts.show_life([talking])
    clock.at += (LEASE + 1) * 1_000_000
    accounts.reserve(bob.id, asked(0.0, 0.0))
    assert left(team, bob.id) == round(0.98 * DOLLAR)
    # A process that was only slow is charged what the call did cost, once.
    accounts.settle(talking, round(0.05 * DOLLAR), arrived=True)
    accounts.settle(silent, round(0.01 * DOLLAR), arrived=True)
    assert left(team, bob.id) == round(0.94 * DOLLAR)


def test_a_long_answer_sets_more_aside_until_nothing_is_left(team: Team, bob: Member) -> None:
    accounts = team.spending.accounts
    grant(team, bob, round(0.25 * DOLLAR))
    hold = accounts.reserve(bob.id, asked(0.01, 0.1))
    hold.used = round(0.12 * DOLLAR)
    assert accounts.extend(hold) and hold.dollars == round(0.21 * DOLLAR)
    hold.used = round(0.22 * DOLLAR)
    assert accounts.extend(hold) and hold.dollars == round(0.25 * DOLLAR)
    hold.used = round(0.26 * DOLLAR)
    assert not accounts.extend(hold)


def test_a_model_without_a_known_price_is_refused_or_counted_by_messages(team: Team, bob: Member) -> None:
    accounts, limits = team.spending.accounts, team.spending.limits
    odd = asked(0.0, 0.0)
    odd = type(odd)("odd", "Odd", False, 0, 0, 1, 0.0)
    assert accounts.reserve(bob.id, odd).id == ""
    grant(team, bob, DOLLAR)
    with pytest.raises(SpendingRefused, match=r"What Odd costs is not known"):
        accounts.reserve(bob.id, odd)
    limits.set(bob.id, "counts_unpriced", 1, by="")
    with pytest.raises(SpendingRefused, match=r"What Odd costs is not known"):
        accounts.reserve(bob.id, odd)  # Nothing limits their messages.
    limits.set(bob.id, "messages_a_day", 2, by="")
    accounts.settle(accounts.reserve(bob.id, odd), None, arrived=True)
    assert left(team, bob.id) == DOLLAR and accounts.spent_today(bob.id) == (0, 1)


def test_the_audit_log_says_who_granted_what_to_whom(team: Team, bob: Member) -> None:
    ada = team.members.all()[0]
    team.spending.accounts.grant(bob.id, "dollars", 5 * DOLLAR, by=ada.id)
    entry = team.audit.page(1, 1)[0]
    assert (entry.event, entry.person) == ("credit granted", ada.id)
    assert bob.id in entry.about and "$5.00" in entry.about


class AnyOrder(RuleBasedStateMachine):
    """Two open copies of one file, as two processes have it, against plain numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.teams = [Team(self.folder / "people.sqlite", clock=self.clock) for _ in range(2)]
        self.bob = self.teams[0].members.add("Bob", Role.OWNER).id
        self.granted = {"dollars": 0, "messages": 0}
        self.charged = {"dollars": 0, "messages": 0}
        self.open: list[tuple[int, Hold]] = []

    def teardown(self) -> None:
        for team in self.teams:
            team.close()
        shutil.rmtree(self.folder)

    @property
    def on_credit(self) -> set[str]:
        return {unit for unit, amount in self.granted.items() if amount}

    def held(self, unit: str) -> int:
        return sum(hold.dollars if unit == "dollars" else hold.quote.messages for _, hold in self.open)

    def available(self, unit: str) -> int:
        return self.granted[unit] - self.charged[unit] - self.held(unit)

    @rule(
        process=st.integers(0, 1), unit=st.sampled_from(["dollars", "messages"]), amount=st.integers(1, 500)
    )
    def grant(self, process: int, unit: Unit, amount: int) -> None:
        self.teams[process].spending.accounts.grant(self.bob, unit, amount, by="")
        self.granted[unit] += amount

    @rule(process=st.integers(0, 1), question=st.integers(0, 100), step=st.integers(0, 300))
    def reserve(self, process: int, question: int, step: int) -> None:
        quote = asked(0, 0)
        quote = type(quote)("dear/one", "Dear", True, question, step, 1, 0.0)
        fits = ("messages" not in self.on_credit or self.available("messages") >= 1) and (
            "dollars" not in self.on_credit
            or question + step == 0
            or (self.available("dollars") > 0 and self.available("dollars") >= question)
        )
        try:
            hold = self.teams[process].spending.accounts.reserve(self.bob, quote)
        except SpendingRefused:
            assert not fits
            return
        assert fits
        if hold.id:
            self.open.append((process, hold))
        else:
            self.teams[process].spending.accounts.settle(hold, 0, arrived=False)

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 100), other=st.booleans(), share=st.floats(0, 1), arrived=st.booleans())
    def settle(self, which: int, other: bool, share: float, arrived: bool) -> None:
        process, hold = self.open.pop(which % len(self.open))
        cost = int(hold.dollars * share)
        self.teams[process ^ other].spending.accounts.settle(hold, cost, arrived=arrived)
        if arrived:
            self.charged["dollars"] += cost if "dollars" in self.on_credit else 0
            self.charged["messages"] += 1 if "messages" in self.on_credit else 0

    @precondition(lambda self: self.open)
    @rule(process=st.integers(0, 1), which=st.integers(0, 100))
    def extend(self, process: int, which: int) -> None:
        _, hold = self.open[which % len(self.open)]
        before, room = hold.dollars, self.available("dollars")
        hold.used = before + 1
        went_on = self.teams[process].spending.accounts.extend(hold)
        if "dollars" in self.on_credit:
            assert went_on == (room > 0)
            assert hold.dollars - before <= max(0, room)

    @rule(seconds=st.integers(1, 2 * LEASE), alive=st.booleans())
    def wait(self, seconds: int, alive: bool) -> None:
        """Time passes; the processes show that they are alive, or have died and start anew."""
        if alive:
            for process, team in enumerate(self.teams):
                team.spending.accounts.show_life([hold for owner, hold in self.open if owner == process])
            self.clock.at += min(seconds, LEASE - 1) * 1_000_000
            for process, team in enumerate(self.teams):
                team.spending.accounts.show_life([hold for owner, hold in self.open if owner == process])
        else:
            self.clock.at += 2 * LEASE * 1_000_000
            self.open.clear()
            with self.teams[0].database.writing() as connection:
                self.teams[0].spending.accounts._end_expired(connection)

    @invariant()
    def nothing_is_spent_twice(self) -> None:
        accounts = self.teams[0].spending.accounts
        balances = accounts.balances(self.bob)
        for unit in self.on_credit:
            assert balances[unit].amount == self.granted[unit] - self.charged[unit]  # type: ignore[index]
            assert balances[unit].amount >= 0  # type: ignore[index]
        assert accounts.set_aside(self.bob) == (self.held("dollars"), self.held("messages"))


AnyOrder.TestCase.settings = settings(
    max_examples=examples(25), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestAnyOrder = AnyOrder.TestCase

_RACER = """
import sys, threading
from pathlib import Path
from forky_core.team.spending.refusals import SpendingRefused
from forky_core.team.team import Team
from tests.team.spending.priced import asked

team, bob, won = Team(Path(sys.argv[1])), sys.argv[2], []
print("ready", flush=True)
sys.stdin.readline()

def ask():
    try:
        hold = team.spending.accounts.reserve(bob, asked())
    except SpendingRefused:
        return
    won.append(hold)
    team.spending.accounts.settle(hold, 1_000, arrived=True)

threads = [threading.Thread(target=ask) for _ in range(25)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(won), flush=True)
team.close()
"""


def test_fifty_calls_of_two_processes_race_for_a_balance_of_three_messages(tmp_path: Path) -> None:
    file = tmp_path / "people.sqlite"
    team = Team(file)
    bob = team.members.add("Bob", Role.OWNER)
    team.spending.accounts.grant(bob.id, "messages", 3, by="")
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _RACER, str(file), bob.id],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
    answers = [racer.communicate("go\n", timeout=HANG)[0] for racer in racers]
    assert sum(int(answer) for answer in answers) == 3
    assert team.spending.accounts.balances(bob.id)["messages"].amount == 0
    assert team.spending.accounts.set_aside(bob.id) == (0, 0)
    assert team.spending.ledger.total().messages == 3
    team.close()
