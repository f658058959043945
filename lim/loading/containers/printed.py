"""Documents as Haystack prints them: `Document(id=..., content: '...', meta: {...}, score: 0.5)`.

The text stands there without escapes and is cut after 100 characters, so neither JSON nor Python can read it.
"""

from __future__ import annotations

import re
from typing import Any

from lim.loading.containers.jsonish import preview_of
from lim.loading.containers.literals import NotLiteralError, read_literals
from lim.loading.containers.source import Places, Source
from lim.loading.notes import Notes

_START = re.compile(r"\bDocument\(id=")
_SCORE = re.compile(r", score: ([-+.\deE]+|nan|-?inf)\Z")
_VECTOR = re.compile(r", (?:sparse_)?embedding: vector (?:of size \d+|with \d+ non-zero elements)\Z")
_BLOB = re.compile(r", blob: \d+ bytes\Z")
MAX_NAMES = 400
"""Characters between two lists in which the names of the second are looked for."""
_HEAD = re.compile(r"[\[({\s]*(?:['\"][^'\"\n]{1,80}['\"]:[\[({\s]*)*Document\(id=")
_NAME = re.compile(r"['\"]([^'\"\n]{1,80})['\"]:")
_OPENS = re.compile(r"(?:['\"][^'\"\n]{1,80}['\"]:\s*\{?\s*)+\[\s*\Z")
_CUT_LENGTH = 103


def is_printed(text: str) -> bool:
    """Tell documents that Haystack printed.

    :param text: the text.
    :returns: whether it starts with one.
    """
    return _HEAD.match(text[:800]) is not None and ("content: '" in text or "blob: " in text)


def read_printed(text: str, notes: Notes) -> Source:
    """Read documents that Haystack printed.

    :param text: the text.
    :param notes: told which texts the printer cut off, and which documents have none.
    :returns: the documents as records.
    """
    starts = [match.start() for match in _START.finditer(text)]
    records: list[Any] = []
    lists: list[tuple[list[str], int]] = [(_NAME.findall(text[: starts[0]]), 0)]
    listed = "[" in text[: starts[0]]
    numbers: list[int] = []
    line, seen = 1, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line += text.count("\n", seen, start)
        seen = start
        chunk = text[start:end]
        opened = _OPENS.search(chunk[-MAX_NAMES:]) if listed and end < len(text) else None
        # What stands after the end of a list belongs to no document.
        if listed and (opened is not None or end == len(text)) and (stop := chunk.rfind(")]")) >= 0:
            chunk = chunk[: stop + 1]
        record = _read_one(chunk)
        if (
            isinstance(content := record.get("content"), str)
            and len(content) == _CUT_LENGTH
            and content.endswith("...")
        ):
            notes.changed(
                "The printer cut the text after 100 characters; print `document.content` for all.", f"line {line}"
            )
        records.append(record)
        numbers.append(line)
        if opened is not None:
            lists.append((_NAME.findall(opened[0]), len(records)))
    if len(lists) > 1:
        return Source("printed Haystack documents", _by_name(lists, records), preview=preview_of(records))
    return Source("printed Haystack documents", records, Places("line ", numbers), preview=preview_of(records))


def _by_name(lists: list[tuple[list[str], int]], records: list[Any]) -> dict[str, Any]:
    """Put the lists of several components under the components' names: they are never one list."""
    root: dict[str, Any] = {}
    ends = [*(start for _, start in lists[1:]), len(records)]
    for (names, start), end in zip(lists, ends, strict=True):
        *outer, last = names or ["documents"]
        inner = root
        for name in outer:
            inner = inner.setdefault(name, {})
        while last in inner:
            last += "'"
        inner[last] = records[start:end]
    return root


def _read_one(text: str) -> dict[str, Any]:
    inner = text[len("Document(id=") : text.rfind(")")] if ")" in text else text[len("Document(id=") :]
    record: dict[str, Any] = {"content": None, "blob": None}
    while True:
        if match := _SCORE.search(inner[-60:]):
            record["score"] = match[1]
        else:
            match = _VECTOR.search(inner[-80:]) or _BLOB.search(inner[-60:])
        if match is None:
            break
        inner = inner[: len(inner) - (match.end() - match.start())]
    if inner.endswith("}") and (start := inner.rfind(", meta: {")) >= 0:
        try:
            values = read_literals(inner[start + len(", meta: ") :])
        except NotLiteralError:
            values = []
        if len(values) == 1 and isinstance(values[0], dict):
            record["meta"] = values[0]
            inner = inner[:start]
    ident, found, content = inner.partition(", content: '")
    if found:
        record["content"] = content.removesuffix("'")
    record["id"] = ident.partition(",")[0]
    return record
