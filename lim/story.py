"""What an arrangement means, in sentences: the verdict a page leads with and the words under each chart."""

from __future__ import annotations

from collections.abc import Sequence

from lim.ranker import Arrangement
from lim.thresholds import Step


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    :param count: any number.
    :param noun: the noun in the singular, with a regular plural.
    :returns: such as `1 document` or `1,004 words`.
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def reach(arrangement: Arrangement) -> str:
    """Say how many documents reach the prompt.

    :param arrangement: an arrangement of at least one document.
    :returns: such as `11 of 20 documents reach the prompt` or `All 7 documents reach the prompt`.
    """
    total, kept = len(arrangement.inputs), arrangement.kept
    if total == 1:
        return "The only document reaches the prompt"
    if kept == total:
        return f"All {total:,} documents reach the prompt"
    return f"{kept:,} of {total:,} documents {'reaches' if kept == 1 else 'reach'} the prompt"


def verdict(arrangement: Arrangement) -> str:
    """Say what happened to a list, and why, in one or two sentences.

    :param arrangement: an arrangement.
    :returns: plain text with the numbers: documents and words kept, what the limits and the duplicates took away.
    """
    if not arrangement.inputs:
        return "There is no document to arrange."
    threshold, words = arrangement.word_count_threshold, arrangement.words
    sentence = f"{reach(arrangement)}: {plural(words, 'word')}"
    if arrangement.ranked == 1 and threshold:
        sentence += f". A list of one document ignores the threshold of {threshold:,}"
    elif arrangement.crossing is not None and threshold and words > threshold:
        over = f"{words - threshold:,} over your threshold of {threshold:,}"
        sentence += f", {over}, because the document that crosses it is kept"
    elif arrangement.crossing is not None and threshold:
        sentence += f", exactly your threshold of {threshold:,}"
    elif threshold:
        sentence += f", {threshold - words:,} below the threshold of {threshold:,}, which is never reached"
    else:
        sentence += ", with no word limit"
    losses = []
    if cut := len(arrangement.walk) - arrangement.ranked:
        losses.append(
            f"{plural(cut, 'document')} {'is' if cut == 1 else 'are'} left out by top_k = {arrangement.top_k:,}"
        )
    if copies := len(arrangement.kept_copies):
        losses.append(f"{plural(copies, 'duplicate')} {'is' if copies == 1 else 'are'} dropped by id")
    return f"{sentence}. {' and '.join(losses) + '.' if losses else ''}".strip()


def order_rule(arrangement: Arrangement) -> str:
    """Say the rule of the layout, with what a bar stands for where bars were binned.

    :param arrangement: an arrangement.
    :returns: one line.
    """
    if arrangement.kept <= 2:
        return "The best document comes first; with two, the second-best comes last"
    return "The best documents sit at both ends; the weakest end up in the middle"


def budget_rule(arrangement: Arrangement) -> str:
    """Say the rule of the budget.

    :param arrangement: an arrangement.
    :returns: one line.
    """
    if arrangement.word_count_threshold is None:
        return "No threshold: click or drag in the chart to set one"
    if arrangement.crossing is None:
        return f"A threshold of {arrangement.word_count_threshold:,} drops nothing: click or drag for another"
    return "The document that crosses the threshold is kept; click or drag to move it"


def budget_finding(arrangement: Arrangement) -> str:
    """Say where the budget runs out.

    :param arrangement: an arrangement of at least one document.
    :returns: one line with the rank of the crossing document, or that there is none.
    """
    threshold = arrangement.word_count_threshold
    if threshold is None:
        return f"Where the budget runs out: no limit, {plural(arrangement.words, 'word')}"
    if arrangement.crossing is None:
        return f"The budget does not run out: {arrangement.words:,} of {plural(threshold, 'word')}"
    return f"The budget runs out at rank {arrangement.crossing:,}: {plural(arrangement.words, 'word')}"


def same_result(arrangement: Arrangement, steps: Sequence[Step]) -> str | None:
    """Say between which thresholds the result stays as it is.

    :param arrangement: an arrangement with a threshold.
    :param steps: the staircase of its list.
    :returns: one line, or None without a threshold, and where no threshold gives this result.
    """
    step = next((step for step in steps if step.kept == arrangement.kept and step.reachable), None)
    if step is None or arrangement.word_count_threshold is None:
        return None
    documents = plural(step.kept, "document")
    if step.highest is None:
        return f"Any threshold from {step.lowest:,} on keeps {documents}"
    if step.highest == step.lowest:
        return f"Only a threshold of {step.lowest:,} keeps {documents}"
    return f"Any threshold from {step.lowest:,} to {step.highest:,} keeps {documents}"
