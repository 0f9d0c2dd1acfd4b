"""The part of Settings about a member's own keys, which serve for their own questions only."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.llm import loading
from forky_core.llm.contract import Failed
from forky_core.llm.status import ProviderStatus
from forky_core.team.roles import Role
from forky_core.team.spending.guarded_models import GuardedModels
from forky_core.team.spending.provider_keys import StoredKey
from forky_core.team.spending.spending_desk import SpendingDesk
from forky_core.views.times import ago
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.session import Session
from pages.ui.workspace import reader

_SHOWN = 4
"""Providers on the page at first; those with a key always are."""


def draw_own_keys(forky: Workspace, held: Session) -> None:
    """Keys: `settings.own.more`, and those of a row. Draws nothing on the server of one person, or for a viewer."""
    who, models = reader(), forky.models
    if who is None or not isinstance(models, GuardedModels) or who.access.role < Role.COMMENTER:
        return
    desk = SpendingDesk(who.team, who.access)
    kept = {key.provider: key for key in desk.own_keys()}
    st.markdown("#### Your keys")
    st.caption(
        "A key of your own pays for your questions and for nobody else’s, before the workspace’s. It is stored encrypted, "
        "and never shown again. Owners see that there is one, and cannot use it."
    )
    everyone = models.own_keys()
    there = [status for status in everyone if status.id in kept]
    others = [status for status in everyone if status.id not in kept]
    shown = max(0, _SHOWN - len(there))
    with st.container(key="own-keys", gap=None):
        for status in (*there, *others[:shown]):
            _draw_row(desk, models, held, status, kept.get(status.id))
        if others[shown:]:
            with st.expander(
                f"{len(others[shown:])} more providers", key="settings.own.more", type="compact"
            ):
                for status in others[shown:]:
                    _draw_row(desk, models, held, status, None)


def _draw_row(
    desk: SpendingDesk, models: GuardedModels, held: Session, status: ProviderStatus, key: StoredKey | None
) -> None:
    """Keys: `settings.own.key.<id>`, `settings.own.save.<id>`, `settings.own.test.<id>`, `settings.own.remove.<id>`."""
    id, name = status.id, plain_label(status.name)
    with st.container(key=f"row-provider-own-{id}", horizontal=True, vertical_alignment="center"):
        mark = (
            ":green[:material/check_circle:]"
            if key is not None and not key.trouble
            else ":gray[:material/circle:]"
        )
        st.markdown(f"{mark} **{name}**", width=190)
        st.caption(_sentence(status, key), width="stretch")
        if key is not None and st.button("Test", key=f"settings.own.test.{id}", type="tertiary"):
            with st.spinner("Asking …", width="content"):
                end = models.test_own(id)
            held.choices[f"settings.own.test.{id}"] = (
                f":red[:material/error:] {plain_label(end.failure.sentence, 400)}"
                if isinstance(end, Failed)
                else ":green[:material/check:] It answered."
            )
        label = "Replace key" if key is not None else "Enter key"
        with st.popover(label, key=f"settings.own.open.{id}", type="tertiary", icon=":material/key:"):
            with st.form(f"settings.own.form.{id}", border=False, clear_on_submit=True):
                st.text_input(
                    f"Your key for {name}",
                    key=f"settings.own.key.{id}",
                    type="password",
                    autocomplete="off",
                    help="Stored encrypted; used for your questions only.",
                )
                st.form_submit_button(
                    "Use it", key=f"settings.own.save.{id}", on_click=_save, args=(desk, held, status)
                )
            if key is not None:
                st.button(
                    "Remove it",
                    key=f"settings.own.remove.{id}",
                    type="tertiary",
                    on_click=_remove,
                    args=(desk, held, status),
                )
    if told := held.choices.get(f"settings.own.test.{id}"):
        st.caption(told)


def _sentence(status: ProviderStatus, key: StoredKey | None) -> str:
    if key is None:
        return "The workspace’s key serves for you." if status.found else "No key."
    return plain_label(key.trouble, 300) if key.trouble else f"Yours, added {ago(key.added, now())}."


def _save(desk: SpendingDesk, held: Session, status: ProviderStatus) -> None:
    field = f"settings.own.key.{status.id}"
    key, st.session_state[field] = st.session_state[field], ""
    held.choices.pop(f"settings.own.test.{status.id}", None)
    with saying(held):
        desk.add_key(status.id, key or "")
        loading.warm_up()
        held.say(f"Your key for {status.name} is stored. Test it below.")


def _remove(desk: SpendingDesk, held: Session, status: ProviderStatus) -> None:
    held.choices.pop(f"settings.own.test.{status.id}", None)
    with saying(held):
        desk.remove_key(status.id)
        held.say(f"Your key for {status.name} is removed.")
