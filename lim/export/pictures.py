"""Charts as SVG and PNG, drawn on this machine and without a browser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import vl_convert

from lim import charts, frames, story
from lim.ranker import Arrangement
from lim.thresholds import staircase

VEGA_LITE = "6.4"
"""The Vega-Lite of the installed Altair's charts, in the form vl-convert names it."""

CHART_WIDTH = 720
"""Pixels of a chart that fills its container on the page: a file has no container."""

MAX_SCALE = 10.0

SLIDE = (960, 540)
"""Width and height of a picture for a slide; as PNG at twice that, 1920 x 1080."""

PICTURES = {
    "landing": "Where each document lands",
    "budget": "Where the budget runs out",
    "slope": "From the ranked list to the prompt",
    "staircase": "Thresholds that matter",
}
"""The charts that can be had as pictures, with their titles."""


def pictures_of(arrangement: Arrangement) -> tuple[str, ...]:
    """List the charts that can be drawn of a list.

    :param arrangement: its arrangement.
    :returns: names of `PICTURES`; without the slope where no person could read it.
    """
    too_many = len(arrangement.inputs) > frames.MAX_SLOPE_DOCUMENTS
    return tuple(name for name in PICTURES if name != "slope" or not too_many)


def picture(arrangement: Arrangement, name: str, kind: str, palette: charts.Palette = charts.LIGHT) -> bytes:
    """Draw one of the Lab's charts for a slide, with its title and its rule.

    :param arrangement: the arrangement; the first words of its documents' texts are in the file.
    :param name: one of `pictures_of`.
    :param kind: `svg` or `png`.
    :param palette: the look.
    :returns: the file: an SVG of 960 x 540, a PNG of 1920 x 1080.
    """
    width, height = SLIDE
    specification = charts.standalone(_figure(arrangement, name, palette), palette, width, height)
    # The size is that of the whole picture, its title and axes included.
    fitted = specification | {"autosize": {"type": "fit", "contains": "padding"}}
    return chart_svg(fitted) if kind == "svg" else chart_png(fitted)


def _figure(arrangement: Arrangement, name: str, palette: charts.Palette) -> charts.Figure:
    """Make a figure whose title is the finding: a slide has no page around it, and nobody can click in it."""
    reach = story.reach(arrangement)
    if name == "landing":
        figure = charts.landing(frames.landing(arrangement), arrangement, palette)
        return _titled(figure, reach, figure.subtitle)
    if name == "budget":
        figure = charts.budget(frames.budget(arrangement), arrangement, palette)
        rule = "cumulative words in the order the ranker reads"
        if arrangement.crossing is not None:
            rule = f"{rule}; the document that crosses the threshold is kept"
        return _titled(figure, story.budget_finding(arrangement), rule)
    if name == "slope":
        figure = charts.slope(frames.slope(arrangement), arrangement, palette)
        return _titled(figure, reach, figure.subtitle)
    steps = staircase(arrangement)
    figure = charts.staircase(frames.steps(steps), arrangement, palette)
    return _titled(figure, story.same_result(arrangement, steps) or figure.title, figure.subtitle)


def _titled(figure: charts.Figure, finding: str, rule: str) -> charts.Figure:
    return replace(figure, title=finding, subtitle=f"{figure.title}: {rule[:1].lower()}{rule[1:]}")


def chart_svg(spec: dict[str, Any]) -> bytes:
    """Draw a chart as SVG, on this machine and without a browser.

    :param spec: a Vega-Lite specification with its data inside. What only a page can do (pointing, dragging, filling
        a container) is left out of the drawing.
    :returns: an SVG document, UTF-8.
    :raises ValueError: if Vega-Lite cannot draw it, or it names data or an image by an address: nothing is fetched.
    """
    if spec.get("width") == "container":
        spec = {**spec, "width": CHART_WIDTH}
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    if "<image" in drawn:  # the bound above is for data only; vl-convert fetches images when it makes a PNG
        raise ValueError("The chart has an image mark, but a chart file may not fetch one. Leave the mark out.")
    return drawn.encode()


def chart_png(spec: dict[str, Any], scale: float = 2) -> bytes:
    """Draw a chart as PNG, on this machine and without a browser.

    :param spec: a Vega-Lite specification, as for :func:`chart_svg`.
    :param scale: pixels of the picture for one of the chart, above 0 and at most 10.
    :returns: a PNG picture.
    :raises ValueError: as :func:`chart_svg`, and if `scale` is out of bounds.
    """
    if not 0 < scale <= MAX_SCALE:
        raise ValueError(f"scale is {scale!r}, but it must be above 0 and at most {MAX_SCALE:g}. Give 2 for a slide.")
    return vl_convert.svg_to_png(chart_svg(spec).decode(), scale=scale)
