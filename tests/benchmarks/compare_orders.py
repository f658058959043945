"""The closed forms of `lim.orders` against the packages themselves, for 0 to 50 documents.

    pip install langchain-community llama-index-core
    python tests/benchmarks/compare_orders.py

Haystack's ranker is always compared, the other two where they are installed; what is left out is said. The scores are
falling, rising, shuffled, equal, missing and mixed with negative ones. Ends with status 1 if an order differs, 2 if no
package but Haystack was compared.
"""

from __future__ import annotations

import importlib.metadata
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
sys.path.insert(0, str(Path(__file__).parents[2]))

from lim import orders

MOST = 50

Scores = list[float | None]


def haystack() -> Callable[[Scores], list[int]]:
    """Return the order of the installed Haystack's ranker."""
    from haystack import Document
    from haystack.components.rankers import LostInTheMiddleRanker

    def run(scores: Scores) -> list[int]:
        documents = [Document(id=str(rank), content="x", score=score) for rank, score in enumerate(scores, 1)]
        return [int(document.id) for document in LostInTheMiddleRanker().run(documents=documents)["documents"]]

    return run


def langchain() -> Callable[[Scores], list[int]]:
    """Return the order of the installed LangChain's transformer."""
    from langchain_community.document_transformers import LongContextReorder
    from langchain_core.documents import Document

    def run(scores: Scores) -> list[int]:
        documents = [Document(page_content=str(rank)) for rank, _ in enumerate(scores, 1)]
        return [int(document.page_content) for document in LongContextReorder().transform_documents(documents)]

    return run


def llamaindex() -> Callable[[Scores], list[int]]:
    """Return the order of the installed LlamaIndex's postprocessor."""
    from llama_index.core.postprocessor import LongContextReorder
    from llama_index.core.schema import NodeWithScore, TextNode

    def run(scores: Scores) -> list[int]:
        nodes = [NodeWithScore(node=TextNode(text=str(rank)), score=score) for rank, score in enumerate(scores, 1)]
        return [int(node.node.get_content()) for node in LongContextReorder().postprocess_nodes(nodes)]

    return run


PACKAGES = {
    "haystack": ("haystack-ai", haystack),
    "langchain": ("langchain-community", langchain),
    "llamaindex": ("llama-index-core", llamaindex),
}


def lists_of_scores() -> Iterator[Scores]:
    """Build lists of 0 to 50 scores of every kind that changes an order."""
    generator = random.Random(0)
    for count in range(MOST + 1):
        falling: Scores = [count - place for place in range(count)]
        yield falling
        yield falling[::-1]
        yield generator.sample(falling, count)
        yield [0.5] * count
        yield [None] * count
        yield [generator.choice([None, -1.0, 0.0, 0.5, 0.5, 2.0]) for _ in range(count)]


def main() -> int:
    """Compare, print what was compared, and return the status."""
    compared, differing = 0, 0
    for order in orders.ORDERS:
        if order.key not in PACKAGES:
            continue
        package, load = PACKAGES[order.key]
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            print(f"{order.name}: NOT compared, {package} is not installed (pip install {package})")
            continue
        run = load()
        lists = list(lists_of_scores())
        wrong = [scores for scores in lists if run(scores) != order.ranks(scores)]
        compared += 1
        differing += bool(wrong)
        print(f"{order.name}: {len(lists) - len(wrong)} of {len(lists)} lists alike, {package} {version}")
        for scores in wrong[:3]:
            print(f"  {scores}\n    package {run(scores)}\n    ours    {order.ranks(scores)}")
    print(f"Not compared by this script: {', '.join(uncompared())}")
    if differing:
        return 1
    return 0 if compared > 1 else 2


def uncompared() -> list[str]:
    """List the orders of systems that this script cannot run."""
    return [order.name for order in orders.ORDERS if order.package and order.key not in PACKAGES]


if __name__ == "__main__":
    sys.exit(main())
