"""Every stage without a model, run for real and held against the component called directly and `Pipeline.run`."""

import copy
from itertools import product

import pytest
from haystack import Document
from haystack.components.builders import ChatPromptBuilder, PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker, MetaFieldGroupingRanker, MetaFieldRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from stage_cases import QUERY, alone, bare, documents, told

from lim import arrange
from lim.prompt import DEFAULT_TEMPLATE
from lim.stages import SORTING_TEMPLATE, Plan, Step, run

MODES = ("concatenate", "merge", "reciprocal_rank_fusion", "distribution_based_rank_fusion")


@pytest.mark.parametrize("settings", [{}, {"top_k": 3}, {"top_k": 50, "scale_score": True}])
def test_bm25_gives_what_the_retriever_gives(settings):
    given = documents()
    store = InMemoryDocumentStore(shared=False)
    store.write_documents(given)
    theirs = InMemoryBM25Retriever(store, **settings).run(query=QUERY)["documents"]
    trace = run(Plan(retrieve=Step("bm25", settings), arrange=None), given, QUERY)
    assert told(trace.stages[0].documents) == told(theirs)
    assert [trace.documents[number - 1].id for number in trace.stages[0].outputs] == [d.id for d in theirs]


def test_bm25_says_why_documents_are_missing():
    given = [*documents(), Document(id="d1", content="harbour"), Document(content="Entirely different."), Document()]
    run_ = run(Plan(retrieve=Step("bm25", {"top_k": 100}), arrange=None), given, "harbour").stages[0]
    assert len(run_.outputs) == sum("harbour" in (d.content or "") for d in documents())
    assert run_.notices == (
        "1 document shares an id with an earlier one: a document store holds one of each.",
        f"{13 - len(run_.outputs)} documents share no word with the query and are left out.",
    )


SOURCES = [("bm25", "given"), ("given", "bm25"), ("given", "other"), ("other", "given"), ("bm25", "other")]


@pytest.mark.parametrize(("first", "second"), SOURCES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weights", [None, (0.9, 0.1)])
def test_two_lists_are_joined_as_the_pipeline_joins_them(first, second, mode, weights):
    given, others = documents(), [*documents(20)[15:], *documents()[:4][::-1]]
    lists = {
        "given": given,
        "other": others,
        "bm25": run(Plan(retrieve=Step("bm25")), given, QUERY).stages[0].documents,
    }
    settings = {"join_mode": mode, "weights": weights, "sort_by_score": False}
    plan = Plan(retrieve=Step(first), second=Step(second), join=Step("document_joiner", settings))
    trace = run(plan, given, QUERY, others=others)
    ours = told(trace.stages[2].documents)
    assert ours == told(DocumentJoiner(**settings).run(documents=[lists[first], lists[second]])["documents"])
    assert ours == told(bare(plan, given, others=others)["joiner"]["documents"])
    assert trace.failure is None
    assert {trace.documents[number - 1].id for number in trace.stages[2].outputs} == {each for each, _ in ours}


def test_a_second_list_is_numbered_after_the_first_and_known_documents_keep_their_number():
    given, others = documents(3), [Document(id="new", content="n", score=0.99), documents()[1]]
    plan = Plan(second=Step("other"), join=Step("document_joiner"), arrange=None)
    trace = run(plan, given, QUERY, others=others)
    assert trace.stages[1].outputs == (4, 2)
    assert trace.stages[2].inputs == ((1, 2, 3), (4, 2))
    assert trace.stages[2].outputs == (4, 1, 2, 3)
    assert [document.id for document in trace.documents] == ["d1", "d2", "d3", "new"]


def test_a_joiner_says_when_scores_cannot_be_compared():
    plan = Plan(retrieve=Step("bm25"), second=Step("given"), join=Step("document_joiner"), arrange=None)
    notices = run(plan, [*documents(), Document(content="harbour")], QUERY).stages[2].notices
    assert notices[0] == "1 document has no score and goes to the end."
    assert "different scales" in notices[1]
    assert "Fusion by rank does not" in notices[1]


META = [
    {"meta_field": "year"},
    *(
        {"meta_field": "rating", "weight": w, "ranking_mode": m}
        for w, m in product((0.0, 0.3, 1.0), ("reciprocal_rank_fusion", "linear_score"))
    ),
    *(
        {"meta_field": "rating", "sort_order": o, "missing_meta": p}
        for o, p in product(("ascending", "descending"), ("top", "bottom", "drop"))
    ),
    {"meta_field": "date", "meta_value_type": "date", "top_k": 5},
    {"meta_field": "group", "meta_value_type": "int"},
    {"meta_field": "nothing"},
]


@pytest.mark.parametrize("settings", META, ids=str)
def test_meta_field_gives_what_the_ranker_gives(settings):
    given = documents()
    theirs = MetaFieldRanker(**settings).run(documents=given)["documents"]
    plan = alone(Step("meta_field", settings))
    trace = run(plan, given)
    assert told(trace.stages[1].documents) == told(theirs)
    assert told(bare(plan, given)["ranker"]["documents"]) == told(theirs)


@pytest.mark.parametrize(
    ("settings", "notice"),
    [
        ({"meta_field": "rating"}, "3 of 12 documents have no 'rating': they go last."),
        ({"meta_field": "rating", "missing_meta": "drop"}, "3 of 12 documents have no 'rating': they are dropped."),
        ({"meta_field": "yaer"}, "No document has a meta field 'yaer': nothing is ranked by it."),
        (
            {"meta_field": "group", "meta_value_type": "float"},
            "Not every value can be read as meta_value_type: they are compared as they are.",
        ),
        ({"meta_field": "mixed"}, "The values cannot be compared: the order is kept."),
    ],
)
def test_meta_field_says_what_haystack_logs(settings, notice):
    given = documents()
    for index, document in enumerate(given):
        document.meta["mixed"] = index if index % 2 else "text"
    assert run(alone(Step("meta_field", settings)), given).stages[1].notices == (notice,)


@pytest.mark.parametrize(
    "settings",
    [
        {"group_by": "group"},
        {"group_by": "group", "subgroup_by": "year"},
        {"group_by": "rating", "sort_docs_by": "year"},
        {"group_by": "year", "subgroup_by": "group", "sort_docs_by": "rating"},
    ],
)
def test_grouping_gives_what_the_ranker_gives(settings):
    given = documents()
    theirs = MetaFieldGroupingRanker(**settings).run(documents=given)["documents"]
    plan = alone(Step("meta_field_grouping", settings))
    assert told(run(plan, given).stages[1].documents) == told(theirs)
    assert told(bare(plan, given)["ranker"]["documents"]) == told(theirs)


@pytest.mark.parametrize("settings", [{}, {"word_count_threshold": 40}, {"top_k": 5}, {"top_k": 1}])
def test_the_arrangement_is_haystacks_and_explained(settings):
    given = [*documents(), documents()[2]]
    trace = run(Plan(arrange=Step("lost_in_the_middle", settings)), given)
    theirs = LostInTheMiddleRanker(**settings).run(documents=given)["documents"]
    assert told(trace.stages[1].documents) == told(theirs)
    assert trace.arrangement == arrange(given, **settings)
    assert trace.stages[1].outputs == tuple(arrange(given, **settings).order)
    assert trace.stages[1].notices[0] == "1 left out: copies of another."
    assert trace.verdict.holds is True


@pytest.mark.parametrize(
    "template",
    [DEFAULT_TEMPLATE, SORTING_TEMPLATE, "{% for d in documents %}{{ d.meta.year }} {{ question }}{% endfor %}"],
)
def test_the_prompt_is_the_builders(template):
    given = documents()
    trace = run(Plan(prompt=Step("prompt_builder", {"template": template})), given, QUERY)
    arranged = LostInTheMiddleRanker().run(documents=given)["documents"]
    theirs = PromptBuilder(template, required_variables=[]).run(documents=arranged, query=QUERY, question=QUERY)[
        "prompt"
    ]
    assert trace.prompt is not None
    assert trace.prompt.text == theirs
    assert trace.messages == (ChatMessage.from_user(theirs),)


def test_a_chat_prompt_is_the_builders():
    given = documents()
    system = "Answer {{ query }} from {{ documents|length }} documents."
    trace = run(Plan(prompt=Step("chat_prompt_builder", {"system": system})), given, QUERY)
    builder = ChatPromptBuilder([ChatMessage.from_system(system), ChatMessage.from_user(DEFAULT_TEMPLATE)])
    arranged = LostInTheMiddleRanker().run(documents=given)["documents"]
    assert list(trace.messages) == builder.run(documents=arranged, query=QUERY)["prompt"]


PLANS = {
    "given": Plan(),
    "joiner after": Plan(after=Step("document_joiner")),
    "arranged twice": Plan(after=Step("lost_in_the_middle")),
    "ranker after": Plan(after=Step("meta_field", {"meta_field": "year"})),
    "sorting template": Plan(after=Step("sorting_template")),
    "nothing": Plan(arrange=None),
    "joiner alone": Plan(arrange=None, after=Step("document_joiner", {"top_k": 4})),
    "question": Plan(prompt=Step("prompt_builder", {"template": "{{ question }} {{ documents[0].content }}"})),
    "long": Plan(
        retrieve=Step("bm25"),
        second=Step("given"),
        join=Step("document_joiner", {"join_mode": "reciprocal_rank_fusion", "weights": (0.7, 0.3)}),
        ranks=(
            Step("meta_field", {"meta_field": "rating", "weight": 0.4}),
            Step("meta_field_grouping", {"group_by": "group"}),
        ),
        arrange=Step("lost_in_the_middle", {"word_count_threshold": 90, "top_k": 9}),
    ),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("copies", [False, True], ids=["plain", "copies"])
def test_a_run_equals_the_pipelines(plan, copies):
    given = documents()
    if copies:
        given += [
            Document(id="d3", content="Another text.", score=0.99),
            Document(id="d5", content="x", meta={"year": 1}),
        ]
    trace = run(plan, given, QUERY)
    theirs = bare(plan, given)
    assert trace.failure is None
    compared = 0
    for stage in trace.stages:
        if stage.name in theirs and "documents" in theirs[stage.name]:
            assert told(stage.documents) == told(theirs[stage.name]["documents"])
            compared += 1
    assert trace.prompt is not None
    assert trace.prompt.text == theirs["prompt_builder"]["prompt"]
    assert compared == sum(each.stage not in ("given", "prompt_builder") for each in trace.stages)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_no_document_is_changed(plan):
    given = documents()
    before, meta = copy.deepcopy(given), [id(document.meta) for document in given]
    trace = run(plan, given, QUERY)
    assert given == before
    assert [id(document.meta) for document in given] == meta
    by_id = {document.id: document.meta for document in given}
    assert all(d.meta == by_id[d.id] for stage in trace.stages for d in stage.documents)
