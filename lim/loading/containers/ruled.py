"""Tables drawn with bars and dashes: Markdown, and what database consoles print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from lim.loading.containers.source import Places, Source
from lim.loading.containers.tables import table_source
from lim.loading.limits import check_documents
from lim.loading.names import text_preference
from lim.loading.notes import Notes

MAX_RULED_BYTES = 20_000_000
_SNIFFED_LINES = 3
_RULE = re.compile(r"[|+]?\s*:?-+:?\s*(?:[|+]\s*:?-+:?\s*)*[|+]?")
_FOOTER = re.compile(r"\(?\d[\d,]* rows?\b.*", re.IGNORECASE)
_BAR = re.compile(r"(?<!\\)\|")


def read_ruled(data: bytes, notes: Notes) -> Source | None:
    """Read a text that is nothing but one drawn table with a column named like a text.

    :param data: UTF-8 bytes.
    :param notes: told about rows that were left out.
    :returns: its rows, None if the text is anything else.
    """
    if len(data) > MAX_RULED_BYTES or not _starts_ruled(data[:65536].decode("utf-8", errors="replace")):
        return None
    lines = [
        (number, line.strip())
        for number, line in enumerate(data.decode("utf-8", errors="replace").split("\n"), 1)
        if line.strip()
    ]
    if _FOOTER.fullmatch(lines[-1][1]):
        lines.pop()
    if not all("|" in line or _RULE.fullmatch(line) for _, line in lines):
        return None
    framed = lines[0][1].startswith(("|", "+"))
    kept = [(number, _cells(line, framed=framed)) for number, line in lines if not _is_rule(line)]
    if len(kept) < 2 or not any(text_preference(cell) is not None for cell in kept[0][1]):
        return None
    check_documents(len(kept) - 1)
    rows: list[Sequence[str]] = [cells for _, cells in kept]
    return table_source("drawn table", rows, Places("line ", [number for number, _ in kept]), notes)


def _starts_ruled(head: str) -> bool:
    lines = [line.strip() for line in head.split("\n") if line.strip()][:_SNIFFED_LINES]
    if len(lines) < _SNIFFED_LINES:
        return False
    return any("|" in above and _is_rule(line) for above, line in pairwise(lines))


def _is_rule(line: str) -> bool:
    return _RULE.fullmatch(line) is not None and ("|" in line or "+" in line)


def _cells(line: str, *, framed: bool) -> list[str]:
    if framed:
        line = line.removeprefix("|")
        line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)]
