"""The loader's two doors: a file, and pasted text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath

from haystack import Document

from lim.errors import LimError, LimitError, LoadError, MissingTextError
from lim.loading.assemble import assemble, listings_of
from lim.loading.companion import Texts, texts_of
from lim.loading.containers.jsonish import MAX_LITERAL_BYTES, looks_like_json, read_json
from lim.loading.containers.printed import is_printed, read_printed
from lim.loading.containers.ruled import read_ruled
from lim.loading.containers.runs import is_judgements, is_run, read_run, refuse_judgements
from lim.loading.containers.source import Places, Rows, Source
from lim.loading.containers.tables import read_table, sniff_table, table_source
from lim.loading.containers.workbooks import is_parquet, is_workbook, read_parquet, read_workbook
from lim.loading.decode import Member, gunzip, is_gzip, is_zip, to_utf8, unzip, zip_names
from lim.loading.documents import paused_collection
from lim.loading.limits import check_bytes, check_documents, deadline
from lim.loading.model import Loaded, Notice, NoticeKind, RankedList, Reading
from lim.loading.notes import Notes
from lim.loading.session import is_session, reopen
from lim.loading.split import likeliest, separators, split
from lim.loading.values import InexactIdError

PASTED = "the pasted text"
MAX_ARCHIVES_WITHIN = 2
_TABLE_ENDINGS = frozenset((".csv", ".tsv", ".tab", ".psv"))
_TEXT_ENDINGS = frozenset((".txt", ".md", ".markdown", ".text", ""))
# More telling than a bracket, which a text may start with too.
_STARTS_AS_DATA = re.compile(rb"\s*(?:\[\s*[{\"']|\{\s*[\"']|[\[(]*[A-Z]\w*\(\s*\w+\s*=)")
_FENCE = re.compile(rb"\s*```[ \t]*(\w*)[ \t]*\r?\n")
_JSON_ENDINGS = frozenset((".json", ".jsonl", ".ndjson", ".jsonlines"))


def load(data: bytes, name: str, *, reading: Reading | None = None, beside: tuple[bytes, str] | None = None) -> Loaded:
    """Read a file as one or more ranked lists of documents.

    :param data: the file's bytes.
    :param name: its name; the content decides, and the ending only where the content leaves it open.
    :param reading: a person's choices; without them the loader decides, and says so in `notices`.
    :param beside: bytes and name of a second file with the texts, for a run or a reranker's response without any.
    :returns: the lists, never pooled, and everything guessed, changed or left out.
    :raises LoadError: if there is no ranked list in it.
    :raises MissingTextError: if it ranks documents without their texts and no second file has them.
    :raises LimitError: if it crosses one of the bounds in `lim.loading.limits`.
    """
    with _bounded():
        return _load_beside(data, name or "the input", reading or Reading(), beside)


def load_pasted(text: str, *, reading: Reading | None = None) -> Loaded:
    """Read pasted text: JSON, a table or printed documents if it is that, and otherwise plain text cut into documents.

    :param text: the text.
    :param reading: a person's choices.
    :returns: the documents, each trimmed; `separators` has what other separators would give.
    :raises LoadError: if there is no document in it.
    :raises LimitError: if it crosses one of the bounds in `lim.loading.limits`.
    """
    with _bounded():
        return _load(text.encode("utf-8", errors="replace"), PASTED, reading or Reading())


@contextmanager
def _bounded() -> Iterator[None]:
    """Keep every load within its time, and let no exhausted stack or memory out as a traceback."""
    try:
        with deadline(), paused_collection():
            yield
    except (RecursionError, MemoryError) as error:
        raise LimitError(
            f"The input needs more {'nesting' if isinstance(error, RecursionError) else 'memory'} than one load may "
            "take. Load the part that holds the ranked list."
        ) from error


def _load_beside(data: bytes, name: str, reading: Reading, beside: tuple[bytes, str] | None) -> Loaded:
    if beside is None:
        return _load(data, name, reading)
    other, other_name = beside[0], beside[1] or "the second file"
    try:
        loaded = _load(data, name, reading)
    except MissingTextError:
        if (session := _session(data, name)) is not None:
            return reopen(session, name, reading, lambda how: _load(other, other_name, how))
        return _load(data, name, reading, texts=_texts(other, other_name))
    # The two files may have been given the other way round.
    try:
        _load(other, other_name, reading)
    except MissingTextError:
        return _load(other, other_name, reading, texts=_texts(data, name))
    except LimError:
        pass  # the second file is not needed, so what is wrong with it does not matter
    notice = Notice(NoticeKind.GUESSED, f"{other_name} was not needed: {name} has the texts itself.")
    return replace(loaded, notices=(*loaded.notices, notice))


def _texts(data: bytes, name: str, *, archives: int = 0) -> Texts:
    notes = Notes()
    check_bytes(len(data), name)
    if is_gzip(data):
        data = gunzip(data, name)
    if is_zip(data):
        if is_workbook(zip_names(data)):
            sheets = [rows for _, rows in read_workbook(data, name, notes)]
            sources = [
                table_source("Excel workbook", rows, Places("row ", range(1, len(rows) + 1)), notes) for rows in sheets
            ]
            found = [each for sheet in sources for each in listings_of(sheet, name, Reading(), notes, None)]
            return texts_of(found, name)
        members = list(unzip(data, name))
        if len(members) != 1 or archives >= MAX_ARCHIVES_WITHIN:
            raise LoadError(
                f"{name} is an archive of {len(members)} files, and the texts must be in one file. Load that file "
                "itself as the second one."
            )
        return _texts(members[0].data, name, archives=archives + 1)
    source = _read(data, name, Reading(), notes)
    if isinstance(source.root, dict) and source.root and all(isinstance(text, str) for text in source.root.values()):
        return Texts(name, {}, {key: Document(id=key, content=text) for key, text in source.root.items() if key})
    return texts_of(listings_of(source, name, Reading(), notes, None), name)


def _load(
    data: bytes, name: str, reading: Reading, *, archives: int = 0, texts: Texts | None = None, exact: bool = False
) -> Loaded:
    notes = Notes()
    check_bytes(len(data), name)
    packed = data
    if is_gzip(data):
        data = gunzip(data, name)
    if is_zip(data):
        if is_workbook(zip_names(data)):
            return _load_workbook(data, name, reading, notes)
        return _load_archive(data, name, reading, archives)
    if (session := _session(data, name)) is not None:
        return reopen(session, name, reading)
    source = _read(data, name, reading, notes, exact=exact)
    try:
        loaded = assemble(source, name, reading, notes, texts)
    except InexactIdError as error:
        if exact:
            raise LoadError(
                f"An id in {name} is a number with a fraction, whose digits were not kept. Write the ids as texts."
            ) from error
        return _load(packed, name, reading, archives=archives, texts=texts, exact=True)
    except MissingTextError:
        raise
    except LoadError:
        # A text that only looks like JSON or like a table is still a text.
        is_text = name == PASTED or PurePath(name.removesuffix(".gz")).suffix.lower() in _TEXT_ENDINGS
        is_data = source.format in ("plain text", "Parquet") or source.root == [] or looks_like_records(source.root)
        if is_data or not is_text:
            raise
        notes = Notes()
        source = _text_source(to_utf8(data, name, notes), reading, notes)
        loaded = assemble(source, name, reading, notes)
    return _with_separators(data, loaded, reading) if source.format == "plain text" else loaded


def _session(data: bytes, name: str) -> bytes | None:
    """Give the bytes of a session file, unpacked, or None for any other input."""
    if is_gzip(data):
        data = gunzip(data, name)
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    return data if is_session(data) else None


def _read(data: bytes, name: str, reading: Reading, notes: Notes, *, exact: bool = False) -> Source:
    ending = PurePath(name.removesuffix(".gz")).suffix.lower()
    if is_parquet(data):
        return read_parquet(data, name, exact=exact)
    data = to_utf8(data, name, notes)
    if not data[:4096].strip() and not data.strip():
        raise LoadError(f"{name} is empty: it holds nothing but blanks. Load at least one document.")
    if reading.separator is not None:
        return _text_source(data, reading, notes)
    data = _unfenced(data)
    if len(data) < MAX_LITERAL_BYTES and is_printed(data[:4096].decode("utf-8", errors="replace")):
        return read_printed(data.decode("utf-8", errors="replace"), notes)
    if looks_like_json(data):
        try:
            return read_json(data, notes, exact=exact)
        except LoadError as error:
            if ending in _JSON_ENDINGS:
                raise
            if _STARTS_AS_DATA.match(data[:4096]):
                notes.guessed(f"{error} As it is, it is taken as plain text.")
    if (ruled := read_ruled(data, notes)) is not None:
        return ruled
    if is_run(data):
        return read_run(data, notes)
    if is_judgements(data):
        raise refuse_judgements(name)
    if (dialect := sniff_table(data, sure=ending in _TABLE_ENDINGS)) is not None:
        return read_table(data, dialect, notes)
    return read_json(data, notes, exact=exact) if ending in _JSON_ENDINGS else _text_source(data, reading, notes)


def _unfenced(data: bytes) -> bytes:
    """Take data out of the code fence it was copied with; its lines keep their numbers."""
    if (fence := _FENCE.match(data[:4096])) is None or not data.rstrip().endswith(b"```"):
        return data
    inner = data[fence.end() :].rstrip()[:-3]
    is_data = looks_like_json(inner) or fence[1].lower() in (b"csv", b"tsv")
    return b"\n" * data[: fence.end()].count(b"\n") + inner if is_data and b"```" not in inner else data


def _text_source(data: bytes, reading: Reading, notes: Notes) -> Source:
    pieces, _ = split(data.decode("utf-8", errors="replace"), reading.separator, notes)
    return Source(
        "plain text",
        [piece for piece, _ in pieces],
        Places("line ", [line for _, line in pieces]),
        preview=tuple(piece[:2000] for piece, _ in pieces[:5]),
    )


def _with_separators(data: bytes, loaded: Loaded, reading: Reading) -> Loaded:
    text = to_utf8(data, "the text", Notes()).decode("utf-8", errors="replace")
    key = reading.separator or likeliest(text)
    return replace(loaded, separators=separators(text), reading=replace(loaded.reading, separator=key))


def _load_workbook(data: bytes, name: str, reading: Reading, notes: Notes) -> Loaded:
    parts: list[tuple[str, Loaded]] = []
    error: LimError | None = None
    for title, rows in read_workbook(data, name, notes):
        own = Notes()
        places = Places("row ", range(1, len(rows) + 1))
        try:
            parts.append((title, assemble(table_source("Excel workbook", rows, places, own), name, reading, own)))
        except LimError as failed:
            error = error or failed
            notes.left_out(f"The sheet was not loaded. {failed}", f"sheet {title}")
    return _together(parts, error, notes, "Excel workbook")


def _load_archive(data: bytes, name: str, reading: Reading, archives: int) -> Loaded:
    if archives >= MAX_ARCHIVES_WITHIN:
        raise LoadError(f"{name} is an archive within archives; at most {MAX_ARCHIVES_WITHIN} are unpacked.")
    members = list(unzip(data, name))
    if not members:
        raise LoadError(f"{name} is an archive without a file in it. Pack the ranked list and load it again.")
    notes = Notes()
    parts: list[tuple[str, Loaded]] = []
    error: LimError | None = None
    for member in members:
        try:
            parts.append((member.name, _load(member.data, member.name, reading, archives=archives + 1)))
        except LimError as failed:
            error = error or failed
            if isinstance(failed, MissingTextError) and len(members) == 2:
                other = members[1 - members.index(member)]
                if (paired := _load_paired(member, other, reading, archives + 1)) is not None:
                    return paired
            notes.left_out(f"The file was not loaded. {failed}", member.name)
    return _together(parts, error, notes, f"zip archive of {len(members)} files")


def _load_paired(run: Member, other: Member, reading: Reading, archives: int) -> Loaded | None:
    """Give a run the texts of the file packed together with it."""
    try:
        loaded = _load(run.data, run.name, reading, archives=archives, texts=_texts(other.data, other.name))
    except LimError:
        return None
    notice = Notice(NoticeKind.GUESSED, f"The texts of {run.name} are taken from {other.name} in the same archive.")
    return replace(loaded, notices=(*loaded.notices, notice))


def _together(parts: list[tuple[str, Loaded]], error: LimError | None, notes: Notes, format_name: str) -> Loaded:
    """Show the lists of several files or sheets side by side."""
    if not parts:
        raise error or LoadError("There is nothing in it that could be loaded. Load a file with a ranked list.")
    if len(parts) == 1:
        only = parts[0][1]
        return replace(only, notices=(*notes.notices(), *only.notices))
    check_documents(sum(len(each.documents) for _, part in parts for each in part.lists))
    lists: list[RankedList] = []
    for title, part in parts:
        notes.take(part.notices, f"{title}: ")
        lists.extend(replace(each, name=f"{title}: {each.name}") for each in part.lists)
    first = parts[0][1]
    return replace(first, lists=tuple(lists), notices=notes.notices(), format=format_name)


def looks_like_records(root: object) -> bool:
    """Tell data from a text that only starts like data, such as `[1] First …`.

    :param root: the values read.
    :returns: whether they are objects.
    """
    return isinstance(root, dict) or (
        isinstance(root, list | Rows) and any(isinstance(item, dict) for item in root[:1000])
    )
