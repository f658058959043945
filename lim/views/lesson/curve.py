"""Step 1: the curve that named the effect, and the others."""

from __future__ import annotations

import streamlit as st

from lim import evidence
from lim.charts import evidence as draw
from lim.frames import evidence as frames
from lim.widgets import Bench, palette, show, sources

state = st.session_state


def curve(bench: Bench | None) -> None:
    """Show accuracy by the place of the answer, for a model and a number of documents.

    :param bench: the person's list, or None while there is none.
    """
    curves = evidence.curves()
    years = {study.name: study.year for study in evidence.studies()}
    models = {f"{item.model} ({years[item.study]})": item.model for item in curves}
    labels = list(models)
    first = next(label for label, model in models.items() if model == "GPT-3.5-Turbo")
    left, right = st.columns([2, 3], gap="medium", vertical_alignment="bottom")
    with left:
        label = st.selectbox("Model", labels, index=labels.index(first), key="curve_model", bind="query-params")
    found = {f"{item.documents:,}": item for item in curves if item.model == models[label]}
    counts = list(found)
    if state.get("curve_documents") not in (None, *counts):
        del state["curve_documents"]  # the model before was measured with other numbers of documents
    with right:
        count = st.segmented_control(
            "Documents in the prompt",
            counts,
            default="20" if "20" in counts else counts[0],
            required=True,
            key="curve_documents",
            bind="query-params",
        )
    frame = frames.points([found[count or counts[0]]])
    show(draw.curve(frame, palette()), "curve_chart")
    sources(frame)
    study = next(study for study in evidence.studies() if study.name == frame.iloc[0]["study"])
    st.info(study.shows, title=f"What this study shows: {study.finding.value}")
