"""Patches of Streamlit in tests: a patch that FORKY_STREAMLIT_PATCHES switches off is not applied here either."""

from __future__ import annotations

from typing import Any

from pages.ui.streamlit_patches.patch import Patch
from pages.ui.streamlit_patches.patches import PATCHES, is_on


def patch_named(name: str) -> Patch:
    return next(patch for patch in PATCHES if patch.name == name)


def apply_patch(*names: str) -> None:
    """Apply these patches, of those that are switched on."""
    for name in names:
        if is_on(name):
            patch_named(name).apply()


def behind(name: str, app: Any) -> Any:
    """An ASGI application behind the middleware of a patch; the application itself where the patch is switched off."""
    made = patch_named(name).middleware() if is_on(name) else None
    return made.cls(app, *made.args, **made.kwargs) if made is not None else app
