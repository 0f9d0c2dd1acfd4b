"""Every page: what lies in pages/ and has a head, and what installed packages add.

A package of somebody else adds a page by an entry point of the group `forky.pages` that names a `Page` with its script.
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from forky_core.process.plugins import Registry
from pages.ui.page import Page
from pages.ui.sign_in import team

_HEAD = re.compile(r"^PAGE = (Page\(.*?\))$", re.DOTALL | re.MULTILINE)
_ADDRESS = re.compile(r"[\w-]+", re.ASCII)
_ICON = re.compile(r"[a-z0-9_]+")


def pages() -> tuple[Page, ...]:
    """Every page that this server has, in the order of the navigation."""
    here = (page for page in REGISTRY if team() is not None or not page.of_team)
    return tuple(sorted(here, key=lambda page: page.order))


def front_page() -> Page:
    """The page that opens at the app's own address."""
    return REGISTRY.ours[0]


def pages_in(folder: Path) -> tuple[Page, ...]:
    """The pages whose files lie in a folder, by their order."""
    found = (head_of(script) for script in sorted(folder.glob("*.py")))
    return tuple(sorted((page for page in found if page is not None), key=lambda page: page.order))


def head_of(script: Path) -> Page | None:
    """The head of a page, read without running its file; None for a file that has none, such as shell.py.

    Raises:
        ValueError: a field of the head is no constant.
        TypeError: the head has a field that `Page` does not have, or lacks one.
    """
    found = _HEAD.search(script.read_text("utf-8"))
    if found is None:
        return None
    call = _parsed(found[1])
    fields = {field.arg or "": ast.literal_eval(field.value) for field in call.keywords}
    return replace(Page(**fields), script=script)


def _parsed(head: str) -> ast.Call:
    """In Python 3.11 parsing can fail where another thread parses meanwhile (CPython's issue 106905)."""
    for _ in range(9):
        with suppress(SystemError):
            call = ast.parse(head, mode="eval").body
            break
    else:
        call = ast.parse(head, mode="eval").body
    assert isinstance(call, ast.Call)
    return call


def _check(page: Page) -> None:
    """Streamlit refuses to draw any page where one of them cannot be."""
    if page.script is None or not page.script.is_file():
        raise ValueError(f"The page “{page.title}” has no script.")
    if _ADDRESS.fullmatch(page.name) is None:
        raise ValueError(f"“{page.name}” is no address of a page.")
    if _ICON.fullmatch(page.icon) is None:
        raise ValueError(f"“{page.icon}” is no name of an icon.")


REGISTRY = Registry("forky.pages", Page, pages_in(Path(__file__).resolve().parents[1]), register=_check)
