"""Records to Haystack documents: text, id, score and meta as the input has them, or the record named as left out."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from haystack import Document
from haystack.dataclasses import ByteStream, SparseEmbedding

from lim.loading.containers.source import Rows
from lim.loading.limits import check_characters, check_documents, check_time
from lim.loading.model import Order, Reading
from lim.loading.names import words
from lim.loading.notes import Notes
from lim.loading.plan import Plan
from lim.loading.scores import column_of, pick_score, rank_order
from lim.loading.shapes.find import Listing
from lim.loading.shapes.shape import Path, get, has_path, is_meta
from lim.loading.values import NoText, id_of, mark_of, text_of

HAYSTACK_SHAPE = "Haystack documents"
_BLANK = vars(Document(id="blank", content=""))
_META_KEYS = frozenset(("meta", "metadata", "Meta", "Metadata", "extra_info", "cmetadata"))
_HAYSTACK = frozenset(
    words(
        """
    id content blob meta score embedding sparse_embedding content_type id_hash_keys dataframe
    """
    )
)


@dataclass(slots=True)
class Built:
    """The documents of one list, in relevance order.

    :param documents: the documents.
    :param items: for each document the number of its record in the list.
    :param score: path to the score taken, None without one.
    :param lower_is_better: the numbers are distances.
    :param distances: the distances, where the numbers are some.
    :param relevant: for each document whether it is marked relevant.
    :param order: how the order was taken.
    """

    documents: list[Document]
    items: Sequence[int]
    score: Path | None = None
    lower_is_better: bool = False
    distances: list[float | None] | None = None
    relevant: list[bool] | None = None
    order: Order = Order.LISTED


@contextmanager
def paused_collection() -> Iterator[None]:
    """Build many objects without the garbage collector walking through all of them again and again."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            # There and back puts what was built among the old objects, without a walk through it.
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def build(listing: Listing, plan: Plan, reading: Reading, notes: Notes) -> Built:
    """Make the documents of one list.

    :param listing: its records.
    :param plan: which field is what.
    :param reading: a person's choices.
    :param notes: told about every record left out and every value changed.
    :returns: the documents in relevance order.
    :raises LimitError: if there are too many documents, or one is too long.
    """
    texts, items = _texts(listing, plan, notes)
    records = listing.records
    if len(items) < len(records):
        records = [records[item] for item in items]
    order = rank_order(listing, plan, records, reading, notes)
    built = Built([], items, order=Order.RANK if order else Order.LISTED)
    if order:
        records = [records[index] for index in order]
        texts = [texts[index] for index in order]
        built.items = [items[index] for index in order]
    numbers, built.score, built.lower_is_better = pick_score(listing, plan, records, built.items, notes)
    _titles(plan, reading, records, texts)
    scores: Sequence[float | None] = [None] * len(texts) if built.lower_is_better or numbers is None else numbers
    if plan.relevant is not None:
        marks = [mark_of(value) for value in column_of(records, plan.relevant)]
        built.relevant = [bool(mark) for mark in marks] if any(mark is not None for mark in marks) else None
    ids: Sequence[str | None] = [None] * len(texts)
    if plan.id is not None and not reading.ignore_ids:
        ids = _ids(column_of(records, plan.id), listing, built.items, notes)
    metas, extras = _metas(plan, records), _extras(listing, plan, records, built.items, notes)
    check_time()
    built.documents = _documents(ids, texts, metas, scores, extras)
    if built.lower_is_better and numbers is not None:
        built.distances = list(numbers)
    _reorder(built, reading, numbers)
    return built


def _documents(
    ids: Iterable[str | None],
    texts: Iterable[str],
    metas: Iterable[dict[str, Any]],
    scores: Iterable[float | None],
    extras: Iterable[dict[str, Any] | None],
) -> list[Document]:
    """Make documents; with an id, without the constructor's bookkeeping, which costs more than reading the file."""
    made: list[Document] = []
    new = Document.__new__
    for ident, content, meta, score, extra in zip(ids, texts, metas, scores, extras, strict=False):
        if not ident or extra:
            made.append(Document(id=ident or "", content=content, meta=meta, score=score, **extra or {}))
            continue
        document = new(Document)
        fields = vars(document)
        fields.update(_BLANK)
        fields["id"], fields["content"], fields["meta"], fields["score"] = ident, content, meta, score
        made.append(document)
    return made


def _ids(values: Sequence[Any], listing: Listing, items: Sequence[int], notes: Notes) -> Sequence[str | None]:
    if all(values) and set(map(type, values)) == {str}:
        return values
    ids = [id_of(value) for value in values]
    for ident, value, item in zip(ids, values, items, strict=True):
        if ident is None and value is not None and value != "":
            what = "NaN or infinite" if isinstance(value, float) else _kind(value)
            notes.changed(f"Its id is {what}, which is none; Haystack makes one.", listing.places[item])
    return ids


def _metas(plan: Plan, records: Sequence[Any]) -> Iterator[dict[str, Any]]:
    if plan.shape.name == HAYSTACK_SHAPE:
        return map(_haystack_meta, records)
    if isinstance(records, Rows):
        left = plan.omit.get((), frozenset())
        names = [name for name in records.names if name not in left]
        if not names:
            return ({} for _ in range(len(records)))
        cells = zip(
            *(column for name, column in zip(records.names, records.columns, strict=True) if name in names), strict=True
        )
        return (dict(zip(names, row, strict=True)) for row in cells)
    return map(_meta_reader(plan), records)


def _extras(
    listing: Listing, plan: Plan, records: Sequence[Any], items: Sequence[int], notes: Notes
) -> Iterator[dict[str, Any] | None]:
    if plan.shape.name == HAYSTACK_SHAPE:
        pairs = zip(records, items, strict=True)
        return (_haystack_extras(record, notes, listing, item) for record, item in pairs)
    embedding = plan.embedding
    if embedding is None or plan.shape.exact:
        return repeat(None)
    return (_embedding(record, embedding) for record in records)


def _texts(listing: Listing, plan: Plan, notes: Notes) -> tuple[list[str], Sequence[int]]:
    first: Path = plan.text[0] if plan.text else ()
    simple = first[0] if len(first) == 1 else None
    if (
        isinstance(listing.records, Rows)
        and simple is not None
        and (cells := listing.records.column(simple)) is not None
    ):
        lengths = list(map(len, cells))
        longest = max(lengths)
        check_characters(longest, listing.places[lengths.index(longest)])
        return list(cells), range(len(cells))
    texts: list[str] = []
    items: list[int] = []
    for index, record in enumerate(listing.records):
        value = record.get(simple) if simple is not None and isinstance(record, dict) else None
        if not isinstance(value, str):
            if not isinstance(record, dict):
                notes.left_out(f"It is {_kind(record)} and not an object with a text.", listing.places[index])
                continue
            try:
                value, remark = text_of(_find_text(record, plan))
            except NoText as reason:
                notes.left_out(str(reason), listing.places[index])
                continue
            if remark:
                notes.changed(remark, listing.places[index])
        texts.append(value)
        items.append(index)
        if len(value) > 1_000_000:
            check_characters(len(value), listing.places[index])
    check_documents(len(texts))
    return texts, items


def _find_text(record: dict[str, Any], plan: Plan) -> Any:  # noqa: ANN401 - any plain value
    for path in plan.text:
        if has_path(record, path):
            return get(record, path)
    own = plan.shape.text_path(record)
    return None if own is None else get(record, own)


def _kind(value: Any) -> str:  # noqa: ANN401 - any plain value
    if value is None:
        return "null"
    return {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }.get(type(value), "a value")


def _titles(plan: Plan, reading: Reading, records: Sequence[Any], texts: list[str]) -> None:
    if not reading.prepend_title or plan.title is None:
        return
    for index, record in enumerate(records):
        title = get(record, plan.title)
        if isinstance(title, str) and title:
            texts[index] = f"{title}\n{texts[index]}"


def _meta_reader(plan: Plan) -> Any:  # noqa: ANN401 - a function of a record
    omit = plan.omit
    top = omit.get((), frozenset())
    holders = {path[: depth + 1] for path in plan.text for depth in range(len(path) - 1)}
    wrapper_keys = {path[0] for path in holders}

    def collect(record: dict[str, Any], path: Path, nested: dict[str, Any], own: dict[str, Any]) -> None:
        skip = omit.get(path, frozenset())
        for key, value in record.items():
            if key in skip:
                continue
            here = (*path, key)
            if is_meta(key, value) and here not in holders:
                if value:
                    inner = omit.get(here)
                    nested.update({k: v for k, v in value.items() if k not in inner} if inner else value)
            elif here in holders:
                if isinstance(value, dict):
                    collect(value, here, nested, own)
            else:
                own[key] = value

    def read(record: dict[str, Any]) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        own: dict[str, Any] = {}
        collect(record, (), nested, own)
        return {**nested, **own} if nested else own

    if wrapper_keys or set(omit) != {()}:
        return read
    nesting = _META_KEYS | {name for path in plan.fields.values() for name in path[:1] if is_meta(name, None)}

    def read_flat(record: dict[str, Any]) -> dict[str, Any]:
        if record.keys().isdisjoint(nesting):
            return {key: value for key, value in record.items() if key not in top}
        return read(record)

    return read_flat


def _haystack_meta(record: dict[str, Any]) -> dict[str, Any]:
    nested = record.get("meta")
    flat = {key: value for key, value in record.items() if key not in _HAYSTACK}
    return {**nested, **flat} if isinstance(nested, dict) else flat


def _haystack_extras(record: dict[str, Any], notes: Notes, listing: Listing, item: int) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if (embedding := record.get("embedding")) is not None:
        extra = _embedding(record, ("embedding",))
        if not extra:
            notes.changed(f"The embedding is {_kind(embedding)} and not a list of numbers.", listing.places[item])
    blob, sparse = record.get("blob"), record.get("sparse_embedding")
    try:
        if isinstance(blob, dict):
            extra["blob"] = ByteStream.from_dict(blob)
        if isinstance(sparse, dict):
            extra["sparse_embedding"] = SparseEmbedding.from_dict(sparse)
    except (TypeError, ValueError, KeyError, AttributeError):
        notes.changed(
            "The blob or sparse embedding cannot be read; the document is loaded without.", listing.places[item]
        )
    return extra


def _embedding(record: dict[str, Any], path: Path) -> dict[str, Any]:
    value = get(record, path)
    if isinstance(value, list) and value and all(type(number) in (float, int) for number in value):
        return {"embedding": value}
    return {}


def _reorder(built: Built, reading: Reading, numbers: Sequence[float | None] | None) -> None:
    if reading.order not in (Order.SCORE, Order.DISTANCE) or numbers is None:
        return
    sign = -1 if reading.order is Order.SCORE else 1
    order = sorted(
        range(len(built.documents)),
        key=lambda index: (numbers[index] is None, sign * (numbers[index] or 0.0)),
    )
    built.documents = [built.documents[index] for index in order]
    built.items = [built.items[index] for index in order]
    if built.relevant is not None:
        built.relevant = [built.relevant[index] for index in order]
    if built.distances is not None:
        built.distances = [built.distances[index] for index in order]
    built.order = reading.order
