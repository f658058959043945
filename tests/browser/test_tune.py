"""The Tune page as a person at a browser meets it: pointing, the goal, the way to the Lab, files."""

import csv
import io
import json
import re

from axe import TALL, violations
from lab_page import settle
from playwright.sync_api import Page, expect

from lim import load
from lim.tuning import Objective, best, counts, gather, outcome, told, worst
from lim.widgets import SAMPLES

FILE = SAMPLES / "many_queries.jsonl.gz"
POOL = gather(load(FILE.read_bytes(), FILE.name).lists)


def drawn(page: Page, charts: int = 4) -> None:
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg.marks")).to_have_count(charts)
    settle(page)


def click_at(page: Page, chart: int, across: float) -> None:
    box = page.get_by_test_id("stVegaLiteChart").nth(chart).bounding_box()
    page.mouse.click(box["x"] + across * box["width"], box["y"] + box["height"] / 2)


def heading(page: Page, threshold: int | None, top_k: int | None = None) -> None:
    expect(page.locator("h1")).to_have_text(f"{told.verdict(outcome(POOL, threshold, top_k, 1000))}.")


def threshold_of(page: Page) -> int:
    return int(page.get_by_role("spinbutton", name="word_count_threshold").input_value())


def test_pointing_at_either_chart_sets_the_threshold(open_page):
    page = open_page("tune", height=TALL)
    drawn(page)
    heading(page, 500)
    seen = {500}
    for chart, across in ((0, 0.7), (1, 0.4)):
        click_at(page, chart, across)
        expect(page.locator("h1")).not_to_have_text(f"{told.verdict(outcome(POOL, max(seen), None, 1000))}.")
        settle(page)
        threshold = threshold_of(page)
        assert threshold not in seen
        seen = {threshold}
        heading(page, threshold)
        label = page.get_by_test_id("stVegaLiteChart").nth(chart).locator("text", has_text=f"{threshold:,}")
        expect(label.first).to_be_visible()
        assert f"word_count_threshold={threshold}" in page.url


def test_the_best_pair_a_cell_and_a_point_set_both_limits(open_page):
    page = open_page("tune", height=TALL)
    drawn(page)
    found = best(POOL, 1000, 0.01, Objective.RELEVANT).best
    page.get_by_role("button", name="Use these").click()
    heading(page, found.word_count_threshold, found.top_k)
    expect(page.get_by_text("in use")).to_be_visible()
    cells = page.get_by_test_id("stVegaLiteChart").nth(3)
    cells.locator('[aria-label*="word_count_threshold: 400; top_k: 4;"]').click()
    heading(page, 400, 4)
    points = page.get_by_test_id("stVegaLiteChart").nth(2).locator('[aria-roledescription="point"]')
    limits = re.search(r"Limits: (.*?);", points.first.get_attribute("aria-label"))[1]
    points.first.click()
    pair = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", limits)}
    heading(page, pair.get("word_count_threshold"), pair.get("top_k"))


def test_the_worst_query_of_an_upload_opens_in_the_lab_and_back(open_page):
    page = open_page("tune?source=Upload&tune_tab=Worst+queries")
    rows = [
        {"query": f"Secret {number}", "id": f"d{rank}", "content": "word " * 10 * rank, "relevant": rank == 1}
        for number in range(40)
        for rank in range(1, number % 7 + 3)
    ]
    data = "\n".join(map(json.dumps, rows)).encode()
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        {"name": "mine.jsonl", "mimeType": "application/json", "buffer": data}
    )
    drawn(page, 2)
    pool = gather(load(data, "mine.jsonl").lists)
    number = int(worst(counts(pool, threshold_of(page)), pool, 1)[0])
    page.get_by_role("button", name="Open the first one in the Lab").click()
    expect(page.locator("h1")).to_contain_text("documents reach the prompt")
    expect(page.get_by_role("combobox", name="Ranked list, 40 in this input")).to_have_value(
        re.compile(rf"^{number + 1}\. Secret {number} ")
    )
    assert "Secret" not in page.url
    page.get_by_role("link", name="Tune").click()
    expect(page.locator("h1")).to_contain_text("of 40 queries")
    assert "Secret" not in page.url


def test_the_files_and_the_sentence_say_what_the_page_says(open_page):
    page = open_page("tune?tune_tab=Take+home&word_count_threshold=450")
    drawn(page, 2)
    figures = outcome(POOL, 450, None, 1000)
    expect(page.get_by_test_id("stCode").first).to_contain_text(f"{figures.over} of them")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Thresholds (CSV)").click()
    assert waiting.value.suggested_filename == "thresholds.csv"
    rows = {
        int(row["word_count_threshold"]): row
        for row in csv.DictReader(io.StringIO(waiting.value.path().read_text("utf-8-sig")))
    }
    assert int(rows[450]["queries_over"]) == figures.over
    assert int(rows[450]["relevant_kept"]) == figures.relevant_kept
    assert int(rows[450]["tokens_p95"]) == figures.tokens.p95


def test_it_fits_a_phone_and_no_serious_violation_is_ours(open_page, streamlits_own, scheme):
    page = open_page("tune", width=390, height=844, scheme=scheme)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for tab in ("Goal", "Words and tokens", "Take home"):
        page = open_page(f"tune?tune_tab={tab.replace(' ', '+')}", height=TALL, scheme=scheme)
        drawn(page, 4 if tab == "Goal" else 2)
        assert violations(page) - streamlits_own == set()
        page.close()
