"""The charts of tuning: how large the prompts get, what a threshold costs, which pairs are feasible, the trade-off."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lim.charts.look import LIGHT, Drawing, Figure, Palette, Rows, finish, mix, pointing
from lim.story import plural
from lim.tuning import Objective, Outcome
from lim.tuning.told import percent

HEIGHT = 300
THRESHOLD = "word_count_threshold"
ROW = 30
"""Height of one row of the map of pairs, in pixels."""


def sizes(frame: pd.DataFrame, outcome: Outcome, unit: str, palette: Palette = LIGHT, axis: str = THRESHOLD) -> Figure:
    """Draw how large the prompts get with a limit: the median, the middle half, 95%, the largest.

    The limit follows the pointer, as in the Lab's budget chart: the selection `pointed` holds a `handle` and the
    `base` it was pointed at from.

    :param frame: rows of `lim.frames.tune.sizes`.
    :param outcome: the limits of now in figures.
    :param unit: what the sizes are in.
    :param palette: the theme's colours.
    :param axis: the name of the limit.
    :returns: the figure, with a point selection `pointed` of the fields `handle` and `base`.
    """
    size = {"Tokens": outcome.tokens, "Words": outcome.words}.get(unit) or outcome.documents
    noun = unit.lower() if size.median != 1 else unit.lower().removesuffix("s")
    title = f"Half of the queries send at most {size.median:,} {noun}, the largest {size.most:,}"
    if outcome.queries == 1:
        title = f"The query sends {size.median:,} {noun}"
    subtitle = "Thick: median; band: middle half; dashed: 95%; thin: largest. Click or drag"
    return Figure(
        Drawing(_sizes, (palette, unit, axis), frame),
        title,
        subtitle,
        f"{title}. 95% of the queries send at most {size.p95:,}, the middle half {size.q25:,} to {size.q75:,}.",
    )


def _sizes(rows: Rows, palette: Palette, unit: str, axis: str) -> alt.LayerChart:
    base = alt.Chart(rows)
    x = _axis(axis)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q").title(f"{unit} in the prompt").axis(format=",d")

    band = base.mark_area(color=mix(palette.best, palette.weakest, 0.6), opacity=0.35).encode(x, y("q25"), y2="q75:Q")
    most = base.mark_line(color=palette.faint, strokeWidth=1.2).encode(x, y("most"))
    p95 = base.mark_line(color=palette.best, strokeWidth=1.8, strokeDash=[5, 3]).encode(x, y("p95"))
    median = base.mark_line(color=palette.best, strokeWidth=3).encode(x, y("median"))
    written: dict[str, Any] = {
        "align": "right",
        "baseline": "bottom",
        "dx": -2,
        "dy": -4,
        "fontSize": 12,
        "aria": False,
    }
    labels = [
        base.mark_text(color=colour, fontWeight=600, **written).encode(x, y(field), text=f"{name}_label:N")
        for name, field, colour in (
            ("worst", "most", palette.faint),
            ("p95", "p95", palette.ink),
            ("median", "median", palette.ink),
        )
    ]
    last = base.transform_filter("datum.worst_label !== ''").transform_calculate(
        level="isValid(datum.budget) ? datum.budget : 0"  # a scale needs an extent, also where nothing is drawn
    )
    known = alt.condition("isValid(datum.budget)", alt.value(1), alt.value(0))
    level = alt.Y("level:Q").title(f"{unit} in the prompt")
    budget = last.mark_rule(color=palette.ink, strokeWidth=1.5).encode(level, opacity=known)
    said = (
        last.transform_calculate(said="isValid(datum.budget) ? 'budget ' + format(datum.budget, ',') : ''")
        .mark_text(align="left", baseline="bottom", dx=4, dy=-3, fontSize=12, fontWeight=600, color=palette.ink)
        .encode(level, x=alt.value(0), text="said:N")
    )
    handles = _handles(
        base,
        axis,
        [
            alt.Tooltip("at:Q", title=f"Click for {axis} =", format=","),
            alt.Tooltip("median:Q", title=f"{unit}, median", format=","),
            alt.Tooltip("p95:Q", title="95% have at most", format=","),
            alt.Tooltip("most:Q", title="Largest prompt", format=","),
        ],
    )
    layers = [band, most, p95, median, *labels, budget, said, *_limit(base, axis, palette), handles]
    return finish(alt.LayerChart(layer=layers), palette, HEIGHT)


def shares(frame: pd.DataFrame, outcome: Outcome, palette: Palette = LIGHT, axis: str = THRESHOLD) -> Figure:
    """Draw what a limit gives and costs: what is kept, the queries over the budget, the queries that lose.

    :param frame: rows of `lim.frames.tune.shares`.
    :param outcome: the limits of now in figures.
    :param palette: the theme's colours.
    :param axis: the name of the limit.
    :returns: the figure, with a point selection `pointed` as of :func:`sizes`.
    """
    whole = outcome.recall is not None
    what = "relevant documents" if whole else "documents"
    parts = []
    if outcome.recall is not None:
        parts.append(f"{percent(outcome.recall)} of the relevant kept")
    else:
        parts.append(f"{plural(outcome.documents.total, 'document')} kept")
    if outcome.share_over is not None:
        parts.append(f"{percent(outcome.share_over)} of the queries over budget")
    title = ", ".join(parts)
    subtitle = f"Thick: {what} kept; dashed: queries over"
    if whole:
        subtitle += "; thin: lose one"
    alt_text = f"{title}."
    if outcome.share_losing is not None:
        alt_text += f" {percent(outcome.share_losing)} of the queries with a relevant document lose one."
    return Figure(Drawing(_shares, (palette, what, axis), frame), title, subtitle, alt_text)


def _shares(rows: Rows, palette: Palette, what: str, axis: str) -> alt.LayerChart:
    base = alt.Chart(rows)
    x = _axis(axis)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q").title("Percent").scale(domain=[0, 100], nice=False).axis(format="d")

    kept = base.mark_line(color=palette.best, strokeWidth=3).encode(x, y("kept"))
    over = base.mark_line(color=palette.ink, strokeWidth=2, strokeDash=[5, 3]).encode(x, y("over"))
    losing = base.mark_line(color=mix(palette.best, palette.weakest, 0.6), strokeWidth=1.5).encode(x, y("losing"))
    handles = _handles(
        base,
        axis,
        [
            alt.Tooltip("at:Q", title=f"Click for {axis} =", format=","),
            alt.Tooltip("kept:Q", title=f"{what.capitalize()} kept, %", format=".1f"),
            alt.Tooltip("over:Q", title="Queries over the budget, %", format=".1f"),
            alt.Tooltip("losing:Q", title="Queries that lose a relevant document, %", format=".1f"),
        ],
    )
    layers = [losing, over, kept, *_limit(base, axis, palette), handles]
    return finish(alt.LayerChart(layer=layers), palette, HEIGHT)


def _axis(name: str) -> alt.X:
    return (
        alt.X("at:Q")
        .title(name)
        .scale(nice=False, domainMin=0)
        .axis(format=",d", tickMinStep=1, labelOverlap=True, labelFlush=True)
    )


def _limit(base: alt.Chart, axis: str, palette: Palette) -> list[alt.Chart]:
    """Draw the limit of now, or the one the pointer asks for as long as it is asked from the one of now."""
    first = (
        base.transform_window(row="row_number()")
        .transform_filter("datum.row === 1")
        .transform_calculate(pointing="isValid(pointed.base) && pointed.base[0] === datum.base")
        .transform_calculate(live="datum.pointing ? pointed.handle[0] : datum.now")
        .transform_calculate(
            place="isValid(datum.live) ? datum.live : 0", said="isValid(datum.live) ? format(datum.live, ',') : ''"
        )
    )
    x = alt.X("place:Q").title(axis)
    rule = first.mark_rule(color=palette.threshold, strokeWidth=2, strokeDash=[6, 4]).encode(
        x, opacity=alt.condition("isValid(datum.live)", alt.value(1), alt.value(0))
    )
    label = first.mark_text(
        align="center", baseline="bottom", dy=-4, fontSize=12, fontWeight=600, color=palette.threshold
    ).encode(x, y=alt.value(0), text="said:N")
    return [rule, label]


def _handles(base: alt.Chart, axis: str, tooltip: list[alt.Tooltip]) -> alt.Chart:
    handles: alt.Chart = (
        base.transform_calculate(handle="datum.at")
        .mark_point(size=1, opacity=0, aria=False)
        .encode(alt.X("handle:Q").title(axis), y=alt.value(HEIGHT / 2), tooltip=tooltip)
        .add_params(pointing("handle", "base"))
    )
    return handles


def pairs(frame: pd.DataFrame, goal: str, palette: Palette = LIGHT) -> Figure:
    """Draw the map of pairs: blue where the goal is met, the darker the more is kept; grey where it is not.

    :param frame: rows of `lim.frames.tune.pairs`.
    :param goal: the goal, and what the numbers are.
    :param palette: the theme's colours.
    :returns: the figure, with a point selection `pair` of the fields `threshold` and `top_k`.
    """
    feasible = int(frame["feasible"].sum())
    title = f"{feasible:,} of the {len(frame):,} pairs shown meet the goal"
    if (starred := frame[frame["best"]]).size:
        row = starred.iloc[0]
        title += f"; best: threshold {row['threshold_name']}, top_k {row['top_k_name']}"
    height = ROW * frame["top_k"].nunique()
    return Figure(
        Drawing(_pairs, (palette, height), frame),
        title,
        goal,
        f"{title}. {goal}.",
    )


def _pairs(rows: Rows, palette: Palette, height: int) -> alt.LayerChart:
    base = alt.Chart(rows).encode(
        alt.X("threshold_name:N").sort(None).title("word_count_threshold").axis(labelAngle=0, labelOverlap="parity"),
        alt.Y("top_k_name:N").sort(None).title("top_k"),
    )
    scale = alt.Scale(domain=[0, 1], range=[palette.best, palette.weakest], interpolate="rgb")
    cells = (
        base.mark_rect(cornerRadius=2, cursor="pointer")
        .encode(
            color=alt.condition(
                "datum.feasible", alt.Color("shade:Q", scale=scale, legend=None), alt.value(palette.out)
            ),
            stroke=alt.condition("datum.now", alt.value(palette.threshold), alt.value(palette.paper)),
            strokeWidth=alt.condition("datum.now", alt.value(3), alt.value(1)),
            tooltip=[
                alt.Tooltip("threshold_name:N", title="word_count_threshold"),
                alt.Tooltip("top_k_name:N", title="top_k"),
                alt.Tooltip("kept:Q", title="Kept, %", format=".1f"),
                alt.Tooltip("over:Q", title="Queries over the budget", format=","),
                alt.Tooltip("over_share:Q", title="These are, %", format=".1f"),
            ],
        )
        .add_params(alt.selection_point(name="pair", fields=["threshold", "top_k"], empty=False))
    )
    # White is read on the deep blues of the light theme; all blues of the dark one are pale enough for dark text.
    dark_text, light_text = ("#0f141a", "#ffffff")
    switch = "datum.feasible && datum.shade < 0.5" if palette is LIGHT else "false"
    labels = base.mark_text(fontSize=12, fontWeight=600, aria=False).encode(
        text="label:N",
        color=alt.when(switch)
        .then(alt.value(light_text))
        .when("datum.feasible")
        .then(alt.value(dark_text))
        .otherwise(alt.value(palette.ink)),
    )
    layers: alt.LayerChart = cells + labels
    return finish(layers, palette, height)


def tradeoff(frame: pd.DataFrame, objective: Objective, palette: Palette = LIGHT) -> Figure:
    """Draw what the best pair keeps for each share of queries that may exceed the budget, and the limits of now.

    :param frame: rows of `lim.frames.tune.tradeoff`.
    :param objective: what is kept.
    :param palette: the theme's colours.
    :returns: the figure, with a point selection `point` of the fields `threshold` and `top_k`.
    """
    best, now = frame[frame["kind"] == "best"], frame[frame["kind"] == "now"].iloc[0]
    noun = "relevant documents" if objective is Objective.RELEVANT else str(objective)
    yours = f"your limits keep {now['kept']:.1f}% of the {noun} with {now['over_share']:.1f}% over"
    title = f"No pair meets the budget; {yours}"
    if len(best):
        first, last = best.iloc[0], best.iloc[-1]
        title = f"{_kept_with(first)}; {_kept_with(last)}"
        if len(best) == 1:
            title = _kept_with(first)
    subtitle = "Points: the best pair for its share of queries over; diamond: your limits"
    return Figure(Drawing(_tradeoff, (palette, noun), frame), title, subtitle, f"{title}. {yours.capitalize()}.")


def _kept_with(point: pd.Series[Any]) -> str:
    over = "no query over" if not point["over"] else f"{percent(point['over_share'] / 100)} over"
    return f"{percent(point['kept'] / 100)} kept with {over}"


def _tradeoff(rows: Rows, palette: Palette, noun: str) -> alt.LayerChart:
    base = alt.Chart(rows).encode(
        alt.X("over_share:Q")
        .title("Queries over the budget, in percent")
        .scale(domainMin=0, nice=False)
        .axis(format=".1~f"),
        alt.Y("kept:Q")
        .title(f"{noun.capitalize()} kept, in percent")
        .scale(zero=False, padding=14)
        .axis(format=".1~f"),
    )
    tooltip = [
        alt.Tooltip("limits:N", title="Limits"),
        alt.Tooltip("kept:Q", title="Kept, %", format=".1f"),
        alt.Tooltip("amount:Q", title="Kept", format=","),
        alt.Tooltip("over:Q", title="Queries over the budget", format=","),
        alt.Tooltip("over_share:Q", title="These are, %", format=".1f"),
    ]
    best = base.transform_filter("datum.kind === 'best'")
    line = best.mark_line(color=palette.best, strokeWidth=2, interpolate="step-after", opacity=0.6)
    points = (
        best.mark_point(filled=True, size=90, opacity=1, color=palette.best, cursor="pointer")
        .encode(tooltip=tooltip)
        .add_params(alt.selection_point(name="point", fields=["threshold", "top_k"], empty=False))
    )
    now = (
        base.transform_filter("datum.kind === 'now'")
        .mark_point(filled=True, size=160, shape="diamond", opacity=1, color=palette.threshold)
        .encode(tooltip=tooltip)
    )
    layers: alt.LayerChart = line + points + now
    return finish(layers, palette, HEIGHT - 40)
