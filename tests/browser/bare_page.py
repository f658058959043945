"""A page of Streamlit's own elements, with the marks and widgets the Lab uses and no idea of it."""

import altair as alt
import pandas as pd
import streamlit as st

st.set_page_config(page_title="Bare page", layout="wide")
frame = pd.DataFrame({"x": [str(n) for n in range(20)], "y": range(20)})


def page() -> None:
    with st.sidebar:
        st.segmented_control("Source", ["A", "B"], default="A", required=True)
        st.selectbox("Choice", ["A", "B"])
        with st.expander("More"):
            st.toggle("Inside")
        st.toggle("Switch", value=True)
        st.number_input("Number", min_value=1, value=5)
        st.slider("Slider", 1, 10, 5)
    st.title("Bare page", anchor=False)
    with st.container(horizontal=True):
        st.metric("Metric", "1")
        st.badge("fine", color="green")
    for column in st.columns(2):
        with column:
            bars = alt.Chart(frame).mark_bar().encode(x=alt.X("x:N"), y="y:Q", tooltip=["x:N", "y:Q"])
            st.altair_chart(bars, alt="Twenty bars")
    for number, tab in enumerate(st.tabs(["One", "Two"])):
        with tab:
            st.dataframe(
                frame, alt="Twenty rows", key=f"table_{number}", on_select="rerun", selection_mode="single-row"
            )
    st.caption("A caption")
    st.code('"""A docstring."""\n\nimport os\n\n# A comment\nprint(os.name, 1000, "text")', language="python")
    st.code('key:\n  - value: 1000  # A comment\n  - text: "text"\n  - none: null\n  - yes: true', language="yaml")


st.navigation([st.Page(page, title="Bare")], position="top").run()
