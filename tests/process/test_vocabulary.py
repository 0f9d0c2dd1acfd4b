from __future__ import annotations

import ast
import logging
import re
from pathlib import Path
from typing import get_args

import pytest

from forky_core.llm.contract import FailureKind
from forky_core.process import counters, events
from forky_core.process.fields import FAILURES, FORMS
from forky_core.process.vocabulary import EVENTS, SLOW_AFTER, EventEntry, EventType, entry
from forky_core.wire import errors
from tests.programs import CHECKOUT

SOURCES = [
    CHECKOUT / "app.py",
    *(path for top in ("forky_core", "pages") for path in sorted((CHECKOUT / top).rglob("*.py"))),
]
MAY_USE_LOGGING = {
    "forky_core/process/events.py",
    "forky_core/process/log_setup.py",
    "forky_core/process/vocabulary.py",
    "forky_core/llm/loading.py",  # It mutes LiteLLM, where the app asks for that.
    "forky_core/documents/pdf.py",  # Likewise pypdf.
    "forky_core/documents/reader_main.py",  # A process of its own.
    "pages/ui/observability/set_up.py",
}
ID = "01a208f5-ee27-7b1f-bc8a-53f3ff0c15af"


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def called() -> set[str]:
    """Names of the functions of events.py that are called anywhere."""
    found: set[str] = set()
    for path in SOURCES:
        text = path.read_text("utf-8")
        if "from forky_core.process import events" in text:
            found |= set(re.findall(r"\bevents\.([a-z_]+)\(", text))
        found |= {name.replace(".", "_") for name in re.findall(r"\bentry\(\"([a-z.]+)\"", text)}
    return found


def row(one: EventType) -> str:
    fields = ", ".join(f"`{name}` {kind}" for name, kind in one.fields.items()) or "–"
    level = logging.getLevelName(one.level).lower()
    meaning = one.meaning.replace("\n    ", " ")
    return f"| `{one.name}` | {level} | {meaning} | {fields} |"


def test_every_event_is_logged_somewhere_and_everything_that_is_logged_is_an_event() -> None:
    assert called() == {name.replace(".", "_") for name in EVENTS}


def test_the_table_of_the_docs_is_the_vocabulary() -> None:
    text = (CHECKOUT / "docs/observing.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| `[a-z]+\.[a-z]+` \|", line)]
    assert rows == [row(one) for one in EVENTS.values()]


def test_the_metrics_of_the_docs_are_those_that_are_counted() -> None:
    text = (CHECKOUT / "docs/observing.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `forky_") and line.count("|") == 4]
    kinds = {counters.Counter: "total", counters.Durations: "seconds"}
    assert rows == [
        f"| `forky_{one.name}_{kinds[type(one)]}` | {one.help} "
        f"| {', '.join(f'`{label}`' for label in one.labels) or '–'} |"
        for one in counters.ALL
    ]


def test_an_event_is_named_after_its_function() -> None:
    for name in EVENTS:
        assert hasattr(events, name.replace(".", "_"))


def test_nothing_else_logs_and_nothing_prints_a_trace() -> None:
    for path in SOURCES:
        text = path.read_text("utf-8")
        if "logging" not in text and "traceback" not in text:
            continue
        name = path.relative_to(CHECKOUT).as_posix()
        imported = {
            alias.name
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in (node.names if isinstance(node, ast.Import) else [ast.alias(str(node.module))])
        }
        assert name in MAY_USE_LOGGING or "logging" not in imported, name
        if not name.startswith("forky_core/process/"):
            assert not imported & {"traceback"}, name


def test_no_field_can_hold_a_text() -> None:
    kinds = {kind for one in EVENTS.values() for kind in one.fields.values()}
    assert kinds <= FORMS.keys()
    texts = {one.name for one in EVENTS.values() if "CodeText" in one.fields.values()}
    assert texts == {"library.warned"}


def test_every_slow_event_has_its_seconds() -> None:
    slow = [one for one in EVENTS.values() if one.slow]
    assert {one.slow for one in slow} == SLOW_AFTER.keys()
    assert all(one.fields["seconds"] == "Seconds" for one in slow)


def test_every_kind_of_failure_has_its_word() -> None:
    assert set(get_args(FailureKind)) <= FAILURES
    assert {code for _, code in errors._FAILURES.values()} <= FAILURES
    codes = {
        node.args[2].value
        for path in (CHECKOUT / "forky_core/gateway/v1").rglob("*.py")
        if "ApiError(" in path.read_text("utf-8")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ApiError"
        if len(node.args) > 2 and isinstance(node.args[2], ast.Constant)
    }
    assert "internal" in codes and codes <= FAILURES


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Id", "the text of a message"),
        ("Id", "SECRETWORD"),
        ("Word", "Let us\nmeet at noon"),
        ("Word", "x" * 200),
        ("Word", "naïve"),
        ("Model", "what is the meaning of life?"),
        ("Model", "意味は何ですか"),
        ("FailureWord", "secretword"),
    ],
)
def test_a_text_in_the_place_of_something_else_is_not_logged(kind: str, value: str) -> None:
    assert value not in str(FORMS[kind](value))


def test_an_id_of_forkys_is_logged_and_one_from_elsewhere_can_still_be_followed() -> None:
    form = FORMS["Id"]
    assert form(ID) == ID
    assert form("chatcmpl-abc") == form("chatcmpl-abc") != form("chatcmpl-abd")


def test_a_token_cannot_begin_a_line_of_its_own() -> None:
    said = str(entry("token.changed", {"token": "a\nERROR b", "id": "abcd1234", "change": "made"}))
    assert said == 'token.changed token="a ERROR b" id=abcd1234 change=made'


def test_a_library_leaves_its_hosts_log_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    events.import_started(size=3)
    logger = logging.getLogger("forky.import")
    assert logger.level == logging.NOTSET and logger.handlers == [] and logger.propagate
    top = logging.getLogger("forky")
    assert top.level == logging.NOTSET and top.propagate
    assert [type(handler) for handler in top.handlers] == [logging.NullHandler]
    caplog.clear()
    with caplog.at_level(logging.INFO):
        events.import_started(size=3)
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == ("forky.import", "import.started size=3")
    assert record.pathname == __file__


def test_what_takes_too_long_is_a_warning(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SLOW_AFTER, "page", 0.5)
    caplog.set_level(logging.WARNING)
    for seconds in (0.5, 0.7):
        events.page_ran(page="chat", kind="page", state="done", seconds=seconds)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert isinstance(record.msg, EventEntry)
    assert record.getMessage() == "page.ran page=chat kind=page state=done seconds=0.7 slow=yes"
