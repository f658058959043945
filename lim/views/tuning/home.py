"""What to take home: files with every figure, and a sentence for a pull request."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

import streamlit as st

from lim import export
from lim.frames import tune as frames
from lim.tuning import round_thresholds, some_top_ks
from lim.tuning.told import sentence
from lim.views.tuning.bench import Tuned
from lim.widgets.tune import curve_of, grid_of

MOST_LIMITS = 40
"""About how many thresholds, and how many `top_k`, the file of pairs has."""


def home(tuned: Tuned) -> None:
    """Show the sentence, and offer the files; each is made when it is asked for."""
    st.markdown("**For a pull request**")
    duplicates = int(tuned.pool.inputs.sum()) - tuned.pool.documents
    said = sentence(tuned.now, tuned.pool.documents, duplicates, tuned.source, version("haystack-ai"))
    st.code(said, language=None, wrap_lines=True)
    st.caption("The files hold figures and the queries' names, and no document. They are made when you ask for them.")
    with st.container(horizontal=True):
        for label, make, name in (
            ("Thresholds (CSV)", thresholds, "thresholds.csv"),
            ("Pairs (CSV)", pairs, "pairs.csv"),
            ("Queries (CSV)", queries, "queries.csv"),
        ):
            st.download_button(
                label, partial(make, tuned), name, "text/csv", on_click="ignore", icon=":material/table:"
            )
    st.markdown("**In Python**")
    st.code(export.python_snippet(tuned.now.word_count_threshold, tuned.now.top_k), language="python")


def thresholds(tuned: Tuned) -> bytes:
    """Write the thresholds of the charts, and the one of now, with all figures."""
    chosen = tuned.now.word_count_threshold
    steps = tuple(sorted({*tuned.thresholds, *([chosen] if chosen is not None else [])}))
    curve = curve_of(tuned.pool, steps, tuned.now.top_k)
    table = grid_of(tuned.pool, steps, (tuned.now.top_k,), tuned.budget)
    return export.table_csv(frames.results(curve, table, tuned.pool, tuned.now.top_k, tuned.budget))


def pairs(tuned: Tuned) -> bytes:
    """Write the pairs of round thresholds and `top_k`, and the one of now."""
    rows = (*round_thresholds(tuned.pool, MOST_LIMITS), tuned.now.word_count_threshold)
    columns = (*some_top_ks(tuned.pool.longest, MOST_LIMITS), tuned.now.top_k)
    return export.table_csv(
        frames.every_pair(grid_of(tuned.pool, rows, columns, tuned.budget), tuned.pool, tuned.budget)
    )


def queries(tuned: Tuned) -> bytes:
    """Write every query under the limits of now, in the order of the input."""
    every = tuned.pool.queries
    frame = frames.queries(tuned.lists, tuned.pool, tuned.counted, tuned.budget, "tokens", every)
    return export.table_csv(frame.drop(columns="place").sort_values("number"))
