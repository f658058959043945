"""What every part of the Tune page is about, and how its limits are set."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lim.loading import RankedList
from lim.story import plural
from lim.tuning import Counts, Outcome, Pool
from lim.widgets import Picked
from lim.widgets.limits import number, slider

state = st.session_state


@dataclass(frozen=True, slots=True)
class Tuned:
    """What the page is about, under the limits of now.

    :param picked: what a person chose.
    :param pool: all its lists.
    :param thresholds: the thresholds of the charts.
    :param budget: the tokens there are for documents; None where tokens are not available.
    :param counted: what reaches the prompt of each query.
    :param now: the same in figures.
    """

    picked: Picked
    pool: Pool
    thresholds: tuple[int, ...]
    budget: int | None
    counted: Counts
    now: Outcome

    @property
    def lists(self) -> tuple[RankedList, ...]:
        """The ranked lists."""
        return self.picked.loaded.lists

    @property
    def source(self) -> str:
        """What the lists come from, for a sentence."""
        if self.picked.sample is not None:
            return f"the sample {self.picked.sample.file}"
        kept = state.get("kept_upload")
        return kept[1] if state.get("source") == "Upload" and kept else "pasted text"


def use(threshold: int | None, top_k: int | None) -> None:
    """Set both limits, from a button or a chart.

    :param threshold: the threshold, or None.
    :param top_k: the largest number of documents, or None.
    """
    state["limit_words"], state["limit_documents"] = threshold is not None, top_k is not None
    if threshold is not None:
        state["word_count_threshold"] = threshold
    if top_k is not None:
        state["top_k"] = top_k


def limits(threshold: int, most: int, top_k: int, longest: int) -> tuple[int | None, int | None]:
    """Show the limits.

    :param threshold: the threshold shown first.
    :param most: the largest threshold the slider sets.
    :param top_k: the `top_k` shown first.
    :param longest: documents of the longest list.
    :returns: the threshold and `top_k` in force.
    """
    words = documents = None
    if st.toggle("Limit the words", value=True, key="limit_words", bind="query-params"):
        words = number("word_count_threshold", threshold)
        slider(min(words, most), most)
    if st.toggle("Limit the documents", key="limit_documents", bind="query-params"):
        documents = number("top_k", top_k)
        if documents >= longest:
            st.caption(f"The longest list has {plural(longest, 'document')}: this cuts none.")
    return words, documents
