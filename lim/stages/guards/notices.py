"""What a person should know about a stage's input, and what Haystack writes to its log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from haystack import Document

from lim.stages.guards.trouble import MAX_CAUSE_CHARACTERS
from lim.story import plural

_TOLD = (
    ("original order since meta field ranking is not possible", "The values cannot be compared: the order is kept."),
    (
        "original order of the Documents in this group",
        "The values to sort a group by cannot be compared: it is not sorted.",
    ),
    (
        "Skipping parsing of the meta values",
        "Not every value can be read as meta_value_type: they are compared as they are.",
    ),
    ("The score wasn't provided", "Documents without a score count as 0 in linear_score."),
    ("outside the [0,1] range", "Scores outside 0 to 1 count as 0 in linear_score."),
)
_SAID_OTHERWISE = ("LLMRanker", "don't have this meta key", "have this meta key", "already exists")


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect what Haystack warns of in this thread.

    :returns: the warnings, each once, short.
    """
    notices: list[str] = []
    thread = threading.get_ident()

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.thread != thread or record.levelno < logging.WARNING:
                return
            text = record.getMessage()
            if any(part in text for part in _SAID_OTHERWISE):
                return
            told = next((told for part, told in _TOLD if part in text), " ".join(text.split())[:MAX_CAUSE_CHARACTERS])
            if told not in notices:
                notices.append(told)

    collect = Collect()
    loggers = [logging.getLogger(name) for name in ("haystack", "haystack_integrations")]
    for logger in loggers:
        logger.addHandler(collect)
    try:
        yield notices
    finally:
        for logger in loggers:
            logger.removeHandler(collect)


def join_notices(lists: Sequence[Sequence[Document]], settings: dict[str, Any]) -> list[str]:
    """Look for scores a joiner cannot compare.

    :param lists: the lists it joins.
    :param settings: its settings.
    :returns: what to know.
    """
    mode, notices = settings["join_mode"], []
    unscored = sum(document.score is None for each in lists for document in each)
    if unscored and mode == "concatenate" and settings["sort_by_score"]:
        verbs = ("has", "goes") if unscored == 1 else ("have", "go")
        notices.append(f"{plural(unscored, 'document')} {verbs[0]} no score and {verbs[1]} to the end.")
    if unscored and mode in ("merge", "distribution_based_rank_fusion"):
        verbs = ("has", "counts") if unscored == 1 else ("have", "count")
        notices.append(f"{plural(unscored, 'document')} {verbs[0]} no score and {verbs[1]} as 0.")
    ranges = [[d.score for d in each if d.score is not None] for each in lists]
    if len(lists) == 2 and mode in ("concatenate", "merge") and all(ranges):
        tops = sorted(max(scores) for scores in ranges)
        if tops[1] > 1 >= tops[0]:
            notices.append(
                f"The two lists' scores are on different scales (up to {tops[0]:.3g} and up to {tops[1]:.3g}), and "
                f"{mode} compares them as they are. Fusion by rank does not."
            )
    return notices


def meta_notices(documents: Sequence[Document], field: str, missing: str) -> list[str]:
    """Count documents without a meta value.

    :param documents: the documents.
    :param field: the meta field.
    :param missing: what becomes of them.
    :returns: what to know.
    """
    without = sum(document.meta.get(field) is None for document in documents)
    if documents and without == len(documents):
        return [f"No document has a meta field {field!r}: nothing is ranked by it."]
    if not without:
        return []
    has = "has" if without == 1 else "have"
    return [f"{without:,} of {plural(len(documents), 'document')} {has} no {field!r}: {missing}."]
