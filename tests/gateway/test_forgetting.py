"""Forgetting a person takes everything that is theirs alone and leaves every chain whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from forky_core.gateway.access.ways.password import ISSUER
from forky_core.gateway.forgetting import forget_person
from forky_core.gateway.tokens import Tokens
from forky_core.model.errors import BadContent, InTheWay, NotFound
from forky_core.people.members import Identity
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS
from tests.builders import ScriptedModels
from tests.gateway.served import Served, serving
from tests.people.people import office

NAME = "Barnabas Quill"


def test_nothing_names_them_any_more_and_every_chain_is_whole(tmp_path: Path) -> None:
    place = tmp_path / "forky.people.sqlite"
    with office(file=place) as here:
        ada = here.join("Ada", Role.OWNER)
        bob = here.team.members.add(NAME, Role.OWNER, email="barnabas@quill.example")
        here.team.members.keep_identity(bob.id, Identity(ISSUER, "barnabas-quill", "a hash of something"))
        here.team.sessions.open(bob.id, device="Quill's browser")
        here.team.invitations.make(Role.VIEWER, by=bob.id)
        with here.team.database.writing() as connection:
            connection.execute("CREATE TABLE later_words (person TEXT, words TEXT)")
            connection.execute("INSERT INTO later_words VALUES (?, 'half a thought')", (bob.id,))
        chat = here.seen_by(bob).create("Boats")
        chat.say("Cork floats.")
        token = Tokens(here.whole.store).make("laptop", person=bob.id).token
        assert forget_person(here.team, bob, by=ada.id, to=ada.id, whole=here.whole) == 1

        assert here.team.members.find(bob.id) is None
        assert here.team.members.name_of(bob.id) == "Somebody who left"
        kept = here.whole.conversation(chat.id)
        assert kept._session.author(kept.path()[0].id) == bob.id
        assert here.team.sharing.of(chat.id).owner == ada.id
        assert here.team.audit.first_broken() is None and here.whole.verify().clean
        assert here.team.invitations.all() == [] and not here.team.sessions.of(bob.id)
        assert not here.team.database.rows("SELECT * FROM later_words")
        assert next(one for one in Tokens(here.whole.store).all() if one.id == token.id).revoked
        content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        for gone in (NAME, "barnabas@quill.example", "barnabas-quill", "Quill's browser", "half a thought"):
            assert gone.encode() not in content, gone


def test_the_last_owner_is_not_forgotten() -> None:
    with office() as here:
        ada, bob = here.join("Ada", Role.OWNER), here.join("Bob")
        chat = here.seen_by(ada).create("Boats")
        with pytest.raises(InTheWay, match="at least one owner"):
            forget_person(here.team, ada, by=ada.id, to=bob.id)
        assert here.team.sharing.of(chat.id).owner == ada.id, "nothing was handed over either"


def test_conversations_are_left_to_the_owners_unless_somebody_is_named() -> None:
    with office() as here:
        here.join("Ada", Role.OWNER)
        bob = here.join("Bob")
        chat = here.seen_by(bob).create("Boats")
        with pytest.raises(NotFound):
            forget_person(here.team, bob, by="", to="person:0000000000000000")
        with pytest.raises(BadContent):
            forget_person(here.team, bob, by="", to=bob.id)
        forget_person(here.team, bob, by="")
        assert here.team.sharing.of(chat.id).owner == OWNERS


class Program:
    """Asks by the id of an earlier response, on a server of its own."""

    def __init__(self, served: Served, models: ScriptedModels) -> None:
        self._served, self._models = served, models

    def ask(self, said: str, **more: str) -> httpx.Response:
        with self._served.client() as client:
            return client.post("/responses", json={"model": "scripted/one", "input": said, **more})

    def forget_heron(self, what: str) -> None:
        """The message that names it is erased, or its conversation is in the trash, or purged from it."""
        (found,) = self._served.forky.conversations()
        chat = self._served.forky.conversation(found.id)
        secret = next(message for message in chat.visible.messages.values() if "Heron" in message.text)
        assert "Stork" not in str([message.text for message in chat.visible.messages.values()])
        if what == "erased":
            self._served.forky.store.erase(chat.id, secret.id, by="", at=1)
            return
        chat.trash()
        if what == "purged":
            self._served.forky.purge(chat.id)

    def sent_after(self, id: str, status: int) -> list[str]:
        """What a model is sent where somebody goes on from a response."""
        asked = len(self._models.one.requests)
        assert self.ask("What was it?", previous_response_id=id).status_code == status
        return [str(one.messages) for one in self._models.one.requests[asked:]]


@pytest.fixture
def program() -> Iterator[Program]:
    models = ScriptedModels()
    with serving(models) as served:
        yield Program(served, models)


@pytest.mark.parametrize(("what", "status"), [("erased", 200), ("trashed", 400), ("purged", 400)])
def test_what_is_gone_is_not_found_by_the_id_of_a_response(program: Program, what: str, status: int) -> None:
    first = program.ask("The merger is called Heron.").json()["id"]
    second = program.ask("And now?", previous_response_id=first).json()["id"]
    program.forget_heron(what)
    for id in (first, second):
        assert all("Heron" not in one for one in program.sent_after(id, status))


@pytest.mark.parametrize(("what", "status"), [("erased", 200), ("trashed", 400)])
def test_nor_by_the_id_of_a_response_that_was_not_recorded(program: Program, what: str, status: int) -> None:
    first = program.ask("The merger is called Heron.").json()["id"]
    tokens = Tokens(program._served.forky.store)
    tokens.change(tokens.all()[0].id, records=False)
    second = program.ask("And the buyer is called Stork?", previous_response_id=first).json()["id"]
    third = program.ask("And now?", previous_response_id=second).json()["id"]
    program.forget_heron(what)
    for id in (second, third):
        assert all("Heron" not in one and "Stork" in one for one in program.sent_after(id, status))
