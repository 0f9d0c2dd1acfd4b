"""Notices on their way: by a real mail server and to real webhooks, for whoever may still see what they are about."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from forky_core.gateway.webhooks import CheckedWebhooks
from forky_core.llm.addresses import AddressRefused
from forky_core.model.errors import BadContent, RequestError
from forky_core.team import delivery as delivering
from forky_core.team.delivery import Delivery, signature
from forky_core.team.mail import Mailer
from forky_core.team.members import Member
from forky_core.team.roles import Role
from tests.builders import talk
from tests.hangs import HANG
from tests.loops import finished
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


@dataclass
class Receiver:
    """A program that takes webhooks."""

    address: str
    taken: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    """What the next requests are answered with; 200 afterwards."""

    def wait(self, number: int) -> None:
        latest = time.monotonic() + HANG
        while len(self.taken) < number and time.monotonic() < latest:
            time.sleep(0.02)
        assert len(self.taken) == number


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made.taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(made.statuses.pop(0) if made.statuses else 200)
            self.send_header("location", f"{made.address}/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Receiver(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield made
    server.shutdown()
    thread.join(HANG)
    server.server_close()


class Post:
    """A team whose notices go by mail and webhook."""

    def __init__(self, here: Office, mails: PostOffice, mailer: Mailer) -> None:
        self.here, self.mails, self.mailer = here, mails, mailer
        self.ada = self._person("Ada", Role.OWNER)
        self.bob = self._person("Bob", Role.EDITOR)
        webhooks = CheckedWebhooks(private=True)
        self.delivery = Delivery(here.team, base=BASE, mailer=mailer, webhooks=webhooks, clock=here.clock)

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


# Webhooks.


def test_a_webhook_gets_a_notice_signed(post: Post, receiver: Receiver) -> None:
    secret = post.delivery.choose_webhook(post.ada.id, f"{receiver.address}/hook?key=1")
    post.delivery.choose_mail(post.ada.id, "never")
    post.tell(Told(post.ada.id, "“Grüße”", "/?c=x"[:1]))
    post.deliver()
    ((headers, body),) = receiver.taken
    assert headers["x-forky-signature"] == "sha256=" + signature(secret, headers["x-forky-timestamp"], body)
    told = json.loads(body)
    assert (told["sentence"], told["address"], told["kind"]) == ("“Grüße”", f"{BASE}/", "mention")
    assert told["at"] == "2023-11-14T22:13:20.000+00:00"
    example: dict[str, Any] = {}
    (text,) = re.findall(r"<!-- tested -->\n```python\n(.*?)```", TEAM_MD.read_text("utf-8"), re.DOTALL)
    exec(text, example)  # noqa: S102 - our own documentation
    sent = {name.title(): value for name, value in headers.items()}
    assert example["is_from_forky"](secret, sent, body)
    assert not example["is_from_forky"](secret, sent, body + b" ")
    assert signature("another", headers["x-forky-timestamp"], body) not in headers["x-forky-signature"]
    assert post.waiting == 0 and post.delivery.choice(post.ada.id).problem == ""


def test_what_a_webhook_does_not_take_is_tried_again_for_a_while(post: Post, receiver: Receiver) -> None:
    post.delivery.choose_webhook(post.ada.id, receiver.address)
    post.delivery.choose_mail(post.ada.id, "never")
    receiver.statuses[:] = [500, 429]
    post.tell(Told(post.ada.id))
    for pause in (0, *delivering.PAUSES[:2]):
        post.deliver(after=(pause - 1) * 1_000_000)
        taken = len(receiver.taken)
        post.deliver(after=1_000_000)
        assert len(receiver.taken) in (taken, taken + 1)
    assert len(receiver.taken) == 3 and post.waiting == 0
    assert receiver.taken[0][1] == receiver.taken[2][1], "the same notice, with the same id"
    receiver.statuses[:] = [503] * 100
    post.tell(Told(post.ada.id))
    for _ in range(20):
        post.deliver(after=DAY)
    assert len(receiver.taken) == 3 + 1 + len(delivering.PAUSES) and post.waiting == 0
    assert "answered with status 503" in post.delivery.choice(post.ada.id).problem


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 404, 410])
def test_a_redirect_is_not_followed_and_a_refusal_not_repeated(
    post: Post, receiver: Receiver, status: int
) -> None:
    post.delivery.choose_webhook(post.ada.id, f"{receiver.address}/hook")
    receiver.statuses[:] = [status]
    post.tell(Told(post.ada.id))
    post.deliver()
    post.deliver(after=DAY)
    assert len(receiver.taken) == 1
    assert f"status {status}" in post.delivery.choice(post.ada.id).problem


def test_a_webhook_that_is_away_holds_up_nobody_else(post: Post, receiver: Receiver) -> None:
    post.delivery.choose_webhook(post.ada.id, "http://127.0.0.1:9/hook")
    post.delivery.choose_webhook(post.bob.id, receiver.address)
    post.tell(Told(post.ada.id), Told(post.bob.id))
    post.deliver()
    assert len(receiver.taken) == 1
    assert "does not answer" in post.delivery.choice(post.ada.id).problem


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "https://127.0.0.1/hook",
        "https://localhost.localdomain@10.0.0.1/",
        "https://10.0.0.1/hook",
        "https://[::1]/hook",
        "https://[::ffff:10.0.0.1]/",
        "https://2130706433/",
        "https://169.254.169.254/latest",
        "https://metadata.google.internal/",
        "https://printer.local/",
        "ftp://example.org",
        "https://ada:secret@example.org",
        "https://example.org/\r\nx: y",
        "https://exämple.org",
        "https://",
        "hook",
        "https://example.org/" + "x" * 600,
    ],
)
def test_an_address_that_only_this_server_reaches_is_refused(url: str) -> None:
    with pytest.raises(RequestError):
        CheckedWebhooks().fit(url)


def test_a_public_address_is_taken_as_it_is_and_a_private_one_where_the_operator_allows_it() -> None:
    assert CheckedWebhooks().fit(" https://example.org/hook?key=1 ") == "https://example.org/hook?key=1"
    assert CheckedWebhooks(private=True).fit("http://10.0.0.1:8080/") == "http://10.0.0.1:8080/"
    with pytest.raises(AddressRefused):
        CheckedWebhooks(private=True).fit("http://169.254.169.254/")


def test_a_name_that_leads_into_a_private_network_later_is_not_called(receiver: Receiver) -> None:
    port = receiver.address.rpartition(":")[2]

    async def rebound(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async def call(*, private: bool) -> None:
        hooks = CheckedWebhooks(private=private, resolver=rebound)
        await hooks.post(f"http://hooks.example:{port}/", b"{}", {})

    with pytest.raises(delivering.WebhookFailed, match="may not be asked"):
        finished(call(private=False))
    assert receiver.taken == []
    finished(call(private=True))
    assert len(receiver.taken) == 1


def test_where_there_are_none_none_is_set(post: Post) -> None:
    silent = Delivery(post.here.team, base=BASE)
    with pytest.raises(RequestError):
        silent.choose_webhook(post.ada.id, "https://example.org")
    silent.take(Told(post.ada.id))
    assert post.waiting == 0 and silent.choose_webhook(post.ada.id, "") == ""
    with pytest.raises(BadContent):
        silent.choose_mail(post.ada.id, "hourly")  # type: ignore[arg-type]


def test_it_delivers_by_itself_and_keeps_what_waits_when_it_ends(post: Post, receiver: Receiver) -> None:
    running = Delivery(post.here.team, base=BASE, webhooks=CheckedWebhooks(private=True))
    running.choose_webhook(post.ada.id, receiver.address)
    running.start()
    running.take(Told(post.ada.id))
    receiver.wait(1)
    running.close()
    running.take(Told(post.ada.id, "Later."))
    assert post.waiting == 1
    after = Delivery(post.here.team, base=BASE, webhooks=CheckedWebhooks(private=True))
    after.start()
    receiver.wait(2)
    after.close()
    assert not [one for one in threading.enumerate() if one.name == "forky-delivery"]
