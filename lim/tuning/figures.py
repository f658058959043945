"""What one threshold and one `top_k` do to all lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lim.errors import SettingError
from lim.ranker import check_limit
from lim.tuning.pool import Ints, Pool


class Spread(NamedTuple):
    """How a number is spread over the queries. Each is the number of some query, none lies between two.

    :param least: the smallest.
    :param q25: a quarter of the queries have at most this (the smallest number of which that is true).
    :param median: half of the queries have at most this.
    :param q75: three quarters of the queries have at most this.
    :param p95: 95% of the queries have at most this.
    :param most: the largest.
    :param total: the sum over all queries.
    """

    least: int
    q25: int
    median: int
    q75: int
    p95: int
    most: int
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What reaches the prompt of each query under one pair of limits, one number a query.

    :param kept: documents.
    :param words: words.
    :param tokens: tokens, or None where they are not available.
    :param relevant: documents marked relevant, or None where no list has marks.
    """

    kept: Ints
    words: Ints
    tokens: Ints | None
    relevant: Ints | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One pair of limits in figures.

    :param word_count_threshold: the threshold, or None.
    :param top_k: the largest number of documents, or None.
    :param budget: the tokens there are for documents, or None.
    :param queries: how many queries there are.
    :param documents: documents that reach the prompt.
    :param words: words that reach it.
    :param tokens: tokens that reach it, or None where they are not available.
    :param over: queries whose documents have more tokens than the budget; None without a budget or tokens.
    :param judged: queries with a document marked relevant.
    :param losing: of these, queries that lose at least one to the limits; None where no list has marks.
    :param relevant_kept: documents marked relevant that reach the prompt; None where no list has marks.
    :param relevant: documents marked relevant in all lists; None where no list has marks.
    :param overshoot: words beyond the threshold, summed up over the queries that exceed it; 0 without a threshold.
    """

    word_count_threshold: int | None
    top_k: int | None
    budget: int | None
    queries: int
    documents: Spread
    words: Spread
    tokens: Spread | None
    over: int | None
    judged: int
    losing: int | None
    relevant_kept: int | None
    relevant: int | None
    overshoot: int

    @property
    def share_over(self) -> float | None:
        """The share of the queries that exceed the budget, 0 to 1."""
        return None if self.over is None else self.over / self.queries

    @property
    def share_losing(self) -> float | None:
        """The share of the queries with a relevant document that lose one, 0 to 1; None without any."""
        return self.losing / self.judged if self.losing is not None and self.judged else None

    @property
    def recall(self) -> float | None:
        """The share of the documents marked relevant that reach the prompt, 0 to 1; None without any."""
        return self.relevant_kept / self.relevant if self.relevant_kept is not None and self.relevant else None

    @property
    def mean_overshoot(self) -> float:
        """Words beyond the threshold, the mean over all queries."""
        return self.overshoot / self.queries


@dataclass(frozen=True, slots=True)
class Curve:
    """How what reaches the prompt grows with one limit, the other one fixed.

    :param at: the values of the limit, ascending.
    :param documents: documents at each.
    :param words: words at each.
    :param tokens: tokens at each, or None where they are not available.
    :param overshoots: words beyond the threshold at each, summed up over the queries; 0 without a threshold.
    """

    at: tuple[int, ...]
    documents: tuple[Spread, ...]
    words: tuple[Spread, ...]
    tokens: tuple[Spread, ...] | None
    overshoots: tuple[int, ...]


def counts(pool: Pool, word_count_threshold: int | None = None, top_k: int | None = None) -> Counts:
    """Count what reaches the prompt of each query. O(queries · log documents).

    :param pool: the lists.
    :param word_count_threshold: words at which the walk stops, at least 1; None for no limit.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :returns: what `lim.arrange` would keep of each list, counted.
    :raises SettingError: if a limit is not None or a whole number of at least 1.
    """
    threshold = check_limit("word_count_threshold", word_count_threshold)
    limit = check_limit("top_k", top_k)
    kept = pool.sizes if limit is None else np.minimum(pool.sizes, min(limit, pool.longest))
    if threshold is not None:
        # The first document with which the total reaches the threshold is kept. A list of one document ignores the
        # threshold, which is the same: its first document is kept whatever the threshold.
        kept = np.minimum(kept, first_above(pool, pool.ladder, pool.height, threshold - 1))
    ends = pool.starts + kept
    return Counts(
        kept,
        pool.totals[ends],
        None if pool.token_totals is None else pool.token_totals[ends],
        None if pool.relevant_totals is None else pool.relevant_totals[ends],
    )


def first_above(pool: Pool, ladder: Ints, height: int, bound: int) -> Ints:
    """Find for each list after how many documents a running total is above a bound.

    :param pool: the lists.
    :param ladder: running totals, lifted (see `lim.tuning.pool.lifted`).
    :param height: by how much.
    :param bound: any number of at least 0.
    :returns: one count a list; one more than its documents where the total never is.
    """
    wanted = np.arange(pool.queries) * height + min(bound, height - 2)
    places: Ints = np.searchsorted(ladder, wanted, side="right") - pool.starts
    return places


def outcome(
    pool: Pool, word_count_threshold: int | None = None, top_k: int | None = None, budget: int | None = None
) -> Outcome:
    """Put one pair of limits into figures.

    :param pool: the lists.
    :param word_count_threshold: words at which the walk stops, at least 1; None for no limit.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :param budget: the tokens there are for documents, at least 0; None for no budget.
    :returns: the figures, exactly what arranging every list would give.
    :raises SettingError: if a limit or the budget is out of bounds.
    """
    return summed(pool, counts(pool, word_count_threshold, top_k), word_count_threshold, top_k, budget)


def summed(
    pool: Pool, counted: Counts, word_count_threshold: int | None, top_k: int | None, budget: int | None
) -> Outcome:
    """Put counts into figures.

    :param pool: the lists.
    :param counted: what reaches the prompt of each query.
    :param word_count_threshold: the threshold they were counted with.
    :param top_k: the largest number of documents they were counted with.
    :param budget: the tokens there are for documents, at least 0; None for no budget.
    :returns: as :func:`outcome`.
    :raises SettingError: if the budget is out of bounds.
    """
    check_budget(budget)
    over = losing = relevant_kept = relevant = None
    judged = 0
    if budget is not None and counted.tokens is not None:
        over = int(np.count_nonzero(counted.tokens > budget))
    if (marked := pool.relevant) is not None and counted.relevant is not None:
        judged = int(np.count_nonzero(marked))
        losing = int(np.count_nonzero(counted.relevant < marked))
        relevant_kept, relevant = int(counted.relevant.sum()), int(marked.sum())
    beyond = 0
    if word_count_threshold is not None:
        beyond = int(np.maximum(counted.words - word_count_threshold, 0).sum())
    return Outcome(
        None if word_count_threshold is None else int(word_count_threshold),
        None if top_k is None else int(top_k),
        budget,
        pool.queries,
        spread(counted.kept),
        spread(counted.words),
        None if counted.tokens is None else spread(counted.tokens),
        over,
        judged,
        losing,
        relevant_kept,
        relevant,
        beyond,
    )


def curve(pool: Pool, thresholds: Sequence[int], top_k: int | None = None) -> Curve:
    """Say how what reaches the prompt grows with the threshold.

    :param pool: the lists.
    :param thresholds: thresholds, each at least 1, ascending.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :returns: the spread over the queries at each threshold.
    :raises SettingError: if a limit is out of bounds.
    """
    return _curve(pool, thresholds, [(threshold, top_k) for threshold in thresholds])


def top_k_curve(pool: Pool, top_ks: Sequence[int], word_count_threshold: int | None = None) -> Curve:
    """Say how what reaches the prompt grows with `top_k`.

    :param pool: the lists.
    :param top_ks: numbers of documents, each at least 1, ascending.
    :param word_count_threshold: the threshold, at least 1; None for no limit.
    :returns: the spread over the queries at each `top_k`.
    :raises SettingError: if a limit is out of bounds.
    """
    return _curve(pool, top_ks, [(word_count_threshold, top_k) for top_k in top_ks])


def _curve(pool: Pool, at: Sequence[int], limits: Sequence[tuple[int | None, int | None]]) -> Curve:
    each = [summed(pool, counts(pool, *pair), *pair, None) for pair in limits]
    return Curve(
        tuple(map(int, at)),
        tuple(figures.documents for figures in each),
        tuple(figures.words for figures in each),
        None if pool.token_totals is None else tuple(figures.tokens for figures in each if figures.tokens is not None),
        tuple(figures.overshoot for figures in each),
    )


def spread(values: Ints) -> Spread:
    """Say how numbers are spread.

    :param values: at least one whole number.
    :returns: their spread, by nearest rank: every figure is one of the numbers.
    """
    places = [quantile_place(len(values), percent) for percent in (25, 50, 75, 95)]
    ordered = np.partition(values, places)
    q25, median, q75, p95 = (int(ordered[place]) for place in places)
    return Spread(int(values.min()), q25, median, q75, p95, int(values.max()), int(values.sum()))


def quantile_place(count: int, percent: int) -> int:
    """Find a quantile by nearest rank.

    :param count: how many numbers there are, at least 1.
    :param percent: 1 to 100.
    :returns: the place, from 0, among the ascending numbers: the first at which `percent` of them are reached.
    """
    return -(-count * percent // 100) - 1


def worst(counted: Counts, pool: Pool, count: int, by: str = "tokens") -> Ints:
    """List the queries to look at first.

    :param counted: what reaches the prompt of each query.
    :param pool: the lists.
    :param count: the most queries to list.
    :param by: `tokens` for the largest prompts (by words where tokens are not available), or `relevant` for those that
        lose most documents marked relevant, of equally many the larger prompt first.
    :returns: places of lists, the worst first; of equals the first list first.
    """
    size = counted.tokens if counted.tokens is not None else counted.words
    keys: tuple[Ints, ...] = (-size,)
    if by == "relevant" and counted.relevant is not None and pool.relevant is not None:
        keys = (-size, counted.relevant - pool.relevant)
    order: Ints = np.lexsort(keys)[:count]
    return order


def check_budget(budget: int | None) -> None:
    """Check a budget.

    :param budget: tokens for documents, or None.
    :raises SettingError: if it is below 0.
    """
    if budget is not None and budget < 0:
        raise SettingError(
            f"There are {budget:,} tokens for documents, but there must be at least 0. Raise the context budget or "
            f"lower the reserve."
        )
