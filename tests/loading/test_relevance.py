"""A mark of relevance is found wherever tools write one, in files with many lists too."""

import csv
import io
import json

import pytest

from lim.loading import load

RELEVANT = (True, False, True, False)
NAMES = ["is_gold", "isgold", "relevant", "is_selected", "hasanswer", "has_answer", "qrel", "qrels", "label", "labels"]
NAMES += ["relevance_label", "grade", "judgment", "gold"]
VALUES = [[True, False, True, False], [1, 0, 1, 0], ["1", "0", "1", "0"], [2, 0, 1, 0], ["yes", "no", "yes", "no"]]


def records(name, values):
    return [{"id": f"d{n}", "content": f"text {n}", "score": 1 - n / 10, name: value} for n, value in enumerate(values)]


def nested(name, values):
    return b"\n".join(
        json.dumps({"query": f"q{n}", "documents": records(name, values)}).encode() for n in range(2)
    ), "x.jsonl"


def in_meta(name, values):
    documents = [
        {"id": record["id"], "content": record["content"], "score": record["score"], "meta": {name: record[name]}}
        for record in records(name, values)
    ]
    return b"\n".join(json.dumps({"query": f"q{n}", "documents": documents}).encode() for n in range(2)), "x.jsonl"


def flat(name, values):
    rows = [{"query": f"q{n}", **record} for n in range(2) for record in records(name, values)]
    return b"\n".join(json.dumps(row).encode() for row in rows), "x.jsonl"


def table(name, values):
    out = io.StringIO()
    rows = [{"query": f"q{n}", **record} for n in range(2) for record in records(name, values)]
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode(), "x.csv"


@pytest.mark.parametrize("form", [nested, in_meta, flat, table])
@pytest.mark.parametrize("name", NAMES)
def test_every_list_of_a_file_has_its_marks(form, name):
    for values in VALUES:
        loaded = load(*form(name, values))
        assert [ranked.relevant for ranked in loaded.lists] == [RELEVANT, RELEVANT], values


def test_a_dpr_file_says_which_passages_have_the_answer():
    entries = [
        {
            "question": f"q{n}",
            "answers": ["a"],
            "ctxs": [
                {"id": f"d{k}", "title": "t", "text": f"x {k}", "score": 1 - k / 10, "hasanswer": mark}
                for k, mark in enumerate(RELEVANT)
            ],
        }
        for n in range(3)
    ]
    loaded = load(json.dumps(entries).encode(), "dpr.json")
    assert [ranked.relevant for ranked in loaded.lists] == [RELEVANT] * 3


def test_the_mark_beside_the_text_goes_before_one_in_the_meta():
    rows = [
        {"content": f"text {n}", "relevant": mark, "meta": {"is_gold": not mark}} for n, mark in enumerate(RELEVANT)
    ]
    assert load(json.dumps(rows).encode(), "x.json").lists[0].relevant == RELEVANT


@pytest.mark.parametrize("values", [["news", "sport", "news", "sport"], [0.2, 0.9, 0.1, 0.4], [7, 12, 9, 30]])
def test_a_label_that_is_no_mark_marks_nothing(values):
    for form in (nested, in_meta, flat, table):
        assert [ranked.relevant for ranked in load(*form("label", values)).lists] == [None, None]
