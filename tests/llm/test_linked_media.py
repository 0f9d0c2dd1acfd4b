"""Pictures and files that a message names by a URL: Forky downloads none, and LiteLLM comes to none."""

from __future__ import annotations

import importlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from forky_core.llm import loading
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import Done, Failed, Request
from forky_core.llm.linked_media import PICTURES_READ_BY, unsendable_link
from forky_core.llm.providers import PROVIDERS
from forky_core.process.settings import Settings
from tests.llm import wire
from tests.programs import CHECKOUT

SCHEMES = ("http://", "https://")
NAMES = {"gemini": "gemini/gemini-2.5-flash", "anthropic": "claude-haiku-4-5"}
REPLY = wire.answer("500 Internal Server Error", {"error": {"message": "enough"}})


@pytest.fixture
def without_litellms_own_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM refuses private addresses by itself, and the app tells it to download nothing: both are taken away."""
    monkeypatch.setattr(loading.litellm(), "user_url_validation", False)
    handling = importlib.import_module("litellm.litellm_core_utils.prompt_templates.image_handling")
    monkeypatch.setattr(handling, "MAX_IMAGE_URL_DOWNLOAD_SIZE_MB", 50)


@contextmanager
def host() -> Iterator[tuple[int, Any]]:
    """A port where a picture might be, and a function that says whether anybody has connected to it."""
    with socket.create_server(("127.0.0.2", 0)) as listener:
        listener.setblocking(False)

        def was_asked() -> bool:
            try:
                listener.accept()[0].close()
            except BlockingIOError:
                return False
            return True

        yield listener.getsockname()[1], was_asked


def catalogue(provider: str, base_url: str) -> Catalogue:
    variable = next(known.variables[0] for known in PROVIDERS if known.id == provider)
    environment = {variable: "sk-0123456789", f"{provider.upper()}_BASE_URL": base_url}
    settings = Settings(Path("unused"), probe=False)
    return Catalogue(settings=settings, environment=environment, usual=())


def picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def file(url: str) -> dict[str, Any]:
    return {"type": "file", "file": {"file_id": url}}


def asked(offered: Catalogue, name: str, part: dict[str, Any]) -> Done | Failed:
    content = [{"type": "text", "text": "What is that?"}, part]
    *_, end = offered.model(name).stream(Request(name, ({"role": "user", "content": content},)), Event())
    assert isinstance(end, Done | Failed)
    return end


@pytest.mark.usefixtures("without_litellms_own_guards")
@pytest.mark.parametrize("provider", [provider.id for provider in PROVIDERS])
@pytest.mark.parametrize("shape", [picture, file])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_in_a_message_is_downloaded_for_a_provider(provider: str, shape: Any, scheme: str) -> None:
    with host() as (port, was_asked), wire.serving([REPLY]) as server:
        url = f"{scheme}127.0.0.2:{port}/p.png"
        name = NAMES.get(provider, f"{provider}/some-model" if provider != "openai" else "gpt-4o")
        end = asked(catalogue(provider, server.base_url), name, shape(url))
        assert isinstance(end, Failed)
        assert not was_asked()
        handed_on = shape is picture and scheme == "https://" and provider in PICTURES_READ_BY
        assert any(url.encode() in body for body in server.bodies) == handed_on
        assert bool(server.heads) == handed_on
        assert handed_on or "Send the file itself" in end.failure.sentence


@pytest.mark.usefixtures("without_litellms_own_guards")
def test_a_model_server_is_handed_the_address_of_a_picture_and_never_that_of_a_file() -> None:
    with host() as (port, was_asked), wire.serving([REPLY]) as server:
        settings = Settings(Path("unused"), probe=False, servers=(server.base_url,))
        offered = Catalogue(settings=settings, environment={}, usual=())
        url = f"http://127.0.0.2:{port}/p.png"
        asked(offered, f"127.0.0.1:{server.port}/m", picture(url))
        assert url.encode() in server.bodies[-1]
        end = asked(offered, f"127.0.0.1:{server.port}/m", file(url))
        assert isinstance(end, Failed) and "does not download" in end.failure.sentence
        assert not was_asked()


TUNED = """
from forky_core.llm import loading
from forky_core.llm.process_tuning import tune_process
tune_process()
loading.litellm()
from litellm.constants import MAX_IMAGE_URL_DOWNLOAD_SIZE_MB
print(MAX_IMAGE_URL_DOWNLOAD_SIZE_MB)
"""


def test_in_the_app_litellm_is_told_to_download_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TUNED], capture_output=True, text=True, check=False, cwd=CHECKOUT
    )
    assert done.stdout.split() == ["0.0"], done.stderr[-2000:]


@pytest.mark.parametrize(
    "part",
    [
        file("https://a.test/b.pdf"),
        file("www.a.test/b.pdf"),
        {"type": "file", "file": {"file_data": "https://a.test/b.pdf"}},
        {"type": "image_url", "image_url": "https://a.test/b.png"},
        picture("HTTPS://a.test/b.png"),
        picture(" https://a.test/b.png"),
        picture("gs://bucket/b.png"),
        picture("file:///etc/passwd"),
        {"type": "image", "source": {"type": "url", "url": "https://a.test/b.png"}},
        {"type": "document", "source": {"type": "url", "url": "http://a.test/b.pdf"}},
        {"type": "video_url", "video_url": {"url": "https://a.test/b.mp4"}},
        {"type": "unheard_of", "somewhere": [{"deep": "ftp://a.test"}]},
        {"type": "tool_result", "tool_use_id": "1", "content": [picture("https://a.test/b.png")]},
    ],
)
def test_a_url_is_found_wherever_a_part_holds_it(part: dict[str, Any]) -> None:
    assert unsendable_link([{"role": "user", "content": [part]}], ()) is not None


@pytest.mark.parametrize(
    "content",
    [
        "Read https://a.test/b.png",
        None,
        [{"type": "text", "text": "https://a.test/b.png"}],
        [picture("data:image/png;base64,aHR0cHM6Ly8=")],
        [file("file-abc123")],
        [{"type": "input_audio", "input_audio": {"data": "//uQxAAAAAAA", "format": "mp3"}}],
        [{"type": "tool_result", "content": [{"type": "text", "text": "https://a.test"}]}],
        [{"type": "tool_result", "content": "https://a.test"}],
        ["https://a.test"],
    ],
)
def test_what_only_speaks_of_a_url_may_be_sent(content: Any) -> None:
    assert unsendable_link([{"role": "user", "content": content}], ()) is None


def test_a_picture_may_be_named_where_its_address_begins_as_the_provider_reads_it() -> None:
    messages = [{"role": "user", "content": [picture("HTTPS://a.test/b.png")]}]
    assert unsendable_link(messages, ("https://",)) is None
    assert unsendable_link(messages, ("http://",)) == "HTTPS://a.test/b.png"
    assert unsendable_link([{"role": "user", "content": [file("https://a.test")]}], SCHEMES) is not None
