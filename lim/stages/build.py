"""From a plan to Haystack's own components, joined in a real `Pipeline`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

from haystack import Document, Pipeline
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.joiners import ListJoiner
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from jinja2 import Environment, TemplateSyntaxError

from lim.errors import SettingError, TemplateError
from lim.stages.config import Configuration
from lim.stages.model import Plan, Slot, Stage, Step, check_settings
from lim.stages.registry import SORTING_TEMPLATE, stage_of

MAX_RANKERS = 4
TEI_TIMEOUT = 5
"""Seconds a reranking server has for each part of its answer; by default Haystack waits 30."""

TEI_ATTEMPTS = 2
CHAT_TIMEOUT = 30.0
CHAT_RETRIES = 1
EXPORTED_TEI_URL = "http://localhost:8080"
EXPORTED_CHAT_URL = "http://localhost:8000/v1"
"""What stands in an export for the server's own addresses, which are nobody else's business."""

STORE_INDEX = "documents"

Chat = Callable[[Configuration, str], Any]
"""Makes a chat generator of the configuration and a model's name."""


@dataclass(frozen=True, slots=True)
class Node:
    """A component in its place in the pipeline.

    :param name: its name there.
    :param slot: the place.
    :param stage: the entry of the registry.
    :param settings: every parameter with its value.
    """

    name: str
    slot: Slot
    stage: Stage
    settings: dict[str, Any]


def chat_generator(config: Configuration, model: str) -> Any:  # noqa: ANN401 # any of Haystack's chat generators
    """Make the chat generator of the configuration.

    :param config: what the server offers.
    :param model: one of its chat models.
    :returns: a generator that gives up after 30 seconds and one retry.
    """
    # Servers of one's own often ask for no token, but the client insists on one.
    token = Secret.from_token(config.chat_token or "none")
    return OpenAIChatGenerator(
        api_key=token,
        model=model,
        api_base_url=config.chat_url,
        timeout=CHAT_TIMEOUT,
        max_retries=CHAT_RETRIES,
    )


def exported_chat_generator(config: Configuration, model: str) -> Any:  # noqa: ANN401 # any of Haystack's chat generators
    """Make the chat generator for an export: without the server's address and token.

    :param config: what the server offers.
    :param model: one of its chat models.
    :returns: a generator that reads OpenAI's variables.
    """
    return OpenAIChatGenerator(model=model, api_base_url=EXPORTED_CHAT_URL if config.chat_url else None)


def nodes(plan: Plan, config: Configuration) -> tuple[Node, ...]:
    """Check a plan and list its components in the order they run.

    :param plan: the plan.
    :param config: what the server offers; models are taken from there only.
    :returns: the components; a sorting template has become the prompt builder's.
    :raises SettingError: if a stage stands where it may not, is missing, or has a setting that is out of bounds.
    """
    if (plan.second is None) != (plan.join is None):
        raise SettingError("A joiner joins two lists: give both a second list and a joiner, or neither.")
    if plan.second is not None and plan.second.stage == plan.retrieve.stage:
        raise SettingError(
            f"Both lists for the joiner come from {stage_of(plan.retrieve.stage).title}, but joining a list with "
            f"itself changes nothing. Choose another source for one."
        )
    if len(plan.ranks) > MAX_RANKERS:
        raise SettingError(f"The plan has {len(plan.ranks)} rankers, but at most {MAX_RANKERS} run. Leave some out.")
    prompt, after = plan.prompt, plan.after
    if after is not None and after.stage == "sorting_template":
        prompt, after = Step(prompt.stage, {**prompt.settings, "template": SORTING_TEMPLATE}), None
    rankers = ["ranker"] if len(plan.ranks) == 1 else [f"ranker_{number}" for number in range(1, len(plan.ranks) + 1)]
    source = {"given": "documents", "other": "other_documents", "bm25": "retriever"}.get(plan.retrieve.stage, "")
    # A pipeline runs components that wait for nothing in the order of their names, and a joiner gets its lists, and
    # gives them their weights, in the order they ran.
    first, second = ("list_1", "list_2") if plan.second else (source, "")
    places: list[tuple[str, Slot, Step | None]] = [
        (first, Slot.RETRIEVE, plan.retrieve),
        (second, Slot.RETRIEVE, plan.second),
        ("joiner", Slot.JOIN, plan.join),
        *((name, Slot.RANK, step) for name, step in zip(rankers, plan.ranks, strict=True)),
        ("lost_in_the_middle", Slot.ARRANGE, plan.arrange),
        ("after", Slot.AFTER, after),
        ("prompt_builder", Slot.PROMPT, prompt),
        ("llm", Slot.GENERATE, plan.generate),
    ]
    return tuple(_node(name, slot, step, config) for name, slot, step in places if step is not None)


def _node(name: str, slot: Slot, step: Step, config: Configuration) -> Node:
    stage = stage_of(step.stage)
    if slot not in stage.slots:
        allowed = ", ".join(stage.slots)
        raise SettingError(
            f"{stage.title} stands at {slot.value}, but it belongs at {allowed}. Move it, or leave it out."
        )
    settings = dict(step.settings)
    if any(parameter.name == "model" for parameter in stage.parameters):
        offered = config.offered(stage.needs)
        if offered:
            settings.setdefault("model", offered[0])
        if settings.get("model") not in offered:
            remedy = f"Choose one of {', '.join(offered)}" if offered else config.remedy(stage.needs or "")
            raise SettingError(f"model of {stage.title} is {settings.get('model')!r}, which is not offered. {remedy}.")
    checked = check_settings(stage, settings)
    if checked.get("strategy") == "greedy_diversity_order":
        del checked["lambda_threshold"]  # MMR's alone
    return Node(name, slot, stage, checked)


def component_of(node: Node, config: Configuration, chat: Chat, *, export: bool = False) -> Any:  # noqa: ANN401 # any component
    """Build a node's component; here, and not before, its module is imported.

    :param node: the node.
    :param config: what the server offers.
    :param chat: makes chat generators.
    :param export: whether it is for an export: the server's addresses and tokens stay out of it.
    :returns: the component; a prompt builder is built without the visitor's template, which only the bounded process
        of :mod:`lim.prompt` compiles.
    """
    settings = dict(node.settings)
    match node.stage.key:
        case "given" | "other":
            return ListJoiner(list[Document])
        case "bm25":
            settings["document_store"] = InMemoryDocumentStore(shared=False, index=STORE_INDEX)
        case "tei":
            settings |= {"url": EXPORTED_TEI_URL if export else config.tei_url, "timeout": TEI_TIMEOUT}
            settings["max_retries"] = TEI_ATTEMPTS
            if not export:  # an export keeps Haystack's default, the variables HF_API_TOKEN and HF_TOKEN
                settings["token"] = Secret.from_token(config.tei_token) if config.tei_token else None
        case "llm":
            settings["chat_generator"] = chat(config, settings.pop("model"))
        case "chat_generator":
            return chat(config, settings["model"])
        case "prompt_builder" | "chat_prompt_builder":
            settings = {"variables": variables(node), "required_variables": ["documents"]}
            if node.stage.key == "chat_prompt_builder":
                settings["template"] = [ChatMessage.from_user("-")]
            else:
                settings["template"] = "-"
    return class_of(node.stage)(**settings)


def class_of(stage: Stage) -> Any:  # noqa: ANN401 # any component's class
    """Import a stage's component.

    :param stage: a stage with a component.
    :returns: the class.
    """
    module, _, name = str(stage.path).rpartition(".")
    return getattr(import_module(module), name)


def variables(node: Node) -> list[str]:
    """List what a prompt builder is given: the documents, the query, and the question if the template names it.

    The template is only split into words here, not compiled: compiling folds constants, so `"a" * 10**10` would be
    worked out in this process.

    :param node: a prompt builder.
    :returns: the variables' names.
    :raises TemplateError: if the template cannot be split.
    """
    templates = [str(node.settings.get("template") or ""), str(node.settings.get("system") or "")]
    try:
        names = {
            value
            for template in templates
            for _, kind, value in Environment(autoescape=True).lex(template)
            if kind == "name"
        }
    except TemplateSyntaxError as error:
        raise TemplateError(
            f"The template, line {error.lineno}, is not valid Jinja: {str(error.message).rstrip('.')}. "
            f"Correct the line."
        ) from error
    return ["documents", "query", *(["question"] if "question" in names else [])]


def assemble(plan: Plan, config: Configuration, chat: Chat | None = None, *, export: bool = False) -> Pipeline:
    """Build a plan as a real Haystack pipeline.

    :param plan: the plan.
    :param config: what the server offers.
    :param chat: makes chat generators; None for OpenAI's API.
    :param export: whether it is for an export: the server's addresses and tokens stay out of it.
    :returns: the pipeline, its prompt builder with a template in the place of the visitor's, its document store empty.
    :raises SettingError: as :func:`nodes`.
    """
    listed = nodes(plan, config)
    default = exported_chat_generator if export else chat_generator
    pipeline = Pipeline()
    for node in placed(listed):
        pipeline.add_component(node.name, component_of(node, config, chat or default, export=export))
    for sender, receiver in connections(listed):
        pipeline.connect(sender, receiver)
    return pipeline


def placed(listed: Sequence[Node]) -> list[Node]:
    """Leave out a list as given where the next component can take it from outside.

    :param listed: the nodes of a plan.
    :returns: the nodes with a component in the pipeline. Where the next is a joiner, whose input is made of several
        lists, each list comes in through a `ListJoiner`.
    """
    chain = [node for node in listed if node.slot is not Slot.RETRIEVE]
    if len(listed) - len(chain) > 1 or chain[0].stage.key == "document_joiner":
        return list(listed)
    return [node for node in listed if node.stage.key not in ("given", "other")]


def connections(listed: Sequence[Node]) -> list[tuple[str, str]]:
    """List the connections of a plan's components.

    :param listed: the nodes of a plan.
    :returns: sender and receiver of each, as `Pipeline.connect` takes them.
    """
    within = placed(listed)
    sources = [node for node in within if node.slot is Slot.RETRIEVE]
    chain = [node for node in within if node.slot is not Slot.RETRIEVE]
    pairs = [*((source, chain[0]) for source in sources), *pairwise(chain)]
    return [(f"{left.name}.{_output(left)}", f"{right.name}.{_input(right)}") for left, right in pairs]


def _output(node: Node) -> str:
    if node.stage.key in ("given", "other"):
        return "values"
    return "prompt" if node.slot is Slot.PROMPT else "documents"


def _input(node: Node) -> str:
    return "messages" if node.slot is Slot.GENERATE else "documents"


def pipeline_inputs(
    plan: Plan,
    config: Configuration,
    documents: Iterable[Document],
    query: str,
    others: Iterable[Document] = (),
) -> dict[str, dict[str, Any]]:
    """Say what `Pipeline.run` is given for a plan.

    :param plan: the plan.
    :param config: what the server offers.
    :param documents: the list as given.
    :param query: the query.
    :param others: the second list as given.
    :returns: inputs by component. A retriever's documents are written to its store before.
    """
    listed = nodes(plan, config)
    within = placed(listed)
    inputs: dict[str, dict[str, Any]] = {}
    for node in within:
        if node.stage.key in ("given", "other"):
            inputs[node.name] = {"values": list(documents if node.stage.key == "given" else others)}
        elif node.slot is Slot.PROMPT:
            inputs[node.name] = {name: query for name in variables(node) if name != "documents"}
        elif node.stage.needs_query:
            inputs[node.name] = {"query": query}
    if within[0].slot is not Slot.RETRIEVE:
        given = documents if listed[0].stage.key == "given" else others
        inputs.setdefault(within[0].name, {})["documents"] = list(given)
    return inputs
