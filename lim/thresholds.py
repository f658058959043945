"""Every threshold at which the result for a list changes, and the threshold for a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from haystack import Document

from lim import measure
from lim.errors import SettingError
from lim.ranker import Arrangement, arrange

SUGGESTED_SHARE = 0.6
"""Share of a list that a suggested limit keeps."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the staircase: a count of kept documents and the thresholds that give it.

    :param kept: how many documents reach the prompt, from 1.
    :param rank: the rank of the last of them in the order the ranker reads; the one that crosses the threshold.
    :param lowest: the lowest `word_count_threshold` that keeps this many, or None if none does (the last document
        has no words, so the walk never stops at it).
    :param highest: the highest one, or None if there is no upper end (every document is kept) or no lower end.
    :param words: words that then reach the prompt.
    :param tokens: tokens that then reach the prompt, None where tokens are not available.
    """

    kept: int
    rank: int
    lowest: int | None
    highest: int | None
    words: int
    tokens: int | None

    @property
    def reachable(self) -> bool:
        """Whether some threshold keeps exactly this many documents."""
        return self.lowest is not None

    @property
    def overshoot(self) -> int:
        """The most words by which the result exceeds a threshold of this step: at its lowest one."""
        return max(self.words - self.lowest, 0) if self.lowest is not None else 0


@dataclass(frozen=True, slots=True)
class Fit:
    """The answer to "which threshold fits my context?".

    :param budget: the tokens there are for documents: the context budget less the reserve.
    :param step: the largest step of the staircase that fits, or None if not even the first document does.
    :param threshold: the largest `word_count_threshold` whose kept documents fit; None if every document fits (no
        threshold is needed) or none does.
    """

    budget: int
    step: Step | None
    threshold: int | None


def staircase(arrangement: Arrangement, tokens: Sequence[int] | None = None) -> tuple[Step, ...]:
    """List for each count of kept documents the exact thresholds that give it, in one pass.

    A threshold T keeps the first n documents of the walk where n is the first with cumulative words >= T, so n are
    kept for T from one more than the words of n - 1 documents up to the words of n, and all of them for any larger T.

    :param arrangement: an arrangement of the list; its `top_k` counts, its threshold does not.
    :param tokens: tokens of each input document, in input order (see `lim.measure.tokens`), or None.
    :returns: one step for each count from 1 to the documents left by `top_k`; empty for an empty list.
    """
    walk = arrangement.walk[: arrangement.ranked]
    totals = arrangement.totals[: arrangement.ranked]
    token_totals = list(accumulate(tokens[rank - 1] for rank in walk)) if tokens is not None else None
    steps = []
    for kept, (rank, total) in enumerate(zip(walk, totals, strict=True), 1):
        lowest: int | None = totals[kept - 2] + 1 if kept > 1 else 1
        highest: int | None = total
        if kept == len(walk):
            highest = None
        elif lowest is not None and lowest > total:
            lowest = highest = None
        steps.append(Step(kept, rank, lowest, highest, total, token_totals[kept - 1] if token_totals else None))
    return tuple(steps)


def fit(steps: Sequence[Step], context_tokens: int, reserve_tokens: int = 0) -> Fit:
    """Find the largest `word_count_threshold` whose kept documents fit a budget of tokens.

    :param steps: the staircase of the list, with tokens.
    :param context_tokens: tokens of the whole prompt, at least 1.
    :param reserve_tokens: tokens kept free for the rest of the prompt (instructions, question, answer), at least 0.
    :returns: the largest step that fits and its largest threshold. Tokens are counted a document; a tokenizer may
        join characters where documents meet, so leave some reserve.
    :raises SettingError: if the numbers are out of bounds, or the steps carry no tokens.
    """
    if context_tokens < 1 or reserve_tokens < 0:
        raise SettingError(
            f"The context is {context_tokens:,} tokens and the reserve {reserve_tokens:,}, but the context must be at "
            f"least 1 and the reserve at least 0. Give a larger number."
        )
    budget = context_tokens - reserve_tokens
    best = None
    for step in steps:
        if step.tokens is None:
            raise SettingError(
                "Tokens are not available (None), but a budget of tokens needs them. Install `toktok-rs`, or choose "
                "the threshold in words."
            )
        if step.reachable and step.tokens <= budget:
            best = step
    return Fit(budget, best, best.highest if best is not None else None)


def staircase_of(documents: Sequence[Document], top_k: int | None = None) -> tuple[Step, ...]:
    """List the steps of a list of documents, tokens included where they are available.

    :param documents: any number of documents, most relevant first.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :returns: as :func:`staircase`.
    :raises SettingError: if `top_k` is not None or a whole number of at least 1.
    :raises DocumentError: if the text of a document is None.
    """
    arrangement = arrange(documents, top_k=top_k)
    return staircase(arrangement, measure.tokens([document.content or "" for document in documents]))


def suggested(most: int) -> int:
    """Choose a limit to begin with, one that drops a part of a list.

    :param most: what the whole list has, in words or documents, at least 1.
    :returns: about `SUGGESTED_SHARE` of it, rounded.
    """
    return rounded(SUGGESTED_SHARE * most)


def rounded(value: float) -> int:
    """Round a suggestion.

    :param value: a number of at least 0.
    :returns: the number with two digits, at least 1.
    """
    digits: int = 10 ** max(len(str(int(value))) - 2, 0)
    return max(round(value / digits) * digits, 1)
