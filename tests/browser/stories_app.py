"""The app with one more address: `/anew` deletes every conversation and makes the ready one again.

So the stories of a file share a server, and each of them begins as with an empty database.
"""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from app import MIDDLEWARE, ROUTES, lifespan, workspace  # noqa: E402 - the line above makes it importable
from forky_core.welcome import make_welcome  # noqa: E402


def anew(_request: Request) -> PlainTextResponse:
    forky = workspace()
    for one in forky.conversations():
        forky.conversation(one.id).trash()
    for one in forky.conversations(trashed=True):
        forky.purge(one.id)
    return PlainTextResponse(make_welcome(forky).id)


app = st.App(
    CHECKOUT / "pages/shell.py",
    routes=[*ROUTES, Route("/anew", anew)],
    middleware=MIDDLEWARE,
    lifespan=lifespan,
)
