"""What to look for: who judges, by which question and check, on which part of the branch."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.merging.bisecting import Bisection, Check, contains
from forky_core.conversation.merging.pattern_check import matches
from forky_core.model.errors import BadContent, ForkyError
from forky_core.views.graph import line_of_text
from forky_core.views.shelf import count
from pages.ui.bisect.search import Asked, begin, begin_asking
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.models import grouped, model_title
from pages.ui.frame import Frame, saying
from pages.ui.merge.choices import want

_CHECKS = {"contains": "contain these words", "matches": "match this regular expression"}
_REPEATS = (1, 3, 5)


def draw_form(frame: Frame) -> None:
    """Keys: `bisect.branch`, `bisect.judge`, `bisect.question`, `bisect.begin` and those of the two halves."""
    names = frame.branch_names()
    st.session_state["bisect.branch"] = frame.chat.branch_name
    who, branch = st.columns(2)
    with who:
        by_eye = (
            st.segmented_control(
                "Who judges",
                ("model", "eye"),
                default="model",
                key="bisect.judge",
                format_func={"model": "A model is asked", "eye": "I look at each message"}.__getitem__,
                required=True,
            )
            == "eye"
        )
    with branch:
        st.selectbox(
            "Branch",
            names,
            key="bisect.branch",
            format_func=lambda name: showable(name)[:60],
            on_change=lambda: want(b=st.session_state["bisect.branch"], m=None),
        )
    question = st.text_input(
        "What you look for (optional)" if by_eye else "What is asked at each message",
        key="bisect.question",
        max_chars=2_000,
        placeholder="e.g. Which database did we choose?",
    )
    asked = None if by_eye else _draw_asking(frame)
    search = _draw_part(frame)
    if search is None:
        return
    probes = f"At most {count(search.steps, 'probe')}"
    if asked is None:
        st.caption(f"{probes}.")
    else:
        st.caption(
            f"{probes}, {count(search.steps * asked[2], 'model call')}. Nothing of it enters the conversation."
        )
    st.button(
        "Begin",
        key="bisect.begin",
        type="primary",
        icon=":material/manage_search:",
        on_click=_begin,
        args=(frame, search, question.strip(), asked),
    )


def _draw_asking(frame: Frame) -> tuple[str, str, int, str]:
    """Check, what it looks for, repeats and model.

    Keys: `bisect.check`, `bisect.expected`, `bisect.repeats`, `bisect.model`.
    """
    left, right = st.columns(2)
    with left:
        check = st.selectbox(
            "A right answer must", list(_CHECKS), key="bisect.check", format_func=_CHECKS.__getitem__
        )
    with right:
        expected = st.text_input(
            "Words" if check == "contains" else "Expression", key="bisect.expected", max_chars=500
        )
    left, right = st.columns(2)
    with left:
        offered = grouped(frame.forky.models)
        usual = frame.chat.rules.current.model or frame.forky.models.default()
        names = list(offered) if usual in offered else [usual, *offered]
        model = st.selectbox(
            "Who is asked",
            names,
            index=names.index(usual),
            key="bisect.model",
            format_func=lambda name: model_title(offered.get(name), name),
        )
    with right:
        repeats = st.segmented_control(
            "Asked at each message",
            _REPEATS,
            default=1,
            key="bisect.repeats",
            format_func=lambda times: "once" if times == 1 else f"{times} times",
            required=True,
            help="A model does not always say the same; the majority counts.",
        )
    return check, expected, repeats or 1, model


def _draw_part(frame: Frame) -> Bisection | None:
    """The search over the whole branch, or a part of it. Keys: `bisect.good`, `bisect.bad`."""
    path = frame.chat.path()
    named: dict[str, str] = {
        message.id: f"{at}. {message.role}: {showable(line_of_text(message))[:70]}"
        for at, message in enumerate(path, 1)
    }
    with st.expander("Only a part of the branch", icon=":material/straighten:"):
        good = st.selectbox(
            "Still right at",
            [None, *named],
            key="bisect.good",
            format_func=lambda id: named.get(id or "", "before the first message"),
        )
        bad = st.selectbox(
            "Wrong at",
            [None, *named],
            key="bisect.bad",
            format_func=lambda id: named.get(id or "", "the last message"),
        )
    try:
        return frame.chat.bisections.start(good=good, bad=bad)
    except ForkyError as error:
        st.markdown(f":material/info: {plain_label(str(error), 300)}")
        return None


def _begin(frame: Frame, search: Bisection, question: str, asked: tuple[str, str, int, str] | None) -> None:
    with saying(frame.session):
        if asked is None:
            frame.session.searching = begin(frame.chat, search, question)
            return
        check, expected, repeats, model = asked
        if not question:
            raise BadContent("A probe needs a question.", "Ask what the conversation should still know.")
        if not expected.strip():
            raise BadContent(
                "What makes an answer right?", "Give words that it must contain, or an expression."
            )
        made: Check = contains(expected.strip()) if check == "contains" else matches(expected)
        frame.session.searching = begin_asking(frame.chat, search, Asked(question, made, repeats, model))
