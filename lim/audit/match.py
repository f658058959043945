"""Where in a prompt the texts of documents stand: exact, then without regard to whitespace, then similar.

Longer texts claim their places first, so that a text which another one contains is found where it stands by itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lim.audit.encodings import PLAIN, Encoding, Words, compose, loosen, squeeze, worth_trying
from lim.audit.model import Match

MAX_PLACES = 10_000
"""Places at which one text is looked for; a one-letter text may stand at more, and further ones are passed over."""
MENTION_CHARACTERS = 40
"""A shorter text that stands once more, in other surroundings than the documents', is taken for a mention of it."""
TRIMMED_CHARACTERS = 24
"""Characters that a part of a text may give up to its neighbours."""
CONTEXT = 2
"""Characters before and after a text by which the places the template made are told from mentions."""
MAX_PASSES = 20
"""Passes through all documents, of equal length, that are compared by their surroundings."""
MARK_ENDS = ("]", ")", ">", ".", ":")
"""What a mark before a document, such as `[1]`, ends with; it stands before the first document too."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the prompt holds a text.

    :param start: its first character.
    :param end: the character behind its last.
    :param match: how closely.
    :param encoding: how it is escaped.
    :param similarity: how alike, 0 to 100, see `FUZZY_THRESHOLD`.
    :param surviving: the share of the text that is there, 0 to 1.
    """

    start: int
    end: int
    match: Match
    encoding: str
    similarity: float = 100.0
    surviving: float = 1.0


@dataclass(slots=True, eq=False)
class Group:
    """Documents with one text.

    :param text: the text without whitespace around it, not blank.
    :param members: their numbers, in the order intended.
    :param places: where the prompt holds the text, in the prompt's order once `locate` has returned.
    """

    text: str
    members: list[int]
    places: list[Place] = field(default_factory=list)


Reading = dict[Group, list[Place]]
"""The places that are taken for the documents' own."""


class Claims:
    """The places of a prompt that are explained, no two of which overlap."""

    def __init__(self) -> None:
        """Start with nothing explained."""
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._owners: list[Group] = []
        self._parts: dict[tuple[Group, Group], bool] = {}

    def overlapping(self, start: int, end: int) -> range:
        """Find the claims that overlap a piece.

        :param start: its first character.
        :param end: the character behind its last.
        :returns: their indices.
        """
        return range(bisect_right(self._ends, start), bisect_left(self._starts, end))

    def end_of(self, index: int) -> int:
        """Where a claim ends.

        :param index: the claim.
        :returns: the character behind its last.
        """
        return self._ends[index]

    def trimmed(self, place: Place) -> Place:
        """Leave out the ends of a place that are claimed already, if they are short.

        Where a text was cut off, what follows may agree with it for a few characters by chance.

        :param place: the place of a part of a text.
        :returns: the place without them.
        """
        met = self.overlapping(place.start, place.end)
        start, end = place.start, place.end
        if met and self._starts[met[0]] <= start:
            start = self._ends[met[0]]
        if met and self._ends[met[-1]] >= end:
            end = self._starts[met[-1]]
        lost = place.end - place.start - (end - start)
        if not 0 < lost <= TRIMMED_CHARACTERS or end <= start:
            return place
        surviving = place.surviving * (end - start) / (place.end - place.start)
        return replace(place, start=start, end=end, surviving=surviving)

    def take(self, group: Group, place: Place) -> list[Group] | None:
        """Claim a place, if it is free, or if everything there is a part of the text found here.

        :param group: the documents.
        :param place: the place.
        :returns: the groups whose places were taken away from them, usually none; None if the place is not free.
        """
        met = self.overlapping(place.start, place.end)
        evicted = [self._owners[index] for index in met]
        for index, other in zip(met, evicted, strict=True):
            inside = place.start <= self._starts[index] and self._ends[index] <= place.end
            if other is group or not inside or not self._contains(group, other):
                return None
        for other in evicted:
            other.places = [each for each in other.places if not place.start <= each.start < place.end]
        at = slice(met.start, met.stop)
        self._starts[at], self._ends[at], self._owners[at] = [place.start], [place.end], [group]
        group.places.append(place)
        return evicted

    def _contains(self, group: Group, other: Group) -> bool:
        known = self._parts.get((group, other))
        if known is None:
            shorter = len(other.text) < len(group.text)
            known = shorter and squeeze(other.text, loosen) in squeeze(group.text, loosen)
            self._parts[group, other] = known
        return known


def locate(prompt: str, groups: Sequence[Group]) -> None:
    """Find the texts of all groups in a prompt, and put the places into the groups.

    Exact places cost a search of the prompt for each text, and for each escaping that changes the text where the prompt
    may be escaped. The rest is done once for all texts that have none.

    :param prompt: the text of the prompt.
    :param groups: the documents, grouped by text.
    """
    longest_first = sorted(groups, key=lambda group: -len(group.text))
    claims = Claims()
    forms = _forms(prompt, longest_first)
    encodings = list(forms)
    _claim_exact(prompt, forms, longest_first, claims)
    unfound = [group for group in longest_first if not group.places]
    if unfound:
        evicted = _claim_squeezed(prompt, unfound, encodings, claims)
        unfound = [group for group in unfound if not group.places]
        if unfound:
            evicted += _claim_similar(prompt, unfound, encodings, claims)
        _claim_exact(prompt, forms, [group for group in longest_first if group in evicted], claims)
    _choose(prompt, groups, drop=False)
    _give_up_surplus(prompt, groups, forms)
    _choose(prompt, groups, drop=True)


def _forms(prompt: str, groups: Sequence[Group]) -> dict[Encoding, dict[Group, tuple[str, int]]]:
    """Find each text's forms in the prompt, and where each stands first.

    :returns: for each escaping, the one that most texts are found in first, the form of each text found and its first
        place; a form that an earlier escaping gives too is left out.
    """
    first: dict[tuple[Group, str], int] = {}
    found: dict[Encoding, dict[Group, tuple[str, int]]] = {}
    for encoding in worth_trying(prompt):
        found[encoding] = {}
        for group in groups:
            text = encoding.encode(group.text)
            if (group, text) not in first:
                first[group, text] = prompt.find(text)
            if first[group, text] >= 0:
                found[encoding][group] = text, first[group, text]
    forms: dict[Encoding, dict[Group, tuple[str, int]]] = {}
    for encoding, texts in sorted(found.items(), key=lambda item: -len(item[1])):
        forms[encoding] = {
            group: form
            for group, form in texts.items()
            if not any(earlier.get(group, ("",))[0] == form[0] for earlier in forms.values())
        }
    return forms


def _claim_exact(
    prompt: str,
    forms: dict[Encoding, dict[Group, tuple[str, int]]],
    groups: Sequence[Group],
    claims: Claims,
) -> None:
    for encoding, texts in forms.items():
        # An escape may make a short text the longer one.
        for group in sorted(texts.keys() & set(groups), key=lambda group: -len(texts[group][0])):
            text, first = texts[group]
            name = PLAIN if text == group.text else encoding.name
            for start, end in _free(prompt, text, first, claims):
                claims.take(group, Place(start, end, Match.EXACT, name))


def _free(prompt: str, text: str, start: int, claims: Claims) -> Iterator[tuple[int, int]]:
    for _ in range(MAX_PLACES):
        if start < 0:
            return
        end = start + len(text)
        met = claims.overlapping(start, end)
        if met:  # nothing that begins before the claim's end is free
            start = prompt.find(text, max(start + 1, claims.end_of(met[0])))
        else:
            yield start, end
            start = prompt.find(text, end)


def _claim_squeezed(prompt: str, groups: Sequence[Group], encodings: Sequence[Encoding], claims: Claims) -> list[Group]:
    """Find texts that differ in whitespace; texts that differ in nothing else share the places among them."""
    words = Words(prompt, compose)
    evicted: list[Group] = []
    alike: dict[str, list[Group]] = {}
    for group in groups:
        alike.setdefault(squeeze(group.text, compose), []).append(group)
    for encoding in encodings:
        for squeezed, members in alike.items():
            if any(group.places for group in members):
                continue
            text = encoding.encode(members[0].text)
            needle = squeeze(text, compose)
            name = PLAIN if needle == squeezed else encoding.name
            turn = 0
            at = words.text.find(needle)
            for _ in range(MAX_PLACES):
                if at < 0:
                    break
                start, end = words.span(at, at + len(needle))
                taken = claims.take(members[turn % len(members)], Place(start, end, Match.WHITESPACE, name))
                if taken is not None:
                    evicted += taken
                    turn += 1
                at = words.text.find(needle, at + (1 if taken is None else len(needle)))
    return evicted


def _claim_similar(prompt: str, groups: Sequence[Group], encodings: Sequence[Encoding], claims: Claims) -> list[Group]:
    from lim.audit.fuzzy import near_copies  # loads rapidfuzz, which most prompts never need

    words = Words(prompt, loosen)
    needles: list[str] = []
    owners: list[tuple[Group, str]] = []
    for group in groups:
        plain = squeeze(group.text, loosen)
        names = {squeeze(encodings[0].encode(group.text), loosen): encodings[0].name, plain: PLAIN}
        for text, name in names.items():
            needles.append(text)
            owners.append((group, name))
    evicted: list[Group] = []
    best: dict[Group, float] = {}
    for copy in near_copies(words.text, needles):
        group, name = owners[copy.needle]
        if copy.characters < best.get(group, 0) / 2:
            continue  # much less than what was found of it elsewhere
        start, end = words.span(copy.start, copy.end)
        place = Place(start, end, Match.FUZZY, name, copy.similarity, copy.surviving)
        taken = claims.take(group, claims.trimmed(place) if copy.surviving < 1 else place)
        if taken is not None:
            evicted += taken
            best.setdefault(group, copy.characters)
    return evicted


def _choose(prompt: str, groups: Sequence[Group], *, drop: bool) -> None:
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


def _give_up_surplus(prompt: str, groups: Sequence[Group], forms: dict[Encoding, dict[Group, tuple[str, int]]]) -> None:
    """Give a place too many of a longer text to a text it contains that has one too few.

    What a template puts behind the shorter text may be just what the longer one has more.
    """
    crowded = [group for group in groups if len(group.places) > len(group.members)]
    for needy in (group for group in groups if len(group.places) < len(group.members)):
        for rich in crowded:
            for place in rich.places[len(rich.members) :] if needy.text in rich.text else ():
                for encoding, texts in forms.items():
                    text = texts[needy][0] if needy in texts else needy.text
                    start = prompt.find(text, place.start, place.end)
                    if start >= 0 and len(needy.places) < len(needy.members):
                        rich.places.remove(place)
                        name = PLAIN if text == needy.text else encoding.name
                        needy.places.append(Place(start, start + len(text), Match.EXACT, name))
                        break


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


def grouped(texts: Iterable[tuple[int, str]]) -> list[Group]:
    """Group documents by their text; whitespace around it, which no one can tell from a template's, is not part of it.

    :param texts: number and text of each document, in the order intended; none of them blank.
    :returns: one group for each text.
    """
    groups: dict[str, Group] = {}
    for number, text in texts:
        inner = text.strip()
        groups.setdefault(inner, Group(inner, [])).members.append(number)
    return list(groups.values())
