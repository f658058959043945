"""Page configuration, the list of pages, navigation."""

from pathlib import Path

import streamlit as st

import lim  # noqa: F401 # first of all: it switches Haystack's telemetry off before Haystack is imported

views = Path(__file__).parent / "lim" / "views"
st.set_page_config(page_title="Lost in the Middle Lab", page_icon=str(views / "icon.svg"), layout="wide")

pages = [
    st.Page(views / "lab.py", title="Lab", icon=":material/science:", default=True),
    st.Page(views / "tune.py", title="Tune", icon=":material/tune:"),
    st.Page(views / "learn.py", title="Learn", icon=":material/school:"),
    st.Page(views / "evidence.py", title="Evidence", icon=":material/query_stats:"),
    st.Page(views / "audit.py", title="Audit", icon=":material/rule:"),
    st.Page(views / "pipeline.py", title="Pipeline", icon=":material/account_tree:"),
]
st.navigation(pages, position="top").run()
