"""Every kind of finding, and none for a clean list."""

import pytest
from haystack import Document
from ranked_lists import of_words

from lim import arrange
from lim.checks import Kind, check, check_limits

TRUST = "The ranker does not sort: it takes this order for relevance and puts its end in the middle of the prompt."


def scored(*scores):
    return arrange([Document(id=f"d{rank}", content="some words", score=score) for rank, score in enumerate(scores)])


def found(arrangement, distances=None):
    return [(finding.kind, finding.ranks, finding.message) for finding in check(arrangement, distances)]


@pytest.mark.parametrize(
    "scores",
    [(), (0.5,), (None, None, None), (0.9, 0.8, 0.7), (3, 0, -0.5, -7.25), (1, 1, 1), (0.9, None, 0.5), (None, 0.1)],
)
def test_a_clean_list_has_no_finding(scores):
    assert check(scored(*scores)) == ()


def test_scores_that_do_not_descend():
    assert found(scored(0.9, 0.4, 0.8, 0.7)) == [
        (
            Kind.UNSORTED,
            (3,),
            f"The scores are not in descending order: rank 3 (0.8) is higher than rank 2 (0.4). {TRUST}",
        )
    ]
    ((kind, ranks, message),) = found(scored(0.9, 0.4, None, 0.8, 0.1, 0.2))
    assert (kind, ranks) == (Kind.UNSORTED, (4, 6))
    assert "rank 4 (0.8) is higher than rank 2 (0.4), and so in 1 more place." in message
    ((_, _, message),) = found(scored(0.9, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2))
    assert "and so in 2 more places." in message


def test_zero_is_a_score_and_not_a_missing_one():
    ((kind, ranks, message),) = found(scored(-1.0, 0.0, -2.0))
    assert (kind, ranks) == (Kind.UNSORTED, (2,))
    assert "rank 2 (0) is higher than rank 1 (-1)" in message


def test_scores_that_only_rise_look_like_distances():
    ((kind, ranks, message),) = found(scored(0.12, 0.2, 0.2, 0.55))
    assert (kind, ranks) == (Kind.DISTANCES, (2, 4))
    assert message.startswith("The scores rise from 0.12 to 0.55 down the list: they look like distances")
    assert [kind for kind, _, _ in found(scored(0.1, 0.2))] == [Kind.UNSORTED]  # one rise alone says too little


def test_distances_are_held_to_their_own_order():
    arrangement = scored(None, None, None)
    assert check(arrangement, [0.1, None, 0.3]) == ()
    assert found(arrangement, [0.1, 0.5, 0.3]) == [
        (
            Kind.UNSORTED,
            (3,),
            f"The distances are not in ascending order: rank 3 (0.3) is nearer than rank 2 (0.5). {TRUST}",
        )
    ]


def test_one_id_over_different_texts():
    documents = [Document(id=name, content=text) for name, text in [("a", "x"), ("b", "y"), ("a", "z"), ("b", "y")]]
    ((kind, ranks, message),) = found(arrange(documents))
    assert (kind, ranks) == (Kind.IDS, (1, 3))  # the copies of b are the same text: nothing is lost
    assert message.startswith("The id 'a' stands over different texts (ranks 1, 3). The ranker takes them for dup")
    ((_, ranks, message),) = found(arrange([*documents, Document(id="b", content="other")]))
    assert ranks == (1, 2, 3, 4, 5)
    assert "(ranks 1, 3), and so does 1 more id. " in message
    documents += [Document(id="b", content="other"), Document(id="c", content="c"), Document(id="c", content="d")]
    assert "(ranks 1, 3), and so do 2 more ids. " in found(arrange(documents))[0][2]


def test_texts_whose_words_say_little():
    chinese = "绿茶的叶子采摘后很快被蒸或炒，这样可以阻止氧化并保持叶子的绿色。"
    documents = [Document(content="plain words here"), Document(content=chinese), Document(content="")]
    ((kind, ranks, message),) = found(arrange(documents))
    assert (kind, ranks) == (Kind.UNSPLITTABLE, (2,))
    assert message.startswith(
        f"For 1 of 3 documents (rank 2) the word count says little: {len(chinese)} characters count as 1 word, because"
    )
    many = arrange([Document(id=str(n), content=chinese) for n in range(9)])
    assert "For 9 of 9 documents (rank 1, 2, 3, 4, 5, 6 …)" in found(many)[0][2]


def test_several_findings_stand_most_serious_first():
    documents = [
        Document(id="a", content="x" * 50, score=0.1),
        Document(id="a", content="y", score=0.9),
        Document(id="b", content="z", score=0.2),
    ]
    assert [finding.kind for finding in check(arrange(documents))] == [Kind.UNSORTED, Kind.IDS, Kind.UNSPLITTABLE]


@pytest.mark.parametrize(
    ("words", "threshold", "top_k", "exceeds"),
    [
        ([40, 10], 40, None, True),
        ([40, 10], 39, None, True),
        ([40, 10], 41, None, False),
        ([40, 10], None, None, False),
        ([40], 5, None, False),  # a list of one ignores the threshold
        ([40, 10], 5, 1, False),
        ([], 5, None, False),
    ],
)
def test_a_first_document_that_fills_the_budget(words, threshold, top_k, exceeds):
    findings = check_limits(arrange(of_words(words), threshold, top_k))
    assert [(finding.kind, finding.ranks) for finding in findings] == [(Kind.FIRST_EXCEEDS, (1,))] * exceeds
    for finding in findings:
        assert finding.message == (
            f"The first document alone has 40 words, at least the threshold of {threshold}: the prompt holds nothing "
            f"else."
        )


def test_the_first_document_is_the_copy_that_was_kept():
    documents = [
        Document(id="a", content="low " * 9, score=0.1),
        Document(id="b", content="b"),
        Document(id="a", content="high " * 9, score=0.9),
    ]
    (finding,) = check_limits(arrange(documents, 5))
    assert finding.ranks == (3,)
