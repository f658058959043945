"""What axe finds on a page: the serious violations, each with the element it is in."""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

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
