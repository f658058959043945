"""Published accuracy by position and by ordering, and the arithmetic that reads it for one list.

Every number comes from a row of the tables in `lim/data`, and every row names its source. The arithmetic is a reading
of those tables, never a forecast: where nothing was measured it says so.
"""

from lim.evidence.expected import (
    LENGTH_TOLERANCE_PERCENT,
    Accuracy,
    Expectation,
    Shuffled,
    accuracy_at,
    covers,
    curves_at,
    expected_accuracy,
    shuffled,
)
from lim.evidence.tables import (
    Curve,
    Finding,
    Measurement,
    Ordering,
    Point,
    Study,
    curves,
    measurements,
    orderings,
    studies,
)
from lim.evidence.where import at_rank, from_scores, geometric, uniform, within

__all__ = [
    "LENGTH_TOLERANCE_PERCENT",
    "Accuracy",
    "Curve",
    "Expectation",
    "Finding",
    "Measurement",
    "Ordering",
    "Point",
    "Shuffled",
    "Study",
    "accuracy_at",
    "at_rank",
    "covers",
    "curves",
    "curves_at",
    "expected_accuracy",
    "from_scores",
    "geometric",
    "measurements",
    "orderings",
    "shuffled",
    "studies",
    "uniform",
    "within",
]
