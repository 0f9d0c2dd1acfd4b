"""Calls that cannot be served: a status, a sentence in the protocol's shape, and never a stack."""

from __future__ import annotations

import errno
import json
import logging
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from forky_core.conversation.allowance.account import Allowance, Sum
from forky_core.conversation.allowance.amounts import NANO
from forky_core.documents.offline_models import offline_models
from forky_core.gateway.v1 import asking, service
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.scripted import ScriptedModel
from forky_core.process.settings import Settings
from tests.builders import ScriptedModels
from tests.gateway.served import Served, at_upstream, catalogue, forwarding, serving
from tests.hangs import HANG
from tests.llm.third_party import Aimock, free_port
from tests.llm.wire import DONE, HEAD, chunk
from tests.llm.wire import serving as wire

HELLO = {"model": "scripted/one", "messages": [{"role": "user", "content": "Hi"}]}


def error_of(answer: httpx.Response) -> dict[str, Any]:
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert "Traceback" not in answer.text
    return dict(body["error"])


@pytest.mark.parametrize("path", ["", "/", "/embeddings", "/chat", "/images/generations", "/%00"])
def test_what_is_not_served_is_a_404_of_its_shape(spoken: Served, path: str) -> None:
    with spoken.client() as client:
        for method in ("GET", "POST", "DELETE"):
            answer = client.request(method, f"{spoken.base_url}{path}")
            assert answer.status_code == 404
            assert error_of(answer)["code"] == "unknown_url"


def test_another_method_is_told_which_one_is_meant(spoken: Served) -> None:
    with spoken.client() as client:
        for path, wanted in (("/chat/completions", "POST"), ("/models", "GET")):
            answer = client.request("PUT", path)
            assert (answer.status_code, answer.headers["allow"]) == (405, wanted)


def test_no_token_a_wrong_one_and_a_revoked_one_are_refused(spoken: Served) -> None:
    revoked = spoken.tokens.make("gone")
    with spoken.client(revoked.text) as client:
        assert client.get("/models").status_code == 200
        spoken.tokens.revoke("gone")
        assert client.get("/models").status_code == 401
    for headers in (
        {},
        {"authorization": "Bearer sk-abc"},
        {"authorization": "Basic eDp5"},
        {"x-api-key": "x"},
    ):
        answer = httpx.post(
            f"{spoken.base_url}/chat/completions", json=HELLO, headers=headers, trust_env=False
        )
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        error_of(answer)
    assert spoken.paths() == []


def test_a_page_of_another_site_is_refused(spoken: Served) -> None:
    with spoken.client() as client:
        answer = client.post("/chat/completions", json=HELLO, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    error = answer.json()["error"]
    assert (answer.json()["type"], error["type"], error["code"]) == ("error", "permission_error", "forbidden")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"model": "scripted/one"}',
        b'{"model": "scripted/one", "messages": []}',
        b'{"model": "scripted/one", "messages": "Hi"}',
        b'{"model": "scripted/one", "messages": [7]}',
        b'{"model": "scripted/one", "messages": [{"role": "king", "content": "Hi"}]}',
        b'{"model": "scripted/one", "messages": [{"role": ["user"], "content": "Hi"}]}',
        b'{"model": "scripted/one", "messages": [{"role": {}, "content": "Hi"}]}',
        b'{"model": "scripted/one", "messages": [{"role": "user", "content": 7}]}',
        b'{"model": "scripted/one", "messages": [{"role": "user", "content": [7]}]}',
        b'{"model": "scripted/one", "messages": [{"role": "assistant", "tool_calls": {}}]}',
        b'{"model": 7, "messages": [{"role": "user", "content": "Hi"}]}',
        b'{"messages": [{"role": "user", "content": "Hi"}]}',
        b'{"model": "scripted/one", "messages": [{"role": "user", "content": "Hi"}], "n": 0}',
        b'{"model": "scripted/one", "messages": [{"role": "user", "content": "Hi"}], "n": 1e9}',
        b'{"model": "scripted/one", "messages": [{"role": "user", "content": "Hi"}], "stream": "yes"}',
        b'{"model": "scripted/one", "messages": [{"role": "user", "content": "Hi"}], "stream_options": 1}',
    ],
)
def test_what_is_no_request_is_a_400(spoken: Served, scripted: ScriptedModels, body: bytes) -> None:
    with spoken.client() as client:
        answer = client.post("/chat/completions", content=body)
    assert answer.status_code == 400
    error_of(answer)
    assert scripted.one.requests == ()
    assert spoken.paths() == []


CHAT_CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
CHAT_RESULT = {"role": "tool", "tool_call_id": "c", "content": "1"}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "1"}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}
USED = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "1"}]}
USER = {"role": "user", "content": "Hi"}
DEEP = "[" * 400 + "]" * 400


ANY = "invalid_request_error"


def asks(content: Any, **more: Any) -> dict[str, Any]:
    """A request of `/v1/messages`, or of a chat."""
    return {"max_tokens": 9, "messages": [{"role": "user", "content": content}], **more}


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/messages", {"max_tokens": 5, "messages": [{"role": "tool", "content": "Hi"}]}, ANY),
        ("/messages", {"max_tokens": 5, "messages": []}, ANY),
        ("/messages", asks([{"type": "image"}]), ANY),
        ("/messages", asks("Hi", tools=[{"name": "x"}]), ANY),
        ("/messages", asks("Hi", system=5), ANY),
        ("/responses", {"input": 7}, ANY),
        ("/responses", {"input": []}, ANY),
        ("/responses", {"input": [{"type": "item_reference", "id": "x"}]}, ANY),
        ("/responses", {"input": [{"role": "user", "content": [{"type": "input_video"}]}]}, ANY),
        ("/responses", {"input": [{"role": ["user"], "content": "Hi"}]}, ANY),
        ("/responses", {"input": [{**CALL, "arguments": {"a": 1}}]}, ANY),
        ("/responses", {"input": "Hi", "previous_response_id": 7}, ANY),
        ("/responses", {"input": "Hi", "previous_response_id": "\ud800"}, ANY),
        ("/chat/completions", {"messages": [USER, CHAT_RESULT]}, "messages[1]"),
        ("/chat/completions", {"messages": [CHAT_RESULT, USER, CHAT_CALL]}, "messages[0]"),
        ("/chat/completions", {"messages": [USER, CHAT_CALL, CHAT_RESULT, CHAT_RESULT]}, "messages[3]"),
        ("/chat/completions", asks([{"type": "text", "text": 7}]), "messages[0].content[0].text"),
        ("/chat/completions", {"messages": [USER], "tools": json.loads(DEEP)}, "tools[0]"),
        ("/responses", {"input": [USER, RESULT]}, "input[1]"),
        ("/responses", {"input": [USER, CALL, RESULT, RESULT]}, "input[3]"),
        ("/responses", {"input": [USER, {"type": "reasoning", "summary": 7}]}, "input[1].summary"),
        ("/messages", {"max_tokens": 9, "messages": [USER, USED]}, "call “c”"),
        ("/messages", {"max_tokens": 9, "messages": [USER, USE, USED, USED]}, "call “c”"),
    ],
)
def test_what_no_model_could_answer_is_a_400_and_none_is_asked(
    spoken: Served, scripted: ScriptedModels, path: str, body: dict[str, Any], told: str
) -> None:
    with spoken.client() as client:
        answer = client.post(path, content=json.dumps({"model": "scripted/one", **body}))
    assert (answer.status_code, told in answer.text, ANY in answer.text) == (400, True, True), answer.text
    assert scripted.one.requests == ()
    assert spoken.paths() == []


def test_of_what_an_upstream_takes_it_is_the_judge(gateway: Served) -> None:
    odd = {"model": "gpt-4o", "messages": [{"role": "user", "content": "say hello"}, CHAT_RESULT]}
    with gateway.client() as client:
        answer = client.post("/chat/completions", json=odd)
    assert "x-forky-upstream" in answer.headers
    assert answer.headers["x-forky-recorded"].startswith("no; This is the result of a call")
    assert gateway.paths() == []


def test_a_request_that_is_too_large_is_a_413(spoken: Served) -> None:
    too_much = b" " * (service.LARGEST_BODY + 1)

    def in_pieces() -> Any:
        for at in range(0, len(too_much), 1_000_000):
            yield too_much[at : at + 1_000_000]

    with spoken.client() as client:
        try:
            answer = client.post("/chat/completions", content=too_much)
        except httpx.WriteError:  # The server has closed before everything was sent.
            return
        assert answer.status_code == 413
        error_of(answer)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"POST /v1/chat/completions HTTP/1.1\r\n", b"401"),
        (b"POST /v1/nowhere HTTP/1.1\r\nauthorization: Bearer {key}\r\n", b"404"),
        (b"PUT /v1/models HTTP/1.1\r\nauthorization: Bearer {key}\r\n", b"405"),
        (b"POST /v1/messages HTTP/1.1\r\nauthorization: Bearer {key}\r\ncontent-encoding: br\r\n", b"415"),
    ],
)
def test_what_is_refused_unread_leaves_the_connection_to_the_next_request(
    spoken: Served, head: bytes, status: bytes
) -> None:
    size = service._SMALL * 20
    next_one = b"GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n"
    sent = head + b"host: 127.0.0.1\r\ncontent-length: %d\r\n\r\n" % size + b"x" * size + next_one
    address = urlsplit(spoken.base_url)
    with socket.create_connection((address.hostname, address.port), HANG) as connection:
        connection.sendall(sent.replace(b"{key}", spoken.key.encode()))
        with connection.makefile("rb") as read:
            answers = read.read()
    assert answers.startswith(b"HTTP/1.1 " + status)
    assert answers.count(b"HTTP/1.1 200 OK") == 1


def test_a_model_that_nobody_has_is_a_404(spoken: Served) -> None:
    with spoken.client() as client:
        answer = client.post("/chat/completions", json={**HELLO, "model": "nobody"})
        assert answer.status_code == 404
        assert error_of(answer)["code"] == "model_not_found"
        assert client.get("/models/nobody").status_code == 404
    assert spoken.paths() == []


def test_a_token_sees_and_uses_its_models_only(spoken: Served) -> None:
    narrow = spoken.tokens.make("narrow", models=["*/two"])
    with spoken.client(narrow.text) as client:
        assert [model["id"] for model in client.get("/models").json()["data"]] == ["scripted/two"]
        assert client.post("/chat/completions", json=HELLO).status_code == 403
        assert client.post("/chat/completions", json={**HELLO, "model": "scripted/two"}).status_code == 200


def test_a_token_is_told_of_a_model_that_it_names_and_nobody_lists(gateway: Served) -> None:
    assert "gpt-4o-mini" not in {info.name for info in gateway.forky.models.models()}
    named = gateway.tokens.make("named", models=["gpt-4o-mini", "nobody-has-it", "*/two"])
    with gateway.client(named.text) as client:
        assert [model["id"] for model in client.get("/models").json()["data"]] == ["gpt-4o-mini"]


SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
HELLO_AS_TEXT = {"type": "text", "text": "say hello"}


@pytest.mark.parametrize(
    ("path", "model", "theirs"),
    [
        ("/responses", "gpt-4o", {"input": "say hello", "tools": [{"type": "web_search"}]}),
        ("/responses", "gpt-4o", {"input": [SEARCHED, {"role": "user", "content": "say hello"}]}),
        (
            "/messages",
            "claude-sonnet-4-5",
            asks("say hello", tools=[{"type": "web_search_20250305", "name": "web_search"}]),
        ),
        (
            "/messages",
            "claude-sonnet-4-5",
            asks([{"type": "container_upload", "file_id": "f"}, HELLO_AS_TEXT]),
        ),
    ],
)
def test_what_only_a_providers_own_models_understand_reaches_them_as_it_came(
    gateway: Served, aimock: Aimock, path: str, model: str, theirs: dict[str, Any]
) -> None:
    before = len(aimock.journal())
    with gateway.client() as client:
        answer = client.post(path, json={**theirs, "model": model})
        elsewhere = client.post(path, json={**theirs, "model": "offline/quote"})
    assert (answer.status_code, "x-forky-upstream" in answer.headers) == (200, True), answer.text
    assert len(aimock.journal()) == before + 1
    assert elsewhere.status_code == 400, "no other model can be given it"


def test_a_token_that_has_spent_its_day_waits_and_may_still_ask_what_is_free(gateway: Served) -> None:
    poor = gateway.tokens.make("poor", allowance=Allowance(dollars_a_day=NANO // 1000))
    ask = {"model": "gpt-4o", "max_tokens": 50, "messages": [{"role": "user", "content": "count my tokens"}]}
    with gateway.client(poor.text) as client:
        longest = client.post("/chat/completions", json={**ask, "max_tokens": 5_000})
        assert longest.status_code == 429 and "ask for a shorter answer" in error_of(longest)["message"]
        assert client.post("/chat/completions", json=ask).status_code == 200
        account = gateway.tokens.account(poor.token)
        assert account.today == Sum(1, round((2000 * 2.5e-6 + 10 * 1e-5) * NANO)) and account.held == Sum()
        refused = client.post("/chat/completions", json=ask)
        assert (refused.status_code, refused.headers["x-should-retry"]) == (429, "false")
        assert error_of(refused)["code"] == "insufficient_quota"
        assert client.post("/chat/completions", json={**ask, "model": "offline/quote"}).status_code == 200


def test_under_a_limit_a_model_of_unknown_price_is_refused_unless_it_may_pass(gateway: Served) -> None:
    ask = {"model": "openai/brand-new", "messages": [{"role": "user", "content": "say hello"}]}
    strict = gateway.tokens.make("strict", allowance=Allowance(dollars_a_day=5 * NANO))
    with gateway.client(strict.text) as client:
        refused = client.post("/chat/completions", json=ask)
        assert (refused.status_code, error_of(refused)["code"]) == (403, "model_not_allowed")
        assert "is not known" in error_of(refused)["message"]
        assert client.post("/chat/completions", json={**ask, "model": "gpt-4o"}).status_code == 200
    lenient = gateway.tokens.make("lenient", allowance=Allowance(dollars_in_all=5 * NANO, unpriced=True))
    with gateway.client(lenient.text) as client:
        assert client.post("/chat/completions", json=ask).status_code == 200


def test_a_stream_without_a_count_is_put_on_the_account_by_an_estimate(gateway: Served) -> None:
    ask = {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": "say hello"}]}
    with gateway.client() as client:
        client.post("/chat/completions", json=ask)
    assert 0 < gateway.tokens.account(gateway.made.token).today.dollars < NANO // 100


def test_a_server_that_is_down_is_a_502(aimock: object) -> None:
    with serving(at_upstream(f"http://127.0.0.1:{free_port()}/v1")) as served, served.client() as client:
        answer = client.post("/chat/completions", json={**HELLO, "model": "gpt-4o"})
        assert answer.status_code == 502
        assert error_of(answer)["code"] == "upstream_unreachable"
        assert served.paths() == [["Hi"]]


def test_a_server_that_sends_its_clients_elsewhere_is_a_502_and_nobody_is_sent_there() -> None:
    moved = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/v1\r\nContent-Length: 0\r\n"
    with forwarding([moved + b"Connection: close\r\n\r\n"]) as (_upstream, served), served.client() as client:
        answer = client.post("/chat/completions", json={**HELLO, "model": "gpt-4o"})
        assert (answer.status_code, error_of(answer)["code"]) == (502, "upstream_moved")
        assert "location" not in answer.headers
        assert served.paths() == [["Hi"]]


def test_a_revoked_token_finishes_its_call_and_asks_no_more(spoken: Served, scripted: ScriptedModels) -> None:
    scripted.one.enqueue("Half", " and half.")
    with spoken.client() as client:
        with client.stream("POST", "/chat/completions", json={**HELLO, "stream": True}) as response:
            pieces = response.iter_raw()
            first = next(pieces)
            spoken.tokens.revoke("test")
            rest = b"".join(pieces)
        assert (first + rest).endswith(b"data: [DONE]\n\n")
        assert client.post("/chat/completions", json=HELLO).status_code == 401
    assert spoken.paths() == [["Hi", "Half and half."]]


def test_a_missing_key_is_said(spoken: Served) -> None:
    with serving(catalogue({})) as served, served.client() as client:
        answer = client.post("/chat/completions", json={**HELLO, "model": "gpt-4o"})
    assert (answer.status_code, error_of(answer)["code"]) == (401, "no_upstream_key")
    assert "OPENAI_API_KEY" in answer.text


def test_a_forky_that_asks_itself_notices(spoken: Served) -> None:
    with spoken.client() as client:
        answer = client.post("/chat/completions", json=HELLO, headers={"x-forky-hop": "1"})
    assert (answer.status_code, error_of(answer)["code"]) == (508, "loop")


def test_an_error_inside_forky_is_a_500_without_a_stack(
    spoken: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(asking, "admit", lambda *_: 1 / 0)
    with spoken.client() as client:
        answer = client.post("/chat/completions", json=HELLO)
    assert (answer.status_code, error_of(answer)["code"]) == (500, "internal")
    assert "ZeroDivisionError" in caplog.text


def test_a_call_goes_through_where_it_cannot_be_recorded(
    spoken: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spoken.forky, "begin", full)
    with caplog.at_level(logging.WARNING), spoken.client() as client:
        answer = client.post("/chat/completions", json=HELLO)
        streamed = client.post("/chat/completions", json={**HELLO, "stream": True})
    assert answer.json()["choices"][0]["message"]["content"] == "one says: Hi"
    for one in (answer, streamed):
        assert one.headers["x-forky-recorded"].startswith("no; ")
    assert "gateway.unrecorded token=test\n    OSError (ENOSPC)" in caplog.text
    assert spoken.paths() == []


def test_a_token_may_ask_off_the_record(spoken: Served) -> None:
    quiet = spoken.tokens.make("quiet", records=False)
    with spoken.client(quiet.text) as client:
        answer = client.post("/chat/completions", json=HELLO)
    assert answer.headers["x-forky-recorded"] == "no; recording is off for this token"
    assert spoken.paths() == []


def test_a_name_of_ours_becomes_the_servers_own() -> None:
    answer = chunk("Hello"), chunk(finish="stop"), DONE
    with wire([HEAD, *answer]) as upstream:
        models = Catalogue(
            offline=offline_models(),
            settings=Settings(":memory:", probe=False, servers=(upstream.base_url,)),
            environment={},
            usual=(),
        )
        models.add(ScriptedModel("scripted/one"))
        (server,) = (status.id for status in models.providers() if status.base_url == upstream.base_url)
        ask = {"model": f"{server}/llama3", "stream": True, "messages": HELLO["messages"], "zeta": 1}
        with serving(models) as served, served.client() as client:
            told = client.post("/chat/completions", content=json.dumps(ask).encode())
        assert told.content == b"".join(answer)
        assert upstream.requests[-1] == {**ask, "model": "llama3"}
        assert list(upstream.requests[-1]) == list(ask)
        assert served.key not in "".join(upstream.heads)
