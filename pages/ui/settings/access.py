"""The part of Settings about who can open Forky in a browser."""

from __future__ import annotations

import streamlit as st

from forky_core.gateway.access.door import OUT, Door
from forky_core.gateway.access.sign_in import SignIn
from pages.ui.sign_in import SIGN_IN


def draw_access(sign_in: Door = SIGN_IN) -> None:
    """Draw it on the server of one person; on a team's server the People page says who can come in."""
    if not isinstance(sign_in, SignIn):
        return
    st.markdown("## Who can come in")
    st.caption(described(sign_in))
    if sign_in.mode != "off" and (sign_in.exposed or sign_in.mode == "always"):
        st.markdown(f"[Sign out of this browser]({OUT})")


def described(sign_in: SignIn) -> str:
    """Say in Markdown who can open Forky now, and how to change that."""
    if sign_in.mode == "off":
        who = "`FORKY_SIGN_IN` is off: everybody who reaches this port can read and change everything here."
        return who if sign_in.exposed else f"{who} It is open to this computer only."
    if sign_in.mode == "auto" and not sign_in.exposed:
        return (
            "Browsers and programs of this computer. Start Forky with `FORKY_SIGN_IN=always` "
            "where others use this computer, too: it then asks them to sign in."
        )
    way = (
        "the password (`python -m forky_core password` changes it)"
        if sign_in.uses_password
        else "the address that is printed at the start (`python -m forky_core password` sets a password instead)"
    )
    browsers = len(sign_in.sessions)
    many = "1 browser is" if browsers == 1 else f"{browsers} browsers are"
    return f"Everybody who has {way}. {many} signed in. After a restart everybody signs in again."
