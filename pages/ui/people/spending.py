"""The part of the People page about allowances: what one had and may have, and for owners everybody's."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from forky_core.conversation.allowance.account import LIMITS, account_text
from forky_core.conversation.allowance.amounts import MOST, NANO, amount_text
from forky_core.model.errors import ForkyError
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.people.spending_style import apply_spending_style
from pages.ui.people.style import who
from pages.ui.person import EVERYBODY, AllowanceDesk, Field, Fields, MemberAccount, allowance_text
from pages.ui.session import TabSession

_LABELS: Mapping[Field, str] = {
    "answers_a_day": "Answers a day",
    "dollars_a_day": "US dollars a day",
    "answers_in_all": "Answers in all",
    "dollars_in_all": "US dollars in all",
    "unpriced": "Models whose price nobody knows",
}
_SHOWN = 50


def draw_spending(desk: AllowanceDesk, tab: TabSession) -> None:
    """Keys: `people.spending.everybody`, `people.spending.account.<handle>`."""
    apply_spending_style()
    _draw_mine(desk.mine())
    if desk.owns:
        _draw_everybodys(desk, tab)


def _draw_mine(mine: MemberAccount) -> None:
    """What one had, as large figures with bars."""
    figures = []
    for name, unit, limit in mine.allowance.limits():
        used = mine.account.used(name)
        if limit is not None:
            of = f"{'today' if name.endswith('day') else 'so far'}, of {amount_text(unit, limit)}"
            figures.append(_figure(amount_text(unit, used), of, used / limit if limit else 1.0))
        elif unit == "dollars":
            figures.append(_figure(amount_text(unit, used), "today" if name.endswith("day") else "so far"))
    st.html(f'<div class="fk-figures">{"".join(figures)}</div>')


def _figure(value: str, below: str, share: float | None = None) -> str:
    bar = ""
    if share is not None:
        low = " fk-low" if share >= 0.9 else ""
        width = f"{max(0.0, min(1.0, share)):.1%}"
        bar = f'<span class="fk-bar{low}" aria-hidden="true"><i style="width:{width}"></i></span>'
    return f"<div><b>{escape(value)}</b><small>{escape(below)}</small>{bar}</div>"


def _draw_everybodys(desk: AllowanceDesk, tab: TabSession) -> None:
    st.markdown("## What each may have")
    with st.container(key="accounts", gap=None):
        usual = allowance_text(desk.usual()) or "Nothing is limited but what is set for a single person."
        if _row("everybody", "Everybody", usual, "people.spending.everybody"):
            change_allowance(desk, tab, None)
        for account in desk.everybodys()[:_SHOWN]:
            handle, tag = account.member.handle, "Of their own" if account.own else ""
            key = f"people.spending.account.{handle}"
            if _row(handle, account.member.name, account.sentence, key, tag):
                change_allowance(desk, tab, account)


def _row(handle: str, name: str, facts: str, key: str, tag: str = "") -> bool:
    """A line of the list; whether its button was pressed."""
    with st.container(key=f"row-account-{handle}", horizontal=True, vertical_alignment="center"):
        st.html(who(name, facts, tag=tag))
        help = f"The allowance of {plain_label(name, 40)}"
        return quiet_button("Change …", key, icon="account_balance_wallet", width=120, help=help)


@st.dialog("Allowance", icon=":material/account_balance_wallet:", width="medium")
def change_allowance(desk: AllowanceDesk, tab: TabSession, account: MemberAccount | None) -> None:
    draw_form(desk, tab, account)


def draw_form(desk: AllowanceDesk, tab: TabSession, account: MemberAccount | None) -> None:
    """The allowance of one member, or of everybody. Keys: `spend.<field>`, `spend.none`, `spend.save`."""
    person, name = (
        (account.member.id, account.member.name) if account is not None else (EVERYBODY, "Everybody")
    )
    known = account.own if account is not None else desk.usual()
    if account is not None:
        st.html(who(name, account_text(account.allowance, account.account)))
    st.caption(
        "An empty field: everybody’s holds. " * (account is not None)
        + "A day begins at midnight UTC. The offline models are never limited."
    )
    with st.form("spend", border=False):
        found: dict[Field, int | None] = {}
        columns = st.columns(2)
        for at, limit in enumerate(LIMITS):
            value = _number(columns[at % 2], limit, known.get(limit), desk.usual() if account else {})
            if value is not None:
                found[limit] = value
        if account is not None:
            free = st.multiselect(
                "Not limited for this person",
                LIMITS,
                default=[limit for limit in LIMITS if limit in known and known[limit] is None],
                key="spend.none",
                format_func=_LABELS.__getitem__,
                placeholder="nothing: everybody’s allowance holds",
            )
            found = {**dict.fromkeys(free), **found}
        usual = bool(desk.usual().get("unpriced")) if account is not None else False
        unpriced = st.toggle(
            f"{_LABELS['unpriced']} count as answers alone",
            value=bool(known.get("unpriced", usual)),
            key="spend.unpriced",
            help="Otherwise such a model cannot be asked by somebody whose money is limited.",
        )
        pressed = st.form_submit_button("Save", key="spend.save", type="primary")
    if not pressed:
        return
    if unpriced != usual:
        found["unpriced"] = int(unpriced)
    try:
        desk.set(person, found)
    except ForkyError as error:
        st.error(plain_label(str(error), 400))
        return
    tab.say(f"Saved the allowance of {name}.")
    st.rerun()


def _number(
    column: st.delta_generator.DeltaGenerator, limit: Field, now: int | None, usual: Fields
) -> int | None:
    """A field for a number; None where it is empty."""
    one = NANO if limit.startswith("dollars") else 1
    everybodys = usual.get(limit)
    empty = "no limit" if everybodys is None else f"{everybodys / one:g}, as everybody"
    label, key = _LABELS[limit], f"spend.{limit}"
    value: float | None
    if one == NANO:
        most, shown = MOST["dollars"] / NANO, None if now is None else now / NANO
        value = column.number_input(label, 0.0, most, shown, step=0.5, key=key, placeholder=empty)
    else:
        value = column.number_input(label, 0, MOST["answers"], now, step=1, key=key, placeholder=empty)
    return None if value is None else round(value * one)
