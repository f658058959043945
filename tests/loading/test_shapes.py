"""Every shape of the registry, on what its tool writes (`tests/cases/shapes.json`), with texts of our own."""

import json
from pathlib import Path
from typing import Any

import pytest

from lim.errors import MissingTextError
from lim.loading import load, supported
from lim.loading.shapes.registry import COLUMNS, SHAPES

A, B = "Ropes are coiled clockwise after use.", "The bell is tested on Mondays."
CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "cases" / "shapes.json").read_text("utf-8"))
each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


@each_case
def test_shape(case: dict[str, Any]) -> None:
    loaded = load(json.dumps(case["value"]).encode(), "dump.json")
    found = loaded.lists[loaded.default]
    assert [document.content for document in found.documents] == case.get("texts", [A, B])
    assert [document.score for document in found.documents] == case.get("scores", [None, None])
    explicit = [None if len(document.id) == 64 else document.id for document in found.documents]
    assert explicit == case.get("ids", [None, None])
    assert case["shape"] in loaded.format
    assert len(loaded.lists) == case.get("lists", 1)
    assert loaded.default == case.get("default", 0)
    if "meta" in case:
        assert [document.meta for document in found.documents] == case["meta"]
    distances = case.get("distances")
    assert found.distances == (None if distances is None else tuple(distances))
    assert found.lower_is_better == (distances is not None)
    if "query" in case:
        assert found.query == case["query"]


@each_case
def test_shape_survives_as_json_lines_and_as_python(case: dict[str, Any]) -> None:
    value = case["value"]
    plain = load(json.dumps(value).encode(), "dump.json")
    printed = load(repr(value).encode(), "dump.txt")
    assert [each.documents for each in printed.lists] == [each.documents for each in plain.lists]
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        lines = load("\n".join(json.dumps(item) for item in value).encode(), "dump.jsonl")
        assert [each.documents for each in lines.lists] == [each.documents for each in plain.lists]


def test_every_entry_has_a_case() -> None:
    named = {case["shape"] for case in CASES}
    assert {entry.name for entry in (*SHAPES, *COLUMNS)} <= named


def test_supported_formats_are_described() -> None:
    rows = supported()
    assert {entry.name for entry in (*SHAPES, *COLUMNS)} <= {row.name for row in rows}
    assert len({row.name for row in rows}) == len(rows)
    assert all(row.name and row.recognised and row.text for row in rows)


@pytest.mark.parametrize(
    "value",
    [
        {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]},
        [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}],
        {"data": [{"index": i, "relevance_score": s, "document": None} for i, s in ((1, 0.9), (0, 0.2))]},
        {"5": {"b": 0.9, "a": 0.2}},
        [{"qid": "5", "docid": d, "rank": n, "score": s} for n, d, s in ((1, "b", 0.9), (2, "a", 0.2))],
    ],
)
def test_texts_from_a_second_file(value: Any) -> None:
    data = json.dumps(value).encode()
    with pytest.raises(MissingTextError, match="second file"):
        load(data, "ranked.json")
    sent = json.dumps([{"id": "a", "text": A}, {"id": "b", "text": B}]).encode()
    right = load(data, "ranked.json", beside=(sent, "sent.json"))
    swapped = load(sent, "sent.json", beside=(data, "ranked.json"))
    for loaded in (right, swapped):
        (found,) = loaded.lists
        assert [document.content for document in found.documents] == [B, A]
        assert [document.id for document in found.documents] == ["b", "a"]
        assert [document.score for document in found.documents] == [0.9, 0.2]


def test_a_second_file_that_lacks_a_text_leaves_the_record_out_by_name() -> None:
    run = b"q Q0 a 1 0.9 tag\nq Q0 z 2 0.8 tag\nq Q0 b 3 0.7 tag\n"
    corpus = json.dumps({"a": {"title": "T", "text": A}, "b": {"title": "U", "text": B}}).encode()
    loaded = load(run, "my.run", beside=(corpus, "corpus.json"))
    assert [document.content for document in loaded.lists[0].documents] == [A, B]
    (notice,) = [notice for notice in loaded.notices if notice.kind == "left out"]
    assert notice.places == ("line 2 (id z)",)


def test_the_index_counts_sent_documents_without_text_too() -> None:
    ranked = json.dumps({"results": [{"index": 2, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1}]})
    sent = json.dumps({"query": "ropes", "documents": [{"text": A}, {"text": None}, {"text": B}]})
    loaded = load(ranked.encode(), "r.json", beside=(sent.encode(), "s.json"))
    assert [document.content for document in loaded.lists[0].documents] == [B]
    assert [notice.places for notice in loaded.notices if notice.kind == "left out"] == [("results[1] (index 1)",)]
