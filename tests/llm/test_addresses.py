"""Which addresses may be asked, however they are spelled."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest

from forky_core.llm.addresses import (
    NAMED,
    PUBLIC,
    AddressRefused,
    Network,
    checked_url,
    is_this_machine,
    network_of,
    permitted,
    resolved,
    system_resolver,
    without_password,
    written_network,
)
from forky_core.model.errors import BadContent
from tests.loops import finished

LOOPBACK = ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]
PRIVATE = [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.20",
    "100.64.0.1",
    "198.18.0.1",
    "fc00::1",
    "fd12:3456::1",
    "::ffff:10.0.0.1",
    "2002:c0a8:114::",
]
PUBLIC_ONES = ["1.1.1.1", "172.32.0.1", "100.128.0.1", "203.0.113.5", "2606:4700::1", "64:ff9b::101:101"]
REFUSED = [
    "0.0.0.0",  # noqa: S104 - refused, not bound
    "0.1.2.3",
    "169.254.169.254",
    "169.254.170.2",
    "192.0.0.192",
    "100.100.100.200",
    "168.63.129.16",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "fe80::1",
    "fe80::a9fe:a9fe%eth0",
    "fec0::1",
    "ff02::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:42::42",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "no address",
]


@pytest.mark.parametrize(
    ("address", "network"),
    [
        *((address, "loopback") for address in LOOPBACK),
        *((address, "private") for address in PRIVATE),
        *((address, "public") for address in PUBLIC_ONES),
        *((address, "refused") for address in REFUSED),
    ],
)
def test_every_address_belongs_to_one_network(address: str, network: Network) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        (" HTTPS://Models.Example.COM:443/v1/ ", "https://models.example.com:443/v1"),
        ("localhost.", "http://localhost"),
        ("2130706433", "http://127.0.0.1"),
        ("0x7f000001:80", "http://127.0.0.1:80"),
        ("0x7f.1", "http://127.0.0.1"),
        ("0177.0.0.1/v1", "http://127.0.0.1/v1"),
        ("127.1", "http://127.0.0.1"),
        ("3232235796", "http://192.168.1.20"),
        ("http://[0:0:0:0:0:0:0:1]:3/v1", "http://[::1]:3/v1"),
        ("my_ollama:11434", "http://my_ollama:11434"),
    ],
)
def test_a_url_is_spelled_in_the_usual_way(typed: str, url: str) -> None:
    assert checked_url(typed) == url


@pytest.mark.parametrize(
    "typed",
    [
        "169.254.169.254",
        "http://169.254.169.254./latest/meta-data",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.16689662",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://[::]:8000/",
        "0",
        "0.0.0.0:8000",
        "255.255.255.255",
        "224.0.0.251",
        "100.100.100.200",
        "metadata.google.internal",
        "http://METADATA.google.internal./computeMetadata/v1",
        "instance-data",
    ],
)
def test_a_metadata_or_link_local_address_is_refused_in_every_spelling(typed: str) -> None:
    with pytest.raises(AddressRefused, match="sends nothing to"):
        checked_url(typed)


@pytest.mark.parametrize(
    "typed",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_x",
        "http+unix://%2Fvar%2Frun%2Fdocker.sock/v1",
        "http://127.0.0.1@169.254.169.254/v1",
        "http://127.0.0.1\\@169.254.169.254/v1",
        "http://127.0.0.1:0/v1",
        "http://127.0.0.1:65536/v1",
        "http://[fe80::1%25eth0]/",
        "http://[::1%lo]/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://host.7/",
        "http://%31%32%37.0.0.1/",
        "http://a..b/",
        "http://.",
        "http://[v1.x]/",
        "http://127。0。0。1/",
        "http://a\tb/",
        "http://" + "a." * 200 + "b",
    ],
)
def test_what_programs_could_read_in_two_ways_is_no_address(typed: str) -> None:
    with pytest.raises(BadContent):
        checked_url(typed)


def test_a_password_may_stand_in_the_environment_and_is_not_shown() -> None:
    url = checked_url("http://me:secret@models.test/v1", may_hold_password=True)
    assert url == "http://me:secret@models.test/v1"
    assert without_password(url) == "http://models.test/v1"
    with pytest.raises(AddressRefused):
        checked_url("http://me:secret@169.254.169.254/", may_hold_password=True)


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("127.0.0.1", "loopback"),
        ("192.168.1.20", "private"),
        ("nas.local", "private"),
        ("1.1.1.1", "public"),
        ("metadata.goog", "refused"),
        ("localhost", None),
        ("models.example.com", None),
        ("local", None),
    ],
)
def test_what_a_host_says_by_its_spelling(host: str, network: Network | None) -> None:
    assert written_network(host) == network


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost:1/v1", True),
        ("http://ollama.localhost/v1", True),
        ("http://[::1]/v1", True),
        ("http://localhost.example.com/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_this_machine_is_known_by_its_names(url: str, near: bool) -> None:
    assert is_this_machine(url) is near


def allowed(reach: frozenset[Network], *addresses: str) -> tuple[str, ...]:
    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return addresses

    return finished(permitted("name.test", 80, reach, resolve))


def test_addresses_outside_the_agreed_networks_are_left_out() -> None:
    assert allowed(PUBLIC, "169.254.169.254", "203.0.113.5", "10.0.0.1", "127.0.0.1") == ("203.0.113.5",)
    assert allowed(NAMED, "fe80::1%eth0", "192.168.1.20") == ("192.168.1.20",)


def test_a_name_that_leads_only_to_refused_addresses_is_refused() -> None:
    with pytest.raises(AddressRefused, match="link-local"):
        allowed(NAMED, "169.254.169.254", "fe80::1%eth0")
    with pytest.raises(AddressRefused, match="link-local"):
        allowed(NAMED)


def test_a_public_name_that_moves_into_a_private_network_must_be_agreed_to_again() -> None:
    with pytest.raises(AddressRefused, match="nobody has agreed"):
        allowed(PUBLIC, "192.168.1.20")


def test_a_refused_name_is_not_even_resolved() -> None:
    async def never(_host: str, _port: int) -> Sequence[str]:
        raise AssertionError

    assert finished(resolved("Metadata.Google.Internal.", 80, never)) == ()


def test_a_name_that_cannot_be_encoded_has_no_address() -> None:
    with pytest.raises(OSError, match="label"):
        finished(resolved("a" * 64 + ".test", 80, system_resolver))


def test_this_machine_resolves_localhost_to_itself() -> None:
    addresses = finished(resolved("localhost", 80))
    assert addresses and {network_of(address) for address in addresses} == {"loopback"}


def test_a_usual_url_is_read_alike_by_the_http_client() -> None:
    import httpx  # noqa: PLC0415

    for typed in ("0x7f.1:80/v1", "localhost.:1", "[::FFFF:10.0.0.1]/v1", "Models.Example.COM/x"):
        url = checked_url(typed)
        assert httpx.URL(url).host == urlsplit(url).hostname
