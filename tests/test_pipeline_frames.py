"""The pipeline's frames, chart and diagram against a plain retelling of the trace, whole columns at a time."""

import re

import pytest
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from test_charts import drawn, texts
from test_frames import rows

from lim import charts
from lim.charts import pipeline as draw
from lim.frames import pipeline as frames
from lim.stages import Configuration, Models, Plan, Step, Trace, nodes, run
from lim.views.stages import diagram

NOTHING = Configuration()
CHAT = Configuration(chat_models=("m",), chat_url="http://localhost:1/v1")


def documents(count: int = 9) -> list[Document]:
    return [
        Document(
            id=f"d{number}",
            content=f"light number {number} " + "word " * number if number % 4 else f"Dark {number}",
            meta={"year": number * 7 % 5} if number % 3 else {},
            score=1 - number / 1000,
        )
        for number in range(1, count + 1)
    ]


def traced(plan: Plan, given: list[Document] | None = None, config: Configuration = NOTHING, says: str = ""):
    listed = nodes(plan, config)
    models = Models(lambda _config, _model: MockChatGenerator(says))
    return run(plan, documents() if given is None else given, "light", config, models=models), listed


BM25 = Step("bm25", {"top_k": 5})
FUSION = Step("document_joiner", {"join_mode": "reciprocal_rank_fusion", "top_k": 6})
LIMITED = Step("lost_in_the_middle", {"word_count_threshold": 9})
PLANS = {
    "plain": Plan(),
    "retrieved": Plan(retrieve=BM25),
    "joined": Plan(second=BM25, join=FUSION, arrange=LIMITED),
    "ranked twice": Plan(
        ranks=(
            Step("meta_field", {"meta_field": "year", "missing_meta": "drop"}),
            Step("meta_field", {"meta_field": "year", "top_k": 3}),
        )
    ),
    "undone": Plan(after=Step("document_joiner", {"top_k": 4})),
    "not arranged": Plan(arrange=None),
    "failed": Plan(
        ranks=(Step("meta_field", {"meta_field": "year"}),), prompt=Step("prompt_builder", {"template": "{{ x }}"})
    ),
    "template": Plan(
        prompt=Step("prompt_builder", {"template": "{% for d in documents[2:] %}{{ d.content }}\n{% endfor %}"})
    ),
}


def shown(trace: Trace):
    return [each for each in trace.stages if each.slot != "generate"]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_bump_has_a_row_for_every_document_in_every_stage(plan):
    trace, listed = traced(plan)
    names = frames.labels(listed)
    stages = shown(trace)
    assert rows(frames.bump(trace, listed), "stage", "column", "place", "number") == [
        (names[each.name], column, place, number)
        for column, each in enumerate(stages)
        for place, number in enumerate(each.outputs, 1)
    ]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_what_reaches_the_prompt_is_coloured_by_what_the_arrangement_trusts(plan):
    trace, listed = traced(plan)
    arranged = next((each for each in trace.stages if each.slot == "arrange"), None)
    stages = shown(trace)
    trusted = arranged.inputs[0] if arranged else stages[-1].outputs
    reached = [number for number in trusted if number in stages[-1].outputs]
    expected = {number: place / (len(reached) - 1) for place, number in enumerate(reached)}
    assert frames.shades(trace) == pytest.approx(expected)
    frame = frames.bump(trace, listed)
    assert set(frame[frame["there"]]["number"]) == set(reached)
    assert dict(zip(frame["number"], frame["shade"], strict=True)) == pytest.approx(
        {number: expected.get(number, 1.0) for number in frame["number"]}
    )


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_every_document_is_in_the_prompt_or_named_as_dropped_once(plan):
    trace, listed = traced(plan)
    gone = frames.dropped(trace, listed)
    reached = set(shown(trace)[-1].outputs)
    assert sorted(gone["number"]) == [n for n in range(1, 10) if n not in reached]
    frame = frames.bump(trace, listed)
    ends = frame[frame["dropped"]]
    assert sorted(ends["number"]) == sorted(set(gone["number"]) & set(frame["number"]))
    assert set(ends["end"]) <= {"×"}
    journeys = frames.journeys(trace, listed)
    fates = dict(zip(journeys["number"], journeys["fate"], strict=True))
    assert {number for number, fate in fates.items() if fate.startswith("dropped by ")} == set(gone["number"])
    assert {fates[number] for number in reached} == {"in the prompt" if trace.prompt else "in the last stage that ran"}


def whys(plan: Plan, given: list[Document] | None = None, config: Configuration = NOTHING, says: str = ""):
    return rows(frames.dropped(*traced(plan, given, config, says)), "number", "stage", "why")


def test_each_reason_is_what_the_stage_did():
    assert whys(Plan(retrieve=BM25))[:2] == [
        (4, "BM25", "not among the top_k (5)"),
        (7, "BM25", "not among the top_k (5)"),
    ]
    assert whys(Plan(retrieve=Step("bm25"))) == [
        (4, "BM25", "shares no word with the query"),
        (8, "BM25", "shares no word with the query"),
    ]
    assert whys(PLANS["ranked twice"])[:3] == [(n, "Rank 1", "has no value in the meta field") for n in (3, 6, 9)]
    assert {why for _, _, why in whys(PLANS["ranked twice"])[3:]} == {"not among the top_k (3)"}
    assert {(stage, why) for _, stage, why in whys(Plan(arrange=LIMITED))} == {("Arrange", "after the threshold")}
    assert {(stage, why) for _, stage, why in whys(PLANS["undone"])} == {("After", "not among the top_k (4)")}
    after = Plan(after=Step("lost_in_the_middle", {"word_count_threshold": 9}))
    assert {(stage, why) for _, stage, why in whys(after)} == {("After", "after the threshold")}
    assert {(stage, why) for _, stage, why in whys(PLANS["template"])} == {
        ("Prompt", "the template leaves its text out, or changes it")
    }
    copies = [*documents(3), Document(id="d1", content="light again", score=0.1)]
    assert whys(Plan(), copies) == [(4, "Arrange", "duplicate")]
    assert whys(Plan(ranks=(Step("meta_field", {"meta_field": "year"}),)), copies) == [
        (4, "Rank", "shares its id with document 1")
    ]
    answer = '{"documents": [{"index": 2}]}'
    assert {why for _, _, why in whys(Plan(ranks=(Step("llm"),)), config=CHAT, says=answer)} == {
        "the model did not name it"
    }


def test_a_document_named_twice_is_two_lines():
    answer = '{"documents": [{"index": 2}, {"index": 1}, {"index": 2}]}'
    trace, listed = traced(Plan(ranks=(Step("llm"),), arrange=None), documents(2), CHAT, answer)
    frame = frames.bump(trace, listed)
    ranked = frame[frame["stage"] == "Rank"]
    assert list(ranked["line"]) == ["2.1", "1.1", "2.2"]
    assert list(ranked["left"]) == ["", "", "2"]


def test_names_are_short_and_none_is_used_twice():
    plan = Plan(
        second=BM25,
        join=FUSION,
        ranks=(Step("meta_field", {"meta_field": "a"}), Step("llm"), Step("meta_field_grouping", {"group_by": "a"})),
        after=Step("lost_in_the_middle"),
        generate=Step("chat_generator"),
    )
    assert list(frames.labels(nodes(plan, CHAT)).values()) == [
        *("List", "BM25", "Join", "Rank 1", "Rank 2", "Group", "Arrange", "After", "Prompt", "Generate")
    ]


@pytest.mark.parametrize("palette", [charts.LIGHT, charts.DARK])
def test_the_bump_chart_draws_each_line_and_cross(palette):
    trace, listed = traced(PLANS["joined"])
    frame = frames.bump(trace, listed)
    figure = draw.bump(frame, trace, listed, palette)
    svg = drawn(figure, palette)
    assert len(re.findall('aria-roledescription="line mark"', svg)) == frame["line"].nunique()
    labels = texts(svg)
    assert [label for label in labels if label == "×"] == ["×"] * len(frame[frame["dropped"]])
    assert [label for label in labels if label in frames.labels(listed).values()] == list(dict.fromkeys(frame["stage"]))
    assert palette.out in svg  # the dropped
    reached = [str(number) for number in trace.verdict.reached]
    assert [label for label in labels if label.isdigit()][-len(reached) :] == reached
    assert figure.alt.endswith(f"Documents in the order of the prompt: {', '.join(reached)}.")
    assert figure.title == frames.finding(trace, listed)


def test_the_finding_names_who_changes_the_order_and_counts_the_dropped():
    assert frames.finding(*traced(Plan(arrange=None))) == "No stage changes the order"
    assert frames.finding(*traced(Plan())) == "Arrange changes the order"
    assert frames.finding(*traced(PLANS["undone"])) == "Arrange and After change the order; 5 documents are dropped"


def test_a_long_list_is_thinned_and_the_chart_says_so():
    trace, listed = traced(Plan(arrange=Step("lost_in_the_middle", {"top_k": 100})), documents(600))
    frame = frames.bump(trace, listed)
    assert frame["number"].nunique() == 240
    assert set(range(1, 101)) <= set(frame["number"])  # what reaches the prompt comes first
    figure = draw.bump(frame, trace, listed)
    assert "240 of 600 documents drawn, evenly chosen" in figure.subtitle
    assert len([label for label in texts(drawn(figure)) if label.isdigit()]) < 20  # the axis alone
    trace, listed = traced(Plan(retrieve=BM25), documents(600))
    figure = draw.bump(frames.bump(trace, listed), trace, listed)
    assert "595 more were not retrieved" in figure.subtitle
    assert "drawn" not in figure.subtitle


def test_the_diagram_shows_the_plan_before_a_run_and_what_happened_after():
    plan = PLANS["joined"]
    trace, listed = traced(plan)
    before = diagram.cards(listed, None)
    assert [[card.label for card in column] for column in before] == [
        ["List", "BM25"],
        *(["Join"], ["Arrange"], ["Prompt"]),
    ]
    assert {(*card.facts, card.trouble) for column in before for card in column} == {("",)}
    after = diagram.cards(listed, trace)
    assert after[1][0].facts[:2] == ("14 → 6 documents", "changes the order")
    blocked = diagram.cards(listed, None, ["joiner"])
    assert blocked[1][0].trouble == "cannot run here"


@pytest.mark.parametrize(
    ("name", "troubles"),
    [("undone", ["", "", "loses the order", ""]), ("failed", ["", "", "", "failed here"])],
)
def test_the_diagram_marks_where_the_order_is_lost_and_where_a_run_ends(name, troubles):
    trace, listed = traced(PLANS[name])
    assert [card.trouble for column in diagram.cards(listed, trace) for card in column] == troubles
    html = diagram.draw(diagram.cards(listed, trace), charts.LIGHT)
    assert html.count("⚠") == 1
    assert html.count("<li") == len(listed)


def test_the_diagram_escapes_what_it_shows():
    html = diagram.draw([[diagram.Card("<a>", "<B>", ("<c>",), "")]], charts.LIGHT)
    assert [each for each in ("<a>", "<B>", "<c>") if each in html] == []


def test_passages_are_numbered_as_the_documents_are():
    trace, _ = traced(PLANS["retrieved"])
    text = trace.prompt.text
    found = frames.passages(trace, len(text))
    assert [each.label for each in found] == [f"document {number}" for number in trace.verdict.reached]
    assert [text[each.start : each.end] for each in found] == [
        trace.documents[number - 1].content for number in trace.verdict.reached
    ]
    assert [each.end for each in frames.passages(trace, found[0].start + 3)] == [found[0].start + 3]
