"""The list of all places where Forky changes Streamlit's behaviour, and the one switch for them.

Several patches fix one fault. Streamlit's browser sends all events of one turn of its event loop together, and a new
request interrupts the run before it. A press at the same moment as a fragment's timer was then handled twice or not at
all, and a click on a page went back to the old address. So handlers run to their end (handlers.py), a request with an
address that the server has replaced is read as one with the new address (navigation.py, page_changes.py), and a press
is handled by the part of the page that draws it (fragment_requests.py). tests/pages/test_presses.py sends the server
what a browser sends in those moments.

`FORKY_STREAMLIT_PATCHES=off` leaves Streamlit as it is: Forky then does the same, only slower or with the faults that
each patch names. `FORKY_STREAMLIT_PATCHES=-uploads,-assets` switches single patches off. docs/streamlit.md lists them
all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import metadata

from starlette.middleware import Middleware

from forky_core.model.errors import RequestError
from forky_core.process import events
from pages.ui.streamlit_patches.patch import Patch

SWITCH = "FORKY_STREAMLIT_PATCHES"
_SESSION = "streamlit.runtime.app_session:AppSession"
_RUNNER = "streamlit.runtime.scriptrunner:ScriptRunner"
_REQUESTS = "streamlit.runtime.scriptrunner_utils.script_requests:ScriptRequests"
_CONTEXT = "streamlit.runtime.scriptrunner_utils.script_run_context:ScriptRunContext"
_STATE = "streamlit.runtime.state:SafeSessionState"
_HANDLE = (
    f"{_STATE}.on_script_will_rerun"
    "(self, fresh_widget_states, replay_trigger_states, replay_trigger_values, is_history_navigation)"
)
_QUEUE = "streamlit.runtime.forward_msg_queue:ForwardMsgQueue"
_CLIENT = "streamlit.proto.ClientState_pb2:ClientState"
_WIDGET = "streamlit.proto.WidgetStates_pb2:WidgetState"
_PRESSES = "tests/pages/test_presses.py::"

PATCHES = (
    Patch(
        "log_handlers",
        "Every line of the log has one form, also those of Streamlit's modules that are imported later.",
        test="tests/pages/test_streamlit_patches.py::test_a_later_logger_of_streamlit_writes_through_the_one_handler",
        needs=("streamlit.logger:setup_formatter(logger)", "streamlit.logger:get_logger(name)"),
    ),
    Patch(
        "run_times",
        "The log and /metrics say how long each run of a page took, handlers included, and how it ended.",
        test="tests/pages/test_streamlit_patches.py::test_a_run_is_measured_with_its_handlers",
        needs=(
            "streamlit.runtime.scriptrunner.script_runner:exec_func_with_error_handling(func, ctx)",
            f"{_CONTEXT}#pages_manager",
            f"{_CONTEXT}#page_script_hash",
            f"{_CONTEXT}#fragment_ids_this_run",
            "streamlit.runtime.pages_manager:PagesManager.get_pages(self)",
        ),
    ),
    Patch(
        "session_counts",
        "/metrics says how many browser tabs are connected, and how many came and went.",
        test="tests/gateway/test_operations.py::test_its_metrics_are_there_for_this_machine",
        made="in_pages",
        needs=(
            "streamlit.runtime:get_instance()",
            "streamlit.runtime.runtime:Runtime#stats_mgr",
            "streamlit.runtime.stats:StatsManager.get_stats(self, family_names)",
            "streamlit.runtime.stats:ACTIVE_SESSIONS_FAMILY",
            "streamlit.runtime.stats:SESSION_EVENTS_FAMILY",
            "streamlit.runtime.stats:SESSION_DURATION_FAMILY",
        ),
    ),
    Patch(
        "console_check",
        "The first page comes 0.1 to 0.2 seconds earlier, because Streamlit does not look for a console.",
        test="tests/pages/test_streamlit_patches.py::test_the_first_element_looks_for_no_console",
        needs=("streamlit.delta_generator:_use_warning_has_been_displayed",),
    ),
    Patch(
        "free_options",
        "Pages of several people run side by side, because none waits for the lock of Streamlit's options.",
        test="tests/pages/test_streamlit_patches.py::test_an_option_is_read_while_somebody_holds_the_lock",
        needs=(
            "streamlit.config:get_option(key)",
            "streamlit.config:_config_options",
        ),
    ),
    Patch(
        "loop_turns",
        "A run that draws much does not wait for other people's pages at each element.",
        test="tests/pages/test_streamlit_patches.py::test_what_a_run_draws_wakes_the_event_loop_once",
        needs=(
            f"{_SESSION}._call_soon_on_event_loop(self, callback)",
            f"{_SESSION}._enqueue_forward_msg(self, msg)",
            f"{_SESSION}#_event_loop",
            f"{_SESSION}#_browser_queue",
            f"{_SESSION}#_message_enqueued_callback",
        ),
    ),
    Patch(
        "sending_turns",
        "On a busy server a page is seen several times sooner, because it is not sent in as many turns as it has elements.",
        test="tests/pages/test_streamlit_patches.py::test_many_messages_are_sent_in_few_turns_of_the_event_loop",
        needs=(
            "streamlit.runtime.runtime:asyncio",
            "streamlit.runtime.runtime:Runtime._loop_coroutine(self)",
            "streamlit.runtime.runtime:Runtime._send_message(self, session_info, msg)",
        ),
    ),
    Patch(
        "bare_state",
        "A server does a fifth less for the same clicks, because views of components are made only where one looks.",
        test="tests/pages/test_streamlit_patches.py::test_no_view_of_a_component_is_made_where_nobody_looks",
        needs=(
            "streamlit.runtime.state.session_state:apply_presenter(session_state, widget_id, base_value)",
            "streamlit.runtime.state.session_state:SessionState._compact_state(self)",
            "streamlit.runtime.state.session_state:SessionState.filtered_state",
        ),
    ),
    Patch(
        "theming",
        "Runs begin sooner while many people use Forky, because the theme is looked up once and not at each run.",
        test="tests/pages/test_theming.py::test_the_browser_is_told_the_same_theme_which_is_looked_up_once",
        needs=(
            "streamlit.runtime.app_session:_populate_theme_msg(msg, section)",
            "streamlit.config:on_config_parsed(func, force_connect, lock)",
        ),
    ),
    Patch(
        "favicon",
        "The first page comes without the import of numpy and Pillow, which Streamlit needs to name a page's icon.",
        test="tests/pages/test_imports.py::test_no_page_loads_what_no_page_needs",
        made="in_pages",
        needs=(
            "streamlit.runtime.scriptrunner:get_script_run_ctx(suppress_warning)",
            f"{_CONTEXT}.enqueue(self, msg)",
            "streamlit.proto.ForwardMsg_pb2:ForwardMsg#page_config_changed",
            "streamlit.proto.PageConfig_pb2:PageConfig#favicon",
        ),
    ),
    Patch(
        "gone_fragments",
        "A press or a choice is not lost, and its page is drawn, where another run moves that part of the page meanwhile.",
        test=f"{_PRESSES}test_what_is_asked_of_a_part_that_has_moved_is_asked_of_the_page",
        needs=(
            f"{_SESSION}.request_rerun(self, client_state)",
            f"{_SESSION}.has_fragment(self, fragment_id)",
            f"{_RUNNER}._run_script(self, rerun_data)",
            f"{_RUNNER}#_fragment_storage",
            "streamlit.runtime.fragment:FragmentStorage.contains(self, key)",
            f"{_CLIENT}#fragment_id",
            f"{_CLIENT}#is_auto_rerun",
        ),
    ),
    Patch(
        "finished_runs",
        "What a busy server drew last is seen, also where a part of the page refreshes itself in that moment.",
        test=f"{_PRESSES}test_a_part_of_the_page_waits_until_the_run_before_it_has_been_heard",
        needs=(
            f"{_SESSION}._create_scriptrunner(self, initial_rerun_data)",
            f"{_SESSION}#_scriptrunner",
            f"{_SESSION}#_event_loop",
            f"{_SESSION}#_state",
            f"{_RUNNER}.request_rerun(self, rerun_data)",
            "streamlit.runtime.app_session:AppSessionState.SHUTDOWN_REQUESTED",
        ),
    ),
    Patch(
        "fragment_requests",
        "A button that is pressed in the moment when part of the page refreshes itself acts once, and its page is drawn.",
        test=f"{_PRESSES}test_what_was_pressed_outside_of_the_fragment_runs_the_page",
        needs=(
            f"{_SESSION}.request_rerun(self, client_state)",
            f"{_SESSION}.session_state",
            "streamlit.runtime.state:SessionState.get_widget_metadata(self, widget_id)",
            f"{_CLIENT}#fragment_id",
            f"{_CLIENT}#is_auto_rerun",
            f"{_WIDGET}#trigger_value",
            f"{_WIDGET}#json_trigger_value",
            f"{_WIDGET}#string_trigger_value",
            f"{_WIDGET}#chat_input_value",
        ),
    ),
    Patch(
        "page_links",
        "A link to another place of the same page, as from the list of polls to a poll, is not forgotten at the next press.",
        test=f"{_PRESSES}test_a_link_on_the_same_page_changes_the_address",
        needs=(
            f"{_SESSION}.request_rerun(self, client_state)",
            f"{_SESSION}#_client_state",
            f"{_SESSION}#id",
            "streamlit.runtime.scriptrunner:get_script_run_ctx(suppress_warning)",
            f"{_CONTEXT}#session_id",
            f"{_CONTEXT}#query_string",
            f"{_CONTEXT}.enqueue(self, msg)",
            f"{_CLIENT}#fragment_id",
            f"{_CLIENT}#is_history_navigation",
            f"{_CLIENT}#page_script_hash",
            f"{_CLIENT}#query_string",
            f"{_CLIENT}#widget_states",
            "streamlit.proto.ForwardMsg_pb2:ForwardMsg#page_info_changed",
        ),
    ),
    Patch(
        "navigation",
        "A click that comes just after another one led to a new branch does not throw the tab back to the old branch.",
        test=f"{_PRESSES}test_what_left_before_the_new_address_was_heard_is_asked_from_there",
        needs=(
            f"{_SESSION}.request_rerun(self, client_state)",
            f"{_SESSION}.session_state",
            "streamlit.runtime.scriptrunner:get_script_run_ctx(suppress_warning)",
            f"{_CONTEXT}#page_script_hash",
            f"{_CONTEXT}#is_history_navigation",
            f"{_CLIENT}#query_string",
            f"{_CLIENT}#page_script_hash",
            f"{_CLIENT}#is_history_navigation",
        ),
    ),
    Patch(
        "page_changes",
        "A click on a link is not lost where the page that is left refreshes a part of itself in the same moment.",
        test=f"{_PRESSES}test_a_page_that_is_left_does_not_call_the_tab_back",
        needs=(
            f"{_SESSION}.request_rerun(self, client_state)",
            f"{_SESSION}#_client_state",
            f"{_CLIENT}#page_script_hash",
            f"{_CLIENT}#fragment_id",
            f"{_CLIENT}#widget_states",
            f"{_CLIENT}#is_history_navigation",
        ),
    ),
    Patch(
        "handlers",
        "What a press began is done to its end, also where another request comes meanwhile.",
        issue="https://github.com/streamlit/streamlit/issues/10578",
        test=f"{_PRESSES}test_a_handler_runs_to_its_end_before_the_next_request",
        needs=(
            _HANDLE,
            f"{_RUNNER}._maybe_handle_execution_control_request(self)",
            f"{_RUNNER}.request_rerun(self, rerun_data)",
            f"{_RUNNER}.request_stop(self)",
            f"{_RUNNER}#_requests",
            f"{_REQUESTS}._request_rerun_locked(self, new_data)",
            f"{_REQUESTS}.request_rerun(self, new_data)",
            f"{_REQUESTS}#_lock",
            f"{_REQUESTS}#_state",
            f"{_REQUESTS}#_rerun_data",
        ),
    ),
    Patch(
        "double_clicks",
        "A double click on “Start a branch here” makes one branch and not two.",
        test=f"{_PRESSES}test_a_double_click_is_one_press_and_the_next_one_another",
        needs=(
            _HANDLE,
            f"{_STATE}.on_script_finished(self, widget_ids_this_run, remove_stale_widgets)",
            f"{_STATE}#_state",
            "streamlit.runtime.state:SessionState.get_widget_metadata(self, widget_id)",
            f"{_WIDGET}#trigger_value",
        ),
    ),
    Patch(
        "session_lock",
        "A press that comes while the page is still being drawn fails no run of it.",
        test="tests/pages/test_streamlit_patches.py::test_two_runs_of_one_tab_share_a_lock_and_two_tabs_do_not",
        needs=(
            f"{_STATE}(state, yield_callback)",
            f"{_STATE}#_state",
            f"{_STATE}#_lock",
        ),
    ),
    Patch(
        "forgotten_widgets",
        "A tab that is open for hours does not take more and more memory for buttons that it shows no more.",
        test="tests/pages/test_streamlit_patches.py::test_a_widget_that_was_not_drawn_for_a_while_is_forgotten",
        needs=(
            f"{_STATE}.on_script_finished(self, widget_ids_this_run, remove_stale_widgets)",
            f"{_STATE}#_state",
            "streamlit.runtime.scriptrunner:get_script_run_ctx(suppress_warning)",
            f"{_CONTEXT}#fragment_ids_this_run",
            "streamlit.runtime.state:SessionState#_new_widget_state",
        ),
    ),
    Patch(
        "field_updates",
        "A draft that was sent or stashed does not come back into its field.",
        test=f"{_PRESSES}test_a_field_that_was_emptied_is_empty_for_a_browser_that_has_not_heard_of_it",
        needs=(
            _HANDLE,
            f"{_STATE}#_state",
            f"{_WIDGET}#string_value",
        ),
    ),
    Patch(
        "uploads",
        "A file that is chosen while the page is drawn anew is uploaded, and does not wait for ever.",
        test=f"{_PRESSES}test_an_uploader_hears_where_to_put_a_file_also_when_a_run_begins",
        needs=(
            f"{_QUEUE}.clear(self, retain_lifecycle_msgs, fragment_ids_this_run)",
            f"{_QUEUE}.enqueue(self, msg)",
            f"{_QUEUE}#_queue",
            "streamlit.proto.ForwardMsg_pb2:ForwardMsg#file_urls_response",
        ),
    ),
    Patch(
        "browser_fixes",
        "Ctrl+Z takes back what was typed, Ctrl+click opens a new tab on the same conversation, a tap is not lost, a "
        "question can be written while the server is away, and no empty window stands between two pages.",
        test="tests/browser/test_keys.py::test_ctrl_z_takes_back_what_was_typed_and_else_what_was_done",
        made="in_pages",
        needs=(),
    ),
    Patch(
        "theme_switch",
        "Light or dark is chosen in the head of every page, and the page takes it at once, without being loaded anew.",
        test="tests/browser/test_theme_switch.py::test_a_choice_is_taken_at_once_and_survives_a_reload_of_another_page",
        made="in_pages",
        needs=("static/static/js/utils.*.js",),
    ),
    Patch(
        "early_script",
        "A page that is opened by its link finds the server at once and leaves the browser's console empty.",
        test="tests/pages/test_early_script.py::test_a_page_runs_the_script_before_its_own_and_nothing_else_is_changed",
        made="around_requests",
        needs=("static/index.html",),
    ),
    Patch(
        "preloading",
        "The first page comes half a second earlier, because the browser fetches the scripts of elements at once.",
        test="tests/pages/test_preloading.py::test_only_pages_name_what_they_need",
        made="around_requests",
        needs=(
            "static/static/js/Html.*.js",
            "static/static/js/BidiComponent.*.js",
            "static/static/js/FileUploader.*.js",
            "static/static/js/TextArea.*.js",
            "static/static/js/Selectbox.*.js",
            "static/static/js/Button.*.js",
            "static/static/js/PageLink.*.js",
            "static/static/js/MenuButton.*.js",
            "static/static/js/ButtonGroup.*.js",
        ),
    ),
    Patch(
        "first_paint",
        "The newest messages can be read at once, and not only when a megabyte of scripts has run; other pages show a frame.",
        test="tests/pages/test_first_paint.py::test_the_page_has_a_frame_where_streamlit_draws",
        made="around_requests",
        needs=("static/index.html",),
    ),
    Patch(
        "run_status_filter",
        "A short run of a page shows a fifth sooner, because the browser does not first fade what is there.",
        test="tests/pages/test_run_status_filter.py::test_of_a_short_run_it_is_said_at_the_end",
        made="around_requests",
        needs=(
            "streamlit.proto.ForwardMsg_pb2:ForwardMsg#session_status_changed",
            "streamlit.proto.ForwardMsg_pb2:ForwardMsg#script_finished",
            "streamlit.proto.SessionStatus_pb2:SessionStatus#script_is_running",
        ),
    ),
    Patch(
        "assets",
        "The first page comes earlier, because Streamlit's scripts and fonts are each sent in one piece.",
        test="tests/pages/test_assets.py::test_it_is_found_below_whatever_path_the_app_has",
        made="around_requests",
        needs=("static/static/js/*.js", "static/static/css/*.css", "static/static/media/*.woff2"),
    ),
)
"""The patches in the order in which they are applied; those around requests from the outermost to the innermost.

A later patch of the same function gets a request first. So `navigation` comes after `fragment_requests` and
`page_links`, and `page_changes` after all three; `handlers`, `double_clicks` and `field_updates` have this order, so
that second presses are removed and old texts replaced before handlers are called.
"""
_BY_NAME: Mapping[str, Patch] = {patch.name: patch for patch in PATCHES}
_GONE = frozenset({"flush"})
"""Patches of earlier versions. The switch may still name them, which only the log mentions."""


def switched_off(value: str) -> frozenset[str]:
    """Return the patches that a value of FORKY_STREAMLIT_PATCHES switches off, former ones included.

    Raises:
        RequestError: the value is neither `on` nor `off` nor a list of names with a minus before each.
    """
    value = value.strip()
    if value.lower() in ("", "on"):
        return frozenset()
    if value.lower() == "off":
        return frozenset(_BY_NAME)
    names = [name.strip() for name in value.split(",") if name.strip()]
    if any(not name.startswith("-") or name[1:] not in _BY_NAME.keys() | _GONE for name in names):
        raise RequestError(
            f"{SWITCH} is “{value[:80]}”, which switches nothing.",
            f"Write on, off, or names with a minus before each: {', '.join(f'-{name}' for name in _BY_NAME)}.",
        )
    return frozenset(name[1:] for name in names)


@cache
def is_on(name: str) -> bool:
    """Whether a patch is switched on and fits this Streamlit. The answer never changes in a process."""
    return name not in switched_off(os.environ.get(SWITCH, "")) and _BY_NAME[name].fits


def apply_patches() -> None:
    """Apply every patch that is switched on and fits, and log which. Call it once, before the first session."""
    off = switched_off(os.environ.get(SWITCH, ""))
    on = [patch for patch in PATCHES if is_on(patch.name)]
    for patch in on:
        patch.apply()
    events.streamlit_patched(
        version=metadata.version("streamlit"),
        applied=tuple(patch.name for patch in on),
        off=tuple(patch.name for patch in PATCHES if patch.name in off) or None,
        gone=tuple(sorted(off & _GONE)) or None,
    )
    for patch in PATCHES:
        if patch.name not in off and not patch.fits:
            events.streamlit_unpatched(patch=patch.name)


def patch_middleware() -> tuple[Middleware, ...]:
    """Return the middleware of the patches that are switched on and fit."""
    made = (patch.middleware() for patch in PATCHES if is_on(patch.name))
    return tuple(one for one in made if one is not None)
