"""The least that a Streamlit app can be: what Forky's first paint is measured against."""

import streamlit as st

st.markdown("Hello.")
