"""Assumptions about where the answer is: a probability for each rank of a list, most relevant first.

A distribution is a tuple of one probability a document, in rank order, that sums to 1. Which of them fits a list
nobody knows; a page shows the one it used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, fsum, isfinite

from lim.errors import SettingError

SUM_TOLERANCE = 1e-9


def at_rank(rank: int, n: int) -> tuple[float, ...]:
    """Assume that the answer is in one document.

    :param rank: the rank of that document, from 1 to `n`.
    :param n: documents in the list, at least 1.
    :returns: probability 1 at `rank`, 0 elsewhere.
    :raises SettingError: if a number is out of bounds.
    """
    _check_count(n)
    if not 1 <= rank <= n:
        raise SettingError(f"rank is {rank!r}, but the list has the ranks 1 to {n:,}. Give one of them.")
    return tuple(float(other == rank) for other in range(1, n + 1))


def geometric(p: float, n: int) -> tuple[float, ...]:
    """Assume that each document, if no better one has the answer, has it with probability `p`.

    Rank r gets p (1 - p)^(r - 1), divided by the sum over the list so that the answer is in some document of it.

    :param p: above 0, at most 1. Large: the retriever is trusted; towards 0: nearly uniform.
    :param n: documents in the list, at least 1.
    :returns: falling probabilities.
    :raises SettingError: if a number is out of bounds.
    """
    _check_count(n)
    if not 0 < p <= 1:
        raise SettingError(f"p is {p!r}, but a probability above 0 and at most 1 is needed. Give one, such as 0.3.")
    return _normalized((1 - p) ** power for power in range(n))


def uniform(n: int) -> tuple[float, ...]:
    """Assume that the answer is equally likely in every document.

    :param n: documents in the list, at least 1.
    :returns: probability 1 / n at every rank.
    :raises SettingError: if `n` is out of bounds.
    """
    _check_count(n)
    return (1 / n,) * n


def from_scores(scores: Sequence[float | None]) -> tuple[float, ...]:
    """Draw the probabilities from the scores: their softmax, exp(score) over the sum of all exp(score).

    The softmax takes scores for log-odds, as cross-encoders give them. Cosine similarities lie so close together that
    it makes them nearly uniform, BM25 scores so far apart that it puts nearly everything on the first.

    :param scores: the score of each document, in rank order, at least one.
    :returns: one probability a document.
    :raises SettingError: if there is no score, or one is missing or not finite.
    """
    _check_count(len(scores))
    known: list[float] = []
    for rank, score in enumerate(scores, 1):
        if score is None or not isfinite(score):
            raise SettingError(
                f"The score of rank {rank:,} is {score!r}, but a finite number is needed for every document. Give the "
                f"missing scores, or choose a distribution by rank."
            )
        known.append(score)
    top = max(known)
    return _normalized(exp(score - top) for score in known)


def within(where: Sequence[float], order: Sequence[int]) -> tuple[float, ...]:
    """Condition a distribution on the answer being in the prompt.

    :param where: a distribution over the ranks of the list.
    :param order: the ranks in the prompt, in any order.
    :returns: 0 for ranks that are not in the prompt, the rest scaled to sum to 1.
    :raises SettingError: if `where` is no distribution, a rank is not in the list, or none of `order` has a probability
        above 0.
    """
    check_distribution(where)
    inside = set(check_order(order, len(where)))
    if not any(where[rank - 1] for rank in inside):
        raise SettingError(
            f"The {len(inside):,} ranks in the prompt have probability 0, but the answer must be possible in one of "
            f"them. Choose a distribution that reaches them, or keep more documents."
        )
    return _normalized(share if rank in inside else 0.0 for rank, share in enumerate(where, 1))


def check_distribution(where: Sequence[float]) -> None:
    """Check that probabilities are at least 0 and sum to 1, to within a billionth.

    :param where: one probability a document.
    :raises SettingError: if they do not.
    """
    _check_count(len(where))
    for rank, share in enumerate(where, 1):
        if not 0 <= share <= 1:  # false for NaN too
            raise SettingError(
                f"The probability of rank {rank:,} is {share!r}, but it must be from 0 to 1. Give such a number."
            )
    if abs(fsum(where) - 1) > SUM_TOLERANCE:
        raise SettingError(
            f"The probabilities sum to {fsum(where):.6g}, but the answer is in exactly one document, so they must sum "
            f"to 1. Divide each by the sum."
        )


def check_order(order: Sequence[int], n: int) -> Sequence[int]:
    """Check that an order consists of ranks of a list.

    :param order: ranks in prompt order; some may be missing, some may repeat.
    :param n: documents in the list.
    :returns: the order itself.
    :raises SettingError: if one is not a rank from 1 to `n`.
    """
    for rank in order:
        if not 1 <= rank <= n:
            raise SettingError(
                f"The order contains rank {rank!r}, but the list has the ranks 1 to {n:,}. Give an order of these."
            )
    return order


def _check_count(n: int) -> None:
    if n < 1:
        raise SettingError(f"The list has {n!r} documents, but at least 1 is needed. Give a list with a document.")


def _normalized(weights: Iterable[float]) -> tuple[float, ...]:
    known = tuple(weights)
    total = fsum(known)
    return tuple(weight / total for weight in known)
