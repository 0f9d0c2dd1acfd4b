"""`forky import`, `export`, `diff` and `merge-file` as a person types them."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.cli import importing
from forky_core.formats.importing.landing import PreviewLine, preview
from forky_core.model.parts import Json
from tests.cli.conftest import Run, environment
from tests.formats.test_landing import chat


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An export of two conversations and of one that cannot be read."""
    return written(tmp_path, chat("a", "First words", "x"), chat("b", "Second"), {"title": "Broken"})


def written(folder: Path, *conversations: Json) -> Path:
    file = folder / "conversations.json"
    file.write_text(json.dumps(conversations))
    return file


@pytest.fixture
def id(forky: Run, tmp_path: Path) -> str:
    """A conversation that was imported."""
    file = written(tmp_path, chat("a", "First words", "I am ada@example.com"))
    (id,) = forky("import --json", str(file)).json["conversations"]
    return str(id)


def test_an_export_is_looked_at_imported_and_taken_back(forky: Run, file: Path) -> None:
    looked = forky(f"import {file} --preview")
    assert looked.code == 0 and "First words" in looked.out and "It has no messages" in looked.out
    looked = forky(f"import {file} --preview --only 2")
    assert looked.code == 0 and "Second" in looked.out and "First words" not in looked.out
    done = forky(f"import {file} --only 2")
    assert done.code == 0 and "1 conversation imported" in done.out
    listed = forky("list")
    assert listed.code == 0 and "Second" in listed.out
    assert forky("import --undo 1").code == 0
    assert "No conversation yet" in forky("list").out


def test_a_number_that_the_file_has_not_is_said(forky: Run, tmp_path: Path) -> None:
    file = written(tmp_path, chat("a", "First words", "x"), chat("b", "Second"))
    refused = forky(f"import {file} --only 99")
    assert refused.code == 1
    assert "conversations.json holds 2 conversations; it has no number 99." in refused.err
    done = forky(f"import {file} --only 2-5 --json")
    assert done.code == 1 and "no number 3" in done.err
    assert len(done.json["conversations"]) == 1, "what is there is imported all the same"


def test_a_preview_makes_no_database(forky: Run, tmp_path: Path) -> None:
    file = written(tmp_path, chat("a", "First words", "x"))
    looked = forky(f"import --preview {file}")
    assert looked.code == 0 and "First words" in looked.out
    assert [one.name for one in tmp_path.iterdir()] == ["conversations.json"]
    assert forky(f"import {file}").code == 0
    again = forky(f"import --preview {file}").out
    assert "imported before" in again, "where there is a database, the preview reads it"


@pytest.mark.parametrize(
    ("conversations", "code", "said"),
    [
        ([chat("a", "First words", "x")], 0, ""),
        ([chat("a", "First words", "x"), {"title": "Broken"}], 3, "1 conversation could not be read."),
        ([{"title": "Broken"}], 1, "1 conversation could not be read."),
        (
            [{"messages": [{"role": "user", "content": "Which?", "widget": ["a row"]}]}],
            3,
            "1 part was kept without being understood.",
        ),
    ],
)
def test_the_exit_code_says_whether_everything_came_and_was_understood(
    conversations: list[Json], code: int, said: str, tmp_path: Path, forky: Run
) -> None:
    file = written(tmp_path, *conversations)
    looked = forky(f"import --preview {file}")
    assert looked.code == (1 if code == 1 else 0)
    assert ("(1 part not understood)" in looked.out) == ("kept without" in said)
    done = forky(f"import {file}")
    assert done.code == code and said in done.out
    again = forky(f"import {file} --json")
    assert again.code == code, "the second time, too"
    assert again.json["whole"] is (code == 0)


def test_one_file_that_fails_is_worse_than_another_that_comes_in_part(
    forky: Run, file: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps([{"title": "Broken", "mapping": 1}]))
    assert forky(f"import {file} {broken}").code == 1


def test_a_file_that_cannot_be_opened_does_not_keep_the_others_out(forky: Run, file: Path) -> None:
    done = forky(f"import {file.with_name('away.json')} {file}")
    assert done.code == 1 and "“away.json” cannot be read" in done.err
    assert "2 conversations imported" in done.out


def test_ctrl_c_ends_a_preview_at_once(forky: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any) -> Iterator[PreviewLine]:
        for line in preview(*given):
            yield line
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(importing, "preview", interrupted)
    looked = forky(f"import {file} --preview")
    assert looked.code == 130 and "First words" in looked.out and "Second" not in looked.out


def test_what_comes_in_by_a_pipe_is_imported(forky_process: Run) -> None:
    said = json.dumps([chat("a", "First words", "x")])
    assert "First words" in forky_process("import --preview -", said=said).out
    assert "1 conversation imported" in forky_process("import -", said=said).out
    assert "empty" in forky_process("import -", said="").err


def test_two_versions_are_compared_as_git_shows_them(forky: Run, id: str, tmp_path: Path) -> None:
    old, new = tmp_path / "old.forky.jsonl", tmp_path / "new.forky.jsonl"
    forky(f"export {id} -o {old}")
    assert forky("fork aside").code == 0
    forky(f"export {id} -o {new}")

    def piped(*words: str) -> subprocess.CompletedProcess[str]:
        line = shlex.join([sys.executable, "-m", "forky_core"]) + " " + " ".join(words)
        command = ["bash", "-c", line]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, input=new.read_text(), env=environment()
        )
        assert "Traceback" not in done.stderr
        return done

    plain = forky(f"diff {old} {new}")
    assert plain.code == 1 and "aside" in plain.out
    for words in ((f"<(cat {old})", "-"), (f"<(cat {old})", f"<(cat {new})")):
        done = piped("diff", *words)
        assert (done.returncode, done.stdout) == (1, plain.out)
    same = piped(f"diff <(cat {old}) {old}")
    assert (same.returncode, same.stdout) == (0, "No difference.\n")
    assert "once only" in forky("diff - -").err
    merged = tmp_path / "merged.forky.jsonl"
    assert piped(f"merge-file {old} /dev/null - -o {merged}").returncode == 0
    assert merged.read_bytes() == new.read_bytes()
    assert "cannot be" in piped(f"merge-file <(cat {old}) {old} {new}").stderr
    assert old.read_bytes() != new.read_bytes()


def test_a_conversation_is_exported_forked_elsewhere_and_compared(
    forky: Run, id: str, tmp_path: Path
) -> None:
    out, two = tmp_path / "one.forky.jsonl", tmp_path / "two.forky.jsonl"
    elsewhere = f"--database {tmp_path}/elsewhere.duckdb"
    assert forky(f"export {id} -o {out}").code == 0
    done = forky(f"{elsewhere} import --fork {out} --json")
    forked = done.json["conversation"]
    assert done.code == 0 and forked != id
    assert forky(f"{elsewhere} export {forked} -o {two}").code == 0
    assert forky(f"diff {out} {out}").code == 0
    told = forky(f"diff {out} {two}")
    assert told.code == 1 and "forked_from" in told.out


def test_a_conversation_leaves_as_a_page_and_comes_back(forky: Run, id: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    left = forky(f"export {id} -o {page}")
    assert left.code == 0 and "operation" in left.err
    back = forky(f"--database {tmp_path}/elsewhere.duckdb import {page} --json")
    assert back.code == 0 and back.json["conversations"] == [id]
    text = forky(f"export {id} --as markdown --branch main")
    assert text.code == 0 and text.out.startswith("# ")
    word = forky(f"export {id} --as word")
    assert word.code == 2 and "chatgpt" in word.err
    assert forky(f"export {id} --as messages --message zzz").code == 2


def test_what_looks_private_is_said_and_replaced_on_request(forky: Run, id: str) -> None:
    whole = forky(f"export {id}")
    assert whole.code == 0 and "--redact" in whole.err and "ada@example.com" in whole.out
    copy = forky(f"export {id} --redact")
    assert copy.code == 0 and "[e-mail 1]: ada@example.com, message" in copy.err
    assert "ada@example.com" not in copy.out


def test_a_whole_file_says_what_leaves_unseen_and_can_leave_without(
    forky: Run, id: str, tmp_path: Path
) -> None:
    out = tmp_path / "one.forky.jsonl"
    whole = forky(f"export {id} -o {out}")
    assert whole.code == 0 and "Leaving with it: the operation log (1 operation)" in whole.err
    assert '"type":"operation"' in out.read_text()
    without = forky(f"export {id} --no-log -o {out}")
    assert without.code == 0 and "Leaving with it" not in without.err
    assert '"type":"operation"' not in out.read_text()
    assert forky(f"import --preview {out}").code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import gone.json", "cannot be read"),
        ("import", "Which file?"),
        ("import --undo 7", "There is no import number 7"),
        ("diff gone.jsonl gone.jsonl", "cannot be read"),
        ("import x.json --only 5-3", "runs backwards"),
        ("import x.json --fork --preview", "not allowed with"),
        ("import x.json --undo 1 --pull x", "not allowed with"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(line: str, said: str, forky: Run) -> None:
    ended = forky(line)
    assert ended.code == 2 and said in ended.err
