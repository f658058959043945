"""The process that renders prompt templates for :mod:`lim.prompt`: one JSON line in, one JSON line out.

A template is a program of the visitor's. It runs here, with no secret in the environment and a bound on memory, and
the parent ends the process when its time is up. Run by path and not as `lim.prompt_worker`: it then needs nothing of
`lim` but this file, wherever the parent found the package, and holds no loader and no parser a template could reach.

Request: `template`, `query`, `documents` (each with `id`, `content`, `meta`, `score`). Answer: `text` and `spans` (for
each document the start and end of its text in `text`, or None), or `error` (a name of :data:`ERRORS`) with `detail`
and, where known, `line`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

try:
    import resource
    import signal
except ImportError:  # Windows: there the parent's clock is the only bound
    resource = None  # type: ignore[assignment]

MAX_SECONDS = 2.0
MAX_PROMPT_CHARACTERS = 1_000_000
MAX_MEMORY_BYTES = 512 * 1024 * 1024
"""What a template may use on top of the process itself. Rendering the largest prompt from the largest input needs
about a quarter of it."""

MARKED_SECONDS = MAX_SECONDS / 4
"""Templates faster than this are rendered a second time to find the documents' places exactly."""

ERRORS = ("syntax", "unknown", "security", "runtime", "memory", "size")
MAX_DETAIL_CHARACTERS = 300

_OPEN, _CLOSE = 0xF0000, 0x100000  # private-use planes 15 and 16: no text standard gives these characters a meaning
_MARKS = 0xFFFE  # how many a plane has
_MARK = re.compile("([\U000f0000-\U0010ffff])")

Place = tuple[int, int] | None
Render = Callable[[Sequence[str | None]], str]


def marked_places(render: Render, text: str, contents: Sequence[str | None]) -> list[Place] | None:
    """Find where each document stands by rendering once more with every text between two marks of its own.

    Exact where a search would guess: for "A", which stands in "Answer" too, and for one document quoted in another.

    :param render: renders the template over the given texts.
    :param text: the prompt.
    :param contents: the documents' texts.
    :returns: start and end in `text` of each document's first whole copy, or None for one without a copy; None for
        all where the prompt without the marks is not `text`: the template looks at the texts (their length, their
        first characters) or draws random numbers.
    """
    if len(contents) > _MARKS or any(map(_MARK.search, filter(None, (text, *contents)))):
        return None
    marked = render([content and f"{chr(_OPEN + i)}{content}{chr(_CLOSE + i)}" for i, content in enumerate(contents)])
    if _MARK.sub("", marked) != text:
        return None
    places: list[Place] = [None] * len(contents)
    by_text: dict[str, tuple[int, int]] = {}
    opened: dict[int, int] = {}
    at = 0  # in `text`: marks do not count
    for run in _MARK.split(marked):
        code = ord(run) if len(run) == 1 else 0
        if code < _OPEN:
            at += len(run)
        elif code < _CLOSE:
            opened[code - _OPEN] = at
        else:
            index = code - _CLOSE
            start, content = opened.pop(index, -1), contents[index]
            if places[index] is None and content and start >= 0 and text[start:at] == content:
                places[index] = by_text[content] = (start, at)
    return [place or by_text.get(content or "") for place, content in zip(places, contents, strict=True)]


def searched_places(text: str, contents: Sequence[str | None]) -> list[Place]:
    """Find where each document stands by searching for its text, onward from the one before it.

    A text that is not ahead is looked for from the start, for templates that reorder. Equal texts get places of their
    own where there are enough, and share one where there are not.

    :param text: the prompt.
    :param contents: the documents' texts.
    :returns: start and end in `text` of each document, or None for one whose text does not stand in it.
    """
    places: list[Place] = []
    taken: set[tuple[str, int]] = set()
    behind: dict[str, int] = {}  # where a search from the start goes on, so that equal texts are not passed again
    ahead = 0

    def free(content: str, start: int) -> int:
        start = text.find(content, start)
        while start >= 0 and (content, start) in taken:
            start = text.find(content, start + len(content))
        return start

    for content in contents:
        if not content:
            places.append(None)
            continue
        start = free(content, ahead)
        if start < 0:
            start = free(content, behind.get(content, 0))
            behind[content] = start + len(content) if start >= 0 else len(text)
        if start < 0:
            start = text.find(content)
        places.append(None if start < 0 else (start, start + len(content)))
        if start >= 0:
            taken.add((content, start))
            ahead = start + len(content)
    return places


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """Render one request with Haystack's own component."""
    from haystack import Document
    from haystack.components.builders import PromptBuilder
    from jinja2.exceptions import SecurityError, TemplateSyntaxError

    template, query = request["template"], request["query"]
    contents = [document["content"] for document in request["documents"]]
    began = time.monotonic()
    try:
        metas = json.dumps([document["meta"] for document in request["documents"]])
        builder = PromptBuilder(template)

        def render(texts: Sequence[str | None]) -> str:
            documents = [
                Document(**{**document, "content": text, "meta": _with_text(meta, document["content"], text)})
                # Read anew for each rendering: a template may change what it is given.
                for document, text, meta in zip(request["documents"], texts, json.loads(metas), strict=True)
            ]
            prompt: str = builder.run(documents=documents, query=query, question=query)["prompt"]
            return prompt

        unknown = sorted(set(builder.variables) - {"documents", "query", "question"})
        if unknown:
            return {"error": "unknown", "detail": ", ".join(unknown), "line": _line_of(template, unknown[0])}
        text = render(contents)
        if len(text) > MAX_PROMPT_CHARACTERS:
            return {"error": "size", "detail": f"{len(text):,}"}
        places: list[Place] | None = None
        if time.monotonic() - began < MARKED_SECONDS:
            with contextlib.suppress(Exception):  # a template may well dislike the marks; then the search answers
                places = marked_places(render, text, contents)
        return {"text": text, "spans": searched_places(text, contents) if places is None else places}
    except TemplateSyntaxError as error:
        return {"error": "syntax", "detail": str(error.message), "line": error.lineno}
    except SecurityError as error:
        return {"error": "security", "detail": str(error), "line": _line(error)}
    except MemoryError:
        return {"error": "memory", "detail": ""}
    except RecursionError as error:
        return {"error": "runtime", "detail": "it is nested, or calls itself, too deep", "line": _line(error)}
    except Exception as error:  # noqa: BLE001 # whatever a template makes Python say goes back to its author
        return {"error": "runtime", "detail": f"{type(error).__name__}: {error}", "line": _line(error)}


def _with_text(meta: dict[str, Any], content: str | None, text: str | None) -> dict[str, Any]:
    """Put `text` in the place of a second copy of the document's text in its meta."""
    return {key: text if value == content else value for key, value in meta.items()}


def _line(error: BaseException) -> int | None:
    """Find the template line of an error: Jinja rewrites the traceback to show the template as a file."""
    line, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _line_of(template: str, name: str) -> int | None:
    from jinja2 import Environment, TemplateError, nodes

    try:
        tree = Environment(autoescape=True).parse(template)
    except TemplateError:  # a tag of an extension that only PromptBuilder's own environment knows
        return None
    return min((node.lineno for node in tree.find_all(nodes.Name) if node.name == name), default=None)


def _limit_memory() -> None:
    """Bound what a template may allocate on top of what the interpreter and Haystack have mapped already."""
    if resource is None:
        return
    with contextlib.suppress(OSError, ValueError):  # macOS has neither /proc nor a working RLIMIT_AS
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MAX_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _alarm(seconds: float) -> None:
    """Have the system end this process, should the parent be gone when the time is up."""
    if resource is not None:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _send(out: BinaryIO, answer: dict[str, Any]) -> None:
    if "detail" in answer:
        answer["detail"] = answer["detail"][:MAX_DETAIL_CHARACTERS]
    out.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
    out.flush()


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    # The answers get a descriptor of their own: whatever a library prints goes nowhere.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    warm = "{% for d in documents %}{{ loop.index }} {{ d.content|trim }}{{ d.meta['a'] }}{% endfor %}{{ query }}"
    ready = _answer({"template": warm, "query": "", "documents": [{"content": "a", "meta": {}, "score": 1.0}]})
    _limit_memory()
    _send(out, ready)
    for line in sys.stdin.buffer:
        _alarm(2 * MAX_SECONDS)
        try:
            answer = _answer(json.loads(line.decode("utf-8", "surrogatepass")))
        except (MemoryError, RecursionError):  # while the request itself was read
            answer = {"error": "memory", "detail": ""}
        _send(out, answer)
        _alarm(0)


if __name__ == "__main__":
    main()
