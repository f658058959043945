"""The arrangement Haystack's `LostInTheMiddleRanker` makes, with a word on every document.

Source of truth: `haystack/components/rankers/lost_in_the_middle.py` of the installed `haystack-ai`. The tests compare
the two on random lists.
"""

from __future__ import annotations

import gc
import operator
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple, cast

from haystack import Document, component
from haystack.components import rankers

from lim import measure
from lim.errors import DocumentError, SettingError


class Fate(StrEnum):
    """What became of a document."""

    KEPT = "kept"
    CROSSES = "crosses"  # kept, and with its words the total reaches the threshold
    OVER_THRESHOLD = "over threshold"
    OVER_TOP_K = "over top_k"
    DUPLICATE = "duplicate"

    @property
    def in_prompt(self) -> bool:
        """Whether the document is in the ranker's output."""
        return self in (Fate.KEPT, Fate.CROSSES)


class Placement(NamedTuple):
    """Where one input document went, and why.

    A named tuple rather than a dataclass: a list of 100,000 documents makes 100,000 of these on every change of a
    setting, and a tuple is built several times faster.

    :param rank: 1-based place in the input, never renumbered.
    :param slot: 1-based place in the order the ranker walks, after de-duplication; None for a dropped duplicate.
    :param position: 1-based place in the output, or None if the document is not in it.
    :param words: words of the text, as Haystack counts them.
    :param cumulative_words: words of this document and of all in earlier slots; None for a dropped duplicate.
    :param fate: what became of the document.
    :param duplicate_of: for a dropped duplicate the rank of the copy that was kept, else None.
    :param document: the document itself, the very object that came in.
    """

    rank: int
    slot: int | None
    position: int | None
    words: int
    cumulative_words: int | None
    fate: Fate
    duplicate_of: int | None
    document: Document


@dataclass(frozen=True)  # no slots: cached_property needs the instance's dictionary
class Arrangement:
    """What the ranker returns for a list, and what became of every document of the list.

    Kept as columns; `placements` builds one object a document when first asked, so that a page that draws 100,000
    documents on every step of a slider need not.

    :param inputs: the input documents, in input order.
    :param word_counts: words of each input document, in input order.
    :param walk: the ranks in the order the ranker reads them: slot 1 first, dropped duplicates left out.
    :param totals: cumulative words over `walk`.
    :param ranked: how many documents of the walk are left by `top_k`.
    :param kept: how many documents of the walk reach the output.
    :param kept_copies: for each dropped duplicate's rank, the rank of the copy that was kept.
    :param word_count_threshold: the threshold that was applied, in words, or None.
    :param top_k: the largest number of documents that was applied, or None.
    """

    inputs: tuple[Document, ...]
    word_counts: tuple[int, ...]
    walk: Sequence[int]
    totals: tuple[int, ...]
    ranked: int
    kept: int
    kept_copies: dict[int, int]
    word_count_threshold: int | None
    top_k: int | None

    @property
    def order(self) -> list[int]:
        """The ranks in output order: slots 1 3 5 … 6 4 2 of the kept ones."""
        return [*self.walk[: self.kept : 2], *self.walk[1 : self.kept : 2][::-1]]

    @property
    def documents(self) -> list[Document]:
        """The documents in output order: the very list Haystack's ranker returns."""
        return [self.inputs[rank - 1] for rank in self.order]

    @property
    def words(self) -> int:
        """Words of the documents in the output."""
        return self.totals[self.kept - 1] if self.kept else 0

    @property
    def crossing(self) -> int | None:
        """The rank of the kept document whose words reach the threshold, or None if none does."""
        return self.walk[self.kept - 1] if self._crosses else None

    @property
    def fates(self) -> list[Fate]:
        """What became of the document in each slot of the walk."""
        fates = [Fate.KEPT] * self.kept
        fates += [Fate.OVER_THRESHOLD] * (self.ranked - self.kept) + [Fate.OVER_TOP_K] * (len(self.walk) - self.ranked)
        if self._crosses:
            fates[self.kept - 1] = Fate.CROSSES
        return fates

    @property
    def positions(self) -> list[int | None]:
        """The 1-based place in the output of the document in each slot of the walk, None for one that is not in it."""
        positions: list[int | None] = [None] * len(self.walk)
        positions[0 : self.kept : 2] = range(1, (self.kept + 1) // 2 + 1)
        positions[1 : self.kept : 2] = range(self.kept, (self.kept + 1) // 2, -1)
        return positions

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        """Where each input document went, and why: one for every input document, in input order."""
        slots = range(1, len(self.walk) + 1)
        nothing = [None] * len(self.walk)
        documents: Iterable[Document] = self.inputs
        counts: Iterable[int] = self.word_counts
        if self.kept_copies:
            documents = [self.inputs[rank - 1] for rank in self.walk]
            counts = [self.word_counts[rank - 1] for rank in self.walk]
        columns = (self.walk, slots, self.positions, counts, self.totals, self.fates, nothing, documents)
        # Placements form no cycles, yet the collector would scan them again and again while they are made: at 100,000
        # documents that takes several times as long as making them.
        collecting = gc.isenabled()
        gc.disable()
        try:
            walked = tuple(map(Placement._make, zip(*columns, strict=True)))
        finally:
            if collecting:
                gc.enable()
        if not self.kept_copies:
            return walked
        by_rank = {placement.rank: placement for placement in walked}
        for rank, kept in self.kept_copies.items():
            words, document = self.word_counts[rank - 1], self.inputs[rank - 1]
            by_rank[rank] = Placement(rank, None, None, words, None, Fate.DUPLICATE, kept, document)
        return tuple(by_rank[rank] for rank in range(1, len(self.inputs) + 1))

    def limited(self, word_count_threshold: int | None = None, top_k: int | None = None) -> Arrangement:
        """Arrange the same documents under other limits, without counting their words again. O(log n).

        :param word_count_threshold: words at which the walk stops, at least 1; None for no limit.
        :param top_k: the largest number of documents, at least 1; None for no limit.
        :returns: what `arrange` returns for the same documents and these limits.
        :raises SettingError: if a limit is not None or a whole number of at least 1.
        """
        threshold = check_limit("word_count_threshold", word_count_threshold)
        limit = check_limit("top_k", top_k)
        ranked = min(len(self.walk), limit) if limit else len(self.walk)
        kept = ranked
        if threshold and ranked > 1:
            # Totals never fall, so the first one to reach the threshold is found by bisection.
            kept = min(bisect_left(self.totals, threshold) + 1, ranked)
        return replace(self, ranked=ranked, kept=kept, word_count_threshold=threshold, top_k=limit)

    @property
    def _crosses(self) -> bool:
        return bool(self.word_count_threshold and self.kept and self.words >= self.word_count_threshold)


def check_limit(name: str, value: object) -> int | None:
    """Check a `word_count_threshold` or a `top_k`.

    :param name: the setting's name, for the message.
    :param value: None for no limit, or a whole number of at least 1. NumPy's integers count as whole numbers; bools
        and floats do not, although Haystack lets some of them through, nor does NumPy's zero, which Haystack takes
        for "no limit".
    :returns: the value as an `int`, or None.
    :raises SettingError: for anything else.
    """
    if value is None:
        return None
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type] # a TypeError is the answer
    except TypeError:
        number = None
    if number is None or number < 1:
        raise SettingError(
            f"{name} is {value!r} ({type(value).__name__}), but it must be a whole number of at least 1. "
            f"Give one, or None for no limit."
        )
    return number


def arrange(
    documents: Sequence[Document], word_count_threshold: int | None = None, top_k: int | None = None
) -> Arrangement:
    """Arrange documents as Haystack's `LostInTheMiddleRanker` does and say what became of each. O(n).

    Duplicates (by id) go first: the copy with the highest score survives, in the place of the first copy. Then
    `top_k` cuts. Then the threshold walks: it stops at the document with which the total reaches the threshold, and
    keeps that document. The kept ones are laid out 1 3 5 … 6 4 2.

    :param documents: any number of documents, most relevant first.
    :param word_count_threshold: words at which the walk stops, at least 1; None for no limit. A list of one document
        ignores it.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :returns: the arrangement, with one placement for every input document.
    :raises SettingError: if a limit is not None or a whole number of at least 1.
    :raises DocumentError: if the text of a document is None, or scores of two copies cannot be compared.
    """
    threshold = check_limit("word_count_threshold", word_count_threshold)
    limit = check_limit("top_k", top_k)
    inputs = tuple(documents)
    word_counts = tuple(map(measure.words, _texts(inputs)))
    walk, kept_copies = _deduplicate(inputs)
    totals = tuple(accumulate([word_counts[rank - 1] for rank in walk] if kept_copies else word_counts))
    unlimited = Arrangement(inputs, word_counts, walk, totals, len(walk), len(walk), kept_copies, None, None)
    return unlimited.limited(threshold, limit)


@component
class LostInTheMiddleRanker:
    """Haystack's `LostInTheMiddleRanker` with a second output that says where each document went and why.

    A drop-in for Haystack's: same constructor, same inputs, same documents in the same order.

    ```python
    from haystack import Document
    from lim import LostInTheMiddleRanker

    ranker = LostInTheMiddleRanker(word_count_threshold=2)
    result = ranker.run(documents=[Document(content="Paris"), Document(content="Berlin"), Document(content="Rome")])
    print([document.content for document in result["documents"]])  # ['Paris', 'Berlin']
    print(result["placements"][2]["fate"])  # over threshold
    ```
    """

    def __init__(self, word_count_threshold: int | None = None, top_k: int | None = None) -> None:
        """Store the limits.

        :param word_count_threshold: words at which the walk stops, at least 1; None for no limit.
        :param top_k: the largest number of documents, at least 1; None for no limit.
        :raises SettingError: if a limit is not None or a whole number of at least 1.
        """
        self.word_count_threshold = check_limit("word_count_threshold", word_count_threshold)
        self.top_k = check_limit("top_k", top_k)

    @component.output_types(documents=list[Document], placements=list[dict[str, Any]])
    def run(
        self, documents: list[Document], top_k: int | None = None, word_count_threshold: int | None = None
    ) -> dict[str, Any]:
        """Arrange the documents.

        :param documents: any number of documents, most relevant first.
        :param top_k: overrides the constructor's unless None.
        :param word_count_threshold: overrides the constructor's unless None.
        :returns: `documents`, the arranged documents, and `placements`, one plain dict for every input document in
            input order (see :class:`Placement`), with the document's id and without its text: JSON-ready.
        :raises SettingError: if a limit is not None or a whole number of at least 1.
        :raises DocumentError: if the text of a document is None, or scores of two copies cannot be compared.
        """
        result = arrange(
            documents,
            self.word_count_threshold if word_count_threshold is None else word_count_threshold,
            self.top_k if top_k is None else top_k,
        )
        return {"documents": result.documents, "placements": [placement_dict(p) for p in result.placements]}

    @component.output_types(documents=list[Document], placements=list[dict[str, Any]])
    async def run_async(
        self, documents: list[Document], top_k: int | None = None, word_count_threshold: int | None = None
    ) -> dict[str, Any]:
        """Arrange the documents; the same as :meth:`run`, which never waits.

        :param documents: any number of documents, most relevant first.
        :param top_k: overrides the constructor's unless None.
        :param word_count_threshold: overrides the constructor's unless None.
        :returns: as :meth:`run`.
        :raises SettingError: if a limit is not None or a whole number of at least 1.
        :raises DocumentError: if the text of a document is None, or scores of two copies cannot be compared.
        """
        result: dict[str, Any] = self.run(documents, top_k, word_count_threshold)
        return result


def same_as_haystack(arrangement: Arrangement) -> bool:
    """Run the installed Haystack ranker on the same documents and settings and compare.

    :param arrangement: an arrangement.
    :returns: whether Haystack returns the very same documents in the same order.
    """
    ranker = rankers.LostInTheMiddleRanker(arrangement.word_count_threshold, arrangement.top_k)
    theirs: list[Document] = ranker.run(documents=list(arrangement.inputs))["documents"]
    ours = arrangement.documents
    return len(ours) == len(theirs) and all(map(operator.is_, ours, theirs))


def placement_dict(placement: Placement) -> dict[str, Any]:
    """Put a placement into plain values.

    :param placement: a placement.
    :returns: its fields as numbers, strings and None, with `id` in the place of the document.
    """
    values = placement._asdict()
    document = values.pop("document")
    return {**values, "fate": placement.fate.value, "id": document.id}


def _texts(documents: Sequence[Document]) -> list[str]:
    texts = [document.content for document in documents]
    if None not in texts:
        return cast("list[str]", texts)
    missing = [rank for rank, text in enumerate(texts, 1) if text is None]
    named = ", ".join(f"{rank} (id {documents[rank - 1].id})" for rank in missing[:5])
    more = f" and {len(missing) - 5:,} more" if len(missing) > 5 else ""
    raise DocumentError(
        f"The text (content) of document {named}{more} is None, but the ranker takes text only and would raise. "
        f"Give these documents a text, or leave them out."
    )


def _deduplicate(documents: Sequence[Document]) -> tuple[Sequence[int], dict[int, int]]:
    """Find the surviving copies' ranks in the order of the first copies, and for each dropped copy the kept one."""
    if len({document.id for document in documents}) == len(documents):
        return range(1, len(documents) + 1), {}
    best: dict[str, int] = {}
    for rank, document in enumerate(documents, 1):
        kept = best.setdefault(document.id, rank)
        try:
            if kept != rank and _score(document) > _score(documents[kept - 1]):
                best[document.id] = rank
        except TypeError as error:
            raise DocumentError(
                f"Documents {kept} and {rank} share the id {document.id!r} and their scores "
                f"{documents[kept - 1].score!r} and {document.score!r} cannot be compared; the ranker keeps the "
                f"higher. Make every score a number or None."
            ) from error
    copies = {rank: best[document.id] for rank, document in enumerate(documents, 1) if best[document.id] != rank}
    return tuple(best.values()), copies


def _score(document: Document) -> float:
    return -inf if document.score is None else document.score
