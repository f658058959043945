"""A reranking server's answer, checked before `HuggingFaceTEIRanker` believes it."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import Any

from haystack import Document

from lim.stages.guards.trouble import MAX_CAUSE_CHARACTERS, Trouble


def watch_tei(ranker: Any) -> None:  # noqa: ANN401 # HuggingFaceTEIRanker, imported only where it is installed
    """Have a `HuggingFaceTEIRanker` check the server's answer before it believes it.

    The component takes the order of the answer for the ranking, an index of -1 for the last document, and fails with
    a TypeError or a KeyError on what it does not understand.

    :param ranker: the component; its step from answer to documents is wrapped.
    """
    step = "_compose_response"
    compose = getattr(ranker, step)

    def checked(result: object, top_k: int | None, documents: list[Document]) -> Any:  # noqa: ANN401 # the component's own
        check_tei_answer(result, len(documents))
        return compose(result, top_k, documents)

    setattr(ranker, step, checked)


def check_tei_answer(answer: object, count: int) -> None:
    """Check what a reranking server answered: each document once, with a score, best first.

    :param answer: the answer, as JSON gives it.
    :param count: how many documents were sent.
    :raises Trouble: if it is anything else.
    """
    if isinstance(answer, dict) and "error" in answer:
        said = " ".join(str(answer["error"]).split())[:MAX_CAUSE_CHARACTERS]
        raise Trouble(f"The server answered with an error: {said}")
    if not isinstance(answer, list):
        raise _unlike(f"it is no list but {type(answer).__name__}")
    if len(answer) != count:
        raise _unlike(f"it ranks {len(answer)} of {count} documents")
    indices, scores = [], []
    for entry in answer:
        index = entry.get("index") if isinstance(entry, dict) else None
        score = entry.get("score") if isinstance(entry, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            raise _unlike(f"the index {index!r} is none of 0 to {count - 1}")
        if not isinstance(score, (int, float)) or isinstance(score, bool) or not isfinite(score):
            raise _unlike(f"the score {score!r} is no number")
        indices.append(index)
        scores.append(score)
    if len(set(indices)) < count:
        raise _unlike(f"the index {Counter(indices).most_common(1)[0][0]} is in it twice")
    if scores != sorted(scores, reverse=True):
        raise _unlike("it is not sorted by score, and the component would take its order for the ranking")


def _unlike(what: str) -> Trouble:
    return Trouble(f"The server's answer is not a ranking of the documents: {what[:200]}.")
