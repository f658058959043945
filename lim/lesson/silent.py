"""Five ways to lose the order silently, each run in a real Haystack pipeline with the fault and without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker, MetaFieldRanker

from lim.audit import audit
from lim.checks import check
from lim.lesson.blind import shuffled
from lim.ranker import arrange

PLAIN = "{% for document in documents %}\n[{{ loop.index }}] {{ document.content }}\n{% endfor %}"
SORTING = PLAIN.replace("in documents", 'in documents | sort(attribute="score", reverse=true)')
UNSORTED_SEED = 4


@dataclass(frozen=True, slots=True)
class Way:
    """One way to lose the order.

    :param name: short and unique; what the choice shows and what stands in a link.
    :param title: what happens, in one sentence.
    :param switch: the label of the switch that makes it happen.
    :param code: the line that does it.
    :param remedy: what to do instead.
    """

    name: str
    title: str
    switch: str
    code: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pipeline made of the documents.

    :param intended: ranks in the order the prompt should hold.
    :param actual: ranks in the order the prompt holds.
    :param prompt: the prompt that the pipeline's `PromptBuilder` made.
    :param caught: what an audit of the prompt, or a look at the input, says; empty if nothing is wrong.
    """

    intended: tuple[int, ...]
    actual: tuple[int, ...]
    prompt: str
    caught: str

    @property
    def lost(self) -> bool:
        """Whether the prompt holds another order than intended, or other documents."""
        return self.intended != self.actual


JOINER, RANKER, TEMPLATE, DUPLICATES, UNSORTED = WAYS = (
    Way(
        "A joiner",
        "A DocumentJoiner behind the ranker sorts by score, as it does by default",
        "Join with sort_by_score=True, the default",
        'pipeline.add_component("joiner", DocumentJoiner())',
        "Join first and rank last, or give the joiner sort_by_score=False.",
    ),
    Way(
        "A second ranker",
        "Another ranker behind it puts its own order in the place of this one",
        "Add a MetaFieldRanker behind it",
        'pipeline.add_component("newest_first", MetaFieldRanker(meta_field="published", weight=1.0))',
        "Let the LostInTheMiddleRanker be the last ranker of the pipeline.",
    ),
    Way(
        "A template",
        "The prompt's template sorts the documents once more",
        "Sort in the template",
        '{% for document in documents | sort(attribute="score", reverse=true) %}',
        "Loop over the documents as they come.",
    ),
    Way(
        "Duplicates",
        "A chunk that keeps the id of its source is dropped as a duplicate",
        "Give document 4 the id of document 2",
        'Document(id="document-2", content="another text")',
        "Give each chunk an id of its own, or none: Haystack then makes one of the text.",
    ),
    Way(
        "Unsorted input",
        "Two retrievers' results one after the other are not in order of relevance",
        "Hand the list over unsorted",
        "DocumentJoiner(sort_by_score=False)",
        "Sort by score before the ranker, or put a ranker that scores in front of it.",
    ),
)
"""The five ways."""


def demonstrate(way: Way, documents: Sequence[Document], *, fault: bool) -> Outcome:
    """Run a pipeline with a fault, or the same pipeline without it.

    :param way: the fault.
    :param documents: documents in order of relevance, each with an id of its own, a score, and `published` in its
        meta; at least 4.
    :param fault: whether the fault is in the pipeline.
    :returns: the order that was intended and the one that reached the prompt.
    """
    given = list(documents)
    if fault and way is UNSORTED:
        given = [documents[rank - 1] for rank in shuffled(len(documents), UNSORTED_SEED)]
    if fault and way is DUPLICATES:
        given[3] = replace(given[3], id=given[1].id)
    prompt = _run(way, given, fault=fault)
    intended = arrange(documents)
    report = audit(prompt, intended.documents)
    order = intended.order
    actual = tuple(order[number - 1] for number in report.actual)
    caught = "" if report.holds else report.culprit
    if way in (UNSORTED, DUPLICATES):
        found = check(arrange(given))
        caught = found[0].message if fault and found else caught
    return Outcome(tuple(order), actual, prompt, caught)


def _run(way: Way, documents: list[Document], *, fault: bool) -> str:
    pipeline = Pipeline()
    pipeline.add_component("ranker", LostInTheMiddleRanker())
    pipeline.add_component("prompt_builder", PromptBuilder(SORTING if fault and way is TEMPLATE else PLAIN))
    between: dict[Way, Callable[[], Any]] = {
        JOINER: lambda: DocumentJoiner(sort_by_score=fault),
        **({RANKER: lambda: MetaFieldRanker(meta_field="published", weight=1.0)} if fault else {}),
    }
    if way in between:
        pipeline.add_component("between", between[way]())
        pipeline.connect("ranker.documents", "between.documents")
        pipeline.connect("between.documents", "prompt_builder.documents")
    else:
        pipeline.connect("ranker.documents", "prompt_builder.documents")
    result = pipeline.run({"ranker": {"documents": documents}})
    return str(result["prompt_builder"]["prompt"])
