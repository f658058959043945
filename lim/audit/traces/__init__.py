"""Exported traces audited: in which requests did the prompt keep the intended order, and since when not.

Reads spans of OpenInference (Phoenix; nested, flat, or as OTLP), of OpenTelemetry's conventions for generative AI, of
Haystack's own tracing (as spans or as the log of its `LoggingTracer`), Langfuse's traces and observations, and
LangSmith's runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import log
from pathlib import Path
from typing import Any, BinaryIO

from lim.audit.check import Expected
from lim.audit.traces.pair import Exchange, Request, requests
from lim.audit.traces.stream import Progress, Tally, records

__all__ = ["Exchange", "Progress", "Request", "Tally", "TraceAudit", "audit_traces", "iter_requests"]

_EVIDENCE = 3.0  # natural logarithm of how much likelier a change is than none, to be called one


@dataclass(frozen=True, slots=True)
class TraceAudit:
    """The requests of a trace, and when they began to lose the order.

    :param requests: every audited LLM call, by time where the export has times; without documents and reports.
    :param first_lost: the first that does not hold the order, complete; None if all do.
    :param change: the 0-based index of the request from which on the order is lost more often than before (a deploy,
        most likely); None if no such point stands out, or from the first request on.
    :param tally: what was read, and what could not be.
    """

    requests: tuple[Request, ...]
    first_lost: Request | None
    change: int | None
    tally: Tally

    @property
    def kept(self) -> int:
        """How many requests kept the order."""
        return sum(request.holds for request in self.requests)

    @property
    def share(self) -> float | None:
        """The share of the requests that kept the order, 0 to 1; None without requests."""
        return self.kept / len(self.requests) if self.requests else None

    @property
    def began(self) -> datetime | None:
        """When the requests began to lose the order: the time of the request at `change`."""
        return None if self.change is None else self.requests[self.change].exchange.started

    def table(self) -> list[dict[str, Any]]:
        """Put the requests into plain values.

        :returns: one dict a request, without texts: JSON-ready.
        """
        return [
            {
                "trace": request.exchange.trace,
                "started": request.exchange.started.isoformat() if request.exchange.started else None,
                "ranker": request.exchange.ranker,
                "llm": request.exchange.llm,
                "documents": request.documents,
                "found": request.found,
                "holds": request.holds,
                "order": request.order,
                "tau": request.tau,
                "first_departure": request.first_departure,
                "changed_by": request.changed_by,
                "culprit": request.culprit,
            }
            for request in self.requests
        ]


def iter_requests(
    source: bytes | Path | BinaryIO,
    *,
    expected: Expected | str = Expected.AS_GIVEN,
    progress: Progress | None = None,
    tally: Tally | None = None,
) -> Iterator[Request]:
    """Audit the requests of an exported trace one by one, without holding more of the file than is needed for that.

    In each request the documents are those of the last step that arranges (a LostInTheMiddleRanker, a
    LongContextReorder); where there is none, of the last ranker, else of the last step that gave any. They are paired
    with the first LLM call behind it that holds any of them.

    :param source: the export as bytes, as a path, or as a file open for reading bytes; may be gzipped.
    :param expected: `as given` if that step gave the order the prompt should hold; `arranged` if the arrangement of
        its documents was to follow.
    :param progress: called now and then with the bytes read and the bytes there are.
    :param tally: told what was read, and what could not be.
    :returns: the requests, in the order in which the export completes them.
    :raises LoadError: if the export is neither JSON nor Haystack's log.
    :raises LimitError: if one record of it is too large.
    """
    count = Tally() if tally is None else tally
    return requests(records(source, count, progress), count, expected)


def audit_traces(
    source: bytes | Path | BinaryIO,
    *,
    expected: Expected | str = Expected.AS_GIVEN,
    progress: Progress | None = None,
) -> TraceAudit:
    """Audit the requests of an exported trace, and find out when they began to lose the order.

    Memory grows only by a row a request, see `iter_requests`.

    :param source: the export as bytes, as a path, or as a file open for reading bytes; may be gzipped.
    :param expected: see `iter_requests`.
    :param progress: called now and then with the bytes read and the bytes there are.
    :returns: the table of the requests, the first that lost the order, and when that began.
    :raises LoadError: if the export is neither JSON nor Haystack's log.
    :raises LimitError: if one record of it is too large.
    """
    tally = Tally()
    rows: list[Request] = []
    first: Request | None = None
    for request in iter_requests(source, expected=expected, progress=progress, tally=tally):
        if not request.holds and (first is None or _before(request, first)):
            first = request
        rows.append(_row(request))
    if all(row.exchange.started is not None for row in rows):
        rows.sort(key=lambda row: row.exchange.started or datetime.min)  # noqa: DTZ901 # never taken
    return TraceAudit(tuple(rows), first, _change([row.holds for row in rows]), tally)


def _row(request: Request) -> Request:
    return replace(request, exchange=replace(request.exchange, documents=(), prompt=None, later=()), report=None)


def _before(request: Request, other: Request) -> bool:
    mine, theirs = request.exchange.started, other.exchange.started
    return mine is not None and theirs is not None and mine < theirs


def _change(holds: Sequence[bool]) -> int | None:
    """Find the request from which on the order is lost more often, by the likelihood of one change against none."""
    count, lost = len(holds), holds.count(False)
    best: tuple[float, int] | None = None
    before = 0
    for index in range(1, count):
        before += not holds[index - 1]
        after = lost - before
        if holds[index] or before / index >= after / (count - index):
            continue
        gain = _likelihood(before, index) + _likelihood(after, count - index) - _likelihood(lost, count)
        if best is None or gain > best[0]:
            best = (gain, index)
    return best[1] if best is not None and best[0] >= _EVIDENCE else None


def _likelihood(lost: int, count: int) -> float:
    return sum(part * log(part / count) for part in (lost, count - lost) if part)
