"""Many thresholds and many `top_k` at once: the grid of pairs, the best pair for a goal, the trade-off.

A document is kept by every threshold above the words before it and by every `top_k` of at least its slot. So each
document is one point in the plane of (threshold, top_k), and what any pair keeps is the number of points below and left
of it: one pass counts them for all pairs. Whether a query exceeds the budget is one point too (the document that does
not fit any more), and so is whether it loses a relevant document (the last relevant one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lim.errors import SettingError
from lim.ranker import check_limit
from lim.thresholds import rounded, suggested
from lim.tuning.figures import Outcome, check_budget, first_above, outcome, spread
from lim.tuning.pool import Ints, Pool, lifted

EVERY_TOP_K = 200
"""Up to here every `top_k` is searched for the best pair; above, those of a ladder of about 5% a step."""

SHARES = (0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000)
"""Shares of queries over the budget along the trade-off, in thousandths."""

NEVER = np.iinfo(np.int64).max

Limit = int | None


class Objective(StrEnum):
    """What to keep as much of as possible."""

    RELEVANT = "documents marked relevant"
    DOCUMENTS = "documents"
    WORDS = "words"


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Every pair of some thresholds and some `top_k`; a row for each threshold, a column for each `top_k`.

    :param thresholds: the thresholds, ascending, None (no limit) last.
    :param top_ks: the `top_k`, ascending, None (no limit) last.
    :param documents: documents that reach the prompts of all queries together.
    :param words: words that reach them.
    :param relevant: documents marked relevant that reach them; None where no list has marks.
    :param over: queries over the budget; None without a budget or tokens.
    :param losing: queries that lose a document marked relevant; None where no list has marks.
    """

    thresholds: tuple[Limit, ...]
    top_ks: tuple[Limit, ...]
    documents: Ints
    words: Ints
    relevant: Ints | None
    over: Ints | None
    losing: Ints | None

    def amounts(self, objective: Objective) -> Ints:
        """Give what a goal wants much of."""
        if objective is Objective.RELEVANT and self.relevant is not None:
            return self.relevant
        return self.words if objective is Objective.WORDS else self.documents


@dataclass(frozen=True, slots=True)
class Pair:
    """A threshold and a `top_k`, each a whole number of at least 1 or None."""

    word_count_threshold: Limit
    top_k: Limit


@dataclass(frozen=True, slots=True)
class Answer:
    """The best pair for a goal.

    :param allowed: the most queries that may exceed the budget.
    :param best: the best pair in figures; None if no pair meets the goal.
    :param runner_up: the best of the pairs with another `top_k` that keep something else; None if there is none.
    :param threshold_alone: the best threshold without a `top_k`; None if none meets the goal.
    :param top_k_alone: the best `top_k` without a threshold; None if none meets the goal.
    :param objective: what was kept as much of as possible.
    :param top_ks: the `top_k` that were searched; the thresholds were searched without a gap.
    """

    allowed: int
    best: Outcome | None
    runner_up: Outcome | None
    threshold_alone: Outcome | None
    top_k_alone: Outcome | None
    objective: Objective
    top_ks: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """The best pair for one share of queries that may exceed the budget.

    :param allowed: the most queries that may exceed it.
    :param over: the queries that do.
    :param amount: what is kept, see `Objective`.
    :param pair: the pair.
    """

    allowed: int
    over: int
    amount: int
    pair: Pair


def objectives(pool: Pool) -> tuple[Objective, ...]:
    """List what can be kept as much of as possible, the likeliest wish first.

    :param pool: the lists.
    :returns: documents marked relevant only where some are.
    """
    marked = pool.relevant is not None and bool(pool.relevant.any())
    return tuple(Objective) if marked else (Objective.DOCUMENTS, Objective.WORDS)


def grid(pool: Pool, thresholds: Sequence[Limit], top_ks: Sequence[Limit], budget: int | None = None) -> Grid:
    """Count for every pair what reaches the prompts. O(documents + pairs).

    :param pool: the lists.
    :param thresholds: thresholds, each at least 1 or None.
    :param top_ks: numbers of documents, each at least 1 or None.
    :param budget: the tokens there are for documents, at least 0; None for no budget.
    :returns: the grid; thresholds and `top_k` ascending, each once, None last.
    :raises SettingError: if a limit or the budget is out of bounds.
    """
    check_budget(budget)
    rows, columns = _limits("word_count_threshold", thresholds), _limits("top_k", top_ks)
    shape = (len(rows), len(columns))
    row = np.searchsorted(rows, pool.entries, side="right")
    column = np.searchsorted(columns, pool.slots, side="left")
    ends = pool.ends
    words = pool.totals[ends] - pool.entries
    relevant = losing = over = None
    if (marked := pool.relevant_totals) is not None and pool.relevant is not None:
        is_marked = marked[ends] > marked[ends - 1]
        relevant = _below(row[is_marked], column[is_marked], shape)
        last = np.flatnonzero(is_marked & (marked[ends] == np.repeat(pool.relevant, pool.sizes)))
        losing = len(last) - _below(row[last], column[last], shape)
    if budget is not None and pool.token_totals is not None:
        critical = _critical(pool, budget)
        over = _below(row[critical], column[critical], shape)
    return Grid(
        _named(rows),
        _named(columns),
        _below(row, column, shape),
        _below(row, column, shape, words),
        relevant,
        over,
        losing,
    )


def best(pool: Pool, budget: int, share: float, objective: Objective) -> Answer:
    """Find the pair that keeps most while few enough queries exceed the budget.

    For each `top_k` the largest threshold that meets the goal keeps most, and is found exactly, among all thresholds
    there are. Of pairs that keep equally much the one with the fewest words in all prompts wins, also among all there
    are, and of these the one without a `top_k`.

    :param pool: the lists, with tokens.
    :param budget: the tokens there are for documents, at least 0.
    :param share: the largest share of the queries that may exceed it, 0 to 1.
    :param objective: what to keep as much of as possible; without marks of relevance, documents or words.
    :returns: the best pair, with what it is compared with.
    :raises SettingError: if a number is out of bounds, there are no tokens, or there are no marks to go by.
    """
    if not 0 <= share <= 1:
        raise SettingError(f"The share of queries is {share}, but it must be from 0 to 1. Give 0.01 for 1%.")
    _check_objective(pool, objective)
    allowed = int(share * pool.queries + 1e-9)  # 0.29 of 100 are 29, whatever the last bit of the product
    columns = _limits("top_k", searched_top_ks(pool.longest))
    largest = _largest(pool, budget, np.array([allowed]), columns)
    met = largest[0] > 0
    if not met.any():
        return Answer(allowed, None, None, None, None, objective, _named(columns))
    columns, largest = columns[met], largest[:, met]
    candidates = _tightened(pool, objective, largest, columns)[0]
    table = grid(pool, _named(candidates), _named(columns), budget)
    places = np.searchsorted(np.unique(candidates), candidates), np.arange(len(columns))
    amounts, words = table.amounts(objective)[places], table.words[places]
    order = np.lexsort((-columns, words, -amounts))
    first = int(order[0])
    others = [place for place in order if (amounts[place], words[place]) != (amounts[first], words[first])]
    unlimited = np.flatnonzero(largest[0] == NEVER)  # the top_k that need no threshold; the largest keeps most

    def figures(threshold: np.int64, top_k: np.int64) -> Outcome:
        return outcome(pool, _name(threshold), _name(top_k), budget)

    return Answer(
        allowed,
        figures(candidates[first], columns[first]),
        figures(candidates[others[0]], columns[others[0]]) if others else None,
        figures(largest[0, -1], columns[-1]) if columns[-1] == NEVER else None,
        figures(largest[0, unlimited[-1]], columns[unlimited[-1]]) if len(unlimited) else None,
        objective,
        searched_top_ks(pool.longest),
    )


def tradeoff(pool: Pool, budget: int, objective: Objective) -> tuple[Tradeoff, ...]:
    """Say what the best pair keeps for each share of queries that may exceed the budget.

    :param pool: the lists, with tokens.
    :param budget: the tokens there are for documents, at least 0.
    :param objective: what to keep as much of as possible.
    :returns: ascending in both the queries over the budget and the amount kept, at the shares of `SHARES`; empty if
        no pair meets any of them.
    :raises SettingError: if the budget is out of bounds, there are no tokens, or there are no marks to go by.
    """
    _check_objective(pool, objective)
    columns = _limits("top_k", searched_top_ks(pool.longest))
    allowed = np.unique([share * pool.queries // 1000 for share in SHARES])
    largest = _largest(pool, budget, allowed, columns)
    found = np.where(largest > 0, _tightened(pool, objective, largest, columns), 0)
    distinct = np.unique(found[found > 0])
    table = grid(pool, _named(distinct), _named(columns), budget)
    amounts, over = table.amounts(objective), table.over
    points: list[Tradeoff] = []
    for most, thresholds in zip(allowed, found, strict=True):
        met = np.flatnonzero(thresholds > 0)
        if not len(met) or over is None:
            continue
        rows = np.searchsorted(distinct, thresholds[met])
        kept, exceeding, words = amounts[rows, met], over[rows, met], table.words[rows, met]
        place = np.lexsort((-columns[met], words, exceeding, -kept))[0]
        if not points or kept[place] > points[-1].amount:
            pair = Pair(_name(thresholds[met[place]]), _name(columns[met[place]]))
            points.append(Tradeoff(int(most), int(exceeding[place]), int(kept[place]), pair))
    return tuple(points)


def searched_top_ks(longest: int) -> tuple[Limit, ...]:
    """List the `top_k` that are searched.

    :param longest: documents of the longest list.
    :returns: every one up to `EVERY_TOP_K`, then steps of about 5%, and None; none that keeps every document anyway.
    """
    values: list[Limit] = list(range(1, min(EVERY_TOP_K, longest - 1) + 1))
    value = EVERY_TOP_K
    while (value := value + max(value // 20, 1)) < longest:
        values.append(value)
    return (*values, None)


def some_top_ks(longest: int, most: int = 10) -> tuple[Limit, ...]:
    """Choose some `top_k` for a chart.

    :param longest: documents of the longest list.
    :param most: how many to choose, at least 2.
    :returns: about evenly spread numbers below the longest list, and None.
    """
    if longest <= most:
        return (*range(1, longest), None)
    step = _round(longest / most, (1, 2, 3, 5, 10))
    return (*range(step, longest, step), None)


def first_limits(pool: Pool) -> tuple[int, int, int]:
    """Choose the limits and the budget to begin with, all round numbers.

    :param pool: the lists.
    :returns: a threshold that cuts the median list, a `top_k`, and a budget for documents in tokens (in words where
        tokens are not available): three quarters of what the upper quartile of the lists has.
    """
    sizes = pool.tokens if pool.tokens is not None else pool.words
    budget = rounded(0.75 * float(np.quantile(sizes, 0.75)))
    return suggested(int(np.median(pool.words)) or 1), min(10, pool.longest), budget


def round_thresholds(pool: Pool, most: int = 12) -> tuple[Limit, ...]:
    """Choose some round thresholds for a chart.

    :param pool: the lists.
    :param most: how many to choose, at least 2.
    :returns: multiples of a round step up to what 95% of the lists have, and None.
    """
    ample = spread(pool.words).p95
    step = _round(max(ample, 1) / most, (1, 2, 2.5, 5, 10))
    return (*range(step, max(ample, 1), step), None)


def _round(least: float, mantissas: tuple[float, ...]) -> int:
    power = 1
    while True:
        for mantissa in mantissas:
            step = mantissa * power
            if step >= least and step == int(step):
                return int(step)
        power *= 10


def _largest(pool: Pool, budget: int, allowed: Ints, columns: Ints) -> Ints:
    """Find for each number of allowed queries and each `top_k` the largest threshold that meets the goal, 0 if none."""
    check_budget(budget)
    if pool.token_totals is None:
        raise SettingError(
            "Tokens are not available (None), but a budget of tokens needs them. Install `toktok-rs` on the server."
        )
    critical = _critical(pool, budget)
    # A query exceeds the budget as soon as the threshold is above the entry of the first document that does not fit.
    entries, slots = pool.entries[critical], pool.slots[critical]
    order = np.argsort(entries, kind="stable")
    entries, slots = entries[order], slots[order]
    found = np.full((len(allowed), len(columns)), NEVER, np.int64)
    for place, top_k in enumerate(columns):
        exposed = entries[slots <= top_k]
        limited = allowed < len(exposed)
        found[limited, place] = exposed[allowed[limited]]
    return found


def _tightened(pool: Pool, objective: Objective, largest: Ints, columns: Ints) -> Ints:
    """Lower thresholds as far as no document marked relevant is lost by it, where these are what is to be kept."""
    marked = pool.relevant_totals
    if objective is not Objective.RELEVANT or marked is None:
        return largest
    ends = pool.ends
    relevant = np.flatnonzero(marked[ends] > marked[ends - 1])
    order = relevant[np.argsort(pool.entries[relevant], kind="stable")]
    entries, slots = pool.entries[order], pool.slots[order]
    lowered = np.ones_like(largest)
    for place, top_k in enumerate(columns):
        within = entries[slots <= top_k]
        kept = np.searchsorted(within, largest[:, place])
        lowered[kept > 0, place] = within[kept[kept > 0] - 1] + 1
    return lowered


def _check_objective(pool: Pool, objective: Objective) -> None:
    if objective not in objectives(pool):
        raise SettingError(
            "The goal is to keep documents marked relevant, but no document is marked. Choose documents or words."
        )


def _critical(pool: Pool, budget: int) -> Ints:
    """Find the first document of each list that does not fit the budget, where there is one."""
    totals = pool.token_totals
    if totals is None:
        return np.empty(0, np.int64)
    slots = first_above(pool, *lifted(totals, pool.sizes), budget)
    exceeding = slots <= pool.sizes
    found: Ints = (np.cumsum(pool.sizes) - pool.sizes + slots - 1)[exceeding]
    return found


def _below(rows: Ints, columns: Ints, shape: tuple[int, int], weights: Ints | None = None) -> Ints:
    """Count the points below and left of each pair, or sum up their weights."""
    height, width = shape[0] + 1, shape[1] + 1
    flat = rows * width + columns
    # Sums of whole numbers as floats are exact below 2^53.
    counted = np.bincount(flat, weights, minlength=height * width).reshape(height, width)[:-1, :-1]
    summed: Ints = counted.cumsum(axis=0).cumsum(axis=1).astype(np.int64)
    return summed


def _limits(name: str, values: Sequence[Limit]) -> Ints:
    checked = [check_limit(name, value) for value in values]
    return np.unique([min(value, NEVER) if value is not None else NEVER for value in checked]).astype(np.int64)


def _named(values: Ints) -> tuple[Limit, ...]:
    return tuple(_name(value) for value in values)


def _name(value: np.int64 | int) -> Limit:
    return None if value == NEVER else int(value)
