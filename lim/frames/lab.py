"""The Lab's frames: landing, budget, slope, steps, and the table of every document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
import pandas as pd

from lim.ranker import Arrangement, Fate
from lim.thresholds import Step

MAX_MARKS = 240
"""The most marks a chart draws for documents; a longer list is binned to at most this many, and the chart says so."""

MAX_SLOPE_DOCUMENTS = 40
"""The longest list whose slope chart a person can still read."""

LABELLED_MARKS = 32
"""The most bars that carry a number each; more would not be readable."""

FARTHEST_RULE = 1.5
"""How far beyond a list, in its own words, a threshold is drawn; at a farther one the documents would shrink away."""

PREVIEW_CHARACTERS = 90
HANDLES = 120

FATE_WORDS = {
    Fate.KEPT: "in the prompt",
    Fate.CROSSES: "in the prompt, crosses the threshold",
    Fate.OVER_THRESHOLD: "dropped: after the threshold",
    Fate.OVER_TOP_K: "dropped: after top_k",
    Fate.DUPLICATE: "dropped: duplicate",
}


def preview(text: str, length: int = PREVIEW_CHARACTERS) -> str:
    """Shorten a text to one line.

    :param text: any text.
    :param length: the most characters, at least 2.
    :returns: the beginning of the text with runs of whitespace as one space, and … where it was cut.
    """
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else line[: length - 1] + "…"


def bins(size: int, most: int = MAX_MARKS, cuts: Sequence[int] = ()) -> np.ndarray:
    """Cut 0 … size into at most `most` runs of nearly equal length, and wherever something changes.

    :param size: how many things there are.
    :param most: the most runs, those that `cuts` add left aside.
    :param cuts: indices at which a run must begin, so that a chart shows exactly what changes there; 0 to `size`.
    :returns: the edges: run i holds the indices from edge i up to, without, edge i + 1.
    """
    even = np.linspace(0, size, min(size, most) + 1).round().astype(int)
    return np.unique(np.append(even, np.asarray(cuts, dtype=int)))


def shades(arrangement: Arrangement) -> np.ndarray:
    """Give each input document its place on the colour scale of relevance.

    :param arrangement: an arrangement.
    :returns: one number a document in input order: 0 for the first of the walk, 1 for the weakest kept, NaN for a
        document that is not in the prompt.
    """
    values = np.full(len(arrangement.inputs), np.nan)
    kept = np.asarray(arrangement.walk[: arrangement.kept], dtype=int)
    values[kept - 1] = np.arange(arrangement.kept) / max(arrangement.kept - 1, 1)
    return values


def landing(arrangement: Arrangement, picked: int | None = None) -> pd.DataFrame:
    """Make one row for each position in the prompt (or run of positions), for "where each document lands".

    :param arrangement: an arrangement.
    :param picked: the rank of the document a person picked, or None.
    :returns: columns `name` (the position, or first–last of a run), `position` and `last` (1-based), `rank` (of the
        document; of the best one of a run), `rank_name`, `shade` (0 best to 1 weakest), `crosses`, `picked`, `words`,
        `preview` (empty for a run), `floor` (the rank at which bars stand), `label` (the rank, where there is room for
        one on every bar).
    """
    order = np.asarray(arrangement.order, dtype=int)
    crossing = arrangement.crossing
    place = int(np.flatnonzero(order == crossing)[0]) if crossing is not None else 0
    edges = bins(len(order), cuts=(place, place + 1) if crossing is not None else ())
    first, last = edges[:-1], edges[1:]
    single = last - first == 1
    relevance = shades(arrangement)
    rows = []
    for start, stop, alone in zip(first.tolist(), last.tolist(), single.tolist(), strict=True):
        ranks = order[start:stop]
        best = int(ranks.min())
        worst = int(ranks.max())
        rows.append(
            (
                str(start + 1) if alone else f"{start + 1:,}–{stop:,}",
                start + 1,
                stop,
                best,
                str(best) if alone else f"{best:,}–{worst:,}",
                relevance[best - 1],
                crossing is not None and crossing in ranks,
                picked is not None and picked in ranks,
                int(sum(arrangement.word_counts[rank - 1] for rank in ranks.tolist())),
                preview(arrangement.inputs[best - 1].content or "") if alone else "",
            )
        )
    columns = ["name", "position", "last", "rank", "rank_name", "shade", "crosses", "picked", "words", "preview"]
    frame = pd.DataFrame(rows, columns=columns)
    weakest = int(order.max()) if len(order) else 1
    frame["floor"] = weakest + max(0.9, weakest / 20)  # the weakest bar keeps some height
    frame["label"] = frame["rank_name"] if len(frame) <= LABELLED_MARKS else ""
    return frame


def budget(arrangement: Arrangement, picked: int | None = None) -> pd.DataFrame:
    """Make the rows of "where the budget runs out": the walk, document by document, and the handles for pointing.

    One frame for every layer of the chart, so that a new threshold changes rows and never the chart itself.

    :param arrangement: an arrangement.
    :param picked: the rank of the document a person picked, or None.
    :returns: columns `kind` ("document" or "handle"), `name` (the rank, or first–last slot of a run), `slot`, `last`,
        `start` and `end` (cumulative words before and with the document), `foot` (where its bar begins), `words`,
        `ranked` (left by `top_k`), `picked`, `fate` in words, `preview`, `threshold` (of the arrangement; NaN without
        one, and for one far beyond the list), `base` (the same, 0 without one: tells a pointed-at value of now from
        an old one), `handle` (a threshold to point at) with `handle_documents` and `handle_words` (what it would
        keep).
    """
    walked = len(arrangement.walk)
    totals = np.asarray(arrangement.totals, dtype=np.int64)
    crossing = (arrangement.kept - 1,) if arrangement.crossing is not None else ()
    edges = bins(walked, cuts=(*crossing, arrangement.kept, arrangement.ranked))
    first, last = edges[:-1], edges[1:]
    ends = totals[last - 1] if walked else totals
    starts = np.where(first > 0, totals[first - 1], 0) if walked else totals
    fates = arrangement.fates
    names, fate_words, previews, picks = [], [], [], []
    for start, stop in zip(first.tolist(), last.tolist(), strict=True):
        rank = arrangement.walk[start]
        alone = stop - start == 1
        names.append(f"{rank:,}" if alone else f"{start + 1:,}–{stop:,}")
        fate_words.append(FATE_WORDS[fates[start]])
        previews.append(preview(arrangement.inputs[rank - 1].content or "") if alone else "")
        picks.append(picked is not None and picked in arrangement.walk[start:stop])
    documents = pd.DataFrame(
        {
            "kind": "document",
            "name": names,
            "slot": first + 1,
            "last": last,
            "start": starts,
            "end": ends,
            "foot": starts if walked <= LABELLED_MARKS else 0,  # so thin a step shows only as an area
            "words": ends - starts,
            "ranked": first < arrangement.ranked,
            "picked": picks,
            "fate": fate_words,
            "preview": previews,
        }
    )
    thresholds = handle_thresholds(int(totals[-1]) if walked else 0)
    reached = np.minimum(np.searchsorted(totals[: arrangement.ranked], thresholds) + 1, arrangement.ranked)
    handles = pd.DataFrame(
        {
            "kind": "handle",
            "handle": thresholds,
            "handle_documents": reached,
            "handle_words": totals[np.maximum(reached - 1, 0)] if walked else 0,
        }
    )
    frame = pd.concat([documents, handles], ignore_index=True)
    threshold = arrangement.word_count_threshold
    total = int(totals[-1]) if walked else 0
    near = threshold is not None and threshold <= FARTHEST_RULE * total
    frame["threshold"] = float(threshold) if threshold is not None and near else float("nan")
    frame["base"] = threshold or 0
    return frame


def handle_thresholds(total: int) -> np.ndarray:
    """List the thresholds that pointing at the budget chart can set.

    :param total: words of the whole list.
    :returns: at most about 120 multiples of a round step (1, 2, 5, 10, 20, 50, …) from the step to just past `total`.
    """
    step = handle_step(total)
    return np.arange(step, total + 2 * step, step, dtype=np.int64)


def handle_step(total: int) -> int:
    """Choose the round step between the thresholds that pointing can set.

    :param total: words of the whole list.
    :returns: the smallest of 1, 2, 5, 10, 20, 50, … that gives at most about 120 steps up to `total`.
    """
    ladder = (mantissa * int(10**exponent) for exponent in count() for mantissa in (1, 2, 5))
    return next(step for step in ladder if total <= HANDLES * step)


def slope(arrangement: Arrangement, picked: int | None = None) -> pd.DataFrame:
    """Make two rows for each document, for the slope from the ranked list to the prompt.

    :param arrangement: an arrangement of at most `MAX_SLOPE_DOCUMENTS` documents.
    :param picked: the rank of the document a person picked, or None.
    :returns: columns `rank`, `side` ("Ranked list" or "Prompt"), `place` (1-based; no row on the prompt's side for a
        document that is not in it), `shade`, `in_prompt`, `picked`, `fate` in words, `preview`.
    """
    relevance = shades(arrangement)
    rows = []
    for placement in arrangement.placements:
        text = preview(placement.document.content or "")
        common = (
            float(np.nan_to_num(relevance[placement.rank - 1])),  # Vega draws no mark without a value
            placement.fate.in_prompt,
            placement.rank == picked,
            FATE_WORDS[placement.fate],
            text,
        )
        rows.append((placement.rank, "Ranked list", placement.rank, *common))
        if placement.position is not None:
            rows.append((placement.rank, "Prompt", placement.position, *common))
    columns = ["rank", "side", "place", "shade", "in_prompt", "picked", "fate", "preview"]
    return pd.DataFrame(rows, columns=columns)


def steps(staircase: Sequence[Step]) -> pd.DataFrame:
    """Make one row for each reachable step of a staircase, for its chart and its table.

    :param staircase: the steps of a list.
    :returns: columns `kept`, `rank`, `lowest`, `highest` (missing where there is no upper end), `words`, `tokens`
        (missing where not available), `overshoot`.
    """
    rows = [
        (step.kept, step.rank, step.lowest, step.highest, step.words, step.tokens, step.overshoot)
        for step in staircase
        if step.reachable
    ]
    columns = ["kept", "rank", "lowest", "highest", "words", "tokens", "overshoot"]
    return pd.DataFrame(rows, columns=columns).astype({"highest": "Int64", "tokens": "Int64"})


def table(
    arrangement: Arrangement,
    tokens: Sequence[int] | None = None,
    scores: Sequence[float | None] | None = None,
    rows: slice | None = None,
) -> pd.DataFrame:
    """Make one row for every input document, in input order, in words a person reads.

    :param arrangement: an arrangement.
    :param tokens: tokens of each input document, in input order, or None where they are not available.
    :param scores: the number to show for each document, in input order; the documents' scores by default.
    :param rows: the part of the input order to make rows for; all of it by default.
    :returns: columns `rank`, `position`, `fate`, `why`, `words`, `cumulative_words`, `tokens`, `score`, `id`, `text`.
    """
    part = range(1, len(arrangement.inputs) + 1)[rows or slice(None)]
    slots = {rank: slot for slot, rank in enumerate(arrangement.walk)} if arrangement.kept_copies else None
    places = [slots.get(rank) if slots is not None else rank - 1 for rank in part]
    fates, positions = arrangement.fates, arrangement.positions
    became = [Fate.DUPLICATE if slot is None else fates[slot] for slot in places]
    threshold, top_k = arrangement.word_count_threshold, arrangement.top_k
    why = {
        Fate.KEPT: "",
        Fate.CROSSES: f"its words reach the threshold of {threshold:,}; the ranker keeps it" if threshold else "",
        Fate.OVER_THRESHOLD: f"the walk stopped before it, at {arrangement.words:,} words",
        Fate.OVER_TOP_K: f"top_k keeps the first {top_k:,}" if top_k else "",
    }
    if len(arrangement.walk[: arrangement.ranked]) == 1 and threshold:
        why[Fate.CROSSES] = "a list of one document ignores the threshold"
    frame = pd.DataFrame(
        {
            "rank": list(part),
            "position": pd.array([None if slot is None else positions[slot] for slot in places], dtype="Int64"),
            "fate": [FATE_WORDS[fate] for fate in became],
            "why": [
                f"same id as rank {arrangement.kept_copies[rank]:,}, which is kept"
                if fate is Fate.DUPLICATE
                else why[fate]
                for rank, fate in zip(part, became, strict=True)
            ],
            "words": [arrangement.word_counts[rank - 1] for rank in part],
            "cumulative_words": pd.array(
                [None if slot is None else arrangement.totals[slot] for slot in places], dtype="Int64"
            ),
        }
    )
    if tokens is not None:
        frame["tokens"] = list(tokens[rows or slice(None)])
    shown = scores if scores is not None else [document.score for document in arrangement.inputs]
    frame["score"] = pd.array(list(shown[rows or slice(None)]), dtype="Float64")
    frame["id"] = [document.id for document in arrangement.inputs[rows or slice(None)]]
    frame["text"] = [document.content for document in arrangement.inputs[rows or slice(None)]]
    return frame
