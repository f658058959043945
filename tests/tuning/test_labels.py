"""Marks of relevance from a field of the meta and from a file of judgements."""

import pytest
from haystack import Document

from lim import LoadError, RankedList
from lim.tuning import Judgements, judge, label_fields, labels_of, read_judgements


def ranked(name, *metas, query=None):
    return RankedList(name, tuple(Document(id=f"d{n}", content="x", meta=meta) for n, meta in enumerate(metas)), query)


def test_fields_that_may_mark_relevance_hold_two_values():
    lists = [
        ranked("a", {"ok": True, "clicked": 1, "note": "yes", "year": 1, "one": True}, {"ok": False, "one": True}),
        ranked("b", {"clicked": 0, "note": "text", "year": 2024, "ok": None}, {"text": "no", "clicked": ""}),
    ]
    assert label_fields(lists) == ("ok", "clicked")


def test_a_field_of_the_meta_marks_the_documents_that_have_it():
    lists = [ranked("a", {"ok": "yes"}, {"ok": "no"}, {}), ranked("b", {}, {}), ranked("c")]
    assert labels_of(lists, "ok") == ((True, False, False), None, None)


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 d0 1\nq1 0 d1 0\n\nq2 0 d1 2\nq3 0 d7 -1\n",
        "query-id\tcorpus-id\tscore\nq1\td0\t1\nq2\td1\t2\nq3\td7\t0\n",
    ],
)
def test_judgements_as_trec_and_beir_write_them(text):
    read = read_judgements(("\ufeff" + text).encode(), "qrels.txt")
    assert read == Judgements({"q1": frozenset({"d0"}), "q2": frozenset({"d1"}), "q3": frozenset()})
    lists = [ranked("q1", {}, {}), ranked("list", {}, {}, query="q2"), ranked("q3", {}), ranked("other", {})]
    assert judge(lists, read) == ((True, False), (False, True), (False,), None)


def test_what_is_no_judgement_is_named():
    with pytest.raises(LoadError, match=r"Line 2 of my\.txt is 'q1 is a question'"):
        read_judgements(b"q1 0 d0 1\nq1 is a question\n", "my.txt")
    with pytest.raises(LoadError, match="holds no judgement"):
        read_judgements(b"\n", "my.txt")
    with pytest.raises(LoadError, match="documents such as 'x' and the ranked lists such as 'd0'"):
        judge([ranked("q1", {})], read_judgements(b"q1 0 x 1", "my.txt"))
    with pytest.raises(LoadError, match="queries such as 'q1' and the ranked lists such as 'How long'"):
        judge([ranked("list", {}, query="How long")], read_judgements(b"q1 0 d0 1", "my.txt"))
