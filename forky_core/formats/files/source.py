"""Files as importers see them: single ones, and archives read member by member.

An archive comes from anywhere, so nothing in it is trusted: names with `..`, drives or absolute paths, links and
encrypted members are left out, the number of members, their sizes and their compression are bounded, and sizes are
counted while reading, not taken from the directory. Nothing is unpacked to disk but a database, which cannot be read
otherwise: to a temporary folder of its own.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from forky_core.formats.contract import Sample, Shape, Unreadable
from forky_core.formats.files import json_values
from forky_core.formats.files.encodings import GZIP, Unpacked, Utf8Stream, encoding_of
from forky_core.formats.files.json_window import JsonInput
from forky_core.formats.files.spools import spool
from forky_core.formats.files.tables import tables_of
from forky_core.model.errors import BadContent
from forky_core.model.media import LARGEST_FILE, media_type_of
from forky_core.model.parts import AttachmentPart, Json

MOST_MEMBERS = 100_000
LARGEST_MEMBER = 8_000_000_000
"""The most bytes of one member, unpacked."""
MOST_SQUEEZED = 250
"""The highest compression ratio of a member of more than SMALL bytes: text reaches 20, a bomb 1,000."""
SMALL = 10_000_000
LONGEST_TEXT = 64_000_000
"""The most bytes of a text, which is read whole."""
LARGEST_COPY = 2_000_000_000
"""The most bytes of a database in an archive, which must be copied to be read."""
_HEAD = 1 << 16
_MAGIC = 64
"""Bytes that identify the kind of a file."""
_STEP = 1 << 20

Opener = Callable[[], AbstractContextManager[JsonInput]]


@dataclass(slots=True)
class OpenedDocument:
    """One file or member. Each read opens it anew."""

    name: str
    shape: Shape
    open: Opener
    path: Path | None = None
    """The file's path; None if it is in an archive or compressed."""
    wrapped: tuple[str, ...] = ()
    """The fields that lead to an array of conversations inside an object."""

    def values(self) -> Iterator[Json | Unreadable]:
        if not self.wrapped:
            yield from self._values()
            return
        for value in self._values():
            if isinstance(value, Unreadable):
                yield value
                continue
            found = value
            for key in self.wrapped:
                found = found.get(key) if isinstance(found, dict) else None
            yield from found if isinstance(found, list) else ()

    def _values(self) -> Iterator[Json | Unreadable]:
        with self.open() as stream:
            if self.shape == "lines":
                yield from json_values.lines(stream)
            elif self.shape in ("array", "object"):
                yield from json_values.elements(stream)

    def text(self) -> str:
        with self.open() as stream:
            data = stream.read(LONGEST_TEXT + 1)
        if len(data) > LONGEST_TEXT:
            raise BadContent(f"“{self.name[:100]}” is longer than {LONGEST_TEXT // 1_000_000} MB.")
        return data.decode("utf-8-sig", "replace")

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        if self.path is not None:
            yield self.path
            return
        with spool("member") as folder:
            copy = folder / "document"
            with self.open() as stream, copy.open("wb") as out:
                while data := stream.read(_STEP):
                    out.write(data)
                    if out.tell() > LARGEST_COPY:
                        raise BadContent(
                            f"“{self.name[:100]}” is longer than {LARGEST_COPY // 1_000_000} MB."
                        )
            yield copy


SQLITE = b"SQLite format 3\0"
"""How a database of SQLite begins."""


def document(name: str, open: Opener, path: Path | None = None) -> OpenedDocument:
    """The document, with its shape determined by its content. `path` is set if it is a file by itself.

    A compressed document is unpacked, and a text is read as UTF-8, whatever its encoding is.
    """
    with open() as stream:
        head = stream.read(_HEAD)
    if head.startswith(GZIP):
        most = max(SMALL, MOST_SQUEEZED * path.stat().st_size) if path is not None else LARGEST_MEMBER
        name, path, open = name.removesuffix(".gz"), None, _unpacked(open, name, most)
        with open() as stream:
            head = stream.read(_HEAD)
    if head.startswith(SQLITE):
        return OpenedDocument(name, "sqlite", open, path)
    open = _as_utf8(open, encoding_of(head))
    with open() as stream:
        return OpenedDocument(name, _shape(stream.read(_HEAD)), open, path)


def _unpacked(open: Opener, name: str, most: int) -> Opener:
    @contextmanager
    def opening() -> Iterator[JsonInput]:
        with open() as stream:
            yield Unpacked(stream, name, most)

    return opening


def _as_utf8(open: Opener, encoding: str) -> Opener:
    @contextmanager
    def opening() -> Iterator[JsonInput]:
        with open() as stream:
            yield Utf8Stream(stream, encoding)

    return opening


def _shape(head: bytes) -> Shape:
    first = json_values.first_character(io.BytesIO(head))
    if first == "[":
        return "array"
    if first == "{":
        return "lines" if _is_lines(head) else "object"
    return "text"


_LINES = ('{"type"', '{"kind":', '{"uuid"', '{"parentUuid"')
"""How the first line of a log begins."""


def _is_lines(head: bytes) -> bool:
    """Whether the first line is a whole object. A one-line file of one object reads the same either way."""
    line, broken, _ = head.decode("utf-8-sig", "replace").strip().partition("\n")
    try:
        json_values.parse(line)
    except ValueError:
        # One long object, or a first line longer than the head: it counts as lines if it begins like a line of a log.
        return not broken and line.startswith(_LINES) and len(head) == _HEAD
    return True


def sample(opened: OpenedDocument) -> Sample:
    """What `fits` may look at: the object, the first few elements or lines, or a database's tables."""
    if opened.shape == "sqlite":
        return Sample(opened.name, "sqlite", tables=tables_of(opened))
    if opened.shape == "text":
        return Sample(opened.name, "text", text=_head_of(opened))
    values: list[Json] = []
    for value in islice(opened.values(), _TRIED):
        if not isinstance(value, Unreadable):
            values.append(value)
        if len(values) == _LOOKED_AT:
            break
    return Sample(opened.name, opened.shape, tuple(values))


def behind_words(opened: OpenedDocument) -> Iterator[OpenedDocument]:
    """The JSON that begins in the first line of a text, behind words that a program has printed before it."""
    line = _head_of(opened).partition("\n")[0] if opened.shape == "text" else ""
    begins = min((at for sign in "{[" if (at := line.find(sign)) > 0), default=0)
    if not begins:
        return

    @contextmanager
    def opening() -> Iterator[JsonInput]:
        with opened.open() as stream:
            stream.read(len(line[:begins].encode()))
            yield stream

    yield document(opened.name, opening)


def _head_of(opened: OpenedDocument) -> str:
    with opened.open() as stream:
        return stream.read(_HEAD).decode("utf-8-sig", "replace")


def arrays_in(opened: OpenedDocument) -> Iterator[OpenedDocument]:
    """For an object, a document for each array of objects in it: some programs wrap another one's export so."""
    if opened.shape not in ("object", "lines"):
        return
    first = list(islice(opened.values(), 2))  # An object on one line reads like a file of one line.
    if len(first) != 1 or isinstance(first[0], Unreadable):
        return
    open_ends: list[tuple[tuple[str, ...], Json]] = [((), first[0])]
    while open_ends:
        path, value = open_ends.pop(0)
        if isinstance(value, dict) and len(path) < _DEEPEST_ARRAY:
            open_ends += [((*path, key), inner) for key, inner in value.items()]
        elif path and isinstance(value, list) and any(isinstance(item, dict) for item in value[:_LOOKED_AT]):
            yield replace(opened, shape="array", wrapped=path)


_DEEPEST_ARRAY = 3
"""Fields above an array of conversations."""
_LOOKED_AT = 8
"""Elements or lines in a sample: the first may be odd."""
_TRIED = 50
"""Elements or lines that are read for a sample: some may be broken."""


@dataclass(slots=True)
class ArchiveFiles:
    """The files of an archive (or none), and the bytes of those that messages need, until they are stored."""

    members: dict[str, Opener] = field(default_factory=dict)
    sums: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each member, its size and checksum from the archive's directory."""
    light: bool = False
    """Whether this is a preview, in which no member is read whole. A part then stands for every file of the same size
    and checksum, but its sha256 is not that of the bytes.
    """
    held: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    """For each attachment's sha256, a function that reads its bytes again."""

    attached: set[str] = field(default_factory=set)
    """The names of those that messages need."""
    _carried: list[str] = field(default_factory=list)
    """The keys of `held` whose bytes are in memory, because the document itself contained them."""

    def names(self) -> tuple[str, ...]:
        return tuple(self.members)

    def let_go(self) -> None:
        """Free bytes in memory that nobody has taken: those of conversations that are not wanted, or stored already."""
        for sha256 in self._carried:
            self.held.pop(sha256, None)
        self._carried.clear()

    def taken(self, part: AttachmentPart) -> tuple[AttachmentPart, Callable[[], bytes]]:
        """The part and a function that reads its bytes, which are no longer held here."""
        return part, self.held.pop(part.sha256)

    def attach(self, name: str, media_type: str = "", shown: str = "") -> AttachmentPart | None:
        opener = self.members.get(name)
        if opener is None:
            return None
        self.attached.add(name)
        if self.light:
            return self._stand_in(name, opener, media_type, shown or PurePosixPath(name).name)

        def read() -> bytes:
            with opener() as stream:
                return stream.read(LARGEST_FILE + 1)

        try:
            content = read()
        except BadContent:
            return None
        return self._part(content, media_type, shown or PurePosixPath(name).name, read)

    def _stand_in(self, name: str, opener: Opener, media_type: str, shown: str) -> AttachmentPart | None:
        size, checksum = self.sums[name]
        if not 0 < size <= LARGEST_FILE:
            return None
        try:
            with opener() as stream:
                begins = stream.read(_MAGIC)
        except BadContent:
            return None
        stands_for = hashlib.sha256(f"{size} {checksum}".encode()).hexdigest()
        return AttachmentPart(stands_for, media_type_of(begins, shown, media_type), shown[:200])

    def attach_bytes(self, content: bytes, media_type: str = "", shown: str = "") -> AttachmentPart | None:
        part = self._part(content, media_type, shown, lambda: content)
        if part is not None:
            self._carried.append(part.sha256)
        return part

    def _part(
        self, content: bytes, media_type: str, shown: str, read: Callable[[], bytes]
    ) -> AttachmentPart | None:
        if not content or len(content) > LARGEST_FILE:
            return None
        sha256 = hashlib.sha256(content).hexdigest()
        self.held[sha256] = read
        return AttachmentPart(sha256, media_type_of(content, shown, media_type), shown[:200])


@dataclass(slots=True)
class Archive:
    """A zip file, or a single file, as documents and the files beside them."""

    readable: list[tuple[str, Opener]]
    """Members that may hold conversations, the most likely first; none of them is opened yet."""
    beside: ArchiveFiles
    refused: list[Unreadable]
    """Members that were left out, and why."""

    path: Path | None = None
    """The path of a single document; None for a zip file."""
    unread: list[str] = field(default_factory=list)
    """Names of members that were opened and are of no known format."""
    folder: Path | None = None
    """The path of a folder, whose files are the members."""
    inner: list[Path] = field(default_factory=list)
    """The zip files in a folder."""
    stack: ExitStack = field(default_factory=ExitStack)
    """Keeps archives in a folder open: attachments are read from them when their messages are written."""

    def each(self) -> Iterator[Archive | Unreadable]:
        """This archive, and each archive in the folder; why one of them cannot be opened."""
        yield self
        self.unread += [
            name for name in self.beside.members if is_packed(name) and name not in self.beside.attached
        ]
        for path in self.inner:
            try:
                archive = self.stack.enter_context(opened(path, light=self.beside.light))
            except BadContent as error:
                yield Unreadable(path.name[:100], str(error))
                continue
            yield from archive.each()
            self.unread += [f"{path.name}/{name}" for name in archive.unread]
            self.refused += archive.refused

    def document(self, name: str, open: Opener) -> OpenedDocument:
        """One of `readable`, with its shape."""
        return document(name, open, self.folder / name if self.folder is not None else self.path)

    @property
    def documents(self) -> list[OpenedDocument]:
        """All documents, opened."""
        return [self.document(name, open) for name, open in self.readable]


@contextmanager
def opened(path: Path, *, light: bool = False) -> Iterator[Archive]:
    """A file, the members of a zip file, or the files of a folder, ready to be read; `light` is for previews.

    Raises:
        BadContent: it cannot be opened; the sentence says why.
    """
    if path.is_dir():
        with ExitStack() as stack:
            yield _folder(path, stack, light=light)
        return
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise BadContent(f"“{path.name[:100]}” cannot be read: {why}.") from error
    if not magic:
        raise BadContent(f"“{path.name[:100]}” is empty.")
    if magic != b"PK\x03\x04":
        yield Archive([(path.name, lambda: path.open("rb"))], ArchiveFiles(), [], path)
        return
    try:
        with zipfile.ZipFile(path) as packed:
            yield _members(packed, light=light)
    except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError) as error:
        raise BadContent(f"The archive “{path.name[:100]}” is damaged: {error}.") from error


def files_in(folder: Path) -> Iterator[Path]:
    """Every file below a folder, in order. Links to folders are not followed, and version control is left out."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        yield from (Path(place, name) for name in sorted(set(names) - _LEFT_OUT) if not name.startswith("._"))


def _opening(path: Path) -> AbstractContextManager[JsonInput]:
    return path.open("rb")


def _folder(folder: Path, stack: ExitStack, *, light: bool) -> Archive:
    beside = ArchiveFiles(light=light)
    archive = Archive([], beside, [], folder=folder, stack=stack)
    for path in files_in(folder):
        try:
            status = path.stat()
        except OSError:
            continue  # A link that leads nowhere, or a file that was removed meanwhile.
        if not stat.S_ISREG(status.st_mode) or not status.st_size:
            continue
        if path.suffix.lower() == ".zip":
            archive.inner.append(path)
            continue
        name = path.relative_to(folder).as_posix()
        beside.members[name] = partial(_opening, path)
        beside.sums[name] = (status.st_size, status.st_ino)
        if len(beside.members) > MOST_MEMBERS:
            raise BadContent(f"“{folder.name[:100]}” has more than {MOST_MEMBERS:,} files.")
    ranked = {name: _rank(name, dotted=True) for name in beside.members}
    archive.readable = [(name, beside.members[name]) for name in ranked if ranked[name] < len(_READ)]
    archive.readable.sort(key=lambda member: ranked[member[0]])
    return archive


def _members(packed: zipfile.ZipFile, *, light: bool) -> Archive:
    infos = packed.infolist()
    if len(infos) > MOST_MEMBERS:
        raise BadContent(f"The archive has {len(infos):,} members; at most {MOST_MEMBERS:,} are read.")
    beside = ArchiveFiles(light=light)
    refused: list[Unreadable] = []
    for info in infos:
        if info.is_dir():
            continue
        why = _refusal(info)
        if why:
            refused.append(Unreadable(info.filename[:100], why))
        else:
            beside.members[info.filename] = _member(packed, info)
            beside.sums[info.filename] = (info.file_size, info.CRC)
    readable = [(name, opener) for name, opener in beside.members.items() if _rank(name) < len(_READ)]
    readable.sort(key=lambda member: _rank(member[0]))
    return Archive(readable, beside, refused)


_READ = (
    frozenset((".json", ".jsonl", ".ndjson", ".canvaschat", ".traj")),
    frozenset((".db", ".sqlite", ".vscdb", ".md", ".txt", ".csv", ".html", "")),
)
"""Suffixes of members that may hold conversations, the likeliest first; all others are files beside them."""


_PACKED = (".zip", ".zst", ".xz", ".bz2", ".7z", ".rar", ".tar", ".tgz", ".tar.gz")


def is_packed(name: str) -> bool:
    """Whether a file has to be unpacked before what is in it can be read."""
    return name.lower().endswith(_PACKED)


_AIDER = ".aider.chat.history.md"
"""The one hidden file that holds a conversation."""


_LEFT_OUT = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".DS_Store"))


def _rank(name: str, *, dotted: bool = False) -> int:
    """The place of a member among `_READ`. Those with a dot before their name are read if `dotted` is set."""
    path = PurePosixPath(name.removesuffix(".gz"))
    if path.name.startswith(".") and not dotted and path.name != _AIDER:
        return len(_READ)
    suffix = path.suffix.lower()
    return next((rank for rank, suffixes in enumerate(_READ) if suffix in suffixes), len(_READ))


_DRIVE = re.compile(r"[A-Za-z]:")


def _refusal(info: zipfile.ZipInfo) -> str:
    """Why a member is not read; "" if it is."""
    name = PurePosixPath(info.filename.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts or _DRIVE.match(info.filename):
        return "Its name leads out of the archive."
    if stat.S_ISLNK(info.external_attr >> 16):
        return "It is a link."
    if info.flag_bits & 1:
        return "It is encrypted."
    if info.file_size > LARGEST_MEMBER:
        return f"It has more than {LARGEST_MEMBER // 1_000_000_000} GB."
    if info.file_size > SMALL and info.file_size > MOST_SQUEEZED * max(1, info.compress_size):
        return "It is packed too tightly to be a conversation."
    return ""


def _member(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> Opener:
    @contextmanager
    def opening() -> Iterator[JsonInput]:
        with packed.open(info) as stream:
            yield _CountedStream(stream, min(LARGEST_MEMBER, max(SMALL, MOST_SQUEEZED * info.compress_size)))

    return opening


class _CountedStream:
    """A stream that raises an error if it has more bytes than its archive says."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream = stream
        self._left = most

    def read(self, size: int = -1, /) -> bytes:
        try:
            data = self._stream.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise BadContent(f"A member of the archive is damaged: {error}.") from error
        self._left -= len(data)
        if self._left < 0:
            raise BadContent("A member of the archive unpacks to far more than it says.")
        return data
