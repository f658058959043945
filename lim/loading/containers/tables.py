"""Tables: delimiter, quoting, header and decimal comma found; every row a record or named as left out."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lim.errors import LimitError, LoadError
from lim.loading.containers.arrow import read_clean_table
from lim.loading.containers.source import Places, Rows, Source
from lim.loading.limits import MAX_COLUMNS, MAX_DOCUMENT_CHARACTERS, check_documents, check_time
from lim.loading.names import is_known, normalise
from lim.loading.notes import Notes

SAMPLE_BYTES = 1 << 16
PREVIEW_ROWS = 5
MAX_RESUMES = 50
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_SEP_LINE = re.compile(rb'\A"?sep=(.)"?[ \t]*\r?\n', re.IGNORECASE)
_NAME = re.compile(r"[^\W\d]\w{1,30}(?:[.:]\w{1,30}){0,6}")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")
_BOM = "\ufeff"
_HEADER_AGAIN = "The row repeats the names of the columns."
# Cells may be as long as a document may be; the bound of the csv module is shared by the whole process.
csv.field_size_limit(max(csv.field_size_limit(), MAX_DOCUMENT_CHARACTERS))


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table is written.

    :param delimiter: between the cells of a row.
    :param quoted: quotation marks around a cell are not part of it.
    :param start: bytes before the first row (a `sep=` line).
    :param first_line: the number of the first row's line.
    """

    delimiter: str
    quoted: bool = True
    start: int = 0
    first_line: int = 1

    def reader(self, lines: Iterator[str], *, strict: bool = True) -> Any:  # noqa: ANN401 - csv names no type for it
        """Read rows.

        :param lines: lines with their ends.
        :param strict: refuse quotation marks that break the rules.
        :returns: a `csv.reader`.
        """
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            strict=strict,
        )


def sniff_table(data: bytes, *, sure: bool) -> Dialect | None:
    """Find how a table is written.

    :param data: UTF-8 bytes.
    :param sure: the name says that it is a table; without that, a header with a known name is asked for.
    :returns: the dialect, None if this does not look like a table.
    """
    start, first_line, given = 0, 1, None
    if match := _SEP_LINE.match(data[:64]):
        start, first_line, given = match.end(), 2, match[1].decode("utf-8", errors="replace")
    sample = _sample(data, start)
    if not sample.strip():
        return None
    if given:
        return Dialect(given, start=start, first_line=first_line)
    scored = [(_consistency(sample, delimiter), delimiter) for delimiter in DELIMITERS]
    (known, share, columns), delimiter = max(scored, key=lambda item: item[0])
    if columns < 2:
        # One column: a character that stands nowhere keeps every line whole.
        return Dialect("\x1f", start=start, first_line=first_line) if sure else None
    # A header of several known names is no chance, but for a table drawn with bars; odd rows are then named.
    enough = 0.4 if known > 1 and delimiter != "|" else 0.8
    if not sure and (known < 1 or share < enough or sample.count("\n") < 1):
        return None
    dialect = Dialect(delimiter, start=start, first_line=first_line)
    if delimiter == "\t" and _breaks_quoting(sample, dialect):
        # Tab-separated files of this field are written without quoting, so a quotation mark is a plain character.
        return Dialect(delimiter, quoted=False, start=start, first_line=first_line)
    return dialect


def read_table(data: bytes, dialect: Dialect, notes: Notes) -> Source:
    """Read a table.

    :param data: UTF-8 bytes.
    :param dialect: how it is written.
    :param notes: told about rows that were left out, the header that was guessed and the like.
    :returns: the rows.
    :raises LoadError: if there is no row.
    :raises LimitError: if there are too many rows or columns.
    """
    name = DELIMITERS.get(dialect.delimiter)
    format_name = "table" if name is None else f"table, {name} between the cells"
    if dialect.quoted and (clean := read_clean_table(data, dialect.delimiter, dialect.start, dialect.first_line)):
        return _clean_source(format_name, *clean, notes)
    rows, numbers = _read_rows(data, dialect, notes)
    if not rows:
        raise LoadError("The table has no rows. A table needs a line of column names and a row for each document.")
    return table_source(format_name, rows, Places("line ", numbers), notes)


def _clean_source(format_name: str, columns: list[list[str]], numbers: Sequence[int], notes: Notes) -> Source:
    """Make a source of columns without making an object of every row."""
    head: list[Sequence[str]] = list(zip(*(column[:200] for column in columns), strict=True))
    places = Places("line ", numbers)
    header: Sequence[str] = []
    if _is_header(head[0], head[1:]):
        header, head = head[0], head[1:]
        columns = [[cell.removeprefix(_BOM) for cell in columns[0][1:]], *(column[1:] for column in columns[1:])]
        places = Places("line ", numbers[1:])
    names = column_names(header, head, notes)
    gone: set[int] = set()
    if all("" in column for column in columns):
        gone = {index for index, cells in enumerate(zip(*columns, strict=True)) if not any(cells)}
        for index in sorted(gone):
            notes.left_out("The row is blank.", places[index])
    if len(header) > 1 and all(name in column for name, column in zip(header, columns, strict=True)):
        wanted = tuple(header)
        for index, cells in enumerate(zip(*columns, strict=True)):
            if cells == wanted:
                notes.left_out(_HEADER_AGAIN, places[index])
                gone.add(index)
    if gone:
        kept = [index for index in range(len(columns[0])) if index not in gone]
        columns = [[column[index] for index in kept] for column in columns]
        places = places.pick(kept)
    rows = Rows(names, columns)
    return Source(format_name, rows, places, table=True, columns=tuple(names), preview=_preview(rows[:PREVIEW_ROWS]))


def _preview(rows: Sequence[dict[str, str]]) -> tuple[str, ...]:
    return tuple("\n".join(f"{key}: {value[:400]}" for key, value in row.items()) for row in rows)


def table_source(format_name: str, rows: list[Sequence[str]], places: Places, notes: Notes) -> Source:
    """Make records of the rows of a table, the first of which may be its header.

    :param format_name: the container, in words.
    :param rows: the rows.
    :param places: where they stand.
    :param notes: told about rows left out and names made up.
    :returns: the records.
    :raises LimitError: if there are too many columns.
    """
    header: Sequence[str] = []
    if _is_header(rows[0], rows[1:200]):
        header, rows = rows[0], rows[1:]
        places = places.pick(range(1, len(rows) + 1))
    columns = column_names(header, rows, notes)
    kept: list[dict[str, str]] = []
    indices: list[int] = []
    width = len(columns)
    for index, row in enumerate(rows):
        if row and row[0].startswith(_BOM):  # files put one after another
            row = [row[0].removeprefix(_BOM), *row[1:]]
        if width > 1 and list(row) == list(header):
            notes.left_out(_HEADER_AGAIN, places[index])
            continue
        if len(row) != width:
            if not any(row):
                notes.left_out("The row is blank.", places[index])
                continue
            if len(row) > width:
                if not any(row[width:]):
                    row = row[:width]
                else:
                    notes.left_out(
                        f"The row has {len(row)} cells and the table {width} columns: a cell that holds the delimiter "
                        "needs quotation marks.",
                        places[index],
                    )
                    continue
            elif width > 1:
                notes.guessed(
                    f"The row has fewer cells than the table has columns ({width}); the last ones are taken as empty.",
                    places[index],
                )
        elif width and not any(row):
            notes.left_out("The row is blank.", places[index])
            continue
        kept.append(dict(zip(columns, row, strict=False)))
        indices.append(index)
    kept_places = places if len(indices) == len(rows) else places.pick(indices)
    return Source(
        format_name, kept, kept_places, table=True, columns=tuple(columns), preview=_preview(kept[:PREVIEW_ROWS])
    )


def column_names(header: Sequence[str], rows: list[Sequence[str]], notes: Notes) -> list[str]:
    """Name the columns, every one differently, so that each can be chosen.

    :param header: the first row, empty if the table has none.
    :param rows: the rows.
    :param notes: told about names that were made up.
    :returns: one name for each column.
    :raises LimitError: if there are too many columns.
    """
    width = len(header) or max((len(row) for row in rows[:200]), default=0)
    if width > MAX_COLUMNS:
        raise LimitError(f"The table has {width:,} columns; at most {MAX_COLUMNS:,} are read. Keep the ones you need.")
    if not header:
        header = _headerless_names(rows, width)
        notes.guessed(f"The table has no line of column names; they are called {', '.join(header[:8])}.")
    seen: Counter[str] = Counter()
    names: list[str] = []
    for index, cell in enumerate(header, 1):
        name = cell.strip() or f"column {index}"
        seen[name] += 1
        while seen[name] > 1 and f"{name} ({seen[name]})" in header:
            seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    if doubled := [name for name, count in seen.items() if count > 1]:
        notes.guessed(
            f"Several columns are called {doubled[0]!r}; the later ones are numbered so that each can be chosen."
        )
    return names


def _headerless_names(rows: list[Sequence[str]], width: int) -> list[str]:
    def whole_number(index: int) -> bool:
        cells = [row[index] for row in rows[:200] if len(row) > index]
        return bool(cells) and all(cell.isdigit() for cell in cells)

    if width == 4 and whole_number(0) and whole_number(1) and not whole_number(2) and not whole_number(3):
        return ["qid", "pid", "query", "passage"]  # the layout of MS MARCO's top1000 files
    first = [row[0] for row in rows[:200] if row]
    second = [row[1] for row in rows[:200] if len(row) == 2]
    prose = sum(map(len, second)) >= 12 * max(1, len(second))
    if width == 2 and prose and all("." in cell and _NUMBER.fullmatch(cell) for cell in first):
        return ["score", "passage"]
    if width == 2 and prose and len(set(first)) == len(first) and not any(" " in cell or not cell for cell in first):
        return ["pid", "passage"]  # the layout of MS MARCO's collection
    return [f"column {index}" for index in range(1, width + 1)]


def _read_rows(data: bytes, dialect: Dialect, notes: Notes) -> tuple[list[Sequence[str]], Sequence[int]]:
    stream = io.BytesIO(data)
    stream.seek(dialect.start)
    lines = io.TextIOWrapper(stream, "utf-8", newline="")
    rows: list[Sequence[str]] = []
    numbers: list[int] = []
    done = dialect.first_line - 1  # lines taken by rows already read
    resumes = 0
    pending: list[str] | None = None  # lines to read again after one that broke the rules
    source: Iterator[str] = iter(lines)
    while True:
        taken: list[str] = []
        feed = _remember(source if pending is None else _chain(pending, source), taken)
        reader = dialect.reader(feed, strict=resumes <= MAX_RESUMES)
        base, before = done, 0
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    numbers.append(base + before + 1)
                    if len(rows) % 4096 == 0:
                        check_time()
                        check_documents(len(rows))
                before = reader.line_num
                done = base + before
                taken.clear()
        except csv.Error as error:
            if "field larger" in str(error):
                raise LimitError(
                    f"A cell that starts on line {done + 1} has more than {MAX_DOCUMENT_CHARACTERS:,} characters, the "
                    "most one document may have. Check that a quotation mark is not missing there."
                ) from error
            reason = (
                "a quotation mark opens a cell that never closes"
                if "unexpected end" in str(error)
                else "a quotation mark stands inside a cell without being doubled"
            )
            notes.left_out(f"The line cannot be read as a row: {reason}.", f"line {done + 1}")
            resumes += 1
            check_time()
            pending, done = taken[1:], done + 1
            continue
        return rows, numbers


def _remember(lines: Iterator[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _chain(first: list[str], rest: Iterator[str]) -> Iterator[str]:
    yield from first
    for line in rest:  # `yield from` would close the file together with this generator  # noqa: UP028
        yield line


def _sample(data: bytes, start: int) -> str:
    sample = data[start : start + SAMPLE_BYTES]
    if len(data) > start + SAMPLE_BYTES and b"\n" in sample:
        sample = sample[: sample.rfind(b"\n") + 1]
    return sample.decode("utf-8", errors="replace")


def _consistency(sample: str, delimiter: str) -> tuple[int, float, int]:
    rows: list[Sequence[str]] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) == 60:
                break
    except csv.Error:
        return (0, 0.0, 0)
    if not rows:
        return (0, 0.0, 0)
    columns = len(rows[0])
    known = sum(is_known(cell) for cell in rows[0]) if columns > 1 else 0
    share = sum(len(row) == columns for row in rows[1:]) / max(1, len(rows) - 1)
    return (min(known, 2), share, columns) if columns > 1 else (0, 0.0, columns)


def _breaks_quoting(sample: str, dialect: Dialect) -> bool:
    if '"' not in sample:
        return False
    try:
        rows = list(dialect.reader(iter(sample.splitlines(keepends=True))))
    except csv.Error:
        return True
    return any("\n" in cell and dialect.delimiter in cell for row in rows for cell in row)


def _is_header(first: Sequence[str], rest: list[Sequence[str]]) -> bool:
    if any(is_known(cell) for cell in first):
        return True
    cells = [cell.strip() for cell in first]
    if len({normalise(cell) for cell in cells if cell}) < sum(1 for cell in cells if cell) and len(cells) < 3:
        return False
    if any(_NUMBER.fullmatch(cell) or len(cell) > 60 for cell in cells) or not any(cells):
        return False
    if not rest:
        return False
    if all(_NAME.fullmatch(cell) for cell in cells):
        return True
    for index, cell in enumerate(cells):
        below = [row[index] for row in rest if len(row) > index]
        if below and all(_NUMBER.fullmatch(value.strip()) for value in below):
            return True
        words = sum(len(value.split()) for value in below) / max(1, len(below))
        if words >= 6 and len(cell.split()) <= 3:
            return True
    return False
