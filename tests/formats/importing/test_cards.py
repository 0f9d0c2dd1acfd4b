"""Character cards, in JSON and in pictures; Open WebUI's database."""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.formats.importing.landing import import_file, preview
from forky_core.formats.importing.readers.character_cards import CharacterCard
from forky_core.formats.importing.readers.open_webui import OpenWebUI
from forky_core.formats.tree import build_tree
from forky_core.model.parts import Json
from tests.formats.importing.test_trees import WEBUI_TREE, live
from tests.formats.sources import one, packed, written

CARD: Json = {
    "spec": "chara_card_v2",
    "data": {
        "name": "Sage",
        "description": "{{char}} knows rivers.",
        "first_mes": "I am {{char}}. Ask.",
        "alternate_greetings": ["Well met."],
        "creator": "Ann",
    },
}


def chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)


def picture(**texts: bytes) -> bytes:
    """A PNG of one pixel, its text chunks behind the pixel as SillyTavern writes them."""
    head = chunk(b"IHDR", bytes.fromhex("00000001000000010800000000"))
    said = (chunk(b"tEXt", keyword.encode() + b"\0" + text) for keyword, text in texts.items())
    pixel = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + head + pixel + b"".join(said) + chunk(b"IEND", b"")


def encoded(value: Json) -> bytes:
    return base64.b64encode(json.dumps(value).encode())


def webui_database(path: Path, *, broken: bool = False) -> Path:
    (row,) = WEBUI_TREE
    assert isinstance(row, dict)
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE auth (id TEXT, password TEXT)")
        database.execute("CREATE TABLE user (id TEXT, email TEXT, api_key TEXT)")
        database.execute(
            "CREATE TABLE chat (id TEXT, user_id TEXT, title TEXT, chat TEXT, created_at BIGINT)"
        )
        database.execute("INSERT INTO user VALUES ('u', 'ann@example.com', 'sk-secret')")
        given = ("c", "u", "Rivers", json.dumps(row["chat"]), 1_700_000_000)
        database.execute("INSERT INTO chat VALUES (?, ?, ?, ?, ?)", given)
        if broken:
            database.execute("INSERT INTO chat VALUES ('d', 'u', 'Broken', '{', 1700000001)")
    database.close()
    return path


@pytest.mark.parametrize("kind", ["json", "png"])
def test_a_cards_greetings_are_siblings_below_its_description(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"card.{kind}"
    path.write_bytes(picture(chara=encoded(CARD)) if kind == "png" else json.dumps(CARD).encode())
    tree = build_tree(one(CharacterCard(), path))
    assert live(tree) == [("assistant", "I am Sage. Ask.")]
    assert {(m.text, m.name, m.parents) for m in tree.messages} == {
        ("I am Sage. Ask.", "Sage", ()),
        ("Well met.", "Sage", ()),
    }
    assert (tree.found.title, tree.found.system) == ("Sage", "Sage knows rivers.")
    assert tree.account.adds_up


def test_the_newer_card_of_a_picture_is_read(tmp_path: Path) -> None:
    newer = {"spec": "chara_card_v3", "data": {"name": "Newer", "first_mes": "Hello"}}
    path = tmp_path / "card.png"
    path.write_bytes(picture(chara=encoded(CARD), ccv3=encoded(newer)))
    assert one(CharacterCard(), path).title == "Newer"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (picture(chara=b"%%%"), "The card in the picture is damaged."),
        (picture(), "Its format is not known."),
        (picture(chara=encoded(CARD))[:60], "Its format is not known."),
    ],
)
def test_a_picture_without_a_whole_card_is_told(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "card.png"
    path.write_bytes(content)
    with Forky.open(":memory:") as forky:
        (line,) = preview(forky, path)
    assert line.problem == why


def test_pictures_of_an_archive_are_no_cards(tmp_path: Path) -> None:
    path = packed(tmp_path, {"export.json": json.dumps(WEBUI_TREE), "file.png": picture(chara=encoded(CARD))})
    with Forky.open(":memory:") as forky:
        assert [line.title for line in preview(forky, path)] == ["Rivers"]


def test_open_webuis_database_is_read_as_its_export(tmp_path: Path) -> None:
    database = webui_database(tmp_path / "webui.db", broken=True)
    with Forky.open(":memory:") as forky:
        done = import_file(forky, database)
        assert [problem.label for problem in done.problems] == ["Broken"]
        assert done.account.adds_up
        again = import_file(forky, written(tmp_path, WEBUI_TREE))
        assert (again.unchanged, again.conversations) == (1, ()), (
            "the export of the same chat is the same chat"
        )
        rows = [str(value) for _, value in forky.store.entries("origin").items()]
        assert not any("ann@example.com" in row or "sk-secret" in row for row in rows)
    assert OpenWebUI.name == "open-webui"
