"""What is taken along opens where it will be opened: the page from disk without a network, the session in the Lab."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from haystack import Document
from playwright.sync_api import Browser, Page, expect

from lim import arrange, export, frames, load, measure, story
from lim.export import Shown, Texts
from lim.ranker import Arrangement

ROOT = Path(__file__).parents[2]
NASTY = (
    "</script><script>window.hacked = 1</script><!-- <img src=x onerror='window.hacked = 1'> \u2028 ${1} \\u003c & 水🙂"
)


def shown(arrangement: Arrangement, query: str | None = None) -> Shown:
    documents = arrangement.inputs
    ranked = replace(load(b'["a"]', "a.json").lists[0], documents=documents, query=query)
    return Shown(ranked, arrangement, tuple(measure.tokens([each.content for each in documents])), ())


def teaching() -> list[Document]:
    return list(load((ROOT / "sample_data" / "teaching.json").read_bytes(), "teaching.json").lists[0].documents)


def many(count: int) -> list[Document]:
    """Make a list with copies, empty documents, and totals that stand still."""
    ids = [f"d{n if n % 11 else n // 2}" for n in range(count)]
    return [Document(id=ident, content=f"w{n} " * (n * 7 % 5)) for n, ident in enumerate(ids)]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path):
    """Open a page from disk with the network cut; in the end nothing was asked for and nothing complained."""
    contexts, complaints = [], []

    def open_it(data: bytes, *, width: int = 1440, height: int = 900, scheme: str = "light") -> Page:
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_bytes(data)
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        context.set_offline(True)
        context.route(lambda url: url != file.as_uri(), lambda route: route.abort())
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        expect(page.locator("#budget svg.marks")).to_be_visible()
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


def plain(frame) -> list[dict]:
    """Give rows as the page makes them: no missing fields, no NaN."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def bare(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


@pytest.mark.parametrize(
    ("documents", "top_k"),
    [
        (teaching(), None),
        (many(40), 30),
        (many(300), 280),
        ([Document(content="alone in the list")], None),
        ([Document(content=""), Document(content=" ")], None),
    ],
    ids=["teaching", "copies", "binned", "one", "no words"],
)
def test_the_page_walks_as_the_ranker_does_at_every_threshold(open_page, documents, top_k):
    unlimited = arrange(documents)
    total = unlimited.totals[-1]
    page = open_page(export.standalone_page(shown(unlimited.limited(None, top_k))))
    edges = {total + shift for total in {0, *unlimited.totals} for shift in (-1, 0, 1)} | {2 * total, 10**9}
    thresholds = [None, *sorted(each for each in edges if each >= 1)]
    theirs = page.evaluate(
        """thresholds => thresholds.map(threshold => {
            const state = lab.arrange(threshold);
            return JSON.parse(JSON.stringify([
                state.order, lab.verdict(state), lab.orderRule(state), lab.budgetRule(state), lab.budgetFinding(state),
            ]));
        })""",
        thresholds,
    )
    for threshold, told in zip(thresholds, theirs, strict=True):
        now = unlimited.limited(threshold, top_k)
        sentences = [story.verdict(now), story.order_rule(now), story.budget_rule(now), story.budget_finding(now)]
        assert told == [now.order, *sentences]
    assert unlimited.limited(total // 2 or 1, top_k).order == arrange(documents, total // 2 or 1, top_k).order
    some = thresholds[:: max(len(thresholds) // 12, 1)]
    rows = page.evaluate(
        """thresholds => thresholds.map(threshold => {
            const state = lab.arrange(threshold);
            return JSON.parse(JSON.stringify([lab.table(state), lab.landing(state), lab.budget(state)]));
        })""",
        some,
    )
    for threshold, (table, landing, budget) in zip(some, rows, strict=True):
        now = unlimited.limited(threshold, top_k)
        expected = frames.table(now)[["position", "fate", "why"]]
        assert bare(table) == plain(expected)
        assert landing == plain(frames.landing(now))
        assert bare(budget) == plain(frames.budget(now))


def at(page: Page, documents: list[Document], threshold: int | None) -> None:
    """Expect sentence, table and both charts as they are at a threshold."""
    now = arrange(documents, threshold)
    expect(page.locator("h1")).to_have_text(story.verdict(now))
    expect(page.locator('#landing [aria-roledescription="bar"]')).to_have_count(now.kept)
    labels = page.locator('#landing [aria-roledescription="bar"]').evaluate_all(
        "bars => bars.map(bar => Number(/Original rank: (\\d+)/.exec(bar.getAttribute('aria-label'))[1]))"
    )
    assert labels == now.order
    fates = frames.table(now)["fate"]
    shown = page.locator("#rows tr td.fate").all_text_contents()
    assert [text.partition(" (")[0] for text in shown] == list(fates)
    bars = page.locator('#budget [aria-roledescription="bar"]')
    in_prompt = bars.evaluate_all(
        "bars => bars.filter(bar => /in the prompt/.test(bar.getAttribute('aria-label'))).length"
    )
    assert in_prompt == now.kept
    rule = page.locator("#budget g.mark-rule.role-mark line")
    expect(rule).to_have_attribute("opacity", "1" if threshold else "0")


def test_slider_number_and_chart_move_everything(open_page):
    documents = teaching()
    page = open_page(export.standalone_page(shown(arrange(documents, 85), "Why is the sky blue?")))
    at(page, documents, 85)
    slider, number = page.get_by_label("Threshold in words"), page.get_by_role("spinbutton")
    for threshold in (20, 64, 110):
        slider.fill(str(threshold))
        at(page, documents, threshold)
        expect(number).to_have_value(str(threshold))
    slider.press("ArrowLeft")
    at(page, documents, 109)
    number.fill("50")
    at(page, documents, 50)
    expect(slider).to_have_value("50")
    page.get_by_label("Limit the words").uncheck()
    at(page, documents, None)
    expect(slider).to_be_disabled()
    page.get_by_label("Limit the words").check()
    at(page, documents, 50)
    for share in (0.3, 0.6):  # pointing twice: the second must not meet what the first left behind
        box = page.locator("#budget svg").bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * share)
        expect(number).not_to_have_value("50")
        at(page, documents, int(number.input_value()))
    expect(page.locator("#query")).to_have_text("Why is the sky blue?")


def test_whatever_a_document_holds_is_only_text(open_page):
    documents = [Document(id=f"{NASTY}{n}", content=f"{n} {NASTY}", meta={"title": NASTY}) for n in range(3)]
    for texts in (Texts.FULL, Texts.NUMBERS):
        page = open_page(export.standalone_page(shown(arrange(documents, 10), NASTY), texts=texts))
        assert page.evaluate("typeof window.hacked") == "undefined"
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 3
        body = page.locator("main").text_content()
        assert (NASTY in body) == (texts is not Texts.NUMBERS)
        if texts is Texts.FULL:
            assert page.locator("#rows details div").all_text_contents() == [each.content for each in documents]


@pytest.mark.parametrize(("scheme", "look"), [("light", "auto"), ("dark", "auto"), ("light", "dark")])
def test_the_page_is_sound_in_every_look_and_on_a_phone(open_page, scheme, look):
    documents = teaching()
    page = open_page(export.standalone_page(shown(arrange(documents, 85)), look=look), scheme=scheme, height=2400)
    dark = "dark" in (scheme, look)
    assert page.locator("html").get_attribute("data-look") == ("dark" if dark else "light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(15, 20, 26)" if dark else "rgb(255, 255, 255)"
    )
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#landing svg.marks")).to_have_attribute("width", re.compile(r"^3[0-6]\d"))
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    at(page, documents, 85)
    if look == "dark":
        page.get_by_label("Look of this page").select_option("light")
        expect(page.locator("html")).to_have_attribute("data-look", "light")
        at(page, documents, 85)


def test_a_page_of_twenty_documents_is_small():
    name = "retrieval.jsonl"
    documents = load((ROOT / "sample_data" / name).read_bytes(), name).lists[0].documents
    assert len(documents) == 20
    assert len(export.standalone_page(shown(arrange(documents, 1000)))) < 1_100_000


def test_a_session_taken_home_and_uploaded_shows_the_same(open_lab):
    lab = open_lab("?sample=Duplicates&tab=Share&form=Slope&limit_documents=true&top_k=6&word_count_threshold=120")
    expect(lab.number).to_have_value("120")
    title = lab.title.inner_text()
    _, data = lab.download("Session (JSON)")
    json.loads(data, parse_constant=pytest.fail)
    lab.page.get_by_text("Numbers only").click()
    expect(lab.page.get_by_text("with your original file beside it")).to_be_visible()
    _, without = lab.download("Session (JSON)")
    _, page = lab.download("Page (HTML)")
    assert b"<!DOCTYPE html>" in page[:20]

    other = open_lab("?tab=Documents", context="someone else's")
    other.start_over("Upload")
    other.upload("session.json", data)
    opened = other.page.get_by_text(re.compile(r"Opened a session made with haystack-ai .*; settings restored\."))
    expect(opened).to_be_visible()
    expect(other.title).to_have_text(title)
    expect(other.number).to_have_value("120")
    expect(other.page.get_by_role("spinbutton", name="top_k")).to_have_value("6")
    expect(other.landing.locator('[aria-roledescription="line mark"]')).to_have_count(10)
    other.set_threshold(30)  # restored once: what a person then sets stays
    expect(other.title).not_to_have_text(title)
    expect(other.number).to_have_value("30")

    other.upload("without.json", without)
    expect(other.page.get_by_text("is a session without texts")).to_be_visible()
    original = (ROOT / "sample_data" / "duplicates.jsonl").read_bytes()
    other.page.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(
        {"name": "duplicates.jsonl", "mimeType": "application/octet-stream", "buffer": original}
    )
    expect(opened).to_be_visible()
    expect(other.title).to_have_text(title)
    expect(other.number).to_have_value("120")
