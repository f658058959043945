"""The look every chart shares: colours, sizes, and what a figure is.

Colour is relevance: one sequential blue, dark for the best document, light for the weakest one kept. Orange is the
threshold. Grey is not in the prompt. Numbers stand on the marks, so nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import altair as alt
import pandas as pd

HEIGHT = 330
"""Height of a plot in pixels: two charts side by side stand above the fold of a 1440 x 900 screen."""

FILLING = (300, 330)
"""Heights in pixels of the charts that fill a screen shown to a room; others are as high as their rows."""

ROWS = "rows"
"""The name under which a specification without data expects its rows."""

_SIZES = ("fontSize", "labelFontSize", "titleFontSize", "labelLimit", "labelPadding", "dx", "dy")

Chart: TypeAlias = alt.Chart | alt.LayerChart
Rows: TypeAlias = pd.DataFrame | alt.NamedData
Drawn = TypeVar("Drawn", alt.Chart, alt.LayerChart)


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme.

    :param best: the blue of the most relevant document.
    :param weakest: the blue of the weakest document kept.
    :param out: the grey of what is not in the prompt.
    :param threshold: the orange of the threshold.
    :param ink: text, and the outline of a picked mark.
    :param faint: axis labels and lines that guide the eye.
    :param grid: grid lines.
    :param paper: the background of an exported file.
    """

    best: str
    weakest: str
    out: str
    threshold: str
    ink: str
    faint: str
    grid: str
    paper: str


LIGHT = Palette("#08306b", "#9ecae1", "#cfd2d6", "#c2410c", "#1b2733", "#5b6672", "#e9edf1", "#ffffff")
DARK = Palette("#2f7de0", "#d3e5f8", "#4a525e", "#ff9248", "#e8edf3", "#a7b1bd", "#262d37", "#0f141a")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart that is drawn again and again with other rows, such as on every step of a slider.

    Altair takes a tenth of a second to make and check a chart of many layers; whoever shows one often keeps its
    `specification` for `draw` and `given`, and sends that with the rows.

    :param draw: makes the Altair chart from rows and `given`.
    :param given: all that the chart depends on, its rows apart.
    :param rows: the data, one frame for every layer.
    """

    draw: Callable[..., Chart]
    given: tuple[Hashable, ...]
    rows: pd.DataFrame


def specification(draw: Callable[..., Chart], given: tuple[Hashable, ...]) -> dict[str, Any]:
    """Make the Vega-Lite specification of a drawing without its data, which it expects under the name `ROWS`.

    :param draw: as of a drawing.
    :param given: as of a drawing.
    :returns: the specification, checked by Altair.
    """
    return dict(draw(alt.NamedData(ROWS), *given).to_dict())


def enlarged(spec: dict[str, Any], factor: float) -> dict[str, Any]:
    """Print a chart larger, for a room: its texts, its marks' labels and its height.

    :param spec: a Vega-Lite specification, with its data or without.
    :param factor: how much larger its texts become, above 0.
    :returns: the specification, with the same data. A chart of about the house's height becomes as high as its
        container; another one grows by a quarter at most.
    """
    large: dict[str, Any] = _scaled(spec, factor)
    height = spec.get("height")
    if not isinstance(height, (int, float)):
        return large
    low, high = FILLING
    large["padding"] = {"top": round(12 * factor), "left": 5, "right": 5, "bottom": 5}  # a label above the highest mark
    return large | {"height": "container" if low <= height <= high else round(height * min(factor, 1.25))}


def _scaled(part: Any, factor: float) -> Any:  # noqa: ANN401 # a piece of JSON
    if isinstance(part, dict):
        return {
            key: value
            if key in ("datasets", "data")
            else round(value * factor, 1)
            if key in _SIZES and isinstance(value, (int, float))
            else _scaled(value, factor)
            for key, value in part.items()
        }
    return [_scaled(value, factor) for value in part] if isinstance(part, list) else part


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart and the words that go with it.

    Title and subtitle change with the data and stand outside the chart: a chart whose specification stays the same
    is updated in place by the browser, not built anew.

    :param drawn: the Altair chart, or a drawing for one that follows a slider.
    :param title: the finding, in one line.
    :param subtitle: the rule behind it.
    :param alt: the takeaway with its numbers, for someone who cannot see the chart.
    """

    drawn: Chart | Drawing
    title: str
    subtitle: str
    alt: str

    @property
    def chart(self) -> Chart:
        """The Altair chart, with its data."""
        return self.drawn.draw(self.drawn.rows, *self.drawn.given) if isinstance(self.drawn, Drawing) else self.drawn


def relevance(palette: Palette) -> alt.Color:
    """Encode relevance as colour.

    :param palette: the theme's colours.
    :returns: the colour encoding of the field `shade`, 0 for the best document to 1 for the weakest kept.
    """
    scale = alt.Scale(domain=[0, 1], range=[palette.best, palette.weakest], interpolate="rgb")
    return alt.Color("shade:Q", scale=scale, legend=None)


def outline(palette: Palette) -> Any:  # noqa: ANN401 # Altair types a conditional encoding as a plain dictionary
    """Encode what is outlined: the document that crosses the threshold, and the one a person picked.

    :param palette: the theme's colours.
    :returns: the stroke encoding of the fields `crosses` and `picked`.
    """
    return (
        alt.when("datum.crosses")
        .then(alt.value(palette.threshold))
        .when("datum.picked")
        .then(alt.value(palette.ink))
        .otherwise(alt.value(None))
    )


def pointing(*fields: str) -> alt.Parameter:
    """Let a person point at the nearest mark: click, or drag with anything but a finger, which scrolls.

    :param fields: the fields of the mark that are told.
    :returns: a point selection named `pointed`.
    """
    return alt.selection_point(
        name="pointed",
        fields=list(fields),
        nearest=True,
        empty=False,
        clear=False,
        on="click, [pointerdown[event.pointerType !== 'touch'], window:pointerup] > pointermove",
    )


def finish(chart: Drawn, palette: Palette, height: int = HEIGHT) -> Drawn:
    """Give a chart the house's look: axes, grid and text in the theme's colours, as wide as its place.

    :param chart: a chart.
    :param palette: the theme's colours.
    :param height: of the plot, in pixels.
    :returns: the chart with size and configuration.
    """
    axis: dict[str, Any] = {
        "labelColor": palette.faint,
        "titleColor": palette.ink,
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": 600,
        "gridColor": palette.grid,
        "domainColor": palette.grid,
        "tickColor": palette.grid,
    }
    config = alt.Config(
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(**axis),
        axisX=alt.AxisConfig(grid=False, ticks=False, labelPadding=6),
        axisY=alt.AxisConfig(grid=True, ticks=False, domain=False),
    )
    finished: Drawn = chart.properties(width="container", height=height, config=config)
    return finished


def mix(best: str, weakest: str, shade: float) -> str:
    """Mix the colour of a place on the scale of relevance, for text that stands beside the charts.

    :param best: the colour at 0, as #rrggbb.
    :param weakest: the colour at 1.
    :param shade: the place, 0 to 1.
    :returns: the colour as #rrggbb.
    """
    pairs = [(int(best[i : i + 2], 16), int(weakest[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * shade):02x}" for a, b in pairs)


def standalone(figure: Figure, palette: Palette, width: int = 860, height: int = 480) -> dict[str, Any]:
    """Make a specification that stands alone as a file: with its title, its size and its background.

    :param figure: the figure.
    :param palette: the theme's colours.
    :param width: of the plot, in pixels.
    :param height: of the plot, in pixels.
    :returns: a Vega-Lite specification with its data inside.
    """
    title = alt.TitleParams(
        figure.title,
        subtitle=figure.subtitle,
        anchor="start",
        fontSize=20,
        subtitleFontSize=14,
        color=palette.ink,
        subtitleColor=palette.faint,
        offset=16,
    )
    chart = figure.chart.properties(width=width, height=height, title=title, background=palette.paper, padding=20)
    return dict(chart.to_dict())
