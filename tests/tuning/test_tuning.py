"""Every figure of many lists is what arranging each list gives, whatever the lists."""

from itertools import pairwise, product
from math import ceil

import numpy as np
import pytest
from haystack import Document
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ranked_lists import of_words, ranked_lists

from lim import DocumentError, RankedList, SettingError, arrange, measure
from lim.tuning import (
    Curve,
    Objective,
    Outcome,
    Ratio,
    RatioSpread,
    Spread,
    best,
    counts,
    curve,
    gather,
    grid,
    objectives,
    outcome,
    pairs,
    pool,
    ratio,
    round_thresholds,
    some_top_ks,
    top_k_curve,
    tradeoff,
    worst,
)

thresholds = st.one_of(st.none(), st.integers(1, 60), st.just(10**12))
top_ks = st.one_of(st.none(), st.integers(1, 12))
budgets = st.integers(0, 90)


@st.composite
def labelled_lists(draw, max_lists=6, max_size=8):
    """Draw ranked lists with copies, empty and Chinese texts, lists of one document and of none; some with marks."""
    made = []
    for number in range(draw(st.integers(1, max_lists))):
        documents = tuple(draw(ranked_lists(max_size=max_size)))
        marked = draw(st.booleans())
        marks = tuple(draw(st.booleans()) for _ in documents) if marked else None
        made.append(RankedList(f"query {number}", documents, relevant=marks))
    return made


def kept_ranks(ranked, threshold, top_k):
    return arrange(ranked.documents, threshold, top_k).order


def sizes_of(ranked):
    texts = [document.content for document in ranked.documents]
    return [len(text.split()) for text in texts], measure.tokens(texts)


def marked_ids(ranked):
    return {document.id for document, mark in zip(ranked.documents, ranked.relevant or (), strict=False) if mark}


def retold(lists, threshold, top_k):
    """Say for each list what reaches the prompt, by arranging it: documents, words, tokens, relevant documents."""
    rows = []
    for ranked in lists:
        words, tokens = sizes_of(ranked)
        ranks = kept_ranks(ranked, threshold, top_k)
        relevant = sum(ranked.documents[rank - 1].id in marked_ids(ranked) for rank in ranks)
        rows.append((len(ranks), sum(words[r - 1] for r in ranks), sum(tokens[r - 1] for r in ranks), relevant))
    return rows


def nearest_rank(values):
    ordered = sorted(values)
    at = [ordered[ceil(share * len(ordered)) - 1] for share in (0.25, 0.5, 0.75, 0.95)]
    return Spread(ordered[0], *at, ordered[-1], sum(ordered))


def retold_outcome(lists, threshold, top_k, budget):
    rows = retold(lists, threshold, top_k)
    kept, words, tokens, relevant = zip(*rows, strict=True)
    marked = [len(marked_ids(ranked)) for ranked in lists]
    known = any(ranked.relevant is not None for ranked in lists)
    return Outcome(
        threshold,
        top_k,
        budget,
        len(lists),
        nearest_rank(kept),
        nearest_rank(words),
        nearest_rank(tokens),
        None if budget is None else sum(count > budget for count in tokens),
        sum(count > 0 for count in marked),
        sum(count < most for count, most in zip(relevant, marked, strict=True)) if known else None,
        sum(relevant) if known else None,
        sum(marked) if known else None,
        sum(max(count - threshold, 0) for count in words) if threshold else 0,
    )


@settings(max_examples=150)
@given(labelled_lists(), thresholds, top_ks, st.one_of(st.none(), budgets))
def test_the_figures_of_a_pair_are_those_of_arranging_every_list(lists, threshold, top_k, budget):
    assert outcome(gather(lists), threshold, top_k, budget) == retold_outcome(lists, threshold, top_k, budget)


@settings(max_examples=60)
@given(
    labelled_lists(), st.lists(thresholds, min_size=1, max_size=4), st.lists(top_ks, min_size=1, max_size=4), budgets
)
def test_a_grid_is_every_pair_arranged(lists, some_thresholds, some, budget):
    made = grid(gather(lists), some_thresholds, some, budget)
    assert made.thresholds == tuple(sorted(set(some_thresholds), key=lambda limit: limit or 10**18))
    assert made.top_ks == tuple(sorted(set(some), key=lambda limit: limit or 10**18))
    wanted = [[retold_outcome(lists, t, k, budget) for k in made.top_ks] for t in made.thresholds]
    for name, read in {
        "documents": lambda figures: figures.documents.total,
        "words": lambda figures: figures.words.total,
        "relevant": lambda figures: figures.relevant_kept,
        "over": lambda figures: figures.over,
        "losing": lambda figures: figures.losing,
    }.items():
        values = getattr(made, name)
        assert (values.tolist() if values is not None else None) == (
            [[read(figures) for figures in row] for row in wanted] if read(wanted[0][0]) is not None else None
        )


def spelled_curve(at, each):
    return Curve(
        tuple(at),
        tuple(figures.documents for figures in each),
        tuple(figures.words for figures in each),
        tuple(figures.tokens for figures in each),
        tuple(figures.overshoot for figures in each),
    )


@settings(max_examples=60)
@given(labelled_lists(), st.lists(st.integers(1, 80), min_size=1, max_size=4).map(sorted), thresholds, top_ks)
def test_a_curve_is_every_limit_arranged(lists, some, threshold, top_k):
    made = gather(lists)
    each = [retold_outcome(lists, each, top_k, None) for each in some]
    assert curve(made, some, top_k) == spelled_curve(some, each)
    each = [retold_outcome(lists, threshold, each, None) for each in some]
    assert top_k_curve(made, some, threshold) == spelled_curve(some, each)


def every_pair(lists):
    """List every pair of limits that can make a difference, and no limit."""
    most = max(sum(sizes_of(ranked)[0]) for ranked in lists)
    longest = max(len(ranked.documents) for ranked in lists)
    return product([*range(1, most + 2), None], [*range(1, longest + 1), None])


def amount(figures, objective):
    return {
        Objective.RELEVANT: figures.relevant_kept,
        Objective.DOCUMENTS: figures.documents.total,
        Objective.WORDS: figures.words.total,
    }[objective]


@settings(max_examples=60)
@given(labelled_lists(max_lists=4, max_size=5), budgets, st.sampled_from([0, 0.25, 0.34, 0.5, 1]), st.data())
def test_the_best_pair_is_the_best_of_all_there_are(lists, budget, share, data):
    assume(max(sum(sizes_of(ranked)[0]) for ranked in lists) < 60)
    made = gather(lists)
    objective = data.draw(st.sampled_from(objectives(made)))
    figures = {pair: outcome(made, *pair, budget) for pair in every_pair(lists)}
    met = {pair: each for pair, each in figures.items() if each.over <= share * len(lists)}
    answer = best(made, budget, share, objective)

    def merit(each):
        return amount(each, objective), -each.words.total

    def best_of(some):
        return max(map(merit, some), default=None)

    assert answer.allowed == int(share * len(lists))
    assert (answer.best is None) == (not met)
    if answer.best is not None:
        assert (answer.best.word_count_threshold, answer.best.top_k) in {*met, (answer.best.word_count_threshold, None)}
        assert answer.best.over <= answer.allowed
        assert merit(answer.best) == best_of(met.values())
    alone = [each for (threshold, _), each in met.items() if threshold is None]
    assert (answer.top_k_alone and amount(answer.top_k_alone, objective)) == max(
        (amount(each, objective) for each in alone), default=None
    )
    alone = [each for (_, top_k), each in met.items() if top_k is None]
    assert (answer.threshold_alone and amount(answer.threshold_alone, objective)) == max(
        (amount(each, objective) for each in alone), default=None
    )
    if answer.runner_up is not None:
        assert answer.runner_up.over <= answer.allowed
        assert merit(answer.runner_up) < merit(answer.best)
        assert answer.runner_up.top_k != answer.best.top_k


@settings(max_examples=40)
@given(labelled_lists(max_lists=4, max_size=5), budgets, st.data())
def test_the_tradeoff_is_the_best_pair_of_every_share(lists, budget, data):
    assume(max(sum(sizes_of(ranked)[0]) for ranked in lists) < 60)
    made = gather(lists)
    objective = data.draw(st.sampled_from(objectives(made)))
    points = tradeoff(made, budget, objective)
    wanted = {}
    for share in pairs.SHARES:
        found = best(made, budget, share / 1000, objective)
        if found.best is not None and amount(found.best, objective) > max(wanted.values(), default=-1):
            wanted[found.allowed] = amount(found.best, objective)
    assert {point.allowed: point.amount for point in points} == wanted
    for point in points:
        figures = outcome(made, point.pair.word_count_threshold, point.pair.top_k, budget)
        assert (figures.over, amount(figures, objective)) == (point.over, point.amount)


def spelled(tokens):
    """Make a ratio of plain numbers: words and tokens of each list."""
    documents = [(w, t) for each in tokens for w, t in each if w]
    lists = [(sum(w for w, _ in each), sum(t for _, t in each)) for each in tokens if sum(w for w, _ in each)]

    def spread_of(ratios):
        ordered = sorted(t / w for w, t in ratios)
        at = [ordered[ceil(share * len(ordered)) - 1] for share in (0.25, 0.5, 0.75, 0.95)]
        return RatioSpread(ordered[0], *at, ordered[-1])

    if not documents:
        return None
    return Ratio(sum(w for w, _ in documents), sum(t for _, t in documents), spread_of(lists), spread_of(documents))


@settings(max_examples=60)
@given(labelled_lists())
def test_the_ratio_is_that_of_the_documents_the_ranker_walks(lists):
    sizes = []
    for ranked in lists:
        words, tokens = sizes_of(ranked)
        sizes.append([(words[rank - 1], tokens[rank - 1]) for rank in kept_ranks(ranked, None, None)])
    assert ratio(gather(lists)) == spelled(sizes)


def test_figures_of_three_lists_by_hand():
    lists = [
        RankedList("a", tuple(of_words([10, 20, 30])), relevant=(True, False, True)),
        RankedList("b", tuple(of_words([50])), relevant=(True,)),
        RankedList("c", (), relevant=()),
    ]
    figures = outcome(gather(lists), 25, None, 30)
    assert figures.documents == Spread(0, 0, 1, 2, 2, 2, 3)
    assert figures.words == Spread(0, 0, 30, 50, 50, 50, 80)
    assert (figures.queries, figures.judged, figures.losing) == (3, 2, 1)
    assert (figures.relevant_kept, figures.relevant, figures.recall) == (2, 3, 2 / 3)
    assert (figures.overshoot, figures.mean_overshoot) == (30, 10)  # 5 of a; b, a list of one, ignores the threshold
    assert figures.share_losing == 1 / 2


def test_the_best_pair_by_hand():
    lists = [
        RankedList(f"{n}", tuple(of_words([10] * 6)), relevant=(True, False, True, True, False, False)) for n in "ab"
    ]
    made = gather(lists, count_tokens=True)
    ten = measure.tokens(["word " * 10])[0]
    answer = best(made, 5 * ten, 0, Objective.RELEVANT)
    assert (answer.best.word_count_threshold, answer.best.top_k) == (31, None)  # the fourth crosses; the rest is no use
    assert (answer.best.relevant_kept, answer.best.over) == (6, 0)
    answer = best(made, 5 * ten, 0, Objective.DOCUMENTS)
    assert (answer.best.word_count_threshold, answer.best.top_k) == (50, None)
    assert (answer.top_k_alone.word_count_threshold, answer.top_k_alone.top_k) == (None, 5)
    assert (answer.runner_up.top_k, answer.runner_up.documents.total) == (4, 8)
    assert best(made, ten - 1, 0, Objective.DOCUMENTS).best is None
    assert best(made, ten - 1, 1, Objective.DOCUMENTS).best.documents.total == 12


def test_without_marks_the_goal_says_so():
    made = gather([RankedList("a", tuple(of_words([1, 2])))])
    assert objectives(made) == (Objective.DOCUMENTS, Objective.WORDS)
    with pytest.raises(SettingError, match="no document is marked"):
        best(made, 10, 0, Objective.RELEVANT)
    assert outcome(made).losing is None


def test_without_tokens_everything_else_is_told(monkeypatch):
    monkeypatch.setattr(measure, "toktok", None)
    made = gather([RankedList("a", tuple(of_words([10, 20, 30]))), RankedList("b", tuple(of_words([5])))])
    figures = outcome(made, 15, None, 100)
    assert (figures.tokens, figures.over, figures.words.total) == (None, None, 35)
    assert (ratio(made), curve(made, [5]).tokens) == (None, None)
    assert grid(made, [15], [None], 100).over is None
    assert worst(counts(made, 15), made, 5).tolist() == [0, 1]
    with pytest.raises(SettingError, match="toktok-rs"):
        best(made, 100, 0, Objective.DOCUMENTS)


def test_tokens_of_a_text_are_counted_once(monkeypatch):
    counted = []
    real = measure.tokens
    monkeypatch.setattr(measure, "tokens", lambda texts: counted.extend(texts) or real(texts))
    lists = [RankedList(f"{n}", tuple(of_words([n % 3 + 1, 7]))) for n in range(30)]
    monkeypatch.setattr(pool, "DOCUMENTS_AT_A_TIME", 8)
    whole = gather(lists)
    assert sorted(counted) == sorted({document.content for ranked in lists for document in ranked.documents})
    monkeypatch.setattr(pool, "MAX_REMEMBERED", 2)  # forgets, and counts again
    assert np.array_equal(gather(lists).token_totals, whole.token_totals)


def test_progress_ticks_and_ends_with_all():
    ticks = []
    lists = [RankedList(f"{n}", tuple(of_words([1] * 3_000))) for n in range(20)]
    gather(lists, progress=lambda done, total: ticks.append((done, total)), count_tokens=False)
    assert ticks == [(7, 20), (14, 20), (20, 20)]


def test_the_worst_queries():
    lists = [
        RankedList("small", tuple(of_words([5, 5])), relevant=(False, False)),
        RankedList("large", tuple(of_words([90, 5])), relevant=(True, False)),
        RankedList("loses", tuple(of_words([10, 10, 10])), relevant=(False, False, True)),
    ]
    made = gather(lists)
    assert worst(counts(made, 15), made, 3).tolist() == [1, 2, 0]
    assert worst(counts(made, 15), made, 2, by="relevant").tolist() == [2, 1]


def test_what_cannot_be_answered_is_named():
    made = gather([RankedList("a", tuple(of_words([1, 2])))])
    with pytest.raises(SettingError, match="0 ranked lists"):
        gather([])
    with pytest.raises(SettingError, match="labels for 2 lists, but 1 lists"):
        gather([RankedList("a", ())], [None, None])
    with pytest.raises(SettingError, match="List 1 has 1 documents and 2 labels"):
        gather([RankedList("a", tuple(of_words([1])))], [(True, False)])
    with pytest.raises(DocumentError, match=r"List 2 \(b\).*None"):
        gather([RankedList("a", ()), RankedList("b", (Document(id="x"),))])
    with pytest.raises(SettingError, match="top_k is 0"):
        counts(made, None, 0)
    with pytest.raises(SettingError, match="word_count_threshold is -1"):
        grid(made, [-1], [None])
    with pytest.raises(SettingError, match="-5 tokens for documents"):
        outcome(made, None, None, -5)
    with pytest.raises(SettingError, match=r"share of queries is 1\.5"):
        best(made, 5, 1.5, Objective.DOCUMENTS)


def test_every_top_k_is_searched_up_to_200_and_then_a_ladder():
    assert pairs.searched_top_ks(5) == (1, 2, 3, 4, None)
    assert pairs.searched_top_ks(1) == (None,)
    long = pairs.searched_top_ks(10_000)
    assert long[:200] == tuple(range(1, 201))
    assert len(long) < 300
    assert all(after <= 1.05 * before for before, after in pairwise(long[199:-1]))


def test_charts_get_round_limits():
    made = gather([RankedList("a", tuple(of_words([900, 100]))), RankedList("b", tuple(of_words([400])))])
    assert round_thresholds(made) == (100, 200, 300, 400, 500, 600, 700, 800, 900, None)
    assert some_top_ks(50) == (5, 10, 15, 20, 25, 30, 35, 40, 45, None)
    assert some_top_ks(3) == (1, 2, None)
    assert round_thresholds(gather([RankedList("a", ())])) == (None,)


def test_a_large_pool_agrees_with_haystack_itself():
    from haystack.components.rankers import LostInTheMiddleRanker

    lists = [RankedList(f"{n}", tuple(of_words([(n * m) % 37 + 1 for m in range(1, n % 20 + 2)]))) for n in range(300)]
    made = gather(lists)
    for threshold, top_k in ((1, None), (40, 5), (100, None), (None, 3), (250, 12)):
        ranker = LostInTheMiddleRanker(threshold, top_k)
        theirs = [ranker.run(documents=list(ranked.documents))["documents"] for ranked in lists]
        assert counts(made, threshold, top_k).kept.tolist() == list(map(len, theirs))
        assert counts(made, threshold, top_k).words.tolist() == [
            sum(len(document.content.split()) for document in documents) for documents in theirs
        ]
