"""What a run records: numbers, losses, the verdict, failures, progress."""

from types import SimpleNamespace

import pytest
from haystack import Document
from stage_cases import QUERY, alone, documents

from lim.errors import SettingError
from lim.stages import Availability, Configuration, Models, Plan, Slot, Step, run, runner
from lim.stages.trace import Numbers


def verdict_of(plan: Plan, given=None):
    return run(plan, given or documents(5), QUERY).verdict


def test_the_intended_order_reaches_the_prompt():
    verdict = verdict_of(Plan())
    assert (verdict.holds, verdict.lost_at, verdict.intended) == (True, None, (1, 3, 5, 4, 2))
    assert verdict.reached == verdict.intended
    assert verdict.sentence == "All 5 arranged documents reach the prompt in the intended order."


@pytest.mark.parametrize(
    ("plan", "stage", "words"),
    [
        (Plan(after=Step("document_joiner")), "after", "DocumentJoiner puts the documents into another order"),
        (
            Plan(after=Step("lost_in_the_middle")),
            "after",
            "LostInTheMiddleRanker after the arrangement puts the documents into another order",
        ),
        (Plan(after=Step("lost_in_the_middle", {"top_k": 3})), "after", "and leaves out 2 of 5"),
        (Plan(after=Step("meta_field", {"meta_field": "year"})), "after", "MetaFieldRanker"),
        (Plan(after=Step("sorting_template")), "prompt_builder", "They stand in relevance order."),
        (
            Plan(prompt=Step("prompt_builder", {"template": "{{ documents[0].content }}"})),
            "prompt_builder",
            "leaves out 4 of 5",
        ),
    ],
)
def test_a_lost_order_is_laid_to_the_stage_that_lost_it(plan, stage, words):
    verdict = verdict_of(plan)
    assert verdict.holds is False
    assert verdict.lost_at == stage
    assert words in verdict.sentence


def test_a_shortened_text_still_counts_as_reached():
    template = "{% for d in documents %}{{ d.content[:45] }}\n{% endfor %}"
    trace = run(Plan(prompt=Step("prompt_builder", {"template": template})), documents(5), QUERY)
    assert trace.verdict.holds is True
    assert "changes the text" in trace.stages[-1].notices[0]


def test_a_document_without_text_is_not_lost():
    given = [*documents(4), Document(id="empty", content="", score=0.01)]
    assert verdict_of(Plan(), given).holds is True


def test_nothing_arranged_is_no_verdict():
    verdict = verdict_of(Plan(arrange=None))
    assert (verdict.holds, verdict.reached) == (None, (1, 2, 3, 4, 5))
    assert verdict.sentence.startswith("No arrangement stands in its place")


def test_what_a_stage_dropped_and_kept():
    trace = run(Plan(arrange=Step("lost_in_the_middle", {"top_k": 3})), documents(5), QUERY)
    given, arranged, prompt = trace.stages
    assert (given.slot, arranged.slot, prompt.slot) == (Slot.RETRIEVE, Slot.ARRANGE, Slot.PROMPT)
    assert (arranged.dropped, arranged.added, arranged.reordered) == ((4, 5), (), True)
    assert arranged.notices == ("2 left out: over top_k.",)
    assert (prompt.dropped, prompt.reordered) == ((), False)
    assert all(stage.seconds >= 0 for stage in trace.stages)
    assert trace.seconds >= sum(stage.seconds for stage in trace.stages)


def test_of_copies_with_one_id_the_number_is_the_survivors():
    given = [
        Document(id="a", content="first", score=0.2),
        Document(id="b", content="other", score=0.5),
        Document(id="a", content="second", score=0.9),
    ]
    trace = run(alone(Step("meta_field", {"meta_field": "none", "weight": 0.5})), given)
    assert trace.stages[1].outputs == (3, 2)
    assert trace.stages[1].dropped == (1,)
    assert "1 document shares an id with another and is taken for a copy of it" in trace.stages[1].notices[0]


def test_a_copy_a_component_made_is_found_by_its_text_then_by_its_score():
    given = [
        Document(id="a", content="x", score=0.1),
        Document(id="a", content="x", score=0.8),
        Document(id="a", content="y"),
    ]
    numbers = Numbers(given, [])
    assert numbers.of([Document(id="a", content="y", score=5.0)], given) == (3,)
    assert numbers.of([Document(id="a", content="x", score=5.0)], given) == (2,)
    assert numbers.of([Document(id="a", content="new")], given) == (2,)


def test_a_failing_stage_keeps_the_stages_before_it():
    given = [*documents(3), Document(id="blank", content=None)]
    trace = run(Plan(ranks=(Step("meta_field", {"meta_field": "year"}),)), given)
    assert [stage.name for stage in trace.stages] == ["documents", "ranker"]
    assert trace.failure is not None
    assert (trace.failure.name, trace.failure.title) == ("lost_in_the_middle", "LostInTheMiddleRanker")
    assert "blank" in trace.failure.cause
    assert trace.verdict.holds is None
    assert trace.prompt is None


@pytest.mark.parametrize(
    ("plan", "query", "stage", "cause"),
    [
        (Plan(retrieve=Step("bm25")), " ", "retriever", "the query is empty"),
        (Plan(prompt=Step("prompt_builder", {"template": "{{ x }}"})), "", "prompt_builder", "uses x"),
        (Plan(prompt=Step("prompt_builder", {"template": "{% for %}"})), "", "prompt_builder", "not valid Jinja"),
        (Plan(prompt=Step("prompt_builder", {"template": "{{ 'a' * 10**10 }}"})), "", "prompt_builder", "memory"),
        (Plan(prompt=Step("chat_prompt_builder", {"system": "{{ y }}"})), "", "prompt_builder", "uses y"),
    ],
)
def test_a_failure_says_what_and_where(plan, query, stage, cause):
    failure = run(plan, documents(), query).failure
    assert failure is not None
    assert failure.name == stage
    assert cause in failure.cause
    assert not failure.cancelled


def test_whatever_a_component_raises_is_told():
    given = [Document(id="a", content="x", meta={"when": "9" * 400}), Document(id="b", content="y", meta={"when": "1"})]
    failure = run(alone(Step("meta_field", {"meta_field": "when", "meta_value_type": "date"})), given).failure
    assert failure is not None
    assert failure.cause.startswith("OverflowError: ")
    assert failure.remedy == "Choose another meta_field, or another meta_value_type."


def test_too_many_documents_are_refused_before_they_are_ranked():
    given = [Document(id=str(index), content="x") for index in range(10_001)]
    failure = run(alone(Step("meta_field", {"meta_field": "year"})), given).failure
    assert failure is not None
    assert failure.cause == "It got 10,001 documents, but at most 10,000 are given to it here."


def test_progress_rises_to_one():
    told = []
    run(Plan(), documents(), progress=lambda share, text: told.append((share, text)))
    assert [text for _, text in told] == ["List as given", "LostInTheMiddleRanker", "PromptBuilder", "Done"]
    assert told[0][0] == 0
    assert told[-1][0] == 1
    assert sorted(share for share, _ in told) == [share for share, _ in told]


def test_a_run_can_be_stopped_between_stages():
    asked = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 2

    trace = run(Plan(), documents(), cancelled=cancelled)
    assert [stage.name for stage in trace.stages] == ["documents", "lost_in_the_middle"]
    assert trace.failure is not None
    assert trace.failure.cancelled


def test_what_a_page_raises_while_it_is_told_ends_the_run():
    class Rerun(BaseException):
        pass

    def progress(_share: float, _text: str) -> None:
        raise Rerun

    with pytest.raises(Rerun):
        run(Plan(), documents(), progress=progress)


def test_no_documents_are_no_error():
    trace = run(Plan(ranks=(Step("meta_field", {"meta_field": "year"}),), after=Step("document_joiner")), [], QUERY)
    assert trace.failure is None
    assert [stage.outputs for stage in trace.stages] == [()] * 5


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(ranks=(Step("nonsense"),)), "There is no stage 'nonsense'"),
        (Plan(ranks=(Step("bm25"),)), "InMemoryBM25Retriever stands at rank, but it belongs at retrieve"),
        (Plan(second=Step("bm25")), "give both a second list and a joiner"),
        (Plan(join=Step("document_joiner")), "give both a second list and a joiner"),
        (Plan(second=Step("given"), join=Step("document_joiner")), "joining a list with itself"),
        (Plan(ranks=(Step("meta_field", {"meta_field": "a"}),) * 5), "5 rankers, but at most 4"),
    ],
)
def test_a_wrong_plan_is_refused_before_anything_runs(plan, message):
    with pytest.raises(SettingError, match=message):
        run(plan, documents(), QUERY)


@pytest.mark.parametrize("after", [None, "lost_in_the_middle", "document_joiner", "sorting_template", "meta_field"])
def test_without_an_arrangement_no_order_is_intended_whatever_follows(after):
    settings = {"meta_field": "year"} if after == "meta_field" else {}
    verdict = verdict_of(Plan(arrange=None, after=after and Step(after, settings)))
    assert (verdict.holds, verdict.intended) == (None, ())
    assert verdict.sentence == "No arrangement stands in its place here, so there is no intended order to lose."


def test_a_stage_that_gives_nothing_is_named():
    trace = run(Plan(retrieve=Step("bm25")), documents(5), "zzzz")
    assert trace.verdict.holds is None
    assert trace.verdict.sentence == f"No document reaches the prompt: {trace.stages[0].title} gave none."


@pytest.mark.parametrize(
    ("mode", "stays"),
    [
        ("concatenate", "the best-scored one stays"),
        ("merge", "the last one stays"),
        ("reciprocal_rank_fusion", "the last one stays"),
        ("distribution_based_rank_fusion", "the best-scored one stays"),
    ],
)
def test_the_joiner_says_which_copy_stays_and_that_one_does(mode, stays):
    given = [Document(id="1", content=f"copy {score}", score=score) for score in (0.5, 0.9, 0.4)]
    other = [Document(id="2", content="other", score=0.1)]
    plan = Plan(second=Step("other"), join=Step("document_joiner", {"join_mode": mode}), arrange=None)
    trace = run(plan, given, QUERY, others=other)
    joined = next(each for each in trace.stages if each.slot is Slot.JOIN)
    assert any(notice.endswith(f"{stays}.") for notice in joined.notices)
    (kept,) = [number for number in joined.outputs if number <= 3]
    assert kept == (3 if "last" in stays else 2)


def test_importing_waiting_and_loading_are_no_ranking(monkeypatch):
    clock = [0]

    def passing(seconds, result=None):
        clock[0] += seconds
        return result

    fake = SimpleNamespace(
        model="loaded", warm_up=lambda: passing(5), run=lambda **_: passing(7, {"documents": documents(2)})
    )
    monkeypatch.setattr(runner, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(runner, "availability", lambda *_: Availability(ok=True))
    component_of = runner.component_of
    monkeypatch.setattr(
        runner,
        "component_of",
        lambda node, *rest: passing(3, fake) if node.slot is Slot.RANK else component_of(node, *rest),
    )
    models = Models()
    models._turns["diversity", "em"] = SimpleNamespace(  # a model that another run has
        acquire=lambda timeout: passing(11, timeout > 0), release=lambda: None
    )
    plan, config = alone(Step("diversity")), Configuration(embedders=("em",))
    times = [run(plan, documents(2), QUERY, config, models=models).stages[1] for _ in range(2)]
    assert [(each.seconds, each.loading_seconds) for each in times] == [(7, 3 + 11 + 5), (7, 3 + 11)]


@pytest.mark.parametrize(
    ("unlike", "said"),
    [
        (1, "1 document shares no word with the query and is left out."),
        (2, "2 documents share no word with the query and are left out."),
    ],
)
def test_one_is_no_several(unlike, said):
    given = [Document(content="harbour"), *(Document(content=f"bread {n}") for n in range(unlike))]
    trace = run(Plan(retrieve=Step("bm25")), given, "harbour")
    assert trace.stages[0].notices == (said,)
