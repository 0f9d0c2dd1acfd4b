from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType
from streamlit.runtime.state import SafeSessionState
from streamlit.testing.v1 import AppTest

from pages.ui.chat import acts, drafting
from pages.ui.chat.acts import hear_acts
from pages.ui.chat.drafting import hear_typing
from pages.ui.streamlit_patches import double_clicks, field_updates, handlers, navigation, page_links
from tests.hangs import HANG
from tests.loops import finished
from tests.pages.patched import apply_patch

PRESSES = (
    "gone_fragments",
    "finished_runs",
    "fragment_requests",
    "page_links",
    "navigation",
    "page_changes",
    "handlers",
    "double_clicks",
    "field_updates",
    "uploads",
)
"""The patches that see to what a press does."""
FRAGMENTS = {"button": None, "send": "composer", "graph": None}
"""The fragment that each widget is drawn by."""


@pytest.fixture(autouse=True)
def streamlits_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the patches replace is as Streamlit has it, and will be again."""
    for of, names in (
        (AppSession, "request_rerun"),
        (AppSession, "_create_scriptrunner"),
        (SafeSessionState, "on_script_will_rerun"),
        (SafeSessionState, "on_script_finished"),
        (ScriptRunner, "_maybe_handle_execution_control_request"),
        (ScriptRunner, "request_rerun"),
        (ScriptRunner, "_run_script"),
        (ForwardMsgQueue, "clear"),
    ):
        monkeypatch.setattr(of, names, inspect.unwrap(getattr(of, names)))


class State(dict[str, object]):
    """What a tab's session keeps, as far as it is asked for."""

    def __init__(self, known: dict[str, Any]) -> None:
        super().__init__()
        self.get_widget_metadata = known.get


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Hands a request over, and says for which fragments Streamlit was asked to run."""
    ran: list[str] = []
    monkeypatch.setattr(
        AppSession, "request_rerun", lambda self, client_state: ran.append(client_state.fragment_id)
    )
    apply_patch(*PRESSES)
    known = {id: SimpleNamespace(fragment_id=fragment) for id, fragment in FRAGMENTS.items()}
    there = {"composer", "tail"}
    session = cast(
        AppSession,
        SimpleNamespace(
            session_state=State(known), _client_state=ClientState(), has_fragment=there.__contains__
        ),
    )

    def hand_over(fragment: str, *, auto: bool = False, **values: Any) -> list[str]:
        ran.clear()
        asked = ClientState(fragment_id=fragment, is_auto_rerun=auto)
        for id, value in values.items():
            kind = {bool: "trigger_value", str: "json_trigger_value", int: "int_value"}[type(value)]
            setattr(asked.widget_states.widgets.add(id=id), kind, value)
        AppSession.request_rerun(session, asked)
        return list(ran)

    return hand_over


def test_what_was_pressed_outside_of_the_fragment_runs_the_page(ask: Callable[..., list[str]]) -> None:
    assert ask("composer", button=True) == [""]
    assert ask("composer", graph='["b2:1#0"]', send=True) == [""]
    assert ask("composer", send=True, button=False) == ["composer"]
    assert ask("composer", unknown=True) == ["composer"]
    assert ask("", button=True) == [""]
    assert ask("tail", auto=True, button=True) == ask("tail", auto=True, graph='["b2:1#0"]') == [], "a clock"
    assert ask("tail", auto=True, button=False, graph="", send=7) == ["tail"]


def test_what_is_asked_of_a_part_that_has_moved_is_asked_of_the_page(ask: Callable[..., list[str]]) -> None:
    assert ask("moved", unknown=True) == [""]
    assert ask("moved", choice=3) == ask("moved") == [""]
    assert ask("moved", auto=True) == ["moved"], "a clock, which Streamlit drops"


@pytest.mark.parametrize(
    ("fragments", "press", "clock", "runs"),
    [
        (["composer"], True, False, ["composer"]),
        (["composer", "moved"], True, False, []),
        (["moved"], False, False, []),
        (["moved"], True, True, []),
        (["moved"], False, True, ["moved"]),
    ],
)
def test_a_part_that_moves_while_a_press_waits_is_drawn_with_the_page(
    fragments: list[str], press: bool, clock: bool, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda _, asked: ran.append(asked.fragment_id_queue))
    apply_patch(*PRESSES)
    runner = SimpleNamespace(_fragment_storage=SimpleNamespace(contains={"composer"}.__contains__))
    asked = replace(_asked("chat", press), fragment_id_queue=fragments, is_auto_rerun=clock)
    ScriptRunner._run_script(cast(ScriptRunner, runner), asked)
    assert ran == [runs]


class Began(AppSession):
    """A tab in whose event loop waits what its last run has drawn, and which runs have begun since."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._event_loop, self._state = loop, AppSessionState.APP_IS_RUNNING
        self.began: list[RerunData] = []
        self.heard: list[RerunData] = []
        self._scriptrunner = self.last = cast(ScriptRunner, SimpleNamespace(request_rerun=lambda _: False))

    def __del__(self) -> None:
        pass

    def hear_the_last(self, *, then: bool = False) -> None:
        """Its event loop has come to the end of the last run; `then` says whether the next one has begun already."""
        self._scriptrunner = cast(ScriptRunner, SimpleNamespace(request_rerun=self._hear)) if then else None

    def _hear(self, asked: RerunData) -> bool:
        self.heard.append(asked)
        return True


async def reached(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANG):
        while not holds():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.001)


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> type[Began]:
    def begin(tab: Began, asked: RerunData) -> None:
        tab.began.append(asked)

    monkeypatch.setattr(AppSession, "_create_scriptrunner", begin)
    apply_patch(*PRESSES)
    return Began


def test_a_part_of_the_page_waits_until_the_run_before_it_has_been_heard(began: type[Began]) -> None:
    async def go() -> None:
        tab, asked = began(asyncio.get_running_loop()), RerunData(fragment_id="composer")
        tab._create_scriptrunner(asked)
        await asyncio.sleep(0.05)
        assert tab.began == []
        tab.hear_the_last()
        await reached(lambda: tab.began == [asked])
        tab._create_scriptrunner(asked)
        assert tab.began == [asked, asked], "nothing is to be heard"

    finished(go())


def test_what_waited_goes_to_the_run_that_has_begun_meanwhile(began: type[Began]) -> None:
    async def go() -> None:
        tab, asked = began(asyncio.get_running_loop()), RerunData(fragment_id_queue=["composer"])
        tab._create_scriptrunner(asked)
        tab.hear_the_last(then=True)
        await reached(lambda: tab.heard == [asked])
        assert tab.began == []

    finished(go())


def test_the_whole_page_waits_for_nothing_and_a_tab_that_was_closed_begins_nothing(
    began: type[Began],
) -> None:
    async def go() -> None:
        tab, page = began(asyncio.get_running_loop()), RerunData()
        tab._create_scriptrunner(page)
        assert tab.began == [page]
        tab._create_scriptrunner(RerunData(fragment_id="composer"))
        tab._state = AppSessionState.SHUTDOWN_REQUESTED
        tab.hear_the_last()
        await asyncio.sleep(0.05)
        assert tab.began == [page]

    finished(go())


@pytest.fixture
def led(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Asks from an address, and says from which one Streamlit heard it; the tab was led from b=main to b=side."""
    ran: list[str] = []
    monkeypatch.setattr(
        AppSession, "request_rerun", lambda self, client_state: ran.append(client_state.query_string)
    )
    apply_patch(*PRESSES)
    state = State({})
    there = frozenset({("c", "1"), ("b", "side")})
    before = frozenset({frozenset({("c", "1"), ("b", "main")})})
    state[navigation._LED] = navigation._NewAddress(
        "chat", before, {"c": "1", "b": "side"}, there, time.monotonic()
    )
    session = cast(
        AppSession,
        SimpleNamespace(session_state=state, _client_state=ClientState(), has_fragment=lambda _: True),
    )

    def hand_over(query: str, *, back: bool = False, later: float = 0.0, page: str = "chat") -> str:
        with monkeypatch.context() as patch:
            now = time.monotonic() + later
            patch.setattr(time, "monotonic", lambda: now)
            asked = ClientState(query_string=query, is_history_navigation=back, page_script_hash=page)
            AppSession.request_rerun(session, asked)
        return ran[-1]

    return hand_over


def test_what_left_before_the_new_address_was_heard_is_asked_from_there(led: Callable[..., str]) -> None:
    assert led("c=1&b=main") == led("b=main&c=1") == "c=1&b=side"
    assert led("c=1&b=side") == "c=1&b=side"
    assert led("c=1&b=main") == "c=1&b=main"


@pytest.mark.parametrize("wish", [{"later": 60.0}, {"back": True}, {"page": "library"}], ids=str)
def test_back_another_page_and_what_comes_later_are_somebodys_wish(
    led: Callable[..., str], wish: dict[str, Any]
) -> None:
    assert led("c=1&b=main", **wish) == "c=1&b=main"
    assert wish.get("page") or led("c=1&b=main") == "c=1&b=main"


class Told:
    """A run of a tab's script, with what it sends to the browser."""

    session_id = "tab"

    def __init__(self, query: str) -> None:
        self.query_string = query
        self.addresses: list[str] = []

    def enqueue(self, message: ForwardMsg) -> None:
        self.addresses.append(message.page_info_changed.query_string)


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Hands the request of a link on the page “vote” over, and says which addresses the run that it asks for sends."""
    monkeypatch.setattr(AppSession, "request_rerun", lambda _self, client_state: None)
    apply_patch("page_links")
    shown = ClientState(page_script_hash="vote")
    session = cast(AppSession, SimpleNamespace(id="tab", _client_state=shown))

    def follow_link(query: str, page: str = "vote", *, drawn: str | None = None, **asked: Any) -> list[str]:
        AppSession.request_rerun(session, ClientState(query_string=query, page_script_hash=page, **asked))
        run = Told(query if drawn is None else drawn)
        monkeypatch.setattr("streamlit.runtime.scriptrunner.get_script_run_ctx", lambda: run)
        page_links.send_address()
        return run.addresses

    return follow_link


def test_a_link_on_the_same_page_changes_the_address(linked: Callable[..., list[str]]) -> None:
    assert linked("c=1&poll=2") == ["c=1&poll=2"]
    assert linked("c=1&with=a&with=b") == ["c=1&with=a&with=b"]
    assert linked("") == [""]


def test_only_a_link_on_the_same_page_changes_the_address(linked: Callable[..., list[str]]) -> None:
    pressed = WidgetStates(widgets=[WidgetState(id="button", trigger_value=True)])
    assert linked("c=1", page="chat") == [], "the browser does it by itself"
    assert linked("c=1", widget_states=pressed) == linked("c=1", fragment_id="tail") == []
    assert linked("c=1", is_history_navigation=True) == [], "Back changes it by itself"
    assert linked("c=1", drawn="c=2") == [], "a run that leads elsewhere"


def _script() -> None:
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone

    from pages.ui.streamlit_patches.navigation import follow, lead  # noqa: PLC0415

    follow()
    for name in ("main", "side", "third"):
        st.button(name, on_click=lead, args=({"b": name},))
    st.text(st.query_params["b"])


def test_a_run_that_was_asked_for_while_the_handler_led_elsewhere_is_of_the_new_place() -> None:
    page = AppTest.from_function(_script)

    def asked_from(name: str, press: str | None = None) -> str:
        page.query_params.clear()
        page.query_params["b"] = name
        if press is not None:
            next(one for one in page.button if one.label == press).click()
        return str(page.run().text[0].value)

    assert asked_from("main") == "main"
    assert asked_from("main", press="side") == "side"
    assert asked_from("main") == "side"
    assert asked_from("main", press="third") == "third"
    assert asked_from("side") == asked_from("main") == "third"
    assert asked_from("elsewhere") == "elsewhere"
    assert asked_from("elsewhere", press="main") == "main"


def _restless() -> None:
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx  # noqa: PLC0415

    def handle() -> None:
        ask_again()
        st.session_state["one"] = 1
        st.session_state["two"] = 2

    def ask_again() -> None:
        context = get_script_run_ctx()
        assert context is not None
        assert context.script_requests is not None
        context.script_requests.request_rerun(RerunData(context.query_string))

    st.button("press", on_click=handle)
    st.text(f"{st.session_state.get('one')} {st.session_state.get('two')}")


def _pressed() -> str:
    page = AppTest.from_function(_restless).run()
    page.button[0].click().run()
    return str(page.text[0].value)


def test_a_handler_runs_to_its_end_before_the_next_request() -> None:
    assert _pressed() == "None None", "Streamlit breaks none off any more"
    apply_patch(*PRESSES)
    assert _pressed() == "1 2"


def test_a_request_that_comes_just_before_a_handler_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = SafeSessionState.on_script_will_rerun
    came: list[object] = []

    def come_before(state: SafeSessionState, *given: Any, **named: Any) -> None:
        context = get_script_run_ctx()
        assert context is not None
        if given[0] is not None and any(one.trigger_value for one in given[0].widgets):
            assert context.script_requests is not None
            came.append(context.script_requests.request_rerun(RerunData(context.query_string)))
        handle(state, *given, **named)

    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", come_before)
    assert _pressed() == "None None"
    apply_patch(*PRESSES)
    assert _pressed() == "1 2"
    assert came == [True, True]


def _asking() -> None:
    """The session asks its run for another one: while a handler is at work, behind that, and while it draws."""
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone
    from streamlit.proto.WidgetStates_pb2 import WidgetStates  # noqa: PLC0415
    from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx  # noqa: PLC0415

    taken = st.session_state.setdefault("taken", [])

    def ask(fragment: str | None = None) -> None:
        context = get_script_run_ctx()
        assert context is not None
        runner = context.session_state._yield_callback.__self__  # type: ignore[attr-defined]
        assert isinstance(runner, ScriptRunner)
        asked = RerunData(context.query_string, WidgetStates(), fragment_id=fragment)
        taken.append(runner.request_rerun(asked))

    def handle() -> None:
        ask()
        ask()

    st.button("press", on_click=handle)
    if len(taken) == 2:
        ask(fragment="of the page")
        ask()
    elif len(taken) == 4:
        taken.append("drawn again")
        ask()
        taken.append("and went on")
    st.text("drawn")


def test_a_request_waits_for_handlers_and_ends_a_run_that_only_draws() -> None:
    apply_patch(*PRESSES)
    page = AppTest.from_function(_asking).run()
    page.button[0].click().run()
    assert page.session_state["taken"] == [True, True, True, True, "drawn again", False, "and went on"]


def _asked(page: str, press: bool = False) -> RerunData:
    pressed = [WidgetState(id="button", trigger_value=True)] if press else []
    return RerunData(page_script_hash=page, widget_states=WidgetStates(widgets=pressed))


class Tab(SimpleNamespace):
    """A tab whose server draws the page `drawn`, and what Streamlit was asked to run for it."""

    def __init__(self, drawn: str) -> None:
        super().__init__(
            id="tab",
            session_state={},
            _client_state=ClientState(page_script_hash=drawn),
            has_fragment=lambda _: True,
            ran=[],
        )

    def hear(self, page: str, *, clock: bool = False, press: bool = False, back: bool = False) -> list[str]:
        """Hands a request of the browser over: a link's, unless it is a fragment's clock or a press."""
        asked = ClientState(page_script_hash=page, is_history_navigation=back)
        if clock:
            asked.fragment_id, asked.is_auto_rerun = "tail", True
        if press:
            asked.widget_states.widgets.add(id="button", trigger_value=True)
        self.ran.clear()
        AppSession.request_rerun(cast(AppSession, self), asked)
        return list(self.ran)

    def draw(self, page: str) -> None:
        self._client_state.page_script_hash = page


@pytest.fixture
def tab(monkeypatch: pytest.MonkeyPatch) -> Tab:
    def note(self: Tab, asked: ClientState) -> None:
        self.ran.append(asked.page_script_hash + "!" * len(asked.widget_states.widgets))

    monkeypatch.setattr(AppSession, "request_rerun", note)
    apply_patch(*PRESSES)
    return Tab("chat")


def test_a_page_that_is_left_does_not_call_the_tab_back(tab: Tab) -> None:
    assert tab.hear("chat", clock=True) == ["chat"]
    assert tab.hear("library") == ["library"]
    assert tab.hear("chat", clock=True) == [], "before its run begins"
    tab.draw("library")
    assert tab.hear("chat", clock=True) == [], "and before the browser has heard of it"
    assert tab.hear("library", press=True) == ["library!"]
    assert tab.hear("library", clock=True) == ["library"]


def test_a_press_on_the_page_that_is_left_is_handled_before_the_other_page(tab: Tab) -> None:
    assert tab.hear("library") == ["library"], "the first that a tab asks for may be another page"
    assert tab.hear("chat", clock=True) == []
    assert tab.hear("chat", press=True) == ["chat!", "library"]


def test_whoever_asks_for_the_page_that_was_left_gets_it(tab: Tab) -> None:
    tab.hear("chat", clock=True)
    tab.hear("library")
    assert tab.hear("history") == ["history"], "the last link"
    assert tab.hear("chat") == ["chat"]
    assert tab.hear("chat", clock=True) == ["chat"]
    tab.hear("library")
    assert tab.hear("chat", clock=True, back=True) == ["chat"]


def test_a_handler_that_led_to_another_page_is_not_called_back(tab: Tab) -> None:
    tab.hear("chat", press=True)
    tab.draw("compare")
    assert tab.hear("chat", clock=True) == []
    assert tab.hear("chat", press=True) == ["chat!"]
    tab.draw("compare")
    assert tab.hear("compare", clock=True) == ["compare"]
    assert tab.hear("compare", clock=True) == ["compare"]


def test_a_browser_that_never_heard_of_the_other_page_is_heard_again(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab.hear("chat", clock=True)
    tab.hear("library")
    assert tab.hear("chat", clock=True) == []
    later = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert tab.hear("chat", clock=True) == ["chat"]


class Runner(SimpleNamespace):
    """Of a tab whose run is about to begin: what it is asked for, and what it runs."""

    def __init__(self, first: RerunData) -> None:
        super().__init__(_requests=ScriptRequests(), _wake_parallel_join_barrier_if_waiting=lambda: None)
        assert self._requests.request_rerun(first)

    def ask(self, asked: RerunData) -> None:
        assert ScriptRunner.request_rerun(cast(ScriptRunner, self), asked)

    def run(self) -> str | None:
        """The page, with a mark behind it where a press comes along; its handlers run to their end."""
        request = self._requests.on_scriptrunner_ready()
        if request.type is not ScriptRequestType.RERUN:
            return None
        handlers._release_deferred(self._requests)
        return str(request.rerun_data.page_script_hash) + "!" * len(request.rerun_data.widget_states.widgets)


def _run_with_a_page_asked_for(*behind: RerunData) -> list[str | None]:
    runner = Runner(_asked("chat", press=True))
    for asked in behind:
        runner.ask(asked)
    return [runner.run() for _ in range(3)]


def test_another_page_comes_behind_a_press_that_waits() -> None:
    assert _run_with_a_page_asked_for(_asked("merge"))[:1] == ["merge!"], "Streamlit keeps them apart, too"
    apply_patch(*PRESSES)
    assert _run_with_a_page_asked_for(_asked("merge")) == ["chat!", "merge", None]
    assert _run_with_a_page_asked_for(_asked("merge"), _asked("library")) == ["chat!", "library", None]
    assert _run_with_a_page_asked_for(_asked("merge"), _asked("merge", press=True))[:2] == ["chat!", "merge!"]
    assert _run_with_a_page_asked_for(_asked("chat")) == ["chat!", None, None]


def test_another_page_waits_for_nothing_but_a_press() -> None:
    apply_patch(*PRESSES)
    runner = Runner(_asked("chat"))
    runner.ask(_asked("merge"))
    assert [runner.run(), runner.run()] == ["merge", None]
    runner = Runner(_asked("chat"))
    assert runner._requests.on_scriptrunner_ready().rerun_data.page_script_hash == "chat"
    runner.ask(_asked("chat", press=True))
    runner.ask(_asked("merge"))
    handlers._release_deferred(runner._requests)  # Those of the run before it.
    assert [runner.run(), runner.run(), runner.run()] == ["chat!", "merge", None]


def _twice() -> None:
    """Each button is pressed once more before the page has shown what the first press did."""
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone
    from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates  # noqa: PLC0415
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx  # noqa: PLC0415

    done = st.session_state.setdefault("done", [])

    def press_again(key: str) -> None:
        context = get_script_run_ctx()
        assert context is not None
        assert context.script_requests is not None
        id = context.session_state._state.get_widget_id_from_key(key)
        pressed = WidgetState(id=str(id), trigger_value=True)
        again = RerunData(context.query_string, WidgetStates(widgets=[pressed]))
        context.script_requests.request_rerun(again)

    def handle(key: str) -> None:
        done.append(key)
        if done.count(key) == 1:
            press_again(key)

    if st.session_state.get("drawn") and "begun" not in done:
        done.append("begun")
        press_again("drawn")
    for key in ("fork", "bar.undo", "chat.earlier"):
        st.button(key, key=key, on_click=handle, args=(key,))
    if st.button("drawn", key="drawn"):
        done.append("drawn")
    st.text(" ".join(done))


def _pressed_twice(key: str) -> Any:
    apply_patch(*PRESSES)
    page = AppTest.from_function(_twice).run()
    return page.button(key).click().run()


def test_a_double_click_is_one_press_and_the_next_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _pressed_twice("fork")
    assert page.text[0].value == "fork"
    page.button("fork").click().run()
    assert page.text[0].value == "fork", "drawn, and nobody can have seen it"
    later = time.monotonic() + double_clicks._UNSEEN
    monkeypatch.setattr(time, "monotonic", lambda: later)
    page.button("fork").click().run()
    assert page.text[0].value == "fork fork"


@pytest.mark.parametrize("key", ["bar.undo", "chat.earlier"])
def test_each_press_of_undo_is_a_step_and_of_more_brings_more(key: str) -> None:
    assert _pressed_twice(key).text[0].value == f"{key} {key}"


def test_a_press_whose_run_was_broken_off_before_it_was_answered_is_answered_by_the_next() -> None:
    assert _pressed_twice("drawn").text[0].value == "begun drawn"


def _draft() -> None:
    """A field that a handler empties; "lost" breaks the run off before the field is drawn."""
    import streamlit as st  # noqa: PLC0415 - AppTest runs the lines of this function alone

    from pages.ui.streamlit_patches.field_updates import fill, refill  # noqa: PLC0415

    st.button("Send", key="send", on_click=fill, args=("draft", ""))
    if st.session_state.pop("lost", False):
        st.stop()
    refill("draft")
    st.text_input("Message", key="draft")


def _sent() -> Callable[[str], Any]:
    """A draft was sent, unheard of. Asks as a browser that holds a text: the field, as it is drawn then."""
    apply_patch(*PRESSES)
    page = AppTest.from_function(_draft).run()
    page.text_input("draft").set_value("a draft").run()
    assert page.text_input("draft").value == "a draft"
    field = page.text_input("draft").proto.id
    page.session_state["lost"] = True
    page.button("send").click().run()
    assert not page.text_input, "its run was broken off"

    def ask_with(text: str) -> Any:
        held = WidgetStates(widgets=[WidgetState(id=field, string_value=text)])
        return page._run(held).text_input("draft")

    return ask_with


def test_a_field_that_was_emptied_is_empty_for_a_browser_that_has_not_heard_of_it() -> None:
    ask_with = _sent()
    drawn = ask_with("a draft")
    assert drawn.value == ""
    assert drawn.proto.set_value, "the browser is told"
    assert ask_with("").value == ""
    assert ask_with("a draft").value == "a draft", "it has heard: this was typed"


def test_what_is_typed_after_a_field_was_emptied_stays() -> None:
    ask_with = _sent()
    assert ask_with("another").value == "another"
    assert ask_with("a draft").value == "a draft"


def test_a_browser_that_was_not_heard_for_long_holds_what_somebody_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask_with = _sent()
    later = time.monotonic() + field_updates._ON_ITS_WAY + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert ask_with("a draft").value == "a draft"


def test_a_click_that_comes_when_its_page_was_left_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Callable[[], None]] = {}
    monkeypatch.setattr(acts, "_component", lambda **named: given.update(named))
    monkeypatch.setattr(drafting, "_component", lambda **named: given.update(named))
    heard: list[object] = []
    hear_acts(heard.append, key="chat.acts", place="", at="", end=True, follow=True, copied=(0, ""))
    hear_typing(lambda *said: heard.append(said), heard.append, key="chat.typing", data={})
    given["on_act_change"]()
    given["on_draft_change"]()
    given["on_taken_change"]()
    assert heard == [], "Streamlit knows the handler of a widget longer than what it said"


def _left_when_a_run_begins(**run: Any) -> list[str | None]:
    """What of an uploader's address and an element is still to be sent."""
    queue, address, element = ForwardMsgQueue(), ForwardMsg(), ForwardMsg()
    address.file_urls_response.response_id = "1"
    element.delta.new_element.markdown.body = "of the run before"
    for message in (address, element):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, **run)
    left: list[str | None] = [message.WhichOneof("type") for message in queue.flush()]
    assert queue.is_empty()
    return left


def test_an_uploader_hears_where_to_put_a_file_also_when_a_run_begins() -> None:
    assert _left_when_a_run_begins() == [], "Streamlit keeps it, too"
    apply_patch(*PRESSES)
    assert _left_when_a_run_begins() == ["file_urls_response"]
    assert _left_when_a_run_begins(fragment_ids_this_run=["composer"]).count("file_urls_response") == 1


def test_a_session_that_is_asked_for_nothing_in_particular_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda self, client_state: ran.append(client_state))
    apply_patch(*PRESSES)
    AppSession.request_rerun(cast(AppSession, None), None)
    assert ran == [None]
