"""The orders in which systems lay a ranked list out in the prompt, in closed form.

Every order is a list of ranks (1 is the most relevant document as listed) from the top of the prompt to its end. Most
systems take the list as it comes; LlamaIndex and rag-chunk-reorder sort it by score first, AutoRAG looks for the
highest score. Budgets, which some of them have, are left out: each order is of the documents that reach the prompt.

Learned from the code of haystack-ai 3.4.1, langchain-community 0.4.2, llama-index-core 0.14.25, rag-chunk-reorder
0.1.7, Dify and AutoRAG; a script among the tests' benchmarks compares those that are Python packages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from lim.errors import SettingError

Scores = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class PromptOrder:
    """One system's order.

    :param key: short, stable and unique; fit for a URL.
    :param name: the system and its component, for people.
    :param package: the package that holds it, with the version whose order this is; None for the two plain orders.
    :param note: what to know about it, in one sentence.
    :param arrange: the order itself, from the score of each document as listed.
    :param uses_scores: whether scores change the order; if not, only their count matters.
    """

    key: str
    name: str
    package: str | None
    note: str
    arrange: Callable[[Scores], list[int]]
    uses_scores: bool = False

    def ranks(self, documents: int | Scores) -> list[int]:
        """Lay a list out.

        :param documents: the score of each document as listed, None where there is none; or only how many documents
            there are, for a list whose scores fall from first to last.
        :returns: ranks from the top of the prompt to its end; empty for an empty list.
        :raises SettingError: if the number is below 0, or the system needs a score that is missing.
        """
        if not isinstance(documents, int):
            return self.arrange(documents)
        if documents < 0:
            raise SettingError(f"The list has {documents} documents, but at least 0 are needed. Give such a number.")
        return self.arrange(range(documents, 0, -1))


def as_listed(scores: Scores) -> list[int]:
    """Lay the list out as it is: 1 2 3 4 5.

    :param scores: the score of each document; only their count matters.
    :returns: the ranks in prompt order.
    """
    return list(range(1, len(scores) + 1))


def backwards(scores: Scores) -> list[int]:
    """Lay the list out backwards, the best last: 5 4 3 2 1.

    :param scores: the score of each document; only their count matters.
    :returns: the ranks in prompt order.
    """
    return list(range(len(scores), 0, -1))


def haystack(scores: Scores) -> list[int]:
    """Lay the list out as Haystack's `LostInTheMiddleRanker` does: 1 3 5 … 6 4 2, the best always first.

    :param scores: the score of each document; only their count matters.
    :returns: the ranks in prompt order.
    """
    return _best_first(as_listed(scores))


def langchain(scores: Scores) -> list[int]:
    """Lay the list out as LangChain's `LongContextReorder` does.

    It begins with the worst document and puts the next one in front and behind by turns, so that where the best ends up
    depends on the count: first of an odd count (1 3 5 4 2), last of an even one (2 4 6 5 3 1).

    :param scores: the score of each document; only their count matters.
    :returns: the ranks in prompt order.
    """
    return _worst_inside(backwards(scores))


def llamaindex(scores: Scores) -> list[int]:
    """Lay the list out as LlamaIndex's `LongContextReorder` does: LangChain's order of the list sorted by score.

    A missing score counts as 0. Equal scores keep the order of the list, which counts as worst first: six documents
    without scores, or all with the same one, come out as 5 3 1 2 4 6, the best in the middle.

    :param scores: the score of each document, None where there is none.
    :returns: the ranks in prompt order.
    """
    return _worst_inside(sorted(as_listed(scores), key=lambda rank: scores[rank - 1] or 0))


def rag_chunk_reorder(scores: Scores) -> list[int]:
    """Lay the list out as rag-chunk-reorder does by default: Haystack's order of the list sorted by score.

    Equal scores keep the order of the list.

    :param scores: the score of each document.
    :returns: the ranks in prompt order.
    :raises SettingError: if a score is missing or not finite, where the package stops as well.
    """
    known = _scored("rag-chunk-reorder", scores)
    return _best_first(sorted(as_listed(scores), key=lambda rank: known[rank - 1], reverse=True))


def dify(scores: Scores) -> list[int]:
    """Lay the list out as Dify's `ReorderRunner` does: the same as Haystack.

    :param scores: the score of each document; only their count matters.
    :returns: the ranks in prompt order.
    """
    return _best_first(as_listed(scores))


def autorag(scores: Scores) -> list[int]:
    """Lay the list out as AutoRAG's `long_context_reorder` does: as listed, the highest score repeated at the end.

    Of equal scores the first is repeated. An empty list, on which AutoRAG fails, stays empty here.

    :param scores: the score of each document.
    :returns: the ranks in prompt order, one more than there are documents.
    :raises SettingError: if a score is missing or not finite.
    """
    known = _scored("AutoRAG", scores)
    listed = as_listed(scores)
    return [*listed, max(listed, key=lambda rank: known[rank - 1])] if listed else []


ORDERS = (
    PromptOrder("as-listed", "As listed", None, "The best first and the worst last.", as_listed),
    PromptOrder(
        "haystack",
        "Haystack LostInTheMiddleRanker",
        "haystack-ai 3.4.1",
        "The best is always first and the second-best last; can stop at a budget of words.",
        haystack,
    ),
    PromptOrder(
        "langchain",
        "LangChain LongContextReorder",
        "langchain-community 0.4.2",
        "The best is first of an odd count of documents but last of an even one.",
        langchain,
    ),
    PromptOrder(
        "llamaindex",
        "LlamaIndex LongContextReorder",
        "llama-index-core 0.14.25",
        "Sorts by score first, then lays out as LangChain does; equal or missing scores put the best in the middle.",
        llamaindex,
        uses_scores=True,
    ),
    PromptOrder(
        "rag-chunk-reorder",
        "rag-chunk-reorder",
        "rag-chunk-reorder 0.1.7 (npm)",
        "Sorts by score first, then lays out as Haystack does; can stop at a budget of tokens.",
        rag_chunk_reorder,
        uses_scores=True,
    ),
    PromptOrder("dify", "Dify ReorderRunner", "Dify", "Lays out as Haystack does; has no budget.", dify),
    PromptOrder(
        "autorag",
        "AutoRAG long_context_reorder",
        "AutoRAG",
        "Reorders nothing: repeats the document with the highest score at the end, so the prompt grows by it.",
        autorag,
        uses_scores=True,
    ),
    PromptOrder("reversed", "Reversed", None, "The worst first and the best last, next to the question.", backwards),
)
"""Every order, from the list itself to its reverse."""


def _best_first(ranked: Sequence[int]) -> list[int]:
    return [*ranked[::2], *ranked[1::2][::-1]]


def _worst_inside(worst_first: Sequence[int]) -> list[int]:
    return [*worst_first[::2][::-1], *worst_first[1::2]]


def _scored(system: str, scores: Scores) -> list[float]:
    known: list[float] = []
    for rank, score in enumerate(scores, 1):
        if score is None or not isfinite(score):
            raise SettingError(
                f"The score of rank {rank:,} is {score!r}, but {system} needs a finite number for every document. "
                f"Give the missing scores, or leave this order out."
            )
        known.append(score)
    return known
