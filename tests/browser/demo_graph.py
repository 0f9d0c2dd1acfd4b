"""A page that draws a made-up conversation with the graph and its twin, to be looked at and clicked on."""

from __future__ import annotations

import os
from types import MappingProxyType

import streamlit as st

from forky_core.model import Message, MessageId, Role, View
from forky_core.model.parts import MergePart, Part, TextPart
from forky_core.views.graph import build_graph, toggled
from pages.ui.chat.graph import draw_graph
from pages.ui.chat.twin import draw_twin
from pages.ui.components.style import apply_style

LINES = (
    "Suggest a name for our command line tool",
    "Three that are short and free on PyPI: forky, twig, splice. I would take forky: it says what it does",
    "Why does code generation fail on enums?",
    "The generator reads members before aliases are resolved. Sort by value first, then emit",
)


def small() -> tuple[dict[MessageId, Message], View]:
    messages: dict[MessageId, Message] = {}

    def say(id: str, *parents: str, role: Role | None = None, part: Part | None = None) -> str:
        made = part or TextPart(LINES[len(messages) % len(LINES)])
        above = messages[MessageId(parents[0])].role if parents else "assistant"
        whose: Role = role or ("assistant" if above == "user" else "user")
        messages[MessageId(id)] = Message(
            MessageId(id),
            tuple(map(MessageId, parents)),
            whose,
            (made,),
            created=len(messages),
        )
        return id

    at = say("m0")
    for number in range(1, 12):
        at = say(f"m{number}", at)
    side = "m5"
    for number in range(8):
        side = say(f"d{number}", side)
    say("r0", "m2", role="assistant")
    late = say("i0", "m9")
    late = say("i1", late)
    merged = say("merge", "m11", side, role="user", part=MergePart("squash", "debug", (), "what we learned"))
    at = say("m12", merged)
    at = say("m13", at)
    heads = {"main": at, "debug": side, "second opinion": late}
    entries = {f"heads/{name}": {"at": head} for name, head in heads.items()}
    entries |= {"kept/r0": True, "tags/v1": {"at": "m3"}}  # type: ignore[dict-item]
    return messages, View(MappingProxyType(entries), 1)


def large() -> tuple[dict[MessageId, Message], View]:
    """1,000 messages: a trunk of 600 and 100 forks of four."""
    messages: dict[MessageId, Message] = {}
    heads: dict[str, str] = {}

    def say(id: str, above: str | None) -> None:
        number = len(messages)
        messages[MessageId(id)] = Message(
            MessageId(id),
            (MessageId(above),) if above else (),
            "assistant" if above and messages[MessageId(above)].role == "user" else "user",
            (TextPart(f"{id}: {LINES[number % len(LINES)]}"),),
            created=number,
        )

    for number in range(600):
        say(f"t{number}", f"t{number - 1}" if number else None)
    for fork in range(100):
        above = f"t{fork * 6 % 597 + 1}"
        for number in range(4):
            say(f"s{fork}.{number}", above)
            above = f"s{fork}.{number}"
        heads[f"side {fork:02}"] = above
    heads["main"] = "t599"
    return messages, View(MappingProxyType({f"heads/{n}": {"at": h} for n, h in heads.items()}), 1)


def main() -> None:
    st.set_page_config(page_title="Graph", layout="wide")
    apply_style()
    size = st.query_params.get("size", os.environ.get("DEMO", "small"))
    messages, view = st.cache_resource(large if size == "large" else small)()
    held = st.session_state
    held.setdefault("at", view.branch("main").head)
    held.setdefault("folds", frozenset())
    held.setdefault("a", None)
    held.setdefault("b", None)
    graph = build_graph(
        messages,
        view,
        current=held.at,
        mark_a=held.a,
        mark_b=held.b,
        open_folds=held.folds,
        limit=int(st.query_params.get("rows", 80)) if size == "large" else 150,
    )
    left, right = st.columns(2)
    with left:
        clicked = draw_graph(graph, "graph") if st.query_params.get("only") != "twin" else None
    with right:
        gesture = draw_twin(graph, "twin") if st.query_params.get("only") != "graph" else None
    st.text(f"at {held.at} a {held.a} b {held.b}")
    done = gesture or clicked
    if done is None:
        return
    act, id = done.act, done.id
    if id.startswith("fold:"):
        held.folds = toggled(held.folds, id)
    elif act == "mark_a":
        held.a = id
    elif act == "mark_b":
        held.b = id
    else:
        held.at = id
    st.rerun()


main()
