"""Rankers Haystack no longer has, and what replaced them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lim.stages.model import Step


@dataclass(frozen=True, slots=True)
class Removed:
    """A ranker Haystack no longer has.

    :param title: its class.
    :param last: the last Haystack release with it.
    :param successor: the key of the stage that replaced it.
    :param explanation: what became of it.
    """

    title: str
    last: str
    successor: str
    explanation: str


REMOVED = (
    Removed(
        "TransformersSimilarityRanker",
        "2.31",
        "similarity",
        "Haystack removed TransformersSimilarityRanker after 2.31. SentenceTransformersSimilarityRanker replaced it "
        "and takes the same settings, but for calibration_factor, which has no successor: scores are scaled by the "
        "plain sigmoid, as with a factor of 1. The order is the same; a score_threshold may cut elsewhere.",
    ),
)

_SAME = (
    "model",
    "top_k",
    "query_prefix",
    "document_prefix",
    "meta_fields_to_embed",
    "embedding_separator",
    "scale_score",
    "score_threshold",
    "batch_size",
)


def from_transformers_similarity(settings: Mapping[str, Any]) -> tuple[Step, tuple[str, ...]]:
    """Map the settings of a `TransformersSimilarityRanker` to the ranker that replaced it.

    :param settings: its parameters by name.
    :returns: the step, and a sentence on each setting that was not carried over.
    """
    kept = {name: settings[name] for name in _SAME if settings.get(name) is not None}
    notices = []
    for name, value in settings.items():
        if name in _SAME:
            continue
        if name == "calibration_factor":
            if settings.get("scale_score", True) and value not in (None, 1, 1.0):
                notices.append(
                    f"calibration_factor={value!r} has no successor: scores are scaled by the plain sigmoid. The order "
                    f"stays; set score_threshold anew if you use one."
                )
        else:
            notices.append(f"{name} is the server's to set and was left out.")
    return Step("similarity", kept), tuple(notices)
