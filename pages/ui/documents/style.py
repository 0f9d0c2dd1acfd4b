"""The looks of the Documents page alone: a document's text in stretches, the one that was asked for marked."""

from __future__ import annotations

import streamlit as st

_CSS = """
<style>
.doc-chunk { padding: .35rem .8rem; border-left: 2px solid transparent; margin: .1rem 0; }
.doc-chunk pre { white-space: pre-wrap; overflow-wrap: anywhere; font-family: inherit; font-size: .95rem; line-height: 1.55;
  margin: 0; background: none; padding: 0; }
.doc-chunk .doc-place { font-size: .78rem; opacity: .72; }
.doc-here { border-left-color: #d9a514; background: color-mix(in srgb, #d9a514 12%, transparent); border-radius: 0 .3rem .3rem 0; }
@media (max-width: 640px) { [class*="st-key-row-document-"] > :first-child { flex: 1 0 100%; } }
[class*="st-key-found-at-"] a [data-testid="stMarkdownContainer"] p { white-space: normal; overflow-wrap: anywhere; }
.doc-found { margin: 0; overflow-wrap: anywhere; line-height: 1.5; }
</style>
"""


def apply_document_style() -> None:
    st.html(_CSS)
