"""The audit's samples, and audits made once for each content."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import streamlit as st
from haystack import Document

from lim.audit import AuditReport, audit, parse
from lim.audit.traces import TraceAudit, audit_traces
from lim.loading.decode import to_utf8
from lim.loading.notes import Notes
from lim.widgets.embedded import SAMPLES
from lim.widgets.layout import made_with_bar
from lim.widgets.reading import Bench

AUDIT_SAMPLES = SAMPLES / "audit"


@dataclass(frozen=True, slots=True)
class AuditSample:
    """One embedded sample of the audit.

    :param key: its name in links.
    :param file: its file in `sample_data/audit`.
    :param kind: `prompt`, with its documents in the file, or `trace`.
    :param title: what the picker shows.
    :param reason: why it is there and what to look at.
    """

    key: str
    file: str
    kind: str
    title: str
    reason: str


@st.cache_resource
def audit_samples() -> dict[str, AuditSample]:
    """Read the index of the audit's samples.

    :returns: the samples by title, in the order of the picker.
    """
    index = json.loads((AUDIT_SAMPLES / "samples.json").read_text(encoding="utf-8"))
    return {entry["title"]: AuditSample(**entry) for entry in index}


@st.cache_resource(max_entries=6)
def audit_sample(file: str) -> tuple[AuditReport, str]:
    """Audit a sample's prompt once.

    :param file: its file in `sample_data/audit`.
    :returns: the report, and the query.
    """
    values = json.loads((AUDIT_SAMPLES / file).read_text(encoding="utf-8"))
    documents = [Document(**fields) for fields in values["documents"]]
    return audit(values["prompt"], documents, expected=values["expected"]), values["query"]


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Looking for the documents …")
def audited(
    text: str, _bench: Bench, key: tuple[Any, ...], *, arranged: bool, threshold: int | None, top_k: int | None
) -> AuditReport:
    """Audit a prompt once for each content.

    :param text: the prompt, or messages as JSON.
    :param _bench: the documents.
    :param key: identifies the documents.
    :param arranged: whether the prompt should hold the ranker's arrangement, else the documents as they are listed.
    :param threshold: the ranker's `word_count_threshold`.
    :param top_k: the ranker's `top_k`.
    :returns: the report.
    """
    limited = _bench.unlimited.limited(threshold, top_k)
    expected = limited.documents if arranged else "as given"
    return audit(parse(text), limited.inputs, expected=expected)


@st.cache_resource(max_entries=4, ttl="2h", show_spinner=False)
def _trace_slot(data: bytes) -> list[TraceAudit]:
    del data
    return []  # filled by made_with_bar


def audited_trace(data: bytes) -> TraceAudit:
    """Audit a trace once for each content, with a bar that shows how far it is.

    :param data: the export.
    :returns: the audit.
    """
    return made_with_bar(_trace_slot(data), "Reading the trace …", lambda advance: audit_traces(data, progress=advance))


def text_of(data: bytes, name: str) -> str:
    """Decode an uploaded prompt, whatever its encoding.

    :param data: the file's bytes.
    :param name: the file's name.
    :returns: its text.
    """
    return to_utf8(data, name, Notes()).decode("utf-8", errors="replace")
