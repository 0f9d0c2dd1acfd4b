"""Serves streamlit-agraph's own page, which the graph puts into a frame, without registering a component for it.

`declare_component` would look up the source of every module for the component's name, which takes 0.1 to 0.2 seconds,
and is heard only while a page runs.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from pages.ui.streamlit_patches.patch import package_folder


def agraph_folder() -> Path:
    """The folder of the page with its scripts. The package is found, not imported: that would declare its component."""
    return package_folder("streamlit_agraph") / "frontend" / "build"


def agraph_route() -> Mount:
    """The route of `app.py` that serves it."""
    return Mount(_path(), app=StaticFiles(directory=agraph_folder()))


def agraph_url() -> str:
    """The address of the page, from the root of this server."""
    return f"{_path()}/index.html"


def _path() -> str:
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}/agraph" if base else "/agraph"
