"""Rank-aware retrieval metrics of an order, before and after it was rearranged for the prompt.

They judge a list by how early the relevant documents come, which is what a retriever is for. A rearranged prompt puts
half of the best documents at the end on purpose, so the same documents score lower: measure before this step.

The definitions are those of trec_eval. In all of them:

- an order is a list of ranks from the top of the prompt to its end; a rank that is missing was not retrieved, and one
  that repeats earns something at its first place only;
- a relevance is one grade a document of the list, by rank: above 0 is relevant, and the number is its gain in nDCG;
- relevant documents that the order left out count among those that could have been found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, log2

from lim.errors import SettingError


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of one order, each from 0 to 1.

    :param average_precision: see :func:`average_precision`.
    :param ndcg: see :func:`ndcg`, over the whole order.
    :param reciprocal_rank: see :func:`reciprocal_rank`; its mean over many queries is the MRR.
    :param recall: see :func:`recall`, at the `k` of the comparison.
    """

    average_precision: float
    ndcg: float
    reciprocal_rank: float
    recall: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The metrics of the same documents in two orders.

    :param k: the cut-off of the recall, in documents.
    :param before: the metrics of the first order.
    :param after: the metrics of the second order.
    """

    k: int
    before: Metrics
    after: Metrics


def top(r: int, n: int) -> tuple[int, ...]:
    """Assume that the first documents of a list are the relevant ones.

    :param r: how many are relevant, from 1 to `n`.
    :param n: documents in the list, at least 1.
    :returns: one grade a document: 1 for the ranks 1 to `r`, 0 for the rest.
    :raises SettingError: if a number is out of bounds.
    """
    if not 1 <= r <= n:
        raise SettingError(
            f"{r!r} of {n!r} documents are to be relevant, but it must be from 1 to all of them. Give such a number."
        )
    return (1,) * r + (0,) * (n - r)


def average_precision(order: Sequence[int], relevance: Sequence[float]) -> float:
    """Average the precision over the relevant documents.

    At the place of each relevant document, the share of relevant ones among the documents up to it; summed, and divided
    by the number of relevant documents of the whole list. Its mean over many queries is the MAP.

    :param order: ranks in prompt order.
    :param relevance: one grade a document of the list.
    :returns: from 0 to 1.
    :raises SettingError: if the order holds no ranks of the list, or the relevance no finite grades of which one is
        above 0.
    """
    places = [place for place, _ in _hits(order, relevance)]
    return fsum(count / place for count, place in enumerate(places, 1)) / _relevant(relevance)


def ndcg(order: Sequence[int], relevance: Sequence[float], k: int | None = None) -> float:
    """Divide the discounted cumulative gain by that of the best possible order.

    A document of grade g at place p gains g / log2(p + 1) (the linear form). The best possible order has all relevant
    documents of the list by falling grade, those left out included.

    :param order: ranks in prompt order.
    :param relevance: one grade a document of the list.
    :param k: how many places count, at least 1; all of them by default.
    :returns: from 0 to 1.
    :raises SettingError: if `k` is below 1, or as :func:`average_precision`.
    """
    _check_cutoff(k)
    gained = fsum(grade / log2(place + 1) for place, grade in _hits(order[:k], relevance))
    best = sorted(relevance, reverse=True)[:k]
    return gained / fsum(grade / log2(place + 1) for place, grade in enumerate(best, 1))


def reciprocal_rank(order: Sequence[int], relevance: Sequence[float]) -> float:
    """Divide 1 by the place of the first relevant document.

    :param order: ranks in prompt order.
    :param relevance: one grade a document of the list.
    :returns: from 0, where no relevant document is in the order, to 1.
    :raises SettingError: as :func:`average_precision`.
    """
    hits = _hits(order, relevance)
    return 1 / hits[0][0] if hits else 0.0


def recall(order: Sequence[int], relevance: Sequence[float], k: int) -> float:
    """Take the share of the relevant documents of the list that stand in the first places.

    At the whole length of an order this is the one metric here that rearranging cannot change.

    :param order: ranks in prompt order.
    :param relevance: one grade a document of the list.
    :param k: how many places count, at least 1.
    :returns: from 0 to 1.
    :raises SettingError: if `k` is below 1, or as :func:`average_precision`.
    """
    _check_cutoff(k)
    return len(_hits(order[:k], relevance)) / _relevant(relevance)


def compare(before: Sequence[int], after: Sequence[int], relevance: Sequence[float], k: int) -> Comparison:
    """Measure two orders of one list, such as the list as retrieved and the prompt.

    :param before: ranks in the first order.
    :param after: ranks in the second order.
    :param relevance: one grade a document of the list.
    :param k: the cut-off of the recall, at least 1.
    :returns: the metrics of both.
    :raises SettingError: if `k` is below 1, or as :func:`average_precision`.
    """

    def measure(order: Sequence[int]) -> Metrics:
        return Metrics(
            average_precision(order, relevance),
            ndcg(order, relevance),
            reciprocal_rank(order, relevance),
            recall(order, relevance, k),
        )

    return Comparison(k, measure(before), measure(after))


def _hits(order: Sequence[int], relevance: Sequence[float]) -> list[tuple[int, float]]:
    """List the place and the grade of each relevant document of an order, at its first place."""
    _relevant(relevance)
    seen: set[int] = set()
    hits = []
    for place, rank in enumerate(order, 1):
        if not 1 <= rank <= len(relevance):
            raise SettingError(
                f"The order contains rank {rank!r}, but the list has the ranks 1 to {len(relevance):,}. Give an order "
                f"of these, and one grade for each."
            )
        if relevance[rank - 1] > 0 and rank not in seen:
            hits.append((place, relevance[rank - 1]))
        seen.add(rank)
    return hits


def _relevant(relevance: Sequence[float]) -> int:
    for rank, grade in enumerate(relevance, 1):
        if not (isfinite(grade) and grade >= 0):
            raise SettingError(
                f"The relevance of rank {rank:,} is {grade!r}, but a finite grade of at least 0 is needed. Give 0 for "
                f"a document that is not relevant."
            )
    if not (count := sum(grade > 0 for grade in relevance)):
        raise SettingError(
            f"None of the {len(relevance):,} documents is relevant, but the metrics need at least 1 that is. Mark one."
        )
    return count


def _check_cutoff(k: int | None) -> None:
    if k is not None and k < 1:
        raise SettingError(f"k is {k!r}, but at least 1 place must count. Give such a number.")
