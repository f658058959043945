"""The Lab for a room: the list, the arrangement, the budget, what is lost, what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from lim import charts, frames, story
from lim.ranker import Arrangement
from lim.views import studies
from lim.widgets import palette, show

NAMES = ["The list", "The arrangement", "The budget", "What is lost", "What it is worth"]
MOST_LOST = 6


def draw(slide: int, arrangement: Arrangement, unlimited: Arrangement, pointed: Callable[[], None]) -> None:
    """Show one slide.

    :param slide: its index in `NAMES`.
    :param arrangement: the list under its limits.
    :param unlimited: the same list without limits.
    :param pointed: called when a person points at another threshold.
    """
    match slide:
        case 0:
            _list(unlimited)
        case 1:
            _arrangement(unlimited)
        case 2:
            st.title(story.verdict(arrangement), anchor=False)
            show(charts.budget(frames.budget(arrangement), arrangement, palette()), "budget_chart", pointed)
        case 3:
            _lost(arrangement)
        case _:
            st.title(studies.FINDING, anchor=False)
            studies.beside()


def _list(unlimited: Arrangement) -> None:
    documents = story.plural(len(unlimited.inputs), "document")
    st.title(f"A retriever found {documents}, the most relevant first", anchor=False)
    figure = charts.budget(frames.budget(unlimited), unlimited, palette())
    rule = "Every bar is a document, as tall as it has words; the darker, the more relevant"
    show(replace(figure, title=f"Together {story.plural(unlimited.words, 'word')}", subtitle=rule), "slide_list")


def _arrangement(unlimited: Arrangement) -> None:
    best = "The best come first and last, the weakest in the middle"
    st.title(best if unlimited.kept > 2 else story.order_rule(unlimited), anchor=False)
    show(charts.landing(frames.landing(unlimited), unlimited, palette()), "slide_landing")


def _lost(arrangement: Arrangement) -> None:
    table = frames.table(arrangement)
    lost = table[table["position"].isna()]
    if lost.empty:
        st.title("Nothing is lost: every document reaches the prompt", anchor=False)
    else:
        st.title(f"{len(lost):,} of {story.plural(len(table), 'document')} never reach the prompt", anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        show(charts.landing(frames.landing(arrangement), arrangement, palette()), "slide_kept")
    with right:
        for row in lost.head(MOST_LOST).itertuples():
            with st.container(border=True, gap="xsmall"):
                st.markdown(f"**Rank {row.rank:,}**, {row.fate}: {row.why}")
                st.text(frames.preview(str(row.text)))
        if len(lost) > MOST_LOST:
            st.markdown(f"… and {len(lost) - MOST_LOST:,} more")
