"""Listings to ranked lists: queries told apart, documents built, the list to show first chosen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lim.errors import LoadError
from lim.loading.companion import Texts, join_by_id, join_by_index, needs_texts, run_id
from lim.loading.containers.source import Source
from lim.loading.documents import Built, build
from lim.loading.limits import check_documents
from lim.loading.model import Loaded, Order, RankedList, Reading
from lim.loading.names import LISTS, normalise, text_preference
from lim.loading.notes import Notes
from lim.loading.plan import Plan, check_choices, make_plan, prose_field
from lim.loading.scores import column_of
from lim.loading.shapes.find import Finder, Listing, find_listings, is_span
from lim.loading.shapes.registry import GENERIC, GUESSED, TEXTS
from lim.loading.values import id_of

SHOWN_KEYS = 15
_RECORD = re.compile(r"\[\d+\]|(?:line|row|value|part) \d+")
_LAST_STAGE = re.compile(r"re-?rank|rank", re.IGNORECASE)
_ARRANGED = re.compile(r"lost|middle|litm|reorder", re.IGNORECASE)
_INPUT = re.compile(r"\binputs?\b|input_documents", re.IGNORECASE)


@dataclass(slots=True)
class Group:
    """One ranked list to be built.

    :param listing: its records.
    :param plan: which field is what.
    :param name: what a picker shows.
    :param query: the query it answers.
    """

    listing: Listing
    plan: Plan
    name: str
    query: str | None


def assemble(source: Source, name: str, reading: Reading, notes: Notes, texts: Texts | None = None) -> Loaded:
    """Make ranked lists of the values a container gave.

    :param source: the values.
    :param name: what a person calls the input.
    :param reading: a person's choices.
    :param notes: told about everything guessed, changed or left out.
    :param texts: the documents of a second file, for inputs that only point at them.
    :returns: the ranked lists.
    :raises LoadError: if there is no list of documents in them; the message names the fields that were found.
    """
    listings = listings_of(source, name, reading, notes, texts)
    batches: dict[tuple[str, str], list[Listing]] = {}
    for listing in listings:
        batches.setdefault((listing.shape.name, listing.pattern), []).append(listing)
    plans = {key: make_plan(batch, reading, notes) for key, batch in batches.items()}
    check_choices(reading, list(plans.values()))
    groups: list[Group] = []
    for listing in listings:
        plan = plans[listing.shape.name, listing.pattern]
        groups.extend(_by_query(listing, plan, source, notes))
    preview = source.preview
    built = []
    total = 0
    for group in groups:
        result = build(group.listing, group.plan, reading, notes)
        total += len(result.documents)
        check_documents(total)
        built.append(result)
    kept = [(group, result) for group, result in zip(groups, built, strict=True) if result.documents]
    if not kept:
        raise LoadError(
            f"No record of {name} has a text, so there is nothing to rank. {_reasons(notes)} "
            "Load records with a text, or choose the field that holds it."
        )
    default = _default([group for group, _ in kept])
    lists = tuple(_ranked_list(group, result) for group, result in _named(kept))
    shown, result = kept[default]
    shapes = list(dict.fromkeys(group.listing.shape.name for group, _ in kept))
    return Loaded(
        lists=lists,
        default=default,
        notices=notes.notices(),
        format=", ".join([source.format, *shapes]),
        fields=tuple(shown.plan.fields),
        reading=_taken(shown, result, reading),
        preview=preview,
    )


def listings_of(source: Source, name: str, reading: Reading, notes: Notes, texts: Texts | None) -> list[Listing]:
    """Find the lists of documents of an input, and the texts of those that only point at some.

    :param source: the values.
    :param name: what a person calls the input.
    :param reading: a person's choices.
    :param notes: told about what was guessed or left out.
    :param texts: the documents of a second file.
    :returns: the lists, at least one.
    :raises LoadError: if there is none.
    """
    finder = find_listings(source)
    found = _worth_showing(finder.found)
    if not found:
        for listing in finder.unknown:
            key = run_id(listing)
            if key is not None and not reading.text and (texts is not None or prose_field(listing) is None):
                return [join_by_id(listing, key, texts, name, notes)]
        found = _guess(finder, reading, notes)
    if not found:
        raise _nothing_found(source, finder, name)
    shown = set(map(id, found))
    for listing in finder.found:
        if id(listing) not in shown and _RECORD.fullmatch(listing.path) and not is_span(listing.records[0]):
            notes.left_out("No list of documents was found in it.", listing.path)
    for place in finder.barren:
        notes.left_out("No list of documents was found in it.", place)
    return [join_by_index(each, texts, notes) if needs_texts(each) else each for each in found]


def _worth_showing(found: list[Listing]) -> list[Listing]:
    """Drop lists that only look like documents when there are lists that are called so."""
    telling = [
        listing
        for listing in found
        if listing.shape.name not in (GENERIC.name,) or listing.key in LISTS or not listing.path
    ]
    return telling or found


def _guess(finder: Finder, reading: Reading, notes: Notes) -> list[Listing]:
    for listing in finder.unknown:
        if reading.text:
            return [replace(listing, shape=GUESSED)]
        field = prose_field(listing)
        if field is not None:
            notes.guessed(f"No field is named like a text; {field!r} is taken, because it reads like one.")
            return [replace(listing, shape=replace(GUESSED, text=(normalise(field),)))]
    return []


def _nothing_found(source: Source, finder: Finder, name: str) -> LoadError:
    for listing in finder.unknown:
        keys = _keys(listing.records)
        if "role" in keys and "content" in keys:
            return LoadError(
                f"{name} holds chat messages, which are no ranked documents. Load the list that was retrieved for them."
            )
        if (field := next((key for key in keys if text_preference(key) is not None), None)) is not None:
            return LoadError(
                f"The records in {name} have a field {field!r}, but no text is in it. A document needs a text: load "
                "records with one, or choose another field that holds the text."
            )
        return LoadError(
            f"No field of the records in {name} is named or reads like the text of a document. The fields are: "
            f"{', '.join(keys)}. Name one of them `content` or `text`, or choose the field that holds the text."
        )
    root = source.root
    if isinstance(root, dict):
        what = f"an object with the keys {', '.join(list(root)[:SHOWN_KEYS]) or '(none)'}"
    elif isinstance(root, list):
        what = f"a list of {len(root):,} values, none of them a record with a text" if root else "an empty list"
    else:
        what = f"one value ({str(root)[:60]!r})"
    return LoadError(
        f"There is no ranked list in {name}: it holds {what}. A ranked list is a list of texts, or of records with a "
        "field such as `content` or `text`."
    )


def _keys(records: Sequence[Any]) -> list[str]:
    counts: Counter[str] = Counter()
    for record in records[:200]:
        if isinstance(record, dict):
            counts.update(map(str, record))
    return [key[:60] for key, _ in counts.most_common(SHOWN_KEYS)]


def _by_query(listing: Listing, plan: Plan, source: Source, notes: Notes) -> list[Group]:
    query, query_id = listing.query, listing.query_id
    if plan.query is None:
        return [Group(listing, plan, query or query_id or listing.path, query)]
    keys = [id_of(value) for value in column_of(listing.records, plan.query)]
    texts: dict[str | None, str] = {}
    if plan.query_text is not None:
        for key, text in zip(keys, column_of(listing.records, plan.query_text), strict=True):
            if isinstance(text, str) and text:
                texts.setdefault(key, text)
    members: dict[str | None, list[int]] = {}
    for index, key in enumerate(keys):
        members.setdefault(key, []).append(index)
    if len(members) == 1:
        key = keys[0] if keys else None
        return [Group(listing, plan, texts.get(key) or query or key or listing.path, texts.get(key) or query)]
    column = ".".join(plan.query)
    notes.guessed(f"The field {column!r} has {len(members):,} values: each is a query with a ranked list of its own.")
    groups = []
    for key, indices in members.items():
        records, places = [listing.records[i] for i in indices], listing.places.pick(indices)
        part = replace(listing, records=records, places=places, query_id=key)
        label = texts.get(key) or key or "(no query)"
        groups.append(Group(part, plan, label, texts.get(key)))
    return groups


def _named(kept: list[tuple[Group, Built]]) -> list[tuple[Group, Built]]:
    """Tell lists of one query apart by where they stand."""
    counts = Counter(group.name for group, _ in kept)
    patterns = {group.listing.pattern for group, _ in kept}
    for group, _ in kept:
        if group.listing.path and group.name != group.listing.path and (counts[group.name] > 1 or len(patterns) > 1):
            group.name = f"{group.name} ({group.listing.path})"
    return kept


def _ranked_list(group: Group, built: Built) -> RankedList:
    return RankedList(
        name=group.name or "documents",
        documents=tuple(built.documents),
        query=group.query,
        lower_is_better=built.lower_is_better,
        score_name=".".join(built.score) if built.score else None,
        relevant=tuple(built.relevant) if built.relevant is not None else None,
        sources=group.listing.places.all(built.items),
        path=group.listing.path,
        distances=tuple(built.distances) if built.distances is not None else None,
    )


def _default(groups: list[Group]) -> int:
    """Choose the first list, or in the result of several stages the last one that ranks."""
    patterns = list(dict.fromkeys(group.listing.pattern for group in groups))
    if len(patterns) == 1:
        # One query and several lists: stages, of which the last is meant; else the first query.
        stages = len(groups) > 1 and len({group.query for group in groups}) == 1 and groups[0].query is not None
        return len(groups) - 1 if stages else 0

    parents = [group.listing.path.rpartition(".")[0] for group in groups]
    known = set(parents)
    own = {
        group.listing.pattern
        for group, place in zip(groups, parents, strict=True)
        if known.isdisjoint(place[: match.start()] for match in re.finditer(r"\.", place))
    }

    def worth(pattern: str) -> tuple[bool, bool, bool, bool, int]:
        inside = pattern not in own
        return (
            not inside,  # an object's own list before one of a part of it
            not _ARRANGED.search(pattern),
            not _INPUT.search(pattern),
            bool(_LAST_STAGE.search(pattern)) and not _ARRANGED.search(pattern),
            patterns.index(pattern),
        )

    best = max(patterns, key=worth)
    return next(index for index, group in enumerate(groups) if group.listing.pattern == best)


def _taken(group: Group, built: Built, reading: Reading) -> Reading:
    plan = group.plan

    def name(path: tuple[str, ...] | None) -> str:
        return ".".join(path) if path else ""

    return Reading(
        text="" if group.listing.shape is TEXTS else name(plan.text[0] if plan.text else None),
        id="" if reading.ignore_ids else name(plan.id),
        score=name(built.score),
        rank=name(plan.rank),
        query=name(plan.query),
        prepend_title=bool(reading.prepend_title),
        ignore_ids=reading.ignore_ids,
        order=built.order if built.order is not Order.LISTED else Order.LISTED,
    )


def _reasons(notes: Notes) -> str:
    return " ".join(dict.fromkeys(notice.message for notice in notes.notices() if notice.places))[:300]
