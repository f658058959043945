"""A plan to take home: YAML and Python of Haystack's own components alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage
from haystack.marshal import YamlMarshaller

from lim.plain import constructor
from lim.stages.build import (
    EXPORTED_CHAT_URL,
    EXPORTED_TEI_URL,
    STORE_INDEX,
    TEI_ATTEMPTS,
    TEI_TIMEOUT,
    Chat,
    Node,
    assemble,
    connections,
    nodes,
    placed,
    variables,
)
from lim.stages.config import Configuration
from lim.stages.model import Plan, Slot, Step

HAYSTACK = "haystack-ai==3.4.1"
MAX_LINE = 100
DEFAULT_MODELS = {
    "similarity": "cross-encoder/ms-marco-MiniLM-L-6-v2",
    "diversity": "sentence-transformers/all-MiniLM-L6-v2",
    "chat_generator": "gpt-5-mini",
}
"""The components' own default models, by stage, for a server that offers none."""


_EXAMPLES = tuple(
    Document(content=f"The {which} document.", score=score)
    for which, score in (("most relevant", 0.9), ("second", 0.7), ("third", 0.5), ("fourth", 0.3), ("weakest", 0.1))
)


class _Templated:
    """Writes YAML as Haystack does, with the visitor's template in the place that was kept for it.

    The template never becomes a component in this process: building one compiles it.
    """

    def __init__(self, listed: Sequence[Node]) -> None:
        self._listed = listed

    def marshal(self, dict_: dict[str, Any]) -> str:
        for node in self._listed:
            if node.slot is Slot.PROMPT:
                dict_["components"][node.name]["init_parameters"]["template"] = _template(node)
        text: str = YamlMarshaller().marshal(dict_)
        return text

    def unmarshal(self, data_: str | bytes | bytearray) -> dict[str, Any]:
        raise NotImplementedError("YAML is written here, never loaded.")


def _template(node: Node) -> str | list[dict[str, Any]]:
    if node.stage.key == "prompt_builder":
        return str(node.settings["template"])
    return [message.to_dict() for message in _messages(node)]


def _messages(node: Node) -> list[ChatMessage]:
    user = ChatMessage.from_user(node.settings["template"])
    system = node.settings["system"]
    return [ChatMessage.from_system(system), user] if system.strip() else [user]


def to_yaml(plan: Plan, config: Configuration | None = None, chat: Chat | None = None) -> str:
    """Write a plan as YAML for `Pipeline.loads`.

    :param plan: the plan.
    :param config: what the server offers. Its model names are written, its addresses and tokens are not.
    :param chat: makes chat generators; None for OpenAI's API.
    :returns: what Haystack's `Pipeline.dumps` writes, below lines of comment that say what it needs and is given.
    :raises SettingError: if the plan is wrong.
    :raises TemplateError: if the template is not valid Jinja.
    """
    config = config or Configuration()
    plan, offered, folders = _portable(plan, config)
    listed = nodes(plan, offered)
    # The marshaller is Haystack's own hook; `unmarshal` is never called by `dumps`.
    dumped = assemble(plan, offered, chat, export=True).dumps(_Templated(listed))
    notes = ["A Haystack pipeline. Load it: haystack.Pipeline.loads(text)", f"Install: {_install(listed)}"]
    notes += [f"Input {line}" for line in _input_notes(listed)]
    return (
        "".join(f"# {note}\n" for note in notes + _defaults(listed, config) + _placeholders(listed, offered, folders))
        + dumped
    )


def _install(listed: Sequence[Node]) -> str:
    needed = dict.fromkeys([HAYSTACK, *(each for node in listed for each in node.stage.requires)])
    return "pip install " + " ".join(f'"{each}"' for each in needed)


def _input_notes(listed: Sequence[Node]) -> list[str]:
    within = placed(listed)
    lines = []
    for node in within:
        given = []
        if node is within[0] and node.slot is not Slot.RETRIEVE:
            given.append("documents, most relevant first")
        if node.stage.key in ("given", "other"):
            given.append("values, a list of documents, most relevant first")
        elif node.slot is Slot.PROMPT:
            given += [name for name in variables(node) if name != "documents"]
        elif node.stage.needs_query:
            given.append("query")
        if node.stage.key == "bm25":
            given.append("its document_store, with the documents written to it before")
        lines += [f"of {node.name}: {'; '.join(given)}"] if given else []
    return lines


def _portable(plan: Plan, config: Configuration) -> tuple[Plan, Configuration, list[str]]:
    """Name models that are folders of the server by their last part: its paths are nobody's business, and no use.

    Where the server offers no model, the component's own default takes its place.

    :returns: the plan and the configuration with these names, and the names of the folders.
    """
    config = replace(
        config,
        cross_encoders=config.cross_encoders or (DEFAULT_MODELS["similarity"],),
        embedders=config.embedders or (DEFAULT_MODELS["diversity"],),
        chat_models=config.chat_models or (DEFAULT_MODELS["chat_generator"],),
    )
    names = {model: PurePath(model).name for model in config.cross_encoders + config.embedders if _is_folder(model)}

    def renamed(step: Step) -> Step:
        model = step.settings.get("model")
        return replace(step, settings={**step.settings, "model": names[model]}) if model in names else step

    offered = replace(
        config,
        cross_encoders=tuple(names.get(model, model) for model in config.cross_encoders),
        embedders=tuple(names.get(model, model) for model in config.embedders),
    )
    return (
        replace(plan, ranks=tuple(map(renamed, plan.ranks)), after=plan.after and renamed(plan.after)),
        offered,
        [*names.values()],
    )


def _is_folder(model: str) -> bool:
    return PurePath(model).is_absolute() or model.startswith((".", "~")) or "\\" in model


def _defaults(listed: Sequence[Node], config: Configuration) -> list[str]:
    """Say which models were nobody's choice."""
    nobodys = dict.fromkeys(
        node.settings["model"] for node in listed if "model" in node.settings and not config.offered(node.stage.needs)
    )
    return [
        f"Change {model}, Haystack's default, to your model: none was set up where this was made" for model in nobodys
    ]


def _placeholders(listed: Sequence[Node], config: Configuration, folders: Sequence[str]) -> list[str]:
    keys = {node.stage.key for node in listed}
    models = dict.fromkeys(node.settings.get("model") for node in listed)
    notes = [f"Change {model}, a folder where this was made, to your model" for model in models if model in folders]
    if "tei" in keys:
        notes.append(f"Change {EXPORTED_TEI_URL} to your Text Embeddings Inference server; HF_TOKEN holds its token")
    if keys & {"llm", "chat_generator"}:
        notes.append("Set OPENAI_API_KEY to your token")
        if config.chat_url:
            notes.append(f"Change {EXPORTED_CHAT_URL} to your chat server")
    return notes


def to_python(
    plan: Plan,
    config: Configuration | None = None,
    *,
    documents: Sequence[Document] = (),
    others: Sequence[Document] = (),
    query: str = "",
) -> str:
    """Write a plan as a Python script that builds it with Haystack alone, runs it and prints the order and the prompt.

    :param plan: the plan.
    :param config: what the server offers. Its model names are written, its addresses and tokens are not.
    :param documents: the documents the script holds; without any, five examples to replace.
    :param others: those of the second list.
    :param query: the query.
    :returns: a complete script.
    :raises SettingError: if the plan is wrong.
    :raises TemplateError: if the template is not valid Jinja.
    """
    config = config or Configuration()
    plan, offered, folders = _portable(plan, config)
    listed = nodes(plan, offered)
    within = placed(listed)
    parts = [_component(node, offered) for node in within]
    body = [
        *(
            _call("pipeline.add_component", [repr(node.name), code])
            for node, (code, _) in zip(within, parts, strict=True)
        ),
        *(f"pipeline.connect({sender!r}, {receiver!r})" for sender, receiver in connections(listed)),
    ]
    imports = {"from haystack import Document, Pipeline", *(line for _, lines in parts for line in lines)}
    last = [node for node in within if node.slot not in (Slot.PROMPT, Slot.GENERATE)]
    outputs = [node.name for node in within if node in last[-1:] or node.slot is Slot.PROMPT]
    notes = [f"Install: {_install(listed)}", *_defaults(listed, config), *_placeholders(listed, offered, folders)]
    lists = [f"documents = {_documents(documents or _EXAMPLES)}"]
    if any(node.stage.key == "other" for node in listed):
        lists.append(f"other_documents = {_documents(others or _EXAMPLES[::-1])}")
    return "\n".join(
        [
            '"""A Haystack pipeline.',
            "",
            *(f"{note}." for note in notes),
            '"""',
            "",
            *sorted(imports),
            "",
            *lists,
            f"query = {query!r}",
            "",
            *_setup(within),
            "pipeline = Pipeline()",
            *body,
            "",
            _call(
                "result = pipeline.run",
                [_inputs(listed), f"include_outputs_from={{{', '.join(map(repr, outputs))}}}"],
            ),
            "",
            *_prints(within, last),
            "",
        ]
    )


def _setup(within: Sequence[Node]) -> list[str]:
    lines = []
    for node in within:
        if node.stage.key == "bm25":
            store = f"InMemoryDocumentStore(shared=False, index={STORE_INDEX!r})"
            lines += [f"store = {store}", "store.write_documents(documents, policy=DuplicatePolicy.SKIP)"]
        if node.slot is Slot.PROMPT:
            lines.append(f"template = {_block(node.settings['template'])}")
            if node.settings.get("system", "").strip():
                lines.append(f"system = {_block(node.settings['system'])}")
    return [*lines, ""] if lines else []


def _component(node: Node, config: Configuration) -> tuple[str, list[str]]:
    """Write the call that makes a component, and the imports it needs."""
    module, _, name = (node.stage.path or "haystack.components.joiners.ListJoiner").rpartition(".")
    imports = [f"from {module} import {name}"]
    defaults = {parameter.name: parameter.default for parameter in node.stage.parameters}
    literal = {
        key: repr(value)
        for key, value in node.settings.items()
        if value != defaults[key] and not (isinstance(value, list) and value == list(defaults[key] or ()))
    }
    model = literal.pop("model", None)
    match node.stage.key:
        case "given" | "other":
            return "ListJoiner(list[Document])", imports
        case "bm25":
            literal["document_store"] = "store"
            imports.append("from haystack.document_stores.in_memory import InMemoryDocumentStore")
            imports.append("from haystack.document_stores.types import DuplicatePolicy")
        case "tei":
            literal |= {"url": repr(EXPORTED_TEI_URL), "timeout": str(TEI_TIMEOUT), "max_retries": str(TEI_ATTEMPTS)}
        case "llm" | "chat_generator":
            imports.append("from haystack.components.generators.chat import OpenAIChatGenerator")
            url = f", api_base_url={EXPORTED_CHAT_URL!r}" if config.chat_url else ""
            generator = f"OpenAIChatGenerator(model={model}{url})"
            if node.stage.key == "chat_generator":
                return generator, imports[-1:]
            literal["chat_generator"] = generator
        case "prompt_builder" | "chat_prompt_builder":
            literal = {
                "variables": repr(variables(node)),
                "required_variables": "['documents']",
                "template": "template",
            }
            if node.stage.key == "chat_prompt_builder":
                imports.append("from haystack.dataclasses import ChatMessage")
                messages = ["ChatMessage.from_user(template)"]
                if node.settings["system"].strip():
                    messages.insert(0, "ChatMessage.from_system(system)")
                literal["template"] = f"[{', '.join(messages)}]"
        case _:
            literal |= {"model": model} if model else {}
    return _call(name, [f"{key}={value}" for key, value in literal.items()], within="    "), imports


def _call(name: str, arguments: Sequence[str], within: str = "") -> str:
    """Write a call on one line if it is short, else with an argument a line."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) + len(within) <= MAX_LINE and "\n" not in line:
        return line
    return "\n".join([f"{name}(", *(f"{within}    {argument}," for argument in arguments), f"{within})"])


def _inputs(listed: Sequence[Node]) -> str:
    within = placed(listed)
    entries: dict[str, dict[str, str]] = {}
    for node in within:
        if node.stage.key in ("given", "other"):
            entries[node.name] = {"values": "documents" if node.stage.key == "given" else "other_documents"}
        elif node.slot is Slot.PROMPT:
            entries[node.name] = {name: "query" for name in variables(node) if name != "documents"}
        elif node.stage.needs_query:
            entries[node.name] = {"query": "query"}
    if within[0].slot is not Slot.RETRIEVE:
        given = "documents" if listed[0].stage.key == "given" else "other_documents"
        entries.setdefault(within[0].name, {})["documents"] = given
    written = (
        f"{name!r}: {{{', '.join(f'{key!r}: {value}' for key, value in values.items())}}}"
        for name, values in entries.items()
    )
    return f"{{{', '.join(written)}}}"


def _prints(within: Sequence[Node], last: Sequence[Node]) -> list[str]:
    lines = []
    if last:
        output = "values" if last[-1].stage.key in ("given", "other") else "documents"
        lines.append(f"for position, document in enumerate(result[{last[-1].name!r}][{output!r}], start=1):")
        lines.append("    print(position, document.id, document.score)")
    for node in within:
        if node.stage.key == "prompt_builder":
            lines.append(f"print(result[{node.name!r}]['prompt'])")
        elif node.stage.key == "chat_prompt_builder":
            lines += [f"for message in result[{node.name!r}]['prompt']:", "    print(message.text)"]
        elif node.slot is Slot.GENERATE:
            lines.append(f"print(result[{node.name!r}]['replies'][0].text)")
    return lines


def _documents(documents: Sequence[Document]) -> str:
    """Write documents as Python, one a line."""
    return "\n".join(["[", *(f"    {constructor(document)}," for document in documents), "]"])


def _block(text: str) -> str:
    """Write a text of several lines as one literal a line."""
    lines = text.splitlines(keepends=True) or [""]
    return "\n".join(["(", *(f"    {line!r}" for line in lines), ")"])
