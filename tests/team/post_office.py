"""A real mail server on this machine (aiosmtpd), which keeps what it takes."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from forky_core.settings import SmtpSecurity, SmtpSettings
from tests.app_server import free_port

SENDER = "forky@example.org"
USER, PASSWORD = "forky", "a password of the mail server"


@dataclass
class PostOffice:
    """What came in, and what the server answers from now on."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """Answers to the next mails in the place of taking them, as "451 Later"."""
    refuses: str = ""
    """A recipient that is refused."""
    encrypted: list[bool] = field(default_factory=list)
    """Whether each mail came over TLS."""

    def settings(self, security: SmtpSecurity = "off", *, user: str = "", password: str = "") -> SmtpSettings:
        return SmtpSettings("127.0.0.1", SENDER, self.port, security, user, password)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a server sends here."""
        return {
            "FORKY_SMTP_HOST": "127.0.0.1",
            "FORKY_SMTP_PORT": str(self.port),
            "FORKY_SMTP_SECURITY": "off",
            "FORKY_SMTP_FROM": SENDER,
        }

    def to(self, address: str) -> list[EmailMessage]:
        return [mail for mail in self.mails if mail["To"] == address]

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if address == self.refuses:
            return "550 Nobody of that name"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        if self.answers:
            return self.answers.pop(0)
        self.encrypted.append(server.transport.get_extra_info("sslcontext") is not None)
        mail = message_from_bytes(envelope.original_content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"


def links(mail: EmailMessage) -> list[str]:
    """The addresses in a mail."""
    return re.findall(r"http\S+", mail.get_content())


@contextmanager
def post_office(*, tls: ssl.SSLContext | None = None, implicit: bool = False) -> Iterator[PostOffice]:
    """With `tls` it offers STARTTLS, or with `implicit` begins encrypted, and asks for `USER` and `PASSWORD`."""
    office = PostOffice(free_port())

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        fits = isinstance(data, LoginPassword) and data == LoginPassword(USER.encode(), PASSWORD.encode())
        return AuthResult(success=fits, handled=False)

    controller = Controller(
        office,
        hostname="127.0.0.1",
        port=office.port,
        loop=asyncio.new_event_loop(),
        ssl_context=tls if implicit else None,
        tls_context=None if implicit else tls,
        authenticator=authenticate if tls is not None else None,
        auth_required=tls is not None,
        auth_require_tls=not implicit,
    )
    controller.start()
    try:
        yield office
    finally:
        controller.stop()


def certificate(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate for this machine that nobody trusts, and a client's that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    begins = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + dt.timedelta(days=3))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cadata=made.public_bytes(serialization.Encoding.PEM).decode())
