"""`arrange` and the component against the installed Haystack, on whole lists and by identity."""

import asyncio
import copy
import dataclasses
import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.rankers import LostInTheMiddleRanker as HaystackRanker
from haystack.core.errors import DeserializationError
from hypothesis import given
from hypothesis import strategies as st
from ranked_lists import WHITESPACE, of_words, ranked_lists, retell, same_objects, thresholds, top_ks

from lim import DocumentError, Fate, LimError, LostInTheMiddleRanker, SettingError, arrange
from lim.ranker import same_as_haystack

CASES = json.loads((Path(__file__).parent / "cases" / "ranker.json").read_text("utf-8"))
REAL_FILE = Path(__file__).parents[2] / "shared" / "real" / "nq_open_20ctxs_gold_at_9_derived.jsonl"
REAL_WORDS = [22, 113, 88, 239, 26, 56, 100, 90, 100, 100, 70, 80, 39, 108, 100, 13, 36, 21, 100, 69]
REAL_ORDER = [1, 3, 5, 7, 9, 11, 10, 8, 6, 4, 2]

BAD_LIMITS = [0, -1, -1000, 1.0, 2.5, True, False, "5", "", np.int64(0), np.int64(-3), np.float64(2), np.array([1, 2])]
BAD_LIMITS += [*np.array([True, False]), float("nan"), float("inf"), [5]]


def haystack_documents(documents: list[Document], threshold: int | None, top_k: int | None) -> list[Document]:
    output = HaystackRanker().run(documents=documents, top_k=top_k, word_count_threshold=threshold)["documents"]
    assert isinstance(output, list)
    return output


# The same list as Haystack's


@given(ranked_lists(), thresholds, top_ks)
def test_documents_are_the_very_list_haystack_returns(documents, threshold, top_k):
    result = arrange(documents, word_count_threshold=threshold, top_k=top_k)
    assert same_objects(result.documents, haystack_documents(documents, threshold, top_k))


@given(ranked_lists(max_size=6))
def test_documents_are_haystacks_for_every_pair_of_limits(documents):
    totals = [0, *arrange(documents).totals]
    thresholds = sorted({total + offset for total in totals for offset in (-1, 0, 1, 2) if total + offset > 0})
    for threshold in [None, *thresholds]:
        for top_k in [None, *range(1, len(documents) + 2)]:
            result = arrange(documents, word_count_threshold=threshold, top_k=top_k)
            expected = haystack_documents(documents, threshold, top_k)
            assert same_objects(result.documents, expected), (threshold, top_k)


@pytest.mark.parametrize("separator", list(WHITESPACE), ids=lambda separator: f"U+{ord(separator):04X}")
def test_every_unicode_space_divides_words_as_it_does_for_haystack(separator):
    documents = [Document(content=separator.join(["one", "two", "three"]), id="a"), *of_words([1, 1])]
    kept = {threshold: len(arrange(documents, threshold).documents) for threshold in (3, 4, 5)}
    assert kept == {3: 1, 4: 2, 5: 3}
    assert kept == {threshold: len(haystack_documents(documents, threshold, None)) for threshold in kept}


def test_a_tuple_is_as_good_as_a_list():
    documents = of_words([1, 2, 3])
    assert same_objects(arrange(tuple(documents)).documents, haystack_documents(documents, None, None))


@given(ranked_lists(), thresholds, top_ks, thresholds, top_ks)
def test_other_limits_give_what_arranging_anew_gives(documents, threshold, top_k, other_threshold, other_top_k):
    first = arrange(documents, threshold, top_k)
    before = first.placements
    again = first.limited(other_threshold, other_top_k)
    assert again == arrange(documents, other_threshold, other_top_k)
    assert again.placements == arrange(documents, other_threshold, other_top_k).placements
    assert same_objects(again.documents, haystack_documents(documents, other_threshold, other_top_k))
    assert first.placements is before


@given(ranked_lists(), thresholds, top_ks)
def test_the_live_check_finds_the_same_list(documents, threshold, top_k):
    assert same_as_haystack(arrange(documents, threshold, top_k)) is True


@pytest.mark.parametrize(
    "spoil",
    [lambda output: output[:-1], lambda output: output[::-1], lambda output: [*output[:-1], copy.copy(output[-1])]],
)
def test_the_live_check_finds_a_list_that_differs(monkeypatch, spoil):
    def run(self, documents, top_k=None, word_count_threshold=None):
        return {"documents": spoil(documents)}

    monkeypatch.setattr(HaystackRanker, "run", run)
    assert same_as_haystack(arrange(of_words([1, 2]))) is False


def test_the_live_check_passes_the_limits_on():
    result = arrange(of_words([3, 2, 1, 4]), word_count_threshold=5)
    assert same_as_haystack(result)
    assert not same_as_haystack(dataclasses.replace(result, word_count_threshold=6))
    assert not same_as_haystack(dataclasses.replace(result, top_k=1))


# What became of every document


@given(ranked_lists(), thresholds, top_ks)
def test_placements_say_what_a_slow_retelling_says(documents, threshold, top_k):
    result = arrange(documents, word_count_threshold=threshold, top_k=top_k)
    expected = retell(documents, threshold, top_k)
    assert list(result.placements) == expected
    assert same_objects([placement.document for placement in result.placements], documents)
    assert [placement.rank for placement in result.placements] == list(range(1, len(documents) + 1))


@given(ranked_lists(), thresholds, top_ks)
def test_the_summary_agrees_with_the_placements(documents, threshold, top_k):
    result = arrange(documents, word_count_threshold=threshold, top_k=top_k)
    kept = [placement for placement in result.placements if placement.position is not None]
    assert result.order == [placement.rank for placement in sorted(kept, key=lambda p: p.position or 0)]
    assert same_objects(result.documents, [documents[rank - 1] for rank in result.order])
    assert result.kept == len(kept)
    assert result.words == sum(placement.words for placement in kept)
    assert [p.rank for p in result.placements if p.fate is Fate.CROSSES] == [result.crossing][: result.crossing or 0]
    assert [placement.fate.in_prompt for placement in result.placements] == [
        placement.position is not None for placement in result.placements
    ]
    walked = sorted((p for p in result.placements if p.slot is not None), key=lambda p: p.slot or 0)
    assert list(result.walk) == [placement.rank for placement in walked]
    assert list(result.totals) == [placement.cumulative_words for placement in walked]
    assert result.fates == [placement.fate for placement in walked]
    assert result.positions == [placement.position for placement in walked]
    assert result.placements is result.placements  # built once


@pytest.mark.parametrize("count", range(42))
def test_the_order_is_odd_ranks_up_then_even_ranks_down(count):
    odd, even = list(range(1, count + 1, 2)), list(range(2, count + 1, 2))
    assert arrange(of_words([1] * count)).order == odd + even[::-1]


def test_the_write_up_with_five_letters_is_wrong_and_haystack_is_right():
    documents = [Document(content=letter) for letter in "ABCDE"]
    assert [document.content for document in arrange(documents).documents] == list("ACEDB")


def test_every_fate_in_one_list():
    documents = [*of_words([2, 3, 4, 5, 6]), Document(id="d2", content="a copy", score=0.0)]
    result = arrange(documents, word_count_threshold=6, top_k=4)
    assert [placement[:-1] for placement in result.placements] == [
        (1, 1, 1, 2, 2, Fate.KEPT, None),
        (2, None, None, 3, None, Fate.DUPLICATE, 6),
        (3, 3, 2, 4, 8, Fate.CROSSES, None),
        (4, 4, None, 5, 13, Fate.OVER_THRESHOLD, None),
        (5, 5, None, 6, 19, Fate.OVER_TOP_K, None),
        (6, 2, 3, 2, 4, Fate.KEPT, None),
    ]


def test_one_surviving_document_ignores_the_threshold():
    for documents in (of_words([5]), of_words([5]) * 3):
        assert arrange(documents, word_count_threshold=1).order == [1]
    assert arrange(of_words([0]), word_count_threshold=1).placements[0].fate is Fate.KEPT


def test_an_empty_list_gives_an_empty_arrangement():
    result = arrange([], word_count_threshold=1, top_k=1)
    assert (result.documents, result.placements, result.words, result.crossing) == ([], (), 0, None)


@pytest.mark.parametrize("scores", [(np.float64(0.5), 0.25), (None, float("-inf")), (float("nan"), 1.0), (0.5, 0.5)])
def test_the_first_copy_stays_unless_a_later_one_scores_higher(scores):
    documents = [Document(id="same", content=str(score), score=score) for score in scores]
    assert arrange(documents).order == [1]
    assert same_objects(arrange(documents).documents, haystack_documents(documents, None, None))


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_left_as_it_was(collecting):
    (gc.enable if collecting else gc.disable)()
    try:
        assert len(arrange(of_words([1, 2])).placements) == 2
        assert gc.isenabled() == collecting
    finally:
        gc.enable()


# Settings


@pytest.mark.parametrize("name", ["word_count_threshold", "top_k"])
@pytest.mark.parametrize("value", BAD_LIMITS, ids=lambda value: f"{value!r}-{type(value).__name__}")
def test_a_bad_limit_is_named_with_the_rule_and_the_remedy(name, value):
    attempts = [
        lambda: arrange(of_words([1, 2]), **{name: value}),
        lambda: arrange([], **{name: value}),
        lambda: LostInTheMiddleRanker(**{name: value}),
        lambda: LostInTheMiddleRanker().run(documents=of_words([1, 2]), **{name: value}),
        lambda: LostInTheMiddleRanker(3, 3).run(documents=of_words([1, 2]), **{name: value}),
    ]
    for attempt in attempts:
        with pytest.raises(SettingError) as caught:
            attempt()
        message = str(caught.value)
        assert message.startswith(f"{name} is {value!r} ({type(value).__name__})")
        assert "must be a whole number of at least 1" in message
        assert "Give one, or None for no limit." in message


@pytest.mark.parametrize("value", [0, -1, False])
@pytest.mark.parametrize("name", ["word_count_threshold", "top_k"])
def test_what_haystack_refuses_with_a_value_error_we_refuse_with_one(name, value):
    for ranker in (HaystackRanker, LostInTheMiddleRanker):
        with pytest.raises(ValueError, match=name):
            ranker(**{name: value})


@given(ranked_lists(max_size=8), st.integers(1, 60), st.integers(1, 9))
def test_numpys_whole_numbers_are_taken_as_haystack_takes_them(documents, threshold, top_k):
    numpy_limits: Any = (np.int64(threshold), np.uint8(top_k))
    result = arrange(documents, *numpy_limits)
    assert same_objects(result.documents, haystack_documents(documents, *numpy_limits))
    assert (type(result.word_count_threshold), type(result.top_k)) == (int, int)
    assert result == arrange(documents, threshold, top_k)


# Documents that cannot be arranged


@pytest.mark.parametrize("limits", [{}, {"top_k": 1}, {"word_count_threshold": 1}])
def test_a_missing_text_raises_even_where_the_document_would_be_cut_or_dropped(limits):
    documents = [*of_words([1, 2]), Document(id="hole", content=None), Document(id="d1", content=None)]
    with pytest.raises(ValueError, match="textual"):
        HaystackRanker().run(documents=documents, **limits)
    with pytest.raises(DocumentError) as caught:
        arrange(documents, **limits)
    assert str(caught.value) == (
        "The text (content) of document 3 (id hole), 4 (id d1) is None, but the ranker takes text only and would "
        "raise. Give these documents a text, or leave them out."
    )


def test_many_missing_texts_are_named_up_to_five_and_counted():
    documents = [Document(id=f"d{rank}", content=None) for rank in range(1, 1208)]
    with pytest.raises(DocumentError, match=r"document 1 \(id d1\), .*, 5 \(id d5\) and 1,202 more is None"):
        arrange(documents)


def test_a_missing_text_alone_raises_and_a_bad_setting_comes_first():
    with pytest.raises(DocumentError):
        arrange([Document(id="only", content=None)])
    with pytest.raises(SettingError):
        arrange([Document(id="only", content=None)], top_k=0)


def test_scores_that_cannot_be_compared_are_named():
    documents: list[Any] = [
        Document(id="a", content="one", score=1.0),
        Document(id="b", content="two", score="9.5"),  # type: ignore[arg-type]
        Document(id="a", content="three", score="10.2"),  # type: ignore[arg-type]
    ]
    with pytest.raises(TypeError):
        HaystackRanker().run(documents=documents)
    with pytest.raises(DocumentError) as caught:
        arrange(documents)
    for part in (
        "Documents 1 and 3",
        "'a'",
        "1.0",
        "'10.2'",
        "cannot be compared",
        "Make every score a number or None",
    ):
        assert part in str(caught.value)
    assert arrange(documents[:2]).order == [1, 2]  # without copies nothing is compared, here and in Haystack


# Inputs that are known to go wrong elsewhere


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']} {case['shows']}")
def test_known_case(case):
    documents = [Document(**document) for document in case["documents"]]
    for expected in case["results"]:
        result = arrange(documents, **expected["params"])
        assert result.order == expected["order"]
        assert list(result.walk) == expected["walk"]
        assert list(result.word_counts) == expected["words"]
        assert list(result.totals[: result.ranked]) == expected["cumulative_words"]
        fates = {placement.rank: placement.fate for placement in result.placements}
        assert [rank for rank, fate in fates.items() if fate is Fate.DUPLICATE] == expected["duplicates"]
        cut = [rank for rank in result.walk if fates[rank] in (Fate.OVER_THRESHOLD, Fate.OVER_TOP_K)]
        assert cut == expected["cut"]
        limits = expected["params"]
        theirs = haystack_documents(documents, limits.get("word_count_threshold"), limits.get("top_k"))
        assert same_objects(result.documents, theirs)


def test_twenty_passages_of_the_paper_by_their_word_counts():
    result = arrange(of_words(REAL_WORDS), word_count_threshold=1000)
    assert (result.kept, result.words, result.order, result.crossing) == (11, 1004, REAL_ORDER, 11)
    assert arrange(of_words(REAL_WORDS)).placements[9].position == 16


@pytest.mark.skipif(not REAL_FILE.exists(), reason="the file of real passages lies beside the repository, not in it")
def test_twenty_passages_of_the_paper():
    record = json.loads(REAL_FILE.read_text("utf-8").split("\n")[0])
    documents = [Document(content=passage["text"], meta={"title": passage["title"]}) for passage in record["ctxs"]]
    result = arrange(documents, word_count_threshold=1000)
    assert list(result.word_counts) == REAL_WORDS
    assert (result.kept, result.words, result.order, result.crossing) == (11, 1004, REAL_ORDER, 11)
    assert same_objects(result.documents, haystack_documents(documents, 1000, None))


# The component


@given(ranked_lists(max_size=12), thresholds, top_ks, thresholds, top_ks)
def test_the_component_is_a_drop_in(documents, threshold, top_k, run_threshold, run_top_k):
    before = copy.deepcopy(documents)
    ours = LostInTheMiddleRanker(word_count_threshold=threshold, top_k=top_k)
    theirs = HaystackRanker(word_count_threshold=threshold, top_k=top_k)
    result = ours.run(documents, run_top_k, run_threshold)
    assert same_objects(result["documents"], theirs.run(documents, run_top_k, run_threshold)["documents"])
    assert asyncio.run(ours.run_async(documents, run_top_k, run_threshold)) == result
    assert [vars(document) for document in documents] == [vars(document) for document in before]  # nothing is mutated


@given(ranked_lists(max_size=12), thresholds, top_ks)
def test_placements_of_the_component_are_plain_and_json_ready(documents, threshold, top_k):
    placements = LostInTheMiddleRanker(threshold, top_k).run(documents)["placements"]
    assert json.loads(json.dumps(placements, allow_nan=False)) == placements
    assert placements == [
        {
            "rank": p.rank,
            "slot": p.slot,
            "position": p.position,
            "words": p.words,
            "cumulative_words": p.cumulative_words,
            "fate": p.fate.value,
            "duplicate_of": p.duplicate_of,
            "id": p.document.id,
        }
        for p in arrange(documents, threshold, top_k).placements
    ]
    assert {type(placement["fate"]) for placement in placements} <= {str}


def test_limits_are_stored_as_plain_numbers_under_their_names():
    ranker = LostInTheMiddleRanker(word_count_threshold=np.int64(7), top_k=np.int32(2))  # type: ignore[arg-type]
    assert (ranker.word_count_threshold, ranker.top_k) == (7, 2)
    assert (type(ranker.word_count_threshold), type(ranker.top_k)) == (int, int)


def prompt_pipeline(ranker: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("ranker", ranker)
    template = "{% for document in documents %}[{{ document.content }}]{% endfor %} {{ question }}"
    pipeline.add_component("prompt", PromptBuilder(template=template, required_variables=["documents", "question"]))
    pipeline.connect("ranker.documents", "prompt.documents")
    return pipeline


def test_in_a_pipeline_it_replaces_haystacks():
    data = {"ranker": {"documents": of_words([3, 1, 2, 4])}, "prompt": {"question": "Why?"}}
    ours, theirs = prompt_pipeline(LostInTheMiddleRanker(6)), prompt_pipeline(HaystackRanker(6))
    result = ours.run(data, include_outputs_from={"ranker"})
    assert result["prompt"] == theirs.run(data)["prompt"]
    assert asyncio.run(ours.run_async(data))["prompt"] == result["prompt"]
    assert [p["fate"] for p in result["ranker"]["placements"]] == ["kept", "kept", "crosses", "over threshold"]


@pytest.mark.parametrize("limits", [{}, {"word_count_threshold": 6}, {"word_count_threshold": 6, "top_k": 2}])
def test_it_survives_pipeline_yaml(limits):
    written = prompt_pipeline(LostInTheMiddleRanker(**limits)).dumps()
    read = Pipeline.loads(written, allowed_modules=["lim.ranker"])
    ranker = read.get_component("ranker")
    assert isinstance(ranker, LostInTheMiddleRanker)
    assert (ranker.word_count_threshold, ranker.top_k) == (limits.get("word_count_threshold"), limits.get("top_k"))
    assert read.dumps() == written
    data = {"ranker": {"documents": of_words([3, 1, 2, 4])}, "prompt": {"question": "Why?"}}
    assert read.run(data) == prompt_pipeline(HaystackRanker(**limits)).run(data) | {
        "ranker": {"placements": ranker.run(of_words([3, 1, 2, 4]))["placements"]}
    }


def test_pipeline_yaml_with_a_bad_limit_does_not_load():
    written = prompt_pipeline(LostInTheMiddleRanker(word_count_threshold=6)).dumps()
    with pytest.raises((LimError, DeserializationError), match="word_count_threshold is 0"):
        Pipeline.loads(written.replace("word_count_threshold: 6", "word_count_threshold: 0"), allowed_modules=["lim"])
