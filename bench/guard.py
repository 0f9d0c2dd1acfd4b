"""What a team costs: a click on the chat page through the guarded store beside one without, and a request at the gate.

A click is a run of the page's script by Streamlit's AppTest, which draws everything and has no browser. The processor's
time of the process is taken, in turns.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.measure import Line

_CLICK = 1.05
"""The goal: guarded ÷ unguarded."""
_GATE = 0.3
"""The goal, in milliseconds a request."""
_PEOPLE, _CONVERSATIONS, _MESSAGES = 50, 1_000, 200


def lines(*, quick: bool) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"FORKY_DATABASE": str(Path(folder) / "forky.duckdb"), "FORKY_PROBE": "0"}
        yield from _clicks(Path(folder), 5 if quick else 20)
        yield from _requests(Path(folder), 500 if quick else 2_000)


def _spent(work: Callable[[], object]) -> float:
    """Milliseconds of the processor, in all threads of this process."""
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1_000


def _clicks(folder: Path, rounds: int) -> Iterator[Line]:
    from forky_core.model import ConversationId  # noqa: PLC0415 - the environment must be set before the pages are loaded
    from forky_core.people.roles import Role  # noqa: PLC0415 - as above
    from forky_core.people.team import Team  # noqa: PLC0415 - as above
    from pages.ui import workspace as served  # noqa: PLC0415 - as above
    from tests.pages.apptest import open_page, words  # noqa: PLC0415 - as above

    forky, team = served.whole_workspace(), Team(folder / "people.sqlite")
    chat = forky.create("Boats")
    for number in range(_MESSAGES):
        chat.say(
            f"Sentence {number} about boats that float.", role="user" if number % 2 == 0 else "assistant"
        )
    people = [team.members.add(f"Person {number}", Role.EDITOR) for number in range(_PEOPLE)]
    team.members.add("Owner", Role.OWNER)
    others = [ConversationId(f"01890000-0000-7000-8000-{number:012d}") for number in range(_CONVERSATIONS)]
    team.sharing.adopt([(chat.id, people[0].id), *((id, people[0].id) for id in others)])
    served.reader_id = lambda: people[0].id

    def click(page: object, guard: Team | None) -> float:
        served.__dict__["TEAM"] = guard
        return _spent(page.run)  # type: ignore[attr-defined]

    served.__dict__["TEAM"] = None
    pages = {by: open_page("chat.py", chat) for by in (False, True)}
    times: dict[str, list[float]] = {"free": [], "guarded": [], "changed": []}
    for turn in range(rounds + 2):
        for by in (False, True) if turn % 2 else (True, False):
            times["guarded" if by else "free"].append(click(pages[by], team if by else None))
        team.members.rename(people[1].id, "Somebody else")
        times["changed"].append(click(pages[True], team))
    served.__dict__["TEAM"] = None
    drawn = {by: (words(page), len(page.main)) for by, page in pages.items()}
    assert drawn[True] == drawn[False], "both pages show the same"
    free, guarded, changed = (median(found[2:]) for found in times.values())
    yield Line("a click on the chat page of a team's member; without a guard", guarded, free, _CLICK)
    yield Line(
        f"– after somebody changed the team ({_CONVERSATIONS:,} conversations, {_PEOPLE} people)",
        changed,
        free,
        None,
    )
    served.close_workspace()
    team.close()


def _requests(folder: Path, number: int) -> Iterator[Line]:
    from forky_core.gateway.access.gate import Gate  # noqa: PLC0415 - beside the imports above
    from forky_core.gateway.access.origins import Origins  # noqa: PLC0415 - as above
    from forky_core.gateway.access.team_sign_in import TeamSignIn  # noqa: PLC0415 - as above
    from forky_core.people.roles import Role  # noqa: PLC0415 - as above
    from forky_core.people.team import Team  # noqa: PLC0415 - as above
    from tests.people.asked import ask, echo  # noqa: PLC0415 - as above

    team = Team(folder / "gate.sqlite")
    token = team.sessions.open(team.members.add("Ada", Role.OWNER).id)
    gate = Gate(echo, TeamSignIn(Origins(), team, []))

    async def many(app: Gate | Callable[..., object]) -> None:
        for _ in range(number):
            assert (await ask(app, "/library", token=token)).status == 200  # type: ignore[arg-type]

    def each(app: Gate | Callable[..., object]) -> float:
        return _spent(lambda: asyncio.run(many(app))) / number

    times = [each(gate) - each(echo) for _ in range(6)][1:]
    yield Line("a request with a session through a team's gate; the goal", median(times), _GATE, 1)
    team.close()
