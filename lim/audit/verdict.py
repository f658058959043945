"""Which known order the documents of a prompt stand in, and how far from it they are."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from haystack import Document

from lim import orders
from lim.audit.model import Comparison, KnownOrder

MAX_FIELDS = 50
"""Fields of `meta` by which the documents may have been sorted."""
MIN_SORTED = 5
"""Documents from which an order may be called that of a field; fewer are too often in the order of one by chance."""


@dataclass(frozen=True, slots=True)
class Order:
    """One order the documents may stand in.

    :param name: which.
    :param numbers: the numbers of all expected documents, in that order.
    :param field: the field they are sorted by, if that is what the order is.
    """

    name: KnownOrder
    numbers: Sequence[int]
    field: str = ""


@dataclass(frozen=True, slots=True)
class Audited:
    """What an order is told from.

    :param documents: all documents, by number.
    :param intended: the numbers of the expected documents in the order intended, those without a text left out.
    :param relevance: the same numbers, the most relevant document first.
    :param actual: the numbers that were found, in the prompt's order.
    :param group: for each number what tells its text from others; equal texts are interchangeable.
    """

    documents: Mapping[int, Document]
    intended: Sequence[int]
    relevance: Sequence[int]
    actual: Sequence[int]
    group: Mapping[int, int]


def compare(audited: Audited) -> tuple[Comparison, ...]:
    """Compare the prompt's order with every known order.

    :param audited: the documents and where they stand.
    :returns: one comparison an order, the intended one first; fields the documents may be sorted by only if the prompt
        is in no other known order, and only those that fit.
    """
    comparisons = [_against(audited, order) for order in _orders(audited)]
    if len(audited.actual) >= MIN_SORTED and all(each.first_departure for each in comparisons):
        fits = (_against(audited, order) for order in _sorted_by_field(audited))
        comparisons += [each for each in fits if not each.first_departure][:1]
    return tuple(comparisons)


def name(comparisons: Sequence[Comparison]) -> KnownOrder:
    """Name the order of a prompt.

    :param comparisons: what `compare` returned.
    :returns: the first order without a departure.
    """
    return next((each.order for each in comparisons if each.first_departure is None), KnownOrder.NONE)


def kendall_tau(permutation: Sequence[int]) -> float | None:
    """Kendall's tau between a permutation and the ascending order of the same numbers.

    :param permutation: different numbers.
    :returns: 1 if they ascend, -1 if they descend; None for fewer than two.
    """
    count = len(permutation)
    if count < 2:
        return None
    seen: list[int] = []
    inversions = 0
    for number in permutation:
        inversions += len(seen) - bisect_right(seen, number)
        insort(seen, number)
    return 1 - 4 * inversions / (count * (count - 1))


def _against(audited: Audited, order: Order) -> Comparison:
    found = Counter(audited.group[number] for number in audited.actual)
    expected = list(_copies(order.numbers, audited.group, found))
    place = {copy: index for index, copy in enumerate(expected)}
    permutation = [place[copy] for copy in _copies(audited.actual, audited.group, found)]
    departure = next((index for index, number in enumerate(permutation, 1) if number != index - 1), None)
    tau = kendall_tau(permutation)
    return Comparison(order.name, order.field, None if tau is None else round(tau, 4), departure)


def _copies(numbers: Sequence[int], group: Mapping[int, int], found: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Name each document by its text and by which copy of it this is, as far as the prompt has so many."""
    seen: Counter[int] = Counter()
    for number in numbers:
        text = group[number]
        if seen[text] < found.get(text, 0):
            yield text, seen[text]
            seen[text] += 1


def _orders(audited: Audited) -> Iterator[Order]:
    intended, relevance = list(audited.intended), list(audited.relevance)
    scores = [audited.documents[number].score for number in relevance]
    yield Order(KnownOrder.INTENDED, intended)
    if len(audited.actual) < len(intended):
        actual = set(audited.actual)
        present = [number for number in relevance if number in actual]
        yield Order(KnownOrder.REARRANGED, _taken(present, orders.haystack))
    yield Order(KnownOrder.RELEVANCE, relevance)
    yield Order(KnownOrder.RELEVANCE_REVERSED, relevance[::-1])
    yield Order(KnownOrder.REVERSED, intended[::-1])
    if scores and all(isinstance(score, int | float) for score in scores) and len(set(scores)) > 1:
        yield Order(KnownOrder.SCORE, _by(intended, lambda number: audited.documents[number].score, descending=True))
        yield Order(KnownOrder.SCORE_ASCENDING, _by(intended, lambda number: audited.documents[number].score))
    yield Order(KnownOrder.ARRANGED_TWICE, _taken(intended, orders.haystack))
    yield Order(KnownOrder.LANGCHAIN, _taken(relevance, orders.langchain))
    yield Order(KnownOrder.LLAMAINDEX, [relevance[rank - 1] for rank in orders.llamaindex(scores)])


def _taken(numbers: Sequence[int], order: Callable[[orders.Scores], list[int]]) -> list[int]:
    return [numbers[rank - 1] for rank in order([None] * len(numbers))]


def _sorted_by_field(audited: Audited) -> Iterator[Order]:
    documents = audited.documents
    present = [documents[number] for number in audited.actual]
    fields: dict[str, Callable[[Document], Any]] = {
        "id": lambda document: document.id,
        "content": lambda document: document.content,
        "length": lambda document: len(document.content or ""),
    }
    for key in list(dict.fromkeys(key for document in present for key in document.meta))[:MAX_FIELDS]:
        fields[f"meta.{key}"] = partial(_meta, key)
    actual = set(audited.actual)
    bases = [[number for number in order if number in actual] for order in (audited.intended, audited.relevance)]
    for label, value in fields.items():
        values = {number: value(documents[number]) for number in actual}
        kinds = {
            str if isinstance(each, str) else float if isinstance(each, int | float) else None
            for each in values.values()
        }
        if len(kinds) != 1 or None in kinds or len(set(values.values())) < 2:
            continue
        for base in bases:
            yield Order(KnownOrder.SORTED, _by(base, values.__getitem__), f"{label}, ascending")
            yield Order(KnownOrder.SORTED, _by(base, values.__getitem__, descending=True), f"{label}, descending")


def _meta(key: str, document: Document) -> Any:  # noqa: ANN401 # whatever a user put there
    return document.meta.get(key)


def _by(numbers: Sequence[int], key: Callable[[int], Any], *, descending: bool = False) -> list[int]:
    return sorted(numbers, key=key, reverse=descending)
