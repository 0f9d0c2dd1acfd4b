"""Forky chat files on disk: opened, and written so that a crash leaves the old one or the new one."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from forky_core.errors import BadContent
from forky_core.formats.files.source import Beside, OpenedDocument, opened, sample
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.page import page_values
from forky_core.formats.forky_file.reading import is_ours, read_chat
from forky_core.formats.forky_file.writing import written
from forky_core.matching.call import LARGEST_FILE

CHAT = "chat.forky.jsonl"
"""The member of a `.forky.zip` that holds the conversation; its attachments stand beside it in `files/`."""


def load(path: Path) -> Chat:
    """The conversation of a `.forky.jsonl` or a `.forky.zip`.

    Raises:
        BadContent: it cannot be opened, is of another format, or does not hold together.
    """
    with opened(path) as archive:
        for document in archive.documents:
            if is_ours(sample(document)):
                return read_document(document, archive.beside)
    raise BadContent(f"“{path.name[:100]}” is no Forky chat file.", "`forky import` reads other formats.")


def read_document(document: OpenedDocument, beside: Beside) -> Chat:
    """The conversation of a document, its attachments from the members beside it."""

    def member(name: str) -> bytes:
        with beside.members[name]() as stream:
            return stream.read(LARGEST_FILE + 1)

    values = page_values(document.text()) if document.shape == "text" else document.values()
    return read_chat(values, member)


def save(chat: Chat, path: Path) -> None:
    """Write the file anew: with attachments inside it, or, where its name ends in `.zip`, as members beside it.

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
    """A member without a time, so that the same conversation gives the same archive."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` once it is whole. BadContent where it cannot be written."""
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:60]}-", delete=False) as out:
            unfinished = Path(out.name)
            try:
                yield out
                out.flush()
                os.fsync(out.fileno())
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        unfinished.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        unfinished.replace(path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise BadContent(f"“{str(path)[:200]}” cannot be written: {why}.") from error
