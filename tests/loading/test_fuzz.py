"""Whatever the bytes: only a LimError, and every record either a document or named."""

import csv
import gzip
import io
import json
import math
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lim.errors import LimError
from lim.loading import Loaded, NoticeKind, load, load_pasted

CASES = Path(__file__).parents[1] / "cases"
NAMES = ["dump", "dump.csv", "dump.tsv", "dump.json", "dump.jsonl", "dump.txt", "dump.md", "dump.csv.gz"]


def check(read: Callable[[], Loaded]) -> Loaded | None:
    """Read, and make sure that what comes out can be ranked, hashed and written as JSON."""
    try:
        loaded = read()
    except LimError:
        return None
    assert 0 <= loaded.default < len(loaded.lists)
    for found in loaded.lists:
        assert len(found.sources) == len(found.documents) > 0
        for document in found.documents:
            assert isinstance(document.content, str)
            assert isinstance(document.id, str)
            assert document.id
            assert document.score is None or math.isfinite(document.score)
            (document.content + document.id + found.name).encode()
            json.dumps(document.meta, default=str)
    return loaded


def accounted(loaded: Loaded) -> int:
    rejects = sum(notice.count for notice in loaded.notices if notice.kind is NoticeKind.LEFT_OUT)
    return rejects + sum(len(found.documents) for found in loaded.lists)


@given(st.binary(max_size=400), st.sampled_from(NAMES))
def test_random_bytes(data: bytes, name: str) -> None:
    check(lambda: load(data, name))


@given(st.text(max_size=300), st.sampled_from(NAMES))
def test_random_text(text: str, name: str) -> None:
    check(lambda: load(text.encode("utf-8", errors="surrogatepass"), name))
    check(lambda: load_pasted(text))


alphabet = "[]{}(),:;'\"\\\n\t -_=.0123456789abNTuxtidscore\u00e9\ud800"


@given(st.text(alphabet=alphabet, max_size=200), st.sampled_from(NAMES))
def test_text_made_of_syntax(text: str, name: str) -> None:
    check(lambda: load(text.encode("utf-8", errors="replace"), name))
    check(lambda: load_pasted(text))


keys = st.sampled_from(
    [
        "content",
        "text",
        "id",
        "_id",
        "score",
        "rank",
        "query",
        "qid",
        "documents",
        "ids",
        "distances",
        "metadata",
        "meta",
        "node",
        "payload",
        "_source",
        "hits",
        "contexts",
        "index",
        "relevance_score",
        "embedding",
        "document",
        "title",
        "label",
        "role",
        "messages",
        "results",
        "data",
        "columns",
        "0",
        "1",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["1", "0.5", "[]"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | st.text(max_size=4), inner, max_size=5),
    max_leaves=25,
)


@given(values)
def test_random_trees(value: Any) -> None:
    data = json.dumps(value).encode()
    loaded = check(lambda: load(data, "dump.json"))
    check(lambda: load(repr(value).encode("utf-8", errors="replace"), "dump.txt"))
    if loaded is not None:
        check(lambda: load(data, "dump.json", reading=loaded.reading))


record_texts = st.one_of(st.text(st.characters(codec="utf-8"), max_size=20), st.just("plain words here"))


@given(st.lists(st.one_of(st.none(), st.just("broken"), record_texts), min_size=1, max_size=30))
def test_json_lines_account_for_every_line(texts: list[str | None]) -> None:
    lines = ['{"text": broken' if t == "broken" else json.dumps({"text": t, "n": n}) for n, t in enumerate(texts)]
    loaded = check(lambda: load("\n".join(lines).encode(), "dump.jsonl"))
    if loaded is not None and loaded.format.startswith("JSON Lines"):
        assert accounted(loaded) == len(texts)
        kept = [t for t in texts if t not in (None, "broken")]
        assert [d.content for d in loaded.lists[0].documents] == kept


cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], include_characters="\n\t"), max_size=12)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from(["\n", "\r\n"]))
def test_tables_account_for_every_row(rows: list[tuple[str, str]], ends: str) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=ends, quoting=csv.QUOTE_ALL)
    writer.writerows([("text", "note"), *rows])
    loaded = check(lambda: load(buffer.getvalue().encode(), "dump.csv"))
    filled = [row for row in rows if any(row)]
    if not filled:
        assert loaded is None
        return
    assert loaded is not None
    assert accounted(loaded) == len(rows)
    assert [(d.content, d.meta["note"]) for d in loaded.lists[0].documents] == filled


@given(
    st.lists(st.tuples(st.sampled_from("pqr"), st.none() | st.just("text of it")), min_size=1, max_size=30),
    st.sampled_from(["flat", "grouped"]),
)
def test_queries_account_for_every_record(rows: list[tuple[str, str | None]], form: str) -> None:
    records: list[dict[str, Any]] = [{"qid": q, "text": t, "n": n} for n, (q, t) in enumerate(rows)]
    if form == "grouped":
        groups: dict[str, list[dict[str, Any]]] = {}
        for record in records:
            groups.setdefault(record["qid"], []).append(record)
        value: Any = [{"query": q, "ctxs": members} for q, members in groups.items()]
    else:
        value = records
    loaded = check(lambda: load(json.dumps(value).encode(), "dump.json"))
    if loaded is None:
        assert all(text is None for _, text in rows)
        return
    assert accounted(loaded) == len(rows)
    for found in loaded.lists:
        assert len({records[document.meta["n"]]["qid"] for document in found.documents}) == 1


def seeds() -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in (CASES / "loading").iterdir() if path.is_file()}
    found = {name: data for name, data in found.items() if len(data) < 20_000}
    for case in json.loads((CASES / "shapes.json").read_text("utf-8")):
        found[f"{case['name']}.json"] = json.dumps(case["value"]).encode()
        found[f"{case['name']}.txt"] = repr(case["value"]).encode()
    parquet, packed = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.table({"id": ["a", "b"], "text": ["one two", "three"], "score": [0.5, None]}), parquet)
    found["dump.parquet"] = parquet.getvalue()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", found["C05_embedded_newlines.csv"])
        archive.writestr("b.jsonl", found["D03_bom_crlf_blank_tail.jsonl"])
    found["dump.zip"] = packed.getvalue()
    found["dump.jsonl.gz"] = gzip.compress(found["D04_ndjson_named.json"])
    found["printed.txt"] = (
        b"[Document(id=a, content: 'It's', meta: {'x': 1}, score: 0.5), Document(id=b, content: 'B')]"
    )
    return found


SEEDS = seeds()
PIECES = [b"null", b"NaN", b"[", b"{", b'"', b"'", b"\0", b"\xff", b"1e999", b"\\ud800", b"Document(", b",", b"\t"]
PIECES += [b";", b"()", b"{}", b'"rank":1,', b"9" * 400, b"\r", b"...", b"/*", b"#", b"\x1f\x8b", b"PK\x03\x04"]
ENCODINGS = ["utf-16", "utf-16-le", "utf-8-sig", "cp1252", "utf-32", "shift-jis", "latin-1"]


def mutate(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.randrange(1, 40))
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return rng.choice(
        [
            data[:start],
            data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :],
            data[:start] + data[end:],
            data[:start] + data[start:end] * 3 + data[end:],
            data[start:] + data[:start],
            b"\n".join(lines),
            data.decode("utf-8", errors="replace").encode(rng.choice(ENCODINGS), errors="replace"),
            data[:start] + rng.choice(PIECES) + data[end:],
            data[:start] + rng.choice(PIECES) + data[start:],
        ]
    )


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_damaged_files(name: str) -> None:
    rng = random.Random(name)
    for _ in range(60):
        data = SEEDS[name]
        for _ in range(rng.randrange(1, 4)):
            data = mutate(data, rng)
        check(lambda data=data: load(data, name))  # type: ignore[misc]
        if rng.random() < 0.2:
            check(lambda data=data: load(data, rng.choice(NAMES)))  # type: ignore[misc]


@pytest.mark.parametrize(
    "name", ["D03_bom_crlf_blank_tail.jsonl", "D04_ndjson_named.json", "A23_duplicate_in_one_list.jsonl"]
)
def test_damaged_json_lines_account_for_every_line(name: str) -> None:
    rng = random.Random(name)
    whole = [line for line in SEEDS[name].decode("utf-8-sig").splitlines() if line.strip()]
    for _ in range(200):
        lines = whole * 3
        for _ in range(2):
            number = rng.randrange(len(lines))
            lines[number] = lines[number][: rng.randrange(1, len(lines[number]))]
        rng.shuffle(lines)
        data = "\n".join(lines).encode(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))
        loaded = check(lambda data=data: load(data, name))  # type: ignore[misc]
        if loaded is not None:
            assert accounted(loaded) == len(lines)


def test_damaged_tables_account_for_every_line() -> None:
    rng = random.Random(0)
    for _ in range(300):
        rows = [f"d{n},some words number {n},{n}" for n in range(20)]
        for _ in range(3):
            number = rng.randrange(len(rows))
            rows[number] = rng.choice(
                [rows[number] + ",more", '"' + rows[number], rows[number].replace("s", '"', 1), "x,y,"]
            )
        data = "\n".join(["id,text,score", *rows]).encode()
        loaded = check(lambda data=data: load(data, "dump.csv"))  # type: ignore[misc]
        assert loaded is not None
        assert len(loaded.lists) == 1
        taken = {source for found in loaded.lists for source in found.sources}
        named = {p for n in loaded.notices if n.kind is NoticeKind.LEFT_OUT for p in n.places}
        inside = sum((d.content or "").count("\n") for d in loaded.lists[0].documents)
        inside += sum(d.id.count("\n") for d in loaded.lists[0].documents)
        assert len(taken | named) + inside == len(rows)
