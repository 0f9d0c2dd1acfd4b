"""The front door: one process, one port, one writer of the database. `streamlit run app.py` finds `app`.

The pages, /healthz and /v1 share this process, so that there is one writer (facts of DuckDB) and one
place that says what a browser may load. The frame of the pages is pages/shell.py and not this file: Streamlit's old
router wakes up where a folder `pages/` lies beside the main script.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Route

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))
# Streamlit adds the folder of a running page and takes it away again, unless it is there. An import in another thread
# that walks along the path meanwhile misses an entry, and does not find a package that is installed.
if str(HERE / "pages") not in sys.path:
    sys.path.append(str(HERE / "pages"))

from forky_core.cli.plain import plain  # noqa: E402 - the lines above make it importable
from forky_core.gateway.access.gate import Gate  # noqa: E402
from forky_core.gateway.downloading import PREFIX as DOWNLOADS  # noqa: E402
from forky_core.gateway.downloading import Downloading  # noqa: E402
from forky_core.gateway.front import Gateway, McpGateway, StoreGateway, VerbsGateway  # noqa: E402
from forky_core.gateway.headers import (  # noqa: E402
    SecurityHeaders,
    content_security_policy,
    inline_script_hashes,
)
from forky_core.gateway.health import READY, Readiness  # noqa: E402
from forky_core.gateway.link_files import LinkFileAt  # noqa: E402
from forky_core.gateway.links import PREFIX as LINKS  # noqa: E402
from forky_core.gateway.links import LinkAt  # noqa: E402
from forky_core.gateway.metrics import METRICS, Metrics  # noqa: E402
from forky_core.gateway.moving import LIBRARY, Moving  # noqa: E402
from forky_core.gateway.moving import PREFIX as MOVES  # noqa: E402
from forky_core.gateway.neighbours import Neighbours  # noqa: E402
from forky_core.gateway.presence import PATH as HERE_AT  # noqa: E402
from forky_core.gateway.presence import Presence, PresenceAt  # noqa: E402
from forky_core.gateway.presenting import PREFIX as PRESENT  # noqa: E402
from forky_core.gateway.presenting import Presenting  # noqa: E402
from forky_core.gateway.routes import PREFIX as API  # noqa: E402
from forky_core.gateway.routes import TOOLS  # noqa: E402
from forky_core.gateway.serving import (  # noqa: E402
    hold_connections,
    listening_at,
    send_at_once,
    show_peers,
    stopping,
)
from forky_core.gateway.unknown_address import FORMER, FormerWorkspace, UnknownAddress  # noqa: E402
from forky_core.gateway.watching import PREFIX as REPLIES  # noqa: E402
from forky_core.gateway.watching import Watching  # noqa: E402
from forky_core.llm.process_tuning import tune_process  # noqa: E402
from forky_core.llm.tracing import trace_model_calls  # noqa: E402
from forky_core.model.errors import ForkyError  # noqa: E402
from forky_core.people.former_workspaces import former_workspaces  # noqa: E402
from forky_core.people.refused_requests import OVERLOADED  # noqa: E402
from forky_core.process import events  # noqa: E402
from forky_core.process.private_files import make_folder  # noqa: E402
from forky_core.process.settings import Settings, gone_settings  # noqa: E402
from forky_core.render.policy import script_sources  # noqa: E402
from forky_core.store.contract import StoreOnServer, TalkingStore  # noqa: E402
from forky_core.store.remote.note import ServerNote, remove_note, write_note  # noqa: E402
from forky_core.store.remote.path import PATH as STORE  # noqa: E402
from pages.ui.chat.agraph_page import agraph_folder, agraph_route  # noqa: E402
from pages.ui.components.downloads import offers  # noqa: E402
from pages.ui.observability.failures import show_incident  # noqa: E402
from pages.ui.observability.set_up import observe_process  # noqa: E402
from pages.ui.sign_in import SIGN_IN, TEAM  # noqa: E402
from pages.ui.streamlit_patches.early_script import SCRIPT  # noqa: E402
from pages.ui.streamlit_patches.first_paint import LEAVING_SCRIPT  # noqa: E402
from pages.ui.streamlit_patches.patch import streamlit_folder  # noqa: E402
from pages.ui.streamlit_patches.patches import apply_patches, patch_middleware  # noqa: E402
from pages.ui.streamlit_patches.session_counts import session_readings  # noqa: E402
from pages.ui.streamlit_patches.warmup import Traffic, prepare, warm_up_in  # noqa: E402

if TYPE_CHECKING:
    from forky_core.conversation.replies.reply_job import ReplyJob
    from forky_core.conversation.workspace import Workspace
    from forky_core.formats.forky_file.chat import Chat
    from forky_core.gateway.asgi import Scope
    from forky_core.model.parts import Json
    from forky_core.people.backup.backup_desk import BackupDesk
    from forky_core.people.links.link import Link
    from forky_core.people.links.links import Links
    from forky_core.store.herald import Heard

DROP_PAGES_EVERY = 1_800.0
"""Seconds between two looks at which links have expired."""
RECOVER_EVERY = 5.0
"""Seconds between two looks at which replies were left by a process that is gone, where several may use a database."""
_EVERYWHERE = frozenset({"127.0.0.1", "localhost", "0.0.0.0", ""})  # noqa: S104 - compared, and bound to nothing
"""Names under which a server listens that is reached at 127.0.0.1, too."""
WARM_UP_AFTER = 10.0
"""Seconds until the slow imports begin where nobody opens a page; a first page begins them itself."""


def version() -> str:
    try:
        return metadata.version("forky")
    except metadata.PackageNotFoundError:
        return "from a checkout"


async def healthz(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": version()}, headers={"cache-control": "no-store"})


async def favicon(_request: Request) -> FileResponse:
    """Ours in the place of Streamlit's. As `page_icon`, Streamlit would import numpy and Pillow for it."""
    return FileResponse(HERE / "pages" / "ui" / "icon.svg", media_type="image/svg+xml")


def workspace() -> Workspace:
    from pages.ui.workspace import opened  # noqa: PLC0415 - at the top it would hold up the server's start

    return opened()


def at_hand() -> Workspace | None:
    from pages.ui.workspace import at_hand  # noqa: PLC0415 - at the top it would hold up the server's start

    return at_hand()


def seen_by(person: str) -> Workspace:
    from pages.ui.workspace import seen_by  # noqa: PLC0415 - at the top it would hold up the server's start

    return seen_by(person)


def links(person: str | None) -> Links:
    from pages.ui.workspace import links_seen_by  # noqa: PLC0415 - at the top it would hold up the server's start

    return links_seen_by(person)


def shown_by(person: str) -> Workspace:
    from pages.ui.workspace import shown_by  # noqa: PLC0415 - at the top it would hold up the server's start

    return shown_by(person)


def opened_link(secret: str) -> tuple[Link, Chat]:
    from pages.ui.links.opening import opened_link  # noqa: PLC0415 - at the top it would hold up the server's start

    shared = opened_link(secret)
    return shared.link, shared.part


def may_share(link: Link) -> bool:
    from pages.ui.workspace import may_share  # noqa: PLC0415 - at the top it would hold up the server's start

    return may_share(link)


def may_fork(scope: Scope) -> bool:
    """Whether a visitor of a link is offered to fork it: whoever is a member or becomes one by signing in, and on the
    server of one person that person alone.
    """
    return TEAM is not None or not SIGN_IN.required(scope) or SIGN_IN.session(scope) is not None


async def drop_pages_of_links() -> None:
    """From time to time, delete what was kept for links that have expired."""
    while True:
        await asyncio.sleep(DROP_PAGES_EVERY)
        with suppress(ForkyError):
            await asyncio.to_thread(_drop_pages)


def _drop_pages() -> None:
    if at_hand() is not None:
        links(None).drop_pages_that_are_over()


def note_refusal(person: str, reason: str) -> None:
    """Count a refused request of a team's member for the audit log."""
    if TEAM is not None:
        TEAM.refused.count(reason, person)


async def take_over_replies() -> None:
    """From time to time, end the replies of processes that are gone. A file has no other process that writes."""
    while True:
        await asyncio.sleep(RECOVER_EVERY)
        open = at_hand()
        if open is not None and isinstance(open.store, StoreOnServer):
            with suppress(ForkyError):
                await asyncio.to_thread(open.replies.recover)


def reply(id: str, person: str) -> ReplyJob | None:
    from pages.ui.workspace import reply  # noqa: PLC0415 - at the top it would hold up the server's start

    return reply(id, person)


def hear(heard: Heard) -> Callable[[], None]:
    from pages.ui.workspace import at_hand, hear  # noqa: PLC0415 - at the top it would hold up the server's start

    # Whoever watches something wants to know what other servers have to tell of it.
    open = at_hand()
    if open is not None and isinstance(open.store, TalkingStore):
        NEIGHBOURS.join(open.store)
    return hear(heard)


def tell_watchers(name: str) -> None:
    """Have those look again who watch something, here and at other servers."""
    MOVING.wake(name)
    NEIGHBOURS.changed(name)


def version_of(conversation: str, person: str) -> int | None:
    from pages.ui.workspace import version_of  # noqa: PLC0415 - at the top it would hold up the server's start

    return version_of(conversation, person)


def beside(what: str, person: str) -> Mapping[str, Json]:
    from pages.ui.workspace import beside  # noqa: PLC0415 - at the top it would hold up the server's start

    return beside(what, person)


def backup_desk() -> BackupDesk | None:
    """Makes the backups that `forky admin backup` asks this server for; None on the server of one person."""
    if TEAM is None:
        return None
    from forky_core.people.backup.backup_desk import BackupDesk  # noqa: PLC0415 - only where there is a team
    from pages.ui.workspace import back_up_server  # noqa: PLC0415 - at the top it would hold up the server's start

    return BackupDesk(TEAM, back_up_server)


def tell_commands(scheme: str, host: str, port: int) -> ServerNote | None:
    """Write the private file by which commands reach this server while it has the database open."""
    if not isinstance(SETTINGS.database, Path) or not port or host not in _EVERYWHERE:
        return None
    try:
        make_folder(SETTINGS.database.parent)
        note = write_note(SETTINGS.database, f"{scheme}://127.0.0.1:{port}")
    except OSError:
        return None  # A command says then that the app has the file open.
    STORE_GATEWAY.secret = note.secret
    return note


def front() -> str:
    """The name of the front page."""
    from pages.ui.registry import front_page  # noqa: PLC0415 - at the top it would hold up the server's start

    return front_page().name


def addresses() -> frozenset[str]:
    """The first part of every address that somebody may open: of pages but the front page, of pages that are gone, and
    of our own routes.
    """
    from pages.ui.gone_pages import GONE  # noqa: PLC0415 - at the top it would hold up the server's start
    from pages.ui.registry import pages  # noqa: PLC0415 - at the top it would hold up the server's start

    named = {page.name for page in pages()} - {front()} | GONE.keys()
    return frozenset(named.union(str(getattr(route, "path", "")).split("/")[1] for route in ROUTES))


def policy() -> str:
    """The policy that lets the pages of Streamlit, of streamlit-agraph and of /present run their own inline scripts.

    Those of /present state a stricter one themselves, and a browser keeps both.
    """
    folders = (streamlit_folder() / "static", agraph_folder())
    texts = [(folder / "index.html").read_text("utf-8") for folder in folders]
    texts += [SCRIPT, LEAVING_SCRIPT]
    sources = (source for text in texts for source in inline_script_hashes(text))
    return content_security_policy((*sources, *script_sources()))


async def end_streams() -> None:
    """End the streams of open pages once the server is stopping; it would wait for each one's next event."""
    await stopping()
    MOVING.wake(LIBRARY)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[dict[str, object]]:
    begun = time.monotonic()
    observe_process(SETTINGS)
    tune_process()
    if SETTINGS.traces:
        trace_model_calls()
    events.server_started(version=version(), process=os.getpid())
    hold_connections()
    show_peers()
    host, port, scheme = listening_at()
    SIGN_IN.listens_at(host)
    for sentence in gone_settings():
        print(sentence, file=sys.stderr)  # noqa: T201 - as below
    if TEAM is not None and (others := former_workspaces(TEAM, SETTINGS.database)) is not None:
        print(plain(others))  # noqa: T201 - as below
    print(SIGN_IN.announcement(scheme, host, port), flush=True)  # noqa: T201 - what the operator waits for
    apply_patches()
    preparing, timer = prepare(), warm_up_in(WARM_UP_AFTER)
    sending = asyncio.create_task(send_at_once())
    desk, note = backup_desk(), tell_commands(scheme, host, port)
    dropping = asyncio.create_task(drop_pages_of_links())
    taking_over = asyncio.create_task(take_over_replies())
    ending = asyncio.create_task(end_streams())
    yield {}
    ending.cancel()
    sending.cancel()
    dropping.cancel()
    taking_over.cancel()
    if desk is not None:
        desk.close()
    if note is not None and isinstance(SETTINGS.database, Path):
        remove_note(SETTINGS.database, note)
    timer.cancel()
    preparing.join()
    gc.enable()
    await GATEWAY.close()
    await VERBS_GATEWAY.close()
    await MCP_GATEWAY.close()
    from pages.ui.workspace import close_workspace  # noqa: PLC0415 - at the top it would hold up the server's start

    close_workspace()
    events.server_stopped(seconds=time.monotonic() - begun)


SETTINGS = Settings.from_environment()
VIEWS = seen_by if TEAM is not None else None


def address_for(scope: Scope) -> str:
    return str(SIGN_IN.address(scope))


GATEWAY = Gateway(workspace, VIEWS, refused=note_refusal)
VERBS_GATEWAY = VerbsGateway(workspace, VIEWS, address=address_for)
MCP_GATEWAY = McpGateway(workspace, VIEWS, address=address_for)
STORE_GATEWAY = StoreGateway(workspace, VIEWS, address=address_for)


def app_font() -> str:
    """Return the path below the server's root of the type that the app is set in; "" if Streamlit has another."""
    found = next((streamlit_folder() / "static").glob("static/media/SourceSansVF-Upright.*.woff2"), None)
    return f"static/media/{found.name}" if found is not None else ""


PRESENTING = Presenting(seen_by, links, may_share, whole=workspace, font=app_font())
PRESENCE = Presence(TEAM.members.name_of if TEAM is not None else str)
MOVING = Moving(version_of, hear, presence=PRESENCE, beside=beside)
NEIGHBOURS = Neighbours(PRESENCE, MOVING.wake, TEAM.database.look_again if TEAM is not None else lambda: None)
if TEAM is not None:
    TEAM.changed = tell_watchers
ROUTES = [
    Route("/healthz", healthz),
    Route(READY, Readiness(workspace, SIGN_IN.is_local)),
    Route(
        METRICS,
        Metrics(
            at_hand,
            readings=session_readings,
            asked_for=SETTINGS.metrics,
            is_local=lambda scope: SIGN_IN.is_local(scope) and not SIGN_IN.required(scope),
            version=version(),
        ),
    ),
    Route(f"{REPLIES}/{{id}}", Watching(reply)),
    Route(f"{MOVES}/{{id}}", MOVING),
    Route(HERE_AT, PresenceAt(PRESENCE, version_of), methods=["POST"]),
    Route(f"{DOWNLOADS}/{{id}}", Downloading(offers.find)),
    *(Route(f"{PRESENT}/{path}", endpoint) for path, endpoint in PRESENTING.endpoints),
    Route(
        f"{LINKS}/{{secret}}/file",
        LinkFileAt(opened_link, shown_by, lambda link: links(None).count(link)),
        methods=["GET", "POST"],
    ),
    Route(
        f"{LINKS}/{{secret}}",
        LinkAt(lambda: links(None), shown_by, may_share, may_fork=may_fork),
    ),
    Route(API, GATEWAY),
    Route(f"{API}/{{path:path}}", GATEWAY),
    Route(f"{STORE}/{{name}}", STORE_GATEWAY),
    Route("/api", VERBS_GATEWAY),
    Route("/api/{path:path}", VERBS_GATEWAY),
    Route(TOOLS, MCP_GATEWAY),
    Route(f"{TOOLS}/{{path:path}}", MCP_GATEWAY),
    Route(f"{FORMER}/{{path:path}}", FormerWorkspace()),
    Route("/{base:path}favicon.png", favicon),
    agraph_route(),
]
"""Ours; the rest is Streamlit's."""
MIDDLEWARE = [
    Middleware(SecurityHeaders, policy=policy(), own_policy_below=(f"{LINKS}/", f"{PRESENT}/watch/")),
    Middleware(
        Gate,
        sign_in=SIGN_IN,
        public=("/healthz", READY, METRICS, "/_stcore/health", "/favicon.png"),
        public_below=(
            API,
            "/api",
            TOOLS,
            LINKS,
            FORMER,
            *(f"{PRESENT}/{part}" for part in ("watch", "follow", "ask", "ballot")),
        ),
        refused=lambda reason: events.request_refused(reason=reason),
        overloaded=lambda session: note_refusal(session.person, OVERLOADED),
    ),
    Middleware(UnknownAddress, names=addresses, front=front),
    Middleware(Traffic),
    *patch_middleware(),
]
"""The outermost first: nothing but the headers stands before the gate."""

app = st.App(
    HERE / "pages" / "shell.py",
    routes=ROUTES,
    middleware=MIDDLEWARE,
    lifespan=lifespan,
    on_script_error=show_incident,
)

if __name__ == "__main__":
    app.run()
