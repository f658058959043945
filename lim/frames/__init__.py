"""Results as tidy DataFrames for charts and tables: the only bridge to pandas.

Column names are fixed and ours. A user's field name never becomes a column here: Vega reads dots, brackets and colons
in column names as paths and types.
"""

from lim.frames.lab import (
    FATE_WORDS,
    LABELLED_MARKS,
    MAX_MARKS,
    MAX_SLOPE_DOCUMENTS,
    bins,
    budget,
    handle_step,
    handle_thresholds,
    landing,
    preview,
    shades,
    slope,
    steps,
    table,
)

__all__ = [
    "FATE_WORDS",
    "LABELLED_MARKS",
    "MAX_MARKS",
    "MAX_SLOPE_DOCUMENTS",
    "bins",
    "budget",
    "handle_step",
    "handle_thresholds",
    "landing",
    "preview",
    "shades",
    "slope",
    "steps",
    "table",
]
