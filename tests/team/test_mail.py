"""Mail by a real SMTP server: encrypted or refused, tried again, bounded, and its failures told."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.model.errors import RequestError
from forky_core.settings import Settings, SmtpSecurity, SmtpSettings
from forky_core.team import mail as mailing
from forky_core.team.mail import Mail, Mailer, MailFailed
from tests.app_server import free_port
from tests.hangs import HANG
from tests.operating.page import blocks
from tests.team.post_office import PASSWORD, SENDER, USER, PostOffice, certificate, post_office

LETTER = Mail("ada@example.org", "Boats", "Grüße: https://forky.example/sign-in/mail/x\n", "test")


@pytest.fixture
def office() -> Iterator[PostOffice]:
    with post_office() as opened:
        yield opened


@pytest.fixture
def mailer(office: PostOffice) -> Iterator[Mailer]:
    made = Mailer(office.settings(), pauses=(0.05,))
    yield made
    made.close()


def test_a_mail_arrives_as_it_was_written(office: PostOffice, mailer: Mailer) -> None:
    assert mailer.send(LETTER) and mailer.wait(HANG)
    (mail,) = office.mails
    assert (mail["To"], mail["Subject"], mail["From"]) == ("ada@example.org", "Boats", f"Forky <{SENDER}>")
    assert mail.get_content().strip() == LETTER.text.strip()
    assert mail["Auto-Submitted"] == "auto-generated" and mail["Message-ID"].endswith("@example.org>")
    assert mailer.status == mailing.MailStatus(sent=1)


def test_sending_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mailer = Mailer(SmtpSettings("127.0.0.1", SENDER, silent.getsockname()[1], "off"))
        begun = time.process_time()
        for _ in range(100):
            assert mailer.send(LETTER)
        assert time.process_time() - begun < 1 and mailer.status.waiting == 100
        monkeypatch.setattr(mailing, "LEAVING", 0.1)
        mailer.close()
        assert mailer.status.waiting <= 1


@pytest.mark.filterwarnings(
    "ignore:Requiring AUTH while not requiring TLS"
)  # It does not see that all is TLS.
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_an_encrypted_server_is_trusted_by_its_certificate_alone(
    tmp_path: Path, security: SmtpSecurity
) -> None:
    server, trusting = certificate(tmp_path)
    with post_office(tls=server, implicit=security == "tls") as office:
        settings = office.settings(security, user=USER, password=PASSWORD)
        Mailer(settings, trusts=trusting).send_now(LETTER)
        assert office.encrypted == [True]
        with pytest.raises(MailFailed, match="No trusted connection") as refused:
            Mailer(settings, trusts=ssl.create_default_context()).send_now(LETTER)
        assert refused.value.reason == "certificate"
        wrong = office.settings(security, user=USER, password="wrong")
        with pytest.raises(MailFailed, match="does not accept the user and the password") as refused:
            Mailer(wrong, trusts=trusting).send_now(LETTER)
        assert "wrong" not in str(refused.value) and len(office.mails) == 1


def test_a_server_without_encryption_gets_nothing(office: PostOffice) -> None:
    with pytest.raises(MailFailed, match="offers no encryption by STARTTLS, so that nothing was sent"):
        Mailer(office.settings("starttls")).send_now(LETTER)
    assert office.mails == []


def test_what_is_refused_for_now_is_tried_again(office: PostOffice, mailer: Mailer) -> None:
    office.answers[:] = ["451 Later", "421 Later still"]
    mailer.send(LETTER)
    assert mailer.wait(HANG) and len(office.mails) == 1
    assert mailer.status.problem == "" and mailer.status.lost == 0


def test_what_is_refused_for_good_is_told_once_and_holds_up_nobody(
    office: PostOffice, mailer: Mailer, caplog: pytest.LogCaptureFixture
) -> None:
    office.refuses = LETTER.to
    mailer.send(LETTER)
    assert mailer.wait(HANG)
    assert "refuses the address of a recipient (code 550)" in mailer.status.problem
    assert (mailer.status.lost, mailer.status.sent) == (1, 0)
    assert "mail.failed" in caplog.text and LETTER.to not in caplog.text
    mailer.send(Mail("bob@example.org", "Boats", "Yes.", "test"))
    assert mailer.wait(HANG) and [mail["To"] for mail in office.mails] == ["bob@example.org"]


def test_a_mail_that_is_of_no_use_any_more_is_given_up(office: PostOffice, mailer: Mailer) -> None:
    office.answers[:] = ["451 Later"] * 1000
    mailer.send(Mail(LETTER.to, "Sign in", "https://x", "sign-in", useful=0.3))
    assert mailer.wait(HANG) and office.mails == []
    assert mailer.status.lost == 1 and "(code 451)" in mailer.status.problem
    assert 990 < len(office.answers) < 999


def test_more_mails_than_fit_are_refused(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "MOST", 3)
    office.answers[:] = ["451 Later"] * 1000
    mailer = Mailer(office.settings(), pauses=(HANG,))
    taken = [mailer.send(LETTER) for _ in range(10)]
    assert taken.count(False) >= 6 and mailer.status.waiting <= 4
    assert "Too many mails" in mailer.status.problem or mailer.status.lost == taken.count(False)
    mailer.close()
    assert mailer.status.waiting == 0


def test_a_server_that_stops_sends_what_was_not_tried_yet(office: PostOffice) -> None:
    mailer = Mailer(office.settings())
    for _ in range(5):
        mailer.send(LETTER)
    mailer.close()
    assert len(office.mails) == 5 and not mailer.send(LETTER)
    assert not [one for one in threading.enumerate() if one.name == "forky-mail"]


def test_a_server_that_is_not_there_is_named() -> None:
    port = free_port()
    with pytest.raises(MailFailed, match=f"127.0.0.1:{port} does not answer"):
        Mailer(SmtpSettings("127.0.0.1", SENDER, port, "off")).send_now(LETTER)


@pytest.mark.parametrize("to", ["a@b\r\nBcc: eve@evil.example", "a,b@c", "@", "", "a b@c", "x" * 400])
def test_an_odd_address_adds_no_line_to_a_mail(office: PostOffice, to: str) -> None:
    with pytest.raises(MailFailed):
        Mailer(office.settings()).send_now(Mail(to, "Boats", "Yes.", "test"))
    assert office.mails == []


def test_a_subject_of_several_lines_is_one(office: PostOffice) -> None:
    Mailer(office.settings()).send_now(Mail(LETTER.to, "Boats\r\nBcc: eve@evil.example", "Yes.", "test"))
    (mail,) = office.mails
    assert mail["Bcc"] is None and mail["Subject"] == "Boats Bcc: eve@evil.example"


def test_settings_say_which_server(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("hush\n")
    variables = {
        "FORKY_SMTP_HOST": "mail.example.org",
        "FORKY_SMTP_FROM": SENDER,
        "FORKY_SMTP_USER": "forky",
        "FORKY_SMTP_PASSWORD_FILE": str(file),
    }
    settings = Settings.from_environment(variables)
    assert settings.smtp == SmtpSettings("mail.example.org", SENDER, 587, "starttls", "forky", "hush")
    assert "hush" not in repr(settings)
    assert Settings.from_environment({}).smtp is None
    tls = Settings.from_environment(variables | {"FORKY_SMTP_SECURITY": "tls"}).smtp
    assert tls is not None and tls.port == 465


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FORKY_SMTP_FROM", ""),
        ("FORKY_SMTP_FROM", "nobody"),
        ("FORKY_SMTP_HOST", "smtp://mail"),
        ("FORKY_SMTP_PORT", "none"),
        ("FORKY_SMTP_PORT", "70000"),
        ("FORKY_SMTP_SECURITY", "ssl"),
        ("FORKY_SMTP_SECURITY", "off"),
        ("FORKY_SMTP_PASSWORD", ""),
        ("FORKY_SMTP_PASSWORD_FILE", "/nowhere"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(name: str, value: str) -> None:
    fine = {
        "FORKY_SMTP_HOST": "mail.example.org",
        "FORKY_SMTP_FROM": SENDER,
        "FORKY_SMTP_USER": "forky",
        "FORKY_SMTP_PASSWORD": "hush",
    }
    with pytest.raises(RequestError, match=name.partition("_PASSWORD")[0]):
        Settings.from_environment(fine | {name: value})


def test_the_example_of_the_manual_is_understood(tmp_path: Path) -> None:
    (text,) = blocks("mail")
    lines = dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))
    file = tmp_path / "password"
    file.write_text("hush\n")
    settings = Settings.from_environment(lines | {"FORKY_SMTP_PASSWORD_FILE": str(file)}).smtp
    assert settings == SmtpSettings("smtp.example.org", SENDER, 587, "starttls", "forky", "hush")
