"""Runs of TREC tools: ranks and scores of documents by id, without their texts."""

from __future__ import annotations

import re
from typing import Any

from lim.errors import LoadError
from lim.loading.containers.source import Places, Source
from lim.loading.limits import check_documents, check_time
from lim.loading.notes import Notes

RUN_COLUMNS = ("qid", "iteration", "docid", "rank", "score", "tag")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|nan)", re.IGNORECASE)
_SNIFFED = 30


def is_run(data: bytes) -> bool:
    """Tell a TREC run: `qid Q0 docid rank score tag` on every line.

    :param data: UTF-8 bytes.
    :returns: whether the first lines have these columns.
    """
    lines = [line.split(None, 5) for line in data[:65536].split(b"\n")[:_SNIFFED] if line.strip()]
    if len(data) > 65536 and len(lines) > 1:
        lines.pop()
    good = sum(_is_run_line(line) for line in lines)
    return good > 0 and 3 * good >= 2 * len(lines)


def is_judgements(data: bytes) -> bool:
    """Tell TREC relevance judgements: `qid 0 docid relevance` on every line.

    :param data: UTF-8 bytes.
    :returns: whether the first lines have these columns.
    """
    lines = [line.split() for line in data[:16384].split(b"\n")[:_SNIFFED] if line.strip()]
    return bool(lines) and all(
        len(line) == 4 and line[1] in (b"0", b"Q0") and line[3].lstrip(b"-").isdigit() for line in lines
    )


def read_run(data: bytes, notes: Notes) -> Source:
    """Read a TREC run.

    :param data: UTF-8 bytes.
    :param notes: told about lines that are none of a run.
    :returns: its rows, without texts.
    """
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    preview: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        cells = line.split(None, 5)
        if not _is_run_line(cells):
            notes.left_out(
                "The line has not the columns of a run: query, Q0, document, rank, score, tag.", f"line {number}"
            )
            continue
        texts = [cell.decode("utf-8", errors="replace") for cell in cells]
        rows.append({"qid": texts[0], "docid": texts[2], "rank": texts[3], "score": texts[4]})
        numbers.append(number)
        if len(preview) < 5:
            preview.append(line.decode("utf-8", errors="replace")[:2000].strip())
        if number % 4096 == 0:
            check_time()
            check_documents(len(rows))
    return Source("TREC run", rows, Places("line ", numbers), preview=tuple(preview))


def refuse_judgements(name: str) -> LoadError:
    """Say that relevance judgements are no ranking.

    :param name: what a person calls the input.
    :returns: the error to raise.
    """
    return LoadError(
        f"{name} holds relevance judgements (query, 0, document, grade): they rank nothing. Load the run, with the "
        "corpus beside it."
    )


def _is_run_line(cells: list[bytes]) -> bool:
    return (
        len(cells) >= 5
        and (cells[1].lower() in (b"q0", b"0") or len(cells) == 6)
        and cells[3].lstrip(b"-").isdigit()
        and _NUMBER.fullmatch(cells[4].strip()) is not None
        and len(cells[2]) <= 512
    )
