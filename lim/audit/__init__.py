"""The audit: whether the order that was intended is the order that reached the prompt."""

from lim.audit.check import Expected, audit
from lim.audit.component import PromptOrderAudit
from lim.audit.model import (
    FUZZY_BYTES,
    FUZZY_THRESHOLD,
    SURVIVING_BYTES,
    AuditReport,
    Comparison,
    KnownOrder,
    Match,
    PromptError,
    Segment,
    Sighting,
    Span,
    Status,
    two_places,
)
from lim.audit.prompts import Prompt, parse

__all__ = [
    "FUZZY_BYTES",
    "FUZZY_THRESHOLD",
    "SURVIVING_BYTES",
    "AuditReport",
    "Comparison",
    "Expected",
    "KnownOrder",
    "Match",
    "Prompt",
    "PromptError",
    "PromptOrderAudit",
    "Segment",
    "Sighting",
    "Span",
    "Status",
    "audit",
    "parse",
    "two_places",
]
