"""Figures with their words, in the theme a visitor sees; text shown as it is."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from lim import charts
from lim.frames.passages import Passage

HEARD = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
"""Style of a text for screen readers only."""


def verbatim(text: str) -> str:
    """Escape a text for a place that reads Markdown, such as an alert.

    :param text: any text, such as a message that quotes a person's input.
    :returns: Markdown that shows the text as it is.
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


@lru_cache(maxsize=32)
def specification(draw: Callable[..., charts.Chart], given: tuple[Hashable, ...]) -> dict[str, Any]:
    """Make the specification of a drawing once, whatever its rows.

    :param draw: as of `lim.charts.Drawing`.
    :param given: as of `lim.charts.Drawing`.
    :returns: as `lim.charts.specification`; not to be changed.
    """
    return charts.specification(draw, given)


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


def show(figure: charts.Figure, key: str, on_select: Callable[[], None] | None = None) -> None:
    """Show a figure: its finding, its rule, its chart.

    :param figure: the figure.
    :param key: the chart's key; the same on every run, so that the browser updates it in place.
    :param on_select: called when a person selects something in the chart.
    """
    words, drawn = f"**{figure.title}**  \n:small[:gray[{figure.subtitle}]]", figure.drawn
    if not isinstance(drawn, charts.Drawing):
        st.markdown(words)
        st.altair_chart(drawn, key=key, alt=figure.alt, on_select=on_select or "ignore")
        return
    # The browser builds a chart anew when its alt changes. What changes is said beside it, to those who hear the page.
    st.markdown(f"{words}<span style='{HEARD}'>{html.escape(figure.alt)}</span>", unsafe_allow_html=True)
    sent = specification(drawn.draw, drawn.given) | {"datasets": {charts.ROWS: drawn.rows}}
    st.vega_lite_chart(sent, key=key, alt=f"Chart: {figure.title}", on_select=on_select or "ignore")


def tinted(text: str, passages: Sequence[Passage], colours: charts.Palette, height: int = 480) -> str:
    """Put a prompt into HTML, its documents tinted by relevance and numbered; all text is escaped.

    :param text: the prompt.
    :param passages: the pieces that are documents; one that begins inside another is tinted with it.
    :param colours: the theme's colours.
    :param height: of the box, in pixels; a longer prompt scrolls.
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
    box = f"white-space:pre-wrap;overflow-wrap:anywhere;max-height:{height}px;overflow:auto"
    return f'<div tabindex="0" role="region" aria-label="The prompt" style="{box}">{"".join(parts)}</div>'
