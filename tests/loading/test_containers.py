"""Bytes to records: encodings, compression, tables, JSON in every state, workbooks, Parquet, runs."""

import gzip
import io
import json
import zipfile
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from haystack import Document

from lim.errors import LoadError
from lim.loading import Loaded, NoticeKind, load

ROWS = [("a", "Ropes are coiled.", 0.9), ("b", "Café, «salt» and tea.", 0.4), ("c", "The bell is tested.", 0.1)]
JSON = json.dumps([{"id": i, "text": t, "score": s} for i, t, s in ROWS], ensure_ascii=False)
LINES = "\n".join(json.dumps({"id": i, "text": t, "score": s}, ensure_ascii=False) for i, t, s in ROWS)
CSV = "id,text,score\n" + "".join(f'{i},"{t}",{s}\n' for i, t, s in ROWS)


def facts(loaded: Loaded, index: int = 0) -> list[tuple[str, str | None, float | None]]:
    return [(d.id, d.content, d.score) for d in loaded.lists[index].documents]


def texts(loaded: Loaded) -> list[str | None]:
    return [d.content for d in loaded.lists[0].documents]


def left_out(loaded: Loaded) -> list[str]:
    return [place for notice in loaded.notices if notice.kind is NoticeKind.LEFT_OUT for place in notice.places]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("text", [JSON, LINES, CSV, CSV.replace("\n", "\r\n")], ids=["json", "jsonl", "csv", "crlf"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_encodings(text: str, encoding: str, pack: type[bytes]) -> None:
    assert facts(load(pack(text.encode(encoding)), "dump")) == ROWS


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Канаты сворачивают после работы. Колокол проверяют по понедельникам, соль держат в сухом месте."),
        ("shift_jis", "灯台の点検は毎月一日に行い、記録簿に署名してください。点検の結果は掲示板に張り出します。"),
        ("big5", "燈塔每月檢查一次，並在登記簿上簽名。檢查結果張貼在公告欄上，請各位值班人員留意。"),
    ],
)
def test_other_encodings_are_guessed_and_said(encoding: str, text: str) -> None:
    loaded = load(f"text\n{text}\n{text[::-1]}\n".encode(encoding), "dump.csv")
    assert texts(loaded) == [text, text[::-1]]
    assert any("not UTF-8" in notice.message for notice in loaded.notices)


def test_a_few_broken_bytes_are_replaced_and_named() -> None:
    data = ("text\n" + "Größe über alles möglich schön.\n" * 20).encode() + b"broken \xff here\n"
    loaded = load(data, "dump.csv")
    assert texts(loaded)[-1] == "broken \ufffd here"
    assert [n.places for n in loaded.notices if n.kind is NoticeKind.CHANGED] == [("line 22",)]


def test_zip_keeps_files_apart_and_names_the_one_that_fails() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.csv", CSV)
        archive.writestr("two.jsonl.gz", gzip.compress(LINES.encode()))
        archive.writestr("__MACOSX/._one.csv", b"\0")
        archive.writestr("three.json", '{"nothing": 1}')
    loaded = load(buffer.getvalue(), "all.zip")
    assert [facts(loaded, index) for index in range(2)] == [ROWS, ROWS]
    assert len(loaded.lists) == 2
    assert left_out(loaded) == ["three.json"]


def test_parquet() -> None:
    buffer = io.BytesIO()
    table = {"id": [7, 8, 9], "contents": ["A b.", None, "C d."], "score": [0.9, 0.5, float("nan")], "page": [1, 2, 3]}
    pq.write_table(pa.table(table), buffer)
    loaded = load(buffer.getvalue(), "dump.parquet")
    assert facts(loaded) == [("7", "A b.", 0.9), ("9", "C d.", None)]
    assert [d.meta for d in loaded.lists[0].documents] == [{"page": 1}, {"page": 3}]
    assert left_out(loaded) == ["row 2"]


def test_parquet_of_several_queries() -> None:
    buffer = io.BytesIO()
    table = {"user_input": ["ropes", "salt"], "retrieved_contexts": [["A b.", "C d."], ["E f."]]}
    pq.write_table(pa.table(table), buffer)
    loaded = load(buffer.getvalue(), "ragas.parquet")
    assert [(each.query, len(each.documents)) for each in loaded.lists] == [("ropes", 2), ("salt", 1)]


def test_a_corpus_of_texts_by_id() -> None:
    loaded = load(b"1 Q0 a 1 0.5 x\n", "x.run", beside=(b'{"a": "Ropes.", "b": "Bells."}', "corpus.json"))
    assert facts(loaded) == [("a", "Ropes.", 0.5)]


def test_trec_run_with_several_queries_interleaved() -> None:
    run = "1 Q0 a 2 0.5 x\n2 Q0 c 1 0.7 x\n1 Q0 b 1 0.9 x\nnot a line of a run at all\n"
    corpus = "a\tRopes are tied.\nb\tBells are rung.\nc\tSalt is kept dry.\n"
    loaded = load(run.encode(), "x.run", beside=(corpus.encode(), "corpus.tsv"))
    assert [(each.name, [d.id for d in each.documents]) for each in loaded.lists] == [("1", ["b", "a"]), ("2", ["c"])]
    assert left_out(loaded) == ["line 4"]


# Tables


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter: str) -> None:
    rows = [f"{i}{delimiter}{t.replace(',', '')}{delimiter}{s}" for i, t, s in ROWS]
    data = "\n".join([f"id{delimiter}text{delimiter}score", *rows]).encode()
    assert facts(load(data, "dump.csv")) == [(i, t.replace(",", ""), s) for i, t, s in ROWS]


def test_sep_line_and_decimal_comma() -> None:
    loaded = load(b"sep=;\r\nText;Bewertung\r\nHallo, Welt;0,5\r\nTau;1.234,25\r\n", "dump.csv")
    assert [(d.content, d.score) for d in loaded.lists[0].documents] == [("Hallo, Welt", 0.5), ("Tau", 1234.25)]
    assert loaded.lists[0].sources == ("line 3", "line 4")


def test_quotation_marks_of_a_tab_separated_file_are_plain() -> None:
    data = b'id\ttext\n1\t"Stop" he said\n2\tA 5" pipe\n3\t"open\n'
    assert texts(load(data, "dump.tsv")) == ['"Stop" he said', 'A 5" pipe', '"open']


def test_a_quotation_mark_that_never_closes_takes_one_line_only() -> None:
    data = b'id,text\n1,first\n2,"second\n3,third\n4,fourth\n'
    loaded = load(data, "dump.csv")
    assert texts(loaded) == ["first", "third", "fourth"]
    assert left_out(loaded) == ["line 3"]
    assert loaded.lists[0].sources == ("line 2", "line 4", "line 5")


def test_lines_count_line_ends_inside_cells() -> None:
    data = b'text,score\n"one\n\ntwo",1\nthree,x,y\nfour,2\n,\nfive\n'
    loaded = load(data, "dump.csv")
    assert texts(loaded) == ["one\n\ntwo", "four", "five"]
    assert loaded.lists[0].sources == ("line 2", "line 6", "line 8")
    assert left_out(loaded) == ["line 5", "line 7"]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("quoted", [True, False])
def test_large_tables_read_as_small_ones(ends: str, quoted: bool) -> None:
    cell = f'"line one,{ends}{ends}""two"" and three"' if quoted else "Ropes are coiled clockwise"
    text = f'line one,{ends}{ends}"two" and three' if quoted else cell
    count = 40_000
    data = ends.join(["id,text,score", *(f"d{n},{cell},{n}.5" for n in range(count))]).encode()
    assert len(data) > 1 << 20  # large enough for the fast reader
    (found,) = load(data, "dump.csv").lists
    assert [(d.id, d.content, d.score) for d in found.documents] == [(f"d{n}", text, n + 0.5) for n in range(count)]
    step = 3 if quoted else 1
    assert found.sources == tuple(f"line {2 + step * n}" for n in range(count))


@pytest.mark.parametrize("row", ['x,"a"b,1', "x,a,b,1", 'x,a"",1', 'x,""a,1', "x,a\rb,1", "x"])
def test_large_irregular_tables_lose_nothing(row: str) -> None:
    good = [f"d{n},Ropes are coiled clockwise and dried,{n}" for n in range(30_000)]
    data = "\n".join(["id,text,score", *good[:15_000], row, *good[15_000:]]).encode()
    small = "\n".join(["id,text,score", *good[:50], row, *good[50:100]]).encode()
    large, little = load(data, "dump.csv"), load(small, "dump.csv")
    assert len(large.lists[0].documents) - 30_000 == len(little.lists[0].documents) - 100
    assert len(left_out(large)) == len(left_out(little))
    assert large.lists[0].documents[-1].id == "d29999"


def test_a_large_cell_and_many_columns() -> None:
    cell = "bell " * 60_000
    data = f"text,{','.join(f'c{n}' for n in range(300))}\n{cell},{','.join('1' * 300)}\n".encode()
    (document,) = load(data, "dump.csv").lists[0].documents
    assert document.content == cell
    assert len(document.meta) == 300


def test_tables_without_a_header() -> None:
    loaded = load(b"1\t7\twho ties ropes\tRopes are tied.\n1\t8\twho ties ropes\tBells ring.\n", "top1000.tsv")
    assert [(d.id, d.content) for d in loaded.lists[0].documents] == [("7", "Ropes are tied."), ("8", "Bells ring.")]
    assert loaded.lists[0].query == "who ties ropes"
    loaded = load(b"x1,Ropes are tied by hand every day,3\nx2,Bells ring at noon on every day,4\n", "dump.csv")
    assert texts(loaded) == ["Ropes are tied by hand every day", "Bells ring at noon on every day"]


def test_typed_words_are_text_and_blank_is_no_score() -> None:
    loaded = load(b"text,score\nNone,nan\nNA,\nnan,inf\nnull,0\n", "dump.csv")
    assert [(d.content, d.score) for d in loaded.lists[0].documents] == [
        ("None", None),
        ("NA", None),
        ("nan", None),
        ("null", 0.0),
    ]


def test_a_table_without_a_text_fails_with_its_columns() -> None:
    with pytest.raises(LoadError, match="label, colour"):
        load(b"label,colour\nx,red\ny,blue\n", "dump.csv")


# JSON


def test_json_lines_name_every_line_that_is_none() -> None:
    data = (
        b'{"text": "a"}\n\n{"text": null}\n{"text": "b", \n7\n{"text": "c"}\n["d"]\n{"text": NaN}\n{\'text\': \'e\'}\n'
    )
    loaded = load(data, "dump.jsonl")
    assert texts(loaded) == ["a", "c", "e"]
    assert sorted(left_out(loaded)) == ["line 3", "line 4", "line 5", "line 7", "line 8"]
    assert loaded.lists[0].sources == ("line 1", "line 6", "line 9")


@pytest.mark.parametrize(
    "text",
    [
        '[{"text": "a"}, {"text": "b"},]',
        '// said\n[{"text": "a"}, /* not */ {"text": "b"}] # done',
        "[{'text': 'a', 'x': None}, {'text': 'b', 'x': True}]",
        "[{text: 'a'}, {text: 'b'}]",
        "({'text': 'a'}, {'text': 'b'})",
        '{"text": "a"}\n{\n"text": "b"\n}\n',
        '{"text": "a"} {"text": "b"}',
        "[{'text': 'a', 'score': np.float32(0.5), 'at': datetime.datetime(2024, 1, 1, 0, 0)}, {'text': 'b'}]",
        "[Document(page_content='a'), Document(page_content='b', metadata={'x': Decimal('1')})]",
        "page_content='a' metadata={}\npage_content='b' metadata={}",
    ],
)
def test_json_like_text(text: str) -> None:
    assert texts(load(text.encode(), "dump.txt")) == ["a", "b"]


@pytest.mark.parametrize(
    "call", ["__import__('os').system('x')", "open('x')", "Evil('x', y=1).z", "f'{1}'", "lambda: 1"]
)
def test_nothing_is_evaluated(call: str) -> None:
    with pytest.raises(LoadError, match="line 1, column"):
        load(f"[{{'text': {call}}}]".encode(), "dump.json")
    (document,) = load(f"[{{'text': {call}}}]".encode(), "dump.txt").lists[0].documents
    assert document.content == f"[{{'text': {call}}}]"


def test_ids_are_never_numbers() -> None:
    data = b'[{"id": 007, "text": "a"}]'
    with pytest.raises(LoadError):
        load(data.replace(b"007", b"00x"), "dump.json")
    values = ["12345678901234567890123", "1.10", "0", "1e3", '"0012"']
    text = ",".join(f'{{"id": {value}, "text": "t{n}"}}' for n, value in enumerate(values))
    loaded = load(f"[{text}]".encode(), "dump.json")
    assert [d.id for d in loaded.lists[0].documents] == ["12345678901234567890123", "1.10", "0", "1e3", "0012"]


def test_half_a_surrogate_pair_is_replaced() -> None:
    loaded = load(b'[{"text": "a\\ud800b", "x\\udfff": "\\ud83d\\ude00"}]', "dump.json")
    (document,) = loaded.lists[0].documents
    assert document.content == "a\ufffdb"
    assert document.meta == {"x\ufffd": "😀"}


def test_printed_haystack_documents_that_the_printer_cut() -> None:
    first = "Document(id=a, content: 'It's there', meta: {'x': 'y'}, score: 0.5)"
    second = f"Document(id=b, content: '{'x' * 100}...', score: 0.25, embedding: vector of size 384)"
    text = f"[{first}, {second}]"
    loaded = load(text.encode(), "printed.txt")
    assert facts(loaded) == [("a", "It's there", 0.5), ("b", "x" * 100 + "...", 0.25)]
    assert loaded.lists[0].documents[0].meta == {"x": "y"}
    assert [n.kind for n in loaded.notices] == [NoticeKind.CHANGED]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"%PDF-1.7\n", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel"),
        (b"\x80\x04\x95\x1b\0\0\0\0\0\0\0.", "pickle"),
        (b"SQLite format 3\0", "SQLite"),
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\0\1\2\3\4\5\6\7" * 99, "not text"),
        (b"1 0 a 1\n1 0 b 0\n", "judgements"),
        (gzip.compress(b"text\nabc\n" * 99, mtime=0)[:-20], "ends before its last byte"),
        (b"PK\x03\x04broken", "damaged"),
        (b"PAR1broken", "cannot be read"),
        (b'{"a": 1}', "the keys a"),
        (b"[]", "empty list"),
    ],
)
def test_what_is_refused_is_named(data: bytes, what: str) -> None:
    with pytest.raises(LoadError, match=what):
        load(data, "dump.json")


def test_documents_made_fast_are_whole_documents() -> None:
    loaded = load(b'[{"id": "a", "text": "x y", "score": 1, "page": 2}, {"text": "z"}]', "dump.json")
    fast, slow = loaded.lists[0].documents
    assert fast == Document(id="a", content="x y", score=1.0, meta={"page": 2})
    assert vars(fast).keys() == vars(slow).keys()
    assert slow == Document(content="z")
    assert Document.from_dict(fast.to_dict()) == fast
    assert replace(fast, score=2.0).score == 2.0
