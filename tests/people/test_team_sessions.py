from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from forky_core.model.errors import NotFound
from forky_core.people.database import LOOK
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.team_sessions import LIFETIME, MOST, SEEN_EVERY
from tests.hangs import HANG
from tests.people.people import Office
from tests.programs import CHECKOUT

_MICRO = 1_000_000


def test_a_session_is_found_by_its_token_until_it_expires(here: Office) -> None:
    ada = here.join("Ada")
    token = here.team.sessions.open(ada.id, device="Firefox" * 100)
    found = here.team.sessions.find(token)
    assert found is not None and found.member == ada.id and len(found.device) == 200
    for wrong in ("", token[:-1], token + "x", found.id, token.swapcase(), "\ud800"):
        assert here.team.sessions.find(wrong) is None
    here.clock.at += LIFETIME * _MICRO - 1
    assert here.team.sessions.find(token) is not None and here.team.sessions.is_open(found.id)
    here.clock.at += 1
    assert here.team.sessions.find(token) is None and not here.team.sessions.is_open(found.id)
    assert here.team.sessions.of(ada.id) == []


def test_the_token_is_not_stored(tmp_path: Path) -> None:
    team = Team(tmp_path / "people.sqlite")
    token = team.sessions.open(team.members.add("Ada", Role.OWNER).id)
    team.close()
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"Ada" in stored and token.encode() not in stored


def test_one_session_or_all_others_can_be_ended(here: Office) -> None:
    ada, bob = here.join("Ada"), here.join("Bob")
    tokens = [here.team.sessions.open(ada.id) for _ in range(3)]
    theirs = here.team.sessions.open(bob.id)
    ids = [found.id for token in tokens if (found := here.team.sessions.find(token))]
    here.team.sessions.end(ids[0], by=ada.id)
    with pytest.raises(NotFound):
        here.team.sessions.end(ids[0], by=ada.id)
    here.team.sessions.end_all(ada.id, by=ada.id, keep=ids[2])
    assert [here.team.sessions.find(token) is not None for token in (*tokens, theirs)] == [
        False,
        False,
        True,
        True,
    ]


def test_one_more_than_the_most_ends_the_one_that_was_seen_longest_ago(here: Office) -> None:
    ada = here.join("Ada")
    tokens = []
    for _ in range(MOST):
        here.clock.at += _MICRO
        tokens.append(here.team.sessions.open(ada.id))
    here.clock.at += (SEEN_EVERY + 1) * _MICRO
    assert here.team.sessions.find(tokens[0]) is not None
    here.team.sessions.open(ada.id)
    assert here.team.sessions.find(tokens[0]) is not None and here.team.sessions.find(tokens[1]) is None
    assert len(here.team.sessions.of(ada.id)) == MOST


def test_a_member_who_is_removed_has_no_session_left(here: Office) -> None:
    here.join("Owner", Role.OWNER)
    ada = here.join("Ada")
    token = here.team.sessions.open(ada.id)
    here.team.members.remove(ada.id, by=ada.id)
    assert here.team.sessions.find(token) is None


def test_what_another_process_revokes_is_noticed_here(file: Path) -> None:
    team = Team(file)
    ada = team.members.add("Ada", Role.OWNER)
    token = team.sessions.open(ada.id)
    before = team.database.version
    script = (
        "import sys; from pathlib import Path; from forky_core.people.team import Team\n"
        "team = Team(Path(sys.argv[1])); team.sessions.end_all(sys.argv[2], by='')\n"
        "team.members.rename(sys.argv[2], 'Ada King'); team.close()"
    )
    subprocess.run([sys.executable, "-c", script, str(file), ada.id], check=True, cwd=CHECKOUT, timeout=HANG)
    assert team.sessions.find(token) is None
    deadline = time.monotonic() + HANG
    while team.database.version == before:
        assert time.monotonic() < deadline
        time.sleep(LOOK / 10)
    assert team.members.member(ada.id).name == "Ada King" and team.audit.first_broken() is None
    team.close()
