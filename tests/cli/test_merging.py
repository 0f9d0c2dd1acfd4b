"""The verbs of merging on the command line: previewed, asked for on a terminal, landed with --yes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.merge.strategies import REGISTRY
from tests.builders import debugged, talk
from tests.cli.conftest import Run
from tests.first_sentences import FIRST_SENTENCES

pytestmark = pytest.mark.usefixtures("seeded")


@pytest.fixture
def seeded(database: Path) -> dict[str, str]:
    """“Enums” with main and debug, and another conversation; ids by title."""
    with Forky.open(database) as forky:
        other = talk(forky.create("Flags"), "And flags?", "A bit each: FLAG_WIDTH=8.")
        chat = debugged(forky)
        return {"enums": chat.id, "flags": other.id, "answer": chat.path()[-1].id[3:11]}


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A person at a terminal who will type these lines."""

    def at_a_terminal(*lines: str) -> None:
        left: Iterator[str] = iter(lines)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda prompt="": next(left))

    return at_a_terminal


def said(forky: Run, branch: str = "main") -> str:
    return forky("log --branch", branch).out


def test_merge_shows_the_preview_and_lands_when_the_person_says_yes(
    forky: Run, typed: Callable[..., None]
) -> None:
    typed("n", "y")
    declined = forky("merge debug --into main")
    assert declined.code == 1 and "collect_members" in declined.out and "Nothing was written." in declined.out
    assert "[Merged " not in said(forky)
    landed = forky("merge debug --into main --budget 60")
    assert landed.code == 0 and "tokens (in full:" in landed.out and "left out:" in landed.out
    assert landed.out.splitlines()[-1] == "Merged “debug” into “main” (squash)"
    assert "[Merged " in said(forky)


def test_merge_without_a_terminal_lands_only_with_yes(forky: Run, forky_process: Run) -> None:
    refused = forky_process("merge debug --into main")
    assert refused.code == 2 and "--yes" in refused.err and refused.out == ""
    looked = forky("merge debug --into main --dry-run")
    assert looked.code == 0 and "Nothing was written." in looked.out
    assert forky("merge debug --into main --strategy full --yes").code == 0


def test_merge_as_json_is_one_object(forky: Run) -> None:
    look = forky("merge debug --into main --dry-run --json").json
    assert look["lands"] and look["landed"] is None and look["tokens"] > 0
    assert "collect_members" in look["payload"]
    done = forky("merge debug --into main --yes --json").json
    assert done["landed"] == "Merged “debug” into “main” (squash)"
    assert forky("merge debug --into main --json").code == 2


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Sets an editor that does this to the lines of the file; what it was shown is in the file that it returns."""

    def edits_by(code: str) -> Path:
        shown, script = tmp_path / "shown.txt", tmp_path / "an editor.py"
        script.write_text(
            "import sys\nfrom pathlib import Path\n"
            f"file, shown = Path(sys.argv[1]), Path({str(shown)!r})\n"
            "text = file.read_text('utf-8')\nshown.write_text(text, 'utf-8')\nlines = text.splitlines()\n"
            f"{code}\nfile.write_text('\\n'.join(lines), 'utf-8')\n",
            "utf-8",
        )
        monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(script)]))
        monkeypatch.setenv("EDITOR", "false")
        return shown

    return edits_by


def test_merge_edit_lands_the_text_that_the_editor_saved(forky: Run, editor: Callable[[str], Path]) -> None:
    shown = editor("lines = [*lines[:-1], '# Our own words.']")
    landed = forky("merge debug --into main --edit")
    assert landed.code == 0 and landed.out.splitlines()[-1] == "Merged “debug” into “main” (squash)"
    comment, _, text = shown.read_text("utf-8").partition("\n\n")
    assert all(line.startswith("# ") for line in comment.splitlines()) and "cancels" in comment
    assert text.startswith("[Merged ")
    said_now = said(forky)
    assert "# Our own words." in said_now and "cancels" not in said_now
    assert text.splitlines()[-1].partition(" [")[0] not in said_now


def test_merge_edit_looks_without_landing_on_a_dry_run(forky: Run, editor: Callable[[str], Path]) -> None:
    editor("lines.append('Our own words.')")
    looked = forky("merge debug --into main --edit --dry-run")
    assert looked.code == 0 and "Our own words." in looked.out and "Nothing was written." in looked.out
    assert "[Merged " not in said(forky)


def test_an_empty_text_cancels_the_merge(forky: Run, editor: Callable[[str], Path]) -> None:
    editor("lines = [line for line in lines if line.startswith('# ')]")
    ended = forky("merge debug --into main --edit")
    assert ended.code == 1 and "the merge is cancelled" in ended.out
    assert "[Merged " not in said(forky)


def test_each_text_of_an_octopus_is_edited(
    forky: Run, database: Path, seeded: dict[str, str], editor: Callable[[str], Path]
) -> None:
    with Forky.open(database) as opened:
        chat = opened.conversation(seeded["enums"], "main")
        talk(
            chat.fork("types"),
            "And the types?",
            "They come from `typing.get_type_hints()`, read in types.py.",
        )
        talk(chat, "Go on.", "I do.")
    editor("lines.append('Our own words.')")
    ended = forky("merge debug types --into main --edit")
    assert ended.code == 0 and ended.out.count("Our own words.") == 2


@pytest.mark.parametrize(
    ("visual", "editor_", "said_"),
    [
        ("", " ", "No editor is set."),
        ("no-such-editor-anywhere", "true", "does not start"),
        ("false", "true", "nothing was written"),
        ("'", "true", "cannot be read"),
    ],
)
def test_an_editor_that_is_none_is_a_sentence(
    forky: Run, monkeypatch: pytest.MonkeyPatch, visual: str, editor_: str, said_: str
) -> None:
    monkeypatch.setenv("VISUAL", visual)
    monkeypatch.setenv("EDITOR", editor_)
    ended = forky("merge debug --into main --edit")
    assert ended.code == 2 and said_ in ended.err
    assert "[Merged " not in said(forky)


def test_an_editor_that_leaves_no_file_is_a_sentence(forky: Run, editor: Callable[[str], Path]) -> None:
    editor("file.unlink()\nsys.exit()")
    ended = forky("merge debug --into main --edit")
    assert ended.code == 2 and "left no file" in ended.err
    assert "[Merged " not in said(forky)


def test_what_an_editor_of_windows_saves_lands_without_the_comment(
    forky: Run, editor: Callable[[str], Path]
) -> None:
    editor("file.write_text(text, 'utf-8-sig', newline='\\r\\n')\nsys.exit()")
    assert forky("merge debug --into main --edit").code == 0
    assert "[Merged " in said(forky) and "cancels" not in said(forky)


def test_what_brings_messages_as_they_are_has_no_text_to_edit(
    forky: Run, editor: Callable[[str], Path]
) -> None:
    shown = editor("pass")
    ended = forky("merge debug --into main --strategy full --edit")
    assert ended.code == 2 and "no text to edit" in ended.err and not shown.exists()
    assert forky("merge debug --into main --edit --json").code == 2


def test_merge_of_several_and_of_picks(forky: Run) -> None:
    forky("fork flags --branch main")
    with_nothing = forky("merge debug flags --into main --yes")
    assert "has all of “flags” already" in with_nothing.out
    picked = forky("merge debug --into flags --pick nonsense --yes")
    assert picked.code == 2 and "begins with" in picked.err


def test_a_merge_that_was_reverted_says_so_and_can_be_made_again(forky: Run) -> None:
    forky("merge debug --into main --yes")
    rows = forky("log --branch main --json").rows
    reverted = forky("revert", rows[-1]["id"][3:11], "--branch", "main", "--yes")
    assert "out from here on" in reverted.out and "Reverted by" in reverted.out
    told = forky("merge debug --into main --yes")
    assert told.code == 0 and "Revert that revert, or merge again." in told.out
    assert "Merged “debug”" in forky("merge debug --into main --again --yes").out


def test_revert_as_json(forky: Run, seeded: dict[str, str]) -> None:
    entry = forky("revert", seeded["answer"], "--branch", "main", "--dry-run", "--json").json
    assert entry["targets"][0][3:11] == seeded["answer"] and entry["tokens"] < 0 and entry["landed"] is None


def test_rebase_copies_or_asks_again(forky: Run) -> None:
    look = forky("rebase main --branch debug --dry-run")
    assert "How do I fix it?" in look.out and "Nothing was written." in look.out
    copied = forky("rebase main --branch debug --yes")
    assert copied.out.splitlines()[-1] == "Rebased “debug” onto “main”"
    assert "Python classes." in said(forky, "debug")
    assert "already" in forky("rebase main --branch debug --yes").out
    again = forky("rebase main --branch debug --ask-again --model offline/quote --yes")
    assert again.code == 0 and "2 of 2 questions of “debug” answered again" in again.out


@pytest.mark.parametrize("budget", ["0", "-5"])
def test_a_budget_that_holds_nothing_is_refused(forky: Run, seeded: dict[str, str], budget: str) -> None:
    for call in ("merge debug", "graft {flags} --conversation {enums}"):
        ended = forky(f"{call.format(**seeded)} --into main --budget={budget} --yes")
        assert ended.code == 2 and ended.err.count(".") == 1 and f"budget of {budget} tokens" in ended.err
    assert "Merged" not in said(forky)


def test_who_answers_is_refused_where_a_rebase_asks_nothing(forky: Run) -> None:
    ended = forky("rebase main --branch debug --model offline/quote --yes")
    assert ended.code == 2 and "--ask-again" in ended.err
    assert "Python classes." not in said(forky, "debug")


def test_rebase_as_json(forky: Run) -> None:
    entry = forky("rebase main --branch debug --dry-run --json").json
    assert entry["questions"] == 2 and len(entry["messages"]) == 4 and entry["tokens_asked"] > 0


def test_graft_brings_a_branch_of_another_conversation(forky: Run, seeded: dict[str, str]) -> None:
    flags, enums = seeded["flags"], seeded["enums"]
    out = forky(f"graft {flags} --conversation {enums} --into main --strategy full --yes").out
    assert "share no message" in out and "Grafted “main of Flags” into “main” (full)" in out
    assert "FLAG_WIDTH=8" in forky(f"log {enums} --graph").out
    back = forky(f"graft {enums} --from main --conversation {flags} --yes")
    assert back.code == 2 and "circle" in back.err


def test_bisect_asks_a_model_and_tells_where_it_begins_to_fail(forky: Run) -> None:
    asked = "bisect 'Why?' --branch debug --contains 'never said by anybody' --model offline/quote --json"
    found = forky(asked).json
    assert found["calls"] == len(found["probes"]) <= 4
    assert found["first"] == found["probes"][-1]["message"]
    assert forky("bisect 'Which?' --branch debug").code == 2
    assert forky("bisect 'Which?' --branch debug --by-hand").code == 2


def test_bisect_by_hand_needs_no_model(forky: Run, typed: Callable[..., None]) -> None:
    typed("n", "y", "y", "n", "n", "n")
    done = forky("bisect 'Is it still about enums?' --branch debug --by-hand")
    assert done.code == 0 and "It fails from" in done.out


def test_fork_and_branch(forky: Run, seeded: dict[str, str]) -> None:
    assert forky("fork side --at", seeded["answer"], "--branch", "main").out == "side\n"
    listed = forky("branch --branch side").out.splitlines()
    assert [line.split()[-1] for line in listed] == ["debug", "main", "side"]
    assert [line[0] for line in listed] == [" ", " ", "*"]
    assert forky("branch --branch side --rename aside").out == "aside\n"
    assert "Deleted" in forky("branch --branch aside --delete").out
    assert [row["name"] for row in forky("branch --json").rows] == ["debug", "main"]


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--focus enums", "a focus changes nothing"),
        ("--budget 90", "a budget changes nothing"),
        ("--model offline/digest", "a model changes nothing"),
        ("--pick {answer}", "takes the whole branch"),
    ],
)
def test_what_a_strategy_would_pass_over_is_refused(
    forky: Run, seeded: dict[str, str], option: str, why: str
) -> None:
    done = forky(f"merge debug --into main --strategy full --yes {option.format(**seeded)}")
    assert done.code != 0 and why in done.err


def test_a_branch_whose_only_news_is_a_question_says_so(
    forky: Run, database: Path, seeded: dict[str, str]
) -> None:
    with Forky.open(database) as opened:
        chat = opened.conversation(seeded["enums"], "main")
        chat.fork("note").say("Which port do we use?")
        talk(chat, "On?", "On.")
    shown = forky("merge note --into main --dry-run")
    assert shown.code == 0 and "already" not in shown.out
    assert "! The only news of “note” is a question without an answer: “Which port do we use?”" in shown.out
    assert "! Have it answered on “note” and merge then, or cherry-pick it as a quotation." in shown.out
    entry = forky("merge note --into main --json --dry-run").json
    assert (entry["relation"], entry["lands"], len(entry["unanswered"])) == ("unanswered", False, 1)


def test_a_strategy_that_a_package_adds_merges_by_its_name(forky: Run) -> None:
    with REGISTRY.added(FIRST_SENTENCES):
        done = forky("merge debug --into main --strategy first-sentences --yes")
        assert done.code == 0 and "first-sentences of debug into main" in done.out
    wrong = forky("merge debug --into main --strategy haiku --yes")
    assert wrong.code != 0 and "There is no way to merge called “haiku”." in wrong.err
