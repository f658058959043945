"""How long an audit takes, how it grows, and what the component adds to a pipeline.

    python tests/benchmarks/bench_audit.py           about two minutes
    python tests/benchmarks/bench_audit.py --quick   without the largest prompts, about 30 seconds

Four measurements:

1. Documents of 1,000 words in a prompt that holds all of them, at growing counts: unchanged, HTML-escaped, reflowed
   (other whitespace), truncated to half, changed (a word in thirty replaced), and a prompt that holds none of them. The
   target is for 200 documents in a prompt of about a million characters: under a second each. The growth is the time
   at the largest count over that at the smallest, as a power of the prompt's size: 1 is linear.
2. The tokens of such a prompt, which are counted only when they are asked for.
3. A pipeline of ranker and prompt builder with and without `PromptOrderAudit` behind it, for 10 passages of 100 words
   and for 50. The two take turns; the figures are medians. The target is an overhead of under 5 ms a request.
4. A trace of requests as JSON Lines, and the peak of memory, at two lengths.

All times are of the processor, so that other work on the machine counts little. Ends with status 1 if a target is
missed.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
sys.path.insert(0, str(Path(__file__).parents[2]))

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.rankers import LostInTheMiddleRanker

from lim.audit import PromptOrderAudit, audit
from lim.audit.traces import audit_traces, iter_requests

WORDS = 1_000
TARGET_DOCUMENTS = 200
TARGET_SECONDS = 1.0
TARGET_OVERHEAD_MS = 5.0
TEMPLATE = "{% for document in documents %}[{{ loop.index }}] {{ document.content }}\n{% endfor %}"

_generator = random.Random(20)
# About as many different words as a long report has, as long as English ones: a document has some 5,000 characters.
VOCABULARY = ["".join(_generator.choices("etaoinshrdlucmfwypvbgk", k=_generator.randint(1, 7))) for _ in range(8_000)]


def corpus(count: int, words: int) -> list[Document]:
    generator = random.Random(count)
    return [
        Document(
            id=f"d{n}", content=" ".join(generator.choices(VOCABULARY, k=words)).replace(" a", " 'a"), score=1 / (n + 1)
        )
        for n in range(count)
    ]


def changed(text: str) -> str:
    words = text.split(" ")
    words[::30] = ["changed"] * len(words[::30])
    return " ".join(words)


RENDERINGS: dict[str, Callable[[str], str]] = {
    "unchanged": lambda text: text,
    "HTML-escaped": html.escape,
    "reflowed": lambda text: text.replace(" ", "\n  "),
    "truncated": lambda text: text[: len(text) // 2],
    "changed": changed,
    "none there": lambda text: text[::-1],
}


def seconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def verdict(*, met: bool) -> str:
    return "met" if met else "MISSED"


def bench_prompts(counts: list[int]) -> bool:
    print(f"1. Audits of prompts with documents of {WORDS:,} words (seconds, medians of 5)")
    print(f"{'':>14}" + "".join(f"{count:>9,}" for count in counts) + f"{'growth':>9}  target")
    all_met = True
    for label, render in RENDERINGS.items():
        times, sizes = [], []
        for count in counts:
            documents = corpus(count, WORDS)
            prompt = "\n\n".join(f"[{n}] {render(d.content or '')}" for n, d in enumerate(documents, 1))
            times.append(seconds(lambda p=prompt, d=documents: audit(p, d), 5))  # type: ignore[misc] # bound defaults
            sizes.append(len(prompt))
        growth = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
        met = TARGET_DOCUMENTS not in counts or times[counts.index(TARGET_DOCUMENTS)] < TARGET_SECONDS
        all_met = all_met and met
        row = "".join(f"{each:>9.3f}" for each in times)
        print(f"{label:>14}{row}{growth:>9.2f}  < {TARGET_SECONDS:g} s at {TARGET_DOCUMENTS}: {verdict(met=met)}")
        if label == "unchanged":
            print(f"{'characters':>14}" + "".join(f"{size:>9,}" for size in sizes))
    return all_met


def bench_tokens() -> None:
    documents = corpus(TARGET_DOCUMENTS, WORDS)
    report = audit("\n\n".join(d.content or "" for d in documents), documents)
    took = seconds(lambda: report.tokens, 1)
    print(f"\n2. Tokens of {report.characters:,} characters, when asked for: {took:.2f} s ({report.tokens:,} tokens)")


def pipeline(*, audited: bool) -> Pipeline:
    built = Pipeline()
    built.add_component("ranker", LostInTheMiddleRanker())
    built.add_component("builder", PromptBuilder(TEMPLATE, required_variables="*"))
    built.connect("ranker.documents", "builder.documents")
    if audited:
        built.add_component("audit", PromptOrderAudit())
        built.connect("ranker.documents", "audit.documents")
        built.connect("builder.prompt", "audit.prompt")
    return built


def bench_component() -> bool:
    print("\n3. Ranker and prompt builder, with the audit behind them and without (milliseconds, medians of 200)")
    print(f"{'documents':>10} {'without':>9} {'with':>9} {'added':>9} {'audit':>9}  target")
    all_met = True
    for count in (10, 50):
        documents = corpus(count, 100)
        pipelines = pipeline(audited=False), pipeline(audited=True)
        component = PromptOrderAudit()
        given = LostInTheMiddleRanker().run(documents=documents)["documents"]
        prompt = PromptBuilder(TEMPLATE, required_variables="*").run(documents=given)["prompt"]
        times: tuple[list[float], list[float], list[float]] = ([], [], [])
        for turn in range(210):
            works: tuple[Callable[[], object], ...] = (
                lambda: pipelines[0].run({"ranker": {"documents": documents}}),  # noqa: B023 # called at once
                lambda: pipelines[1].run({"ranker": {"documents": documents}}),  # noqa: B023 # called at once
                lambda: component.run(prompt, given),  # noqa: B023 # called at once
            )
            for taken, work in zip(times, works, strict=True):
                took = seconds(work, 1)
                if turn >= 10:
                    taken.append(took * 1000)
        bare, audited, alone = map(statistics.median, times)
        met = audited - bare < TARGET_OVERHEAD_MS
        all_met = all_met and met
        added = f"{audited - bare:>9.2f} {alone:>9.2f}"
        print(f"{count:>10} {bare:>9.2f} {audited:>9.2f} {added}  < {TARGET_OVERHEAD_MS:g} ms: {verdict(met=met)}")
    return all_met


def write_trace(path: Path, count: int) -> None:
    passages = corpus(10, 60)
    with path.open("w", encoding="utf-8") as file:
        for request in range(count):
            documents = [
                replace(document, content=f"{request} {n} {document.content}") for n, document in enumerate(passages)
            ]
            arranged = LostInTheMiddleRanker().run(documents=documents)["documents"]
            output = [{"document.content": d.content, "document.score": d.score} for d in arranged]
            prompt = "\n".join(d.content or "" for d in (arranged if request < count / 2 else documents))
            for step, (name, kind, attributes) in enumerate(
                (
                    ("LostInTheMiddleRanker", "RERANKER", {"reranker.output_documents": output}),
                    ("llm", "LLM", {"llm.input_messages": [{"message.role": "user", "message.content": prompt}]}),
                )
            ):
                context = {"trace_id": f"{request:032x}", "span_id": f"{request:08x}{step:08x}"}
                stamp = request * 60_000 + step * 1000 + 1_700_000_000_000
                record = {
                    "name": name,
                    "span_kind": kind,
                    "context": context,
                    "start_time": stamp,
                    "attributes": attributes,
                }
                file.write(json.dumps(record) + "\n")


def bench_traces(counts: list[int]) -> None:
    print("\n4. Traces as JSON Lines, 10 passages of 60 words a request")
    print(f"{'requests':>10} {'MB':>8} {'seconds':>9} {'a second':>9} {'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            path = Path(folder) / f"{count}.jsonl"
            write_trace(path, count)
            start = time.process_time()
            result = audit_traces(path)
            took = time.process_time() - start
            if result.change != count // 2:
                raise SystemExit(f"The change was found at {result.change}, not at {count // 2}.")
            tracemalloc.start()
            for _ in iter_requests(path):
                pass
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            size = path.stat().st_size / 1e6
            print(f"{count:>10,} {size:>8.1f} {took:>9.2f} {count / took:>9,.0f} {peak / 1e6:>9.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the audit.")
    parser.add_argument("--quick", action="store_true", help="leave the largest prompts and the long traces out")
    quick = parser.parse_args().quick
    met = bench_prompts([25, 50, 100, 200] if quick else [25, 50, 100, 200, 400])
    bench_tokens()
    met = bench_component() and met
    bench_traces([200] if quick else [1_000, 4_000])
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
