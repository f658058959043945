"""Where in a prompt the texts of documents stand: exact, then without regard to whitespace, then similar.

Longer texts claim their places first, so that a text which another one contains is found where it stands by itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lim.audit.matching.choose import choose
from lim.audit.matching.encodings import PLAIN, Encoding, Words, compose, loosen, squeeze, worth_trying
from lim.audit.matching.places import Group, Place
from lim.audit.model import Match

MAX_PLACES = 10_000
"""Places at which one text is looked for; a one-letter text may stand at more, and further ones are passed over."""
TRIMMED_CHARACTERS = 24
"""Characters that a part of a text may give up to its neighbours."""


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
    choose(prompt, groups, drop=False)
    _give_up_surplus(prompt, groups, forms)
    choose(prompt, groups, drop=True)


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
    from lim.audit.matching.fuzzy import near_copies  # loads rapidfuzz, which most prompts never need

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
