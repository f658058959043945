"""The audit's charts: the slope from the intended order to the prompt's, and the requests of a trace."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lim.audit import AuditReport
from lim.audit.traces import TraceAudit
from lim.charts.look import HEIGHT, LIGHT, Figure, Palette, finish, relevance
from lim.frames import MAX_MARKS, MAX_SLOPE_DOCUMENTS
from lim.frames import audit as frames

ROW = 17
"""Height of one document in the slope, in pixels."""
MAX_LISTED = 24
"""The most numbers an alternative text lists."""


def slope(frame: pd.DataFrame, report: AuditReport, palette: Palette = LIGHT) -> Figure:
    """Draw a line for each document from its intended place to its place in the prompt.

    :param frame: rows of `lim.frames.audit.slope`.
    :param report: the audit they come from, for the words.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    longest = int(frame["place"].max()) if len(frame) else 0
    numbered = longest <= MAX_SLOPE_DOCUMENTS
    base = alt.Chart(frame).encode(
        alt.X("side:N")
        .sort([frames.INTENDED, frames.ACTUAL])
        .scale(domain=[frames.INTENDED, frames.ACTUAL])
        .title(None)
        .axis(labelAngle=0, orient="top", labelFontWeight=600, labelLimit=400, labelOverlap=False),
        alt.Y("place:Q").scale(reverse=True, zero=False, nice=False, padding=12).axis(None),
    )
    colour = alt.condition("datum.there", relevance(palette), alt.value(palette.out))
    lines = base.mark_line(strokeWidth=2.5 if numbered else 1).encode(
        detail="line:N", color=relevance(palette), strokeDash=_dash()
    )
    points = base.mark_point(filled=True, opacity=1, size=90 if numbered else 24).encode(
        color=colour,
        tooltip=[
            alt.Tooltip("number:Q", title="Document"),
            alt.Tooltip("place:Q", title="Place on this side"),
            alt.Tooltip("status:N", title="The prompt"),
            alt.Tooltip("preview:N", title="Text"),
        ],
    )
    layers: list[Any] = [lines, points]
    if numbered:
        text: dict[str, Any] = {"fontSize": 12, "fontWeight": 600, "color": palette.ink, "aria": False}
        left = base.transform_filter(f"datum.side === '{frames.INTENDED}'")
        right = base.transform_filter(f"datum.side === '{frames.ACTUAL}'")
        layers += [
            left.mark_text(align="right", dx=-10, **text).encode(text="label:N"),
            right.mark_text(align="left", dx=10, **text).encode(text="label:N"),
        ]
    moved, placed = frames.moved(report)
    if not placed:
        title = "None of the documents was found in the prompt"
    elif moved:
        title = f"{moved:,} of {placed:,} passages stand elsewhere than intended"
    else:
        title = "Every document that is there stands where it should"
    subtitle = "Deep blue is most relevant, grey is missing, dashed has moved"
    shown, total = frame["number"].nunique(), sum(bool(each.intended or each.spans) for each in report.sightings)
    if shown < total:
        subtitle += f". {shown:,} of {total:,} documents drawn, evenly chosen"
    return Figure(
        finish(alt.LayerChart(layer=layers), palette, max(HEIGHT, ROW * min(longest, MAX_SLOPE_DOCUMENTS))),
        title,
        subtitle,
        f"{frames.verdict(report)}. Intended: {_some(report.intended)}. In the prompt: {_some(report.actual)}.",
    )


def _dash() -> Any:  # noqa: ANN401 # Altair types a conditional encoding as a plain dictionary
    return alt.condition("datum.straight", alt.value([1, 0]), alt.value([6, 3]))


def requests(frame: pd.DataFrame, trace: TraceAudit, palette: Palette = LIGHT) -> Figure:
    """Draw the requests of a trace: those that kept the order upwards, those that lost it downwards.

    :param frame: rows of `lim.frames.audit.outcomes`.
    :param trace: the audit they come from, for the words.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    count = len(trace.requests)
    labels = "datum.value > 0 ? 'kept' : datum.value < 0 ? 'lost' : ''"
    bars = (
        alt.Chart(frame)
        .mark_rect(stroke=palette.paper, strokeWidth=0.5)
        .encode(
            alt.X("from:Q")
            .title("Request, by time" if trace.requests[0].exchange.started else "Request, in the order of the file")
            .scale(domain=[0.5, count + 0.5], nice=False)
            .axis(format=",d", tickMinStep=1),
            alt.X2("to:Q"),
            alt.Y("share:Q")
            .title(None)
            .scale(domain=[-1, 1])
            .axis(values=[-1, 0, 1], labelExpr=labels, labelFontWeight=600),
            y2=alt.datum(0),
            color=alt.Color("outcome:N", legend=None).scale(
                domain=["kept", "lost"], range=[palette.best, palette.faint]
            ),
            tooltip=[
                alt.Tooltip("name:N", title="Request"),
                alt.Tooltip("outcome:N", title="The order"),
                alt.Tooltip("count:Q", title="Requests", format=","),
                alt.Tooltip("started:N", title="Started"),
            ],
        )
    )
    layers: list[Any] = [bars]
    said = frames.trace_verdict(trace)
    if trace.change is not None:
        at = trace.change + 1
        early = trace.change < count / 2
        mark = alt.Chart(pd.DataFrame({"at": [at - 0.5], "top": [1], "label": [f"from request {at:,} on"]}))
        layers += [
            mark.mark_rule(color=palette.threshold, strokeWidth=2, strokeDash=[6, 4]).encode(x="at:Q"),
            mark.mark_text(
                color=palette.threshold,
                fontSize=13,
                fontWeight=600,
                align="left" if early else "right",
                baseline="bottom",
                dx=6 if early else -6,
                dy=-4,
            ).encode(alt.X("at:Q"), alt.Y("top:Q"), text="label:N"),
        ]
    subtitle = "A bar up kept the intended order, a bar down lost it"
    if count > MAX_MARKS:
        subtitle += f". Each bar is about {count / MAX_MARKS:,.0f} requests, its length the share of them"
    return Figure(
        finish(alt.LayerChart(layer=layers), palette, 190),
        "When the order was lost" if trace.kept < count else "The order was never lost",
        subtitle,
        f"{said}.",
    )


def _some(numbers: tuple[int, ...]) -> str:
    head = ", ".join(f"{number:,}" for number in numbers[:MAX_LISTED])
    return f"{head} and {len(numbers) - MAX_LISTED:,} more" if len(numbers) > MAX_LISTED else head or "none of them"
