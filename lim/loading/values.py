"""Single values: what counts as a number, an id, a text, a mark of relevance."""

from __future__ import annotations

import math
import re
from typing import Any

from lim.loading.containers.source import ExactFloat
from lim.loading.shapes.shape import get, is_parts, locate

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_GROUPED_POINTS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+")
_GROUPED_COMMAS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+\.\d+")
_BLANK = frozenset(("", "null", "none", "na", "n/a", "nan", "-", "nil"))
_TRUE = frozenset(("true", "yes", "y", "1", "1.0", "2", "3", "4", "gold", "relevant"))
_FALSE = frozenset(("false", "no", "n", "0", "0.0", "", "irrelevant", "none", "null"))


class NoText(Exception):  # noqa: N818 - the reason a record is no document, kept inside the loader
    """A record has no text; the message is the reason, for a notice."""


class InexactIdError(Exception):
    """An id was read as a floating-point number, which may have lost digits: the input must be read again."""


def text_of(value: Any) -> tuple[str, str | None]:  # noqa: ANN401 - any plain value
    """Read the text of a document.

    :param value: what the text field holds.
    :returns: the text exactly as it stands, and a remark if it was not simply a text.
    :raises NoText: if it holds none.
    """
    if isinstance(value, str):
        return value, None
    if value is None:
        raise NoText("It has no text (null), so there is nothing to rank.")
    if isinstance(value, bool):
        raise NoText("Its text field holds true or false instead of a text.")
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise NoText("Its text field holds NaN or infinity instead of a text.")
        return number_as_written(value), "The text is a number in the input; its digits are taken as text."
    if is_parts(value):
        parts = [part if isinstance(part, str) else part["text"] for part in value]
        if len(parts) == 1:
            return parts[0], None
        return "\n".join(parts), "The text is a list of parts in the input; they are joined by line ends."
    if isinstance(value, dict) and (path := locate(value)) is not None:
        return text_of(get(value, path))
    raise NoText("Its text field holds a list or an object instead of a text.")


def number_as_written(value: float) -> str:
    """Write a number as the input has it.

    :param value: the number.
    :returns: its digits.
    """
    return value.written if isinstance(value, ExactFloat) else repr(value)


def number_of(value: Any) -> tuple[float | None, str | None]:  # noqa: ANN401 - any plain value
    """Read a score, a distance or a rank.

    :param value: what the field holds.
    :returns: a finite number or None, and a remark where the value was changed on the way.
    """
    if value is None:
        return None, None
    if isinstance(value, bool):
        return None, "The score is true or false in the input; it is taken as no score."
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        return (number, None) if math.isfinite(number) else (None, NOT_FINITE)
    if not isinstance(value, str):
        return None, "The score is a list or an object in the input; it is taken as no score."
    return _number_in_text(value)


NOT_FINITE = "The score is NaN or infinite in the input; it is taken as no score."
COMMA = "The score is written with a decimal comma; it is read as a decimal point."


def _number_in_text(value: str) -> tuple[float | None, str | None]:
    token = value.strip().replace("\u2212", "-")
    remark = None
    if not _NUMBER.fullmatch(token):
        if token.endswith("%") and _NUMBER.fullmatch(token[:-1].strip()):
            return float(token[:-1]) / 100, "The score is a percentage in the input; it is read as a fraction."
        if _DECIMAL_COMMA.fullmatch(token):
            token, remark = token.replace(",", "."), COMMA
        elif _GROUPED_POINTS.fullmatch(token):
            token, remark = token.replace(".", "").replace(",", "."), COMMA
        elif _GROUPED_COMMAS.fullmatch(token):
            token, remark = token.replace(",", ""), "The score has commas between its thousands; they are dropped."
        elif token.casefold() in _BLANK:
            return None, NOT_FINITE if token.casefold() == "nan" else None
        elif token.casefold().lstrip("+-") in {"inf", "infinity"}:
            return None, NOT_FINITE
        else:
            return None, "The score is not a number in the input; it is taken as no score."
    number = float(token)
    return (number, remark) if math.isfinite(number) else (None, NOT_FINITE)


def looks_numeric(value: Any) -> bool:  # noqa: ANN401 - any plain value
    """Tell whether a value is a number or the text of one.

    :param value: any plain value.
    :returns: whether it reads as a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    return number_of(value)[0] is not None


def may_be_number(value: Any) -> bool:  # noqa: ANN401 - any plain value
    """Tell a value that a column of numbers may hold.

    :param value: any plain value.
    :returns: whether it is a number, NaN, infinity or blank, or the text of one.
    """
    if isinstance(value, str):
        return looks_numeric(value) or value.strip().casefold().lstrip("+-") in _BLANK | {"inf", "infinity"}
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def id_of(value: Any) -> str | None:  # noqa: ANN401 - any plain value
    """Read an id as text, never as a number.

    :param value: what the id field holds.
    :returns: the id exactly as it stands, None if there is none.
    """
    if isinstance(value, str):
        return value or None
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, float) and not isinstance(value, ExactFloat):
        raise InexactIdError
    if isinstance(value, int | float):
        return number_as_written(value)
    if isinstance(value, dict):
        inner = value.get("$oid", value.get("$uuid", value.get("id")))
        return inner if isinstance(inner, str) and inner else None
    return None


def mark_of(value: Any) -> bool | None:  # noqa: ANN401 - any plain value
    """Read a mark of relevance.

    :param value: what the field holds.
    :returns: whether the document is marked relevant, None if the value says nothing.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value > 0
    if isinstance(value, str):
        token = value.strip().casefold()
        return True if token in _TRUE else False if token in _FALSE else None
    return None
