"""All ranked lists of an input as flat arrays, read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lim import measure
from lim.errors import DocumentError, SettingError
from lim.loading import RankedList
from lim.loading.documents import paused_collection
from lim.ranker import arrange

DOCUMENTS_AT_A_TIME = 20_000
"""Documents whose texts are handed to the tokenizer together, and after which progress is told."""

MAX_REMEMBERED = 500_000
"""Texts whose tokens are remembered, for documents that come up in many lists."""

Progress: TypeAlias = Callable[[int, int], None]
"""Told the lists that are done and all there are."""

Labels: TypeAlias = Sequence[Sequence[bool] | None]
"""For each list whether each of its documents is marked relevant, or None where nothing is known of the list."""

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The lists as arrays. Documents stand in the order the ranker walks, list after list, dropped duplicates left out.

    The running totals begin with a zero for each list, so that `totals[starts[i] + n]` is what the first n documents
    of list i have.

    :param sizes: documents of each list in the walk.
    :param inputs: documents of each list as it came, duplicates included.
    :param starts: for each list the place of its zero among the running totals.
    :param totals: running totals of words.
    :param ladder: the running totals of words, those of each list lifted above the ones before it by `height`, so that
        all of them ascend and one search finds a place in every list.
    :param height: more than any list has words.
    :param token_totals: running totals of tokens, or None where tokens are not available.
    :param relevant_totals: running totals of documents marked relevant, or None where no list has marks. A document
        counts as marked if any of its copies in the list is.
    :param slots: for each document its place in the walk of its list, from 1.
    :param entries: for each document the words of those before it: it is kept by every threshold above that, the
        first document of a list by every threshold.
    """

    sizes: Ints
    inputs: Ints
    starts: Ints
    totals: Ints
    ladder: Ints
    height: int
    token_totals: Ints | None
    relevant_totals: Ints | None
    slots: Ints
    entries: Ints

    @property
    def queries(self) -> int:
        """How many lists there are."""
        return len(self.sizes)

    @property
    def documents(self) -> int:
        """How many documents the lists have together, dropped duplicates left out."""
        return len(self.slots)

    @property
    def longest(self) -> int:
        """How many documents the longest list has."""
        return int(self.sizes.max())

    @property
    def ends(self) -> Ints:
        """For each document its place among the running totals."""
        places: Ints = np.arange(self.documents) + np.repeat(np.arange(self.queries), self.sizes) + 1
        return places

    @property
    def words(self) -> Ints:
        """The words of each list."""
        words: Ints = self.totals[self.starts + self.sizes]
        return words

    @property
    def tokens(self) -> Ints | None:
        """The tokens of each list, or None."""
        return None if self.token_totals is None else self.token_totals[self.starts + self.sizes]

    @property
    def relevant(self) -> Ints | None:
        """The documents of each list that are marked relevant, or None."""
        return None if self.relevant_totals is None else self.relevant_totals[self.starts + self.sizes]


def gather(
    lists: Sequence[RankedList],
    labels: Labels | None = None,
    progress: Progress | None = None,
    *,
    count_tokens: bool = True,
) -> Pool:
    """Read the lists once: de-duplicate as the ranker does, count words and tokens, sum up. O(documents).

    :param lists: at least one ranked list; lists without a document count too.
    :param labels: for each list the marks of relevance of its documents; those of the lists themselves by default.
    :param progress: told now and then how many lists are done.
    :param count_tokens: whether tokens are counted, where they can be.
    :returns: the pool.
    :raises SettingError: if there is no list, or `labels` does not fit the lists.
    :raises DocumentError: as `lim.arrange`, with the list named.
    """
    if not lists:
        raise SettingError("There are 0 ranked lists, but at least 1 is needed. Load a file with ranked lists.")
    if labels is None:
        labels = [ranked.relevant for ranked in lists]
    if len(labels) != len(lists):
        raise SettingError(f"There are labels for {len(labels):,} lists, but {len(lists):,} lists. Give one for each.")
    with ThreadPoolExecutor(1) as worker, paused_collection():
        tally = _Tally(worker if count_tokens else None)
        for number, (ranked, marks) in enumerate(zip(lists, labels, strict=True), 1):
            tally.take(number, ranked, marks)
            if tally.waiting >= DOCUMENTS_AT_A_TIME:
                tally.flush()
                if progress is not None:
                    progress(number, len(lists))
        tally.flush()
        tokens = tally.tokens()
    if progress is not None:
        progress(len(lists), len(lists))
    return _pool(tally, tokens, marked=any(marks is not None for marks in labels))


class _Tally:
    """What is known of the lists so far, as arrays of some thousand documents each.

    The tokenizer works beside the rest: it holds no lock while it counts. What waits for it is never more than one
    piece, so no second copy of the corpus is made.
    """

    def __init__(self, worker: ThreadPoolExecutor | None) -> None:
        self.sizes: list[int] = []
        self.inputs: list[int] = []
        self.words: list[Ints] = []
        self.relevant: list[Ints] = []
        self.waiting = 0
        self._worker = worker
        self._tokens: list[Ints] = []
        self._counting: Future[Ints | None] | None = None
        self._words: list[Sequence[int]] = []
        self._texts: list[Sequence[str]] = []
        self._marks: list[Sequence[bool]] = []
        self._places: dict[str, int] = {}
        self._counts = np.zeros(0, np.int64)

    def take(self, number: int, ranked: RankedList, marks: Sequence[bool] | None) -> None:
        documents = ranked.documents
        if marks is not None and len(marks) != len(documents):
            raise SettingError(
                f"List {number:,} has {len(documents):,} documents and {len(marks):,} labels. Give one label for each."
            )
        try:
            arranged = arrange(documents)
        except DocumentError as error:
            raise DocumentError(f"List {number:,} ({ranked.name[:80]}): {error}") from error
        words: Sequence[int] = arranged.word_counts
        texts = [document.content or "" for document in documents]
        if arranged.kept_copies:
            words = [words[rank - 1] for rank in arranged.walk]
            texts = [texts[rank - 1] for rank in arranged.walk]
            if marks is not None:
                marked = {documents[index].id for index, mark in enumerate(marks) if mark}
                marks = [documents[rank - 1].id in marked for rank in arranged.walk]
        self.sizes.append(len(words))
        self.inputs.append(len(documents))
        self.waiting += len(words)
        self._words.append(words)
        self._texts.append(texts)
        self._marks.append(marks if marks is not None else [False] * len(words))

    def flush(self) -> None:
        """Turn what waits into arrays."""
        self.words.append(np.fromiter(chain.from_iterable(self._words), np.int64, self.waiting))
        self.relevant.append(np.fromiter(chain.from_iterable(self._marks), np.int64, self.waiting))
        if self._worker is not None:
            self._finish()
            texts = list(chain.from_iterable(self._texts))
            self._counting = self._worker.submit(self._count, texts)
        self._words, self._texts, self._marks, self.waiting = [], [], [], 0

    def tokens(self) -> list[Ints] | None:
        """Give the tokens of all documents, None where they are not available."""
        self._finish()
        return self._tokens if self._worker is not None else None

    def _finish(self) -> None:
        if self._counting is not None:
            counted = self._counting.result()
            self._counting = None
            if counted is None:
                self._worker = None
            else:
                self._tokens.append(counted)

    def _count(self, texts: list[str]) -> Ints | None:
        if len(self._places) > MAX_REMEMBERED:
            self._places.clear()
            self._counts = np.zeros(0, np.int64)
        known, new = self._places, []
        places = np.empty(len(texts), np.int64)
        for index, text in enumerate(texts):
            place = known.get(text)
            if place is None:
                place = known[text] = len(known)
                new.append(text)
            places[index] = place
        counted = measure.tokens(new)
        if counted is None:
            return None
        self._counts = np.concatenate((self._counts, np.array(counted, np.int64)))
        found: Ints = self._counts[places]
        return found


def lifted(totals: Ints, sizes: Ints) -> tuple[Ints, int]:
    """Lift the running totals of each list above the ones before it, so that one search finds a place in every list.

    :param totals: running totals, a zero before each list.
    :param sizes: documents of each list.
    :returns: the same, ascending throughout, and by how much each list stands above the one before.
    """
    height = int(totals.max()) + 2
    return totals + np.repeat(np.arange(len(sizes)) * height, sizes + 1), height


def _pool(tally: _Tally, tokens: list[Ints] | None, *, marked: bool) -> Pool:
    sizes = np.array(tally.sizes, np.int64)
    ends = np.cumsum(sizes)
    starts = ends - sizes + np.arange(len(sizes))
    total = int(ends[-1])
    owners = np.repeat(np.arange(len(sizes)), sizes)
    slots = np.arange(1, total + 1) - (ends - sizes)[owners]
    places = np.arange(total) + owners + 1  # a zero stands before each list

    def running(parts: list[Ints]) -> Ints:
        values = np.concatenate(parts)
        sums = np.concatenate(([0], np.cumsum(values)))
        whole = np.zeros(total + len(sizes), np.int64)
        whole[places] = sums[1:] - sums[ends - sizes][owners]
        return whole

    totals = running(tally.words)
    ladder, height = lifted(totals, sizes)
    return Pool(
        sizes,
        np.array(tally.inputs, np.int64),
        starts,
        totals,
        ladder,
        height,
        running(tokens) if tokens is not None else None,
        running(tally.relevant) if marked else None,
        slots,
        totals[places - 1],
    )
