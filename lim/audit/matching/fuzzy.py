"""Changed and shortened copies of texts: found by short pieces they share with the prompt, then compared.

The search for shared pieces is one pass over the prompt for all texts together. What is found is judged with rapidfuzz,
between the shared pieces, so that long documents cost no more than their length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from lim.audit.model import FUZZY_BYTES, FUZZY_THRESHOLD, SURVIVING_BYTES

_SEED = 12  # characters of a shared piece
_STRIDE = 8  # of every text a piece is taken each so many characters
_GAP = 400  # characters that may be put between two parts of one copy
_EDGE = 64  # characters at either end that may be changed beyond recognition
_CANDIDATES = 6  # regions judged for one text
_MAX_CELLS = 10**8  # of one comparison between two shared pieces; what is longer counts as not alike
_BASE = np.uint64(0x9E3779B97F4A7C15)

_Numbers = npt.NDArray[np.int64]
_Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class NearCopy:
    """A changed or shortened copy of a text.

    :param needle: which text.
    :param start: its first character in the prompt.
    :param end: the character behind its last.
    :param characters: how many characters of the text it has.
    :param surviving: the same as a share of the text, 1 for a changed copy of all of it.
    :param similarity: how alike the copy and the text are, or for a part the share of the piece that is the text's, 0
        to 100.
    """

    needle: int
    start: int
    end: int
    characters: int
    surviving: float
    similarity: float


def near_copies(prompt: str, needles: Sequence[str]) -> list[NearCopy]:
    """Find changed and shortened copies of texts.

    :param prompt: the text to search, folded.
    :param needles: the texts, folded alike.
    :returns: the copies, those that hold most characters first. Copies of different texts may overlap.
    """
    usable = [index for index, needle in enumerate(needles) if len(needle) >= _SEED and _bytes(needle) >= FUZZY_BYTES]
    if not usable or len(prompt) < _SEED:
        return []
    copies: list[NearCopy] = []
    hits = _hits(prompt, needles, usable)
    for index in usable:
        regions = _regions(*hits[index]) if index in hits else []
        judged = [_judge(prompt, needles[index], index, region) for region in regions]
        found = [copy for copy in judged if copy is not None]
        if not found and (copy := _prefix(prompt, needles[index], index)) is not None:
            found = [copy]
        copies += found
    return sorted(copies, key=lambda copy: (-copy.characters, copy.start))


def _codes(text: str) -> _Hashes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)


def _rolling(text: str) -> _Hashes:
    """Hash every piece of `_SEED` characters: of 2, of 4, of 8 by doubling, then of 8 and 4."""
    one = _codes(text) + np.uint64(1)
    two = one[:-1] * _BASE + one[1:]
    four = two[:-2] * _power(2) + two[2:]
    eight = four[:-4] * _power(4) + four[4:]
    return eight[:-4] * _power(4) + four[8:]


def _power(exponent: int) -> np.uint64:
    return np.uint64(pow(int(_BASE), exponent, 2**64))


def _hits(prompt: str, needles: Sequence[str], usable: Sequence[int]) -> dict[int, tuple[_Numbers, _Numbers]]:
    """Find the pieces each text shares with the prompt: for each text the places in the prompt and in the text."""
    hashes, owners, offsets = [], [], []
    for index in usable:
        rolling = _rolling(needles[index])
        # A piece that stands twice in its text does not say which part of it is there.
        _, first, counts = np.unique(rolling, return_index=True, return_counts=True)
        once = first[counts == 1]
        chosen = once[once % _STRIDE == 0] if len(rolling) > 50 * _STRIDE else once
        hashes.append(rolling[chosen])
        owners.append(np.full(len(chosen), index))
        offsets.append(chosen)
    seeds, owner, offset = np.concatenate(hashes), np.concatenate(owners), np.concatenate(offsets)
    order = np.argsort(seeds, kind="stable")
    seeds, owner, offset = seeds[order], owner[order], offset[order]
    window = _rolling(prompt)
    # A table of the lowest bits sifts out nearly all places before the exact look-up.
    mask = np.uint64((1 << 22) - 1)
    table = np.zeros(1 << 22, dtype=bool)
    table[seeds & mask] = True
    places = np.flatnonzero(table[window & mask])
    left = np.searchsorted(seeds, window[places], side="left")
    right = np.searchsorted(seeds, window[places], side="right")
    counts = right - left
    places = np.repeat(places, counts)
    within = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    which = np.repeat(left, counts) + within
    owner, offset = owner[which], offset[which]
    order = np.lexsort((places, owner))
    owner, offset, places = owner[order], offset[order], places[order]
    bounds = np.flatnonzero(np.diff(owner)) + 1
    parts = zip(np.split(owner, bounds), np.split(places, bounds), np.split(offset, bounds), strict=True)
    return {int(part[0]): (at, inside) for part, at, inside in parts if len(part)}


@dataclass(slots=True)
class _Run:
    """A piece that the prompt and the text share."""

    place: int
    offset: int
    length: int


def _regions(places: _Numbers, offsets: _Numbers) -> list[list[_Run]]:
    """Cut the shared pieces of one text into copies: within one, both the prompt and the text move on."""
    step, advance = np.diff(places), np.diff(offsets)
    cuts = np.flatnonzero((advance <= 0) | (step - advance > _GAP)) + 1
    bounds = [0, *cuts.tolist(), len(places)]
    sizes = np.diff(bounds)
    most = np.argsort(-sizes, kind="stable")[:_CANDIDATES].tolist()
    return [_runs(places[bounds[i] : bounds[i + 1]], offsets[bounds[i] : bounds[i + 1]]) for i in most]


def _runs(places: _Numbers, offsets: _Numbers) -> list[_Run]:
    """Put together the pieces that overlap or touch."""
    step, advance = np.diff(places), np.diff(offsets)
    starts = [0, *(np.flatnonzero((step != advance) | (step > _SEED)) + 1).tolist()]
    ends = [*(start - 1 for start in starts[1:]), len(places) - 1]
    firsts, lasts, inside = places[starts].tolist(), places[ends].tolist(), offsets[starts].tolist()
    return [
        _Run(first, offset, last + _SEED - first) for first, last, offset in zip(firsts, lasts, inside, strict=True)
    ]


def _judge(prompt: str, needle: str, index: int, runs: list[_Run]) -> NearCopy | None:
    runs, kept = _best_stretch(prompt, needle, runs)
    before = _agreement_before(prompt, runs[0].place, needle, runs[0].offset)
    start, first = runs[0].place - before, runs[0].offset - before
    end, last = runs[-1].place + runs[-1].length, runs[-1].offset + runs[-1].length
    after = _agreement(prompt, end, needle, last)
    end, last, kept = end + after, last + after, kept + before + after
    begin, stop = max(0, start - first), end + len(needle) - last
    head, tail = _edge(prompt[begin:start], needle[:first]), _edge(prompt[end:stop], needle[last:])
    if head is not None and tail is not None:
        stop = min(stop, len(prompt))
        similarity = 200.0 * (kept + head + tail) / (stop - begin + len(needle))
        if similarity >= FUZZY_THRESHOLD:
            return NearCopy(index, begin, stop, kept + head + tail, 1.0, round(similarity, 1))
    # What an escape adds, or a cut leaves in the middle, counts against the piece only.
    similarity = 100.0 * kept / (end - start)
    if similarity < FUZZY_THRESHOLD or not _enough(needle[first:last], kept, needle):
        return None
    return NearCopy(index, start, end, kept, kept / len(needle), round(similarity, 1))


def _best_stretch(prompt: str, needle: str, runs: list[_Run]) -> tuple[list[_Run], int]:
    """Keep the stretch of runs that belong together: a piece shared by chance lies behind text that is not alike.

    :returns: the runs of the stretch, and the characters the prompt and the text have in common over it, in order.
    """
    cost = FUZZY_THRESHOLD / (100 - FUZZY_THRESHOLD)  # a gap that is just alike enough counts nothing
    begin = 0
    score, kept = float(runs[0].length), runs[0].length
    best = (score, 0, 1, kept)
    for at, (run, following) in enumerate(pairwise(runs), 1):
        gap, common, overlap = _gap(prompt, needle, run, following)
        worth = common - cost * (gap - common)
        if score + worth <= 0:
            begin, score, kept = at, 0.0, 0
        else:
            score, kept = score + worth, kept + common
        own = following.length - (overlap if at > begin else 0)
        score, kept = score + own, kept + own
        if score > best[0]:
            best = (score, begin, at + 1, kept)
    return runs[best[1] : best[2]], best[3]


def _gap(prompt: str, needle: str, run: _Run, following: _Run) -> tuple[int, int, int]:
    """Measure what lies between two runs: its length in the prompt, what is alike, and by how much the runs overlap."""
    place, offset = run.place + run.length, run.offset + run.length
    overlap = min(max(0, place - following.place, offset - following.offset), following.length)
    piece, part = prompt[place : following.place], needle[offset : following.offset]
    if piece == part:
        return len(piece), len(piece), overlap
    # Any short piece is a subsequence of a long enough text: then the text was cut here, and the piece is not its own.
    cut = len(part) > 2 * len(piece) + _SEED or len(piece) * len(part) > _MAX_CELLS
    return len(piece), 0 if cut else int(LCSseq.similarity(piece, part)), overlap


def _edge(piece: str, lost: str) -> int | None:
    """Count what is left of the end of a text that is there but changed; None if it was cut off."""
    if not lost:
        return 0
    if len(lost) > _EDGE:
        return None
    common = int(LCSseq.similarity(piece, lost))
    return common if common >= 0.6 * len(lost) else None


def _agreement(prompt: str, place: int, needle: str, offset: int) -> int:
    """Count the characters, from two places on, in which the prompt and the text agree."""
    length = min(len(prompt) - place, len(needle) - offset)
    agreed = 0
    for size in _sizes(length):
        while (
            agreed + size <= length
            and prompt[place + agreed : place + agreed + size] == needle[offset + agreed : offset + agreed + size]
        ):
            agreed += size
    return agreed


def _sizes(length: int) -> Iterator[int]:
    size = 1 << max(0, length.bit_length() - 1)
    while size:
        yield size
        size >>= 1


def _agreement_before(prompt: str, place: int, needle: str, offset: int) -> int:
    length = min(place, offset)
    return _agreement(prompt[place - length : place][::-1], 0, needle[offset - length : offset][::-1], 0)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _enough(part: str, kept: int, needle: str) -> bool:
    """Whether what is left of a text tells it from others: of a part of it so many characters are there."""
    if 2 * kept >= len(needle):
        return True
    return _bytes(part) * kept >= SURVIVING_BYTES * len(part)


def _prefix(prompt: str, needle: str, index: int) -> NearCopy | None:
    """Find the longest beginning of a text that is too repetitive to have telling pieces."""
    need = min(SURVIVING_BYTES, len(needle) // 2)
    place = prompt.find(needle[:need])
    if place < 0:
        return None
    kept = _agreement(prompt, place, needle, 0)
    return NearCopy(index, place, place + kept, kept, kept / len(needle), 100.0)
