"""Loading 50 MB against pandas: time and peak memory, side by side in one run.

    python tests/benchmarks/bench_loading.py [words a document ...]

Each measurement is a process of its own. The readers take turns, so that a busy machine slows them alike; the medians
are compared. Ours makes Haystack documents; pandas only makes a frame. Files hold id, text, title and score.
"""

import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MEGABYTES = 50
REPEATS = 7
MAX_TIME_RATIO = 3.0
MAX_MEMORY_RATIO = 6.0

READERS = {
    "pandas": """
import pandas
def read(path):
    return len(pandas.read_json(path, lines=True) if path.endswith("jsonl") else pandas.read_csv(path))
""",
    "lim": """
from pathlib import Path
from lim.loading import load
def read(path):
    return len(load(Path(path).read_bytes(), path).lists[0].documents)
""",
}
MEASURE = """
import json, resource, sys, time
read(sys.argv[2])  # imports and first use are not what is compared
start = time.perf_counter()
count = read(sys.argv[1])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({"count": count, "seconds": seconds, "peak": peak}))
"""


def records(words: int) -> Iterator[dict[str, object]]:
    rng = random.Random(words)
    vocabulary = ["".join(rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(2, 9))) for _ in range(4000)]
    number = 0
    while True:
        text = " ".join(rng.choices(vocabulary, k=max(1, int(rng.gauss(words, words / 4)))))
        yield {
            "id": f"doc-{number:06d}",
            "text": f"{text}.",
            "title": vocabulary[number % 4000],
            "score": 1 / (1 + number),
        }
        number += 1


def write(folder: Path, words: int, megabytes: float, name: str) -> list[Path]:
    paths = [folder / f"{name}.jsonl", folder / f"{name}.csv"]
    with paths[0].open("w", encoding="utf-8") as lines, paths[1].open("w", encoding="utf-8", newline="") as table:
        writer = csv.DictWriter(table, ["id", "text", "title", "score"])
        writer.writeheader()
        for record in records(words):
            writer.writerow(record)
            lines.write(json.dumps(record) + "\n")
            if lines.tell() >= megabytes * 1_000_000 * 0.98:
                return paths
    return paths


def measure(reader: str, path: Path, warm: Path) -> dict[str, float]:
    code = READERS[reader] + MEASURE
    environment = {**os.environ, "HAYSTACK_TELEMETRY_ENABLED": "False", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(warm)], capture_output=True, text=True, check=True, env=environment
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def compare(path: Path, warm: Path) -> bool:
    taken: dict[str, list[dict[str, float]]] = {reader: [] for reader in READERS}
    for _ in range(REPEATS):
        for reader, results in taken.items():
            results.append(measure(reader, path, warm))
    size = path.stat().st_size
    seconds = {reader: statistics.median(each["seconds"] for each in results) for reader, results in taken.items()}
    peak = {reader: statistics.median(each["peak"] for each in results) for reader, results in taken.items()}
    assert taken["lim"][0]["count"] == taken["pandas"][0]["count"]
    time_ratio, memory_ratio = seconds["lim"] / seconds["pandas"], peak["lim"] / size
    facts = f"{path.suffix[1:]:>6} {size / 1e6:5.1f} MB {int(taken['lim'][0]['count']):>7,} documents"
    times = (
        f"pandas {seconds['pandas']:.3f} s, lim {seconds['lim']:.3f} s = {time_ratio:.2f}x (at most {MAX_TIME_RATIO}x)"
    )
    peaks = f"pandas {peak['pandas'] / 1e6:.0f} MB, lim {peak['lim'] / 1e6:.0f} MB"
    print(f"{facts} | {times} | {peaks} = {memory_ratio:.2f}x the file (at most {MAX_MEMORY_RATIO}x)", flush=True)
    return time_ratio <= MAX_TIME_RATIO and memory_ratio <= MAX_MEMORY_RATIO


def main() -> int:
    met = True
    for words in [int(argument) for argument in sys.argv[1:]] or [200]:
        with tempfile.TemporaryDirectory() as folder:
            print(f"documents of about {words} words")
            large = write(Path(folder), words, MEGABYTES, "large")
            small = write(Path(folder), words, 2, "small")
            for path, warm in zip(large, small, strict=True):
                met = compare(path, warm) and met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
