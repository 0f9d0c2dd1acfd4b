"""Settings as a person uses it; and a key that is typed there is found nowhere afterwards."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens
from forky_core.llm import loading
from forky_core.llm.catalogue import Catalogue
from forky_core.store.analysis.query import ask, opened
from pages.ui.registry import pages
from pages.ui.secrets import read_secrets
from tests.builders import talk
from tests.pages.apptest import by_key, keys, press, said, settled
from tests.pages.workspaces import empty_workspace, open_page
from tests.store.postgresql.server import TEMPLATE, Server

KEY = "sk-made-up-0123456789abcdefNEVERSHOWN"


def settings() -> AppTest:
    return settled(open_page("settings.py"))


def test_it_says_which_keys_are_missing_who_is_looked_for_and_where_all_is_kept(forky: Forky) -> None:
    test = settings()
    for part in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "CEREBRAS_API_KEY", "the offline models answer"):
        assert part in said(test)
    assert "`FORKY_PROBE` is off" in said(test)
    assert "memory only" in said(test) and "settings.backup" not in keys(test)


def test_the_offline_models_are_not_said_to_answer_where_another_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with empty_workspace(monkeypatch, FORKY_MODEL="my-server/llama"):
        told = said(settings())
    assert "No key is set." in told and "the offline models answer" not in told


def test_the_offline_model_is_tested_with_one_press(forky: Forky) -> None:
    test = settings()
    by_key(test, "settings.test.offline").click().run()
    assert "It answered" in said(settled(test))


def test_a_chosen_default_answers_from_then_on(forky: Forky) -> None:
    test = settings()
    by_key(test, "settings.default").select("offline/digest").run()
    assert forky.models.default() == "offline/digest"
    by_key(settled(test), "settings.default").select("").run()
    assert forky.models.default() == "offline/quote"


def test_what_the_environment_decides_cannot_be_chosen_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with empty_workspace(monkeypatch, FORKY_MODEL="offline/digest"):
        assert by_key(settings(), "settings.default").disabled


def test_a_key_is_used_and_forgotten_on_request(forky: Forky, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_thread", None)
    test = settings()
    by_key(test, "settings.key.openai").set_value(KEY)
    by_key(test, "settings.save.openai").click().run()
    assert "Key entered here" in said(settled(test))
    assert loading._thread is not None, "the first question would wait for LiteLLM"
    assert forky.models.default().startswith("gpt") or "openai" in forky.models.default()
    by_key(test, "settings.forget.openai").click().run()
    assert "Key entered here" not in said(settled(test))
    assert forky.models.default() == "offline/quote"


def test_a_key_that_cannot_be_one_is_refused_in_a_sentence(forky: Forky) -> None:
    test = settings()
    by_key(test, "settings.key.openai").set_value("two words")
    by_key(test, "settings.save.openai").click().run()
    assert "A key holds no spaces" in said(settled(test))


def test_a_key_is_on_no_page_in_no_address_no_log_and_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = tmp_path / "forky.duckdb"
    caplog.set_level(logging.DEBUG)
    with empty_workspace(monkeypatch, FORKY_DATABASE=str(database)) as forky:
        test = settings()
        by_key(test, "settings.key.openai").set_value(KEY)
        by_key(test, "settings.save.openai").click().run()
        assert "Key entered here" in said(settled(test))
        talk(forky.create("Names"), "a", "b")
        forky.backup()
        drawn = [str(test._tree)]
        for page in pages():
            test.switch_page(str(page.script))
            drawn.append(str(test.run()._tree))
        address = str(dict(test.query_params))
        state = str(test.session_state["session"])
    files = sorted(path for path in tmp_path.iterdir() if path.is_file())
    assert len(files) >= 2
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    for told in (*drawn, address, state, caplog.text):
        assert KEY not in told


def test_a_server_is_added_listed_and_removed(forky: Forky) -> None:
    test = press(proposed("127.0.0.1:1"), "settings.agree")
    assert "Added 127" in said(test)
    assert isinstance(forky.models, Catalogue)
    assert list(forky.models.added_servers) == ["127.0.0.1:1"]
    press(test, "settings.remove.127.0.0.1:1")
    assert not list(forky.models.added_servers) and "settings.remove.127.0.0.1:1" not in keys(test)


def proposed(address: str) -> AppTest:
    """The page when somebody has typed the address of a server."""
    test = settings()
    by_key(test, "settings.url").set_value(address)
    return press(test, "settings.add")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "http://0x7f.1:1", "https://localhost:1"])
def test_before_a_server_is_added_the_page_names_what_it_will_be_asked(forky: Forky, address: str) -> None:
    test = proposed(address)
    base = "https://localhost:1/v1" if "https" in address else "http://127.0.0.1:1/v1"
    assert f"GET {base}/models" in said(test) and f"POST {base}/chat/completions" in said(test)
    assert forky.store.setting("model_servers") is None, "nothing is kept or asked before somebody agrees"
    press(test, "settings.decline")
    assert "settings.agree" not in keys(test) and "settings.add" in keys(test)
    assert forky.store.setting("model_servers") is None


@pytest.mark.parametrize(
    ("address", "note"),
    [
        ("http://192.168.1.20:11434", "192.168.1.20 is in a private network. Add it only if you know"),
        ("https://nas.local/v1", "nas.local is in a private network."),
        ("http://203.0.113.5/v1", "The connection is not encrypted"),
        ("https://203.0.113.5/v1", ""),
        ("http://127.0.0.1:1/v1", ""),
    ],
)
@pytest.mark.usefixtures("forky")
def test_the_page_says_what_to_think_of_before_agreeing(address: str, note: str) -> None:
    test = proposed(address)
    assert [note in warning.value.replace("\\", "") for warning in test.warning] == ([True] if note else [])
    assert "settings.agree" in keys(test)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://169.254.169.254/latest", "Forky sends nothing to"),
        ("2852039166", "Forky sends nothing to"),
        ("metadata.google.internal", "Forky sends nothing to"),
        (f"http://me:{KEY}@host/v1", "may hold no password"),
    ],
)
def test_an_address_that_is_refused_is_kept_nowhere_and_can_be_corrected(
    forky: Forky, address: str, why: str
) -> None:
    test = proposed(address)
    assert why in test.error[0].value
    assert "settings.agree" not in keys(test) and forky.store.setting("model_servers") is None
    assert by_key(test, "settings.url").value == address, "what was typed stays, to be corrected"
    by_key(test, "settings.url").set_value("127.0.0.1:1")
    press(test, "settings.add")
    assert not test.error and "settings.agree" in keys(test)


def test_a_server_of_the_environment_that_does_not_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with empty_workspace(monkeypatch, FORKY_SERVERS="http://127.0.0.1:1/v1") as forky:
        assert isinstance(forky.models, Catalogue)
        forky.models.refresh(now=True, wait=20)
        told = said(settings())
    assert "Nothing answers at http://127.0.0.1:1/v1." in told
    assert "Not running on this machine" not in told


def test_the_database_is_named_backed_up_and_verified(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with empty_workspace(monkeypatch, FORKY_DATABASE=str(tmp_path / "forky.duckdb")) as forky:
        talk(forky.create("Names"), "a")
        test = settings()
        assert str(tmp_path / "forky.duckdb") in said(test)
        by_key(test, "settings.backup").click().run()
        assert len(list(tmp_path.glob("forky.backup-*.duckdb"))) == 1 and "Copied to" in said(settled(test))
        by_key(test, "settings.verify").click().run()
        assert "Nothing is wrong." in said(settled(test))


def test_a_workspace_on_a_server_gives_a_copy_for_analysis(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, postgresql: Server
) -> None:
    url = postgresql.database(TEMPLATE)
    with empty_workspace(monkeypatch, FORKY_DATABASE=url) as forky:
        talk(forky.create("Names"), "a")
        test = settings()
        assert "settings.backup" not in keys(test)
        by_key(test, "settings.analysis.form").set_value("parquet").run()
        by_key(test, "settings.analysis.form").set_value("duckdb").run()
        offer = settled(test).session_state["settings.analysis.download.offer"]
        (tmp_path / "copy.duckdb").write_bytes(b"".join(offer.pieces()))
    with opened(tmp_path / "copy.duckdb") as connection:
        assert ask(connection, "SELECT title FROM conversations").rows == [("Names",)]


def test_keys_of_the_secrets_file_are_found_by_their_names(tmp_path: Path) -> None:
    users, ours = tmp_path / "users.toml", tmp_path / "ours.toml"
    users.write_text(f'OPENAI_API_KEY = "from-the-user"\nANTHROPIC_API_KEY = "{KEY}"\n[table]\nX = "y"\n')
    ours.write_text('OPENAI_API_KEY = "from-the-checkout"\nnumber = 3\n')
    found = read_secrets((tmp_path / "missing.toml", users, ours))
    assert found.values == {"OPENAI_API_KEY": "from-the-checkout", "ANTHROPIC_API_KEY": KEY}
    assert found.problem == "" and KEY not in repr(found)


@pytest.mark.parametrize("content", [b'OPENAI_API_KEY = sk-"', b"\xff\xfe", b"= 1", b"a = " + b"[" * 100_000])
def test_a_broken_secrets_file_is_a_sentence_that_quotes_nothing_of_it(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "secrets.toml"
    file.write_bytes(content)
    found = read_secrets((file,))
    assert found.values == {} and "secrets.toml" in found.problem and "sk-" not in found.problem


def test_a_token_is_made_shown_once_and_revoked(forky: Forky) -> None:
    test = settings()
    by_key(test, "settings.token.name").set_value("aider on the laptop")
    by_key(test, "settings.token.models").set_value("offline/*")
    by_key(test, "settings.token.make").click().run()
    shown = [str(block.value) for block in settled(test).code]
    text = next(block for block in shown if block.startswith("forky-"))
    assert any(f"OPENAI_API_KEY={text}" in block and "/v1" in block for block in shown)
    (token,) = Tokens(forky.store).all()
    assert (token.name, token.models, token.records) == ("aider on the laptop", ("offline/*",), True)
    assert Tokens(forky.store).of(text) == token

    by_key(test, "settings.token.copied").click().run()
    assert text not in said(settled(test))
    by_key(test, f"settings.token.records.{token.id}").set_value(False).run()
    assert not Tokens(forky.store).all()[0].records
    by_key(settled(test), f"settings.token.revoke.{token.id}").click().run()
    assert Tokens(forky.store).of(text) is None
    assert "Revoked: aider on the laptop" in said(settled(test))


def test_a_token_for_monitoring_says_so(forky: Forky) -> None:
    test = settings()
    by_key(test, "settings.token.name").set_value("agent")
    by_key(test, "settings.token.metrics").check()
    press(test, "settings.token.make")
    (token,) = Tokens(forky.store).all()
    assert token.metrics and "reads /metrics" in said(test)
    assert "OPENAI_API_KEY=forky-" not in said(test)
    assert f"settings.token.records.{token.id}" not in keys(test)
    assert by_key(test, "settings.token.metrics").value is False, "the next token is an ordinary one"


def test_a_token_for_an_agent_says_what_it_may_and_comes_with_lines_to_paste(forky: Forky) -> None:
    chat = forky.create("Boats")
    test = settings()
    by_key(test, "settings.token.name").set_value("agent")
    by_key(test, "settings.token.scopes").set_value(["propose", "review"])
    by_key(test, "settings.token.reach").set_value(chat.id)
    press(test, "settings.token.make")
    (token,) = Tokens(forky.store).all()
    assert (token.scopes, token.reach) == (("read", "propose", "review"), chat.id)
    assert "may read, ask for reviews, review: “Boats”" in said(test)
    assert any("claude mcp add" in block.value for block in test.code)
    by_key(test, "settings.token.copied").click().run()
    assert not any("claude mcp add" in block.value for block in settled(test).code)


def test_a_token_without_a_name_is_refused_in_a_sentence(forky: Forky) -> None:
    test = settings()
    by_key(test, "settings.token.models").set_value("offline/*")
    press(test, "settings.token.make")
    assert Tokens(forky.store).all() == ()
    assert "A token needs a name" in test.error[0].value
    assert by_key(test, "settings.token.models").value == "offline/*", "what was entered stays"
    by_key(test, "settings.token.name").set_value("x" * 61)
    press(test, "settings.token.make")
    assert "at most 60 characters" in test.error[0].value
    by_key(test, "settings.token.name").set_value("laptop")
    press(test, "settings.token.make")
    (token,) = Tokens(forky.store).all()
    assert (token.name, token.models) == ("laptop", ("offline/*",))
    assert not test.error
    assert [by_key(test, f"settings.token.{name}").value for name in ("name", "models")] == ["", ""]
