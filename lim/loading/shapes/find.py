"""Finding the lists of documents in a tree: a walk that knows what they are called, and what is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lim.loading.containers.jsonish import parse_text
from lim.loading.containers.source import Places, Rows, Source
from lim.loading.limits import check_nesting, check_time
from lim.loading.names import (
    LISTS,
    META,
    NOT_DOCUMENTS,
    QUERY,
    QUERY_ID,
    SPAN,
    TEXT_LISTS,
    last_part,
    normalise,
)
from lim.loading.shapes.layouts import (
    columns_as_rows,
    columns_to_records,
    header_and_rows,
    pairs_as_records,
    records_by_id,
    run_by_query,
    split_orient,
    unflatten,
    unflattened,
    with_attributes,
)
from lim.loading.shapes.registry import COLUMNS, GENERIC, SHAPES, TEXTS
from lim.loading.shapes.shape import Shape, locate

SAMPLE_RECORDS = 60
MAX_TEXT_IN_TEXT = 20_000_000
_NUMBERS = re.compile(r"(?:\[\d+\])+")
_INDEX = re.compile(r"\[\d+\]|\b(?:line|row|value|part) \d+")


@dataclass(slots=True)
class Listing:
    """A list of records that are documents, before fields are chosen.

    :param path: where it stands, empty for the whole input.
    :param key: its normalised name.
    :param records: its items; those that are no objects are named as left out later.
    :param places: where each item stands.
    :param shape: what the items are.
    :param query: the query it answers, where something around it says.
    :param query_id: the id of that query.
    :param table: its items are rows of a table.
    """

    path: str
    key: str
    records: Sequence[Any]
    places: Places
    shape: Shape
    query: str | None = None
    query_id: str | None = None
    table: bool = False

    @property
    def pattern(self) -> str:
        """The path without its numbers: lists that differ only there answer different queries alike."""
        return _INDEX.sub("[]", self.path)


@dataclass(frozen=True, slots=True)
class _Context:
    path: str = ""
    key: str = ""
    query: str | None = None
    query_id: str | None = None
    depth: int = 0


@dataclass(slots=True)
class Finder:
    """One walk over a tree.

    :param table: the rows at the top are rows of a table.
    :param found: the lists of documents.
    :param unknown: lists of objects in which no field is named like a text.
    :param barren: places of items in which no list was found although others of their list hold some.
    """

    table: bool = False
    found: list[Listing] = field(default_factory=list)
    unknown: list[Listing] = field(default_factory=list)
    barren: list[str] = field(default_factory=list)
    steps: int = 0

    def visit(self, value: Any, at: _Context) -> None:  # noqa: ANN401 - any plain value
        """Look for lists in a value.

        :param value: any plain value.
        :param at: where it stands, and what the objects around it say of the query.
        """
        check_nesting(at.depth)
        self.steps += 1
        if self.steps % 4096 == 0:
            check_time()
        if isinstance(value, list):
            self.visit_list(value, at, None)
        elif isinstance(value, dict):
            self.visit_object(value, at)
        elif isinstance(value, str) and (parsed := _list_in_text(value, at)) is not None:
            self.visit(parsed, at)

    def visit_list(self, items: list[Any], at: _Context, places: Places | None) -> None:
        """Take a list as documents, or look inside its items.

        :param items: the list.
        :param at: where it stands.
        :param places: where its items stand, if not at numbers in brackets.
        """
        if not items:
            return
        places = places or Places(f"{at.path}[", range(len(items)), "]")
        items = pairs_as_records(items)
        objects = [item for item in items if isinstance(item, dict)]
        if 2 * len(objects) >= len(items) or (objects and not at.path):
            self.visit_records(items, objects, at, places)
        elif _mostly_texts(items):
            if at.key in TEXT_LISTS or (not at.key and not self.table and _only_numbers(at.path)):
                self.add(at, [{"content": item} for item in items], places, TEXTS)
        elif (rows := header_and_rows(items)) is not None:
            self.visit_list(rows, at, Places(f"{at.path}[", range(1, len(items)), "]"))
        else:
            for index, item in enumerate(items):
                if isinstance(item, list | dict):
                    self.visit(item, self.inside(at, places[index]))

    def visit_records(self, items: list[Any], objects: list[dict[str, Any]], at: _Context, places: Places) -> None:
        """Take a list of objects as documents, or look inside each.

        :param items: the list.
        :param objects: those of its items that are objects.
        :param at: where it stands.
        :param places: where its items stand.
        """
        items, objects = unflattened(items, objects)
        shape = recognise(objects, at.key)
        if shape is not None:
            self.add(at, items, places, shape)
            return
        known = len(self.found)
        barren: list[str] = []
        for index, item in enumerate(items):
            before = len(self.found)
            if _is_worth_a_visit(item):
                self.visit(item, self.inside(at, places[index]))
            if len(self.found) == before and not is_span(item):
                barren.append(places[index])
        if len(self.found) > known:
            self.barren.extend(barren)
        elif objects:
            self.unknown.append(self.listing(at, items, places, GENERIC))

    def visit_object(self, value: dict[str, Any], at: _Context) -> None:
        """Look for lists in an object, and take it as one document if there are none.

        :param value: the object.
        :param at: where it stands.
        """
        if "role" in value and ("content" in value or "parts" in value):
            return  # a chat message
        value = unflatten(with_attributes(value))
        at = _with_query(value, at)
        if (rows := columns_as_rows(value)) is not None:
            self.visit_list(rows, at, None)
            return
        known = len(self.found)
        used = self.visit_columns(value, at)
        if (split := split_orient(value)) is not None:
            self.visit_list(split, at, None)
            return
        for key, inner in value.items():
            name = normalise(key)
            if key in used or name in NOT_DOCUMENTS or last_part(key) in NOT_DOCUMENTS or name in META:
                continue
            if isinstance(inner, list | dict) or (isinstance(inner, str) and _may_hold_list(key, inner)):
                path = f"{at.path}{_joint(at.path)}{key}"
                self.visit(inner, replace(at, path=path, key=last_part(key), depth=at.depth + 1))
        if len(self.found) == known and _is_record_place(at):
            if not at.path and (run := run_by_query(value)) is not None:
                self.unknown.append(self.listing(at, run, Places("entry ", range(1, len(run) + 1)), GENERIC))
            elif (by_id := records_by_id(value)) is not None:
                self.add(at, by_id, Places(f"{at.path}[", range(len(by_id)), "]"), recognise(by_id, at.key) or GENERIC)
            elif (shape := recognise([value], at.key)) is not None:
                self.add(at, [value], Places(at.path or "the only record", [""]), shape)

    def visit_columns(self, value: dict[str, Any], at: _Context) -> frozenset[str]:
        """Take lists that stand side by side as documents.

        :param value: the object that holds them.
        :param at: where it stands.
        :returns: the keys taken.
        """
        names = {normalise(key): key for key in value}
        for columns in COLUMNS:
            taken = columns_to_records(value, names, columns)
            if taken is None:
                continue
            keys, lists = taken
            for number, (records, items) in enumerate(lists):
                path = f"{at.path}{_joint(at.path)}{keys[0]}" + (f"[{number}]" if len(lists) > 1 else "")
                here = replace(at, path=path, key=normalise(keys[0]))
                shape = replace(GENERIC, name=columns.name)
                self.add(here, records, Places(f"{path}[", items, "]"), shape)
            return frozenset(keys)
        return frozenset()

    def inside(self, at: _Context, path: str) -> _Context:
        """Go from a list to one of its items.

        :param at: where the list stands.
        :param path: where the item stands.
        :returns: where the item stands, under the list's name.
        """
        return replace(at, path=path, depth=at.depth + 1)

    def listing(self, at: _Context, records: Sequence[Any], places: Places, shape: Shape) -> Listing:
        """Make a listing.

        :param at: where it stands.
        :param records: its items.
        :param places: where they stand.
        :param shape: what they are.
        :returns: the listing.
        """
        return Listing(at.path, at.key, records, places, shape, at.query, at.query_id, self.table and not at.path)

    def add(self, at: _Context, records: Sequence[Any], places: Places, shape: Shape) -> None:
        """Keep a list of documents.

        :param at: where it stands.
        :param records: its items.
        :param places: where they stand.
        :param shape: what they are.
        """
        self.found.append(self.listing(at, records, places, shape))


def find_listings(source: Source) -> Finder:
    """Find the lists of documents of an input.

    :param source: the input as plain values.
    :returns: the walk, with what it found.
    :raises LimitError: if the values nest too deep or the walk takes too long.
    """
    finder = Finder(table=source.table)
    if source.places is None:
        finder.visit(source.root, _Context())
    elif isinstance(source.root, Rows):
        shape = recognise(source.root, "")
        if shape is None:
            finder.visit_list(list(source.root), _Context(), source.places)
        else:
            finder.add(_Context(), source.root, source.places, shape)
    else:
        finder.visit_list(source.root, _Context(), source.places)
    return finder


def recognise(records: Sequence[dict[str, Any]], key: str) -> Shape | None:
    """Find the shape of a list of objects.

    :param records: the objects.
    :param key: the normalised name of the list.
    :returns: the first shape that fits, None if the objects are not documents.
    """
    step = max(1, len(records) // SAMPLE_RECORDS)
    sample = records[::step][:SAMPLE_RECORDS]
    if any("role" in record and ("content" in record or "parts" in record) for record in sample):
        return None
    for shape in SHAPES:
        if shape.matches(sample, key) and (not shape.texts_elsewhere or _points_elsewhere(sample)):
            return shape
    groups = sum(_holds_lists(record) for record in sample)
    own = sum(_has_text(record) for record in sample)
    if 2 * groups > len(sample) - sum(map(_retrieved_nothing, sample)) and not own:
        return None
    return GENERIC if any(locate(record) is not None for record in sample) else None


def _mostly_texts(items: list[Any]) -> bool:
    """Tell a list of texts, of which some may be missing or numbers."""
    texts = sum(isinstance(item, str) for item in items)
    return 2 * texts >= len(items) and not any(isinstance(item, list | dict) for item in items)


def _only_numbers(path: str) -> bool:
    return not path or _NUMBERS.fullmatch(path) is not None


def is_span(item: Any) -> bool:  # noqa: ANN401 - any plain value
    """Tell a step of a trace: most retrieve nothing, and that is no loss.

    :param item: any plain value.
    :returns: whether it is one.
    """
    return isinstance(item, dict) and not SPAN.isdisjoint(map(last_part, item))


def _is_worth_a_visit(item: Any) -> bool:  # noqa: ANN401 - any plain value
    """Skip flat objects without a text: a table may have very many of them."""
    if not isinstance(item, dict):
        return isinstance(item, list)
    return any(isinstance(v, list | dict) or (isinstance(v, str) and v[:1] in "[{(") for v in item.values()) or (
        locate(item) is not None
    )


def _points_elsewhere(sample: Sequence[dict[str, Any]]) -> bool:
    def is_index(record: dict[str, Any]) -> bool:
        return any(normalise(key) == "index" and type(value) is int for key, value in record.items())

    return all(is_index(record) for record in sample)


def _holds_lists(record: dict[str, Any]) -> bool:
    for key, value in record.items():
        name = last_part(key)
        if name not in LISTS | TEXT_LISTS or name in NOT_DOCUMENTS:
            continue
        items = value
        if isinstance(value, str) and value[:1] in ("[", "{", "("):
            return True
        if isinstance(value, dict) and _holds_lists(value):
            return True
        if isinstance(items, list) and items and isinstance(items[0], dict | list | str):
            return True
    return False


def _retrieved_nothing(record: dict[str, Any]) -> bool:
    lists = [value for key, value in record.items() if last_part(key) in TEXT_LISTS]
    return bool(lists) and all(value in ([], None) for value in lists)


def _has_text(record: dict[str, Any]) -> bool:
    path = locate(record)
    if path is None or len(path) != 1:
        return False
    value = record[path[0]]
    return isinstance(value, str) and not (value[:1] in ("[", "{") and last_part(path[0]) in TEXT_LISTS)


def _list_in_text(value: str, at: _Context) -> Any:  # noqa: ANN401 - any plain value
    stripped = value[:64].lstrip()
    if len(value) > MAX_TEXT_IN_TEXT or not (stripped[:1] in ("[", "{") or stripped.startswith("Document(")):
        return None
    parsed = parse_text(value)
    return parsed if isinstance(parsed, list | dict) and at.depth < 20 else None


def _may_hold_list(key: str, value: str) -> bool:
    head = value[:64].lstrip()
    return head[:1] in ("[", "{") and (
        last_part(key) in LISTS | TEXT_LISTS or normalise(key) in {"output.value", "haystack.component.output"}
    )


def _is_record_place(at: _Context) -> bool:
    return not at.path or at.key in LISTS or _INDEX.fullmatch(at.path) is not None


def _joint(path: str) -> str:
    if not path:
        return ""
    return ": " if _INDEX.fullmatch(path) and not path.startswith("[") else "."


def _with_query(value: dict[str, Any], at: _Context) -> _Context:
    text, ident = None, None
    for key, inner in value.items():
        name = normalise(key)
        if isinstance(inner, dict) and name in {"query", "inputs", "input", "attributes", "queryparameters"}:
            nested = _with_query(inner, replace(at, query=None, query_id=None))
            text, ident = text or nested.query or _text_of(inner, name), ident or nested.query_id
        elif (
            isinstance(inner, str)
            and inner
            and (_is_query(name) or name == "input")
            and (text is None or _is_query(name))
        ):
            if len(inner) <= 5_000 and inner[:1] not in ("[", "{"):
                text = inner
        elif name in QUERY_ID and isinstance(inner, str | int) and not isinstance(inner, bool):
            ident = str(inner)
    if text is None and ident is None:
        return at
    return replace(at, query=text or (at.query if ident is None else None), query_id=ident)


def _is_query(name: str) -> bool:
    return name in QUERY or name.endswith(".input.value")


def _text_of(value: dict[str, Any], name: str) -> str | None:
    text = value.get("text", value.get("value") if name == "input" else None)
    return text if isinstance(text, str) and text[:1] not in ("[", "{") else None
