"""Where the public data lies, where it comes from, and how it gets there.

None of it belongs to this repository. It is read from build/mergebench/ of the checkout, which Git ignores;
`python -m bench.mergebench fetch --from DIR` fills that folder from Git repositories below DIR, and without `--from`
clones them. A set that is absent is left out, and the report says so.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.mergebench.case import Split

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = CHECKOUT / "build" / "mergebench"
DATA = Path(__file__).resolve().parent / "data"
"""What was made for this benchmark, under the repository's own licence."""
SECOND = DATA / "second"
"""The same by another author, who knew neither the rules of a merge nor the other sets."""


@dataclass(frozen=True, slots=True)
class Source:
    """A public repository and what is taken of it."""

    name: str
    """Of its folder below build/mergebench/."""
    repository: str
    """owner/name on GitHub."""
    licence: str
    paths: tuple[str, ...]
    held_back: tuple[str, ...] = ()
    """Paths of the test half that are taken only where somebody asks for them."""


SOURCES = (
    Source("locomo", "snap-research/locomo", "CC BY-NC 4.0", ("data/locomo10.json",)),
    Source("qmsum", "Yale-LILY/QMSum", "MIT", ("data/ALL/train", "data/ALL/val"), ("data/ALL/test",)),
    Source(
        "agents",
        "specstoryai/getspecstory",
        "Apache 2.0",
        (".specstory/history", "specstory-cli/.specstory/history"),
    ),
)


class NotThere(RuntimeError):
    """A repository that was to be fetched could not be had."""


def folder(name: str) -> Path:
    """Where the files of a source lie."""
    return FOLDER / name


def fetch(below: Path | None, split: Split) -> Iterator[str]:
    """Fill build/mergebench/; gives a sentence for each source.

    `below` holds clones, bare or not, in folders named after the repository; None clones from GitHub.

    Raises:
        NotThere: a repository is not below that folder, or could not be cloned.
    """
    with TemporaryDirectory() as temporary:
        for source in SOURCES:
            git = _cloned(source, Path(temporary)) if below is None else _found(source, below)
            paths = (*source.paths, *(source.held_back if split == "test" else ()))
            count = _unpack(git, paths, folder(source.name))
            yield f"{source.name}: {count} files of {source.repository} ({source.licence})"


def _found(source: Source, below: Path) -> Path:
    """A Git directory below a folder whose path names the repository and that holds the wanted files."""
    name = source.repository.split("/")[1].casefold()
    for head in sorted(below.rglob("HEAD")):
        parts = head.parent.relative_to(below).as_posix().casefold()
        if name in parts and (head.parent / "objects").is_dir() and _holds(head.parent, source.paths[0]):
            return head.parent
    raise NotThere(f"No Git repository of {source.repository} that holds {source.paths[0]} is below {below}.")


def _holds(git: Path, path: str) -> bool:
    asked = ["git", f"--git-dir={git}", "cat-file", "-e", f"HEAD:{path}"]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


def _cloned(source: Source, temporary: Path) -> Path:
    git = temporary / source.name
    url = f"https://github.com/{source.repository}.git"
    done = subprocess.run(
        ["git", "clone", "--quiet", "--bare", "--depth", "1", url, str(git)], check=False, capture_output=True
    )
    if done.returncode:
        raise NotThere(f"{url} cannot be cloned: {done.stderr.decode(errors='replace').strip()}")
    return git


def _unpack(git: Path, paths: Sequence[str], into: Path) -> int:
    """Write the files below these paths into a folder, as they are in the newest commit; how many."""
    asked = ["git", f"--git-dir={git}", "archive", "--format=tar", "HEAD", *paths]
    done = subprocess.run(asked, check=False, capture_output=True)
    if done.returncode:
        raise NotThere(f"{git}: {done.stderr.decode(errors='replace').strip()}")
    into.mkdir(parents=True, exist_ok=True)
    count = 0
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        # Regular files alone: a link in somebody's repository could lead out of the folder.
        for member in filter(tarfile.TarInfo.isfile, archive):
            target, read = (into / member.name).resolve(), archive.extractfile(member)
            if read is not None and target.is_relative_to(into.resolve()):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(read.read())
                count += 1
    return count
