"""What only a browser shows of the Lab: charts drawn, pointing, picking, links, downloads."""

import csv
import io
import json
import re
from xml.etree import ElementTree as ET

import pytest
from lab_page import RULE
from PIL import Image
from playwright.sync_api import expect

FIRST = "12 of 20 documents reach the prompt: 1,110 words, 110 over your threshold of 1,000"


def jsonl(*texts: str) -> bytes:
    return "\n".join(json.dumps({"content": text}) for text in texts).encode()


def logbook(count: int) -> bytes:
    return jsonl(*(f"Log entry {n} reads fair wind and calm water." for n in range(count)))


def strict(text: str) -> dict:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def test_first_paint_shows_both_charts_above_the_fold(open_lab):
    lab = open_lab()
    expect(lab.title).to_contain_text(FIRST)
    expect(lab.page.get_by_text(re.compile("identical to haystack-ai"))).to_be_visible()
    for chart, bars in ((lab.landing, 12), (lab.budget, 20)):
        expect(lab.bars(chart)).to_have_count(bars)
        box = chart.bounding_box()
        assert box["y"] > 0
        assert box["y"] + box["height"] <= 900
    assert lab.landing.bounding_box()["x"] < lab.budget.bounding_box()["x"]
    assert lab.ranks() == [1, 3, 5, 7, 9, 11, 12, 10, 8, 6, 4, 2]
    lab.expect_rule(1000)


def test_the_slider_moves_rule_number_and_link_by_keyboard(open_lab):
    lab = open_lab()
    lab.slider.focus()
    for _ in range(5):
        lab.page.keyboard.press("ArrowRight")
    expect(lab.number).to_have_value("1005")
    lab.expect_rule(1005)
    expect(lab.title).to_contain_text("105 over your threshold of 1,005")
    lab.page.wait_for_url(re.compile(r"word_count_threshold=1005"))


def test_dragging_moves_the_rule_before_the_server_answers(open_lab):
    lab = open_lab(holdable=True)
    box = lab.budget.bounding_box()
    mouse, x = lab.page.mouse, box["x"] + 110
    lab.hold()
    mouse.move(x, lab.y_of_words(500))
    mouse.down()
    mouse.move(x, lab.y_of_words(600), steps=3)
    lab.expect_rule(600)
    mouse.move(x, lab.y_of_words(800), steps=3)
    lab.expect_rule(800)  # in the same drag, and no word has reached the server
    bars = lab.budget.locator('[aria-roledescription="bar"][fill="#cfd2d6"]')
    expect(bars).to_have_count(11)  # 9 of 20 are kept: the greys follow too
    expect(lab.title).to_contain_text(FIRST)
    mouse.up()
    lab.release()
    expect(lab.title).to_contain_text("your threshold of 800")
    expect(lab.number).to_have_value("800")
    lab.page.wait_for_url(re.compile("word_count_threshold=800"))
    lab.expect_rule(800)


def test_clicking_sets_the_threshold_and_a_later_slider_wins_over_it(open_lab):
    lab = open_lab()
    box = lab.budget.bounding_box()
    lab.page.mouse.click(box["x"] + 110, lab.y_of_words(1200))
    expect(lab.number).to_have_value("1200")
    lab.expect_rule(1200)
    lab.slider.focus()
    lab.page.keyboard.press("ArrowLeft")
    expect(lab.number).to_have_value("1199")
    lab.expect_rule(1199)
    expect(lab.title).to_contain_text("your threshold of 1,199")
    lab.set_threshold(300)
    lab.expect_rule(300)
    lab.page.mouse.click(box["x"] + 110, lab.y_of_words(1200))  # the place that was pointed at before
    expect(lab.number).to_have_value("1200")
    lab.expect_rule(1200)


def test_pointing_sets_a_threshold_where_there_was_none(open_lab):
    lab = open_lab("?limit_words=false")
    expect(lab.title).to_contain_text("with no word limit")
    assert lab.rule_label() == ""
    box = lab.budget.bounding_box()
    lab.page.mouse.click(box["x"] + 110, lab.y_of_words(1000))
    expect(lab.number).to_have_value("1000")
    lab.expect_rule(1000)


def test_a_picked_bar_is_marked_in_both_charts_the_table_and_the_prompt(open_lab):
    lab = open_lab()
    lab.bar_of_rank(lab.landing, 5).click()
    for chart in (lab.landing, lab.budget):
        expect(chart.locator('[aria-roledescription="bar"][stroke="#1b2733"]')).to_have_count(1)
    expect(lab.bar_of_rank(lab.landing, 5)).to_have_attribute("stroke", "#1b2733")
    expect(lab.page.get_by_text("Original rank 5", exact=True)).to_be_visible()
    expect(lab.page.get_by_test_id("stCode")).to_contain_text("Work starts again when the wind has stayed under 16")
    lab.open_tab("Prompt")
    marked = lab.page.locator("span[style*='outline']")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("rank 5")
    lab.bar_of_rank(lab.landing, 5).dblclick()  # lets it go
    expect(lab.budget.locator('[aria-roledescription="bar"][stroke="#1b2733"]')).to_have_count(0)


def test_a_row_of_the_table_marks_its_document_in_both_charts(open_lab):
    lab = open_lab()
    table = lab.page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    row = 35  # pixels; the header is as high
    lab.page.mouse.click(box["x"] + 16, box["y"] + 3.5 * row)
    expect(lab.page.get_by_text("Original rank 3", exact=True)).to_be_visible()
    expect(lab.bar_of_rank(lab.landing, 3)).to_have_attribute("stroke", "#1b2733")
    expect(lab.budget.locator('[aria-roledescription="bar"][stroke="#1b2733"]')).to_have_count(1)


def test_the_slope_marks_too_and_keeps_the_budget_beside_it(open_lab):
    lab = open_lab("?form=Slope")
    lines = lab.landing.locator('[aria-roledescription="line mark"]')
    expect(lines).to_have_count(20)
    lab.landing.locator('[aria-roledescription="point"]').first.click()
    expect(lab.page.get_by_text("Original rank 1", exact=True)).to_be_visible()
    expect(lab.budget.locator('[aria-roledescription="bar"][stroke="#1b2733"]')).to_have_count(1)


def test_an_upload_survives_quick_changes_and_another_theme(open_lab):
    lab = open_lab()
    lab.start_over("Upload")
    lab.upload("log.jsonl", logbook(12))
    expect(lab.title).to_contain_text("12 documents")
    for threshold in range(10, 60, 5):
        lab.set_threshold(threshold)
    lab.expect_rule(55)
    expect(lab.title).to_contain_text("7 of 12 documents")
    expect(lab.budget.locator(RULE)).to_have_attribute("opacity", "1")
    expect(lab.bars(lab.budget)).to_have_count(12)
    lab.page.emulate_media(color_scheme="dark")
    expect(lab.budget.locator(RULE)).to_have_attribute("stroke", "#ff9248")
    expect(lab.title).to_contain_text("7 of 12 documents")
    expect(lab.bars(lab.budget)).to_have_count(12)
    assert "Log" not in lab.page.url


def test_a_file_of_the_same_name_replaces_the_first_everywhere(open_lab):
    lab = open_lab()
    lab.start_over("Upload")
    lab.upload("results.jsonl", jsonl("green tea leaves", "water below boiling", "black tea"))
    expect(lab.bars(lab.budget)).to_have_count(3)
    lab.bar_of_rank(lab.landing, 2).click()
    expect(lab.page.get_by_test_id("stCode")).to_have_text("water below boiling")
    lab.upload("results.jsonl", jsonl("returns", "opened headphones", "refunds appear", "gift orders"))
    expect(lab.bars(lab.budget)).to_have_count(4)
    expect(lab.page.get_by_text("Original rank 2", exact=True)).to_have_count(0)
    lab.page.get_by_role("switch", name="Limit the words").press("Space")
    expect(lab.bars(lab.landing)).to_have_count(4)
    assert lab.ranks() == [1, 3, 4, 2]
    assert "tea" not in lab.landing.inner_html()
    lab.open_tab("Prompt")
    expect(lab.page.get_by_test_id("stHtml")).to_contain_text("opened headphones")
    expect(lab.page.get_by_test_id("stApp")).not_to_contain_text("boiling")


VERBATIM = [
    "The pass costs $45 a month or $399 a year, up from $42.",
    "Revenue was $119.6 billion, up 2% from $117.2 billion.",
    "Use $HOME/bin or ~~ /usr/local/bin ~~ and *never* sudo.",
    "<5% of orders & >$20 each: see [terms](https://shop.example) :warning: <img src=x onerror=alert(1)>",
]


def test_texts_are_shown_as_they_are_written(open_lab):
    lab = open_lab("?limit_words=false")
    lab.start_over("Upload")
    lab.upload("texts.jsonl", jsonl(*VERBATIM))
    expect(lab.bars(lab.landing)).to_have_count(4)
    for rank, text in enumerate(VERBATIM, 1):
        lab.bar_of_rank(lab.landing, rank).click()
        expect(lab.page.get_by_text(f"Original rank {rank}", exact=True)).to_be_visible()
        expect(lab.page.get_by_test_id("stCode")).to_have_text(text)
    lab.open_tab("Prompt")
    shown = lab.page.get_by_test_id("stHtml")
    for text in VERBATIM:
        expect(shown).to_contain_text(text)
    lab.open_tab("Input")
    for text in VERBATIM:
        expect(lab.page.get_by_role("tabpanel").filter(visible=True)).to_contain_text(text)
    assert lab.page.locator("main .katex, main del, main a[href*='shop'], main img[src='x']").count() == 0
    assert not re.search("pass|Revenue|sudo|shop", lab.page.url)


def test_the_table_comes_home_as_csv_and_the_result_as_json(open_lab):
    texts = ['=HYPERLINK("https://evil.example","click")', "+49 30 1234567", "-10 degrees", "@team", "\tTab", "Plain."]
    scores = [-0.5, -0.7, -0.9, -1.2, -3, -7.25]
    rows = [{"content": text, "score": score} for text, score in zip(texts, scores, strict=True)]
    lab = open_lab("?limit_words=false&tab=Share")
    lab.start_over("Upload")
    lab.upload("formulas.json", json.dumps(rows).encode())
    expect(lab.bars(lab.budget)).to_have_count(6)
    name, data = lab.download("Table (CSV)")
    assert name.suggested_filename == "arrangement.csv"
    table = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert [row["text"] for row in table] == [f"'{text}" for text in texts[:5]] + ["Plain."]
    assert [float(row["score"]) for row in table] == scores
    assert [int(row["position"]) for row in table] == [1, 6, 2, 5, 3, 4]
    name, data = lab.download("Result (JSON)")
    assert name.suggested_filename == "arrangement.json"
    result = strict(data.decode())
    assert result["order"] == [1, 3, 5, 6, 4, 2]
    assert [document["content"] for document in result["documents"]] == texts
    assert [document["score"] for document in result["documents"]] == scores


@pytest.mark.parametrize("chart", ["Where each document lands", "Where the budget runs out"])
def test_a_chart_comes_home_as_svg_and_png(open_lab, chart):
    lab = open_lab("?tab=Share")
    lab.page.get_by_role("radiogroup", name="Chart").get_by_text(chart).click()
    expect(lab.page.get_by_role("radio", name=chart)).to_be_checked()
    lab.settle()
    _, svg = lab.download("Picture (SVG)")
    root = ET.fromstring(svg)  # noqa: S314 # our own drawing
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert chart in "".join(root.itertext())
    _, png = lab.download("Picture (PNG)")
    with Image.open(io.BytesIO(png)) as picture:
        picture.load()
        assert picture.format == "PNG"
        assert picture.size == (1920, 1080)
        assert len(set(picture.convert("RGB").resize((90, 60)).get_flattened_data())) > 20  # not an empty sheet


def test_a_link_reproduces_the_view(open_lab):
    lab = open_lab()
    box = lab.page.get_by_role("combobox", name="Sample")
    box.click()
    lab.page.get_by_role("option", name="Small list to teach with").click()
    expect(lab.bars(lab.budget)).to_have_count(7)
    expect(lab.number).to_have_value("85")
    lab.set_threshold(50)
    lab.expect_rule(50)
    lab.page.get_by_role("switch", name="Limit the documents").press("Space")
    top_k = lab.page.get_by_role("spinbutton", name="top_k")
    top_k.fill("4")
    top_k.press("Enter")
    lab.page.get_by_role("radio", name="Slope").click()
    lab.open_tab("Code")
    snippet = "LostInTheMiddleRanker(word_count_threshold=50, top_k=4)"
    expect(lab.page.get_by_test_id("stCode").first).to_contain_text(snippet)
    lab.page.wait_for_url(re.compile("tab=Code"))
    title, query = lab.title.inner_text(), lab.query()
    assert {"sample", "word_count_threshold", "limit_documents", "top_k", "form", "tab"} <= set(query)
    other = open_lab(f"?{lab.page.url.partition('?')[2]}", context="someone else's")
    expect(other.title).to_have_text(title)
    expect(other.number).to_have_value("50")
    expect(other.page.get_by_role("spinbutton", name="top_k")).to_have_value("4")
    expect(other.page.get_by_test_id("stCode").first).to_contain_text(snippet)
    expect(other.landing.locator('[aria-roledescription="line mark"]')).to_have_count(7)
    assert other.query() == query


@pytest.mark.parametrize(("count", "width"), [(6_000, 25), (100_000, 417)])
def test_a_long_list_is_drawn_binned_and_says_so(open_lab, count, width):
    lab = open_lab("?limit_words=false")
    lab.start_over("Upload")
    lab.upload("log.jsonl", logbook(count))
    expect(lab.title).to_contain_text(f"All {count:,} documents reach the prompt", timeout=60_000)
    expect(lab.page.get_by_text(f"Each bar is about {width} positions")).to_be_visible()
    expect(lab.page.get_by_text(f"Each bar is about {width} documents")).to_be_visible()
    for chart in (lab.landing, lab.budget):
        expect(lab.bars(chart)).to_have_count(240)
        assert "Log entry" not in chart.inner_html()
    first, last = lab.ranks()[0], lab.ranks()[-1]
    assert (first, last) == (1, 2)
    lab.page.get_by_role("switch", name="Limit the words").press("Space")
    lab.set_threshold(9 * count // 2 - 3)
    lab.expect_rule(9 * count // 2 - 3)
    expect(lab.title).to_contain_text(f"{count // 2:,} of {count:,} documents reach the prompt")
    expect(lab.budget.locator("text", has_text=f"{count // 2:,} dropped")).to_have_count(1)


@pytest.mark.parametrize("tab", ["Documents", "Prompt", "Thresholds that matter", "Fit a budget", "Share"])
def test_nothing_overflows_on_a_phone(open_lab, tab):
    lab = open_lab(f"?tab={tab.replace(' ', '+')}", width=390, height=844)
    over = lab.page.evaluate(
        """() => {
            const scrolls = element => {
                for (let box = element.parentElement; box; box = box.parentElement) {
                    if (!['visible', 'clip'].includes(getComputedStyle(box).overflowX)) return box;
                }
                return document.documentElement;
            };
            const main = document.querySelector('[data-testid=stMain]');
            return [...main.querySelectorAll('*')]
                .filter(element => element.getBoundingClientRect().right > innerWidth + 1
                    && (scrolls(element) === main || scrolls(element) === document.documentElement))
                .map(element => element.outerHTML.slice(0, 120));
        }"""
    )
    assert over == []
    assert lab.page.evaluate("document.documentElement.scrollWidth") == 390
    assert lab.page.get_by_test_id("stMain").evaluate("main => main.scrollWidth") == 390
