"""Sends mail by the operator's SMTP server, in a thread of its own, so that no page and no sign-in waits for it.

What the server does not take is tried again, for as long as the mail is of use; what does not get through at all is a
line in the log and a sentence in Settings. Nothing is sent unencrypted, unless the operator has switched that off.
"""

from __future__ import annotations

import heapq
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from forky_core.model.errors import ForkyError
from forky_core.observability import events
from forky_core.settings import SmtpSettings

MOST = 1_000
"""Mails that may wait; one more is not taken."""
PAUSES = (5.0, 30.0, 120.0, 600.0, 1800.0)
"""Seconds before the second try and those after it; the last one is repeated."""
PATIENCE = 20.0
"""Seconds that the mail server has for each of its answers."""
LEAVING = 5.0
"""Seconds that a server which stops gives the mail that has not been tried yet."""
DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one person."""

    to: str
    subject: str
    text: str
    purpose: str
    """A word for the log, as "sign-in"."""
    useful: float = DAY
    """Seconds after which there is no use in sending it."""


class MailFailed(ForkyError):
    """The mail server did not take a mail."""

    def __init__(self, reason: str, message: str, hint: str = "", *, for_good: bool = False) -> None:
        """`reason` is a word or two, for the log; `for_good` says that the same mail would be refused again."""
        super().__init__(message, hint)
        self.reason = reason
        self.for_good = for_good


@dataclass(frozen=True, slots=True)
class MailStatus:
    """What became of the mail of this process."""

    sent: int = 0
    lost: int = 0
    """Mails that did not get through and are not tried again."""
    waiting: int = 0
    problem: str = ""
    """Why the last try failed, as a sentence; "" if it succeeded or there was none."""


@dataclass(order=True, slots=True)
class _Job:
    due: float
    number: int
    mail: Mail = field(compare=False)
    until: float = field(compare=False)
    tries: int = field(default=0, compare=False)


class Mailer:
    """Hands mail to one server. Safe from any thread; close it."""

    def __init__(
        self,
        server: SmtpSettings,
        *,
        trusts: ssl.SSLContext | None = None,
        pauses: Sequence[float] = PAUSES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`trusts` says which certificates count; without it those that this machine trusts."""
        self.server = server
        self._trusts = trusts
        self._pauses = pauses
        self._clock = clock
        self._changed = threading.Condition()
        self._waiting: list[_Job] = []
        self._working: Mail | None = None
        self._number = 0
        self._status = MailStatus()
        self._thread: threading.Thread | None = None
        self._stops = False

    @property
    def status(self) -> MailStatus:
        with self._changed:
            waiting = len(self._waiting) + (self._working is not None)
            return MailStatus(self._status.sent, self._status.lost, waiting, self._status.problem)

    def send(self, mail: Mail) -> bool:
        """Have a mail sent soon; returns at once. False if too many wait already."""
        with self._changed:
            if self._stops or len(self._waiting) >= MOST:
                self._lose(mail, 0, MailFailed("too many", "Too many mails wait to be sent."))
                return False
            now = self._clock()
            self._number += 1
            heapq.heappush(self._waiting, _Job(now, self._number, mail, now + mail.useful))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="forky-mail", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return True

    def send_now(self, mail: Mail) -> None:
        """Send a mail and wait until the server has taken it, up to a minute. Raises MailFailed if it does not."""
        try:
            self._hand_over(mail)
        except MailFailed as error:
            events.mail_failed(purpose=mail.purpose, reason=error.reason, tries=1, again=False)
            self._note(error)
            raise
        events.mail_sent(purpose=mail.purpose, tries=1)
        self._note(None)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to send; False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and self._working is None, seconds)

    def close(self) -> None:
        """Send what has not been tried yet, within `LEAVING` seconds, and give the rest up."""
        with self._changed:
            self._stops = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(LEAVING)
        with self._changed:
            left, self._waiting = self._waiting, []
        for job in left:
            self._lose(job.mail, job.tries, MailFailed("server stops", "The server was stopped."))

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.tries += 1
            failed: MailFailed | None = None
            try:
                self._hand_over(job.mail)
            except MailFailed as error:
                failed = error
            self._settle(job, failed)

    def _next(self) -> _Job | None:
        """The next mail that is due; waits for it. None when the server stops and nothing new is left."""
        with self._changed:
            while True:
                first = self._waiting[0] if self._waiting else None
                if first is not None and first.due <= self._clock():
                    heapq.heappop(self._waiting)
                    self._working = first.mail
                    return first
                if self._stops:
                    return None
                self._changed.wait(first.due - self._clock() if first is not None else None)

    def _settle(self, job: _Job, failed: MailFailed | None) -> None:
        with self._changed:
            self._working = None
            if failed is None:
                events.mail_sent(purpose=job.mail.purpose, tries=job.tries)
                self._note(None)
            else:
                due = self._clock() + self._pauses[min(job.tries, len(self._pauses)) - 1]
                again = not failed.for_good and due <= job.until and not self._stops
                if again:
                    job.due = due
                    heapq.heappush(self._waiting, job)
                    events.mail_failed(
                        purpose=job.mail.purpose, reason=failed.reason, tries=job.tries, again=True
                    )
                    self._note(failed)
                else:
                    self._lose(job.mail, job.tries, failed)
            self._changed.notify_all()

    def _lose(self, mail: Mail, tries: int, why: MailFailed) -> None:
        events.mail_failed(purpose=mail.purpose, reason=why.reason, tries=tries, again=False)
        with self._changed:
            self._status = MailStatus(self._status.sent, self._status.lost + 1, problem=str(why))

    def _note(self, failed: MailFailed | None) -> None:
        with self._changed:
            sent = self._status.sent + (failed is None)
            self._status = MailStatus(sent, self._status.lost, problem=str(failed) if failed else "")

    def _hand_over(self, mail: Mail) -> None:
        """Raises MailFailed."""
        message = _message(mail, self.server.sender)
        try:
            with self._connected() as connection:
                if self.server.user:
                    connection.login(self.server.user, self.server.password)
                connection.send_message(message, self.server.sender, [mail.to])
        except (OSError, smtplib.SMTPException, UnicodeError) as error:
            raise _failure(error, self.server) from error

    def _connected(self) -> smtplib.SMTP:
        """An open connection, encrypted if the settings ask for it."""
        server, name = self.server, socket.gethostname()
        named = name if "." in name else "[127.0.0.1]"  # Python would ask the network for a full name.
        if server.security == "tls":
            return smtplib.SMTP_SSL(
                server.host, server.port, named, timeout=PATIENCE, context=self._trusted()
            )
        connection = smtplib.SMTP(server.host, server.port, named, timeout=PATIENCE)
        if server.security == "starttls":
            try:
                connection.starttls(context=self._trusted())
            except BaseException:
                connection.close()
                raise
        return connection

    def _trusted(self) -> ssl.SSLContext:
        if self._trusts is None:
            self._trusts = ssl.create_default_context()
        return self._trusts


def _message(mail: Mail, sender: str) -> EmailMessage:
    """Raises MailFailed if the address is none that a mail can be sent to."""
    message = EmailMessage()
    try:
        message["From"] = Address("Forky", addr_spec=sender)
        message["To"] = Address(addr_spec=mail.to)
    except (ValueError, IndexError, MessageError) as error:
        raise MailFailed(
            "address", "No mail can be sent to the address of a recipient.", for_good=True
        ) from error
    message["Subject"] = " ".join(mail.subject.split())
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"  # So that no answering machine answers (RFC 3834).
    message.set_content(mail.text)
    return message


def _failure(error: Exception, server: SmtpSettings) -> MailFailed:
    """What went wrong, as a sentence for whoever runs Forky. It repeats no address of a person."""
    place = f"{server.host}:{server.port}"
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return MailFailed(
            "password",
            f"The mail server {place} does not accept the user and the password.",
            "Look at FORKY_SMTP_USER and its password.",
        )
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
        return MailFailed(
            "recipient",
            f"The mail server {place} refuses the address of a recipient (code {codes[0]}).",
            for_good=all(code >= 500 for code in codes),
        )
    if isinstance(error, smtplib.SMTPSenderRefused):
        return MailFailed(
            "sender",
            f"The mail server {place} refuses mail from {server.sender} (code {error.smtp_code}).",
            "Look at FORKY_SMTP_FROM.",
        )
    if isinstance(error, smtplib.SMTPNotSupportedError):
        if "STARTTLS" in str(error):
            return MailFailed(
                "no tls",
                f"The mail server {place} offers no encryption by STARTTLS, so that nothing was sent.",
                "Set FORKY_SMTP_SECURITY to tls, or to off for a server that you trust the way to.",
            )
        return MailFailed(
            "not supported",
            f"The mail server {place} cannot do what this mail or its settings need.",
            for_good=True,
        )
    if isinstance(error, smtplib.SMTPResponseException):
        return MailFailed(
            "refused",
            f"The mail server {place} refused a mail (code {error.smtp_code}).",
            for_good=error.smtp_code >= 500,
        )
    if isinstance(error, ssl.SSLError):
        return MailFailed(
            "certificate" if isinstance(error, ssl.SSLCertVerificationError) else "tls",
            f"No trusted connection to the mail server {place} could be made.",
            "Look at its certificate, and at FORKY_SMTP_SECURITY: tls (port 465) or starttls (port 587).",
        )
    if isinstance(error, socket.gaierror):
        return MailFailed("no such host", f"There is no mail server named {server.host}.", "FORKY_SMTP_HOST.")
    return MailFailed(
        "no answer", f"The mail server {place} does not answer.", "Look at FORKY_SMTP_HOST and _PORT."
    )
