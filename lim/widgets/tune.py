"""What the Tune page keeps: the pool of an input, and what was read off it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache

import streamlit as st

from lim.loading import RankedList
from lim.tuning import (
    Answer,
    Curve,
    Grid,
    Objective,
    Pool,
    Ratio,
    Tradeoff,
    best,
    curve,
    gather,
    grid,
    ratio,
    top_k_curve,
    tradeoff,
)
from lim.tuning.labels import Marks
from lim.widgets.layout import made_with_bar


@st.cache_resource(max_entries=4, ttl="2h", show_spinner=False)
def _slot(key: Hashable) -> list[Pool]:
    del key
    return []  # filled by made_with_bar


def pooled(lists: Sequence[RankedList], marks: Marks | None, key: Hashable) -> Pool:
    """Read all lists of an input once, with a bar that shows how far it is.

    :param lists: the ranked lists.
    :param marks: marks of relevance, or None for the lists' own.
    :param key: identifies the lists and the marks.
    :returns: the pool.
    """
    said = f"Counting words and tokens of {len(lists):,} ranked lists …"
    return made_with_bar(_slot(key), said, lambda advance: gather(lists, marks, advance))


# Read off a pool in milliseconds, but asked on every step of a slider. A pool is equal to itself only.


@lru_cache(maxsize=8)
def curve_of(pool: Pool, thresholds: tuple[int, ...], top_k: int | None) -> Curve:
    """As `lim.tuning.curve`, kept."""
    return curve(pool, thresholds, top_k)


@lru_cache(maxsize=8)
def top_k_curve_of(pool: Pool, top_ks: tuple[int, ...], threshold: int | None) -> Curve:
    """As `lim.tuning.top_k_curve`, kept."""
    return top_k_curve(pool, top_ks, threshold)


@lru_cache(maxsize=16)
def grid_of(pool: Pool, thresholds: tuple[int | None, ...], top_ks: tuple[int | None, ...], budget: int | None) -> Grid:
    """As `lim.tuning.grid`, kept."""
    return grid(pool, thresholds, top_ks, budget)


@lru_cache(maxsize=16)
def best_of(pool: Pool, budget: int, share: float, objective: Objective) -> Answer:
    """As `lim.tuning.best`, kept."""
    return best(pool, budget, share, objective)


@lru_cache(maxsize=16)
def tradeoff_of(pool: Pool, budget: int, objective: Objective) -> tuple[Tradeoff, ...]:
    """As `lim.tuning.tradeoff`, kept."""
    return tradeoff(pool, budget, objective)


@lru_cache(maxsize=4)
def ratio_of(pool: Pool) -> Ratio | None:
    """As `lim.tuning.ratio`, kept."""
    return ratio(pool)
