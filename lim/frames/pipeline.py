"""The pipeline's frames and sentences: every stage, every document's places, what was dropped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from haystack import Document

from lim.frames.lab import FATE_WORDS, MAX_MARKS, bins, preview
from lim.frames.passages import Passage
from lim.stages import Slot, StageRun, Trace
from lim.stages.build import Node
from lim.story import plural

OWN_LABELS = {
    "given": "List",
    "other": "2nd list",
    "bm25": "BM25",
    "diversity": "Diversify",
    "meta_field_grouping": "Group",
}
"""What a stage is called where there is little room, if not by its place."""


def labels(listed: Sequence[Node]) -> dict[str, str]:
    """Give every component of a plan a short name of its own, for axes, columns and cards.

    :param listed: the nodes of a plan.
    :returns: by the component's name: such as `Rank`, or `Rank 2` for the second of several.
    """
    plain = {node.name: _label(node.slot, node.stage.key) for node in listed}
    counts, seen = Counter(plain.values()), Counter[str]()
    for name, label in plain.items():
        if counts[label] > 1:
            seen[label] += 1
            plain[name] = f"{label} {seen[label]}"
    return plain


def _label(slot: Slot, key: str) -> str:
    return slot.value.capitalize() if slot is Slot.AFTER else OWN_LABELS.get(key, slot.value.capitalize())


def headline(trace: Trace) -> str:
    """Say whether the intended order reached the prompt, or where the run ended before it.

    :param trace: a run.
    :returns: one sentence, plain text without a person's words.
    """
    if trace.failure is None or trace.prompt is not None:
        return trace.verdict.sentence
    what = "was stopped" if trace.failure.cancelled else "failed"
    return f"The run {what} at {trace.failure.title}: the order did not reach the prompt."


def ranked(trace: Trace) -> tuple[int, ...]:
    """List the documents in the order of relevance that the arrangement trusts.

    :param trace: a run.
    :returns: their numbers, as they came into the arrangement (its kept copy in the place of the first); without an
        arrangement as they came into the prompt, or as far as the run got.
    """
    for run in trace.stages:
        if run.slot is Slot.ARRANGE and trace.arrangement is not None:
            return tuple(run.inputs[0][rank - 1] for rank in trace.arrangement.walk)
    before = [run for run in trace.stages if run.slot not in (Slot.PROMPT, Slot.GENERATE)]
    return tuple(dict.fromkeys(before[-1].outputs)) if before else ()


def shades(trace: Trace) -> dict[int, float]:
    """Give each document that reaches the prompt its place on the colour scale of relevance.

    :param trace: a run; of one that ended early, the documents of its last stage.
    :returns: by number: 0 for the most relevant one to 1 for the least; the others are missing.
    """
    reached = set(_reached(trace))
    kept = [number for number in ranked(trace) if number in reached]
    kept += [number for number in _reached(trace) if number not in set(kept)]
    return {number: index / max(len(kept) - 1, 1) for index, number in enumerate(dict.fromkeys(kept))}


def _reached(trace: Trace) -> tuple[int, ...]:
    """List the documents of the prompt, or of every list there is when the run ended before it."""
    shown = _shown(trace)
    if not shown:
        return ()
    lists = [run for run in shown if run.slot is Slot.RETRIEVE] if shown[-1].slot is Slot.RETRIEVE else shown[-1:]
    return tuple(number for run in lists for number in run.outputs)


def _shown(trace: Trace) -> list[StageRun]:
    return [run for run in trace.stages if run.slot is not Slot.GENERATE]


def losses(trace: Trace) -> dict[int, StageRun]:
    """Find the stage that dropped each document.

    :param trace: a run.
    :returns: by number, the stage; a document that another list brings is not dropped by a retriever.
    """
    retrieved = {n for run in trace.stages if run.slot is Slot.RETRIEVE for n in run.outputs}
    lost: dict[int, StageRun] = {}
    for run in _shown(trace):
        for number in run.dropped:
            if run.slot is not Slot.RETRIEVE or number not in retrieved:
                lost.setdefault(number, run)
    return lost


def reasons(trace: Trace, run: StageRun, numbers: Sequence[int], settings: Mapping[str, Any]) -> list[str]:
    """Say why a stage dropped documents.

    :param trace: the run.
    :param run: the stage.
    :param numbers: the documents' numbers.
    :param settings: the stage's settings.
    :returns: a few words for each; no more than the stage's input, output and settings prove.
    """
    if run.slot is Slot.ARRANGE and trace.arrangement is not None:
        fates = dict(zip(run.inputs[0], (each.fate for each in trace.arrangement.placements), strict=True))
        return [FATE_WORDS[fates[number]].removeprefix("dropped: ") for number in numbers]
    if run.slot is Slot.PROMPT:
        return ["the template leaves its text out, or changes it"] * len(numbers)
    kept = {trace.documents[number - 1].id: number for number in reversed(run.outputs)}
    return [_reason(trace.documents[number - 1], run, kept, settings) for number in numbers]


def _reason(document: Document, run: StageRun, kept: Mapping[str, int], settings: Mapping[str, Any]) -> str:
    if document.id in kept:
        return f"shares its id with document {kept[document.id]:,}"
    top_k = settings.get("top_k")
    full = top_k is not None and len(run.outputs) >= top_k
    match run.stage:
        case "bm25" if document.content is None:
            return "has no text"
        case "bm25" if not full:
            return "shares no word with the query"
        case "meta_field" if settings["missing_meta"] == "drop" and document.meta.get(settings["meta_field"]) is None:
            return "has no value in the meta field"
        case "similarity" if settings["score_threshold"] is not None and not full:
            return "its score is below score_threshold"
        case "llm" if not full:
            return "the model did not name it"
        case "lost_in_the_middle" if settings["word_count_threshold"] is not None:
            return "after top_k or the threshold" if top_k is not None else "after the threshold"
    return f"not among the top_k ({top_k:,})" if full else "left out by the component"


def bump(trace: Trace, listed: Sequence[Node]) -> pd.DataFrame:
    """Make the rows of the bump chart: a document's place in every stage's output.

    :param trace: a run.
    :param listed: the nodes of its plan.
    :returns: columns `line` (what one line joins: a document, or a further copy of it), `number`, `stage` (its short
        name), `column` (0-based), `place` (1-based), `shade` (0 best to 1 weakest, and for those that do not reach the
        prompt), `there`, `dropped` (whether the line ends here, dropped by the next stage), `end` (its mark), `fate`,
        `left` and `right` (the number, where a line begins and where it reaches the last stage), `preview`. A document
        that no retriever returned has no row. At most `MAX_MARKS` documents, evenly chosen, those of the prompt first.
    """
    names, shade, lost = labels(listed), shades(trace), losses(trace)
    shown = _shown(trace)
    there = list(shade)
    rest = sorted({n for run in shown for n in run.outputs} - set(there))
    chosen = set(_evenly(there, MAX_MARKS))
    chosen |= set(_evenly(rest, MAX_MARKS - len(chosen)))
    fates = {n: f"dropped by {names[run.name]}" for n, run in lost.items()}
    reached = bool(shown) and shown[-1].slot is Slot.PROMPT
    begun: set[str] = set()
    last = {n: column for column, run in enumerate(shown) for n in run.outputs}
    rows = []
    for column, run in enumerate(shown):
        copies = Counter[int]()
        for place, number in enumerate(run.outputs, 1):
            copies[number] += 1
            if number not in chosen:
                continue
            line = f"{number}.{copies[number]}"
            rows.append(
                (
                    *(line, number, names[run.name], column, place, shade.get(number, 1.0), number in shade),
                    *((True, "×") if number in lost and last[number] == column else (False, "")),
                    fates.get(number, "in the prompt" if reached else "in the last stage that ran"),
                    "" if line in begun else str(number),
                    str(number) if column == len(shown) - 1 else "",
                    preview(trace.documents[number - 1].content or ""),
                )
            )
            begun.add(line)
    columns = [
        "line",
        "number",
        "stage",
        "column",
        "place",
        "shade",
        "there",
        "dropped",
        "end",
        "fate",
        "left",
        "right",
    ]
    return pd.DataFrame(rows, columns=[*columns, "preview"])


def _evenly(numbers: Sequence[int], most: int) -> list[int]:
    if len(numbers) <= most:
        return list(numbers)
    return [numbers[index] for index in bins(len(numbers), most)[:-1].tolist()] if most > 0 else []


def finding(trace: Trace, listed: Sequence[Node]) -> str:
    """Say which stages change the order, and how many documents are dropped.

    :param trace: a run.
    :param listed: the nodes of its plan.
    :returns: one line.
    """
    names = labels(listed)
    movers = [names[run.name] for run in _shown(trace) if changes_order(run)]
    dropped = len(losses(trace))
    who = " and ".join(filter(None, (", ".join(movers[:-1]), movers[-1]))) if movers else "No stage"
    said = f"{who} {'change' if len(movers) > 1 else 'changes'} the order"
    return f"{said}; {plural(dropped, 'document')} {'is' if dropped == 1 else 'are'} dropped" if dropped else said


def changes_order(run: StageRun) -> bool:
    """Tell whether a stage puts the documents it keeps into another order; of two lists no order is the one before.

    :param run: a stage that ran.
    :returns: whether it does.
    """
    return run.reordered and run.slot is not Slot.GENERATE


def stages(trace: Trace, listed: Sequence[Node]) -> pd.DataFrame:
    """Make one row for each stage that ran.

    :param trace: a run.
    :param listed: the nodes of its plan.
    :returns: columns `stage`, `component`, `given`, `returned`, `dropped`, `added`, `order` in words, `milliseconds`,
        `loading` (seconds, missing where nothing was loaded), `name`.
    """
    names = labels(listed)
    rows = [
        (
            names[run.name],
            run.title,
            sum(map(len, run.inputs)),
            len(run.outputs),
            len(run.dropped),
            len(run.added),
            "changed" if changes_order(run) else "kept",
            1000 * run.seconds,
            run.loading_seconds if run.loading_seconds >= 0.01 else None,
            run.name,
        )
        for run in trace.stages
    ]
    columns = ["stage", "component", "given", "returned", "dropped", "added", "order", "milliseconds", "loading"]
    return pd.DataFrame(rows, columns=[*columns, "name"]).astype({"loading": "Float64"})


def dropped(trace: Trace, listed: Sequence[Node]) -> pd.DataFrame:
    """Make one row for each document that a stage dropped.

    :param trace: a run.
    :param listed: the nodes of its plan.
    :returns: columns `number`, `stage`, `why`, `place` (before it was dropped), `words`, `id`, `text` (shortened), in
        the order of the stages.
    """
    names = labels(listed)
    settings = {node.name: node.settings for node in listed}
    places = {run.name: {n: place for place, n in reversed(list(enumerate(run.entered, 1)))} for run in trace.stages}
    lost, rows = losses(trace), []
    for run in _shown(trace):
        numbers = [number for number, by in lost.items() if by is run]
        for number, why in zip(numbers, reasons(trace, run, numbers, settings[run.name]), strict=True):
            document = trace.documents[number - 1]
            text = document.content or ""
            place = places[run.name][number]
            rows.append((number, names[run.name], why, place, len(text.split()), document.id, preview(text, 160)))
    return pd.DataFrame(rows, columns=["number", "stage", "why", "place", "words", "id", "text"])


def journeys(trace: Trace, listed: Sequence[Node]) -> pd.DataFrame:
    """Make one row for each document, with its place after every stage.

    :param trace: a run.
    :param listed: the nodes of its plan.
    :returns: columns `number`, one for each stage that ran by its short name (missing where the document is not),
        `fate`, `id`, `text` (shortened).
    """
    names, lost = labels(listed), losses(trace)
    shown = _shown(trace)
    there = set(_reached(trace))
    numbers = range(1, len(trace.documents) + 1)
    frame = pd.DataFrame({"number": list(numbers)})
    for run in shown:
        places = {n: place for place, n in reversed(list(enumerate(run.outputs, 1)))}
        frame[names[run.name]] = pd.array([places.get(n) for n in numbers], dtype="Int64")
    ends = "in the prompt" if shown and shown[-1].slot is Slot.PROMPT else "in the last stage that ran"
    fates = {n: f"dropped by {names[run.name]}" for n, run in lost.items()}
    frame["fate"] = [fates.get(n, ends if n in there else "") for n in numbers]
    frame["id"] = [document.id for document in trace.documents]
    frame["text"] = [preview(document.content or "", 160) for document in trace.documents]
    return frame


def passages(trace: Trace, characters: int) -> list[Passage]:
    """List the pieces of the prompt that are documents, for tinting.

    :param trace: a run that reached the prompt.
    :param characters: how much of the prompt is shown.
    :returns: the pieces in the order of the prompt, the last one cut to what is shown.
    """
    given = next(run.inputs[0] for run in trace.stages if run.slot is Slot.PROMPT)
    shade = shades(trace)
    return [
        Passage(span.start, min(span.end, characters), f"document {number}", shade.get(number, 1.0))
        for span in (trace.prompt.spans if trace.prompt else ())
        for number in (given[span.index],)
        if span.start < characters
    ]
