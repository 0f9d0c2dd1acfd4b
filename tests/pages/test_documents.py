"""The Documents page and the composer's switch as a person uses them."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs

from streamlit.testing.v1 import AppTest

from forky_core.context.citing import sources_in
from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.formats.forky_file.adopting import adopt
from forky_core.formats.forky_file.writing import chat_of
from forky_core.llm.scripted import ScriptedModel
from tests.builders import talk, workspace
from tests.hangs import HANG
from tests.pages import apptest
from tests.pages.apptest import by_key, keys, latest, open_app, press, settled, words
from tests.pages.workspaces import open_page

MANUAL = "# Pump X200\n\n## Oil\n\nOil the bearing every spring.\n\n## Warranty\n\nThe warranty is two years."


def documents(**params: str) -> AppTest:
    return settled(open_page("documents.py", **params))


def links(test: AppTest) -> list[tuple[str, dict[str, list[str]]]]:
    found = [(link.proto.label, parse_qs(link.proto.query_string)) for link in test.get("page_link")]
    return [(label, params) for label, params in found if "d" in params]


def html(test: AppTest) -> str:
    return "\n".join(apptest.html(test))


def drop(test: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Drop files and wait until they are read in."""
    uploader = latest(test, "documents.files")
    for name, content in files:
        uploader.upload(name, content)
    test.run()
    intake = test.session_state["session"].intake
    assert intake is None or intake.wait(HANG)
    return settled(test.run())


def test_an_empty_page_says_what_to_do(forky: Forky) -> None:
    test = documents()
    assert "Drop a file above" in words(test)


def test_files_are_dropped_listed_and_removed_and_taken_back(forky: Forky) -> None:
    test = drop(
        documents(), ("manual.md", MANUAL.encode()), ("empty.txt", b""), ("x.png", b"\x89PNG" + bytes(9))
    )
    assert "Added 1 document, 3 passages." in words(test)
    told = words(settled(test.run()))
    assert "“x.png” is a PNG picture" in told and "“empty.txt” is empty" in told, "until it is closed"
    assert [label.replace("\\", "") for label, _ in links(test)] == ["manual.md"]
    press(test, "documents.close")
    (one,) = forky.documents.documents()
    press(test, f"documents.remove.{one.id[:12]}")
    assert forky.documents.documents() == ()
    by_key(test, "documents.scope").set_value("trash")
    settled(test.run())
    press(test, f"documents.take_back.{one.id[:12]}")
    assert len(forky.documents.documents()) == 1


def test_a_search_shows_passages_with_scores_and_opens_one(forky: Forky) -> None:
    forky.documents.append(MANUAL, name="manual.md")
    test = documents()
    by_key(test, "documents.search").set_value("How long is the warranty?")
    settled(test.run())
    ((escaped, params),) = links(test)
    label = escaped.replace("\\", "")
    assert label.startswith("manual.md, Pump X200 › Warranty · score ")
    assert '<p class="doc-found">Warranty The warranty is two years.</p>' in html(test), (
        "without the heading's marks"
    )
    opened = documents(d=params["d"][0], n=params["n"][0])
    assert 'doc-here" id="passage"><div class="doc-place">Pump X200 › Warranty</div>' in html(opened)
    press(opened, "documents.back")
    assert "documents.search" in keys(opened)


def test_a_search_without_a_finding_says_so(forky: Forky) -> None:
    forky.documents.append(MANUAL, name="manual.md")
    test = documents()
    by_key(test, "documents.search").set_value("penicillin")
    settled(test.run())
    assert "Not found in the documents." in words(test)


def test_a_link_to_a_document_that_is_gone_says_so(forky: Forky) -> None:
    assert "There is no document abc" in words(documents(d="abc", n="x"))


def test_a_document_can_belong_to_a_conversation(forky: Forky) -> None:
    chat = forky.create("Pumps")
    test = open_app(c=chat.id, b=chat.branch_name)
    test.switch_page("documents.py")
    test.query_params.clear()
    settled(test.run())
    by_key(test, "documents.scope").set_value("conversation")
    drop(settled(test.run()), ("manual.md", MANUAL.encode()))
    assert [one.name for one in chat.documents.of_conversation.documents()] == ["manual.md"]
    assert forky.documents.documents() == ()


def test_an_embedding_model_that_nobody_offers_is_refused(forky: Forky) -> None:
    test = documents()
    by_key(test, "documents.embedding").set_value("nobody/knows")
    settled(test.run())
    assert forky.store.setting("documents.embedding") is None


def chat_page(chat: Conversation) -> AppTest:
    return settled(open_app(c=chat.id, b=chat.branch_name))


def test_the_composer_switches_documents_on_and_the_answer_cites(forky: Forky) -> None:
    forky.documents.append(MANUAL, name="manual.md")
    chat = forky.create("Pumps", model="offline/quote")
    test = chat_page(chat)
    latest(test, "chat.documents").set_value(True)
    settled(test.run())
    assert chat.rules.current.documents.on
    assert "1 document, 3 passages can be found from here." in words(test)
    by_key(test, "chat.draft").set_value("How long is the warranty?")
    latest(test, "chat.send").click()
    settled(test.run())
    for job in chat.replies.running:
        assert job.wait(HANG)
    settled(test.run())
    body = html(test)
    assert 'data-act="document" data-id="doc:' in body and "manual.md, Pump X200 › Warranty" in body
    assert "Searched for “How long is the warranty?”: 1 passage." in body
    assert "SOURCES:" not in words(test)
    (id, number) = re.findall(r"doc:([0-9a-f]+)#(\d+)", body)[0]
    opens = f'"./documents?d={id}&n={number}&of={chat.id}"'
    assert opens in unescape(body), "so does its number in the text"


def test_a_model_words_the_search_before_sending_and_a_person_changes_it(
    forky: Forky, writer: ScriptedModel
) -> None:
    forky.documents.append(MANUAL, name="manual.md")
    chat = talk(forky.create("Pumps", model="offline/quote"), "Tell me of the X200.", "It is a pump.")
    chat.documents.use(condenser="scripted/writer")
    test = chat_page(chat)
    assert by_key(test, "chat.word_search").disabled, "there is nothing to word yet"
    by_key(test, "chat.draft").set_value("And oil?").run()
    writer.enqueue("How often is the bearing of the X200 oiled?")
    by_key(test, "chat.word_search").click().run()
    field = latest(settled(test), "chat.search")
    assert field.value == "How often is the bearing of the X200 oiled?"
    field.set_value("oil of the bearing").run()
    shown = settled(open_page("context.py", c=chat.id))
    by_key(shown, "context.view").set_value("Exact request").run()
    assert 'Passages found for \\"oil of the bearing\\"' in settled(shown).code[0].value, (
        "the inspector knows of it"
    )
    assert "once it is sent" not in words(shown)
    latest(test, "chat.send").click()
    settled(test.run())
    for job in chat.replies.running:
        assert job.wait(HANG)
    document_search = chat.calls.generations[-1].consulted
    assert (
        document_search is not None
        and document_search.search == "oil of the bearing"
        and len(writer.requests) == 1
    )
    assert latest(settled(test.run()), "chat.search").value == "", "the next question is searched for anew"


def test_what_a_merge_cites_opens_as_well(forky: Forky) -> None:
    forky.documents.append(MANUAL, name="manual.md")
    chat = forky.create("Pumps", model="offline/quote")
    chat.ask("How do I fork?")
    side = chat.fork("side")
    side.documents.use()
    side.ask("How long is the warranty of the X200?")
    chat.merge(chat.plan_merge(side, strategy="squash"))
    body = html(chat_page(chat))
    assert 'SOURCES: <span class="fk-source">[1]' in body and 'data-act="document" data-id="doc:' in body


def test_a_citation_of_an_imported_conversation_opens_without_its_document(forky: Forky) -> None:
    other, models = workspace()
    other.documents.append(MANUAL, name="manual.md")
    theirs = other.create("Pumps")
    theirs.documents.use()
    models.one.enqueue("Two years [1].")
    answer = theirs.ask("How long is the warranty of the X200?")
    adopt(forky, chat_of(other.store, theirs.id))
    (source,) = sources_in(answer.text)
    id, _, number = source.address.removeprefix("doc:").partition("#")
    test = documents(d=id, n=number, of=theirs.id)
    assert "The warranty is two years." in html(test) and "came along with the conversation" in words(test)
    gone = documents(d=id, n=number)
    assert "The warranty" not in html(gone)


def test_a_citation_of_another_branch_opens_and_pulls_in(forky: Forky) -> None:
    chat = forky.create("Pumps", model="offline/quote")
    chat.say("Let us fix the pump.")
    chat.say("Yes, let us.", role="assistant")
    side = chat.fork("debug")
    side.say("Why does the impeller rattle?")
    side.say("The impeller rattles because its circlip was never fitted to the shaft.", role="assistant")
    chat.documents.use()
    chat.ask("Why does the impeller rattle?")
    body = html(chat_page(chat))
    assert 'data-act="visit" data-id="b2:' in body and 'data-act="expand" data-id="b2:' in body
    assert "branch “debug”, reply" in body
