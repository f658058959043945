"""What a shape entry says, and how one is matched against records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lim.loading.names import (
    META,
    NOT_DOCUMENTS,
    WRAPPERS,
    last_part,
    normalise,
    text_preference,
)

Path = tuple[str, ...]
"""The keys that lead from a record to a value. A key may itself be dotted, as columns of flattened tables are."""

_WRAPPER_RANK = {name: place for place, name in enumerate(WRAPPERS)}
_MAX_WRAPPERS = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of record, by the names its tool gives the fields.

    Names are written as `lim.loading.names.normalise` leaves them, dotted for nested fields; `x.*` is whatever field
    inside `x` is named like a text. What an entry does not say (most say little) is found by name.

    :param name: what a person calls it.
    :param about: how it is recognised, for the table of supported formats.
    :param keys: every one of these must be in a record; alternatives are separated by `|`.
    :param text: where the text is, the first that is there.
    :param id: where the id is.
    :param score: where the score is; a distance is told by its name.
    :param drop: fields that belong to the tool and not to the user: they do not become meta.
    :param exact: only the fields named here are id and score; nothing else is looked for.
    :param only_in: the list must be called one of these.
    :param texts_elsewhere: records may point into a list of documents that was sent, and hold no text.
    """

    name: str
    about: str
    keys: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    exact: bool = False
    only_in: tuple[str, ...] = ()
    texts_elsewhere: bool = False

    def matches(self, sample: Sequence[dict[str, Any]], key: str) -> bool:
        """Tell whether a list is of this shape.

        :param sample: some of its records.
        :param key: the normalised name of the list, empty at the top.
        :returns: whether most of them have the keys this shape asks for.
        """
        if not self.keys or (self.only_in and key not in self.only_in):
            return False
        found = sum(all(has(record, names) for names in self.keys) for record in sample)
        if 2 * found <= len(sample):
            return False
        # A record with a text of its own is not one that wraps a document.
        own = sum(_has_own_text(record) and len(self.text_path(record) or ()) > 1 for record in sample)
        return 2 * own <= len(sample)

    def text_path(self, record: dict[str, Any]) -> Path | None:
        """Find the text of one record.

        :param record: the record.
        :returns: the path to it, None if there is none.
        """
        for pattern in self.text:
            if (path := resolve(record, pattern)) is not None:
                return path
        return locate(record)


def _has_own_text(record: dict[str, Any]) -> bool:
    path = locate(record)
    return path is not None and len(path) == 1 and isinstance(record[path[0]], str)


def has(record: Any, names: str) -> bool:  # noqa: ANN401 - any plain value
    """Tell whether a record has a field.

    :param record: the record.
    :param names: dotted names, alternatives separated by `|`.
    :returns: whether any of them is there, even if it is null.
    """
    return any(resolve(record, name) is not None for name in names.split("|"))


def resolve(record: Any, pattern: str) -> Path | None:  # noqa: ANN401 - any plain value
    """Find the keys a pattern stands for.

    :param record: the record.
    :param pattern: normalised dotted names; a last `*` is the likeliest text field.
    :returns: the actual keys, None if they are not there.
    """
    if not isinstance(record, dict):
        return None
    for key in record:
        if normalise(key) == pattern:
            return (key,)
    head, _, rest = pattern.partition(".")
    if not rest:
        return None
    for key, value in record.items():
        if normalise(key) == head and isinstance(value, dict):
            if rest == "*":
                inner = locate(value)
                return None if inner is None else (key, *inner)
            if (tail := resolve(value, rest)) is not None:
                return (key, *tail)
    return None


def locate(record: dict[str, Any], depth: int = 0) -> Path | None:
    """Find the text of a record by the names of its fields.

    :param record: the record.
    :param depth: how many objects it already lies in.
    :returns: the path to the likeliest text: a field that holds text before one that is null, near before deep.
    """
    best: tuple[bool, int, str] | None = None
    for key, value in record.items():
        place = text_preference(key)
        if place is None or not (value is None or isinstance(value, str) or is_parts(value)):
            continue
        candidate = (value is None, place, key)
        if best is None or candidate[:2] < best[:2]:
            best = candidate
    if best is not None and not best[0]:
        return (best[2],)
    if depth < _MAX_WRAPPERS:
        wrapped = sorted(
            ((_WRAPPER_RANK[normalise(key)], key) for key, value in record.items() if _is_wrapper(key, value)),
        )
        for _, key in wrapped:
            if (inner := locate(record[key], depth + 1)) is not None:
                return (key, *inner)
    return None if best is None else (best[2],)


def is_parts(value: Any) -> bool:  # noqa: ANN401 - any plain value
    """Tell a text given as a list of parts.

    :param value: a value.
    :returns: whether it is a list of texts or of `{"text": ...}` objects.
    """
    if not isinstance(value, list) or not value or len(value) > 1000:
        return False
    return all(isinstance(item, str) for item in value) or all(
        isinstance(item, dict)
        and isinstance(item.get("text"), str)
        and (item.get("type") == "text" or set(item) == {"text"})
        for item in value
    )


def get(record: Any, path: Path) -> Any:  # noqa: ANN401 - any plain value
    """Follow a path.

    :param record: the record.
    :param path: the keys.
    :returns: the value, None where the path ends early.
    """
    for key in path:
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record


def has_path(record: Any, path: Path) -> bool:  # noqa: ANN401 - any plain value
    """Tell whether a path leads somewhere.

    :param record: the record.
    :param path: the keys.
    :returns: whether its last key is there, or an object on the way is null.
    """
    for key in path:
        if not isinstance(record, dict) or key not in record:
            return False
        record = record[key]
    return True


def scalar_paths(sample: Iterable[dict[str, Any]], depth: int = 3) -> dict[str, Path]:
    """List the fields of records that hold text, numbers or nothing.

    :param sample: some records.
    :param depth: how many objects to go into.
    :returns: dotted name to path, in order of appearance.
    """
    found: dict[str, Path] = {}

    def walk(value: dict[str, Any], path: Path) -> None:
        for key, inner in value.items():
            here = (*path, key)
            if isinstance(inner, dict) and inner and len(here) < depth and normalise(key) not in NOT_DOCUMENTS:
                walk(inner, here)
            elif not isinstance(inner, dict | list) or is_parts(inner):
                found.setdefault(".".join(here), here)

    for record in sample:
        walk(record, ())
    return found


def is_meta(key: str, value: Any) -> bool:  # noqa: ANN401 - any plain value
    """Tell an object that holds the user's own fields.

    :param key: its name.
    :param value: its value.
    :returns: whether its members belong into meta.
    """
    return (normalise(key) in META or ("." in key and last_part(key) in META)) and (
        value is None or isinstance(value, dict)
    )


def _is_wrapper(key: str, value: Any) -> bool:  # noqa: ANN401 - any plain value
    return isinstance(value, dict) and normalise(key) in _WRAPPER_RANK
