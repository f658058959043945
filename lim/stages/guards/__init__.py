"""What Haystack's components do not say by themselves: bounds, checks, progress, and answers that were not used."""

from lim.stages.guards.llm import Listening, run_llm_ranker
from lim.stages.guards.mmr import MAX_MMR_COMPARISONS, Ticking, check_mmr, mmr_comparisons
from lim.stages.guards.notices import heard, join_notices, meta_notices
from lim.stages.guards.tei import check_tei_answer, watch_tei
from lim.stages.guards.trouble import Trouble, explain, stopped

__all__ = [
    "MAX_MMR_COMPARISONS",
    "Listening",
    "Ticking",
    "Trouble",
    "check_mmr",
    "check_tei_answer",
    "explain",
    "heard",
    "join_notices",
    "meta_notices",
    "mmr_comparisons",
    "run_llm_ranker",
    "stopped",
    "watch_tei",
]
