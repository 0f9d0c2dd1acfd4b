"""A font with the icons that Forky's pages and Streamlit's scripts name: a tenth of the size of Streamlit's own.

Streamlit's has four thousand icons, 375 kB that load over a slow line in the moment in which the messages appear. `make
icons` makes this one of it; a test finds an icon that is missing. The page declares it under the same name, and a
script (first_paint.py) takes the declaration of Streamlit's away, since browsers would load both.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

FONT = Path(__file__).with_name("icons.woff2")


@cache
def file_name() -> str:
    """Return the name under which the font is served, which changes with its content."""
    return f"forky-icons.{hashlib.blake2b(FONT.read_bytes(), digest_size=6).hexdigest()}.woff2"


@cache
def icon_style() -> str:
    """Return the HTML that declares the font; "" where an installed package may name icons that it has not."""
    if any(entry_points(group=group) for group in ("forky.pages", "forky.strategies")):
        return ""
    return (
        '<style id="fk-icons">@font-face{font-family:"Material Symbols Rounded";font-weight:400;font-display:block;'
        f"src:url(./static/media/{file_name()})}}</style>"
    )
