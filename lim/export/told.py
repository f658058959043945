"""What a file tells of the documents: all, their titles, or nothing but numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from haystack import Document

from lim.checks import Finding, check
from lim.loading import RankedList
from lim.loading.names import TITLE, normalise
from lim.ranker import Arrangement

MAX_TITLE = 200
"""Characters of a title; a longer one is cut."""


class Texts(StrEnum):
    """How much of the documents a file holds."""

    FULL = "full texts"  # everything: text, meta, id, and the question
    TITLES = "titles only"  # titles, ids and the question; no text and no other field
    NUMBERS = "numbers only"  # ranks, words, scores; nothing that was written by a person


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person sees and takes home.

    :param ranked: the list.
    :param arrangement: its arrangement under the limits of now.
    :param tokens: tokens of each document, or None where they are not available.
    :param findings: what to look at before trusting the arrangement.
    """

    ranked: RankedList
    arrangement: Arrangement
    tokens: tuple[int, ...] | None
    findings: tuple[Finding, ...]

    @property
    def scores(self) -> tuple[float | None, ...]:
        """The number to show for each document: its score or its distance."""
        return self.ranked.distances or tuple(document.score for document in self.ranked.documents)


def redacted(shown: Shown, texts: Texts) -> Shown:
    """Take out of what is shown all that a file may not hold, and change no number.

    :param shown: what is shown.
    :param texts: how much of the documents may be told.
    :returns: for `Texts.FULL` the same; else documents with their title, or nothing, for a text and without meta, and
        for `Texts.NUMBERS` with `document 3` for an id, in a list without name and question. Every word, score, token
        and fate is that of the real documents.
    """
    if texts is Texts.FULL:
        return shown
    ranked, arrangement = shown.ranked, shown.arrangement
    titles = texts is Texts.TITLES
    inputs = tuple(
        Document(
            id=document.id if titles else f"document {rank}",
            content=title_of(document) or "" if titles else "",
            score=document.score,
        )
        for rank, document in enumerate(arrangement.inputs, 1)
    )
    hidden = replace(
        ranked,
        name=ranked.name if titles else "documents",
        query=ranked.query if titles else None,
        documents=inputs,
        score_name=ranked.score_name if titles else None,
        sources=(),
        path="",
    )
    return Shown(
        hidden,
        replace(arrangement, inputs=inputs),
        shown.tokens,
        shown.findings if titles else _without_ids(shown),
    )


def title_of(document: Document) -> str | None:
    """Find the title of a document among the fields of its meta.

    :param document: a document.
    :returns: its title on one line, cut at `MAX_TITLE` characters; None if no field is called one.
    """
    for key, value in document.meta.items():
        if isinstance(key, str) and normalise(key) in TITLE and isinstance(value, str) and value.strip():
            return " ".join(value.split())[:MAX_TITLE]
    return None


def _without_ids(shown: Shown) -> tuple[Finding, ...]:
    """Make the findings anew with numbers for ids: one of them quotes an id."""
    first: dict[str, int] = {}
    inputs = tuple(
        replace(document, id=f"of document {first.setdefault(document.id, rank)}")
        for rank, document in enumerate(shown.arrangement.inputs, 1)
    )
    named = {
        finding.kind: finding for finding in check(replace(shown.arrangement, inputs=inputs), shown.ranked.distances)
    }
    return tuple(named.get(finding.kind, finding) for finding in shown.findings)
