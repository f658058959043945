"""What the tests of the exports take home: a list as a person sees it."""

from pathlib import Path

from haystack import Document

from lim import arrange, load, measure
from lim.checks import check
from lim.export import Shown
from lim.loading import RankedList

SAMPLES = Path(__file__).parents[2] / "sample_data"


def shown(documents, threshold=None, top_k=None, **fields) -> Shown:
    ranked = RankedList(**{"name": "documents", "documents": tuple(documents), **fields})
    return seen(ranked, threshold, top_k)


def sample(file: str, threshold=None, top_k=None) -> Shown:
    loaded = load((SAMPLES / file).read_bytes(), file)
    return seen(loaded.lists[loaded.default], threshold, top_k)


def seen(ranked: RankedList, threshold=None, top_k=None) -> Shown:
    unlimited = arrange(ranked.documents)
    tokens = measure.tokens([document.content or "" for document in ranked.documents])
    findings = check(unlimited, ranked.distances)
    return Shown(ranked, unlimited.limited(threshold, top_k), None if tokens is None else tuple(tokens), findings)


WORDS = ("zqcontent", "zqtitle", "zqauthor", "zqmeta", "zqid", "zqquery", "zqname", "zqscore", "zqpath", "zqsource")
"""Every word a person wrote in `secret`; none is a part of another or of anything of ours."""


def secret() -> Shown:
    """Make a list of which every part is a word of its own, with an id over two texts, which a finding quotes."""
    documents = [
        Document(
            id=f"zqid{min(number, 4)}",
            content=f"zqcontent{number} " * number,
            meta={"title": f"zqtitle{number}", "author": "zqauthor", "zqmeta": number},
            score=1 / number,
        )
        for number in range(1, 6)
    ]
    return shown(
        documents,
        5,
        4,
        name="zqname",
        query="zqquery?",
        score_name="zqscore",
        path="zqpath",
        sources=tuple(f"zqsource[{number}]" for number in range(5)),
    )
