"""The part of the People page about spending: what one may still spend, what was spent on what, and for owners
everybody's accounts and limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from html import escape

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.gateway.downloading import Download
from forky_core.team.spending.amounts import money, said
from forky_core.team.spending.ledger import BY, By, Sum, as_csv
from forky_core.team.spending.limits import limit_text
from forky_core.team.spending.spending_desk import Account, SpendingDesk
from forky_core.views.shelf import count, title_or_placeholder
from pages.ui.components.downloads import download_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.people.spending_dialogs import change_account, change_everybody
from pages.ui.people.spending_style import apply_spending_style
from pages.ui.people.style import who
from pages.ui.session import Session

_BY: Mapping[By, str] = {
    "person": "Person",
    "model": "Model",
    "conversation": "Conversation",
    "branch": "Branch",
    "day": "Day",
}
_DAYS: Mapping[str, int] = {"Today": 1, "7 days": 7, "30 days": 30, "Ever": 0}
_SHOWN = 50
_UNSEEN = "A conversation that you do not see"


def draw_spending(desk: SpendingDesk, forky: Workspace, held: Session) -> None:
    """Keys: `people.spending.everybody`, `people.spending.account.<handle>`, and those of the list."""
    apply_spending_style()
    _draw_own(desk)
    if desk.owns:
        _draw_accounts(desk, held)
    _draw_sums(desk, forky)


def _draw_own(desk: SpendingDesk) -> None:
    """What one may still spend, as large figures."""
    account = desk.account()
    figures = [
        _figure(said(unit, max(0, one.amount)), f"left of {said(unit, one.granted)}", one.amount, one.granted)
        for unit, one in account.balances.items()
    ]
    if not figures:
        figures.append(
            _figure("No credit yet", "Ask an owner to grant you some.")
            if account.limits.needs_credit
            else _figure("No balance", "Your spending needs no credit.")
        )
    limit, (dollars, messages) = account.limits, account.today
    of = f"today, of {money(limit.dollars_a_day)} a day" if limit.dollars_a_day is not None else "spent today"
    figures.append(_figure(money(dollars), of, dollars, limit.dollars_a_day, fills=True))
    if limit.messages_a_day is not None:
        of = f"today, of {limit.messages_a_day:,} a day"
        figures.append(_figure(said("messages", messages), of, messages, limit.messages_a_day, fills=True))
    month = desk.total(since=_since(30))
    own = f", and {money(month.own_dollars)} with your own keys" if month.own_dollars else ""
    figures.append(_figure(money(month.dollars), f"in 30 days{own}"))
    if account.may_store and (limit.stored_bytes is not None or limit.uploads_a_day is not None):
        figures.append(_figure("Files", account.may_store))
    st.html(f'<div class="fk-figures">{"".join(figures)}</div>')


def _figure(value: str, below: str, part: int = 0, whole: int | None = None, *, fills: bool = False) -> str:
    """One figure, with a bar of a part of a whole if there is one: of what is left, or with `fills` of what is used."""
    bar = ""
    if whole:
        share = max(0.0, min(1.0, part / whole))
        low = " fk-low" if (share >= 0.9 if fills else share <= 0.1) else ""
        bar = f'<span class="fk-bar{low}" aria-hidden="true"><i style="width:{share:.1%}"></i></span>'
    return f"<div><b>{escape(value)}</b><small>{escape(below)}</small>{bar}</div>"


def _draw_accounts(desk: SpendingDesk, held: Session) -> None:
    st.markdown("#### What each may spend")
    with st.container(key="accounts", gap=None):
        with st.container(key="row-account-everybody", horizontal=True, vertical_alignment="center"):
            limits = ", ".join(
                f"{name.replace('_', ' ')}: {limit_text(name, value)}"
                for name, value in desk.everybodys_limits().items()
            )
            below = limits or "Nothing is limited. Whoever has a balance or a limit of their own has that."
            st.html(who("Everybody", below))
            if st.button(
                "Limits …",
                key="people.spending.everybody",
                type="tertiary",
                icon=":material/tune:",
                width=120,
                help="Limits of whoever has none of their own",
            ):
                change_everybody(desk, held)
        for account in desk.accounts()[:_SHOWN]:
            _draw_account(desk, held, account)


def _draw_account(desk: SpendingDesk, held: Session, account: Account) -> None:
    member = account.member
    with st.container(key=f"row-account-{member.handle}", horizontal=True, vertical_alignment="center"):
        facts = " · ".join(fact for fact in (account.may_spend, account.may_store) if fact)
        st.html(who(member.name, facts, tag="Limits of their own" if account.own else ""))
        if st.button(
            "Change …",
            key=f"people.spending.account.{member.handle}",
            type="tertiary",
            icon=":material/account_balance_wallet:",
            width=120,
            help=f"Credit and limits of {plain_label(member.name, 40)}",
        ):
            change_account(desk, held, account)


def _draw_sums(desk: SpendingDesk, forky: Workspace) -> None:
    """Keys: `people.spending.by`, `people.spending.since`, `people.spending.csv`."""
    st.markdown("#### Who spent what" if desk.owns else "#### What you spent")
    everybody = desk.owns
    with st.container(key="line-sums", horizontal=True, vertical_alignment="center"):
        chosen = st.segmented_control(
            "Add up by",
            [one for one in BY if everybody or one != "person"],
            key="people.spending.by",
            required=True,
            default="person" if everybody else "model",
            format_func=_BY.__getitem__,
            label_visibility="collapsed",
        )
        since = st.segmented_control(
            "Of",
            list(_DAYS),
            key="people.spending.since",
            required=True,
            default="30 days",
            label_visibility="collapsed",
        )
    by: By = next(one for one in BY if one == chosen)
    day = _since(_DAYS[str(since)])
    sums = desk.sums(by, everybody=everybody, since=day)
    if not sums:
        st.caption("Nothing was spent in this time. Answers of models that cost something are listed here.")
        return
    titles = _titles(forky)
    most = max((one.dollars + one.own_dollars for one in sums), default=0)
    rows = "".join(_sum_row(_label(by, one, forky, titles), one, most) for one in sums[:_SHOWN])
    st.html(f'<ul class="fk-sums">{rows}</ul>')
    with st.container(key="line-sums-end", horizontal=True, vertical_alignment="center"):
        total = desk.total(everybody=everybody, since=day)
        more = f"The {_SHOWN} dearest of {len(sums)}. " if len(sums) > _SHOWN else ""
        st.caption(f"{more}{money(total.dollars)} for {count(total.calls, 'call')} in all.", width="stretch")
        download_link(
            Download(
                "forky-spending.csv",
                "text/csv",
                partial(_pieces, desk, forky, titles, everybody=everybody, day=day),
            ),
            key="people.spending.csv",
            label="Table (CSV)",
            main=False,
        )


def _sum_row(label: str, one: Sum, most: int) -> str:
    share = (one.dollars + one.own_dollars) / most if most else 0.0
    facts = [count(one.calls, "call")]
    if one.own_dollars:
        facts.append(f"{money(one.own_dollars)} with own keys")
    if one.unpriced:
        facts.append(f"{one.unpriced} of unknown price")
    return (
        f"<li><span>{escape(showable(label))}<small>{escape(' · '.join(facts))}</small></span>"
        f"<b>{escape(money(one.dollars))}</b>"
        f'<span class="fk-bar" aria-hidden="true"><i style="width:{share:.1%}"></i></span></li>'
    )


def _label(by: By, one: Sum, forky: Workspace, titles: Mapping[str, str]) -> str:
    if by == "person":
        return forky.name_of(one.key[0])
    if by in {"conversation", "branch"}:
        if not one.key[0]:
            return "Outside conversations"
        title = titles.get(one.key[0])
        if title is None:
            return _UNSEEN
        return f"{title} · {one.key[1] or 'no branch in particular'}" if by == "branch" else title
    return one.key[0]


def _pieces(
    desk: SpendingDesk, forky: Workspace, titles: Mapping[str, str], *, everybody: bool, day: str
) -> Iterator[bytes]:
    title_of: Callable[[str], str] = lambda id: titles.get(id, "")  # noqa: E731 - it is handed on
    yield from as_csv(desk.lines(everybody=everybody, since=day), forky.name_of, title_of)


def _titles(forky: Workspace) -> dict[str, str]:
    """Of the conversations that the reader sees, by their ids."""
    everything = (*forky.conversations(), *forky.conversations(trashed=True))
    return {line.id: title_or_placeholder(line.title) for line in everything}


def _since(days: int) -> str:
    """The first of the last so many days, with today; "" for 0: of all days."""
    return (datetime.now(UTC) - timedelta(days=days - 1)).date().isoformat() if days else ""
