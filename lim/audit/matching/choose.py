"""Which of the places where a text stands are the documents' own, where it stands more often than they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lim.audit.matching.places import Group, Place

MENTION_CHARACTERS = 40
"""A shorter text that stands once more, in other surroundings than the documents', is taken for a mention of it."""
CONTEXT = 2
"""Characters before and after a text by which the places the template made are told from mentions."""
MAX_PASSES = 20
"""Passes through all documents, of equal length, that are compared by their surroundings."""
MARK_ENDS = ("]", ")", ">", ".", ":")
"""What a mark before a document, such as `[1]`, ends with; it stands before the first document too."""

Reading = dict[Group, list[Place]]
"""The places that are taken for the documents' own."""


def choose(prompt: str, groups: Sequence[Group], *, drop: bool) -> None:
    """Where a text has more places than documents, put those first that are the documents' own.

    Three readings are made: the first complete pass, which is the shortest run of places that holds every text; the
    first place of each text; and the places in the most common surroundings. The one in the most uniform surroundings
    is taken: a template's are alike, and mentions' are not. Where they are equally uniform, one of the first two that
    is in the order intended is, else the first pass. So of two passes the first one counts, whatever the second is.

    :param drop: whether the others are dropped if they look like mentions.
    """
    for group in groups:
        group.places.sort(key=lambda place: place.start)
    crowded = [group for group in groups if len(group.places) > len(group.members)]
    if not crowded:
        return
    surroundings = _surroundings(prompt, groups)
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    around: Counter[tuple[str, str]] = Counter()
    for group in groups:
        contexts = {surroundings[place] for place in group.places}
        around.update(contexts)
        before.update({left for left, _ in contexts})
        after.update({right for _, right in contexts})

    def free(place: Place) -> bool:
        left, right = surroundings[place]
        inside_word = left[-1:].isalnum() and prompt[place.start].isalnum()
        return not inside_word and not (right[:1].isalnum() and prompt[place.end - 1].isalnum())

    least = (0, 0, False)
    fits = {
        place: (
            around[surroundings[place]],
            before[surroundings[place][0]] + after[surroundings[place][1]],
            free(place),
        )
        for group in crowded
        for place in group.places
    }
    apart: Reading = {}
    common: Reading = {}
    for group in groups:
        apart[group] = [place for place in group.places if free(place)]
        if len(apart[group]) < len(group.members):
            apart[group] = group.places
        # A stable sort: of two that fit equally the earlier.
        fitting = sorted(group.places, key=lambda place: fits.get(place, least), reverse=True)
        common[group] = fitting[: len(group.members)]
    first = {group: places[: len(group.members)] for group, places in apart.items()}
    early = max(_passes(apart), key=lambda reading: _uniform(reading, surroundings))
    best = max(
        (early, first, common),
        key=lambda reading: (_uniform(reading, surroundings), reading is not common, _in_order(reading)),
    )
    own = _placed(best)
    # Those of the documents, and those of most texts: a second pass may have a template of its own.
    lefts = {surroundings[place][0] for place in own[1:]} | _most(before)
    rights = {surroundings[place][1] for place in own[:-1]} | _most(after)
    for group in crowded:
        chosen = set(best[group])
        least = min(fits[place] for place in chosen)
        others = [place for place in group.places if place not in chosen]
        if drop and len(group.text) < MENTION_CHARACTERS:
            others = [
                place
                for place in others
                if fits[place] == least or surroundings[place][0] in lefts or surroundings[place][1] in rights
            ]
        group.places = [*(place for place in group.places if place in chosen), *others]


def _passes(places: Reading) -> list[Reading]:
    """Find the shortest runs of places that hold each text as often as it has documents, as far as it is there.

    :returns: one reading for each run, in the prompt's order, at most `MAX_PASSES`.
    """
    line = sorted(((place, group) for group, own in places.items() for place in own), key=lambda each: each[0].start)
    need = {group: min(len(group.members), len(own)) for group, own in places.items()}
    lacking = sum(need.values())
    seen: Counter[Group] = Counter()
    runs: list[tuple[int, int]] = []
    start = 0
    for end, (_, group) in enumerate(line, 1):
        lacking -= seen[group] < need[group]
        seen[group] += 1
        while seen[line[start][1]] > need[line[start][1]]:
            seen[line[start][1]] -= 1
            start += 1
        if not lacking:
            runs.append((start, end))
    shortest = min((end - start for start, end in runs), default=0)
    readings: list[Reading] = []
    for start, end in [run for run in runs if run[1] - run[0] == shortest][:MAX_PASSES]:
        reading: Reading = {group: [] for group in places}
        for place, group in line[start:end]:
            if len(reading[group]) < need[group]:
                reading[group].append(place)
        readings.append(reading)
    return readings


def _uniform(reading: Reading, surroundings: Mapping[Place, tuple[str, str]]) -> int:
    """Count the documents that have the most common characters before them, and those that have them behind them.

    What stands first may have other characters before it, and what stands last behind it: a heading, a question. But
    a mark such as `[1]` stands before the first document too.
    """
    own = _placed(reading)
    lefts = Counter(surroundings[place][0] for place in own[1:])
    rights = Counter(surroundings[place][1] for place in own[:-1])
    if not lefts:
        return 0
    left, count = lefts.most_common(1)[0]
    marked = left.rstrip().endswith(MARK_ENDS) and surroundings[own[0]][0] != left
    return count + rights.most_common(1)[0][1] - marked


def _in_order(reading: Reading) -> bool:
    """Tell whether the texts of a reading stand in the order intended, each by its first place."""
    starts = [min(place.start for place in places) for places in reading.values() if places]
    return starts == sorted(starts)


def _most(counts: Mapping[str, int]) -> set[str]:
    most = max(counts.values())
    return {text for text, count in counts.items() if count == most > 1}


def _placed(reading: Reading) -> list[Place]:
    return sorted((place for places in reading.values() for place in places), key=lambda place: place.start)


def _surroundings(prompt: str, groups: Sequence[Group]) -> dict[Place, tuple[str, str]]:
    """Take the characters around each place that are no document's, digits made equal."""
    places = sorted((place for group in groups for place in group.places), key=lambda place: place.start)
    ends = [0, *(place.end for place in places)]
    starts = [*(place.start for place in places), len(prompt)]
    return {
        place: (
            _without_digits(prompt[max(end, place.start - CONTEXT) : place.start]),
            _without_digits(prompt[place.end : min(start, place.end + CONTEXT)]),
        )
        for place, end, start in zip(places, ends[:-1], starts[1:], strict=True)
    }


def _without_digits(text: str) -> str:
    return "".join("0" if character.isdigit() else character for character in text)
