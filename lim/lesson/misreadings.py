"""What people believe about the ranker that is not so, each with the installed Haystack's own answer."""

from __future__ import annotations

from dataclasses import dataclass

from haystack.components.rankers import LostInTheMiddleRanker
from haystack.core.serialization import component_to_dict

from lim.lesson.deck import LETTERS, THRESHOLD, numbered
from lim.lesson.placing import place_words
from lim.lesson.sizes import sized
from lim.ranker import arrange


@dataclass(frozen=True, slots=True)
class Misreading:
    """One misreading.

    :param belief: what people believe.
    :param answer: what is so, in one sentence.
    :param truth: why, in one or two more.
    :param shown: the demonstration: what was measured, and its value.
    """

    belief: str
    answer: str
    truth: str
    shown: tuple[tuple[str, str], ...]


def misreadings() -> tuple[Misreading, ...]:
    """Demonstrate each misreading with the ranker itself.

    :returns: the misreadings, what was measured computed anew.
    """
    return (_cap(), _tokens(), _model(), _repair(), _published())


def _cap() -> Misreading:
    documents = list(numbered(9))
    result = arrange(documents, THRESHOLD)
    over = result.words - THRESHOLD
    return Misreading(
        "“The threshold is the most words there can be.”",
        "The document that crosses it is kept.",
        f"The threshold is where the walk stops, after the document that reaches it, so the result may exceed "
        f"the threshold by all but one of its words: here by {over:,}. One public write-up says that documents stop "
        f"before the threshold is exceeded; the code says after.",
        (
            ("word_count_threshold", f"{THRESHOLD:,}"),
            ("Words in the prompt", f"{result.words:,}"),
            ("The document that crosses", f"{result.crossing}"),
        ),
    )


def _tokens() -> Misreading:
    chinese = next(text for text in sized() if text.name == "Chinese")
    tokens = "not available" if chinese.tokens is None else f"{chinese.tokens:,}"
    return Misreading(
        "“Words are about as good as tokens.”",
        "A paragraph of Chinese is one word.",
        "Words are what stands between spaces. A paragraph of Chinese has none, so it counts as one word and hardly "
        "moves the budget, whatever it costs the model.",
        (
            ("A paragraph of Chinese, in words", f"{chinese.words:,}"),
            ("The same in tokens", tokens),
            ("In characters", f"{len(chinese.text):,}"),
        ),
    )


def _model() -> Misreading:
    settings = component_to_dict(LostInTheMiddleRanker(), "ranker")["init_parameters"]
    return Misreading(
        "“It is a ranker, so it loads a model and scores the documents.”",
        "It has two settings and no model.",
        "It reads neither the question nor the scores, and ranks nothing: put a "
        "retriever or a model-backed ranker in front of it.",
        (
            ("Its settings, all of them", ", ".join(sorted(settings))),
            ("Scores it needs", "none"),
        ),
    )


def _repair() -> Misreading:
    count = 9
    place = arrange(numbered(count)).order.index(count) + 1
    return Misreading(
        "“It makes up for weak retrieval.”",
        "It moves what was found, and finds nothing.",
        "If the answer stands at the last rank it lands in the worst place there is, and if "
        "it was not retrieved it is not in the prompt.",
        (
            (f"The answer at rank {count} of {count} lands", place_words(place, count)),
            ("Its place in the prompt", f"{place} of {count}"),
        ),
    )


def _published() -> Misreading:
    documents = list(numbered(5))
    out = LostInTheMiddleRanker().run(documents=documents)["documents"]
    order = " ".join(LETTERS[documents.index(document)] for document in out)
    return Misreading(
        "“Five documents A B C D E come out as A E D B C.”",
        f"They come out as {order}.",
        "One public write-up prints the other order. The code is what runs.",
        (
            ("One write-up prints", "A E D B C"),
            ("The code returns", order),
        ),
    )
