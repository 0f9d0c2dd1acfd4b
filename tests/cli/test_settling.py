"""Conflicts, fusions and merge requests on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.forky import Forky
from tests.builders import talk
from tests.cli.conftest import Run


@pytest.fixture
def torn(database: Path) -> str:
    """`main` says 7070, `debug` 9090."""
    with Forky.open(database) as forky:
        chat = talk(forky.create("Server"), "Plan the server.", "The port is 8080.")
        talk(chat.fork("debug"), "No, use port 9090.", "Done.")
        return talk(chat, "The port is 7070.", "Noted.").id


def add_idea(database: Path, id: str, *said: str) -> None:
    with Forky.open(database) as store:
        chat = store.conversation(id, "main")
        talk(chat.fork("idea", at=chat.path()[1].id), *(said or ("No, use port 6060.", "Done.")))


CONFLICT = "possible conflict: port: main “The port is 7070.”; debug “No, use port 9090.”"


def test_a_three_way_merge_shows_its_conflicts_and_lands_with_what_is_taken(forky: Run, torn: str) -> None:
    looked = forky("merge debug --into main --strategy three-way --dry-run")
    assert f"{CONFLICT}; open" in looked.out
    assert "UNRESOLVED" in looked.out
    entry = forky("merge debug --into main --strategy three-way --take port=theirs --yes --json").json
    (conflict,) = entry["conflicts"]
    assert conflict["key"] == "port" and conflict["result"] == "No, use port 9090." and conflict["possible"]
    assert "unresolved" not in entry["landed"]


def test_a_merge_that_settles_nothing_shows_what_may_conflict_and_that_nobody_examined_it(
    forky: Run, torn: str
) -> None:
    looked = forky("merge debug --into main --dry-run")
    assert f"{CONFLICT}; open\n" in looked.out
    assert "not examined: no model has read the texts side by side; --examine asks one" in looked.out
    said = "“main” says “The port is 7070”; “debug” says “No, use port 9090”"
    assert f"! Possibly a conflict: {said}." in looked.out
    entry = forky("merge debug --into main --dry-run --json").json
    (one,) = entry["conflicts"]
    assert [(said["side"], said["text"]) for said in one["says"]] == [
        ("main", "The port is 7070."),
        ("debug", "No, use port 9090."),
    ]
    assert one["possible"] and entry["examined_by"] == "" and entry["corrects"] == []


def test_examining_without_a_model_says_what_is_missing_and_changes_nothing(forky: Run, torn: str) -> None:
    asked = forky("merge debug --into main --dry-run --examine")
    assert asked.code != 0 and asked.out == ""
    assert "No model is set up that could examine them." in asked.err


def test_several_branches_are_merged_three_way_and_settled_by_the_name_of_one(
    forky: Run, torn: str, database: Path
) -> None:
    add_idea(database, torn)
    call = ("merge", "debug", "idea", "--into", "main", "--strategy", "three-way")
    looked = forky(*call, "--dry-run")
    assert f"{CONFLICT}; idea “No, use port 6060.”; open" in looked.out
    refused = forky(*call, "--take", "port=theirs", "--yes")
    assert refused.code == 2 and "Name one: “debug”, “idea”." in refused.err
    landed = forky(*call, "--take", "port=idea", "--yes", "--json").json
    assert landed["conflicts"][0]["result"] == "No, use port 6060." and "unresolved" not in landed["landed"]
    assert landed["landed"] == "Merged “debug”, “idea” into “main” (three-way)"


def test_what_several_branches_left_open_is_settled_by_the_name_of_one(
    forky: Run, torn: str, database: Path
) -> None:
    add_idea(database, torn)
    forky("merge debug idea --into main --strategy three-way --yes")
    assert "debug “No, use port 9090.”; idea “No, use port 6060.”" in forky("resolve --branch main").out
    settled = forky("resolve --branch main --take port=debug --yes")
    assert settled.code == 0 and "No, use port 9090." in settled.out
    assert forky("resolve --branch main").out == "Nothing is open.\n"


def test_what_landed_open_is_listed_and_settled_later(forky: Run, torn: str) -> None:
    forky("merge debug --into main --strategy three-way --yes")
    assert forky("resolve --branch main").out.startswith("possible conflict: port:")
    assert forky("resolve --branch main --json").json[0]["result"] is None
    settled = forky("resolve --branch main --take 'port=Use 7070 until June.' --yes")
    assert settled.code == 0 and "Use 7070 until June." in settled.out
    assert forky("resolve --branch main").out == "Nothing is open.\n"


def test_a_choice_that_is_none_is_a_sentence(forky: Run, torn: str) -> None:
    for wrong in ("port", "=mine", "colour=mine"):
        ended = forky("merge debug --into main --strategy three-way --take", wrong, "--yes")
        assert ended.code == 2 and ended.err.strip()


@pytest.mark.parametrize("option", ["--take port=theirs", "--policy theirs"])
def test_settling_what_can_have_no_conflict_is_refused(forky: Run, torn: str, option: str) -> None:
    forky("request make debug --into main")
    named, _, _ = option.partition(" ")
    for call in ("merge debug --into main", "merge debug --into main --strategy full", "request accept 1"):
        ended = forky(f"{call} {option} --yes")
        assert ended.code == 2 and ended.err.startswith(f"{named} is for a three-way merge"), call
    assert "Merged" not in forky("log", torn, "--branch", "main").out


def test_a_request_is_accepted_with_what_is_taken(forky: Run, torn: str) -> None:
    forky("request make debug --into main --strategy three-way")
    words = ("request", "accept", "1", "--policy", "mine", "--json")
    (by_policy,) = forky(*words, "--dry-run").json["conflicts"]
    assert by_policy["result"] == "The port is 7070."
    (taken,) = forky(*words, "--take", "port=theirs", "--yes").json["conflicts"]
    assert taken["result"] == "No, use port 9090."
    assert forky("resolve --branch main").out == "Nothing is open.\n"


def test_answers_are_fused_or_the_best_is_taken(forky: Run, database: Path) -> None:
    with Forky.open(database) as store:
        chat = talk(store.create("Cache"), "Which cache?", "Use SQLite. The port is 8080.")
        question = chat.path()[0].id
        other = chat.fork("other", at=question)
        talk(other, "Use SQLite. The port is 9090.")
    entry = forky("fuse --branch main --yes --json").json
    assert {one["label"] for one in entry["candidates"]} == {"A", "B"}
    assert entry["conflicts"][0]["key"] == "port" and entry["landed"] == "Fused 2 answers on “main”"
    best = forky("fuse --branch other --best --dry-run")
    assert "shares most with the others" in best.out


def test_a_request_is_made_talked_about_and_accepted(forky: Run, torn: str) -> None:
    made = forky("request make debug --into main --note Please. --strategy three-way")
    assert made.code == 0 and "“debug” into “main”" in made.out
    assert forky("request comment 1 'Which port?'").code == 0
    assert forky("request change 1 --note 'Please look.'").code == 0
    shown = forky("request show 1").out
    assert "Please look." in shown and "Which port?" in shown
    looked_at = forky("request accept 1 --dry-run").out
    assert "conflict: " in looked_at, "what would land open is said before it lands"
    accepted = forky("request accept 1 --yes")
    assert accepted.out.splitlines()[-1].startswith("Merged “debug” into “main” (three-way, request 1")
    assert forky("request list --json").json["state"] == "accepted"
    assert forky("request decline 1").code == 2


def test_picks_are_proposed_changed_and_accepted(forky: Run, torn: str, database: Path) -> None:
    with Forky.open(database) as store:
        question, answer = (m.id for m in store.conversation(torn, "debug").path()[-2:])
    made = forky("request make debug --into main --pick", answer)
    assert made.code == 0 and "(cherry-pick of 1)" in made.out
    assert forky("request change 1 --pick", question, "--pick", answer).code == 0
    assert forky("request list --json").json["picks"] == [question, answer]
    assert "user: No, use port 9090." in forky("request show 1").out
    landed = forky("request accept 1 --yes --json").json
    assert (landed["strategy"], landed["messages"]) == ("cherry-pick", [question, answer])
    assert landed["request"] == 1
    assert forky("request make debug --into main --pick", answer).code == 2, "picked already"


def test_several_branches_are_proposed_and_accepted(forky: Run, torn: str, database: Path) -> None:
    add_idea(database, torn, "Add a cache?", "Decision: a cache of 64 MB.")
    made = forky("request make debug idea --into main")
    assert made.code == 0 and "“debug”, “idea” into “main” (squash)" in made.out
    refused = forky("request accept 1 --strategy cherry-pick --yes")
    assert refused.code == 2 and "Several branches cannot be merged at once" in refused.err
    accepted = forky("request accept 1 --yes")
    assert "Merged “debug”, “idea” into “main” (squash, request 1" in accepted.out


def test_a_request_can_be_declined_with_a_reason(forky: Run, torn: str) -> None:
    assert forky("request list").out == "There is no merge request.\n"
    forky("request make debug --into main")
    assert forky("request decline 1 --why 'Not now.'").code == 0
    assert "Not now." in forky("request show 1").out


def test_a_branch_of_another_conversation_is_proposed_with_all_that_was_chosen(
    forky: Run, torn: str, database: Path
) -> None:
    with Forky.open(database) as store:
        other = talk(store.create("Elsewhere"), "What now?", "Decision: use port 9191 for the proxy.").id
    place = ("--conversation", torn)
    made = forky("request make main --of", other, "--into", "main", "--focus", "proxy", *place)
    assert made.code == 0 and "“main of Elsewhere” into “main” (squash)" in made.out
    assert forky("request change 1 --budget 200", *place).code == 0
    shown = forky("request show 1", *place).out
    assert "focus: proxy" in shown and "at most: 200 tokens" in shown
    assert forky("request change 1 --budget 0", *place).code == 2
    accepted = forky("request accept 1 --yes --json", *place)
    landed = accepted.json
    assert "9191" in landed["payload"] and landed["tokens"] <= 200 and landed["request"] == 1
    stored = forky("request list --json", *place).json
    assert (stored["state"], stored["graft"]) == ("accepted", [other, "Elsewhere"])
