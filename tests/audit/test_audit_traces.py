"""Exported traces of every tool: documents and LLM calls paired, the first loss and its beginning found."""

import gzip
import io
import json
import logging
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, tracing
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.dataclasses import ChatMessage
from haystack.tracing.logging_tracer import LoggingTracer
from hypothesis import given, settings
from hypothesis import strategies as st

from lim import LimError, LoadError, arrange
from lim.audit.traces import TraceAudit, audit_traces, iter_requests
from lim.errors import LimitError

START = datetime(2025, 5, 5, 8, tzinfo=UTC)
SAMPLES = Path(__file__).parents[2] / "sample_data" / "audit"


def ranked(request: int, count: int = 5) -> list[Document]:
    return [
        Document(id=f"{request}-{n}", content=f"Passage {n} of request {request} on the tide.", score=1 - n / 10)
        for n in range(count)
    ]


def prompt_of(documents: Sequence[Document]) -> str:
    return "Answer from these:\n" + "\n".join(f"[{n}] {d.content}" for n, d in enumerate(documents, 1))


def stamp(request: int, step: int) -> str:
    return (START + timedelta(minutes=request, seconds=step)).isoformat().replace("+00:00", "Z")


Spans = Callable[[int, list[Document], list[Document], str], list[dict[str, Any]]]


def openinference_flat(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    def documents(key: str, given: list[Document]) -> dict[str, Any]:
        return {
            f"{key}.{n}.document.{name}": value
            for n, document in enumerate(given)
            for name, value in (("content", document.content), ("id", document.id), ("score", document.score))
        }

    return [
        _span(request, 1, "InMemoryBM25Retriever", "RETRIEVER", documents("retrieval.documents", retrieved)),
        _span(request, 2, "LostInTheMiddleRanker", "RERANKER", documents("reranker.output_documents", arranged)),
        _span(
            request,
            3,
            "ChatCompletion",
            "LLM",
            {
                "llm.input_messages.0.message.role": "system",
                "llm.input_messages.0.message.content": "Answer.",
                "llm.input_messages.1.message.role": "user",
                "llm.input_messages.1.message.contents.0.message_content.type": "text",
                "llm.input_messages.1.message.contents.0.message_content.text": prompt,
            },
        ),
    ]


def openinference_nested(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    def documents(given: list[Document]) -> list[Any]:
        return [{"document": {"content": d.content, "id": d.id, "score": d.score}} for d in given]

    return [
        _span(
            request, 3, "llm", "LLM", {"llm": {"input_messages": [{"message": {"role": "user", "content": prompt}}]}}
        ),
        _span(request, 1, "retriever", "RETRIEVER", {"retrieval": {"documents": documents(retrieved)}}),
        _span(request, 2, "litm", "RERANKER", {"reranker": {"output_documents": documents(arranged)}}),
    ]


def phoenix_table(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    def documents(given: list[Document]) -> list[Any]:
        return [{"document.content": d.content, "document.score": d.score} for d in given]

    rows = openinference_flat(request, retrieved, arranged, prompt)
    shown = [
        {"attributes.retrieval.documents": documents(retrieved)},
        {"attributes.reranker.output_documents": documents(arranged)},
        {"attributes.llm.input_messages": [{"message.role": "user", "message.content": prompt}]},
    ]
    return [
        {
            "name": row["name"],
            "span_kind": row["span_kind"],
            "start_time": int((START + timedelta(minutes=request, seconds=n)).timestamp() * 1000),
            "context.trace_id": row["context"]["trace_id"],
            **attributes,
        }
        for n, (row, attributes) in enumerate(zip(rows, shown, strict=True))
    ]


def otlp(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    def value(given: Any) -> dict[str, Any]:
        return {"doubleValue": given} if isinstance(given, float) else {"stringValue": given}

    spans = [
        {
            "traceId": row["context"]["trace_id"],
            "spanId": row["context"]["span_id"],
            "name": row["name"],
            "startTimeUnixNano": str(int((START + timedelta(minutes=request, seconds=n)).timestamp() * 1e9)),
            "attributes": [
                {"key": "openinference.span.kind", "value": {"stringValue": row["span_kind"]}},
                *({"key": key, "value": value(inner)} for key, inner in row["attributes"].items()),
            ],
        }
        for n, row in enumerate(openinference_flat(request, retrieved, arranged, prompt))
    ]
    return [{"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}]


def langfuse_trace(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    return [
        {
            "id": f"trace-{request}",
            "name": "rag",
            "input": {},
            "observations": _observations(request, retrieved, arranged, prompt),
        }
    ]


def langfuse_observations(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    return [
        {
            "id": f"{request}-{n}",
            "trace_id": f"trace-{request}",
            "type": each["type"],
            "name": each["name"],
            "start_time": each["startTime"],
            "input": json.dumps(each.get("input")),
            "output": json.dumps(each.get("output")),
        }
        for n, each in enumerate(_observations(request, retrieved, arranged, prompt))
    ]


def langsmith_tree(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    runs = _runs(request, retrieved, arranged, prompt)
    return [
        {
            "id": f"run-{request}",
            "run_type": "chain",
            "name": "RAG",
            "start_time": stamp(request, 0),
            "inputs": {"q": "?"},
            "child_runs": runs,
        }
    ]


def langsmith_runs(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    return [{"trace_id": f"run-{request}", **run} for run in _runs(request, retrieved, arranged, prompt)]


def haystack_spans(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    def component(step: int, name: str, label: str, inputs: Any, outputs: Any) -> dict[str, Any]:
        tags = {
            "haystack.component.name": name,
            "haystack.component.type": label,
            "haystack.component.input": json.dumps(inputs),
            "haystack.component.output": json.dumps(outputs),
        }
        return _span(request, step, "haystack.component.run", "INTERNAL", tags)

    messages = [ChatMessage.from_user(prompt).to_dict()]
    return [
        component(1, "bm25", "InMemoryBM25Retriever", {"query": "?"}, {"documents": [d.to_dict() for d in retrieved]}),
        component(2, "order", "LostInTheMiddleRanker", {}, {"documents": [d.to_dict() for d in arranged]}),
        component(3, "builder", "ChatPromptBuilder", {}, {"prompt": messages}),
        component(4, "llm", "OpenAIChatGenerator", {"messages": messages}, {"replies": []}),
    ]


def genai(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    messages = [{"role": "user", "parts": [{"type": "text", "content": prompt}]}]
    return [
        *openinference_flat(request, retrieved, arranged, prompt)[:2],
        _span(request, 3, "chat gpt", "CLIENT", {"gen_ai.input.messages": json.dumps(messages)}),
    ]


def openllmetry(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> Any:
    attributes = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": prompt}
    return [
        *openinference_flat(request, retrieved, arranged, prompt)[:2],
        _span(request, 3, "chat", "CLIENT", attributes),
    ]


def _span(request: int, step: int, name: str, kind: str, attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": f"{request:032x}", "span_id": f"{request:012x}{step:04x}"},
        "span_kind": kind,
        "start_time": stamp(request, step),
        "attributes": attributes,
    }


def _observations(
    request: int, retrieved: list[Document], arranged: list[Document], prompt: str
) -> list[dict[str, Any]]:
    def documents(given: list[Document]) -> dict[str, Any]:
        return {"documents": [d.to_dict() for d in given]}

    return [
        {
            "type": "SPAN",
            "name": "retriever",
            "startTime": stamp(request, 1),
            "input": {},
            "output": documents(retrieved),
        },
        {
            "type": "SPAN",
            "name": "LostInTheMiddleRanker",
            "startTime": stamp(request, 2),
            "input": documents(retrieved),
            "output": documents(arranged),
        },
        {
            "type": "GENERATION",
            "name": "llm",
            "startTime": stamp(request, 3),
            "input": [{"role": "user", "content": prompt}],
            "output": "…",
        },
    ]


def _runs(request: int, retrieved: list[Document], arranged: list[Document], prompt: str) -> list[dict[str, Any]]:
    def documents(given: list[Document]) -> dict[str, Any]:
        return {"documents": [{"page_content": d.content, "metadata": {"id": d.id}, "type": "Document"} for d in given]}

    message = {"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": prompt, "type": "human"}}
    return [
        {
            "id": "a",
            "run_type": "retriever",
            "name": "VectorStoreRetriever",
            "start_time": stamp(request, 1),
            "outputs": documents(retrieved),
        },
        {
            "id": "b",
            "run_type": "chain",
            "name": "LongContextReorder",
            "start_time": stamp(request, 2),
            "outputs": documents(arranged),
        },
        {
            "id": "c",
            "run_type": "llm",
            "name": "ChatOpenAI",
            "start_time": stamp(request, 3),
            "inputs": {"messages": [[message]]},
        },
    ]


FORMATS: list[Spans] = [
    openinference_flat,
    openinference_nested,
    phoenix_table,
    otlp,
    langfuse_trace,
    langfuse_observations,
    langsmith_tree,
    langsmith_runs,
    haystack_spans,
    genai,
    openllmetry,
]


def trace(spans: Spans, lost_from: int, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for request in range(count):
        retrieved = ranked(request)
        arranged = arrange(retrieved).documents
        found += spans(request, retrieved, arranged, prompt_of(retrieved if request >= lost_from else arranged))
    return found


def lines(found: Sequence[Any]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in found).encode()


@pytest.mark.parametrize("spans", FORMATS)
def test_every_format_is_read_paired_and_dated(spans: Spans) -> None:
    result = audit_traces(lines(trace(spans, 6, 14)))
    assert [request.holds for request in result.requests] == [True] * 6 + [False] * 8
    assert {request.documents for request in result.requests} == {5}
    assert result.share == pytest.approx(6 / 14)
    assert result.change == 6
    assert result.began is not None
    assert START + timedelta(minutes=6) <= result.began < START + timedelta(minutes=7)
    assert result.first_lost is not None
    assert result.first_lost.order == "relevance order"
    assert [d.content for d in result.first_lost.exchange.documents] == [
        d.content for d in arrange(ranked(6)).documents
    ]
    assert result.first_lost.report is not None
    assert len(result.table()) == 14
    json.dumps(result.table())


@pytest.mark.parametrize(
    "pack",
    [
        lambda found: json.dumps(found).encode(),
        lambda found: json.dumps(found, indent=2).encode(),
        lambda found: b"\n\n".join(json.dumps(record, indent=4).encode() for record in found),
        lambda found: json.dumps({"data": found, "meta": {"page": 1}}, indent=1).encode(),
        lambda found: gzip.compress(lines(found)),
        lambda found: b"\xef\xbb\xbf\r\n" + lines(found).replace(b"\n", b"\r\n"),
    ],
)
@pytest.mark.parametrize("spans", [openinference_flat, langfuse_trace, langsmith_tree])
def test_every_layout_of_the_file_is_read(pack: Callable[[Any], bytes], spans: Spans, tmp_path: Path) -> None:
    found = trace(spans, 2, 5)
    path = tmp_path / "trace"
    path.write_bytes(pack(found))
    expected = audit_traces(lines(found)).table()
    assert len(expected) == 5
    assert audit_traces(path).table() == expected
    with path.open("rb") as file:
        assert audit_traces(file).table() == expected


def test_interleaved_and_shuffled_spans_are_put_together() -> None:
    found = trace(openinference_flat, 3, 6)
    assert audit_traces(lines(found[::-1])).table() == audit_traces(lines(found)).table()
    assert audit_traces(lines([*found[::3], *found[2::3], *found[1::3]])).table() == audit_traces(lines(found)).table()


def real_pipeline(joiner: bool) -> Pipeline:
    built = Pipeline()
    built.add_component("ranker", LostInTheMiddleRanker())
    template = "{% for d in documents %}{{ d.content }}\n{% endfor %}"
    built.add_component("builder", ChatPromptBuilder([ChatMessage.from_user(template)], required_variables="*"))
    built.add_component("llm", MockChatGenerator())
    if joiner:
        built.add_component("joiner", DocumentJoiner())
        built.connect("ranker", "joiner")
        built.connect("joiner", "builder.documents")
    else:
        built.connect("ranker", "builder.documents")
    built.connect("builder.prompt", "llm.messages")
    return built


@pytest.fixture
def haystack_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What Haystack's own tracer logs."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(logging.Formatter("%(asctime)s DEBUG haystack: %(message)s"))
    logger = logging.getLogger("haystack.tracing.logging_tracer")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    monkeypatch.setattr(tracing.tracer, "is_content_tracing_enabled", True)
    tracing.enable_tracing(LoggingTracer(tags_color_strings={"haystack.component.input": "\x1b[1;31m"}))
    yield log
    tracing.disable_tracing()
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def test_the_log_of_haystacks_own_tracer(haystack_log: io.StringIO) -> None:
    for request in range(4):
        real_pipeline(joiner=request >= 2).run({"ranker": {"documents": ranked(request)}})
    result = audit_traces(haystack_log.getvalue().encode())
    assert [request.holds for request in result.requests] == [True, True, False, False]
    assert result.requests[2].changed_by == "joiner (DocumentJoiner)"
    assert result.requests[2].exchange.ranker == "ranker (LostInTheMiddleRanker)"
    assert result.requests[2].exchange.trace == "run 3"


def test_calls_before_and_behind_are_told_apart() -> None:
    retrieved = ranked(1)
    arranged = arrange(retrieved).documents
    retrieve, rank, answer = openinference_flat(1, retrieved, arranged, prompt_of(arranged))

    def call(step: int, text: str) -> dict[str, Any]:
        return _span(1, step, f"call {step}", "LLM", {"llm.input_messages.0.message.content": text})

    found = [
        call(0, "Rewrite: tide?"),
        retrieve,
        {**rank, "start_time": stamp(1, 20)},
        call(25, "Is the topic allowed?"),
    ]
    found += [{**answer, "start_time": stamp(1, 30)}, call(40, "Summarise the answer.")]
    (request,) = audit_traces(lines(found)).requests
    assert request.holds
    assert request.exchange.llm == "ChatCompletion"


def test_without_a_ranker_the_last_documents_count() -> None:
    first, second = ranked(1), ranked(2)
    joined = [*first, *second]
    outputs = json.dumps({"documents": [d.to_dict() for d in joined]})
    found = [
        openinference_flat(1, first, [], "")[0],
        {**openinference_flat(1, second, [], "")[0], "start_time": stamp(1, 2)},
        _span(1, 3, "DocumentJoiner", "CHAIN", {"output.value": outputs}),
        {**openinference_flat(1, [], [], prompt_of(joined))[2], "start_time": stamp(1, 4)},
    ]
    (request,) = audit_traces(lines(found)).requests
    assert request.holds
    assert request.documents == 10


def test_an_arrangement_that_was_to_follow() -> None:
    retrieved = ranked(1)
    retrieve, _, answer = openinference_flat(1, retrieved, [], prompt_of(arrange(retrieved).documents))
    assert not audit_traces(lines([retrieve, answer])).requests[0].holds
    assert audit_traces(lines([retrieve, answer]), expected="arranged").requests[0].holds


def test_requests_without_documents_or_call_are_counted() -> None:
    found = trace(openinference_flat, 9, 3)
    result = audit_traces(lines([*found[:3], found[3], found[8]]))
    assert len(result.requests) == 1
    assert result.tally.unpaired == 2
    assert result.tally.records == 5


def test_unreadable_lines_are_counted_and_named() -> None:
    found = lines(trace(openinference_flat, 9, 2)).splitlines(keepends=True)
    result = audit_traces(b"".join([*found[:2], b"{broken\n", b"\n", *found[2:], b"7\n"]))
    assert len(result.requests) == 2
    assert (result.tally.unreadable, result.tally.first_unreadable) == (2, "line 3")


@pytest.mark.parametrize(
    "data", [b"", b" \n\n", b"not a trace", b'{"a": [1, 2', b"\x1f\x8bbroken", gzip.compress(b"[]", mtime=0)[:-9]]
)
def test_what_is_no_trace_is_refused(data: bytes) -> None:
    with pytest.raises(LoadError, match="trace"):
        audit_traces(data)


def test_json_without_requests_gives_none() -> None:
    result = audit_traces(b'{"hello": "world"}\n[1, 2]\n')
    assert result.requests == ()
    assert (result.share, result.change, result.began, result.first_lost) == (None, None, None, None)


def test_a_record_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lim.audit.traces.stream.MAX_RECORD_BYTES", 1000)
    with pytest.raises(LimitError, match="more than 1,000 bytes"):
        audit_traces(b'{"a": "' + b"x" * 2000 + b'"}\n')
    monkeypatch.setattr("lim.audit.traces.stream._CHUNK", 100)
    with pytest.raises(LimitError, match="more than 1,000 bytes"):
        audit_traces(b'{\n"a": "' + b"x" * 2000 + b'"}')


def test_progress_ends_at_the_size_of_the_file() -> None:
    data = lines([*trace(openinference_flat, 9, 3), *({"padding": "x" * 100_000} for _ in range(40))])
    said: list[tuple[int, int | None]] = []
    audit_traces(data, progress=lambda done, total: said.append((done, total)))
    assert len(said) > 1
    assert said[-1] == (len(data), len(data))
    assert [done for done, _ in said] == sorted(done for done, _ in said)


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lim.audit.traces.pair.MAX_OPEN", 10)

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        padding = "x" * 100_000
        with path.open("wb") as file:
            for request in range(count):
                retrieved = ranked(request, 3)
                spans = openinference_flat(request, [], retrieved, prompt_of(retrieved) + padding)
                file.write(lines(spans[1:]))
        tracemalloc.start()
        kept = sum(request.holds for request in iter_requests(path))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert kept == count
        return size

    peak(2)  # what is loaded once
    small, large = peak(20), peak(60)
    assert small > 10 * 100_000
    assert large < 1.2 * small


@pytest.mark.parametrize(
    ("holds", "change"),
    [
        ([True] * 10, None),
        ([False] * 10, None),
        ([True] * 10 + [False] * 10, 10),
        ([True] * 5 + [False] + [True] * 20, None),
        ([True, True, False, True] * 3 + [False] * 12, 12),
        ([False] * 5 + [True] * 10, None),
        ([True, False] * 10, None),
    ],
)
def test_the_change_is_found_where_one_stands_out(holds: list[bool], change: int | None) -> None:
    found: list[dict[str, Any]] = []
    for request, kept in enumerate(holds):
        arranged = arrange(ranked(request)).documents
        found += openinference_flat(request, ranked(request), arranged, prompt_of(arranged if kept else arranged[::-1]))
    assert audit_traces(lines(found)).change == change


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            [
                "attributes", "context", "trace_id", "span_kind", "name", "start_time", "observations", "child_runs",
                "run_type", "outputs", "documents", "llm.input_messages", "resourceSpans", "scopeSpans", "spans", "key",
                "value", "arrayValue", "input", "output", "type", "content", "role",
                "retrieval.documents.0.document.content",
            ]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=100), st.lists(PLAIN, max_size=4).map(lines)))
def test_any_bytes_are_audited_or_refused(data: bytes) -> None:
    try:
        result = audit_traces(data)
    except LimError:
        return
    assert isinstance(result, TraceAudit)


def test_the_sample_trace_loses_the_order_half_way() -> None:
    result = audit_traces(SAMPLES / "trace.jsonl")
    assert len(result.requests) == 200
    assert result.change == 104
    assert all(request.holds for request in result.requests[:104])
    assert result.first_lost is not None
    assert result.first_lost.changed_by == "DocumentJoiner"
    assert result.tally.unreadable == result.tally.unpaired == 0
