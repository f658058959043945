"""The stand-alone page: one HTML file with both charts live, opened from disk, without network and server."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib import resources
from typing import Any

import vl_convert

from lim import charts, evidence, frames, story
from lim.errors import LimitError
from lim.export.pictures import VEGA_LITE
from lim.export.strict import made_with
from lim.export.told import Shown, Texts, redacted
from lim.frames.lab import FARTHEST_RULE, FATE_WORDS, LABELLED_MARKS, MAX_MARKS, handle_thresholds
from lim.plain import plain
from lim.ranker import Arrangement

MAX_PAGE_DOCUMENTS = 1_000
"""The most documents of a stand-alone page: its table holds every one of them, on a phone too."""

LOOKS = {"auto": "As this device", "light": "Light", "dark": "Dark"}
"""What a stand-alone page can look like: as its reader's device asks for, or always light or dark."""

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")

CLAIM = (
    "The ranker rests on a published claim: that language models use the beginning and the end of a long prompt better "
    "than its middle. It was measured for some models and tasks and not found for others. What this page shows is "
    "arithmetic on word counts; it measures no model."
)


def standalone_page(shown: Shown, *, texts: Texts = Texts.FULL, look: str = "auto") -> bytes:
    """Write the Lab's view of a list as one HTML file that needs no network and no server.

    Both charts are live: the file has a threshold of its own, and verdict, charts and table follow it as the installed
    ranker would. Its policy (CSP) forbids every connection and every script but its own two, so a document cannot run
    anything in it either.

    :param shown: what a person sees; the page begins with its limits, and keeps its `top_k`.
    :param texts: how much of the documents the file holds.
    :param look: one of `LOOKS`.
    :returns: HTML, ASCII only, about 1 MB without the documents.
    :raises LimitError: if the list has more than `MAX_PAGE_DOCUMENTS` documents.
    """
    count = len(shown.arrangement.inputs)
    if count > MAX_PAGE_DOCUMENTS:
        raise LimitError(
            f"The list has {count:,} documents, but a stand-alone page holds at most {MAX_PAGE_DOCUMENTS:,}. Take the "
            f"report or the table, or cut the list."
        )
    shown = redacted(shown, texts)
    scripts = (_vega(), _resource("page.js"))
    style = _resource("page.css")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src "
        + " ".join(map(_hashed, scripts))
    )
    fixed = "" if look == "auto" else f' data-look="{look}"'
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"{fixed}>',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        "<title>Where each document lands</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        _body(shown, texts),
        f'<script type="application/json" id="data">{_embedded(_data(shown, texts, look))}</script>',
        *(f"<script>{script}</script>" for script in scripts),
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts).encode("ascii", "xmlcharrefreplace")


def _data(shown: Shown, texts: Texts, look: str) -> dict[str, Any]:
    arrangement = shown.arrangement
    documents = arrangement.inputs
    scores = [plain(score, finite=True) for score in shown.scores]
    told = texts is not Texts.NUMBERS
    contents = [document.content or "" for document in documents]
    return {
        "counts": arrangement.word_counts,
        "walk": list(arrangement.walk),
        "totals": arrangement.totals,
        "copies": arrangement.kept_copies,
        "ranked": arrangement.ranked,
        "threshold": arrangement.word_count_threshold,
        "top_k": arrangement.top_k,
        "tokens": shown.tokens,
        "scores": scores if any(score is not None for score in scores) else None,
        "ids": [document.id for document in documents] if told else None,
        "texts": contents if any(contents) else None,
        "whole": texts is Texts.FULL,
        "previews": [frames.preview(text) for text in contents],
        "query": shown.ranked.query,
        "fates": {fate.value: words for fate, words in FATE_WORDS.items()},
        "handles": handle_thresholds(arrangement.totals[-1] if arrangement.totals else 0).tolist(),
        "marks": {
            "most": MAX_MARKS,
            "labelled": LABELLED_MARKS,
            "farthest": FARTHEST_RULE,
        },
        "look": look,
        "blues": {
            "light": (charts.LIGHT.best, charts.LIGHT.weakest),
            "dark": (charts.DARK.best, charts.DARK.weakest),
        },
        "charts": {
            "light": _charts(arrangement, charts.LIGHT),
            "dark": _charts(arrangement, charts.DARK),
        },
    }


def _charts(arrangement: Arrangement, palette: charts.Palette) -> dict[str, Any]:
    """Compile both charts, without their rows: the page makes these for every threshold."""
    figures = {
        "landing": charts.landing(frames.landing(arrangement), arrangement, palette),
        "budget": charts.budget(frames.budget(arrangement), arrangement, palette),
    }
    return {name: _compiled(figure) for name, figure in figures.items()}


def _compiled(figure: charts.Figure) -> dict[str, Any]:
    if not isinstance(figure.drawn, charts.Drawing):
        raise TypeError(f"{figure.title!r} is no drawing, but a live chart must be: its rows come later.")
    specification = charts.specification(figure.drawn.draw, figure.drawn.given)
    empty = specification | {"datasets": {charts.ROWS: []}, "background": None}
    return vl_convert.vegalite_to_vega(empty, vl_version=VEGA_LITE)


def _body(shown: Shown, texts: Texts) -> str:
    arrangement = shown.arrangement
    total = max(arrangement.totals[-1] if arrangement.totals else 0, 1)
    threshold = arrangement.word_count_threshold
    options = "".join(f'<option value="{key}">{label}</option>' for key, label in LOOKS.items())
    question = '<p>Question: <span id="query"></span></p>' if shown.ranked.query else ""
    top_k = f"<span>top_k = {arrangement.top_k:,}</span>" if arrangement.top_k else ""
    slide = f'type="range" id="slider" min="1" max="{total}" step="1" value="{min(threshold or total, total)}"'
    exact = f'type="number" id="number" min="1" step="1" value="{threshold or total}" inputmode="numeric"'
    warnings = "".join(f'<p class="warning">{html.escape(finding.message)}</p>' for finding in shown.findings)
    return f"""\
<main>
<div class="top">
<p class="faint">Where Haystack’s LostInTheMiddleRanker puts each document of a ranked list</p>
<span><label class="heard" for="look">Look of this page</label><select id="look">{options}</select></span>
</div>
<h1 id="verdict" aria-live="polite">{html.escape(story.verdict(arrangement))}</h1>
{question}
<div class="controls">
<label><input type="checkbox" id="limited"{" checked" if threshold else ""}> Limit the words</label>
<span class="slide"><label for="slider">Threshold in words</label><input {slide}></span>
<label>word_count_threshold <input {exact}></label>
{top_k}
</div>
<noscript><p class="warning">The charts and the table need JavaScript; the sentence above does not.</p></noscript>
<dl>
<div><dt>Documents in the prompt</dt><dd id="figure-documents"></dd></div>
<div><dt>Words</dt><dd id="figure-words"></dd></div>
<div><dt>Words over the threshold</dt><dd id="figure-over"></dd></div>
<div><dt>Tokens (o200k)</dt><dd id="figure-tokens"></dd></div>
</dl>
{warnings}
<div class="charts">
<figure><figcaption><h2>Where each document lands</h2><span id="landing-rule"></span></figcaption>
<p class="heard" id="landing-words"></p><div class="chart" id="landing"></div></figure>
<figure><figcaption><h2>Where the budget runs out</h2><span id="budget-rule"></span></figcaption>
<p class="heard" id="budget-words"></p><div class="chart" id="budget"></div></figure>
</div>
<h2>Every document and its fate</h2>
<p class="faint">{_kept_back(texts)}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Every document and its fate">
<table><thead><tr>{_head(shown, texts)}</tr></thead><tbody id="rows"></tbody></table>
</div>
{_sources()}
</main>"""


def _kept_back(texts: Texts) -> str:
    return {
        Texts.FULL: "In the order of the ranked list, most relevant first.",
        Texts.TITLES: "In the order of the ranked list, most relevant first. The texts were left out of this file.",
        Texts.NUMBERS: "In the order of the ranked list, most relevant first. Texts, titles, ids and the question were "
        "left out of this file; words, scores and fates are those of the real documents.",
    }[texts]


def _head(shown: Shown, texts: Texts) -> str:
    score = "Distance" if shown.ranked.lower_is_better else "Score"
    names = [
        ("Rank", True, ""),
        ("Position", True, ""),
        ("Fate", True, "fate"),
        ("Words", True, ""),
        ("Cumulative", True, ""),
        ("Tokens", shown.tokens is not None, ""),
        (score, any(value is not None for value in shown.scores), ""),
        ("Id", texts is not Texts.NUMBERS, "id"),
        (
            "Text" if texts is Texts.FULL else "Title",
            any(document.content for document in shown.arrangement.inputs),
            "text",
        ),
    ]
    return "".join(
        f'<th scope="col"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{name}</th>'
        for name, there, kind in names
        if there
    )


def _sources() -> str:
    items = "".join(
        f'<li><a href="{html.escape(study.url)}" rel="noreferrer">{html.escape(study.name)}</a>, '
        f"{html.escape(study.source)} ({study.finding.value}): {html.escape(study.shows)}</li>"
        for study in evidence.studies()
    )
    return (
        f'<section class="faint"><h2>Is the order worth it?</h2><p>{CLAIM}</p><ul>{items}</ul>'
        f"<p>Made with {made_with()}.</p></section>"
    )


def _embedded(value: object) -> str:
    """Write JSON that can end no script element and begin no comment, whatever the texts hold: ASCII, no angles."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hashed(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _vega() -> str:
    """Vega with its interpreter, from the wheel of vl-convert: as ASCII, since the policy names it by its hash."""
    return _ascii(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE))


@cache
def _resource(name: str) -> str:
    text = resources.files("lim.export").joinpath("static", name).read_text("utf-8")
    return _ascii(text) if name.endswith(".js") else text


def _ascii(script: str) -> str:
    """Escape what is not ASCII as JavaScript's strings and patterns do; no script of ours has any elsewhere."""
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], script)
