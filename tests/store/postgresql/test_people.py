"""The people of a team in a PostgreSQL database: what a file of people does, and what several processes do at once."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from forky_core.cli.parser import main
from forky_core.conversation.allowance.account import Sum
from forky_core.conversation.allowance.book import Book
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.model.errors import NameTaken, StoreError, StoreTooNew
from forky_core.people import people_beside, team_file
from forky_core.people.attempts import PER_CLIENT, TooManyAttempts
from forky_core.people.audit import AuditFilter
from forky_core.people.database import SCHEMA
from forky_core.people.people_on_server import PeopleOnServer
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from forky_core.store.postgresql.store import PostgresStore
from tests.builders import workspace
from tests.hangs import HANG, eventually
from tests.store.postgresql.other_process import begin, in_another_process, race
from tests.store.postgresql.server import CUT, Server, only_read


@pytest.fixture
def team(url: str) -> Iterator[Team]:
    opened = Team(url)
    yield opened
    opened.close()


def with_the_team(url: str, *lines: str) -> subprocess.Popen[str]:
    """Runs lines about `team`, its people as another process has them, once it gets a line of input."""
    before = ("from forky_core.people.team import Team", f"team = Team({url!r})")
    return in_another_process(before, lines, ("team.close()",))


def test_what_was_written_is_there_for_whoever_opens_it_next(team: Team, url: str) -> None:
    ada = team.members.add("Ada", Role.OWNER, email="ada@example.org")
    token = team.sessions.open(ada.id)
    team.drafts.keep(ada.id, "c1", {"text": "half\0a thought"})
    again = Team(url)
    assert again.members.all() == [ada] and again.audit.first_broken() is None
    assert again.sessions.find(token) is not None
    assert again.drafts.at(ada.id, "c1") == {"text": "half\0a thought"}
    assert [entry.event for entry in again.audit.page(1, 9, AuditFilter(person=ada.id))] == [
        "signed in",
        "member added",
    ]
    again.close()


def test_a_transaction_that_fails_leaves_nothing_behind(team: Team) -> None:
    team.members.add("Ada", Role.OWNER, handle="ada")

    def fails() -> None:
        with team.database.writing():
            team.members.add("Bob", Role.EDITOR)
            team.members.add("Adah", Role.EDITOR, handle="ada")

    with pytest.raises(NameTaken):
        fails()
    assert [one.name for one in team.members.all()] == ["Ada"]
    assert len(team.audit.entries()) == 1


def test_what_another_process_revokes_is_noticed_here(team: Team, url: str) -> None:
    ada = team.members.add("Ada", Role.OWNER)
    token, before = team.sessions.open(ada.id), team.database.version
    other = with_the_team(
        url, f"team.sessions.end_all({ada.id!r}, by='')", f"team.members.rename({ada.id!r}, 'Ada King')"
    )
    other.communicate("go\n", timeout=HANG)
    eventually(lambda: team.database.version != before)
    assert team.sessions.find(token) is None and team.members.member(ada.id).name == "Ada King"
    assert team.audit.first_broken() is None


def test_many_threads_of_two_processes_write_one_chain(team: Team, url: str) -> None:
    other = with_the_team(url, "for number in range(40): team.audit.note('tried', 'other', number=number)")
    begin(other)
    threads = [
        threading.Thread(target=lambda: [team.audit.note("tried", "here") for _ in range(20)])  # type: ignore[func-returns-value]
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.communicate(timeout=HANG)
    assert other.returncode == 0
    entries = team.audit.entries()
    assert [entry.number for entry in entries] == list(range(1, 101))
    assert team.audit.first_broken() is None


def test_calls_of_two_processes_race_for_an_allowance_of_three_answers(team: Team, url: str) -> None:
    bob = team.members.add("Bob", Role.OWNER)
    team.allowances.set(bob.id, {"answers_in_all": 3}, by="")
    lines = (
        "from forky_core.conversation.allowance.account import SpendingRefused, Sum",
        "from forky_core.conversation.allowance.book import Book",
        "from forky_core.store.postgresql.store import PostgresStore",
        "from tests.conversation.allowance.priced import asked",
        f"book, payer, paid = Book(PostgresStore.open({url!r})), team.allowances.spender({bob.id!r}), 0",
        "for _ in range(10):",
        "    try:",
        "        call, _ = book.set_aside(payer, asked())",
        "    except SpendingRefused:",
        "        continue",
        "    book.settle(payer, call, Sum(1, 5))",
        "    paid += 1",
        "print(paid)",
    )
    with PostgresStore.open(url) as store:
        answers = race(*(with_the_team(url, *lines) for _ in range(2)))
        assert sum(int(answer) for answer in answers) == 3
        assert Book(store).account(team.allowances.spender(bob.id)).in_all == Sum(3, 15)


def test_wrong_passwords_are_not_multiplied_by_the_number_of_servers(team: Team, url: str) -> None:
    lines = (
        "from forky_core.people.attempts import TooManyAttempts",
        "tried = 0",
        "for _ in range(10):",
        "    try:",
        "        team.attempts('password').begin('192.0.2.1')",
        "    except TooManyAttempts:",
        "        continue",
        "    tried += 1",
        "print(tried)",
    )
    answers = race(*(with_the_team(url, *lines) for _ in range(2)))
    assert sum(int(answer) for answer in answers) == PER_CLIENT
    with pytest.raises(TooManyAttempts):
        team.attempts("password").require("192.0.2.1")


def test_two_that_begin_at_once_make_the_tables_once(url: str) -> None:
    made: list[PeopleOnServer] = []
    threads = [threading.Thread(target=lambda: made.append(PeopleOnServer(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4 and all(one.columns() == made[0].columns() for one in made)
    for one in made:
        one.close()


def test_an_erased_text_is_cut_out_of_what_people_wrote_beside_it(team: Team, url: str) -> None:
    whole, _models = workspace(PostgresStore.open(url))
    ada = team.members.add("Ada", Role.OWNER)
    join_team(whole, team)
    seen: Workspace = member_view(whole, team, ada.id)
    chat = seen.create("Secrets")
    said = chat.say("The password is swordfish-and-chips, as ever.")
    team.drafts.keep(
        ada.id, str(chat.id), {"text": "Why is it The password is swordfish-and-chips, as ever.?"}
    )
    done = chat.history.erase(said.id, confirm=chat.history.plan_erasure(said.id).confirmation)
    team.erase(done.passages)
    draft = team.drafts.at(ada.id, str(chat.id))
    assert draft is not None and "swordfish" not in draft["text"]
    whole.close()


def test_what_cannot_be_opened_or_reached_is_a_sentence(server: Server, url: str) -> None:
    PeopleOnServer(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE forky_people.state SET schema = %s", (SCHEMA + 1,))
    with pytest.raises(StoreTooNew, match="A later version of Forky keeps the people"):
        PeopleOnServer(url)
    with pytest.raises(StoreError, match="no database of this name"):
        PeopleOnServer(server.url("nowhere"))


def test_a_connection_that_is_cut_is_made_anew(team: Team, url: str) -> None:
    ada = team.members.add("Ada", Role.OWNER)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(CUT)
        assert team.members.all() == [ada]
        connection.execute(CUT)
        team.members.rename(ada.id, "Ada King")

        def is_cut_in_the_middle() -> None:
            with team.database.writing():
                team.members.rename(ada.id, "Nobody")
                connection.execute(CUT)
                team.members.rename(ada.id, "Nobody at all")

        with pytest.raises(StoreError, match="cannot be reached"):
            is_cut_in_the_middle()
    assert team.members.member(ada.id).name == "Ada King"
    assert team.audit.first_broken() is None


def test_a_database_that_can_only_be_read_is_read_and_written_again_later(team: Team, url: str) -> None:
    ada = team.members.add("Ada", Role.OWNER)
    with only_read(url):
        with pytest.raises(StoreError, match="can only be read"):
            team.members.rename(ada.id, "Ada King")
        assert team.members.all() == [ada]
    assert team.members.all() == [ada]
    team.members.rename(ada.id, "Ada King")
    assert team.members.member(ada.id).name == "Ada King"


def test_commands_find_the_people_and_make_none(
    team: Team, url: str, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    team.members.add("Ada", Role.OWNER, handle="ada")
    assert people_beside(url) == url
    assert main(["--database", url, "admin", "people"]) == 0
    assert "ada" in capsys.readouterr().out
    assert main(["--database", url, "admin", "remove", "zoe"]) != 0
    assert "Nobody here is “zoe”." in capsys.readouterr().err
    with Forky.open(url) as forky:
        forky.create("Boats").say("Why do boats float?")
    assert main(["--database", url, "export", "Boats", "--as", "markdown"]) == 0
    assert "boats float" in capsys.readouterr().out
    assert team.audit.entries()[-1].event == "conversation exported"
    empty = server.database("template0")
    assert people_beside(empty) is None
    assert main(["--database", empty, "admin", "people"]) != 0
    assert "There is no team at" in capsys.readouterr().err
    assert people_beside(empty) is None
    server.drop(empty)


def test_a_team_moves_into_the_database_and_back(
    url: str, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, back = tmp_path / "forky.duckdb", tmp_path / "back.duckdb"
    team = Team(team_file(here))
    with Forky.open(here) as whole:
        ada = team.members.add("Ada", Role.OWNER)
        join_team(whole, team)
        chat = member_view(whole, team, ada.id).create("Boats")
        said = chat.say("Why do boats float?")
    thread = team.threads.begin(chat.id, said.id, "", ada.id, "Do they?")
    token = team.sessions.open(ada.id)
    entries = team.audit.entries()
    team.close()
    empty = server.database("template0")
    assert main(["move", str(here), empty]) == 0
    assert "The people came along" in capsys.readouterr().out
    moved = Team(empty)
    assert moved.members.all() == [ada] and moved.audit.entries() == entries
    assert moved.audit.first_broken() is None
    session = moved.sessions.find(token)
    assert session is not None and session.member == ada.id
    begun = moved.threads.find(chat.id, thread)
    assert begun is not None
    moved.threads.reply(begun, ada.id, "They do.")
    moved.close()
    assert main(["move", str(here), empty]) == 0
    assert "TO has people of its own" in capsys.readouterr().out
    assert main(["move", empty, str(back)]) == 0
    again = Team(team_file(back))
    assert again.members.all() == [ada] and again.audit.first_broken() is None
    again.close()
    server.drop(empty)
