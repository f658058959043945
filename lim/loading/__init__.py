"""The loader: any retrieval dump to ranked lists of Haystack documents.

Its rules:

1. An id is the input's own, as text. Where there is none, none is passed, and Haystack hashes content and meta.
2. Meta is the user's other fields. Score, rank, id, text and vectors are not meta, and nothing of ours is added.
3. The order is the input's, unless a column of distinct ranks 1..n says otherwise. Scores reorder nothing.
4. NaN, infinity and blank are no score. Text of a file is taken byte for byte; only plain text cut at separators is
   trimmed.
5. Every record is a document or is named in a notice as left out, with its place and the reason. Two queries are never
   one list. Nothing is evaluated.
"""

from lim.loading.formats import Format, supported
from lim.loading.load import load, load_pasted
from lim.loading.model import (
    Loaded,
    Notice,
    NoticeKind,
    Order,
    RankedList,
    Reading,
    Separator,
    Session,
)
from lim.loading.split import SEPARATORS, separators

__all__ = [
    "SEPARATORS",
    "Format",
    "Loaded",
    "Notice",
    "NoticeKind",
    "Order",
    "RankedList",
    "Reading",
    "Separator",
    "Session",
    "load",
    "load_pasted",
    "separators",
    "supported",
]
