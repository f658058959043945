"""The words the stages are described in: places in a pipeline, parameters with their bounds, plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any

from lim.errors import SettingError

MAX_TEXT_CHARACTERS = 20_000
MAX_NAMES = 20


class Slot(StrEnum):
    """A place in the pipeline, in the order the documents pass through."""

    RETRIEVE = "retrieve"
    JOIN = "join"
    RANK = "rank"
    ARRANGE = "arrange"
    AFTER = "after"
    PROMPT = "prompt"
    GENERATE = "generate"


class Kind(StrEnum):
    """What a parameter takes, and so what a page shows for it."""

    INTEGER = "integer"
    NUMBER = "number"
    SWITCH = "switch"
    CHOICE = "choice"
    TEXT = "text"
    META_FIELD = "meta field"
    META_FIELDS = "meta fields"
    WEIGHTS = "weights"  # one number of at least 0 for each of two lists
    MODEL = "model"  # one of those the server offers


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a component.

    :param name: its name in Haystack.
    :param kind: what it takes.
    :param default: its value where none is given; None where it is not `optional` means that one must be given.
    :param help: what it does, in a sentence.
    :param minimum: the smallest number.
    :param maximum: the largest number.
    :param choices: the values of a choice.
    :param optional: whether None is a value.
    """

    name: str
    kind: Kind
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """One entry of the registry: a Haystack component in its place.

    :param key: its name in plans and links.
    :param title: the component's class, as Haystack names it.
    :param slots: where it may stand.
    :param summary: what it does to the documents.
    :param path: module and class, imported when the stage is built; None for what is no component of its own.
    :param parameters: its parameters that a visitor may set.
    :param requires: the packages it needs beyond the app's own, as pip takes them; torch first.
    :param needs: the environment variable that must be set, or None.
    :param needs_query: whether it ranks against the query.
    :param model: the component's attribute that holds its loaded model, or None.
    :param max_documents: the most documents it is given here.
    :param remedy: what to do when it fails.
    """

    key: str
    title: str
    slots: tuple[Slot, ...]
    summary: str
    path: str | None
    parameters: tuple[Parameter, ...] = ()
    requires: tuple[str, ...] = ()
    needs: str | None = None
    needs_query: bool = False
    model: str | None = None
    max_documents: int = 10_000
    remedy: str = "Check its settings, or leave it out."


@dataclass(frozen=True, slots=True)
class Step:
    """A stage in a plan.

    :param stage: its key in the registry.
    :param settings: parameters by name; those left out have their defaults.
    """

    stage: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """A pipeline: retrieve → join → rank … → arrange → after → prompt → generate.

    :param retrieve: where the documents come from.
    :param second: where the second list for the joiner comes from, or None.
    :param join: the joiner, or None; given if and only if there is a second list.
    :param ranks: rankers, in the order they run.
    :param arrange: the arrangement, or None.
    :param after: what stands between the arrangement and the prompt, or None.
    :param prompt: the prompt builder.
    :param generate: the chat generator, or None: then the prompt is the result.
    """

    retrieve: Step = field(default_factory=lambda: Step("given"))
    second: Step | None = None
    join: Step | None = None
    ranks: tuple[Step, ...] = ()
    arrange: Step | None = field(default_factory=lambda: Step("lost_in_the_middle"))
    after: Step | None = None
    prompt: Step = field(default_factory=lambda: Step("prompt_builder"))
    generate: Step | None = None


def check_settings(stage: Stage, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check a stage's settings against its parameters.

    :param stage: the stage.
    :param settings: parameters by name.
    :returns: every parameter of the stage with its value; lists as lists.
    :raises SettingError: if a name is unknown, or a value is of the wrong kind or out of bounds.
    """
    known = {parameter.name: parameter for parameter in stage.parameters}
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise SettingError(
            f"{stage.title} has no setting {unknown[0]!r} here. It has {', '.join(known) or 'none'}: leave it out."
        )
    return {name: _check(stage, each, settings.get(name, each.default)) for name, each in known.items()}


def _check(stage: Stage, parameter: Parameter, value: Any) -> Any:  # noqa: ANN401 # any value a visitor may give
    if value is None and parameter.optional:
        return None
    problem, checked = _kinds[parameter.kind](parameter, value)
    if problem:
        shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:79] + "…"
        none = ", or None" if parameter.optional else ""
        raise SettingError(f"{parameter.name} of {stage.title} is {shown}, but it must be {problem}{none}. Change it.")
    return checked


def _number(parameter: Parameter, value: object) -> tuple[str | None, Any]:
    whole = parameter.kind is Kind.INTEGER
    right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    low, high = parameter.minimum, parameter.maximum
    if right and isfinite(value) and (low is None or value >= low) and (high is None or value <= high):  # type: ignore[arg-type,operator] # a number
        return None, value
    bounds = f" from {low:g} to {high:,g}" if low is not None and high is not None else ""
    if not bounds and low is not None:
        bounds = f" of at least {low:g}"
    return f"a {'whole ' if whole else ''}number{bounds}", None


def _switch(_: Parameter, value: object) -> tuple[str | None, Any]:
    return (None, value) if isinstance(value, bool) else ("True or False", None)


def _choice(parameter: Parameter, value: object) -> tuple[str | None, Any]:
    return (None, value) if value in parameter.choices else (f"one of {', '.join(parameter.choices)}", None)


def _text(_: Parameter, value: object) -> tuple[str | None, Any]:
    right = isinstance(value, str) and len(value) <= MAX_TEXT_CHARACTERS
    return (None, value) if right else (f"text of at most {MAX_TEXT_CHARACTERS:,} characters", None)


def _name(_: Parameter, value: object) -> tuple[str | None, Any]:
    right = isinstance(value, str) and 0 < len(value) <= MAX_TEXT_CHARACTERS
    return (None, value) if right else ("a name", None)


def _names(_: Parameter, value: object) -> tuple[str | None, Any]:
    right = isinstance(value, (list, tuple)) and len(value) <= MAX_NAMES and all(isinstance(x, str) for x in value)
    return (None, list(value)) if right else (f"a list of at most {MAX_NAMES} names", None)  # type: ignore[call-overload] # a list or tuple


def _weights(_: Parameter, value: object) -> tuple[str | None, Any]:
    rule = "two numbers of at least 0, one for each list and not both 0"
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return rule, None
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) and 0 <= x <= 1e6 for x in value)
    return (None, [float(x) for x in value]) if numbers and any(value) else (rule, None)


_kinds = {
    Kind.INTEGER: _number,
    Kind.NUMBER: _number,
    Kind.SWITCH: _switch,
    Kind.CHOICE: _choice,
    Kind.TEXT: _text,
    Kind.META_FIELD: _name,
    Kind.META_FIELDS: _names,
    Kind.WEIGHTS: _weights,
    Kind.MODEL: _name,
}
