"""What someone who knows Streamlit writes in an afternoon: the page that `bench_page.py` compares the Lab with.

The same widgets, two charts of the same marks, one table, the arrangement from Haystack's own ranker. The file is read
once; everything else runs on every step, nothing is binned and the table is sent whole.
"""

import json
from itertools import accumulate

import altair as alt
import pandas as pd
import streamlit as st
from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker


@st.cache_resource(max_entries=2)
def read(data: bytes) -> tuple[list[Document], list[int], list[int]]:
    documents = [Document.from_dict(json.loads(line)) for line in data.splitlines()]
    words = [len((document.content or "").split()) for document in documents]
    return documents, words, list(accumulate(words))


def slid() -> None:
    st.session_state["threshold"] = st.session_state["slider"]


st.set_page_config(layout="wide")
with st.sidebar:
    st.segmented_control("Documents", ["Sample", "Paste", "Upload"], default="Upload", required=True)
    upload = st.file_uploader("A ranked list, most relevant first")
    st.selectbox("Order of relevance", ["As listed", "By score, highest first"])
    st.toggle("Ignore the ids")
if upload is None:
    st.stop()

documents, words, totals = read(upload.getvalue())
threshold = top_k = None
with st.sidebar:
    if st.toggle("Limit the words", value=True):
        st.session_state.setdefault("threshold", totals[-1])
        threshold = st.number_input("word_count_threshold", 1, totals[-1], key="threshold")
        st.session_state["slider"] = threshold
        st.slider("Threshold in words", 1, totals[-1], key="slider", on_change=slid)
    if st.toggle("Limit the documents"):
        top_k = st.number_input("top_k", 1, len(documents), min(10, len(documents)))

kept = LostInTheMiddleRanker(threshold, top_k).run(documents=documents)["documents"]
rank_of = {document.id: rank for rank, document in enumerate(documents, 1)}
position_of = {document.id: position for position, document in enumerate(kept, 1)}
table = pd.DataFrame(
    {
        "rank": range(1, len(documents) + 1),
        "position": pd.array([position_of.get(document.id) for document in documents], dtype="Int64"),
        "in_prompt": [document.id in position_of for document in documents],
        "words": words,
        "cumulative": totals,
        "score": [document.score for document in documents],
        "id": [document.id for document in documents],
        "text": [document.content for document in documents],
    }
)
st.title(f"{len(kept):,} of {len(documents):,} documents reach the prompt")
left, right = st.columns(2)

landing = pd.DataFrame(
    {
        "position": range(1, len(kept) + 1),
        "rank": [rank_of[document.id] for document in kept],
        "words": [words[rank_of[document.id] - 1] for document in kept],
    }
)
base = alt.Chart(landing).encode(
    alt.X("position:O").title("Position in the prompt"),
    alt.Y("rank:Q").title("Original rank"),
)
bars = base.mark_bar().encode(color=alt.Color("rank:Q", legend=None), tooltip=["position", "rank", "words"])
numbers = base.mark_text(dy=-8).encode(text="rank:Q")
with left:
    st.segmented_control("Form of the chart", ["Bars", "Slope"], default="Bars", required=True)
    st.altair_chart(bars + numbers, key="landing")

walk = table[["rank", "in_prompt", "words", "cumulative"]]
base = alt.Chart(walk).encode(
    alt.X("rank:O").title("Original rank"),
    alt.Y("cumulative:Q").title("Cumulative words"),
)
bars = base.mark_bar().encode(
    color=alt.condition("datum.in_prompt", alt.Color("rank:Q", legend=None), alt.value("lightgrey")),
    tooltip=["rank", "words", "cumulative"],
)
budget = bars + base.mark_line() + base.mark_point(filled=True)
if threshold is not None:
    limit = pd.DataFrame({"threshold": [threshold], "label": [f"word_count_threshold = {threshold:,}"]})
    rule = alt.Chart(limit).mark_rule(color="orange", strokeDash=[6, 4]).encode(alt.Y("threshold:Q"))
    label = alt.Chart(limit).mark_text(align="left", dy=-8).encode(alt.Y("threshold:Q"), x=alt.value(4), text="label:N")
    budget = budget + rule + label
with right:
    st.altair_chart(budget, key="budget")

st.dataframe(table, hide_index=True)
