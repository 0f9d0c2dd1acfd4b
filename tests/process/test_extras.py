"""The library needs four packages; every other part says in a sentence what it lacks (docs/python.md)."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from forky_core.model.errors import NotInstalled
from forky_core.process.extras import needed_for
from tests.hangs import HANG
from tests.programs import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PAGE = (CHECKOUT / "docs" / "python.md").read_text("utf-8").partition("## Installing less")[2]
LISTED = [
    Requirement(word) for word in shlex.split(re.findall(r"^pip install (?!--)(.*)$", PAGE, re.MULTILINE)[0])
]
CORE = {need.name for need in LISTED}
PARTS = ("app", "litellm", "html", "documents", "completion", "experiments", "mcp", "sign-in", "postgresql")

USE = """
import sys
from pathlib import Path
from forky_core import Forky, contains, export_value, exporter, import_file, save_as
from forky_core.cli.parser import main
from forky_core.formats.exporting.registry import EXPORTERS
from forky_core.extending import add_strategy
from forky_core.sharing import findings, redacted

folder = Path(sys.argv[1])
with Forky.open(folder / "forky.duckdb") as forky:
    chat = forky.create("Naming the CLI", system="Be brief.")
    reply = chat.ask("Suggest a name for a command that forks conversations.", model="offline/quote")
    debug = chat.fork("debug", at=reply.id)
    debug.ask("Why does code generation fail on enums? The port is 9090.", model="offline/digest")
    chat.ask("And a name for the library? The port is 8080.", model="offline/quote")
    for strategy in ("squash", "full", "three-way"):
        chat.merge(chat.plan_merge(debug, strategy=strategy))
        chat.undo()
    request = chat.requests.open(debug, note="Look.")
    chat.merge(chat.requests.accepting(request.number, chat.requests.plan(request.number)))
    chat.revert(chat.plan_revert(chat.head.id))
    chat.bisections.run("Which port?", contains("no such words"), model="offline/quote")
    chat.documents.of_conversation.append("The warranty of the X200 pump is two years.", name="manual.txt")
    leaves = export_value(forky.store, chat)
    for one in EXPORTERS:
        if one.media_type == "text/html":
            continue
        save_as(redacted(leaves, findings(leaves)), one, folder / f"{one.name}{one.suffix}")
        if one.name in ("forky", "chatgpt", "markdown", "llm"):
            with Forky.open(":memory:") as elsewhere:
                import_file(elsewhere, folder / f"{one.name}{one.suffix}")
    assert forky.verify().clean
for words in (["list"], ["log", chat.id, "--graph"], ["chat", "-m", "Hello"], ["verify"]):
    assert main(["--database", str(folder / "forky.duckdb"), *words]) == 0
"""
ASK = """
import os
from forky_core import Forky, ForkyError, export_value, save_as
from forky_core.documents.docx import docx_html
from forky_core.documents.pdf import pdf_pages
from forky_core.documents.source import DocumentSource
from forky_core.gateway.access.credentials import hashed
from forky_core.cli.parser import main
from forky_core.views.answers.code_colors import colored
from forky_core.formats.exporting.registry import EXPORTERS
from functools import partial
from pathlib import Path
import io, sys

os.environ["OPENAI_API_KEY"] = "sk-0123456789"
source = DocumentSource("a.file", 1, lambda: io.BytesIO(b"x"))
with Forky.open(":memory:") as forky:
    chat = forky.create("Ports")
    chat.documents.of_conversation.append("The warranty of the X200 pump is two years.", name="manual.txt")
    for act in (
        lambda: chat.ask("Hello", model="gpt-4o"),
        lambda: chat.documents.of_conversation.retrieve("How long is the warranty?", 1),
        lambda: docx_html(source),
        lambda: list(pdf_pages(source)),
        lambda: hashed("a long pass phrase"),
        lambda: colored(["x = 1"], "python"),
        *(
            partial(save_as, export_value(forky.store, chat), one, Path(sys.argv[1]) / f"page{one.suffix}")
            for one in EXPORTERS
            if one.media_type == "text/html"
        ),
    ):
        try:
            act()
        except ForkyError as error:
            print(error)
assert not list(Path(sys.argv[1]).glob("page*")), "nothing is left of a page that was not written"
sys.stderr = sys.stdout
main(["up"])
"""


def closure(names: set[str]) -> set[str]:
    """These distributions and all that they need here."""
    found: set[str] = set()
    waiting = [canonicalize_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for line in metadata.requires(name) or ():
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                waiting.append(canonicalize_name(need.name))
    return found


def outsiders() -> Iterator[str]:
    """The modules of every distribution that the library does without."""
    kept = closure(CORE)
    ours = {"forky_core", "tests", "pages", "_distutils_hack"}
    for module, owners in metadata.packages_distributions().items():
        needed = kept & {canonicalize_name(owner) for owner in owners}
        if module.isidentifier() and module not in ours and not needed:
            yield module


def run(script: str, folder: Path) -> list[str]:
    """The lines that a program prints which can import nothing but Python, Forky and the four packages."""
    modules = sorted(outsiders())
    assert {"streamlit", "litellm", "numpy", "httpx", "PIL", "jsonschema"} <= set(modules)
    bar = f"import json, sys\nsys.modules.update(dict.fromkeys(json.loads({json.dumps(modules)!r})))\n"
    bare = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "SYSTEMROOT") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{bar}{script}\nprint('FINISHED')", str(folder)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANG,
        check=False,
        cwd=folder,
        env=bare | {"PYTHONPATH": str(CHECKOUT), "FORKY_PROBE": "off"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "FINISHED"
    return done.stdout.splitlines()


def test_every_verb_works_with_the_four_packages_alone(tmp_path: Path) -> None:
    run(USE, tmp_path)


def test_a_part_whose_packages_are_missing_says_what_to_install(tmp_path: Path) -> None:
    said = run(ASK, tmp_path)[:-1]
    assert [re.findall(r"forky\[([\w-]+)\]", line) for line in said] == [
        ["litellm"],
        ["documents"],
        ["documents"],
        ["documents"],
        ["app"],
        ["app"],
        *[["html"]] * 3,
        ["app"],
    ]
    assert said[1] == (
        "Searching documents needs the package “numpy”, which is not installed. "
        "Install it: pip install 'forky[documents]'"
    )


def test_an_error_inside_forky_is_not_taken_for_a_missing_package() -> None:
    with pytest.raises(ModuleNotFoundError), needed_for("This", "app"):
        raise ModuleNotFoundError(name="forky_core.nowhere")
    with pytest.raises(NotInstalled, match="“PIL”"), needed_for("This", "app"):
        raise ModuleNotFoundError(name="PIL.Image")


def test_the_plain_name_brings_the_library_and_every_part_of_the_app() -> None:
    plain = set(PROJECT["dependencies"])
    parts = {line for part in PARTS for line in EXTRAS[part]}
    assert plain >= parts
    left = {need.name: need for need in map(Requirement, plain - parts)}
    assert left.keys() == CORE
    assert [need for need in LISTED if need.specifier and need != left[need.name]] == []


def test_the_page_lists_the_packages_of_every_part() -> None:
    rows = dict(re.findall(r"^\| `forky\[([\w-]+)\]` \|.*\| (.*) \|$", PAGE, re.MULTILINE))
    assert {part: set(row.split(", ")) for part, row in rows.items()} == {
        part: {Requirement(line).name for line in lines} for part, lines in EXTRAS.items()
    }
