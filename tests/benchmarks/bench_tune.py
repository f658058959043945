"""How long tuning many lists takes, beside running Haystack's ranker for each list and threshold, in one run.

    python tests/benchmarks/bench_tune.py           about two minutes
    python tests/benchmarks/bench_tune.py --quick   2,000 lists instead of 10,000; no target is judged

10,000 ranked lists of 50 documents of 60 to 100 words, every document another text, some marked relevant. Measured,
with their targets:

1. The one pass (`gather`) that everything follows from, words and tokens: at most 5 seconds, on whatever cores there
   are. Beside it the same in words only, so that the difference is what the tokenizer takes, and the memory the arrays
   take a document.
2. One threshold: all its figures (`outcome`), what every step of the slider asks for: at most 20 ms. Beside it the
   whole curve, the grid of pairs, the best pair, the trade-off.
3. The same threshold by Haystack's ranker, run for each list: a sample of 200 lists is run and the time extrapolated to
   all. And the ratio for the whole curve of thresholds, which the pass answers without another run. The sample's counts
   must be the same on both sides.

Ends with status 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
sys.path.insert(0, str(Path(__file__).parents[2]))

from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker

from lim import RankedList
from lim.tuning import (
    Objective,
    best,
    counts,
    curve,
    gather,
    grid,
    outcome,
    round_thresholds,
    some_top_ks,
    tradeoff,
)

LISTS, LENGTH, SAMPLE = 10_000, 50, 200
READY, STEP = 5.0, 0.020  # seconds
THRESHOLD, BUDGET = 1_500, 2_500
THRESHOLDS = range(50, 5_001, 50)

vocabulary = (  # noqa: SIM905 # a text reads better
    "the of a keeper lantern harbour tide gate engine inspection measured. Where water stands, 1,204 kg of steel? "
    "Maintenance (unscheduled) requires re-calibration; see §4.2"
).split()


def ranked_lists(count: int) -> list[RankedList]:
    generator = random.Random(count)
    lists = []
    for number in range(count):
        documents = tuple(
            Document(id=f"d{rank}", content=" ".join(generator.choices(vocabulary, k=generator.randint(60, 100))))
            for rank in range(LENGTH)
        )
        marks = tuple(generator.random() < 0.8**rank for rank in range(LENGTH))
        lists.append(RankedList(f"query {number}", documents, relevant=marks))
    return lists


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def verdict(*, met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the tuning of many lists beside Haystack's ranker.")
    parser.add_argument("--quick", action="store_true", help="fewer lists, and no target is judged")
    quick = parser.parse_args().quick
    lists = ranked_lists(2_000 if quick else LISTS)
    documents = sum(len(ranked.documents) for ranked in lists)
    print(f"{len(lists):,} lists, {documents:,} documents, {os.cpu_count()} cores")

    in_words = seconds(lambda: gather(lists, count_tokens=False), 3)
    whole = seconds(lambda: gather(lists), 3)
    pool = gather(lists)
    arrays = [getattr(pool, name) for name in pool.__slots__]
    memory = sum(array.nbytes for array in arrays if hasattr(array, "nbytes")) / documents
    ready = whole <= READY
    print(f"\n1. One pass: {whole:.2f} s  ≤ {READY:.0f} s {verdict(met=ready)}")
    print(
        f"   in words only {in_words:.2f} s; the tokenizer, beside it on the other core, {whole - in_words:.2f} s more"
    )
    print(f"   the arrays take {memory:.0f} bytes a document")

    step = seconds(lambda: outcome(pool, THRESHOLD, None, BUDGET), 51)
    swift = step <= STEP
    print(f"\n2. One threshold, all figures: {step * 1e3:.1f} ms  ≤ {STEP * 1e3:.0f} ms {verdict(met=swift)}")
    whole_curve = seconds(lambda: curve(pool, THRESHOLDS), 5)
    rows, columns = round_thresholds(pool), some_top_ks(pool.longest)
    for what, took in {
        f"the curve of {len(THRESHOLDS)} thresholds": whole_curve,
        f"the grid of {len(rows) * len(columns)} pairs": seconds(lambda: grid(pool, rows, columns, BUDGET), 5),
        "the best pair of all there are": seconds(lambda: best(pool, BUDGET, 0.01, Objective.RELEVANT), 5),
        "the trade-off": seconds(lambda: tradeoff(pool, BUDGET, Objective.RELEVANT), 5),
    }.items():
        print(f"   {what}: {took * 1e3:.0f} ms")

    ranker = LostInTheMiddleRanker()
    sample = lists[:: max(len(lists) // SAMPLE, 1)][:SAMPLE]

    def theirs() -> list[int]:
        return [
            len(ranker.run(documents=list(ranked.documents), word_count_threshold=THRESHOLD)["documents"])
            for ranked in sample
        ]

    ours = counts(pool, THRESHOLD).kept[:: max(len(lists) // SAMPLE, 1)][:SAMPLE]
    if theirs() != ours.tolist():
        raise SystemExit("The counts differ from Haystack's ranker: no time is worth comparing.")
    one = seconds(theirs, 5) / len(sample) * len(lists)
    every = one * len(THRESHOLDS)
    print(f"\n3. Haystack's ranker for each list, extrapolated from {len(sample)} lists, counting no token")
    print(f"   one threshold: {one:.2f} s, {one / step:,.0f} times as long as a step")
    print(
        f"   {len(THRESHOLDS)} thresholds: {every:.0f} s, {every / (whole + whole_curve):,.0f} times the pass with its "
        f"tokens and the curve, {every / (in_words + whole_curve):,.0f} times the pass in words"
    )
    print("\nEvery target met." if ready and swift else "\nA target was MISSED.")
    return 0 if quick or (ready and swift) else 1


if __name__ == "__main__":
    sys.exit(main())
