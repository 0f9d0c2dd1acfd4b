"""The frame of both documents: the policy, the style and the script of one self-contained file."""

from __future__ import annotations

from forky_core.showing.assets import Kind, policy, script, style
from forky_core.showing.escaping import data_block, safe
from forky_core.views.shelf import title_or_placeholder

SERVED = "served"
"""The id of the block in which a server tells the document about itself. A file has none."""


def head(kind: Kind, title: str, *, served: bool) -> str:
    """Everything up to the contents of the body."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(kind, served=served)}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">\n'
        f"<title>{safe(title_or_placeholder(title))}</title>\n<style>{style(kind)}</style></head>\n"
        f'<body class="{kind}">\n'
    )


def foot(kind: Kind) -> str:
    """Everything after the contents of the body."""
    return f"<script>{script(kind)}</script></body></html>\n"


def with_served(page: str, told: dict[str, str | bool]) -> str:
    """The page with addresses of its server put in, by their names."""
    before, mark, after = page.partition("<body")
    opening, end, rest = after.partition(">\n")
    return f"{before}{mark}{opening}{end}{data_block(SERVED, dict(told))}{rest}"
