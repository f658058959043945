"""What an audit says: every document's fate in the prompt, the order the prompt holds, and who likely changed it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from haystack import Document

from lim import measure
from lim.errors import LimError

FUZZY_THRESHOLD = 85.0
"""The similarity, 0 to 100, from which a text of the prompt is a changed copy of a document's: twice the characters
that both have in common, in order, as a share of the characters of both (rapidfuzz's ratio, taken piece by piece). What
is left of a truncated document must have as great a share of its characters from the document."""
FUZZY_BYTES = 24
"""A document of fewer bytes (in UTF-8) is found only if it is in the prompt unchanged, but for whitespace."""
SURVIVING_BYTES = 40
"""Bytes (in UTF-8) of a truncated document that must be in the prompt, or half of it if that is less. Bytes, because
they say about as much in Latin letters as in Chinese ones."""


def two_places(tau: float) -> str:
    """Write Kendall's tau with two places.

    :param tau: the value.
    :returns: the text; what rounds to zero has no sign.
    """
    return f"{round(tau, 2) + 0.0:.2f}"


class PromptError(LimError):
    """A prompt, or the documents beside it, cannot be audited."""


class Status(StrEnum):
    """What the prompt holds of a document."""

    FOUND = "found"  # once, and all of it
    TRUNCATED = "truncated"  # a part of it
    REPEATED = "repeated"  # more than once
    MISSING = "missing"  # nothing of it, although it was expected
    UNEXPECTED = "unexpected"  # found, although it was not expected
    LEFT_OUT = "left out"  # neither expected nor found
    EMPTY = "empty"  # it has no text that could be found


class Match(StrEnum):
    """How closely the text in the prompt is the document's, closest first."""

    EXACT = "exact"  # character for character, after undoing the escaping
    WHITESPACE = "whitespace"  # but for whitespace and the Unicode form
    FUZZY = "fuzzy"  # similar, see `lim.audit.FUZZY_THRESHOLD`, or a part


class KnownOrder(StrEnum):
    """The orders the documents of a prompt are compared with."""

    INTENDED = "intended order"
    RELEVANCE = "relevance order"
    SCORE = "descending scores"
    SCORE_ASCENDING = "ascending scores"
    REVERSED = "intended order, reversed"
    RELEVANCE_REVERSED = "relevance order, reversed"
    ARRANGED_TWICE = "arranged twice"
    REARRANGED = "arrangement of those present"
    LANGCHAIN = "LangChain's order"
    LLAMAINDEX = "LlamaIndex's order"
    SORTED = "sorted by a field"
    NONE = "no known order"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the prompt's text.

    :param start: the first character, counted from 0 in `AuditReport.text`.
    :param end: the character behind the last.
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of the prompt's text that one message holds.

    :param start: the first character, counted from 0 in `AuditReport.text`.
    :param end: the character behind the last.
    :param message: the 1-based number of the message; 1 for a prompt that is one string.
    :param role: the message's role, empty for a string.
    """

    start: int
    end: int
    message: int
    role: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the prompt holds of one document.

    :param number: 1-based place among the documents given to `audit`.
    :param rank: 1-based relevance rank: among the expected documents when they were given arranged, else the place in
        the list. None for a document that was not expected where the list was given arranged.
    :param intended: 1-based place among the expected documents with a text; None if not expected, or empty.
    :param position: 1-based place among the expected documents that the prompt holds, None if it is not one of them.
    :param status: what the prompt holds of it.
    :param match: how closely, None if it was not found.
    :param encoding: how the text is escaped in the prompt, such as `HTML`; `plain` if not, None if it was not found.
    :param similarity: for a fuzzy match how alike the texts are, see `FUZZY_THRESHOLD`; else 100, None if not found.
    :param surviving: the share of its characters that the prompt holds, 0 to 1.
    :param spans: where in the prompt's text, the place that counts for the order first.
    :param message: the 1-based number of the message of the first span, None if it was not found.
    :param document: the document.
    """

    number: int
    rank: int | None
    intended: int | None
    position: int | None
    status: Status
    match: Match | None
    encoding: str | None
    similarity: float | None
    surviving: float
    spans: tuple[Span, ...]
    message: int | None
    document: Document

    @property
    def copies(self) -> int:
        """How many times the prompt holds the document."""
        return len(self.spans)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The order of the documents in the prompt, against one known order of the same documents.

    :param order: the known order.
    :param field: for `SORTED` the field and the direction, such as `meta.date, descending`; else empty.
    :param tau: Kendall's tau, 1 for the same order, -1 for the reverse; None for fewer than two documents.
    :param first_departure: the 1-based position in the prompt at which the orders differ first, None if they do not.
    """

    order: KnownOrder
    field: str
    tau: float | None
    first_departure: int | None


@dataclass(frozen=True)  # no slots: cached_property needs the instance's dictionary
class AuditReport:
    """What became of an intended order on its way into the prompt.

    :param sightings: one for every document, in the order they were given.
    :param intended: the numbers of the expected documents in the order intended, those without a text left out.
    :param actual: the numbers of the expected documents in the prompt, in the prompt's order.
    :param order: the order the prompt holds; `INTENDED` where fewer than two documents were found.
    :param comparisons: the prompt's order against every known order, the intended one first.
    :param culprit: what most likely happened, in a sentence or two.
    :param text: the text of the prompt, of all messages together.
    :param segments: which part of it stands in which message.
    """

    sightings: tuple[Sighting, ...]
    intended: tuple[int, ...]
    actual: tuple[int, ...]
    order: KnownOrder
    comparisons: tuple[Comparison, ...]
    culprit: str
    text: str = field(repr=False)
    segments: tuple[Segment, ...] = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether the prompt holds every expected document once, in the intended order, and no other document.

        Truncated and slightly changed documents count as held: templates shorten texts on purpose.
        """
        wrong = (Status.MISSING, Status.REPEATED, Status.UNEXPECTED)
        return self.actual == self.intended and not any(sighting.status in wrong for sighting in self.sightings)

    @property
    def tau(self) -> float | None:
        """Kendall's tau between the prompt's order and the intended one; None for fewer than two documents."""
        return self.comparisons[0].tau

    @property
    def first_departure(self) -> int | None:
        """The 1-based position in the prompt at which it departs from the intended order, None if it does not."""
        return self.comparisons[0].first_departure

    def numbers(self, status: Status) -> tuple[int, ...]:
        """List the documents of one status.

        :param status: the status.
        :returns: their 1-based numbers, ascending.
        """
        return tuple(sighting.number for sighting in self.sightings if sighting.status is status)

    @property
    def characters(self) -> int:
        """Characters of the prompt's text."""
        return len(self.text)

    @cached_property
    def words(self) -> int:
        """Words of the prompt's text, as Haystack counts them."""
        return measure.words(self.text)

    @cached_property
    def document_words(self) -> int:
        """Words of the prompt that are documents."""
        return sum(map(measure.words, self._document_texts))

    @property
    def document_share(self) -> float:
        """The share of the prompt's characters that are documents, 0 to 1."""
        return sum(map(len, self._document_texts)) / len(self.text) if self.text else 0.0

    @cached_property
    def tokens(self) -> int | None:
        """Tokens of the prompt's text in `o200k_base`, counted when first asked; None where they cannot be."""
        counts = measure.tokens([self.text])
        return None if counts is None else counts[0]

    @cached_property
    def document_tokens(self) -> int | None:
        """Tokens of the prompt that are documents, counted when first asked; None where they cannot be."""
        counts = measure.tokens(self._document_texts)
        return None if counts is None else sum(counts)

    @cached_property
    def _document_texts(self) -> tuple[str, ...]:
        spans = sorted((span.start, span.end) for sighting in self.sightings for span in sighting.spans)
        return tuple(self.text[start:end] for start, end in spans)

    def to_dict(self, *, tokens: bool = True, log_text: bool = False) -> dict[str, Any]:
        """Put the report into plain values.

        :param tokens: whether tokens are counted: about half a second for a prompt of a million characters.
        :param log_text: whether the texts of the prompt and of the documents are in it.
        :returns: numbers, strings, None, lists and dicts: JSON-ready.
        """
        return {
            "holds": self.holds,
            "order": self.order.value,
            "tau": self.tau,
            "first_departure": self.first_departure,
            "culprit": self.culprit,
            "intended": list(self.intended),
            "actual": list(self.actual),
            **{status.value: list(self.numbers(status)) for status in _LISTED},
            "characters": self.characters,
            "words": self.words,
            "tokens": self.tokens if tokens else None,
            "document_words": self.document_words,
            "document_tokens": self.document_tokens if tokens else None,
            "document_share": round(self.document_share, 4),
            "comparisons": [
                {
                    "order": each.order.value,
                    "field": each.field,
                    "tau": each.tau,
                    "first_departure": each.first_departure,
                }
                for each in self.comparisons
            ],
            "documents": [_sighting_dict(sighting, log_text=log_text) for sighting in self.sightings],
            **({"prompt": self.text} if log_text else {}),
        }


_LISTED = (Status.MISSING, Status.TRUNCATED, Status.REPEATED, Status.UNEXPECTED, Status.EMPTY)


def _sighting_dict(sighting: Sighting, *, log_text: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "number": sighting.number,
        "id": sighting.document.id,
        "rank": sighting.rank,
        "intended": sighting.intended,
        "position": sighting.position,
        "status": sighting.status.value,
        "match": sighting.match.value if sighting.match else None,
        "encoding": sighting.encoding,
        "similarity": sighting.similarity,
        "surviving": round(sighting.surviving, 4),
        "copies": sighting.copies,
        "spans": [[span.start, span.end] for span in sighting.spans],
        "message": sighting.message,
    }
    return {**values, "text": sighting.document.content} if log_text else values
