from __future__ import annotations

import streamlit as st

st.text(f"{st.user.get('sub')} is {st.user.get('preferred_username')}")
