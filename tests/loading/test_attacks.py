"""Inputs made to go wrong: each loads as its author meant, or every record that does not is named."""

import gzip
import io
import json
import zipfile
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from haystack import Document

from lim.errors import LoadError
from lim.loading import Loaded, NoticeKind, load, load_pasted

TEXTS = ["The rope is coiled.", "The bell is tested."]


def contents(loaded: Loaded, index: int | None = None) -> list[str | None]:
    return [each.content for each in loaded.lists[loaded.default if index is None else index].documents]


def ids(loaded: Loaded) -> list[str]:
    return [each.id for each in loaded.lists[loaded.default].documents]


def scores(loaded: Loaded) -> list[float | None]:
    return [each.score for each in loaded.lists[loaded.default].documents]


def metas(loaded: Loaded) -> list[dict[str, Any]]:
    return [each.meta for each in loaded.lists[loaded.default].documents]


def places(loaded: Loaded, kind: NoticeKind) -> list[str]:
    return [place for notice in loaded.notices if notice.kind is kind for place in notice.places]


def said(loaded: Loaded) -> str:
    return "\n".join(notice.message for notice in loaded.notices)


def parquet(**columns: list[Any]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def packed(**files: bytes | str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    return stream.getvalue()


def test_parquet_ids_in_a_column_with_a_gap_are_whole_numbers() -> None:
    loaded = load(parquet(id=[7.0, float("nan"), 8.5], text=["a", "b", "c"]), "dump.parquet")
    assert ids(loaded) == ["7", Document(content="b").id, "8.5"]
    assert places(loaded, NoticeKind.CHANGED) == ["row 2"]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("[{'id': 1.50, 'text': 'a'}, {'id': 2.0, 'text': 'b'}]", "dump.txt"),
        ('question,docs\nq,"[{""id"": 1.50, ""text"": ""a""}, {""id"": 2.0, ""text"": ""b""}]"\n', "dump.csv"),
        ("question,docs\nq,\"[{'id': 1.50, 'text': 'a'}, {'id': 2.0, 'text': 'b'}]\"\n", "dump.csv"),
        ('[{"id": 1.50, "text": "a"}, {"id": 2.0, "text": "b"}]', "dump.json"),
    ],
)
def test_ids_keep_their_digits_wherever_they_stand(data: str, name: str) -> None:
    assert ids(load(data.encode(), name)) == ["1.50", "2.0"]


def test_binary_ids_stay_different() -> None:
    assert ids(load(parquet(id=[b"\xff\x01", b"\xfe\x01"], text=TEXTS), "dump.parquet")) == ["ff01", "fe01"]


@pytest.mark.parametrize("name", ["dump.jsonl", "dump.json"])
@pytest.mark.parametrize("first", ['{"text": "a"}', '{"page_content": "a", "metadata": {}}'])
def test_values_among_records_are_named(name: str, first: str) -> None:
    values = [first, '{"text": "b", "score": 1}', '["c"]', '"d"', "5", "null", "true"]
    data = "\n".join(values) if name.endswith("l") else f"[{', '.join(values)}]"
    loaded = load(data.encode(), name)
    assert contents(loaded) == ["a", "b"]
    assert len(places(loaded, NoticeKind.LEFT_OUT)) == 5


def test_a_list_of_texts_may_miss_one() -> None:
    loaded = load(b'["a", null, "b", 5]', "dump.json")
    assert contents(loaded) == ["a", "b", "5"]
    assert places(loaded, NoticeKind.LEFT_OUT) == ["[1]"]
    assert places(loaded, NoticeKind.CHANGED) == ["[3]"]


@pytest.mark.parametrize("nothing", [[], None])
def test_a_query_that_retrieved_nothing_does_not_hide_what_the_other_did(nothing: list[Any] | None) -> None:
    found = [{"id": "007", "text": "a", "score": 0.9}]
    loaded = load(json.dumps([{"query": "q1", "docs": found}, {"query": "q2", "docs": nothing}]).encode(), "dump.json")
    assert (ids(loaded), scores(loaded), metas(loaded)) == (["007"], [0.9], [{}])
    assert places(loaded, NoticeKind.LEFT_OUT) == ["[1]"]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("text,score\na,\nb,\n", "dump.csv"),
        ('[{"text": "a", "score": NaN}, {"text": "b", "score": null}]', "dump.json"),
        ('[{"text": "a", "score": 1' + "0" * 5000 + '}, {"text": "b"}]', "dump.json"),
    ],
)
def test_scores_that_are_all_blank_or_nan_are_no_meta(data: str, name: str) -> None:
    loaded = load(data.encode(), name)
    assert (scores(loaded), metas(loaded)) == ([None, None], [{}, {}])
    assert ("NaN" in said(loaded)) is name.endswith("json")


@pytest.mark.parametrize("pad", ["", "x" * (1 << 20)], ids=["small", "large"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_tables_put_one_after_another_bring_no_second_header(bom: str, pad: str) -> None:
    loaded = load(f"{bom}id,text\n1,a\n{bom}id,text\n{bom}2,b{pad}\n".encode(), "dump.csv")
    assert ids(loaded) == ["1", "2"]
    assert contents(loaded) == ["a", f"b{pad}"]
    assert places(loaded, NoticeKind.LEFT_OUT) == ["line 3"]


def test_a_header_of_dotted_names_is_a_header() -> None:
    documents = "[{'document.content': 'a', 'document.score': 0.9, 'document.metadata': {'page': 1}}]"
    data = f'context.span_id,name,attributes.input.value,attributes.retrieval.documents\ns1,R,What?,"{documents}"\n'
    loaded = load((data + "s2,LLM,prompt,\n").encode(), "spans.csv")
    assert [(each.query, len(each.documents)) for each in loaded.lists] == [("What?", 1)]
    assert (contents(loaded), scores(loaded), metas(loaded)) == (["a"], [0.9], [{"page": 1}])


def test_the_query_of_a_nested_span() -> None:
    span = {"input": {"value": "What?"}, "retrieval": {"documents": [{"document": {"id": "1", "content": "a"}}]}}
    assert load(json.dumps([{"name": "r", "attributes": span}]).encode(), "spans.json").lists[0].query == "What?"


RANKED = [Document(id="1", content="see (a)] or b", meta={"page": 1}, score=0.5), Document(id="2", content="two")]


@pytest.mark.parametrize(
    "result",
    [
        {"ranker": {"documents": RANKED}},
        {"ranker": {"documents": RANKED}, "llm": {"replies": ["as (1) says"]}},
        {"documents": RANKED},
        RANKED,
    ],
    ids=["pipeline", "with replies", "component", "list"],
)
def test_a_printed_pipeline_result(result: Any) -> None:
    loaded = load_pasted(repr(result))
    assert (ids(loaded), contents(loaded)) == (["1", "2"], ["see (a)] or b", "two"])
    assert (scores(loaded), metas(loaded)) == ([0.5, None], [{"page": 1}, {}])


def test_printed_lists_of_several_components_are_not_pooled() -> None:
    loaded = load_pasted(repr({"bm25": {"documents": RANKED}, "ranker": {"documents": RANKED[::-1]}}))
    assert [each.name for each in loaded.lists] == ["bm25.documents", "ranker.documents"]
    assert [contents(loaded, index) for index in (0, 1)] == [["see (a)] or b", "two"], ["two", "see (a)] or b"]]
    assert loaded.default == 1


@pytest.mark.parametrize(
    "filler", ["'a': {" * 100_000, " \n" * 200_000, ")]" * 200_000], ids=["names", "blanks", "ends"]
)
def test_no_printed_text_takes_long(filler: str) -> None:
    text = f"[Document(id=1, content: 'a{filler}'), Document(id=2, content: 'b')]"
    assert contents(load_pasted(text)) == [f"a{filler}", "b"]


@pytest.mark.parametrize(
    "text", ['[{"text": "first"}, {"text": "sec', "[Document(page_content='first'), Document(page_content='sec"]
)
def test_data_that_was_cut_off_is_not_taken_for_text_in_silence(text: str) -> None:
    loaded = load_pasted(text)
    assert loaded.format.startswith("plain text")
    assert "cannot be read at line 1" in said(loaded)


@pytest.mark.parametrize("text", ["[]", "[ ]", "\n[\n]\n", "```json\n[]\n```"])
def test_an_empty_list_is_no_document_made_of_brackets(text: str) -> None:
    for read in (load_pasted, lambda data: load(data.encode(), "list.txt")):
        with pytest.raises(LoadError, match="it holds an empty list"):
            read(text)


@pytest.mark.parametrize("text", ["[1] One.\n[2] Two.", "(see above) One.", "{{ query }} One."])
def test_a_text_that_starts_with_a_bracket_is_a_text(text: str) -> None:
    assert "cannot be read" not in said(load_pasted(text))


MARKDOWN = "| rank | text | score |\n|---|:---|---:|\n| 1 | first \\| one | 0.9 |\n| 2 | second | 0.8 |\n"
PSQL = """ rank |    text     | score
------+-------------+-------
 1 | first \\| one | 0.9
 2 | second | 0.8
(2 rows)
"""
MYSQL = """+------+--------------+-------+
| rank | text         | score |
+------+--------------+-------+
|    1 | first \\| one |   0.9 |
|    2 | second       |   0.8 |
+------+--------------+-------+
"""


@pytest.mark.parametrize("text", [MARKDOWN, PSQL, MYSQL, MARKDOWN.replace("\n", "\r\n")])
@pytest.mark.parametrize("name", [None, "dump.md", "dump.txt"])
def test_drawn_tables(text: str, name: str | None) -> None:
    loaded = load_pasted(text) if name is None else load(text.encode(), name)
    assert (contents(loaded), scores(loaded)) == (["first | one", "second"], [0.9, 0.8])
    assert metas(loaded) == [{}, {}]
    assert loaded.notices == ()


@pytest.mark.parametrize("text", ["Intro.\n\n" + MARKDOWN, MARKDOWN + "\nThe end.", MARKDOWN.replace("text", "note")])
def test_a_text_with_a_drawn_table_stays_a_text(text: str) -> None:
    assert load_pasted(text).format.startswith("plain text")


RESPONSE = b'{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}]}'


def test_a_second_file_may_be_packed() -> None:
    sent = json.dumps(TEXTS)
    for data in (
        packed(sent__json=sent),
        gzip.compress(sent.encode()),
        packed(sent__json__gz=gzip.compress(sent.encode())),
    ):
        assert contents(load(RESPONSE, "response.json", beside=(data, "sent"))) == TEXTS[::-1]
    with pytest.raises(LoadError, match="archive of 2 files"):
        load(RESPONSE, "response.json", beside=(packed(a__json=sent, b__json=sent), "sent.zip"))


def test_a_run_packed_with_its_corpus() -> None:
    corpus = '{"_id": "d1", "text": "one"}\n{"_id": "d2", "text": "two"}\n'
    for files in ({"run__trec": "q Q0 d2 1 3 t\nq Q0 d1 2 2 t\n", "corpus__jsonl": corpus},):
        for data in (packed(**files), packed(**dict(reversed(files.items())))):
            loaded = load(data, "both.zip")
            assert (ids(loaded), scores(loaded)) == (["d2", "d1"], [3.0, 2.0])
            assert "corpus.jsonl in the same archive" in said(loaded)


@pytest.mark.parametrize(
    ("header", "query"),
    [
        ("consulta;texto;puntuación", True),
        ("запрос;текст;оценка", True),
        ("问题;内容;相似度", True),
        ("질문;본문;점수", True),
        ("質問;本文;スコア", True),
        ("requête;texte;pertinence", True),
        ("Frage;Inhalt;A\u0308hnlichkeit", True),
        ("notlar;metin;skor", False),
        ("uwagi;treść;wynik", False),
    ],
)
def test_names_in_other_languages(header: str, query: bool) -> None:
    loaded = load(f"{header}\na;x;0,9\na;y;0,8\nb;z;0,7\n".encode(), "dump.csv")
    found = [
        (contents(loaded, index), [each.score for each in ranked.documents])
        for index, ranked in enumerate(loaded.lists)
    ]
    assert found == ([(["x", "y"], [0.9, 0.8]), (["z"], [0.7])] if query else [(["x", "y", "z"], [0.9, 0.8, 0.7])])


def test_a_field_of_several_values_may_be_the_text() -> None:
    hits = [
        {"id": str(n), "content_txt": [f"The rope number {n} is long.", "It is coiled."][: 3 - n], "score": 3 - n}
        for n in (1, 2)
    ]
    loaded = load(json.dumps({"response": {"docs": hits}}).encode(), "solr.json")
    assert contents(loaded) == ["The rope number 1 is long.\nIt is coiled.", "The rope number 2 is long."]
    assert scores(loaded) == [2.0, 1.0]


def test_other_stacks() -> None:
    algolia = {"hits": [{"objectID": "007", "content": "a"}, {"objectID": "8", "content": "b"}]}
    assert ids(load(json.dumps(algolia).encode(), "hits.json")) == ["007", "8"]
    typesense = {
        "hits": [
            {"document": {"id": "1", "text": "a"}, "text_match": 578},
            {"document": {"id": "2", "text": "b"}, "text_match": 500},
        ]
    }
    assert scores(load(json.dumps(typesense).encode(), "hits.json")) == [578.0, 500.0]
    matches = [
        {"score": 0.9, "embeddingId": "1", "embedded": {"text": "a"}},
        {"score": 0.8, "embeddingId": "2", "embedded": {"text": "b"}},
    ]
    loaded = load(json.dumps(matches).encode(), "matches.json")
    assert (ids(loaded), contents(loaded), scores(loaded)) == (["1", "2"], ["a", "b"], [0.9, 0.8])
    sample = {"question": "q", "contexts": ["a", "b"], "scores": [0.9, 0.8]}
    assert scores(load(json.dumps(sample).encode(), "sample.json")) == [0.9, 0.8]


def test_ids_that_are_none_are_named() -> None:
    records = [{"id": value, "text": "a"} for value in (True, ["x"], {"a": 1}, "", None, 7, "007")]
    loaded = load(json.dumps(records).encode(), "dump.json")
    made = Document(content="a").id
    assert ids(loaded) == [made] * 5 + ["7", "007"]
    assert places(loaded, NoticeKind.CHANGED) == ["[0]", "[1]", "[2]"]


def test_the_place_of_a_single_record() -> None:
    assert load(b'{"text": "a"}', "dump.json").lists[0].sources == ("the only record",)
    assert load(b'{"results": {"content": "a"}}', "dump.json").lists[0].sources == ("results",)


def test_the_last_step_of_a_trace_is_shown_first() -> None:
    steps = [
        {"type": "RETRIEVER", "input": "q", "output": [{"pageContent": "a", "metadata": {}}]},
        {"type": "SPAN", "input": {"docs": ["a"]}, "output": {"documents": [{"text": "b", "score": 0.9}]}},
    ]
    assert contents(load(json.dumps({"observations": steps}).encode(), "trace.json")) == ["b"]


def test_ranks_in_words_order_nothing_and_it_is_said() -> None:
    loaded = load(b"text,rank\na,second\nb,first\n", "dump.csv")
    assert contents(loaded) == ["a", "b"]
    assert "are not numbers" in said(loaded)


def test_lines_of_two_encodings() -> None:
    loaded = load("id,text\n1,Grüße aus Köln\n".encode() + "2,Grüße aus Köln\n".encode("cp1252"), "dump.csv")
    assert contents(loaded) == ["Grüße aus Köln"] * 2
    assert places(loaded, NoticeKind.CHANGED) == ["line 3"]


def test_nothing_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.eval", lambda *_: pytest.fail("evaluated"))
    for text in ('[__import__("os").getcwd(), "a"]', "[Document(page_content=open('x').read())]"):
        assert contents(load_pasted(text)) == [text]


@pytest.mark.parametrize("language", ["", "json", "python"])
@pytest.mark.parametrize("data", ['[{"text": "a"},\n {"text": "b"}]', '{"text": "a"}\n{"text": "b"}'])
def test_data_copied_with_its_code_fence(language: str, data: str) -> None:
    assert contents(load_pasted(f"```{language}\n{data}\n```\n")) == ["a", "b"]


@pytest.mark.parametrize("text", ["```\nsome code\n```", "```json\n[1]\n```\nThen\n```json\n[2]\n```"])
def test_other_code_fences_are_text(text: str) -> None:
    assert load_pasted(text).format.startswith("plain text")


def test_a_table_in_a_code_fence_keeps_its_lines() -> None:
    loaded = load_pasted("```csv\nid,text\n1,a\n2,b\n```")
    assert (ids(loaded), loaded.lists[0].sources) == (["1", "2"], ("line 3", "line 4"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('[{"content": 4}, {"content": 5}]', "have a field 'content', but no text is in it"),
        ('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]', "chat messages"),
    ],
)
def test_a_refusal_does_not_ask_for_what_is_there(data: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        load(data.encode(), "dump.json")


def test_many_queries_with_several_lists_each_load_at_once() -> None:
    queries = [{"query": f"q{n}", "r": {"docs": [{"text": "a"}]}, "s": {"docs": [{"text": "b"}]}} for n in range(4000)]
    loaded = load(json.dumps(queries).encode(), "dump.json")  # in quadratic time it would cross its deadline
    assert len(loaded.lists) == 8000
