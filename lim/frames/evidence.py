"""The evidence's frames: measured points with their sources, orderings, and the arithmetic for one list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from lim import evidence, metrics, orders
from lim.errors import LimError
from lim.evidence import Curve, Expectation, Ordering
from lim.frames.lesson import shade

LABEL_GAP = 0.052
"""How far apart the labels at the end of lines must stand, as a share of the height of the plot."""

SHUFFLE = "shuffle"
ORDERS = ("as-listed", "haystack", "langchain", "reversed")
"""The orders whose expected accuracy is compared, beside the shuffle."""


def points(curves: Sequence[Curve]) -> pd.DataFrame:
    """Make one row for each measured point, with its source.

    :param curves: curves.
    :returns: columns `key`, `study`, `setting`, `model`, `documents`, `position`, `share` (0 for the first place of the
        prompt, 1 for the last), `accuracy`, `low`, `high`, `questions`, `closed_book`, `oracle` (missing where not
        reported), `source`, `status`, `url`.
    """
    frame = pd.DataFrame(
        [
            (
                curve.key,
                curve.study,
                curve.setting,
                curve.model,
                curve.documents,
                point.gold_position,
                (point.gold_position - 1) / max(curve.documents - 1, 1),
                point.accuracy_pct,
                point.low,
                point.high,
                point.questions,
                curve.closed_book_pct,
                curve.oracle_pct,
                curve.source,
                curve.status,
                curve.url,
            )
            for curve in curves
            for point in curve.points
        ],
        columns=[
            "key",
            "study",
            "setting",
            "model",
            "documents",
            "position",
            "share",
            "accuracy",
            "low",
            "high",
            "questions",
            "closed_book",
            "oracle",
            "source",
            "status",
            "url",
        ],
    )
    numbers = ["accuracy", "low", "high", "closed_book", "oracle"]
    return frame.astype({"questions": "Int64", **dict.fromkeys(numbers, "float64")})


def end_labels(frame: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    """Place a label at the end of each line, so far apart that they can be read.

    :param frame: rows of `points`, one or more curves.
    :param low: the lower end of the axis.
    :param high: the upper end of it.
    :returns: one row a curve: columns `key`, `model`, `share`, `accuracy` (of its last point), `height` (where the
        label stands).
    """
    ends = frame.sort_values("position").groupby("key", sort=False).tail(1).sort_values("accuracy")
    gap, heights, floor = (high - low) * LABEL_GAP, [], low
    for accuracy in ends["accuracy"]:
        heights.append(max(accuracy, floor))
        floor = heights[-1] + gap
    spill = max((heights[-1] if heights else low) - (high - gap / 2), 0)
    ceiling = high
    for place in range(len(heights) - 1, -1, -1):  # what was pushed out at the top pushes the rest down
        heights[place] = min(heights[place], ceiling) if spill else heights[place]
        ceiling = heights[place] - gap
    return ends.assign(height=heights)[["key", "model", "share", "accuracy", "height"]]


def orderings(rows: Sequence[Ordering]) -> pd.DataFrame:
    """Make one row for each result of a whole pipeline, with its distance from the shuffle.

    :param rows: results of one study.
    :returns: columns `study`, `setting`, `model`, `pipeline` (setting and model, short), `ordering`, `name` (short),
        `score`, `shuffle` (the shuffle's score in the same pipeline, NaN where none was measured), `difference`
        (score less shuffle), `percent`, `source`, `status`, `url`.
    """
    base = {(row.setting, row.model, row.source): row.score for row in rows if row.ordering == SHUFFLE}
    frame = pd.DataFrame(
        [
            (
                row.study,
                row.setting,
                row.model,
                pipeline(row),
                row.ordering,
                short(row.ordering),
                row.score,
                base.get((row.setting, row.model, row.source), float("nan")),
                row.percent,
                row.source,
                row.status,
                row.url,
            )
            for row in rows
        ],
        columns=[
            "study",
            "setting",
            "model",
            "pipeline",
            "ordering",
            "name",
            "score",
            "shuffle",
            "percent",
            "source",
            "status",
            "url",
        ],
    )
    frame["difference"] = frame["score"] - frame["shuffle"]
    return frame


def pipeline(row: Ordering) -> str:
    """Name a pipeline in a few words.

    :param row: one of its results.
    :returns: the model, and the retriever where the setting names one.
    """
    _, found, rest = row.setting.partition("passages of ")
    return f"{row.model}, {rest.split(',')[0].replace('+', ' + ').replace('  ', ' ')}" if found else row.model


def short(ordering: str) -> str:
    """Name an ordering in a few words.

    :param ordering: as the table names it.
    :returns: what stands in its brackets, or itself, shortened.
    """
    names = {
        "sequential (best first)": "best first",
        "inverse (best last)": "best last",
        "max relevance at preferred positions": "preferred spots",
        "min distraction at preferred positions": "least noisy",
        "sides (best at both ends)": "best at both ends",
        "forward (descending relevance)": "best first",
        "reverse (ascending relevance)": "best last",
    }
    return names.get(ordering, ordering)


def assumption(where: Sequence[float], in_prompt: int) -> pd.DataFrame:
    """Make one row a rank, for the assumption of where the answer is.

    :param where: the probability that the answer is in the document of each rank.
    :param in_prompt: how many documents reach the prompt.
    :returns: columns `rank`, `probability` in percent, `shade`, `in_prompt`.
    """
    return pd.DataFrame(
        [
            (rank, 100 * share, shade(min(rank, in_prompt), in_prompt), rank <= in_prompt)
            for rank, share in enumerate(where, 1)
        ],
        columns=["rank", "probability", "shade", "in_prompt"],
    )


def expected(curve: Curve, where: Sequence[float], in_prompt: int) -> pd.DataFrame:
    """Read the expected accuracy of several orders of one list off a curve.

    :param curve: the curve.
    :param where: the probability that the answer is in the document of each rank.
    :param in_prompt: how many documents reach the prompt, the first ones.
    :returns: one row an order, the shuffle last: columns `order`, `name`, `value` (over everything, in percent; NaN
        where a share is uncovered), `measured_pct`, `low`, `high`, `measured`, `closed_book`, `uncovered` (shares, in
        percent), `closed_book_pct`, `sd`, `lowest`, `highest` (of the shuffle), `rescaled`, `source`, `url`, `curve`.
    """
    by_key = {order.key: order for order in orders.ORDERS}
    rows = []
    for key in ORDERS:
        order = by_key[key]
        found = evidence.expected_accuracy(curve, order.ranks(in_prompt), where)
        rows.append((key, order.name, *_numbers(found), None, None, None, found.rescaled))
    mixed = evidence.shuffled(curve, range(1, in_prompt + 1), where)
    spread = (mixed.sd, mixed.lowest, mixed.highest)
    rows.append((SHUFFLE, "Shuffled (mean of all orders)", *_numbers(mixed.mean), *spread, mixed.mean.rescaled))
    columns = [
        "order",
        "name",
        "value",
        "measured_pct",
        "low",
        "high",
        "measured",
        "closed_book",
        "uncovered",
        "closed_book_pct",
        "sd",
        "lowest",
        "highest",
        "rescaled",
    ]
    frame = pd.DataFrame(rows, columns=columns)
    numbers = columns[2:-1]
    frame = frame.astype(dict.fromkeys(numbers, "float64"))
    return frame.assign(source=curve.source, url=curve.url, curve=curve.key)


def _numbers(found: Expectation) -> tuple[float | None, ...]:
    value, low, high = found.value, found.low, found.high
    if value is not None and found.closed_book and found.closed_book_pct is not None:
        rest = found.closed_book * found.closed_book_pct  # published without an interval, so taken as it is
        low = None if low is None else found.measured * low + rest
        high = None if high is None else found.measured * high + rest
    return (
        value,
        found.measured_pct,
        low,
        high,
        100 * found.measured,
        100 * found.closed_book,
        100 * found.uncovered,
        found.closed_book_pct,
    )


def measured_lengths() -> list[int]:
    """List the numbers of documents that prompts were measured with.

    :returns: ascending, each once.
    """
    return sorted({curve.documents for curve in evidence.curves()})


def covered_length(count: int) -> int:
    """Choose how many documents of a list to look at first.

    :param count: documents in the list, at least 1.
    :returns: the most of them that some curve speaks about, or all of them where none does.
    """
    longest = measured_lengths()[-1] * (100 + evidence.LENGTH_TOLERANCE_PERCENT) // 100
    return next((length for length in range(min(count, longest), 0, -1) if evidence.curves_at(length)), count)


def metric_rows(comparison: metrics.Comparison) -> pd.DataFrame:
    """Make two rows for each metric: as retrieved, and after the ranker.

    :param comparison: the metrics of both orders.
    :returns: columns `metric`, `side` ("As retrieved" or "After the ranker"), `value`.
    """
    names = {
        "Average precision": "average_precision",
        "nDCG": "ndcg",
        "Reciprocal rank": "reciprocal_rank",
        f"Recall at {comparison.k}": "recall",
    }
    return pd.DataFrame(
        [
            (name, side, getattr(values, field))
            for name, field in names.items()
            for side, values in (("As retrieved", comparison.before), ("After the ranker", comparison.after))
        ],
        columns=["metric", "side", "value"],
    )


def frameworks(scores: Sequence[float | None]) -> tuple[dict[str, list[int]], dict[str, str]]:
    """Lay one list out as every system does.

    :param scores: the score of each document as listed, None where there is none.
    :returns: the orders by the system's name, and the systems that refuse the list with the reason.
    """
    rows: dict[str, list[int]] = {}
    refused: dict[str, str] = {}
    for order in orders.ORDERS:
        try:
            rows[order.name] = order.ranks(scores)
        except LimError as error:
            refused[order.name] = str(error)
    return rows, refused


def framework_finding(rows: Mapping[str, Sequence[int]], scores: Sequence[float | None]) -> tuple[str, str]:
    """Say where the systems put the best document.

    :param rows: the orders by the system's name.
    :param scores: the score of each document as listed.
    :returns: the finding and the rule.
    """
    count = len(scores)
    systems = {order.name: order for order in orders.ORDERS if order.package}
    last = [name.split()[0] for name, order in rows.items() if name in systems and order[-1] == 1 != order[0]]
    inside = [name.split()[0] for name, order in rows.items() if name in systems and 1 in order[1:-1]]
    tied = len(set(scores)) < count
    parts = []
    if last:
        parts.append(f"{' and '.join(last)} put{'s' if len(last) == 1 else ''} the best last")
    if inside:
        parts.append(f"{' and '.join(inside)} put{'s' if len(inside) == 1 else ''} it in the middle")
    if len(parts) == 1 and inside:
        parts = [part.replace(" it ", " the best ") for part in parts]
    named = f"{count} document{'' if count == 1 else 's'}" + (" with equal or missing scores" if tied else "")
    said = ", ".join(parts) if parts else "every system puts the best first"
    return f"{named}: {said}", "Outlined: the best document as listed; AutoRAG repeats it at the end"


def systems() -> pd.DataFrame:
    """List what to know about each framework's order.

    :returns: columns `System`, `Note`, `Learned from`.
    """
    return pd.DataFrame(
        [(order.name, order.note, order.package) for order in orders.ORDERS if order.package],
        columns=["System", "Note", "Learned from"],
    )


def grades(relevant: Sequence[int], count: int) -> tuple[int, ...]:
    """Grade the documents of a list.

    :param relevant: the ranks that are relevant.
    :param count: documents in the list.
    :returns: 1 for a relevant document, 0 for another, in rank order.
    """
    chosen = set(relevant)
    return tuple(int(rank in chosen) for rank in range(1, count + 1))


def every_row() -> pd.DataFrame:
    """List every measurement and every ordering as one table.

    :returns: columns `study`, `setting`, `model`, `documents`, `what` (the position or the ordering), `result`, `low`,
        `high`, `questions`, `closed_book`, `oracle`, `source`, `status`, `url`.
    """
    positions = [
        (
            row.study,
            row.setting,
            row.model,
            row.documents,
            f"answer at position {row.gold_position:,}",
            row.accuracy_pct,
            row.low,
            row.high,
            row.questions,
            row.closed_book_pct,
            row.oracle_pct,
            row.source,
            row.status,
            row.url,
        )
        for row in evidence.measurements()
    ]
    whole = [
        (
            row.study,
            row.setting,
            row.model,
            row.documents,
            row.ordering,
            row.score,
            None,
            None,
            None,
            None,
            None,
            row.source,
            row.status,
            row.url,
        )
        for row in evidence.orderings()
    ]
    columns = ["study", "setting", "model", "documents", "what", "result", "low", "high", "questions"]
    columns += ["closed_book", "oracle", "source", "status", "url"]
    frame = pd.DataFrame([*positions, *whole], columns=columns)
    numbers = dict.fromkeys(["low", "high", "closed_book", "oracle"], "float64")
    return frame.astype({"documents": "Int64", "questions": "Int64", **numbers})
