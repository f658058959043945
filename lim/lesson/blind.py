"""What the ranker does with a list that is not sorted: the same, and so the wrong thing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker

from lim.checks import check
from lim.lesson.placing import place_words
from lim.ranker import arrange


@dataclass(frozen=True, slots=True)
class Feeding:
    """One list as the ranker got it, and what came out.

    :param given: true relevance ranks in the order in which the ranker got the documents.
    :param prompt: true relevance ranks in the order of the prompt.
    :param finding: where the best document ended up, in one line.
    :param warning: what a look at the scores would have said; empty if nothing.
    """

    given: tuple[int, ...]
    prompt: tuple[int, ...]
    finding: str
    warning: str


def shuffled(count: int, seed: int) -> list[int]:
    """Shuffle ranks so that the best document does not come first.

    :param count: how many, at least 2.
    :param seed: gives the same order each time.
    :returns: the ranks 1 to `count` in another order.
    """
    order = list(range(1, count + 1))
    random.Random(seed).shuffle(order)  # noqa: S311 # a lesson's list, no secret
    if order[0] == 1:
        order[0], order[count // 2] = order[count // 2], order[0]
    return order


def feed(documents: Sequence[Document], given: Sequence[int]) -> Feeding:
    """Run Haystack's ranker on documents in an order of one's choice.

    :param documents: documents in the order of their true relevance, each with its own id.
    :param given: the ranks in the order in which the ranker gets them.
    :returns: what came out.
    """
    listed = [documents[rank - 1] for rank in given]
    ranks = {document.id: rank for rank, document in enumerate(documents, 1)}
    out: list[Document] = LostInTheMiddleRanker().run(documents=listed)["documents"]
    prompt = tuple(ranks[document.id] for document in out)
    place = prompt.index(1) + 1
    found = check(arrange(listed))
    return Feeding(
        tuple(given),
        prompt,
        f"The best document lands {place_words(place, len(prompt))}, place {place} of {len(prompt)}",
        found[0].message if found else "",
    )
