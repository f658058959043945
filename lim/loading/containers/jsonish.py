"""JSON, JSON Lines and what people take for them, whatever the file is called."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import orjson

from lim.errors import LoadError
from lim.loading.containers.literals import NotLiteralError, read_literals
from lim.loading.containers.source import ExactFloat, Places, Source
from lim.loading.limits import check_documents, check_nesting, check_time
from lim.loading.notes import Notes

PREVIEW_RECORDS = 5
PREVIEW_CHARACTERS = 2_000
SNIFFED_LINES = 8
MAX_LITERAL_BYTES = 20_000_000
"""Bytes the tolerant reader takes: it is written in Python, and the strict readers take the rest."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_START = re.compile(rb"\s*(?:[\[{(]|//|/\*|[A-Z]\w*\(\s*\w+\s*=|page_content=)")
_SPACE = b" \t\r\n"


def looks_like_json(data: bytes) -> bool:
    """Tell whether a text starts as JSON or a Python list or object does.

    :param data: UTF-8 bytes.
    :returns: whether it starts with a list, an object, a comment or a printed object.
    """
    return _START.match(data[:4096]) is not None


def read_json(data: bytes, notes: Notes, *, exact: bool = False) -> Source:
    """Read JSON, JSON Lines, or JSON-like text.

    :param data: UTF-8 bytes.
    :param notes: told about lines that are not JSON and about leniency that was needed.
    :param exact: keep the written form of every number (slower).
    :returns: the values and their places.
    :raises LoadError: if the text is none of them: the message names the line and the column.
    """
    lines = _first_lines(data)
    if len(lines) > 1 and 2 * sum(map(_is_object, lines)) >= len(lines):
        return _read_lines(data, notes, exact=exact)
    try:
        root = _parse(data, exact=exact)
    except ValueError as error:
        return _read_tolerantly(data, notes, error, exact=exact)
    return Source("JSON", root, preview=preview_of(root))


def parse_text(text: str) -> Any:  # noqa: ANN401 - any plain value
    """Read a value written inside a text, such as a list in a cell of a table.

    :param text: JSON, or Python literals.
    :returns: the value, None if the text is neither.
    """
    try:
        # A number that is an id must keep its digits.
        return _parse(text.encode("utf-8", errors="replace"), exact='id"' in text)
    except ValueError:
        pass  # not JSON: Python's way is tried next
    try:
        values = read_literals(text)
    except NotLiteralError:
        return None
    return values[0] if len(values) == 1 else values


def preview_of(root: Any) -> tuple[str, ...]:  # noqa: ANN401 - any plain value
    """Write the first few records as they stand in the input.

    :param root: the values.
    :returns: up to five, each cut to a readable length.
    """
    records = root if isinstance(root, list) else [root]
    return tuple(_short(record) for record in records[:PREVIEW_RECORDS])


def _short(record: Any) -> str:  # noqa: ANN401 - any plain value
    if isinstance(record, str):
        return record[:PREVIEW_CHARACTERS]
    pieces: list[str] = []
    size = 0
    for piece in json.JSONEncoder(ensure_ascii=False, indent=2, default=str).iterencode(record):
        pieces.append(piece)
        size += len(piece)
        if size > PREVIEW_CHARACTERS:
            return "".join(pieces)[:PREVIEW_CHARACTERS] + "…"
    return "".join(pieces)


def _parse(data: bytes, *, exact: bool = False) -> Any:  # noqa: ANN401 - any plain value
    """Strict JSON first; NaN, Infinity and lone surrogates need the standard library's reader."""
    if not exact:
        try:
            return orjson.loads(data)
        except ValueError:
            pass  # the standard library accepts more, and says where it stops
    try:
        value = json.loads(data, parse_float=ExactFloat if exact else None, strict=False)
    except RecursionError as error:
        check_nesting(10**9)
        raise ValueError from error
    return mend(value)


def mend(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any plain value
    """Replace halves of surrogate pairs, which no encoder accepts, by U+FFFD.

    :param value: a plain value.
    :param depth: how deep it stands.
    :returns: the same value, mended where needed.
    :raises LimitError: if it nests too deep.
    """
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if not value.isascii() and _SURROGATE.search(value) else value
    if isinstance(value, list):
        check_nesting(depth)
        return [mend(item, depth + 1) for item in value]
    if isinstance(value, dict):
        check_nesting(depth)
        return {mend(key): mend(item, depth + 1) for key, item in value.items()}
    return value


def _first_lines(data: bytes) -> list[bytes]:
    found: list[bytes] = []
    for line in io.BytesIO(data):
        if line.strip():
            found.append(line)
            if len(found) == SNIFFED_LINES:
                break
    return found


def _is_object(line: bytes) -> bool:
    stripped = line.strip(_SPACE)
    if stripped[:1] not in (b"{", b"[") or stripped[-1:] not in (b"}", b"]"):
        return False
    try:
        _parse(stripped)
    except ValueError:
        try:
            read_literals(stripped[:MAX_LITERAL_BYTES].decode("utf-8", errors="replace"))
        except NotLiteralError:
            return False
    return True


def _read_lines(data: bytes, notes: Notes, *, exact: bool) -> Source:
    records: list[Any] = []
    numbers: list[int] = []
    raw: list[str] = []
    broken: list[tuple[int, str]] = []
    for number, line in enumerate(io.BytesIO(data), 1):
        try:
            record = orjson.loads(line) if not exact else _parse(line, exact=True)
        except ValueError:
            stripped = line.strip(_SPACE)
            if not stripped:
                continue
            try:
                record = _parse_line(stripped, exact=exact)
            except (ValueError, NotLiteralError) as error:
                broken.append((number, _reason(error)))
                continue
        records.append(record)
        numbers.append(number)
        if len(raw) < PREVIEW_RECORDS:
            raw.append(line[: 4 * PREVIEW_CHARACTERS].decode("utf-8", errors="replace").strip()[:PREVIEW_CHARACTERS])
        if number % 4096 == 0:
            check_time()
            check_documents(len(records))
    for number, reason in broken:
        notes.left_out(f"The line is not JSON: {reason}.", f"line {number}")
    return Source("JSON Lines", records, Places("line ", numbers), preview=tuple(raw))


def _parse_line(line: bytes, *, exact: bool) -> Any:  # noqa: ANN401 - any plain value
    try:
        return _parse(line, exact=exact)
    except ValueError:
        values = read_literals(line[:MAX_LITERAL_BYTES].decode("utf-8", errors="replace"))
        if len(values) != 1 or isinstance(values[0], str | int | float):
            raise
        return values[0]


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at column {error.colno}"
    return error.reason if isinstance(error, NotLiteralError) else "it cannot be read"


def _read_tolerantly(data: bytes, notes: Notes, strict: ValueError, *, exact: bool) -> Source:
    text = data.decode("utf-8", errors="replace")
    if (values := _concatenated(text, exact=exact)) is not None:
        notes.guessed("The file holds several JSON values one after another; each is taken as a record.")
        return Source("JSON values", values, Places("value ", range(1, len(values) + 1)), preview=preview_of(values))
    if len(data) > MAX_LITERAL_BYTES:
        raise LoadError(
            f"The input is not strict JSON ({_reason(strict)}) and has {len(data):,} bytes; leniently, at most "
            f"{MAX_LITERAL_BYTES:,} are read. Save it as strict JSON or JSON Lines."
        ) from strict
    try:
        values = read_literals(text)
    except NotLiteralError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise LoadError(
            f"The input starts like JSON but cannot be read at line {line}, column {column}: {error.reason}. "
            "JSON, JSON Lines and printed Python values are read; if the file was cut off, save it again."
        ) from error
    notes.guessed("The text is not strict JSON; comments, trailing commas and Python's notation were read too.")
    root = values[0] if len(values) == 1 else values
    return Source("JSON-like text", root, preview=preview_of(root))


def _concatenated(text: str, *, exact: bool) -> list[Any] | None:
    decoder = json.JSONDecoder(parse_float=ExactFloat if exact else None, strict=False)
    values: list[Any] = []
    position = 0
    while True:
        while position < len(text) and text[position] in " \t\r\n,\x1e":
            position += 1
        if position >= len(text):
            return [mend(value) for value in values] if len(values) > 1 else None
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict | list):
            return None
        values.append(value)
        if len(values) % 4096 == 0:
            check_time()
