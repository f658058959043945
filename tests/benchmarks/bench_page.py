"""How long the Lab takes to follow the slider beside a bare Streamlit page, in one run, in a real Chromium.

    python tests/benchmarks/bench_page.py           about eight minutes
    python tests/benchmarks/bench_page.py --quick   20 and 200 documents only, about two minutes

Both pages read the same generated JSON Lines file through their upload, and show the same widgets, two charts of the
same marks and a table; the bare one is `bare_page.py`. Two measurements, each with its targets:

1. The time from a key on the threshold slider to the last change in a chart, of its drawing (SVG) or its canvas: until
   nothing has changed for a while and the page's script rests. Two kinds of steps: one word (arrow key), which often
   keeps the same documents, and a tenth of the slider (page up and down), which changes both charts. The two pages take
   turns, step by step; the figures are medians.
2. The bytes one step brings to the browser, WebSocket messages and downloads together, median of the same steps.

CHROMIUM=/path/to/chromium chooses the browser; otherwise chromium, chromium-browser or google-chrome on PATH, or the
one Playwright installed. Ends with status 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from server import served

ROOT = Path(__file__).parents[2]
PAGES = {"Lab": ROOT / "app.py", "bare": Path(__file__).with_name("bare_page.py")}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
STEPS = {20: 21, 200: 21, 20_000: 9, 100_000: 9}
WARM_UP = 3
KINDS = {"one word": ("ArrowRight", "ArrowRight"), "a tenth": ("PageUp", "PageDown")}  # the keys of odd and even steps
RATIOS = {20: 1.25, 200: 1.25, 20_000: 1.0}  # the Lab's time over the bare page's, at most
KILOBYTES = {20: 100, 100_000: 300}  # of one step of the Lab, less than
ALONE = 100_000  # so many bars the bare page is not asked to draw
WORDS = 40  # of a document, about: 100,000 of them are a file below the limit for uploads
QUIET = 400  # milliseconds without a change after which a chart counts as finished
PATIENCE = 180_000  # milliseconds

# Counts and timestamps, taken in the page itself: what the test's own connection costs is not in them.
WATCH = """
(() => {
  const seen = window.seen = {pressed: 0, changed: 0, changes: 0, bytes: 0};
  const inChart = node => node?.closest?.('[data-testid="stVegaLiteChart"]');
  const change = () => { seen.changed = performance.now(); seen.changes += 1; };
  document.addEventListener('keydown', () => { seen.pressed = performance.now(); }, true);
  new MutationObserver(records => {
    const element = node => node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    if (records.some(record => inChart(element(record.target)))) change();
  }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    if (inChart(this.canvas)) queueMicrotask(change);
    return clear.apply(this, box);
  };
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({data}) => { seen.bytes += data.byteLength ?? data.size ?? data.length; });
    }
  };
  new PerformanceObserver(list => list.getEntries().forEach(entry => { seen.bytes += entry.transferSize; }))
    .observe({type: 'resource'});
})();
"""
FINISHED = """
quiet => seen.changes > 0 && performance.now() - seen.changed > quiet
  && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'
"""
SLIDER = 'input[type="range"]'

vocabulary = ["the", "of", "a", "keeper", "lantern", "harbour", "tide", "gate", "engine", "inspection", "measured."]


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of the slider took.

    :param shown: milliseconds from the key to the last change in a chart.
    :param received: bytes the browser received.
    """

    shown: float
    received: int


def write_list(count: int, folder: Path) -> Path:
    """Write a ranked list as JSON Lines, no two documents alike."""
    generator = random.Random(count)
    path = folder / f"{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for rank in range(1, count + 1):
            text = " ".join(generator.choices(vocabulary, k=generator.randint(WORDS // 2, WORDS * 3 // 2)))
            file.write(json.dumps({"id": f"d{rank}", "content": text, "score": 1 - rank / (count + 1)}) + "\n")
    return path


def find_chromium() -> str | None:
    """Find a Chromium; None leaves the choice to Playwright."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def finish(page: Page) -> None:
    """Wait until the charts are drawn and nothing more happens."""
    page.wait_for_function(FINISHED, arg=QUIET, timeout=PATIENCE, polling=50)


def opened(browser: Browser, address: str, upload: Path) -> Page:
    """Open a page, upload the list, move the threshold to about the middle of the slider."""
    page = browser.new_page(viewport={"width": 1440, "height": 1600})
    page.add_init_script(WATCH)
    page.goto(f"{address}/?source=Upload")
    page.locator('input[type="file"]').first.set_input_files(upload, timeout=PATIENCE)
    page.locator(SLIDER).wait_for(state="attached", timeout=PATIENCE)
    finish(page)
    for key in ["Home", *["PageUp"] * 5]:
        press(page, key)
    return page


def press(page: Page, key: str) -> Step:
    """Press a key on the slider and wait for the charts."""
    page.locator(SLIDER).focus()
    page.evaluate("Object.assign(seen, {pressed: 0, changed: 0, changes: 0, bytes: 0})")
    page.keyboard.press(key)
    finish(page)
    seen = page.evaluate("seen")
    return Step(seen["changed"] - seen["pressed"], seen["bytes"])


def measure(browser: Browser, addresses: dict[str, str], upload: Path, count: int) -> dict[str, dict[str, list[Step]]]:
    """Step both pages in turn over one list; return the steps by kind and page."""
    names = [name for name in addresses if name == "Lab" or count < ALONE]
    pages = {name: opened(browser, addresses[name], upload) for name in names}
    steps: dict[str, dict[str, list[Step]]] = {kind: {name: [] for name in names} for kind in KINDS}
    for number in range(WARM_UP + STEPS[count]):
        for kind, keys in KINDS.items():
            for name in names if number % 2 else reversed(names):  # neither is always the one that goes first
                step = press(pages[name], keys[number % 2])
                if number >= WARM_UP:
                    steps[kind][name].append(step)
    for page in pages.values():
        page.close()
    return steps


def verdict(*, met: bool) -> str:
    return "met" if met else "MISSED"


def report(results: dict[int, dict[str, dict[str, list[Step]]]]) -> bool:
    """Print both tables; return whether every target is met."""
    all_met = True
    print("\n1. From the key to the last change in a chart (milliseconds, medians)")
    print(f"{'documents':>10} {'step':<9} {'Lab':>7} {'bare':>9} {'ratio':>6}  target")
    for count, kinds in results.items():
        for kind, steps in kinds.items():
            shown = {name: statistics.median(step.shown for step in taken) for name, taken in steps.items()}
            if "bare" not in shown:
                print(f"{count:>10,} {kind:<9} {shown['Lab']:>7.0f} {'-':>9} {'-':>6}  none")
                continue
            ratio, most = shown["Lab"] / shown["bare"], RATIOS[count]
            met = ratio < most if most == 1 else ratio <= most
            all_met &= met
            target = f"{'<' if most == 1 else '≤'} {most:.2f} {verdict(met=met)}"
            print(f"{count:>10,} {kind:<9} {shown['Lab']:>7.0f} {shown['bare']:>9.0f} {ratio:>6.2f}  {target}")
    print("\n2. What one step brings to the browser (kilobytes, medians)")
    print(f"{'documents':>10} {'step':<9} {'Lab':>7} {'bare':>9}  target")
    for count, kinds in results.items():
        for kind, steps in kinds.items():
            size = {name: statistics.median(step.received for step in taken) / 1e3 for name, taken in steps.items()}
            note = "none"
            if limit := KILOBYTES.get(count):
                met = size["Lab"] < limit
                all_met &= met
                note = f"< {limit} {verdict(met=met)}"
            bare = f"{size['bare']:.1f}" if "bare" in size else "-"
            print(f"{count:>10,} {kind:<9} {size['Lab']:>7.1f} {bare:>9}  {note}")
    return all_met


def main() -> int:
    parser = argparse.ArgumentParser(description="Time a slider step of the Lab beside a bare Streamlit page.")
    parser.add_argument("--quick", action="store_true", help="leave the two longest lists out")
    counts = [count for count in STEPS if not parser.parse_args().quick or count <= 200]
    results = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        addresses = {name: f"http://{stack.enter_context(served(script))[0]}" for name, script in PAGES.items()}
        chromium = stack.enter_context(sync_playwright()).chromium
        browser = chromium.launch(executable_path=find_chromium(), args=FLAGS)
        stack.callback(browser.close)
        for count in counts:
            print(f"{count:,} documents …", file=sys.stderr)
            results[count] = measure(browser, addresses, write_list(count, folder), count)
    met = report(results)
    print("\nEvery target met." if met else "\nA target was MISSED.")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
