"""The collected faults (`tests/cases/loading`), each read as its author meant and ranked by Haystack's own ranker."""

import json
from pathlib import Path
from typing import Any

import pytest
from haystack.components.rankers import LostInTheMiddleRanker

from lim.errors import MissingTextError
from lim.loading import Loaded, NoticeKind, RankedList, load

HERE = Path(__file__).parents[1] / "cases" / "loading"
REAL = Path(__file__).parents[3] / "shared" / "real"
EXPECTED: list[dict[str, Any]] = json.loads((HERE / "expected.json").read_text("utf-8"))
TEA = ["Green tea leaves.", "Water for green tea.", "Black tea.", "A gaiwan.", "Store loose tea."]


def read(name: str) -> Loaded:
    (path,) = HERE.glob(f"{name}*") if "/" not in name else [HERE / name]
    return load(path.read_bytes(), path.name)


def order(found: RankedList, **params: int) -> list[int]:
    ranked = LostInTheMiddleRanker().run(documents=list(found.documents), **params)["documents"]
    return [next(n for n, d in enumerate(found.documents, 1) if d is document) for document in ranked]


@pytest.mark.parametrize("case", [c for c in EXPECTED if c["case"] != "A17"], ids=lambda case: case["case"])
def test_case(case: dict[str, Any]) -> None:
    loaded = load((HERE / case["file"]).read_bytes(), Path(case["file"]).name)
    found = loaded.lists[case["list"]]
    for document, content in zip(found.documents, case["contents"], strict=True):
        assert content is None or document.content == content
    assert [None if len(d.id) == 64 else d.id for d in found.documents] == case["ids"]
    assert [d.score for d in found.documents] == case["scores"]
    for run in case["runs"]:
        assert [len((d.content or "").split()) for d in found.documents] == run["words"]
        assert order(found, **run["params"]) == run["order"]


def notes(loaded: Loaded, kind: NoticeKind) -> list[tuple[str, ...]]:
    return [notice.places for notice in loaded.notices if notice.kind is kind]


def test_null_text_is_left_out_by_name() -> None:
    assert notes(read("A08"), NoticeKind.LEFT_OUT) == [("[4]",)]
    assert notes(read("E12"), NoticeKind.LEFT_OUT) == [("result.points[2]",)]


def test_distances_are_shown_and_are_not_scores() -> None:
    found = read("A10").lists[0]
    assert found.lower_is_better
    assert found.score_name == "distance"
    assert found.distances == (0.2874, 0.4119, 0.4502, 0.6033, 0.9127)


def test_a_run_without_texts_asks_for_them_and_keeps_the_order_of_the_file() -> None:
    with pytest.raises(MissingTextError, match="second file"):
        read("A17")
    corpus = "\n".join(json.dumps({"_id": f"MED-{n}", "text": f"Text {n}."}) for n in ("02", "14", "31", "77"))
    run = (HERE / "A17_run_rank_all_zero.trec").read_bytes()
    (found,) = load(run, "a.trec", beside=(corpus.encode(), "corpus.jsonl")).lists
    assert [d.id for d in found.documents] == ["MED-14", "MED-02", "MED-77", "MED-31"]
    assert [d.content for d in found.documents] == ["Text 14.", "Text 02.", "Text 77.", "Text 31."]
    assert [d.score for d in found.documents] == [3.904401, 3.904401, 2.11882, 0.955]
    assert order(found) == [1, 3, 4, 2]


def test_a_reranker_response_points_into_the_documents_that_were_sent() -> None:
    with pytest.raises(MissingTextError, match="not the texts"):
        read("E09")
    data = (HERE / "E09_cohere_rerank_no_text.json").read_bytes()
    for sent in (json.dumps(TEA), json.dumps([{"text": text} for text in TEA]), "\n\n".join(TEA)):
        (found,) = load(data, "e09.json", beside=(sent.encode(), "sent.txt")).lists
        assert [d.content for d in found.documents] == [TEA[3], TEA[0], TEA[4]]
        assert order(found) == [1, 3, 2]


def test_ragged_rows_are_named_by_line() -> None:
    loaded = read("C06")
    assert notes(loaded, NoticeKind.LEFT_OUT) == [("line 3",)]
    assert ("line 5",) in notes(loaded, NoticeKind.GUESSED)


def test_a_workbook_under_another_name_is_read_as_one() -> None:
    loaded = read("C13")
    assert loaded.format.startswith("Excel workbook")
    assert [len(d.content.split()) > 1 for d in loaded.lists[0].documents] == [True] * 3


def test_several_lists_are_listed_by_path_and_never_pooled() -> None:
    loaded = read("E08")
    assert [(each.name, len(each.documents)) for each in loaded.lists] == [
        ("bm25_retriever.documents", 3),
        ("embedding_retriever.documents", 3),
        ("ranker.documents", 5),
    ]
    assert loaded.default == 2
    assert [len(each.documents) for each in read("E20").lists] == [2, 3]
    assert [len(each.documents) for each in read("E18").lists] == [3, 1]
    assert [each.query for each in read("E20").lists] == ["gift refunds", "labels"]


def test_of_several_scores_the_one_that_agrees_with_the_order_is_taken() -> None:
    assert read("A20").lists[0].score_name == "rerank_score"
    assert read("E11").lists[0].score_name == "@search.rerankerScore"
    assert read("E14").lists[0].score_name == "_additional.certainty"
    loaded = read("C10")
    assert {"score", "score (2)"} <= set(loaded.fields)


def test_the_constant_column_is_the_query() -> None:
    loaded = read("C08")
    assert loaded.lists[0].query == "how do I return a gift"
    assert loaded.reading.text == "chunk_text"
    assert loaded.reading.score == "similarity"


def test_user_fields_stay_and_ours_do_not_come() -> None:
    assert [d.meta for d in read("A06").lists[0].documents] == [
        {"file_name": "site_rules_a.txt"},
        {"file_name": "site_rules_b.txt"},
        {"file_name": "site_rules_a.txt"},
    ]
    assert [d.meta for d in read("E06").lists[0].documents] == [
        {"content": "teaser line", "score": 5, "page": 1},
        {"meta": "legacy", "page": 2},
        {"page": 3},
    ]
    assert read("D07").lists[0].documents[0].meta == {"date": "1700000000", "modified": "ok"}
    assert read("E03").lists[0].documents[0].meta == {"source": "tea.md", "loc": {"lines": {"from": 1, "to": 3}}}
    assert read("E01").lists[0].documents[0].meta == {"source": "returns.md", "start_index": 0}
    assert [d.embedding for d in read("E08").lists[2].documents] == [[0.01, 0.02, 0.03]] * 5


def test_infinity_is_no_score_and_is_said() -> None:
    assert notes(read("D08"), NoticeKind.CHANGED) == [("[0]", "[2]")]


def test_marks_of_relevance() -> None:
    assert read("A21").lists[0].relevant == (True, False, True, False)


def test_six_thousand_documents() -> None:
    data = "".join(json.dumps({"i": n, "text": f"Log entry {n} reads fair wind."}) + "\n" for n in range(6000))
    (found,) = load(data.encode(), "log.jsonl").lists
    ranked = order(found)
    assert ranked[:3] == [1, 3, 5]
    assert ranked[-3:] == [6, 4, 2]
    assert ranked[2999:3001] == [5999, 6000]


@pytest.mark.skipif(not REAL.exists(), reason="the real files are not beside the repository")
class TestReal:
    def test_nq_open(self) -> None:
        path = REAL / "nq_open_20ctxs_gold_at_9_derived.jsonl"
        (found,) = load(path.read_bytes(), path.name).lists
        words = [22, 113, 88, 239, 26, 56, 100, 90, 100, 100, 70, 80, 39, 108, 100, 13, 36, 21, 100, 69]
        assert [len(d.content.split()) for d in found.documents] == words
        assert order(found).index(10) == 15
        assert order(found, word_count_threshold=1000) == [1, 3, 5, 7, 9, 11, 10, 8, 6, 4, 2]
        assert found.query == "who got the first nobel prize in physics"
        assert found.relevant == tuple(n == 10 for n in range(1, 21))

    def test_autorag(self) -> None:
        path = REAL / "autorag_lexical_two_queries.json"
        loaded = load(path.read_bytes(), path.name)
        retrieved = [each for each in loaded.lists if "reranked" not in each.path]
        assert [len(each.documents) for each in retrieved] == [10, 10]
        assert [len(each.documents) for each in loaded.lists] == [10, 5, 10, 5]
        assert loaded.lists[loaded.default] is retrieved[0]
        assert [len(order(each)) for each in retrieved] == [6, 6]

    def test_trec(self) -> None:
        path = REAL / "trec_eval_results.trunc"
        data = path.read_bytes()
        with pytest.raises(MissingTextError, match="584"):
            load(data, path.name)
        ids = sorted({line.split()[2].decode() for line in data.splitlines()})
        corpus = "\n".join(json.dumps({"docno": ident, "text": f"Text of {ident}."}) for ident in ids)
        loaded = load(data, path.name, beside=(corpus.encode(), "corpus.jsonl"))
        assert [(each.name, len(each.documents)) for each in loaded.lists] == [("301", 500), ("303", 84)]
        scores = [d.score for d in loaded.lists[0].documents]
        assert scores == sorted(scores, reverse=True)  # its ranks are 1..500, in another order than its lines
        listed = [line.split()[2].decode() for line in data.splitlines() if line.startswith(b"303")]
        assert [d.id for d in loaded.lists[1].documents] == listed  # ranks with gaps say nothing by themselves
