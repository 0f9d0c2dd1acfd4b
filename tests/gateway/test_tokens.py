from __future__ import annotations

import json

import pytest

from forky_core.conversation.allowance.account import Allowance, Sum, day_of
from forky_core.conversation.allowance.amounts import NANO
from forky_core.conversation.identity import now
from forky_core.gateway.tokens import Tokens
from forky_core.model.errors import BadContent, BadName, NameTaken, NotFound, NothingToDo
from forky_core.store.contract import Store
from forky_core.store.memory.store import MemoryStore


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


@pytest.mark.parametrize(
    "limits",
    [{"dollars_a_day": -1}, {"dollars_in_all": 10**18}, {"answers_a_day": -1}, {"answers_in_all": 10**12}],
)
def test_a_limit_is_a_number_that_makes_sense(store: Store, limits: dict[str, int]) -> None:
    with pytest.raises(BadContent):
        Tokens(store).make("laptop", allowance=Allowance(**limits))  # type: ignore[arg-type]


def test_a_token_may_use_the_models_it_names(store: Store) -> None:
    token = Tokens(store).make("laptop", models=["gpt-4o", " ollama/* ", ""]).token
    assert token.models == ("gpt-4o", "ollama/*")
    assert token.may_use("gpt-4o") and token.may_use("ollama/llama3:8b")
    assert not token.may_use("gpt-4o-mini") and not token.may_use("claude-sonnet-4-5")


def test_a_token_keeps_both_its_limits_of_a_day_and_in_all(store: Store) -> None:
    limits = Allowance(20, 2 * NANO, 100, 5 * NANO, unpriced=True)
    made = Tokens(store).make("laptop", allowance=limits)
    assert made.token.allowance == limits
    kept = Tokens(store).of(made.text)
    assert kept is not None and (kept.allowance, kept.daily, kept.dollars_in_all) == (limits, 2.0, 5.0)
    assert Tokens(store).make("free").token.allowance == Allowance(unpriced=True)


def test_a_token_of_an_earlier_version_goes_on_from_what_it_had_spent(store: Store) -> None:
    """As that version stored a token with a limit, and what it had spent."""
    made = Tokens(store).make("laptop", allowance=Allowance(dollars_a_day=5 * NANO))
    entry = json.loads(store.setting("gateway_tokens") or "")[0]
    for later in ("answers", "dollars_in_all", "answers_in_all"):
        del entry[later]
    other = MemoryStore()
    other.set_setting("gateway_tokens", json.dumps([entry]))
    spent = {"day": day_of(now()), "spent": 2 * NANO, "set_aside": {"0123": NANO}}
    other.set_setting(f"gateway_spent/{made.token.id}", json.dumps(spent))
    token = Tokens(other).of(made.text)
    assert token is not None and token.allowance == Allowance(dollars_a_day=5 * NANO)
    account = Tokens(other).account(token)
    assert account.today == account.in_all == Sum(0, 3 * NANO) and account.held == Sum()
    other.set_setting(f"gateway_spent/{made.token.id}", '{"day": 7')
    assert Tokens(MemoryStore()).account(token).in_all == Sum()


def test_tokens_of_a_later_version_are_read(store: Store) -> None:
    made = Tokens(store).make("laptop")
    kept = json.loads(store.setting("gateway_tokens") or "")
    other = MemoryStore()
    other.set_setting("gateway_tokens", json.dumps([{**kept[0], "colour": "green"}]))
    assert Tokens(other).of(made.text) == made.token
