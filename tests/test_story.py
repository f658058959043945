"""Every sentence the page can lead with, word for word."""

import pytest
from haystack import Document
from ranked_lists import of_words

from lim import arrange, story

FIVE = of_words([40, 35, 25, 30, 20])  # 40, 75, 100, 130, 150 words
COPIES = [*of_words([3, 4]), *of_words([3, 4])[:1]]


@pytest.mark.parametrize(
    ("documents", "threshold", "top_k", "sentence"),
    [
        ([], None, None, "There is no document to arrange."),
        ([], 5, 5, "There is no document to arrange."),
        (FIVE, None, None, "All 5 documents reach the prompt: 150 words, with no word limit."),
        (
            FIVE,
            99,
            None,
            (
                "3 of 5 documents reach the prompt: 100 words, 1 over your threshold of 99, because the document that "
                "crosses it is kept."
            ),
        ),
        (FIVE, 100, None, "3 of 5 documents reach the prompt: 100 words, exactly your threshold of 100."),
        (FIVE, 150, None, "All 5 documents reach the prompt: 150 words, exactly your threshold of 150."),
        (
            FIVE,
            1151,
            None,
            "All 5 documents reach the prompt: 150 words, 1,001 below the threshold of 1,151, which is never reached.",
        ),
        (
            FIVE,
            1,
            None,
            (
                "1 of 5 documents reaches the prompt: 40 words, 39 over your threshold of 1, because the document that "
                "crosses it is kept."
            ),
        ),
        (
            FIVE,
            None,
            2,
            "2 of 5 documents reach the prompt: 75 words, with no word limit. 3 documents are left out by top_k = 2.",
        ),
        (
            FIVE,
            200,
            4,
            (
                "4 of 5 documents reach the prompt: 130 words, 70 below the threshold of 200, which is never reached. "
                "1 document is left out by top_k = 4."
            ),
        ),
        (
            FIVE,
            10,
            1,
            (
                "1 of 5 documents reaches the prompt: 40 words. A list of one document ignores the threshold of 10. "
                "4 documents are left out by top_k = 1."
            ),
        ),
        (of_words([1]), None, None, "The only document reaches the prompt: 1 word, with no word limit."),
        (
            of_words([30]),
            5,
            None,
            "The only document reaches the prompt: 30 words. A list of one document ignores the threshold of 5.",
        ),
        (of_words([0, 0]), None, None, "All 2 documents reach the prompt: 0 words, with no word limit."),
        (
            COPIES,
            None,
            None,
            "2 of 3 documents reach the prompt: 7 words, with no word limit. 1 duplicate is dropped by id.",
        ),
        (
            [*COPIES, *COPIES],
            None,
            1,
            (
                "1 of 6 documents reaches the prompt: 3 words, with no word limit. 1 document is left out by top_k = 1 "
                "and 4 duplicates are dropped by id."
            ),
        ),
        (
            [Document(id=str(n), content="w " * 10) for n in range(2000)],
            12345,
            None,
            (
                "1,235 of 2,000 documents reach the prompt: 12,350 words, 5 over your threshold of 12,345, because the "
                "document that crosses it is kept."
            ),
        ),
    ],
)
def test_the_verdict(documents, threshold, top_k, sentence):
    assert story.verdict(arrange(documents, threshold, top_k)) == sentence


@pytest.mark.parametrize(
    ("documents", "threshold", "top_k", "sentence"),
    [
        (FIVE, None, None, "Where the budget runs out: no limit, 150 words"),
        (FIVE, 99, None, "The budget runs out at rank 3: 100 words"),
        (FIVE, 151, None, "The budget does not run out: 150 of 151 words"),
        (FIVE, 1000, 1, "The budget does not run out: 40 of 1,000 words"),
        (of_words([1]), 1, None, "The budget runs out at rank 1: 1 word"),
        (of_words([0, 0]), 1, None, "The budget does not run out: 0 of 1 word"),
    ],
)
def test_where_the_budget_runs_out(documents, threshold, top_k, sentence):
    assert story.budget_finding(arrange(documents, threshold, top_k)) == sentence


@pytest.mark.parametrize(
    ("threshold", "rule"),
    [
        (None, "No threshold: click or drag in the chart to set one"),
        (1, "The document that crosses the threshold is kept; click or drag to move it"),
    ],
)
def test_the_rule_of_the_budget(threshold, rule):
    assert story.budget_rule(arrange(FIVE, threshold)) == rule


@pytest.mark.parametrize(
    ("top_k", "rule"),
    [
        (1, "The best document comes first; with two, the second-best comes last"),
        (2, "The best document comes first; with two, the second-best comes last"),
        (3, "The best documents sit at both ends; the weakest end up in the middle"),
    ],
)
def test_the_rule_of_the_order(top_k, rule):
    assert story.order_rule(arrange(FIVE, top_k=top_k)) == rule


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 words"), (1, "1 word"), (2, "2 words"), (1004, "1,004 words"), (-1, "-1 words")]
)
def test_a_count_stands_with_its_noun(count, words):
    assert story.plural(count, "word") == words
