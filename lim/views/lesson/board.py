"""What the steps share: the list on the bench, the size of the print, the sources under a chart."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from lim import charts
from lim.charts.lesson import enlarged
from lim.widgets import Bench, palette, show, verbatim

LARGE = 1.3
"""How much larger the presenter's view prints."""


@dataclass(frozen=True, slots=True)
class Board:
    """What a step draws on.

    :param bench: the person's list, or None while there is none.
    :param large: whether this is the presenter's view.
    """

    bench: Bench | None
    large: bool

    @property
    def colours(self) -> charts.Palette:
        """The colours of the theme the visitor sees."""
        return palette()

    def show(self, figure: charts.Figure, key: str) -> None:
        """Show a figure, in large print for a room.

        :param figure: the figure.
        :param key: the chart's key.
        """
        show(enlarged(figure, LARGE) if self.large else figure, key)


def sources(frame: pd.DataFrame) -> None:
    """Name the sources of a frame's rows under its chart.

    :param frame: rows with `source`, `status` and `url`.
    """
    rows = frame[["source", "status", "url"]].drop_duplicates()
    named = [f"[{verbatim(source)}]({url}), {verbatim(status)}" for source, status, url in rows.itertuples(index=False)]
    st.markdown(f":small[Source{'s' if len(named) > 1 else ''}: {'; '.join(named)}.]")
