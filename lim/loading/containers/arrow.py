"""Clean tables through pyarrow, several times faster than Python; anything irregular is left to the careful reader."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import accumulate

from lim.loading.limits import check_documents, check_time

MIN_BYTES = 1 << 20
"""Below this, importing pyarrow costs more than it saves."""
BLOCK_BYTES = 1 << 20
"""Read at a time: small blocks keep the peak of memory low. A row that is longer goes to the careful reader."""
HEAD_BYTES = 1 << 16
_LONE_RETURN = re.compile(rb"\r(?!\n)")


def read_clean_table(
    data: bytes, delimiter: str, start: int, first_line: int
) -> tuple[list[list[str]], Sequence[int]] | None:
    """Read a large table whose every row follows the rules.

    :param data: UTF-8 bytes.
    :param delimiter: between the cells of a row.
    :param start: bytes before the first row.
    :param first_line: the number of the first row's line.
    :returns: the columns and the lines their rows start on; None if the table is small or irregular.
    :raises LimitError: if it has too many rows or takes too long.
    """
    if len(data) - start < MIN_BYTES or not _is_regular(data, delimiter):
        return None
    head = data[start : start + HEAD_BYTES].decode(errors="replace")
    try:
        width = len(next(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)))
    except (csv.Error, StopIteration):
        return None
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    names = [str(index) for index in range(width)]
    columns: list[list[str]] = [[] for _ in names]
    heights: list[int] = []
    quoted = b'"' in data
    try:
        reader = pa_csv.open_csv(
            pa.BufferReader(pa.py_buffer(data).slice(start)),
            pa_csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=names),
            pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quoted, ignore_empty_lines=False),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=False
            ),
        )
        for batch in reader:
            check_time()
            for column, cells in zip(columns, batch.columns, strict=True):
                column.extend(cells.to_pylist())
            check_documents(len(columns[0]) - 1)
            if quoted:
                heights.extend(_lines(batch))
    except pa.ArrowException:
        return None
    count = len(columns[0])
    if not quoted:
        return columns, range(first_line, first_line + count)
    return columns, list(accumulate(heights[:-1], initial=first_line))[:count]


def _lines(batch: object) -> list[int]:
    """Count the lines each row takes: one, and one for every line end inside its cells."""
    import pyarrow.compute as pc

    total = None
    for column in batch.columns:  # type: ignore[attr-defined] # pyarrow ships no types
        count = pc.count_substring(column, "\n")
        total = count if total is None else pc.add(total, count)
    return [] if total is None else pc.add(total, 1).to_pylist()


def _is_regular(data: bytes, delimiter: str) -> bool:
    """Make sure both readers agree: quotation marks only around cells or doubled inside them, and usual line ends."""
    if b"\r" in data and _LONE_RETURN.search(data) is not None:
        return False
    if b"\0" in data or len(delimiter.encode()) != 1:
        return False
    if b'"' not in data:
        return True
    if data.count(b'"') % 2:
        return False
    edge = re.escape(delimiter.encode()) + rb'\r\n"'
    inside = re.compile(rb'"(?=[^' + edge + rb"])(?<=[^" + edge + rb']")')
    empty = re.compile(rb'""(?=[^' + edge + rb'])(?<=[^"]"")')
    return inside.search(data) is None and not any(
        data[match.start() - 1 : match.start()] in (delimiter.encode(), b"\n", b"") for match in empty.finditer(data)
    )
