"""Every bound, crossed: a message with the value, the rule and what to do."""

import contextlib
import gzip
import io
import json
import time
import zipfile

import pytest

from lim.errors import LimitError
from lim.loading import decode, limits, load, load_pasted


def test_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BYTES", 100)
    with pytest.raises(LimitError, match="101 bytes; at most 100"):
        load(b"x" * 101, "dump.txt")
    with pytest.raises(LimitError, match="at most 100"):
        load_pasted("x" * 101)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = 3_000_000
    monkeypatch.setattr(decode, "MAX_UNPACKED_BYTES", bound)
    bomb = gzip.compress(b"0" * (bound + 1))
    assert len(bomb) < 10_000
    with pytest.raises(LimitError, match="unpacks to more than"):
        load(bomb, "dump.csv.gz")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.txt", b"0" * (bound // 2))
    with pytest.raises(LimitError, match="unpacks to more than"):
        load(buffer.getvalue(), "dump.zip")


def test_files_in_an_archive() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(limits.MAX_ARCHIVE_FILES + 1):
            archive.writestr(f"{number}.txt", "x")
    with pytest.raises(LimitError, match="201 files; at most 200"):
        load(buffer.getvalue(), "dump.zip")


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "txt", "ctxs", "run"])
def test_documents(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr(limits, "MAX_DOCUMENTS", 50)
    data = {
        "jsonl": '{"text": "x"}\n' * 51,
        "json": json.dumps([{"text": "x"}] * 51),
        "csv": "text,score\n" + "x,1\n" * 51,
        "txt": "x\n\n" * 51,
        "ctxs": json.dumps([{"ctxs": [{"text": "x"}] * 17}] * 3),
        "run": json.dumps({"query": "q", "documents": ["x"] * 51}),
    }[form]
    with pytest.raises(LimitError, match="more than 50 documents"):
        load(data.encode(), f"dump.{form}")


def test_characters_of_a_document() -> None:
    text = "x" * (limits.MAX_DOCUMENT_CHARACTERS + 1)
    for data, name in ((json.dumps([{"text": text}]), "a.json"), (f"text,n\n{text},1\n", "a.csv"), (text, "a.txt")):
        with pytest.raises(LimitError, match=r"more than 5,000,000 characters|has 5,000,001 characters"):
            load(data.encode(), name)


@pytest.mark.parametrize("depth", [110, 900, 5_000, 200_000])
@pytest.mark.parametrize("ends", ["[]", "{}", "()"])
def test_nesting(depth: int, ends: str) -> None:
    opening = '{"a":' if ends == "{}" else ends[0]
    with pytest.raises(LimitError, match="nest"):
        load((opening * depth + "1" + ends[1] * depth).encode(), "dump.json")


def test_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SECONDS", 0.0)
    with pytest.raises(LimitError, match="took longer than"):
        load(b"[" + b"{'text': 'a'}," * 10_000 + b"]", "dump.json")


def test_one_load_does_not_shorten_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(limits, "MAX_SECONDS", 0.0)
        with pytest.raises(LimitError):
            load(b"[" + b"{'text': 'a'}," * 10_000 + b"]", "dump.json")
    assert len(load(b"[" + b"{'text': 'a'}," * 10_000 + b"]", "dump.json").lists[0].documents) == 10_000


def test_one_hundred_thousand_documents_load() -> None:
    data = b"".join(b'{"id": "d%d", "text": "words of document %d", "score": 0.5}\n' % (n, n) for n in range(100_000))
    (found,) = load(data, "dump.jsonl").lists
    assert len(found.documents) == 100_000
    assert found.documents[-1].id == "d99999"
    assert found.sources[-1] == "line 100000"


SLOW = {
    "quotes": b"'" * 50_000,
    "escapes": b"[" + b"'\\" * 30_000,
    "keys": b"{" + b"a:" * 30_000,
    "open cell": b"text,a\n" + b'"' * 50_001,
    "comments": b"/*" * 50_000,
    "rules": b"---\n" * 50_000,
    "numbers": b"1. " * 50_000,
    "angles": b"[" + b"<" * 50_000,
    "printed": b"Document(id=" * 5_000 + b"content: '",
    "blank lines": b"\n \n" * 50_000,
    "open cells": b"text,a\n" + b'"x\n' * 5_000,
    "deep keys": b'{"a":' * 90 + b"[" + b'{"b": "c"},' * 30_000 + b"1]" + b"}" * 90,
}


@pytest.mark.parametrize("data", SLOW.values(), ids=SLOW)
def test_no_input_is_slow_to_refuse(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SECONDS", 5.0)
    for name in ("dump.json", "dump.csv", "dump.txt"):
        start = time.monotonic()
        with contextlib.suppress(ValueError):
            load(data, name)
        assert time.monotonic() - start < 10
