"""The audit's frames and sentences: one prompt's documents and orders, and the requests of a trace."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from haystack import Document

from lim.audit import AuditReport, KnownOrder, Match, Sighting, Status, two_places
from lim.audit.traces import Request, TraceAudit
from lim.frames.lab import MAX_MARKS, bins, preview
from lim.frames.passages import Passage
from lim.story import plural

INTENDED, ACTUAL = "Intended", "In the prompt"

IN_ORDER = {
    KnownOrder.RELEVANCE: "in relevance order",
    KnownOrder.SCORE: "by descending scores",
    KnownOrder.SCORE_ASCENDING: "by ascending scores",
    KnownOrder.REVERSED: "in the intended order upside down",
    KnownOrder.RELEVANCE_REVERSED: "with the least relevant first",
    KnownOrder.ARRANGED_TWICE: "arranged twice",
    KnownOrder.REARRANGED: "arranged among themselves",
    KnownOrder.LANGCHAIN: "in LangChain’s order",
    KnownOrder.LLAMAINDEX: "in LlamaIndex’s order",
    KnownOrder.SORTED: "sorted by a field",
    KnownOrder.NONE: "in no known order",
}

STATUS_WORDS = {
    Status.FOUND: "in the prompt",
    Status.TRUNCATED: "in the prompt, in part",
    Status.REPEATED: "in the prompt {copies} times",
    Status.MISSING: "missing",
    Status.UNEXPECTED: "in the prompt, not expected",
    Status.LEFT_OUT: "left out, as intended",
    Status.EMPTY: "has no text to find",
}

MATCH_WORDS = {
    Match.EXACT: "character for character",
    Match.WHITESPACE: "but for whitespace",
    Match.FUZZY: "similar",
}


def verdict(report: AuditReport) -> str:
    """Say whether a prompt holds the documents as intended, and if not, in what way.

    :param report: an audit.
    :returns: one sentence, plain text without a person's words.
    """
    expected, found = len(report.intended), len(report.actual)
    unexpected = len(report.numbers(Status.UNEXPECTED))
    if not expected and not unexpected:
        return "No document has a text to look for"
    if not found and expected:
        return (
            f"The prompt holds none of the {expected:,} documents" if expected > 1 else "The prompt lacks the document"
        )
    troubles = list(_troubles(report))
    if report.order is not KnownOrder.INTENDED:
        also = f"; {_listed(troubles)}" if troubles else ""
        return f"The order was lost: the prompt holds its {plural(found, 'document')} {IN_ORDER[report.order]}{also}"
    if not report.holds:
        return f"The order is intact, but {_listed(troubles)}"
    cut = f"; {_listed(troubles)}" if troubles else ""
    if expected == 1:
        return f"The prompt holds the only document{cut}"
    return f"The prompt holds all {plural(expected, 'document')} in the intended order{cut}"


def _troubles(report: AuditReport) -> Iterator[str]:
    expected = len(report.intended)
    if missing := report.numbers(Status.MISSING):
        yield f"{len(missing):,} of {plural(expected, 'document')} {_verb(len(missing))} missing"
    if cut := [each for each in report.sightings if each.spans and each.surviving < 1]:
        yield f"{_which([each.number for each in cut])} {_verb(len(cut))} there only in part"
    if repeated := report.numbers(Status.REPEATED):
        yield f"{_which(repeated)} {'stands' if len(repeated) == 1 else 'stand'} in the prompt more than once"
    if unexpected := report.numbers(Status.UNEXPECTED):
        yield f"{_which(unexpected)} should not be in the prompt"


def _which(numbers: tuple[int, ...] | list[int]) -> str:
    return f"document {numbers[0]:,}" if len(numbers) == 1 else plural(len(numbers), "document")


def _verb(count: int) -> str:
    return "is" if count == 1 else "are"


def _listed(parts: list[str]) -> str:
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else "".join(parts)


def shades(report: AuditReport) -> dict[int, float]:
    """Give each document its place on the colour scale of relevance.

    :param report: an audit.
    :returns: by number: 0 for the most relevant expected document, 1 for the least relevant and for those beyond it.
    """
    expected = set(report.intended)
    ranks = sorted(each.rank for each in report.sightings if each.number in expected and each.rank is not None)
    place = {rank: index / max(len(ranks) - 1, 1) for index, rank in enumerate(ranks)}
    return {each.number: place.get(each.rank or 0, 1.0) for each in report.sightings}


def status(sighting: Sighting) -> str:
    """Say what a prompt holds of a document.

    :param sighting: the document's.
    :returns: a few words.
    """
    words = STATUS_WORDS[sighting.status].format(copies=f"{sighting.copies:,}")
    if sighting.status is not Status.TRUNCATED and sighting.spans and sighting.surviving < 1:
        words += ", in part"
    return words


def moved(report: AuditReport) -> tuple[int, int]:
    """Count the passages of a prompt, each copy of a document one.

    :param report: an audit.
    :returns: how many stand elsewhere than intended, and how many there are.
    """
    places = _places(report)
    intended = {each.number: each.intended for each in report.sightings}
    return sum(bool(nth) or place != intended[number] for (number, nth), place in places.items()), len(places)


def _places(report: AuditReport) -> dict[tuple[int, int], int]:
    copies = sorted((span.start, each.number, nth) for each in report.sightings for nth, span in enumerate(each.spans))
    return {(number, nth): place for place, (_, number, nth) in enumerate(copies, 1)}


def slope(report: AuditReport) -> pd.DataFrame:
    """Make the rows of the slope from the intended order to the prompt's, a copy of a document a line of its own.

    :param report: an audit.
    :returns: columns `line` (what one line joins), `number`, `side` (`INTENDED` or `ACTUAL`), `place` (1-based; in the
        prompt each copy has its own), `shade`, `there` (whether the prompt holds it), `straight` (whether it stands
        where it should), `label`, `status`, `preview`. At most `MAX_MARKS` documents, evenly chosen.
    """
    shade = shades(report)
    places = _places(report)
    shown = [each for each in report.sightings if each.intended or each.spans]
    if len(shown) > MAX_MARKS:
        shown = [shown[index] for index in bins(len(shown))[:-1].tolist()]
    rows = []
    for each in shown:
        there = bool(each.spans)
        common = (shade[each.number], there, status(each), preview(each.document.content or ""))
        for nth in range(max(each.copies, 1)):
            line, place = f"{each.number}.{nth}", places.get((each.number, nth))
            straight = place == each.intended and not nth
            if each.intended is not None:
                label = f"{each.number}" if there else f"{each.number} missing"
                rows.append((line, each.number, INTENDED, each.intended, straight, label, *common))
            if place is not None:
                note = " again" if nth else " in part" if each.surviving < 1 else ""
                rows.append((line, each.number, ACTUAL, place, straight, f"{each.number}{note}", *common))
    columns = ["line", "number", "side", "place", "straight", "label", "shade", "there", "status", "preview"]
    return pd.DataFrame(rows, columns=columns)


def passages(report: AuditReport, characters: int) -> list[Passage]:
    """List the pieces of a prompt that are documents, for tinting.

    :param report: an audit.
    :param characters: how much of the prompt is shown.
    :returns: the pieces in the order of the prompt, the last one cut to what is shown.
    """
    shade = shades(report)
    found = [
        Passage(
            span.start,
            min(span.end, characters),
            f"document {each.number}{', again' if nth else ''}",
            shade[each.number],
        )
        for each in report.sightings
        for nth, span in enumerate(each.spans)
        if span.start < characters
    ]
    return sorted(found, key=lambda passage: passage.start)


def documents(report: AuditReport) -> pd.DataFrame:
    """Make one row for every document, in the order given.

    :param report: an audit.
    :returns: columns `number`, `rank`, `status` in words, `intended`, `position`, `match` in words, `survives`
        (percent), `copies`, `message` (only where the prompt has several), `id`, `text` (shortened).
    """
    frame = pd.DataFrame(
        {
            "number": [each.number for each in report.sightings],
            "rank": pd.array([each.rank for each in report.sightings], dtype="Int64"),
            "status": [status(each) for each in report.sightings],
            "intended": pd.array([each.intended for each in report.sightings], dtype="Int64"),
            "position": pd.array([each.position for each in report.sightings], dtype="Int64"),
            "match": [_match(each) for each in report.sightings],
            "survives": [math.floor(100 * each.surviving) for each in report.sightings],  # never 100 of a part
        }
    )
    if len(report.segments) > 1:
        frame["message"] = pd.array([each.message for each in report.sightings], dtype="Int64")
    frame["id"] = [each.document.id for each in report.sightings]
    frame["text"] = [preview(each.document.content or "", 160) for each in report.sightings]
    return frame


def _match(sighting: Sighting) -> str:
    if sighting.match is None:
        return ""
    words = MATCH_WORDS[sighting.match]
    if sighting.match is Match.FUZZY and sighting.similarity is not None:
        words = f"{math.floor(sighting.similarity)}% alike" if sighting.similarity < 100 else "what is there is alike"
    return words if sighting.encoding in ("plain", None) else f"{words}, as {sighting.encoding}"


def orders(report: AuditReport) -> pd.DataFrame:
    """Make one row for every known order the prompt's was compared with.

    :param report: an audit.
    :returns: columns `order`, `tau` (missing for fewer than two documents), `agrees` in words.
    """
    return pd.DataFrame(
        {
            "order": [each.order.value + (f": {each.field}" if each.field else "") for each in report.comparisons],
            "tau": pd.array([_unsigned(each.tau) for each in report.comparisons], dtype="Float64"),
            "agrees": [
                "the same" if each.first_departure is None else f"differs from position {each.first_departure:,} on"
                for each in report.comparisons
            ],
        }
    )


def _unsigned(tau: float | None) -> float | None:
    """Leave out the sign of what a table would show as -0.00."""
    return 0.0 if tau is not None and two_places(tau) == "0.00" else tau


def ranked(report: AuditReport) -> list[Document]:
    """List the documents that are to be arranged, most relevant first, for a test of one's own pipeline.

    :param report: an audit.
    :returns: the documents that have a relevance rank.
    """
    known = [(each.rank, each.document) for each in report.sightings if each.rank is not None]
    return [document for _, document in sorted(known, key=lambda pair: pair[0])]


def trace_verdict(trace: TraceAudit) -> str:
    """Say how many requests kept the order, and since when fewer do.

    :param trace: the audit of a trace.
    :returns: one sentence, plain text without a person's words.
    """
    count = len(trace.requests)
    if not count:
        return "No request in this trace has both documents and an LLM call"
    if trace.kept == count:
        return f"All {plural(count, 'request')} kept the intended order" if count > 1 else "The only request kept it"
    said = f"{trace.kept:,} of {plural(count, 'request')} kept the intended order"
    if trace.change is not None:
        after = trace.requests[trace.change :]
        most = sum(not request.holds for request in after) > len(after) / 2
        said += f"; {'most' if most else 'more'} have lost it since request {trace.change + 1:,}"
    return said


def first_lost(trace: TraceAudit) -> int | None:
    """Find the first request that lost the order.

    :param trace: the audit of a trace.
    :returns: its 1-based number, None if all kept it.
    """
    return next((number for number, request in enumerate(trace.requests, 1) if not request.holds), None)


def outcomes(trace: TraceAudit) -> pd.DataFrame:
    """Make the bars of a trace: for each request (or run of requests) the share that kept the order, and that lost it.

    :param trace: the audit of a trace with at least one request.
    :returns: columns `outcome` ("kept" or "lost"), `first` and `last` (1-based), `name`, `from` and `to` (the bar's
        edges), `share` (below 0 for lost), `count`, `started`.
    """
    holds = np.asarray([request.holds for request in trace.requests], dtype=int)
    edges = bins(len(holds), cuts=() if trace.change is None else (trace.change,))
    rows = []
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        name = f"{start + 1:,}" if stop - start == 1 else f"{start + 1:,}–{stop:,}"
        kept = int(holds[start:stop].sum())
        for outcome, count, sign in (("kept", kept, 1), ("lost", stop - start - kept, -1)):
            if count:
                share = sign * count / (stop - start)
                bar = (start + 0.5, stop + 0.5, share, count, _time(trace.requests[start]))
                rows.append((outcome, start + 1, stop, name, *bar))
    columns = ["outcome", "first", "last", "name", "from", "to", "share", "count", "started"]
    return pd.DataFrame(rows, columns=columns)


def requests(trace: TraceAudit) -> pd.DataFrame:
    """Make one row for each request of a trace.

    :param trace: the audit of a trace.
    :returns: columns `number`, `started`, `kept` in words, `order`, `tau`, `found`, `documents`, `changed_by`,
        `ranker`, `llm`, `trace`.
    """
    rows = [
        (
            number,
            _time(request),
            "kept" if request.holds else "lost",
            request.order,
            _unsigned(request.tau),
            request.found,
            request.documents,
            request.changed_by,
            request.exchange.ranker,
            request.exchange.llm,
            request.exchange.trace,
        )
        for number, request in enumerate(trace.requests, 1)
    ]
    columns = ["number", "started", "kept", "order", "tau", "found", "documents", "changed_by", "ranker", "llm"]
    return pd.DataFrame(rows, columns=[*columns, "trace"]).astype({"tau": "Float64"})


def _time(request: Request) -> str:
    started = request.exchange.started
    return f"{started:%Y-%m-%d %H:%M:%S}" if started else ""
