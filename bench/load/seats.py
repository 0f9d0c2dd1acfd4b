"""What the people of a load find: conversations, rooms with a poll, and a way in, one seat for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.conversations import build
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.gateway.access.credentials import hashed
from forky_core.people import team_file
from forky_core.people.members import Identity
from forky_core.people.roles import Role
from forky_core.people.team import Team

ROOM = 10
"""People who share a room."""
COMMENTERS = 5
"""Every fifth person may comment in their room, and write on branches of their own there; the others may edit."""
_PASSWORD = "what the bench types"  # noqa: S105 - of people who are made up
_OWN, _SHARED = 12, 40
"""Messages of the trunk of a conversation of one's own, and of a room's."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Where one person works."""

    name: str
    handle: str
    """They sign in with it."""
    own: str
    """The id of their own conversation."""
    room: str
    """The id of the conversation that they share."""
    poll: int
    """The number of the poll there."""
    long: str
    """The id of a conversation whose model takes minutes; "" where this person does not watch a reply all the time."""


def furnish(database: Path | str, people: int, replies: int, slow_model: str) -> list[Seat]:
    """Fill an empty database for a team of so many people, `replies` of whom watch long replies."""
    seats: list[Seat] = []
    with Forky.open(database) as forky:
        rooms = [_room(forky, number) for number in range(-(-people // ROOM))]
        for number in range(people):
            own = build(forky, trunk=_OWN, forks=3, title=f"Notes of person {number}", seed=number)
            long = (
                forky.create(f"A long answer for person {number}", model=slow_model)
                if number < replies
                else None
            )
            room, poll = rooms[number // ROOM]
            seats.append(
                Seat(
                    f"Person {number}",
                    f"person-{number}",
                    str(own.id),
                    str(room.id),
                    poll,
                    str(long.id) if long is not None else "",
                )
            )
    team = Team(team_file(database) if isinstance(database, Path) else database)
    try:
        _gather(team, seats)
    finally:
        team.close()
    return seats


def _room(forky: Workspace, number: int) -> tuple[Conversation, int]:
    chat = build(forky, trunk=_SHARED, forks=8, title=f"Room {number}", seed=1_000 + number)
    answers = [chat.checkout(f"side-{side}").path()[-1].id for side in (1, 2, 3)]
    return chat, chat.polls.open(answers, title="Which answer helps most?").number


def _gather(team: Team, seats: Sequence[Seat]) -> None:
    """Make the seats' people members of a team, with the same password, and share their rooms with them."""
    secret = hashed(_PASSWORD)
    ids: dict[str, str] = {}
    for number, seat in enumerate(seats):
        role = Role.EDITOR if number else Role.OWNER
        member = team.members.add(seat.name, role, handle=seat.handle)
        team.members.keep_identity(member.id, Identity("password", seat.handle, secret))
        ids[seat.handle] = member.id
    first = {seat.room: seat.handle for seat in reversed(seats)}
    own = [(id, ids[seat.handle]) for seat in seats for id in (seat.own, seat.long) if id]
    team.sharing.adopt([*own, *((room, ids[handle]) for room, handle in first.items())])  # type: ignore[list-item]
    for number, seat in enumerate(seats):
        if first[seat.room] != seat.handle:
            role = Role.COMMENTER if number % COMMENTERS == COMMENTERS - 1 else Role.EDITOR
            team.sharing.share(seat.room, ids[seat.handle], role, by=ids[first[seat.room]])  # type: ignore[arg-type]


async def sign_in(url: str, http: httpx.AsyncClient, seat: Seat) -> None:
    """Send the form of the sign-in page, as a browser does. Raises RuntimeError if it does not let the person in."""
    form = {"handle": seat.handle, "password": _PASSWORD, "next": "/"}
    answer = await http.post(f"{url}/sign-in/password", data=form, headers={"Origin": url})
    if answer.status_code != 200 or not any(name.startswith("forky_session") for name in http.cookies):
        raise RuntimeError(f"{seat.handle} was not let in: {answer.status_code} {answer.text[-300:]}")


@contextmanager
def postgresql() -> Iterator[tuple[str, list[int]]]:
    """A durable PostgreSQL of its own: the address of an empty database there, and a list for its processes' ids."""
    from tests.store.postgresql.server import TEMPLATE, running_server  # noqa: PLC0415 - needs a package of the tests

    with running_server() as server:
        server.stop()
        server.start(
            fsync="on",
            synchronous_commit="on",
            full_page_writes="on",
            shared_buffers="512MB",
            autovacuum="on",
        )
        first = int((server.folder / "data" / "postmaster.pid").read_text("utf-8").split()[0])
        yield server.database(TEMPLATE), [first]
