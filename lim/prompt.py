"""A prompt template of the user's, rendered over documents by Haystack's own `PromptBuilder`, within bounds.

Jinja's sandbox keeps a template away from Python's insides, but not from a processor or the memory: two nested loops
run for years, `"a" * 10**10` is ten gigabytes. So templates are rendered in a process of their own
(:mod:`lim.prompt_worker`), which is started when first needed, kept for the next call, and ended when a template
overruns its time. Documents go there as JSON: `id`, `content`, `meta` and `score`; a template sees no embedding, and a
`meta` value JSON does not know (a date, a tuple) as its text (as a list).
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from lim import prompt_worker
from lim.errors import TemplateError
from lim.plain import plain
from lim.prompt_worker import MAX_MEMORY_BYTES, MAX_PROMPT_CHARACTERS, MAX_SECONDS

if TYPE_CHECKING:
    from haystack import Document

MAX_TEMPLATE_CHARACTERS = 20_000
MAX_INPUT_CHARACTERS = 4_000_000
"""The most characters of documents and query, as JSON, that are handed to a template."""

MAX_START_SECONDS = 30.0
MAX_WAIT_SECONDS = 15.0
"""How long a call waits for the calls before it: one process renders for all visitors."""

MAX_EXCERPT_CHARACTERS = 80
# JSON takes 6 bytes for a character at most; a document takes more in the request than its place in the answer.
_ANSWER_BYTES = 6 * MAX_PROMPT_CHARACTERS + MAX_INPUT_CHARACTERS

DEFAULT_TEMPLATE = """\
Answer the question using only the documents below. If they do not contain the answer, say so.

Question: {{ query }}

Documents:
{% for document in documents %}
[{{ loop.index }}] {{ document.content }}
{% endfor %}
Question: {{ query }}
Answer:"""
"""A plain prompt for retrieval-augmented generation. The question stands on both sides of the documents, so that a
model that reads from left to right knows it when it reads them (Liu et al. 2023, section 4.2)."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where a document's text stands in a prompt.

    :param index: index of the document in the list that was rendered.
    :param start: offset of its first character.
    :param end: offset after its last character.
    """

    index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered prompt.

    :param text: the prompt, the very text Haystack's `PromptBuilder` makes.
    :param spans: where each document's text stands verbatim, in the order of the prompt. Equal texts have places of
        their own where the prompt repeats the text, and share one where it does not.
    :param missing: indices of the documents whose text the template left out or changed. A document without text is
        not missing.
    """

    text: str
    spans: tuple[Span, ...]
    missing: tuple[int, ...]


def render(template: str, documents: Sequence[Document], query: str = "") -> Rendered:
    """Render a prompt template as Haystack's `PromptBuilder` does, within 2 seconds, 512 MiB and a million characters.

    :param template: Jinja source, at most 20,000 characters, over `documents`, `query` and `question` (the same).
    :param documents: the documents in the order of the prompt.
    :param query: the question.
    :returns: the prompt and the place of each document in it.
    :raises TemplateError: if the template is wrong, names another variable, reaches for what the sandbox forbids, or
        crosses a bound, if the input does, or if no process to render in can be had.
    """
    if len(template) > MAX_TEMPLATE_CHARACTERS:
        raise TemplateError(
            f"The template has {len(template):,} characters, but at most {MAX_TEMPLATE_CHARACTERS:,} are rendered. "
            f"Put long texts into documents and let the template loop over them."
        )
    request = _request(template, documents, query)
    answer = _worker.ask(request)
    if "error" in answer:
        raise _error(template, answer)
    return _rendered(answer, [document.content or "" for document in documents])


def _request(template: str, documents: Sequence[Document], query: str) -> bytes:
    size = len(query) + sum(len(document.content or "") for document in documents)
    if size <= MAX_INPUT_CHARACTERS:
        fields = [
            {"id": each.id, "content": each.content, "meta": plain(each.meta), "score": plain(each.score)}
            for each in documents
        ]
        try:
            request = json.dumps({"template": template, "query": query, "documents": fields}, ensure_ascii=False)
        except ValueError as error:  # a whole number of more digits than Python writes out
            raise TemplateError(
                f"The meta of a document cannot be handed to the template ({error}). Leave that value out."
            ) from error
        size = len(request)
        if size <= MAX_INPUT_CHARACTERS:
            return request.encode("utf-8", "surrogatepass")
    raise TemplateError(
        f"The documents have {size:,} characters with their meta, but at most {MAX_INPUT_CHARACTERS:,} are handed to a "
        f"template. Keep fewer documents with word_count_threshold or top_k."
    )


def _rendered(answer: dict[str, Any], contents: list[str]) -> Rendered:
    """Check an answer, which comes from where a visitor's template ran, and put it into our types."""
    text, places = answer.get("text"), answer.get("spans")
    if not (isinstance(text, str) and len(text) <= MAX_PROMPT_CHARACTERS and isinstance(places, list)):
        raise _broken()
    if len(places) != len(contents):
        raise _broken()
    spans, missing = [], []
    for index, (place, content) in enumerate(zip(places, contents, strict=True)):
        match place:
            case None if content:
                missing.append(index)
            case None:
                pass
            case [int(start), int(end)] if 0 <= start < end and text[start:end] == content:
                spans.append(Span(index, start, end))
            case _:
                raise _broken()
    return Rendered(text, tuple(sorted(spans, key=lambda span: (span.start, span.index))), tuple(missing))


def _error(template: str, answer: dict[str, Any]) -> TemplateError:
    detail, line = str(answer.get("detail", "")), answer.get("line")
    lines = template.splitlines()
    where = ""
    if isinstance(line, int) and lines:
        # Jinja may report the end of a template as the line after its last one.
        number = min(max(line, 1), len(lines))
        where = f", line {number} ({_excerpt(lines[number - 1])})"
    match answer["error"]:
        case "syntax":
            return TemplateError(f"The template{where} is not valid Jinja: {detail.rstrip('.')}. Correct the line.")
        case "unknown":
            return TemplateError(
                f"The template{where} uses {detail}, but only documents, query and question are given to it, and "
                f"PromptBuilder refuses to render with a variable missing. Remove it, or set it in the template with "
                f"{{% set … %}}."
            )
        case "security":
            return TemplateError(
                f"The template{where} reaches for what Haystack's sandbox forbids: {detail.rstrip('.')}. "
                f"Use the documents' content, meta, score and id only."
            )
        case "memory":
            return TemplateError(
                f"The template needs more than {MAX_MEMORY_BYTES // 1024**2} MiB of memory, the most one may use. "
                f"Make it build less text."
            )
        case "size":
            return TemplateError(
                f"The prompt has {detail} characters, but at most {MAX_PROMPT_CHARACTERS:,} are rendered. "
                f"Keep fewer documents, or make the template repeat less."
            )
        case "runtime":
            return TemplateError(f"The template{where} failed while it ran: {detail.rstrip('.')}. Correct it there.")
    return _broken()


def _excerpt(line: str) -> str:
    line = line.strip()
    return line if len(line) <= MAX_EXCERPT_CHARACTERS else line[: MAX_EXCERPT_CHARACTERS - 1] + "…"


def _too_slow() -> TemplateError:
    return TemplateError(
        f"The template ran for more than {MAX_SECONDS:g} seconds, the most one may take, and was ended. "
        f"Make its loops shorter, or keep fewer documents."
    )


def _broken() -> TemplateError:
    return TemplateError(
        "The template ended the process it was rendered in, or made it answer nonsense; a template may only produce "
        "text. Simplify it: deep nesting is a usual cause."
    )


class _Worker:
    """The process templates are rendered in: started when first asked, replaced after a template overran a bound."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: bytes) -> dict[str, Any]:
        """Have a request answered.

        :param request: one line of JSON, without its end.
        :returns: the worker's answer, not yet checked.
        :raises TemplateError: if there is none in time.
        """
        if not self._lock.acquire(timeout=MAX_WAIT_SECONDS):
            raise TemplateError(
                f"Other templates kept this server busy for {MAX_WAIT_SECONDS:g} seconds, the most a template waits "
                f"for its turn. Try again in a moment."
            )
        try:
            return self._answer(request)
        except TimeoutError:
            self._stop()
            raise _too_slow() from None
        except BaseException:  # with an answer left in the pipe the next call would read this one's
            self._stop()
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the process, if there is one. The next question starts another."""
        with self._lock:
            self._stop()

    def _answer(self, request: bytes) -> dict[str, Any]:
        answer = None
        if self._process and self._process.poll() is None:
            answer = self._exchange(self._process, request, MAX_SECONDS)
        if answer is None:  # none is running, or it ended between two calls: that is not this template's fault
            self._stop()
            answer = self._exchange(self._start(), request, MAX_SECONDS)
        if answer is None:
            raise _broken()
        if answer.get("error") in ("memory", "size"):
            self._stop()  # what is left of its memory may be in pieces
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(  # noqa: S603 # our own interpreter and our own file
                [sys.executable, "-P", str(Path(prompt_worker.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,  # Ctrl-C in the server's terminal is for the server
            )
        except (OSError, ValueError, TypeError) as error:  # TypeError: an embedded Python has no sys.executable
            raise TemplateError(f"{_NO_WORKER} ({error}). Ask who runs this server.") from error
        self._process = process
        try:
            ready = self._exchange(process, b"", MAX_START_SECONDS)
        except TimeoutError:
            ready = None
        if ready is None or "error" in ready:
            raise TemplateError(f"{_NO_WORKER} within {MAX_START_SECONDS:g} seconds. Ask who runs this server.")
        return process

    def _exchange(self, process: subprocess.Popen[bytes], request: bytes, seconds: float) -> dict[str, Any] | None:
        """Write a line, read a line; None if the process ended or answers nonsense, TimeoutError if it is late."""
        stdin, stdout = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            process.kill()

        # Killing is what ends a blocked read or write, on every system.
        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            if request:
                stdin.write(request + b"\n")
                stdin.flush()
            line = stdout.readline(_ANSWER_BYTES)
        except OSError:
            line = b""  # it ended while it was written to
        finally:
            timer.cancel()
        if overdue.is_set():
            raise TimeoutError
        if not line.endswith(b"\n"):
            return None
        try:
            answer = json.loads(line.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            return None
        return answer if isinstance(answer, dict) else None

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe:
                    pipe.close()
            except OSError:
                pass  # what was not written yet has no reader any more
        process.wait()


def _environment() -> dict[str, str]:
    """Give the worker what Python needs to find its packages, and none of the server's keys and tokens."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        **kept,
        **single,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONUTF8": "1",
        "HAYSTACK_TELEMETRY_ENABLED": "False",
    }


_NO_WORKER = "The process that renders templates could not be started"
_worker = _Worker()
atexit.register(_worker.close)
