"""The pipeline's chart: every document's place through all stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from lim.charts.look import HEIGHT, LIGHT, Drawing, Figure, Palette, Rows, finish, relevance
from lim.frames import MAX_SLOPE_DOCUMENTS
from lim.frames import pipeline as frames
from lim.stages import Trace
from lim.stages.build import Node

ROW = 17
"""Height of one place, in pixels."""

LABEL_WIDTH = 55
"""Room for a stage's name, in pixels; with less it is written smaller."""

TALL = 460
"""Height of a list too long for numbers, in pixels."""

MAX_LISTED = 24
"""The most numbers an alternative text lists."""


def bump(frame: pd.DataFrame, trace: Trace, listed: Sequence[Node], palette: Palette = LIGHT) -> Figure:
    """Draw a line for each document through its places in all stages.

    :param frame: rows of `lim.frames.pipeline.bump`.
    :param trace: the run they come from, for the words.
    :param listed: the nodes of its plan.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    longest = int(frame["place"].max()) if len(frame) else 1
    numbered = longest <= MAX_SLOPE_DOCUMENTS
    stages = tuple(dict.fromkeys(frame["stage"]))
    subtitle = "A line is a document’s way through the stages: deep blue is most relevant, grey is not in the prompt"
    if frame["dropped"].any():
        subtitle += ", × is where it was dropped"
    shown, total = frame["number"].nunique(), len(trace.documents)
    unretrieved = total - len({number for run in trace.stages for number in run.outputs})
    if shown < total - unretrieved:
        subtitle += f". {shown:,} of {total - unretrieved:,} documents drawn, evenly chosen"
    if unretrieved:
        subtitle += f". {unretrieved:,} more were not retrieved"
    reached = next((run.outputs for run in trace.stages if run.name == "prompt_builder"), ())
    return Figure(
        Drawing(_bump, (palette, stages, max(HEIGHT, ROW * longest) if numbered else TALL, numbered), frame),
        frames.finding(trace, listed),
        subtitle,
        f"{frames.headline(trace)} {frames.finding(trace, listed)}. Documents in the order of the prompt: "
        f"{_some(reached)}.",
    )


def _bump(rows: Rows, palette: Palette, stages: tuple[str, ...], height: int, numbered: bool) -> alt.LayerChart:
    base = alt.Chart(rows).encode(
        alt.X("stage:N")
        .sort(list(stages))
        .scale(domain=list(stages), padding=0.35)
        .title(None)
        .axis(
            labelAngle=0,
            orient="top",
            labelFontWeight=600,
            labelOverlap=False,
            labelFontSize=alt.expr(f"width < {LABEL_WIDTH * len(stages)} ? 9 : 12"),
        ),
        alt.Y("place:Q")
        .title("Place (1 = first)")
        .scale(reverse=True, zero=False, nice=False, padding=12)
        .axis(None if numbered else alt.Axis(tickMinStep=1, labelExpr="datum.value < 1 ? '' : datum.label")),
    )
    colour = alt.condition("datum.there", relevance(palette), alt.value(palette.out))
    hover = alt.selection_point(
        name="hover", fields=["number"], on="pointerover", clear="pointerout", empty=False, nearest=False
    )
    width = alt.when(hover).then(alt.value(6)).otherwise(alt.value(2.5 if numbered else 1))
    tooltip = [
        alt.Tooltip("number:Q", title="Document"),
        alt.Tooltip("stage:N", title="After"),
        alt.Tooltip("place:Q", title="Place", format=","),
        alt.Tooltip("fate:N", title="Fate"),
        alt.Tooltip("preview:N", title="Text"),
    ]
    lines = base.mark_line().encode(
        detail="line:N", order="column:Q", color=colour, strokeWidth=width, opacity=alt.value(0.9)
    )
    # A layer without rows would leave its scale without an extent: what does not apply is hidden instead.
    seen = alt.condition("datum.dropped", alt.value(0), alt.value(1))
    points = (
        base.mark_point(filled=True, size=70 if numbered else 18)
        .encode(color=colour, tooltip=tooltip, opacity=seen)
        .add_params(hover)
    )
    ends = base.mark_text(fontSize=20 if numbered else 11, fontWeight=700, color=palette.faint, aria=False).encode(
        text="end:N"
    )
    layers: list[Any] = [lines, points, ends]
    if numbered:
        text: dict[str, Any] = {"fontSize": 12, "fontWeight": 600, "aria": False}
        ink = alt.condition("datum.there", alt.value(palette.ink), alt.value(palette.faint))
        layers += [
            base.mark_text(align="right", dx=-10, **text).encode(text="left:N", color=ink),
            base.mark_text(align="left", dx=10, **text).encode(text="right:N", color=ink),
        ]
    return finish(alt.LayerChart(layer=layers), palette, height)


def _some(numbers: tuple[int, ...]) -> str:
    head = ", ".join(f"{number:,}" for number in numbers[:MAX_LISTED])
    return f"{head} and {len(numbers) - MAX_LISTED:,} more" if len(numbers) > MAX_LISTED else head or "none"
