"""The frames of tuning: what thresholds and pairs do to many queries, for charts, tables and files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lim.frames.lab import handle_thresholds, preview
from lim.loading import RankedList
from lim.tuning import (
    Answer,
    Counts,
    Curve,
    Grid,
    Objective,
    Outcome,
    Pool,
    Ratio,
    Spread,
    Tradeoff,
    worst,
)
from lim.tuning.told import limits, percent

UNITS = ("Tokens", "Words", "Documents")
"""What the size of a prompt is told in."""

FARTHEST = 1.25
"""How far a chart of thresholds goes beyond what 99% of the lists have."""

NAME_CHARACTERS = 120
MOST_TOP_KS = 120


def thresholds_of(pool: Pool) -> tuple[int, ...]:
    """Choose the thresholds of the charts: about 120 multiples of a round step.

    :param pool: the lists.
    :returns: up to the words of the longest list, or a quarter beyond those of 99% of the lists, whichever is less.
    """
    ordered = np.sort(pool.words)
    ample = int(ordered[-(-len(ordered) * 99 // 100) - 1])
    return tuple(handle_thresholds(max(min(int(ordered[-1]), int(FARTHEST * ample)), 1)).tolist())


def top_ks_of(pool: Pool) -> tuple[int, ...]:
    """Choose the `top_k` of the charts: every one, or about 120.

    :param pool: the lists.
    :returns: from 1 to the documents of the longest list.
    """
    return tuple(np.unique(np.linspace(1, max(pool.longest, 1), MOST_TOP_KS).round().astype(int)).tolist())


def sizes(curve: Curve, unit: str, now: int | None, budget: int | None) -> pd.DataFrame:
    """Make one row for each value of a limit, for "how large the prompts get".

    :param curve: the curve of the lists along the limit.
    :param unit: one of `UNITS`.
    :param now: the limit of now, or None.
    :param budget: the budget in tokens, or None.
    :returns: columns `at` (the limit), `q25`, `median`, `q75`, `p95`, `most`, and on every row the same `now` (the
        limit of now; NaN without one, and for one far to the right), `base` (the same, 0 without one), `budget` (NaN
        where it is none of the unit, or far above every prompt), and `worst_label`, `p95_label`, `median_label` on the
        last row.
    """
    each: Sequence[Spread] = {"Words": curve.words, "Documents": curve.documents}.get(unit) or curve.tokens or ()
    frame = pd.DataFrame(each, columns=list(Spread._fields)).drop(columns=["least", "total"])
    frame.insert(0, "at", curve.at)
    highest = max(float(frame["most"].max()), 1.0)
    shown = unit == "Tokens" and budget is not None and budget <= 1.6 * highest
    frame["budget"] = float(budget) if shown and budget is not None else float("nan")
    labels = {"worst": "largest", "p95": "95%", "median": "median"}
    taken: list[float] = []
    for name, column in (("worst", "most"), ("p95", "p95"), ("median", "median")):
        value = float(frame[column].iloc[-1])
        free = all(abs(value - other) > 0.06 * highest for other in taken)
        taken += [value] * free
        frame[f"{name}_label"] = [""] * (len(frame) - 1) + [labels[name] if free else ""]
    return _with_now(frame, now)


def shares(grid: Grid, pool: Pool, now: int | None) -> pd.DataFrame:
    """Make one row for each value of a limit, for "what it costs".

    :param grid: a grid of one column, or of one row: the chart's values of one limit, and the other one of now.
    :param pool: the lists.
    :param now: the limit of now that the values are of, or None.
    :returns: columns `at` (the limit), and in percent `kept` (relevant documents, or documents where none is marked),
        `over` (queries over the budget) and `losing` (queries that lose a relevant document), NaN where not known;
        `now` and `base` as of :func:`sizes`.
    """
    at = grid.thresholds if len(grid.top_ks) == 1 else grid.top_ks
    places = [place for place, each in enumerate(at) if each is not None]
    judged = int(np.count_nonzero(pool.relevant)) if pool.relevant is not None else 0
    nothing = np.full(len(places), np.nan)
    if grid.relevant is not None and judged and pool.relevant is not None:
        kept = 100 * grid.relevant.ravel()[places] / pool.relevant.sum()
    else:
        kept = 100 * grid.documents.ravel()[places] / max(pool.documents, 1)
    frame = pd.DataFrame(
        {
            "at": [at[place] for place in places],
            "kept": kept,
            "over": 100 * grid.over.ravel()[places] / pool.queries if grid.over is not None else nothing,
            "losing": 100 * grid.losing.ravel()[places] / judged if grid.losing is not None and judged else nothing,
        }
    )
    return _with_now(frame, now)


def _with_now(frame: pd.DataFrame, now: int | None) -> pd.DataFrame:
    near = now is not None and now <= FARTHEST * frame["at"].iloc[-1]
    frame["now"] = float(now) if near and now is not None else float("nan")
    frame["base"] = now or 0
    return frame


def pairs(
    grid: Grid, pool: Pool, objective: Objective, allowed: int, now: Outcome, best: Outcome | None
) -> pd.DataFrame:
    """Make one row for each pair, for the map of feasible pairs.

    :param grid: the grid.
    :param pool: the lists.
    :param objective: what is to be kept.
    :param allowed: the most queries that may exceed the budget.
    :param now: the limits of now, which are outlined.
    :param best: the best pair, which is starred; None if there is none.
    :returns: columns `threshold` and `top_k` (numbers, 0 for no limit), `threshold_name` and `top_k_name`, `kept` (in
        percent of all there is), `over` (queries) and `over_share` (percent), `feasible`, `shade` (0 for the most that
        is kept to 1 for the least, of the feasible), `label`, `now`, `best`.
    """
    amounts = grid.amounts(objective)
    whole = {
        Objective.RELEVANT: int(pool.relevant.sum()) if pool.relevant is not None else 0,
        Objective.DOCUMENTS: pool.documents,
        Objective.WORDS: int(pool.words.sum()),
    }[objective]
    over = grid.over if grid.over is not None else np.zeros_like(amounts)
    feasible = over <= allowed
    good = amounts[feasible] if feasible.any() else amounts
    low, high = int(good.min()), int(good.max())
    chosen = (now.word_count_threshold, now.top_k)
    starred = (best.word_count_threshold, best.top_k) if best is not None else None
    rows = []
    for row, threshold in enumerate(grid.thresholds):
        for column, top_k in enumerate(grid.top_ks):
            fits, amount = bool(feasible[row, column]), int(amounts[row, column])
            share = 100 * amount / max(whole, 1)
            star = (threshold, top_k) == starred
            rows.append(
                (
                    threshold or 0,
                    top_k or 0,
                    "none" if threshold is None else f"{threshold:,}",
                    "none" if top_k is None else f"{top_k:,}",
                    share,
                    int(over[row, column]),
                    100 * int(over[row, column]) / pool.queries,
                    fits,
                    (high - amount) / max(high - low, 1) if fits else 1.0,
                    ("★ " if star else "") + (f"{np.floor(share):.0f}" if fits else "✕"),
                    (threshold, top_k) == chosen,
                    star,
                )
            )
    columns = ["threshold", "top_k", "threshold_name", "top_k_name", "kept", "over", "over_share", "feasible"]
    return pd.DataFrame(rows, columns=[*columns, "shade", "label", "now", "best"])


def tradeoff(points: Sequence[Tradeoff], pool: Pool, objective: Objective, now: Outcome) -> pd.DataFrame:
    """Make one row for each point of the trade-off, and one for the limits of now.

    :param points: the trade-off.
    :param pool: the lists.
    :param objective: what is kept.
    :param now: the limits of now.
    :returns: columns `kind` ("best" or "now"), `over_share` and `kept` in percent, `over` (queries), `amount`, `limits`
        in words, `threshold` and `top_k` (0 for no limit).
    """
    if objective is Objective.RELEVANT and pool.relevant is not None:
        whole, amount = int(pool.relevant.sum()), now.relevant_kept or 0
    elif objective is Objective.WORDS:
        whole, amount = int(pool.words.sum()), now.words.total
    else:
        whole, amount = pool.documents, now.documents.total
    rows = [("best", each.over, each.amount, each.pair.word_count_threshold, each.pair.top_k) for each in points]
    rows.append(("now", now.over or 0, amount, now.word_count_threshold, now.top_k))
    frame = pd.DataFrame(rows, columns=["kind", "over", "amount", "threshold", "top_k"])
    frame["limits"] = [limits(row[3], row[4]) for row in rows]
    frame["over_share"] = 100 * frame["over"] / pool.queries
    frame["kept"] = 100 * frame["amount"] / max(whole, 1)
    for name in ("threshold", "top_k"):
        frame[name] = [int(value) if pd.notna(value) else 0 for value in frame[name]]
    return frame


def answers(found: Answer, now: Outcome) -> pd.DataFrame:
    """Make one row for each pair that is compared for a goal.

    :param found: the answer.
    :param now: the limits of now.
    :returns: columns `what`, `word_count_threshold`, `top_k` (missing for none), `over`, `over_share`, `recall` and
        `losing` (in percent, missing without marks), `documents`, `median_tokens`, `p95_tokens`, `most_tokens`.
    """
    named = {
        "Best": found.best,
        "Runner-up": found.runner_up,
        "Threshold alone": found.threshold_alone,
        "top_k alone": found.top_k_alone,
        "Your limits now": now,
    }
    rows = [
        (
            what,
            each.word_count_threshold,
            each.top_k,
            each.over,
            _percent(each.share_over),
            _percent(each.recall),
            _percent(each.share_losing),
            each.documents.total,
            *((each.tokens.median, each.tokens.p95, each.tokens.most) if each.tokens is not None else (None,) * 3),
        )
        for what, each in named.items()
        if each is not None
    ]
    columns = ["what", "word_count_threshold", "top_k", "over", "over_share", "recall", "losing", "documents"]
    frame = pd.DataFrame(rows, columns=[*columns, "median_tokens", "p95_tokens", "most_tokens"])
    return frame.astype({"word_count_threshold": "Int64", "top_k": "Int64"})


def _percent(share: float | None) -> float:
    return float("nan") if share is None else 100 * share


def queries(
    lists: Sequence[RankedList], pool: Pool, counted: Counts, budget: int | None, by: str, count: int
) -> pd.DataFrame:
    """Make one row for each of the queries to look at first.

    :param lists: the ranked lists.
    :param pool: the same as a pool.
    :param counted: what reaches the prompt of each query under the limits of now.
    :param budget: the tokens there are for documents, or None.
    :param by: as of `lim.tuning.worst`.
    :param count: the most rows.
    :returns: columns `place` (of the list, from 0), `number` (from 1), `query`, `kept`, `documents`, `words`, `tokens`
        and `over` (tokens beyond the budget, missing where not known), `lost` and `relevant` (documents marked
        relevant, missing where none is).
    """
    places = worst(counted, pool, count, by)
    frame = pd.DataFrame({"place": places, "number": places + 1})
    frame["query"] = [preview(lists[place].name, NAME_CHARACTERS) for place in places]
    frame["kept"], frame["documents"] = counted.kept[places], pool.inputs[places]
    frame["words"] = counted.words[places]
    if counted.tokens is not None:
        frame["tokens"] = counted.tokens[places]
        if budget is not None:
            frame["over"] = np.maximum(counted.tokens[places] - budget, 0)
    if counted.relevant is not None and pool.relevant is not None:
        frame["lost"] = pool.relevant[places] - counted.relevant[places]
        frame["relevant"] = pool.relevant[places]
    return frame


def ratios(ratio: Ratio) -> pd.DataFrame:
    """Make a row for the queries and one for the documents: tokens a word, with the spread.

    :param ratio: the ratio.
    :returns: columns `of`, `least`, `q25`, `median`, `q75`, `p95`, `most`.
    """
    rows = [("queries", *ratio.by_list), ("documents", *ratio.by_document)]
    return pd.DataFrame(rows, columns=["of", *ratio.by_list._fields])


def worths(curve: Curve, ratio: Ratio, count: int = 8) -> pd.DataFrame:
    """Say for some thresholds what they are worth in tokens.

    :param curve: the curve of the lists.
    :param ratio: the ratio of the corpus.
    :param count: the most rows.
    :returns: columns `threshold` (in words), `low`, `tokens` and `high` (its tokens at the ratio of a quarter of the
        queries, of the corpus, of three quarters), and `median`, `p95`, `most` (the tokens that really reach the
        prompts, with the document that crosses).
    """
    step = max(len(curve.at) // count, 1)
    rows = [
        (
            threshold,
            *(round(threshold * each) for each in (ratio.by_list.q25, ratio.whole, ratio.by_list.q75)),
            sent.median,
            sent.p95,
            sent.most,
        )
        for threshold, sent in zip(curve.at[step - 1 :: step], (curve.tokens or ())[step - 1 :: step], strict=True)
    ]
    return pd.DataFrame(rows[:count], columns=["threshold", "low", "tokens", "high", "median", "p95", "most"])


def results(curve: Curve, grid: Grid, pool: Pool, top_k: int | None, budget: int | None) -> pd.DataFrame:
    """Make the file of results: one row for each threshold of the charts, all figures.

    :param curve: the curve.
    :param grid: the grid of the same thresholds, one `top_k`.
    :param pool: the lists.
    :param top_k: the `top_k` of both.
    :param budget: the tokens there are for documents, or None.
    :returns: columns `word_count_threshold`, `top_k`, `queries`, the spreads of documents, words and tokens,
        `mean_overshoot` (words), `budget`, `queries_over`, `queries_losing_relevant`, `queries_with_relevant`,
        `relevant_kept`, `relevant`; what is not known is missing.
    """
    frame = pd.DataFrame({"word_count_threshold": curve.at})
    frame["top_k"] = pd.array([top_k] * len(frame), dtype="Int64")
    frame["queries"] = pool.queries
    for noun, each in (("documents", curve.documents), ("words", curve.words), ("tokens", curve.tokens)):
        for name in Spread._fields:
            frame[f"{noun}_{name}"] = [getattr(spread, name) for spread in each] if each is not None else None
    frame["mean_overshoot"] = [total / pool.queries for total in curve.overshoots]
    frame["budget"] = pd.array([budget] * len(frame), dtype="Int64")
    judged = int(np.count_nonzero(pool.relevant)) if pool.relevant is not None else None
    frame["queries_over"] = grid.over[: len(frame), 0] if grid.over is not None else None
    frame["queries_losing_relevant"] = grid.losing[: len(frame), 0] if grid.losing is not None else None
    frame["queries_with_relevant"] = judged
    frame["relevant_kept"] = grid.relevant[: len(frame), 0] if grid.relevant is not None else None
    frame["relevant"] = int(pool.relevant.sum()) if pool.relevant is not None else None
    return frame


def every_pair(grid: Grid, pool: Pool, budget: int | None) -> pd.DataFrame:
    """Make the file of pairs: one row for each.

    :param grid: the grid.
    :param pool: the lists.
    :param budget: the tokens there are for documents, or None.
    :returns: columns `word_count_threshold` and `top_k` (missing for no limit), `queries`, `documents` and `words` that
        reach the prompts, `budget`, `queries_over`, `queries_losing_relevant`, `relevant_kept`, `relevant`; what is not
        known is missing.
    """
    rows = [(threshold, top_k) for threshold in grid.thresholds for top_k in grid.top_ks]
    frame = pd.DataFrame(rows, columns=["word_count_threshold", "top_k"]).astype("Int64")
    frame["queries"] = pool.queries
    frame["documents"], frame["words"] = grid.documents.ravel(), grid.words.ravel()
    frame["budget"] = pd.array([budget] * len(frame), dtype="Int64")
    known = {"queries_over": grid.over, "queries_losing_relevant": grid.losing, "relevant_kept": grid.relevant}
    for name, values in known.items():
        frame[name] = values.ravel() if values is not None else None
    frame["relevant"] = int(pool.relevant.sum()) if pool.relevant is not None else None
    return frame


def figures(outcome: Outcome) -> dict[str, tuple[str, str]]:
    """Write the figures of a pair of limits.

    :param outcome: the figures.
    :returns: for each figure its value, and what it says.
    """
    told: dict[str, tuple[str, str]] = {}
    if outcome.share_over is not None:
        told["Over the budget"] = (
            percent(outcome.share_over),
            f"{outcome.over:,} of {outcome.queries:,} queries have more than {outcome.budget:,} tokens of documents.",
        )
    if outcome.recall is not None and outcome.share_losing is not None:
        told["Relevant kept"] = (
            percent(outcome.recall),
            f"{outcome.relevant_kept:,} of {outcome.relevant:,} documents marked relevant reach the prompt.",
        )
        told["Lose a relevant one"] = (
            percent(outcome.share_losing),
            f"{outcome.losing:,} of the {outcome.judged:,} queries with a relevant document.",
        )
    size, noun = (outcome.tokens, "tokens") if outcome.tokens is not None else (outcome.words, "words")
    told["95% have at most"] = (
        f"{size.p95:,} {noun}",
        f"Documents only. The middle half of the queries has {size.q25:,} to {size.q75:,}, the largest {size.most:,}.",
    )
    told["Documents, median"] = (
        f"{outcome.documents.median:,}",
        f"From {outcome.documents.least:,} to {outcome.documents.most:,} a query, {outcome.documents.total:,} in all.",
    )
    told["Words over, mean"] = (
        f"{outcome.mean_overshoot:,.1f}",
        "Words beyond the threshold, because the document that crosses it is kept; mean over all queries.",
    )
    return told
