"""Figures with their words, in the theme a visitor sees; text shown as it is."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from lim import charts
from lim.frames.passages import Passage
from lim.widgets.presenting import FILL, LARGE, presenting

HEARD = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
"""Style of a text for screen readers only."""


def verbatim(text: str) -> str:
    """Escape a text for a place that reads Markdown, such as an alert.

    :param text: any text, such as a message that quotes a person's input.
    :returns: Markdown that shows the text as it is.
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


@lru_cache(maxsize=64)
def specification(draw: Callable[..., charts.Chart], given: tuple[Hashable, ...], factor: float) -> dict[str, Any]:
    """Make the specification of a drawing once, whatever its rows.

    :param draw: as of `lim.charts.Drawing`.
    :param given: as of `lim.charts.Drawing`.
    :param factor: how much larger than on a desk it is printed.
    :returns: as `lim.charts.specification`; not to be changed.
    """
    spec = charts.specification(draw, given)
    return spec if factor == 1 else charts.enlarged(spec, factor)


# Streamlit tells the theme (st.context.theme) but does not run the page when a visitor changes it: the charts would
# keep the colours of the other theme. This asks for a run.
_THEME_WATCH = st.components.v2.component(
    "lim_theme_watch",
    js="""
export default function ({ parentElement, setStateValue }) {
  const element = parentElement.host ?? parentElement;
  const look = () => getComputedStyle(element).getPropertyValue("--st-background-color");
  let seen = look();
  const timer = setInterval(() => {
    const now = look();
    if (now && now !== seen) {
      seen = now;
      setStateValue("background", now);
    }
  }, 300);
  return () => clearInterval(timer);
}
""",
)


def watch_theme() -> None:
    """Run the page again when a visitor changes the theme, so that the charts follow; once a page."""
    _THEME_WATCH(key="theme_watch", on_background_change=lambda: None)


def palette() -> charts.Palette:
    """Choose the colours for the theme the visitor sees.

    :returns: the dark palette in the dark theme, else the light one.
    """
    return charts.DARK if st.context.theme.type == "dark" else charts.LIGHT


def show(figure: charts.Figure, key: str, on_select: Callable[[], None] | None = None, large: float = LARGE) -> None:
    """Show a figure: its finding, its rule, its chart; larger in the presenter's view.

    :param figure: the figure.
    :param key: the chart's key; the same on every run, so that the browser updates it in place.
    :param on_select: called when a person selects something in the chart.
    :param large: how much larger it is printed in the presenter's view.
    """
    words, drawn = f"**{figure.title}**  \n:small[:gray[{figure.subtitle}]]", figure.drawn
    if isinstance(drawn, charts.Drawing):
        # The browser builds a chart anew when its alt changes. What changes is said beside it, to those who hear.
        st.markdown(f"{words}<span style='{HEARD}'>{html.escape(figure.alt)}</span>", unsafe_allow_html=True)
        spec = specification(drawn.draw, drawn.given, large if presenting() else 1)
        _vega(spec | {"datasets": {charts.ROWS: drawn.rows}}, key, f"Chart: {figure.title}", on_select)
        return
    st.markdown(words)
    if presenting():
        _vega(charts.enlarged(drawn.to_dict(), large), key, figure.alt, on_select)
    else:
        st.altair_chart(drawn, key=key, alt=figure.alt, on_select=on_select or "ignore")


def _vega(spec: dict[str, Any], key: str, alt: str, on_select: Callable[[], None] | None) -> None:
    if spec.get("height") != "container":
        st.vega_lite_chart(spec, key=key, alt=alt, on_select=on_select or "ignore")
        return
    with st.container(key=FILL + key):
        st.vega_lite_chart(spec, key=key, alt=alt, on_select=on_select or "ignore", height="stretch")


def tinted(text: str, passages: Sequence[Passage], colours: charts.Palette, height: str = "480px") -> str:
    """Put a prompt into HTML, its documents tinted by relevance and numbered; all text is escaped.

    :param text: the prompt.
    :param passages: the pieces that are documents; one that begins inside another is tinted with it.
    :param colours: the theme's colours.
    :param height: the most the box takes, in CSS; a longer prompt scrolls.
    :returns: HTML.
    """
    parts, end = [], 0
    for passage in sorted(passages, key=lambda passage: passage.start):
        if passage.start < end:
            continue
        tint = charts.mix(colours.best, colours.weakest, passage.shade)
        outline = f"outline:2px solid {colours.ink};" if passage.marked else ""
        parts.append(html.escape(text[end : passage.start]))
        parts.append(
            f'<span style="border-left:6px solid {tint};background:{tint}26;padding:1px 4px;{outline}'
            f'box-decoration-break:clone;-webkit-box-decoration-break:clone">'
            f'<b style="font-size:.75em">{html.escape(passage.label)}&nbsp;</b>'
            f"{html.escape(text[passage.start : passage.end])}</span>"
        )
        end = passage.end
    parts.append(html.escape(text[end:]))
    box = f"white-space:pre-wrap;overflow-wrap:anywhere;max-height:{height};overflow:auto"
    return f'<div tabindex="0" role="region" aria-label="The prompt" style="{box}">{"".join(parts)}</div>'


def sources(frame: pd.DataFrame) -> None:
    """Name the sources of a frame's rows under its chart.

    :param frame: rows with `source`, `status` and `url`.
    """
    rows = frame[["source", "status", "url"]].drop_duplicates()
    named = [f"[{verbatim(source)}]({url}), {verbatim(status)}" for source, status, url in rows.itertuples(index=False)]
    st.markdown(f":small[Source{'s' if len(named) > 1 else ''}: {'; '.join(named)}.]")
