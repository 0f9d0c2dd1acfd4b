"""Opening and saving Forky chat files; a crash while saving leaves the old file or the new one."""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from forky_core.formats.files.source import ArchiveFiles, OpenedDocument, opened, sample
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.page import page_values
from forky_core.formats.forky_file.reading import is_ours, read_chat
from forky_core.formats.forky_file.writing import written
from forky_core.model.errors import BadContent
from forky_core.model.media import LARGEST_FILE

CHAT = "chat.forky.jsonl"
"""The member of a `.forky.zip` that holds the conversation; its attachments are members in `files/`."""


def load(path: Path) -> Chat:
    """Read the conversation of a `.forky.jsonl` or a `.forky.zip`.

    Raises:
        BadContent: it cannot be opened, is of another format, or is inconsistent.
    """
    with opened(path) as archive:
        for document in archive.documents:
            if is_ours(sample(document)):
                return read_document(document, archive.beside)
    raise BadContent(f"“{path.name[:100]}” is no Forky chat file.", "`forky import` reads other formats.")


def read_document(document: OpenedDocument, beside: ArchiveFiles) -> Chat:
    """Read the conversation of a document, with its attachments from the archive."""

    def member(name: str) -> bytes:
        with beside.members[name]() as stream:
            return stream.read(LARGEST_FILE + 1)

    values = page_values(document.text()) if document.shape == "text" else document.values()
    return read_chat(values, member)


def save(chat: Chat, path: Path) -> None:
    """Write the file anew, with attachments inside it, or as members of an archive if its name ends in `.zip`.

    Raises:
        BadContent: it cannot be written there.
    """
    if path.suffix.lower() == ".zip":
        with replacing(path) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            with packed.open(_info(CHAT), "w") as member:
                for row in written(chat, files=False):
                    member.write(row.encode())
            for blob in chat.blobs.values():
                packed.writestr(_info(f"files/{blob.sha256}"), blob.content)
        return
    with replacing(path) as out:
        for row in written(chat):
            out.write(row.encode())


def _info(name: str) -> zipfile.ZipInfo:
    """An archive member without a time, so that the same conversation gives the same archive."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


@contextmanager
def replacing(path: Path, *, usual: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` once it is complete.

    It has the `usual` permissions, without the umask of the process, or those of the file that it replaces, since
    its owner means to use the file in that place.

    Raises:
        BadContent: it cannot be written; the former file is still there, and the new one is removed.
    """
    unfinished: Path | None = None
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        unfinished = path.with_name(f".{path.name[:60]}-{secrets.token_hex(8)}")
        opening = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(unfinished, opening, usual if mode is None else mode & 0o600), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            unfinished.chmod(mode)
        unfinished.replace(path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise BadContent(f"“{str(path)[:200]}” cannot be written: {why}. Nothing of it was kept.") from error
    finally:
        if unfinished is not None:
            with suppress(OSError, ValueError):
                unfinished.unlink()
