"""The stages there are: one entry for each, with its component, its parameters and how to tell whether it can run.

No entry imports its component: it names it, and :mod:`lim.stages.build` imports it when the stage is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from lim.errors import SettingError
from lim.prompt import DEFAULT_TEMPLATE
from lim.stages.config import Configuration
from lim.stages.model import Kind, Parameter, Slot, Stage

MODEL_DOCUMENTS = 500
"""The most documents a stage with a model is given: a small cross-encoder on one core reads about 30 a second."""

SENTENCE_TRANSFORMERS = ("torch", "sentence-transformers-haystack==2.0.0", "sentence-transformers<7")
HUGGINGFACE_API = ("huggingface-api-haystack==3.1.0",)

SORTING_TEMPLATE = DEFAULT_TEMPLATE.replace(
    "for document in documents %}", "for document in documents|sort(attribute='score', reverse=true) %}"
)
"""The default template, but sorting the documents by score again: what the arrangement did is undone in the prompt."""


def _integer(name: str, default: int | None, help: str, low: int = 1, high: int = 10_000) -> Parameter:  # noqa: A002 # Parameter's own name
    return Parameter(name, Kind.INTEGER, default, help, low, high, optional=default is None)


def _text(name: str, default: str, help: str) -> Parameter:  # noqa: A002 # Parameter's own name
    return Parameter(name, Kind.TEXT, default, help)


def _switch(name: str, default: bool, help: str) -> Parameter:  # noqa: A002 # Parameter's own name
    return Parameter(name, Kind.SWITCH, default, help)


_TOP_K = _integer("top_k", 10, "The most documents it returns.")
_ANY_TOP_K = _integer("top_k", None, "The most documents it returns; None for all.")
_EMBEDDED = (
    _text("query_prefix", "", "Put before the query, as some models ask for."),
    _text("query_suffix", "", "Put after the query."),
    _text("document_prefix", "", "Put before each document."),
    _text("document_suffix", "", "Put after each document."),
    Parameter("meta_fields_to_embed", Kind.META_FIELDS, (), "Meta fields put before each document's text."),
    _text("embedding_separator", "\n", "Put between these fields and the text."),
)
_LIMITS = (
    _integer(
        "word_count_threshold", None, "Words at which it stops; the document that reaches them stays.", high=10**9
    ),
    _ANY_TOP_K,
)
_RANKED = (Slot.RANK, Slot.AFTER)

_ENTRIES = (
    Stage(
        "given",
        "List as given",
        (Slot.RETRIEVE,),
        "The documents in the order they were loaded.",
        None,
    ),
    Stage(
        "other",
        "Second list as given",
        (Slot.RETRIEVE,),
        "Another loaded list, for the joiner.",
        None,
    ),
    Stage(
        "bm25",
        "InMemoryBM25Retriever",
        (Slot.RETRIEVE,),
        "Scores the documents by the words they share with the query; those that share none are left out.",
        "haystack.components.retrievers.in_memory.InMemoryBM25Retriever",
        (
            _TOP_K,
            _switch("scale_score", False, "Bring the scores between 0 and 1."),  # noqa: FBT003 # Haystack's default
        ),
        needs_query=True,
    ),
    Stage(
        "document_joiner",
        "DocumentJoiner",
        (Slot.JOIN, Slot.AFTER),
        "Makes one list of two; after the arrangement it sorts by score and so undoes it.",
        "haystack.components.joiners.DocumentJoiner",
        (
            Parameter(
                "join_mode",
                Kind.CHOICE,
                "concatenate",
                "concatenate: the better-scored copy; merge: the weighted sum of scores; or fusion by rank or by the "
                "distribution of the scores.",
                choices=("concatenate", "merge", "reciprocal_rank_fusion", "distribution_based_rank_fusion"),
            ),
            Parameter(
                "weights",
                Kind.WEIGHTS,
                None,
                "How much each list counts, in merge and reciprocal_rank_fusion.",
                optional=True,
            ),
            _ANY_TOP_K,
            _switch("sort_by_score", True, "Sort the result by score; documents without one go last."),  # noqa: FBT003 # Haystack's default
        ),
    ),
    Stage(
        "meta_field",
        "MetaFieldRanker",
        _RANKED,
        "Ranks by a value in the meta, alone or mixed with the order it gets.",
        "haystack.components.rankers.MetaFieldRanker",
        (
            Parameter("meta_field", Kind.META_FIELD, None, "The meta field to rank by."),
            Parameter("weight", Kind.NUMBER, 1.0, "0: the order as it was; 1: the meta field alone.", 0, 1),
            _ANY_TOP_K,
            Parameter(
                "ranking_mode",
                Kind.CHOICE,
                "reciprocal_rank_fusion",
                "How the two orders are mixed; linear_score needs scores between 0 and 1.",
                choices=("reciprocal_rank_fusion", "linear_score"),
            ),
            Parameter(
                "sort_order",
                Kind.CHOICE,
                "descending",
                "Which values come first.",
                choices=("descending", "ascending"),
            ),
            Parameter(
                "missing_meta",
                Kind.CHOICE,
                "bottom",
                "Where documents without a value go.",
                choices=("bottom", "top", "drop"),
            ),
            Parameter(
                "meta_value_type",
                Kind.CHOICE,
                None,
                "What values that are all text are read as; None: compared as they are.",
                choices=("float", "int", "date"),
                optional=True,
            ),
        ),
        remedy="Choose another meta_field, or another meta_value_type.",
    ),
    Stage(
        "meta_field_grouping",
        "MetaFieldGroupingRanker",
        _RANKED,
        "Puts documents with the same meta value side by side.",
        "haystack.components.rankers.MetaFieldGroupingRanker",
        (
            Parameter("group_by", Kind.META_FIELD, None, "The meta field whose values make the groups."),
            Parameter(
                "subgroup_by", Kind.META_FIELD, None, "A second field, within the groups; None for none.", optional=True
            ),
            Parameter(
                "sort_docs_by", Kind.META_FIELD, None, "A field to sort each group by; None for none.", optional=True
            ),
        ),
        remedy="Choose other meta fields.",
    ),
    Stage(
        "similarity",
        "SentenceTransformersSimilarityRanker",
        _RANKED,
        "A cross-encoder reads the query with each document and ranks by what it finds.",
        "haystack_integrations.components.rankers.sentence_transformers.SentenceTransformersSimilarityRanker",
        (
            Parameter("model", Kind.MODEL, None, "The cross-encoder."),
            _TOP_K,
            _switch("scale_score", True, "Bring the scores between 0 and 1 (the sigmoid)."),  # noqa: FBT003 # Haystack's default
            Parameter("score_threshold", Kind.NUMBER, None, "Documents below it are left out.", optional=True),
            *_EMBEDDED,
            _integer("batch_size", 16, "Documents read at once.", high=256),
        ),
        requires=SENTENCE_TRANSFORMERS,
        needs="LIM_CROSS_ENCODER",
        needs_query=True,
        model="_cross_encoder",
        max_documents=MODEL_DOCUMENTS,
        remedy="Check that LIM_CROSS_ENCODER names a cross-encoder that this server can load.",
    ),
    Stage(
        "diversity",
        "SentenceTransformersDiversityRanker",
        _RANKED,
        "Puts documents that say something else first: greedily, or by maximum margin relevance (MMR).",
        "haystack_integrations.components.rankers.sentence_transformers.SentenceTransformersDiversityRanker",
        (
            Parameter("model", Kind.MODEL, None, "The embedding model."),
            _TOP_K,
            Parameter(
                "strategy",
                Kind.CHOICE,
                "greedy_diversity_order",
                "Greedy: the least like those before it. MMR: relevance and difference mixed by lambda_threshold.",
                choices=("greedy_diversity_order", "maximum_margin_relevance"),
            ),
            Parameter("lambda_threshold", Kind.NUMBER, 0.5, "For MMR. 0: difference alone; 1: relevance alone.", 0, 1),
            Parameter(
                "similarity",
                Kind.CHOICE,
                "cosine",
                "How two embeddings are compared.",
                choices=("cosine", "dot_product"),
            ),
            *_EMBEDDED,
        ),
        requires=SENTENCE_TRANSFORMERS,
        needs="LIM_EMBEDDER",
        needs_query=True,
        model="model",
        max_documents=MODEL_DOCUMENTS,
        remedy="Check that LIM_EMBEDDER names an embedding model that this server can load.",
    ),
    Stage(
        "tei",
        "HuggingFaceTEIRanker",
        _RANKED,
        "A reranking server (Text Embeddings Inference) scores each document against the query.",
        "haystack_integrations.components.rankers.huggingface_api.HuggingFaceTEIRanker",
        (
            _TOP_K,
            _switch("raw_scores", False, "The model's own scores, not brought between 0 and 1."),  # noqa: FBT003 # Haystack's default
        ),
        requires=HUGGINGFACE_API,
        needs="LIM_TEI_URL",
        needs_query=True,
        max_documents=MODEL_DOCUMENTS,
        remedy="Check that the server of LIM_TEI_URL runs a reranking model and takes this many texts at once.",
    ),
    Stage(
        "llm",
        "LLMRanker",
        _RANKED,
        "A chat model is shown all documents and asked for their order; those it does not name are left out.",
        "haystack.components.rankers.LLMRanker",
        (
            Parameter("model", Kind.MODEL, None, "The chat model."),
            _TOP_K,
            _switch("raise_on_failure", False, "Fail, rather than return the input, on an answer of no use."),  # noqa: FBT003 # Haystack's default
        ),
        needs="LIM_CHAT_MODEL",
        needs_query=True,
        max_documents=MODEL_DOCUMENTS,
        remedy="Check LIM_CHAT_MODEL, LIM_CHAT_URL and LIM_CHAT_TOKEN.",
    ),
    Stage(
        "lost_in_the_middle",
        "LostInTheMiddleRanker",
        (Slot.ARRANGE, Slot.AFTER),
        "Lays the documents out with the best at both ends and the weakest in the middle.",
        "haystack.components.rankers.LostInTheMiddleRanker",
        _LIMITS,
        max_documents=100_000,
    ),
    Stage(
        "sorting_template",
        "Sorting template",
        (Slot.AFTER,),
        "A prompt template that sorts the documents by score, and so undoes the arrangement.",
        None,
    ),
    Stage(
        "prompt_builder",
        "PromptBuilder",
        (Slot.PROMPT,),
        "Writes the documents into a prompt, in their order.",
        "haystack.components.builders.PromptBuilder",
        (_text("template", DEFAULT_TEMPLATE, "Jinja over documents, query and question."),),
        remedy="Correct the template.",
    ),
    Stage(
        "chat_prompt_builder",
        "ChatPromptBuilder",
        (Slot.PROMPT,),
        "Writes the documents into a chat's messages, in their order.",
        "haystack.components.builders.ChatPromptBuilder",
        (
            _text("template", DEFAULT_TEMPLATE, "The user's message: Jinja over documents, query and question."),
            _text("system", "", "The system message before it, a template too; blank for none."),
        ),
        remedy="Correct the template.",
    ),
    Stage(
        "chat_generator",
        "OpenAIChatGenerator",
        (Slot.GENERATE,),
        "A chat model answers the prompt.",
        "haystack.components.generators.chat.OpenAIChatGenerator",
        (Parameter("model", Kind.MODEL, None, "The chat model."),),
        needs="LIM_CHAT_MODEL",
        remedy="Check LIM_CHAT_MODEL, LIM_CHAT_URL and LIM_CHAT_TOKEN.",
    ),
)

STAGES: Mapping[str, Stage] = {entry.key: entry for entry in _ENTRIES}
"""Every stage by its key, in the order they are offered."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a stage can run on this server.

    :param ok: whether it can.
    :param remedy: if not, one line that says what to install or set.
    """

    ok: bool
    remedy: str | None = None


def stages_for(slot: Slot) -> tuple[Stage, ...]:
    """List the stages that may stand in a place.

    :param slot: the place.
    :returns: the stages, in the order they are offered.
    """
    return tuple(stage for stage in _ENTRIES if slot in stage.slots)


def availability(key: str, config: Configuration) -> Availability:
    """Tell whether a stage can run here, without importing anything that needs a model library.

    :param key: the stage's key.
    :param config: what the server offers.
    :returns: yes, or what to install or set.
    :raises SettingError: if there is no such stage.
    """
    stage = stage_of(key)
    if stage.requires and not (stage.path and _installed(stage.path.rpartition(".")[0])):
        needed = " ".join(f'"{each}"' if {"<", "="} & set(each) else each for each in stage.requires)
        unset = f", set {stage.needs}" if stage.needs and not config.offered(stage.needs) else ""
        return Availability(ok=False, remedy=f"On the server: pip install {needed}{unset}, then restart it")
    remedy = config.remedy(stage.needs) if stage.needs else None
    return Availability(ok=remedy is None, remedy=remedy and f"{remedy}, then restart it")


def stage_of(key: str) -> Stage:
    """Find a stage.

    :param key: its key.
    :returns: the stage.
    :raises SettingError: if there is none.
    """
    if key not in STAGES:
        raise SettingError(f"There is no stage {key!r}. Choose one of {', '.join(STAGES)}.")
    return STAGES[key]


def _installed(module: str) -> bool:
    """Look for a module and for what it stands on; only namespace packages above it are imported."""
    try:
        found = find_spec(module) is not None
        return found and ("sentence_transformers" not in module or find_spec("sentence_transformers") is not None)
    except (ImportError, ValueError):
        return False
