"""The dialogs in which an owner grants credit and sets limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from forky_core.model.errors import ForkyError
from forky_core.team.spending.amounts import NANO, UNITS, Unit, read_amount, said
from forky_core.team.spending.limits import EVERYBODY, LimitName
from forky_core.team.spending.spending_desk import Account, SpendingDesk
from pages.ui.components.markdown import plain_label
from pages.ui.people.style import who
from pages.ui.session import Session

_MB = 1_000_000
_UNIT_NAMES: Mapping[Unit, str] = {"dollars": "US dollars", "messages": "Messages"}
_FIELDS: Mapping[LimitName, tuple[str, float, float]] = {
    "dollars_a_day": ("Dollars a day", 0.5, NANO),
    "messages_a_day": ("Messages a day", 1.0, 1),
    "requests_a_minute": ("Requests a minute", 1.0, 1),
    "uploads_a_day": ("Files a day", 1.0, 1),
    "stored_bytes": ("MB of files in all", 10.0, _MB),
}
"""Of each limit that is a number: its label, the step of its field, and what one of its unit is as it is stored."""
_SWITCHES: tuple[tuple[LimitName, str, str], ...] = (
    (
        "needs_credit",
        "May spend only credit",
        "Whoever was granted nothing then asks only the offline models.",
    ),
    (
        "counts_unpriced",
        "Models without a known price count as messages",
        "Otherwise such a model cannot be asked by somebody whose money is limited.",
    ),
)
_MOST = 1_000_000.0


@st.dialog("Credit and limits", icon=":material/account_balance_wallet:", width="medium")
def change_account(desk: SpendingDesk, held: Session, account: Account) -> None:
    draw_account_form(desk, held, account)


def draw_account_form(desk: SpendingDesk, held: Session, account: Account) -> None:
    """Keys: `spend.unit`, `spend.amount`, `spend.grant`, `spend.take`, `spend.end`, and those of the limits."""
    st.html(who(account.member.name, account.may_spend))
    st.caption(
        "From the first grant on, this person spends only what they were granted. An answer costs what the provider "
        "charges for it, or one message."
    )
    with st.form("spend-credit", border=False):
        line = st.container(horizontal=True, vertical_alignment="bottom")
        unit: Unit = line.selectbox(
            "Credit in",
            UNITS,
            key="spend.unit",
            format_func=_UNIT_NAMES.__getitem__,
            index=UNITS.index("messages") if set(account.balances) == {"messages"} else 0,
        )
        amount = line.text_input("How much more", key="spend.amount", placeholder="5", max_chars=20)
        buttons = st.container(horizontal=True)
        grant = buttons.form_submit_button("Grant", key="spend.grant", type="primary")
        take = bool(account.balances) and buttons.form_submit_button("Take back", key="spend.take")
    if grant or take:
        _credit(desk, held, account, unit, amount, take=bool(take))
    if account.balances and st.button(
        "Spend without credit again", key="spend.end", type="tertiary", icon=":material/all_inclusive:"
    ):
        _done(
            held,
            f"{account.member.name} needs no credit any more.",
            lambda: desk.end_credit(account.member.id),
        )
    st.markdown("**Limits of their own**")
    st.caption("An empty field: everybody’s limit holds.")
    _draw_limits(desk, held, account.member.id, account.own, account.member.name)


@st.dialog("Limits of everybody", icon=":material/tune:", width="medium")
def change_everybody(desk: SpendingDesk, held: Session) -> None:
    draw_everybodys_form(desk, held)


def draw_everybodys_form(desk: SpendingDesk, held: Session) -> None:
    st.caption(
        "They hold for whoever has no limit of their own. An empty field is no limit. A day begins at midnight UTC."
    )
    _draw_limits(desk, held, EVERYBODY, desk.everybodys_limits(), "everybody")


def _credit(
    desk: SpendingDesk, held: Session, account: Account, unit: Unit, amount: str, *, take: bool
) -> None:
    member = account.member

    def change() -> None:
        number = read_amount(unit, amount)
        (desk.take_back if take else desk.grant)(member.id, unit, number)
        held.say(
            f"Took {said(unit, number)} back from {member.name}."
            if take
            else f"Granted {member.name} {said(unit, number)}."
        )

    _done(held, "", change)


def _draw_limits(
    desk: SpendingDesk, held: Session, person: str, known: Mapping[LimitName, int | None], name: str
) -> None:
    """Keys: `spend.limit.<name>`, `spend.none`, `spend.switch.<name>`, `spend.limits`."""
    found: dict[LimitName, int | None] = {}
    with st.form("spend-limits", border=False):
        columns = st.columns(2)
        for place, (limit, (label, step, one)) in enumerate(_FIELDS.items()):
            now = known.get(limit)
            empty = "no limit" if person == EVERYBODY or limit in known else "everybody’s"
            key, column = f"spend.limit.{limit}", columns[place % 2]
            value: float | None
            if one > 1:
                shown = None if now is None else now / one
                value = column.number_input(label, 0.0, _MOST, shown, step=step, key=key, placeholder=empty)
            else:
                value = column.number_input(
                    label, 0, int(_MOST), now, step=int(step), key=key, placeholder=empty
                )
            if value is not None:
                found[limit] = round(value * one)
        if person != EVERYBODY:
            free = st.multiselect(
                "Not limited for this person",
                list(_FIELDS),
                default=[limit for limit, value in known.items() if value is None and limit in _FIELDS],
                key="spend.none",
                format_func=lambda limit: _FIELDS[limit][0],
                placeholder="nothing: everybody’s limits hold",
            )
            found = {**dict.fromkeys(free), **found}
        usual = {} if person == EVERYBODY else desk.everybodys_limits()
        switches: dict[LimitName, bool] = {}
        for switch, label, help in _SWITCHES:
            now = known.get(switch, usual.get(switch))
            switches[switch] = st.toggle(label, value=bool(now), key=f"spend.switch.{switch}", help=help)
        if not st.form_submit_button("Save limits", key="spend.limits"):
            return
    found |= {switch: int(on) for switch, on in switches.items() if on != bool(usual.get(switch))}
    _done(held, f"Saved the limits of {name}.", lambda: desk.set_limits(person, found))


def _done(held: Session, sentence: str, change: Callable[[], object]) -> None:
    """Make a change and close the dialog; what is refused is said in it."""
    try:
        change()
    except ForkyError as error:
        st.error(plain_label(str(error), 400))
        return
    if sentence:
        held.say(sentence)
    st.rerun()
