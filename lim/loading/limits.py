"""The bounds of the loader. Crossing one is a `LimitError` that names the value, the bound and what to do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lim.errors import LimitError

MAX_BYTES = 50 * 1024 * 1024
"""Bytes of one input, as it arrives."""
MAX_UNPACKED_BYTES = 200 * 1024 * 1024
"""Bytes an archive may unpack to."""
MAX_ARCHIVE_FILES = 200
"""Files in one archive."""
MAX_DOCUMENTS = 200_000
"""Documents in all ranked lists of one input together."""
MAX_DOCUMENT_CHARACTERS = 5_000_000
"""Characters of one document."""
MAX_NESTING = 100
"""Levels of lists and objects within one another."""
MAX_SECONDS = 60.0
"""Seconds one load may take."""
MAX_COLUMNS = 2_000
"""Columns of a table."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


def check_bytes(size: int, name: str) -> None:
    """Refuse an input that is too large.

    :param size: bytes of the input.
    :param name: what a person calls it.
    :raises LimitError: if it is larger than `MAX_BYTES`.
    """
    if size > MAX_BYTES:
        raise LimitError(
            f"{name} has {size:,} bytes; at most {MAX_BYTES:,} are read. Split it, or keep only the lists you need."
        )


def check_documents(count: int) -> None:
    """Refuse more documents than the loader holds.

    :param count: documents found so far.
    :raises LimitError: if there are more than `MAX_DOCUMENTS`.
    """
    if count > MAX_DOCUMENTS:
        raise LimitError(
            f"The input holds more than {MAX_DOCUMENTS:,} documents ({count:,} so far); that is the most one load "
            "takes. Keep the top of each ranked list, or fewer queries."
        )


def check_characters(length: int, place: str) -> None:
    """Refuse a document that is too long.

    :param length: characters of the document.
    :param place: where it stands in the input.
    :raises LimitError: if it is longer than `MAX_DOCUMENT_CHARACTERS`.
    """
    if length > MAX_DOCUMENT_CHARACTERS:
        raise LimitError(
            f"The document at {place} has {length:,} characters; at most {MAX_DOCUMENT_CHARACTERS:,} are taken for "
            "one document. Split it into passages, or check that a separator or a quotation mark is not missing."
        )


def check_nesting(depth: int) -> None:
    """Refuse lists and objects nested too deep to be a result of retrieval.

    :param depth: the level reached.
    :raises LimitError: if it is deeper than `MAX_NESTING`.
    """
    if depth > MAX_NESTING:
        raise LimitError(
            f"The input nests lists and objects more than {MAX_NESTING} levels deep; that is the most that is read. "
            "Load the part that holds the ranked list."
        )


@contextmanager
def deadline(seconds: float | None = None) -> Iterator[None]:
    """Bound the time of everything inside; an outer bound already running is kept.

    :param seconds: the bound, `MAX_SECONDS` if not given.
    """
    if _deadline.get() is not None:
        yield
        return
    token = _deadline.set(time.monotonic() + (MAX_SECONDS if seconds is None else seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    """Refuse to go on past the deadline. Called every few thousand steps by every loop that may be long.

    :raises LimitError: if the time is over.
    """
    end = _deadline.get()
    if end is not None and time.monotonic() > end:
        raise LimitError(
            f"Reading took longer than {MAX_SECONDS:.0f} seconds, the most one load may take. Save the data as strict "
            "JSON Lines or as CSV, which are read fastest, or load a part of it."
        )
