"""Tokens of `/v1` in a PostgreSQL database that several processes use: their limits, and who is revoked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import psycopg
import pytest

from forky_core.gateway.tokens import Tokens
from forky_core.model.errors import NameTaken, NothingToDo, StoreError
from forky_core.store.postgresql.store import PostgresStore
from forky_core.team.spending.amounts import NANO
from tests.hangs import HANG, eventually
from tests.store.postgresql.other_process import begin, in_another_process, race

PRICE = NANO // 10


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(url) as opened:
        yield opened


def with_tokens(url: str, *lines: str) -> subprocess.Popen[str]:
    """Runs lines about `tokens`, as another process has them, once it gets a line of input."""
    before = (
        "from forky_core.gateway.tokens import Tokens",
        "from forky_core.store.postgresql.store import PostgresStore",
        f"store = PostgresStore.open({url!r})",
        "tokens = Tokens(store)",
    )
    return in_another_process(before, lines, ("tokens.save_spending()", "store.close()"))


def test_two_processes_race_for_the_limit_of_a_token_and_never_exceed_it(
    store: PostgresStore, url: str
) -> None:
    made = Tokens(store).make("laptop", daily=1)
    lines = (
        "from concurrent.futures import ThreadPoolExecutor",
        f"token = tokens.of({made.text!r})",
        "def ask(_number):",
        f"    charge = tokens.begin_call(token, {PRICE})",
        "    if charge is not None:",
        f"        charge({PRICE / NANO})",
        "    return charge is not None",
        "with ThreadPoolExecutor(4) as pool:",
        "    print(sum(pool.map(ask, range(40))))",
    )
    answers = race(*(with_tokens(url, *lines) for _ in range(2)))
    assert sum(int(answer) for answer in answers) == 10
    assert Tokens(store).spent_today(made.token) == 1
    assert Tokens(store).begin_call(made.token, 1) is None


def test_what_two_processes_spend_without_a_limit_adds_up(store: PostgresStore, url: str) -> None:
    made = Tokens(store).make("laptop")
    lines = (f"token = tokens.of({made.text!r})", "for _ in range(50):", "    tokens.spend(token, 0.25)")
    race(*(with_tokens(url, *lines) for _ in range(2)))
    assert Tokens(store).spent_today(made.token) == 25


def test_what_a_process_that_was_killed_had_set_aside_is_not_spent_again(
    store: PostgresStore, url: str
) -> None:
    tokens = Tokens(store)
    made = tokens.make("laptop", daily=1)
    dying = with_tokens(
        url,
        f"charge = tokens.begin_call(tokens.of({made.text!r}), {NANO * 3 // 4})",
        "print(charge is not None, flush=True)",
        "input()",
    )
    begin(dying)
    assert dying.stdout is not None and dying.stdout.readline() == "True\n"
    dying.kill()
    dying.communicate(timeout=HANG)
    charge = tokens.begin_call(made.token, NANO)
    assert charge is not None, "a quarter is left"
    assert tokens.begin_call(made.token, 1) is None
    charge(0.25)
    assert tokens.spent_today(made.token) == 0.25 and tokens.begin_call(made.token, 1) is None


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
    one = tokens.make("laptop", daily=1).token
    charge = tokens.begin_call(one, NANO // 2)
    assert charge is not None
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        connection.execute(cut)
        charge(0.25)
        with pytest.raises(StoreError):
            tokens.begin_call(one, NANO // 2)
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        connection.execute(cut)
    tokens.save_spending()
    assert tokens.spent_today(one) == 0.25
    kept = json.loads(store.setting(f"gateway_spent/{one.id}") or "{}")
    assert kept["set_aside"] == {}
