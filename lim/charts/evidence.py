"""The evidence's charts: curves with their intervals and baselines, whole pipelines, the arithmetic for one list.

Ink is what was measured, grey what was measured without documents or beside the point: blue stays relevance, orange
the threshold.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lim.charts.look import LIGHT, Figure, Palette, finish
from lim.frames.evidence import SHUFFLE, end_labels

AXIS = (45.0, 92.0)
"""The span of accuracy that charts side by side share, in percent."""

TICKS = [50, 60, 70, 80, 90]

LABELS = 132
"""Pixels kept free for the labels at the end of lines."""


def percent(value: float) -> str:
    """Write a percentage as the tables do.

    :param value: in percent.
    :returns: without decimals that say nothing, such as `76%` or `75.8%`.
    """
    return f"{round(value, 2):g}%"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """List the rows of a frame.

    :param frame: any frame.
    :returns: one dict a row, by column name.
    """
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def lowest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Find the point of a curve with the lowest accuracy; of equal ones the first.

    :param rows: the points of one curve.
    :returns: that point.
    """
    return min(rows, key=lambda row: float(row["accuracy"]))


def finding(frame: pd.DataFrame) -> str:
    """Say what a curve shows: its first, its lowest and its last point.

    :param frame: rows of one curve of `lim.frames.evidence.points`.
    :returns: one line, every number of it a row's; without a lowest point in between only the first and the last.
    """
    rows = records(frame)
    first, last, low = rows[0], rows[-1], lowest(rows)
    middle = f", {percent(low['accuracy'])} at place {int(low['position']):,}"
    if low["position"] in (first["position"], last["position"]):
        middle = ""
    return f"{percent(first['accuracy'])} first{middle}, {percent(last['accuracy'])} last"


def curve(frame: pd.DataFrame, palette: Palette = LIGHT, *, compact: bool = False) -> Figure:
    """Draw the accuracy of one curve by the place of the answer document.

    :param frame: rows of one curve of `lim.frames.evidence.points`.
    :param palette: the theme's colours.
    :param compact: whether it is one of many, smaller and on an axis they share.
    :returns: the figure; its title is the finding.
    """
    row = records(frame)[0]
    low, high = (25.0, 100.0) if compact else span(frame, ["accuracy", "low", "high", "closed_book", "oracle"], 4)
    data = frame.assign(
        label=[percent(value) for value in frame["accuracy"]] if not compact else "",
        below=_dips(frame),
        without=percent(row["closed_book"]) if pd.notna(row["closed_book"]) else "",
        alone=percent(row["oracle"]) if pd.notna(row["oracle"]) else "",
        interval=[_interval(*pair) for pair in zip(frame["low"], frame["high"], strict=True)],
    )
    x = (
        alt.X("position:Q")
        .title("Place of the answer document" if not compact else None)
        .scale(domain=[1, int(row["documents"])], nice=False, padding=12)
        .axis(values=_ticks(frame), format=",d", labelOverlap=True)
    )
    scale = alt.Scale(domain=[low, high], nice=False)
    y = alt.Y("accuracy:Q").title("Accuracy in percent" if not compact else None).scale(scale)
    base = alt.Chart(data)
    band = base.mark_rule(strokeWidth=2.5, opacity=0.45, color=palette.faint).encode(
        x, alt.Y("low:Q").scale(scale).title("Accuracy in percent" if not compact else None), y2="high:Q"
    )
    line = base.mark_line(color=palette.ink, strokeWidth=2.5).encode(x, y)
    dots = base.mark_point(filled=True, size=70 if not compact else 40, color=palette.ink, opacity=1).encode(
        x, y, tooltip=_tips()
    )
    first = base.transform_filter("datum.position === 1")
    layers: list[Any] = [line, dots]
    for wanted, dy in (("datum.below", 17), ("!datum.below", -14)) if not compact else ():
        # A halo in the colour of the page keeps the line away from the number.
        for halo in (
            {"stroke": palette.paper, "strokeWidth": 5, "strokeJoin": "round"},
            {"color": palette.ink},
        ):
            text = base.transform_filter(wanted).mark_text(dy=dy, fontWeight=600, fontSize=13, **halo)
            layers.append(text.encode(x, y, text="label:N"))
    if frame["low"].notna().any():
        layers.insert(0, band)
    for field, label, above in (("closed_book", "without", False), ("oracle", "alone", True)):
        if pd.notna(row[field]):
            dash = [2, 3] if above else [5, 4]
            place = alt.Y(f"{field}:Q").scale(scale)
            layers.insert(0, first.mark_rule(color=palette.faint, strokeWidth=1.5, strokeDash=dash).encode(place))
            words = first.mark_text(align="left", dx=5, fontSize=12, color=palette.faint)
            layers.append(words.encode(place, x=alt.value(alt.expr("width")), text=f"{label}:N"))
    name = f"{row['model']}, {int(row['documents']):,} documents"
    many = f"n = {int(row['questions']):,} a point" if pd.notna(row["questions"]) else "n not reported"
    bounds = "lines are 95% intervals" if frame["low"].notna().any() else "no intervals published"
    if pd.notna(row["closed_book"]) and not compact:
        bounds += f"; dashed: without documents, {percent(row['closed_book'])}"
    if pd.notna(row["oracle"]) and not compact:
        bounds += f"; dotted: with the answer document alone, {percent(row['oracle'])}"
    title = f"{row['model'] if compact else name}: {finding(frame)}"
    subtitle = f"{row['study']}; {many}; {bounds}" if compact else f"{_sentence(row['setting'])}; {many}; {bounds}"
    return Figure(
        finish(alt.LayerChart(layer=layers), palette, 170 if compact else 330),
        title,
        subtitle,
        f"{name}, {row['study']}: {finding(frame)}."
        + (f" Without documents {percent(row['closed_book'])}." if pd.notna(row["closed_book"]) else "")
        + (f" With the answer document alone {percent(row['oracle'])}." if pd.notna(row["oracle"]) else ""),
    )


def together(frame: pd.DataFrame, title: str, subtitle: str, palette: Palette = LIGHT, ink: str = "") -> Figure:
    """Draw several curves of one length together, each named at its end.

    :param frame: rows of several curves of `lim.frames.evidence.points` with one number of documents.
    :param title: the finding.
    :param subtitle: what was measured.
    :param palette: the theme's colours.
    :param ink: the model drawn in full ink; all of them by default.
    :returns: the figure, on the shared axis.
    """
    data = frame.assign(strong=(frame["model"] == ink) if ink else True)
    ends = end_labels(frame, *AXIS).assign(strong=lambda rows: (rows["model"] == ink) if ink else True)
    documents = int(frame["documents"].max())
    x = (
        alt.X("position:Q")
        .title("Place of the answer document")
        .scale(domain=[1, documents], nice=False, range=[8, alt.ExprRef(f"width - {LABELS}")])
        .axis(values=_ticks(frame), format=",d", labelOverlap=True)
    )
    scale = alt.Scale(domain=list(AXIS), nice=False)
    y = alt.Y("accuracy:Q").title("Accuracy in percent").scale(scale).axis(values=TICKS)
    colour: Any = alt.condition("datum.strong", alt.value(palette.ink), alt.value(palette.faint))
    width: Any = alt.condition("datum.strong", alt.value(2.75), alt.value(1.25))
    base = alt.Chart(data)
    lines = base.mark_line().encode(x, y, detail="key:N", color=colour, strokeWidth=width)
    dots = base.mark_point(filled=True, opacity=1, size=36).encode(x, y, color=colour, tooltip=_tips())
    names = (
        alt.Chart(ends)
        .mark_text(align="left", fontSize=12, fontWeight=600)
        .encode(
            alt.Y("height:Q").scale(scale), x=alt.value(alt.expr(f"width - {LABELS - 8}")), text="model:N", color=colour
        )
    )
    layers: list[Any] = [lines, dots, names]
    if frame["low"].notna().all():
        bars = base.mark_rule(strokeWidth=5, opacity=0.16, color=palette.ink)
        layers.insert(0, bars.encode(x, alt.Y("low:Q").scale(scale), y2="high:Q"))
    said = ". ".join(f"{model}: {finding(rows)}" for model, rows in frame.groupby("model", sort=False))
    return Figure(finish(alt.LayerChart(layer=layers), palette, 330), title, subtitle, f"{title}. {said}.")


def study(frame: pd.DataFrame, palette: Palette = LIGHT) -> Figure:
    """Draw all of a study's curves of one length together and say how deep they are.

    :param frame: rows of several curves of one study and one number of documents.
    :param palette: the theme's colours.
    :returns: the figure, on the shared axis; its title names the deepest and the flattest curve.
    """
    rows = records(frame)
    by_model: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_model.setdefault(str(row["model"]), []).append(row)
    first = {model: float(points[0]["accuracy"]) for model, points in by_model.items()}
    low = {model: float(lowest(points)["accuracy"]) for model, points in by_model.items()}
    depths = {model: first[model] - low[model] for model in by_model}
    deepest, flattest = max(depths, key=depths.__getitem__), min(depths, key=depths.__getitem__)
    name = rows[0]["study"]
    documents = int(frame["documents"].max())
    questions = sorted({int(number) for number in frame["questions"].dropna()})
    asked = f"{' or '.join(f'{number:,}' for number in questions)} questions a point" if questions else "n not reported"
    bounds = "bars are 95% intervals" if frame["low"].notna().all() else "no intervals published"
    return together(
        frame,
        f"{name}, first to worst place: {deepest} {percent(first[deepest])} to {percent(low[deepest])}, {flattest} "
        f"{percent(first[flattest])} to {percent(low[flattest])}",
        f"Accuracy by the place of the answer among {documents} documents; {asked}; {bounds}",
        palette,
        deepest if len(depths) > 5 else "",
    )


def pipelines(frame: pd.DataFrame, palette: Palette = LIGHT) -> Figure:
    """Draw whole pipelines by the order of their passages, on the axis of the curves beside them.

    :param frame: rows of `lim.frames.evidence.orderings` in percent, a shuffle in every pipeline.
    :param palette: the theme's colours.
    :returns: the figure, on the shared axis.
    """
    study_name = records(frame)[0]["study"]
    documents = "with 5 passages from a real retriever and a reranker"
    title = f"{study_name}, whole pipelines: no order of the passages is significantly better than a random shuffle"
    subtitle = f"Whole pipelines {documents}; no difference is significant (Wilcoxon, p = 0.05); no intervals published"
    names = list(dict.fromkeys(frame["name"]))
    ends = (
        frame[frame["name"] == names[-1]]
        .assign(key=lambda rows: rows["pipeline"], accuracy=lambda rows: rows["score"], position=1, share=1.0)
        .assign(model=lambda rows: rows["model"])
    )
    labels = end_labels(ends, *AXIS).assign(strong=True)
    scale = alt.Scale(domain=list(AXIS), nice=False)
    x = (
        alt.X("name:N")
        .sort(names)
        .title("Order of the passages")
        .scale(type="point", padding=0.5, range=[0, alt.ExprRef(f"width - {LABELS - 40}")])
        .axis(labelAngle=0, labelFontSize=11, labelExpr="split(datum.label, ' ')", labelOverlap=False)
    )
    y = alt.Y("score:Q").title("Accuracy in percent").scale(scale).axis(values=TICKS)
    base = alt.Chart(frame)
    tips = [
        alt.Tooltip("pipeline:N", title="Pipeline"),
        alt.Tooltip("ordering:N", title="Order"),
        alt.Tooltip("score:Q", title="Accuracy"),
        alt.Tooltip("source:N", title="Source"),
    ]
    lines = base.mark_line(color=palette.ink, strokeWidth=2.75).encode(x, y, detail="pipeline:N")
    dots = base.mark_point(filled=True, opacity=1, size=60).encode(
        x,
        y,
        shape=alt.condition(f"datum.name === '{SHUFFLE}'", alt.value("diamond"), alt.value("circle")),
        color=alt.value(palette.ink),
        tooltip=tips,
    )
    text = (
        alt.Chart(labels)
        .mark_text(align="left", fontSize=12, fontWeight=600, color=palette.ink)
        .encode(alt.Y("height:Q").scale(scale), x=alt.value(alt.expr(f"width - {LABELS - 44}")), text="model:N")
    )
    by_pipeline: dict[str, list[str]] = {}
    for row in records(frame):
        by_pipeline.setdefault(row["pipeline"], []).append(f"{row['name']} {percent(row['score'])}")
    said = ". ".join(f"{name}: {', '.join(results)}" for name, results in by_pipeline.items())
    return Figure(finish(lines + dots + text, palette, 330), title, subtitle, f"{title}. {said}.")


def differences(frame: pd.DataFrame, palette: Palette = LIGHT) -> Figure:
    """Draw how far each order of each pipeline is from a random shuffle, in points.

    :param frame: rows of `lim.frames.evidence.orderings` with a shuffle in every pipeline.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    title = f"{frame.iloc[0]['study']}: every order is about as good as a shuffle"
    subtitle = "Accuracy less that of a random shuffle of the same 5 passages; none differs significantly (Wilcoxon)"
    data = frame[frame["name"] != SHUFFLE]
    rows, names = list(dict.fromkeys(data["pipeline"])), list(dict.fromkeys(data["name"]))
    x = (
        alt.X("difference:Q")
        .title("Points above or below the shuffle")
        .scale(domain=[-4, 4])
        .axis(format="+d", values=[-4, -2, 0, 2, 4])
    )
    y = alt.Y("pipeline:N").sort(rows).title(None).axis(labelLimit=230, labelColor=palette.ink, labelOverlap=False)
    base = alt.Chart(data)
    shape = (
        alt.Shape("name:N")
        .sort(names)
        .scale(domain=names, range=["circle", "square", "triangle-up", "cross"])
        .legend(orient="top", title=None, labelFontSize=12, labelColor=palette.ink, columns=2, labelLimit=220)
    )
    dots = base.mark_point(filled=True, size=95, opacity=0.85, color=palette.ink).encode(
        x,
        y,
        shape=shape,
        tooltip=[
            alt.Tooltip("pipeline:N", title="Pipeline"),
            alt.Tooltip("ordering:N", title="Order"),
            alt.Tooltip("score:Q", title="Accuracy"),
            alt.Tooltip("shuffle:Q", title="Shuffle"),
            alt.Tooltip("source:N", title="Source"),
        ],
    )
    zero = base.mark_rule(color=palette.faint, strokeWidth=2, aria=False).encode(x=alt.datum(0))
    most = max(records(data), key=lambda row: abs(float(row["difference"])))
    return Figure(
        finish(zero + dots, palette, 32 * len(rows) + 110),
        title,
        subtitle,
        f"{title}. The largest distance is {most['difference']:+.2f} points: {most['name']} with {most['pipeline']}, "
        f"{percent(most['score'])} against {percent(most['shuffle'])}.",
    )


def scores(frame: pd.DataFrame, palette: Palette = LIGHT) -> Figure:
    """Draw scores from 0 to 1 by the order of the passages.

    :param frame: rows of `lim.frames.evidence.orderings` that are not in percent.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    ranked = sorted(records(frame), key=lambda row: float(row["score"]))
    best, worst = ranked[-1], ranked[0]
    title = f"{best['study']}: {best['name']} {best['score']:g}, {worst['name']} {worst['score']:g}"
    subtitle = f"{_sentence(best['setting'])}; the overall averages lie closer together and favour another order"
    data = frame.assign(label=[f"{score:g}" for score in frame["score"]])
    y = alt.Y("name:N").sort("-x").title(None).axis(labelLimit=230, labelColor=palette.ink, labelOverlap=False)
    x = alt.X("score:Q").title("RAG score, 0 to 1").scale(domain=[0, 1])
    base = alt.Chart(data).encode(x, y)
    stems = base.mark_rule(color=palette.faint, strokeWidth=2)
    dots = base.mark_point(filled=True, size=90, opacity=1, color=palette.ink).encode(
        tooltip=[alt.Tooltip("ordering:N", title="Order"), "score:Q", alt.Tooltip("source:N", title="Source")]
    )
    text = base.mark_text(dx=10, align="left", fontSize=13, fontWeight=600, color=palette.ink).encode(text="label:N")
    said = ", ".join(f"{row['name']} {row['score']:g}" for _, row in frame.iterrows())
    return Figure(finish(stems + dots + text, palette, 40 * len(frame) + 60), title, subtitle, f"{title}: {said}.")


def span(frame: pd.DataFrame, columns: list[str], margin: float) -> tuple[float, float]:
    """Find the span of several columns, in percent.

    :param frame: any frame.
    :param columns: columns of percentages; missing ones do not count.
    :param margin: what is added at both ends.
    :returns: the lower and the upper end, within 0 and 100.
    """
    known = [float(value) for name in columns for value in frame[name].dropna()]
    return max(min(known) - margin, 0.0), min(max(known) + margin, 100.0)


def _dips(frame: pd.DataFrame) -> list[bool]:
    """Tell for each point whether it lies below the line of its neighbours, so that its label goes below."""
    heights = [float(value) for value in frame["accuracy"]]
    around = zip([heights[0], *heights[:-1]], heights, [*heights[1:], heights[-1]], strict=True)
    return [height < (before + after) / 2 for before, height, after in around]


def _ticks(frame: pd.DataFrame) -> list[int]:
    return sorted({int(position) for position in frame["position"]})


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _interval(low: float, high: float) -> str:
    return f"{low:g}% to {high:g}%" if pd.notna(low) and pd.notna(high) else "not published"


def _tips() -> list[Any]:
    return [
        alt.Tooltip("model:N", title="Model"),
        alt.Tooltip("documents:Q", title="Documents"),
        alt.Tooltip("position:Q", title="Place of the answer document"),
        alt.Tooltip("accuracy:Q", title="Accuracy in percent"),
        alt.Tooltip("low:Q", title="95% interval from"),
        alt.Tooltip("high:Q", title="to"),
        alt.Tooltip("questions:Q", title="Questions"),
        alt.Tooltip("source:N", title="Source"),
    ]
