"""Saved web pages of shared ChatGPT conversations, as far as their scripts hold the tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forky_core.formats.contract import ParsedConversation
from forky_core.formats.files.source import opened, sample
from forky_core.formats.importing.readers import share_pages
from forky_core.formats.importing.readers.share_pages import UNKNOWN, SharePage
from forky_core.formats.registry import importer_for
from forky_core.formats.tree import build_tree
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json
from tests.formats.sources import one, read, written

SHARE = "0190aaaa-bbbb-cccc-dddd-eeeeffff0000"


def spoken(id: str, parent: str | None, role: str, text: str) -> Json:
    content = {"content_type": "text", "parts": [text]}
    return {
        "id": id,
        "parent": parent,
        "children": [],
        "message": {"author": {"role": role}, "content": content},
    }


NODES = {
    "r": {"id": "r", "parent": None, "children": ["q"], "message": None},
    "q": spoken("q", "r", "user", "Longest river? </script> “é”"),
    "a": spoken("a", "q", "assistant", "Nile"),
    "b": spoken("b", "q", "assistant", "Amazon"),
}
CHAT: dict[str, Json] = {"title": "Rivers", "create_time": 1.7e9, "mapping": NODES, "current_node": "a"}


def page(script: str) -> str:
    address = f'<link rel="canonical" href="https://chatgpt.com/share/{SHARE}">'
    return f'<!DOCTYPE html><html lang="en"><head>{address}</head><body>{script}</body></html>'


def flat(value: Json) -> list[Json]:
    """As the page's build writes it: every value once, objects and arrays naming theirs by place."""
    places: list[Json] = []
    known: dict[str, int] = {}

    def place(one: Json) -> int:
        if one is None:
            return -5
        key = json.dumps(one)
        if key in known:
            return known[key]
        at = known[key] = len(places)
        places.append(None)
        if isinstance(one, dict):
            places[at] = {f"_{place(name)}": place(inner) for name, inner in one.items()}
        else:
            places[at] = [place(inner) for inner in one] if isinstance(one, list) else one
        return at

    place(value)
    return places


def whole(value: Json) -> str:
    data = json.dumps({"props": {"pageProps": {"serverResponse": {"data": value}}}}).replace("<", "\\u003c")
    return page(f'<script id="__NEXT_DATA__" type="application/json">{data}</script>')


def in_pieces(places: list[Json]) -> str:
    text = json.dumps(places) + "\nP1:[]\n"
    pieces = (text[at : at + 100] for at in range(0, len(text), 100))
    calls = (json.dumps(piece).replace("<", "\\u003c") for piece in pieces)
    return page(
        "".join(
            f"<script>window.__reactRouterContext.streamController.enqueue({call})</script>" for call in calls
        )
    )


LOADED = {"loaderData": {"routes/share": {"serverResponse": {"type": "data", "data": CHAT}}}, "errors": None}


@pytest.mark.parametrize("text", [whole(CHAT), in_pieces(flat(LOADED))], ids=["one value", "places"])
def test_every_branch_of_a_saved_share_page_comes(tmp_path: Path, text: str) -> None:
    found = one(SharePage(), written(tmp_path, text, "Rivers.html"))
    assert (found.title, found.source_id, found.current) == ("Rivers", SHARE, "a")
    tree = build_tree(found)
    assert [message.text for message in tree.messages] == ["Longest river? </script> “é”", "Nile", "Amazon"]
    assert (len(tree.kept), tree.account.adds_up) == (1, True)


def test_a_page_with_its_line_of_messages_only_is_a_chain(tmp_path: Path) -> None:
    line = [NODES["r"], NODES["q"], NODES["a"]]
    text = whole({"title": "Rivers", "linear_conversation": line, "conversation_id": "c"})
    found = one(SharePage(), written(tmp_path, text, "Rivers.html"))
    assert found.source_id == "c"
    assert len(build_tree(found).messages) == 2


@pytest.mark.parametrize(
    "script", ["", '<script id="__NEXT_DATA__">{"props":</script>', 'streamController.enqueue("[]")']
)
def test_a_page_of_another_form_says_so(tmp_path: Path, script: str) -> None:
    with pytest.raises(BadContent, match=UNKNOWN):
        list(read(SharePage(), written(tmp_path, page(script), "a.html")))


def test_places_that_lead_in_circles_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_pages, "_MOST", 10_000)
    circle: list[Any] = [[0, 0, 0]]
    with pytest.raises(BadContent, match="far too much"):
        list(read(SharePage(), written(tmp_path, in_pieces(circle), "a.html")))
    flat = in_pieces([{"_1": 0, "_x": 1, "_-1": 0}, "mapping"])
    assert isinstance(one(SharePage(), written(tmp_path, flat, "b.html")), ParsedConversation)


def test_it_is_known_by_its_address_and_no_other_page_is(tmp_path: Path) -> None:
    def name(text: str) -> str | None:
        with opened(written(tmp_path, text, "a.html")) as archive:
            found = importer_for(sample(archive.documents[0]))
        return found.name if found is not None else None

    assert name(whole(CHAT)) == "chatgpt-share"
    assert name("<html><body>nothing</body></html>") != "chatgpt-share"
