"""Who may import whom (the direction of docs/architecture.md), read from the source, function-level imports too."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from forky_core.merge.strategies import STRATEGIES
from forky_core.model import payload_kinds

CHECKOUT = Path(__file__).resolve().parent.parent
SOURCES = sorted(
    path.relative_to(CHECKOUT)
    for top in ("app.py", "pages", "forky_core")
    for path in ([CHECKOUT / top] if top.endswith(".py") else (CHECKOUT / top).rglob("*.py"))
    if path.exists()
)
MODULES = {".".join(path.with_suffix("").parts): path for path in SOURCES}
HOMES = {
    "authlib": ("forky_core/gateway/access/ways/",),
    "joserfc": ("forky_core/gateway/access/ways/",),
    "jinja2": ("forky_core/render/",),
    "markupsafe": ("forky_core/render/",),
    "duckdb": ("forky_core/store/duckdb/", "forky_core/store/analysis/"),
    "psycopg": ("forky_core/store/postgresql/",),
    "psycopg_pool": ("forky_core/store/postgresql/",),
    "litellm": ("forky_core/llm/",),
    "mcp": ("forky_core/gateway/mcp/",),
    "mcp_types": ("forky_core/gateway/mcp/",),
    "streamlit": ("app.py", "pages/"),
    "streamlit_agraph": ("app.py", "pages/"),
}
VALUES = {"model"}
CONTRACTS = {
    "store.contract",
    "store.document_contract",
    "store.herald",
    "store.words",
    "llm.contract",
    "llm.tokens",
}
"""`store.words` says what a search means, `llm.tokens` estimates text; neither needs an engine."""
BASE = VALUES | {"text", "process"}
MAY_IMPORT: dict[str, set[str]] = {
    "model": VALUES | {"process"},
    "process": VALUES,
    "text": VALUES,
    "store": BASE,
    "llm": BASE,
    "wire": VALUES
    | {"llm.contract", "llm.failures", "llm.stream_end", "llm.answer_pieces", "process.plugins"},
    "matching": VALUES | {"process", "text", "wire"},
    "documents": BASE | CONTRACTS,
    "context": BASE | CONTRACTS,
    "merge": BASE | CONTRACTS | {"context", "documents.retrieval"},
    "conversation": BASE | CONTRACTS | {"context", "documents", "llm.upstream", "matching", "merge", "wire"},
    "experiments": BASE | CONTRACTS | {"conversation"},
    "views": BASE | CONTRACTS | {"context", "conversation", "documents.retrieval", "experiments", "merge"},
    "render": BASE | CONTRACTS | {"context", "conversation", "views"},
    "formats": BASE
    | CONTRACTS
    | {
        "context",
        "conversation",
        "documents.cited_passages",
        "documents.html_text",
        "experiments",
        "matching",
        "merge.payload_copy",
        "render",
        "views",
        "wire",
    },
    "people": BASE
    | CONTRACTS
    | {
        "conversation",
        "documents",
        "formats",
        "llm",
        "store.deciding",
        "store.duckdb.store",
        "store.postgresql.one_connection",
        "views",
    },
    "verbs": BASE | CONTRACTS | {"context", "conversation", "merge", "people", "views"},
}
"""Of each layer, the others it may know; a layer that is not named here is an entrance and may know all."""


def parsed(source: str) -> ast.Module:
    """In Python 3.11 it can fail where another thread of the process parses meanwhile (CPython's issue 106905)."""
    collected = gc.isenabled()
    gc.disable()  # A collection would let the other thread in.
    try:
        for _ in range(9):
            with suppress(SystemError):
                return ast.parse(source)
        return ast.parse(source)
    finally:
        if collected:
            gc.enable()


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement of a file, however deep: a tenth of its nodes."""
    inner: list[ast.AST] = [tree]
    while inner:
        one = inner.pop()
        if isinstance(one, ast.stmt):
            yield one
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            below = getattr(one, name, ())
            inner += below if isinstance(below, list) else ()


@cache
def imported(path: Path) -> frozenset[str]:
    """Dotted names of the modules a file imports; `from a import b` counts as `a.b`."""
    names: set[str] = set()
    for item in statements(parsed((CHECKOUT / path).read_text("utf-8"))):
        if isinstance(item, ast.Import):
            names.update(alias.name for alias in item.names)
        elif isinstance(item, ast.ImportFrom):
            assert item.level == 0, f"{path}: a relative import hides its layer"
            names.update(f"{item.module}.{alias.name}" for alias in item.names)
    return frozenset(names)


def layer(path: Path) -> str:
    return path.with_suffix("").parts[1]


@pytest.mark.parametrize("package", HOMES)
def test_each_engine_is_imported_in_its_own_layer_only(package: str) -> None:
    users = {
        path.as_posix() for path in SOURCES for name in imported(path) if f"{name}.".startswith(f"{package}.")
    }
    assert [path for path in sorted(users) if not path.startswith(HOMES[package])] == []


def test_no_store_of_conversations_imports_another() -> None:
    stores = {"memory", "duckdb", "postgresql"}
    assert [
        f"{path.as_posix()} imports {name}"
        for path in SOURCES
        for store in stores
        if path.as_posix().startswith(f"forky_core/store/{store}/")
        for name in imported(path)
        for other in stores - {store}
        if f"{name}.".startswith(f"forky_core.store.{other}.")
    ] == []


def test_the_library_knows_nothing_of_the_pages() -> None:
    library = [path for path in SOURCES if path.parts[0] == "forky_core"]
    assert [
        path for path in library if any(name.split(".")[0] in {"app", "pages"} for name in imported(path))
    ] == []


def test_layers_import_downwards_only() -> None:
    upwards = {
        f"{path.as_posix()} imports {name}"
        for path in SOURCES
        if path.parts[0] == "forky_core" and layer(path) in MAY_IMPORT
        for name in imported(path)
        if name.startswith("forky_core.")
        if not any(
            f"{name}.".startswith(f"forky_core.{known}.") for known in MAY_IMPORT[layer(path)] | {layer(path)}
        )
    }
    assert upwards == set()


MAKE_VIEWERS = {"pages/ui/person.py", "pages/ui/sign_in.py", "pages/ui/workspace.py"}


def test_pages_know_of_people_what_the_viewer_answers_with() -> None:
    """`pages/ui/person.py` hands the viewer out; the other two open the team and the workspace of its members. Links
    are there without a team, too.
    """
    assert {
        path.as_posix()
        for path in SOURCES
        if path.parts[0] == "pages"
        for name in imported(path)
        if name.startswith("forky_core.people.") and not name.startswith("forky_core.people.links.")
    } == MAKE_VIEWERS


def test_what_pages_share_imports_no_page() -> None:
    """The folders of pages/ui that have the name of a page are that page's own; all else there is for several."""
    pages = {path.stem for path in (CHECKOUT / "pages").glob("*.py")}
    assert [
        f"{path.as_posix()} imports {name}"
        for path in SOURCES
        if path.parts[:2] == ("pages", "ui") and path.parts[2] not in pages
        # A field of the session holds what a single page keeps in a tab: its type is that page's.
        if path.as_posix() != "pages/ui/session.py"
        for name in imported(path)
        if (name.startswith("pages.") and not name.startswith("pages.ui."))
        or (name.startswith("pages.ui.") and name.split(".")[2] in pages)
    ] == []


def test_a_page_says_what_its_frame_is_and_its_view_model_and_what_draws_it() -> None:
    for script in (path for path in SOURCES if path.parent == Path("pages") and path.stem != "shell"):
        tree = parsed((CHECKOUT / script).read_text("utf-8"))
        said = " ".join((ast.get_docstring(tree) or "").split())
        found = re.search(r"The frame is .+, the view model is (.+), and (.+) draws it\.", said)
        assert found is not None, script
        named = re.findall(r"[\w/]+\.py", found[1])
        modules = {path for name in imported(script) if (path := file_of(name))}
        folder = f"pages/ui/{script.stem}/"
        beside = [path for path in SOURCES if path.as_posix().startswith(folder)]
        below = {path for one in beside for name in imported(one) if (path := file_of(name))}
        assert {Path("forky_core") / one for one in named} <= modules | below, script
        assert found[2] in {folder.rstrip("/"), "this file"} and bool(beside) == (found[2] != "this file")


def file_of(name: str) -> Path | None:
    """The file of this tree that a dotted name of an import means: of a module, or of a name within one."""
    return MODULES.get(name) or MODULES.get(name.rpartition(".")[0])


def test_no_two_files_import_each_other_on_any_way() -> None:
    """Imports within functions, and for types alone, are imports."""
    TopologicalSorter(
        {path: {file for name in imported(path) if (file := file_of(name))} - {path} for path in SOURCES}
    ).prepare()


def test_a_name_of_a_class_stands_for_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for item in statements(parsed((CHECKOUT / path).read_text("utf-8"))):
            if isinstance(item, ast.ClassDef):
                places.setdefault(item.name, []).append(path.as_posix())
    # Each of the two databases has migrations of its own.
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_name_of_a_strategy_that_others_use_is_written_in_one_place() -> None:
    """Other files take it from its kind. Any word may be the name of one whose kind is in its own file."""
    names = {one.name for one in STRATEGIES if one.payload in vars(payload_kinds).values()}
    users = ast.Compare | ast.Call | ast.keyword | ast.Assign | ast.AnnAssign | ast.MatchValue
    written = set()
    for path in SOURCES:
        text = (CHECKOUT / path).read_text("utf-8")
        inner: list[tuple[ast.AST, bool]] = []
        if any(f'"{name}"' in text for name in names):
            inner.append((parsed(text), False))
        while inner:
            one, used = inner.pop()
            if used and isinstance(one, ast.Constant) and one.value in names:
                written.add(path.as_posix())
            inner += ((below, used or isinstance(below, users)) for below in ast.iter_child_nodes(one))
    # The editor of a block names a budget that is full.
    assert written - {"pages/ui/merge/editor.py"} == {"forky_core/model/payload_kinds.py"}


PAGE = (CHECKOUT / "docs" / "architecture.md").read_text("utf-8")
BUILT = {"__init__", "__main__"}
"""Files that every package has: no packages of their own."""


def listed(first: str) -> list[str]:
    """The packages of the block of docs/architecture.md that begins with this one, in order, without endings."""
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (found,) = [block for block in blocks if block.startswith(first)]
    names = re.findall(r"^ {0,2}([\w./]+)(?: +\S|$)", found, re.MULTILINE)
    return [name.removesuffix(".py").rstrip("/") for name in names]


def packages(top: str) -> set[str]:
    """The folders below a folder, and the files that lie in it."""
    folder = CHECKOUT / top
    files = {path.stem for path in folder.glob("*.py")} - BUILT
    folders = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_dir() and path.name != "__pycache__" and any(path.iterdir())
    }
    return files | folders


def test_the_page_names_every_package_once() -> None:
    library, app = listed("cli/"), listed("app.py")
    assert sorted(library) == sorted(packages("forky_core"))
    assert sorted(app) == sorted(packages("pages/ui") | {"app", ".streamlit", "pages", "pages/ui"})


def test_every_package_of_the_page_imports_only_packages_below_it() -> None:
    order = {name: place for place, name in enumerate(name for name in listed("cli/") if "/" not in name)}
    upwards = {
        f"{path.as_posix()} imports {name}"
        for path in SOURCES
        if path.parts[0] == "forky_core" and layer(path) not in BUILT
        for name in imported(path)
        if name.startswith("forky_core.") and order[name.split(".")[1]] < order[layer(path)]
    }
    assert upwards == set()


def test_every_place_that_the_page_names_is_there() -> None:
    named = {
        word
        for text in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", PAGE.split("## Six values")[1])
        for word in text.split()
        if re.fullmatch(r"[\w/.]+(?:/|\.py)", word) and word != "registry.py"
    }
    beside = {"consulting.py", "counters.py", "patches.py", "schemas.py", "write/"}
    tops = (CHECKOUT, CHECKOUT / "forky_core")
    assert len(named) > 50
    assert {word for word in named - beside if not any((top / word).exists() for top in tops)} == set()
