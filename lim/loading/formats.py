"""The table of supported formats, made from the registry so that it cannot fall behind it."""

from __future__ import annotations

from dataclasses import dataclass

from lim.loading.names import ID, TEXT
from lim.loading.shapes.registry import COLUMNS, GENERIC, SHAPES, TEXTS


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table of supported formats.

    :param name: what it is called.
    :param recognised: how it is told.
    :param text: where the text is.
    :param id: where the id is; empty for none.
    :param score: where the score is; empty for none.
    """

    name: str
    recognised: str
    text: str
    id: str
    score: str


CONTAINERS = (
    Format(
        "plain text, Markdown",
        "anything else; cut at form feeds, `---`, numbers, blank lines or lines",
        "pieces",
        "",
        "",
    ),
    Format(
        "CSV, TSV and kin",
        "comma, semicolon, tab or bar; a line of names; any encoding",
        "by name",
        "by name",
        "by name",
    ),
    Format(
        "Markdown tables, tables of database consoles",
        "nothing but rows between bars, with a line of dashes",
        "by name",
        "by name",
        "by name",
    ),
    Format("JSON, JSON Lines", "the content, not the ending; comments, trailing commas, NaN too", "by shape", "", ""),
    Format(
        "Python values, printed objects",
        "quotes, None, True; `Document(...)`; nothing is evaluated",
        "by shape",
        "",
        "",
    ),
    Format("Excel workbook (.xlsx)", "zip with `xl/` inside; every sheet", "by name", "by name", "by name"),
    Format("Parquet", "`PAR1`", "by shape", "", ""),
    Format("TREC run", "qid Q0 docid rank score tag", "a second file", "third column", "fifth column"),
    Format("gzip, zip", "their first bytes; any of the above inside", "as inside", "", ""),
)


def supported() -> tuple[Format, ...]:
    """List what the loader reads.

    :returns: containers, then shapes, in the order in which they are tried.
    """
    rows = list(CONTAINERS)
    rows.extend(Format(each.name, each.about, _join(each.text), _join(each.id), _join(each.score)) for each in SHAPES)
    for columns in COLUMNS:
        scores = tuple(name for name, _ in columns.score)
        rows.append(Format(columns.name, columns.about, _join(columns.text), _join(columns.id), _join(scores)))
    rows.append(Format(TEXTS.name, TEXTS.about, "each item", "", ""))
    rows.append(Format(GENERIC.name, GENERIC.about, _join(TEXT[:8]), _join(ID[:6]), "any name with `score`"))
    return tuple(rows)


def _join(names: tuple[str, ...]) -> str:
    return ", ".join(names) if names else "by name"
