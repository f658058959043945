"""Order and score of a list: which ranks say an order, which number is the score, and whether it is a distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from operator import ge, le
from typing import Any

from lim.loading.containers.source import Rows
from lim.loading.model import Order, Reading
from lim.loading.names import is_distance, score_preference
from lim.loading.notes import Notes
from lim.loading.plan import Plan
from lim.loading.shapes.find import Listing
from lim.loading.shapes.shape import Path, get
from lim.loading.values import number_of

MIN_RANKS = 2


def column_of(records: Sequence[Any], path: Path) -> Sequence[Any]:
    """Take one field of all records.

    :param records: the records.
    :param path: the field.
    :returns: its values, None where a record lacks it.
    """
    if len(path) == 1:
        if isinstance(records, Rows):
            return records.column(path[0]) or [None] * len(records)
        key = path[0]
        return [record.get(key) if isinstance(record, dict) else None for record in records]
    return [get(record, path) for record in records]


def rank_order(
    listing: Listing, plan: Plan, records: Sequence[Any], reading: Reading, notes: Notes
) -> list[int] | None:
    """Order by rank, where a column of distinct ranks 1..n says one.

    Records left out before may leave gaps, and ranks may count from 0.

    :param listing: all records, those left out too.
    :param plan: which field is the rank.
    :param records: the records that have a text.
    :param reading: a person's choices.
    :param notes: told if the order changes, or why it does not.
    :returns: the records' numbers in the order of their ranks, None to keep the order of the input.
    """
    if plan.rank is None or len(records) < MIN_RANKS or reading.order not in (None, Order.RANK):
        return None
    ranks = [number_of(value)[0] for value in column_of(records, plan.rank)]
    whole = [int(rank) for rank in ranks if rank is not None and rank == int(rank)]
    name = ".".join(plan.rank)
    place = f"query {listing.query_id}" if listing.query_id else None
    if len(whole) < len(records) or len(set(whole)) < len(whole):
        if any(rank is not None for rank in ranks):
            notes.guessed(f"The ranks in {name!r} are not all different, so the order of the input is kept.", place)
        elif any(value not in (None, "") for value in column_of(records, plan.rank)):
            notes.guessed(f"The ranks in {name!r} are not numbers, so the order of the input is kept.", place)
        return None
    start = min(whole)
    fits = start in (0, 1) and max(whole) - start < len(listing.records)
    order = sorted(range(len(whole)), key=whole.__getitem__)
    if not fits and reading.order is not Order.RANK:
        if order != list(range(len(whole))):
            notes.guessed(
                f"The ranks in {name!r} do not run from 1 to {len(whole)}, so the order of the input is kept.",
                place,
            )
        return None
    if order != list(range(len(whole))):
        notes.guessed(
            f"The order is taken from the ranks in {name!r}; the input lists the documents in another.", place
        )
    return order


@dataclass(slots=True)
class _Numbers:
    """One field of numbers, and how well it agrees with the order of its list."""

    path: Path
    values: list[float | None]
    remarks: list[tuple[int, str]]
    distance: bool
    misfit: tuple[bool, bool, int]


def _numbers(records: Sequence[Any], path: Path) -> _Numbers:
    column = column_of(records, path)
    remarks: list[tuple[int, str]] = []
    values: list[float | None] | None = _plain_numbers(column)
    if values is None:
        values = []
        for index, value in enumerate(column):
            number, remark = number_of(value)
            values.append(number)
            if remark:
                remarks.append((index, remark))
    present = [value for value in values if value is not None]
    rises, falls = all(map(le, present, islice(present, 1, None))), all(map(ge, present, islice(present, 1, None)))
    name = ".".join(path)
    distance = is_distance(name) and not (falls and not rises)
    constant = falls and rises and len(present) > 1
    misfit = (not (rises if distance else falls) or not present, constant, score_preference(name))
    return _Numbers(path, values, remarks, distance, misfit)


def _plain_numbers(column: Sequence[Any]) -> list[float | None] | None:
    """Read the usual columns fast: finite numbers only, or texts of such."""
    kinds = set(map(type, column))
    if kinds == {str} and "_" not in "".join(column):  # Python alone reads 1_000 as a number
        try:
            values = list(map(float, column))
        except ValueError:
            return None
    elif kinds <= {float, int}:
        try:
            values = list(map(float, column))
        except OverflowError:
            return None
    else:
        return None
    # A sum is finite only if every part is; finite parts may still sum up to infinity, which is then read the slow way.
    return list(values) if isfinite(sum(values)) else None


def pick_score(
    listing: Listing, plan: Plan, records: Sequence[Any], items: Sequence[int], notes: Notes
) -> tuple[list[float | None] | None, Path | None, bool]:
    """Take the number that agrees with the order of the list, and tell a score from a distance.

    :param listing: the list, for the places of what was changed.
    :param plan: which fields may be the score.
    :param records: the records in their final order.
    :param items: for each of them its number in the list.
    :param notes: told what was taken and what was changed.
    :returns: the numbers, the field, and whether they are distances; None and None without any.
    """
    if not plan.scores:
        return None, None, False
    best = min((_numbers(records, path) for path in plan.scores), key=lambda numbers: numbers.misfit)
    for index, remark in best.remarks:
        notes.changed(remark, listing.places[items[index]])
    name = ".".join(best.path)
    if len(plan.scores) > 1:
        others = ", ".join(repr(".".join(other)) for other in plan.scores if other != best.path)
        notes.guessed(f"The score is taken from {name!r}; {others} could be meant too.")
    if best.distance:
        notes.guessed(f"The numbers in {name!r} are distances: lower is better. They are shown, and are not scores.")
    elif is_distance(name):
        notes.guessed(f"The numbers in {name!r} fall along the list, so they are read as scores: higher is better.")
    return best.values, best.path, best.distance
