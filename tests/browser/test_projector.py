"""The presenter's view on a projector: what only a browser shows."""

import pytest
from playwright.sync_api import expect

from lim.views import slides

BEYOND_THE_FOOT = """chart => {
  const foot = document.querySelector('[data-testid="stBottom"]').getBoundingClientRect().top;
  return chart.getBoundingClientRect().bottom - foot;
}"""


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 720, "light"), (1920, 1080, "dark")])
def test_the_keys_turn_the_slides_and_each_chart_fits_the_screen(open_lab, width, height, scheme):
    lab = open_lab("?present=true", width=width, height=height, scheme=scheme)
    page, chart = lab.page, lab.charts.first
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    for name, following in zip(slides.NAMES[:3], slides.NAMES[1:], strict=False):
        expect(page.get_by_role("button", name=f"Next: {following}")).to_be_visible()
        lab.settle()
        assert chart.evaluate(BEYOND_THE_FOOT) <= 0, name
        assert chart.bounding_box()["height"] > height / 3
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("button", name=f"Back: {name}")).to_be_visible()
    assert lab.query()["slide"] == [slides.NAMES[3]]
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name=f"Next: {slides.NAMES[3]}")).to_be_visible()


def test_pointing_at_the_budget_moves_the_threshold_in_the_room(open_lab):
    lab = open_lab("?present=true&slide=The+budget", width=1280, height=720)
    before = lab.title.text_content()
    box = lab.charts.first.bounding_box()
    lab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.7)
    expect(lab.title).not_to_have_text(before)
    expect(lab.title).to_contain_text("documents reach the prompt")


def test_a_clicker_turns_and_escape_leaves(open_lab):
    lab = open_lab("?present=true", width=1280, height=720)
    page = lab.page
    for name in slides.NAMES[:3]:
        lab.settle()
        page.keyboard.press("PageDown")
        expect(page.get_by_role("button", name=f"Back: {name}")).to_be_visible()
    lab.settle()
    page.keyboard.press("PageUp")
    expect(page.get_by_role("button", name=f"Next: {slides.NAMES[3]}")).to_be_visible()
    lab.settle()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    assert "present" not in lab.query()


def test_keys_scroll_a_slide_that_is_longer_than_the_screen(open_lab):
    lab = open_lab("?present=true&slide=What+is+lost", width=1280, height=720)
    lab.page.keyboard.press("ArrowDown")
    lab.page.wait_for_function("document.querySelector('[data-testid=\"stMain\"]').scrollTop > 0")


def test_a_number_without_an_end_in_a_link_is_no_limit(open_lab):
    lab = open_lab("?word_count_threshold=1e400")
    expect(lab.number).to_have_value("1000")
