"""Spans of different tools in one form: which documents a step gave, which messages an LLM call got."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

from haystack import Document

from lim.errors import LimError
from lim.loading import Order, Reading
from lim.loading.containers.source import Source
from lim.loading.documents import build
from lim.loading.notes import Notes
from lim.loading.plan import make_plan
from lim.loading.shapes.find import find_listings
from lim.loading.shapes.layouts import unflatten

MAX_NESTING = 50
"""Runs within one another that are looked into."""

_ARRANGER = re.compile(r"lost.?in.?the.?middle|\blitm\b|(?:context|chunk).?re-?order|reorder.?runner", re.IGNORECASE)
_RANKER = re.compile(r"rank", re.IGNORECASE)
_RETRIEVER = re.compile(r"retriev|search", re.IGNORECASE)
_LLM = re.compile(r"generator|\bllm\b|\bagent\b|generation|chat_?model", re.IGNORECASE)
_DOCUMENTS = ("documents", "output_documents", "docs", "output", "result", "results", "context", "nodes")
_LISTS = (
    "resourceSpans",
    "scopeSpans",
    "instrumentationLibrarySpans",
    "batches",
    "data",
    "spans",
    "runs",
    "traces",
    "observations",
    "results",
    "items",
    "hits",
)
_MESSAGES = ("messages", "input_messages", "prompts", "prompt", "input", "contents")
_LISTED = Reading(order=Order.LISTED)


class Kind(IntEnum):
    """What a step is, in the order in which its documents are taken for the intended ones."""

    OTHER = 0
    RETRIEVER = 1
    RANKER = 2
    ARRANGER = 3
    LLM = 4


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a request that gave documents or called an LLM.

    :param trace: what tells its request from others.
    :param name: its name, with its type where both are known.
    :param kind: what it is.
    :param started: when it began, None where the export does not say.
    :param documents: the documents it gave, in order; None for an LLM call.
    :param messages: the messages an LLM call got; None for other steps.
    """

    trace: str
    name: str
    kind: Kind
    started: datetime | None
    documents: tuple[Document, ...] | None = None
    messages: Any = None


def is_whole(record: object) -> bool:
    """Tell a record that holds a request with all of its steps.

    :param record: a record of an export.
    :returns: whether no other record belongs to the same request.
    """
    return isinstance(record, Mapping) and bool(record.get("observations") or record.get("child_runs"))


def steps(record: object, depth: int = 0) -> Iterator[Step]:
    """Find the steps a record of an export holds.

    :param record: a span, a run with its child runs, a trace with its observations, a batch of spans (OTLP), or a list.
    :param depth: how many records it lies in.
    :returns: the steps that gave documents or called an LLM, in the record's order.
    """
    if depth > MAX_NESTING:
        return
    if isinstance(record, Mapping) and _is_span(record):
        step = _step(record)
        if step is not None:
            yield step
    for inner in _inside(record):
        yield from steps(inner, depth + 1)


def _inside(record: object) -> Iterable[Any]:
    """List the records within a record, each with the name of the request it belongs to."""
    if isinstance(record, list):
        return record
    if not isinstance(record, Mapping):
        return ()
    trace = record.get("trace_id") or record.get("id")
    for name in ("observations", "child_runs"):  # Langfuse, LangSmith
        if isinstance(record.get(name), list):
            return [{"trace_id": trace, **inner} for inner in record[name] if isinstance(inner, Mapping)]
    if _is_span(record):
        return ()
    return next((record[name] for name in _LISTS if isinstance(record.get(name), list)), ())


def _is_span(record: Mapping[str, Any]) -> bool:
    if "observations" in record or not record.keys().isdisjoint(("scopeSpans", "instrumentationLibrarySpans")):
        return False
    if not record.keys().isdisjoint(("attributes", "tags", "run_type", "span_kind", "spanId", "span_id", "context")):
        return True
    return any(key.startswith(("attributes.", "context.")) for key in record) or (
        "type" in record and not record.keys().isdisjoint(("input", "output"))
    )


def _step(record: Mapping[str, Any]) -> Step | None:
    attributes = _attributes(record)
    component = _text(attributes.get("haystack.component.name"))
    label = _text(attributes.get("haystack.component.type"))
    name = component or _text(record.get("name")) or _text(record.get("operation_name"))
    shown = f"{name} ({label})" if label and label != name else name
    kind = _kind(record, attributes, label or name)
    trace, started = _trace(record), _started(record)
    if kind is Kind.LLM:
        messages = _messages(record, attributes)
        return None if messages is None else Step(trace, shown, kind, started, messages=messages)
    documents, hint = _documents(record, attributes)
    if not documents:
        return None
    return Step(trace, shown, max(kind, hint), started, documents=documents)


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a span's attributes to dotted names, with lists as lists."""
    given = record.get("attributes", record.get("tags"))
    if isinstance(given, str):
        given = _parsed(given)
    if isinstance(given, list):  # OTLP
        given = {each["key"]: _otlp(each.get("value")) for each in given if isinstance(each, Mapping) and "key" in each}
    flat: dict[str, Any] = {}
    if isinstance(given, Mapping):
        _flatten(given, "", flat, 0)
    for key, value in record.items():
        if key.startswith("attributes."):
            _flatten({key.removeprefix("attributes."): value}, "", flat, 0)
    return unflatten(flat)


def _flatten(value: Mapping[str, Any], prefix: str, flat: dict[str, Any], depth: int) -> None:
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping) and depth < 5 and name not in ("input.value", "output.value"):
            _flatten(inner, f"{name}.", flat, depth + 1)
        flat[name] = inner


def _otlp(value: Any) -> Any:  # noqa: ANN401 # any plain value
    if not isinstance(value, Mapping):
        return value
    for name in ("stringValue", "boolValue", "doubleValue", "intValue"):
        if name in value:
            return value[name]
    if isinstance(array := value.get("arrayValue"), Mapping):
        return [_otlp(item) for item in array.get("values") or ()]
    if isinstance(pairs := value.get("kvlistValue"), Mapping):
        return {each.get("key", ""): _otlp(each.get("value")) for each in pairs.get("values") or ()}
    return None


def _parsed(value: Any) -> Any:  # noqa: ANN401 # any plain value
    """Read a text that is JSON of a list or an object."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _trace(record: Mapping[str, Any]) -> str:
    context = record.get("context")
    inner = context.get("trace_id") if isinstance(context, Mapping) else None
    for value in (
        inner,
        *(record.get(name) for name in ("context.trace_id", "trace_id", "traceId", "session_id", "id")),
    ):
        if isinstance(value, str | int) and value != "":
            return str(value)
    return ""


def _started(record: Mapping[str, Any]) -> datetime | None:
    for name in ("start_time", "startTime", "startTimeUnixNano", "start", "timestamp", "started_at"):
        value = record.get(name)
        if isinstance(value, str) and not value.isdigit():
            try:
                moment = datetime.fromisoformat(value.strip())
            except ValueError:
                continue
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            seconds = float(value)
            if not math.isfinite(seconds):
                continue
            while seconds > 1e11:  # milliseconds, microseconds, nanoseconds
                seconds /= 1000
            try:
                return datetime.fromtimestamp(seconds, UTC)
            except (ValueError, OverflowError, OSError):
                continue
    return None


def _kind(record: Mapping[str, Any], attributes: Mapping[str, Any], label: str) -> Kind:
    told = " ".join(
        _text(value)
        for value in (
            attributes.get("openinference.span.kind"),
            record.get("span_kind"),
            record.get("run_type"),
            record.get("type"),
        )
    ).upper()
    if _ARRANGER.search(f"{label} {_text(record.get('name'))}"):
        return Kind.ARRANGER
    if {"LLM", "GENERATION"} & set(told.split()) or "llm.input_messages" in attributes:
        return Kind.LLM
    if any(name.startswith(("gen_ai.prompt", "gen_ai.input.messages")) for name in attributes):
        return Kind.LLM
    if "RERANKER" in told:
        return Kind.RANKER
    if "RETRIEVER" in told:
        return Kind.RANKER if _RANKER.search(label) else Kind.RETRIEVER
    for kind, pattern in ((Kind.RANKER, _RANKER), (Kind.RETRIEVER, _RETRIEVER)):
        if pattern.search(label):
            return kind
    return Kind.LLM if "haystack.component.type" in attributes and _LLM.search(label) else Kind.OTHER


def _messages(record: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 # messages or a string
    for name in (
        "llm.input_messages",
        "gen_ai.input.messages",
        "gen_ai.prompt",
        "llm.prompts",
        "haystack.component.input",
        "input.value",
    ):
        if attributes.get(name):
            return _unwrapped(_parsed(attributes[name]))
    for name in ("inputs", "input"):
        if record.get(name):
            return _unwrapped(_parsed(record[name]))
    return None


def _unwrapped(value: Any) -> Any:  # noqa: ANN401 # any plain value
    """Find the messages in what an LLM call got."""
    for _ in range(4):
        if isinstance(value, Mapping) and "role" not in value:
            name = next((each for each in _MESSAGES if value.get(each)), None)
            if name is None:
                return value
            value = _parsed(value[name])
        elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
            value = value[0]  # LangChain sends batches of one
        else:
            break
    return value


def _documents(record: Mapping[str, Any], attributes: Mapping[str, Any]) -> tuple[tuple[Document, ...], Kind]:
    for name, kind in (
        ("reranker.output_documents", Kind.RANKER),
        ("retrieval.documents", Kind.RETRIEVER),
        ("haystack.component.output", Kind.OTHER),
        ("output.value", Kind.OTHER),
    ):
        if attributes.get(name) and (documents := _built(_parsed(attributes[name]))):
            return documents, kind
    for name in ("outputs", "output"):
        if record.get(name) and (documents := _built(_parsed(record[name]))):
            return documents, Kind.OTHER
    return (), Kind.OTHER


def _built(value: Any) -> tuple[Document, ...]:  # noqa: ANN401 # any plain value
    """Make documents of what a step gave, in the order listed; none if it gave something else."""
    for _ in range(3):
        if not isinstance(value, Mapping):
            break
        value = _parsed(next((value[name] for name in _DOCUMENTS if value.get(name)), None))
    if not isinstance(value, list) or not any(isinstance(item, Mapping) for item in value):
        return ()
    items = [_document(item) for item in value]
    try:
        found = find_listings(Source("trace", {"documents": items})).found
        if not found:
            return ()
        notes = Notes()
        return tuple(build(found[0], make_plan(found[:1], _LISTED, notes), _LISTED, notes).documents)
    except LimError:
        return ()


def _document(item: Any) -> Any:  # noqa: ANN401 # any plain value
    """Unwrap LangChain's serialised documents."""
    if isinstance(item, Mapping) and isinstance(kwargs := item.get("kwargs"), Mapping) and "page_content" in kwargs:
        return kwargs
    return item
