"""A tolerant reader of values as people print them: JSON with comments and trailing commas, Python literals, reprs.

Nothing is evaluated. Strings go through `ast.literal_eval`, which reads one literal token; a call such as
`Document(page_content="...")` is read as an object of its arguments, and never made.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

from lim.loading.containers.source import ExactFloat
from lim.loading.limits import check_nesting, check_time
from lim.loading.names import words

_SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|#[^\n]*)+")
_STRING = re.compile(
    r"""(?:[rRbBuUfF]{0,2})(?:'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''|\"\"\"[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"\"\""""
    r"""|'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")""",
    re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(?![\w.])")
_NAME = re.compile(r"[+-]?[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_ANGLE = re.compile(r"<([^<>\n]{0,200})>")
_KEY_END = re.compile(r"\s*[:=](?!=)")
_WORDS: dict[str, Any] = {
    "null": None,
    "None": None,
    "undefined": None,
    "NaT": None,
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "NaN": float("nan"),
    "nan": float("nan"),
    "Infinity": float("inf"),
    "inf": float("inf"),
    "-Infinity": float("-inf"),
    "-inf": float("-inf"),
    "+inf": float("inf"),
    "-nan": float("nan"),
    "-NaN": float("nan"),
}
# Wrappers that numbers and ids are printed in: their only argument is the value.
_SCALARS = frozenset(
    words(
        """
    float float16 float32 float64 int int8 int16 int32 int64 uint8 uint16 uint32 uint64 str str_ bool bool_ Decimal
    UUID ObjectId Timestamp datetime date Path PosixPath WindowsPath ISODate NumberLong NumberInt NumberDecimal
    array tensor list tuple set frozenset dict deque OrderedDict defaultdict Series DataFrame
    """
    )
)


class NotLiteralError(Exception):
    """The text is not a value this reader knows; kept inside the loader."""

    def __init__(self, reason: str, position: int) -> None:
        """Say what is wrong.

        :param reason: what was found, and what was expected.
        :param position: where it stands in the text.
        """
        super().__init__(reason)
        self.reason = reason
        self.position = position


def read_literals(text: str) -> list[Any]:
    """Read all values that stand one after another in a text, with or without commas between them.

    :param text: the text.
    :returns: the values: lists (tuples and sets too), objects, text, numbers, booleans and None.
    :raises NotLiteralError: at the first thing that is not a value.
    :raises LimitError: if the values nest too deep or take too long.
    """
    reader = _Reader(text)
    values: list[Any] = []
    reader.skip()
    while reader.position < len(text):
        if (pair := reader.loose_pair()) is not None:
            key, value = pair
            # `page_content='...' metadata={...}` is how some classes print: a key seen before starts a new object.
            if values and isinstance(values[-1], _Loose) and key not in values[-1]:
                values[-1][key] = value
            else:
                values.append(_Loose({key: value}))
        else:
            values.append(reader.value(0))
        reader.skip()
        if reader.peek() == ",":
            reader.position += 1
            reader.skip()
    if not values:
        raise NotLiteralError("there is no value", 0)
    return [dict(value) if isinstance(value, _Loose) else value for value in values]


class _Loose(dict[str, Any]):
    """An object printed without brackets."""


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.steps = 0

    def skip(self) -> None:
        if match := _SKIP.match(self.text, self.position):
            self.position = match.end()

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def fail(self, reason: str) -> NotLiteralError:
        return NotLiteralError(reason, self.position)

    def loose_pair(self) -> tuple[str, Any] | None:
        match = _NAME.match(self.text, self.position)
        if match and self.text[match.end() : match.end() + 1] == "=":
            self.position = match.end() + 1
            return match[0], self.value(1)
        return None

    def value(self, depth: int) -> Any:  # noqa: ANN401 - any plain value
        check_nesting(depth)
        self.steps += 1
        if self.steps % 4096 == 0:
            check_time()
        self.skip()
        char = self.peek()
        if char == "[":
            return self.items("]", depth)
        if char == "(":
            return self.tuple_or_value(depth)
        if char == "{":
            return self.members(depth)
        if match := _STRING.match(self.text, self.position):
            self.position = match.end()
            return unquote(match[0], match.start())
        if match := _NUMBER.match(self.text, self.position):
            self.position = match.end()
            return _number(match[0])
        if match := _NAME.match(self.text, self.position):
            return self.word(match, depth)
        if match := _ANGLE.match(self.text, self.position):
            self.position = match.end()
            return match[1]
        if char in "'\"" and char:
            raise self.fail("a quotation mark opens a text that never closes")
        raise self.fail("the input ends inside a list or an object" if not char else f"{char!r} is not a value")

    def items(self, end: str, depth: int) -> list[Any]:
        self.position += 1
        found: list[Any] = []
        while True:
            self.skip()
            if self.peek() == end:
                self.position += 1
                return found
            if self.text.startswith("...", self.position):
                self.position += 3
            else:
                # No comma is needed between items: NumPy prints arrays of texts without any, and Python itself
                # would glue them into one.
                found.append(self.value(depth + 1))
            self.skip()
            if self.peek() == ",":
                self.position += 1

    def tuple_or_value(self, depth: int) -> Any:  # noqa: ANN401 - any plain value
        start = self.position
        found = self.items(")", depth)
        if len(found) == 1 and not self.text[start : self.position - 1].rstrip().endswith(","):
            return found[0]
        return found

    def members(self, depth: int) -> Any:  # noqa: ANN401 - an object, or a list for a set
        self.position += 1
        found: dict[str, Any] = {}
        bare: list[Any] = []
        while True:
            self.skip()
            char = self.peek()
            if char == "}":
                self.position += 1
                return bare if bare and not found else found
            if self.text.startswith("...", self.position):
                self.position += 3
                continue
            key = self.key(depth)
            self.skip()
            if self.peek() == ":":
                self.position += 1
                found[key if isinstance(key, str) else str(key)] = self.value(depth + 1)
            elif not found:
                bare.append(key)
            else:
                raise self.fail(f"after the key {str(key)[:40]!r} a colon is expected")
            self.skip()
            if self.peek() == ",":
                self.position += 1
            elif self.peek() != "}":
                raise self.fail("a comma or a closing brace is expected" if self.peek() else "the input ends inside")

    def key(self, depth: int) -> Any:  # noqa: ANN401 - keys of Python dicts may be numbers
        match = _NAME.match(self.text, self.position)
        if match and _KEY_END.match(self.text, match.end()):
            self.position = match.end()
            return match[0]
        return self.value(depth + 1)

    def word(self, match: re.Match[str], depth: int) -> Any:  # noqa: ANN401 - any plain value
        name = match[0]
        self.position = match.end()
        if self.peek() == "(":
            return self.call(name, depth)
        if name in _WORDS:
            return _WORDS[name]
        self.position = match.start()
        raise self.fail(f"{name[:40]!r} is not a value")

    def call(self, name: str, depth: int) -> Any:  # noqa: ANN401 - any plain value
        start = self.position
        self.position += 1
        named: dict[str, Any] = {}
        bare: list[Any] = []
        while True:
            self.skip()
            if self.peek() == ")":
                self.position += 1
                break
            match = _NAME.match(self.text, self.position)
            if match and (end := _KEY_END.match(self.text, match.end())):
                self.position = end.end()
                named[match[0]] = self.value(depth + 1)
            else:
                bare.append(self.value(depth + 1))
            self.skip()
            if self.peek() == ",":
                self.position += 1
            elif self.peek() != ")":
                raise self.fail("a comma or a closing bracket is expected" if self.peek() else "the input ends inside")
        last = name.rpartition(".")[2]
        if last in _SCALARS:
            if len(bare) == 1 or (bare and last in {"array", "tensor", "defaultdict"}):
                return bare[-1] if last == "defaultdict" else bare[0]
            return self.text[start + 1 : self.position - 1]
        if last[:1].isupper() and named and not bare:
            return named
        if last[:1].isupper() and len(bare) == 1 and not named:
            return bare[0]
        self.position = start
        raise self.fail(f"{name[:40]}(...) is code, and nothing is evaluated")


def unquote(token: str, position: int = 0) -> str:
    """Read one quoted text, JSON or Python.

    :param token: the text with its quotation marks.
    :param position: where it stands, for the error.
    :returns: the text.
    :raises NotLiteralError: if it has an escape neither language knows.
    """
    if token[0] == '"':
        try:
            return _whole(str(json.loads(token, strict=False)))
        except ValueError:
            pass  # not JSON: it may still be Python, read next
    if "f" in token[: min(len(token) - len(token.lstrip("rRbBuUfF")), 2)].lower():
        raise NotLiteralError("an f-string is code, and nothing is evaluated", position)
    body = token
    if "\\" not in token and token[:3] not in ("'''", '"""') and token[0] in "'\"":
        return token[1:-1]
    if "\n" in token and token[:3] not in ("'''", '"""'):
        body = token.replace("\r\n", "\\n").replace("\n", "\\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `\d` is a warning there and plain text here
            value = ast.literal_eval(body)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise NotLiteralError("a text has an escape that is neither JSON's nor Python's", position) from error
    text = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
    return _whole(text)


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which no encoder accepts."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", errors="replace")


def _number(token: str) -> int | float:
    digits = token.replace("_", "")
    try:
        if digits[:2].lower() == "0x" or digits[1:3].lower() == "0x":
            return int(digits, 16)
        return ExactFloat(digits) if any(char in digits for char in ".eE") else int(digits)
    except ValueError:
        return float(digits[:400]) if len(digits) > 400 else float("nan")
