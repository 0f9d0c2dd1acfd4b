"""Links: who can open them, for how long, what they show, and what becomes of them."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from forky_core.conversation import identity
from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.model import ConversationId, View
from forky_core.model.errors import BadContent, NotFound, NothingToDo
from forky_core.model.parts import Draft, TextPart
from forky_core.people.links import links as links_module
from forky_core.people.links.content import content_of, page_of
from forky_core.people.links.link import LinkDraft, LinkEnded, NewLink, as_json, from_json, value_digest
from forky_core.people.links.links import LISTED, Links
from forky_core.people.links.making import make_link, make_link_to
from forky_core.store.memory.store import MemoryStore
from tests.builders import ScriptedModels, talk, workspace
from tests.formats.reports.given import Given, given
from tests.formats.reports.hidden import with_hidden
from tests.formats.reports.links import link_to

DAY = 86_400_000_000
THINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("conversation", ()),
    ("branch", ("main",)),
    ("comparison", ("main", "debug")),
    ("experiment", ()),
    ("poll", ()),
    ("merge", ()),
    ("replay", ()),
)


def shown(forky: Workspace, new: NewLink) -> bytes:
    """What a visitor reads."""
    links = Links(forky.store)
    link = links.find(new.secret)
    return page_of(forky, link) if link.live else links.page(link)


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(("thing", "which"), THINGS)
def test_every_thing_has_a_link_and_what_looks_private_is_nowhere_in_its_bytes(
    thing: str, which: tuple[str, ...], live: bool
) -> None:
    made = given("Write to jane.doe@example.com. The port is 8080.")
    new = link_to(made.forky, made.chat, thing, *which, live=live)
    page = shown(made.forky, new)
    assert b"The port is 8080." in page and b"jane" not in page and b"Undone" not in page
    assert (b"<script>" in page) == (thing == "replay"), "all but a replay is drawn without a script"
    assert "jane" not in new.link.title


def test_a_link_to_something_as_it_was_never_changes_and_a_live_one_does() -> None:
    made = given()
    fixed, live = (link_to(made.forky, made.chat, "branch", "main", live=one) for one in (False, True))
    made.chat.say("Said afterwards, by ada@example.com.")
    assert b"Said afterwards" not in shown(made.forky, fixed)
    page = shown(made.forky, live)
    assert b"Said afterwards" in page and b"ada@" not in page, "what comes later is looked through as well"


def test_a_value_is_shared_though_it_looks_private_only_where_it_was_spared() -> None:
    made = given("Ask ada@example.com or bob@example.com.")
    draft = LinkDraft(made.chat.id, "branch", ("main",), live=True)
    content = content_of(made.forky, draft)
    spared = [value_digest(one.value) for one in content.seen if one.value.startswith("ada")]
    page = shown(made.forky, make_link_to(content, spared, links=Links(made.forky.store)))
    assert b"ada@example.com" in page and b"bob@" not in page
    assert "ada@" not in str(made.forky.store.derived(made.chat.id, [LISTED]))


def test_hidden_messages_rules_costs_and_documents_go_along_only_where_they_are_ticked() -> None:
    forky, _ = workspace()
    chat = forky.create("Ports", system="Speak like a pirate.")
    chat.append([Draft("system", (TextPart("Never mention the moon."),))])
    chat.ask("Which port?")
    chat.say("And here?", attachments=[forky.attach(b"salaries", name="salaries.txt")])
    words = shown(forky, link_to(forky, chat))
    for private in (b"pirate", b"moon", b"salaries", b" tokens"):
        assert private not in words
    assert b"Which port?" in words
    whole = shown(forky, link_to(forky, chat, included=("hidden", "rules", "costs", "documents")))
    for private in (b"pirate", b"moon", b"salaries"):
        assert private in whole
    with pytest.raises(BadContent, match="cannot be included"):
        link_to(forky, chat, included=("everything",))


def test_a_hidden_message_is_on_no_page_and_cannot_be_linked_to() -> None:
    store = MemoryStore()
    forky, _ = workspace(store)
    chat = talk(forky.create("Ports"), "Which?", "80.")
    hidden = with_hidden(forky, chat, "A note that nobody sees.")
    chat.say("And then?")
    for thing, which in (("branch", ("main",)), ("conversation", ()), ("replay", ())):
        assert b"nobody sees" not in shown(forky, link_to(forky, chat, thing, *which)), thing
    with pytest.raises(NotFound, match="hidden"):
        link_to(forky, chat, "message", hidden)
    assert b"nobody sees" in shown(forky, link_to(forky, chat, included=("hidden",)))


def test_one_message_is_shown_alone_or_with_what_led_to_it() -> None:
    made = given()
    answer = made.chat.path()[1]
    other = talk(made.forky.create("Ducks"), "A name?", "Gerald.", "A longer one?", "Geraldine.")
    alone = link_to(made.forky, other, "message", other.path()[3].id)
    page = shown(made.forky, alone)
    assert b"Geraldine." in page and b"A name?" not in page and not alone.link.can_be_forked
    whole = link_to(made.forky, other, "message", other.path()[1].id, "path")
    page = shown(made.forky, whole)
    assert b"A name?" in page and b"Geraldine." not in page and whole.link.can_be_forked
    with pytest.raises(NotFound):
        link_to(made.forky, other, "message", answer.id)


def test_a_live_link_follows_its_branch_and_ends_with_it() -> None:
    made = given()
    debug = made.chat.checkout("debug")
    live, fixed = (link_to(made.forky, debug, live=one) for one in (True, False))
    debug.branches.delete()
    with pytest.raises(NotFound):
        shown(made.forky, live)
    assert b"9090" in shown(made.forky, fixed)


def test_what_was_undone_is_in_no_live_link() -> None:
    made = given()
    live = link_to(made.forky, made.chat, "branch", "main", live=True)
    made.chat.say("Said by mistake.")
    assert b"by mistake" in shown(made.forky, live)
    made.chat.undo()
    assert b"by mistake" not in shown(made.forky, live)
    with pytest.raises(BadContent, match="What was undone"):
        link_to(made.forky, made.chat, "replay", "everything")


def test_the_secret_is_stored_nowhere_and_nothing_stored_opens_a_page() -> None:
    made = given()
    before = made.chat.view.version
    new = link_to(made.forky, made.chat)
    assert len(new.secret) == 22, "128 bits"
    assert new.secret not in str(made.forky.store.derived(made.chat.id, [LISTED]))
    assert made.chat.view.version == before and new.secret not in repr(new.link)
    for wrong in ("", new.secret[:-1], new.link.id, new.link.sha256, "x" * 10_000, "\u202e", "x" * 22):
        with pytest.raises(NotFound, match="There is no such link"):
            Links(made.forky.store).find(wrong)


def test_a_revoked_link_says_so_and_what_it_showed_is_deleted() -> None:
    made = given()
    new, other = link_to(made.forky, made.chat), link_to(made.forky, made.chat)
    links = Links(made.forky.store)
    links.revoke(new.link.id)
    with pytest.raises(LinkEnded, match="This link was revoked"):
        links.find(new.secret)
    assert links.page(links.find(other.secret))
    assert not made.forky.store.derived(made.chat.id, [f"published/{new.link.id}"])
    assert [link.id for link in links.all()] == [other.link.id, new.link.id]
    with pytest.raises(NothingToDo, match="revoked before"):
        links.revoke(new.link.id)
    with pytest.raises(NotFound, match="no link"):
        links.revoke("nobody")


def test_an_expired_link_says_so_and_keeps_no_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = given()
    opened, forgotten = link_to(made.forky, made.chat, days=1), link_to(made.forky, made.chat, days=1)
    links = Links(made.forky.store)
    later = identity.now() + DAY + 1
    monkeypatch.setattr(links_module, "now", lambda: later)
    assert links.drop_pages_that_are_over() == 2, "nobody has to open them for that"
    assert links.drop_pages_that_are_over() == 0
    for new in (opened, forgotten):
        assert not made.forky.store.derived(made.chat.id, [f"published/{new.link.id}"])
        with pytest.raises(LinkEnded, match="This link has expired"):
            links.find(new.secret)


def test_an_expired_page_is_deleted_when_somebody_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = given()
    new = link_to(made.forky, made.chat, days=1)
    monkeypatch.setattr(links_module, "now", lambda: new.link.until)
    with pytest.raises(LinkEnded):
        Links(made.forky.store).find(new.secret)
    assert not made.forky.store.derived(made.chat.id, [f"published/{new.link.id}"])


def test_a_link_goes_with_its_conversation() -> None:
    made = given()
    new = link_to(made.forky, made.chat)
    links = Links(made.forky.store)
    made.chat.trash()
    with pytest.raises(LinkEnded, match="closed at the moment") as closed:
        links.find(new.secret)
    assert "Ports" not in str(closed.value)
    assert links.is_in_trash(links.all()[0])
    made.chat.take_back()
    assert shown(made.forky, new)
    made.chat.trash()
    made.forky.purge(made.chat.id)
    Links(made.forky.store).forget()
    with pytest.raises(NotFound, match="no such link"):
        links.find(new.secret)
    assert links.all() == ()


def test_nothing_of_a_link_is_left_once_its_conversation_is_deleted_for_good(tmp_path: Path) -> None:
    with Forky.open(tmp_path / "forky.duckdb", models=ScriptedModels()) as forky:
        chat = talk(forky.create("Ports"), "Which?", "80.")
        new = link_to(forky, chat)
        assert Links(forky.store).find(new.secret).id == new.link.id
        chat.trash()
        forky.purge(chat.id)
        with pytest.raises(NotFound, match="no such link"):
            Links(forky.store).find(new.secret)
        assert forky.store.derived_under(LISTED) == {}


def test_visits_are_counted_and_no_change_counts_them_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made = given()
    new, other = link_to(made.forky, made.chat), link_to(made.forky, made.chat)
    links = Links(made.forky.store)
    for _ in range(3):
        links.count(links.find(new.secret))
    links.revoke(other.link.id)
    monkeypatch.setattr(links_module, "_COUNTED_EVERY", 0)
    links.count(links.find(new.secret))
    links.drop_pages_that_are_over()
    (link, _) = links.all(made.chat.id)
    assert link.opened == 4 and link.last >= link.made
    assert links.all(made.forky.create("Other").id) == ()


def test_opening_is_noted_once_an_hour_and_counted_always() -> None:
    made, noted = given(), []
    links = Links(made.forky.store, noted=lambda event, _who, link: noted.append((event, link.opened)))
    new = make_link(made.forky, LinkDraft(made.chat.id, "branch", ("main",)), links=links)
    for _ in range(3):
        links.count(links.find(new.secret))
    links.revoke(new.link.id)
    assert noted == [("link made", 0), ("link opened", 1), ("link revoked", 3)]


@pytest.mark.parametrize("days", [0, -1, 367, float("nan")])
def test_days_that_cannot_be_kept_are_refused(days: float) -> None:
    made = given()
    with pytest.raises(BadContent, match="at most 366 days"):
        link_to(made.forky, made.chat, days=days)


def test_a_live_link_that_was_made_to_slides_shows_the_page() -> None:
    made = given()
    new = link_to(made.forky, made.chat, "comparison", "main", "debug", live=True)
    stored = json.loads(as_json([new.link]))
    (link,) = from_json(json.dumps([{**stored[0], "form": "slides"}]))
    assert page_of(made.forky, link) == shown(made.forky, new)


def test_only_a_page_that_is_not_too_large_can_be_linked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    made = given()
    monkeypatch.setattr(links_module, "LARGEST", 1_000)
    with pytest.raises(BadContent, match="The page has more than"):
        link_to(made.forky, made.chat)
    monkeypatch.setattr(links_module, "LARGEST", 10_000_000)
    monkeypatch.setattr(links_module, "MOST", 0)
    with pytest.raises(BadContent, match="Revoke one first"):
        link_to(made.forky, made.chat)


@pytest.mark.parametrize(
    ("thing", "which", "refused"),
    [
        ("branch", ("nowhere",), "There is no branch"),
        ("branch", (), "Which branch"),
        ("message", (), "Which message"),
        ("nothing", (), "cannot be given away"),
    ],
)
def test_what_is_not_there_is_a_sentence(thing: str, which: tuple[str, ...], refused: str) -> None:
    made = given()
    with pytest.raises((NotFound, BadContent), match=refused):
        make_link(made.forky, LinkDraft(made.chat.id, thing, which))
    with pytest.raises(NothingToDo, match="Nothing was said"):
        link_to(made.forky, made.forky.create("Empty"))


def test_links_outlive_the_server_and_a_presentation_does_not(tmp_path: Path) -> None:
    file = tmp_path / "forky.duckdb"
    with Forky.open(file, models=ScriptedModels()) as forky:
        chat = talk(forky.create("Ports"), "Which?", "80.")
        new = link_to(forky, chat)
        audience = Links(forky.store).make_audience(chat.id, (), title=chat.title, by="Ada")
        assert Links(forky.store).find(audience.secret).by == "Ada"
    with Forky.open(file, models=ScriptedModels()) as forky:
        assert b"Which?" in shown(forky, new)
        with pytest.raises(LinkEnded, match="presentation has ended"):
            Links(forky.store).find(audience.secret)
        assert {link.thing for link in Links(forky.store).all()} == {"branch", "presentation"}
        assert forky.verify().clean


class Counting(MemoryStore):
    """A store that counts what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def view(self, conversation: ConversationId) -> View:
        self.asked += 1
        return super().view(conversation)

    def derived_under(self, key: str) -> Mapping[ConversationId, str]:
        self.asked += 1
        return super().derived_under(key)

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        self.asked += 1
        return super().derived(conversation, keys)


def test_a_guess_costs_the_store_as_much_as_a_link_that_is_over() -> None:
    """So that the time of an answer tells nothing."""
    store = Counting()
    forky, _ = workspace(store)
    chat = talk(forky.create("Ports"), "Which?", "80.")
    new = link_to(forky, chat)
    links = Links(store)
    links.revoke(new.link.id)
    asked = []
    for secret in (new.secret, "x" * 22, "short"):
        with pytest.raises(NotFound):
            links.find("y" * 22)
        store.asked = 0
        with pytest.raises(NotFound):
            links.find(secret)
        asked.append(store.asked)
    assert asked == [1, 1, 0], "once, for what another process may have made or revoked; a shape says nothing"


def test_another_conversations_branch_is_no_way_around(tmp_path: Path) -> None:
    made: Given = given()
    other: Conversation = made.forky.create("Other")
    with pytest.raises(NotFound):
        make_link(made.forky, LinkDraft(other.id, "branch", ("debug",)))


@pytest.mark.parametrize(("thing", "which"), THINGS)
def test_what_is_erased_is_in_no_page_of_a_link(thing: str, which: tuple[str, ...]) -> None:
    words = 'The pass phrase is "blue <herons> & two grey geese", and nobody else knows.'
    made = given(words)
    new = link_to(made.forky, made.chat, thing, *which)
    assert b"herons" in shown(made.forky, new)
    said = next(one for one in made.forky.store.messages(made.chat.id).values() if one.text == words)
    made.forky.store.erase(made.chat.id, said.id, by="you", at=identity.now())
    with pytest.raises(NotFound):
        shown(made.forky, new)


def answered_by_a_server(answer: str) -> tuple[Workspace, Conversation]:
    """A conversation that a model of a server in a private network answered, with a merge in it."""
    forky, models = workspace()
    info = models.one.info()
    models.one._info = replace(info, name="192.168.1.20:8000/slowpoke", label="slowpoke")
    models.one._answer = lambda _request: answer
    chat = forky.create("Backups")
    chat.ask("How long?", model="192.168.1.20:8000/slowpoke")
    talk(side := chat.fork("compression"), "And packed?", "Five hours.")
    talk(chat, "Thanks.")
    chat.merge(chat.plan_merge(side, strategy="squash"))
    return forky, chat


def test_strangers_do_not_read_the_address_of_a_model_server() -> None:
    forky, chat = answered_by_a_server("Long.")
    for thing, which in (("branch", ("main",)), ("comparison", ("main", "compression")), ("replay", ())):
        page = shown(forky, link_to(forky, chat, thing, *which))
        assert b"192.168" not in page, thing
        assert thing == "comparison" or b"slowpoke" in page, "the comparison only says how much is shared"


def test_a_page_draws_markdown_as_the_other_published_pages_do() -> None:
    forky, chat = answered_by_a_server(
        "**Slow.** See <b>this</b>:\n\n- one\n- `two`\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    page = shown(forky, link_to(forky, chat)).decode()
    body = page.partition("<body")[2]
    assert "<strong>Slow.</strong> See &lt;b&gt;this&lt;/b&gt;" in body and "**" not in body
    assert "<code>two</code>" in body and "<td>1</td>" in body and "<b>" not in body


def test_the_graph_of_a_page_says_who_in_the_words_of_the_headings() -> None:
    forky, chat = answered_by_a_server("**Slow.**")
    graph = shown(forky, link_to(forky, chat)).decode().partition("<svg")[2].partition("</svg>")[0]
    for said in ("1. Somebody: How long?<", "2. slowpoke: Slow.<", "Merge of “compression”<"):
        assert said in graph
    assert not any(words in graph for words in ("user:", "assistant:", "[Merged", "192.168"))


def test_a_number_of_a_passage_leads_to_it_where_markdown_is_drawn() -> None:
    forky, models = workspace()
    forky.documents.append("# Pump\n\n## Oil\n\nOil the bearing every spring.", name="manual.md")
    chat = forky.create("Pumps")
    chat.documents.use()
    models.one.enqueue("**Every spring** [1]. Not so in `winter [1]` or [there](https://example.com/-[1]).")
    chat.ask("How often is the bearing oiled?")
    page = shown(forky, link_to(forky, chat, included=("documents",))).decode()
    assert re.search(
        r'<strong>Every spring</strong> \[<a href="#p-[^"]+">1</a>\]\. Not so in <code>winter \[1\]', page
    )
    assert 'href="https://example.com/-%5B1%5D"' in page


def test_to_strangers_nobody_is_you() -> None:
    forky, chat = answered_by_a_server("Long.")
    chat.people.as_person("Ada").say("By name.")
    for thing, which in (("branch", ("main",)), ("merge", ()), ("replay", ())):
        page = shown(forky, link_to(forky, chat, thing, *which)).decode()
        said = page.partition("<body")[2]
        assert "Somebody" in said and not re.search(r"\bYou\b", said), thing
        assert thing == "merge" or "Ada" in said, "a name that a message carries stays"


def test_a_link_that_another_process_makes_or_revokes_counts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command beside the app, or another server of one database, has a list of its own."""
    forky, _ = workspace(MemoryStore())
    chat = talk(forky.create("Ports"), "Which?", "80.")
    links = Links(forky.store)
    with pytest.raises(NotFound):
        links.find("y" * 22)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(links_module, "_databases", weakref.WeakKeyDictionary())
        new = link_to(forky, chat)
    assert links.find(new.secret).id == new.link.id
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(links_module, "_databases", weakref.WeakKeyDictionary())
        Links(forky.store).revoke(new.link.id)
    with pytest.raises(LinkEnded, match="revoked"):
        links.find(new.secret)
