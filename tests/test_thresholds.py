"""The staircase and the fit against trying every threshold."""

import pytest
from haystack.components.rankers import LostInTheMiddleRanker as HaystackRanker
from hypothesis import assume, given
from hypothesis import strategies as st
from ranked_lists import of_words, ranked_lists, same_objects, top_ks

from lim import SettingError, arrange, measure
from lim.thresholds import fit, staircase, staircase_of

short_lists = st.one_of(ranked_lists(max_size=8), st.lists(st.integers(0, 5), max_size=12).map(of_words))
token_counts = st.lists(st.integers(0, 9), min_size=12, max_size=12)


def kept_by_threshold(documents, top_k):
    """Run Haystack once for every threshold from 1 to two above the words of the list."""
    total = arrange(documents, top_k=top_k).words
    ranker = HaystackRanker(top_k=top_k)
    return {
        threshold: ranker.run(documents=documents, word_count_threshold=threshold)["documents"]
        for threshold in range(1, total + 3)
    }


@given(short_lists, top_ks, token_counts)
def test_the_staircase_is_what_trying_every_threshold_gives(documents, top_k, tokens):
    assume(arrange(documents).words < 200)
    arrangement = arrange(documents, word_count_threshold=2, top_k=top_k)  # the staircase is of the list, not of the 2
    steps = staircase(arrangement, tokens[: len(documents)])
    outputs = kept_by_threshold(documents, top_k)
    assert [step.kept for step in steps] == list(range(1, arrangement.ranked + 1))
    for step in steps:
        giving = [threshold for threshold, output in outputs.items() if len(output) == step.kept]
        assert step.reachable == bool(giving)
        assert step.lowest == (min(giving) if giving else None)
        endless = bool(giving) and max(giving) == max(outputs)
        assert step.highest == (max(giving) if giving and not endless else None)
        walked = arrangement.walk[: step.kept]
        assert step.rank == walked[-1]
        assert step.words == sum(arrangement.word_counts[rank - 1] for rank in walked)
        assert step.tokens == sum(tokens[rank - 1] for rank in walked)
        assert step.overshoot == max([step.words - threshold for threshold in giving] + [0])
        for threshold in giving:
            assert same_objects(arrange(documents, threshold, top_k).documents, outputs[threshold])


@given(short_lists, top_ks)
def test_the_reachable_steps_cover_every_threshold_once(documents, top_k):
    reachable = [step for step in staircase(arrange(documents, top_k=top_k)) if step.reachable]
    assert bool(reachable) == bool(documents)
    edges = [(step.lowest, step.highest) for step in reachable]
    assert [low for low, _ in edges] == [1, *((high or 0) + 1 for _, high in edges)][: len(edges)]
    assert [high for _, high in edges if high is None] == [None] * bool(edges)
    assert not edges or edges[-1][1] is None


def test_the_staircase_of_a_list_with_empty_documents():
    steps = staircase(arrange(of_words([0, 3, 0, 2, 0])), tokens=[0, 4, 0, 3, 0])
    assert [(s.kept, s.rank, s.lowest, s.highest, s.words, s.tokens, s.overshoot) for s in steps] == [
        (1, 1, None, None, 0, 0, 0),
        (2, 2, 1, 3, 3, 4, 2),
        (3, 3, None, None, 3, 4, 0),
        (4, 4, 4, 5, 5, 7, 1),
        (5, 5, 6, None, 5, 7, 0),
    ]


def test_the_staircase_without_tokens_or_documents():
    assert [step.tokens for step in staircase(arrange(of_words([1, 2])))] == [None, None]
    assert staircase(arrange([])) == ()


@given(short_lists, top_ks, token_counts, st.integers(1, 80), st.integers(0, 80))
def test_the_fit_is_the_largest_threshold_whose_documents_fit(documents, top_k, tokens, context, reserve):
    assume(arrange(documents).words < 200)
    ranks = {id(document): rank for rank, document in enumerate(documents, 1)}
    sizes = {
        threshold: sum(tokens[ranks[id(document)] - 1] for document in output)
        for threshold, output in kept_by_threshold(documents, top_k).items()
    }
    assume(len(ranks) == len(documents))  # the brute force finds a document's tokens by the object
    steps = staircase(arrange(documents, top_k=top_k), tokens[: len(documents)])
    answer = fit(steps, context, reserve)
    assert answer.budget == context - reserve
    fitting = [threshold for threshold, size in sizes.items() if size <= context - reserve]
    if not fitting or not documents:
        assert (answer.step, answer.threshold) == (None, None)
        return
    assert answer.step is not None
    assert answer.step.tokens == sizes[max(fitting)]
    everything_fits = max(fitting) == max(sizes)
    assert answer.threshold == (None if everything_fits else max(fitting))
    assert answer.step.kept == len(kept_by_threshold(documents, top_k)[max(fitting)])


def test_the_fit_in_figures():
    steps = staircase(arrange(of_words([10, 20, 30])), tokens=[12, 25, 40])
    assert (fit(steps, 76).step, fit(steps, 76).threshold) == (steps[1], 30)
    assert (fit(steps, 77).step, fit(steps, 77).threshold) == (steps[2], None)
    assert (fit(steps, 100, 63).step, fit(steps, 100, 63).threshold) == (steps[1], 30)
    assert (fit(steps, 100, 64).step, fit(steps, 100, 64).threshold) == (steps[0], 10)
    assert (fit(steps, 11).step, fit(steps, 11).threshold) == (None, None)
    assert (fit(steps, 10, 50).budget, fit(steps, 10, 50).step) == (-40, None)


def test_the_fit_is_a_step_that_some_threshold_reaches():
    steps = staircase(arrange(of_words([2, 0, 3])), tokens=[3, 0, 4])
    assert steps[1].tokens == 3  # it would fit, but no threshold keeps just two
    assert (fit(steps, 3).step, fit(steps, 3).threshold) == (steps[0], 2)


@pytest.mark.parametrize(("context", "reserve"), [(0, 0), (-5, 0), (100, -1)])
def test_a_budget_out_of_bounds_is_named(context, reserve):
    with pytest.raises(SettingError, match=rf"context is {context} tokens and the reserve {reserve}, .*at least 1"):
        fit(staircase_of(of_words([1, 2])), context, reserve)


def test_a_fit_without_tokens_says_what_to_do(monkeypatch):
    monkeypatch.setattr(measure, "toktok", None)
    steps = staircase_of(of_words([1, 2]))
    assert [step.tokens for step in steps] == [None, None]
    with pytest.raises(SettingError, match=r"not available.*Install `toktok-rs`, or choose the threshold in words"):
        fit(steps, 100)


@given(ranked_lists(max_size=8), top_ks)
def test_the_staircase_of_documents_counts_their_tokens(documents, top_k):
    tokens = measure.tokens([str(document.content) for document in documents])
    assert staircase_of(documents, top_k) == staircase(arrange(documents, top_k=top_k), tokens)


def test_the_staircase_of_documents_refuses_a_bad_limit():
    with pytest.raises(SettingError, match="top_k is 0"):
        staircase_of(of_words([1]), top_k=0)
