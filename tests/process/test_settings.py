from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.model.errors import RequestError
from forky_core.process.settings import GONE, LogSettings, Settings, data_folder, gone_settings


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


def test_a_server_names_its_workspace_and_a_file_is_the_one_of_its_name() -> None:
    on_server = {"FORKY_DATABASE": "postgresql:///forky"}
    assert Settings.from_environment({}).workspace == "main"
    assert Settings.from_environment(on_server).workspace == "main"
    assert Settings.from_environment(on_server | {"FORKY_WORKSPACE": "research"}).workspace == "research"
    former = {"FORKY_DATABASE": "/data/workspaces/0123456789abcdef.duckdb"}
    assert Settings.from_environment(former).workspace == "0123456789abcdef"


def test_looking_for_servers_can_be_switched_off() -> None:
    assert not Settings.from_environment({"FORKY_PROBE": "off"}).probe


@pytest.mark.parametrize(
    ("value", "log"),
    [
        ("", None),
        ("json", LogSettings("json", "info")),
        ("Plain:Debug", LogSettings("plain", "debug")),
        ("off", LogSettings("off", "info")),
    ],
)
def test_a_log_has_a_form_and_a_level(value: str, log: LogSettings | None) -> None:
    assert Settings.from_environment({"FORKY_LOG": value}).log == log


def test_what_is_slow_can_be_set_one_by_one() -> None:
    assert Settings.from_environment({"FORKY_SLOW": "page=0.5, commit=2"}).slow == {
        "page": 0.5,
        "commit": 2.0,
    }
    assert Settings.from_environment({}).slow == {}


@pytest.mark.parametrize("value", ["page", "page=", "page=-1", "pages=1", "page=soon", "page=nan"])
def test_what_is_slow_wants_a_name_and_seconds(value: str) -> None:
    with pytest.raises(RequestError, match="FORKY_SLOW"):
        Settings.from_environment({"FORKY_SLOW": value})


@pytest.mark.parametrize(("value", "metrics"), [("", None), ("on", True), ("off", False)])
def test_metrics_are_for_this_machine_for_others_or_for_nobody(value: str, metrics: bool | None) -> None:
    assert Settings.from_environment({"FORKY_METRICS": value}).metrics is metrics


@pytest.mark.parametrize("name", GONE)
def test_a_setting_that_is_gone_changes_nothing_and_a_sentence_says_so(name: str) -> None:
    assert Settings.from_environment({name: "something"}) == Settings.from_environment({})
    (told,) = gone_settings({name: "something", "FORKY_MODEL": "house/echo"})
    assert told == f"{name} is set, and has no effect. {GONE[name]}"
    assert gone_settings({name: ""}) == ()
