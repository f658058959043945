"""Lost in the Middle Lab: see, tune and check what Haystack's `LostInTheMiddleRanker` does to a ranked list."""

import os

# Set before Haystack is imported anywhere: nothing this package does sends telemetry.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from lim.audit import PromptOrderAudit
from lim.errors import (
    DocumentError,
    LimError,
    LimitError,
    LoadError,
    MissingTextError,
    SettingError,
    TemplateError,
)
from lim.loading import Loaded, Notice, Order, RankedList, Reading, load, load_pasted
from lim.ranker import Arrangement, Fate, LostInTheMiddleRanker, Placement, arrange

__all__ = [
    "Arrangement",
    "DocumentError",
    "Fate",
    "LimError",
    "LimitError",
    "LoadError",
    "Loaded",
    "LostInTheMiddleRanker",
    "MissingTextError",
    "Notice",
    "Order",
    "Placement",
    "PromptOrderAudit",
    "RankedList",
    "Reading",
    "SettingError",
    "TemplateError",
    "arrange",
    "load",
    "load_pasted",
]
