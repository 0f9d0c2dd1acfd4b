"""What answers cite travels with a conversation: its documents do not."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from jsonschema import Draft202012Validator

from forky_core import formats
from forky_core.context.citing import documents_cited, sources_in
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.exporting.redaction import findings, redacted
from forky_core.formats.forky_file.adopting import adopt, fork_file
from forky_core.formats.forky_file.uniting import unite_chats
from forky_core.formats.forky_file.writing import chat_of, part_of, written
from forky_core.model import MessageId
from forky_core.model.document import CitedPassage
from forky_core.model.errors import BadContent, NotFound
from tests.builders import ScriptedModels, talk, workspace
from tests.formats.forky_file.chats import came_back, copy_of, file_of, parsed, value_of

MANUAL = (
    "# Pump X200\n\n## Oil\n\nOil the bearing of the X200 every spring.\n\n"
    "## Warranty\n\nThe warranty of the X200 is two years; ask mara.keller@example.org."
)


def citing() -> tuple[Workspace, ScriptedModels, Conversation]:
    """Two answers that cite one document, the second of a branch that was squashed into the first."""
    forky, models = workspace()
    forky.documents.append(MANUAL, name="manual.md")
    chat = forky.create("Pumps")
    chat.documents.use()
    models.one.enqueue("Every spring [1].")
    chat.ask("How often is the bearing of the X200 oiled?")
    side = chat.fork("side")
    models.one.enqueue("We decided by the warranty of two years, see [1].")
    side.ask("How long is the warranty?")
    talk(chat, "More?", "More.")
    chat.merge(chat.plan_merge(side, strategy="squash"))
    return forky, models, chat


def addresses(forky: Workspace, chat: Conversation) -> list[str]:
    texts = (message.text for message in forky.store.messages(chat.id).values())
    return list(dict.fromkeys(address for text in texts for address in documents_cited(text)))


def test_a_citation_opens_where_its_document_is_not_and_the_file_keeps_its_bytes() -> None:
    forky, _, chat = citing()
    there = came_back(forky, chat)
    cited = addresses(forky, chat)
    assert len(cited) == 2
    for address in cited:
        came = there.documents.cited(address)
        assert isinstance(came, CitedPassage) and came.name == "manual.md" and came.text in MANUAL
        document, number = chat.documents.cited(address)  # type: ignore[misc]
        assert forky.store.documents.chunks(document.id, first=number, most=1)[0].text == came.text
    looked = [
        (one.search, [(passage.number, passage.source, passage.address) for passage in one.passages])
        for made in (chat, there)
        for call in made.calls.generations
        if (one := call.consulted) is not None
    ]
    assert len(looked) == 4 and looked[:2] == looked[2:], "so does what was searched for"


def test_what_came_along_is_written_as_it_came_though_the_document_is_here_under_another_name() -> None:
    forky, _, chat = citing()
    text = file_of(forky, chat)
    other, _ = workspace()
    other.documents.append(MANUAL, name="old manual.md")
    adopt(other, parsed(text))
    there = other.conversation(chat.id)
    assert file_of(other, there) == text
    document, _ = there.documents.cited(addresses(forky, chat)[0])  # type: ignore[misc]
    assert document.name == "old manual.md", "it opens in the document that is here"


def test_one_branch_takes_the_passages_that_it_cites_and_no_others() -> None:
    forky, _, chat = citing()
    whole = chat_of(forky.store, chat.id)
    first = chat.path()[1]
    rows = [json.loads(row) for row in written(part_of(whole, {"part": first.id}))]
    (passage,) = [row["passage"] for row in rows if row["type"] == "passage"]
    assert passage["address"] == sources_in(first.text)[0].address and "every spring" in passage["text"]


def test_a_pick_and_a_fork_of_the_file_keep_what_they_cite() -> None:
    forky, _, chat = citing()
    other, _ = workspace()
    made = other.conversation(fork_file(other, parsed(file_of(forky, chat))).conversation)
    picked = made.fork("picked", at=made.path()[0].id)
    answer = made.checkout("side").path()[-1]
    picked.merge(picked.plan_merge("side", strategy="cherry-pick", picks=[MessageId(answer.id)]))
    there = copy_of(value_of(made)).checkout("picked")
    (source,) = sources_in(there.path()[-1].text)
    assert isinstance(there.documents.cited(source.address), CitedPassage)


def test_a_graft_of_an_imported_conversation_keeps_what_it_cites() -> None:
    forky, _, chat = citing()
    other, _ = workspace()
    adopt(other, parsed(file_of(forky, chat)))
    mine = talk(other.create("Mine"), "Hello.", "Hello.")
    mine.merge(mine.merges.plan_graft(other.conversation(chat.id), strategy="squash"))
    named = list(documents_cited(mine.path()[-1].text))
    assert named and all(isinstance(mine.documents.cited(address), CitedPassage) for address in named)


def test_two_copies_that_are_united_have_the_passages_of_both() -> None:
    forky, _, chat = citing()
    base = parsed(file_of(forky, chat))
    other, theirs = workspace()
    adopt(other, base)
    other.documents.append("# Valve V7\n\nThe valve V7 opens at nine bar.", name="valve.md")
    copy = other.conversation(chat.id)
    theirs.one.enqueue("At nine bar [1].")
    copy.ask("When does the valve V7 open?")
    both = unite_chats(base, parsed(file_of(other, copy))).chat
    named = [json.loads(row)["passage"]["name"] for row in written(both) if '"type":"passage"' in row]
    assert sorted(named) == ["manual.md", "manual.md", "valve.md"]


def test_what_looks_private_in_a_passage_is_found_and_replaced() -> None:
    forky, _, chat = citing()
    whole = chat_of(forky.store, chat.id)
    found = [one for one in findings(whole) if one.value == "mara.keller@example.org"]
    assert any(place.where == "a passage of “manual.md”" for one in found for place in one.places)
    text = "".join(written(redacted(whole, found)))
    assert '"type":"passage"' in text and "mara.keller" not in text and found[0].placeholder in text


def test_a_passage_line_is_as_the_schema_says_and_a_wrong_one_is_refused_with_its_line() -> None:
    forky, _, chat = citing()
    schema = Draft202012Validator(
        json.loads(
            resources.files(formats).joinpath("forky_file/forky-chat-1.schema.json").read_text("utf-8")
        )
    )
    rows = file_of(forky, chat).splitlines(keepends=True)
    at = next(at for at, row in enumerate(rows) if row.startswith('{"type":"passage"'))
    for row in rows:
        schema.validate(json.loads(row))
    body = json.loads(rows[at])["passage"]
    for wrong in ({"text": 3}, {"address": "doc:0000#1"}, {"address": "manual"}):
        spoilt = json.dumps({"type": "passage", "passage": {**body, **wrong}}) + "\n"
        with pytest.raises(BadContent, match=rf"Line {at + 1} of the file: a passage"):
            parsed("".join((*rows[:at], spoilt, *rows[at + 1 :])))


def test_a_citation_whose_document_is_gone_says_so() -> None:
    _, _, chat = citing()
    with pytest.raises(NotFound, match="is not in this workspace"):
        chat.documents.cited("doc:0123456789abcdef#1")
