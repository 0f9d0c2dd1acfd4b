"""The part of Settings about other programs: tokens for `/v1`, and what to paste into a client.

The text of a new token is in this tab's session until its owner has copied it; after that nobody can show it again.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.allowance.account import Allowance, account_text
from forky_core.conversation.allowance.amounts import nanodollars
from forky_core.gateway.member_tokens import MemberTokens, TokenDesk
from forky_core.gateway.pasting import agent_lines, lines_to_paste
from forky_core.gateway.tokens import REACHES, Token, Tokens
from forky_core.model.errors import ForkyError
from forky_core.views.times import stamp
from pages.ui.components.buttons import button, quiet_button
from pages.ui.components.links import server_address
from pages.ui.components.markdown import plain_label
from pages.ui.components.only_reading import draw_refusal
from pages.ui.frame import saying
from pages.ui.person import viewer
from pages.ui.session import TabSession
from pages.ui.workspace import whole_workspace, workspace

_WHOSE = " Yours see and do what you may. Owners see everybody’s."
_OWN, _EVERY = REACHES
_EMPTY = {
    "name": "",
    "models": "",
    "daily": None,
    "in_all": None,
    "answers": None,
    "answers_in_all": None,
    "unpriced": False,
    "records": True,
    "analysis": False,
    "scopes": (),
    "reach": _OWN,
    "metrics": False,
}
"""The fields of the form before anything is entered."""
_MAY = {
    "read": "read",
    "ask": "ask models",
    "propose": "ask for reviews",
    "review": "review",
    "land": "bring in and undo",
}
"""The scopes of a token in plain words."""
_MOST_CHATS = 100
"""How many chats, the latest first, a token can be made for by itself."""


def draw_tokens(tab: TabSession) -> None:
    """Keys: `settings.token.` with `name`, `models`, the limits, `unpriced`, `records`, `analysis`, `scopes`, `reach`,
    `metrics`, `make`, `copied`, and those of a row.
    """
    who = viewer()
    everything = Tokens(whole_workspace().store)
    tokens: TokenDesk = everything if who.alone else MemberTokens(everything, who.access)
    st.markdown("## Other programs")
    st.caption(
        "Any program that speaks OpenAI's or Anthropic's protocol can ask models through Forky, at "
        f"`{server_address()}/v1`. Each gets a token of its own; its conversations appear in the Library as they happen."
        f"{'' if who.alone else _WHOSE}"
    )
    if text := tab.choices.get("settings.token.fresh"):
        _draw_fresh(tab, tab.choices["settings.token.fresh.name"], text)
    everyone = tokens.all()
    with st.container(key="tokens", gap=None):
        for token in everyone:
            if not token.revoked:
                _draw_row(tokens, tab, token)
    revoked = [token for token in everyone if token.revoked]
    if revoked:
        st.caption(f"Revoked: {', '.join(plain_label(token.name) for token in revoked[-10:])}.")
    if not draw_refusal(who.why_not("begin", "make tokens")):
        _draw_form(tokens, tab)


def _draw_fresh(tab: TabSession, name: str, text: str) -> None:
    with st.container(border=True, key="token-fresh"):
        st.markdown(f"**The token for {plain_label(name)}.** Copy it now: it is not shown again.")
        st.code(text, language=None, wrap_lines=True)
        if not tab.choices.get("settings.token.fresh.metrics"):
            st.caption("Or paste these lines into the shell that starts the program:")
            st.code(lines_to_paste(server_address(), text), language="sh", wrap_lines=True)
        if tab.choices.get("settings.token.fresh.scopes"):
            st.caption("Claude Code and Codex are told of Forky like this:")
            st.code(agent_lines(server_address(), text), language="sh", wrap_lines=True)
        button("I have copied it", "settings.token.copied", _copied, tab)


def _draw_row(tokens: TokenDesk, tab: TabSession, token: Token) -> None:
    with st.container(key=f"row-provider-token-{token.id}", horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/key: **{plain_label(token.name)}**", width=190)
        st.caption(_rights(tokens, token), width="stretch")
        if not token.metrics:
            _draw_recording(tokens, tab, token)
        quiet_button(
            "Revoke",
            f"settings.token.revoke.{token.id}",
            _revoke,
            tokens,
            tab,
            token,
            icon="block",
            help="Refused from the next call on, for good",
        )


def _draw_recording(tokens: TokenDesk, tab: TabSession, token: Token) -> None:
    st.toggle(
        "Record",
        value=token.records,
        key=f"settings.token.records.{token.id}",
        help="Whether what this program asks is kept as conversations",
        on_change=_record,
        args=(tokens, tab, token),
    )


def _rights(tokens: TokenDesk, token: Token) -> str:
    if token.metrics:
        return f"…{plain_label(token.ending)} · reads /metrics · made {stamp(token.created)}"
    models = ", ".join(plain_label(name) for name in token.models) or "every model"
    whose = f" · of {plain_label(token.person, 40)}" if token.person and token.person != viewer().id else ""
    money = account_text(token.allowance, tokens.account(token))
    if token.allowance.limits_money and token.unpriced:
        money += ", unknown prices aside"
    reads = " · reads every conversation as tables" if token.analysis else ""
    if token.scopes:
        may = ", ".join(_MAY[scope] for scope in _MAY if scope in token.scopes)
        reads += f" · may {may}: {plain_label(_reach_label(token.reach))}"
    reads += " · asks for reviews and brings nothing in" if token.proposes else ""
    return f"…{plain_label(token.ending)} · {models} · {plain_label(money)}{reads} · made {stamp(token.created)}{whose}"


def _draw_form(tokens: TokenDesk, tab: TabSession) -> None:
    with (
        st.expander("Make a token", key="settings.token.open", icon=":material/add:"),
        st.form("settings.token", border=False),
    ):
        for name, empty in _EMPTY.items():
            st.session_state.setdefault(f"settings.token.{name}", empty)
        st.text_input("Name", key="settings.token.name", placeholder="aider on the laptop")
        st.text_input(
            "Models it may use",
            key="settings.token.models",
            placeholder="every model",
            help="Names separated by commas; * stands for any characters: gpt-4o, ollama/*",
        )
        left, right = st.columns(2)
        for column, name, label in (
            (left, "daily", "US dollars a day"),
            (right, "in_all", "US dollars in all"),
            (left, "answers", "Answers a day"),
            (right, "answers_in_all", "Answers in all"),
        ):
            money = label.startswith("US")
            column.number_input(
                label,
                key=f"settings.token.{name}",
                value=None,
                min_value=0.0 if money else 0,
                step=1.0 if money else 1,
                placeholder="no limit",
                help="A day begins at midnight UTC. Before a call the most that it can cost is set aside, and the rest is "
                "given back; with a small `max_tokens` more calls fit. 0 leaves the models that cost nothing.",
            )
        st.checkbox(
            "Models whose price nobody knows, too: they count as answers alone",
            key="settings.token.unpriced",
            help="Else a token whose money is limited may not use them.",
        )
        st.checkbox("Record its conversations", key="settings.token.records")
        st.checkbox(
            "Also read every conversation, as tables",
            key="settings.token.analysis",
            help="For `forky sql --server` and a notebook: it downloads all that you may read. Without this, a token reaches "
            "its own calls alone.",
        )
        st.pills(
            "What an agent may do with it",
            tuple(_MAY),
            selection_mode="multi",
            format_func=lambda scope: f"may {_MAY[scope]}",
            key="settings.token.scopes",
            help="For agents that work in your chats, by MCP, HTTP or the command line. Without one of these, a token asks "
            "models and no more. Unless it may bring in, it writes on branches of its own, below its name.",
        )
        st.selectbox(
            "Which chats it sees then",
            (_OWN, _EVERY, *(chat.id for chat in workspace().conversations()[:_MOST_CHATS])),
            format_func=_reach_label,
            key="settings.token.reach",
        )
        st.checkbox(
            "Only read /metrics",
            key="settings.token.metrics",
            help="For a monitoring program on a server that FORKY_METRICS=on opens to it: it can ask no model.",
        )
        if refused := tab.choices.pop("settings.token.refused", None):
            st.error(plain_label(refused, 400), icon=":material/error:")
        st.form_submit_button("Make it", key="settings.token.make", on_click=_make, args=(tokens, tab))


def _make(tokens: TokenDesk, tab: TabSession) -> None:
    """Make a token. If it is refused, the reason appears above the button, and the fields stay as they are."""
    chosen = {name: st.session_state[f"settings.token.{name}"] for name in _EMPTY}
    try:
        made = tokens.make(
            chosen["name"] or "",
            models=(chosen["models"] or "").split(","),
            allowance=Allowance(
                chosen["answers"],
                _nano(chosen["daily"]),
                chosen["answers_in_all"],
                _nano(chosen["in_all"]),
                unpriced=bool(chosen["unpriced"]),
            ),
            records=bool(chosen["records"]),
            metrics=bool(chosen["metrics"]),
            analysis=bool(chosen["analysis"]),
            scopes=chosen["scopes"] or (),
            reach=chosen["reach"] or _OWN,
        )
    except ForkyError as error:
        tab.choices["settings.token.refused"] = str(error)
        return
    tab.choices |= {
        "settings.token.fresh": made.text,
        "settings.token.fresh.name": made.token.name,
        "settings.token.fresh.metrics": "yes" if made.token.metrics else "",
        "settings.token.fresh.scopes": "yes" if made.token.scopes else "",
    }
    for name, empty in _EMPTY.items():
        st.session_state[f"settings.token.{name}"] = empty


def _reach_label(reach: str) -> str:
    """Which chats a token sees, in plain words."""
    if reach in REACHES:
        return "those that it began" if reach == _OWN else "every chat that you may see"
    title = next((chat.title for chat in workspace().conversations() if chat.id == reach), "")
    return f"“{title or 'one chat'}” and those that it began"


def _nano(dollars: float | None) -> int | None:
    return None if dollars is None else nanodollars(dollars)


def _copied(tab: TabSession) -> None:
    for name in ("", ".name", ".metrics", ".scopes"):
        tab.choices.pop(f"settings.token.fresh{name}", None)


def _record(tokens: TokenDesk, tab: TabSession, token: Token) -> None:
    records = bool(st.session_state[f"settings.token.records.{token.id}"])
    with saying(tab):
        tokens.change(token.id, records=records)
        tab.say(
            f"What {token.name} asks is {'recorded' if records else 'not recorded'} from the next call on."
        )


def _revoke(tokens: TokenDesk, tab: TabSession, token: Token) -> None:
    with saying(tab):
        tokens.revoke(token.id)
        tab.say(f"The token of {token.name} is refused from now on.")
