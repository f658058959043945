"""Plain text to documents: the separators people use, found, counted and named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lim.errors import LoadError
from lim.loading.model import Separator
from lim.loading.notes import Notes

_BLANK = re.compile(r"\r?\n(?:[^\S\n]*\r?\n)+")
_RULE = re.compile(r"^[^\S\n]*---[^\S\n]*$\n?", re.MULTILINE)
_LINE = re.compile(r"\r?\n|\r")
_ITEM = re.compile(
    r"^[^\S\n]*(?:(?:document|passage|doc|context)[^\S\n]*)?[\[(]?(\d{1,6})(?:[\])]:?|[.:])(?:[^\S\n]+|(?=\n)|(?=\(title:)|$)",
    re.MULTILINE | re.IGNORECASE,
)
_RULED = re.compile(r"(?:-{3,}|\*{3,}|_{3,}|={3,}|#{3,})\Z")
_SENTENCE_END = re.compile(r"[.!?。！？…:;\"'”’)\]]\s*\Z")

Piece = tuple[str, int]
"""The text of a document and the line it starts on."""


@dataclass(frozen=True, slots=True)
class _Rule:
    key: str
    label: str
    cut: Callable[[str], list[tuple[int, int]]]


def _by(pattern: re.Pattern[str]) -> Callable[[str], list[tuple[int, int]]]:
    def cut(text: str) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        start = 0
        for match in pattern.finditer(text):
            spans.append((start, match.start()))
            start = match.end()
        spans.append((start, len(text)))
        return spans

    return cut


def _by_number(text: str) -> list[tuple[int, int]]:
    """Cut before 1, 2, 3 … at the start of lines; other numbers in between belong to the text."""
    marks: list[re.Match[str]] = []
    for match in _ITEM.finditer(text):
        if int(match[1]) == len(marks) + 1:
            marks.append(match)
    if not marks:
        return [(0, len(text))]
    ends = [*(match.start() for match in marks[1:]), len(text)]
    spans = [(match.end(), end) for match, end in zip(marks, ends, strict=True)]
    return [(0, marks[0].start()), *spans]


_RULES = (
    _Rule("formfeed", "form feed (pages)", _by(re.compile("\f"))),
    _Rule("rule", "line of ---", _by(_RULE)),
    _Rule("numbered", "numbered list", _by_number),
    _Rule("blank", "blank line", _by(_BLANK)),
    _Rule("line", "one document a line", _by(_LINE)),
    _Rule("whole", "the whole text is one document", lambda text: [(0, len(text))]),
)

SEPARATORS: dict[str, str] = {rule.key: rule.label for rule in _RULES}
"""Every separator: the key `Reading.separator` takes, and its name for a person."""


def separators(text: str) -> tuple[Separator, ...]:
    """Count the documents each separator would give.

    :param text: plain text.
    :returns: every separator, with its count.
    """
    return tuple(Separator(rule.key, rule.label, len(_without_rules(_pieces(text, rule), rule))) for rule in _RULES)


def split(text: str, key: str | None, notes: Notes) -> tuple[list[Piece], str]:
    """Cut a text into documents.

    :param text: plain text.
    :param key: the separator to use, None to find the likeliest.
    :param notes: told which was used and how many documents resulted.
    :returns: the documents, each trimmed, and the key of the separator used.
    :raises LoadError: if the key is unknown or no document results.
    """
    if key is not None and key not in SEPARATORS:
        raise LoadError(f"There is no separator {key!r}. Choose one of: {', '.join(SEPARATORS)}.")
    chosen = next(rule for rule in _RULES if rule.key == (key or likeliest(text)))
    pieces = _pieces(text, chosen)
    for line in _lone_rules(pieces, chosen):
        notes.left_out("A rule alone between blank lines is no document.", f"line {line}")
    pieces = _without_rules(pieces, chosen)
    if not pieces:
        raise LoadError("The text is empty: there is no document in it. Paste or load at least one.")
    count = f"{len(pieces):,} document{'' if len(pieces) == 1 else 's'}"
    message = f"The text was cut at: {chosen.label}. That gives {count}."
    if chosen.key == "whole":
        message = "The text is taken as one document."
    if chosen.key == "numbered":
        message = f"The text is a numbered list of {count}; the numbers are not part of them."
    notes.guessed(message)
    return pieces, chosen.key


def _pieces(text: str, rule: _Rule) -> list[Piece]:
    pieces: list[Piece] = []
    line, seen = 1, 0
    for start, end in rule.cut(text):
        raw = text[start:end]
        piece = raw.strip()
        if piece:
            begin = start + len(raw) - len(raw.lstrip())
            line += text.count("\n", seen, begin)
            seen = begin
            pieces.append((piece, line))
    return pieces


def _lone_rules(pieces: list[Piece], rule: _Rule) -> list[int]:
    lone = [line for piece, line in pieces if rule.key == "blank" and _RULED.match(piece)]
    return lone if len(lone) < len(pieces) else []


def _without_rules(pieces: list[Piece], rule: _Rule) -> list[Piece]:
    lone = set(_lone_rules(pieces, rule))
    return [piece for piece in pieces if piece[1] not in lone]


def likeliest(text: str) -> str:
    """Find the separator that was most likely meant.

    :param text: plain text.
    :returns: its key.
    """
    stripped = text.strip()
    if "\f" in stripped:
        return "formfeed"
    if len(_pieces(text, _RULES[1])) > 1:
        return "rule"
    numbered = _by_number(text)
    if len(numbered) > 2 and not text[: numbered[0][1]].strip():
        return "numbered"
    if _BLANK.search(stripped):
        return "blank"
    lines = [line for line in _LINE.split(stripped) if line.strip()]
    ended = sum(_SENTENCE_END.search(line) is not None for line in lines)
    return "line" if len(lines) > 1 and ended >= 0.8 * len(lines) else "whole"
