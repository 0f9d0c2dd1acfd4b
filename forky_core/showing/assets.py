"""The style and the script of each document, and the policy that lets them run and nothing else.

Nothing but the standard library and the inks is imported: the front door asks for the hashes when the server starts.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Literal

from forky_core.layout.inks import ink_css

Kind = Literal["present", "replay"]
KINDS: tuple[Kind, ...] = ("present", "replay")


@cache
def shared_style() -> str:
    """The style of all documents: the colours of branches among it."""
    return _file("base.css") + ink_css()


@cache
def style(kind: Kind) -> str:
    return shared_style() + _file(f"{kind}.css")


@cache
def script(kind: Kind) -> str:
    """The text of the only script that the document runs."""
    return f'"use strict";\n(() => {{\n{_file("base.js")}\n{_file(f"{kind}.js")}\n}})();\n'


def policy(kind: Kind, *, served: bool) -> str:
    """The Content-Security-Policy that the document states itself.

    A document that a server handed out may ask that server, to follow a presenter; one in a file asks nobody.
    """
    connections = "connect-src 'self'; " if served else ""
    return (
        f"default-src 'none'; script-src '{source_hash(script(kind))}'; style-src '{source_hash(style(kind))}'; "
        f"img-src data:; {connections}base-uri 'none'; form-action 'none'"
    )


def script_sources() -> tuple[str, ...]:
    """The sources of the scripts of both documents, for the policy that a server sends with every response."""
    return tuple(f"'{source_hash(script(kind))}'" for kind in KINDS)


def source_hash(text: str) -> str:
    """The name of a style or script in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _file(name: str) -> str:
    return files("forky_core.showing").joinpath(name).read_text("utf-8")
