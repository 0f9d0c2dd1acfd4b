from __future__ import annotations

from dataclasses import replace

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.redaction import findings, redacted
from forky_core.formats.forky_file.adopting import adopt, fork_file, forks_of, pull
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.lines import line, operation_line
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.model import Change, Operation
from forky_core.model.erasure import operation_id_now
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json
from tests.builders import debugged, origin_of, talk, texts, workspace
from tests.formats.forky_file.chats import file_of, parsed, with_everything

REQUEST: dict[str, Json] = {
    "source": "debug",
    "into": "main",
    "by": "ann",
    "note": "",
    "at": 1,
    "seen": None,
    "strategy": "squash",
    "state": "open",
}
REVIEW: dict[str, Json] = {
    "state": "approved",
    "text": "",
    "at": 1,
    "lands": None,
    "proposal": "",
    "sources": {"debug": None},
    "target": None,
}
_NO_SENSE = r"docs/format\.md|no text|not in the file|is no name"


def test_a_fork_of_a_file_is_ones_own_and_remembers_where_it_came_from(forky: Workspace) -> None:
    chat = with_everything(forky)
    other, _ = workspace()
    done = fork_file(other, parsed(file_of(forky, chat)))
    mine = other.conversation(done.conversation, "main")
    assert done.conversation != chat.id
    assert origin_of(mine) == (chat.id, "Enums")
    assert texts(mine) == texts(chat)
    assert other.verify().clean


def test_pulling_a_newer_file_brings_only_what_is_new_and_moves_nothing_of_mine(forky: Workspace) -> None:
    chat = debugged(forky)
    other, _ = workspace()
    done = fork_file(other, parsed(file_of(forky, chat)))
    mine = other.conversation(done.conversation, "main")
    talk(mine, "My own question", "My answer")
    talk(chat.checkout("debug"), "News?", "Yes.")
    talk(chat, "Theirs too", "Indeed.")
    news = pull(other, mine.id, parsed(file_of(forky, chat)))
    assert (news.outcome, news.messages) == ("grown", 4)
    assert texts(mine)[-2:] == ["My own question", "My answer"]
    assert texts(mine.checkout("debug"))[-1] == "Yes."
    assert texts(mine.checkout("origin/main"))[-1] == "Indeed."
    assert pull(other, mine.id, parsed(file_of(forky, chat))).outcome == "unchanged"
    mine.undo()
    assert "origin/main" not in mine.branches, "one undo takes all of it back"


def test_pulling_a_newer_file_brings_its_tags_and_leaves_mine_where_they_are(forky: Workspace) -> None:
    chat = debugged(forky)
    other, _ = workspace()
    mine = other.conversation(fork_file(other, parsed(file_of(forky, chat))).conversation, "main")
    mine.tags.add("good")
    here = mine.view.tags["good"]
    talk(chat, "News?", "Yes.").tags.add("good")
    chat.tags.add("newest")
    pull(other, mine.id, parsed(file_of(forky, chat)))
    tags = other.conversation(mine.id, "main").view.tags
    assert tags == {"good": here, "newest": chat.view.tags["newest"]}
    assert here != chat.view.tags["good"]


def test_a_newer_redacted_copy_is_news_of_an_older_one_though_more_is_redacted_in_it() -> None:
    forky, _ = workspace()
    chat = talk(forky.create("Mail"), "I am ada@example.com", "Noted.")
    other, _ = workspace()
    first = redacted_copy(forky, chat)
    done = fork_file(other, first)
    mine = other.conversation(done.conversation)
    talk(mine, "Mine?", "Yes.")
    talk(chat, "Or call +49 30 901820", "I will.")
    newer = redacted_copy(forky, chat)
    assert newer.id != first.id
    assert [one.id for one in forks_of(other, newer)] == [mine.id]
    news = pull(other, mine.id, newer)
    assert (news.outcome, news.messages) == ("grown", 2)
    assert texts(mine)[-2:] == ["Mine?", "Yes."]
    assert texts(mine.checkout("origin/main"))[-2:] == ["Or call [phone 1]", "I will."]


def test_a_copy_that_begins_otherwise_or_is_of_another_conversation_is_no_news(forky: Workspace) -> None:
    chat, stranger = (talk(forky.create(title), "I am ada@example.com", "Noted.") for title in ("One", "Two"))
    other, _ = workspace()
    mine = fork_file(other, redacted_copy(forky, chat)).conversation
    talk(chat, "Or call +49 30 901820")
    whole = chat_of(forky.store, chat.id)
    otherwise = redacted(whole, findings(whole)[1:])
    for copy in (redacted_copy(forky, stranger), otherwise):
        assert forks_of(other, parsed("".join(written(copy)))) == ()
        with pytest.raises(BadContent, match="not forked"):
            pull(other, mine, copy)


def redacted_copy(forky: Workspace, chat: Conversation) -> Chat:
    """What somebody is handed: all that looks private replaced, and read from its file."""
    whole = chat_of(forky.store, chat.id)
    return parsed("".join(written(redacted(whole, findings(whole)))))


def test_a_file_of_another_conversation_is_not_pulled(forky: Workspace) -> None:
    one, two = debugged(forky), debugged(forky)
    with pytest.raises(BadContent, match="not forked"):
        pull(forky, one.id, parsed(file_of(forky, two)))


def test_a_newer_file_of_the_same_conversation_continues_its_log(forky: Workspace) -> None:
    chat = debugged(forky)
    other, _ = workspace()
    adopt(other, parsed(file_of(forky, chat)))
    talk(chat, "More?", "More.")
    done = adopt(other, parsed(file_of(forky, chat)))
    assert (done.outcome, done.messages) == ("grown", 2)
    assert file_of(other, other.conversation(chat.id)) == file_of(forky, chat)


def test_copies_that_went_on_apart_are_united_without_losing_either(forky: Workspace) -> None:
    chat = debugged(forky)
    other, _ = workspace()
    adopt(other, parsed(file_of(forky, chat)))
    copy = other.conversation(chat.id, "main")
    talk(copy, "Mine", "m")
    talk(chat, "Theirs", "t")
    adopt(other, parsed(file_of(forky, chat)))
    assert texts(copy)[-2:] == ["Mine", "m"]
    assert texts(copy.checkout("main-2"))[-2:] == ["Theirs", "t"]
    assert other.verify().clean


def test_a_missing_attachment_is_said_before_anything_is_written(forky: Workspace) -> None:
    chat = with_everything(forky)
    bare = "".join(written(chat_of(forky.store, chat.id, files=False)))
    other, _ = workspace()
    with pytest.raises(BadContent, match=r"cat\.png"):
        adopt(other, parsed(bare))
    assert other.conversations() == ()


def test_lines_of_a_later_version_survive_the_trip(forky: Workspace) -> None:
    text = file_of(forky, debugged(forky))
    unknown = '{"type":"mood","score":0.5,"who":"Ana"}'
    first, rest = text.split("\n", 1)
    other, _ = workspace()
    chat = parsed(f"{first}\n{unknown}\n{rest}")
    adopt(other, chat)
    assert unknown in file_of(other, other.conversation(chat.id)).splitlines()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Python classes.", "Python modules.", "not that of its content"),
        ('"verb":"say"', '"verb":"ask"', "the log was changed"),
        ('"format":"forky-chat/1"', '"format":"forky-chat/9"', "this Forky reads forky-chat/1"),
        ('"role":"assistant"', '"role":"oracle"', "nobody has the role"),
        ('{"type":"message"', '{"type":"mossage"', "does not stand before it"),
        ('"name":"heads/debug"', '"name":"heads/other"', "where its log left them"),
        ('"type":"session"', '"type":"cession"', "does not begin as a Forky chat file"),
    ],
)
def test_a_changed_file_is_refused_with_what_is_wrong(old: str, new: str, said: str) -> None:
    forky, _ = workspace()
    text = file_of(forky, debugged(forky))
    assert old in text
    with pytest.raises(BadContent, match=said):
        parsed(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("heads/x", 5),
        ("heads/x", {"at": ["x"]}),
        ("rules/main", {"exclusions": 5}),
        ("rules/main", {"system": 7}),
        ("stash/a", {"note": "x"}),
        ("requests/x", {}),
        ("requests/1", {**REQUEST, "picks": "b2:00"}),
        ("requests/1", {**REQUEST, "picks": [5]}),
        ("requests/1", {**REQUEST, "others": ["ab"]}),
        ("requests/1", {**REQUEST, "others": [["idea", 5]]}),
        ("requests/1", {**REQUEST, "others": [[None, None]]}),
        ("requests/1", {**REQUEST, "focus": 5}),
        ("requests/1", {**REQUEST, "budget": "5"}),
        ("requests/1", {**REQUEST, "policy": "whatever"}),
        ("requests/1", {**REQUEST, "choices": {"port": ["sideways", "", ""]}}),
        ("requests/1", {**REQUEST, "graft": ["c1"]}),
        ("requests/1", {**REQUEST, "words": {"debug": 5}}),
        ("reviews/1/ana", {}),
        ("reviews/x/ana", REVIEW),
        ("reviews/1/", REVIEW),
        ("reviews/1/ana", {**REVIEW, "state": "perhaps"}),
        ("reviews/1/ana", {**REVIEW, "lands": 5}),
        ("reviews/1/ana", {**REVIEW, "text": 5}),
        ("reviews/1/ana", {**REVIEW, "sources": []}),
        ("reviews/1/ana", {**REVIEW, "sources": {"idea": 5}}),
        ("tags/x", 5),
        ("kept/b2:00", True),
        ("heads/a\x1b[2Jb", {"at": None}),
        ("tags/a\u202eb", {"at": None}),
        ("origin", {"format": 5}),
        ("origin", "x"),
        ("resolutions/5f", {"text": 7}),
        ("resolutions/5f", "x"),
        ("conflicts/b2:00", [{"key": "k", "values": [5]}]),
        ("conflicts/b2:00", "x"),
        ("stash/1", {"note": "x", "messages": "b2:00"}),
        ("trashed", "no"),
    ],
)
def test_a_view_that_makes_no_sense_is_refused(key: str, value: Json, forky: Workspace) -> None:
    """One such conversation here would take the list of all of them down."""
    rows = file_of(forky, debugged(forky)).splitlines()
    rows = [row for row in rows if not row.startswith('{"type":"operation"')]
    parsed("\n".join(rows))
    with pytest.raises(BadContent, match=_NO_SENSE) as refused:
        parsed("\n".join((*rows, line("entry", key=key, value=value))))
    assert f"Line {len(rows) + 1} " in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("heads/other", 5),
        ("heads/other", {"at": "b2:00"}),
        ("heads/a\nb", {"at": None}),
        ("rules/main", {"system": 7}),
        ("stash/1", {"note": 5}),
        ("requests/1", {}),
        ("tags/x", None),
        ("origin", []),
        ("resolutions/5f", {"key": "k", "values": [5], "text": "x"}),
        ("title", ["x"]),
    ],
)
def test_nonsense_in_an_earlier_operation_is_refused_with_its_line(key: str, value: Json) -> None:
    """It would come back with undo and restore."""
    forky, _ = workspace()
    chat = forky.create("Names")
    talk(chat, "Suggest one")
    wrong = value if value is not None else {"at": None}
    there, gone = Change(key, chat.view.entries.get(key), wrong), Change(key, wrong, None)
    if there.before is not None:
        gone = Change(key, wrong, there.before)
    operations = list(chat_of(forky.store, chat.id).operations)
    rows = file_of(forky, chat).splitlines()
    last = max(at for at, row in enumerate(rows) if row.startswith('{"type":"operation"'))
    for change in (there, gone):
        operations.append(_crafted(operations[-1], change))
        last += 1
        rows.insert(last, operation_line(operations[-1]))
    with pytest.raises(BadContent, match=_NO_SENSE) as refused:
        parsed("\n".join(rows))
    assert f"Line {last} " in str(refused.value)


def test_a_change_that_misremembers_what_was_there_is_refused(forky: Workspace) -> None:
    """Undo would bring back what never was."""
    chat = talk(forky.create("Names"), "Suggest one")
    whole = chat_of(forky.store, chat.id)
    crafted = _crafted(whole.operations[-1], Change("title", "Other", "Names"))
    text = "".join(written(replace(whole, operations=(*whole.operations, crafted))))
    with pytest.raises(BadContent, match=r"Line \d+ .*“title” what did not stand there"):
        parsed(text)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"message": 5, "id": "x"}, "names no message"),
        ({"id": "x"}, "names no message"),
        ({"message": "b2:00", "x": 5}, "no object"),
        ({"message": "b2:00", "id": "x"}, "not in the file"),
    ],
)
def test_an_origin_that_makes_no_sense_is_refused(row: dict[str, Json], said: str, forky: Workspace) -> None:
    text = file_of(forky, debugged(forky))
    with pytest.raises(BadContent, match=said):
        parsed(text + line("origin", origin=row))


def _crafted(before: Operation, change: Change) -> Operation:
    """The operation after `before`, properly chained."""
    made = replace(
        before, number=before.number + 1, previous=before.id, changes=(change,), group=None, reverts=()
    )
    return replace(made, id=operation_id_now(made))


def test_an_empty_file_and_half_a_line_are_refused(forky: Workspace) -> None:
    text = file_of(forky, debugged(forky))
    with pytest.raises(BadContent, match="empty"):
        parsed("")
    with pytest.raises(BadContent, match="Line"):
        parsed(text[: len(text) // 2])
