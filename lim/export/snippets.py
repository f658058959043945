"""The same arrangement as code: Python, a pipeline as YAML."""

from __future__ import annotations

from collections.abc import Sequence

from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.rankers import LostInTheMiddleRanker

from lim.plain import constructor
from lim.prompt import DEFAULT_TEMPLATE
from lim.ranker import check_limit

MAX_SNIPPET_DOCUMENTS = 12
MAX_SNIPPET_CHARACTERS = 6_000
"""Documents, and characters of them together, that a script still holds; with more it loads the downloaded result."""

RESULT_FILE = "arrangement.json"
"""The name under which the Lab hands out the result, and under which the script looks for it."""

_EXAMPLES = (
    "The most relevant document.",
    "The second most relevant document.",
    "The third most relevant document.",
    "The fourth most relevant document.",
    "The least relevant document.",
)


def python_snippet(
    word_count_threshold: int | None, top_k: int | None, documents: Sequence[Document] | None = None
) -> str:
    """Write a script that does the same with Haystack's own ranker, needing `haystack-ai` only.

    :param word_count_threshold: words at which the ranker stops, at least 1; None for no limit.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :param documents: the documents, most relevant first; None for five examples to replace. Up to
        `MAX_SNIPPET_DOCUMENTS` short ones stand in the script; for more it reads the Lab's result, `RESULT_FILE`.
    :returns: a complete script.
    :raises SettingError: if a limit is not None or a whole number of at least 1.
    """
    limits = {
        "word_count_threshold": check_limit("word_count_threshold", word_count_threshold),
        "top_k": check_limit("top_k", top_k),
    }
    arguments = ", ".join(f"{name}={limit}" for name, limit in limits.items() if limit is not None)
    written = None if documents is None else [constructor(document) for document in documents]
    if written is None:
        examples = "".join(f'    Document(content="{text}"),\n' for text in _EXAMPLES)
        imports = ""
        given = (
            "# Put your retriever's documents here, most relevant first: the ranker trusts this order.\n"
            f"documents = [\n{examples}]"
        )
    elif len(written) <= MAX_SNIPPET_DOCUMENTS and sum(map(len, written)) <= MAX_SNIPPET_CHARACTERS:
        imports = ""
        given = "# Most relevant first: the ranker trusts this order.\ndocuments = [\n"
        given += "".join(f"    {line},\n" for line in written) + "]"
    else:
        imports = "import json\nfrom pathlib import Path\n\n"
        given = f"""\
# The {len(written):,} documents of the Lab: download "Result (JSON)" with full texts and put it beside this script.
result = json.loads(Path("{RESULT_FILE}").read_text(encoding="utf-8"))
documents = [
    Document(**{{name: record[name] for name in ("id", "content", "meta", "score")}}) for record in result["documents"]
]"""
    return f"""\
{imports}from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker

{given}

ranker = LostInTheMiddleRanker({arguments})
result = ranker.run(documents=documents)

# The best documents now stand at both ends, the weakest in the middle.
for position, document in enumerate(result["documents"], start=1):
    print(position, document.content)
"""


def pipeline_yaml(word_count_threshold: int | None, top_k: int | None) -> str:
    """Write a Haystack pipeline, ranker and prompt builder, as YAML for `Pipeline.loads`, needing `haystack-ai` only.

    :param word_count_threshold: words at which the ranker stops, at least 1; None for no limit.
    :param top_k: the largest number of documents, at least 1; None for no limit.
    :returns: what Haystack's `Pipeline.dumps` writes. Inputs: `documents` of `ranker`, `query` of `prompt_builder`.
    :raises SettingError: if a limit is not None or a whole number of at least 1.
    """
    ranker = LostInTheMiddleRanker(
        word_count_threshold=check_limit("word_count_threshold", word_count_threshold),
        top_k=check_limit("top_k", top_k),
    )
    pipeline = Pipeline()
    pipeline.add_component("ranker", ranker)
    pipeline.add_component("prompt_builder", PromptBuilder(DEFAULT_TEMPLATE))
    pipeline.connect("ranker.documents", "prompt_builder.documents")
    return pipeline.dumps()
