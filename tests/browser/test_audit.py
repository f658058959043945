"""The Audit page as a person at a browser meets it, on every sample."""

import json

import pytest
from axe import TALL, violations
from conftest import ROOT
from lab_page import settle
from playwright.sync_api import Page, expect

SAMPLES = json.loads((ROOT / "sample_data" / "audit" / "samples.json").read_text("utf-8"))
LINKS = {sample["key"]: f"audit?audit_sample={sample['title'].replace(' ', '+')}" for sample in SAMPLES}


def drawn(page: Page, charts: int) -> None:
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg.marks")).to_have_count(charts)
    settle(page)


@pytest.mark.parametrize("key", LINKS)
def test_every_sample_is_drawn_and_fits_a_phone(open_page, key):
    for width, height in ((1440, 900), (390, 844)):
        page = open_page(LINKS[key], width=width, height=height)
        drawn(page, 2 if key == "trace" else 1)
        box = page.get_by_role("region", name="The prompt", exact=True)
        expect(box).to_contain_text("document 1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()


def test_no_serious_violation_is_ours(open_page, streamlits_own, scheme):
    for key, tab in (("truncated", "Documents"), ("sorted-by-score", "Test"), ("trace", "Known orders")):
        page = open_page(f"{LINKS[key]}&audit_tab={tab.replace(' ', '+')}", height=TALL, scheme=scheme)
        drawn(page, 2 if key == "trace" else 1)
        assert violations(page) - streamlits_own == set()
        page.close()


def test_a_pasted_prompt_is_audited_and_stays_out_of_the_link(open_page):
    page = open_page("audit?audit_source=Paste&source=Paste")
    page.get_by_role("textbox", name="Ranked documents").fill("Alpha is first.\n\nBeta is second.\n\nGamma third.")
    page.keyboard.press("Control+Enter")
    settle(page)
    page.get_by_role("textbox", name="The prompt, as it goes").fill(
        "Alpha is first. Beta is second. Gamma third. Which?"
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_have_text("The order was lost: the prompt holds its 3 documents in relevance order")
    drawn(page, 1)
    assert "Alpha" not in page.url


def test_the_generated_test_can_be_downloaded(open_page):
    page = open_page(f"{LINKS['sorted-by-score']}&audit_tab=Test")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download test_prompt_order.py").click()
    assert waiting.value.suggested_filename == "test_prompt_order.py"
    assert "assert_prompt_order" in waiting.value.path().read_text("utf-8")
