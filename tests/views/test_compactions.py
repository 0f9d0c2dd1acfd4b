"""What a program's compaction leaves out is told beside its summary, with where it was said."""

from __future__ import annotations

import json

from forky_core.model import Message, seal
from forky_core.model.parts import Draft, MergePart, Part, TextPart, ToolCallPart
from forky_core.views.compactions import left_out_facts


def path_of(*turns: tuple[str, Part]) -> list[Message]:
    path: list[Message] = []
    for role, part in turns:
        above = path[-1].id if path else None
        path.append(seal(Draft(role, (part,)), (above,)))  # type: ignore[arg-type] # one of the four
    return path


def compaction(text: str, *kept: str) -> tuple[str, Part]:
    return "user", MergePart("compaction", "main", kept, text)


def test_decisions_paths_commands_and_amounts_are_left_out_unless_the_summary_has_them() -> None:
    call = ToolCallPart("Bash", json.dumps({"command": "make seed", "file": "src/shop/cart.py"}), "1")
    path = path_of(
        (
            "user",
            TextPart("Sessions live for 45 minutes now. We decided to keep the cookie signed with Blake."),
        ),
        ("assistant", call),
        ("assistant", TextPart("I changed src/login.py. Let's use Redis for the queue of mails.")),
        compaction("The login was mended in src/login.py. We decided to use Redis for the queue."),
    )
    assert [(one.kind, one.text) for one in left_out_facts(path, 3)] == [
        ("decision", "We decided to keep the cookie signed with Blake."),
        ("amount", "45 minutes"),
        ("command", "make seed"),
        ("path", "src/shop/cart.py"),
    ]
    assert left_out_facts(path, 3)[0].message == path[0].id


def test_what_is_kept_beside_the_summary_and_what_an_earlier_one_covers_is_not_told() -> None:
    first = path_of(
        ("user", TextPart("Look at src/old.py")), compaction("Nothing."), ("user", TextPart("And src/new.py"))
    )
    kept = seal(Draft("assistant", (TextPart("See src/kept.py"),)), (first[-1].id,))
    last = seal(Draft("user", (MergePart("compaction", "main", (kept.id,), "Nothing."),)), (kept.id,))
    assert [one.text for one in left_out_facts([*first, kept, last], 4)] == ["src/new.py"]
