"""Credentials for browsers: a password that the operator set, or otherwise a secret that is printed at the start.

A password is stored as its Argon2id hash, in a file that only its owner can read or in an environment variable.
Checking it is slow on purpose, runs in a thread, and is limited to the rate that `team.attempts.Attempts` allows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path
from typing import Protocol

from forky_core.model.errors import BadContent, RequestError
from forky_core.process.extras import needed_for

SHORTEST = 8
"""The fewest characters of a password."""
LONGEST = 1024
"""The most characters that are checked; a password is never longer."""


class Credential(Protocol):
    """Something that a person presents to sign in."""

    @property
    def id(self) -> str:
        """An id that changes when the credential does; it reveals nothing about the credential."""

    def fits(self, shown: str) -> bool:
        """Whether `shown` is the credential. It may take a tenth of a second: call it in a thread."""


class PrintedSecret:
    """256 random bits that are generated at each start, like Jupyter's token."""

    id = "secret"

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(32)

    def fits(self, shown: str) -> bool:
        return hmac.compare_digest(self.text.encode(), shown.encode("utf-8", "replace"))


class Password:
    """A password by its Argon2 hash (RFC 9106), in the textual form that argon2-cffi writes."""

    def __init__(self, hash: str) -> None:
        """Raises RequestError if this is not such a hash."""
        if not hash.startswith("$argon2"):
            raise RequestError(
                "What is set as the password's hash is no Argon2 hash.",
                "Make one for FORKY_PASSWORD_HASH: python -m forky_core password --hash",
            )
        self._hash = hash
        self.id = f"password:{hashlib.sha256(hash.encode()).hexdigest()[:16]}"

    def fits(self, shown: str) -> bool:
        # It is imported at the first attempt, since most servers have no password.
        with needed_for("A password", "app"):
            from argon2 import PasswordHasher  # noqa: PLC0415
            from argon2.exceptions import Argon2Error, InvalidHash  # noqa: PLC0415

        try:
            return len(shown) <= LONGEST and PasswordHasher().verify(self._hash, shown)
        except (Argon2Error, InvalidHash):
            return False


def hashed(password: str) -> str:
    """The Argon2id hash of a new password. Raises BadContent if it is too short or too long."""
    with needed_for("A password", "app"):
        from argon2 import PasswordHasher  # noqa: PLC0415 - only where one is set

    if not SHORTEST <= len(password) <= LONGEST:
        raise BadContent(
            f"A password has {SHORTEST} to {LONGEST} characters.", "A sentence makes a good one."
        )
    return PasswordHasher().hash(password)


class PasswordFile:
    """The hash of the password, kept in a file; changes by other processes take effect at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int] | None = None
        self._password: Password | None = None

    def password(self) -> Password | None:
        """The password that the file holds now; None if none is set.

        Raises RequestError if the file cannot be read or parsed, so that nobody can sign in because of that.
        """
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._seen = self._password = None
            return None
        except OSError as error:
            raise RequestError(f"{self.path} cannot be read: {error.strerror}.") from error
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._seen:
            try:
                self._password = Password(str(json.loads(self.path.read_text("utf-8"))["password"]))
            except (OSError, ValueError, TypeError, KeyError, RequestError) as error:
                raise RequestError(
                    f"{self.path} holds no password that can be read.",
                    "Set it anew: python -m forky_core password",
                ) from error
            self._seen = stamp
        return self._password

    def save(self, hash: str) -> None:
        """Store the hash of a password, readable for its owner only; sessions of the former one end."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
            opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(opened, "w", encoding="utf-8") as file:
                json.dump({"password": hash}, file)
            fresh.replace(self.path)
        except OSError as error:
            raise RequestError(f"{self.path} cannot be written: {error.strerror}.") from error

    def clear(self) -> bool:
        """Remove the password; False if there was none."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RequestError(f"{self.path} cannot be removed: {error.strerror}.") from error
        return True
