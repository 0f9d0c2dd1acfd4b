"""What AppTest does not offer: finding widgets by key whatever their kind, and clicking inside components.

A component has no public test interface; its private path is used here and nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.render.trees import html_of, text_of
from tests.hangs import HANG
from tests.programs import CHECKOUT

SHELL = CHECKOUT / "pages" / "shell.py"

# Each AppTest reads the metadata of all installed packages, to find components. No test installs any with Streamlit.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def open_app(**params: str) -> AppTest:
    """The app at a URL with these query parameters, run once."""
    return _begun(**params).run()


def _begun(**params: str) -> AppTest:
    test = AppTest.from_file(str(SHELL), default_timeout=HANG)
    for name, value in params.items():
        test.query_params[name] = value
    return test


def by_itself(script: str) -> subprocess.CompletedProcess[str]:
    """A Python program in a process of its own, where nothing is imported yet, with a database in memory."""
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=CHECKOUT,
        env=os.environ | {"FORKY_DATABASE": ":memory:", "FORKY_PROBE": "0"},
    )


def open_page(page: str, chat: Conversation, **params: str) -> AppTest:
    """A page on the conversation and branch that `chat` has checked out, run without an error."""
    test = _begun(**{"c": chat.id, "b": chat.branch_name, **params})
    test.switch_page(page)
    return settled(test.run())


def settled(test: AppTest) -> AppTest:
    """The page, where the run raised nothing."""
    assert [error.value for error in test.exception] == []
    return test


def written(test: AppTest) -> str:
    """What the page says in sentences, as Streamlit is given it."""
    return "\n".join(str(e.value) for e in (*test.markdown, *test.caption))


def words(test: AppTest) -> str:
    """What the page says in sentences, as a person reads it."""
    informs = (str(e.value) for e in test.info)
    return _read(
        "\n".join((written(test), *informs, *(text_of(tree) for tree in (*cells(test), *texts(test)))))
    )


def said(test: AppTest) -> str:
    """What the page says in sentences, in coloured boxes, as code and in its own HTML."""
    boxes = (*test.info, *test.success, *test.warning, *test.error, *test.code)
    return _read("\n".join((written(test), *(str(e.value) for e in boxes), *html(test))))


def _read(markdown: str) -> str:
    return markdown.replace("\\", "").replace("\u2060", "")


def html(test: AppTest) -> list[str]:
    """The pieces of HTML on the page, with those of the notebook's cells."""
    pieces = [html_of(piece) for _, _, *pieces in cells(test) for piece in pieces]
    return [*(str(element.proto.body) for element in test.get("html")), *pieces]


def cells(test: AppTest) -> list[Any]:
    """The trees of the notebook's cells that are drawn in components."""
    return [json.loads(tree) for _, drawn in _components(test, "forky.cells") for _, tree in drawn]


def texts(test: AppTest) -> list[Any]:
    """The trees of formatted texts that are drawn outside of cells."""
    return [json.loads(tree) for (tree,) in _components(test, "forky.text")]


def _components(test: AppTest, name: str) -> list[Any]:
    """What the components of this name are given."""
    drawn = [item for item in test.get("bidi_component") if item.proto.component_name == name]
    return [json.loads(one.proto.json) for one in drawn]


def by_key(test: AppTest, key: str) -> Any:
    """The one widget of that key; KeyError with the keys there are."""
    found = [widget for widget in _all(test) if getattr(widget, "key", None) == key]
    if not found:
        raise KeyError(f"{key} is not among {sorted(filter(None, keys(test)))}")
    return found[0]


def press(test: AppTest, key: str) -> AppTest:
    """The page once this button was pressed."""
    return settled(by_key(test, key).click().run())


def fill(test: AppTest, **values: object) -> AppTest:
    """The page once its fields have these values, each before the next; `merge__edit` is the key `merge.edit`."""
    for key, value in values.items():
        by_key(test, key.replace("__", ".")).set_value(value).run()
    return settled(test)


def param(test: AppTest, name: str) -> Any:
    """What the address of the page says of this; None where it says nothing."""
    value = test.query_params.get(name)
    return value[0] if isinstance(value, list) else value


def latest(test: AppTest, key: str) -> Any:
    """The widget of that key and a number, which rises whenever the page begins the widget anew."""
    (found,) = [
        one for one in keys(test) if one.rpartition(".")[0] == key and one.rpartition(".")[2].isdigit()
    ]
    return by_key(test, found)


def drawn_keys() -> set[str]:
    """The keys that the code of the pages gives to what it draws, as a style sheet names them."""
    code = "".join(path.read_text("utf-8") for path in (CHECKOUT / "pages").rglob("*.py"))
    return {re.sub(r"[^\w-]", "-", key) for key in re.findall(r'"((?:\w+[.-])[\w.-]+)"', code)}


def keys(test: AppTest) -> list[str]:
    """The keys of all widgets on the page."""
    return [key for widget in _all(test) if isinstance(key := getattr(widget, "key", None), str)]


def _all(test: AppTest) -> list[Any]:
    return [element for element in test._tree if hasattr(element, "key")]


def graph_rows(test: AppTest, key: str = "graph") -> list[dict[str, Any]]:
    """The rows that the graph was asked to draw."""
    (given,) = json.loads(_component(test, key).proto.json)
    return list(given["rows"])


def click_graph(test: AppTest, id: str, key: str = "graph") -> AppTest:
    """Click the row of a message or a fold and run the page."""
    row = next(row for row in graph_rows(test, key) if row["id"] == id)
    act = "fold" if row["kind"] == "fold" else "open"
    return _tell(test, _component(test, key), "gesture", {"act": act, "id": id})


def branch_shown(test: AppTest) -> str:
    """What the branch box of the Chat page says."""
    (given,) = json.loads(_component(test, "chat.branch", "forky_branchbox").proto.json)
    return f"{given['now']}, earlier" if given["earlier"] else str(given["now"])


def choose_branch(test: AppTest, name: str) -> AppTest:
    """Choose a name in the branch box and run the page."""
    box = _component(test, "chat.branch", "forky_branchbox")
    (given,) = json.loads(box.proto.json)
    return _tell(test, box, "chosen", {"branch": name, "n": given["heard"] + 1})


def act(test: AppTest, name: str, id: str) -> AppTest:
    """Press a small button of the Chat page, of this message, and run the page."""
    acts = _component(test, "chat.acts", "forky.acts")
    return settled(_tell(test, acts, "act", {"name": name, "id": id, "n": 1}))


def answered(test: AppTest, chat: Conversation) -> AppTest:
    """The page when every reply has landed."""
    for job in chat.replies.running:
        assert job.wait(HANG)
    return settled(test.run())


def ask(test: AppTest, chat: Conversation, text: str) -> AppTest:
    """The Chat page when a question was sent and answered."""
    by_key(test, "chat.draft").set_value(text)
    latest(test, "chat.send").click().run()
    return answered(test, chat)


def sidebar(test: AppTest) -> list[Any]:
    """What the list of chats was asked to draw: the chat shown, may one begin, are there more, whose, days."""
    return list(json.loads(_component(test, "sidebar", "forky.sidebar").proto.json))[:5]


def state_of_sidebar(test: AppTest) -> str:
    """What the list of chats was drawn from, as those who watch are told of it."""
    return str(json.loads(_component(test, "sidebar", "forky.sidebar").proto.json)[6])


def bell(test: AppTest) -> dict[str, Any]:
    """What the bell was asked to show."""
    given = json.loads(_component(test, "bar.inbox", "forky.bell").proto.json)
    assert isinstance(given, dict)
    return given


def ask_sidebar(test: AppTest, **what: object) -> AppTest:
    """Press something in the list of chats, as its script tells it, and run the page."""
    return _tell(test, _component(test, "sidebar", "forky.sidebar"), "asked", {**what, "n": 1})


def compared(test: AppTest) -> dict[str, Any]:
    """What the reading surface of Compare was asked to draw."""
    (given,) = json.loads(_component(test, "compare.surface", "forky_compare").proto.json)
    assert isinstance(given, dict)
    return given


def compare_act(test: AppTest, name: str, **more: object) -> AppTest:
    """Do on the reading surface of Compare what a person does there, and run the page."""
    surface = _component(test, "compare.surface", "forky_compare")
    return _tell(test, surface, "act", {"name": name, "n": 1, **more})


def merge_editor(test: AppTest, at: int = 0) -> dict[str, Any]:
    """What the Merge page's editor of block number `at` was asked to draw."""
    (given,) = json.loads(_component(test, f"merge.editor.{at}", "forky_merge_editor").proto.json)
    assert isinstance(given, dict)
    return given


def edited_blocks(test: AppTest) -> list[str]:
    """The blocks that the Merge page's editors draw, as text: each line with the ids at its end."""
    count = sum(item.proto.component_name == "forky_merge_editor" for item in test.get("bidi_component"))
    return [_block_text(merge_editor(test, at)) for at in range(count)]


def _block_text(drawn: dict[str, Any]) -> str:
    rows: list[str] = []
    for section in drawn["sections"]:
        rows += [f"{section['title']}:"] if section["title"] else []
        before: object = None
        for line in section["lines"]:
            who = f"{line['who']}: " if line["who"] and line["who"] != before else ""
            rows.append(" ".join((f"{who}{line['text']}", *(cite["short"] for cite in line["cites"]))))
            before = line["who"]
    return "\n".join(rows)


def edit_merge(test: AppTest, *orders: dict[str, object], at: int = 0) -> AppTest:
    """Send changes of a block as the browser does, and run the page; those without a number follow the last one."""
    drawn = merge_editor(test, at)
    numbered = [{"n": drawn["heard"] + place, **order} for place, order in enumerate(orders, 1)]
    said = {"of": drawn["serial"], "orders": numbered}
    return _tell(test, _component(test, f"merge.editor.{at}", "forky_merge_editor"), "edits", said)


def _tell(test: AppTest, component: Any, event: str, value: object) -> AppTest:
    """Send what the browser's half of a component would, and run the page."""
    states = test._tree.get_widget_states()
    state = states.widgets.add()
    state.id = f"$$STREAMLIT_INTERNAL_KEY_{component.proto.id}__events"
    state.json_trigger_value = json.dumps([{"event": event, "value": value}])
    test._run(states)
    return test


def conflict(about: str, one: str, other: str) -> str:
    """What a model answers that has found these two sentences to conflict, whichever side it reads first."""
    return "\n\n".join(f'CONFLICT {about}\n{a}: "{one}"\n{b}: "{other}"' for a, b in ("AB", "BA"))


def press_late(test: AppTest, button: Any, **meanwhile: str) -> AppTest:
    """Press a button that a browser shows although the page is at another place by now, where these parameters lead."""
    button.click()
    asked = test._tree.get_widget_states()
    button.set_value(False)
    for name, value in meanwhile.items():
        test.query_params[name] = value
    return settled(settled(test.run())._run(asked))


def _component(test: AppTest, key: str, name: str = "forky_agraph") -> Any:
    found = [
        item
        for item in test.get("bidi_component")
        if f"-{key}." in f"{item.proto.id}." and item.proto.component_name == name
    ]
    if not found:
        raise KeyError(f"No {name} “{key}” on this page.")
    return found[0]
