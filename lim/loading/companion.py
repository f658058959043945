"""A second file with the texts, for runs and reranker responses that carry only ids or indices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from haystack import Document

from lim.errors import MissingTextError
from lim.loading.documents import build
from lim.loading.model import Reading
from lim.loading.names import RANK, id_preference, is_score, normalise
from lim.loading.notes import Notes
from lim.loading.plan import make_plan
from lim.loading.shapes.find import Listing
from lim.loading.shapes.registry import GENERIC
from lim.loading.shapes.shape import get, has_path
from lim.loading.values import id_of


@dataclass(frozen=True, slots=True)
class Texts:
    """The documents of a second file.

    :param name: what a person calls it.
    :param by_item: by their place in its list, counted from 0, left-out records too.
    :param by_id: by their id, where it has ids.
    """

    name: str
    by_item: dict[int, Document]
    by_id: dict[str, Document]


def texts_of(listings: list[Listing], name: str) -> Texts:
    """Take the documents of a second file.

    :param listings: the lists found in it.
    :param name: what a person calls it.
    :returns: its documents by place (of its first list) and by id (of all).
    """
    by_item: dict[int, Document] = {}
    by_id: dict[str, Document] = {}
    for number, listing in enumerate(listings):
        plan = make_plan([listing], Reading(), Notes())
        plan.rank = plan.query = None
        built = build(listing, plan, Reading(), Notes())
        for item, document in zip(built.items, built.documents, strict=True):
            if number == 0:
                by_item[item] = document
            if plan.id is not None and id_of(get(listing.records[item], plan.id)) is not None:
                by_id.setdefault(document.id, document)
    return Texts(name, by_item, by_id)


def needs_texts(listing: Listing) -> bool:
    """Tell a list that points at documents without holding their texts.

    :param listing: the list.
    :returns: whether it is one.
    """
    if not listing.shape.texts_elsewhere:
        return False
    for record in listing.records:
        if isinstance(record, dict):
            path = listing.shape.text_path(record)
            if path is not None and has_path(record, path) and get(record, path) is not None:
                return False
    return True


def run_id(listing: Listing) -> str | None:
    """Find the id by which a run points at documents.

    :param listing: records without a text.
    :returns: the name of the id field, None if the records rank nothing.
    """
    keys: dict[str, None] = {}
    for record in listing.records[:50]:
        if isinstance(record, dict):
            keys.update(dict.fromkeys(record))
    ids = sorted((place, key) for key in keys if (place := id_preference(key)) is not None)
    ranks = any(is_score(key) or normalise(key) in RANK for key in keys)
    return ids[0][1] if ids and ranks else None


def join_by_index(listing: Listing, texts: Texts | None, notes: Notes) -> Listing:
    """Give a reranker's response the texts it points at.

    :param listing: its records, each with an index counted from 0.
    :param texts: the documents that were sent.
    :param notes: told about indices beyond them.
    :returns: the list with texts.
    :raises MissingTextError: if there is no second file.
    """
    if texts is None:
        raise MissingTextError(
            f"The input is a reranker's response: {len(listing.records)} indices with scores, but not the texts. Load "
            "the documents that were sent, in the order they were sent, as a second file beside it."
        )

    def find(record: dict[str, Any]) -> tuple[Document | None, str]:
        index = next((value for key, value in record.items() if normalise(key) == "index"), None)
        document = texts.by_item.get(index) if type(index) is int else None
        return document, f"index {index}"

    joined = _join(listing, texts, find, notes, with_id=bool(texts.by_id))
    return replace(joined, shape=replace(GENERIC, name=listing.shape.name, drop=("index", "object")))


def join_by_id(listing: Listing, key: str, texts: Texts | None, name: str, notes: Notes) -> Listing:
    """Give a run the texts of the documents it names.

    :param listing: its records.
    :param key: the field with the id.
    :param texts: the corpus.
    :param name: what a person calls the input.
    :param notes: told about ids that the corpus has not.
    :returns: the list with texts.
    :raises MissingTextError: if there is no second file, or it has none of the ids.
    """
    if texts is None:
        raise MissingTextError(
            f"{name} ranks {len(listing.records):,} documents by their ids ({key!r}) but holds no text. Load the "
            "corpus, a file with the text of each id, as a second file beside it."
        )

    def find(record: dict[str, Any]) -> tuple[Document | None, str]:
        ident = id_of(record.get(key))
        return (None if ident is None else texts.by_id.get(ident)), f"id {ident}"

    joined = _join(listing, texts, find, notes, with_id=False)
    if not joined.records:
        raise MissingTextError(
            f"{texts.name} has none of the ids in {name}, such as {_first_id(listing, key)!r}. Load the corpus that "
            "the run was made on; its id field must be named like one (`_id`, `docid`, `id`)."
        )
    return replace(joined, shape=replace(GENERIC, name="run with the texts of a second file"))


def _join(
    listing: Listing,
    texts: Texts,
    find: Callable[[dict[str, Any]], tuple[Document | None, str]],
    notes: Notes,
    *,
    with_id: bool,
) -> Listing:
    records: list[Any] = []
    kept: list[int] = []
    for index, record in enumerate(listing.records):
        if not isinstance(record, dict):
            notes.left_out("It is no object with an id or an index.", listing.places[index])
            continue
        document, what = find(record)
        if document is None:
            notes.left_out(f"{texts.name} has no text for it.", f"{listing.places[index]} ({what})")
            continue
        extra = {"id": document.id} if with_id else {}
        records.append({**record, **extra, "content": document.content, "meta": document.meta})
        kept.append(index)
    return replace(listing, records=records, places=listing.places.pick(kept))


def _first_id(listing: Listing, key: str) -> str | None:
    return next((id_of(record.get(key)) for record in listing.records if isinstance(record, dict)), None)
