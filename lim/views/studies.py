"""What was measured, in one row: for the Evidence page, and for whoever presents a list."""

from dataclasses import replace

import streamlit as st

from lim import evidence
from lim.charts import Figure
from lim.charts import evidence as draw
from lim.frames import evidence as frames
from lim.widgets import palette, presenting, show, sources

FINDING = "Is it worth it? It depends on the model, and on the length of the prompt"

NARROW = 1.1  # enlargement of three charts in a row


def beside() -> None:
    """Show the study that named the effect, the replication and the study without an effect, equally large."""
    named, replication, realistic = (study.name for study in evidence.studies()[:3])
    curves = [curve for curve in evidence.curves() if curve.documents == 20]
    columns = st.columns(3, gap="medium")
    for column, name, key in zip(columns, (named, replication), ("first_study", "second_study"), strict=False):
        measured = frames.points([curve for curve in curves if curve.study == name])
        with column:
            _shown(draw.study(measured, palette()), key)
            sources(measured)
    whole = frames.orderings([row for row in evidence.orderings() if row.study == realistic])
    whole = whole[whole["source"] == whole["source"].iloc[0]]
    with columns[2]:
        _shown(draw.pipelines(whole, palette()), "third_study")
        sources(whole)


def _shown(figure: Figure, key: str) -> None:
    """Show a figure; for a room, what was measured stands below it, so that the chart has the height."""
    if not presenting():
        show(figure, key)
        return
    show(replace(figure, subtitle=""), key, large=NARROW)
    st.caption(figure.subtitle)
