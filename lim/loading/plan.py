"""Which field is what: decided once for lists that look alike, from names, values and a person's choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lim.errors import LoadError
from lim.loading.model import Reading
from lim.loading.names import (
    ANSWERS,
    EMBEDDING,
    MARKS,
    META,
    NOT_DOCUMENTS,
    QUERY,
    QUERY_ID,
    RANK,
    RELEVANT,
    TITLE,
    id_preference,
    is_score,
    last_part,
    normalise,
    text_preference,
)
from lim.loading.notes import Notes
from lim.loading.shapes.find import Listing
from lim.loading.shapes.registry import GUESSED
from lim.loading.shapes.shape import Path, Shape, get, is_parts, resolve, scalar_paths
from lim.loading.values import looks_numeric, may_be_number

SAMPLE = 200
PROSE_WORDS = 4
PROSE_CHARACTERS = 12


@dataclass(slots=True)
class Plan:
    """Where everything is in the records of some lists.

    :param shape: what the records are.
    :param text: paths to the text; the first that is there is taken.
    :param id: path to the id.
    :param scores: paths to numbers that may be the score, the chosen one first where a person chose.
    :param chosen_score: a person chose the score.
    :param rank: path to the rank.
    :param query: path to what says which query a record answers.
    :param query_text: path to the text of that query.
    :param title: path to the title.
    :param relevant: path to the mark of relevance.
    :param embedding: path to Haystack's embedding.
    :param omit: for the object at each path, the keys that do not become meta.
    :param fields: every field a person may choose.
    """

    shape: Shape
    text: tuple[Path, ...] = ()
    id: Path | None = None
    scores: tuple[Path, ...] = ()
    chosen_score: bool = False
    rank: Path | None = None
    query: Path | None = None
    query_text: Path | None = None
    title: Path | None = None
    relevant: Path | None = None
    embedding: Path | None = None
    omit: dict[Path, frozenset[str]] = field(default_factory=dict)
    fields: dict[str, Path] = field(default_factory=dict)


def make_plan(listings: Sequence[Listing], reading: Reading, notes: Notes) -> Plan:
    """Decide which field is what, for lists that look alike.

    :param listings: the lists.
    :param reading: a person's choices.
    :param notes: told where more than one field was plausible.
    :returns: the decisions.
    :raises LoadError: if a person chose a field that is not there.
    """
    shape = listings[0].shape
    sample = _sample(listings)
    fields = scalar_paths(sample)
    plan = Plan(shape, fields=fields)
    plan.text = _text_paths(sample, shape, fields, reading, notes, table=listings[0].table)
    taken = set(plan.text)
    holders = {path[:-1] for path in plan.text} | {()}
    plan.id = _chosen(reading.id, fields, "id", lambda: _id_path(sample, shape, fields, taken, holders))
    candidates = _score_paths(sample, shape, fields, taken, holders)
    chosen = _chosen(reading.score, fields, "score", lambda: None)
    if reading.score is not None:
        plan.chosen_score = True
        plan.scores = () if chosen is None else (chosen,)
    else:
        plan.scores = candidates
    exact = shape.exact
    plan.rank = _chosen(reading.rank, fields, "rank", lambda: None if exact else _first(fields, RANK, holders))
    plan.relevant = _relevant_path(sample, fields, holders)
    plan.title = _first(fields, TITLE, holders)
    query = _first(fields, QUERY_ID, {()} | holders) or _named(fields, QUERY, {()})
    plan.query = _chosen(reading.query, fields, "query", lambda: query)
    plan.query_text = _named(fields, QUERY, {()}) if reading.query is None else plan.query
    plan.embedding = next((p for p in (resolve(record, "embedding") for record in sample) if p), None)
    plan.omit = _omitted(sample, shape, plan, candidates, holders)
    for path in () if shape.exact else _empty_scores(sample, plan, holders):
        if any(value not in (None, "") for value in _values(sample, path)):
            notes.changed(f"The scores in {'.'.join(path)!r} are all NaN, infinite or blank; they are no scores.")
    return plan


def prose_field(listing: Listing) -> str | None:
    """Find the field that reads like text, where no name says so.

    :param listing: the records.
    :returns: its name; None if every field is short, constant, or named like something else.
    """
    sample = _sample([listing])
    best: tuple[float, str] | None = None
    for name, path in scalar_paths(sample).items():
        last = last_part(name)
        if last in ANSWERS | NOT_DOCUMENTS | set(QUERY) | QUERY_ID | TITLE | RANK or id_preference(name) is not None:
            continue
        values = [value for value in (_as_text(get(record, path)) for record in sample) if value]
        if not values or len(values) < len(sample) / 2 or (len(values) > 2 and len(set(values)) < len(values) / 3):
            continue
        words = sum(len(value.split()) for value in values) / len(values)
        length = sum(map(len, values)) / len(values)
        wide = sum(not value.isascii() for value in values) > len(values) / 2 and length >= PROSE_CHARACTERS
        if (words >= PROSE_WORDS or wide) and (best is None or length > best[0]):
            best = (length, name)
    return None if best is None else best[1]


def _as_text(value: Any) -> str:  # noqa: ANN401 - any plain value
    if is_parts(value):
        return "\n".join(part if isinstance(part, str) else part["text"] for part in value)
    return value if isinstance(value, str) else ""


def _sample(listings: Sequence[Listing]) -> list[dict[str, Any]]:
    share = max(1, SAMPLE // len(listings))
    sample: list[dict[str, Any]] = []
    for listing in listings[:: max(1, len(listings) // SAMPLE)]:
        step = max(1, len(listing.records) // share)
        sample.extend(record for record in listing.records[::step][:share] if isinstance(record, dict))
    return sample


def _text_paths(
    sample: list[dict[str, Any]],
    shape: Shape,
    fields: dict[str, Path],
    reading: Reading,
    notes: Notes,
    *,
    table: bool,
) -> tuple[Path, ...]:
    if reading.text and reading.text in fields:
        return (fields[reading.text],)
    if shape is GUESSED:
        return ()
    counts: Counter[Path] = Counter()
    for record in sample:
        if (path := shape.text_path(record)) is not None:
            counts[path] += 1
    paths = [path for path, _ in counts.most_common()]
    flat = [fields[name] for name in fields if text_preference(name) is not None and fields[name][:-1] == ()]
    if not shape.text and paths and len(paths[0]) == 1 and len(flat) > 1:
        best = _longest(sample, flat)
        if best != paths[0] and _length(sample, best) > 2 * _length(sample, paths[0]):
            paths = [best]
        others = ", ".join(path[0] for path in flat if path != paths[0])
        notes.guessed(f"The text is taken from the field {paths[0][0]!r}; {others} could be meant too.")
    return tuple(paths)


def _longest(sample: list[dict[str, Any]], paths: list[Path]) -> Path:
    return max(paths, key=lambda path: _length(sample, path))


def _length(sample: list[dict[str, Any]], path: Path) -> float:
    values = [value for value in (get(record, path) for record in sample) if isinstance(value, str)]
    if len(set(values)) <= 1 < len(values):
        return 0.0  # the same in every record: a query or a label
    return sum(map(len, values)) / max(1, len(values))


def _chosen(name: str | None, fields: dict[str, Path], role: str, default: Callable[[], Path | None]) -> Path | None:
    if name is None:
        return default()
    if name == "":
        return None
    return fields.get(name, default())


def check_choices(reading: Reading, plans: Sequence[Plan]) -> None:
    """Refuse a choice of a field that no list has.

    :param reading: a person's choices.
    :param plans: the plans of all lists.
    :raises LoadError: if a chosen field is nowhere.
    """
    for role in ("text", "id", "score", "rank", "query"):
        name = getattr(reading, role)
        if name and not any(name in plan.fields for plan in plans):
            known = ", ".join(list(plans[0].fields)[:20])
            raise LoadError(f"There is no field {name!r} to take the {role} from. The fields are: {known}.")


def _id_path(
    sample: list[dict[str, Any]], shape: Shape, fields: dict[str, Path], taken: set[Path], holders: set[Path]
) -> Path | None:
    for pattern in shape.id:
        found = [path for path in (resolve(record, pattern) for record in sample) if path is not None]
        if found and any(get(record, found[0]) is not None for record in sample):
            return found[0]
    if shape.exact:
        return None
    # The record's own id before one inside what it wraps.
    best: tuple[int, int, Path] | None = None
    for path in fields.values():
        if path in taken or path[:-1] not in holders:
            continue
        place = id_preference(path[-1])
        if place is None or all(get(record, path) in (None, "") for record in sample):
            continue
        candidate = (len(path), place, path)
        if best is None or candidate[:2] < best[:2]:
            best = candidate
    return None if best is None else best[2]


def _score_paths(
    sample: list[dict[str, Any]], shape: Shape, fields: dict[str, Path], taken: set[Path], holders: set[Path]
) -> tuple[Path, ...]:
    found: list[Path] = []
    for pattern in shape.score:
        path = next((path for path in (resolve(record, pattern) for record in sample) if path is not None), None)
        if path is not None and path not in found and _is_numeric(sample, path):
            found.append(path)
    if shape.exact or (shape.score and found):
        return tuple(found)
    shallow = [path for path in fields.values() if path not in taken and is_score(path[-1])]
    shallow = [path for path in shallow if _is_numeric(sample, path)]
    near = [path for path in shallow if path[:-1] in holders and not (path[:-1] and normalise(path[-2]) in META)]
    return tuple(near or [path for path in shallow if len(path) <= 2])


def _is_numeric(sample: list[dict[str, Any]], path: Path) -> bool:
    values = [value for value in (get(record, path) for record in sample) if value not in (None, "")]
    finite = sum(looks_numeric(value) for value in values)
    return finite > 0 and 2 * sum(map(may_be_number, values)) >= len(values)


def _first(fields: dict[str, Path], names: frozenset[str], holders: set[Path]) -> Path | None:
    return next((path for path in fields.values() if path[:-1] in holders and normalise(path[-1]) in names), None)


def _named(fields: dict[str, Path], names: Sequence[str], holders: set[Path]) -> Path | None:
    found = [
        (names.index(normalise(p[-1])), p) for p in fields.values() if p[:-1] in holders and normalise(p[-1]) in names
    ]
    return min(found)[1] if found else None


def _relevant_path(sample: list[dict[str, Any]], fields: dict[str, Path], holders: set[Path]) -> Path | None:
    named = []
    for path in fields.values():
        holder = path[:-1]
        inner = bool(holder) and normalise(holder[-1]) in META and holder[:-1] in holders
        if (holder in holders or inner) and normalise(path[-1]) in RELEVANT:
            named.append((inner and holder not in holders, RELEVANT.index(normalise(path[-1])), path))
    for _, _, path in sorted(named):
        values = [get(record, path) for record in sample]
        known = [value for value in values if value not in (None, "")]
        if known and all(
            isinstance(value, bool)
            or (isinstance(value, int | float) and value in (0, 1, 2, 3, 4))
            or (isinstance(value, str) and value.strip().casefold() in MARKS)
            for value in known
        ):
            return path
    return None


def _omitted(
    sample: list[dict[str, Any]], shape: Shape, plan: Plan, candidates: tuple[Path, ...], holders: set[Path]
) -> dict[Path, frozenset[str]]:
    """Group what does not become meta: text, id, score, rank, vectors, and what is the tool's own."""
    paths: list[Path | None] = [*plan.text, plan.id, *plan.scores, plan.rank, *_vectors(sample, holders)]
    if plan.id is None or not shape.exact:
        paths += [path for path in plan.fields.values() if path[:-1] in holders and normalise(path[-1]) == "id"]
    if not shape.exact:
        paths += candidates
        paths += _empty_scores(sample, plan, holders)
        paths += [path for path in plan.fields.values() if path[:-1] == () and normalise(path[-1]) in RANK]
    paths += [resolve(record, pattern) for pattern in shape.drop for record in sample]
    omit: dict[Path, set[str]] = {(): set()}
    for path in paths:
        if path is not None:
            omit.setdefault(path[:-1], set()).add(path[-1])
    return {path: frozenset(keys) for path, keys in omit.items()}


def _empty_scores(sample: list[dict[str, Any]], plan: Plan, holders: set[Path]) -> list[Path]:
    """Find scores that hold no number at all: they rank nothing, and are not the user's own fields either."""
    named = [path for path in plan.fields.values() if path[:-1] in holders and is_score(path[-1])]
    return [
        path
        for path in named
        if path not in plan.text and not any(map(looks_numeric, values := _values(sample, path)))
        if all(map(may_be_number, values))
    ]


def _values(sample: list[dict[str, Any]], path: Path) -> list[Any]:
    return [get(record, path) for record in sample]


def _vectors(sample: list[dict[str, Any]], holders: set[Path]) -> list[Path]:
    return [
        (*holder, key)
        for record in sample
        for holder in holders
        if isinstance(inner := get(record, holder), dict)
        for key, value in inner.items()
        if normalise(key) in EMBEDDING and (value is None or isinstance(value, list | dict))
    ]
