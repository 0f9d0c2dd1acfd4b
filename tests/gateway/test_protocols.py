"""What every protocol promises, asked of each that there is and of one that the tests make up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from forky_core.llm.contract import Done, TextDelta
from forky_core.model import Usage
from forky_core.wire.contract import ProtocolAdapter, Response
from forky_core.wire.errors import ApiError
from forky_core.wire.registry import PROTOCOLS, REGISTRY, added_protocol, our_protocol
from tests.builders import ScriptedModels
from tests.gateway.served import Served
from tests.gateway.telegraph import MODELS, TELEGRAPH
from tests.packages import installed

EVERY = (*PROTOCOLS, TELEGRAPH)
MODEL, QUESTION = "scripted/one", "Which port?"
ASKED: Mapping[str, Mapping[str, Any]] = {
    "chat/completions": {"messages": [{"role": "user", "content": QUESTION}]},
    "responses": {"input": QUESTION},
    "messages": {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 99},
    "wires": {"wire": f"{QUESTION} STOP"},
}
"""A question in each protocol, by its path."""


@pytest.fixture(autouse=True)
def made_up() -> Iterator[None]:
    with REGISTRY.added(TELEGRAPH):
        yield


def question(adapter: ProtocolAdapter, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, **ASKED[adapter.path], **more}


@pytest.mark.parametrize("adapter", EVERY, ids=lambda one: one.path)
class TestEvery:
    def test_it_is_found_by_its_path(self, adapter: ProtocolAdapter) -> None:
        assert (our_protocol(adapter.path) or added_protocol(adapter.path)) is adapter
        assert REGISTRY.find(adapter.name) is adapter

    def test_a_question_is_read_for_the_model_and_for_matching(self, adapter: ProtocolAdapter) -> None:
        call = adapter.read(question(adapter))
        assert call.model == MODEL and not call.streams
        assert adapter.read(question(adapter, stream=True)).streams
        assert [(one["role"], one["content"]) for one in call.messages] == [("user", QUESTION)]
        assert QUESTION in str(adapter.matches(question(adapter)))

    def test_what_is_no_request_is_refused_in_a_sentence(self, adapter: ProtocolAdapter) -> None:
        for payload in ({}, {"model": MODEL}, {**question(adapter), "model": 7}):
            with pytest.raises(ApiError) as refused:
                adapter.read(payload)
            assert refused.value.status == 400

    def test_what_it_writes_in_one_piece_it_understands(self, adapter: ProtocolAdapter) -> None:
        response = Response(text=["Port 8443."], end=Done("stop", Usage(3, 4)))
        answer = adapter.response_body(adapter.read(question(adapter)), f"{adapter.prefix}1", [response])
        assert answer["id"] == f"{adapter.prefix}1"
        assert "8443" in str(answer)

    def test_what_it_streams_it_understands(self, adapter: ProtocolAdapter) -> None:
        voice, ear = (
            adapter.response_writer(adapter.read(question(adapter, stream=True)), f"{adapter.prefix}1"),
            adapter.event_parser(),
        )
        words, done = TextDelta("Port 8443."), Done("stop", Usage(3, 4))
        response = Response(text=["Port 8443."], end=done)
        pieces = (voice.begin(), voice.write(0, words), voice.write(0, done), voice.end([response]))
        heard = [event for piece in pieces for _, event in ear.feed(piece)]
        heard += [event for _, event in ear.close()]
        assert ear.complete
        assert "Port 8443." in "".join(event.text for event in heard if isinstance(event, TextDelta))
        assert isinstance(heard[-1], Done)

    def test_a_failure_within_a_stream_is_told(self, adapter: ProtocolAdapter) -> None:
        voice = adapter.response_writer(adapter.read(question(adapter, stream=True)), f"{adapter.prefix}1")
        voice.begin()
        assert b"It rains." in voice.fail(ApiError(503, "It rains.", "overloaded"))

    @pytest.mark.parametrize("streams", [False, True])
    def test_a_model_answers_and_the_call_is_kept(
        self, adapter: ProtocolAdapter, spoken: Served, scripted: ScriptedModels, *, streams: bool
    ) -> None:
        scripted.one.enqueue("Port 8443.")
        with spoken.client() as client:
            answer = client.post(f"/{adapter.path}", json=question(adapter, stream=streams))
        assert answer.status_code == 200 and "8443" in answer.text
        assert spoken.paths() == [[QUESTION, "Port 8443."]]

    def test_it_is_asked_by_post_and_with_a_token(self, adapter: ProtocolAdapter, spoken: Served) -> None:
        with spoken.client() as client, spoken.client("fk-nobody") as stranger:
            assert client.get(f"/{adapter.path}").status_code == 405
            assert stranger.post(f"/{adapter.path}", json=question(adapter)).status_code == 401


def test_no_protocol_takes_a_path_that_forky_answers_itself(spoken: Served) -> None:
    with REGISTRY.added(MODELS), spoken.client() as client:
        assert client.get("/models").status_code == 200


def test_an_installed_package_adds_one_by_an_entry_point(spoken: Served, tmp_path: Path) -> None:
    REGISTRY.remove(TELEGRAPH)
    try:
        with spoken.client() as client:
            assert client.post("/wires", json=question(TELEGRAPH)).status_code == 404
            with installed(tmp_path, REGISTRY, telegraph="tests.gateway.telegraph:TELEGRAPH"):
                assert client.get("/wires").status_code == 405
    finally:
        REGISTRY.add(TELEGRAPH)
