"""The table as CSV and the result as JSON."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import repeat
from numbers import Number
from typing import Any

import pandas as pd
from haystack import Document

from lim.export.strict import rows_json, versions
from lim.export.told import Texts, title_of
from lim.plain import plain
from lim.ranker import Arrangement, Placement, placement_dict

# What makes a spreadsheet take a text for a formula: = + - @, also in their full-width forms, behind whitespace and
# invisible characters, which some spreadsheets strip; and a leading tab or line break (OWASP, "CSV Injection").
# Apostrophes before it count: so one apostrophe less gives every text back as it was.
_FORMULA = re.compile(r"'*(?:[\t\r\n]|[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠])")


def table_csv(frame: pd.DataFrame) -> bytes:
    r"""Write a table as CSV that Excel, LibreOffice and pandas open right, and that runs nothing there.

    UTF-8 with a byte order mark: without one Excel takes the file for the system's old code page and breaks every
    accent; LibreOffice and pandas know the mark and drop it (with Python's `csv`, open it as `utf-8-sig`). Commas,
    quotes where needed, CRLF line ends (RFC 4180).

    :param frame: any table; its index is left out.
    :returns: the file. Numbers stay numbers, NaN and None are empty, line breaks in a text stay, quoted. A text or a
        column name a spreadsheet would take for a formula gets an apostrophe in front (`=A1` becomes `'=A1`), and so
        does one that begins with an apostrophe and would be one without: taking one away gives the text back. A lone
        surrogate, which no encoding knows, becomes its escape (`\ud83d`).
    """
    columns = [_cells(frame.iloc[:, place]) for place in range(frame.shape[1])]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(str(name)) for name in frame.columns])
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode("utf-8-sig", "backslashreplace")


def result_json(
    arrangement: Arrangement,
    *,
    name: str | None,
    query: str | None,
    tokens: Sequence[int] | None = None,
    texts: Texts = Texts.FULL,
) -> bytes:
    """Write an arrangement as strictly valid JSON (RFC 8259).

    :param arrangement: the arrangement.
    :param name: the list's name, None to leave it out.
    :param query: the question the list answers, if known.
    :param tokens: tokens of each input document, in input order; None where they are not available.
    :param texts: what to tell of the documents: with `Texts.TITLES` `title` stands in the place of `meta` and
        `content`, with `Texts.NUMBERS` there is neither one of them nor `id`.
    :returns: UTF-8 without a byte order mark, one document a line: `versions`, `settings`, `name`, `query`, `order`
        (the ranks in the order of the prompt), `words` in the prompt, and `documents`, one for every input document in
        input order. NaN and infinities are null, lone surrogates are escaped, what JSON does not know in a `meta` is
        its text.
    :raises ValueError: if `tokens` has another length than the arrangement's inputs.
    """

    def placed(placement: Placement) -> dict[str, Any]:
        fields = placement_dict(placement)
        if texts is Texts.NUMBERS:
            del fields["id"]
        return fields

    def told(document: Document) -> dict[str, Any]:
        if texts is Texts.FULL:
            return {"meta": plain(document.meta, finite=True), "content": document.content}
        return {"title": title_of(document)} if texts is Texts.TITLES else {}

    counts: Sequence[int | None] | repeat[None] = repeat(None, len(arrangement.inputs)) if tokens is None else tokens
    documents = [
        {
            **placed(placement),
            "tokens": count,
            "score": plain(placement.document.score, finite=True),
            **told(placement.document),
        }
        for placement, count in zip(arrangement.placements, counts, strict=True)
    ]
    head = {
        "versions": versions(),
        "settings": {"word_count_threshold": arrangement.word_count_threshold, "top_k": arrangement.top_k},
        "name": None if texts is Texts.NUMBERS else name,
        "query": None if texts is Texts.NUMBERS else query,
        "order": arrangement.order,
        "words": arrangement.words,
    }
    return rows_json(head, "documents", documents)


def _cells(column: pd.Series[Any]) -> list[Any]:
    values = column.tolist()
    if pd.api.types.is_numeric_dtype(column.dtype) and not column.hasnans:
        return values
    return [_cell(value) for value in values]


def _cell(value: object) -> object:
    if isinstance(value, Number):
        return value if value == value else None  # NaN differs from itself
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    text = str(value)
    return f"'{text}" if _FORMULA.match(text) else text
