"""The style and the script of each kind of page, and the policy that allows only these.

This module imports only the standard library and the inks, because the server needs the hashes as soon as it starts.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from forky_core.views.layout.inks import ink_css

Kind = Literal["present", "replay", "report", "conversation", "sentence", "card"]
_SCRIPTS: Mapping[Kind, tuple[str, ...]] = {
    "present": ("base.js", "present.js"),
    "replay": ("base.js", "replay.js"),
    "conversation": ("conversation.js",),
}
SHOWN: tuple[Kind, ...] = ("present", "replay")
"""The kinds whose scripts run on a page that the app serves under its own policy."""


@cache
def style(kind: Kind) -> str:
    """Return the style sheet of all pages, followed by that of this kind."""
    return asset("style.css") + ink_css() + asset(f"{kind}.css")


@cache
def script(kind: Kind) -> str:
    """Return the only script that a page of this kind runs; "" if it runs none."""
    if kind not in _SCRIPTS:
        return ""
    inside = "\n".join(map(asset, _SCRIPTS[kind]))
    return f'"use strict";\n(() => {{\n{inside}\n}})();\n'


def policy(kind: Kind, *, scripts: bool = True, served: bool = False) -> str:
    """Return the Content-Security-Policy that the page itself declares.

    A page that is `served` may call its own server, to follow a presenter, and load the app's type from it; a page in a
    file may call nobody.
    """
    allowed = [f"script-src '{source_hash(script(kind))}'"] if scripts and script(kind) else []
    allowed.append(f"style-src '{source_hash(style(kind))}'")
    allowed += ["img-src data:"] if kind != "sentence" else []
    allowed += ["connect-src 'self'", "font-src 'self'"] if served else []
    return "; ".join(("default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"))


def script_sources() -> tuple[str, ...]:
    """Return the script sources of the kinds in SHOWN, for the policy that a server sends with every response."""
    return tuple(f"'{source_hash(script(kind))}'" for kind in SHOWN)


def source_hash(text: str) -> str:
    """Return the hash that names a style or script in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def asset(name: str) -> str:
    """Read a style sheet or a script of this folder."""
    return files("forky_core.render").joinpath(name).read_text("utf-8")
