from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest

from forky_core.conversation.transaction import Transaction
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.files.source import opened
from forky_core.formats.importing.batches import MOST_MESSAGES
from forky_core.formats.importing.import_record import imports
from forky_core.formats.importing.landing import ImportProgress, import_file, preview
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model import ConversationSummary
from forky_core.model.errors import InTheWay, NotFound, NothingToDo
from forky_core.model.parts import Json
from tests.formats.sources import packed, written
from tests.hangs import HANG


def chat(id: str, *texts: str, title: str | None = None, parents: dict[int, int] | None = None) -> Json:
    """A conversation as ChatGPT exports it; `parents` says which text another one follows, else the one before."""
    mapping = {}
    for at, text in enumerate(texts):
        parent = (parents or {}).get(at, at - 1)
        mapping[f"{id}-{at}"] = {
            "parent": f"{id}-{parent}" if parent >= 0 else None,
            "message": {
                "author": {"role": "user" if at % 2 == 0 else "assistant"},
                "content": {"content_type": "text", "parts": [text]},
                "create_time": 1_700_000_000 + at,
                "metadata": {"model_slug": "gpt-4o"},
            },
        }
    current = f"{id}-{len(texts) - 1}"
    return {"conversation_id": id, "title": title, "mapping": mapping, "current_node": current}


def pictured(value: Json, node: str, file: str, *said: str, role: str = "user") -> None:
    """Make a message of `chat` show a picture of the archive, above what is said."""
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": f"file-service://{file}"}
    content = {"content_type": "multimodal_text", "parts": [pointer, *said]}
    value["mapping"][node]["message"] |= {"content": content, "author": {"role": role}}


HALF = "x\ud83dy"
"""A lone half of a surrogate pair, which can be stored nowhere."""
LINES = (
    {
        "type": "user",
        "uuid": HALF,
        "sessionId": HALF,
        "cwd": HALF,
        "message": {"role": "user", "content": HALF},
    },
    {"type": "summary", "leafUuid": HALF, "summary": HALF},
)


@pytest.mark.parametrize(
    "value",
    [
        [chat(HALF, HALF, title=HALF) | {"gizmo_id": HALF}],
        {"systemInstruction": {"text": HALF}, "chunkedPrompt": {"chunks": [{"text": HALF, "role": "user"}]}},
        "\n".join(map(json.dumps, LINES)),
    ],
    ids=("ids and fields of a conversation", "system prompt", "session and folder"),
)
def test_half_a_character_beside_the_messages_keeps_nothing_out(
    value: Json, forky: Workspace, tmp_path: Path
) -> None:
    done = import_file(forky, written(tmp_path, value))
    assert not done.problems and done.account.lost == 0
    (id,) = done.conversations
    assert [message.text for message in forky.conversation(id).path()] == ["x\ufffdy"]
    assert import_file(forky, written(tmp_path, value)).unchanged == 1


def test_a_preview_lists_conversations_and_writes_nothing(forky: Workspace, tmp_path: Path) -> None:
    path = written(
        tmp_path, [chat("a", "Hello there", "Hi"), {"title": "Broken"}, chat("b", "Two", title="Named")]
    )
    lines = list(preview(forky, path))
    assert [(line.number, line.title, line.messages, bool(line.problem)) for line in lines] == [
        (1, "Hello there", 2, False),
        (2, "Broken", 0, True),
        (3, "Named", 1, False),
    ]
    assert forky.conversations() == ()


def test_only_what_is_ticked_comes(forky: Workspace, tmp_path: Path) -> None:
    path = written(tmp_path, [chat("a", "one"), chat("b", "two"), chat("c", "three")])
    import_file(forky, path, chosen={2})
    assert [summary.title for summary in forky.conversations()] == ["two"]


def test_who_answered_and_when_is_kept_beside_the_message(forky: Workspace, tmp_path: Path) -> None:
    done = import_file(forky, written(tmp_path, [chat("a", "q", "answer")]))
    landed = forky.conversation(done.conversations[0])
    (call,) = landed.calls.generations
    assert (call.model, call.status, call.message) == ("gpt-4o", "done", landed.branch.head)
    assert call.seconds is None, "the source does not say how long it took"
    assert [message.created for message in landed.path()] == [1_700_000_000_000_000, 1_700_000_001_000_000]


def test_importing_twice_adds_nothing(forky: Workspace, tmp_path: Path) -> None:
    path = written(tmp_path, [chat("a", "one", "two")])
    import_file(forky, path)
    before = forky.conversations()
    again = import_file(forky, path)
    assert (again.number, again.conversations, again.unchanged) == (0, (), 1)
    assert forky.conversations() == before


def test_a_newer_export_brings_only_what_is_new(forky: Workspace, tmp_path: Path) -> None:
    first = import_file(forky, written(tmp_path, [chat("a", "one", "two")]))
    grown = chat("a", "one", "two", "three", "four", "other", parents={4: 1})
    grown["current_node"] = "a-3"
    second = import_file(forky, written(tmp_path, [grown]))
    assert second.conversations == first.conversations
    landed = forky.conversation(first.conversations[0])
    assert [message.text for message in landed.path()] == ["one", "two", "three", "four"]
    assert set(landed.branches) == {"main", "other"}
    assert forky.verify().clean


def test_what_was_said_here_since_is_not_moved_by_a_newer_export(forky: Workspace, tmp_path: Path) -> None:
    first = import_file(forky, written(tmp_path, [chat("a", "one", "two")]))
    landed = forky.conversation(first.conversations[0], "main")
    mine = landed.say("my own question")
    import_file(forky, written(tmp_path, [chat("a", "one", "two", "three", "four")]))
    assert landed.branches["main"].head == mine.id
    assert [message.text for message in landed.checkout("main-2").path()][2:] == ["three", "four"]


def test_an_import_is_undone_as_one(forky: Workspace, tmp_path: Path) -> None:
    first = import_file(forky, written(tmp_path, [chat("a", "one")]))
    second = import_file(forky, written(tmp_path, [chat("a", "one", "two"), chat("b", "new")]))
    assert [record.number for record in imports(forky.store)] == [2, 1]
    assert undo_import(forky, second.number) == 2
    assert [summary.id for summary in forky.conversations()] == list(first.conversations)
    assert [message.text for message in forky.conversation(first.conversations[0]).path()] == ["one"]
    with pytest.raises(NotFound):
        undo_import(forky, second.number)


def test_an_import_is_not_undone_over_what_was_said_since(forky: Workspace, tmp_path: Path) -> None:
    first = import_file(forky, written(tmp_path, [chat("a", "one", "two")]))
    second = import_file(
        forky, written(tmp_path, [chat("b", "new"), chat("a", "one", "two", "three", "four")])
    )
    grown = forky.conversation(first.conversations[0])
    mine = grown.say("my own question")
    count = len(grown.history.operations)
    with pytest.raises(InTheWay, match="“one” has changed since this import"):
        undo_import(forky, second.number)
    assert grown.branches["main"].head == mine.id and len(grown.history.operations) == count
    assert len(forky.conversations()) == 2 and len(imports(forky.store)) == 2, "nothing of it was taken back"
    grown.undo()
    assert undo_import(forky, second.number) == 2
    assert [message.text for message in grown.path()] == ["one", "two"]


def test_an_import_that_was_undone_in_its_conversation_is_no_obstacle(
    forky: Workspace, tmp_path: Path
) -> None:
    first = import_file(forky, written(tmp_path, [chat("a", "one")]))
    second = import_file(forky, written(tmp_path, [chat("a", "one", "two"), chat("b", "new")]))
    grown = forky.conversation(first.conversations[0])
    grown.undo()
    assert undo_import(forky, second.number) == 1
    assert [message.text for message in grown.path()] == ["one"]


def test_what_grew_twice_in_one_file_is_taken_back_whole(forky: Workspace, tmp_path: Path) -> None:
    first = import_file(forky, written(tmp_path, [chat("a", "one")]))
    twice = [chat("a", "one", "two"), chat("a", "one", "two", "three")]
    second = import_file(forky, written(tmp_path, twice))
    grown = forky.conversation(first.conversations[0])
    assert [message.text for message in grown.path()] == ["one", "two", "three"]
    assert undo_import(forky, second.number) == 1
    assert [message.text for message in grown.path()] == ["one"]


def test_a_stopped_import_leaves_nothing(forky: Workspace, tmp_path: Path) -> None:
    path = written(tmp_path, [chat(str(number), f"text {number}") for number in range(20)])
    stopped_while(forky, path, 7, lambda: None)
    assert forky.conversations() == forky.conversations(trashed=True) == ()
    assert imports(forky.store) == ()


def test_a_stopped_import_leaves_nothing_of_what_was_written_already(
    forky: Workspace, tmp_path: Path
) -> None:
    first = import_file(forky, written(tmp_path, [chat("grows", "one")]))
    known = forky.conversation(first.conversations[0])
    path = written(tmp_path, [chat("grows", "one", "two"), *LONG, chat("last", "text")])
    seen: list[ConversationSummary] = []
    stopped_while(forky, path, 3, lambda: seen.extend(forky.conversations()))
    assert len(seen) > 1, "some of it had been written"
    assert [summary.id for summary in forky.conversations()] == [known.id]
    assert forky.conversations(trashed=True) == ()
    assert [message.text for message in known.path()] == ["one"]
    assert len(imports(forky.store)) == 1


def stopped_while(forky: Workspace, path: Path, at: int, meanwhile: Callable[[], object]) -> str:
    """An import stopped after `at` conversations, with `meanwhile` done just before; the sentence that says so."""
    stop = Event()

    def watch(progress: ImportProgress) -> None:
        if progress.done == at:
            meanwhile()
            stop.set()

    with pytest.raises(NothingToDo) as stopped:
        import_file(forky, path, on_progress=watch, stop=stop)
    return str(stopped.value)


LONG = [chat(f"long {number}", *map(str, range(MOST_MESSAGES))) for number in range(2)]
"""Two that fill a batch each, so that what came before them is written."""


def test_a_stopped_import_takes_no_words_out_of_sight_that_were_said_meanwhile(
    forky: Workspace, tmp_path: Path
) -> None:
    first = import_file(forky, written(tmp_path, [chat("grows", "one", "two")]))
    grown = forky.conversation(first.conversations[0])
    path = written(tmp_path, [chat("grows", "one", "two", "three", "four"), *LONG, chat("last", "text")])
    told = stopped_while(forky, path, 3, lambda: grown.say("my own question"))
    assert "“one” keeps what came to it" in told
    assert [message.text for message in grown.path()] == ["one", "two", "three", "four", "my own question"]
    assert [summary.id for summary in forky.conversations()] == [grown.id]


def test_a_stopped_import_takes_back_what_came_beside_what_was_said_meanwhile(
    forky: Workspace, tmp_path: Path
) -> None:
    first = import_file(forky, written(tmp_path, [chat("grows", "one", "two")]))
    grown = forky.conversation(first.conversations[0])
    side = grown.fork("side")
    path = written(tmp_path, [chat("grows", "one", "two", "three", "four"), *LONG, chat("last", "text")])
    told = stopped_while(forky, path, 3, lambda: side.say("a question aside"))
    assert told == "The import was stopped; nothing of it was kept."
    assert [message.text for message in side.path()] == ["one", "two", "a question aside"]
    assert [message.text for message in grown.path()] == ["one", "two"]


def test_a_new_conversation_that_was_gone_on_with_survives_a_stop_in_the_trash(
    forky: Workspace, tmp_path: Path
) -> None:
    path = written(tmp_path, [chat("new", "one", "two"), *LONG, chat("last", "text")])

    def say() -> None:
        (new,) = (summary.id for summary in forky.conversations() if summary.title == "one")
        forky.conversation(new).say("my own question")

    told = stopped_while(forky, path, 3, say)
    assert told == "The import was stopped. “one” is in the trash: it was gone on with meanwhile."
    assert forky.conversations() == ()
    (left,) = forky.conversations(trashed=True)
    assert [m.text for m in forky.conversation(left.id).path()] == ["one", "two", "my own question"]


def test_what_was_done_beside_an_import_outlives_its_undo(forky: Workspace, tmp_path: Path) -> None:
    first = import_file(forky, written(tmp_path, [chat("a", "one", "two")]))
    grown = forky.conversation(first.conversations[0])
    side = grown.fork("side")
    second = import_file(forky, written(tmp_path, [chat("a", "one", "two", "three", "four")]))
    side.say("a question aside")
    assert undo_import(forky, second.number) == 1
    assert [message.text for message in side.path()] == ["one", "two", "a question aside"]
    assert [message.text for message in grown.path()] == ["one", "two"]
    grown.redo()
    assert [message.text for message in grown.path()] == ["one", "two", "three", "four"]


def test_two_tabs_that_import_the_same_file_at_once_bring_it_once(tmp_path: Path) -> None:
    names = [f"talk {number}" for number in range(20)]
    path = written(tmp_path, [chat(name, f"{name} asks", f"{name} answers", title=name) for name in names])
    together = Barrier(2)

    def meet(progress: ImportProgress) -> None:
        if progress.done == 1:
            together.wait(HANG)  # Both have found that nothing of the file is there.

    with Forky.open(tmp_path / "forky.duckdb") as forky, ThreadPoolExecutor(2) as tabs:
        jobs = [tabs.submit(import_file, forky, path, on_progress=meet) for _ in range(2)]
        done = [job.result(HANG) for job in jobs]
        assert sorted(one.title for one in forky.conversations()) == sorted(names)
        assert [one.problems for one in done] == [(), ()]
        assert sum(len(one.conversations) + one.unchanged for one in done) == 2 * len(names)
        assert {one.number: (one.state, len(one.conversations)) for one in imports(forky.store)} == {
            one.number: ("finished", len(one.conversations)) for one in done if one.conversations
        }
        assert forky.store.verify().clean


def test_one_conversation_twice_in_a_file_is_one(forky: Workspace, tmp_path: Path) -> None:
    path = written(tmp_path, [chat("a", "one"), chat("a", "one", "two"), chat("a", "one", "two")])
    done = import_file(forky, path)
    (id,) = done.conversations
    assert [message.text for message in forky.conversation(id).path()] == ["one", "two"]
    assert (done.unchanged, len(forky.store.operations(id))) == (1, 2)
    assert undo_import(forky, done.number) == 1
    assert forky.conversations() == ()


def test_the_account_and_the_source_ids_are_kept(forky: Workspace, tmp_path: Path) -> None:
    done = import_file(forky, written(tmp_path, [chat("a", "one", "same", "same", parents={2: 0})]))
    (id,) = done.conversations
    origin = forky.conversation(id).view.entries["origin"]
    rows = [json.loads(row) for row in forky.store.derived(id, ("origins",))["origins"].splitlines()]
    assert (origin["format"], origin["id"], origin["file"]) == ("chatgpt", "a", "export.json")
    assert [row["id"] for row in rows] == ["a-0", "a-1", "a-2"]
    assert origin["account"]["seen"] == origin["account"]["imported"] == 3, (
        "the third is a question, not an answer"
    )
    (record,) = imports(forky.store)
    assert record.account.conversations == 1


def test_files_of_an_archive_are_kept_with_the_messages(forky: Workspace, tmp_path: Path) -> None:
    value = chat("a", "look")
    pictured(value, "a-0", "file-AbC123", "look")
    picture = b"\x89PNG\r\n\x1a\n" + bytes(40)
    path = packed(tmp_path, {"conversations.json": json.dumps([value]), "media/file-AbC123-cat.png": picture})
    done = import_file(forky, path)
    (message,) = forky.conversation(done.conversations[0]).path()
    assert forky.store.blob(message.parts[0].stored()["attachment"]["id"]).content == picture
    assert forky.verify().clean


def test_a_preview_tells_of_pictures_what_the_import_will_and_keeps_none(
    forky: Workspace, tmp_path: Path
) -> None:
    value = chat("a", "look", "same", "same", parents={2: 0})
    pointers = {"a-0": "file-AbC123", "a-1": "file-Same1", "a-2": "file-Same2"}
    for node, file in pointers.items():
        pictured(value, node, file)
    picture = b"\x89PNG\r\n\x1a\n" + bytes(40)
    members: dict[str, str | bytes] = {"conversations.json": json.dumps([value])}
    members |= {f"{file}-cat.png": picture for file in pointers.values()}
    path = packed(tmp_path, members)
    (line,) = preview(forky, path)
    with opened(path, light=True) as archive:
        stand_in = archive.beside.attach("file-AbC123-cat.png")
        assert archive.beside.held == {}
    assert stand_in is not None and stand_in.media_type == "image/png"
    with pytest.raises(NotFound):
        forky.store.blob(stand_in.sha256)
    assert (line.messages, line.account.collapsed) == (2, 1)
    assert import_file(forky, path).account == line.account


def test_an_unknown_format_is_told(forky: Workspace, tmp_path: Path) -> None:
    done = import_file(forky, written(tmp_path, {"nothing": "we know"}))
    (problem,) = done.problems
    assert problem.why.startswith("Its format is not known.")


def test_a_conversation_that_says_oddly_where_it_came_from_stops_no_import(
    forky: Workspace, tmp_path: Path
) -> None:
    odd = forky.create("Odd")
    tx = Transaction(forky.store, odd.id, odd.view, "you")
    tx.set("origin", {"a": 1})
    tx.publish("import", "From elsewhere")
    assert len(import_file(forky, written(tmp_path, [chat("a", "one")])).conversations) == 1
