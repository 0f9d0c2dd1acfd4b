"""The part of Settings about models: the default model, keys, and servers that speak OpenAI's protocol.

The result of a test stays in this tab's session; a key never does.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.llm import loading
from forky_core.llm.catalogue import Catalogue
from forky_core.llm.contract import OFFLINE, Done, Failed
from forky_core.llm.probing import ServerProposal
from forky_core.llm.providers import PROVIDERS
from forky_core.llm.status import ProviderStatus
from forky_core.model.errors import ForkyError
from forky_core.preferences import (
    add_server,
    choose_default,
    choose_verifier,
    chosen_default,
    chosen_verifier,
    remove_server,
)
from pages.ui.components.buttons import button, main_button, quiet_button
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import choose_model, label_of
from pages.ui.frame import saying
from pages.ui.secrets import read_secrets
from pages.ui.session import TabSession

_KEYED = frozenset(provider.id for provider in PROVIDERS)
_SHOWN = 4
"""How many providers the page shows at first; it always shows those with a key."""
_REFUSED = "settings.refused"
"""The key of the session's choice that says why the last address was refused."""
_LOOKING_AGAIN = 2.0
"""Seconds between two updates while the search for servers runs."""


def draw_default(forky: Workspace, models: Catalogue, tab: TabSession) -> None:
    """Keys: `settings.default`."""
    st.markdown("## Default model")
    chosen = chosen_default(forky.store)
    choose_model(
        models,
        "Answers on branches that name no model",
        "settings.default",
        chosen,
        none="Automatic",
        disabled=models.default_is_set_outside,
        help="FORKY_MODEL decides; unset it to choose here." if models.default_is_set_outside else None,
        on_change=_choose_default,
        args=(forky, models, tab),
    )
    if chosen is None:
        st.caption(plain_label(f"At present that is {label_of(models, models.default())}.", 200))


def _choose_default(forky: Workspace, models: Catalogue, tab: TabSession) -> None:
    name = st.session_state["settings.default"] or None
    names = {info.name for info in models.models()} | {None, chosen_default(forky.store)}
    if name not in names:
        return  # Streamlit identifies an option by its label, so a model whose label changed looks like a new option.
    with saying(tab):
        choose_default(forky.store, models, name)
        label = next((info.label for info in models.models() if info.name == name), name)
        tab.say(f"The default model is {label or 'chosen automatically'} from now on.")


def draw_verifier(forky: Workspace, models: Catalogue) -> None:
    """Keys: `settings.verifier`."""
    chosen = chosen_verifier(forky.store)
    if chosen is None and all(info.provider == OFFLINE for info in models.models()):
        return
    choose_model(
        models,
        "Verifies notes that a model wrote",
        "settings.verifier",
        chosen,
        none="The model that wrote it",
        offline=False,
        help="It reads each sentence of the note beside the branch. What the branch contradicts is left out, and what it does "
        "not show is marked, with the place; the words stay the writer's. Each note costs one more call. It is also the one that "
        "examines branches and answers side by side when somebody presses for it.",
        on_change=lambda: choose_verifier(forky.store, st.session_state["settings.verifier"] or None),
    )


def draw_keyed(models: Catalogue, tab: TabSession) -> None:
    """Keys: `settings.test.<id>`, `settings.key.<id>`, `settings.save.<id>`, `settings.forget.<id>`."""
    st.markdown("## Providers")
    problem = read_secrets().problem
    if problem:
        st.warning(plain_label(problem, 400))
    everyone = models.providers()
    offline = [status for status in everyone if status.id == "offline"]
    found = [status for status in everyone if status.id in _KEYED and status.found]
    missing = [status for status in everyone if status.id in _KEYED and not status.found]
    if not found:
        who = ", so the offline models answer" if models.default().startswith("offline/") else ""
        st.caption(
            f"No key is set{who}. Set one of these variables before starting Forky, write it to `.streamlit/secrets.toml`, or "
            "enter a key for as long as this server runs."
        )
    shown = max(0, _SHOWN - len(found))
    with st.container(key="providers", gap=None):
        for status in (*offline, *found, *missing[:shown]):
            _draw_row(models, tab, status)
        if missing[shown:]:
            with st.expander(f"{len(missing[shown:])} more providers", key="settings.more", type="compact"):
                for status in missing[shown:]:
                    _draw_row(models, tab, status)


def draw_servers(forky: Workspace, models: Catalogue, tab: TabSession) -> None:
    """Keys: `settings.refresh`, `settings.url`, `settings.add`, `settings.remove.<id>`, and those of a row.

    A server that somebody wants to add is proposed first: `settings.agree`, `settings.decline`.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("## Servers", width="stretch")
        nobody = not _servers(models)
        if quiet_button(
            "Look again",
            "settings.refresh",
            icon="refresh",
            disabled=nobody,
            help="There is nobody to look for: FORKY_PROBE is off, and no address was added"
            if nobody
            else None,
        ):
            models.refresh(now=True, wait=5.0)
    looking = any("Looking" in status.sentence for status in models.providers())
    st.fragment(error_boundary(_draw_found), run_every=_LOOKING_AGAIN if looking else None)(
        forky, models, tab
    )
    if (proposed := tab.proposed_server) is not None:
        _draw_proposal(proposed, forky, models, tab)
        return
    with (
        st.form("settings.server", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input(
            "Add a server that speaks OpenAI's protocol",
            key="settings.url",
            placeholder="http://192.168.1.20:8000/v1",
            max_chars=300,
        )
        st.form_submit_button(
            "Add", key="settings.add", icon=":material/add:", on_click=_propose, args=(models, tab)
        )
    if refused := tab.choices.get(_REFUSED):
        st.error(plain_label(refused, 400))


def _propose(models: Catalogue, tab: TabSession) -> None:
    """Propose the typed address. A refused address stays in the field, with the reason below."""
    tab.choices.pop(_REFUSED, None)
    try:
        tab.proposed_server = models.propose_server(st.session_state["settings.url"] or "")
    except ForkyError as error:
        tab.choices[_REFUSED] = str(error)
    else:
        st.session_state["settings.url"] = ""


def _draw_proposal(proposed: ServerProposal, forky: Workspace, models: Catalogue, tab: TabSession) -> None:
    """Show which requests Forky will send to a server, and ask for agreement."""
    server = proposed.server
    with st.container(border=True, key="settings-proposal", gap="small"):
        st.markdown(
            f"**Add {plain_label(server.label)}?** From the computer on which it runs, Forky will send:"
        )
        st.code(f"GET {server.list_url}", language=None, wrap_lines=True)
        st.caption(
            "It is sent now, and whenever Forky looks for models. When one of the models is asked, Forky sends it the "
            "conversation, with the key that you enter for this server:"
        )
        st.code(f"POST {server.base_url}/chat/completions", language=None, wrap_lines=True)
        if (note := _note_on(proposed)) is not None:
            st.warning(plain_label(note, 400))
        with st.container(horizontal=True):
            main_button("Add and ask it", "settings.agree", _agree, proposed, forky, models, tab)
            button("Cancel", "settings.decline", _decline, tab)


def _note_on(proposed: ServerProposal) -> str | None:
    """Return a warning about the server's address, or None."""
    host = urlsplit(proposed.url).hostname or ""
    resolved = f"“{host}” stands for {', '.join(proposed.addresses)}" if proposed.addresses else ""
    if proposed.network == "private":
        where = (
            f"{resolved}, which is in a private network" if resolved else f"{host} is in a private network"
        )
        return f"{where}. Add it only if you know what answers there."
    if proposed.network == "public" and proposed.url.startswith("http:"):
        return (
            "The connection is not encrypted: whoever is on the way can read the conversations and the key. "
            "Use https where the server has it."
        )
    return None


def _agree(proposed: ServerProposal, forky: Workspace, models: Catalogue, tab: TabSession) -> None:
    tab.proposed_server = None
    with saying(tab):
        id = add_server(forky.store, models, proposed)
        models.refresh(now=True, wait=4.0)
        if models.needs_litellm():
            loading.warm_up()
        tab.say(f"Added {id}.")


def _decline(tab: TabSession) -> None:
    tab.proposed_server = None


def _servers(models: Catalogue) -> list[ProviderStatus]:
    """Return the servers that Forky looks for."""
    return [status for status in models.providers() if status.id not in (*_KEYED, "offline")]


def _draw_found(forky: Workspace, models: Catalogue, tab: TabSession) -> None:
    """Draw a row for each server that answers or was added, and one line for the usual ones that do not answer."""
    servers = _servers(models)
    shown = [status for status in servers if status.found or status.id in models.further_servers]
    if not servers:
        st.caption(
            "None is looked for: `FORKY_PROBE` is off. Unset it to find those on this machine, or add an address."
        )
        return
    silent = [status.name for status in servers if status not in shown]
    with st.container(key="servers", gap=None):
        for status in shown:
            _draw_row(models, tab, status, forky)
    if any("Looking" in status.sentence for status in servers):
        st.caption(f"Looking for {', '.join(silent)} …")
    elif silent:
        st.caption(
            f"Not running on this machine: {', '.join(silent)}. Start one, and its models are found here."
        )


def _draw_row(
    models: Catalogue, tab: TabSession, status: ProviderStatus, forky: Workspace | None = None
) -> None:
    with st.container(key=f"row-provider-{status.id}", horizontal=True, vertical_alignment="center"):
        mark = ":green[:material/check_circle:]" if status.found else ":gray[:material/circle:]"
        st.markdown(f"{mark} **{plain_label(status.name)}**", width=190)
        st.caption(_sentence(status), width="stretch")
        if status.found and st.button("Test", key=f"settings.test.{status.id}", type="tertiary"):
            with st.spinner("Asking …", width="content"):
                tab.choices[f"settings.test.{status.id}"] = _result(models.test(_tested(status)))
        if status.id in _KEYED or (forky is not None and status.base_url):
            _draw_key(models, tab, status)
        if forky is not None and status.id in models.added_servers:
            quiet_button(
                "Look there no more",
                f"settings.remove.{status.id}",
                _remove,
                forky,
                models,
                tab,
                status,
                icon="delete",
                help="Look there no more",
            )
    result = tab.choices.get(f"settings.test.{status.id}")
    if result:
        st.caption(result)


def _sentence(status: ProviderStatus) -> str:
    sentence = plain_label(status.sentence, 300)
    if status.id in _KEYED and status.found and status.models:
        sentence += f" {status.models} models on offer."
    if status.base_url and (status.found or status.id in _KEYED):
        sentence += f" {plain_label(status.base_url)}"
    return sentence


def _tested(status: ProviderStatus) -> str:
    return "offline/quote" if status.id == "offline" else status.id


def _result(end: Done | Failed) -> str:
    """Return the result of a test as one line."""
    if isinstance(end, Failed):
        return f":red[:material/error:] {plain_label(end.failure.sentence, 400)}"
    tokens = end.usage.completion_tokens
    size = f", {tokens} tokens" if tokens else ""
    return f":green[:material/check:] It answered{size}."


def _draw_key(models: Catalogue, tab: TabSession, status: ProviderStatus) -> None:
    """Draw a field for a key. The handler passes the key to the catalogue and empties the field at once."""
    label = "Replace key" if status.key not in ("missing", "not needed") else "Enter key"
    with st.popover(label, key=f"settings.open.{status.id}", type="tertiary", icon=":material/key:"):
        with st.form(f"settings.form.{status.id}", border=False, clear_on_submit=True):
            st.text_input(
                f"Key for {plain_label(status.name)}",
                key=f"settings.key.{status.id}",
                type="password",
                autocomplete="off",
                help="Kept in this server's memory until it stops; never stored and never shown again.",
            )
            st.form_submit_button(
                "Use it", key=f"settings.save.{status.id}", on_click=_save, args=(models, tab, status)
            )
        if status.key == "entered":
            quiet_button("Forget it", f"settings.forget.{status.id}", _forget, models, tab, status)


def _save(models: Catalogue, tab: TabSession, status: ProviderStatus) -> None:
    field = f"settings.key.{status.id}"
    key, st.session_state[field] = st.session_state[field], ""
    tab.choices.pop(f"settings.test.{status.id}", None)
    if not (key or "").strip():
        tab.say("No key was typed; nothing changed.")
        return
    with saying(tab):
        models.set_key(status.id, key)
        loading.warm_up()
        tab.say(f"The key for {status.name} is in memory until Forky stops. Test it below.")


def _forget(models: Catalogue, tab: TabSession, status: ProviderStatus) -> None:
    tab.choices.pop(f"settings.test.{status.id}", None)
    with saying(tab):
        models.set_key(status.id, None)
        tab.say(f"The key for {status.name} is forgotten.")


def _remove(forky: Workspace, models: Catalogue, tab: TabSession, status: ProviderStatus) -> None:
    with saying(tab):
        remove_server(forky.store, models, status.id)
        tab.say(f"{status.name} is no longer looked at.")
