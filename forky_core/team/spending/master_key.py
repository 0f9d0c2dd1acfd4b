"""The key with which stored secrets are encrypted: in a file of its own, never in the database.

A secret is sealed with AES-256-GCM and bound to what it is for, so that a row copied to somebody else's place opens
nothing. The file holds one key a line, the newest first; while keys are replaced it holds the former one, too.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import threading
from contextlib import suppress
from pathlib import Path

from forky_core import private_files
from forky_core.extras import needed_for
from forky_core.model.errors import StoreError

_BYTES = 32
_NONCE = 12
_NAME = 8
"""Bytes of a key's sha256, by which a sealed secret names the key that opens it."""
_FORM = b"\x01"
_TOP = "# Forky encrypts the stored keys of model providers with this. Keep it apart from backups of the database."


class KeyLost(StoreError):
    """A secret cannot be opened, because its key is not in the file, or was not made for this place."""


class MasterKey:
    """The file with the key; safe from any thread and with other processes. The first `seal` makes it."""

    def __init__(self, file: Path | None) -> None:
        """None keeps the key in memory, and loses it when the process ends."""
        self.file = file
        self._lock = threading.RLock()
        self._keys: tuple[bytes, ...] = ()
        self._read_at: tuple[int, int, int] | None = None

    def __repr__(self) -> str:
        return f"MasterKey({self.file})"

    def seal(self, secret: str, place: str) -> bytes:
        """Encrypt a secret for a place, with the newest key. Raises StoreError if no key can be read or written."""
        with self._lock:
            keys = self._current() or self._made()
            return _sealed(keys[0], secret, place)

    def open(self, sealed: bytes, place: str) -> str:
        """Decrypt what `seal` made for the same place. Raises KeyLost if that cannot be done."""
        with self._lock:
            key = next((one for one in self._current() if _name(one) == sealed[1 : 1 + _NAME]), None)
        if key is None or sealed[:1] != _FORM:
            raise self._lost()
        with needed_for("Keeping keys", "sign-in"):
            from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - only where a key is kept
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - likewise

        nonce, text = sealed[1 + _NAME : 1 + _NAME + _NONCE], sealed[1 + _NAME + _NONCE :]
        try:
            return AESGCM(key).decrypt(nonce, text, place.encode()).decode()
        except (InvalidTag, ValueError) as error:
            raise KeyLost("A stored key was changed, and cannot be used.", "Enter it again.") from error

    def begin_rotation(self) -> None:
        """Put a new key before the ones in the file, which stay. Raises StoreError if the file cannot be written."""
        with self._lock:
            self._write((secrets.token_bytes(_BYTES), *self._current()))

    def end_rotation(self) -> None:
        """Remove all keys from the file but the newest."""
        with self._lock:
            self._write(self._current()[:1])

    def _current(self) -> tuple[bytes, ...]:
        """The keys as the file has them now; another process may have replaced them."""
        if self.file is None:
            return self._keys
        try:
            found = self.file.stat()
            as_of = (found.st_ino, found.st_mtime_ns, found.st_size)
            if as_of != self._read_at:
                self._keys, self._read_at = _keys_in(self.file.read_text("ascii")), as_of
        except FileNotFoundError:
            self._keys, self._read_at = (), None
        except (OSError, ValueError) as error:
            raise KeyLost(f"The key file {self.file} cannot be read.", "Correct FORKY_KEY_FILE.") from error
        return self._keys

    def _made(self) -> tuple[bytes, ...]:
        """The first key, in a new file; or those of another process that made it at the same moment."""
        key = secrets.token_bytes(_BYTES)
        if self.file is None:
            self._keys = (key,)
            return self._keys
        try:
            private_files.make_folder(self.file.parent)
            with suppress(FileExistsError):
                self._write((key,), new=True)
        except OSError as error:
            raise self._unwritable(error) from error
        keys = self._current()
        if not keys:
            raise KeyLost(f"The key file {self.file} holds no key.", "Put it back, or remove it.")
        return keys

    def _write(self, keys: tuple[bytes, ...], *, new: bool = False) -> None:
        """Write the file as a whole, so that no reader ever sees half of it."""
        if self.file is None:
            self._keys = keys
            return
        lines = [_TOP, *(base64.b64encode(key).decode() for key in keys), ""]
        part = self.file.with_name(f"{self.file.name}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(private_files.new_file(part), "w", encoding="ascii") as written:
                written.write("\n".join(lines))
                written.flush()
                os.fsync(written.fileno())
            if new:
                os.link(part, self.file)
                part.unlink()
            else:
                part.replace(self.file)
        except FileExistsError:
            part.unlink(missing_ok=True)
            raise
        except OSError as error:
            part.unlink(missing_ok=True)
            raise self._unwritable(error) from error

    def _lost(self) -> KeyLost:
        if self.file is None:
            return KeyLost("A stored key cannot be opened any more.", "Enter it again.")
        if not self.file.exists():
            return KeyLost(
                f"The key file {self.file} is missing, so a stored key cannot be opened.",
                "Put the file back, or enter the key again.",
            )
        return KeyLost(
            f"The key file {self.file} is not the one with which a key was stored.",
            "Put the former file back, or enter the key again.",
        )

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"The key file {self.file} cannot be written: {error.strerror}.",
            "Give FORKY_KEY_FILE a place that Forky can write to.",
        )


def _sealed(key: bytes, secret: str, place: str) -> bytes:
    with needed_for("Keeping keys", "sign-in"):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - only where a key is kept

    nonce = secrets.token_bytes(_NONCE)
    return _FORM + _name(key) + nonce + AESGCM(key).encrypt(nonce, secret.encode(), place.encode())


def _name(key: bytes) -> bytes:
    return hashlib.sha256(b"forky master key" + key).digest()[:_NAME]


def _keys_in(text: str) -> tuple[bytes, ...]:
    """The keys of a file's text. Raises ValueError for a line that is none."""
    lines = [line.strip() for line in text.splitlines()]
    keys = tuple(base64.b64decode(line, validate=True) for line in lines if line and not line.startswith("#"))
    if any(len(key) != _BYTES for key in keys):
        raise ValueError("a key has 32 bytes")
    return keys
