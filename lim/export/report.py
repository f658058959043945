"""The report: one page of Markdown for a pull request or a slide, alone or packed with its pictures."""

from __future__ import annotations

import io
import zipfile

from lim import charts, evidence, frames, story
from lim.checks import Kind, check_limits
from lim.export.markdown import code, table
from lim.export.pictures import PICTURES, picture, pictures_of
from lim.export.strict import made_with
from lim.export.told import Shown, Texts, redacted
from lim.thresholds import Step, staircase

MAX_ROWS = 50
"""The most documents in the report's table; the CSV has all of them."""

NEARBY = 2
"""Steps of the staircase shown on either side of the threshold's own."""

SHOWN_CHARACTERS = 80
_DATE = (1980, 1, 1, 0, 0, 0)  # the first one zip knows: the same report is the same file, whenever it is packed


def report_markdown(shown: Shown, *, texts: Texts = Texts.FULL, pictures: tuple[str, ...] = ()) -> bytes:
    """Write a report of what a person sees.

    :param shown: what a person sees.
    :param texts: how much of the documents it tells; of a text only its first words.
    :param pictures: names of charts that lie beside it as `landing.svg`, to be linked.
    :returns: Markdown, UTF-8: verdict, figures, pictures, nearby thresholds, findings, the documents up to
        `MAX_ROWS`, versions. What a person wrote stands in code spans only.
    """
    shown = redacted(shown, texts)
    arrangement = shown.arrangement
    parts = [f"# {story.verdict(arrangement)}"]
    if shown.ranked.query:
        parts.append(f"Question: {code(shown.ranked.query)}")
    parts.append(table(["Figure", "Value:"], _figures(shown)))
    parts += [f"![{PICTURES[name]}]({name}.svg)" for name in pictures]
    if findings := (*check_limits(arrangement), *shown.findings):
        # One of them quotes an id.
        lines = "\n".join(
            f"- {code(finding.message) if finding.kind is Kind.IDS else finding.message}" for finding in findings
        )
        parts += ["## Look at this before you trust it", lines]
    if nearby := _nearby(shown):
        parts += ["## Thresholds nearby", nearby]
    parts += ["## Documents", *_documents(shown, texts)]
    parts.append(
        f"Made with {made_with()}. The order is the one Haystack’s `LostInTheMiddleRanker` gives; words are what "
        f"stands between spaces. No model was asked here. {_claim()}"
    )
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def report_zip(shown: Shown, *, texts: Texts = Texts.FULL, palette: charts.Palette = charts.LIGHT) -> bytes:
    """Pack the report with its pictures.

    :param shown: what a person sees.
    :param texts: how much of the documents report and pictures tell.
    :param palette: the look of the pictures.
    :returns: a zip file: `report.md`, and each chart as SVG (960 x 540) and PNG (1920 x 1080).
    """
    names = pictures_of(shown.arrangement)
    drawn = redacted(shown, texts).arrangement
    files = {"report.md": report_markdown(shown, texts=texts, pictures=names)}
    for name in names:
        for kind in ("svg", "png"):
            files[f"{name}.{kind}"] = picture(drawn, name, kind, palette)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _claim() -> str:
    studies = [f"[{study.name}]({study.url}), {study.finding.value}" for study in evidence.studies()]
    return (
        "That LLMs use the ends of a prompt better than its middle is a published claim, found in some studies and not "
        f"in others: {'; '.join(studies)}."
    )


def _figures(shown: Shown) -> list[tuple[str, str]]:
    arrangement = shown.arrangement
    threshold, top_k = arrangement.word_count_threshold, arrangement.top_k
    rows = [
        ("`word_count_threshold`", f"{threshold:,}" if threshold else "none"),
        ("`top_k`", f"{top_k:,}" if top_k else "none"),
        ("Documents in the prompt", f"{arrangement.kept:,} of {len(arrangement.inputs):,}"),
        ("Words in the prompt", f"{arrangement.words:,}"),
    ]
    if threshold:
        rows.append(("Words over the threshold", f"{max(arrangement.words - threshold, 0):,}"))
    if shown.tokens is not None:
        count = sum(shown.tokens[rank - 1] for rank in arrangement.order)
        rows.append(("Tokens in the prompt (o200k)", f"{count:,}"))
    rows.append(("Duplicates dropped", f"{len(arrangement.kept_copies):,}"))
    return rows


def _nearby(shown: Shown) -> str:
    steps = [step for step in staircase(shown.arrangement, shown.tokens) if step.reachable]
    here = next((place for place, step in enumerate(steps) if step.kept == shown.arrangement.kept), len(steps) - 1)
    near = steps[max(here - NEARBY, 0) : here + NEARBY + 1]
    if len(near) < 2:
        return ""
    head = ["Threshold", "Documents:", "Words:", *(["Tokens:"] if shown.tokens is not None else [])]
    return table(head, [_step(step, now=step is steps[here]) for step in near])


def _step(step: Step, *, now: bool) -> list[str]:
    span = f"{step.lowest:,} to {step.highest:,}" if step.highest is not None else f"{step.lowest:,} and more"
    cells = [span, f"{step.kept:,}", f"{step.words:,}"]
    if step.tokens is not None:
        cells.append(f"{step.tokens:,}")
    return [f"**{cell}**" for cell in cells] if now else cells


def _documents(shown: Shown, texts: Texts) -> list[str]:
    rows = frames.table(shown.arrangement, shown.tokens, shown.scores, slice(0, MAX_ROWS)).to_dict("records")
    any_text = any(document.content for document in shown.arrangement.inputs)
    any_score = any(score is not None for score in shown.scores)
    score = "Distance:" if shown.ranked.lower_is_better else "Score:"
    head = ["Rank:", "Position:", "Fate", "Words:", "Cumulative:"]
    head += ["Tokens:"] if shown.tokens is not None else []
    head += [score] if any_score else []
    head += ["Id"] if texts is not Texts.NUMBERS else []
    head += ["Text" if texts is Texts.FULL else "Title"] if any_text else []
    lines = []
    for row in rows:
        cells = [_number(row["rank"]), _number(row["position"]), _fate(row["fate"], row["why"])]
        cells += [_number(row["words"]), _number(row["cumulative_words"])]
        cells += [_number(row["tokens"])] if shown.tokens is not None else []
        cells += [_score(row["score"])] if any_score else []
        cells += [code(frames.preview(row["id"], SHOWN_CHARACTERS))] if texts is not Texts.NUMBERS else []
        cells += [code(frames.preview(row["text"] or "", SHOWN_CHARACTERS))] if any_text else []
        lines.append(cells)
    parts = [table(head, lines)]
    if (rest := len(shown.arrangement.inputs) - MAX_ROWS) > 0:
        parts.append(f"{story.plural(rest, 'more document')} of the list left out of this table.")
    return parts


def _fate(fate: str, why: str) -> str:
    return f"{fate} ({why})" if why else fate


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""


def _score(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else ""
