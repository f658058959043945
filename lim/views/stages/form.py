"""Choosing a pipeline in the sidebar: its stages and, from their parameters, the settings of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from haystack import Document

from lim.prompt import DEFAULT_TEMPLATE
from lim.stages import (
    REMOVED,
    STAGES,
    Configuration,
    Kind,
    Parameter,
    Plan,
    Slot,
    Stage,
    Step,
    availability,
    from_transformers_similarity,
    stages_for,
)
from lim.stages.build import MAX_RANKERS
from lim.widgets import Picked, list_names

NONE = "none"
MAX_FIELDS = 200
SHOWN_PARAMETERS = 2  # of a stage; the others are folded away
CALIBRATION = Parameter(
    "calibration_factor", Kind.NUMBER, None, "Of the removed ranker; it has no successor.", optional=True
)
TEMPLATES = ("prompt_builder", "chat_prompt_builder")

_RANK = [f"rank_{number}" for number in range(1, MAX_RANKERS + 1)]
_PLACES = ["retrieve", "second", *_RANK, "arrange", "after", "build", "generate"]
_TITLES = {key: stage.title for key, stage in STAGES.items()}

EXAMPLES: dict[str, dict[str, Any]] = {
    "Arrange a list as given": {},
    "Retrieve by BM25, then arrange": {"retrieve": _TITLES["bm25"]},
    "Join two lists by rank fusion": {
        "second": _TITLES["bm25"],
        "document_joiner_join_mode": "reciprocal_rank_fusion",
    },
    "Undone: a joiner sorts afterwards": {"after": _TITLES["document_joiner"]},
    "Undone: arranged twice": {"after": _TITLES["lost_in_the_middle"]},
    "Undone: the template sorts": {"after": _TITLES["sorting_template"]},
}
"""Pipelines to start from: what differs from the plain one."""

state = st.session_state


@dataclass(frozen=True, slots=True)
class Form:
    """What a person chose.

    :param plan: the pipeline.
    :param query: the query.
    :param others: the second list as given; empty if none is used.
    :param others_index: its place in the input, or None.
    """

    plan: Plan
    query: str
    others: tuple[Document, ...]
    others_index: int | None


def start_from(name: str) -> None:
    """Set every choice as an example has it.

    :param name: one of `EXAMPLES`.
    """
    choices = EXAMPLES[name]
    plain = dict.fromkeys(_PLACES, NONE)
    plain |= {
        "retrieve": _TITLES["given"],
        "arrange": _TITLES["lost_in_the_middle"],
        "build": _TITLES["prompt_builder"],
    }
    for key in _PLACES:
        if key in state or key in choices:
            state[key] = choices.get(key, plain[key])
    for key in choices.keys() - plain.keys():
        state[key] = choices[key]


def _started() -> None:
    if chosen := state["start_from"]:
        start_from(chosen)


def _close_gaps() -> None:
    """Move the rankers up after one was taken out."""
    chosen = [state[key] for key in _RANK if state.get(key, NONE) != NONE]
    for key, value in zip(_RANK, chosen + [NONE] * MAX_RANKERS, strict=False):
        if key in state:
            state[key] = value


def choose(picked: Picked, config: Configuration) -> Form:
    """Let a person choose the query, the stages and their settings.

    :param picked: the documents.
    :param config: what the server offers.
    :returns: the choices; whether they make a pipeline is for `lim.stages.nodes` to say.
    """
    return _Builder(picked, config).form()


class _Builder:
    """The sidebar under way: it counts how often a stage was chosen, for keys that stay with it as it moves."""

    def __init__(self, picked: Picked, config: Configuration) -> None:
        self.picked, self.config = picked, config
        self.bench = picked.bench
        self.seen = Counter[str]()
        self.fields = _fields(self.bench.ranked.documents)

    def form(self) -> Form:
        query = st.text_input(
            "Query",
            self.bench.ranked.query or "",
            key=f"pipeline_query_{hash(self.bench.key)}",
            persist_state="session",
        )
        st.markdown("**Stages**")
        st.menu_button(
            "Start from an example",
            list(EXAMPLES),
            key="start_from",
            on_click=_started,
            icon=":material/conversion_path:",
        )
        retrieve = self.stage("Retrieve", "retrieve", self.sources()) or Step("given")
        second = self.stage("Join with a second list", "second", [NONE, *self.sources(retrieve.stage)])
        index = self.other_list() if "other" in (retrieve.stage, second.stage if second else "") else None
        join = Step("document_joiner", self.settings(STAGES["document_joiner"])) if second else None
        plan = Plan(
            retrieve=retrieve,
            second=second,
            join=join,
            ranks=tuple(self.rankers()),
            arrange=self.stage("Arrange", "arrange", [*_titles(Slot.ARRANGE), NONE]),
            after=self.stage("After the arrangement", "after", [NONE, *_titles(Slot.AFTER)]),
            prompt=self.prompt(),
            generate=self.stage("Generate an answer", "generate", [NONE, *_titles(Slot.GENERATE)]),
        )
        others = self.picked.loaded.lists[index].documents if index is not None else ()
        return Form(plan, query, others, index)

    def sources(self, without: str = "") -> list[str]:
        several = len(self.picked.loaded.lists) > 1
        keys = [each.key for each in stages_for(Slot.RETRIEVE) if each.key != "other" or several]
        return [_TITLES[key] for key in keys if key != without]

    def other_list(self) -> int:
        """Let a person choose the second list among those of the input."""
        first = self.bench.key[-1]
        names = {name: place for place, name in enumerate(list_names(self.picked.loaded)) if place != first}
        key = "second_list" if self.picked.sample else f"second_list_{hash(self.bench.key[0])}"
        bind: Any = "query-params" if self.picked.sample else None  # a person's own queries never go into a link
        return names[st.selectbox("The second list", list(names), key=key, bind=bind)]

    def rankers(self) -> list[Step]:
        removed = [each.title for each in REMOVED]
        steps: list[Step] = []
        for number, key in enumerate(_RANK, 1):
            label = "Rank" if number == 1 else f"Rank again ({number} of {MAX_RANKERS})"
            options = [NONE, *_titles(Slot.RANK), *removed]
            title = st.selectbox(label, options, key=key, bind="query-params", on_change=_close_gaps)
            if title == NONE:
                break
            steps.append(self.removed(title) if title in removed else self.step(title))
        return steps

    def stage(self, label: str, key: str, titles: Sequence[str]) -> Step | None:
        title = st.selectbox(label, titles, key=key, bind="query-params")
        return None if title == NONE else self.step(title)

    def step(self, title: str) -> Step:
        stage = next(each for each in STAGES.values() if each.title == title)
        if stage.slots[0] not in (Slot.RETRIEVE, Slot.ARRANGE):  # the first two need no word
            st.caption(stage.summary)
        self.warn(stage)
        return Step(stage.key, self.settings(stage))

    def warn(self, stage: Stage) -> None:
        """Say what is missing where a stage cannot run."""
        able = availability(stage.key, self.config)
        if not able.ok:
            with st.container(border=True, gap="xsmall"):
                st.markdown(":orange[:material/block:] **Cannot run on this server**")
                if "pip install" in (able.remedy or ""):
                    st.code(able.remedy or "", language=None, wrap_lines=True)
                else:
                    st.text(able.remedy or "")

    def removed(self, title: str) -> Step:
        """Explain a ranker Haystack no longer has, and map its settings to its successor's."""
        gone = next(each for each in REMOVED if each.title == title)
        successor = STAGES[gone.successor]
        st.caption(gone.explanation)
        self.warn(successor)
        settings = self.settings(successor, (CALIBRATION,))
        step, notices = from_transformers_similarity(settings)
        for notice in notices:
            st.text(notice)
        # What it never had is the successor's own, and stays as it was chosen.
        own = {name: value for name, value in settings.items() if name in ("query_suffix", "document_suffix")}
        return Step(step.stage, {**step.settings, **own})

    def prompt(self) -> Step:
        title = st.selectbox("Build the prompt", _titles(Slot.PROMPT), key="build", bind="query-params")
        stage = next(each for each in stages_for(Slot.PROMPT) if each.title == title)
        st.caption("Its template is below, in the tab Prompt.")
        settings = {"template": state.get("pipeline_template", DEFAULT_TEMPLATE)}
        if stage.key == "chat_prompt_builder":
            settings["system"] = state.get("pipeline_system", "")
        return Step(stage.key, settings)

    def settings(self, stage: Stage, more: Sequence[Parameter] = ()) -> dict[str, Any]:
        """Show a stage's parameters; the first ones at once, the others folded away."""
        self.seen[stage.key] += 1
        prefix = stage.key if self.seen[stage.key] == 1 else f"{stage.key}_{self.seen[stage.key]}"
        shown = [*more, *stage.parameters]
        first = shown if len(shown) <= SHOWN_PARAMETERS + 1 else shown[:SHOWN_PARAMETERS]
        values = {each.name: self.value(stage, each, f"{prefix}_{each.name}") for each in first}
        if len(first) < len(shown):
            with st.expander("More settings"):
                values |= {each.name: self.value(stage, each, f"{prefix}_{each.name}") for each in shown[len(first) :]}
        if values.get("model", "") is None:  # nothing is offered
            del values["model"]
        return values

    def value(self, stage: Stage, parameter: Parameter, key: str) -> Any:  # noqa: ANN401 # any value a visitor may give
        """Show the widget of one parameter."""
        name, help_ = parameter.name, parameter.help
        match parameter.kind:
            case Kind.INTEGER | Kind.NUMBER:
                return _number(parameter, key)
            case Kind.SWITCH:
                return st.toggle(name, parameter.default, key=key, bind="query-params", help=help_)
            case Kind.CHOICE:
                choices = list(parameter.choices)
                index = None if parameter.default is None else choices.index(parameter.default)
                return st.selectbox(
                    name, choices, index=index, placeholder=NONE, key=key, bind="query-params", help=help_
                )
            case Kind.MODEL:
                return self.model(stage, key, help_)
            case Kind.META_FIELD:
                # A field's name is a person's own content: it stays out of the link.
                index = None if parameter.optional or not self.fields else 0
                mine = f"{key}_{hash(tuple(self.fields))}"
                return st.selectbox(name, self.fields, index=index, placeholder=NONE, key=mine, help=help_)
            case Kind.META_FIELDS:
                return st.multiselect(name, self.fields, key=f"{key}_{hash(tuple(self.fields))}", help=help_)
            case Kind.WEIGHTS:
                return _weights(name, key, help_)
            case Kind.TEXT:
                escaped = str(parameter.default).replace("\n", "\\n")
                given = st.text_input(
                    name, escaped, key=key, persist_state="session", help=help_ + " \\n is a new line."
                )
                return given.replace("\\n", "\n")

    def model(self, stage: Stage, key: str, help_: str) -> str | None:
        offered = self.config.offered(stage.needs)
        if not offered:
            return None
        names = {_short(name, number): name for number, name in enumerate(offered, 1)}
        chosen = st.selectbox("model", list(names), key=key, bind="query-params", help=help_)
        return names.get(chosen)


def _number(parameter: Parameter, key: str) -> float | None:
    whole = parameter.kind is Kind.INTEGER
    convert: Any = int if whole else float
    low = None if parameter.minimum is None else convert(parameter.minimum)
    high = None if parameter.maximum is None else convert(parameter.maximum)
    shared: dict[str, Any] = {"key": key, "bind": "query-params", "help": parameter.help}
    if not whole and not parameter.optional and low is not None and high is not None:
        return float(st.slider(parameter.name, low, high, convert(parameter.default), step=0.05, **shared))
    value = None if parameter.default is None else convert(parameter.default)
    step: Any = 1 if whole else 0.05
    return st.number_input(parameter.name, low, high, value, step, placeholder=NONE, **shared)


def _weights(name: str, key: str, help_: str) -> list[float | None] | None:
    """Show two numbers, one for each list; with neither there are no weights, and one that is missing is 1."""
    columns = st.columns(2, gap="small")
    pair = [
        columns[index].number_input(
            f"{name}, list {index + 1}",
            0.0,
            1e6,
            None,
            0.1,
            placeholder=NONE,
            key=f"{key}_{index + 1}",
            bind="query-params",
            help=help_,
        )
        for index in (0, 1)
    ]
    return None if pair == [None, None] else [1.0 if each is None else each for each in pair]


def _titles(slot: Slot) -> list[str]:
    return [stage.title for stage in stages_for(slot)]


def _short(name: str, number: int) -> str:
    """Name a model: a folder by its last part and its place, since the server's paths are nobody's business."""
    return f"{Path(name).name} ({number})" if Path(name).is_absolute() else name


def _fields(documents: Sequence[Document]) -> list[str]:
    """List the meta fields of the documents, as they first appear."""
    found: dict[str, None] = {}
    for document in documents:
        found.update(dict.fromkeys(document.meta))
        if len(found) >= MAX_FIELDS:
            break
    return list(found)[:MAX_FIELDS]
