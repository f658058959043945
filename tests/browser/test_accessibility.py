"""No serious accessibility violation beyond what Streamlit causes on a bare page."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

SERIOUS = ("serious", "critical")
TALL = 2400  # pixels: axe judges no colour that is scrolled out of sight
OWNER = "element => element.closest('[data-testid]')?.dataset.testid ?? 'page'"


Violation = tuple[str, str, str]
"""A rule, the Streamlit element it is broken in, and the tag that breaks it."""


def violations(page: Page) -> set[Violation]:
    code = page.get_by_test_id("stCode")
    if code.count():
        expect(code.last.locator(".token").first).to_be_visible()  # the colours come after the text
    broken = [each for each in Axe().run(page).response["violations"] if each["impact"] in SERIOUS]
    return {
        (each["id"], page.locator(node["target"][0]).first.evaluate(OWNER), tag(node["html"]))
        for each in broken
        for node in each["nodes"]
    }


def tag(html: str) -> str:
    """Give an element's first tag without what differs from page to page."""
    return re.sub(r"st-emotion-\S+|e[a-z0-9]{7,}|(?<!class)=\"[^\"]*\"", "", html[: html.find(">") + 1])


@pytest.fixture(scope="module", params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def streamlits_own(bare_server: str, browser: Browser, scheme: str) -> set[Violation]:
    """Name what Streamlit violates by itself."""
    context = browser.new_context(viewport={"width": 1440, "height": TALL}, color_scheme=scheme)
    page = context.new_page()
    page.goto(bare_server)
    expect(page.get_by_test_id("stVegaLiteChart").nth(1).locator("svg.marks")).to_be_visible()
    expect(page.get_by_test_id("stCode")).to_have_count(2)  # the last element of the page
    own = violations(page)
    context.close()
    print(f"\nStreamlit's own, {scheme}: {sorted(own)}")
    return own


@pytest.mark.parametrize("tab", ["Documents", "Prompt", "Thresholds that matter", "Fit a budget", "Code", "Share"])
def test_no_serious_violation_is_ours(open_lab, streamlits_own, scheme, tab):
    lab = open_lab(f"?tab={tab.replace(' ', '+')}", height=TALL, scheme=scheme)
    assert violations(lab.page) - streamlits_own == set()
