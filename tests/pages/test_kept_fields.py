"""What people write at length is kept by their browser (pages/ui/keeping/fields.py)."""

from __future__ import annotations

from tests.programs import CHECKOUT

OTHERS = {
    "chat/composer.py",  # has a keeping of its own, with files and a line of what waits
    "people/spending_dialogs.py",  # a line of model names
}


def test_every_field_of_several_lines_is_kept_by_the_browser() -> None:
    pages = CHECKOUT / "pages" / "ui"
    texts = {str(path.relative_to(pages)): path.read_text("utf-8") for path in pages.rglob("*.py")}
    fields = {name for name, text in texts.items() if "text_area(" in text}
    assert len(fields) > 10
    assert {name for name in fields if "kept_fields(" not in texts[name]} <= OTHERS
