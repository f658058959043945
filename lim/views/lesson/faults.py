"""Steps 4 to 6: what the ranker cannot see, five silent losses, misreadings."""

from __future__ import annotations

import streamlit as st

from lim import lesson
from lim.charts import lesson as draw
from lim.frames import lesson as frames
from lim.widgets import Bench, palette, show, verbatim

COUNT = 9

state = st.session_state


def blind(bench: Bench | None) -> None:
    """Feed the same documents sorted and unsorted, and compare where the best one lands.

    :param bench: the person's list, or None while there is none.
    """
    documents = lesson.numbered(COUNT)
    seed = state.setdefault("blind_seed", 2)
    st.button("Shuffle again", icon=":material/shuffle:", on_click=_shuffle, key="shuffle")
    sorted_, unsorted = (
        lesson.feed(documents, range(1, COUNT + 1)),
        lesson.feed(documents, lesson.shuffled(COUNT, seed)),
    )
    left, right = st.columns(2, gap="medium")
    for column, name, fed in ((left, "Sorted", sorted_), (right, "Unsorted", unsorted)):
        rows = {"What the ranker got": fed.given, "What reaches the prompt": fed.prompt}
        figure = draw.cards(
            frames.cards(rows, COUNT, dict.fromkeys(rows, 1)),
            f"{name}: {fed.finding[0].lower()}{fed.finding[1:]}",
            "Numbers and colours are the true relevance, which the ranker does not know",
            palette(),
            "Place, from first to last",
        )
        with column:
            show(figure, f"blind_{name.lower()}")
    st.warning(verbatim(unsorted.warning), title="What would have caught it: the scores")


def _shuffle() -> None:
    state["blind_seed"] += 1


def losses(bench: Bench | None) -> None:
    """Run a pipeline with a fault and without it, and show the order that reaches the prompt.

    :param bench: the person's list, or None while there is none.
    """
    ways = {way.name: way for way in lesson.WAYS}
    bar = st.container(horizontal=True, vertical_alignment="bottom", gap="large")
    name = bar.segmented_control(
        "Way to lose it",
        list(ways),
        default=lesson.WAYS[0].name,
        required=True,
        key="way",
        bind="query-params",
        wrap=True,
    )
    way = ways[name or lesson.WAYS[0].name]
    documents = lesson.numbered(COUNT)
    own = False
    if bench is not None and len(bench.unlimited.walk) >= 4:
        own = bar.toggle("On your list", key="losses_own", bind="query-params")
        if own:
            documents = lesson.taken(bench.ranked.documents, bench.unlimited.walk, COUNT)
    st.subheader(way.title, anchor=False)
    fault = st.toggle(way.switch, value=True, key="fault", persist_state="page")
    outcome = lesson.demonstrate(way, documents, fault=fault)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        title = "The order is lost" if outcome.lost else "The order reaches the prompt as intended"
        rows = {"Intended": outcome.intended, "In the prompt": outcome.actual}
        figure = draw.cards(
            frames.cards(rows, len(documents)),
            title,
            "The same documents through a real Haystack pipeline",
            palette(),
        )
        show(figure, "losses_chart")
        if own:
            st.caption(
                "Copies of the first documents of your list, duplicates left out; where a score is missing they fall "
                "from the first, and the years of publication are made up."
            )
    with right:
        st.badge("The pipeline ran without an error", icon=":material/check:", color="green")
        if fault:
            st.code(way.code, language=None, wrap_lines=True)
        if outcome.caught:
            st.markdown("**What would have caught it**")
            st.text(outcome.caught)
        st.markdown(f"**Instead** {way.remedy}")
        with st.expander("The prompt it made"):
            st.code(outcome.prompt, language=None, wrap_lines=True, height=240)


def misread(bench: Bench | None) -> None:
    """Show what people believe, what is so, and the demonstration.

    :param bench: the person's list, or None while there is none.
    """
    del bench
    for misreading in lesson.misreadings():
        with st.container(border=True):
            st.markdown(f":material/close: **{misreading.belief}**")
            st.markdown(f"**{misreading.answer}** {misreading.truth}")
            with st.container(horizontal=True, gap="large"):
                for label, value in misreading.shown:
                    st.metric(label, value, width="content")
