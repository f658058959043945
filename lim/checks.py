"""Where the seed of a silent failure is visible in a list: what to look at before trusting the arrangement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from haystack import Document

from lim import measure
from lim.ranker import Arrangement
from lim.story import plural

DOES_NOT_SORT = (
    "The ranker does not sort: it takes this order for relevance and puts its end in the middle of the prompt."
)


class Kind(StrEnum):
    """What a finding is about; a page offers the remedy that fits."""

    UNSORTED = "unsorted"
    DISTANCES = "distances"
    UNSPLITTABLE = "unsplittable"
    IDS = "ids"
    FIRST_EXCEEDS = "first exceeds"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a list that makes the result other than a person may think.

    :param kind: what it is about.
    :param message: what was seen, with its numbers, and what follows.
    :param ranks: the ranks concerned, ascending.
    """

    kind: Kind
    message: str
    ranks: tuple[int, ...]


def check(arrangement: Arrangement, distances: Sequence[float | None] | None = None) -> tuple[Finding, ...]:
    """Look for the seeds of silent failures in a list; nothing here depends on the limits.

    :param arrangement: an arrangement of the list.
    :param distances: the distance of each document, where the input has distances and not scores.
    :returns: what was found, most serious first; empty for a clean list.
    """
    documents = arrangement.inputs
    found = [
        _order(documents) if distances is None else _distance_order(distances),
        _ids(documents),
        _unsplittable(documents, arrangement.word_counts),
    ]
    return tuple(finding for finding in found if finding is not None)


def check_limits(arrangement: Arrangement) -> tuple[Finding, ...]:
    """Look for limits that do something other than a person may think.

    :param arrangement: an arrangement.
    :returns: a finding if the first document alone exceeds the threshold, else nothing.
    """
    threshold = arrangement.word_count_threshold
    if not threshold or arrangement.ranked < 2 or arrangement.totals[0] < threshold:
        return ()
    return (
        Finding(
            Kind.FIRST_EXCEEDS,
            f"The first document alone has {arrangement.totals[0]:,} words, at least the threshold of {threshold:,}: "
            f"the prompt holds nothing else.",
            (arrangement.walk[0],),
        ),
    )


def _order(documents: Sequence[Document]) -> Finding | None:
    scored = [(rank, document.score) for rank, document in enumerate(documents, 1) if document.score is not None]
    pairs = list(pairwise(scored))
    rises = [(before, after) for before, after in pairs if after[1] > before[1]]
    falls = [(before, after) for before, after in pairs if after[1] < before[1]]
    if not rises:
        return None
    ranks = tuple(after[0] for _, after in rises)
    if not falls and len(rises) > 1:
        return Finding(
            Kind.DISTANCES,
            f"The scores rise from {scored[0][1]:g} to {scored[-1][1]:g} down the list: they look like distances, "
            f"where lower is better. If they are, the order is right; if higher is better, the list is upside down. "
            f"The ranker looks at neither.",
            ranks,
        )
    (rank_before, score_before), (rank_after, score_after) = rises[0]
    return Finding(
        Kind.UNSORTED,
        f"The scores are not in descending order: rank {rank_after:,} ({score_after:g}) is higher than rank "
        f"{rank_before:,} ({score_before:g}){_more(len(rises))}. {DOES_NOT_SORT}",
        ranks,
    )


def _distance_order(distances: Sequence[float | None]) -> Finding | None:
    known = [(rank, distance) for rank, distance in enumerate(distances, 1) if distance is not None]
    falls = [(before, after) for before, after in pairwise(known) if after[1] < before[1]]
    if not falls:
        return None
    (rank_before, before), (rank_after, after) = falls[0]
    return Finding(
        Kind.UNSORTED,
        f"The distances are not in ascending order: rank {rank_after:,} ({after:g}) is nearer than rank "
        f"{rank_before:,} ({before:g}){_more(len(falls))}. {DOES_NOT_SORT}",
        tuple(after[0] for _, after in falls),
    )


def _ids(documents: Sequence[Document]) -> Finding | None:
    texts: dict[str, set[str | None]] = defaultdict(set)
    ranks: dict[str, list[int]] = defaultdict(list)
    for rank, document in enumerate(documents, 1):
        texts[document.id].add(document.content)
        ranks[document.id].append(rank)
    clashing = [document_id for document_id, contents in texts.items() if len(contents) > 1]
    if not clashing:
        return None
    concerned = sorted(rank for document_id in clashing for rank in ranks[document_id])
    example = clashing[0]
    return Finding(
        Kind.IDS,
        f"The id {example!r} stands over different texts (ranks {', '.join(map(str, ranks[example][:6]))})"
        + (
            f", and so {'does' if len(clashing) == 2 else 'do'} {plural(len(clashing) - 1, 'more id')}"
            if clashing[1:]
            else ""
        )
        + ". The ranker takes them for duplicates and drops all but one: text is lost. Chunks often keep the id of "
        "their source.",
        tuple(concerned),
    )


def _unsplittable(documents: Sequence[Document], word_counts: Sequence[int]) -> Finding | None:
    ranks = tuple(
        rank
        for rank, document in enumerate(documents, 1)
        if document.content and measure.unsplittable(document.content)
    )
    if not ranks:
        return None
    length = sum(len(documents[rank - 1].content or "") for rank in ranks)
    words = sum(word_counts[rank - 1] for rank in ranks)
    return Finding(
        Kind.UNSPLITTABLE,
        f"For {len(ranks):,} of {len(documents):,} documents (rank {', '.join(map(str, ranks[:6]))}"
        f"{' …' if len(ranks) > 6 else ''}) the word count says little: {length:,} characters count as "
        f"{plural(words, 'word')}, because words are split at spaces. Chinese, Japanese, Thai or one long URL barely "
        f"move the threshold; check the tokens instead.",
        ranks,
    )


def _more(count: int) -> str:
    return f", and so in {count - 1:,} more {'place' if count == 2 else 'places'}" if count > 1 else ""
