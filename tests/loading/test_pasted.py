"""Pasted text: what it is, how it was cut, and what other separators would give."""

import pytest

from lim.errors import LoadError
from lim.loading import SEPARATORS, Loaded, NoticeKind, Reading, load_pasted


def texts(loaded: Loaded) -> list[str | None]:
    return [document.content for document in loaded.lists[0].documents]


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("one\n\ntwo\n \t\nthree", "blank", ["one", "two", "three"]),
        ("one\r\n\r\ntwo\r\n", "blank", ["one", "two"]),
        ("one\n---\ntwo\n\nstill two\n---\n", "rule", ["one", "two\n\nstill two"]),
        ("Head\n====\n\n| a |\n| --- |\n\n---\n\nb", "rule", ["Head\n====\n\n| a |\n| --- |", "b"]),
        ("Heading\n-------\ntext\n\nmore", "blank", ["Heading\n-------\ntext", "more"]),
        ("page one\n\nstill\fpage two\f", "formfeed", ["page one\n\nstill", "page two"]),
        ("1. one\n2. two\n   more\n\n3. three", "numbered", ["one", "two\n   more", "three"]),
        ("[1] one\n[2] two", "numbered", ["one", "two"]),
        ("1) one\n2) two\n3) three", "numbered", ["one", "two", "three"]),
        ("Document [1](Title: A) one\nDocument [2](Title: B) two", "numbered", ["(Title: A) one", "(Title: B) two"]),
        ("In 2024 it rained.\n\n1. one\n2. two", "blank", ["In 2024 it rained.", "1. one\n2. two"]),
        ("One sentence here.\nAnother one there.", "line", ["One sentence here.", "Another one there."]),
        ("hard wrapped text\nthat goes\non and on.", "whole", ["hard wrapped text\nthat goes\non and on."]),
        ("exa\u00admines\u00a0it", "whole", ["exa\u00admines\u00a0it"]),
        ("[Note] only text.\n\nAnother.", "blank", ["[Note] only text.", "Another."]),
        ("{not json}\n\nx", "blank", ["{not json}", "x"]),
        ("Well, yes, no.\nSo, it, goes.", "line", ["Well, yes, no.", "So, it, goes."]),
    ],
)  # fmt: skip
def test_separators_are_found(text: str, key: str, expected: list[str]) -> None:
    loaded = load_pasted(text)
    assert texts(loaded) == expected
    assert loaded.reading.separator == key
    assert {choice.key: choice.count for choice in loaded.separators}[key] == len(expected)
    assert any(str(len(expected)) in n.message or key == "whole" for n in loaded.notices)


def test_another_separator_can_be_chosen_and_its_count_is_known_before() -> None:
    text = "a b\n\nc d\n---\ne f\n\ng\fh"
    loaded = load_pasted(text)
    assert [choice.key for choice in loaded.separators] == list(SEPARATORS)
    for choice in loaded.separators:
        again = load_pasted(text, reading=Reading(separator=choice.key))
        assert len(again.lists[0].documents) == choice.count
        assert again.reading.separator == choice.key
    with pytest.raises(LoadError, match="no separator 'comma'"):
        load_pasted(text, reading=Reading(separator="comma"))


@pytest.mark.parametrize(
    "text",
    [
        '[{"content": "a b"}, {"content": "c"}]',
        '{"content": "a b"}\n{"content": "c"}',
        "[{'content': 'a b', 'x': None}, {'content': 'c'}]",
        "content,score\na b,1\nc,2\n",
        "content\tscore\na b\t1\nc\t2\n",
        "[Document(id=1, content: 'a b'), Document(id=2, content: 'c')]",
        "[Document(page_content='a b', metadata={}), Document(page_content='c', metadata={})]",
        '["a b", "c"]',
    ],
)
def test_data_pasted_instead_of_text(text: str) -> None:
    loaded = load_pasted(text)
    assert texts(loaded) == ["a b", "c"]
    assert loaded.separators == ()


def test_data_can_be_taken_as_text_after_all() -> None:
    text = '["a b", "c"]'
    assert texts(load_pasted(text, reading=Reading(separator="whole"))) == [text]


@pytest.mark.parametrize("text", ["", " \n\f\n ", "\ufeff"])
def test_nothing_pasted(text: str) -> None:
    with pytest.raises(LoadError, match="empty"):
        load_pasted(text)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_pasted_with_ragged_rows_is_still_a_table(delimiter: str) -> None:
    rows = [
        ["rank", "text", "score"],
        ["1", "one", "0.9"],
        ["2", "two", "half", "0.8"],
        ["3", "three", "0.7"],
        ["4", "four"],
    ]
    loaded = load_pasted("\n".join(delimiter.join(row) for row in rows))
    assert [document.content for document in loaded.lists[0].documents] == ["one", "three", "four"]
    assert [notice.place for notice in loaded.notices if notice.kind is NoticeKind.LEFT_OUT] == ["line 3"]


@pytest.mark.parametrize("rule", ["---", "***", "_____", "======"])
def test_a_rule_alone_between_blank_lines_is_named_and_no_document(rule: str) -> None:
    loaded = load_pasted(f"First.\n\n{rule}\n\nSecond.\n\nThird.", reading=Reading(separator="blank"))
    assert [document.content for document in loaded.lists[0].documents] == ["First.", "Second.", "Third."]
    assert [notice.place for notice in loaded.notices if notice.kind is NoticeKind.LEFT_OUT] == ["line 3"]
    assert next(each.count for each in loaded.separators if each.key == "blank") == 3


def test_a_text_of_nothing_but_a_rule_stays_a_document() -> None:
    loaded = load_pasted("======", reading=Reading(separator="blank"))
    assert [document.content for document in loaded.lists[0].documents] == ["======"]
