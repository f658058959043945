"""Ways to write a list of records other than as a list of objects: columns, pairs, flattened keys, objects by id."""

from __future__ import annotations

import re
from typing import Any

from lim.loading.containers.jsonish import parse_text
from lim.loading.names import NOT_DOCUMENTS, QUERY, normalise, text_preference
from lim.loading.shapes.registry import Columns
from lim.loading.shapes.shape import locate

SAMPLE_RECORDS = 60
_FLAT_INDEX = re.compile(r"(.*?)\.(\d{1,6})(?:\.(.*))?\Z", re.DOTALL)


def unflatten(value: dict[str, Any]) -> dict[str, Any]:
    """Rebuild lists that were flattened into keys such as `retrieval.documents.10.document.content`.

    :param value: an object.
    :returns: the object with the lists, in the order of their numbers; the same object if there are none.
    """
    lists: dict[str, dict[int, Any]] = {}
    rest: dict[str, Any] = {}
    for key, inner in value.items():
        match = _FLAT_INDEX.match(key) if "." in key else None
        if match is None:
            rest[key] = inner
            continue
        items = lists.setdefault(match[1], {})
        index = int(match[2])
        if match[3] is None:
            items[index] = inner
        else:
            item = items.setdefault(index, {})
            if isinstance(item, dict):
                item[match[3]] = inner
    if not lists:
        return value
    for key, items in lists.items():
        ordered = [items[index] for index in sorted(items)]
        rest.setdefault(key, [unflatten(item) if isinstance(item, dict) else item for item in ordered])
    return rest


def columns_to_records(
    value: dict[str, Any], names: dict[str, str], columns: Columns
) -> tuple[list[str], list[tuple[list[Any], range]]] | None:
    """Read lists that stand side by side.

    :param value: the object that holds them.
    :param names: its keys by their normalised names.
    :param columns: what they are called.
    :returns: the keys taken, and for each query its records and their numbers; None if they are not there.
    """
    text_key = next((names[name] for name in columns.text if name in names), None)
    if text_key is None:
        return None
    texts = _as_list(value[text_key])
    if (
        not isinstance(texts, list)
        or not texts
        or not all(item is None or isinstance(item, str | list) for item in texts)
    ):
        return None
    nested = any(isinstance(item, list) for item in texts)
    beside = [name for name in columns.beside if name in names and isinstance(_as_list(value[names[name]]), list)]
    if (columns.beside and not beside) or (nested and not all(isinstance(item, list) for item in texts)):
        return None
    if not columns.beside and (nested or not all(isinstance(item, str) for item in texts)):
        return None
    roles = dict.fromkeys(columns.id, "id") | dict(columns.score) | dict.fromkeys(columns.meta, "meta")
    parallel: dict[str, list[Any]] = {}
    taken = [text_key]
    for name, key in names.items():
        items = _as_list(value[key]) if key != text_key else None
        if not isinstance(items, list) or len(items) != len(texts):
            continue
        if name in roles or (columns.beside and name not in NOT_DOCUMENTS | set(QUERY)):
            parallel.setdefault(roles.get(name, key), items)
            taken.append(key)
    groups = range(len(texts)) if nested else range(1)
    lists: list[tuple[list[Any], range]] = []
    for group in groups:
        inner = texts[group] if nested else texts
        side = {role: (items[group] if nested else items) for role, items in parallel.items()}
        side = {role: items for role, items in side.items() if isinstance(items, list) and len(items) == len(inner)}
        records = [
            {"content": text, **{role: items[index] for role, items in side.items()}}
            for index, text in enumerate(inner)
        ]
        lists.append((records, range(len(inner))))
    return taken, lists


def _as_list(value: Any) -> Any:  # noqa: ANN401 - any plain value
    if isinstance(value, str) and value[:1] in "[(" and value:
        return parse_text(value)
    return value


def pairs_as_records(items: list[Any]) -> list[Any]:
    """Read a list of pairs of a document and its score.

    :param items: a list.
    :returns: records with `document` and `score`; the same list if it is none of pairs.
    """

    def is_pair(item: Any) -> bool:  # noqa: ANN401 - any plain value
        return (
            isinstance(item, list)
            and len(item) == 2
            and sum(isinstance(part, int | float) and not isinstance(part, bool) for part in item) == 1
            and sum(isinstance(part, dict | str) for part in item) == 1
        )

    if not items or not all(is_pair(item) for item in items):
        return items
    records: list[Any] = []
    for first, second in items:
        document, score = (first, second) if isinstance(first, dict | str) else (second, first)
        records.append({"document": document, "score": score})
    return records


def unflattened(items: list[Any], objects: list[dict[str, Any]]) -> tuple[list[Any], list[dict[str, Any]]]:
    """Rebuild flattened lists in all objects of a list.

    :param items: the list.
    :param objects: those of its items that are objects.
    :returns: both, rebuilt; the same ones if there is nothing to rebuild.
    """
    if not any(any("." in key and _FLAT_INDEX.match(key) for key in record) for record in objects[:SAMPLE_RECORDS]):
        return items, objects
    items = [unflatten(item) if isinstance(item, dict) else item for item in items]
    return items, [item for item in items if isinstance(item, dict)]


def header_and_rows(items: list[Any]) -> list[Any] | None:
    """Read a list of rows under a row of names.

    :param items: a list of lists.
    :returns: the rows as objects, None if the first row names no text.
    """
    if len(items) < 2 or not all(isinstance(item, list) for item in items):
        return None
    header = items[0]
    if len(header) < 2 or not all(isinstance(cell, str) for cell in header):
        return None
    if not any(text_preference(cell) is not None for cell in header):
        return None
    if not all(len(item) == len(header) for item in items):
        return None
    return [dict(zip(header, item, strict=True)) for item in items[1:]]


def columns_as_rows(value: dict[str, Any]) -> list[Any] | None:
    """Read a data set of several queries held as columns, one item of each for a query.

    :param value: an object of lists.
    :returns: an object for each query, None if no list holds queries.
    """
    lists = {key: items for key, items in value.items() if isinstance(items, list)}
    lengths = {len(items) for items in lists.values()}
    asked = [key for key, items in lists.items() if normalise(key) in QUERY and all(isinstance(q, str) for q in items)]
    if not asked or len(lists) < 2 or len(lengths) != 1 or 0 in lengths:
        return None
    return [{key: items[index] for key, items in lists.items()} for index in range(lengths.pop())]


def split_orient(value: dict[str, Any]) -> list[Any] | None:
    """Read names of columns beside rows of cells, as pandas writes them.

    :param value: an object.
    :returns: the rows as objects, None if it is none of these.
    """
    columns, rows = value.get("columns"), value.get("data", value.get("rows"))
    if isinstance(columns, list) and isinstance(rows, list) and columns and rows:
        names = [column.get("name") if isinstance(column, dict) else column for column in columns]
        if all(isinstance(name, str) for name in names) and all(
            isinstance(row, list) and len(row) == len(names) for row in rows
        ):
            return [dict(zip(names, row, strict=True)) for row in rows]
    return None


def records_by_id(value: dict[str, Any]) -> list[Any] | None:
    """Read an object of objects by id, or of columns by row number, as BEIR and pandas write them.

    :param value: an object.
    :returns: the records, None if it is neither.
    """
    inner = list(value.values())
    if not inner or not all(isinstance(item, dict) for item in inner):
        return None
    keys = set(inner[0])
    if keys and all(key.isdigit() for key in keys) and all(set(item) == keys for item in inner):
        return [{name: column[row] for name, column in value.items()} for row in inner[0]]
    if 2 * sum(locate(item) is not None for item in inner) > len(inner):
        return [item if "id" in item or "_id" in item else {"id": key, **item} for key, item in value.items()]
    return None


def run_by_query(value: dict[str, Any]) -> list[Any] | None:
    """Read a run as evaluation tools hold it: query id to document id to score.

    :param value: an object.
    :returns: a record for each score, None if it is no run.
    """
    inner = list(value.values())
    if not inner or not all(isinstance(item, dict) and item for item in inner):
        return None
    if not all(type(score) in (int, float) for item in inner for score in item.values()):
        return None
    return [{"qid": q, "docid": d, "score": score} for q, scores in value.items() for d, score in scores.items()]


def with_attributes(value: dict[str, Any]) -> dict[str, Any]:
    """Read attributes given as a list of keys and typed values, as OpenTelemetry exports them.

    :param value: an object.
    :returns: it with `attributes` as an object; the same object if it has none of this kind.
    """
    listed = value.get("attributes")
    if not isinstance(listed, list) or not listed:
        return value
    attributes: dict[str, Any] = {}
    for item in listed:
        inner = item.get("value") if isinstance(item, dict) else None
        if not isinstance(inner, dict) or not isinstance(item.get("key"), str) or len(inner) != 1:
            return value
        attributes[item["key"]] = next(iter(inner.values()))
    return {**value, "attributes": attributes}
