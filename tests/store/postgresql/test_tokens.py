"""Tokens of `/v1` in a PostgreSQL database that several processes use: their limits, and who is revoked."""

from __future__ import annotations

import subprocess

import pytest

from forky_core.conversation.allowance.account import LEASE, Allowance, SpendingRefused, Sum
from forky_core.conversation.allowance.amounts import NANO
from forky_core.conversation.allowance.book import Book
from forky_core.conversation.identity import now
from forky_core.gateway.tokens import Token, Tokens
from forky_core.model.errors import NameTaken, NothingToDo, StoreError
from forky_core.store.postgresql.store import PostgresStore
from tests.conversation.allowance.priced import asked
from tests.hangs import HANG, eventually
from tests.store.postgresql.other_process import begin, in_another_process, race
from tests.store.postgresql.server import only_read

PRICE = NANO // 10


def with_tokens(url: str, *lines: str) -> subprocess.Popen[str]:
    """Runs lines about `tokens`, as another process has them, once it gets a line of input."""
    before = (
        "from forky_core.conversation.allowance.account import SpendingRefused, Sum",
        "from forky_core.gateway.tokens import Tokens",
        "from forky_core.store.postgresql.store import PostgresStore",
        "from tests.conversation.allowance.priced import asked",
        f"store = PostgresStore.open({url!r})",
        "tokens = Tokens(store)",
    )
    return in_another_process(before, lines, ("tokens.book.save()", "store.close()"))


def limited(tokens: Tokens, dollars: int = NANO) -> Token:
    return tokens.make("laptop", allowance=Allowance(dollars_a_day=dollars, answers_in_all=1_000)).token


def test_two_processes_race_for_the_limit_of_a_token_and_never_exceed_it(
    store: PostgresStore, url: str
) -> None:
    tokens = Tokens(store)
    token = limited(tokens)
    lines = (
        "from concurrent.futures import ThreadPoolExecutor",
        "payer = tokens.spender(tokens.all()[0])",
        "def ask(_number):",
        "    try:",
        f"        call, _ = tokens.book.set_aside(payer, asked(0, {PRICE}))",
        "    except SpendingRefused:",
        "        return False",
        f"    tokens.book.settle(payer, call, Sum(1, {PRICE}))",
        "    return True",
        "with ThreadPoolExecutor(4) as pool:",
        "    print(sum(pool.map(ask, range(40))))",
    )
    answers = race(*(with_tokens(url, *lines) for _ in range(2)))
    assert sum(int(answer) for answer in answers) == 10
    assert tokens.account(token).today == tokens.account(token).in_all == Sum(10, NANO)
    with pytest.raises(SpendingRefused):
        tokens.book.set_aside(tokens.spender(token), asked(0, 1))


def test_what_two_processes_spend_without_a_limit_adds_up(store: PostgresStore, url: str) -> None:
    token = Tokens(store).make("laptop").token
    lines = (
        "payer = tokens.spender(tokens.all()[0])",
        "for _ in range(50):",
        f"    tokens.book.settle(payer, '', Sum(1, {NANO // 4}))",
    )
    race(*(with_tokens(url, *lines) for _ in range(2)))
    assert Tokens(store).account(token).today == Sum(100, 25 * NANO)


def test_what_a_process_that_was_killed_had_set_aside_is_free_when_its_lease_ends(
    store: PostgresStore, url: str
) -> None:
    tokens = Tokens(store)
    token = limited(tokens)
    dying = with_tokens(
        url,
        f"tokens.book.set_aside(tokens.spender(tokens.all()[0]), asked(0, {NANO * 3 // 4}))",
        "print('begun', flush=True)",
        "input()",
    )
    begin(dying)
    assert dying.stdout is not None and dying.stdout.readline() == "begun\n"
    dying.kill()
    dying.communicate(timeout=HANG)
    payer = tokens.spender(token)
    with pytest.raises(SpendingRefused, match=r"\$0\.25 of it is left"):
        tokens.book.set_aside(payer, asked(0, NANO // 2))
    late = Book(store, lambda: now() + LEASE)
    call, _ = late.set_aside(payer, asked(0, NANO))
    late.settle(payer, call, Sum(1, NANO // 4))
    assert tokens.account(token).in_all == Sum(1, NANO // 4) and tokens.account(token).held == Sum()


def test_what_another_process_makes_and_revokes_is_right_here_soon(store: PostgresStore, url: str) -> None:
    tokens = Tokens(store)
    made = tokens.make("laptop")
    assert tokens.of(made.text) == made.token
    other = with_tokens(url, "print(tokens.make('desktop').text)", f"tokens.revoke({made.token.id!r})")
    text = other.communicate("go\n", timeout=HANG)[0].strip()
    eventually(lambda: tokens.of(made.text) is None)
    eventually(lambda: tokens.of(text) is not None)
    with pytest.raises(NothingToDo):
        tokens.revoke("laptop")
    with pytest.raises(NameTaken):
        tokens.make("desktop")


def test_tokens_that_two_processes_make_at_once_are_all_there(store: PostgresStore, url: str) -> None:
    race(
        *(
            with_tokens(url, f"for number in range(10): tokens.make(f'{name} {{number}}')")
            for name in ("first", "second")
        )
    )
    assert len(Tokens(store).all()) == 20


def test_a_call_that_ends_while_the_database_cannot_be_written_is_charged_later(
    store: PostgresStore, url: str
) -> None:
    tokens = Tokens(store)
    one = limited(tokens)
    payer = tokens.spender(one)
    call, _ = tokens.book.set_aside(payer, asked(0, NANO // 2))
    with only_read(url):
        tokens.book.settle(payer, call, Sum(1, NANO // 4))
        with pytest.raises(StoreError):
            tokens.book.set_aside(payer, asked(0, NANO // 2))
    tokens.book.save()
    account = tokens.account(one)
    assert (account.today, account.held) == (Sum(1, NANO // 4), Sum())
