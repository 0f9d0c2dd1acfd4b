from __future__ import annotations

import re

from forky_core.merge.strategies import STRATEGIES
from pages.ui.registry import pages
from pages.ui.streamlit_patches.icons import FONT, file_name, icon_style
from pages.ui.streamlit_patches.patch import streamlit_folder
from tests.programs import CHECKOUT

MADE_OF, *NAMES = FONT.with_suffix(".txt").read_text("utf-8").split("\n")[:-1]
NAMED = re.compile(
    r':material/([a-z0-9_]{2,}):|\bicon="([a-z0-9_]+)"|fk-icon"[^<>]*>([a-z0-9_]+)<|content: "([a-z0-9_]{3,})"'
)
"""How code names an icon."""


def test_every_icon_that_a_page_names_is_in_the_font() -> None:
    files = [path for path in (CHECKOUT / "pages").rglob("*") if path.suffix in {".py", ".js", ".css"}]
    found = {name for path in files for names in NAMED.findall(path.read_text("utf-8")) for name in names}
    found |= {page.icon for page in pages()} | {one.icon for one in STRATEGIES}
    assert sorted(found - {""} - set(NAMES)) == [], "`make icons` makes the font anew"


def test_the_font_is_made_of_the_one_that_streamlit_has() -> None:
    source = MADE_OF.removeprefix("# of ")
    assert (streamlit_folder() / "static" / "static" / "media" / source).exists(), "`make icons`"
    assert FONT.stat().st_size < 60_000 and file_name() in icon_style()
