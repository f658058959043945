"""What one threshold and one `top_k` do to many queries, in sentences."""

from __future__ import annotations

from lim.story import plural
from lim.tuning.figures import Outcome
from lim.tuning.pairs import Answer, Objective
from lim.tuning.ratio import Ratio


def percent(share: float) -> str:
    """Write a share so that nothing is rounded away: none is 0%, all are 100%, and only they are.

    :param share: 0 to 1.
    :returns: such as `3.4%`, `100%`, `under 0.1%` or `over 99.9%`.
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.001:
        return "under 0.1%"
    return f"{100 * share:.1f}%" if share <= 0.999 else "over 99.9%"


def limits(word_count_threshold: int | None, top_k: int | None) -> str:
    """Write a pair of limits as the ranker's arguments.

    :param word_count_threshold: the threshold, or None.
    :param top_k: the largest number of documents, or None.
    :returns: such as `word_count_threshold=500, top_k=8`, or `no limits`.
    """
    named = {"word_count_threshold": word_count_threshold, "top_k": top_k}
    return ", ".join(f"{name}={value}" for name, value in named.items() if value is not None) or "no limits"


def verdict(outcome: Outcome) -> str:
    """Say what a pair of limits does to the queries.

    :param outcome: its figures.
    :returns: one sentence with its numbers: the queries over the budget, the relevant documents kept or the documents.
    """
    if outcome.over is None:
        first = f"Half of the queries send at most {plural(outcome.words.median, 'word')}"
    elif outcome.queries == 1:
        first = f"The query {'exceeds' if outcome.over else 'stays within'} {outcome.budget:,} tokens"
    elif outcome.over == 0:
        first = f"None of {outcome.queries:,} queries exceeds {outcome.budget:,} tokens"
    else:
        verb = "exceeds" if outcome.over == 1 else "exceed"
        first = f"{outcome.over:,} of {outcome.queries:,} queries {verb} {outcome.budget:,} tokens"
    if outcome.relevant:
        return f"{first}, and {kept_relevant(outcome)}"
    reach = "document reaches" if outcome.documents.total == 1 else "documents reach"
    return f"{first}, and {outcome.documents.total:,} {reach} the prompt{'s' * (outcome.queries > 1)}"


def kept_relevant(outcome: Outcome) -> str:
    """Say how many of the documents marked relevant are kept.

    :param outcome: figures with documents marked relevant.
    :returns: such as `978 of 990 relevant documents are kept`.
    """
    kept, relevant = outcome.relevant_kept or 0, outcome.relevant or 0
    if kept == relevant:
        return "every relevant document is kept" if relevant > 1 else "the relevant document is kept"
    return f"{kept:,} of {relevant:,} relevant documents {'is' if kept == 1 else 'are'} kept"


def sentence(outcome: Outcome, documents: int, duplicates: int, source: str, version: str) -> str:
    """Write what a pull request should say of a choice of limits.

    :param outcome: the figures of the choice.
    :param documents: how many documents the lists have together, duplicates left out.
    :param duplicates: how many duplicates were left out.
    :param source: what the lists are, such as the name of their file.
    :param version: of `haystack-ai`.
    :returns: plain text, every number exact or with its digits named.
    """
    ranker = limits(outcome.word_count_threshold, outcome.top_k)
    dropped = f", {plural(duplicates, 'duplicate')} dropped" if duplicates else ""
    lists = f"{plural(outcome.queries, 'ranked list')} ({plural(documents, 'document')}{dropped}) from {source}"
    parts = [f"LostInTheMiddleRanker({'' if ranker == 'no limits' else ranker}), measured on {lists}:"]
    if outcome.over is not None:
        share = percent(outcome.over / outcome.queries)
        parts.append(f"{outcome.over:,} of them ({share}) exceed {outcome.budget:,} tokens for documents;")
    if outcome.relevant:
        recall, losing = percent(outcome.recall or 0), percent(outcome.share_losing or 0)
        parts.append(
            f"{outcome.relevant_kept or 0:,} of {outcome.relevant:,} documents marked relevant reach the prompt "
            f"({recall}), and {outcome.losing:,} of {outcome.judged:,} queries with one lose at least one ({losing});"
        )
    size, noun = (outcome.tokens, "tokens (o200k_base)") if outcome.tokens is not None else (outcome.words, "words")
    parts.append(
        f"the median prompt has {size.median:,} {noun} of documents, the 95th percentile {size.p95:,}, the largest "
        f"{size.most:,}."
    )
    if outcome.word_count_threshold is not None:
        parts.append(
            f"The document that crosses the threshold is kept: {outcome.mean_overshoot:.1f} words over it on average."
        )
    return " ".join([*parts, f"Counted by the rules of haystack-ai {version}."])


def answer(found: Answer, share: float, budget: int, queries: int) -> str:
    """Say what the best pair for a goal is.

    :param found: the answer.
    :param share: the share of queries that may exceed the budget.
    :param budget: the tokens there are for documents.
    :param queries: how many queries there are.
    :returns: one or two sentences.
    """
    if found.best is None:
        return (
            f"No pair keeps at most {found.allowed:,} of {queries:,} queries ({100 * share:g}%) over {budget:,} "
            f"tokens: the first document alone is too large for more. Raise the budget or allow a larger share."
        )
    said = limits(found.best.word_count_threshold, found.best.top_k)
    if found.objective is Objective.RELEVANT:
        kept = f"{found.best.relevant_kept or 0:,} of {found.best.relevant or 0:,} relevant documents"
    elif found.objective is Objective.WORDS:
        kept = plural(found.best.words.total, "word")
    else:
        kept = plural(found.best.documents.total, "document")
    over = f"{found.best.over or 0:,} of {queries:,} queries over {budget:,} tokens ({found.allowed:,} may be)"
    return f"{said} keeps {kept} with {over}."


def searched(found: Answer) -> str:
    """Say what was searched for the best pair.

    :param found: the answer.
    :returns: one sentence.
    """
    numbers = [top_k for top_k in found.top_ks if top_k is not None]
    if not numbers:
        return "Searched: every threshold there is."
    if len(numbers) == numbers[-1]:
        return f"Searched: every threshold there is, with every top_k from 1 to {numbers[-1]:,} and without one."
    return (
        f"Searched: every threshold there is, with every top_k from 1 to 200, {len(numbers) - 200:,} larger ones up to "
        f"{numbers[-1]:,} in steps of 5%, and without one."
    )


def worth(threshold: int, ratio: Ratio) -> str:
    """Say what a threshold in words is worth in tokens.

    :param threshold: in words.
    :param ratio: the corpus's.
    :returns: one sentence.
    """
    low, middle, high = (round(threshold * each) for each in (ratio.by_list.q25, ratio.whole, ratio.by_list.q75))
    return (
        f"{threshold:,} words are worth about {middle:,} tokens here; for the middle half of the queries "
        f"{low:,} to {high:,}."
    )
