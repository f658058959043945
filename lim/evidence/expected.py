"""What a published curve says about the order of one list: arithmetic on its rows, never a forecast.

Three rules keep it inside what was measured:

- A curve measured with N documents speaks about prompts of N documents, and of up to a tenth more or fewer, where a
  place counts by its share of the way from the first document to the last. About other lengths it says nothing.
- Between two measured positions accuracy is read off the straight line; beyond the outermost two it is not read.
- An answer document that did not reach the prompt counts with the model's closed-book accuracy, where published. That
  was measured without documents; a prompt full of other documents may do worse, and no row tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, sqrt

from lim.errors import SettingError
from lim.evidence.tables import Curve, Point, curves
from lim.evidence.where import check_distribution, check_order

LENGTH_TOLERANCE_PERCENT = 10
"""By how much a prompt may be longer or shorter than the measured one, in percent of the measured one's documents."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """An accuracy read off a curve, in percent.

    :param pct: the accuracy.
    :param low: lower bound of the 95% interval, or None if none was published.
    :param high: upper bound of it.
    :param interpolated: whether it lies between two measured positions rather than on one. The interval is then
        interpolated as well, and does not know how far the curve bends in between.
    """

    pct: float
    low: float | None
    high: float | None
    interpolated: bool


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected accuracy of an order under a curve, in three shares of probability that sum to 1.

    :param measured: probability that the answer stands at a place the curve speaks about.
    :param measured_pct: expected accuracy given that, in percent; None if the share is 0.
    :param low: lower bound of `measured_pct`: the same average of the published lower bounds. All errors taken in one
        direction at once, so that no dependence between the measurements makes the true interval wider. None if a row
        that counts has no published interval.
    :param high: upper bound of `measured_pct`, likewise.
    :param closed_book: probability that the answer document is not in the prompt, where the closed-book accuracy was
        published.
    :param closed_book_pct: the closed-book accuracy, in percent; published without an interval.
    :param uncovered: probability of what no row speaks about: a prompt of another length, a document that stands in
        the prompt twice, a document left out where no closed-book accuracy was published.
    :param rescaled: whether the prompt has another length than the measured one, within the tolerance.
    """

    measured: float
    measured_pct: float | None
    low: float | None
    high: float | None
    closed_book: float
    closed_book_pct: float | None
    uncovered: float
    rescaled: bool

    @property
    def value(self) -> float | None:
        """The expected accuracy over everything, in percent; None if a share is uncovered."""
        if self.uncovered:
            return None
        parts = [(self.measured, self.measured_pct), (self.closed_book, self.closed_book_pct)]
        return fsum(share * pct for share, pct in parts if share and pct is not None)


@dataclass(frozen=True, slots=True)
class Shuffled:
    """The expected accuracy of the documents of a prompt over all of their orders, each equally likely.

    :param mean: the mean over all orders.
    :param sd: standard deviation of `value` from order to order, in percentage points; None where `value` is None.
    :param lowest: the `value` of the worst of all orders.
    :param highest: the `value` of the best of all orders.
    """

    mean: Expectation
    sd: float | None
    lowest: float | None
    highest: float | None


def covers(curve: Curve, prompt_length: int) -> bool:
    """Tell whether a curve speaks about prompts of a length.

    :param curve: a curve.
    :param prompt_length: documents in the prompt.
    :returns: whether the length differs from the measured one by at most `LENGTH_TOLERANCE_PERCENT`: 18 to 22
        documents for a curve of 20, and only 5 for a curve of 5.
    """
    return abs(prompt_length - curve.documents) * 100 <= LENGTH_TOLERANCE_PERCENT * curve.documents


def curves_at(prompt_length: int) -> tuple[Curve, ...]:
    """List the curves that speak about prompts of a length.

    :param prompt_length: documents in the prompt.
    :returns: the curves, those measured nearest to the length first; empty if there is none.
    """
    fitting = [curve for curve in curves() if covers(curve, prompt_length)]
    return tuple(sorted(fitting, key=lambda curve: abs(curve.documents - prompt_length)))


def accuracy_at(curve: Curve, position: int, prompt_length: int) -> Accuracy | None:
    """Read the accuracy at a position off a curve.

    In a prompt of exactly as many documents as were measured, the position is the measured one. In a prompt of up to a
    tenth more or fewer, the position counts by its share of the way: place p of k is read at 1 + (p - 1)(N - 1)/(k - 1)
    of N. Between two measured positions the accuracy, and each bound of the interval where both have one, lies on the
    straight line. The oracle accuracy (the answer document alone) belongs to the model and is not read as a curve of
    one document.

    :param curve: a curve.
    :param position: 1-based place of the answer document in the prompt.
    :param prompt_length: documents in the prompt, at least `position`.
    :returns: the accuracy, or None where nothing was measured: the prompt is longer or shorter than the tolerance
        allows, or the place lies outside the first and the last measured position.
    :raises SettingError: if the position is not in the prompt.
    """
    if not 1 <= position <= prompt_length:
        raise SettingError(
            f"position is {position!r}, but the prompt has the places 1 to {prompt_length:,}. Give one of them."
        )
    if not covers(curve, prompt_length):
        return None
    place: float = position
    if prompt_length != curve.documents:
        place = 1 + (position - 1) * (curve.documents - 1) / max(prompt_length - 1, 1)
    for point in curve.points:
        if point.gold_position == place:
            return Accuracy(point.accuracy_pct, point.low, point.high, interpolated=False)
    for before, after in pairwise(curve.points):
        if before.gold_position < place < after.gold_position:
            return _between(before, after, place)
    return None


def expected_accuracy(curve: Curve, order: Sequence[int], where: Sequence[float]) -> Expectation:
    """Average a curve over the places where the answer may stand in an order.

    :param curve: a curve.
    :param order: the ranks in the order of the prompt; ranks that are missing did not reach it. A rank that repeats
        makes the prompt longer, and its own probability uncovered: nobody measured an answer that stands twice.
    :param where: the probability that the answer is in the document of each rank, for every rank of the list.
    :returns: the expected accuracy with the shares of probability that it rests on.
    :raises SettingError: if `where` is no distribution, or the order contains something else than its ranks.
    """
    check_distribution(where)
    check_order(order, len(where))
    times = Counter(order)
    readings = [
        (where[rank - 1], accuracy_at(curve, position, len(order)))
        for position, rank in enumerate(order, 1)
        if times[rank] == 1
    ]
    readings += [(where[rank - 1], None) for rank, count in times.items() if count > 1]
    absent = fsum(share for rank, share in enumerate(where, 1) if rank not in times)
    return _expectation(curve, readings, absent, len(order))


def shuffled(curve: Curve, order: Sequence[int], where: Sequence[float]) -> Shuffled:
    """Average a curve over all orders of the documents of a prompt, in closed form.

    Each document stands at each place equally often, so the mean is that of the curve over the k places. The variance
    of a sum of w(r) a(place of r) over uniform permutations is the sum of the squared deviations of w times that of a,
    divided by k - 1; the extremes pair both in the same and in opposite order. No order is drawn at random.

    :param curve: a curve.
    :param order: the ranks in the prompt, in any order, each once.
    :param where: the probability that the answer is in the document of each rank, for every rank of the list.
    :returns: mean, spread and extremes.
    :raises SettingError: if `where` is no distribution, the order contains something else than its ranks, or repeats
        one.
    """
    check_distribution(where)
    check_order(order, len(where))
    repeated = [rank for rank, times in Counter(order).items() if times > 1]
    if repeated:
        raise SettingError(
            f"Rank {repeated[0]:,} stands in the order more than once, but documents are shuffled that are there once. "
            f"Give each rank once."
        )
    count = len(order)
    inside = [where[rank - 1] for rank in order]
    present = set(order)
    absent = fsum(share for rank, share in enumerate(where, 1) if rank not in present)
    readings = [accuracy_at(curve, position, count) for position in range(1, count + 1)]
    mean = _expectation(curve, [(fsum(inside) / count, read) for read in readings], absent, count)
    if mean.value is None:
        return Shuffled(mean, None, None, None)
    heights = [read.pct if read else 0.0 for read in readings]  # without a reading nothing weighs inside, or no value
    outside = mean.closed_book * (mean.closed_book_pct or 0.0)
    sd = sqrt(_squares(inside) * _squares(heights) / (count - 1)) if count > 1 else 0.0
    rising, falling = sorted(inside), sorted(inside, reverse=True)
    lowest, highest = (
        fsum(share * pct for share, pct in zip(shares, sorted(heights), strict=True)) for shares in (falling, rising)
    )
    return Shuffled(mean, sd, outside + lowest, outside + highest)


def _between(before: Point, after: Point, place: float) -> Accuracy:
    share = (place - before.gold_position) / (after.gold_position - before.gold_position)

    def mix(left: float | None, right: float | None) -> float | None:
        return None if left is None or right is None else left + share * (right - left)

    pct = before.accuracy_pct + share * (after.accuracy_pct - before.accuracy_pct)
    return Accuracy(pct, mix(before.low, after.low), mix(before.high, after.high), interpolated=True)


def _expectation(
    curve: Curve, readings: Sequence[tuple[float, Accuracy | None]], absent: float, prompt_length: int
) -> Expectation:
    known = [(share, read) for share, read in readings if share and read]
    lost = [share for share, read in readings if read is None]
    published = curve.closed_book_pct is not None
    return Expectation(
        fsum(share for share, _ in known),
        _average([(share, read.pct) for share, read in known]),
        _average([(share, read.low) for share, read in known]),
        _average([(share, read.high) for share, read in known]),
        absent if published else 0.0,
        curve.closed_book_pct,
        fsum(lost if published else [*lost, absent]),
        bool(known) and prompt_length != curve.documents,
    )


def _average(parts: Sequence[tuple[float, float | None]]) -> float | None:
    known = [(share, number) for share, number in parts if number is not None]
    if not parts or len(known) < len(parts):
        return None
    return fsum(share * number for share, number in known) / fsum(share for share, _ in known)


def _squares(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values)
