"""Maximum margin relevance, bounded, with progress and a way to stop it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lim.stages.guards.trouble import Trouble

MAX_MMR_COMPARISONS = 200_000
"""The most comparisons of two embeddings for maximum margin relevance: some three seconds of one core."""


def mmr_comparisons(count: int, top_k: int) -> int:
    """Count the comparisons of two embeddings that the component makes, of order n·k².

    :param count: documents.
    :param top_k: how many are chosen.
    :returns: the sum over the choices of the documents left times those chosen.
    """
    steps = min(count, top_k) - 1  # the first choice needs none
    if steps < 1:
        return 0
    return count * steps * (steps + 1) // 2 - steps * (steps + 1) * (2 * steps + 1) // 6


def check_mmr(count: int, top_k: int) -> None:
    """Check that a diversity ranking by maximum margin relevance ends in time.

    :param count: documents.
    :param top_k: how many are chosen.
    :raises Trouble: if it takes too many comparisons.
    """
    if mmr_comparisons(count, top_k) <= MAX_MMR_COMPARISONS:
        return
    fitting = next(k for k in range(min(count, top_k), 0, -1) if mmr_comparisons(count, k) <= MAX_MMR_COMPARISONS)
    raise Trouble(
        f"Choosing {min(count, top_k)} of {count} documents by maximum margin relevance takes "
        f"{mmr_comparisons(count, top_k):,} comparisons, but at most {MAX_MMR_COMPARISONS:,} are made here.",
        f"Set its top_k to {fitting} or less, or keep fewer documents before it.",
    )


class Ticking(float):
    """A lambda that reports each time it is used: the one thing the component touches for every candidate."""

    tick: Callable[[float], None]
    count: int
    total: int
    chosen: int
    left: int
    done: int

    @classmethod
    def of(cls, value: float, count: int, top_k: int, tick: Callable[[float], None]) -> Ticking:
        """Make one.

        :param value: lambda.
        :param count: documents.
        :param top_k: how many are chosen.
        :param tick: called with the share of the work that is done; may raise to end it.
        :returns: the number.
        """
        self = cls(value)
        self.tick, self.count, self.total = tick, count, max(1, mmr_comparisons(count, top_k))
        self.chosen, self.left, self.done = 1, count - 1, 0
        return self

    def __mul__(self, other: Any) -> Any:  # noqa: ANN401 # a tensor
        """Multiply, and count."""
        self.left -= 1
        self.done += self.chosen
        if not self.left:
            self.chosen += 1
            self.left = self.count - self.chosen
            self.tick(min(1.0, self.done / self.total))
        return float(self) * other
