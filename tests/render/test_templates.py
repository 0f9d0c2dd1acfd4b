"""HTML is written in templates, which escape whatever they are given; only the reading of Markdown makes markup."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from forky_core.gateway.access.ways.contract import PasswordOffer, ProvidersOffer
from forky_core.people.roles import Role
from forky_core.render.page import fragment, whole_page
from tests.programs import CHECKOUT

CORE = CHECKOUT / "forky_core"
TEMPLATES = CORE / "render" / "templates"
NAMES = sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))
TAG = re.compile(
    r"</?(?:a|article|b|body|button|div|form|h[1-6]|html|li|main|p|pre|section|span|svg|table|td|ul)[ />]"
)
READERS = ("documents/", "formats/importing/", "retrieval/guide.py")
"""What reads HTML, and so names its elements."""
EVIL = "\"><img src=x onerror=alert(1)>'<b>\u202e\x00"
OFFERS = [
    PasswordOffer(EVIL, EVIL, is_new=False),
    PasswordOffer(EVIL, EVIL, is_new=True),
    PasswordOffer(EVIL, EVIL, is_new=False, again=True, handle=EVIL),
    ProvidersOffer([(EVIL, EVIL)], is_new=True),
]
CARDS: dict[str, dict[str, Any]] = {
    "former_workspace.html": {},
    "unknown_address.html": {"front": EVIL},
    "sign_in/add.html": {"label": EVIL, "name": EVIL, "path": EVIL},
    "sign_in/added.html": {"label": EVIL, "sentence": ""},
    "sign_in/again.html": {"name": EVIL, "sentence": EVIL, "offers": OFFERS},
    "sign_in/entered.html": {"target": EVIL},
    "sign_in/join.html": {
        "host": EVIL,
        "known": EVIL,
        "role": Role.EDITOR,
        "sentence": EVIL,
        "offers": OFFERS,
    },
    "sign_in/reset.html": {"handle": EVIL, "path": EVIL, "secret": EVIL, "sentence": EVIL},
    "sign_in/secret.html": {"path": EVIL, "target": EVIL, "sentence": EVIL, "by_password": True},
    "sign_in/sign_out.html": {"path": EVIL},
    "sign_in/team.html": {"target": EVIL, "hint": EVIL, "sentence": EVIL, "offers": OFFERS},
}


def texts(path: Path) -> Iterator[str]:
    """The strings of a file that are no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    said = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in said:
            yield one.value


@pytest.mark.parametrize("name", NAMES)
def test_a_template_escapes_everything_that_it_is_given(name: str) -> None:
    text = (TEMPLATES / name).read_text("utf-8")
    assert re.findall(r"\|\s*safe|autoescape|Markup|xmlattr|\|\s*urlize", text) == []
    assert re.findall(r"\s[\w-]+='?\{\{", text) == [], "values of attributes stand in double quotes"


def test_only_the_reading_of_markdown_and_our_own_files_are_markup() -> None:
    makers = {
        path.relative_to(CORE).as_posix()
        for path in CORE.rglob("*.py")
        if "markupsafe" in path.read_text("utf-8")
    }
    assert makers == {"render/markdown.py", "render/templating.py"}
    made = re.findall(r"Markup\(([^()\n]*\(?[^()\n]*)", (CORE / "render/templating.py").read_text("utf-8"))
    assert [re.match(r"\w+", one)[0] for one in made] == ["policy", "style", "script"]  # type: ignore[index]


def test_no_page_is_written_outside_of_its_template() -> None:
    writers = {
        path.relative_to(CORE).as_posix()
        for path in CORE.rglob("*.py")
        if any(TAG.search(text) for text in texts(path))
    }
    assert {name for name in writers if not name.startswith(READERS)} == {"render/markdown.py"}


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_every_page_of_the_sign_in_is_among_these() -> None:
    pieces = {"sign_in/offers.html", "sign_in/password.html", "sign_in/pieces.html", "sign_in/providers.html"}
    assert {name for name in NAMES if name.startswith("sign_in/")} - pieces <= CARDS.keys()


@pytest.mark.parametrize("name", CARDS)
def test_a_hostile_name_is_a_name_on_every_page_before_the_app(name: str) -> None:
    page = whole_page("card", name, script_address="/sign-in/script.js", **CARDS[name])
    found = Elements(page)
    assert "img" not in found.names
    assert found.names.count("b") == (1 if name == "sign_in/reset.html" else 0)
    assert "\u202e" not in page and "\x00" not in page


def test_a_sentence_and_an_offer_are_text() -> None:
    for page in (
        whole_page("sentence", sentence=EVIL, back=EVIL),
        fragment("parts.html", "fork_offer", EVIL),
    ):
        assert not {"img", "b"} & set(Elements(page).names)


def test_a_value_that_is_missing_is_an_error_and_not_an_empty_place() -> None:
    with pytest.raises(Exception, match="'sentence' is undefined"):
        whole_page("sentence", back="")
