"""How a template may have escaped a document's text, and how such text is compared without its whitespace."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Encoding:
    """One way to escape a text.

    :param name: what a person calls it.
    :param telltale: what a prompt must hold for it to be worth looking for.
    :param encode: text to escaped text.
    """

    name: str
    telltale: re.Pattern[str] | None
    encode: Callable[[str], str]


def _json_in_html(text: str) -> str:
    """Jinja's `tojson`."""
    escaped = json.dumps(text)[1:-1]
    for character in "<>&'":
        escaped = escaped.replace(character, f"\\u{ord(character):04x}")
    return escaped


def _markup(text: str) -> str:
    """Jinja's `escape`."""
    return html.escape(text, quote=False).replace('"', "&#34;").replace("'", "&#39;")


_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|#39|#34|#x27|apos);")
_BACKSLASH = re.compile(r"\\")

ENCODINGS: tuple[Encoding, ...] = (
    Encoding(PLAIN, None, lambda text: text),
    Encoding("JSON", _BACKSLASH, lambda text: json.dumps(text, ensure_ascii=False)[1:-1]),
    Encoding("JSON, ASCII only", _BACKSLASH, lambda text: json.dumps(text)[1:-1]),
    Encoding("JSON within HTML", _BACKSLASH, _json_in_html),
    Encoding("HTML", _ENTITY, _markup),
    Encoding("HTML", _ENTITY, html.escape),
    Encoding("XML", _ENTITY, lambda text: html.escape(text, quote=False)),
    Encoding("Python literal", _BACKSLASH, lambda text: repr(text)[1:-1]),
)
"""Every escaping that is undone; two documents of one prompt are taken to be escaped alike where that is possible."""


def worth_trying(prompt: str) -> tuple[Encoding, ...]:
    """Choose the escapings that a prompt may hold.

    :param prompt: the text of the prompt.
    :returns: the unescaped form, and those whose telltale is in the prompt.
    """
    return tuple(each for each in ENCODINGS if each.telltale is None or each.telltale.search(prompt))


class Words:
    """A text without the whitespace between its words, and where each character of it stands in the text."""

    def __init__(self, raw: str, fold: Callable[[str], str]) -> None:
        """Take a text apart.

        :param raw: the text.
        :param fold: what is done to each word.
        """
        self._raw = raw
        self.text = squeeze(raw, fold)
        self._pieces: list[tuple[int, int]] = []
        self._starts: list[int] = []

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Find a piece of the squeezed text in the text.

        :param start: its first character.
        :param end: the character behind its last.
        :returns: the same for the text.
        """
        if not self._starts:
            self._pieces = [match.span() for match in re.finditer(r"\S+", self._raw)]
            self._starts = list(accumulate((len(word) + 1 for word in self.text.split(" ")), initial=0))
        word, inside = self._place(start)
        if word + 1 < len(self._pieces) and self._starts[word + 1] - self._starts[word] == inside + 1:
            word, inside = word + 1, 0  # from the space between two words to the second
        first, behind = self._pieces[word]
        begin = min(first + inside, behind - 1)
        word, inside = self._place(end - 1)
        first, behind = self._pieces[word]
        whole = self._starts[word + 1] - self._starts[word] <= inside + 2  # the last character of the word
        return begin, behind if whole else min(first + inside + 1, behind)

    def _place(self, position: int) -> tuple[int, int]:
        word = bisect_right(self._starts, position) - 1
        return word, position - self._starts[word]


def squeeze(text: str, fold: Callable[[str], str]) -> str:
    """Put single spaces between the words of a text.

    :param text: any text.
    :param fold: what is done to each word.
    :returns: the words.
    """
    if fold is compose and unicodedata.is_normalized("NFC", text):
        return " ".join(text.split())
    if text.isascii():
        return fold(" ".join(text.split()))
    return " ".join(map(fold, text.split()))


def compose(word: str) -> str:
    """Bring a word to Unicode's composed form (NFC).

    :param word: a word.
    :returns: the same word.
    """
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def loosen(word: str) -> str:
    """Bring a word to a form in which case and presentation (ligatures, full width) make no difference.

    :param word: a word.
    :returns: its case-folded compatibility form (NFKC), its inner whitespace, if any arises, left out.
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    return folded if not any(map(str.isspace, folded)) else "".join(folded.split())
