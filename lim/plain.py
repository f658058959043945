"""Any value as the plain values that JSON knows, and a document as Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import isfinite
from typing import Any

from haystack import Document

MAX_DEPTH = 50
"""Deeper values are cut: the bound of Python's own recursion is near, and a value that holds itself has no end."""


def plain(value: object, *, finite: bool = False) -> Any:  # noqa: ANN401 # whatever JSON knows
    """Turn a value into dicts, lists, strings, numbers, bools and None.

    :param value: any value, such as a document's `meta`.
    :param finite: whether NaN and infinities, which strict JSON does not know, become None.
    :returns: the value; tuples, sets and other sequences as lists, keys as strings, NumPy's scalars as Python's, `…`
        for what is nested more than 50 deep, and `str()` of everything else.
    """
    return _plain(value, finite, MAX_DEPTH)


def _plain(value: object, finite: bool, depth: int) -> Any:  # noqa: ANN401 # whatever JSON knows
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if isfinite(value) or not finite else None
    if isinstance(value, (Mapping, Sequence, Set)) and not isinstance(value, (bytes, bytearray, memoryview)):
        if not depth:
            return "…"
        if isinstance(value, Mapping):
            return {_key(key): _plain(item, finite, depth - 1) for key, item in value.items()}
        return [_plain(item, finite, depth - 1) for item in value]
    scalar = getattr(value, "item", None)
    if callable(scalar) and getattr(value, "shape", None) == ():  # one of NumPy's, without importing it
        unboxed = scalar()
        return str(value) if type(unboxed) is type(value) else _plain(unboxed, finite, depth)
    if callable(getattr(value, "tolist", None)) and hasattr(value, "shape"):
        return _plain(value.tolist(), finite, depth)  # type: ignore[attr-defined] # NumPy's arrays
    return str(value)


def _key(key: object) -> str:
    """Name a key as Python's JSON does: true, false and null are words."""
    words = {True: "true", False: "false", None: "null"}
    return words[key] if key is None or isinstance(key, bool) else str(key)


def constructor(document: Document) -> str:
    """Write a document as Python; an id that Haystack makes of text and meta is left to it.

    :param document: a document.
    :returns: a call of `Document`, on one line and with what shows nothing escaped. NaN and infinities are left out.
    """
    meta = plain(document.meta, finite=True)
    fields = {"content": document.content, "meta": meta, "score": plain(document.score, finite=True)}
    try:
        own = Document(content=document.content, meta=meta).id != document.id
    except UnicodeEncodeError:  # a lone surrogate, of which Haystack makes no id
        own = True
    shown = {"id": document.id} if own else {}
    shown |= {name: value for name, value in fields.items() if value not in (None, {})}
    # Python's own escapes: no text can end its string.
    return f"Document({', '.join(f'{name}={_literal(value)}' for name, value in shown.items())})"


def _literal(value: object) -> str:
    text = repr(value)
    return text if text.isprintable() else ascii(value)
