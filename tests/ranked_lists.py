"""Ranked lists for the tests: hypothesis strategies, and a plain retelling of the ranker to compare with."""

from collections.abc import Iterable, Sequence
from math import inf

from haystack import Document
from hypothesis import strategies as st

from lim import Fate, Placement

WHITESPACE = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())
LOOKS_LIKE_WHITESPACE = "\u200b\u2060\ufeff\u180e\x00\u00ad"  # divides no words

any_text = st.text(alphabet=st.characters(codec=None))  # lone surrogates included
spaced_text = st.text(alphabet=st.sampled_from(WHITESPACE + LOOKS_LIKE_WHITESPACE + "aé水ก🙂"), max_size=30)
encodable_text = st.one_of(
    st.just(""), st.integers(0, 40).map(lambda count: "word " * count), spaced_text, st.text(max_size=30)
)
scores = st.one_of(st.none(), st.sampled_from([0, 0.0, -0.0, 1, 0.5, -0.5, -3.0, inf, -inf]), st.floats())

# Few ids, so that many documents share one. Without an id Haystack hashes the text, and lone surrogates have no hash.
documents = st.one_of(
    st.builds(Document, id=st.sampled_from("abcdef"), content=st.one_of(encodable_text, any_text), score=scores),
    st.builds(Document, content=encodable_text, score=scores, meta=st.sampled_from([{}, {}, {"source": "b.txt"}])),
)


@st.composite
def ranked_lists(draw: st.DrawFn, max_size: int = 30) -> list[Document]:
    """Draw a ranked list: any texts, copies by id, and now and then the same object several times."""
    pool = draw(st.lists(documents, max_size=max_size))
    if not pool or draw(st.booleans()):
        return pool
    return draw(st.lists(st.sampled_from(pool), max_size=max_size))


thresholds = st.one_of(st.none(), st.integers(1, 30), st.integers(1, 1200), st.just(10**12))
top_ks = st.one_of(st.none(), st.integers(1, 40))


def same_objects(left: Sequence[Document], right: Sequence[Document]) -> bool:
    """Compare two whole lists by identity: an equal copy of a document is not the document."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


def of_words(counts: Iterable[int]) -> list[Document]:
    """Build one document for each count, of that many words, all different."""
    return [Document(id=f"d{rank}", content="word " * count) for rank, count in enumerate(counts, 1)]


def retell(documents: Sequence[Document], threshold: int | None, top_k: int | None) -> list[Placement]:
    """Say where each document goes, slowly and one rule at a time."""
    copies: dict[str, list[int]] = {}
    for rank, document in enumerate(documents, 1):
        copies.setdefault(document.id, []).append(rank)

    def score(rank: int) -> float:
        given = documents[rank - 1].score
        return -inf if given is None else given

    survivors = [max(ranks, key=score) for ranks in copies.values()]  # of equal scores `max` takes the first

    fates: dict[int, Fate] = {}
    kept: list[int] = []
    total = 0
    for slot, rank in enumerate(survivors, 1):
        words = len(str(documents[rank - 1].content).split())
        before, total = total, total + words
        if top_k is not None and slot > top_k:
            fates[rank] = Fate.OVER_TOP_K
        elif threshold is not None and before >= threshold:
            fates[rank] = Fate.OVER_THRESHOLD
        else:
            kept.append(rank)
            fates[rank] = Fate.CROSSES if threshold is not None and total >= threshold else Fate.KEPT

    output = [*kept[0::2], *reversed(kept[1::2])]
    placements = []
    for rank, document in enumerate(documents, 1):
        words = len(str(document.content).split())
        if rank in survivors:
            slot = survivors.index(rank) + 1
            cumulative = sum(len(str(documents[earlier - 1].content).split()) for earlier in survivors[:slot])
            position = output.index(rank) + 1 if rank in output else None
            placements.append(Placement(rank, slot, position, words, cumulative, fates[rank], None, document))
        else:
            survivor = next(other for other in survivors if documents[other - 1].id == document.id)
            placements.append(Placement(rank, None, None, words, None, Fate.DUPLICATE, survivor, document))
    return placements
