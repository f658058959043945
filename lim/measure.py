"""The sizes of a text: words as Haystack counts them, tokens, characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

try:
    import toktok
except ImportError:  # the wheel exists for the common platforms only; everything but token counts works without it
    toktok = None

TOKEN_ENCODING = "o200k_base"  # noqa: S105 # the public name of a vocabulary, no secret
UNSPLITTABLE_CHARACTERS_PER_WORD = 15

_SHAPE = bytes(ord(" ") if chr(code).isspace() else ord("x") for code in range(256))  # every ASCII byte to " " or "x"
_SURROGATE = re.compile("[\ud800-\udfff]")


def words(text: str) -> int:
    """Count words exactly as Haystack's ranker does: the pieces of `str.split()`.

    :param text: any text.
    :returns: the number of maximal runs of non-whitespace characters, at least 0. Whitespace is Unicode's: no-break,
        narrow and ideographic spaces and line separators divide words too. A Chinese sentence is one word.
    """
    # Counting the places where a word begins builds no list of pieces: about twice as fast, on the same whitespace.
    if text.isascii():
        shape = text.encode().translate(_SHAPE)
        return shape.count(b" x") + shape.startswith(b"x")
    return len(text.split())


def characters(text: str) -> int:
    """Count characters (Unicode code points).

    :param text: any text.
    :returns: the number of code points, whitespace included.
    """
    return len(text)


def tokens(texts: Sequence[str]) -> list[int] | None:
    """Count tokens of each text in the `o200k_base` vocabulary (GPT-4o and later OpenAI models).

    :param texts: any texts; special-token strings such as `<|endoftext|>` count as ordinary text.
    :returns: one count a text, in order, or None where `toktok-rs` cannot be imported: counts are not available.
    """
    if toktok is None:
        return None
    # Lone surrogates exist in Python strings (from JSON escapes) but in no encoding: they are counted as U+FFFD.
    safe = [text if _encodable(text) else _SURROGATE.sub("\ufffd", text) for text in texts]
    counts: list[int] = toktok.batch_count(safe, TOKEN_ENCODING)
    return counts


def unsplittable(text: str) -> bool:
    """Tell whether the whitespace word count says little about the size of a text.

    True for scripts written without spaces (Chinese, Japanese, Thai, Khmer, …), for a giant URL or base64.

    :param text: any text.
    :returns: whether there are more than 15 non-whitespace characters a word; False for a text without words.
        English prose has about 5, German about 6.
    """
    pieces = text.split()
    return sum(map(len, pieces)) > UNSPLITTABLE_CHARACTERS_PER_WORD * len(pieces)


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
