"""Text and tables as Markdown that renders the same on GitHub and runs nothing, whatever a document holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_RUN = re.compile(r"`+")


def code(text: str) -> str:
    """Write any text as a code span: no Markdown, HTML, link, mention or emoji in it means anything.

    :param text: any text.
    :returns: the text on one line between backticks, more of them than it has in a row; empty for an empty text.
        Characters that show nothing or turn the line around are left out; a lone surrogate becomes U+FFFD.
    """
    line = " ".join("".join(map(_visible, text)).split())
    if not line:
        return ""
    fence = "`" * (max(map(len, _RUN.findall(line)), default=0) + 1)
    # One blank on either side is dropped when rendered; it keeps a backtick of the text from joining the fence.
    blank = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{blank}{line}{blank}{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table.

    :param head: the names of the columns; one that ends with a colon is set to the right.
    :param rows: cells: Markdown on one line.
    :returns: the table, a row a line, without a line break at the end.
    """
    marks = ["---:" if name.endswith(":") else "---" for name in head]
    lines = [[name.removesuffix(":") for name in head], marks, *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |" for cells in lines)


BAR = r"\|"
"""A bar within a cell; in a table it is one within a code span too."""


def _visible(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cs":
        return "\ufffd"
    if kind == "Cc":
        return " "
    return "" if kind == "Cf" else character
