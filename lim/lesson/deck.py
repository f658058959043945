"""The documents the lesson is shown on: numbered cards, or the first documents of a person's own list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haystack import Document

MAX_CARDS = 12
"""The most documents that are placed one by one."""

LETTERS = "ABCDEFGHIJKL"

THRESHOLD = 1000
"""The `word_count_threshold` the cards are first shown with: they exceed it by 4 words."""

_WORDS = (120, 85, 240, 60, 190, 130, 75, 104, 90, 150, 45, 110)
_YEARS = (2019, 2024, 2016, 2022, 2018, 2025, 2017, 2023, 2020, 2021, 2015, 2014)


def numbered(count: int) -> tuple[Document, ...]:
    """Make numbered cards, most relevant first, with falling scores and a word count each.

    :param count: how many, from 0 to 12.
    :returns: documents whose text begins with their number; `meta` holds a year of publication.
    """
    return tuple(
        Document(
            id=f"card-{rank}",
            content=" ".join(["Document", str(rank), *["word"] * (_WORDS[rank - 1] - 2)]),
            score=round(0.97 - 0.06 * rank, 2),
            meta={"published": _YEARS[rank - 1]},
        )
        for rank in range(1, count + 1)
    )


def taken(documents: Sequence[Document], walk: Sequence[int], count: int) -> tuple[Document, ...]:
    """Take the first documents of a list, duplicates left out, for the lesson to number anew.

    :param documents: the list.
    :param walk: its ranks in the order the ranker reads them, see `Arrangement.walk`.
    :param count: how many at most.
    :returns: copies with falling scores where a score is missing, and with a year of publication made up for the
        demonstrations; the texts are the list's own.
    """
    chosen = [documents[rank - 1] for rank in walk[: min(count, MAX_CARDS)]]
    scored = all(document.score is not None for document in chosen)
    return tuple(
        replace(
            document,
            id=f"document-{rank}",
            score=document.score if scored else round(0.97 - 0.06 * rank, 2),
            meta={"published": _YEARS[rank - 1]},
        )
        for rank, document in enumerate(chosen, 1)
    )
