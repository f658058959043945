"""`audit`: whether a rendered prompt still holds the documents, in the order that was intended."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum

from haystack import Document

from lim import orders
from lim.audit.culprit import culprit
from lim.audit.matching.match import grouped, locate
from lim.audit.matching.places import Group
from lim.audit.model import AuditReport, KnownOrder, PromptError, Segment, Sighting, Span, Status
from lim.audit.prompts import Prompt, read
from lim.audit.verdict import Audited, compare, name
from lim.ranker import arrange


class Expected(StrEnum):
    """How the order that the prompt should hold follows from the documents given."""

    AS_GIVEN = "as given"  # they stand in it already: the ranker's output
    ARRANGED = "arranged"  # they stand in relevance order, and the prompt should hold the ranker's arrangement of all


def audit(
    prompt: Prompt,
    documents: Sequence[Document],
    *,
    expected: Expected | str | Sequence[Document] = Expected.AS_GIVEN,
) -> AuditReport:
    """Find every document's text in a prompt, and say which order they stand in.

    A text is looked for as it is, and escaped as HTML, XML, JSON and Python literals escape it; then without regard to
    whitespace and the Unicode form; then for a changed or truncated copy, from `FUZZY_THRESHOLD` on. Of two documents
    one of which contains the other, each is found where it stands by itself. Documents with equal texts (but
    for whitespace around them) are interchangeable. What the template adds around the texts does not matter.

    Where documents stand more than once, the first complete pass through them is the order, whatever order a second one
    has, and the further copies are named.

    :param prompt: what goes to the LLM: a string, Haystack's chat messages, or message dicts (content as a string or
        as a list of parts).
    :param documents: the ranker's output, see `expected`.
    :param expected: `as given` if `documents` stand in the order that the prompt should hold. `arranged` if they stand
        in relevance order and the ranker has yet to arrange them. Or the documents the prompt should hold, in order,
        each one of `documents`, which then stand in relevance order: one that is not expected counts as unexpected if
        the prompt holds it.
    :returns: where each document stands, which order they are in, and what likely changed it.
    :raises PromptError: if the prompt or the documents are of the wrong type, or an expected document is not one of
        `documents`.
    :raises DocumentError: if `expected` is `arranged` and a document has no text.
    """
    text, segments = read(prompt)
    by_number = dict(enumerate(_checked(documents), 1))
    intended, relevance = _expectation(list(by_number.values()), expected)
    ranks = {number: rank for rank, number in enumerate(relevance, 1)}
    if not isinstance(expected, str):
        ranks = {number: number for number in by_number}
    has_text = {number for number, document in by_number.items() if (document.content or "").strip()}
    wanted = set(intended)
    filled = [number for number in intended if number in has_text]
    others = [number for number in by_number if number in has_text and number not in wanted]
    groups = grouped((number, by_number[number].content or "") for number in (*filled, *others))
    locate(text, groups)
    owner = {number: group for group in groups for number in group.members}
    start = _first_places(groups)
    actual = sorted((number for number in filled if number in start), key=start.__getitem__)
    intended_at = {number: place for place, number in enumerate(filled, 1)}
    position_of = {number: place for place, number in enumerate(actual, 1)}
    sightings = tuple(
        _sighting(
            number,
            document,
            owner.get(number),
            rank=ranks.get(number),
            intended=intended_at.get(number),
            position=position_of.get(number),
            expected=number in wanted,
            segments=segments,
        )
        for number, document in by_number.items()
    )
    group_of = {number: index for index, group in enumerate(groups) for number in group.members}
    ranked = [number for number in relevance if number in has_text]
    comparisons = compare(Audited(by_number, filled, ranked, actual, group_of))
    order = name(comparisons) if actual or not filled else KnownOrder.NONE
    said = culprit(sightings, order, comparisons)
    return AuditReport(sightings, tuple(filled), tuple(actual), order, comparisons, said, text, segments)


def _checked(documents: object) -> list[Document]:
    if isinstance(documents, str | bytes) or not isinstance(documents, Sequence):
        raise PromptError(
            f"The documents are a value of type {type(documents).__name__}; they must be a list of Haystack "
            f"documents. Give the ranker's output."
        )
    for number, document in enumerate(documents, 1):
        if not isinstance(document, Document):
            raise PromptError(
                f"Document {number} is a value of type {type(document).__name__}; each must be a haystack.Document. "
                f"Make one of it with Document(content=...)."
            )
    return list(documents)


def _expectation(
    documents: Sequence[Document], expected: Expected | str | Sequence[Document]
) -> tuple[list[int], list[int]]:
    """Find the numbers of the expected documents: in the order intended, and the most relevant first."""
    if isinstance(expected, str):
        if expected not in set(Expected):
            raise PromptError(
                f"expected is {expected!r}; it must be 'as given', 'arranged', or the documents in the order the "
                f"prompt should hold. Give one of these."
            )
        if expected == Expected.ARRANGED:
            result = arrange(documents)
            return result.order, list(result.walk)
        # The ranker's output is 1 3 5 … 6 4 2 of the relevance order.
        given = list(range(1, len(documents) + 1))
        ranks = orders.haystack([None] * len(given))
        return given, [number for _, number in sorted(zip(ranks, given, strict=True))]
    numbers = _numbers(documents, _checked(expected))
    return numbers, sorted(numbers)


def _numbers(documents: Sequence[Document], wanted: Sequence[Document]) -> list[int]:
    by_object: dict[int, list[int]] = {}
    by_id: dict[str, list[int]] = {}
    for each, document in enumerate(documents, 1):
        by_object.setdefault(id(document), []).append(each)
        by_id.setdefault(document.id, []).append(each)
    used: set[int] = set()
    numbers: list[int] = []
    for place, document in enumerate(wanted, 1):
        candidates = (*by_object.get(id(document), ()), *by_id.get(document.id, ()))
        number: int | None = next((found for found in candidates if found not in used), None)
        if number is None:
            raise PromptError(
                f"Expected document {place} (id {document.id!r}) is not one of the {len(documents):,} documents given, "
                f"or is expected more often than given. Give every expected document among the documents."
            )
        used.add(number)
        numbers.append(number)
    return numbers


def _first_places(groups: Sequence[Group]) -> dict[int, int]:
    """Give each document of a text one of its places, in the order intended."""
    start: dict[int, int] = {}
    for group in groups:
        chosen = sorted(place.start for place in group.places[: len(group.members)])
        start.update(zip(group.members, chosen, strict=False))
    return start


def _sighting(
    number: int,
    document: Document,
    group: Group | None,
    *,
    rank: int | None,
    intended: int | None,
    position: int | None,
    expected: bool,
    segments: Sequence[Segment],
) -> Sighting:
    if group is None:
        return Sighting(number, rank, None, None, Status.EMPTY, None, None, None, 0.0, (), None, document)
    own = sorted(group.places[: len(group.members)], key=lambda place: place.start)
    at = group.members.index(number)
    if at >= len(own):
        status = Status.MISSING if expected else Status.LEFT_OUT
        return Sighting(number, rank, intended, None, status, None, None, None, 0.0, (), None, document)
    places = [own[at]]
    if at == len(group.members) - 1:
        places += group.places[len(group.members) :]
    if not expected:
        status = Status.UNEXPECTED
    elif len(places) > 1:
        status = Status.REPEATED
    else:
        status = Status.FOUND if own[at].surviving == 1 else Status.TRUNCATED
    best = own[at]
    return Sighting(
        number=number,
        rank=rank,
        intended=intended,
        position=position,
        status=status,
        match=best.match,
        encoding=best.encoding,
        similarity=best.similarity,
        surviving=best.surviving,
        spans=tuple(Span(place.start, place.end) for place in places),
        message=_message(best.start, segments),
        document=document,
    )


def _message(start: int, segments: Sequence[Segment]) -> int | None:
    index = bisect_right([segment.start for segment in segments], start) - 1
    return segments[index].message if index >= 0 else None
