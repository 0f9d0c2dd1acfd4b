"""A store that a server keeps, reached over HTTP, keeps the laws of conversations and of documents."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.conversation.workspace import Workspace
from forky_core.documents.offline_models import offline_models
from forky_core.gateway.remote_store import RemoteStoreAt
from forky_core.llm.catalogue import Catalogue
from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import BadContent, StoreError
from forky_core.store.contract import Store
from forky_core.store.memory.store import MemoryStore
from forky_core.store.remote.note import note_beside, note_of_holder, write_note
from forky_core.store.remote.path import PATH
from forky_core.store.remote.store import RemoteStore, remote_store
from forky_core.wire.errors import ApiError
from tests.gateway.served import listening
from tests.hangs import eventually
from tests.killing import victim
from tests.store.document_laws import DocumentLaws
from tests.store.dying_writer import hold, main
from tests.store.laws import StoreLaws
from tests.store.talk import HERE, begin, move, said


@pytest.fixture(scope="module")
def kept() -> list[Workspace]:
    """The workspace that the server shows now."""
    return []


@pytest.fixture(scope="module")
def address(kept: list[Workspace]) -> Iterator[str]:
    def none(_headers: object) -> Workspace:
        raise ApiError(401, "There is no such token.")

    at = RemoteStoreAt(lambda: kept[-1], none, lambda: "secret")
    with listening(Starlette(routes=[Route(f"{PATH}/{{name}}", at)])) as found:
        yield found


class TestRemoteStore(StoreLaws, DocumentLaws):
    @pytest.fixture
    def store(self, kept: list[Workspace], address: str) -> Iterator[Store]:
        kept.append(Workspace(MemoryStore(), Catalogue(offline=offline_models())))
        store = remote_store(address, "secret")
        yield store
        store.close()
        kept.pop().close()

    test_later_calls_return_the_same_message_objects = None  # type: ignore[assignment]
    """What is read once more is made once more."""
    test_verify_finds_an_id_that_is_not_its_contents = None  # type: ignore[assignment]
    """Such a message is refused, below."""

    def test_a_message_under_an_id_that_is_not_its_own_is_refused(self, store: Store) -> None:
        begin(store, first := said("Why?"))
        message = replace(said("Cork floats.", first), id=MessageId("b2:" + "0" * 32))
        with pytest.raises(BadContent, match="not that of its message"):
            move(store, first, message)


def test_values_that_a_method_does_not_take_are_refused(kept: list[Workspace], address: str) -> None:
    kept.append(Workspace(MemoryStore(), Catalogue(offline=offline_models())))
    headers = {"authorization": "Bearer secret"}
    with httpx.Client(base_url=f"{address}{PATH}", headers=headers, trust_env=False) as client:
        for name, body in (
            ("view", b"[]"),
            ("view", b"{"),
            ("view", b'{"who": "me"}'),
            ("commit_all", b'{"commits": [["x"]]}'),
            ("commit_all", b'{"commits": 7}'),
            ("documents.embed", b'{"model": "m", "keys": [1], "rows": ["object", [1], "AAAA"]}'),
        ):
            answered = client.post(f"/{name}", content=body).json()
            assert answered["error"]["class"] == "BadContent", (name, body, answered)
        assert client.post("/close").status_code == 404
        assert client.get("/view").status_code == 404
    kept.pop().close()


def test_what_others_change_is_heard(kept: list[Workspace], address: str) -> None:
    kept.append(Workspace(MemoryStore(), Catalogue(offline=offline_models())))
    store = remote_store(address, "secret")
    heard: list[ConversationId] = []
    forget = store.hear(heard.append)
    begin(kept[-1].store)
    eventually(lambda: HERE in heard)
    heard.clear()
    cast("RemoteStore", store)._told_by.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
    eventually(lambda: HERE in heard)
    forget()
    store.close()
    kept.pop().close()


def test_a_reply_ends_when_its_process_is_killed_and_not_before(
    kept: list[Workspace], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forky_core.gateway.remote_store.RETURNS", 0.0)
    kept.append(here := Workspace(MemoryStore(), Catalogue(offline=offline_models())))
    chat = here.create("Ports")
    with victim(main, address, chat.id) as (writer, said):
        assert said.readline() == "writing\n"
        Workspace(remote_store(address, "secret"), Catalogue(offline=offline_models())).close()
        (call,) = here.store.generations(chat.id)
        assert call.status == "running", "another command that begins and ends leaves it alone"
        writer.kill()
        eventually(lambda: here.store.generations(chat.id)[0].status == "interrupted")
    failure = here.store.generations(chat.id)[0].failure
    assert failure is not None and "while this reply was being written" in str(failure)
    assert chat.path()[-1].text == "Nine thousand and"
    kept.pop().close()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux says who has locked a file")
def test_the_system_says_whose_note_counts(tmp_path: Path) -> None:
    path = tmp_path / "forky.duckdb"
    assert note_of_holder(path) is None
    with victim(hold, str(path)) as (holder, said):
        assert said.readline() == "open\n"
        write_note(path, "http://127.0.0.1:9")
        assert note_of_holder(path) is None, "another process has written it"
        note = json.loads(note_beside(path).read_text("utf-8"))
        note_beside(path).write_text(json.dumps(note | {"process": holder.pid}), "utf-8")
        found = note_of_holder(path)
        assert found is not None and (found.process, found.secret) == (holder.pid, note["secret"])
    assert note_of_holder(path) is None, "the process is gone"


@pytest.mark.parametrize("shown", ["", "Bearer other", "Basic secret"])
def test_without_the_secret_nobody_hears_what_changes(address: str, shown: str) -> None:
    refused = httpx.get(f"{address}{PATH}/hear", headers={"authorization": shown}, trust_env=False)
    assert refused.status_code == 401


@pytest.mark.parametrize("shown", ["", "Bearer other", "Basic secret"])
def test_without_the_secret_nobody_is_answered(address: str, shown: str) -> None:
    refused = httpx.post(f"{address}{PATH}/conversations", headers={"authorization": shown}, trust_env=False)
    assert refused.status_code == 401 and "conversation" not in refused.text


def test_where_nobody_listens_the_error_is_a_sentence() -> None:
    store = remote_store("http://127.0.0.1:9", "secret")
    with pytest.raises(StoreError, match="does not answer"):
        store.conversations()
