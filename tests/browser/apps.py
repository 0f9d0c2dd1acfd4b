"""What the apps of these tests share: the shell of the pages, and an address at which a test prepares its database.

`/story?by=module:function` calls that function of a test's file in the server, with the workspace. With `&anew=1` every
conversation is deleted before, so that tests share a server and each begins as with an empty database.
"""

from __future__ import annotations

from importlib import import_module

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app import ROUTES, workspace
from forky_core.forky import Forky
from forky_core.welcome import make_welcome
from tests.hangs import HANG
from tests.programs import CHECKOUT

SHELL = CHECKOUT / "pages/shell.py"


def ready(forky: Forky) -> str:
    """The ready conversation, as of the first visit."""
    return make_welcome(forky).id


def story(request: Request) -> PlainTextResponse:
    forky = workspace()
    assert isinstance(forky, Forky)
    if "anew" in request.query_params:
        for job in forky.replies.running():
            job.stop()
            job.wait(HANG)
        for one in forky.conversations():
            forky.conversation(one.id).trash()
        for one in forky.conversations(trashed=True):
            forky.purge(one.id)
    module, _, name = request.query_params["by"].partition(":")
    return PlainTextResponse(getattr(import_module(module), name)(forky))


STORIES = [*ROUTES, Route("/story", story)]
