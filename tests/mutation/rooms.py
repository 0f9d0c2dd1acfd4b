"""Which tests a mutant of a module is run against: those that are meant to notice it, the closest ones first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Room:
    """A folder or a file of the core, and the tests that cover it."""

    name: str
    modules: tuple[str, ...]
    """Patterns below the checkout, as `Path.glob` reads them."""
    tests: tuple[str, ...]
    """Files and folders; pytest runs them in this order and stops at the first failure."""

    def files(self, checkout: Path) -> Iterator[Path]:
        for pattern in self.modules:
            for path in sorted(checkout.glob(pattern)):
                if path.name != "__init__.py":
                    yield path.relative_to(checkout)


ROOMS = (
    Room("graph", ("forky_core/model/graph.py",), ("tests/model/test_graph.py", "tests/merge/test_laws.py")),
    Room(
        "merge",
        ("forky_core/merge/*.py",),
        (
            "tests/merge",
            "tests/conversation/test_merging.py",
            "tests/conversation/test_strategies.py",
            "tests/conversation/test_grafting.py",
            "tests/conversation/test_rebasing.py",
            "tests/conversation/test_fusing.py",
            "tests/conversation/test_many_merges.py",
            "tests/conversation/test_contradictions.py",
            "tests/views/test_merging.py",
        ),
    ),
    Room("merge/conflicts", ("forky_core/merge/conflicts/*.py",), ("tests/merge/conflicts", "tests/merge")),
    Room("merge/note", ("forky_core/merge/note/*.py",), ("tests/merge/note", "tests/merge")),
    Room("merge/written", ("forky_core/merge/written/*.py",), ("tests/merge/written", "tests/merge")),
    Room(
        "context",
        ("forky_core/context/*.py",),
        ("tests/context", "tests/merge", "tests/conversation/test_documents.py"),
    ),
    Room(
        "matching", ("forky_core/matching/*.py",), ("tests/matching", "tests/conversation/test_recording.py")
    ),
    Room(
        "wire",
        ("forky_core/wire/*.py",),
        ("tests/wire", "tests/gateway", "tests/providers/test_ends.py"),
    ),
    Room(
        "store/write",
        ("forky_core/store/base/*.py", "forky_core/store/duckdb/write/*.py"),
        (
            "tests/store/test_writer.py",
            "tests/store/test_duckdb.py",
            "tests/store/test_trust.py",
            "tests/store/test_trouble.py",
            "tests/store/test_logs.py",
            "tests/store/test_packs.py",
        ),
    ),
    Room(
        "formats/forky_file",
        ("forky_core/formats/forky_file/*.py",),
        (
            "tests/formats/forky_file",
            "tests/formats/exporting",
            "tests/formats/test_file_import.py",
            "tests/formats/test_redaction.py",
        ),
    ),
)
