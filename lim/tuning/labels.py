"""Marks of relevance that are not the loader's own: a field of the documents' meta, or a file of judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from lim.errors import LoadError
from lim.loading import RankedList
from lim.loading.values import mark_of

LOOKED_AT = 2_000
"""Documents looked at to find the fields that may mark relevance."""

Marks = tuple[tuple[bool, ...] | None, ...]
"""For each list the marks of its documents, or None where nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Judgements:
    """Judgements of relevance, as TREC's qrels have them.

    :param relevant: for each query the ids of the documents judged relevant; a query none was found for has an empty
        set.
    """

    relevant: dict[str, frozenset[str]]


def label_fields(lists: Sequence[RankedList]) -> tuple[str, ...]:
    """Find the fields of the documents' meta that may mark relevance.

    :param lists: ranked lists.
    :returns: names of the fields that hold true or false, 0 or 1, yes or no wherever they hold anything, both of the
        two at least once, in the first `LOOKED_AT` documents; in the order they come up.
    """
    found: dict[str, set[bool | None]] = {}
    for document in islice((document for ranked in lists for document in ranked.documents), LOOKED_AT):
        for name, value in document.meta.items():
            if value is not None and value != "":
                found.setdefault(name, set()).add(_binary(value))
    return tuple(name for name, marks in found.items() if marks == {True, False})


def _binary(value: object) -> bool | None:
    return None if isinstance(value, int | float) and value not in (0, 1) else mark_of(value)


def labels_of(lists: Sequence[RankedList], field: str) -> Marks:
    """Take a field of the documents' meta for the mark of relevance.

    :param lists: ranked lists.
    :param field: the field's name.
    :returns: marks; a document without the field is not relevant, a list without it anywhere has none.
    """
    marks: list[tuple[bool, ...] | None] = []
    for ranked in lists:
        if any(field in document.meta for document in ranked.documents):
            marks.append(tuple(bool(mark_of(document.meta.get(field))) for document in ranked.documents))
        else:
            marks.append(None)
    return tuple(marks)


def read_judgements(data: bytes, name: str) -> Judgements:
    """Read judgements as TREC tools write them, `query 0 document grade`, or as BEIR does, `query document grade`.

    :param data: the file, UTF-8, its columns between blanks or tabs.
    :param name: what a person calls it.
    :returns: the judgements; a grade above 0 is relevant.
    :raises LoadError: if a line is none, named with its number.
    """
    relevant: dict[str, set[str]] = {}
    for number, line in enumerate(data.decode("utf-8-sig", errors="replace").splitlines(), 1):
        cells = line.split()
        if not cells or (number == 1 and cells[-1].casefold() in ("score", "grade", "relevance", "rel")):
            continue
        grade = mark_of_grade(cells[-1]) if len(cells) in (3, 4) else None
        if grade is None:
            raise LoadError(
                f"Line {number:,} of {name} is {line[:60]!r}, but judgements are lines of query, 0, document, grade. "
                f"Give a TREC qrels file, or query, document, grade as BEIR has them."
            )
        found = relevant.setdefault(cells[0], set())
        if grade > 0:
            found.add(cells[-2])
    if not relevant:
        raise LoadError(f"{name} holds no judgement. Give a file with lines of query, 0, document, grade.")
    return Judgements({query: frozenset(ids) for query, ids in relevant.items()})


def mark_of_grade(text: str) -> float | None:
    """Read a grade.

    :param text: digits.
    :returns: the number, None if it is none.
    """
    try:
        return float(text)
    except ValueError:
        return None


def judge(lists: Sequence[RankedList], judgements: Judgements) -> Marks:
    """Mark the documents that were judged relevant.

    :param lists: ranked lists; their queries are the judgements' queries, their documents' ids the judgements'.
    :param judgements: the judgements.
    :returns: marks; a document that was not judged is not relevant, a list whose query was not judged has none.
    :raises LoadError: if not one query of the lists was judged, or not one of their documents relevant.
    """
    marks: list[tuple[bool, ...] | None] = []
    for ranked in lists:
        # A run names its queries, but has no text of theirs.
        keys = (key for key in (ranked.query, ranked.name) if key in judgements.relevant)
        ids = next((judgements.relevant[key] for key in keys if key is not None), None)
        marks.append(None if ids is None else tuple(document.id in ids for document in ranked.documents))
    if all(mark is None for mark in marks):
        query = next((ranked.query or ranked.name for ranked in lists), "")
        given = next(iter(judgements.relevant))
        raise LoadError(
            f"The judgements name queries such as {given[:60]!r} and the ranked lists such as {query[:60]!r}: "
            f"none is the same. Give the judgements of these lists, with the queries named alike."
        )
    if not any(any(mark) for mark in marks if mark is not None):
        judged = next((ident for ids in judgements.relevant.values() for ident in ids), "")
        ident = next((document.id for ranked in lists for document in ranked.documents), "")
        raise LoadError(
            f"The judgements name relevant documents such as {judged[:60]!r} and the ranked lists such as "
            f"{ident[:60]!r}: none of them is in its list. Give both with the same ids."
        )
    return tuple(marks)
