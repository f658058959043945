"""Every number traced to its row, and the arithmetic against hand-worked values and brute force."""

import csv
import re
import statistics
from itertools import permutations
from math import exp
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lim import LimError, evidence
from lim.evidence import (
    Accuracy,
    Curve,
    Expectation,
    Finding,
    Point,
    accuracy_at,
    at_rank,
    covers,
    curves_at,
    expected_accuracy,
    from_scores,
    geometric,
    shuffled,
    uniform,
    within,
)
from lim.orders import ORDERS

DATA = Path(evidence.__file__).parents[1] / "data"
CURVES = {curve.key: curve for curve in evidence.curves()}
GPT_20 = CURVES["liu-2024/gpt-3.5-turbo/20"]
DEEPSEEK_20 = CURVES["zhs2326-2026/deepseek-chat/20"]
QWEN_5 = CURVES["cuconasu-2025/qwen2.5-7b/5"]
ARRANGE = {order.key: order for order in ORDERS}


def rows(name):
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


BY_POSITION, BY_ORDERING = rows("accuracy_by_position.csv"), rows("accuracy_by_ordering.csv")
CURVE_COLUMNS = ("study", "setting", "model", "n_documents")


def number(text):
    return float(text) if text else None


def curve_of(heights, closed_book=40.0, width=None):
    """Make a curve that was measured at every position, with intervals of some half width."""
    points = tuple(
        Point(place, height, None if width is None else height - width, None if width is None else height + width, 100)
        for place, height in enumerate(heights, 1)
    )
    return Curve("x/y/1", "S", "setting", "model", len(heights), points, closed_book, None, "source", "status", "url")


@st.composite
def curves_and_places(draw, max_size=6):
    """Draw a fully measured curve of a few documents, a list at least as long, and where its answer is."""
    heights = draw(st.lists(st.integers(0, 1000).map(lambda tenths: tenths / 10), min_size=1, max_size=max_size))
    n = draw(st.integers(len(heights), len(heights) + 3))
    weights = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any))
    order = draw(st.permutations(range(1, n + 1)))[: len(heights)]
    return curve_of(heights), order, tuple(weight / sum(weights) for weight in weights)


# The tables


def test_the_tables_are_whole():
    assert len(evidence.measurements()) == len(BY_POSITION) == 241
    assert len(evidence.orderings()) == len(BY_ORDERING) == 38
    assert len(evidence.curves()) == len({tuple(row[c] for c in CURVE_COLUMNS) for row in BY_POSITION}) == 41


def test_every_measurement_is_its_row():
    for row, measured in zip(BY_POSITION, evidence.measurements(), strict=True):
        assert (measured.study, measured.setting, measured.model) == (row["study"], row["setting"], row["model"])
        assert (measured.documents, measured.gold_position) == (int(row["n_documents"]), int(row["gold_position"]))
        numbers = (measured.accuracy_pct, measured.low, measured.high, measured.questions)
        columns = ("accuracy_pct", "ci95_low", "ci95_high", "n_questions")
        assert numbers == tuple(number(row[column]) for column in columns)
        assert measured.closed_book_pct == number(row["closed_book_pct"])
        assert measured.oracle_pct == number(row["oracle_pct"])
        assert (measured.source, measured.status) == (row["source"], row["status"])


def test_every_ordering_is_its_row():
    for row, result in zip(BY_ORDERING, evidence.orderings(), strict=True):
        assert (result.study, result.setting, result.model) == (row["study"], row["setting"], row["model"])
        assert (result.ordering, result.score, result.documents) == (
            row["ordering"],
            float(row["score"]),
            number(row["k"]),
        )
        assert (result.source, result.status) == (row["source"], row["status"])
        assert result.percent == (result.score > 1)


def test_every_number_has_a_source_that_can_be_read():
    urls = set()
    for thing in (*evidence.measurements(), *evidence.orderings(), *evidence.curves()):
        assert thing.source
        assert thing.status
        urls.add((thing.study, thing.url))
    assert urls == {
        ("Liu et al. 2024", "https://arxiv.org/abs/2307.03172v3"),
        ("Liu et al. 2024", "https://github.com/nelson-liu/lost-in-the-middle/blob/main/EXPERIMENTS.md"),
        ("zhs2326 2026 replication", "https://github.com/zhs2326/lost-in-the-middle-2026/tree/10e9f3c"),
        ("Cuconasu et al. 2025", "https://arxiv.org/abs/2505.15561v1"),
        ("Wang et al. 2024", "https://aclanthology.org/2024.emnlp-main.981/"),
    }


def test_the_curves_hold_each_measurement_once():
    of_model = attrgetter("study", "setting", "model", "documents", "closed_book_pct", "oracle_pct")
    of_source = attrgetter("source", "status", "url")
    of_point = attrgetter("gold_position", "accuracy_pct", "low", "high", "questions")
    rebuilt = [
        of_model(curve) + of_source(curve) + of_point(point) for curve in evidence.curves() for point in curve.points
    ]
    measured = [of_model(row) + of_source(row) + of_point(row) for row in evidence.measurements()]
    assert sorted(rebuilt, key=repr) == sorted(measured, key=repr)


def test_every_curve_runs_from_the_first_to_the_last_document_and_has_its_own_key():
    assert len(CURVES) == len(evidence.curves())
    for curve in evidence.curves():
        places = [point.gold_position for point in curve.points]
        assert places == sorted(set(places))
        assert (places[0], places[-1]) == (1, curve.documents)
        assert re.fullmatch(r"[a-z0-9.-]+/[a-z0-9.-]+/\d+", curve.key)
        assert all(point.low <= point.accuracy_pct <= point.high for point in curve.points if point.low is not None)
        assert [point.low is None for point in curve.points] == [point.high is None for point in curve.points]


def test_the_curve_that_named_the_effect():
    assert [(point.gold_position, point.accuracy_pct) for point in GPT_20.points] == [
        (1, 75.8),
        (5, 57.2),
        (10, 53.8),
        (15, 55.4),
        (20, 63.2),
    ]
    assert (GPT_20.closed_book_pct, GPT_20.oracle_pct, GPT_20.points[0].questions) == (56.1, 88.3, 2655)


def test_the_studies_are_those_of_the_tables_and_include_no_effect():
    assert {study.name for study in evidence.studies()} == {row["study"] for row in (*BY_POSITION, *BY_ORDERING)}
    assert [(study.key, study.finding) for study in evidence.studies()] == [
        ("liu-2024", Finding.EFFECT),
        ("zhs2326-2026", Finding.MIXED),
        ("cuconasu-2025", Finding.NO_EFFECT),
        ("wang-2024", Finding.MIXED),
    ]
    urls = {(thing.study, thing.url) for thing in (*evidence.measurements(), *evidence.orderings())}
    for study in evidence.studies():
        assert (study.name, study.url) in urls
        assert str(study.year) in study.name
        assert study.shows.endswith(".")


@pytest.mark.parametrize("study", evidence.studies(), ids=lambda study: study.key)
def test_every_number_a_study_is_summed_up_with_stands_in_its_rows(study):
    models = {row["model"].split(" (")[0] for row in (*BY_POSITION, *BY_ORDERING)}
    text = study.shows
    for model in sorted({*models, "MPT-30B", "LongChat-13B"}, key=len, reverse=True):
        text = text.replace(model, "")
    own = [row for row in (*BY_POSITION, *BY_ORDERING) if row["study"] == study.name]
    known = {float(found) for row in own for value in row.values() for found in re.findall(r"\d+(?:\.\d+)?", value)}
    said = {float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)}
    assert said
    assert said - known == set()


def test_what_the_studies_are_summed_up_with_is_what_the_rows_say():
    deepseek = [point.accuracy_pct for point in CURVES["zhs2326-2026/deepseek-chat/500"].points]
    assert (deepseek[0], min(deepseek[1:-1]), max(deepseek[1:-1]), deepseek[-1]) == (74, 63, 67, 69)
    closed_book = {curve.closed_book_pct for curve in evidence.curves() if curve.study.startswith("zhs")}
    assert (min(closed_book), max(closed_book)) == (51, 59)
    qwen = [point.accuracy_pct for point in QWEN_5.points]
    assert (min(qwen), max(qwen)) == (79, 82.73)
    wang = {row.ordering: row.score for row in evidence.orderings() if row.study.startswith("Wang")}
    assert wang == {
        "sides (best at both ends)": 0.58,
        "forward (descending relevance)": 0.542,
        "reverse (ascending relevance)": 0.56,
    }


# Reading a curve


@pytest.mark.parametrize(
    ("position", "pct", "interpolated"),
    [
        (1, 75.8, False),
        (2, 75.8 - (75.8 - 57.2) / 4, True),
        (3, 66.5, True),
        (5, 57.2, False),
        (12, 53.8 + 1.6 * 2 / 5, True),
        (19, 55.4 + 7.8 * 4 / 5, True),
        (20, 63.2, False),
    ],
)
def test_a_position_between_two_measured_ones_lies_on_the_straight_line(position, pct, interpolated):
    assert accuracy_at(GPT_20, position, 20) == Accuracy(pytest.approx(pct), None, None, interpolated)


def test_intervals_are_interpolated_with_the_accuracy():
    assert accuracy_at(DEEPSEEK_20, 5, 20) == Accuracy(76.0, 71.3, 80.7, interpolated=False)
    between = accuracy_at(DEEPSEEK_20, 3, 20)  # half way from 80.7 (76.3 to 85.0) to 76.0 (71.3 to 80.7)
    assert between == Accuracy(pytest.approx(78.35), pytest.approx(73.8), pytest.approx(82.85), interpolated=True)


def test_every_measured_position_reads_as_measured():
    for curve in evidence.curves():
        for point in curve.points:
            expected = Accuracy(point.accuracy_pct, point.low, point.high, interpolated=False)
            assert accuracy_at(curve, point.gold_position, curve.documents) == expected


def test_a_little_shorter_or_longer_prompt_counts_by_share_of_the_way():
    # Place 2 of 19 is read at 1 + 19/18 of 20, place 10 of 19, the very middle, at 10.5.
    assert accuracy_at(GPT_20, 2, 19).pct == pytest.approx(75.8 - (19 / 18) * (75.8 - 57.2) / 4)
    assert accuracy_at(GPT_20, 10, 19).pct == pytest.approx(53.8 + 0.5 * 1.6 / 5)
    for length in (18, 19, 21, 22):
        assert accuracy_at(GPT_20, 1, length) == Accuracy(75.8, None, None, interpolated=False)
        assert accuracy_at(GPT_20, length, length) == Accuracy(63.2, None, None, interpolated=False)


@pytest.mark.parametrize("length", [1, 5, 7, 17, 23, 30, 500])
def test_a_curve_says_nothing_about_other_lengths(length):
    assert not covers(GPT_20, length)
    assert accuracy_at(GPT_20, 1, length) is None


def test_the_lengths_a_curve_speaks_about():
    spoken = {curve.documents: [k for k in range(1, 700) if covers(curve, k)] for curve in evidence.curves()}
    ends = {documents: (lengths[0], lengths[-1]) for documents, lengths in spoken.items()}
    assert ends == {
        5: (5, 5),
        10: (9, 11),
        20: (18, 22),
        30: (27, 33),
        50: (45, 55),
        100: (90, 110),
        200: (180, 220),
        500: (450, 550),
    }


def test_the_curves_for_a_length():
    assert curves_at(5) == (QWEN_5,)
    assert curves_at(7) == ()
    assert {curve.documents for curve in curves_at(19)} == {20}
    assert len(curves_at(20)) == sum(curve.documents == 20 for curve in evidence.curves())


def test_outside_the_outermost_measured_positions_nothing_is_read():
    curve = Curve(*("x/y/9", "S", "s", "m", 9), (Point(3, 50, None, None, 1), Point(7, 60, None, None, 1)), *"12345")
    readings = [accuracy_at(curve, position, 9) for position in range(1, 10)]
    assert [read and read.pct for read in readings] == [None, None, 50, 52.5, 55, 57.5, 60, None, None]


@pytest.mark.parametrize("position", [0, 21, -1])
def test_a_position_outside_the_prompt_is_named(position):
    with pytest.raises(LimError, match=rf"position is {position}, but the prompt has the places 1 to 20\. Give"):
        accuracy_at(GPT_20, position, 20)


# Your list


def test_twenty_documents_by_hand():
    arranged = ARRANGE["haystack"].ranks(20)  # 1 3 5 … 19 20 … 4 2
    first = expected_accuracy(GPT_20, arranged, at_rank(1, 20))
    assert first == Expectation(1, 75.8, None, None, 0, 56.1, 0, rescaled=False)
    assert first.value == 75.8
    half = (0.5, 0.5) + (0,) * 18
    assert expected_accuracy(GPT_20, arranged, half).value == pytest.approx((75.8 + 63.2) / 2)
    assert expected_accuracy(GPT_20, range(1, 21), half).value == pytest.approx((75.8 + 71.15) / 2)
    assert expected_accuracy(GPT_20, ARRANGE["langchain"].ranks(20), at_rank(1, 20)).value == 63.2


def test_a_document_left_out_counts_with_the_closed_book_accuracy():
    where = (0.75,) + (0,) * 19 + (0.25,)
    answer = expected_accuracy(GPT_20, range(1, 21), where)
    assert (answer.measured, answer.measured_pct, answer.closed_book, answer.uncovered) == (0.75, 75.8, 0.25, 0)
    assert answer.value == pytest.approx(0.75 * 75.8 + 0.25 * 56.1)
    gone = expected_accuracy(GPT_20, range(1, 21), at_rank(21, 21))
    assert (gone.measured, gone.measured_pct, gone.value, gone.rescaled) == (0, None, 56.1, False)
    nothing = expected_accuracy(GPT_20, [], uniform(3))
    assert nothing.value == pytest.approx(56.1)
    assert nothing.closed_book == pytest.approx(1)


def test_without_a_closed_book_accuracy_what_is_left_out_is_uncovered():
    answer = expected_accuracy(QWEN_5, [1, 3, 5, 4, 2], (0.5, 0, 0, 0, 0, 0.5))
    assert (answer.measured, answer.measured_pct, answer.uncovered, answer.value) == (0.5, 80.8, 0.5, None)


def test_another_length_is_uncovered_but_for_what_was_left_out():
    answer = expected_accuracy(GPT_20, [1, 2, 3], (0.5, 0.25, 0, 0.25))
    assert answer == Expectation(0, None, None, None, 0.25, 56.1, 0.75, rescaled=False)
    assert answer.value is None


def test_a_document_that_stands_twice_is_uncovered():
    where = (0.5, 0.5) + (0,) * 18
    answer = expected_accuracy(GPT_20, ARRANGE["autorag"].ranks(20), where)
    assert (answer.measured, answer.uncovered, answer.value, answer.rescaled) == (0.5, 0.5, None, True)
    assert answer.measured_pct == accuracy_at(GPT_20, 2, 21).pct


def test_the_interval_is_the_average_of_the_published_bounds():
    answer = expected_accuracy(DEEPSEEK_20, range(1, 21), (0.5, 0, 0, 0, 0.25) + (0,) * 14 + (0.25,))
    assert answer.value == pytest.approx(0.5 * 80.7 + 0.25 * 76.0 + 0.25 * 75.3)
    assert answer.low == pytest.approx(0.5 * 76.3 + 0.25 * 71.3 + 0.25 * 70.3)
    assert answer.high == pytest.approx(0.5 * 85.0 + 0.25 * 80.7 + 0.25 * 80.0)


def test_a_row_without_an_interval_takes_it_away_only_where_it_counts():
    points = (Point(1, 80, 70, 90, 9), Point(2, 60, None, None, 9))
    curve = Curve("k", "S", "s", "m", 2, points, None, None, "source", "status", "url")
    both = expected_accuracy(curve, [1, 2], (0.5, 0.5))
    assert (both.value, both.low, both.high) == (70, None, None)
    first = expected_accuracy(curve, [1, 2], (1, 0))
    assert (first.value, first.low, first.high) == (80, 70, 90)


@given(curves_and_places(max_size=12))
def test_expected_accuracy_is_the_sum_over_every_rank(drawn):
    curve, order, where = drawn
    heights = [point.accuracy_pct for point in curve.points]
    total = sum(
        share * (heights[list(order).index(rank)] if rank in order else curve.closed_book_pct)
        for rank, share in enumerate(where, 1)
    )
    answer = expected_accuracy(curve, order, where)
    assert answer.value == pytest.approx(total)
    assert answer.measured + answer.closed_book + answer.uncovered == pytest.approx(1)
    conditional = sum(share for rank, share in enumerate(where, 1) if rank in order)
    if conditional:
        given_inside = expected_accuracy(curve, order, within(where, order))
        assert given_inside.value == pytest.approx(answer.measured_pct)


@given(curves_and_places(max_size=6))
def test_shuffling_is_what_enumerating_every_order_gives(drawn):
    curve, order, where = drawn
    values = [expected_accuracy(curve, shuffle, where).value for shuffle in permutations(order)]
    result = shuffled(curve, order, where)
    assert result.mean.value == pytest.approx(statistics.fmean(values))
    assert result.sd == pytest.approx(statistics.pstdev(values), abs=1e-6)
    assert result.lowest == pytest.approx(min(values))
    assert result.highest == pytest.approx(max(values))


def test_shuffling_twenty_documents_lies_between_its_extremes():
    where = geometric(0.4, 20)
    result = shuffled(GPT_20, range(1, 21), where)
    heights = [accuracy_at(GPT_20, place, 20).pct for place in range(1, 21)]
    assert result.mean.value == pytest.approx(statistics.fmean(heights))
    values = [expected_accuracy(GPT_20, order.ranks(20), where).value for order in ORDERS if order.key != "autorag"]
    assert result.lowest < min(values)
    assert max(values) < result.highest
    assert 0 < result.sd < result.highest - result.lowest


def test_shuffling_carries_shares_and_intervals_like_any_order():
    result = shuffled(curve_of([80, 60], width=5), [1, 2], (0.5, 0.25, 0.25))
    assert result.mean == Expectation(0.75, 70, 65, 75, 0.25, 40, 0, rescaled=False)
    assert result.mean.value == 62.5
    assert (result.lowest, result.highest) == (0.25 * 80 + 0.5 * 60 + 10, 0.5 * 80 + 0.25 * 60 + 10)


def test_shuffling_what_nobody_measured_has_no_value():
    result = shuffled(GPT_20, [1, 2, 3], uniform(3))
    assert (result.mean.uncovered, result.mean.value) == (pytest.approx(1), None)
    assert (result.sd, result.lowest, result.highest) == (None, None, None)


def test_shuffling_documents_that_cannot_have_the_answer():
    for order in ([1, 2, 3], []):
        result = shuffled(GPT_20, order, at_rank(4, 4))
        assert (result.mean.value, result.sd, result.lowest, result.highest) == (56.1, 0, 56.1, 56.1)


def test_shuffling_a_document_that_stands_twice_is_refused():
    with pytest.raises(LimError, match=r"Rank 1 stands in the order more than once, .*Give each rank once"):
        shuffled(GPT_20, [1, 2, 1], uniform(2))


@pytest.mark.parametrize("average", [expected_accuracy, shuffled])
def test_an_order_or_a_distribution_that_is_none_is_named(average):
    with pytest.raises(LimError, match=r"contains rank 3, but the list has the ranks 1 to 2\. Give"):
        average(GPT_20, [1, 3], (0.5, 0.5))
    with pytest.raises(LimError, match=r"contains rank 0"):
        average(GPT_20, [0], (0.5, 0.5))
    with pytest.raises(LimError, match=r"sum to 0\.9, .*must sum to 1\. Divide"):
        average(GPT_20, [1, 2], (0.5, 0.4))
    with pytest.raises(LimError, match=r"probability of rank 2 is -0\.5, but it must be from 0 to 1"):
        average(GPT_20, [1, 2], (1.5 - 0.5, -0.5))
    with pytest.raises(LimError, match=r"probability of rank 1 is nan"):
        average(GPT_20, [1], (float("nan"),))
    with pytest.raises(LimError, match=r"has 0 documents, but at least 1 is needed"):
        average(GPT_20, [], ())


# Where the answer is


def test_the_distributions_by_hand():
    assert at_rank(2, 3) == (0, 1, 0)
    assert uniform(4) == (0.25, 0.25, 0.25, 0.25)
    assert geometric(0.5, 3) == pytest.approx((4 / 7, 2 / 7, 1 / 7))
    assert geometric(1, 3) == (1, 0, 0)
    assert from_scores([2, 1, 1]) == pytest.approx([exp(1) / (exp(1) + 2), 1 / (exp(1) + 2), 1 / (exp(1) + 2)])
    assert from_scores([1000, 0, -1000]) == (1, 0, 0)
    assert within((0.5, 0.25, 0.25), [3, 1]) == pytest.approx((2 / 3, 0, 1 / 3))


@given(st.integers(1, 600), st.floats(1e-9, 1), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=600))
def test_every_distribution_is_accepted(n, p, scores):
    for where in (at_rank(n, n), uniform(n), geometric(p, n), from_scores(scores)):
        assert within(where, range(1, len(where) + 1)) == pytest.approx(where)
    assert list(geometric(p, n)) == sorted(geometric(p, n), reverse=True)


@pytest.mark.parametrize("rank", [0, 4])
def test_a_rank_outside_the_list_is_named(rank):
    with pytest.raises(LimError, match=rf"rank is {rank}, but the list has the ranks 1 to 3\. Give"):
        at_rank(rank, 3)


@pytest.mark.parametrize("p", [0, -0.1, 1.1, float("nan")])
def test_a_probability_out_of_bounds_is_named(p):
    with pytest.raises(LimError, match=rf"p is {p}, but a probability above 0 and at most 1 is needed\. Give"):
        geometric(p, 3)


@pytest.mark.parametrize("score", [None, float("nan"), float("inf")])
def test_a_missing_score_is_named(score):
    with pytest.raises(LimError, match=rf"score of rank 2 is {score}, but a finite number .*choose a distribution"):
        from_scores([1.0, score])


@pytest.mark.parametrize("make", [uniform, lambda n: at_rank(1, n), lambda n: geometric(0.5, n)])
def test_a_list_without_documents_has_no_distribution(make):
    with pytest.raises(LimError, match=r"has 0 documents, but at least 1 is needed\. Give"):
        make(0)
    with pytest.raises(LimError, match=r"has 0 documents"):
        from_scores([])


def test_conditioning_on_the_impossible_is_refused():
    with pytest.raises(LimError, match=r"The 2 ranks in the prompt have probability 0, but .*Choose a distribution"):
        within(at_rank(3, 3), [1, 2])
