"""Tidy frames to Altair charts, one function a chart. Knows Altair, not Streamlit."""

from lim.charts.lab import budget, landing, slope, staircase
from lim.charts.look import DARK, LIGHT, ROWS, Chart, Drawing, Figure, Palette, enlarged, mix, specification, standalone

__all__ = [
    "DARK",
    "LIGHT",
    "ROWS",
    "Chart",
    "Drawing",
    "Figure",
    "Palette",
    "budget",
    "enlarged",
    "landing",
    "mix",
    "slope",
    "specification",
    "staircase",
    "standalone",
]
