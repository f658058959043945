"""The algorithm one document at a time, and the sentences that go with it."""

from __future__ import annotations

from collections.abc import Sequence

from lim import orders

ASKED = 4
"""The document whose place is asked for before the reveal."""


def placed(count: int) -> list[int]:
    """Lay out the first documents as the ranker has them after placing so many.

    Haystack inserts each document into the middle of those before it. Counted from its own end, none of them ever
    moves again, which is why the result needs no insertion at all: 1 3 5 … 6 4 2.

    :param count: how many are placed.
    :returns: their ranks from the top of the prompt to its end.
    """
    return orders.haystack(range(count, 0, -1))


def landing_place(rank: int, count: int) -> int:
    """Tell where a document lands.

    :param rank: its rank, from 1 to `count`.
    :param count: how many documents there are.
    :returns: its 1-based place in the prompt.
    """
    return (rank + 1) // 2 if rank % 2 else count + 1 - rank // 2


def place_words(place: int, count: int) -> str:
    """Name a place in a prompt from its nearer end.

    :param place: the 1-based place.
    :param count: documents in the prompt.
    :returns: such as `first`, `second from the end`, `in the middle`.
    """
    from_end = count + 1 - place
    if place == 1:
        return "first"
    if from_end == 1:
        return "last"
    if place == from_end:
        return "exactly in the middle"
    nearer = min(place, from_end)
    ordinal = ("second", "third", "fourth", "fifth", "sixth")[nearer - 2] if nearer <= 6 else f"number {nearer}"
    return f"{ordinal} from the front" if place < from_end else f"{ordinal} from the end"


def placing_sentence(rank: int, count: int) -> str:
    """Say where a document goes and why, as it is placed.

    :param rank: the rank of the document that is placed now, or 0 before the first.
    :param count: how many documents there will be.
    :returns: one or two sentences.
    """
    if rank == 0:
        return "The documents wait in order of relevance. Document 1 is the best one the retriever found."
    place = landing_place(rank, count)
    where = f"place {place} of {count}"
    if count == 1:
        return "Document 1 is the only one: first and last at once."
    if rank == 1:
        return f"Document 1 goes to the front: {where}. The best is always first."
    if rank == 2:
        return f"Document 2 goes to the end: {where}. The second-best stands next to the question that follows."
    side = "the front" if rank % 2 else "the back"
    kind = "odd" if rank % 2 else "even"
    neighbour = f"behind document {rank - 2}" if rank % 2 else f"before document {rank - 2}"
    sentence = f"Document {rank} is {kind}, so it joins {side}, {neighbour}: {where}"
    return (
        f"{sentence}. The last to come is the weakest, and the middle is all that is left."
        if rank == count
        else (f"{sentence}, {place_words(place, count)}.")
    )


def asked(count: int) -> int | None:
    """Tell which document is asked for before the reveal.

    :param count: how many documents there are.
    :returns: 4, or the last one of a shorter list, or None where there is nothing to guess.
    """
    return min(ASKED, count) if count >= 3 else None


def options(count: int) -> list[int]:
    """List the places a person may guess.

    :param count: how many documents there are.
    :returns: every place from 1 to `count`.
    """
    return list(range(1, count + 1))


def reveal(guess: int, rank: int, count: int) -> tuple[bool, str]:
    """Check a guess of where a document lands.

    :param guess: the place a person guessed.
    :param rank: the document's rank.
    :param count: how many documents there are.
    :returns: whether it is right, and the sentence that says why.
    """
    place = landing_place(rank, count)
    half = f"Half of {rank} is {rank // 2}: place {rank // 2} counted from the end"
    if rank % 2:
        half = f"Half of {rank}, rounded up, is {place}: place {place} counted from the front"
    rule = "Odd ranks fill the front" if rank % 2 else "Even ranks fill the back"
    middle = f"{half}, so place {place} of {count}. {rule}."
    if guess == place:
        return True, f"Right. {middle}"
    trap = " (In its rank's own place it would have stayed where it was.)" if guess == rank else ""
    return False, f"Not place {guess}.{trap} {middle}"


def in_order(ranks: Sequence[int]) -> str:
    """Write an order.

    :param ranks: ranks from the top of the prompt to its end.
    :returns: the ranks with spaces between.
    """
    return " ".join(map(str, ranks))
