from __future__ import annotations

import ast
import asyncio
import inspect
import io
import itertools
import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import streamlit as st
import streamlit.logger
from streamlit import config, delta_generator, env_util
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime, RuntimeState
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.state import SafeSessionState, SessionState, session_state
from streamlit.testing.v1 import AppTest

from forky_core.model.errors import RequestError
from pages.ui.registry import pages
from pages.ui.streamlit_patches import forgotten_widgets, sending_turns
from pages.ui.streamlit_patches.patch import Patch
from pages.ui.streamlit_patches.patches import PATCHES, switched_off
from tests.hangs import HANG
from tests.loops import finished
from tests.pages.apptest import by_itself
from tests.pages.patched import apply_patch, patch_named
from tests.programs import CHECKOUT

ROOM = CHECKOUT / "pages" / "ui" / "streamlit_patches"
DOCS = CHECKOUT / "docs" / "streamlit.md"
NO_PATCHES = {"__init__", "compressed", "icons", "page_rewriting", "patch", "patches", "renewing", "warmup"}
"""Modules of the room that are no patch: two say what one is, `compressed` and `icons` are parts of `assets`,
`page_rewriting` of `first_paint` and `early_script`, and two do with Streamlit's public API what it does not."""
BY_NAME = pytest.mark.parametrize("patch", [pytest.param(patch, id=patch.name) for patch in PATCHES])


@BY_NAME
def test_this_streamlit_has_what_the_patch_needs(patch: Patch) -> None:
    assert patch.missing == ()


@BY_NAME
def test_the_test_that_a_patch_names_exists(patch: Patch) -> None:
    file, _, name = patch.test.partition("::")
    assert f"\ndef {name}(" in (CHECKOUT / file).read_text("utf-8")


def test_the_docs_say_of_each_patch_what_it_does_and_whose_issue_it_answers() -> None:
    rows = [line for line in DOCS.read_text("utf-8").splitlines() if line.startswith("| `")]
    for patch in PATCHES:
        link = patch.upstream.removeprefix("docs/streamlit.md")
        issue = f"[below]({link})" if link.startswith("#") else f"[#{link.rpartition('/')[2]}]({link})"
        assert f"| `{patch.name}` | {patch.does} | {issue} | `{patch.test}` |" in rows
    assert len(rows) == len(PATCHES)


@BY_NAME
def test_a_patch_without_an_issue_has_one_written_out(patch: Patch) -> None:
    text = DOCS.read_text("utf-8")
    if patch.upstream.startswith("docs/"):
        assert f"\n### {patch.name}\n\n**" in text
    else:
        assert re.fullmatch(r"https://github\.com/streamlit/streamlit/issues/\d+", patch.upstream)


def test_every_file_of_the_room_is_a_patch_or_says_what_one_is() -> None:
    assert {file.stem for file in ROOM.glob("*.py")} - NO_PATCHES == {patch.name for patch in PATCHES}


def test_nothing_outside_of_the_room_reaches_into_streamlit() -> None:
    """Nothing is imported from its inner modules, and nothing of what it exports begins with an underscore."""
    found = []
    for path in (CHECKOUT / "app.py", *sorted((CHECKOUT / "pages").rglob("*.py"))):
        source = path.read_text("utf-8")
        if path.parent == ROOM or not re.search(
            r"\bst\s*\._|(?:from|import)\s+streamlit\b(?! as st$)", source, re.MULTILINE
        ):
            continue
        for item in ast.walk(ast.parse(source)):
            name = str(item.module) if isinstance(item, ast.ImportFrom) else ""
            names = [alias.name for alias in item.names] if isinstance(item, ast.Import) else [name]
            found += [
                (path.name, name)
                for name in names
                if re.match(r"streamlit(\.|$)", name) and name != "streamlit"
            ]
            if isinstance(item, ast.Attribute) and ast.unparse(item).startswith("st._"):
                found.append((path.name, ast.unparse(item)))
    assert {name for _, name in found} == {"streamlit.delta_generator"}, "a type, for annotations alone"


def test_the_switch_is_on_or_off_or_leaves_single_ones_out() -> None:
    assert switched_off("") == switched_off("ON") == frozenset()
    assert switched_off(" off ") == {patch.name for patch in PATCHES}
    assert switched_off("-uploads, -assets") == {"uploads", "assets"}
    assert switched_off("-flush, -theming") == {"flush", "theming"}


@pytest.mark.parametrize("value", ["uploads", "-nothing", "-uploads,assets", "maybe"])
def test_another_value_of_the_switch_is_refused_with_the_names(value: str) -> None:
    with pytest.raises(RequestError, match="FORKY_STREAMLIT_PATCHES") as raised:
        switched_off(value)
    assert "-double_clicks" in str(raised.value.hint)


APPLIED = """
import json, os, sys
os.environ["FORKY_STREAMLIT_PATCHES"] = sys.argv[1] if len(sys.argv) > 1 else {value!r}
import inspect
import streamlit as st
from forky_core.process.log_setup import set_up_logging
from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import PATCHES, apply_patches, patch_middleware
{before}
set_up_logging("json")
apply_patches()
functions = {{need.partition("(")[0] for patch in PATCHES for need in patch.needs if need.endswith(")")}}
replaced = []
for name in functions:
    try:
        found = part(name)
    except LookupError:
        continue
    if inspect.unwrap(found) is not found or found.__module__.startswith(("pages", "forky")):
        replaced.append(name.rpartition(":")[2])
print(json.dumps([sorted(replaced), [one.cls.__name__ for one in patch_middleware()]]))
"""
STREAMLITS_OWN = {"get_script_run_ctx"}
"""What is wrapped by Streamlit itself."""


def applied(value: str, before: str = "") -> tuple[set[str], list[str], list[dict[str, str]]]:
    """In a process of its own: which functions of Streamlit are replaced, what stands before it, and the log."""
    done = by_itself(APPLIED.format(value=value, before=before))
    assert done.returncode == 0, done.stderr[-2000:]
    replaced, middleware = json.loads(done.stdout)
    logged = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return set(replaced) - STREAMLITS_OWN, middleware, [one for one in logged if "streamlit." in one["event"]]


def test_the_log_says_at_the_start_which_patches_are_in_force() -> None:
    replaced, middleware, logged = applied("on")
    assert replaced >= {"AppSession.request_rerun", "ForwardMsgQueue.clear", "setup_formatter"}
    assert middleware == ["EarlyScript", "Preloading", "FirstPaint", "RunStatusFilter", "Assets"]
    (line,) = logged
    assert line["applied"].split(",") == [patch.name for patch in PATCHES]
    assert "off" not in line


def test_off_replaces_nothing_and_says_so() -> None:
    replaced, middleware, logged = applied("off")
    assert (replaced, middleware) == (set(), [])
    (line,) = logged
    assert line["applied"] == "" and line["off"].split(",") == [patch.name for patch in PATCHES]


def test_a_single_patch_is_left_out() -> None:
    replaced, middleware, logged = applied("-uploads,-assets,-flush")
    assert "ForwardMsgQueue.clear" not in replaced and "AppSession.request_rerun" in replaced
    assert middleware == ["EarlyScript", "Preloading", "FirstPaint", "RunStatusFilter"]
    assert logged[0]["off"] == "uploads,assets"
    assert logged[0]["gone"] == "flush"


GONE = "del part('streamlit.runtime.app_session:AppSession').request_rerun"
OTHER = "part('streamlit.runtime.forward_msg_queue:ForwardMsgQueue').clear = lambda self, keep: None"


@pytest.mark.parametrize(
    ("before", "unfit"),
    [
        (GONE, ["gone_fragments", "fragment_requests", "page_links", "navigation", "page_changes"]),
        (OTHER, ["uploads"]),
    ],
    ids=["gone", "other"],
)
def test_a_patch_that_does_not_fit_is_left_out_with_a_warning(before: str, unfit: list[str]) -> None:
    replaced, _, logged = applied("on", before)
    assert "SafeSessionState.on_script_will_rerun" in replaced
    patched, *warned = logged
    assert [one["patch"] for one in warned] == unfit
    assert {one["level"] for one in warned} == {"warning"}
    assert not set(patched["applied"].split(",")) & set(unfit)


PAGES = sorted(f"{page.name}.py" for page in pages())
"""The pages of the server of one person."""
WITHOUT = f"""
import os
os.environ["FORKY_STREAMLIT_PATCHES"] = "off"
from streamlit.testing.v1 import AppTest
from pages.ui.workspace import workspace
from tests.builders import talk
from tests.pages.apptest import act, by_key, settled
import pages.ui.streamlit_patches.warmup
pages.ui.streamlit_patches.warmup._begun = True
chat = talk(workspace().create("Ports"), "Which port?", "Port 8080.")
side = chat.fork("side")
talk(side, "And the other?", "Port 9090.")
test = AppTest.from_file({str(CHECKOUT / "pages" / "shell.py")!r}, default_timeout={HANG})
for page in {PAGES!r}:
    test.switch_page(page)
    test.query_params.update({{"c": chat.id, "b": "side"}})
    settled(test.run())
    assert "failed" not in str([error.value for error in test.error]), page
    print(page)
"""


def test_every_page_is_drawn_without_patches() -> None:
    done = by_itself(WITHOUT)
    assert done.returncode == 0, done.stderr[-2000:]
    drawn = set(PAGES)
    assert set(done.stdout.splitlines()) == drawn


def test_each_named_test_fails_without_its_patch(tmp_path: Path) -> None:
    """Those in a browser were seen to fail by hand: Playwright waits a minute for what does not come."""
    named = {patch.name: patch.test for patch in PATCHES if not patch.test.startswith("tests/browser/")}
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", f"--junitxml={report}"]
    subprocess.run(
        [*command, *named.values()],
        capture_output=True,
        check=False,
        cwd=CHECKOUT,
        env=os.environ | {"FORKY_STREAMLIT_PATCHES": "off"},
    )
    cases = {case.get("name"): case for case in ET.parse(report).iter("testcase")}  # noqa: S314 - our own
    passed = [name for name, test in named.items() if cases[test.rpartition("::")[2]].find("failure") is None]
    assert passed == []


def _rows_that_change() -> None:
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone

    component = st.components.v2.component("tests.rows", html="<p></p>", js="export default () => {}")
    turn = st.session_state.get("turn", 0)
    for key in ("always", f"talk {turn:02}"):
        component(key=key, on_told_change=lambda: None)
    st.button("next", key="next", on_click=lambda: st.session_state.update(turn=turn + 1))
    st.button("of this turn", key=f"row {turn:02}", on_click=lambda: None)

    @st.fragment
    def part() -> None:
        st.button("again", key=f"part {turn:02}", on_click=lambda: None)

    part()


def test_a_widget_that_was_not_drawn_for_a_while_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    finish = inspect.unwrap(SafeSessionState.on_script_finished)
    monkeypatch.setattr(SafeSessionState, "on_script_finished", finish)
    apply_patch("forgotten_widgets")
    page = AppTest.from_function(_rows_that_change).run()
    for _ in range(20):
        page.button("next").click().run()
    known = page.session_state._state._state._new_widget_state.widget_metadata
    rows = sorted(id[-6:] for id in known if "row" in id)
    assert rows == [f"row {turn:02}" for turn in range(21 - forgotten_widgets.RUNS, 21)]
    assert sum("part" in id for id in known) == forgotten_widgets.RUNS
    assert sum(id.endswith("next") for id in known) == 1
    assert sum("always" in id for id in known) == 2, "the component, and the widget by which its events come"
    assert sum("talk" in id for id in known) == 2 * forgotten_widgets.RUNS
    page.button("row 20").click().run()
    assert not page.exception


def test_two_runs_of_one_tab_share_a_lock_and_two_tabs_do_not() -> None:
    apply_patch("session_lock")
    tab, other = SessionState(), SessionState()
    first, second, elsewhere = (SafeSessionState(one, lambda: None) for one in (tab, tab, other))
    taken: list[bool] = []

    def take(safe: SafeSessionState) -> None:
        taken.append(safe._lock.acquire(blocking=False))

    with first._lock:
        for safe in (second, elsewhere):
            thread = threading.Thread(target=take, args=(safe,))
            thread.start()
            thread.join(HANG)
    assert taken == [False, True]
    second["words"] = "kept"
    assert first["words"] == "kept"


def test_a_later_logger_of_streamlit_writes_through_the_one_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamlit.logger, "setup_formatter", streamlit.logger.setup_formatter)
    apply_patch("log_handlers")
    made = streamlit.logger.get_logger("streamlit.made_by_a_test")
    monkeypatch.delitem(streamlit.logger._loggers, "streamlit.made_by_a_test")
    assert made.handlers == [] and made.propagate


def _pressed() -> None:
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone

    st.button("press", on_click=lambda: st.session_state.update(pressed=True))


def test_a_run_is_measured_with_its_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    run = vars(script_runner)["exec_func_with_error_handling"]
    monkeypatch.setattr(script_runner, "exec_func_with_error_handling", run)
    apply_patch("run_times")
    said = io.StringIO()
    handler, logger = logging.StreamHandler(said), logging.getLogger("forky.page")
    monkeypatch.setattr(logger, "level", logging.DEBUG)
    monkeypatch.setattr(logger, "handlers", [handler])
    page = AppTest.from_function(_pressed).run()
    page.button[0].click().run()
    lines = said.getvalue().splitlines()
    assert len(lines) == 2 and all("kind=page state=done seconds=" in line for line in lines)


class _Held:
    """A lock that somebody else holds: whoever would wait for it fails."""

    def __enter__(self) -> None:
        raise AssertionError("It waits for the lock.")

    def __exit__(self, *_raised: object) -> None: ...


def test_an_option_is_read_while_somebody_holds_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = config.get_option
    wanted = locked("server.maxUploadSize")
    monkeypatch.setattr(config, "get_option", locked)
    apply_patch("free_options")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(config, "_config_lock", _Held())
        assert config.get_option("server.maxUploadSize") == wanted
    with pytest.raises(RuntimeError, match="not defined"):
        config.get_option("server.thereIsNone")
    config.set_option("server.maxUploadSize", wanted + 1)
    try:
        assert config.get_option("server.maxUploadSize") == wanted + 1
    finally:
        config.set_option("server.maxUploadSize", wanted)


class _Session(AppSession):
    """A session that has begun nothing which would have to be ended."""

    def __init__(self, loop: Any) -> None:
        self._event_loop = loop

    def __del__(self) -> None:
        pass


class _Loop:
    """An event loop that says how often another thread has woken it."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.wakes = 0

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        self.wakes += 1
        self.waiting.append(callback)

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.waiting.append(callback)

    def run(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


def test_what_a_run_draws_wakes_the_event_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    call_soon = AppSession._call_soon_on_event_loop
    monkeypatch.setattr(AppSession, "_call_soon_on_event_loop", call_soon)
    apply_patch("loop_turns")
    loop = _Loop()
    session, other = _Session(loop), _Session(loop)
    drawn: list[int] = []
    for number in range(5):
        session._call_soon_on_event_loop(partial(drawn.append, number))
    other._call_soon_on_event_loop(partial(drawn.append, 9))
    assert loop.wakes == 2 and drawn == []
    loop.run()
    assert drawn == [0, 1, 2, 3, 4, 9]
    session._call_soon_on_event_loop(partial(drawn.append, 5))
    assert loop.wakes == 3, "what comes after the loop's last look wakes it again"
    loop.run()
    assert drawn[-1] == 5


def test_what_sends_is_told_once_of_what_a_run_has_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppSession, "_call_soon_on_event_loop", AppSession._call_soon_on_event_loop)
    monkeypatch.setattr(AppSession, "_enqueue_forward_msg", AppSession._enqueue_forward_msg)
    apply_patch("loop_turns")
    sent: list[str] = []
    told: list[int] = []

    async def go() -> None:
        session: Any = _Session(asyncio.get_running_loop())
        session._browser_queue = SimpleNamespace(enqueue=sent.append)
        session._message_enqueued_callback = lambda: told.append(len(sent))
        for number in range(5):
            session._enqueue_forward_msg(f"element {number}")
        await asyncio.sleep(0)
        assert told == [5]
        session._enqueue_forward_msg("a later one")
        await asyncio.sleep(0)
        assert told == [5, 6]
        await asyncio.to_thread(session._enqueue_forward_msg, "from another thread")
        assert told == [5, 6, 7], "nobody waits for the loop where it may be busy"

    finished(go())
    assert len(sent) == 7


def test_nothing_that_several_threads_hand_over_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppSession, "_call_soon_on_event_loop", AppSession._call_soon_on_event_loop)
    apply_patch("loop_turns")
    drawn: list[tuple[int, int]] = []

    async def go() -> None:
        session = _Session(asyncio.get_running_loop())

        def draw(thread: int) -> None:
            for number in range(500):
                session._call_soon_on_event_loop(partial(drawn.append, (thread, number)))

        await asyncio.gather(*(asyncio.to_thread(draw, thread) for thread in range(4)))
        await asyncio.sleep(0)  # What was handed over last.
        await asyncio.sleep(0)

    finished(go())
    assert len(drawn) == 2000
    for thread in range(4):
        assert [number for of, number in drawn if of == thread] == list(range(500))


class _Full(Runtime):
    """A runtime with one tab, for which so many messages wait; it stops when they are sent."""

    def __init__(self, messages: int) -> None:
        self._state = RuntimeState.ONE_OR_MORE_SESSIONS_CONNECTED
        self._objects = SimpleNamespace(
            started=asyncio.get_running_loop().create_future(),
            stopped=asyncio.get_running_loop().create_future(),
            must_stop=asyncio.Event(),
            need_send_data=asyncio.Event(),
        )
        waiting = [ForwardMsg() for _ in range(messages)]
        session = SimpleNamespace(
            flush_browser_queue=lambda: waiting, on_flushed_messages_sent=self._objects.must_stop.set
        )
        self._session_mgr = SimpleNamespace(
            list_active_sessions=lambda: [SimpleNamespace(session=session)], list_sessions=list
        )
        self.sent: list[int] = []
        self.turns = 0

    def _get_async_objs(self) -> Any:
        return self._objects

    def _send_message(self, session_info: Any, msg: ForwardMsg) -> None:
        self.sent.append(self.turns)

    async def turn(self) -> None:
        while not self._objects.must_stop.is_set():
            self.turns += 1
            await asyncio.sleep(0)


def test_many_messages_are_sent_in_few_turns_of_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "asyncio", asyncio)
    apply_patch("sending_turns")
    # However slow the machine is: the clock stands still.
    monkeypatch.setattr(sending_turns, "time", SimpleNamespace(monotonic=lambda: 1.0))

    async def go() -> list[int]:
        full = _Full(200)
        await asyncio.gather(full._loop_coroutine(), full.turn())
        return full.sent

    sent = finished(go())
    assert len(sent) == 200
    assert len(set(sent)) == 1 + 200 // sending_turns.MOST, "others have a turn now and then"


def test_what_takes_long_to_send_lets_others_have_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "asyncio", asyncio)
    apply_patch("sending_turns")
    clock = itertools.count()
    monkeypatch.setattr(sending_turns, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))

    async def go() -> list[int]:
        full = _Full(9)
        await asyncio.gather(full._loop_coroutine(), full.turn())
        return full.sent

    assert len(set(finished(go()))) > 4


def _with_a_component() -> None:
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone

    component = st.components.v2.component("forky.of_a_test", html="<p></p>")
    component(key="shown", on_pressed_change=lambda: None)
    for number in range(3):
        st.text_input("words", key=f"words.{number}")
    st.text(type(st.session_state["shown"]).__name__)
    st.button("press")


def test_no_view_of_a_component_is_made_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    present = vars(session_state)["apply_presenter"]

    def apply_presenter(session_state: Any, widget_id: str, base_value: Any) -> Any:
        shown = present(session_state, widget_id, base_value)
        made.extend([widget_id] if shown is not base_value else [])
        return shown

    monkeypatch.setattr(session_state, "apply_presenter", apply_presenter)
    for name in ("_compact_state", "filtered_state"):
        monkeypatch.setattr(session_state.SessionState, name, vars(session_state.SessionState)[name])
    apply_patch("bare_state")
    page = AppTest.from_function(_with_a_component).run()
    page.button[0].click().run()
    assert [one.value for one in page.text] == ["_WriteThrough"]
    # One for each run that looks at it, and two where Streamlit registers it; without the patch there are eleven.
    assert len(made) == 4


def test_the_first_element_looks_for_no_console(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(env_util, "is_repl", lambda: looked.append("looked"))
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    apply_patch("console_check")
    st.empty()
    assert looked == []


def test_a_patch_is_made_where_it_says() -> None:
    for patch in PATCHES:
        text = (ROOM / f"{patch.name}.py").read_text("utf-8")
        assert ("\ndef apply(" in text) is (patch.made == "at_start"), patch.name
        assert ("\ndef middleware(" in text) is (patch.made == "around_requests"), patch.name
        assert (f'is_on("{patch.name}")' in text) or patch.made != "in_pages", patch.name
    assert patch_named("favicon").middleware() is None
