"""Notices on their way: by a real mail server, for whoever may still see what they are about."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from forky_core.model.errors import BadContent
from forky_core.team import delivery as delivering
from forky_core.team.delivery import Delivery
from forky_core.team.mail import Mailer
from forky_core.team.members import Member
from forky_core.team.roles import Role
from tests.builders import talk
from tests.hangs import HANG
from tests.programs import CHECKOUT
from tests.team.people import DAY, Office, office
from tests.team.post_office import PostOffice, post_office

TEAM_MD = CHECKOUT / "docs" / "team.md"
BASE = "https://forky.example"
HOUR = 3600 * 1_000_000


@dataclass(frozen=True)
class Told:
    """A notice, as the inbox has it."""

    person: str
    sentence: str = "Bob mentioned you in “Boats”."
    address: str = "/people"
    kind: str = "mention"
    at: int = 1_700_000_000_000_000


class Post:
    """A team whose notices go by mail."""

    def __init__(self, here: Office, mails: PostOffice, mailer: Mailer) -> None:
        self.here, self.mails, self.mailer = here, mails, mailer
        self.ada = self._person("Ada", Role.OWNER)
        self.bob = self._person("Bob", Role.EDITOR)
        self.delivery = Delivery(here.team, base=BASE, mailer=mailer, clock=here.clock)

    def _person(self, name: str, role: Role) -> Member:
        return self.here.team.members.add(name, role, email=f"{name.lower()}@example.org")

    def tell(self, *notices: Told) -> None:
        for notice in notices:
            self.delivery.take(notice)

    def deliver(self, *, after: int = 0) -> list[str]:
        """The subjects of what is mailed when so many microseconds have passed."""
        self.here.clock.at += after
        before = len(self.mails.mails)
        thread = threading.Thread(target=self.delivery.deliver_due)
        thread.start()
        thread.join(HANG)
        assert self.mailer.wait(HANG)
        return [mail["Subject"] for mail in self.mails.mails[before:]]

    @property
    def waiting(self) -> int:
        return len(self.here.team.database.rows("SELECT 1 FROM deliveries"))


@pytest.fixture
def post() -> Iterator[Post]:
    with post_office() as mails, office() as here:
        mailer = Mailer(mails.settings(), pauses=(0.05,))
        yield Post(here, mails, mailer)
        mailer.close()


def test_a_person_gets_each_notice_at_once_all_of_a_day_together_or_none(post: Post) -> None:
    post.delivery.choose_mail(post.ada.id, "at once")
    post.tell(
        Told(post.ada.id), Told(post.ada.id, "Bob replied."), Told(post.bob.id), Told(post.bob.id, "And.")
    )
    assert post.deliver() == ["Bob mentioned you in “Boats”.", "Bob replied."]
    assert f"{BASE}/people" in post.mails.mails[0].get_content()
    assert post.deliver(after=HOUR // 2) == []
    assert post.deliver(after=HOUR) == ["2 news from Forky"]
    assert post.mails.mails[-1]["To"] == "bob@example.org"
    post.tell(Told(post.bob.id, "Once more."))
    assert post.deliver(after=2 * HOUR) == [], "one a day"
    assert post.deliver(after=DAY) == ["Once more."]
    post.tell(Told(post.bob.id))
    post.delivery.choose_mail(post.bob.id, "never")
    post.tell(Told(post.bob.id))
    assert post.deliver(after=2 * DAY) == [] and post.waiting == 0


def test_nothing_is_sent_of_what_somebody_may_not_see_any_more(post: Post) -> None:
    hers = talk(post.here.seen_by(post.ada).create("Boats"), "Hello.", "Yes.")
    sharing = post.here.team.sharing
    sharing.share(hers.id, post.bob.id, Role.VIEWER, by=post.ada.id)
    about = Told(post.bob.id, address=f"/?c={hers.id}&m=x")
    post.tell(about)
    assert post.deliver(after=2 * HOUR) == ["Bob mentioned you in “Boats”."]
    post.tell(about, Told(post.bob.id, "You are a viewer."))
    sharing.share(hers.id, post.bob.id, Role.NONE, by=post.ada.id)
    assert post.deliver(after=2 * DAY) == ["You are a viewer."]
    post.tell(Told(post.bob.id))
    post.here.team.members.remove(post.bob.id, by=post.ada.id)
    assert post.deliver(after=2 * DAY) == [] and post.waiting == 0


def test_a_flood_becomes_the_mail_of_the_day_and_takes_no_room_without_bound(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "MOST", 50)
    post.delivery.choose_mail(post.ada.id, "at once")
    post.tell(*(Told(post.ada.id, f"Number {number}.") for number in range(100)))
    assert post.waiting == 50
    assert len(post.deliver()) <= delivering.AT_ONCE
    assert post.deliver(after=2 * HOUR)[-1].endswith("news from Forky")


def test_a_name_that_would_break_a_mail_does_not(post: Post) -> None:
    odd = "Ada\r\nBcc: eve@evil.example\r\n\r\n\u202eevil\x00 mentioned you " + "x" * 10_000
    post.delivery.choose_mail(post.bob.id, "at once")
    post.tell(Told(post.bob.id, odd))
    (subject,) = post.deliver()
    assert len(subject) <= 400 and "\u202e" not in subject and post.mails.mails[0]["Bcc"] is None


def test_it_delivers_by_itself_and_keeps_what_waits_when_it_ends(post: Post) -> None:
    post.delivery.choose_mail(post.ada.id, "at once")
    post.delivery.start()
    post.tell(Told(post.ada.id))
    latest = time.monotonic() + HANG
    while not post.mails.mails and time.monotonic() < latest:
        time.sleep(0.02)
    post.delivery.close()
    post.tell(Told(post.ada.id, "Later."))
    assert post.waiting == 1 and len(post.mails.mails) == 1
    assert not [one for one in threading.enumerate() if one.name == "forky-delivery"]
    with pytest.raises(BadContent):
        post.delivery.choose_mail(post.ada.id, "hourly")  # type: ignore[arg-type]
