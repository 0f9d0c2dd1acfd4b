"""Servers beyond this machine: what may be asked, what is told about it, and that nothing else is asked.

A name such as `far.test` stands for an address of this machine by a resolver that the test gives. The catalogue takes
a server by that name for one beyond this machine, and the sockets are real.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest

from forky_core.documents.offline_models import offline_models
from forky_core.llm.addresses import LOOPBACK, NAMED, AddressRefused, Resolver
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Done, Failed, Request
from forky_core.llm.probing import NO_MODEL_SERVER, USUAL, server_at
from forky_core.llm.status import ProviderStatus
from forky_core.model.errors import BadContent, NotFound, NothingToDo, RequestError
from forky_core.process.settings import Settings
from tests.llm import wire
from tests.llm.third_party import free_port

ASK = Request("any", ({"role": "user", "content": "Hello"},))
FAR = 0.4
"""Seconds; the same for every failure."""
LIST = wire.answer("200 OK", {"data": [{"id": "m"}]})


def by_name(**addresses: Sequence[str]) -> Resolver:
    """`far="127.0.0.2"` answers for far.test; a name that is not given has no address."""

    async def resolve(host: str, _port: int) -> Sequence[str]:
        name = host.removesuffix(".test")
        if name not in addresses:
            raise OSError("Name or service not known")
        return addresses[name]

    return resolve


def catalogue(resolver: Resolver, *urls: str, **environment: str) -> Catalogue:
    settings = Settings(Path("unused.duckdb"), servers=urls, probe=False)
    return Catalogue(
        offline=offline_models(),
        settings=settings,
        environment=environment,
        usual=(),
        resolver=resolver,
        far=FAR,
    )


def status(offered: Catalogue, id: str) -> ProviderStatus:
    return next(line for line in offered.providers() if line.id == id)


def asked(offered: Catalogue, name: str) -> Done | Failed:
    *_, end = offered.model(name).stream(ASK, Event())
    assert isinstance(end, Done | Failed)
    return end


# What adding a server would mean


@pytest.mark.parametrize(
    ("url", "addresses", "network"),
    [
        ("http://127.0.0.1:8000", (), "loopback"),
        ("http://192.168.1.20:8000", (), "private"),
        ("http://nas.local:8000", (), "private"),
        ("https://203.0.113.5/v1", (), "public"),
        ("http://far.test:8000", ("192.168.1.20",), "private"),
        ("http://far.test:8000", ("203.0.113.5", "192.168.1.20"), "private"),
        ("http://far.test:8000", ("fe80::1%eth0", "192.168.1.20"), "private"),
        ("http://far.test:8000", ("203.0.113.5", "127.0.0.1"), "private"),
        ("http://far.test:8000", ("203.0.113.5", "2606:4700::1"), "public"),
        ("http://far.test:8000", ("127.0.0.1", "::1"), "loopback"),
        ("http://nobody.test:8000", (), "public"),
    ],
)
def test_a_proposal_says_where_a_server_is(url: str, addresses: tuple[str, ...], network: str) -> None:
    proposed = catalogue(by_name(far=addresses)).propose_server(url)
    assert (proposed.network, proposed.addresses) == (network, addresses)
    assert proposed.server.reach == (NAMED if network == "private" else {network})


def test_a_proposal_asks_the_server_nothing() -> None:
    with wire.serving([LIST], host="127.0.0.2") as server:
        offered = catalogue(by_name(far=["127.0.0.2"]))
        proposed = offered.propose_server(f"http://far.test:{server.port}")
        offered.refresh(now=True, wait=30)
        assert server.heads == [] and offered.added_servers == ()
        assert proposed.server.list_url == f"http://far.test:{server.port}/v1/models"
        offered.add_server(proposed.server)
        offered.refresh(wait=30)
        assert [head.split("\r\n")[0] for head in server.heads] == ["GET /v1/models HTTP/1.1"]


@pytest.mark.parametrize("addresses", [["169.254.169.254"], ["fe80::1%eth0"], ["::ffff:169.254.169.254"]])
def test_a_name_that_leads_to_a_refused_address_cannot_be_added(addresses: Sequence[str]) -> None:
    with pytest.raises(AddressRefused, match=r"far\.test"):
        catalogue(by_name(far=addresses)).propose_server("http://far.test")


def test_what_is_no_url_or_known_already_is_not_proposed() -> None:
    offered = catalogue(by_name(), "http://10.0.0.1:8000/v1")
    with pytest.raises(BadContent):
        offered.propose_server("ftp://far.test")
    with pytest.raises(NothingToDo):
        offered.propose_server("http://10.0.0.1:8000")


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://metadata.google.internal/", "http://0:80"])
def test_the_environment_may_name_no_refused_address(url: str) -> None:
    with pytest.raises(RequestError, match=r"FORKY_SERVERS.*sends nothing to"):
        catalogue(by_name(), url)


def test_the_environment_may_lead_no_provider_to_a_refused_address() -> None:
    offered = catalogue(by_name(), OPENAI_API_KEY="sk-0123456789", OPENAI_BASE_URL="http://2852039166/v1")
    for ask in (offered.model, offered.upstream):
        with pytest.raises(NotFound, match=r"169\.254\.169\.254.*OPENAI_BASE_URL"):
            ask("gpt-4o")
    end = offered.test("openai")
    assert isinstance(end, Failed) and "169.254.169.254" in end.failure.sentence


# What is asked


def test_naming_a_server_in_the_environment_is_the_consent_to_ask_it() -> None:
    with wire.serving([LIST], host="127.0.0.2") as server:
        offered = catalogue(by_name(far=["127.0.0.2"]), f"http://far.test:{server.port}")
        offered.refresh(now=True, wait=30)
        assert status(offered, f"far.test:{server.port}").sentence == "Running, with 1 model."


def test_a_name_that_has_moved_is_not_asked_and_says_so() -> None:
    with wire.serving([LIST]) as server:
        offered = catalogue(by_name(far=["127.0.0.1"], private=["10.0.0.1"], cloud=["169.254.169.254"]))
        for name in ("far", "private", "cloud"):
            server_id = f"{name}.test:{server.port}"
            offered.add_server(server_at(f"http://{server_id}", frozenset({"public"})))
            offered.refresh(now=True, wait=30)
            end = asked(offered, f"{server_id}/m")
            assert isinstance(end, Failed)
            said = status(offered, server_id).sentence
            assert end.failure.sentence == said
            assert ("private network" if name == "private" else "sends nothing to") in said
        assert server.heads == []


def test_a_model_of_a_far_server_answers_by_the_address_that_was_checked() -> None:
    reply = wire.HEAD + wire.chunk("Good day.") + wire.chunk(finish="stop") + wire.DONE
    with wire.serving([reply], host="127.0.0.2") as server:
        offered = catalogue(by_name(far=["169.254.169.254", "127.0.0.2"]), f"http://far.test:{server.port}")
        offered.set_key(f"far.test:{server.port}", "sk-of-that-server")
        end = asked(offered, f"far.test:{server.port}/m")
        assert isinstance(end, Done)
        asking = next(head for head in server.heads if head.startswith("POST"))
        assert asking.startswith("POST /v1/chat/completions HTTP/1.1")
        assert "authorization: bearer sk-of-that-server" in asking.lower()


def test_a_redirect_leads_a_model_call_nowhere() -> None:
    with wire.serving([LIST], host="127.0.0.2") as hidden:
        to = f"http://127.0.0.2:{hidden.port}/v1/chat/completions"
        moved = f"HTTP/1.1 307 Moved\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        with wire.serving([moved.encode()]) as server:
            offered = Catalogue(
                offline=offline_models(),
                settings=Settings(Path("unused"), servers=(f"http://127.0.0.1:{server.port}",), probe=False),
                environment={},
                usual=(),
            )
            offered.refresh(now=True, wait=30)
            assert "answered 307" in status(offered, f"127.0.0.1:{server.port}").sentence
            end = asked(offered, f"127.0.0.1:{server.port}/m")
            assert isinstance(end, Failed)
            assert "sends requests on to another address (307)" in end.failure.sentence
        assert hidden.heads == []


def test_a_model_name_that_holds_a_url_is_nobodys() -> None:
    """LiteLLM would send the request there, with the key; names come with imported files and with programs' calls."""
    with wire.serving([LIST]) as server:
        offered = catalogue(by_name(), HUGGINGFACE_API_KEY="hf_0123456789")
        for name in ("huggingface", "oobabooga"):
            for ask in (offered.model, offered.embedder):
                with pytest.raises(NotFound):
                    ask(f"{name}/http://127.0.0.1:{server.port}/x")
        assert server.heads == []


# What is told about it


@contextmanager
def ends(kind: str) -> Iterator[int]:
    """A port of 127.0.0.2 that does not answer as a model server, in one of the ways there are."""
    pieces: dict[str, list[bytes]] = {
        "silent": [],
        "404": [wire.answer("404 Not Found", {"detail": "Not Found"})],
        "401": [wire.answer("401 Unauthorized", {"error": "no key"})],
        "500": [wire.answer("500 Internal Server Error", "no")],
        "redirect": [b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"],
        "other JSON": [wire.answer("200 OK", {"version": "7.4"})],
        "a page": [wire.answer("200 OK", "<html>router</html>", "text/html")],
        "another protocol": [b"SSH-2.0-OpenSSH_9.2\r\n"],
        "hangs up": [b""],
    }
    if kind == "closed":
        yield free_port()
        return
    with wire.serving(pieces[kind], keep_open=kind == "silent", host="127.0.0.2") as server:
        yield server.port


KINDS = ["closed", "404", "401", "500", "redirect", "other JSON", "a page", "another protocol", "hangs up"]


@pytest.mark.parametrize("kind", [*KINDS, "silent"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_every_failure_beyond_this_machine_looks_the_same(kind: str, scheme: str) -> None:
    with ends(kind) as port:
        offered = catalogue(by_name(far=["127.0.0.2"]), f"{scheme}://far.test:{port}")
        started = time.monotonic()
        offered.refresh(now=True, wait=30)
        assert time.monotonic() - started >= FAR, "a port that refuses at once may not be told by the clock"
        line = status(offered, f"far.test:{port}")
        assert (line.sentence, line.found) == (NO_MODEL_SERVER, False)
        end = offered.test(f"far.test:{port}")
        assert isinstance(end, Failed) and end.failure.kind == "unreachable"
        assert "did not answer as a model server" in end.failure.sentence


@pytest.mark.parametrize("kind", KINDS)
def test_asking_a_far_server_that_is_none_says_no_more(kind: str) -> None:
    with ends(kind) as port:
        offered = catalogue(by_name(far=["127.0.0.2"]), f"http://far.test:{port}")
        end = asked(offered, f"far.test:{port}/m")
        assert isinstance(end, Failed) and end.failure.kind == "unreachable"
        assert end.failure.retry_after is None
        assert end.failure.sentence.startswith(f"far.test:{port} did not answer as a model server.")
        assert offered.upstream(f"far.test:{port}/m") is None, "its answers would be passed on as they are"


def test_a_name_without_an_address_looks_the_same() -> None:
    offered = catalogue(by_name(), "http://far.test:1")
    offered.refresh(now=True, wait=30)
    assert status(offered, "far.test:1").sentence == NO_MODEL_SERVER


def test_on_this_machine_it_is_said_what_went_wrong() -> None:
    said = {}
    for kind in ("closed", "404", "401", "other JSON"):
        with ends(kind) as port:
            offered = catalogue(by_name(), f"http://127.0.0.2:{port}")
            offered.refresh(now=True, wait=30)
            said[kind] = status(offered, f"127.0.0.2:{port}").sentence
    assert said["closed"].startswith("Nothing answers at http://127.0.0.2:")
    assert "404" in said["404"] and "key" in said["401"] and "no model server" in said["other JSON"]


def test_a_far_server_without_models_is_a_model_server() -> None:
    with wire.serving([wire.answer("200 OK", {"data": []})], host="127.0.0.2") as server:
        offered = catalogue(by_name(far=["127.0.0.2"]), f"http://far.test:{server.port}")
        offered.refresh(now=True, wait=30)
        assert status(offered, f"far.test:{server.port}").sentence == "It runs, but has no model yet."


def test_a_proven_server_may_be_sent_a_programs_own_bytes() -> None:
    with wire.serving([LIST], host="127.0.0.2") as server:
        offered = catalogue(by_name(far=["127.0.0.2"]), f"http://far.test:{server.port}")
        upstream = offered.upstream(f"far.test:{server.port}/m")
        assert upstream is not None and upstream.reach == NAMED
        near = catalogue(by_name(), f"http://127.0.0.1:{free_port()}")
        assert near.upstream(f"{near.providers()[-2].id}/m") is not None


def test_a_slow_far_server_does_not_hold_up_those_of_this_machine() -> None:
    with ends("silent") as silent, wire.serving([LIST]) as near:
        offered = catalogue(
            by_name(far=["127.0.0.2"]), f"http://far.test:{silent}", f"http://127.0.0.1:{near.port}"
        )
        offered.refresh()
        while status(offered, f"127.0.0.1:{near.port}").sentence == "Looking for it …":
            time.sleep(0.01)
        assert status(offered, f"far.test:{silent}").sentence == "Looking for it …"
        assert status(offered, f"127.0.0.1:{near.port}").models == 1


def test_an_answer_that_is_compressed_is_no_list() -> None:
    body = gzip.compress(json.dumps({"data": [{"id": "m"}]}).encode())
    packed = (
        f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    )
    with (
        wire.serving([packed]) as server,
        closing(catalogue(by_name(), f"http://127.0.0.1:{server.port}")) as offered,
    ):
        offered.refresh(now=True, wait=30)
        assert (
            status(offered, f"127.0.0.1:{server.port}").sentence == "What answers there is no model server."
        )
        assert "accept-encoding: identity" in server.heads[0].lower()


def test_a_password_of_the_environment_is_not_on_the_page() -> None:
    offered = catalogue(by_name(), "http://me:secret@127.0.0.1:1/v1")
    assert status(offered, "127.0.0.1:1").base_url == "http://127.0.0.1:1/v1"
    offered.refresh(now=True, wait=30)
    assert "secret" not in repr(offered.providers())


def test_usual_servers_may_be_asked_on_this_machine_only() -> None:
    assert {server.reach for server in USUAL} == {LOOPBACK} and all(server.is_near for server in USUAL)
