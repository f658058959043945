"""Learn and Evidence as a person at a browser meets them: by keyboard alone, on a screen and on a phone."""

import re

import pytest
from axe import TALL, violations
from lab_page import settle
from playwright.sync_api import Browser, Page, expect

from lim import lesson

SIZES = [(1440, 900), (390, 844)]


def tab_to(page: Page, name: str) -> None:
    """Move the focus with the Tab key to a button, as someone without a mouse does."""
    for _ in range(90):
        page.keyboard.press("Tab")
        words = page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''")
        if words.strip().split("\n")[-1].strip() == name or words.strip().split("\n")[0].strip() == name:
            return
    pytest.fail(f"The Tab key never reaches {name!r}")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_lesson_can_be_taken_with_the_keyboard_alone(open_page, width, height):
    page = open_page("learn", width=width, height=height)
    title = page.locator("h1")
    expect(title).to_have_text(lesson.STEPS[0].title)
    expect(page.locator(".st-key-next button")).to_be_visible()
    settle(page)
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text(lesson.STEPS[1].title)
    expect(page).to_have_url(re.compile(r"step=Idea"))
    for placed in (1, 2, 3):
        settle(page)
        page.keyboard.press("n")
        expect(page.get_by_text(f"{placed} of 9 documents placed", exact=True)).to_be_visible()
    expect(page.get_by_text("Where will document 4 land?")).to_be_visible()
    settle(page)
    tab_to(page, "8")
    page.keyboard.press("Enter")
    expect(page.get_by_text(lesson.reveal(8, 4, 9)[1])).to_be_visible()
    settle(page)
    page.keyboard.press("p")
    expect(page.get_by_text("9 of 9 documents placed", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Where each document lands")).to_be_visible()
    settle(page)
    page.keyboard.press("b")
    expect(page.get_by_text("8 of 9 documents placed", exact=True)).to_be_visible()
    for step in lesson.STEPS[2:]:
        settle(page)
        page.keyboard.press("ArrowRight")
        expect(title).to_have_text(step.title)
    settle(page)
    question = lesson.quiz(1)[0]
    tab_to(page, question.options[question.answer])
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 right, 1 of 6 answered")).to_be_visible()
    settle(page)
    page.keyboard.press("ArrowLeft")
    expect(title).to_have_text(lesson.STEPS[5].title)


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("path", [*(f"learn?step={step.name}" for step in lesson.STEPS), "evidence"])
def test_nothing_is_wider_than_the_screen(open_page, path, width, height):
    page = open_page(path, width=width, height=height)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0


def test_the_presenters_view_prints_larger_and_hides_the_sidebar(open_page):
    plain = open_page("learn").locator("h1")
    page = open_page("learn?present=true")
    large = page.locator("h1")
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    page.wait_for_function("parseFloat(getComputedStyle(document.documentElement).fontSize) > 20")
    assert large.evaluate(size) >= 1.25 * plain.evaluate(size)
    label = ".role-axis-label text"
    expect(page.locator(label).first).to_be_visible()
    assert float(page.locator(label).first.get_attribute("font-size").removesuffix("px")) > 14
    page.keyboard.press("ArrowRight")
    expect(large).to_have_text(lesson.STEPS[1].title)


def test_the_page_to_print_fits_one_sheet_and_fetches_nothing(open_page, browser: Browser, tmp_path):
    page = open_page("learn")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="One-page summary").click()
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    assert file.suffix == ".html"
    context = browser.new_context(offline=True)
    sheet = context.new_page()
    called = []
    sheet.on("request", lambda request: called.append(request.url))
    sheet.goto(file.as_uri())
    assert called == [file.as_uri()]
    assert sheet.locator("figure svg").count() == 3
    pdf = sheet.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", pdf)) == 1
    assert violations(sheet) == set()
    context.close()


@pytest.mark.parametrize(
    "path",
    [*(f"learn?step={step.name}" for step in lesson.STEPS), "learn?present=true"]
    + [f"evidence?shown={tab}" for tab in ("Your list", "All curves", "Whole pipelines", "Your metrics", "Every row")]
    + ["evidence?shown=Other frameworks"],
)
def test_no_serious_violation_is_ours(open_page, streamlits_own, scheme, path):
    page = open_page(path, height=TALL, scheme=scheme)
    assert violations(page) - streamlits_own == set()
