"""How long arranging a list takes beside Haystack's own ranker, in one run.

    python tests/benchmarks/bench_ranker.py           about two minutes
    python tests/benchmarks/bench_ranker.py --quick   without the lists of 20,000 and 100,000, about 20 seconds

Three measurements, each with its target:

1. `arrange(documents).placements`, which says what became of every document, against Haystack's ranker, which explains
   nothing. The same lists of 60 to 100 words a document, the threshold above the total, so that both count every word.
   The two take turns; the figures are medians, the ratio is that of the medians.
2. The peak of memory a document that `arrange(documents).placements` takes, at 10,000 and at 100,000 documents.
3. Every threshold of a list of 1,000 documents: one staircase against Haystack's ranker run once for each. The
   comparison that counts is measured in full: one run for each of the thresholds at which the result changes (somebody
   who tries them knows these already). Beside it stands one run for each whole number up to the total: a sample of 200
   thresholds spread evenly is run, and the time is extrapolated.

Ends with status 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
sys.path.insert(0, str(Path(__file__).parents[2]))

from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker

from lim import arrange
from lim.thresholds import staircase

ABOVE_ANY_TOTAL = 10**12
REPEATS = {20: 1001, 200: 301, 1_000: 101, 5_000: 31, 20_000: 11, 100_000: 5}
TARGETS = {20: 3.0, 5_000: 1.0, 20_000: 1.0, 100_000: 1 / 3}  # our time over Haystack's, at most
LIST_LENGTH = 1_000
SAMPLE = 200

vocabulary = ["the", "of", "a", "keeper", "lantern", "harbour", "tide", "gate", "engine", "inspection", "measured."]
ranker = LostInTheMiddleRanker()


def ranked_list(count: int) -> list[Document]:
    """Build documents of 60 to 100 words, no two alike."""
    generator = random.Random(count)
    return [
        Document(id=f"d{rank}", content=" ".join(generator.choices(vocabulary, k=generator.randint(60, 100))))
        for rank in range(count)
    ]


def seconds(work: Callable[[], object]) -> float:
    """Time one call, the freeing of its result left out."""
    start = time.perf_counter()
    result = work()
    took = time.perf_counter() - start
    del result
    return took


def verdict(*, met: bool) -> str:
    return "met" if met else "MISSED"


def bench_times(counts: list[int]) -> bool:
    print("1. One arrangement with its full trace, against Haystack's ranker (milliseconds, medians)")
    print(f"{'documents':>10} {'lim':>10} {'Haystack':>10} {'ratio':>7}  target")
    all_met = True
    for count in counts:
        documents = ranked_list(count)

        def ours(documents: list[Document] = documents) -> object:
            result = arrange(documents, word_count_threshold=ABOVE_ANY_TOTAL)
            return result.documents, result.placements

        def theirs(documents: list[Document] = documents) -> object:
            return ranker.run(documents=documents, word_count_threshold=ABOVE_ANY_TOTAL)

        taken: dict[Callable[[], object], list[float]] = {ours: [], theirs: []}
        gc.collect()
        for repeat in range(REPEATS[count]):
            for work in (ours, theirs) if repeat % 2 else (theirs, ours):  # neither is always the one that goes first
                taken[work].append(seconds(work))
        mine, other = (statistics.median(taken[work]) for work in (ours, theirs))
        ratio = mine / other
        target = TARGETS.get(count)
        note = "none"
        if target is not None:
            met = ratio < target if target == 1 else ratio <= target
            all_met &= met
            note = f"{'<' if target == 1 else '≤'} {target:.2f} {verdict(met=met)}"
        print(f"{count:>10,} {mine * 1e3:>10.3f} {other * 1e3:>10.3f} {ratio:>7.2f}  {note}")
    return all_met


def bench_memory() -> bool:
    print("\n2. Peak memory of one arrangement with its full trace (bytes a document)")
    each = {}
    for count in (10_000, 100_000):
        documents = ranked_list(count)
        gc.collect()
        tracemalloc.start()
        result = arrange(documents, word_count_threshold=ABOVE_ANY_TOTAL)
        kept = result.documents, result.placements
        each[count] = tracemalloc.get_traced_memory()[1] / count
        tracemalloc.stop()
        del kept
        print(f"{count:>10,} {each[count]:>10.0f}")
    growth = each[100_000] / each[10_000]
    met = growth <= 1.1
    print(f"{'growth':>10} {growth:>10.2f}  ≤ 1.10 (linear) {verdict(met=met)}")
    return met


def bench_thresholds() -> bool:
    documents = ranked_list(LIST_LENGTH)
    steps = staircase(arrange(documents))

    def kept_at(threshold: int) -> int:
        return len(ranker.run(documents=documents, word_count_threshold=threshold)["documents"])

    changes = [step.lowest for step in steps if step.lowest is not None]
    if [kept_at(threshold) for threshold in changes] != [step.kept for step in steps]:
        raise SystemExit("The staircase differs from Haystack's ranker: no time is worth comparing.")

    ours, theirs = [], []
    for _ in range(5):
        ours += [seconds(lambda: staircase(arrange(documents))) for _ in range(21)]
        theirs.append(seconds(lambda: [kept_at(threshold) for threshold in changes]))
    mine, other = statistics.median(ours), statistics.median(theirs)
    met = other / mine >= 100
    total = steps[-1].words
    sample = [1 + round(index * total / (SAMPLE - 1)) for index in range(SAMPLE)]
    every = seconds(lambda: [kept_at(threshold) for threshold in sample]) / SAMPLE * total

    print(f"\n3. Every threshold of a list of {LIST_LENGTH:,} documents, {total:,} words")
    print(f"   one staircase: {mine * 1e3:.2f} ms (median of {len(ours)})")
    print(
        f"   Haystack at the {len(changes):,} thresholds that matter: {other:.2f} s, all run (median of {len(theirs)})"
    )
    print(f"   {other / mine:,.0f} times faster  ≥ 100 {verdict(met=met)}")
    print(f"   Haystack at each of the {total:,}: {every:.0f} s, extrapolated from {SAMPLE}: {every / mine:,.0f} times")
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description="Time arrange() and the staircase beside Haystack's ranker.")
    parser.add_argument("--quick", action="store_true", help="leave the two longest lists out")
    quick = parser.parse_args().quick
    counts = [count for count in REPEATS if not quick or count <= 5_000]
    met = [bench_times(counts), bench_memory(), bench_thresholds()]
    print("\nEvery target met." if all(met) else "\nA target was MISSED.")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
