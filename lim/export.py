"""What a visitor takes home: the table as CSV, the result as JSON, Python and pipeline YAML, charts as SVG and PNG."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import repeat
from numbers import Number
from pathlib import Path
from typing import Any

import pandas as pd
import vl_convert
from haystack import Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.rankers import LostInTheMiddleRanker

from lim.plain import plain
from lim.prompt import DEFAULT_TEMPLATE
from lim.ranker import Arrangement, check_limit, placement_dict

VEGA_LITE = "6.4"
"""The Vega-Lite of the installed Altair's charts, in the form vl-convert names it."""

CHART_WIDTH = 720
"""Pixels of a chart that fills its container on the page: a file has no container."""

MAX_SCALE = 10.0

# What makes a spreadsheet take a text for a formula: = + - @, also in their full-width forms, behind whitespace and
# invisible characters, which some spreadsheets strip; and a leading tab or line break (OWASP, "CSV Injection").
# Apostrophes before it count: so one apostrophe less gives every text back as it was.
_FORMULA = re.compile(r"'*(?:[\t\r\n]|[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠])")

_PACKAGES = ("haystack-ai", "lost-in-the-middle-lab")


def table_csv(frame: pd.DataFrame) -> bytes:
    r"""Write a table as CSV that Excel, LibreOffice and pandas open right, and that runs nothing there.

    UTF-8 with a byte order mark: without one Excel takes the file for the system's old code page and breaks every
    accent; LibreOffice and pandas know the mark and drop it (with Python's `csv`, open it as `utf-8-sig`). Commas,
    quotes where needed, CRLF line ends (RFC 4180).

    :param frame: any table; its index is left out.
    :returns: the file. Numbers stay numbers, NaN and None are empty, line breaks in a text stay, quoted. A text or a
        column name a spreadsheet would take for a formula gets an apostrophe in front (`=A1` becomes `'=A1`), and so
        does one that begins with an apostrophe and would be one without: taking one away gives the text back. A lone
        surrogate, which no encoding knows, becomes its escape (`\ud83d`).
    """
    columns = [_cells(frame.iloc[:, place]) for place in range(frame.shape[1])]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(str(name)) for name in frame.columns])
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode("utf-8-sig", "backslashreplace")


def result_json(
    arrangement: Arrangement, *, name: str, query: str | None, tokens: Sequence[int] | None = None
) -> bytes:
    """Write an arrangement as strictly valid JSON (RFC 8259).

    :param arrangement: the arrangement.
    :param name: the list's name.
    :param query: the question the list answers, if known.
    :param tokens: tokens of each input document, in input order; None where they are not available.
    :returns: UTF-8 without a byte order mark, one document a line: `versions`, `settings`, `name`, `query`, `order`
        (the ranks in the order of the prompt), `words` in the prompt, and `documents`, one for every input document in
        input order. NaN and infinities are null, lone surrogates are escaped, what JSON does not know in a `meta` is
        its text.
    :raises ValueError: if `tokens` has another length than the arrangement's inputs.
    """
    counts: Sequence[int | None] | repeat[None] = repeat(None, len(arrangement.inputs)) if tokens is None else tokens
    documents = [
        {
            **placement_dict(placement),
            "tokens": count,
            "score": plain(placement.document.score, finite=True),
            "meta": plain(placement.document.meta, finite=True),
            "content": placement.document.content,
        }
        for placement, count in zip(arrangement.placements, counts, strict=True)
    ]
    head = {
        "versions": {package: _version(package) for package in _PACKAGES},
        "settings": {"word_count_threshold": arrangement.word_count_threshold, "top_k": arrangement.top_k},
        "name": name,
        "query": query,
        "order": arrangement.order,
        "words": arrangement.words,
    }
    # One value a line, each by the fast encoder that Python has for JSON without indentation.
    lines = [f"{_dumps(key)}: {_dumps(value)}" for key, value in head.items()]
    rows = ",\n    ".join(map(_dumps, documents))
    lines.append(f'"documents": [\n    {rows}\n  ]' if documents else '"documents": []')
    text = "{\n  " + ",\n  ".join(lines) + "\n}\n"
    # The only characters UTF-8 cannot hold are lone surrogates, and Python's escape for them is JSON's.
    return text.encode("utf-8", "backslashreplace")


def python_snippet(word_count_threshold: int | None, top_k: int | None) -> str:
    """Write a script that does the same with Haystack's own ranker, needing `haystack-ai` only.

    :param word_count_threshold: words at which the ranker stops, at least 1; None for no limit.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :returns: a complete script with a list of documents to replace.
    :raises SettingError: if a limit is not None or a whole number of at least 1.
    """
    limits = {
        "word_count_threshold": check_limit("word_count_threshold", word_count_threshold),
        "top_k": check_limit("top_k", top_k),
    }
    arguments = ", ".join(f"{name}={limit}" for name, limit in limits.items() if limit is not None)
    return f"""\
from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker

# Put your retriever's documents here, most relevant first: the ranker trusts this order.
documents = [
    Document(content="The most relevant document."),
    Document(content="The second most relevant document."),
    Document(content="The third most relevant document."),
    Document(content="The fourth most relevant document."),
    Document(content="The least relevant document."),
]

ranker = LostInTheMiddleRanker({arguments})
result = ranker.run(documents=documents)

# The best documents now stand at both ends, the weakest in the middle.
for position, document in enumerate(result["documents"], start=1):
    print(position, document.content)
"""


def pipeline_yaml(word_count_threshold: int | None, top_k: int | None) -> str:
    """Write a Haystack pipeline, ranker and prompt builder, as YAML for `Pipeline.loads`, needing `haystack-ai` only.

    :param word_count_threshold: words at which the ranker stops, at least 1; None for no limit.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :returns: what Haystack's `Pipeline.dumps` writes. Inputs: `documents` of `ranker`, `query` of `prompt_builder`.
    :raises SettingError: if a limit is not None or a whole number of at least 1.
    """
    ranker = LostInTheMiddleRanker(
        word_count_threshold=check_limit("word_count_threshold", word_count_threshold),
        top_k=check_limit("top_k", top_k),
    )
    pipeline = Pipeline()
    pipeline.add_component("ranker", ranker)
    pipeline.add_component("prompt_builder", PromptBuilder(DEFAULT_TEMPLATE))
    pipeline.connect("ranker.documents", "prompt_builder.documents")
    return pipeline.dumps()


def chart_svg(spec: dict[str, Any]) -> bytes:
    """Draw a chart as SVG, on this machine and without a browser.

    :param spec: a Vega-Lite specification with its data inside. What only a page can do (pointing, dragging, filling
        a container) is left out of the drawing.
    :returns: an SVG document, UTF-8.
    :raises ValueError: if Vega-Lite cannot draw it, or it names data or an image by an address: nothing is fetched.
    """
    if spec.get("width") == "container":
        spec = {**spec, "width": CHART_WIDTH}
    drawn = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    if "<image" in drawn:  # the bound above is for data only; vl-convert fetches images when it makes a PNG
        raise ValueError("The chart has an image mark, but a chart file may not fetch one. Leave the mark out.")
    return drawn.encode()


def chart_png(spec: dict[str, Any], scale: float = 2) -> bytes:
    """Draw a chart as PNG, on this machine and without a browser.

    :param spec: a Vega-Lite specification, as for :func:`chart_svg`.
    :param scale: pixels of the picture for one of the chart, above 0 and at most 10.
    :returns: a PNG picture.
    :raises ValueError: as :func:`chart_svg`, and if `scale` is out of bounds.
    """
    if not 0 < scale <= MAX_SCALE:
        raise ValueError(f"scale is {scale!r}, but it must be above 0 and at most {MAX_SCALE:g}. Give 2 for a slide.")
    return vl_convert.svg_to_png(chart_svg(spec).decode(), scale=scale)


def _cells(column: pd.Series[Any]) -> list[Any]:
    values = column.tolist()
    if pd.api.types.is_numeric_dtype(column.dtype) and not column.hasnans:
        return values
    return [_cell(value) for value in values]


def _cell(value: object) -> object:
    if isinstance(value, Number):
        return value if value == value else None  # NaN differs from itself
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    text = str(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # this one, run from a checkout that was not installed
        project = Path(__file__).parents[1] / "pyproject.toml"
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"]) if project.exists() else None
