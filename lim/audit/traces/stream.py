"""Records of an exported trace, one at a time: JSON Lines, JSON in any layout, gzip, and Haystack's log of spans."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from lim.errors import LimitError, LoadError

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""Bytes of one record: a line of JSON Lines, an item of a list, or a file that is one object."""

Progress = Callable[[int, int | None], None]
"""Called now and then with the bytes read and the bytes there are, None where that is not known."""

_CHUNK = 1 << 18
_REPORT_EVERY = 1 << 20
_BLANK = re.compile(r"[\s,]*")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OPERATION = re.compile(r"Operation: ([\w.]+)\s*$")
_TAG = re.compile(r"(haystack\.[\w.]+)=(.*)$", re.DOTALL)


@dataclass(slots=True)
class Tally:
    """What was read so far.

    :param records: records read.
    :param unreadable: lines that are no JSON.
    :param first_unreadable: where the first of them stands, empty if there is none.
    :param unpaired: requests that lack documents or an LLM call behind them.
    """

    records: int = 0
    unreadable: int = 0
    first_unreadable: str = ""
    unpaired: int = 0


class _Counted(io.RawIOBase):
    """A file that says how far it was read."""

    def __init__(self, inner: BinaryIO, total: int | None, progress: Progress | None) -> None:
        self._inner, self._total, self._progress = inner, total, progress
        self._done = self._said = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 # whatever io hands over
        data = self._inner.read(len(buffer))
        buffer[: len(data)] = data
        self._done += len(data)
        if self._progress and (not data or self._done - self._said >= _REPORT_EVERY):
            self._said = self._done
            self._progress(self._done, self._total)
        return len(data)


def records(source: bytes | Path | BinaryIO, tally: Tally, progress: Progress | None = None) -> Iterator[Any]:
    """Read the records of an export; no more than one is held at a time.

    :param source: the bytes, a path, or a file open for reading bytes.
    :param tally: told what was read and what could not be.
    :param progress: see `Progress`.
    :returns: the records as plain values. Lines that are no JSON are passed over and counted.
    :raises LoadError: if it is neither JSON nor Haystack's log.
    :raises LimitError: if a record is larger than `MAX_RECORD_BYTES`.
    """
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield from _records(file, source.stat().st_size, tally, progress)
    elif isinstance(source, bytes):
        yield from _records(io.BytesIO(source), len(source), tally, progress)
    else:
        yield from _records(source, None, tally, progress)


def _records(file: BinaryIO, total: int | None, tally: Tally, progress: Progress | None) -> Iterator[Any]:
    counted: io.BufferedReader[Any] = io.BufferedReader(_Counted(file, total, progress), _CHUNK)
    packed = counted.peek(2)[:2] == b"\x1f\x8b"
    stream = io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=counted)), _CHUNK) if packed else counted
    try:
        found = _read(stream, tally)
        for record in found:
            tally.records += 1
            yield record
    except (OSError, EOFError) as error:
        if isinstance(error, gzip.BadGzipFile | EOFError):
            raise LoadError(
                f"The trace is damaged: its compressed data ends or breaks ({error}). Export it again."
            ) from error
        raise


def _read(stream: io.BufferedReader[Any], tally: Tally) -> Iterator[Any]:
    if stream.peek(3)[:3] == codecs.BOM_UTF8:
        stream.read(3)
    number, first = 1, _line(stream, 1)
    while first and not first.strip():
        number, first = number + 1, _line(stream, number + 1)
    if not first:
        raise LoadError("The trace is empty: it holds no record. Export at least one request.")
    value = _parse(first)
    if isinstance(value, dict):
        yield value
        yield from _lines(stream, number, tally)
    elif isinstance(value, list):
        yield from value
        yield from _lines(stream, number, tally)
    elif first.lstrip()[:1] in (b"{", b"["):
        yield from _values(first, stream)
    else:
        yield from _log(first, stream, tally)


def _line(stream: io.BufferedReader[Any], number: int) -> bytes:
    line = stream.readline(MAX_RECORD_BYTES + 1)
    if len(line) > MAX_RECORD_BYTES:
        raise _too_large(f"line {number:,}")
    return line


def _too_large(place: str) -> LimitError:
    return LimitError(
        f"The record at {place} has more than {MAX_RECORD_BYTES:,} bytes, the most one may have. Export the trace as "
        f"JSON Lines, one span or one request a line."
    )


def _parse(data: bytes) -> Any:  # noqa: ANN401 # any plain value
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data)  # NaN, and lone surrogates
    except (ValueError, RecursionError):
        return None


def _lines(stream: io.BufferedReader[Any], number: int, tally: Tally) -> Iterator[Any]:
    while line := _line(stream, number := number + 1):
        if not line.strip():
            continue
        value = _parse(line)
        if isinstance(value, dict):
            yield value
        elif isinstance(value, list):
            yield from value
        else:
            tally.unreadable += 1
            tally.first_unreadable = tally.first_unreadable or f"line {number:,}"


def _values(start: bytes, stream: io.BufferedReader[Any]) -> Iterator[Any]:
    """Read values one after another, or the items of a list, each as soon as it is complete."""
    decoder = json.JSONDecoder()
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    text, at, ended = decode(start), 0, False
    while True:
        at = cast("re.Match[str]", _BLANK.match(text, at)).end()
        while text[at : at + 1] in ("[", "]") and text[at : at + 1]:
            at = cast("re.Match[str]", _BLANK.match(text, at + 1)).end()
        if at < len(text):
            try:
                value, at = decoder.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                if ended:
                    raise LoadError(
                        f"The trace is not JSON: what begins with {text[at : at + 40]!r} does not end as JSON does "
                        f"({error}). Export it again, or as JSON Lines."
                    ) from error
            else:
                yield value
                continue
        elif ended:
            return
        text, at = text[at:], 0
        if len(text) > MAX_RECORD_BYTES:
            raise _too_large(f"{text[:40]!r}")
        data = stream.read(max(_CHUNK, len(text)))
        ended = not data
        text += decode(data, final=ended)


def _log(first: bytes, stream: io.BufferedReader[Any], tally: Tally) -> Iterator[dict[str, Any]]:
    """Read what Haystack's `LoggingTracer` wrote: an operation, then its tags, the components before their pipeline."""
    span: dict[str, Any] | None = None
    found = False
    run, number, line = 1, 1, first
    while line:
        text = _COLOUR.sub("", line.decode("utf-8", errors="replace")).rstrip("\r\n")
        if operation := _OPERATION.search(text):
            if span is not None:
                yield span
                run += span["name"] == "haystack.pipeline.run"
            span = {"name": operation[1], "trace_id": f"run {run}", "tags": {}}
            found = True
        elif span is not None and (tag := _TAG.search(text)):
            span["tags"][tag[1]] = tag[2]
        elif text.strip():
            tally.unreadable += 1
            tally.first_unreadable = tally.first_unreadable or f"line {number:,}"
        number, line = number + 1, _line(stream, number + 1)
    if span is not None:
        yield span
    if not found:
        raise LoadError(
            f"The trace is neither JSON nor a log of Haystack's spans: it begins with {first[:60]!r}. Export spans as "
            f"JSON Lines from Phoenix, Langfuse or LangSmith, or log them with Haystack's LoggingTracer."
        )
