"""Running a plan, stage by stage, with a record of each.

The components are those of the assembled `Pipeline`, run in its order on what it would hand them, and a test holds the
results against `Pipeline.run`. Walking them here has four reasons. `Pipeline.run` copies every document before each
component, and then two documents with one id cannot be told apart; it cannot be stopped; when a component fails it
makes a folder for a snapshot; and it would compile a visitor's template in this process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage
from haystack.document_stores.types import DuplicatePolicy

from lim.audit import KnownOrder, audit
from lim.errors import LimError
from lim.prompt import Rendered, render
from lim.ranker import Arrangement, Fate, arrange
from lim.stages import guards
from lim.stages.build import Chat, Node, chat_generator, component_of, nodes
from lim.stages.config import Configuration
from lim.stages.guards import Trouble
from lim.stages.model import Plan, Slot
from lim.stages.registry import availability
from lim.stages.trace import Failure, Numbers, StageRun, Trace, Verdict, verdict
from lim.story import plural

MAX_MODEL_WAIT_SECONDS = 60.0
"""How long a run waits for another one that uses the same model."""

Progress = Callable[[float, str], None]
"""Told the share of the run that is done, and what is being done."""


class Models:
    """The models a server has loaded, each once, shared by all runs that are given this object.

    It holds one model for each name in the configuration at most.
    """

    def __init__(self, chat: Chat = chat_generator) -> None:
        """Start without a model.

        :param chat: makes chat generators of the configuration and a model's name.
        """
        self.chat = chat
        self._lock = threading.Lock()
        self._loaded: dict[tuple[str, str], Any] = {}
        self._turns: dict[tuple[str, str], threading.Lock] = {}

    @contextmanager
    def turn(self, key: tuple[str, str], component: Any, attribute: str) -> Iterator[float]:  # noqa: ANN401 # any component
        """Lend a component the loaded model, one run at a time: fast tokenizers are not safe for two threads.

        :param key: the stage and the model's name.
        :param component: the component.
        :param attribute: its attribute that holds the loaded model.
        :returns: the seconds until it could be used: waiting for other runs, and loading it if it was not loaded.
        :raises Trouble: if other runs keep the model for a minute.
        """
        began = time.perf_counter()
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        if not turn.acquire(timeout=MAX_MODEL_WAIT_SECONDS):
            raise Trouble(
                f"Other runs kept this model busy for {MAX_MODEL_WAIT_SECONDS:g} seconds.", "Try again in a moment."
            )
        try:
            if key in self._loaded:
                setattr(component, attribute, self._loaded[key])
            else:
                component.warm_up()
                self._loaded[key] = getattr(component, attribute)
            yield time.perf_counter() - began
        finally:
            turn.release()


class _Run:
    """One run under way."""

    def __init__(
        self,
        plan: Plan,
        documents: Sequence[Document],
        query: str,
        config: Configuration,
        others: Sequence[Document],
        models: Models,
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> None:
        self.nodes = nodes(plan, config)
        self.query, self.config, self.models = query, config, models
        self.progress, self.cancelled = progress, cancelled
        self.numbers = Numbers(documents, others)
        self.sources = {"given": list(documents), "bm25": list(documents), "other": list(others)}
        self.lists: list[list[Document]] = []  # what the next stage gets
        self.done: list[StageRun] = []
        self.arrangement: Arrangement | None = None
        self.prompt: Rendered | None = None
        self.messages: tuple[ChatMessage, ...] = ()
        self.reply: str | None = None

    @property
    def documents(self) -> list[Document]:
        return self.lists[-1] if self.lists else []

    def tell(self, share: float, text: str) -> None:
        """Report progress within the stage under way, and stop if a person asked for it."""
        if self.cancelled():
            raise guards.stopped()
        self.progress((len(self.done) + share) / len(self.nodes), text)

    def stage(self, node: Node) -> None:
        """Run one stage and record it."""
        self.tell(0, node.stage.title)
        able = availability(node.stage.key, self.config)
        if not able.ok:
            raise Trouble("It cannot run on this server.", able.remedy or "")
        inputs = self._inputs(node)
        count = max(map(len, inputs))
        if count > node.stage.max_documents:
            raise Trouble(
                f"It got {count:,} documents, but at most {node.stage.max_documents:,} are given to it here.",
                "Keep fewer documents before it, with a top_k.",
            )
        if node.stage.needs_query and not self.query.strip():
            raise Trouble("It ranks against the query, and the query is empty.", "Type a query, or leave it out.")
        before = [self.numbers.of(each, each) for each in inputs]
        began = time.perf_counter()
        loading, outputs, notices = self._work(node, inputs)
        seconds = time.perf_counter() - began - loading
        if node.slot is Slot.PROMPT:
            given = tuple(self._in_prompt(inputs[0], before[0]))
        else:
            given = self.numbers.of(outputs, [document for each in inputs for document in each])
        if node.slot is Slot.RETRIEVE:
            self.lists.append(outputs)
        else:
            self.lists = [outputs]
        self.done.append(
            StageRun(
                name=node.name,
                slot=node.slot,
                stage=node.stage.key,
                title=node.stage.title,
                inputs=tuple(before),
                outputs=before[0] if node.slot is Slot.GENERATE else given,
                documents=tuple(outputs),
                seconds=seconds,
                loading_seconds=loading,
                notices=tuple(notices),
            )
        )

    def _inputs(self, node: Node) -> list[list[Document]]:
        if node.slot is Slot.RETRIEVE:
            return [self.sources[node.stage.key]]
        if node.slot is Slot.GENERATE:  # it reads the prompt: the documents that stand there
            return [[self.numbers.pool[number - 1] for number in self.done[-1].outputs]]
        return self.lists if node.slot is Slot.JOIN else [self.documents]

    def _work(self, node: Node, inputs: list[list[Document]]) -> tuple[float, list[Document], list[str]]:
        """Do a stage's work: the seconds it took to load, the documents it gives, and what to know."""
        match node.stage.key:
            case "given" | "other":
                return 0, inputs[0], []
            case "prompt_builder" | "chat_prompt_builder":
                return 0, inputs[0], self._render(node, inputs[0])
            case "chat_generator":
                return 0, inputs[0], self._generate(node)
        with guards.heard() as warnings:
            loading, outputs, notices = self._component(node, inputs)
        return loading, outputs, [*notices, *warnings]

    def _component(self, node: Node, inputs: list[list[Document]]) -> tuple[float, list[Document], list[str]]:
        listening: list[guards.Listening] = []

        def listen(config: Configuration, model: str) -> guards.Listening:
            listening.append(guards.Listening(self.models.chat(config, model)))
            return listening[0]

        began = time.perf_counter()
        component = component_of(node, self.config, listen)
        imported = time.perf_counter() - began if node.stage.requires else 0.0  # torch takes seconds, once a server
        given: dict[str, Any] = {"documents": inputs[0]} if node.stage.key != "bm25" else {}
        if node.stage.needs_query:
            given["query"] = self.query
        notices = _before(node, inputs)
        match node.stage.key:
            case "bm25":
                component.document_store.write_documents(inputs[0], policy=DuplicatePolicy.SKIP)
            case "document_joiner":
                given["documents"] = inputs
            case "lost_in_the_middle":  # first, since it names the documents that Haystack's would only refuse
                arrangement = arrange(inputs[0], node.settings["word_count_threshold"], node.settings["top_k"])
                notices = _fates(arrangement)
                if node.slot is Slot.ARRANGE:
                    self.arrangement = arrangement
            case "tei":
                guards.watch_tei(component)
            case "llm" if inputs[0]:
                result, told = guards.run_llm_ranker(component, listening[0], given)
                return 0, result["documents"], notices + told
            case "diversity" if node.settings["strategy"] == "maximum_margin_relevance":
                count, top_k = len({document.id for document in inputs[0]}), node.settings["top_k"]
                guards.check_mmr(count, top_k)
                given["lambda_threshold"] = guards.Ticking.of(
                    node.settings["lambda_threshold"], count, top_k, lambda share: self.tell(share, node.stage.title)
                )
        with self._model(node, component) as loading:
            outputs: list[Document] = component.run(**given)["documents"]
        return imported + loading, outputs, notices + _after(node, inputs, outputs)

    def _model(self, node: Node, component: Any) -> Any:  # noqa: ANN401 # any component, a context manager
        if node.stage.model is None:
            return nullcontext(0.0)
        self.tell(0, f"{node.stage.title}: loading {node.settings['model']}")
        return self.models.turn((node.stage.key, node.settings["model"]), component, node.stage.model)

    def _render(self, node: Node, documents: list[Document]) -> list[str]:
        self.prompt = render(node.settings["template"], documents, self.query)
        user = ChatMessage.from_user(self.prompt.text)
        system = node.settings.get("system") or ""
        if system.strip():
            self.messages = (ChatMessage.from_system(render(system, documents, self.query).text), user)
        else:
            self.messages = (user,)
        missing = len(self.prompt.missing)
        return [f"The template leaves out or changes the text of {plural(missing, 'document')}."] if missing else []

    def _generate(self, node: Node) -> list[str]:
        generator = self.models.chat(self.config, node.settings["model"])
        if hasattr(generator, "warm_up"):
            generator.warm_up()
        replies = generator.run(messages=list(self.messages))["replies"]
        self.reply = (replies[0].text or "") if replies else ""
        return [] if self.reply else ["The model's answer is empty."]

    def _in_prompt(self, documents: list[Document], numbers: tuple[int, ...]) -> list[int]:
        """List the numbers in the order of the prompt; a document without text stands after the one before it."""
        if self.prompt is None:
            return []
        if self.prompt.missing:  # left out, or only shortened: the audit finds what is left of a text
            report = audit(self.prompt.text, documents)
            order = [number - 1 for number in report.actual]
        else:
            order = [span.index for span in self.prompt.spans]
        for index, document in enumerate(documents):
            if not (document.content or "").strip() and index not in order:
                order.insert(order.index(index - 1) + 1 if index - 1 in order else 0, index)
        return [numbers[index] for index in order]

    def verdict(self) -> Verdict:
        """Judge whether the arranged order reached the prompt."""
        judged = verdict(self.done, complete=any(each.slot is Slot.PROMPT for each in self.done))
        lost = next((each for each in self.done if each.name == judged.lost_at), None)
        if lost is None or lost.slot is not Slot.PROMPT or self.prompt is None:
            return judged
        order = audit(self.prompt.text, lost.documents).order
        if order in (KnownOrder.INTENDED, KnownOrder.NONE):
            return judged
        return replace(judged, sentence=f"{judged.sentence} They stand in {order.value}.")


def run(
    plan: Plan,
    documents: Sequence[Document],
    query: str = "",
    config: Configuration | None = None,
    *,
    others: Sequence[Document] = (),
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    models: Models | None = None,
) -> Trace:
    """Run a plan on documents and record what every stage did.

    :param plan: the plan.
    :param documents: the list as given, most relevant first. Neither they nor their meta are changed.
    :param query: the query.
    :param config: what the server offers; None for nothing.
    :param others: the second list as given, for the joiner.
    :param progress: told the share that is done, from 0 to 1, and what is being done.
    :param cancelled: asked between stages, and within a diversity ranking, whether to stop.
    :param models: where loaded models are kept; None to load them for this run alone.
    :returns: the trace. A stage that fails ends it: `failure` names stage, cause and remedy, and the stages before it
        are there.
    :raises SettingError: if the plan is wrong: a stage in the wrong place, a setting out of bounds, a model that is
        not offered.
    """
    began = time.perf_counter()
    under_way = _Run(
        plan,
        documents,
        query,
        config or Configuration(),
        others,
        models or Models(),
        progress or (lambda _share, _text: None),
        cancelled or (lambda: False),
    )
    failure = None
    for node in under_way.nodes:
        try:
            under_way.stage(node)
        except Trouble as trouble:
            remedy = trouble.remedy or node.stage.remedy
            failure = Failure(node.name, node.stage.title, trouble.cause, remedy, trouble.cancelled)
        except LimError as error:
            failure = Failure(node.name, node.stage.title, str(error), "")
        except Exception as error:  # noqa: BLE001 # whatever a component or its model library raises is told, not thrown
            failure = Failure(node.name, node.stage.title, guards.explain(error), node.stage.remedy)
        if failure:
            break
    stages = tuple(under_way.done)
    if not failure:
        under_way.progress(1, "Done")
    return Trace(
        query=query,
        documents=tuple(under_way.numbers.pool),
        stages=stages,
        failure=failure,
        arrangement=under_way.arrangement,
        prompt=under_way.prompt,
        messages=under_way.messages,
        reply=under_way.reply,
        verdict=under_way.verdict(),
        seconds=time.perf_counter() - began,
    )


def _before(node: Node, inputs: list[list[Document]]) -> list[str]:
    """Look at a stage's input for what a person should know."""
    notices = []
    copies = sum(map(len, inputs)) - sum(len({document.id for document in each}) for each in inputs)
    if copies and node.stage.key == "bm25":
        said = f"{plural(copies, 'document')} {'shares' if copies == 1 else 'share'} an id with an earlier one"
        notices.append(f"{said}: a document store holds one of each.")
    elif copies:
        # The joiner's modes differ: two overwrite a copy by the next one.
        last = node.settings.get("join_mode") in ("merge", "reciprocal_rank_fusion")
        stays = "the last one stays" if last else "the best-scored one stays"
        said = (
            "shares an id with another and is taken for a copy"
            if copies == 1
            else ("share an id with another and are taken for copies")
        )
        notices.append(f"{plural(copies, 'document')} {said} of it: {stays}.")
    match node.stage.key:
        case "document_joiner":
            notices += guards.join_notices(inputs, node.settings)
        case "meta_field" if node.settings["weight"]:
            places = {"bottom": "they go last", "top": "they go first", "drop": "they are dropped"}
            place = places[node.settings["missing_meta"]]
            notices += guards.meta_notices(inputs[0], node.settings["meta_field"], place)
        case "meta_field_grouping":
            notices += guards.meta_notices(inputs[0], node.settings["group_by"], "they go last")
    return notices


def _after(node: Node, inputs: list[list[Document]], outputs: list[Document]) -> list[str]:
    """Look at what a stage gave for what a person should know."""
    if node.stage.key == "bm25":
        searched = {document.id for document in inputs[0] if document.content is not None}
        unlike = min(node.settings["top_k"], len(searched)) - len(outputs)
        if unlike > 0:
            count = len(searched) - len(outputs)
            verbs = ("shares", "is") if count == 1 else ("share", "are")
            return [f"{plural(count, 'document')} {verbs[0]} no word with the query and {verbs[1]} left out."]
    return []


def _fates(arrangement: Arrangement) -> list[str]:
    dropped = {
        Fate.DUPLICATE: len(arrangement.kept_copies),
        Fate.OVER_TOP_K: arrangement.fates.count(Fate.OVER_TOP_K),
        Fate.OVER_THRESHOLD: arrangement.fates.count(Fate.OVER_THRESHOLD),
    }
    words = {
        Fate.DUPLICATE: "copies of another",
        Fate.OVER_TOP_K: "over top_k",
        Fate.OVER_THRESHOLD: "over the threshold",
    }
    return [f"{count:,} left out: {words[fate]}." for fate, count in dropped.items() if count]
