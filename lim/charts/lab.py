"""The Lab's charts: where each document lands, where the budget runs out, the slope, the staircase."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lim import story
from lim.charts.look import HEIGHT, LIGHT, Drawing, Figure, Palette, Rows, finish, outline, pointing, relevance
from lim.frames import LABELLED_MARKS, MAX_MARKS, handle_step
from lim.ranker import Arrangement

SLOPE_ROW = 17
"""Height of one document in the slope, in pixels."""


def landing(frame: pd.DataFrame, arrangement: Arrangement, palette: Palette = LIGHT) -> Figure:
    """Draw original rank against position in the prompt, as bars: tall for relevant, short for weak.

    :param frame: rows of `lim.frames.landing`.
    :param arrangement: the arrangement they come from, for the words.
    :param palette: the theme's colours.
    :returns: the figure, with a point selection `pick` of the field `rank`.
    """
    binned = arrangement.kept > MAX_MARKS
    subtitle = story.order_rule(arrangement)
    if binned:
        subtitle = (
            f"{subtitle}. Each bar is about {arrangement.kept / MAX_MARKS:,.0f} positions, drawn to its best rank"
        )
    order = arrangement.order
    shown = ", ".join(map(str, order)) if len(order) <= 24 else f"{_some(order[:4])} … {_some(order[-4:])}"
    return Figure(
        Drawing(_landing, (palette,), frame),
        "Where each document lands",
        subtitle,
        f"{story.reach(arrangement)}. Original ranks in the order of the prompt: {shown}.",
    )


def _landing(rows: Rows, palette: Palette) -> alt.LayerChart:
    base = alt.Chart(rows).encode(
        alt.X("name:N").sort(None).title("Position in the prompt").axis(labelAngle=0, labelOverlap="parity"),
        alt.Y("rank:Q")
        .title("Original rank (1 = most relevant)")
        .scale(reverse=True, zero=False, nice=False, domainMin=0.5)
        .axis(tickMinStep=1, format=",d"),
    )
    bars = (
        base.mark_bar(cornerRadiusTopLeft=3, cornerRadiusTopRight=3, cursor="pointer")
        .encode(
            y2="floor:Q",
            color=relevance(palette),
            stroke=outline(palette),
            strokeWidth=alt.condition("datum.crosses || datum.picked", alt.value(2.5), alt.value(0)),
            tooltip=[
                alt.Tooltip("rank_name:N", title="Original rank"),
                alt.Tooltip("name:N", title="Position in the prompt"),
                alt.Tooltip("words:Q", title="Words", format=","),
                alt.Tooltip("preview:N", title="Text"),
            ],
        )
        .add_params(alt.selection_point(name="pick", fields=["rank"], empty=False))
    )
    numbers = base.mark_text(dy=-8, fontWeight=600, fontSize=13, color=palette.ink, aria=False).encode(text="label:N")
    layers: alt.LayerChart = bars + numbers
    return finish(layers, palette)


def budget(frame: pd.DataFrame, arrangement: Arrangement, palette: Palette = LIGHT) -> Figure:
    """Draw cumulative words over the order the ranker reads, with the threshold where it cuts.

    The threshold follows the pointer in the browser: the selection `pointed` holds a handle's threshold and what it
    would keep, and the chart believes it as long as its `base` is the threshold the frame was made with.

    :param frame: rows of `lim.frames.budget`.
    :param arrangement: the arrangement they come from, for the words.
    :param palette: the theme's colours.
    :returns: the figure, with a point selection `pointed` of the fields of a handle and `base`.
    """
    subtitle = story.budget_rule(arrangement)
    if len(arrangement.walk) > MAX_MARKS:
        subtitle = f"{subtitle}. Each bar is about {len(arrangement.walk) / MAX_MARKS:,.0f} documents"
    threshold = arrangement.word_count_threshold
    finding = story.budget_finding(arrangement)
    return Figure(
        Drawing(_budget, (palette, len(arrangement.walk) <= LABELLED_MARKS), frame),
        "Where the budget runs out",
        subtitle,
        f"{finding}. {story.verdict(arrangement)}"
        + (
            f" Thresholds can be pointed at in steps of {handle_step(arrangement.totals[-1]):,} words."
            if threshold
            else ""
        ),
    )


def _budget(rows: Rows, palette: Palette, labelled: bool) -> alt.LayerChart:
    chart = alt.Chart(rows)
    documents = (
        chart.transform_filter("datum.kind === 'document'")
        .transform_calculate(pointing="isValid(pointed.base) && pointed.base[0] === datum.base")
        .transform_calculate(live="datum.pointing ? pointed.handle[0] : datum.threshold")
        .transform_calculate(
            kept="datum.ranked && (datum.slot === 1 || !isValid(datum.live) || datum.start < datum.live)"
        )
        .transform_calculate(
            level="isValid(datum.live) ? datum.live : 0",
            crosses="datum.kept && isValid(datum.live) && datum.end >= datum.live",
            kept_slot="datum.kept ? datum.slot : 0",
            kept_end="datum.kept ? datum.end : 0",
            kept_last="datum.kept ? datum.last : 0",
        )
        .transform_joinaggregate(
            last_kept="max(kept_slot)",
            all_kept="max(kept_last)",
            all_words="max(kept_end)",
            slots="max(slot)",
            documents="max(last)",
            total="max(end)",
        )
        .transform_calculate(  # a handle knows its numbers exactly, also where it cuts through a run of documents
            reached="datum.pointing ? pointed.handle_words[0] : datum.all_words",
            all_dropped="datum.documents - (datum.pointing ? pointed.handle_documents[0] : datum.all_kept)",
        )
        .transform_calculate(shade="(datum.slot - 1) / max(datum.last_kept - 1, 1)")
    )
    # The labels belong to one row each: the browser works them out for that row and not for every document.
    last = documents.transform_filter("datum.slot === datum.slots").transform_calculate(
        end_label="datum.all_dropped ? format(datum.all_dropped, ',') + ' dropped' : ''"
    )
    first = (
        documents.transform_filter("datum.slot === 1")
        .transform_calculate(
            low="datum.level < 0.2 * datum.total",
            right="datum.last_kept > 0.6 * datum.slots",
            over="datum.reached > datum.live ? '\\n+' + format(datum.reached - datum.live, ',') + ' words, kept'"
            " : datum.reached === datum.live ? '\\nexactly reached' : '\\nnot reached'",
        )
        .transform_calculate(
            # Its full name is wider than the room beside the bars of a chart on a phone.
            label="isValid(datum.live) ? (width < 330 ? 'threshold = ' : 'word_count_threshold = ')"
            " + format(datum.live, ',') + datum.over : ''"
        )
        .transform_calculate(
            above_left="datum.right && !datum.low ? datum.label : ''",
            above_right="datum.low ? datum.label : ''",
            below_right="datum.right || datum.low ? '' : datum.label",
        )
    )
    x = (
        alt.X("name:N")
        .sort(None)
        .title("Original rank, in the order the ranker reads")
        .axis(labelAngle=0, labelOverlap="parity")
    )
    y = alt.Y("end:Q").title("Cumulative words").axis(format=",d")
    bars = documents.mark_bar(cursor="pointer").encode(
        x,
        y,
        y2="foot:Q",
        color=alt.condition("datum.kept", relevance(palette), alt.value(palette.out)),
        stroke=outline(palette),
        strokeWidth=alt.condition("datum.crosses || datum.picked", alt.value(2.5), alt.value(0)),
        tooltip=[
            alt.Tooltip("name:N", title="Original rank"),
            alt.Tooltip("fate:N", title="Fate"),
            alt.Tooltip("words:Q", title="Words", format=","),
            alt.Tooltip("end:Q", title="Cumulative words", format=","),
            alt.Tooltip("preview:N", title="Text"),
        ],
    )
    line = documents.mark_line(color=palette.faint, strokeWidth=1.5, interpolate="linear", aria=False).encode(x, y)
    dots = documents.mark_point(filled=True, size=26, color=palette.faint, opacity=1, aria=False).encode(x, y)
    level = alt.Y("level:Q").title("Cumulative words")
    rule = first.mark_rule(color=palette.threshold, strokeWidth=2, strokeDash=[6, 4]).encode(
        level, opacity=alt.condition("isValid(datum.live)", alt.value(1), alt.value(0))
    )
    # No label covers a bar: above and left of the staircase is always room, and so is below and right of it. A mark
    # that does not apply stays as an empty text, because a layer without rows leaves its scale without an extent.
    label: dict[str, Any] = {"fontWeight": 600, "fontSize": 12, "color": palette.threshold, "lineBreak": "\n"}
    above_left = first.mark_text(align="left", dx=4, dy=-22, **label).encode(level, x=alt.value(0), text="above_left:N")
    above_right = first.mark_text(align="right", dy=-22, **label).encode(
        level, x=alt.value(alt.expr("width")), text="above_right:N"
    )
    below_right = first.mark_text(align="right", baseline="top", dy=7, **label).encode(
        level, x=alt.value(alt.expr("width")), text="below_right:N"
    )
    dropped = last.mark_text(align="right", dx=8, dy=-12, fontSize=12, color=palette.faint).encode(
        x, y, text="end_label:N"
    )
    handles = (
        chart.transform_filter("datum.kind === 'handle'")
        .mark_point(size=1, opacity=0, aria=False)
        .encode(
            alt.Y("handle:Q"),
            x=alt.value(alt.expr("width / 2")),
            tooltip=[
                alt.Tooltip("handle:Q", title="Click for a threshold of", format=","),
                alt.Tooltip("handle_documents:Q", title="Documents in the prompt", format=","),
                alt.Tooltip("handle_words:Q", title="Words in the prompt", format=","),
            ],
        )
        .add_params(pointing("handle", "base", "handle_documents", "handle_words"))
    )
    # The rule lies under the handles, or the pointer that drags it would meet the rule and not a handle. The bars of
    # a short list lie above, so that each tells its document; the area of a long list lies below and hides nothing.
    cut = [rule, above_left, above_right, below_right]
    layers = [*cut, handles, bars, line, dots, dropped] if labelled else [bars, line, dropped, *cut, handles]
    return finish(alt.LayerChart(layer=layers), palette)


def slope(frame: pd.DataFrame, arrangement: Arrangement, palette: Palette = LIGHT) -> Figure:
    """Draw a line for each document from its place in the ranked list to its place in the prompt.

    :param frame: rows of `lim.frames.slope`.
    :param arrangement: the arrangement they come from, for the words.
    :param palette: the theme's colours.
    :returns: the figure, with a point selection `pick` of the field `rank`.
    """
    height = max(HEIGHT, SLOPE_ROW * len(arrangement.inputs))
    return Figure(
        Drawing(_slope, (palette, height), frame),
        "From the ranked list to the prompt",
        "The number is the original rank on both sides; grey documents do not reach the prompt",
        f"{story.reach(arrangement)}. Original ranks from the top of the prompt: "
        f"{', '.join(map(str, arrangement.order))}.",
    )


def _slope(rows: Rows, palette: Palette, height: int) -> alt.LayerChart:
    width = alt.condition("datum.picked", alt.value(5), alt.value(2.5))
    colour = alt.condition("datum.in_prompt", relevance(palette), alt.value(palette.out))
    base = alt.Chart(rows).encode(
        alt.X("side:N")
        .sort(["Ranked list", "Prompt"])
        .title(None)
        .axis(labelAngle=0, orient="top", labelFontWeight=600),
        alt.Y("place:Q").title("Place (1 = first)").scale(reverse=True, zero=False, nice=False, padding=12).axis(None),
    )
    lines = base.mark_line(cursor="pointer").encode(detail="rank:N", color=colour, strokeWidth=width)
    points = (
        base.mark_point(filled=True, opacity=1, size=90, cursor="pointer")
        .encode(
            color=colour,
            stroke=alt.condition("datum.picked", alt.value(palette.ink), alt.value(None)),
            tooltip=[
                alt.Tooltip("rank:Q", title="Original rank"),
                alt.Tooltip("place:Q", title="Place on this side"),
                alt.Tooltip("fate:N", title="Fate"),
                alt.Tooltip("preview:N", title="Text"),
            ],
        )
        .add_params(alt.selection_point(name="pick", fields=["rank"], empty=False))
    )
    number: dict[str, Any] = {"fontSize": 12, "fontWeight": 600}
    ink = alt.condition("datum.in_prompt", alt.value(palette.ink), alt.value(palette.faint))
    left = (
        base.transform_filter("datum.side === 'Ranked list'")
        .mark_text(align="right", dx=-10, **number)
        .encode(text="rank:Q", color=ink)
    )
    right = (
        base.transform_filter("datum.side === 'Prompt'")
        .mark_text(align="left", dx=10, **number)
        .encode(text="rank:Q", color=ink)
    )
    layers: alt.LayerChart = lines + points + left + right
    return finish(layers, palette, height)


def staircase(frame: pd.DataFrame, arrangement: Arrangement, palette: Palette = LIGHT) -> Figure:
    """Draw the count of documents in the prompt against the threshold: a staircase.

    :param frame: rows of `lim.frames.steps`.
    :param arrangement: the arrangement of the list with the threshold of now, for the rule and the words.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    threshold = arrangement.word_count_threshold
    total = arrangement.totals[arrangement.ranked - 1] if arrangement.ranked else 0
    end = max(total * 1.05, (threshold or 0) * 1.02, 1)
    shown = frame if len(frame) <= MAX_MARKS else frame.iloc[:: -(-len(frame) // MAX_MARKS)]
    rows = shown.assign(
        until=shown["lowest"].shift(-1).sub(1).fillna(end).astype(float),
        shade=(shown["kept"] - 1) / max(arrangement.kept - 1, 1),
        in_prompt=shown["kept"] <= arrangement.kept,
        now=float("nan") if threshold is None else float(threshold),
    )[["kept", "lowest", "until", "words", "overshoot", "shade", "in_prompt", "now"]]
    subtitle = "On a step the threshold changes nothing; a small change at its edge adds or drops a document"
    if len(shown) < len(frame):
        subtitle = f"{subtitle}. {len(shown):,} of {len(frame):,} steps are drawn"
    return Figure(
        Drawing(_staircase, (palette, len(frame) > LABELLED_MARKS), rows),
        "Thresholds that matter",
        subtitle,
        f"{story.plural(len(frame), 'step')} between threshold 1 and {total:,}. {story.reach(arrangement)}.",
    )


def _staircase(rows: Rows, palette: Palette, many: bool) -> alt.LayerChart:
    base = alt.Chart(rows).encode(alt.Y("kept:Q").title("Documents in the prompt").axis(tickMinStep=1, format=",d"))
    x = alt.X("lowest:Q").title("word_count_threshold").axis(format=",d").scale(domainMin=0, nice=False)
    stairs = (base.mark_rect() if many else base.mark_rule(strokeWidth=5)).encode(
        x,
        x2="until:Q",
        **({"y2": alt.datum(0)} if many else {}),
        color=alt.condition("datum.in_prompt", relevance(palette), alt.value(palette.out)),
        tooltip=[
            alt.Tooltip("kept:Q", title="Documents in the prompt", format=","),
            alt.Tooltip("lowest:Q", title="From threshold", format=","),
            alt.Tooltip("until:Q", title="Up to threshold", format=",.0f"),
            alt.Tooltip("words:Q", title="Words in the prompt", format=","),
            alt.Tooltip("overshoot:Q", title="Most words over", format=","),
        ],
    )
    now = (
        alt.Chart(rows)
        .transform_filter("isValid(datum.now)")
        .mark_rule(color=palette.threshold, strokeWidth=2, strokeDash=[6, 4])
        .encode(alt.X("min(now):Q").title("word_count_threshold"))
    )
    layers: alt.LayerChart = stairs + now
    return finish(layers, palette, 260)


def _some(ranks: list[int]) -> str:
    return ", ".join(f"{rank:,}" for rank in ranks)
