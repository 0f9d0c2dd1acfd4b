"""One tab: what somebody does there, and what the server answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import httpx
import websockets
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from bench.tab.connection import PATIENCE, Connection, Traffic
from bench.tab.drawing import Drawing, Node
from bench.tab.message_cache import MessageCache
from bench.tab.scripts import Scripts
from bench.tab.values import event, set_value, trigger, value_of

_FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
_ANY = "*"
"""Stands for whichever fragment, and for the whole page."""
Condition = Callable[["Tab"], bool]


class Missing(Exception):
    """What was to be pressed or filled is not on the page, or the server did not answer as it should."""


@dataclass(slots=True)
class _Wait:
    """Somebody waits until the run that they asked for has ended."""

    fragment: str
    """"" for one of the whole page."""
    done: asyncio.Future[None]
    shown: Condition | None
    run: str = ""
    """The run that may be the answer."""
    runs: int = 0
    """How many may have been."""


class Tab(Drawing):
    """One tab with the page that it shows. Open it as a context; it closes with everything that it began."""

    def __init__(
        self, url: str, http: httpx.AsyncClient, *, query: str = "", traffic: Traffic | None = None
    ) -> None:
        super().__init__()
        self.query = query
        """The part of the address behind `?`."""
        self.page = ""
        """Streamlit's hash of the page that is shown."""
        self.running = False
        """Whether what the tab has asked for is not drawn yet."""
        self.pages: dict[str, str] = {}
        """The hashes of the app's pages, by the last part of their addresses; "" is the page at the front."""
        self._connection = Connection(url, http, Traffic() if traffic is None else traffic)
        self._scripts = Scripts(self, self._connection)
        self._session = ""
        self._main = ""
        self._run = ""
        self._states: dict[str, WidgetState] = {}
        self._forms: dict[str, dict[str, WidgetState]] = {}
        self._kept = MessageCache()
        self._waits: list[_Wait] = []
        self._again: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._files: dict[str, asyncio.Future[Sequence[FileURLs]]] = {}

    @property
    def faults(self) -> list[str]:
        """What went wrong without anybody asking for it, in sentences."""
        return self._connection.faults

    @property
    def pieces(self) -> int:
        """Events with text that came from streams of replies."""
        return self._scripts.pieces

    @property
    def writing(self) -> bool:
        """Whether a stream of a reply is open."""
        return self._scripts.writing

    @property
    def place(self) -> dict[str, str]:
        """Where the tab is, by its address."""
        return dict(parse_qsl(self.query))

    # Opening and closing.

    @asynccontextmanager
    async def opened(self, *, shown: Condition | None = None) -> AsyncIterator[Tab]:
        """The tab with its first page drawn."""
        try:
            for path in (f"/?{self.query}", "/_stcore/health", "/_stcore/host-config", "/favicon.png"):
                await self._connection.fetch("GET", path)
            await self._connection.open()
            self._listening = self._connection.begin(self._listen())
            await self.run(shown=shown)
            yield self
        finally:
            await self.close()

    async def close(self) -> None:
        await self._connection.stop()
        await self._scripts.leave()
        await self._connection.close()

    # What is on the page.

    def links(self, page: str) -> list[tuple[str, str]]:
        """Labels and queries of the links to a page, in the order of the page."""
        return [
            (node.widget.label, node.widget.query_string)
            for node in self.nodes()
            if node.element is not None
            and node.element.WhichOneof("type") == "page_link"
            and node.widget.page_script_hash == self.pages.get(page)
        ]

    # What somebody does.

    async def run(self, *, shown: Condition | None = None) -> float:
        """Have the whole page run, as on opening it; milliseconds until it was drawn."""
        return await self._ask(shown=shown)

    async def press(self, key: str, *, shown: Condition | None = None) -> float:
        """Press a button; one of a form sends what was filled in there. Milliseconds until the answer was drawn.

        `shown` says whether the page shows what the press was for: until it does, later runs are waited for.
        """
        node = self._widget(key)
        button = node.widget
        if button.form_id:
            self._states |= self._forms.pop(button.form_id, {})
        return await self._ask(node.fragment, [trigger(button.id)], shown=shown)

    async def fill(self, key: str, value: object, *, shown: Condition | None = None) -> float:
        """Give a field a value; milliseconds until the answer was drawn, 0 where a field asks for none by itself."""
        node = self._widget(key)
        assert node.element is not None
        kind, one = node.element.WhichOneof("type") or "", node.widget
        held = value_of(kind, one, told=False)
        if held is None:
            raise Missing(f"“{key}” takes no value.")
        state = WidgetState(id=one.id)
        set_value(state, held[0], value)
        if one.form_id:
            self._forms.setdefault(one.form_id, {})[one.id] = state
            return 0.0
        self._states[one.id] = state
        if one.ignore_rerun:
            return 0.0
        return await self._ask(node.fragment, shown=shown)

    async def tell(
        self, component: str, name: str, value: object, *, shown: Condition | None = None
    ) -> float:
        """Have a component send an event, as its script would; milliseconds until the answer was drawn."""
        node = self.find_component(component)
        if node is None:
            raise Missing(f"The page has no “{component}”.")
        return await self._ask(node.fragment, [event(node.widget.id, name, value)], shown=shown)

    async def go(self, page: str, query: str = "", *, shown: Condition | None = None) -> float:
        """Follow a link to a page of the app; milliseconds until it was drawn."""
        hash = self.pages.get(page)
        if hash is None:
            raise Missing(f"There is no page “{page}”.")
        self._rest(list(self._again))
        if hash != self.page:
            self.query = query
        kept = {node.id for node in self.nodes() if node.script == self._main}
        states = {id: state for id, state in self._states.items() if id in kept}
        begun, wait = time.perf_counter(), self._waiting("", shown)
        await self._send(states, page=hash, query=query)
        await self._answered(wait, f"the page “{page}”")
        return (time.perf_counter() - begun) * 1000

    async def upload(self, key: str, name: str, content: bytes, *, shown: Condition | None = None) -> float:
        """Drop a file on an uploader: its address is asked for, the file sent there, and the page told."""
        node = self._widget(key)
        one, request = node.widget, uuid4().hex
        begun = time.perf_counter()
        told = self._files[request] = asyncio.get_running_loop().create_future()
        message = BackMsg()
        message.file_urls_request.request_id = request
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self._session
        await self._connection.send(message)
        async with asyncio.timeout(PATIENCE):
            (addresses,) = await told
        del self._files[request]
        self._connection.traffic.sent += len(content)
        await self._connection.fetch(
            "PUT",
            addresses.upload_url,
            files={name: (name, content)},
            headers={"X-Xsrftoken": self._connection.xsrf},
        )
        state = WidgetState(id=one.id)
        file = state.file_uploader_state_value.uploaded_file_info.add(
            name=name, size=len(content), file_id=addresses.file_id
        )
        file.file_urls.CopyFrom(addresses)
        self._states[one.id] = state
        await self._ask(node.fragment, shown=shown)
        return (time.perf_counter() - begun) * 1000

    async def until(self, shown: Condition, what: str) -> float:
        """Wait until the page shows something that no press is needed for; milliseconds until it did."""
        begun = time.perf_counter()
        if not shown(self):
            wait = self._waiting(None, shown)
            await self._answered(wait, what)
        return (time.perf_counter() - begun) * 1000

    def _widget(self, key: str) -> Node:
        node = self.find(key)
        if node is None or node.element is None:
            raise Missing(f"The page has no “{key}”; at {self.query}: {self.keys()}")
        if getattr(node.widget, "disabled", False):
            raise Missing(f"“{key}” is disabled.")
        return node

    async def _ask(
        self, fragment: str = "", triggers: Sequence[WidgetState] = (), *, shown: Condition | None = None
    ) -> float:
        begun, wait = time.perf_counter(), self._waiting(fragment, shown)
        await self._send(self._states, triggers, fragment=fragment)
        await self._answered(wait, triggers[0].id if triggers else "a run")
        return (time.perf_counter() - begun) * 1000

    def _waiting(self, fragment: str | None, shown: Condition | None) -> _Wait:
        """`fragment` is None for whoever waits for any run, and "" for one of the whole page."""
        wait = _Wait(
            _ANY if fragment is None else fragment, asyncio.get_running_loop().create_future(), shown
        )
        self._waits.append(wait)
        return wait

    async def _answered(self, wait: _Wait, what: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await wait.done
        except TimeoutError:
            nothing = "no answer" if not wait.runs else f"none of {wait.runs} runs shows what was asked for"
            raise Missing(
                f"{nothing} within {PATIENCE:.0f} s to {what}; at {self.query}: {self.keys()}"
            ) from None
        finally:
            self._waits.remove(wait)

    # What is sent.

    async def _send(
        self,
        states: dict[str, WidgetState],
        triggers: Sequence[WidgetState] = (),
        *,
        fragment: str = "",
        page: str = "",
        query: str | None = None,
        auto: bool = False,
    ) -> None:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = self.query if query is None else query
        asked.page_script_hash = page or self.page
        asked.fragment_id = fragment
        asked.is_auto_rerun = auto
        asked.widget_states.widgets.extend(states.values())
        asked.widget_states.widgets.extend(triggers)
        asked.cached_message_hashes.extend(self._kept)
        context = asked.context_info
        context.timezone, context.locale, context.color_scheme = "UTC", "en-US", "light"
        context.timezone_offset, context.is_embedded = 0, False
        name = next((name for name, hash in self.pages.items() if hash == asked.page_script_hash), "")
        context.url = f"{self._connection.url}/{name}" + (f"?{self.query}" if self.query else "")
        self.running = not auto or self.running
        await self._connection.send(message)

    async def send_event(self, component: str, name: str, value: object) -> None:
        """Have a component send an event, where the page still has it, and wait for nothing."""
        node = self.find_component(component)
        if node is not None:
            await self._send(self._states, [event(node.widget.id, name, value)], fragment=node.fragment)

    # What comes.

    async def _listen(self) -> None:
        async for message in self._connection.messages():
            self._take(message)
        for wait in self._waits:
            if not wait.done.done():
                wait.done.set_exception(Missing("the websocket was closed"))

    def _take(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "ref_hash":
            known = self._kept.find(message.ref_hash)
            if known is None:
                self.faults.append("the server refers to a message that this browser does not have")
            else:
                self._draw(known, message)
            return
        if message.metadata.cacheable:
            self._kept.keep(message)
        match message.WhichOneof("type"):
            case "delta":
                self._draw(message, message)
            case "new_session":
                self._begin_run(message)
            case "script_finished":
                self._end_run(message)
            case "auto_rerun":
                self._repeat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            case "stop_auto_rerun":
                self._rest(message.stop_auto_rerun.fragment_ids)
            case _:
                self._take_other(message)

    def _take_other(self, message: ForwardMsg) -> None:
        """What is not about runs and elements."""
        match message.WhichOneof("type"):
            case "navigation":
                self.pages = {
                    "" if page.is_default else page.url_pathname: page.page_script_hash
                    for page in message.navigation.app_pages
                }
                self.page = message.navigation.page_script_hash
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "file_urls_response":
                told = message.file_urls_response
                if (waiting := self._files.get(told.response_id)) is not None and not waiting.done():
                    waiting.set_result(list(told.file_urls))
            case "session_event" if message.session_event.HasField("script_compilation_exception"):
                failed = message.session_event.script_compilation_exception
                self.faults.append(f"a script failed: {failed.message}")
            case "page_not_found":
                self.faults.append(f"page not found: {message.page_not_found.page_name}")

    def _begin_run(self, message: ForwardMsg) -> None:
        run, started = message.metadata.run, message.new_session
        self._session = started.initialize.session_id or self._session
        if not run.fragment_ids:
            self._rest(list(self._again))
            self._main = started.main_script_hash
            self._kept.oldest = started.config.max_cached_message_age or self._kept.oldest
            if started.page_script_hash != self.page:
                self.page = started.page_script_hash
                self._drop(lambda node: node.block is None and node.script != self._main)
        self._run = run.script_run_id
        for wait in self._waits:
            # One that had begun before was broken off: of that nothing is told any more.
            if not run.fragment_ids or wait.fragment == _ANY or wait.fragment in run.fragment_ids:
                wait.run = run.script_run_id
                wait.runs += 1

    def _end_run(self, message: ForwardMsg) -> None:
        run, how = message.metadata.run, message.script_finished
        self.running = how == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if how == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.faults.append("a script did not compile")
        if how in _FINISHED:
            ended, of = run.script_run_id, set(run.fragment_ids)
            if of:
                self._drop(lambda node: node.fragment in of and node.run != ended)
            elif ended == self._run:
                self._drop(lambda node: node.run != ended)
            self._kept.end_run(of)
            self._scripts.settle()
        for wait in self._waits:
            if wait.run != run.script_run_id and wait.fragment != _ANY:
                continue
            if how in _FINISHED and (wait.shown is None or wait.shown(self)):
                if not wait.done.done():
                    wait.done.set_result(None)
            else:  # It runs once more by itself, or shows later what is waited for.
                wait.run = ""

    def _drop(self, is_stale: Callable[[Node], bool]) -> None:
        self.drop(is_stale)
        shown = {node.id for node in self.nodes()}
        for id in [id for id in self._states if id not in shown]:
            del self._states[id]

    def _draw(self, message: ForwardMsg, comes_as: ForwardMsg) -> None:
        """Draw an element, and do what the browser does when one comes: note its value, and run Forky's scripts."""
        node = self.draw(message.delta, comes_as.metadata, self._run)
        if node is None or node.element is None:
            return
        kind, one = node.element.WhichOneof("type") or "", node.widget
        match kind:
            case "exception":
                self.faults.append(f"a script failed: {one.type} {one.message[:200]}")
            case "alert" if one.format == Alert.ERROR:
                self.faults.append(f"the page says: {one.body[:300]}")
            case "bidi_component":
                self._scripts.mount(one)
        told = bool(getattr(one, "set_value", False))
        if getattr(one, "id", "") and (told or one.id not in self._states):
            value = value_of(kind, one, told=told)
            if value is not None and value[1] is not None:
                self._states[one.id] = state = WidgetState(id=one.id)
                set_value(state, *value)

    def name_place(self, data: dict[str, str]) -> None:
        """Complete the address of a page that was reached by the navigation, as browser_fixes.py does."""
        name = next((name for name, hash in self.pages.items() if hash == self.page), "")
        if "c" not in self.place and "c" in data and name not in data["apart"].split():
            here = {key: data[key] for key in ("c", "b") if key in data}
            self.query = urlencode(here | self.place)

    # Fragments that run again and again.

    def _repeat(self, fragment: str, interval: float) -> None:
        if fragment not in self._again or self._again[fragment][0] != interval:
            self._rest([fragment])
            again = self._connection.begin(self._keep_running(fragment, interval))
            self._again[fragment] = interval, again

    async def _keep_running(self, fragment: str, interval: float) -> None:
        with suppress(websockets.ConnectionClosed):
            while True:
                await asyncio.sleep(interval)
                await self._send(self._states, fragment=fragment, auto=True)

    def _rest(self, fragments: Sequence[str]) -> None:
        for fragment in list(fragments):
            if fragment in self._again:
                self._again.pop(fragment)[1].cancel()
