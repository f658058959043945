"""What a person may choose, and what is said when the loader chose."""

import json
from typing import Any

import pytest

from lim.errors import LoadError
from lim.loading import Loaded, NoticeKind, Order, Reading, load

ROWS: list[dict[str, Any]] = [
    {"id": "a", "title": "T", "text": "short", "body": "a longer text", "score": 1, "other_score": 0.1, "place": 3},
    {
        "id": "b",
        "title": "U",
        "text": "text",
        "body": "another longer text",
        "score": 3,
        "other_score": 0.3,
        "place": 1,
    },
    {
        "id": "c",
        "title": "V",
        "text": "words",
        "body": "one more longer text",
        "score": 2,
        "other_score": 0.2,
        "place": 2,
    },
]
DATA = json.dumps(ROWS).encode()


def read(rows: Any = None, **choices: Any) -> Loaded:
    return load(DATA if rows is None else json.dumps(rows).encode(), "dump.json", reading=Reading(**choices))


def ids(loaded: Loaded) -> list[str]:
    return [document.id for document in loaded.lists[0].documents]


def test_the_reading_taken_is_told_and_reads_the_same() -> None:
    loaded = read()
    taken = loaded.reading
    assert (taken.id, taken.score, taken.order) == ("id", "score", Order.LISTED)
    assert load(DATA, "dump.json", reading=taken).lists == loaded.lists
    assert set(loaded.fields) == set(ROWS[0])


def test_fields_can_be_chosen() -> None:
    assert [d.content for d in read(text="title").lists[0].documents] == ["T", "U", "V"]
    assert [d.score for d in read(score="other_score").lists[0].documents] == [0.1, 0.3, 0.2]
    assert [d.score for d in read(score="").lists[0].documents] == [None] * 3
    assert ids(read(id="title")) == ["T", "U", "V"]
    assert ids(read(rank="place")) == ["b", "c", "a"]
    assert all(len(ident) == 64 for ident in ids(read(ignore_ids=True)) + ids(read(id="")))
    with pytest.raises(LoadError, match="no field 'nope'"):
        read(text="nope")


def test_order_can_be_chosen() -> None:
    assert ids(read()) == ["a", "b", "c"]
    assert ids(read(order=Order.SCORE)) == ["b", "c", "a"]
    assert ids(read(order=Order.DISTANCE)) == ["a", "c", "b"]
    ranked = [{**row, "rank": row["place"]} for row in ROWS]
    assert ids(read(ranked)) == ["b", "c", "a"]
    assert ids(read(ranked, order=Order.LISTED)) == ["a", "b", "c"]
    assert read(ranked).reading.order is Order.RANK
    gaps = [{**row, "rank": row["place"] * 10} for row in ROWS]
    assert ids(read(gaps)) == ["a", "b", "c"]
    assert any("do not run from 1" in notice.message for notice in read(gaps).notices)
    assert ids(read(gaps, order=Order.RANK)) == ["b", "c", "a"]


@pytest.mark.parametrize("ranks", [[0, 0, 0], [1, 1, 2], [None, 1, 2], ["x", "y", "z"], [3.5, 1, 2]])
def test_ranks_that_are_none_keep_the_order(ranks: list[Any]) -> None:
    assert ids(read([{**row, "rank": rank} for row, rank in zip(ROWS, ranks, strict=True)])) == ["a", "b", "c"]


def test_a_rank_is_taken_although_a_record_in_between_was_left_out() -> None:
    rows = [{"id": i, "text": t, "rank": r} for i, t, r in (("a", "x", 3), ("b", None, 2), ("c", "y", 1))]
    assert ids(read(rows)) == ["c", "a"]


def test_documents_without_a_score_come_last() -> None:
    rows = [{"id": i, "text": "x", "score": s} for i, s in (("a", None), ("b", 0.0), ("c", -1), ("d", "nan"), ("e", 5))]
    assert ids(read(rows, order=Order.SCORE)) == ["e", "b", "c", "a", "d"]
    assert ids(read(rows, order=Order.DISTANCE)) == ["c", "b", "e", "a", "d"]


def test_distances_order_by_choice() -> None:
    rows = [{"id": i, "text": "x", "distance": s} for i, s in (("a", 0.2), ("b", 0.1), ("c", 0.4))]
    loaded = read(rows)
    assert ids(loaded) == ["a", "b", "c"]
    assert loaded.lists[0].distances == (0.2, 0.1, 0.4)
    ordered = read(rows, order=Order.DISTANCE)
    assert ids(ordered) == ["b", "a", "c"]
    assert ordered.lists[0].distances == (0.1, 0.2, 0.4)


def test_the_title_is_prepended_only_by_choice() -> None:
    assert read(text="text").lists[0].documents[0].content == "short"
    assert read(text="text", prepend_title=True).lists[0].documents[0].content == "T\nshort"


def test_queries_are_told_apart_and_pooled_only_by_choice() -> None:
    rows = [{"q": q, "query": q, "id": i, "text": i} for q, i in (("x", "a"), ("y", "b"), ("x", "c"), (None, "d"))]
    loaded = read(rows)
    assert [(each.name, [d.id for d in each.documents]) for each in loaded.lists] == [
        ("x", ["a", "c"]),
        ("y", ["b"]),
        ("(no query)", ["d"]),
    ]
    assert [each.sources for each in loaded.lists] == [("[0]", "[2]"), ("[1]",), ("[3]",)]
    assert len(read(rows, query="").lists) == 1
    assert len(read(rows, query="id").lists) == 4


def test_preview_shows_raw_records() -> None:
    assert [json.loads(record) for record in read().preview] == ROWS
    assert load(b"text,score\nabc,1\n", "a.csv").preview == ("text: abc\nscore: 1",)


def test_every_reject_is_counted_and_named() -> None:
    rows = [{"text": None if n % 3 else f"t{n}"} for n in range(100)]
    loaded = read(rows)
    (notice,) = [n for n in loaded.notices if n.kind is NoticeKind.LEFT_OUT]
    assert notice.count == len(notice.places) == 66
    assert notice.places[:2] == ("[1]", "[2]")
    assert notice.place is not None
    assert notice.place.endswith("and 54 more")
    assert len(loaded.lists[0].documents) + notice.count == 100


def test_all_records_without_text_are_an_error_with_the_reason() -> None:
    with pytest.raises(LoadError, match="null"):
        read([{"text": None}, {"text": None}])


@pytest.mark.parametrize(
    ("value", "score"),
    [("10.2", 10.2), ("9,5", 9.5), (7, 7.0), ("-1e3", -1000.0), ("87%", 0.87), ("\u22121", -1.0), ("1,234.5", 1234.5),
     (True, None), ("1_000", None), ("high", None), ([1], None), ("1e999", None), (10**400, None), ("", None)],
)  # fmt: skip
def test_scores(value: Any, score: float | None) -> None:
    loaded = read([{"text": "a", "score": value}, {"text": "b", "score": 0.5}])
    assert [d.score for d in loaded.lists[0].documents] == [score, 0.5]


@pytest.mark.parametrize(
    ("value", "text"),
    [(42, "42"), (1.5, "1.5"), (["one"], "one"), (["one", "two"], "one\ntwo"), ([{"type": "text", "text": "x"}], "x")],
)
def test_texts_that_are_no_plain_text(value: Any, text: str) -> None:
    assert [d.content for d in read([{"text": value}, {"text": "b"}]).lists[0].documents] == [text, "b"]


@pytest.mark.parametrize("value", [None, True, {"a": 1}, [], [1, 2]])
def test_what_is_no_text_is_left_out(value: Any) -> None:
    loaded = read([{"text": "a"}, {"text": value}, {"text": "b"}])
    assert [d.content for d in loaded.lists[0].documents] == ["a", "b"]
    assert [n.places for n in loaded.notices if n.kind is NoticeKind.LEFT_OUT] == [("[1]",)]


def test_queries_without_a_list_are_left_out_by_name() -> None:
    rows = [{"question": "q", "ctxs": [{"text": "a"}]}, {"question": "r", "ctxs": []}, {"question": "s"}, 5, None]
    expected = {"json": ("[1]", "[2]", "[3]", "[4]"), "jsonl": ("line 2", "line 3", "line 4", "line 5")}
    for ending, data in (("json", json.dumps(rows)), ("jsonl", "\n".join(map(json.dumps, rows)))):
        loaded = load(data.encode(), f"dump.{ending}")
        assert [each.query for each in loaded.lists] == ["q"]
        assert [n.places for n in loaded.notices if n.kind is NoticeKind.LEFT_OUT] == [expected[ending]]


def test_of_the_stages_of_one_query_the_last_is_shown() -> None:
    def run(text: str) -> dict[str, Any]:
        documents = [{"page_content": text, "metadata": {}}]
        return {"run_type": "retriever", "inputs": {"query": "q"}, "outputs": {"documents": documents}}

    loaded = read({"run_type": "chain", "child_runs": [run("first"), {"run_type": "llm"}, run("last")]})
    assert [d.content for d in loaded.lists[loaded.default].documents] == ["last"]
    assert [n for n in loaded.notices if n.kind is NoticeKind.LEFT_OUT] == []


def test_a_remark_on_ranks_names_its_query() -> None:
    ranks = {"301": [2, 1, 3], "302": [9, 4, 7]}
    records = [
        {"query_id": query, "text": f"{query} at {rank}", "rank": rank} for query in ranks for rank in ranks[query]
    ]
    loaded = read(records)
    said = {
        notice.message.partition("'rank'")[2]: notice.place for notice in loaded.notices if "ranks" in notice.message
    }
    assert said == {
        "; the input lists the documents in another.": "query 301",
        " do not run from 1 to 3, so the order of the input is kept.": "query 302",
    }
