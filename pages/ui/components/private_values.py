"""What looks private in something that leaves, with a tick for each value that is to be replaced."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.formats.exporting.redaction import PrivateValue
from forky_core.views.shelf import count
from pages.ui.components.markdown import plain_label

_SHOWN = 60
"""Values listed at first; the others are replaced as well."""


def draw_private_values(
    seen: Sequence[PrivateValue], key: str, *, where: str = "in the file"
) -> list[PrivateValue]:
    """Draw them, and return those that are ticked; all are at first. `where` they are replaced. Keys: `<key>.<n>`."""
    if not seen:
        st.caption("No key, account or card number, e-mail address or phone number was found in it.")
        return []
    st.markdown(f"{count(len(seen), 'value')} may be private. What is ticked is replaced {where}.")
    ticked = []
    with st.container(key="share-findings", gap=None, height=220 if len(seen) > 4 else "content"):
        for number, finding in enumerate(seen[:_SHOWN]):
            place = finding.places[0]
            more = f" and {len(finding.places) - 1} more" if len(finding.places) > 1 else ""
            around = _unlinked(f"… {place.before} {finding.placeholder} {place.after} …", 120)
            label = f"{_unlinked(_short(finding.value), 60)} → {plain_label(finding.placeholder)}"
            if st.checkbox(label, value=True, key=f"{key}.{number}"):
                ticked.append(finding)
            st.caption(f"{plain_label(place.where, 80)}{more}: {around}")
    rest = seen[_SHOWN:]
    if rest:
        st.caption(f"{len(rest):,} more are replaced as well.")
    return [*ticked, *rest]


def _unlinked(text: str, limit: int) -> str:
    """As a label in which an address is no link to a mail program."""
    return plain_label(text, limit).replace("@", "@\u2060")


def _short(value: str) -> str:
    """Enough to know it by; a key is not shown whole."""
    return value if len(value) <= 32 else f"{value[:10]}…{value[-4:]}"
