from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from forky_core.documents.offline_models import offline_models
from forky_core.forky import Forky
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Done, Failed
from forky_core.llm.probing import LocalServer
from forky_core.llm.scripted import ScriptedModel
from forky_core.llm.status import ProviderStatus
from forky_core.model.errors import BadContent, NotFound
from forky_core.process.settings import Settings
from tests.hangs import HANG
from tests.llm import wire
from tests.llm.third_party import Aimock, free_port

KEY = "sk-test-0123456789abcdef"
SETTINGS = Settings(Path("unused.duckdb"))


def catalogue(*usual: LocalServer, settings: Settings = SETTINGS, **environment: str) -> Catalogue:
    return Catalogue(offline=offline_models(), settings=settings, environment=environment, usual=usual)


def names(offered: Catalogue) -> list[str]:
    return [info.name for info in offered.models()]


def status(offered: Catalogue, id: str) -> ProviderStatus:
    return next(line for line in offered.providers() if line.id == id)


def local(port: int, id: str = "lmstudio", *, ollama: bool = False) -> LocalServer:
    base = f"http://127.0.0.1:{port}"
    return LocalServer(
        id, id.title(), f"{base}/{'api/tags' if ollama else 'v1/models'}", f"{base}/v1", ollama
    )


@contextmanager
def listing(body: object, status: str = "200 OK") -> Iterator[wire.Wire]:
    with wire.serving([wire.answer(status, body)]) as server:
        yield server


def test_a_bare_machine_offers_the_two_offline_models() -> None:
    offered = catalogue()
    assert names(offered) == ["offline/quote", "offline/digest"]
    assert offered.default() == "offline/quote"
    assert status(offered, "openai").key == "missing"
    assert "OPENAI_API_KEY" in status(offered, "openai").sentence


@pytest.mark.parametrize("place", ["environment", "secrets", "entered"])
def test_a_key_brings_its_providers_models_wherever_it_comes_from(place: str) -> None:
    environment = {"OPENAI_API_KEY": KEY} if place == "environment" else {}
    offered = Catalogue(
        {"OPENAI_API_KEY": KEY} if place == "secrets" else {}, SETTINGS, environment=environment, usual=()
    )
    if place == "entered":
        offered.set_key("openai", f"  {KEY}\n")
    assert any(name.startswith("gpt-") for name in names(offered))
    assert not any(name.startswith("claude") for name in names(offered))
    assert status(offered, "openai").key == place
    assert status(offered, "openai").models > 3
    assert offered.default().startswith("gpt-")


def test_a_key_is_nowhere_to_be_seen() -> None:
    offered = catalogue(OPENAI_API_KEY=KEY)
    offered.set_key("anthropic", KEY)
    model = offered.model("gpt-4o")
    shown = f"{offered!r} {offered._keys!r} {offered.providers()!r} {offered.models()!r} {offered._made!r} {model!r}"
    assert KEY not in shown


def test_a_forgotten_key_takes_its_models_along() -> None:
    offered = catalogue()
    offered.set_key("openai", KEY)
    offered.set_key("openai", None)
    assert names(offered) == ["offline/quote", "offline/digest"]


def test_what_cannot_be_a_key_is_refused() -> None:
    with pytest.raises(BadContent):
        catalogue().set_key("openai", "two words")
    with pytest.raises(NotFound):
        catalogue().set_key("nobody", KEY)


def test_listed_models_have_prices_and_no_dated_copies() -> None:
    infos = [info for info in catalogue(OPENAI_API_KEY=KEY).models() if info.provider == "OpenAI"]
    assert all(info.input_price and info.context_window for info in infos)
    assert len({info.name for info in infos}) == len(infos)


def test_any_name_of_a_known_provider_can_be_asked_for() -> None:
    assert catalogue().model("gpt-99-not-listed").info().provider == "OpenAI"
    assert catalogue().model("gemini/some-model").info().provider == "Google Gemini"


def test_a_model_that_is_gone_is_not_found_and_says_what_to_do() -> None:
    with pytest.raises(NotFound, match="Choose another model"):
        catalogue().model("scripted/model")


def test_the_same_name_gives_the_same_model_until_its_key_changes() -> None:
    offered = catalogue(OPENAI_API_KEY=KEY)
    first = offered.model("gpt-4o")
    assert offered.model("gpt-4o") is first
    offered.set_key("openai", "sk-another-key-1234")
    assert offered.model("gpt-4o") is not first


def test_an_added_model_is_offered_first_and_found_by_name() -> None:
    offered, model = catalogue(), ScriptedModel("scripted/one")
    offered.add(model)
    assert offered.model("scripted/one") is model
    assert names(offered)[0] == offered.default() == "scripted/one"


def test_litellm_is_needed_as_soon_as_a_model_that_it_calls_is_on_offer() -> None:
    offered = catalogue()
    assert not offered.needs_litellm()
    offered.add(ScriptedModel("scripted/one"))
    assert not offered.needs_litellm()
    offered.set_key("openai", KEY)
    assert offered.needs_litellm()
    offered.set_key("openai", None)
    assert not offered.needs_litellm()
    assert catalogue(settings=Settings(Path("unused.duckdb"), model="gpt-4o")).needs_litellm()
    with listing({"object": "list", "data": [{"id": "qwen3"}]}) as server:
        assert catalogue(local(server.port)).needs_litellm()


def test_the_settings_choose_the_default() -> None:
    offered = catalogue(settings=Settings(Path("unused"), model="offline/digest"), OPENAI_API_KEY=KEY)
    assert offered.default() == "offline/digest"


def test_servers_on_this_machine_are_found_by_asking() -> None:
    with ExitStack() as stack:
        tags = {"models": [{"name": "llama3.2:3b", "model": "llama3.2:3b"}, {"name": "nomic-embed-text"}]}
        ollama = stack.enter_context(listing(tags))
        models = {"object": "list", "data": [{"id": "qwen", "max_model_len": 32768}]}
        vllm = stack.enter_context(listing(models))
        offered = catalogue(local(ollama.port, "ollama", ollama=True), local(vllm.port, "vllm"))
        offered.refresh(wait=30)
        assert names(offered)[:2] == ["ollama/llama3.2:3b", "vllm/qwen"]
        assert offered.models()[0].input_price == 0.0
        assert offered.models()[1].context_window == 32768
        assert status(offered, "ollama").sentence == "Running, with 1 model."
        assert offered.default() == "ollama/llama3.2:3b"
        with pytest.raises(NotFound, match="no model “mistral”"):
            offered.model("ollama/mistral")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("<html>hello</html>", "200 OK"),
        ({"data": "x"}, "200 OK"),
        ({"data": [1]}, "200 OK"),
        ({}, "404 Not Found"),
    ],
)
def test_what_is_no_model_server_is_not_offered(body: object, code: str) -> None:
    with listing(body, code) as server:
        offered = catalogue(local(server.port))
        offered.refresh(wait=30)
        assert names(offered) == ["offline/quote", "offline/digest"]
        assert not status(offered, "lmstudio").found
        assert status(offered, "lmstudio").sentence


def test_a_server_that_is_off_says_where_it_was_looked_for() -> None:
    port = free_port()
    offered = catalogue(local(port))
    offered.refresh(wait=30)
    assert status(offered, "lmstudio").sentence == f"Nothing answers at http://127.0.0.1:{port}/v1."
    end = offered.test("lmstudio")
    assert isinstance(end, Failed)
    assert end.failure.kind == "unreachable"


def test_asking_what_is_on_offer_does_not_wait_for_a_silent_server() -> None:
    with wire.serving([], keep_open=True) as server:
        offered = catalogue(local(server.port))
        assert names(offered) == ["offline/quote", "offline/digest"]
        assert status(offered, "lmstudio").sentence == "Looking for it …"


def test_a_server_named_in_the_settings_can_want_a_key() -> None:
    with listing({"data": [{"id": "m"}]}) as server:
        offered = catalogue(settings=Settings(Path("unused"), servers=(f"http://127.0.0.1:{server.port}",)))
        offered.set_key(f"127.0.0.1:{server.port}", KEY)
        offered.refresh(now=True, wait=30)
        assert f"127.0.0.1:{server.port}/m" in names(offered)
        assert any(f"authorization: bearer {KEY}" in head.lower() for head in server.heads)


@pytest.mark.aimock
def test_a_provider_can_be_tested(aimock: Aimock) -> None:
    offered = catalogue(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=aimock.base_url)
    end = offered.test("openai")
    assert isinstance(end, Failed)
    assert end.failure.kind == "not_found"
    assert aimock.journal()[-1]["body"]["messages"][0]["content"].startswith("Reply with")


def test_a_test_without_a_key_says_which_one_is_missing() -> None:
    end = catalogue().test("anthropic")
    assert isinstance(end, Failed)
    assert end.failure.kind == "no_key"
    assert "ANTHROPIC_API_KEY" in end.failure.sentence


def test_the_offline_models_always_pass_their_test() -> None:
    assert isinstance(catalogue().test("offline/quote"), Done)
    gone = catalogue().test("no/such")
    assert isinstance(gone, Failed)
    assert gone.failure.kind == "not_found"


def test_who_closes_forky_closes_the_connections_to_model_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    body = wire.answer("200 OK", {"data": [{"id": "local-one"}]}).replace(
        b"Connection: close", b"Server: kept"
    )
    with wire.serving([body], keep_open=True) as server:
        monkeypatch.setenv("FORKY_PROBE", "0")
        monkeypatch.setenv("FORKY_SERVERS", server.base_url)
        with Forky.open(":memory:") as forky:
            offered = forky.models
            assert isinstance(offered, Catalogue)
            offered.refresh(now=True, wait=HANG)
            assert any("local-one" in name for name in names(offered))
            assert not server.hung_up.is_set()
        assert server.hung_up.wait(HANG)
        offered.close()
