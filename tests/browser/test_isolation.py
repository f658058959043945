"""Two people on one server: neither ever sees what the other brought, caches included."""

import json

import pytest
from playwright.sync_api import expect

PAGES = [
    "?source=Upload",
    "tune",
    "learn?step=Idea",
    "evidence?shown=Your list",
    "audit?audit_source=Paste",
    "pipeline",
]


def documents(word: str, count: int) -> bytes:
    """Make a file that two people may give the same name and shape, with a word of its own in every text."""
    texts = [f"{word} says number {number} " + "filler " * number for number in range(1, count + 1)]
    return "\n".join(json.dumps({"content": text, "meta": {"owner": word}}) for text in texts).encode()


def everything(page) -> str:
    """Give all that a page holds: text, values of its fields, and the rows inside its charts."""
    return page.evaluate(
        "() => document.documentElement.innerHTML"
        " + [...document.querySelectorAll('input, textarea')].map(field => field.value).join(' ') + location.href"
    )


@pytest.mark.parametrize("same_name", [True, False], ids=["one file name", "two file names"])
def test_two_people_never_see_each_others_documents(open_lab, same_name):
    first, second = (open_lab(context=name) for name in ("first person", "second person"))
    first.start_over("Upload")
    first.upload("list.jsonl", documents("zanzibar", 7))
    expect(first.title).to_contain_text("7 documents")
    second.start_over("Upload")
    second.upload("list.jsonl" if same_name else "other.jsonl", documents("quixotic", 9))
    expect(second.title).to_contain_text("9 documents")
    for lab, own, foreign in ((first, "zanzibar", "quixotic"), (second, "quixotic", "zanzibar")):
        lab.open_tab("Prompt")
        expect(lab.page.get_by_role("region", name="The prompt")).to_contain_text(f"{own} says number 1")
        assert foreign not in everything(lab.page)
        assert own not in lab.page.url


@pytest.mark.parametrize("path", PAGES)
def test_a_newcomer_finds_nothing_of_those_before(open_lab, open_page, path):
    before = open_lab(context="the one before")
    before.start_over("Upload")
    before.upload("list.jsonl", documents("zanzibar", 7))
    expect(before.title).to_contain_text("7 documents")
    page = open_page(path)
    expect(page.locator("h1").first).to_be_visible()
    assert "zanzibar" not in everything(page)
