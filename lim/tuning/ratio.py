"""How many tokens a word is worth in a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lim.tuning.figures import quantile_place
from lim.tuning.pool import Pool


class RatioSpread(NamedTuple):
    """Tokens a word, spread over lists or documents; by nearest rank, as `lim.tuning.Spread`."""

    least: float
    q25: float
    median: float
    q75: float
    p95: float
    most: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many tokens a word is worth.

    :param words: words of all documents.
    :param tokens: tokens of all documents that have words.
    :param by_list: tokens a word of each list with words.
    :param by_document: tokens a word of each document with words.
    """

    words: int
    tokens: int
    by_list: RatioSpread
    by_document: RatioSpread

    @property
    def whole(self) -> float:
        """Tokens a word of the whole corpus."""
        return self.tokens / self.words


def ratio(pool: Pool) -> Ratio | None:
    """Measure how many tokens a word is worth in these lists.

    :param pool: the lists.
    :returns: the ratio with its spread; None where tokens are not available or no document has a word.
    """
    if pool.token_totals is None or pool.tokens is None:
        return None
    ends = pool.ends
    words, tokens = (totals[ends] - totals[ends - 1] for totals in (pool.totals, pool.token_totals))
    worded = words > 0
    if not worded.any():
        return None
    lists = pool.words > 0
    return Ratio(
        int(words.sum()),
        int(tokens[worded].sum()),
        _spread(pool.tokens[lists] / pool.words[lists]),
        _spread(tokens[worded] / words[worded]),
    )


def _spread(values: NDArray[np.float64]) -> RatioSpread:
    ordered = np.sort(values)
    q25, median, q75, p95 = (float(ordered[quantile_place(len(ordered), percent)]) for percent in (25, 50, 75, 95))
    return RatioSpread(float(ordered[0]), q25, median, q75, p95, float(ordered[-1]))
