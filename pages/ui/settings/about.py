"""The end of the Settings page: looks and versions."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib import metadata

import streamlit as st


def draw_about() -> None:
    st.markdown("## Looks")
    st.caption(
        "Light or dark follows your system, unless you choose one by the sign ◐ at the top right of every page."
    )
    st.markdown("## About")
    st.caption(f"Forky {version('forky')} · Python {platform.python_version()} · {_parts()} · MIT licence")


@lru_cache
def version(package: str) -> str:
    """Return the version of an installed package; Forky in a checkout is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "from a checkout"


def _parts() -> str:
    return " · ".join(
        f"{name} {version(package)}"
        for name, package in (("Streamlit", "streamlit"), ("DuckDB", "duckdb"), ("LiteLLM", "litellm"))
    )
