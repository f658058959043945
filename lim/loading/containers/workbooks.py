"""Excel workbooks and Parquet files, through readers that are well kept."""

from __future__ import annotations

import datetime as dt
import io
import math
from collections.abc import Sequence
from typing import Any

from lim.errors import LimitError, LoadError
from lim.loading.containers.jsonish import preview_of
from lim.loading.containers.source import ExactFloat, Places, Source
from lim.loading.decode import unpacked_size
from lim.loading.limits import MAX_DOCUMENTS, MAX_UNPACKED_BYTES, check_documents, check_time
from lim.loading.notes import Notes

MAX_BINARY_ID = 64


def is_workbook(names: frozenset[str]) -> bool:
    """Tell a workbook by the files inside the zip archive that it is.

    :param names: the names in the archive.
    :returns: whether they are a workbook's.
    """
    return "[Content_Types].xml" in names and any(name.startswith("xl/") for name in names)


def read_workbook(data: bytes, name: str, notes: Notes) -> list[tuple[str, list[Sequence[str]]]]:
    """Read the sheets of an .xlsx workbook.

    :param data: the workbook.
    :param name: what a person calls it.
    :param notes: told about empty sheets.
    :returns: the sheets that hold something: name and rows, every cell as text.
    :raises LoadError: if the workbook is damaged.
    :raises LimitError: if it unpacks to too much.
    """
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    if (size := unpacked_size(data)) > MAX_UNPACKED_BYTES:
        raise LimitError(
            f"{name} unpacks to {size:,} bytes; at most {MAX_UNPACKED_BYTES:,} are read. Save the sheet as CSV UTF-8, "
            "or keep only the rows you need."
        )
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets: list[tuple[str, list[Sequence[str]]]] = []
        for title in book.sheet_names:
            cells = book.get_sheet_by_name(title).to_python(skip_empty_area=False, nrows=MAX_DOCUMENTS + 2)
            check_documents(len(cells) - 1)
            check_time()
            rows: list[Sequence[str]] = [[_cell(cell) for cell in row] for row in cells]
            if any(any(row) for row in rows):
                sheets.append((title, rows))
            else:
                notes.guessed(f"The sheet {title!r} is empty.")
    except (CalamineError, PasswordError, OSError, ValueError, KeyError) as error:
        if isinstance(error, LoadError):
            raise
        raise LoadError(
            f"{name} is an Excel workbook that cannot be read ({error}). Save the sheet as CSV UTF-8 and load that."
        ) from error
    if not sheets:
        raise LoadError(f"{name} is an Excel workbook without a filled cell. Load the one with the ranked list.")
    return sheets


def _cell(value: Any) -> str:  # noqa: ANN401 - whatever a cell holds
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # A workbook stores every number as floating point; a whole one was typed as a whole one.
        return _whole(value)
    return "" if value is None else str(value)


def is_parquet(data: bytes) -> bool:
    """Tell Parquet by its first bytes.

    :param data: the input.
    :returns: whether it is Parquet.
    """
    return data[:4] == b"PAR1"


def read_parquet(data: bytes, name: str, *, exact: bool = False) -> Source:
    """Read a Parquet file.

    :param data: the file.
    :param name: what a person calls it.
    :param exact: keep the written form of every number, because it may be an id (slower).
    :returns: its rows as plain values.
    :raises LoadError: if it is damaged.
    :raises LimitError: if it holds too many rows or unpacks to too much.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        check_documents(file.metadata.num_rows)
        size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
        if size > MAX_UNPACKED_BYTES:
            raise LimitError(
                f"{name} unpacks to {size:,} bytes; at most {MAX_UNPACKED_BYTES:,} are read. Keep only the columns and "
                "rows you need."
            )
        rows: list[Any] = []
        for batch in file.iter_batches(batch_size=4096):
            check_time()
            rows.extend(_plain(row, exact=exact) for row in batch.to_pylist())
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        if isinstance(error, LoadError):
            raise
        raise LoadError(
            f"{name} is a Parquet file that cannot be read ({str(error)[:200]}). Write it again."
        ) from error
    return Source("Parquet", rows, Places("row ", range(1, len(rows) + 1)), preview=preview_of(rows))


def _plain(value: Any, *, exact: bool) -> Any:  # noqa: ANN401 - any value of Arrow's
    if isinstance(value, dict):
        return {str(key): _plain(inner, exact=exact) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, exact=exact) for inner in value]
    if isinstance(value, bytes):
        return _text_in(value)
    if exact and isinstance(value, float) and math.isfinite(value):
        # A column of whole numbers with a gap is written as floating point: 7.0 was 7.
        return ExactFloat(_whole(value))
    if isinstance(value, float) or value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    number = getattr(value, "as_tuple", None)
    return float(value) if number is not None and math.isfinite(value) else str(value)


def _text_in(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        # Bytes that are no text, such as a UUID: two of them must not become one id.
        return value.hex() if len(value) <= MAX_BINARY_ID else value.decode("utf-8", errors="replace")


def _whole(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
