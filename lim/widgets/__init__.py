"""The Streamlit pieces that pages share: cached calls, the document picker, figures with their words.

Caching lives here and nowhere else, and every cache is bounded.
"""

from lim.widgets.auditing import (
    AUDIT_SAMPLES,
    AuditSample,
    audit_sample,
    audit_samples,
    audited,
    audited_trace,
    text_of,
)
from lim.widgets.embedded import SAMPLES, Sample, samples
from lim.widgets.figures import palette, show, sources, tinted, verbatim, watch_theme
from lim.widgets.layout import documents_there, tabbed
from lim.widgets.picker import AS_READ, Picked, list_choice, list_names, pick_documents
from lim.widgets.presenting import Stage, presenting, stage, turn
from lim.widgets.reading import Bench, bench

__all__ = [
    "AS_READ",
    "AUDIT_SAMPLES",
    "SAMPLES",
    "AuditSample",
    "Bench",
    "Picked",
    "Sample",
    "Stage",
    "audit_sample",
    "audit_samples",
    "audited",
    "audited_trace",
    "bench",
    "documents_there",
    "list_choice",
    "list_names",
    "palette",
    "pick_documents",
    "presenting",
    "samples",
    "show",
    "sources",
    "stage",
    "tabbed",
    "text_of",
    "tinted",
    "turn",
    "verbatim",
    "watch_theme",
]
