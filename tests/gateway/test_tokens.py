from __future__ import annotations

import json

import pytest

from forky_core.gateway import token_spending
from forky_core.gateway.tokens import Tokens, amount
from forky_core.model.errors import BadContent, BadName, NameTaken, NotFound, NothingToDo
from forky_core.store.contract import Store
from forky_core.store.memory.store import MemoryStore
from forky_core.team.spending.amounts import NANO


@pytest.fixture
def store() -> Store:
    return MemoryStore()


def test_a_token_is_known_by_its_text_and_only_its_hash_is_kept(store: Store) -> None:
    made = Tokens(store).make("laptop")
    assert Tokens(store).of(made.text) == made.token
    kept = store.setting("gateway_tokens") or ""
    assert made.text not in kept
    assert made.token.sha256 in kept


def test_what_is_no_token_is_nobodys(store: Store) -> None:
    made = Tokens(store).make("laptop")
    for text in ("", "forky-", made.text[:-1], made.text + "x", "sk-abc", "\ud800"):
        assert Tokens(store).of(text) is None


def test_a_revoked_token_has_no_rights_and_keeps_its_line(store: Store) -> None:
    tokens = Tokens(store)
    made = tokens.make("laptop")
    tokens.revoke("laptop")
    assert tokens.of(made.text) is None
    assert [token.name for token in tokens.all() if token.revoked] == ["laptop"]
    with pytest.raises(NothingToDo):
        tokens.revoke(made.token.id)
    tokens.make("laptop")  # The name is free again.


def test_names_are_lines_and_not_taken(store: Store) -> None:
    tokens = Tokens(store)
    tokens.make("laptop")
    with pytest.raises(NameTaken):
        tokens.make(" laptop ")
    for name in ("", "   ", "x" * 61):
        with pytest.raises(BadName):
            tokens.make(name)
    with pytest.raises(NotFound):
        tokens.revoke("nobody")


@pytest.mark.parametrize("daily", [-1.0, float("nan"), float("inf")])
def test_a_limit_is_a_number_of_dollars(store: Store, daily: float) -> None:
    with pytest.raises(BadContent):
        Tokens(store).make("laptop", daily=daily)


@pytest.mark.parametrize(
    ("daily", "said"), [(0.00002, "$0.00002"), (5.0, "$5"), (0, "$0"), (12.5, "$12.5"), (250_000, "$250000")]
)
def test_a_limit_is_said_in_full(daily: float, said: str) -> None:
    assert amount(daily) == said


def test_a_token_may_use_the_models_it_names(store: Store) -> None:
    token = Tokens(store).make("laptop", models=["gpt-4o", " ollama/* ", ""]).token
    assert token.models == ("gpt-4o", "ollama/*")
    assert token.may_use("gpt-4o") and token.may_use("ollama/llama3:8b")
    assert not token.may_use("gpt-4o-mini") and not token.may_use("claude-sonnet-4-5")


def test_what_is_spent_counts_for_the_day(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens(store)
    one, two = tokens.make("one").token, tokens.make("two").token
    tokens.spend(one, 0.25)
    tokens.spend(one, 0.5)
    tokens.spend(two, 1.0)
    assert (tokens.spent_today(one), Tokens(store).spent_today(two)) == (0.75, 1.0)
    monkeypatch.setattr(token_spending, "today", lambda: "2999-01-01")
    assert tokens.spent_today(one) == 0.0
    tokens.spend(one, 0.125)
    assert tokens.spent_today(one) == 0.125


def test_what_is_spent_lasts_once_it_is_saved(store: Store) -> None:
    tokens = Tokens(store)
    one = tokens.make("one").token
    tokens.spend(one, 0.25)
    tokens.save_spending()
    later = MemoryStore()
    key = f"gateway_spent/{one.id}"
    later.set_setting(key, store.setting(key))
    assert Tokens(later).spent_today(one) == 0.25


def test_calls_at_once_never_set_the_same_money_aside(store: Store) -> None:
    tokens = Tokens(store)
    one = tokens.make("one", daily=1).token
    first, second = tokens.begin_call(one, NANO * 6 // 10), tokens.begin_call(one, NANO * 6 // 10)
    assert first is not None and second is not None
    assert tokens.begin_call(one, 1) is None, "the second one has the rest"
    assert tokens.spent_today(one) == 0
    first(0.25)
    second(0.0)
    assert tokens.spent_today(one) == 0.25
    third = tokens.begin_call(one, NANO * 6 // 10)
    assert third is not None
    third(0.875)
    assert tokens.spent_today(one) == 1.125, "what a call did cost is charged, whatever was set aside"
    assert tokens.begin_call(one, 1) is None


def test_a_call_over_midnight_is_charged_on_the_day_it_ends(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = Tokens(store)
    one = tokens.make("one", daily=1).token
    late = tokens.begin_call(one, NANO)
    assert late is not None and tokens.begin_call(one, NANO) is None
    monkeypatch.setattr(token_spending, "today", lambda: "2999-01-01")
    early = tokens.begin_call(one, NANO // 2)
    assert early is not None
    late(0.25)
    assert tokens.spent_today(one) == 0.25
    rest = tokens.begin_call(one, NANO)
    assert rest is not None and tokens.begin_call(one, 1) is None, "early still has its half"


def test_what_is_set_aside_is_not_saved_twice_and_a_spoilt_note_of_it_counts_nothing(store: Store) -> None:
    one = Tokens(store).make("one", daily=1).token
    store.set_setting(f"gateway_spent/{one.id}", '{"day": 7')
    charge = Tokens(store).begin_call(one, NANO)
    assert charge is not None
    charge(0.5)
    charge(0.5)
    assert Tokens(store).spent_today(one) == 0.5


def test_tokens_of_a_later_version_are_read(store: Store) -> None:
    made = Tokens(store).make("laptop")
    kept = json.loads(store.setting("gateway_tokens") or "")
    other = MemoryStore()
    other.set_setting("gateway_tokens", json.dumps([{**kept[0], "colour": "green"}]))
    assert Tokens(other).of(made.text) == made.token
