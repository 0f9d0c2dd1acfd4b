"""The file that names identity providers."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.gateway.access.ways.oidc_providers import read_providers
from forky_core.model.errors import RequestError
from forky_core.model.parts import Json
from forky_core.people.roles import Role

PROVIDER = '[[provider]]\nname = "work"\nissuer = "https://id.example"\nclient_id = "forky"\n'


def written(folder: Path, text: str) -> Path:
    file = folder / "providers.toml"
    file.write_text(text, "utf-8")
    return file


def test_a_provider_needs_three_lines(tmp_path: Path) -> None:
    (provider,) = read_providers(written(tmp_path, PROVIDER))
    assert (provider.label, provider.client_secret, provider.role, provider.rules) == ("work", "", None, None)
    assert provider.scopes == ("openid", "profile", "email")


def test_secrets_come_from_the_environment_and_are_never_printed(tmp_path: Path) -> None:
    file = written(tmp_path, f'{PROVIDER}client_secret_env = "WORK_SECRET"\n')
    (provider,) = read_providers(file, {"WORK_SECRET": "hush"})
    assert provider.client_secret == "hush" and "hush" not in repr(provider)
    with pytest.raises(RequestError, match="WORK_SECRET, which is not set"):
        read_providers(file, {})


def test_the_highest_role_that_a_rule_gives_counts(tmp_path: Path) -> None:
    rules = '[provider.rules]\nclaim = "groups"\neditor = ["staff"]\nviewer = ["staff", "guests"]\n'
    (provider,) = read_providers(written(tmp_path, f'{PROVIDER}role = "commenter"\n{rules}'))
    assert provider.role is Role.COMMENTER and provider.rules is not None
    claims: list[dict[str, Json]] = [
        {"groups": ["guests", "staff"]},
        {"groups": "guests"},
        {"groups": [7, None]},
        {"groups": {}},
        {},
    ]
    assert [provider.rules.role(one) for one in claims] == [
        Role.EDITOR,
        Role.VIEWER,
        Role.NONE,
        Role.NONE,
        Role.NONE,
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "is no TOML"),
        ("", "should hold"),
        (f"{PROVIDER}\n[other]\n", "should hold"),
        (PROVIDER + PROVIDER, "the same name"),
        (PROVIDER.replace('"work"', '"Work/x"'), "cannot be a provider's name"),
        (PROVIDER.replace("https", "http"), "no https"),
        (PROVIDER.replace("client_id", "clientid"), "“clientid”"),
        (PROVIDER.replace('client_id = "forky"', ""), "“client_id”"),
        (f'{PROVIDER}role = "king"', "“king” is no role"),
        (f'{PROVIDER}scopes = ["email"]', "openid"),
        (f'{PROVIDER}[provider.rules]\nclaim = "groups"\nking = ["x"]', "The roles are"),
        (f'{PROVIDER}[provider.rules]\nclaim = "groups"\neditor = "x"', "a list of values"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RequestError, match=r"providers\.toml") as error:
        read_providers(written(tmp_path, text))
    assert said in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        read_providers(tmp_path / "nowhere.toml")
