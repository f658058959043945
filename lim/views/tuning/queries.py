"""The queries to look at first; each opens in the Lab with a click."""

from __future__ import annotations

import streamlit as st

from lim.frames import tune as frames
from lim.views.tuning.bench import Tuned, state
from lim.widgets import list_choice

SHOWN = 50
CHOSEN = ["source", "sample", "order", "ignore_ids", "prepend_title"]
SHARED = [*CHOSEN, "limit_words", "word_count_threshold", "limit_documents", "top_k", "context", "reserve"]
BY = {"Largest prompt": "tokens", "Most relevant documents lost": "relevant"}


def queries(tuned: Tuned) -> None:
    """Show the queries to look at first."""
    by = "tokens"
    if tuned.now.recall is not None:
        chosen = st.segmented_control(
            "First the queries with the",
            list(BY),
            default="Largest prompt",
            required=True,
            key="worst_by",
            bind="query-params",
        )
        by = BY[chosen or "Largest prompt"]
    frame = frames.queries(tuned.lists, tuned.pool, tuned.counted, tuned.budget, by, SHOWN)
    frame.insert(0, "open", "Open in the Lab")
    places = frame.pop("place").tolist()

    def clicked() -> None:
        remember(places[state["open_query"].row])

    st.button(
        "Open the first one in the Lab",
        key="open_worst",
        icon=":material/science:",
        on_click=remember,
        args=(places[0],),
    )
    columns = st.column_config
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            "open": columns.ButtonColumn("", key="open_query", on_click=clicked, type="tertiary", width=120),
            "number": columns.NumberColumn("List", width=60, help="Its number in the input"),
            "query": columns.TextColumn("Query", width="large"),
            "kept": columns.NumberColumn("Documents", format="localized", width=85, help="That reach the prompt"),
            "documents": columns.NumberColumn("of", width=50),
            "words": columns.NumberColumn("Words", format="localized", width=85),
            "tokens": columns.NumberColumn("Tokens", format="localized", width=85),
            "over": columns.NumberColumn("Over budget", format="localized", width=85, help="Tokens beyond the budget"),
            "lost": columns.NumberColumn("Relevant lost", width=100),
            "relevant": columns.NumberColumn("of", width=50),
        },
        alt=f"The {len(frame):,} queries to look at first, under the limits of now",
    )
    if tuned.pool.queries > len(frame):
        st.caption(f"The first {len(frame):,} of {tuned.pool.queries:,} queries; the file in *Take home* has all.")
    if (place := state.pop("open_list", None)) is not None:
        open_in_lab(tuned, place)


def remember(place: int) -> None:
    """Note the list to open, for the run that follows.

    :param place: of the list, from 0.
    """
    state["open_list"] = place
    # Said again, the choices go along; what a page shows first of its own accord would stay behind.
    state.update({name: state[name] for name in SHARED if name in state})


def open_in_lab(tuned: Tuned, place: int) -> None:
    """Go to the Lab with a list; what was chosen here, documents and limits alike, is chosen there too."""
    key, name = list_choice(tuned.picked, place)
    if name is not None:
        state[key] = name
    # Without a word about them, Streamlit refuses to leave a page whose settings stand in its link.
    st.switch_page("lim/views/lab.py", query_params={})
