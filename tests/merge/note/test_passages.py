from __future__ import annotations

from forky_core.merge.note.passages import call_text, passages
from forky_core.model import seal
from forky_core.model.parts import Draft, ToolCallPart
from forky_core.text.passages import atoms, is_named
from tests.merge.conversations import Talk


def shapes(*lines: str) -> list[tuple[str, str]]:
    it = Talk()
    it.say("main", *lines)
    return [(one.shape, one.text) for one in passages(it.path("main"))]


def test_list_numerals_and_halves_of_words_are_not_named() -> None:
    assert [atom for atom in atoms("2. and/or 3 tokens/s re-run 10 Side-effect -v") if is_named(atom)] == []
    named = ("src/app.py", "PORT", "readFile", "2024-08-05", "404", "9b2bcea", "--dry-run")
    assert all(is_named(atom) for atom in named) and set(named) <= set(atoms(" ".join(named)))


def test_atoms_are_names_paths_numbers_and_pairs_of_signs() -> None:
    found = atoms("Run src/app.py --dry-run with foo.bar_baz(), 3.5 and 端口号 at https://a.b/c")
    assert {"--dry-run", "foo.bar_baz", "src/app.py", "3.5", "端口", "口号", "https://a.b/c"} <= set(found)


def test_prose_is_cut_into_sentences_and_code_into_lines() -> None:
    long = "This is one sentence that goes on for a while and a bit more. " * 6
    found = shapes("user: q", f"assistant: {long}\n```\nx = 1\ny = 2\n```")[1:]
    assert found[-2:] == [("code", "x = 1"), ("code", "y = 2")]
    assert {text for _, text in found[:-2]} == {
        "This is one sentence that goes on for a while and a bit more."
    }


def test_the_number_of_a_list_item_is_no_passage_of_its_own() -> None:
    found = [
        text
        for _, text in shapes(
            "user: How?",
            "assistant: 1. On **Merge** choose the branch and the strategy. Then write a note to whoever shall read it.\n"
            "12. Whoever opens it sees the preview of that very merge. They may change it where they like.",
        )
    ]
    assert "1. On **Merge** choose the branch and the strategy." in found
    assert "12. Whoever opens it sees the preview of that very merge." in found
    assert not {"1.", "12."} & set(found)


def test_a_row_of_a_table_stays_whole() -> None:
    assert ("prose", "| 2 Mar. 2022 | looked at it. Nothing done. |") in shapes(
        "user: q", "assistant: | 2 Mar. 2022 | looked at it. Nothing done. |"
    )


def test_the_arguments_of_a_tool_are_decoded() -> None:
    part = ToolCallPart(
        "Edit", '{"path": "a.py", "new": "\\tshow(1)\\n\\tstop()", "depth": 3, "on": true}', "1"
    )
    assert call_text(part).splitlines() == ["Edit a.py 3", "show(1)", "\tstop()"]
    (message,) = [seal(Draft("assistant", (part,)), ())]
    assert [one.text for one in passages([message])] == ["Edit a.py 3", "show(1)", "stop()"]


def test_arguments_that_are_no_json_stand_as_they_are() -> None:
    assert call_text(ToolCallPart("run", "ls -l", "1")) == "run ls -l"


def test_a_patch_without_a_fence_tells_what_it_puts_in_and_no_name_with_half_a_sign() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n-gone = 1\n+kept = 2\n context = 3"
    fenced = shapes("user: q", f"assistant: ```diff\n{patch}\n```\nDone.")
    bare = shapes("user: q", f"assistant: {patch}\n\n- Done.")
    for found in (fenced, bare):
        assert {("code", "kept = 2"), ("removed", "gone = 1")} <= set(found)
        assert not any("gone" in text for shape, text in found if shape != "removed")
    assert ("code", "b/x.py") in fenced and ("prose", "- Done.") in bare
