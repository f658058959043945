"""One threshold and one `top_k` for many queries: what every choice does to all of them, from one pass over the lists.

`gather` reads the lists once into flat arrays. Whatever is asked afterwards (`counts`, `outcome`, `curve`, `grid`,
`best`) is read off these arrays, and is what arranging every list would give.
"""

from lim.tuning.figures import Counts, Curve, Outcome, Spread, counts, curve, outcome, spread, top_k_curve, worst
from lim.tuning.labels import Judgements, judge, label_fields, labels_of, read_judgements
from lim.tuning.pairs import (
    Answer,
    Grid,
    Objective,
    Pair,
    Tradeoff,
    best,
    first_limits,
    grid,
    objectives,
    round_thresholds,
    some_top_ks,
    tradeoff,
)
from lim.tuning.pool import Pool, Progress, gather
from lim.tuning.ratio import Ratio, RatioSpread, ratio

__all__ = [
    "Answer",
    "Counts",
    "Curve",
    "Grid",
    "Judgements",
    "Objective",
    "Outcome",
    "Pair",
    "Pool",
    "Progress",
    "Ratio",
    "RatioSpread",
    "Spread",
    "Tradeoff",
    "best",
    "counts",
    "curve",
    "first_limits",
    "gather",
    "grid",
    "judge",
    "label_fields",
    "labels_of",
    "objectives",
    "outcome",
    "ratio",
    "read_judgements",
    "round_thresholds",
    "some_top_ks",
    "spread",
    "top_k_curve",
    "tradeoff",
    "worst",
]
