"""Who in the source can open a connection to somewhere else: a list that is short and says why."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache

import pytest

from tests.test_architecture import CHECKOUT, SOURCES, imported, parsed

NETWORK = {
    "aiohttp",
    "anyio",
    "ftplib",
    "http.client",
    "httpcore",
    "httpx",
    "openai",
    "poplib",
    "requests",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "telnetlib",
    "urllib.request",
    "urllib3",
    "websockets",
    "xmlrpc",
}
KNOWN = {
    "forky_core/llm/http_clients.py": "the clients that connect to checked addresses only",
    "forky_core/llm/addresses.py": "resolves names and reads spellings of addresses, for http_clients.py",
    "forky_core/llm/probing.py": "asks servers for their models through http_clients.py; names httpx's errors",
    "forky_core/llm/litellm_model.py": "time limits",
    "forky_core/llm/litellm_calls.py": "OpenAI's client, and LiteLLM's handler, around those of http_clients.py",
    "forky_core/llm/failures.py": "names errors of sockets",
    "forky_core/llm/litellm_logger.py": "sends a program's calls to the Forky that its author named",
    "forky_core/gateway/v1/forwarding.py": "passes calls on: to model servers by http_clients.py, to providers by httpx",
    "forky_core/gateway/access/ways/oidc_client.py": "asks identity providers that the operator names, with httpx",
    "forky_core/gateway/serving.py": "options of the sockets that Forky listens on",
    "forky_core/cli/up.py": "looks for a free port",
    "forky_core/cli/analysing.py": "asks the Forky whose address somebody typed",
    "forky_core/cli/browser.py": "waits until Forky's own server takes connections",
    "forky_core/llm/served_models.py": "asks the Forky that a program connects to which models it has",
    "forky_core/people/links/fetching.py": "fetches what a link shows through http_clients.py; names httpx's errors",
    "forky_core/store/remote/store.py": "asks the Forky that a program connects to, or the app on this machine",
    "forky_core/store/postgresql/channel.py": "wakes a thread of its own by a pair of sockets in this process",
}
"""A file that is not here takes its client from forky_core/llm/http_clients.py, or is added with its reason."""
CHECKED = {
    "forky_core/llm/http_clients.py",
    "forky_core/gateway/v1/forwarding.py",
    "forky_core/gateway/access/ways/oidc_client.py",
}
"""Those that make an HTTP client."""


def dynamic(source: str) -> set[str]:
    """Modules that are imported by a call with their name."""
    if "import_module" not in source and "__import__" not in source:
        return set()
    return {
        call.args[0].value
        for call in ast.walk(parsed(source))
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", getattr(call.func, "id", "")) in ("import_module", "__import__")
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


@cache
def users() -> Mapping[str, set[str]]:
    found, words = {}, {module.partition(".")[0] for module in NETWORK}
    for path in SOURCES:
        text = (CHECKOUT / path).read_text("utf-8")
        if not any(word in text for word in words):
            continue
        names = imported(path) | dynamic(text)
        used = {module for module in NETWORK if any(f"{name}.".startswith(f"{module}.") for name in names)}
        if used:
            found[path.as_posix()] = used
    return found


def callers(maker: str) -> set[str]:
    """The files that call something of this name."""
    texts = ((path.as_posix(), (CHECKOUT / path).read_text("utf-8")) for path in SOURCES)
    return {
        path
        for path, text in texts
        if maker in text
        for call in ast.walk(parsed(text))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) == maker
    }


def test_only_known_files_can_open_a_connection_and_each_still_does() -> None:
    assert sorted(set(users()) - set(KNOWN)) == [], "take a client of forky_core/llm/http_clients.py"
    assert sorted(set(KNOWN) - set(users())) == []


@pytest.mark.parametrize(
    "maker",
    [
        "AsyncClient",
        "Client",
        "AsyncHTTPTransport",
        "HTTPTransport",
        "urlopen",
        "build_opener",
        "create_connection",
    ],
)
def test_only_known_files_make_a_client(maker: str) -> None:
    known = {"build_opener": {"forky_core/llm/litellm_logger.py"}}
    assert callers(maker) <= CHECKED | known.get(maker, set())


def test_a_way_around_the_list_is_seen() -> None:
    assert dynamic('importlib.import_module("httpx")\n__import__("socket")') == {"httpx", "socket"}
