from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.gateway.access.origins import Origin, Origins, is_loopback, origin_from, origin_of_host
from forky_core.gateway.access.sign_in import SignIn


def scope(host: str | None, *, scheme: str = "http", at: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    fields = [(b"host", host.encode())] if host is not None else []
    fields += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    kind = "websocket" if scheme.startswith("ws") else "http"
    return {
        "type": kind,
        "scheme": scheme,
        "method": "GET",
        "path": "/",
        "server": (at, 8501),
        "headers": fields,
    }


@pytest.mark.parametrize(
    "name", ["127.0.0.1", "127.8.9.1", "localhost", "LocalHost", "localhost.", "a.localhost"]
)
def test_names_of_this_machine(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize("name", ["::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"])
def test_ipv6_addresses_of_this_machine(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize(
    "name",
    [
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "notlocalhost",
        "0.0.0.0",  # noqa: S104
        "2130706433",
        "127.1",
        "",
        ".",
        "..",
        "::2",
        "localhost..",
    ],
)
def test_a_name_that_only_looks_like_this_machine_is_not_this_machine(name: str) -> None:
    assert not is_loopback(name)


def test_an_origin_has_one_value_whatever_its_spelling() -> None:
    assert (
        origin_from("HTTP://LocalHost.:80")
        == Origin("http", "localhost", 80)
        == origin_from("http://localhost")
    )
    assert origin_of_host("wss", "[0:0::1]") == Origin("https", "::1", 443)
    assert str(Origin("http", "::1", 8501)) == "http://[::1]:8501"
    assert str(Origin("https", "forky.example", 443)) == "https://forky.example"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "null",
            "",
            "http://",
            "http:/localhost",
            "file://localhost",
            "http://a@localhost",
            "http://localhost/",
        ),
        *("http://localhost:0", "http://localhost:99999", "http://localhost:8501 ", "http://[127.0.0.1]"),
        "http://::1",
    ],
)
def test_what_is_no_origin_is_none(text: str) -> None:
    assert origin_from(text) is None


@given(st.text(max_size=40))
def test_no_text_breaks_the_check(text: str) -> None:
    origin = origin_from(f"http://{text}")
    assert origin is None or origin_from(str(origin)) == origin
    sent = text.encode("utf-8", "replace").decode("latin-1")
    refusal = Origins().refusal(scope(None) | {"headers": [(b"host", sent.encode("latin-1"))]})
    own = origin_of_host("http", sent)
    assert (refusal is None) == (own is not None and is_loopback(own.host))


def test_the_address_that_was_connected_to_is_a_name_and_no_other_address_is() -> None:
    assert Origins().refusal(scope("192.168.7.5:8501", at="192.168.7.5")) is None
    assert Origins().refusal(scope("192.168.7.5:8501", at="::ffff:192.168.7.5")) is None
    assert Origins().refusal(scope("192.168.7.6:8501", at="192.168.7.5")) is not None
    assert Origins().refusal(scope("evil.example:8501", at="192.168.7.5")) is not None


def test_named_hosts_and_the_hosts_of_named_origins_are_names() -> None:
    known = Origins.of(["Forky.Example.", "10.1.2.3"], ["https://team.example:8443"])
    for host in ("forky.example", "FORKY.example.:8501", "10.1.2.3:8501", "team.example"):
        assert known.refusal(scope(host)) is None
    assert known.refusal(scope("other.example")) is not None


def test_two_hosts_two_origins_and_none_are_refused() -> None:
    twice = scope("localhost:8501")
    twice["headers"].append((b"Host", b"evil.example"))
    assert Origins().refusal(twice) is not None
    assert Origins().refusal(scope(None)) is not None
    origins = scope("localhost:8501", origin="http://localhost:8501")
    origins["headers"].append((b"origin", b"http://evil.example"))
    assert Origins().refusal(origins) is not None


def test_a_proxy_that_ends_tls_is_told_what_to_set() -> None:
    known = Origins.of(["forky.example"])
    sentence = known.refusal(scope("forky.example", scheme="ws", origin="https://forky.example"))
    assert sentence is not None and "FORKY_ORIGINS=https://forky.example" in sentence
    named = Origins.of([], ["https://forky.example"])
    assert named.refusal(scope("forky.example", scheme="ws", origin="https://forky.example")) is None
    assert named.refusal(scope("127.0.0.1:8501", scheme="ws", origin="https://forky.example")) is None
    assert named.refusal(scope("forky.example", scheme="ws", origin="https://evil.example")) is not None


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_embeds_is_refused_and_a_link_to_forky_is_not(site: str) -> None:
    def refusal(mode: str, dest: str) -> str | None:
        return Origins().refusal(
            scope("localhost:8501", sec_fetch_site=site, sec_fetch_mode=mode, sec_fetch_dest=dest)
        )

    assert refusal("navigate", "document") is None
    assert refusal("navigate", "iframe") and refusal("no-cors", "image") and refusal("no-cors", "script")


@pytest.mark.parametrize(
    ("host", "scheme", "allowed", "seen"),
    [
        ("127.0.0.1:8501", "http", [], "http://127.0.0.1:8501"),
        ("forky.example", "https", [], "https://forky.example"),
        ("forky.example:8443", "https", [], "https://forky.example:8443"),
        ("forky.example", "http", ["https://forky.example"], "https://forky.example"),
        ("forky.example:8501", "http", ["https://forky.example"], "https://forky.example"),
        ("a.example:2", "http", ["http://a.example:1", "http://a.example:2"], "http://a.example:2"),
        ("other.example", "http", ["https://forky.example"], "http://other.example"),
    ],
)
def test_the_address_that_a_browser_sees(host: str, scheme: str, allowed: list[str], seen: str) -> None:
    door = SignIn(Origins.of((), allowed), "auto", password_file=lambda: Path("nowhere"))
    assert str(door.address(scope(host, scheme=scheme, x_forwarded_proto="https"))) == seen
