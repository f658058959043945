"""What a person takes home: YAML that Haystack alone loads, a script that Haystack alone runs."""

import inspect
import subprocess
import sys

import pytest
import yaml
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from stage_cases import QUERY, documents, fresh, load_elsewhere, told

from lim.errors import SettingError, TemplateError
from lim.prompt import DEFAULT_TEMPLATE
from lim.stages import (
    SORTING_TEMPLATE,
    STAGES,
    Configuration,
    Models,
    Plan,
    Step,
    availability,
    run,
    to_python,
    to_yaml,
)
from lim.stages.build import class_of
from lim.stages.export import DEFAULT_MODELS

EVERYTHING = Configuration(
    cross_encoders=("ce",),
    embedders=("em",),
    tei_url="http://internal.example:8080",
    tei_token="s3cret",  # noqa: S106 # a test's
    chat_models=("small",),
    chat_url="http://internal.example:9/v1",
    chat_token="s3cret",  # noqa: S106 # a test's
)
PLANS = {
    "given": (Plan(), "lost_in_the_middle"),
    "bm25": (Plan(retrieve=Step("bm25", {"top_k": 7})), "lost_in_the_middle"),
    "joined": (
        Plan(
            retrieve=Step("bm25"),
            second=Step("given"),
            join=Step("document_joiner", {"join_mode": "reciprocal_rank_fusion", "weights": (0.8, 0.2)}),
            ranks=(
                Step("meta_field", {"meta_field": "rating", "weight": 0.4, "missing_meta": "drop"}),
                Step("meta_field_grouping", {"group_by": "group", "sort_docs_by": "year"}),
            ),
            arrange=Step("lost_in_the_middle", {"word_count_threshold": 60}),
            prompt=Step("chat_prompt_builder", {"system": 'Say "no" \\ if unsure: {{ question }}\r\n"""'}),
        ),
        "lost_in_the_middle",
    ),
    "joiner after": (Plan(after=Step("document_joiner", {"top_k": 5})), "after"),
    "joiner alone": (Plan(arrange=None, after=Step("document_joiner")), "after"),
    "sorting template": (Plan(after=Step("sorting_template")), "lost_in_the_middle"),
    "question": (
        Plan(
            prompt=Step(
                "prompt_builder", {"template": "{{ question }}\n{% for d in documents %}{{ d.id }}{% endfor %}"}
            )
        ),
        "lost_in_the_middle",
    ),
}


def expected(plan: Plan, last: str) -> tuple[list, list]:
    trace = run(plan, documents(), QUERY)
    assert trace.failure is None
    stage = next(stage for stage in trace.stages if stage.name == last)
    return told(stage.documents), [message.text for message in trace.messages]


@pytest.mark.parametrize(("plan", "last"), PLANS.values(), ids=PLANS)
def test_the_yaml_gives_the_same_in_a_fresh_process_with_haystack_alone(plan, last, tmp_path):
    path = tmp_path / "pipeline.yaml"
    path.write_text(to_yaml(plan), encoding="utf-8")
    loaded = load_elsewhere(path, plan, documents(), last, Configuration())
    order, messages = expected(plan, last)
    assert [tuple(each) for each in loaded["order"]] == order
    assert (loaded["prompt"] if isinstance(loaded["prompt"], list) else [loaded["prompt"]]) == messages


@pytest.mark.parametrize(("plan", "last"), PLANS.values(), ids=PLANS)
def test_the_script_gives_the_same_and_needs_haystack_alone(plan, last, tmp_path):
    script = tmp_path / "pipeline.py"
    script.write_text(to_python(plan, documents=documents(), query=QUERY), encoding="utf-8")
    printed = fresh(f"import runpy, sys; runpy.run_path({str(script)!r}); assert 'lim' not in sys.modules")
    order, messages = expected(plan, last)
    lines = [f"{place} {name} {score}" for place, (name, score) in enumerate(order, 1)]
    assert printed == "\n".join([*lines, *messages]).replace("\r\n", "\n") + "\n"


def test_a_language_model_ranker_travels_too(tmp_path):
    plan = Plan(ranks=(Step("llm"),), generate=Step("chat_generator"))
    reply = '{"documents": [{"index": 3}, {"index": 1}, {"index": 2}]}'
    chat = Models(chat=lambda _config, _model: MockChatGenerator(reply)).chat
    path = tmp_path / "pipeline.yaml"
    path.write_text(to_yaml(plan, EVERYTHING, chat), encoding="utf-8")
    loaded = load_elsewhere(path, plan, documents(), "lost_in_the_middle", EVERYTHING)
    trace = run(plan, documents(), QUERY, EVERYTHING, models=Models(chat))
    assert [each for each, _ in loaded["order"]] == [document.id for document in trace.stages[2].documents]
    assert loaded["order"] != []


def test_an_export_holds_no_address_and_no_token_of_the_server():
    plan = Plan(ranks=(Step("llm"),), generate=Step("chat_generator"))
    for text in (to_yaml(plan, EVERYTHING), to_python(plan, EVERYTHING)):
        assert "s3cret" not in text
        assert "internal" not in text
        assert "http://localhost:8000/v1" in text
        assert "Set OPENAI_API_KEY to your token" in text
    compile(to_python(plan, EVERYTHING), "script", "exec")


def test_the_openai_generator_loads_elsewhere(tmp_path):
    path = tmp_path / "pipeline.yaml"
    path.write_text(to_yaml(Plan(ranks=(Step("llm"),), generate=Step("chat_generator")), EVERYTHING), encoding="utf-8")
    code = (
        "import sys; from haystack import Pipeline; p = Pipeline.loads(open(sys.argv[1]).read());"
        "print(p.get_component('llm').api_base_url, p.get_component('llm').model, len(p.graph))"
    )
    assert fresh(code, str(path), OPENAI_API_KEY="x").strip() == "http://localhost:8000/v1 small 4"


def test_the_yaml_is_haystacks_below_its_comments():
    text = to_yaml(PLANS["joined"][0])
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert head == [
        "# A Haystack pipeline. Load it: haystack.Pipeline.loads(text)",
        '# Install: pip install "haystack-ai==3.4.1"',
        "# Input of list_1: query; its document_store, with the documents written to it before",
        "# Input of list_2: values, a list of documents, most relevant first",
        "# Input of prompt_builder: query; question",
    ]
    loaded = yaml.safe_load(text)
    assert all(each["type"].startswith("haystack.") for each in loaded["components"].values())
    assert to_yaml(PLANS["joined"][0]) == text


def test_a_template_is_never_compiled_for_an_export():
    bomb = Plan(prompt=Step("prompt_builder", {"template": "{{ 'a' * 10**11 }}{{ documents }}"}))
    assert "10**11" in to_yaml(bomb)
    assert "10**11" in to_python(bomb)


@pytest.mark.parametrize("export", [to_yaml, to_python])
def test_what_is_wrong_is_refused(export):
    with pytest.raises(TemplateError, match="line 1, is not valid Jinja"):
        export(Plan(prompt=Step("prompt_builder", {"template": "{{ 'a }}"})))
    with pytest.raises(SettingError, match="There is no stage"):
        export(Plan(ranks=(Step("x"),)))


def test_a_script_without_documents_has_examples_to_replace(tmp_path):
    plan = Plan(second=Step("other"), join=Step("document_joiner"))
    script = tmp_path / "pipeline.py"
    script.write_text(to_python(plan), encoding="utf-8")
    printed = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    assert printed.count("The most relevant document.") == 1
    assert printed.startswith("1 ")


def test_any_document_can_be_written_into_a_script(tmp_path):
    odd = [
        Document(
            id="odd",
            content='"""\n\\ \'{{ x }}\' \x00\u2028 \ud800',
            meta={"n": float("nan"), "t": ("a", 1), "d": {1: None}},
        ),
        Document(id="é", content="", score=float("inf")),
        Document(content="plain", meta={"year": 1}, score=0.5),
    ]
    plan = Plan(arrange=None, prompt=Step("prompt_builder", {"template": '{{ documents|length }}\u2028\ud800 \'"""\\'}))
    text = to_python(plan, documents=odd, query="\ud800'")
    found: dict = {}
    exec(compile(text.split("pipeline = Pipeline()")[0], "script", "exec"), found)  # noqa: S102 # our own
    assert [document.content for document in found["documents"]] == [document.content for document in odd]
    assert [document.id for document in found["documents"]] == [document.id for document in odd]
    assert found["template"] == plan.prompt.settings["template"]
    assert found["query"] == "\ud800'"
    assert text.encode("utf-8")
    assert "id=" not in text.split("plain")[1].split("\n")[0]


def test_defaults_are_left_out_of_the_script():
    text = to_python(Plan(ranks=(Step("meta_field", {"meta_field": "year", "weight": 1.0}),)))
    assert "MetaFieldRanker(meta_field='year')" in text
    assert "LostInTheMiddleRanker()" in text
    assert DEFAULT_TEMPLATE != SORTING_TEMPLATE


@pytest.mark.parametrize("folder", ["/srv/models/inner-model", "./models/inner-model", "~/models/inner-model"])
@pytest.mark.parametrize("chosen", [True, False])
def test_a_model_that_is_a_folder_goes_home_by_its_last_part(folder, chosen):
    step = Step("similarity", {"model": folder} if chosen else {})
    config = Configuration(cross_encoders=(folder,))
    script = to_python(Plan(ranks=(step,)), config)
    assert "'inner-model'" in script
    assert "Change inner-model, a folder where this was made, to your model." in script
    assert "models/" not in script


@pytest.mark.parametrize("key", ["similarity", "diversity", "llm", "chat_generator"])
def test_where_no_model_is_offered_the_components_default_goes_home(key):
    plan = Plan(generate=Step(key)) if key == "chat_generator" else Plan(ranks=(Step(key),))
    default = DEFAULT_MODELS["chat_generator" if key == "llm" else key]
    note = f"Change {default}, Haystack's default, to your model: none was set up where this was made"
    script = to_python(plan)
    assert note in script
    assert repr(default) in script
    compile(script, "script", "exec")
    if availability(key, EVERYTHING).ok:
        assert f"# {note}\n" in to_yaml(plan)
        stage = STAGES["chat_generator" if key == "llm" else key]
        assert inspect.signature(class_of(stage).__init__).parameters["model"].default == default
    assert "Haystack's default" not in to_python(plan, EVERYTHING)
