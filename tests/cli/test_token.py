from __future__ import annotations

from pathlib import Path

from forky_core.forky import Forky
from forky_core.gateway.tokens import Tokens
from tests.cli.conftest import Run


def test_a_token_is_made_and_shown_once(forky: Run, database: Path) -> None:
    made = forky("token make aider --models 'gpt-4o, ollama/*' --dollars-a-day 5")
    text = made.out.splitlines()[0]
    assert f"OPENAI_API_KEY={text}" in made.out
    listed = forky("token list").out
    assert text not in listed
    assert "aider: …" in listed and "gpt-4o, ollama/*" in listed and "$5.00 a day" in listed
    with Forky.open(database) as opened:
        token = Tokens(opened.store).of(text)
        assert token is not None and token.name == "aider"


def test_a_revoked_token_is_refused(forky: Run, database: Path) -> None:
    made = forky("token make aider --no-recording --json").json
    assert made["records"] is False and "sha256" not in made
    assert forky("token revoke aider").code == 0
    with Forky.open(database) as opened:
        assert Tokens(opened.store).of(made["token"]) is None
    assert "revoked" in forky("token list").out
    assert forky("token revoke nobody").code == 2


def test_a_token_for_metrics_comes_without_lines_for_a_client(forky: Run) -> None:
    made = forky("token make prometheus --metrics")
    assert made.out.splitlines()[1:] == ["It is not shown again."]
    assert "prometheus: …" in (listed := forky("token list").out)
    assert listed.rstrip().endswith("reads /metrics")


def test_a_name_is_taken_once(forky: Run) -> None:
    forky("token make aider")
    again = forky("token make aider")
    assert again.code == 2
    assert "aider" in again.err


def test_without_tokens_the_list_says_how_to_make_one(forky: Run, database: Path) -> None:
    forky("chat -m Hello")
    assert "forky token make" in forky("token list").out


def test_a_limit_says_whether_unknown_prices_pass(forky: Run) -> None:
    forky("token make strict --dollars-a-day 5")
    forky("token make lenient --dollars-a-day 5 --unpriced")
    lines = forky("token list").out.splitlines()
    passing = [line for line in lines if "unknown price count as answers" in line]
    assert len(lines) == 2 and len(passing) == 1 and "lenient" in passing[0]


def test_a_token_has_limits_of_a_day_and_in_all(forky: Run) -> None:
    forky("token make both --dollars-a-day 2.50 --dollars-in-all 20 --answers-a-day 3")
    assert "3 answers a day, $2.50 a day, $20.00 in all" in forky("token list").out
    listed = forky("token list --json").json
    assert (listed["daily"], listed["dollars_in_all"], listed["answers"]) == (2.5, 20.0, 3)
    assert (listed["spent_today"], listed["answers_had"]) == (0.0, 0)
    assert forky("token make senseless --dollars-in-all much").code != 0


def test_the_old_names_of_limits_are_taken_and_say_the_new_ones(forky: Run) -> None:
    made = forky("token make old --daily 2.50 --in-all 20")
    assert made.err.splitlines() == [
        "--daily is called --dollars-a-day now.",
        "--in-all is called --dollars-in-all now.",
    ]
    assert "$2.50 a day, $20.00 in all" in forky("token list").out
    helped = forky("token make --help").out
    assert "--dollars-a-day" in helped and "--daily" not in helped


def test_while_the_app_runs_the_command_says_where_tokens_are_made(forky: Run, database: Path) -> None:
    with Forky.open(database):
        for arguments in (("token", "make", "aider"), ("token", "list"), ("token", "revoke", "aider")):
            ended = forky(*arguments)
            assert ended.code == 1 and "Settings" in ended.err and "open" in ended.err
        followed = forky("import --follow logs.db")
        assert followed.code == 1 and "--follow" in followed.err and "Library" in followed.err


def test_a_token_with_scopes_is_listed_with_them_and_comes_with_lines_for_agents(forky: Run) -> None:
    assert forky("token make agent --proposes --json").json["scopes"] == ["read", "ask", "propose"]
    made = forky("token make other --scope land --reach workspace").out
    assert "claude mcp add" in made and "bearer_token_env_var" in made
    listed = forky("token list").out
    assert "may read ask propose in its own conversations" in listed
    assert "may read land in every conversation" in listed
    assert "cannot be given" in forky("token make third --scope rule").err
