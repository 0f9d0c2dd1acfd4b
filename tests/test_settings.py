from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.errors import RequestError
from forky_core.settings import Settings, data_folder


def test_an_empty_environment_gives_the_users_data_folder() -> None:
    settings = Settings.from_environment({})
    assert settings.database == data_folder() / "forky.duckdb"
    assert settings.probe
    assert settings.servers == ()


@pytest.mark.parametrize("place", [":memory:", "postgresql://user@host/db"])
def test_a_database_that_is_no_file_stays_as_it_is(place: str) -> None:
    assert Settings.from_environment({"FORKY_DATABASE": place}).database == place


def test_a_home_folder_is_expanded() -> None:
    database = Settings.from_environment({"FORKY_DATABASE": "~/chats.duckdb"}).database
    assert database == Path.home() / "chats.duckdb"


def test_servers_are_separated_by_commas_or_spaces() -> None:
    settings = Settings.from_environment({"FORKY_SERVERS": "http://a:1/v1/, https://b/v1  http://c:3"})
    assert settings.servers == ("http://a:1/v1", "https://b/v1", "http://c:3")


@pytest.mark.parametrize(("name", "value"), [("FORKY_SERVERS", "ftp://a"), ("FORKY_PROBE", "perhaps")])
def test_what_cannot_be_understood_is_named(name: str, value: str) -> None:
    with pytest.raises(RequestError, match=name):
        Settings.from_environment({name: value})


def test_looking_for_servers_can_be_switched_off() -> None:
    assert not Settings.from_environment({"FORKY_PROBE": "off"}).probe
