"""Where the contents of large files are, beside the database: an object store, or a folder that all processes share.

The database has a file's name, type and hash, and the address of its content. Each content that is put has an address
of its own, also where the same file was put before, so that whoever removes one cannot take another one's away.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from typing import Any

from forky_core.extras import needed_for
from forky_core.model.errors import ForkyError, StoreDamaged, StoreError

LARGEST_IN_THE_DATABASE = 256 * 1024
"""Bytes; what is larger goes elsewhere, where a place for it is named."""
_CONNECT = timedelta(seconds=5)
_ANSWER = timedelta(seconds=30)
_RETRIES = 3
_RETRIED_FOR = timedelta(seconds=8)


def put(place: str, workspace: str, sha256: str, content: bytes) -> str:
    """Keep a content below a place (`s3://bucket/folder`, `file:///folder`) and return its address.

    Raises:
        NotInstalled: the package for object stores is missing.
        StoreError: the place cannot be reached or written to.
    """
    of = hashlib.sha256(workspace.encode()).hexdigest()[:24]
    address = f"{place.rstrip('/')}/{of}/{sha256}-{secrets.token_hex(8)}"
    root, path = _split(address)
    with _saying(root):
        _package().put(_store(root), path, content)
    return address


def read(address: str, sha256: str) -> bytes:
    """The content at an address.

    Raises:
        NotInstalled: the package for object stores is missing.
        StoreDamaged: it is not there any more, or is another one.
        StoreError: the place cannot be reached.
    """
    root, path = _split(address)
    with _saying(root):
        try:
            content = bytes(_package().get(_store(root), path).bytes())
        except FileNotFoundError:
            raise StoreDamaged(
                f"The content of a file is not at {address} any more.",
                "Restore it there from a backup of that place.",
            ) from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise StoreDamaged(
            f"The content at {address} is not the one that was stored.",
            "Restore it from a backup of that place.",
        )
    return content


def remove(addresses: Iterable[str]) -> None:
    """Remove what is at these addresses; what cannot be removed now is left there, where nothing names it."""
    for address in addresses:
        root, path = _split(address)
        with suppress(StoreError), _saying(root):
            _package().delete(_store(root), path)


def _split(address: str) -> tuple[str, str]:
    """The store that an address is in, and the path there."""
    scheme, _, rest = address.partition("://")
    bucket, _, path = rest.partition("/")
    return f"{scheme}://{bucket}", path


def _package() -> Any:
    with needed_for("Keeping large files in an object store", "object-store"):
        import obstore  # noqa: PLC0415 - few have one
    return obstore


@cache
def _store(root: str) -> Any:
    """A store by its scheme and bucket; keys and the server's address are in the environment."""
    _package()
    from obstore.store import from_url  # noqa: PLC0415 - few have one

    if root.startswith("file:"):
        return from_url("file:///")
    return from_url(
        root,
        # Whoever names a server without TLS in the environment means it.
        client_options={"connect_timeout": _CONNECT, "timeout": _ANSWER, "allow_http": True},
        retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRIED_FOR},
    )


@contextmanager
def _saying(root: str) -> Iterator[None]:
    """What the package raises in this block becomes a StoreError with a sentence."""
    try:
        yield
    except ForkyError:
        raise
    except Exception as error:
        raise StoreError(
            f"The place for large files, {root}, cannot be used: {_cause(error)}",
            "See that it can be reached, and that the keys in the environment are allowed to read and write there.",
        ) from error


def _cause(error: Exception) -> str:
    """The first sentence of what the package says, which goes on with its own types."""
    return str(error).partition("\n")[0].strip()[:200]
