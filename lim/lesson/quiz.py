"""Questions on generated lists, answered by the code and explained."""

from __future__ import annotations

import random
from dataclasses import dataclass

from haystack import Document

from lim import orders
from lim.lesson.placing import landing_place, place_words
from lim.ranker import arrange

QUESTIONS = 6
"""How many questions there are."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    :param text: the question.
    :param options: the answers to choose from, no two alike.
    :param answer: index of the right one.
    :param explanation: why it is right.
    """

    text: str
    options: tuple[str, ...]
    answer: int
    explanation: str


def quiz(seed: int) -> tuple[Question, ...]:
    """Make six questions.

    :param seed: the same number gives the same questions.
    :returns: where a document lands, what stands in the middle, how many documents and how many words a threshold
        gives, an unsorted list, and another framework's order.
    """
    draw = random.Random(seed)  # noqa: S311 # a lesson's lists, no secret
    return (_lands(draw), _middle(draw), _kept(draw), _words(draw), _unsorted(draw), _langchain(draw))


def _lands(draw: random.Random) -> Question:
    count, rank = draw.choice((7, 9, 11)), draw.choice((3, 4, 5, 6))
    place = landing_place(rank, count)
    near = [rank, count + 1 - rank, place + 1, place - 1, count // 2 + 1, 1, count]
    options = _shuffled(draw, [f"Place {other}" for other in _distinct(place, near, count)])
    side = "Odd ranks fill the front" if rank % 2 else "Even ranks fill the back"
    return Question(
        f"{count} documents, no limit. Where in the prompt does document {rank} land?",
        options,
        options.index(f"Place {place}"),
        f"{side}: document {rank} is {place_words(place, count)}, place {place}. The whole order is "
        f"{_text(orders.haystack(range(count)))}.",
    )


def _middle(draw: random.Random) -> Question:
    count = draw.choice((5, 7, 9, 11))
    options = _shuffled(draw, [f"Document {rank}" for rank in (1, 2, (count + 1) // 2, count)])
    return Question(
        f"Which of {count} documents stands exactly in the middle of the prompt?",
        options,
        options.index(f"Document {count}"),
        f"The weakest: document {count} comes last and only the middle is left. In a ranked list the middle would "
        f"have been document {(count + 1) // 2}.",
    )


def _kept(draw: random.Random) -> Question:
    sizes, threshold = _list(draw)
    result = arrange(_documents(sizes), threshold)
    options = _shuffled(draw, [str(number) for number in _distinct(result.kept, range(1, 9), len(sizes))])
    return Question(
        f"Documents of {_text(sizes)} words, word_count_threshold = {threshold}. How many reach the prompt?",
        options,
        options.index(str(result.kept)),
        f"The totals are {_text(result.totals)}. Document {result.kept} is the first to reach {threshold}, and it is "
        f"kept: {result.kept} documents.",
    )


def _words(draw: random.Random) -> Question:
    sizes, threshold = _list(draw)
    result = arrange(_documents(sizes), threshold)
    below = result.totals[result.kept - 2]
    wrong = [threshold, below, sum(sizes)]
    options = _shuffled(draw, [f"{number:,} words" for number in (result.words, *wrong)])
    return Question(
        f"Documents of {_text(sizes)} words, word_count_threshold = {threshold}. How many words come out?",
        options,
        options.index(f"{result.words:,} words"),
        f"Before document {result.kept} the total is {below}, below {threshold}; with it {result.words}. The document "
        f"that crosses is kept whole, so {result.words - threshold} words more than the threshold come out.",
    )


def _unsorted(draw: random.Random) -> Question:
    scores = [0.91, 0.84, 0.77, 0.62, 0.48]
    while scores[0] == max(scores):
        draw.shuffle(scores)
    choice = list(dict.fromkeys([scores[0], max(scores), min(scores), *scores]))[:4]
    options = _shuffled(draw, [f"{score:.2f}" for score in choice])
    return Question(
        f"A list arrives with the scores {'  '.join(f'{score:.2f}' for score in scores)}. Which one is first in the "
        f"prompt?",
        options,
        options.index(f"{scores[0]:.2f}"),
        f"The one that came first: {scores[0]:.2f}. The ranker looks at no score, so {max(scores):.2f} does not help. "
        f"Sort before it.",
    )


def _langchain(draw: random.Random) -> Question:
    count = draw.choice((6, 8, 10))
    order = orders.langchain(range(count))
    options = _shuffled(draw, ["First", "Last", "In the middle", "Second"])
    return Question(
        f"LangChain's LongContextReorder gets {count} documents. Where does the best one stand?",
        options,
        options.index("Last"),
        f"Last: {_text(order)}. It begins with the worst and works outwards, so an even number of documents turns the "
        f"order around. Haystack puts the best first whatever the number: {_text(orders.haystack(range(count)))}.",
    )


def _list(draw: random.Random) -> tuple[list[int], int]:
    """Draw word counts and a threshold that a document in the middle crosses by some words."""
    sizes = draw.sample(range(20, 120, 5), 6)
    stop = draw.choice((3, 4))
    return sizes, sum(sizes[:stop]) + sizes[stop] // 2 + 1


def _documents(sizes: list[int]) -> list[Document]:
    return [Document(id=str(rank), content="word " * size) for rank, size in enumerate(sizes, 1)]


def _distinct(right: int, near: range | list[int], most: int) -> list[int]:
    """Choose the right number and the three nearest to it that are possible and not the same."""
    wrong = sorted({number for number in near if 1 <= number <= most and number != right}, key=lambda n: abs(n - right))
    return [right, *wrong[:3]]


def _shuffled(draw: random.Random, options: list[str]) -> tuple[str, ...]:
    draw.shuffle(options)
    return tuple(options)


def _text(numbers: range | list[int] | tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))
