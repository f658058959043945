"""Steps to requests: the documents that were meant for an LLM call, and the messages it got."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from haystack import Document

from lim.audit.check import Expected, audit
from lim.audit.model import AuditReport, PromptError
from lim.audit.traces.spans import Kind, Step, is_whole, steps
from lim.audit.traces.stream import Tally
from lim.errors import LimError

MAX_OPEN = 500
"""Requests whose steps may be interleaved in an export: the one longest without a new step is audited when more are."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An LLM call with the documents that were meant for it.

    :param trace: what tells the request from others.
    :param started: when the request began.
    :param ranker: the step that gave the documents.
    :param llm: the LLM call.
    :param documents: the documents in the order that step gave them.
    :param prompt: the messages the LLM got.
    :param later: the steps between the two that gave documents, with these.
    """

    trace: str
    started: datetime | None
    ranker: str
    llm: str
    documents: tuple[Document, ...]
    prompt: Any
    later: tuple[tuple[str, tuple[Document, ...]], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One audited LLM call.

    :param exchange: the call; without its documents and messages where only the table is kept.
    :param holds: whether the prompt holds the documents in the intended order, see `AuditReport.holds`.
    :param order: the order it holds, in words.
    :param tau: Kendall's tau to the intended order.
    :param first_departure: the 1-based position at which it departs from it.
    :param documents: how many documents were meant for the prompt.
    :param found: how many of them it holds.
    :param changed_by: the first step behind the ranker that gave the documents in another order, empty if none did.
    :param culprit: what likely happened, in words.
    :param report: the whole report, None where only the table is kept.
    """

    exchange: Exchange
    holds: bool
    order: str
    tau: float | None
    first_departure: int | None
    documents: int
    found: int
    changed_by: str
    culprit: str
    report: AuditReport | None = field(repr=False)


def requests(records: Iterable[Any], tally: Tally, expected: Expected | str = Expected.AS_GIVEN) -> Iterator[Request]:
    """Audit every LLM call of a trace for which documents were retrieved.

    :param records: the records of an export, in any order within a request.
    :param tally: told how many requests have no such call.
    :param expected: what `audit` takes: `as given` if the last ranker of each request gave the intended order.
    :returns: the calls, each as soon as its request is complete, at the latest when `MAX_OPEN` others are open.
    """
    pending: OrderedDict[str, list[Step]] = OrderedDict()
    for number, record in enumerate(records):
        if is_whole(record):
            yield from _audited(list(steps(record)), tally, expected)
            continue
        for step in steps(record):
            key = step.trace or f"record {number}"
            pending.setdefault(key, []).append(step)
            pending.move_to_end(key)
        while len(pending) > MAX_OPEN:
            yield from _audited(pending.popitem(last=False)[1], tally, expected)
    for each in pending.values():
        yield from _audited(each, tally, expected)


def _audited(request: Sequence[Step], tally: Tally, expected: Expected | str) -> Iterator[Request]:
    ordered = list(request)
    if all(step.started is not None for step in ordered):
        ordered.sort(key=lambda step: (step.started, step.kind is Kind.LLM))
    elif any(step.kind is Kind.LLM for step in ordered):
        # Without times an LLM call belongs behind the documents.
        ordered.sort(key=lambda step: step.kind is Kind.LLM)
    started = next((step.started for step in ordered if step.started), None)
    gathered: list[Step] = []
    waiting: Request | None = None
    yielded = False
    for step in ordered:
        if step.kind is not Kind.LLM:
            gathered.append(step)
            continue
        if not gathered:
            continue
        try:
            audited = _audit(gathered, step, started, expected)
        except LimError:
            continue  # the call got something that is no prompt
        if audited.found:
            yield audited
            yielded, gathered, waiting = True, [], None
        else:
            # Calls that rewrite the question or grade the documents come before the one the documents are for.
            waiting = waiting or audited
    if waiting is not None:
        yield waiting
    elif not yielded:
        tally.unpaired += 1


def _audit(gathered: Sequence[Step], call: Step, started: datetime | None, expected: Expected | str) -> Request:
    # Without a ranker the last step that gave documents has the say: it may have joined those of several retrievers.
    kinds = [step.kind if step.kind >= Kind.RANKER else Kind.OTHER for step in gathered]
    best = max(range(len(gathered)), key=lambda index: (kinds[index], index))
    ranker = gathered[best]
    documents = ranker.documents or ()
    later = tuple((step.name, step.documents or ()) for step in gathered[best + 1 :])
    exchange = Exchange(ranker.trace, started, ranker.name, call.name, documents, call.messages, later)
    report = audit(_prompt(call.messages), documents, expected=expected)
    changed_by = "" if report.holds else _changed_by(exchange)
    said = f"{changed_by} gave the documents in another order. {report.culprit}" if changed_by else report.culprit
    return Request(
        exchange,
        report.holds,
        report.order.value,
        report.tau,
        report.first_departure,
        len(report.intended),
        len(report.actual),
        changed_by,
        said,
        report,
    )


def _prompt(messages: Any) -> Any:  # noqa: ANN401 # what an LLM call got
    if isinstance(messages, str | list | dict):
        return messages
    raise PromptError(
        f"The LLM call got a value of type {type(messages).__name__} instead of messages. Export the call's input."
    )


def _changed_by(exchange: Exchange) -> str:
    """Find the first step that gave the same documents, or some of them, in another order."""
    place = {document.content: index for index, document in enumerate(exchange.documents)}
    for name, documents in exchange.later:
        known = [place[document.content] for document in documents if document.content in place]
        if known != sorted(known):
            return name
    return ""
