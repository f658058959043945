"""The lesson's frames: rows of cards, the placing of documents one by one, the walk down the budget, sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from lim.lesson import landing_place
from lim.lesson.sizes import Sized
from lim.ranker import Arrangement


def shade(rank: int, count: int) -> float:
    """Give a rank its place on the colour scale of relevance.

    :param rank: from 1 to `count`.
    :param count: how many documents there are.
    :returns: 0 for the best, 1 for the weakest.
    """
    return (rank - 1) / max(count - 1, 1)


def cards(rows: Mapping[str, Sequence[int]], count: int, mark: Mapping[str, int] | None = None) -> pd.DataFrame:
    """Make one card for each document of several orders, to compare the orders row by row.

    :param rows: the orders by name: ranks from the top of the prompt to its end. A rank may repeat or be missing.
    :param count: how many documents there are, for the colours.
    :param mark: for some names the rank to outline.
    :returns: columns `row`, `place` (1-based), `rank`, `label`, `shade`, `marked`.
    """
    marks = mark or {}
    return pd.DataFrame(
        [
            (name, place, rank, str(rank), shade(rank, count), marks.get(name) == rank)
            for name, order in rows.items()
            for place, rank in enumerate(order, 1)
        ],
        columns=["row", "place", "rank", "label", "shade", "marked"],
    )


def placing(count: int, placed: int) -> pd.DataFrame:
    """Make the rows of "documents are placed one by one".

    :param count: how many documents there are, from 1.
    :param placed: how many of them are placed, 0 to `count`.
    :returns: one row a document: columns `rank`, `place` (in the prompt), `label` (the rank while it waits, empty
        afterwards), `landed` (the rank once it is placed, empty before), `shade`, `waiting`, `placed`, `current`.
    """
    return pd.DataFrame(
        [
            (
                rank,
                landing_place(rank, count),
                str(rank) if rank > placed else "",
                str(rank) if rank <= placed else "",
                shade(rank, count),
                rank > placed,
                rank <= placed,
                rank == placed,
            )
            for rank in range(1, count + 1)
        ],
        columns=["rank", "place", "label", "landed", "shade", "waiting", "placed", "current"],
    )


def walk(arrangement: Arrangement, walked: int) -> pd.DataFrame:
    """Make the rows of the walk down the list, up to a document.

    :param arrangement: an arrangement.
    :param walked: how many documents were walked past.
    :returns: one row a document of the walk: columns `name` (its rank), `start` and `end` (cumulative words), `words`,
        `shade` (over the kept ones), `kept`, `crosses` (both as far as is known yet), `waiting`, `current`, `label`
        (the total, on the document of now), `threshold` (NaN without one).
    """
    kept = arrangement.kept
    crossing = arrangement.crossing
    threshold = arrangement.word_count_threshold
    rows = []
    for slot, (rank, end) in enumerate(zip(arrangement.walk, arrangement.totals, strict=True), 1):
        words = arrangement.word_counts[rank - 1]
        rows.append(
            (
                str(rank),
                end - words,
                end,
                words,
                shade(min(slot, kept), kept),
                slot <= min(walked, kept),
                rank == crossing and walked >= kept,
                slot > walked,
                slot == walked,
                f"{end:,}" if slot == min(walked, kept) else "",
                float("nan") if threshold is None else float(threshold),
            )
        )
    columns = ["name", "start", "end", "words", "shade", "kept", "crosses", "waiting", "current", "label", "threshold"]
    return pd.DataFrame(rows, columns=columns)


def sizes(texts: Sequence[Sized]) -> pd.DataFrame:
    """Make one row a text, with its sizes.

    :param texts: texts with their sizes.
    :returns: columns `name`, `words`, `tokens` (missing where not available), `text`.
    """
    frame = pd.DataFrame(
        [(text.name, text.words, text.tokens, text.text) for text in texts],
        columns=["name", "words", "tokens", "text"],
    )
    return frame.astype({"tokens": "Int64"})
