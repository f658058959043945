"""Whatever the documents, the template and the permutation: the audit of the rendered prompt recovers it."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from renderings import RENDERINGS, SENTENCES, document_lists

from lim import arrange, orders
from lim.audit import AuditReport, Expected, KnownOrder, PromptError, Status, audit
from lim.audit.verdict import kendall_tau

PROSE = [f"Report {number} of the {word} station says: all quiet." for number, word in enumerate("abcdefghij", 1)]


def recovered(report: AuditReport, rendered: Sequence[Document]) -> list[Document]:
    """The rendered documents in the order the audit says they are in; empty ones, which nobody finds, stay."""
    given = [sighting.document for sighting in report.sightings]
    found = iter([given[number - 1] for number in report.actual])
    return [next(found) if (document.content or "").strip() else document for document in rendered]


def stripped(documents: Sequence[Document]) -> list[Document]:
    """Whitespace around a text cannot be told from that of the template."""
    return [replace(document, content=(document.content or "").strip()) for document in documents]


@pytest.mark.parametrize("name", RENDERINGS)
@settings(max_examples=40)
@given(documents=document_lists(), data=st.data())
def test_the_permutation_is_recovered(name: str, documents: list[Document], data: st.DataObject) -> None:
    # The quotation mark that ends a Python literal may be taken for a document's own.
    assume(
        name != "python"
        or not any((d.content or "").strip().strip("'\"") != (d.content or "").strip() for d in documents)
    )
    rendered = data.draw(st.permutations(documents))
    prompt = RENDERINGS[name](rendered)
    report = audit(prompt, documents)
    assert not report.numbers(Status.MISSING)
    # Equal texts are interchangeable, so what is compared is what the order renders to.
    assert RENDERINGS[name](stripped(recovered(report, rendered))) == RENDERINGS[name](stripped(rendered))


@pytest.mark.parametrize("name", RENDERINGS)
@settings(max_examples=25)
@given(documents=document_lists())
@example([Document(content=text) for text in SENTENCES])
def test_the_intended_order_holds(name: str, documents: list[Document]) -> None:
    report = audit(RENDERINGS[name](documents), documents)
    assert report.holds, report.culprit
    assert report.order is KnownOrder.INTENDED
    assert report.first_departure is None
    assert report.culprit == "Nothing: the prompt holds the documents as intended."
    assert all(s.surviving == 1 and s.copies == 1 for s in report.sightings if s.status is not Status.EMPTY)


@given(st.permutations(range(12)))
def test_tau_is_that_of_all_pairs(permutation: list[int]) -> None:
    pairs = [1 if a < b else -1 for a, b in combinations(permutation, 2)]
    assert kendall_tau(permutation) == pytest.approx(sum(pairs) / len(pairs))


def test_tau_needs_two() -> None:
    assert kendall_tau([3]) is None


def ranked(count: int, *, scores: bool) -> list[Document]:
    return [Document(content=text, score=1 - rank / 20 if scores else None) for rank, text in enumerate(PROSE[:count])]


def prompt_of(documents: Sequence[Document]) -> str:
    return "\n".join(document.content or "" for document in documents)


@pytest.mark.parametrize("count", [5, 6, 10])
@pytest.mark.parametrize("scores", [True, False])
@pytest.mark.parametrize(
    ("order", "of_ranked"),
    [
        (KnownOrder.INTENDED, lambda d: arrange(d).documents),
        (KnownOrder.RELEVANCE, lambda d: d),
        (KnownOrder.RELEVANCE_REVERSED, lambda d: d[::-1]),
        (KnownOrder.REVERSED, lambda d: arrange(d).documents[::-1]),
        (KnownOrder.ARRANGED_TWICE, lambda d: arrange(arrange(d).documents).documents),
    ],
)
def test_known_orders_are_named(count: int, scores: bool, order: KnownOrder, of_ranked) -> None:
    documents = ranked(count, scores=scores)
    prompt = prompt_of(of_ranked(documents))
    for report in (
        audit(prompt, arrange(documents).documents),
        audit(prompt, documents, expected="arranged"),
        audit(prompt, documents, expected=arrange(documents).documents),
    ):
        assert report.order is order
        assert [s.document for n in report.actual for s in [report.sightings[n - 1]]] == of_ranked(documents)
        ranks = {s.document.id: s.rank for s in report.sightings}
        assert [ranks[document.id] for document in documents] == list(range(1, count + 1))


def test_the_orders_of_other_frameworks_are_named() -> None:
    scored, plain = ranked(6, scores=True), ranked(6, scores=False)
    langchain = [plain[rank - 1] for rank in orders.langchain([None] * 6)]
    llamaindex = [plain[rank - 1] for rank in orders.llamaindex([None] * 6)]
    assert audit(prompt_of(langchain), plain, expected="arranged").order is KnownOrder.REVERSED  # the same for six
    odd = ranked(7, scores=False)
    assert audit(prompt_of([odd[r - 1] for r in orders.langchain([None] * 7)]), odd, expected="arranged").holds
    report = audit(prompt_of(llamaindex), plain, expected="arranged")
    assert report.order is KnownOrder.LLAMAINDEX
    assert "LlamaIndex" in report.culprit
    mixed = [scored[i] for i in (3, 0, 5, 1, 4, 2)]  # listed in another order than the scores say
    by_score = [mixed[r - 1] for r in orders.llamaindex([d.score for d in mixed])]
    assert audit(prompt_of(by_score), mixed, expected="arranged").order is KnownOrder.LLAMAINDEX


def test_langchain_is_told_apart_where_it_differs() -> None:
    documents = ranked(6, scores=False)
    # As given, the documents are in no arrangement, so that LangChain's order of them is not the intended one reversed.
    report = audit(prompt_of(documents), documents, expected=documents)
    assert report.holds
    reordered = [documents[rank - 1] for rank in orders.langchain([None] * 6)]
    report = audit(prompt_of(reordered), documents, expected=documents)
    assert report.order is KnownOrder.LANGCHAIN
    assert "LongContextReorder" in report.culprit


def test_scores_are_told_from_relevance() -> None:
    documents = [
        Document(content=text, score=score) for text, score in zip(PROSE, (0.2, 0.9, 0.4, 0.8, 0.1), strict=False)
    ]
    by_score = sorted(documents, key=lambda d: d.score, reverse=True)
    assert audit(prompt_of(by_score), documents).order is KnownOrder.SCORE
    assert audit(prompt_of(by_score[::-1]), documents).order is KnownOrder.SCORE_ASCENDING


@pytest.mark.parametrize("direction", ["ascending", "descending"])
def test_a_field_the_documents_are_sorted_by_is_named(direction: str) -> None:
    days = ["2024-03-05", "2021-01-01", "2023-07-30", "2022-02-02", "2020-12-24", "2025-01-01"]
    documents = [Document(content=text, meta={"date": day}) for text, day in zip(PROSE, days, strict=False)]
    found = sorted(documents, key=lambda d: d.meta["date"], reverse=direction == "descending")
    report = audit(prompt_of(found), documents)
    assert report.order is KnownOrder.SORTED
    assert report.comparisons[-1].field == f"meta.date, {direction}"
    assert f"meta.date, {direction}" in report.culprit


def test_no_known_order_says_where_it_departs_and_what_is_near() -> None:
    documents = ranked(10, scores=True)
    arranged = arrange(documents).documents
    swapped = [*arranged[:4], arranged[5], arranged[4], *arranged[6:]]
    report = audit(prompt_of(swapped), arranged)
    assert report.order is KnownOrder.NONE
    assert report.first_departure == 5
    assert report.tau == pytest.approx(1 - 4 / 90, abs=1e-4)
    assert "position 5" in report.culprit
    assert "intended order" in report.culprit


def test_documents_that_are_there_may_be_arranged_among_themselves() -> None:
    documents = ranked(10, scores=False)
    report = audit(prompt_of(arrange(documents[1:]).documents), documents, expected="arranged")
    assert report.order is KnownOrder.REARRANGED
    assert report.numbers(Status.MISSING) == (1,)
    assert not report.holds


def test_equal_texts_are_interchangeable() -> None:
    texts = ["same text here", "other text there", "same text here", "a third text", "same text here"]
    documents = [Document(id=str(n), content=text) for n, text in enumerate(texts)]
    assert audit("\n".join(texts), documents).holds
    report = audit("\n".join(texts[::-1]), documents)
    assert report.order is KnownOrder.REVERSED
    assert report.tau == pytest.approx(report.comparisons[0].tau)
    fewer = audit("\n".join(texts[:3]), documents)
    assert fewer.numbers(Status.MISSING) == (4, 5)
    assert fewer.order is KnownOrder.INTENDED
    more = audit("\n".join([*texts, texts[0]]), documents)
    assert more.numbers(Status.REPEATED) == (5,)


@pytest.mark.parametrize("expected", ["sorted", "", Expected])
def test_an_unknown_expectation_is_refused(expected: object) -> None:
    with pytest.raises(PromptError):
        audit("x", [], expected=expected)  # type: ignore[arg-type] # the point of the test


def test_an_expected_document_must_be_given() -> None:
    with pytest.raises(PromptError, match="Expected document 2"):
        audit("x", [Document(content="a")], expected=[Document(content="a"), Document(content="b")])


@settings(max_examples=150)
@given(
    prompt=st.one_of(
        st.text(max_size=200),
        st.lists(st.text(max_size=60).map(ChatMessage.from_user), max_size=4),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=30),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["role", "content", "text", "parts", "type", "message", "x.content"]),
                    inner,
                    max_size=3,
                )
            ),
            max_leaves=12,
        ),
    ),
    documents=document_lists(),
    seed=st.integers(0, 10),
)
def test_any_prompt_is_audited_or_refused(prompt: object, documents: list[Document], seed: int) -> None:
    if isinstance(prompt, str) and documents and seed % 2:
        pieces = [document.content or "" for document in documents]
        random.Random(seed).shuffle(pieces)
        prompt = prompt.join(piece[seed:] for piece in pieces)
    try:
        report = audit(prompt, documents)  # type: ignore[arg-type] # the point of the test
    except PromptError:
        return
    assert len(report.sightings) == len(documents)
    assert len(report.actual) == len(set(report.actual)) <= len(report.intended)
    spans = sorted((span.start, span.end) for s in report.sightings for span in s.spans)
    assert all(0 <= start < end <= report.characters for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert 0 <= report.document_share <= 1
    assert report.document_words <= report.words + 2 * len(spans)
    report.to_dict()
