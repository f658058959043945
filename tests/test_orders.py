"""The closed forms against the published table, a naive simulation of each system, and the installed Haystack."""

from importlib.metadata import version

import pytest
from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker
from hypothesis import given
from hypothesis import strategies as st

from lim import LimError
from lim.orders import ORDERS

BY_KEY = {order.key: order for order in ORDERS}
COUNTS = range(61)

some_scores = st.lists(st.none() | st.sampled_from([-1.0, 0.0, 0.5, 2.0]) | st.floats(-9, 9), max_size=60)
known_scores = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]) | st.floats(-9, 9), max_size=60)

# The table of published orders, whole lists: five documents, six documents.
TABLE = {
    "as-listed": ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]),
    "haystack": ([1, 3, 5, 4, 2], [1, 3, 5, 6, 4, 2]),
    "langchain": ([1, 3, 5, 4, 2], [2, 4, 6, 5, 3, 1]),
    "llamaindex": ([1, 3, 5, 4, 2], [2, 4, 6, 5, 3, 1]),
    "rag-chunk-reorder": ([1, 3, 5, 4, 2], [1, 3, 5, 6, 4, 2]),
    "dify": ([1, 3, 5, 4, 2], [1, 3, 5, 6, 4, 2]),
    "autorag": ([1, 2, 3, 4, 5, 1], [1, 2, 3, 4, 5, 6, 1]),
    "reversed": ([5, 4, 3, 2, 1], [6, 5, 4, 3, 2, 1]),
}


def from_the_outside(ranked):
    """Place one document after the other at the free place nearest to the front, then to the end."""
    places = [None] * len(ranked)
    front, back = 0, len(ranked) - 1
    for turn, rank in enumerate(ranked):
        if turn % 2 == 0:
            places[front] = rank
            front += 1
        else:
            places[back] = rank
            back -= 1
    return places


def from_the_inside(worst_first):
    """Grow a list from its middle: one document in front of it, the next behind it."""
    grown = []
    for turn, rank in enumerate(worst_first):
        grown.insert(0 if turn % 2 == 0 else len(grown), rank)
    return grown


def sorted_by_insertion(scores, *, before):
    """Sort ranks one by one, each behind all those it does not come before: stable, and no use of `sorted`."""
    ranks = []
    for rank in range(1, len(scores) + 1):
        place = len(ranks)
        while place and before(scores[rank - 1], scores[ranks[place - 1] - 1]):
            place -= 1
        ranks.insert(place, rank)
    return ranks


def test_the_registry_holds_each_system_of_the_table_once():
    assert [order.key for order in ORDERS] == list(TABLE)
    assert len({order.name for order in ORDERS}) == len(ORDERS)
    assert [order.key for order in ORDERS if order.package is None] == ["as-listed", "reversed"]
    assert all(order.note.endswith(".") for order in ORDERS)


@pytest.mark.parametrize("key", TABLE)
def test_five_and_six_documents_come_out_as_published(key):
    assert (BY_KEY[key].ranks(5), BY_KEY[key].ranks(6)) == TABLE[key]


def test_equal_and_missing_scores_trap_llamaindex():
    for scores in ([0.7] * 6, [None] * 6, [0.0, None, 0.0, None, 0.0, None]):
        assert BY_KEY["llamaindex"].ranks(scores) == [5, 3, 1, 2, 4, 6]


@pytest.mark.parametrize("count", COUNTS)
def test_lists_with_falling_scores_against_a_simulation(count):
    listed = list(range(1, count + 1))
    for key in ("haystack", "dify", "rag-chunk-reorder"):
        assert BY_KEY[key].ranks(count) == from_the_outside(listed)
    for key in ("langchain", "llamaindex"):
        assert BY_KEY[key].ranks(count) == from_the_inside(listed[::-1])
    assert BY_KEY["as-listed"].ranks(count) == listed
    assert BY_KEY["reversed"].ranks(count) == listed[::-1]
    assert BY_KEY["autorag"].ranks(count) == ([*listed, 1] if count else [])


@pytest.mark.parametrize("count", range(1, 61))
def test_the_best_is_last_of_an_even_count_with_langchain_and_never_with_haystack(count):
    assert BY_KEY["langchain"].ranks(count)[0 if count % 2 else -1] == 1
    assert BY_KEY["haystack"].ranks(count)[0] == 1


@given(some_scores)
def test_llamaindex_sorts_by_score_first(scores):
    known = [score or 0 for score in scores]
    rising = sorted_by_insertion(known, before=lambda one, other: one < other)
    assert BY_KEY["llamaindex"].ranks(scores) == from_the_inside(rising)


@given(known_scores)
def test_rag_chunk_reorder_sorts_by_score_first(scores):
    falling = sorted_by_insertion(scores, before=lambda one, other: one > other)
    assert BY_KEY["rag-chunk-reorder"].ranks(scores) == from_the_outside(falling)


def test_rag_chunk_reorder_as_the_package_answered():
    assert BY_KEY["rag-chunk-reorder"].ranks([0.5, 0.9, 0.5, 0.1, 0.9]) == [2, 1, 4, 3, 5]
    assert BY_KEY["rag-chunk-reorder"].ranks([1, 2, 3, 4, 5, 6]) == [6, 4, 2, 1, 3, 5]
    assert BY_KEY["rag-chunk-reorder"].ranks([1] * 6) == [1, 3, 5, 6, 4, 2]


@given(known_scores)
def test_autorag_repeats_the_first_of_the_highest(scores):
    best = [sorted_by_insertion(scores, before=lambda one, other: one > other)[0]] if scores else []
    assert BY_KEY["autorag"].ranks(scores) == [*range(1, len(scores) + 1), *best]


@given(some_scores)
def test_the_other_orders_do_not_look_at_scores(scores):
    for order in ORDERS:
        if not order.uses_scores:
            assert order.ranks(scores) == order.ranks(len(scores))


def test_the_orders_that_say_so_depend_on_scores():
    assert {order.key for order in ORDERS if order.ranks([1, 2, 3]) != order.ranks(3)} == {
        order.key for order in ORDERS if order.uses_scores
    }


def test_haystack_is_what_the_installed_ranker_does():
    ranker = LostInTheMiddleRanker()
    for count in COUNTS:
        documents = [Document(id=str(rank), content="x", score=-float(rank)) for rank in range(1, count + 1)]
        output = [int(document.id) for document in ranker.run(documents=documents)["documents"]]
        assert BY_KEY["haystack"].ranks(count) == output
    assert BY_KEY["haystack"].package == f"haystack-ai {version('haystack-ai')}"


@pytest.mark.parametrize("score", [None, float("nan"), float("inf")])
@pytest.mark.parametrize(("key", "system"), [("rag-chunk-reorder", "rag-chunk-reorder"), ("autorag", "AutoRAG")])
def test_a_system_that_needs_scores_says_which_is_missing(key, system, score):
    with pytest.raises(LimError, match=rf"score of rank 2 is {score}, but {system} needs a finite .*leave this order"):
        BY_KEY[key].ranks([1.0, score, 2.0])


def test_a_count_below_none_is_refused():
    with pytest.raises(LimError, match=r"has -1 documents, but at least 0 are needed\. Give"):
        BY_KEY["haystack"].ranks(-1)
