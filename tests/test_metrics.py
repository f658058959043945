"""The metrics against trec_eval and against values worked by hand."""

from math import log2

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from lim import LimError
from lim.metrics import Comparison, Metrics, average_precision, compare, ndcg, recall, reciprocal_rank, top
from lim.orders import ORDERS

CUTOFFS = (1, 2, 3, 5, 10, 30)
haystack = next(order for order in ORDERS if order.key == "haystack")


@st.composite
def judged_orders(draw):
    """Draw grades of a list, at least one above 0, and an order of some of its ranks."""
    grades = draw(st.lists(st.integers(0, 3), min_size=1, max_size=30).filter(any))
    order = draw(st.permutations(range(1, len(grades) + 1)))
    return order[: draw(st.integers(1, len(grades)))], grades


def trec_eval(order, grades):
    """Measure with trec_eval, scores falling by place."""
    judged = {"q": {f"d{rank}": grade for rank, grade in enumerate(grades, 1)}}
    run = {"q": {f"d{rank}": float(len(order) - place) for place, rank in enumerate(order)}}
    cutoffs = ",".join(map(str, CUTOFFS))
    measures = {"map", "ndcg", "recip_rank", f"recall.{cutoffs}", f"ndcg_cut.{cutoffs}"}
    return pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(run)["q"]


@given(judged_orders())
def test_every_metric_is_that_of_trec_eval(judged):
    order, grades = judged
    expected = trec_eval(order, grades)
    assert average_precision(order, grades) == pytest.approx(expected["map"], abs=1e-9)
    assert ndcg(order, grades) == pytest.approx(expected["ndcg"], abs=1e-9)
    assert reciprocal_rank(order, grades) == pytest.approx(expected["recip_rank"], abs=1e-9)
    for k in CUTOFFS:
        assert recall(order, grades, k) == pytest.approx(expected[f"recall_{k}"], abs=1e-9)
        assert ndcg(order, grades, k) == pytest.approx(expected[f"ndcg_cut_{k}"], abs=1e-9)


def test_five_documents_by_hand():
    order, grades = [1, 3, 5, 4, 2], [1, 1, 0, 0, 0]  # relevant documents at the places 1 and 5
    assert average_precision(order, grades) == (1 / 1 + 2 / 5) / 2
    assert ndcg(order, grades) == pytest.approx((1 + 1 / log2(6)) / (1 + 1 / log2(3)))
    assert reciprocal_rank(order, grades) == 1
    assert [recall(order, grades, k) for k in range(1, 6)] == [0.5, 0.5, 0.5, 0.5, 1]


def test_graded_relevance_counts_in_ndcg_only():
    binary, graded = [1, 0, 1], [1, 0, 3]
    order = [1, 2, 3]
    assert ndcg(order, graded) == pytest.approx((1 + 3 / log2(4)) / (3 + 1 / log2(3)))
    assert average_precision(order, graded) == average_precision(order, binary)
    assert recall(order, graded, 1) == recall(order, binary, 1) == 0.5


def test_documents_left_out_count_as_not_found():
    assert average_precision([3, 1], [1, 1, 0]) == (1 / 2) / 2
    assert recall([3, 1], [1, 1, 0], 2) == 0.5
    assert reciprocal_rank([3], [1, 1, 0]) == 0
    assert ndcg([3], [1, 1, 0]) == average_precision([], [1, 1, 0]) == recall([], [1], 5) == 0


def test_a_document_that_repeats_earns_once():
    assert recall([1, 2, 1], [1, 1], 3) == 1
    assert average_precision([2, 1, 1], [1, 0]) == 1 / 2
    assert ndcg([2, 1, 1], [1, 0]) == ndcg([2, 1], [1, 0])


def test_the_comparison_holds_the_metrics_of_both_orders():
    comparison = compare([1, 2, 3, 4, 5], [1, 3, 5, 4, 2], top(2, 5), k=3)
    assert comparison == Comparison(
        3,
        Metrics(1, 1, 1, 1),
        Metrics(0.7, ndcg([1, 3, 5, 4, 2], [1, 1, 0, 0, 0]), 1, 0.5),
    )


@given(st.integers(1, 30), st.data())
def test_rearranging_lowers_the_metrics_unless_one_or_all_documents_are_relevant(count, data):
    r = data.draw(st.integers(1, count))
    comparison = compare(range(1, count + 1), haystack.ranks(count), top(r, count), count)
    assert comparison.before == Metrics(1, pytest.approx(1), 1, 1)
    assert comparison.after.recall == 1
    assert comparison.after.reciprocal_rank == 1  # the best document stays first
    lowered = 1 < r < count
    assert (comparison.after.average_precision < 1) == lowered
    assert (comparison.after.ndcg < 1 - 1e-9) == lowered


def test_the_top_of_a_list():
    assert top(2, 5) == (1, 1, 0, 0, 0)
    assert top(1, 1) == (1,)
    assert top(3, 3) == (1, 1, 1)


@pytest.mark.parametrize(("r", "n"), [(0, 5), (6, 5), (-1, 5), (1, 0)])
def test_a_top_out_of_bounds_is_named(r, n):
    with pytest.raises(LimError, match=rf"^{r} of {n} documents are to be relevant, but .*Give such a number"):
        top(r, n)


@pytest.mark.parametrize("relevance", [[], [0, 0], [0.0]])
def test_metrics_need_a_relevant_document(relevance):
    with pytest.raises(LimError, match=rf"None of the {len(relevance)} documents is relevant, .*Mark one"):
        average_precision([], relevance)


@pytest.mark.parametrize("grade", [-1, float("nan"), float("inf")])
def test_a_grade_out_of_bounds_is_named(grade):
    with pytest.raises(LimError, match=rf"relevance of rank 2 is {grade}, but .*Give 0"):
        ndcg([1, 2], [1, grade])


@pytest.mark.parametrize("rank", [0, 3, -1])
def test_a_rank_outside_the_list_is_named(rank):
    with pytest.raises(LimError, match=rf"contains rank {rank}, but the list has the ranks 1 to 2\. Give"):
        reciprocal_rank([1, rank], [1, 0])


@pytest.mark.parametrize("k", [0, -2])
def test_a_cutoff_below_one_is_named(k):
    for metric in (recall, ndcg):
        with pytest.raises(LimError, match=rf"k is {k}, but at least 1 place must count"):
            metric([1], [1], k)
