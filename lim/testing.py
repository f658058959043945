"""For test suites: the assertion that a prompt holds documents in the intended order, and a test file that makes it."""

from __future__ import annotations

import difflib
import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document
from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.defaults import DEFAULT_NAMESPACE

from lim.audit.check import Expected, audit
from lim.audit.model import AuditReport, PromptError, Status, two_places
from lim.audit.prompts import Prompt
from lim.plain import plain

SHOWN_CHARACTERS = 60
"""Characters of each document in the message of a failed assertion."""

_JINJA_NAMES = {"loop", "self", "super", "caller", "varargs", "kwargs"}


def assert_prompt_order(
    prompt: Prompt, documents: Sequence[Document], *, expected: Expected | str | Sequence[Document] = Expected.AS_GIVEN
) -> None:
    """Fail if a prompt does not hold documents in the intended order, each once.

    Truncated and slightly changed documents are taken as they are: templates shorten texts on purpose.

    :param prompt: what goes to the LLM: a string, Haystack's chat messages, or message dicts.
    :param documents: the documents in the order the prompt should hold: the ranker's output. With `expected` another
        order, see `lim.audit.audit`.
    :param expected: how the order that the prompt should hold follows from the documents.
    :raises AssertionError: with the intended and the actual order side by side, and what likely changed it.
    :raises PromptError: if the prompt or the documents are of the wrong type.
    """
    __tracebackhide__ = True
    report = audit(prompt, documents, expected=expected)
    if not report.holds:
        raise AssertionError(explain(report))


def explain(report: AuditReport) -> str:
    """Put the intended and the actual order side by side.

    :param report: an audit.
    :returns: a text of several lines: lines that begin with `-` are intended and not there, with `+` there and not
        intended at this place.
    """
    lines = {sighting.number: _line(sighting.number, sighting.document.content or "") for sighting in report.sightings}
    copies = sorted((span.start, sighting.number) for sighting in report.sightings for span in sighting.spans)
    intended = [lines[number] for number in report.intended]
    diff = list(difflib.ndiff(intended, [lines[number] for _, number in copies]))
    notes = [
        f"document {sighting.number}: {_note(sighting.status, sighting.copies)}"
        for sighting in report.sightings
        if sighting.status in (Status.MISSING, Status.REPEATED, Status.UNEXPECTED)
    ]
    tau = "" if report.tau is None else f", Kendall's tau {two_places(report.tau)}"
    return "\n".join(
        (
            f"The prompt does not hold the documents in the intended order ({report.order.value}{tau}).",
            f"intended: {_row(report.intended)}",
            f"actual:   {_row([number for _, number in copies])}",
            "",
            *(line for line in diff if not line.startswith("?")),
            "",
            *notes,
            f"Likely: {report.culprit}",
        )
    )


def pytest_file(
    template: str,
    documents: Sequence[Document],
    *,
    variables: Mapping[str, Any] | None = None,
    word_count_threshold: int | None = None,
    top_k: int | None = None,
) -> str:
    """Write a pytest file that renders a template with the ranker's output and asserts the order.

    :param template: a Jinja template as `PromptBuilder` takes, with `documents` for the documents.
    :param documents: the documents, most relevant first.
    :param variables: the template's other variables, such as `query`; values JSON knows. What the template has no
        use for is left out, and for a variable of its own that is not given a placeholder is written.
    :param word_count_threshold: the ranker's threshold.
    :param top_k: the ranker's limit.
    :returns: Python source, complete: it needs pytest, haystack-ai and this package.
    :raises PromptError: if there is no document.
    """
    if not documents:
        raise PromptError("There is no document to write a test for. Give at least one.")
    given = [
        {
            "id": document.id,
            "content": document.content,
            **({} if document.score is None else {"score": plain(document.score, finite=True)}),
            **({"meta": plain(document.meta, finite=True)} if document.meta else {}),
        }
        for document in documents
    ]
    body = textwrap.dedent('''\
        """The prompt must hold the documents in the order in which the ranker arranged them.

        Needs pytest, haystack-ai and the project Lost in the Middle Lab: in its folder, `pip install .`.
        """

        import json

        from haystack import Document, Pipeline
        from haystack.components.builders import PromptBuilder
        from haystack.components.rankers import LostInTheMiddleRanker

        from lim.testing import assert_prompt_order

        TEMPLATE = @template@

        @note@VARIABLES = json.loads(
            @variables@
        )

        # Most relevant first, as the retriever or the ranker before gives them.
        DOCUMENTS = [Document(**fields) for fields in json.loads(
            @documents@
        )]


        def build_pipeline() -> Pipeline:
            """Replace this by your own pipeline: what counts is what stands between the ranker and the LLM."""
            pipeline = Pipeline()
            pipeline.add_component("ranker", LostInTheMiddleRanker(@settings@))
            pipeline.add_component("prompt_builder", PromptBuilder(template=TEMPLATE, required_variables=["documents"]))
            pipeline.connect("ranker.documents", "prompt_builder.documents")
            return pipeline


        def test_prompt_keeps_the_order_of_the_ranker() -> None:
            result = build_pipeline().run(
                {"ranker": {"documents": DOCUMENTS}, "prompt_builder": VARIABLES},
                include_outputs_from={"ranker", "prompt_builder"},
            )
            assert_prompt_order(result["prompt_builder"]["prompt"], result["ranker"]["documents"])
        ''')
    values, placeholders, lacks_documents = _inputs(template, variables or {})
    notes = []
    if lacks_documents:
        notes.append("The template has no variable `documents`, which the documents go to: rename the one it has.")
    if placeholders:
        notes.append(f"To be replaced by real values: {', '.join(placeholders)}.")
    settings = {"word_count_threshold": word_count_threshold, "top_k": top_k}
    parts = {
        "template": _literal(template),
        "note": "".join(f"# {_ascii(note)}\n" for note in notes),
        "variables": _literal(json.dumps(plain(values, finite=True))),
        "documents": _literals(json.dumps(given, indent=1)),
        "settings": ", ".join(f"{name}={value}" for name, value in settings.items() if value is not None),
    }
    # In one pass: a template may itself hold one of the marks.
    return re.sub(r"@(\w+)@", lambda mark: parts[mark[1]], body)


def _inputs(template: str, variables: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], bool]:
    """Choose the values for a template's variables.

    The names are read off the parsed template: Jinja's own finder compiles it, and so works out constants of any size.

    :returns: the values, the names that got a placeholder, and whether the template has no `documents`.
    """
    try:
        tree = Environment(autoescape=True).parse(template)
        loaded: dict[str, set[str]] = {"load": set(), "store": set(), "param": set()}
        for name in tree.find_all(nodes.Name):
            loaded[name.ctx].add(name.name)
    except (TemplateSyntaxError, RecursionError):  # the file then fails with Jinja's word on it
        return dict(variables), [], False
    used = sorted(loaded["load"] - loaded["store"] - loaded["param"] - set(DEFAULT_NAMESPACE) - _JINJA_NAMES)
    placeholders = [name for name in used if name not in variables and name != "documents"]
    values = {name: value for name, value in variables.items() if name in used}
    return (
        {**values, **{name: f"placeholder for {name}" for name in placeholders}},
        placeholders,
        "documents" not in used,
    )


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _literal(text: str) -> str:
    """Write a text as Python source of ASCII only, a line of source for each line of a longer text."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return ascii(text)
    return "(\n" + "".join(f"    {line!a}\n" for line in lines) + ")"


def _literals(text: str) -> str:
    return "\n    ".join(ascii(line) for line in text.splitlines())


def _line(number: int, text: str) -> str:
    words = " ".join(text[: 4 * SHOWN_CHARACTERS].split())
    return f"{number:>3}  {words if len(words) <= SHOWN_CHARACTERS else words[: SHOWN_CHARACTERS - 1] + '…'}"


def _row(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or "none of them"


def _note(status: Status, copies: int) -> str:
    return f"{copies} times in the prompt" if status is Status.REPEATED else status.value
