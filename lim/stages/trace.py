"""What a run leaves behind: every stage with the documents it got and gave, and whether the order arrived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from haystack import Document
from haystack.dataclasses import ChatMessage

from lim.prompt import Rendered
from lim.ranker import Arrangement
from lim.stages.model import Slot


@dataclass(frozen=True, slots=True)
class StageRun:
    """What one stage did.

    Documents are named by number: their rank in the list as given, from 1; those of a second list that are not in the
    first are numbered on. A document keeps its number through all stages.

    :param name: the component's name in the pipeline.
    :param slot: its place.
    :param stage: its key in the registry.
    :param title: its class, as Haystack names it.
    :param inputs: the numbers of each list it got, in order; a joiner gets two, any other stage one.
    :param outputs: the numbers it gave, in order. Of a prompt builder: the documents whose text stands in the prompt,
        in the order they stand there.
    :param documents: the documents it gave, with their scores; of a prompt builder those it got.
    :param seconds: how long it took, the loading left out.
    :param loading_seconds: how long its packages and its model took to load, waiting for another run that uses the
        model included; 0 where there is nothing to load.
    :param notices: what a person should know about what it did.
    """

    name: str
    slot: Slot
    stage: str
    title: str
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]
    documents: tuple[Document, ...]
    seconds: float
    loading_seconds: float
    notices: tuple[str, ...]

    @property
    def entered(self) -> tuple[int, ...]:
        """The numbers of all documents it got, each once."""
        return tuple(dict.fromkeys(number for each in self.inputs for number in each))

    @property
    def dropped(self) -> tuple[int, ...]:
        """The numbers of the documents it got and did not give."""
        given = set(self.outputs)
        return tuple(number for number in self.entered if number not in given)

    @property
    def added(self) -> tuple[int, ...]:
        """The numbers of the documents it gave and did not get, or gave more often than it got."""
        left = Counter(self.entered)
        added = []
        for number in self.outputs:
            if left[number]:
                left[number] -= 1
            else:
                added.append(number)
        return tuple(added)

    @property
    def reordered(self) -> bool:
        """Whether the documents it kept stand in another order than they came in."""
        given = set(self.outputs)
        return [n for n in self.entered if n in given] != list(dict.fromkeys(self.outputs))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run ended early.

    :param name: the component's name in the pipeline.
    :param title: its class, as Haystack names it.
    :param cause: what happened.
    :param remedy: what to do; empty where the cause says it.
    :param cancelled: whether a person stopped it.
    """

    name: str
    title: str
    cause: str
    remedy: str
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the arranged order reaches the prompt.

    :param holds: whether it does; None where nothing was arranged, or the prompt was not reached.
    :param intended: the numbers in the order the arrangement gave them.
    :param reached: the numbers in the order they stand in the prompt.
    :param lost_at: the name of the component that lost the order, or None.
    :param sentence: the verdict in a sentence.
    """

    holds: bool | None
    intended: tuple[int, ...]
    reached: tuple[int, ...]
    lost_at: str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A run of a pipeline.

    :param query: the query.
    :param documents: every document by its number, from 1: the list as given, then what a second list adds.
    :param stages: the stages that ran, in order.
    :param failure: why the run ended early, or None.
    :param arrangement: what the arrangement did with each document, or None without one. Its ranks are places in the
        arrangement's own input.
    :param prompt: the rendered prompt (of a chat, the user's message), or None if it was not reached.
    :param messages: what a chat generator is given, or would be; empty if the prompt was not reached.
    :param reply: the chat model's answer, or None.
    :param verdict: whether the arranged order reaches the prompt.
    :param seconds: how long the whole run took.
    """

    query: str
    documents: tuple[Document, ...]
    stages: tuple[StageRun, ...]
    failure: Failure | None
    arrangement: Arrangement | None
    prompt: Rendered | None
    messages: tuple[ChatMessage, ...]
    reply: str | None
    verdict: Verdict
    seconds: float


class Numbers:
    """Numbers documents, and finds a document's number again after a component replaced it by a copy."""

    def __init__(self, documents: Sequence[Document], others: Sequence[Document]) -> None:
        """Give every document its number.

        :param documents: the list as given: 1 to n.
        :param others: the second list: documents with the id of one in the first have its number, the rest follow.
        """
        self.pool = list(documents)
        self._by_id: dict[str, list[int]] = {}
        for number, document in enumerate(self.pool, 1):
            self._by_id.setdefault(document.id, []).append(number)
        # Keyed by identity; the documents live as long as this does, so no identity is used twice.
        self._known = {id(document): number for number, document in enumerate(self.pool, 1)}
        self._kept: list[Document] = list(others)
        for document in others:
            if document.id not in self._by_id:
                self.pool.append(document)
                self._by_id[document.id] = [len(self.pool)]
            self._known.setdefault(id(document), self._by_id[document.id][0])

    def of(self, documents: Sequence[Document], inputs: Sequence[Document] = ()) -> tuple[int, ...]:
        """Find the numbers of documents that a component gave.

        :param documents: what it gave: documents it got, or copies of these with another score.
        :param inputs: what it got.
        :returns: the numbers, in order.
        """
        numbers = []
        for document in documents:
            number = self._known.get(id(document))
            if number is None:
                number = self._copied(document, inputs)
                self._known[id(document)] = number
                self._kept.append(document)
            numbers.append(number)
        return tuple(numbers)

    def _copied(self, document: Document, inputs: Sequence[Document]) -> int:
        """Of several with one id, a component keeps the best-scored, the first of equals."""
        candidates = self._by_id[document.id]
        if len(candidates) == 1:
            return candidates[0]
        copies = [each for each in inputs if each.id == document.id]
        alike = [each for each in copies if each.content == document.content and each.meta == document.meta]
        best = max(alike or copies, key=lambda each: float("-inf") if each.score is None else each.score, default=None)
        return candidates[0] if best is None else self._known[id(best)]


def verdict(stages: Sequence[StageRun], *, complete: bool) -> Verdict:
    """Tell whether the arranged order reaches the prompt, and if not, where it was lost.

    :param stages: the stages that ran.
    :param complete: whether the prompt was reached.
    :returns: the verdict.
    """
    arranged = next((place for place, run in enumerate(stages) if run.slot is Slot.ARRANGE), None)
    prompt = next((run for run in stages if run.slot is Slot.PROMPT), None)
    reached = prompt.outputs if prompt else ()
    if arranged is None:
        reason = "No arrangement stands in its place here, so there is no intended order to lose."
        if not complete:
            reason = "The run ended before the prompt."
        return Verdict(None, (), reached, None, reason)
    intended = stages[arranged].outputs
    if not complete or prompt is None:
        return Verdict(None, intended, reached, None, "The run ended before the prompt: the order did not reach it.")
    if not intended:
        gave_none = next((run.title for run in stages if not run.outputs), stages[arranged].title)
        return Verdict(None, (), reached, None, f"No document reaches the prompt: {gave_none} gave none.")
    for run in stages[arranged + 1 :]:
        if run.outputs != intended:
            return Verdict(
                holds=False, intended=intended, reached=reached, lost_at=run.name, sentence=_loss(run, intended, stages)
            )
        if run.slot is Slot.PROMPT:
            break
    count = (
        "The one arranged document reaches" if len(intended) == 1 else f"All {len(intended):,} arranged documents reach"
    )
    sentence = f"{count} the prompt in the intended order."
    return Verdict(holds=True, intended=intended, reached=reached, lost_at=None, sentence=sentence)


def _loss(run: StageRun, intended: Sequence[int], stages: Sequence[StageRun]) -> str:
    verb = "The template of " if run.slot is Slot.PROMPT else ""
    twice = sum(each.title == run.title for each in stages) > 1
    title = f"{run.title} after the arrangement" if twice and run.slot is Slot.AFTER else run.title
    missing = len(set(intended) - set(run.outputs))
    kept = [number for number in intended if number in set(run.outputs)]
    what = []
    if list(dict.fromkeys(run.outputs)) != kept:
        what.append("puts the documents into another order")
    if missing:
        what.append(f"leaves out {missing:,} of {len(intended):,}")
    if len(set(run.outputs)) < len(run.outputs):
        what.append("repeats some")
    return f"The intended order is lost: {verb}{title} {' and '.join(what) or 'changes the list'}."
