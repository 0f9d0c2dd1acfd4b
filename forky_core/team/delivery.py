"""Takes notices to the addresses of people, at once or in one mail a day, as they want them.

What is to be delivered is kept with the people, so that a restart loses nothing that was not handed on. Whether
somebody may still see what a notice is about is decided when it leaves, not when it came: whoever lost the right to a
conversation is sent nothing more of it.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args
from urllib.parse import parse_qs, urlsplit

from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, ForkyError, NotFound
from forky_core.observability import events
from forky_core.team.database import TableRow, Writing, now
from forky_core.team.letters import digest_letter, notice_letter
from forky_core.team.mail import Mailer
from forky_core.team.team import Team
from forky_core.team.team_workspaces import workspace_of_path

MailChoice = Literal["at once", "daily", "never"]
MAIL_CHOICES: tuple[MailChoice, ...] = get_args(MailChoice)
USUAL: MailChoice = "daily"
"""What holds for somebody who has not chosen."""
GATHERED = 3600
"""Seconds that the first notice of a day's mail waits for others."""
DAY = 24 * 3600
AT_ONCE = 20
"""Mails of single notices to one person within an hour; further notices go into the mail of the day."""
MOST = 500
"""Notices of one person that wait; the oldest go first."""
TAKEN = 300
"""Seconds for which a delivery is left to the process that began with it."""
_MICRO = 1_000_000


class Notice(Protocol):
    """What a person should know about, as the inbox has it (inbox.py)."""

    @property
    def person(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def sentence(self) -> str: ...

    @property
    def address(self) -> str:
        """Where it leads: a path of this server, with its query."""
        ...

    @property
    def at(self) -> int:
        """Microseconds since the epoch, UTC."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """How a person wants their notices."""

    mail: MailChoice = USUAL


@dataclass(frozen=True, slots=True)
class _Kept:
    """A notice that waits."""

    number: int
    person: str
    kind: str
    sentence: str
    address: str
    at: int
    tries: int


class Delivery:
    """The notices of one team on their way. Safe from any thread; close it."""

    def __init__(
        self,
        team: Team,
        *,
        base: str = "",
        mailer: Mailer | None = None,
        clock: Callable[[], int] = now,
    ) -> None:
        """`base` is what the addresses of this server begin with, and can be set later. Without a `mailer` no mail is
        sent.
        """
        self._team = team
        self.base = base
        self._mailer = mailer
        self._clock = clock
        self._sent: dict[str, deque[int]] = {}
        """When each person was sent mails of single notices."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._news = self._stops = False

    # What a person wants.

    @property
    def has_mail(self) -> bool:
        """Whether mail can be sent."""
        return self._mailer is not None

    def choice(self, person: str) -> Choice:
        """How a person wants their notices."""
        row = self._team.database.row("SELECT mail FROM delivery_choices WHERE person = ?", person)
        return Choice(*row) if row is not None else Choice()

    def choose_mail(self, person: str, mail: MailChoice) -> None:
        """Have a person's notices mailed at once, once a day, or never. Raises BadContent for another choice."""
        if mail not in MAIL_CHOICES:
            raise BadContent(f"Notices are mailed {', '.join(MAIL_CHOICES)}.")
        with self._team.database.writing(renews=False) as connection:
            self._has_row(connection, person)
            connection.execute("UPDATE delivery_choices SET mail = ? WHERE person = ?", (mail, person))
            if mail == "never":
                connection.execute(
                    "DELETE FROM deliveries WHERE person = ? AND channel <> 'webhook'", (person,)
                )

    def _has_row(self, connection: Writing, person: str) -> None:
        connection.execute(
            "INSERT INTO delivery_choices VALUES (?, ?, '', '', 0, '') ON CONFLICT DO NOTHING",
            (person, USUAL),
        )

    # Notices.

    def take(self, notice: Notice) -> None:
        """Have a notice delivered as its person wants it; returns at once."""
        choice, moment = self.choice(notice.person), self._clock()
        wanted: list[tuple[str, int]] = []
        if self._mailer is not None and choice.mail == "at once" and self._may_mail(notice.person, moment):
            wanted.append(("mail", moment))
        elif self._mailer is not None and choice.mail != "never":
            wanted.append(("digest", self._digest_due(notice.person, moment)))
        if not wanted:
            return
        kept = json.dumps([notice.kind, notice.sentence, notice.address, notice.at])
        with self._team.database.writing(renews=False) as connection:
            for channel, due in wanted:
                connection.execute(
                    "INSERT INTO deliveries (person, channel, notice, due) VALUES (?, ?, ?, ?)",
                    (notice.person, channel, kept, due),
                )
            connection.execute(
                "DELETE FROM deliveries WHERE person = ? AND number <= (SELECT number FROM deliveries "
                "WHERE person = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (notice.person, notice.person, MOST),
            )
        with self._changed:
            self._news = True
            self._changed.notify_all()

    def _may_mail(self, person: str, moment: int) -> bool:
        """Whether one more mail of a single notice may be sent, which is then counted."""
        times = self._sent.setdefault(person, deque(maxlen=AT_ONCE))
        if len(times) == AT_ONCE and times[0] > moment - 3600 * _MICRO:
            return False
        times.append(moment)
        return True

    def _digest_due(self, person: str, moment: int) -> int:
        row = self._team.database.row("SELECT digested FROM delivery_choices WHERE person = ?", person)
        last = int(row["digested"]) if row is not None else 0
        return max(moment + GATHERED * _MICRO, last + DAY * _MICRO)

    # Sending.

    def start(self) -> None:
        """Deliver from now on, in a thread."""
        self._thread = threading.Thread(target=self._work, name="forky-delivery", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop delivering; what waits is kept."""
        with self._changed:
            self._stops = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(15.0)

    def _work(self) -> None:
        while True:
            try:
                self.deliver_due()
            except ForkyError as error:
                events.thread_failed(thread="forky-delivery", fault=error)
            with self._changed:
                if not self._news and not self._stops:
                    self._changed.wait(self._pause())
                self._news = False
                if self._stops:
                    return

    def _pause(self) -> float:
        """Seconds until the next delivery is due, a minute at most: another process may add one."""
        row = self._team.database.row("SELECT min(due) AS due FROM deliveries WHERE channel <> 'webhook'")
        if row is None or row["due"] is None:
            return 60.0
        return min(60.0, max(0.05, (int(row["due"]) - self._clock()) / _MICRO))

    def deliver_due(self) -> None:
        """Deliver what is due now."""
        moment = self._clock()
        for kept in self._due("mail", moment):
            if self._still_for(kept):
                self._mail([kept])
            self._drop([kept])
        for person in {kept.person for kept in self._due("digest", moment)}:
            self._digest(person, moment)

    def _digest(self, person: str, moment: int) -> None:
        """One mail of all notices that wait for it."""
        rows = self._team.database.rows(
            "SELECT number, person, notice, tries FROM deliveries WHERE channel = 'digest' AND person = ? "
            "ORDER BY number",
            person,
        )
        waiting = [_kept(row) for row in rows]
        shown = [kept for kept in waiting if self._still_for(kept)]
        if shown:
            self._mail(shown)
        with self._team.database.writing(renews=False) as connection:
            self._has_row(connection, person)
            connection.execute("UPDATE delivery_choices SET digested = ? WHERE person = ?", (moment, person))
            self._drop(waiting)

    def _mail(self, notices: Sequence[_Kept]) -> None:
        member = self._team.members.find(notices[0].person)
        if member is None or not member.email or self._mailer is None:
            return
        lines = [(kept.sentence, f"{self.base}{kept.address}") for kept in notices]
        settings = f"{self.base}/people?tab=me"
        letter = notice_letter if len(lines) == 1 else digest_letter
        self._mailer.send(letter(member.email, lines, settings))

    def _still_for(self, kept: _Kept) -> bool:
        """Whether the person is still here and may see what a notice leads to."""
        place = urlsplit(kept.address)
        try:
            team = self._team.of(workspace_of_path(place.path))
        except NotFound:  # The workspace was archived meanwhile.
            return False
        if not team.members.role_of(kept.person):
            return False
        named = parse_qs(place.query).get("c")
        return not named or bool(team.sharing.role_in(ConversationId(named[0]), kept.person))

    def _due(self, channel: str, moment: int) -> list[_Kept]:
        """What is due, which no other process delivers for the next `TAKEN` seconds."""
        due = (
            "SELECT number, person, notice, tries FROM deliveries WHERE channel = ? AND due <= ? "
            "ORDER BY number LIMIT 1000"
        )
        if not self._team.database.rows(due, channel, moment):
            return []
        with self._team.database.writing(renews=False) as connection:
            rows = self._team.database.rows(due, channel, moment)
            connection.executemany(
                "UPDATE deliveries SET due = ? WHERE number = ?",
                [(moment + TAKEN * _MICRO, row["number"]) for row in rows],
            )
        return [_kept(row) for row in rows]

    def _drop(self, notices: Sequence[_Kept]) -> None:
        with self._team.database.writing(renews=False) as connection:
            connection.executemany(
                "DELETE FROM deliveries WHERE number = ?", [(kept.number,) for kept in notices]
            )


def _kept(row: TableRow) -> _Kept:
    kind, sentence, address, at = json.loads(row["notice"])
    return _Kept(row["number"], row["person"], kind, sentence, address, at, row["tries"])
