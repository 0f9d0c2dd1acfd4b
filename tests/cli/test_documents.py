from __future__ import annotations

from pathlib import Path

from forky_core.forky import Forky
from tests.builders import ScriptedModels
from tests.cli.conftest import Run


def test_documents_are_added_listed_searched_and_removed(forky: Run, tmp_path: Path) -> None:
    manual = tmp_path / "manual.md"
    manual.write_text("# Warranty\n\nThe warranty of the X200 is two years.")
    assert forky("documents add", str(manual)).out.endswith("1 passage  manual.md\n")
    again = forky("documents add --json", str(manual)).json
    assert (again["name"], again["chunks"]) == ("manual.md", 1)
    assert forky("documents list --json").json == again
    found = forky("documents search 'How long is the warranty?'").out
    assert "manual.md, Warranty" in found and "two years" in found
    (hit,) = forky("documents search warranty --json").rows
    assert hit["address"] == f"doc:{again['id'][:16]}#1"
    assert forky("documents search penicillin").out == "Not found in the documents.\n"
    assert "manual.md" in forky("documents remove", again["id"][:8]).out
    assert forky("documents list").out.startswith("No document here.")


def test_what_cannot_be_read_is_said_and_ends_with_1(forky: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    ended = forky("documents add", str(empty))
    assert ended.code == 1 and "“empty.txt” is empty." in ended.err


def test_documents_of_a_branch_are_used_on_it(forky: Run, database: Path, tmp_path: Path) -> None:
    with Forky.open(database, models=ScriptedModels()) as opened:
        id = opened.create("Pumps").id
    manual = tmp_path / "manual.md"
    manual.write_text("The warranty of the X200 is two years.")
    assert forky("documents add --of branch", str(manual)).code == 0
    assert "“main” answers from documents" in forky("documents use").out
    with Forky.open(database, models=ScriptedModels()) as opened:
        chat = opened.conversation(id)
        assert chat.rules.current.documents.on and [one.name for one in chat.documents.documents()] == [
            "manual.md"
        ]
        assert opened.documents.documents() == ()
    assert "“main” no longer answers from documents" in forky("documents use --off").out
