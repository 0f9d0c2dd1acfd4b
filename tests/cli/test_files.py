"""`forky import`, `export`, `diff` and `merge-file` as a person types them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forky_core.cli.parser import main
from forky_core.model.parts import Json
from tests.cli.conftest import Ended, environment
from tests.formats.test_landing import chat


def forky(folder: Path, *words: str) -> int:
    return main(["--database", str(folder / "chats.duckdb"), *words])


def test_an_export_is_looked_at_imported_and_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat("a", "First words", "x"), chat("b", "Second"), {"title": "Broken"}]))
    assert forky(tmp_path, "import", str(file), "--preview") == 0
    listed = capsys.readouterr().out
    assert "First words" in listed
    assert "It has no messages" in listed
    assert forky(tmp_path, "import", str(file), "--preview", "--only", "2") == 0
    listed = capsys.readouterr().out
    assert "Second" in listed and "First words" not in listed
    assert forky(tmp_path, "import", str(file), "--only", "2") == 0
    assert "1 conversation imported" in capsys.readouterr().out
    assert forky(tmp_path, "list") == 0
    assert "Second" in capsys.readouterr().out
    assert forky(tmp_path, "import", "--undo", "1") == 0
    capsys.readouterr()
    forky(tmp_path, "list")
    assert "No conversation yet" in capsys.readouterr().out


def test_a_number_that_the_file_has_not_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat("a", "First words", "x"), chat("b", "Second")]))
    assert forky(tmp_path, "import", str(file), "--only", "99") == 1
    assert "conversations.json holds 2 conversations; it has no number 99." in capsys.readouterr().err
    assert forky(tmp_path, "import", str(file), "--only", "2-5", "--json") == 1
    said = capsys.readouterr()
    assert len(json.loads(said.out)["conversations"]) == 1, "what is there is imported all the same"
    assert "no number 3" in said.err


def test_a_preview_makes_no_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat("a", "First words", "x")]))
    assert forky(tmp_path, "import", "--preview", str(file)) == 0
    assert "First words" in capsys.readouterr().out
    assert [one.name for one in tmp_path.iterdir()] == ["conversations.json"]
    assert forky(tmp_path, "import", str(file)) == 0
    forky(tmp_path, "import", "--preview", str(file))
    assert "imported before" in capsys.readouterr().out, "where there is a database, the preview reads it"


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
    conversations: list[Json], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(conversations))
    assert forky(tmp_path, "import", "--preview", str(file)) == (1 if code == 1 else 0)
    assert ("(1 part not understood)" in capsys.readouterr().out) == ("kept without" in said)
    assert forky(tmp_path, "import", str(file)) == code
    assert said in capsys.readouterr().out
    assert forky(tmp_path, "import", str(file), "--json") == code, "the second time, too"
    assert json.loads(capsys.readouterr().out)["whole"] is (code == 0)


def test_one_file_that_fails_is_worse_than_another_that_comes_in_part(tmp_path: Path) -> None:
    part, broken = tmp_path / "part.json", tmp_path / "broken.json"
    part.write_text(json.dumps([chat("a", "First words", "x"), {"title": "Broken"}]))
    broken.write_text(json.dumps([{"title": "Broken", "mapping": 1}]))
    assert forky(tmp_path, "import", str(part), str(broken)) == 1


def test_what_comes_in_by_a_pipe_is_imported(forky_process: Callable[..., Ended]) -> None:
    said = json.dumps([chat("a", "First words", "x")])
    assert "First words" in forky_process("import", "--preview", "-", said=said).out
    assert "1 conversation imported" in forky_process("import", "-", said=said).out
    assert "empty" in forky_process("import", "-", said="").err


def test_two_versions_are_compared_as_git_shows_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat("a", "First words", "x")]))
    forky(tmp_path, "import", str(file), "--json")
    (id,) = json.loads(capsys.readouterr().out)["conversations"]
    old, new = tmp_path / "old.forky.jsonl", tmp_path / "new.forky.jsonl"
    forky(tmp_path, "export", id, "-o", str(old))
    assert forky(tmp_path, "fork", "aside") == 0
    forky(tmp_path, "export", id, "-o", str(new))
    capsys.readouterr()

    def piped(*words: str) -> subprocess.CompletedProcess[str]:
        line = shlex.join([sys.executable, "-m", "forky_core"]) + " " + " ".join(words)
        command = ["bash", "-c", line]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, input=new.read_text(), env=environment()
        )
        assert "Traceback" not in done.stderr
        return done

    one, other = shlex.quote(str(old)), shlex.quote(str(new))
    assert main(["diff", str(old), str(new)]) == 1
    plain = capsys.readouterr().out
    assert "aside" in plain
    for words in ((f"<(cat {one})", "-"), (f"<(cat {one})", f"<(cat {other})")):
        done = piped("diff", *words)
        assert (done.returncode, done.stdout) == (1, plain)
    same = piped("diff", f"<(cat {one})", one)
    assert (same.returncode, same.stdout) == (0, "No difference.\n")
    main(["diff", "-", "-"])
    assert "once only" in capsys.readouterr().err
    merged = tmp_path / "merged.forky.jsonl"
    assert piped("merge-file", one, "/dev/null", "-", "-o", shlex.quote(str(merged))).returncode == 0
    assert merged.read_bytes() == new.read_bytes()
    assert "cannot be" in piped("merge-file", f"<(cat {one})", one, other).stderr
    assert old.read_bytes() != new.read_bytes()


def test_a_conversation_is_exported_forked_elsewhere_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat("a", "First words", "x")]))
    forky(tmp_path, "import", str(file), "--json")
    (id,) = json.loads(capsys.readouterr().out)["conversations"]
    out = tmp_path / "one.forky.jsonl"
    assert forky(tmp_path, "export", id, "-o", str(out)) == 0
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert forky(other, "import", "--fork", str(out), "--json") == 0
    forked = json.loads(capsys.readouterr().out)["conversation"]
    assert forked != id
    assert forky(other, "export", forked, "-o", str(other / "two.forky.jsonl")) == 0
    assert main(["diff", str(out), str(out)]) == 0
    assert main(["diff", str(out), str(other / "two.forky.jsonl")]) == 1
    assert "forked_from" in capsys.readouterr().out


def test_a_conversation_leaves_as_a_page_and_comes_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat("a", "First words", "x")]))
    forky(tmp_path, "import", str(file), "--json")
    (id,) = json.loads(capsys.readouterr().out)["conversations"]
    page = tmp_path / "page.html"
    assert forky(tmp_path, "export", id, "-o", str(page)) == 0
    assert "operation" in capsys.readouterr().err
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert forky(other, "import", str(page), "--json") == 0
    assert json.loads(capsys.readouterr().out)["conversations"] == [id]
    assert forky(tmp_path, "export", id, "--as", "markdown", "--branch", "main") == 0
    assert capsys.readouterr().out.startswith("# ")
    assert forky(tmp_path, "export", id, "--as", "word") == 2
    assert "chatgpt" in capsys.readouterr().err
    assert forky(tmp_path, "export", id, "--as", "messages", "--message", "zzz") == 2


def test_what_looks_private_is_said_and_replaced_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chat("a", "First words", "I am ada@example.com")]))
    forky(tmp_path, "import", str(file), "--json")
    (id,) = json.loads(capsys.readouterr().out)["conversations"]
    assert forky(tmp_path, "export", id) == 0
    whole = capsys.readouterr()
    assert "--redact" in whole.err
    assert "ada@example.com" in whole.out
    assert forky(tmp_path, "export", id, "--redact") == 0
    copy = capsys.readouterr()
    assert "[e-mail 1]: ada@example.com, message" in copy.err
    assert "ada@example.com" not in copy.out


def test_a_whole_file_says_what_leaves_unseen_and_can_leave_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "conversations.json", tmp_path / "one.forky.jsonl"
    file.write_text(json.dumps([chat("a", "First words", "x")]))
    forky(tmp_path, "import", str(file), "--json")
    (id,) = json.loads(capsys.readouterr().out)["conversations"]
    assert forky(tmp_path, "export", id, "-o", str(out)) == 0
    assert "Leaving with it: the operation log (1 operation)" in capsys.readouterr().err
    assert '"type":"operation"' in out.read_text()
    assert forky(tmp_path, "export", id, "--no-log", "-o", str(out)) == 0
    assert "Leaving with it" not in capsys.readouterr().err
    assert '"type":"operation"' not in out.read_text()
    assert forky(tmp_path, "import", "--preview", str(out)) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "gone.json"], "cannot be read"),
        (["import"], "Which file?"),
        (["import", "--undo", "7"], "There is no import number 7"),
        (["diff", "gone.jsonl", "gone.jsonl"], "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert forky(tmp_path, *words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "5-3"], "runs backwards"),
        (["--fork", "--preview"], "not allowed with"),
        (["--undo", "1", "--pull", "x"], "not allowed with"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        forky(tmp_path, "import", "x.json", *words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
