"""The lesson's charts: rows of cards, documents placed one by one, the walk down the budget."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lim import story
from lim.charts.look import LIGHT, Figure, Palette, finish, mix, relevance
from lim.lesson import landing_place, walk_finding
from lim.ranker import Arrangement

ROW = 66
"""Height of a row of cards with its name above, in pixels."""

AXIS = 58
"""Height of the axis below, which counts within a chart's height, in pixels."""

CARD = 0.62
"""Height of a card as a share of its row's."""

_ON_CARD = alt.condition("datum.dark", alt.value("#ffffff"), alt.value("#0f141a"))


def cards(
    frame: pd.DataFrame, title: str, subtitle: str, palette: Palette = LIGHT, places: str = "Place in the prompt"
) -> Figure:
    """Draw orders as rows of numbered cards, one under another.

    :param frame: rows of `lim.frames.lesson.cards`.
    :param title: the finding.
    :param subtitle: the rule.
    :param palette: the theme's colours.
    :param places: what the horizontal axis counts.
    :returns: the figure.
    """
    rows = [str(row) for row in dict.fromkeys(frame["row"])]
    longest = int(frame["place"].max())
    foot = [len(rows) - 1 - rows.index(str(row)) for row in frame["row"]]
    data = frame.assign(
        dark=[_dark(shade, palette) for shade in frame["shade"]],
        foot=foot,
        middle=[level + CARD / 2 for level in foot],
        top=[level + CARD for level in foot],
        # The name stands above its row, so that a phone has the whole width for the cards.
        name=[row if place == 1 else "" for row, place in zip(frame["row"], frame["place"], strict=True)],
    )

    def height(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q").scale(domain=[-0.06, len(rows)], nice=False).axis(None)

    x = alt.X("place:O").title(places).axis(labelAngle=0, labelOverlap=True, domain=False)
    base = alt.Chart(data).encode(x.scale(domain=list(range(1, longest + 1))))
    marks = base.mark_rect(cornerRadius=5).encode(
        height("top"),
        y2="foot:Q",
        color=relevance(palette),
        stroke=alt.condition("datum.marked", alt.value(palette.ink), alt.value(palette.paper)),
        strokeWidth=alt.condition("datum.marked", alt.value(3.5), alt.value(2)),
        tooltip=[
            alt.Tooltip("row:N", title="Order"),
            alt.Tooltip("place:O", title="Place"),
            alt.Tooltip("rank:Q", title="Original rank"),
        ],
    )
    numbers = base.mark_text(fontWeight=700, fontSize=15).encode(height("middle"), text="label:N", color=_ON_CARD)
    names = (
        alt.Chart(data)
        .mark_text(align="left", baseline="bottom", dy=-4, fontWeight=600, fontSize=13, color=palette.ink)
        .encode(height("top"), x=alt.value(2), text="name:N")
    )
    alt_text = ". ".join(
        f"{row}: {', '.join(map(str, frame[frame['row'] == row].sort_values('place')['rank']))}" for row in rows
    )
    drawn = finish(marks + numbers + names, palette, ROW * len(rows) + AXIS)
    return Figure(drawn, title, subtitle, f"{title}. {alt_text}.")


def placing(frame: pd.DataFrame, palette: Palette = LIGHT) -> Figure:
    """Draw the documents that wait above, and the prompt that fills below.

    :param frame: rows of `lim.frames.lesson.placing`.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    count, placed = len(frame), int(frame["placed"].sum())
    data = frame.assign(
        dark=[_dark(shade, palette) for shade in frame["shade"]],
        list_top=1.0,
        list_middle=0.84,
        list_foot=0.68,
        prompt_top=0.32,
        prompt_middle=0.16,
        prompt_foot=0.0,
        name=["Ranked list, the best first", *[""] * (count - 1)],
        below=["Prompt", *[""] * (count - 1)],
    )
    domain = list(range(1, count + 1))

    def height(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q").scale(domain=[0, 1.12], nice=False).axis(None)

    waiting_x = alt.X("rank:O").scale(domain=domain)
    landed_x = alt.X("place:O").scale(domain=domain).axis(labelAngle=0, domain=False).title("Place in the prompt")
    base = alt.Chart(data)
    empty: dict[str, Any] = {"cornerRadius": 6, "fillOpacity": 0, "strokeDash": [4, 4], "stroke": palette.faint}
    hole = base.mark_rect(**empty).encode(landed_x, height("prompt_top"), y2="prompt_foot:Q")
    left = base.mark_rect(**empty, strokeOpacity=0.4).encode(waiting_x, height("list_top"), y2="list_foot:Q")
    shown, hidden = alt.value(1), alt.value(0)
    card = base.mark_rect(cornerRadius=6).encode(
        landed_x,
        height("prompt_top"),
        y2="prompt_foot:Q",
        color=relevance(palette),
        stroke=alt.condition("datum.current", alt.value(palette.ink), alt.value(palette.paper)),
        strokeWidth=alt.condition("datum.current", alt.value(3.5), alt.value(2)),
        opacity=alt.condition("datum.placed", shown, hidden),
    )
    waits = base.mark_rect(cornerRadius=6, stroke=palette.paper, strokeWidth=2).encode(
        waiting_x,
        height("list_top"),
        y2="list_foot:Q",
        color=relevance(palette),
        opacity=alt.condition("datum.waiting", shown, hidden),
    )
    number: dict[str, Any] = {"fontWeight": 700, "fontSize": 18}
    above_text = base.mark_text(**number).encode(waiting_x, height("list_middle"), text="label:N", color=_ON_CARD)
    below_text = base.mark_text(**number).encode(landed_x, height("prompt_middle"), text="landed:N", color=_ON_CARD)
    name: dict[str, Any] = {"align": "left", "baseline": "bottom", "dy": -4, "fontSize": 13, "fontWeight": 600}
    names = [
        base.mark_text(**name, color=palette.ink).encode(height(top), x=alt.value(2), text=f"{field}:N")
        for top, field in (("list_top", "name"), ("prompt_top", "below"))
    ]
    # From where it waited to where it lands: only the document of now has a line.
    way = (
        base.transform_fold(["list_foot", "prompt_top"], as_=["end", "level"])
        .transform_calculate(column="datum.end === 'list_foot' ? datum.rank : datum.place")
        .mark_line(strokeWidth=3, color=palette.ink, strokeCap="round")
        .encode(
            alt.X("column:O").scale(domain=domain),
            height("level"),
            detail="rank:N",
            opacity=alt.condition("datum.current", alt.value(0.55), hidden),
        )
    )
    order = sorted(range(1, placed + 1), key=lambda rank: landing_place(rank, count))
    said = f"in the prompt, from the top: {', '.join(map(str, order))}" if order else "the prompt is empty"
    return Figure(
        finish(alt.LayerChart(layer=[hole, left, way, waits, card, above_text, below_text, *names]), palette, 240),
        f"{placed} of {story.plural(count, 'document')} placed",
        "Odd ranks fill the front, even ranks fill the back; once placed, none moves",
        f"{placed} of {story.plural(count, 'document')} placed; {said}.",
    )


def walk(frame: pd.DataFrame, arrangement: Arrangement, palette: Palette = LIGHT) -> Figure:
    """Draw the walk down the list, document by document, against the threshold.

    :param frame: rows of `lim.frames.lesson.walk`.
    :param arrangement: the arrangement they come from, for the words.
    :param palette: the theme's colours.
    :returns: the figure.
    """
    threshold = arrangement.word_count_threshold
    walked = int((~frame["waiting"]).sum())
    done = walked >= arrangement.kept
    counted = int(frame.iloc[walked - 1]["end"]) if walked else 0
    found = walk_finding(arrangement) if done else f"{story.plural(counted, 'word')} so far"
    top = max(int(frame["end"].max()), threshold or 0)
    label = "" if threshold is None else f"word_count_threshold = {threshold:,}"
    data = frame.assign(line_label=[label, *[""] * (len(frame) - 1)])
    x = alt.X("name:N").sort(None).title("Original rank, in the order the ranker reads").axis(labelAngle=0)
    y = alt.Y("end:Q").title("Cumulative words").scale(domain=[0, top * 1.14], nice=False).axis(format=",d")
    base = alt.Chart(data)
    holes = base.mark_bar(fillOpacity=0, strokeDash=[4, 4], stroke=palette.out, strokeWidth=1.5).encode(
        x, y, y2="start:Q"
    )
    bars = base.mark_bar().encode(
        x,
        y,
        y2="start:Q",
        color=alt.condition("datum.kept", relevance(palette), alt.value(palette.out)),
        stroke=alt.when("datum.crosses")
        .then(alt.value(palette.threshold))
        .when("datum.current")
        .then(alt.value(palette.ink))
        .otherwise(alt.value(None)),
        strokeWidth=alt.condition("datum.crosses || datum.current", alt.value(3), alt.value(0)),
        opacity=alt.condition("datum.waiting", alt.value(0), alt.value(1)),
    )
    totals = base.mark_text(dy=-10, fontWeight=700, fontSize=15, color=palette.ink).encode(x, y, text="label:N")
    level = alt.Y("threshold:Q").title("Cumulative words")
    first = base.transform_filter("datum.start === 0")
    rule = first.mark_rule(color=palette.threshold, strokeWidth=2, strokeDash=[6, 4]).encode(
        level, opacity=alt.condition("isValid(datum.threshold)", alt.value(1), alt.value(0))
    )
    name = first.mark_text(align="left", dx=4, dy=-10, fontWeight=600, fontSize=13, color=palette.threshold).encode(
        level, x=alt.value(0), text="line_label:N"
    )
    return Figure(
        finish(alt.LayerChart(layer=[holes, rule, name, bars, totals]), palette, 300),
        found,
        story.budget_rule(arrangement),
        f"{found}. {story.verdict(arrangement) if done else ''}".strip(),
    )


def plain(figure: Figure, palette: Palette, width: int, height: int) -> dict[str, Any]:
    """Make a specification without a title, for a page that writes the title itself.

    :param figure: the figure.
    :param palette: the theme's colours.
    :param width: of the chart, in pixels.
    :param height: of the chart, in pixels.
    :returns: a Vega-Lite specification with its data inside.
    """
    return dict(figure.chart.properties(width=width, height=height, background=palette.paper).to_dict())


def _dark(shade: float, palette: Palette) -> bool:
    """Tell whether the colour of a shade is so dark that white is read better on it."""
    colour = mix(palette.best, palette.weakest, shade)
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    brightness = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return brightness < 0.18
