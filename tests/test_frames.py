"""The frames against a plain retelling of the ranker, whole columns at a time."""

import math
from dataclasses import replace

import numpy as np
import pytest
from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker as HaystackRanker
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_lists import of_words, ranked_lists, retell, thresholds, top_ks

from lim import Fate, arrange, frames
from lim.thresholds import staircase

picks = st.one_of(st.none(), st.integers(1, 30))
sizes = st.one_of(st.integers(0, 600), st.sampled_from([frames.MAX_MARKS, frames.MAX_MARKS + 1, 6000]))
# No table and no page holds lone surrogates; the loader leaves none.
lists = ranked_lists().map(
    lambda drawn: [replace(each, content=each.content.encode("utf-8", "replace").decode()) for each in drawn]
)
long_lists = st.tuples(st.integers(241, 900), st.integers(0, 2**32 - 1)).map(
    lambda drawn: of_words(np.random.default_rng(drawn[1]).integers(0, 30, drawn[0]).tolist())
)


def rows(frame, *columns):
    """List the rows of a frame as plain tuples, missing values as None."""
    values = frame[list(columns)].astype(object)
    return list(values.where(values.notna(), None).itertuples(index=False, name=None))


def kept_in_order(placements):
    return sorted((place for place in placements if place.position is not None), key=lambda place: place.position)


def shade(place, kept):
    return pytest.approx((place.slot - 1) / max(kept - 1, 1))


@given(lists, thresholds, top_ks, picks)
def test_landing_has_one_row_for_each_position(documents, threshold, top_k, picked):
    frame = frames.landing(arrange(documents, threshold, top_k), picked)
    kept = kept_in_order(retell(documents, threshold, top_k))
    weakest = max((place.rank for place in kept), default=1)
    assert rows(
        frame,
        *("name", "position", "last", "rank", "rank_name", "shade", "crosses", "picked", "words", "preview"),
        *("floor", "label"),
    ) == [
        (
            *(str(place.position), place.position, place.position, place.rank, str(place.rank)),
            *(shade(place, len(kept)), place.fate is Fate.CROSSES, place.rank == picked, place.words),
            *(frames.preview(place.document.content), weakest + max(0.9, weakest / 20), str(place.rank)),
        )
        for place in kept
    ]


@given(lists, thresholds, top_ks, picks)
def test_budget_has_one_row_for_each_step_of_the_walk(documents, threshold, top_k, picked):
    frame = frames.budget(arrange(documents, threshold, top_k), picked)
    walk = sorted(
        (place for place in retell(documents, threshold, top_k) if place.slot is not None), key=lambda place: place.slot
    )
    assert rows(
        frame[frame["kind"] == "document"],
        *("name", "slot", "last", "start", "end", "foot", "words", "ranked", "picked", "fate", "preview"),
    ) == [
        (
            *(str(place.rank), place.slot, place.slot, place.cumulative_words - place.words, place.cumulative_words),
            *(place.cumulative_words - place.words, place.words, place.fate is not Fate.OVER_TOP_K),
            *(place.rank == picked, frames.FATE_WORDS[place.fate], frames.preview(place.document.content)),
        )
        for place in walk
    ]
    total = sum(len(place.document.content.split()) for place in walk)
    drawn = threshold if threshold and threshold <= 1.5 * total else None  # one far beyond the list is not
    assert set(rows(frame, "threshold", "base")) == {(drawn, threshold or 0)}


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12).map(of_words), thresholds, top_ks)
def test_every_handle_says_what_haystack_would_keep(documents, threshold, top_k):
    frame = frames.budget(arrange(documents, threshold, top_k))
    handles = frame[frame["kind"] == "handle"]
    ranker = HaystackRanker(top_k=top_k)
    expected = []
    for handle in frames.handle_thresholds(sum(len(document.content.split()) for document in documents)).tolist():
        kept = ranker.run(documents=documents, word_count_threshold=handle)["documents"]
        expected.append((handle, len(kept), sum(len(document.content.split()) for document in kept)))
    assert rows(handles, "handle", "handle_documents", "handle_words") == expected


@given(lists, thresholds, top_ks, picks)
def test_slope_has_a_row_on_each_side(documents, threshold, top_k, picked):
    frame = frames.slope(arrange(documents, threshold, top_k), picked)
    placements = retell(documents, threshold, top_k)
    kept = len(kept_in_order(placements))
    expected = []
    for place in placements:
        common = (
            shade(place, kept) if place.fate.in_prompt else 0.0,
            place.fate.in_prompt,
            place.rank == picked,
            frames.FATE_WORDS[place.fate],
            frames.preview(place.document.content),
        )
        expected.append((place.rank, "Ranked list", place.rank, *common))
        if place.position is not None:
            expected.append((place.rank, "Prompt", place.position, *common))
    assert rows(frame, "rank", "side", "place", "shade", "in_prompt", "picked", "fate", "preview") == expected


@given(lists, thresholds, top_ks)
def test_table_has_one_row_for_every_input_document(documents, threshold, top_k):
    tokens = [7 * rank for rank in range(1, len(documents) + 1)]
    arrangement = arrange(documents, threshold, top_k)
    placements = retell(documents, threshold, top_k)
    words = sum(place.words for place in kept_in_order(placements))
    lone = sum(place.fate is not Fate.OVER_TOP_K for place in placements if place.slot is not None) == 1

    def why(place):
        match place.fate:
            case Fate.DUPLICATE:
                return f"same id as rank {place.duplicate_of}, which is kept"
            case Fate.OVER_TOP_K:
                return f"top_k keeps the first {top_k}"
            case Fate.OVER_THRESHOLD:
                return f"the walk stopped before it, at {words:,} words"
            case Fate.CROSSES if lone:
                return "a list of one document ignores the threshold"
            case Fate.CROSSES:
                return f"its words reach the threshold of {threshold:,}; the ranker keeps it"
        return ""

    frame = frames.table(arrangement, tokens)
    assert rows(
        frame, *("rank", "position", "fate", "why", "words", "cumulative_words", "tokens", "score", "id", "text")
    ) == [
        (
            *(place.rank, place.position, frames.FATE_WORDS[place.fate], why(place), place.words),
            *(place.cumulative_words, count, plain_score(place.document), place.document.id, place.document.content),
        )
        for place, count in zip(placements, tokens, strict=True)
    ]
    part = slice(1, 5)
    assert rows(frames.table(arrangement, tokens, rows=part), *frame.columns) == rows(frame, *frame.columns)[part]


def plain_score(document):
    return None if document.score is None or math.isnan(document.score) else document.score


def test_table_shows_the_numbers_it_is_given_and_no_column_for_tokens_that_are_not_available():
    documents = [Document(id="a", content="one", score=0.0), Document(id="b", content="two", score=None)]
    assert rows(frames.table(arrange(documents)), "score") == [(0.0,), (None,)]  # zero is a score
    assert rows(frames.table(arrange(documents), scores=[None, 1.5]), "score") == [(None,), (1.5,)]
    assert "tokens" not in frames.table(arrange(documents)).columns


@given(st.lists(st.integers(0, 5), max_size=12).map(of_words), top_ks, st.booleans())
def test_steps_are_the_reachable_steps_of_the_staircase(documents, top_k, counted):
    tokens = list(range(len(documents))) if counted else None
    stairs = staircase(arrange(documents, top_k=top_k), tokens)
    assert rows(frames.steps(stairs), "kept", "rank", "lowest", "highest", "words", "tokens", "overshoot") == [
        (step.kept, step.rank, step.lowest, step.highest, step.words, step.tokens, step.overshoot)
        for step in stairs
        if step.reachable
    ]


@given(sizes, st.integers(1, 300), st.data())
def test_bins_cover_everything_once_in_nearly_equal_runs(size, most, data):
    cuts = data.draw(st.lists(st.integers(0, size), max_size=3))
    edges = frames.bins(size, most, cuts).tolist()
    assert edges[0] == 0
    assert edges[-1] == size
    assert edges == sorted(set(edges))
    assert set(cuts) <= set(edges)
    even = np.diff(frames.bins(size, most)).tolist()
    assert len(even) == min(size, most)
    assert not even or max(even) - min(even) <= 1
    assert len(edges) - 1 <= len(even) + len(set(cuts) - {0, size})


@settings(max_examples=40)
@given(long_lists, st.integers(1, 14000), top_ks | st.integers(200, 900))
def test_a_binned_budget_is_exact_where_it_cuts(documents, threshold, top_k):
    arrangement = arrange(documents, threshold, top_k)
    frame = frames.budget(arrangement)
    bins = frame[frame["kind"] == "document"]
    assert len(bins) <= frames.MAX_MARKS + 3
    first, last = bins["slot"].astype(int).tolist(), bins["last"].astype(int).tolist()
    assert first == [1, *(slot + 1 for slot in last[:-1])]
    assert last[-1] == len(documents)
    totals = (0, *arrangement.totals)
    assert bins["start"].tolist() == [totals[slot - 1] for slot in first]
    assert bins["end"].tolist() == [totals[slot] for slot in last]
    assert bins["words"].tolist() == [totals[b] - totals[a - 1] for a, b in zip(first, last, strict=True)]
    assert set(bins["foot"]) == {0}
    fates = arrangement.fates
    for start, stop, fate, ranked in zip(first, last, bins["fate"], bins["ranked"], strict=True):
        assert {frames.FATE_WORDS[inside] for inside in fates[start - 1 : stop]} == {fate}  # no run mixes fates
        assert ranked == (fates[start - 1] is not Fate.OVER_TOP_K or start <= arrangement.ranked)
    crossing = bins[bins["fate"] == frames.FATE_WORDS[Fate.CROSSES]]
    assert crossing["name"].tolist() == ([f"{arrangement.crossing:,}"] if arrangement.crossing else [])
    # what the chart works out from the rows: the words reached and the documents dropped
    kept = bins[bins["ranked"].astype(bool) & ((bins["slot"] == 1) | (bins["start"] < threshold))]
    assert kept["end"].max() == arrangement.words
    assert kept["last"].max() == arrangement.kept


@settings(max_examples=40)
@given(long_lists, st.integers(1, 14000) | st.none())
def test_a_binned_landing_shows_every_position_once_and_the_crossing_alone(documents, threshold):
    arrangement = arrange(documents, threshold)
    frame = frames.landing(arrangement)
    assert len(frame) <= frames.MAX_MARKS + 2
    first, last = frame["position"].tolist(), frame["last"].tolist()
    assert first == [1, *(position + 1 for position in last[:-1])]
    assert last[-1] == arrangement.kept
    order = arrangement.order
    assert frame["rank"].tolist() == [min(order[a - 1 : b]) for a, b in zip(first, last, strict=True)]
    assert frame["words"].sum() == arrangement.words
    crossing = frame[frame["crosses"]]
    assert crossing["rank_name"].tolist() == ([str(arrangement.crossing)] if arrangement.crossing else [])
    assert frame["preview"].tolist() == [
        frames.preview(documents[order[a - 1] - 1].content) if a == b else "" for a, b in zip(first, last, strict=True)
    ]


def test_a_binned_list_in_figures():
    documents = of_words([10] * 1000)
    landing = frames.landing(arrange(documents, 4995), picked=3)
    assert len(landing) == frames.MAX_MARKS + 1
    assert rows(landing.head(2), "name", "rank", "rank_name", "picked", "words", "label") == [
        ("1–2", 1, "1–3", True, 20, ""),
        ("3–4", 5, "5–7", False, 20, ""),
    ]
    middle = landing[landing["crosses"]]
    assert rows(middle, "name", "rank", "rank_name", "words") == [("251", 500, "500", 10)]
    budget = frames.budget(arrange(documents, 4995))
    assert rows(budget[budget["fate"] == frames.FATE_WORDS[Fate.CROSSES]], "name", "start", "end") == [
        ("500", 4990, 5000)
    ]


def test_a_long_list_carries_no_texts_and_few_rows():
    documents = of_words([3] * 6000)
    assert len(frames.budget(arrange(documents, 9000))) < 400
    assert set(frames.budget(arrange(documents))["preview"].dropna()) == {""}
    assert len(frames.landing(arrange(documents))) == frames.MAX_MARKS


@pytest.mark.parametrize(
    ("total", "step"), [(0, 1), (1, 1), (120, 1), (121, 2), (240, 2), (241, 5), (601, 10), (1538, 20), (10**6, 10**4)]
)
def test_handles_are_round_and_few(total, step):
    assert frames.handle_step(total) == step
    handles = frames.handle_thresholds(total).tolist()
    assert handles == list(range(step, total + 2 * step, step))
    assert handles[-1] > total - step
    assert len(handles) <= 122


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("", 10, ""),
        ("short", 10, "short"),
        (" two\n\n lines\t", 10, "two lines"),
        ("exactly 10", 10, "exactly 10"),
        ("one more 11", 10, "one more …"),
        ("a" + " " * 100 + "b", 10, "a…"),
    ],
)
def test_a_preview_is_one_short_line(text, length, shown):
    assert frames.preview(text, length) == shown


def test_no_frame_has_a_column_of_a_persons_making():
    documents = [Document(content="a b", meta={"a.b": 1, 'q"': 2, "x[0]": 3}, score=1.0), Document(content="c")]
    arrangement = arrange(documents, 1)
    made = [
        frames.landing(arrangement),
        frames.budget(arrangement),
        frames.slope(arrangement),
        frames.steps(staircase(arrangement)),
        frames.table(arrangement, [1, 2]),
    ]
    assert all(name.isidentifier() for frame in made for name in frame.columns)
    assert not {"a.b", 'q"', "x[0]"} & {name for frame in made for name in frame.columns}
