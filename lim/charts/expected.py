"""The charts for one list: the accuracy a published curve reads for its orders, and what its metrics become."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lim.charts.evidence import percent, span
from lim.charts.look import LIGHT, Figure, Palette, finish, relevance
from lim.frames.evidence import SHUFFLE


def shares(frame: pd.DataFrame) -> str:
    """Say what the numbers of a list rest on.

    :param frame: rows of `lim.frames.evidence.expected`.
    :returns: Markdown: the shares of probability that were measured, counted without documents, and not covered.
    """
    row = frame.iloc[0]
    parts = [f"**{row['measured']:.0f}%** of the assumed probability lies on places the curve speaks about"]
    if row["closed_book"]:
        without = percent(row["closed_book_pct"])
        parts.append(
            f"**{row['closed_book']:.0f}%** on documents outside the prompt, counted with {without}, the accuracy "
            f"without documents (which may flatter: a prompt full of other documents was not measured)"
        )
    if row["uncovered"]:
        parts.append(f"**{row['uncovered']:.0f}%** is not covered by any row, so the numbers are only about the rest")
    end = ". The prompt has another length than the measured one; places count by their share." * bool(row["rescaled"])
    bars = " No intervals were published for this curve, so none are drawn for the four orders."
    if frame.iloc[:-1]["low"].notna().all():
        bars = " Lines are the published 95% intervals, averaged as if all errors pointed one way."
    spread = ""
    if pd.notna(frame.iloc[-1]["sd"]):
        spread = (
            f" The shuffle’s line runs from the worst of all orders to the best; its standard deviation from order to "
            f"order is {frame.iloc[-1]['sd']:.2g} points."
        )
    return "; ".join(parts) + (end or ".") + bars + spread


def expected(frame: pd.DataFrame, palette: Palette = LIGHT) -> Figure:
    """Draw the accuracy that a curve reads for each order of a list.

    :param frame: rows of `lim.frames.evidence.expected`.
    :param palette: the theme's colours.
    :returns: the figure; its title compares the arranged list with the shuffle and the list as it is.
    """
    read = dict(zip(frame["order"], frame["value"].fillna(frame["measured_pct"]), strict=True))
    ours, mixed, listed = (round(read[key], 1) for key in ("haystack", SHUFFLE, "as-listed"))
    title = f"Arranged {percent(ours)}, as listed {percent(listed)}, shuffled {percent(mixed)}"
    subtitle = "Read off the curve under your assumption; not a forecast for your model"
    data = frame.assign(
        shown=frame["value"].fillna(frame["measured_pct"]),
        from_=frame["low"].where(frame["order"] != SHUFFLE, frame["lowest"]),
        to=frame["high"].where(frame["order"] != SHUFFLE, frame["highest"]),
    )
    data["label"] = [percent(round(value, 1)) for value in data["shown"]]
    scale = alt.Scale(domain=list(span(data, ["shown", "from_", "to"], 4)), nice=False, zero=False)
    y = alt.Y("name:N").sort(list(data["name"])).title(None)
    y = y.axis(labelLimit=230, labelColor=palette.ink, labelExpr="split(replace(datum.label, ' (', '|('), '|')")
    x = alt.X("shown:Q").title("Accuracy in percent").scale(scale)
    base = alt.Chart(data)
    bars = base.mark_rule(strokeWidth=4, opacity=0.4, color=palette.faint).encode(
        alt.X("from_:Q").scale(scale).title("Accuracy in percent"), y, x2="to:Q"
    )
    ours = "datum.order === 'haystack'"
    dots = base.mark_point(filled=True, opacity=1, color=palette.ink).encode(
        x,
        y,
        size=alt.condition(ours, alt.value(170), alt.value(80)),
        tooltip=[
            alt.Tooltip("name:N", title="Order"),
            alt.Tooltip("shown:Q", title="Accuracy read", format=".2f"),
            alt.Tooltip("from_:Q", title="From", format=".2f"),
            alt.Tooltip("to:Q", title="To", format=".2f"),
            alt.Tooltip("source:N", title="Source"),
        ],
    )
    text = base.mark_text(dy=-14, fontSize=13, fontWeight=600, color=palette.ink).encode(x, y, text="label:N")
    said = ", ".join(f"{row['name']} {row['label']}" for _, row in data.iterrows())
    return Figure(finish(bars + dots + text, palette, 54 * len(data) + 50), title, subtitle, f"{title}. {said}.")


def assumption(frame: pd.DataFrame, palette: Palette = LIGHT) -> Figure:
    """Draw the assumption of where the answer is.

    :param frame: rows of `lim.frames.evidence.assumption`.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    x = alt.X("rank:O").title("Rank of the document with the answer").axis(labelAngle=0, labelOverlap=True)
    y = alt.Y("probability:Q").title("Probability in percent")
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x,
            y,
            color=alt.condition("datum.in_prompt", relevance(palette), alt.value(palette.out)),
            tooltip=["rank:O", alt.Tooltip("probability:Q", format=".2f")],
        )
    )
    first, inside = frame.iloc[0]["probability"], frame.loc[frame["in_prompt"], "probability"].sum()
    return Figure(
        finish(bars, palette, 200),
        f"Assumed: the answer is in the prompt with {inside:.0f}%",
        f"An assumption you choose, not a measurement: {first:.0f}% on rank 1",
        f"Assumed probability of the answer by rank: {first:.0f}% on rank 1, {inside:.0f}% in the prompt.",
    )


def metric_change(frame: pd.DataFrame, subtitle: str, palette: Palette = LIGHT) -> Figure:
    """Draw each metric before and after the ranker.

    :param frame: rows of `lim.frames.evidence.metric_rows`.
    :param subtitle: what is taken for relevant.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    change = frame.pivot_table(index="metric", columns="side", values="value", sort=False)
    precision = change.loc["Average precision"]
    verb = "stays at" if abs(precision.iloc[0] - precision.iloc[1]) < 0.005 else "goes to"
    title = (
        f"Average precision {precision['As retrieved']:.2f} {verb} {precision['After the ranker']:.2f}: the same "
        f"documents, another order"
    )
    names = list(dict.fromkeys(frame["metric"]))
    data = frame.assign(label=[f"{value:.2f}" for value in frame["value"]], after=frame["side"] == "After the ranker")
    y = alt.Y("metric:N").sort(names).title(None).axis(labelColor=palette.ink, labelFontSize=13)
    x = (
        alt.X("value:Q")
        .title("Metric, 0 to 1")
        .scale(domain=[0, 1.04], nice=False)
        .axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")
    )
    base = alt.Chart(data)
    way = base.mark_line(color=palette.faint, strokeWidth=3, opacity=0.6).encode(x, y, detail="metric:N")
    dots = base.mark_point(filled=True, opacity=1, size=110).encode(
        x,
        y,
        color=alt.condition("datum.after", alt.value(palette.ink), alt.value(palette.faint)),
        shape=alt.Shape("side:N")
        .scale(domain=["As retrieved", "After the ranker"], range=["circle", "diamond"])
        .legend(orient="top", title=None, labelFontSize=13, labelColor=palette.ink),
        tooltip=["metric:N", "side:N", alt.Tooltip("value:Q", format=".4f")],
    )
    number: dict[str, Any] = {"fontSize": 13, "fontWeight": 600, "color": palette.ink}
    before = base.transform_filter("!datum.after").mark_text(dy=-15, **number).encode(x, y, text="label:N")
    after = base.transform_filter("datum.after").mark_text(dy=16, **number).encode(x, y, text="label:N")
    said = ". ".join(
        f"{name}: {rows.iloc[0]['label']} as retrieved, {rows.iloc[1]['label']} after"
        for name, rows in data.groupby("metric", sort=False)
    )
    return Figure(
        finish(way + dots + before + after, palette, 68 * len(names) + 70), title, subtitle, f"{title}. {said}."
    )
