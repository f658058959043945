"""The registry: every entry true to its component, every setting bounded, every remedy one line."""

import ast
import importlib.util
import inspect
import sys
import tomllib

import pytest
from stage_cases import ROOT, fresh

from lim.errors import SettingError
from lim.stages import (
    REMOVED,
    STAGES,
    VARIABLES,
    Configuration,
    Kind,
    Parameter,
    Plan,
    Slot,
    Step,
    availability,
    check_settings,
    from_transformers_similarity,
    nodes,
    stages_for,
)
from lim.stages.build import class_of
from lim.stages.guards import MAX_MMR_COMPARISONS, Ticking, Trouble, check_mmr, mmr_comparisons
from lim.stages.registry import HUGGINGFACE_API, SENTENCE_TRANSFORMERS

OURS = {"system"}  # two parameters of ours make ChatPromptBuilder's template
EVERYTHING = Configuration(
    cross_encoders=("ce", "ce2"),
    embedders=("em",),
    tei_url="http://localhost:1",
    chat_models=("chat",),
    chat_url="http://localhost:2/v1",
)


def installed(stage) -> bool:
    return not stage.requires or importlib.util.find_spec("sentence_transformers") is not None


def test_every_place_can_be_filled():
    assert {slot: len(stages_for(slot)) for slot in Slot} == {
        Slot.RETRIEVE: 3,
        Slot.JOIN: 1,
        Slot.RANK: 6,
        Slot.ARRANGE: 1,
        Slot.AFTER: 9,
        Slot.PROMPT: 2,
        Slot.GENERATE: 1,
    }


@pytest.mark.parametrize("key", [key for key, stage in STAGES.items() if stage.path])
def test_an_entry_has_its_components_parameters_and_defaults(key):
    stage = STAGES[key]
    if not installed(stage):
        assert availability(key, EVERYTHING).ok is False
        return
    assert class_of(stage).__name__ == stage.title
    signature = inspect.signature(class_of(stage).__init__).parameters
    for parameter in stage.parameters:
        if parameter.name in OURS or parameter.kind is Kind.MODEL or parameter.name == "template":
            continue
        default = signature[parameter.name].default
        if default is inspect.Parameter.empty:
            assert parameter.default is None
            assert not parameter.optional
        else:
            assert str(default or "") == str(parameter.default or "")
        if parameter.default is None and default is None:
            assert parameter.optional


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_an_entrys_own_defaults_pass_its_own_check(stage):
    given = {p.name: "x" for p in stage.parameters if p.default is None and not p.optional}
    assert set(check_settings(stage, given)) == {parameter.name for parameter in stage.parameters}
    assert all(parameter.help.endswith((".", ")")) for parameter in stage.parameters)


@pytest.mark.parametrize(
    ("key", "settings", "message"),
    [
        ("bm25", {"top_k": 0}, "top_k of InMemoryBM25Retriever is 0, but it must be a whole number from 1 to 10,000"),
        ("bm25", {"top_k": True}, "top_k of InMemoryBM25Retriever is True"),
        ("bm25", {"top_k": 2.0}, "whole number"),
        ("bm25", {"scale_score": 1}, "True or False"),
        ("bm25", {"filters": {}}, "has no setting 'filters' here. It has top_k, scale_score"),
        ("meta_field", {}, "meta_field of MetaFieldRanker is None, but it must be a name"),
        ("meta_field", {"meta_field": ""}, "a name"),
        ("meta_field", {"meta_field": "a", "weight": 1.01}, "a number from 0 to 1"),
        ("meta_field", {"meta_field": "a", "weight": float("nan")}, "a number from 0 to 1"),
        ("meta_field", {"meta_field": "a", "sort_order": "up"}, "one of descending, ascending"),
        ("meta_field", {"meta_field": "a", "meta_value_type": "str"}, "one of float, int, date, or None"),
        ("document_joiner", {"weights": (0, 0)}, "not both 0, or None"),
        ("document_joiner", {"weights": (1, -1)}, "two numbers"),
        ("document_joiner", {"weights": [1]}, "two numbers"),
        ("document_joiner", {"top_k": 10**6}, "from 1 to 10,000, or None"),
        ("similarity", {"model": "m", "score_threshold": float("inf")}, "a number, or None"),
        ("similarity", {"model": "m", "meta_fields_to_embed": "title"}, "a list of at most 20 names"),
        ("similarity", {"model": "m", "query_prefix": "x" * 20_001}, "at most 20,000 characters"),
        ("lost_in_the_middle", {"word_count_threshold": -1}, "or None"),
    ],
)
def test_a_setting_out_of_bounds_is_refused(key, settings, message):
    with pytest.raises(SettingError) as caught:
        check_settings(STAGES[key], settings)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_bounds_without_a_maximum():
    stage = STAGES["bm25"]
    parameter = Parameter("n", Kind.NUMBER, 1, "A number.", minimum=2)
    with pytest.raises(SettingError, match="a number of at least 2"):
        check_settings(type(stage)("k", "T", (), "", None, (parameter,)), {"n": 1})


def test_a_model_is_taken_from_the_configuration_only():
    plan = Plan(ranks=(Step("similarity"),))
    assert nodes(plan, EVERYTHING)[1].settings["model"] == "ce"
    chosen = Plan(ranks=(Step("similarity", {"model": "ce2"}),))
    assert nodes(chosen, EVERYTHING)[1].settings["model"] == "ce2"
    for model in ("/etc/passwd", "someone/elses-model", "", None):
        with pytest.raises(SettingError, match=r"which is not offered\. Choose one of ce, ce2"):
            nodes(Plan(ranks=(Step("similarity", {"model": model}),)), EVERYTHING)
    with pytest.raises(SettingError, match=r"not offered\. Set LIM_CROSS_ENCODER on the server"):
        nodes(plan, Configuration())


def test_the_configuration_is_read_from_a_mapping():
    config = Configuration.from_environment(
        {
            "LIM_CROSS_ENCODER": " a/b , ,c ,a/b",
            "LIM_EMBEDDER": "",
            "LIM_TEI_URL": " http://h:8080 ",
            "LIM_TEI_TOKEN": "secret-1",
            "LIM_CHAT_MODEL": "m",
            "LIM_CHAT_TOKEN": "secret-2",
            "other": {"nested": True},
        }
    )
    assert config.cross_encoders == ("a/b", "c")
    assert (config.embedders, config.tei_url, config.chat_url) == ((), "http://h:8080", None)
    assert "secret" not in repr(config)


def test_the_configuration_is_the_environments(monkeypatch):
    for variable in VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)
    assert Configuration.from_environment() == Configuration()
    monkeypatch.setenv("LIM_EMBEDDER", "x")
    assert Configuration.from_environment().embedders == ("x",)


@pytest.mark.parametrize(
    ("key", "config", "remedy"),
    [
        ("llm", Configuration(), "Set LIM_CHAT_MODEL on the server"),
        ("chat_generator", Configuration(chat_models=("m",)), "Set LIM_CHAT_TOKEN on the server"),
        (
            "llm",
            Configuration(chat_models=("m",), chat_url="ftp://u:p@h"),
            "Set LIM_CHAT_URL on the server to an address",
        ),
        ("llm", Configuration(chat_models=("m",), chat_url="http://h/v1"), None),
        ("llm", Configuration(chat_models=("m",), chat_token="t"), None),  # noqa: S106 # a test's
        ("meta_field", Configuration(), None),
    ],
)
def test_a_stage_that_cannot_run_says_what_to_set(key, config, remedy):
    able = availability(key, config)
    assert able.ok is (remedy is None)
    if remedy:
        assert able.remedy is not None
        assert able.remedy.startswith(remedy)
        assert "\n" not in able.remedy
        assert "u:p" not in able.remedy


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        (None, "Set LIM_TEI_URL on the server (a Text Embeddings"),
        ("http://h:8080/", None),
        ("https://h", None),
        ("http://h/rerank", "address without a path: Haystack's component drops the path"),
        ("h:8080", "begins with http:// or https://"),
        ("http://[", "begins with http:// or https://"),
    ],
)
def test_the_tei_address(url, remedy):
    said = Configuration(tei_url=url).remedy("LIM_TEI_URL")
    assert said is None if remedy is None else remedy in str(said)


@pytest.mark.parametrize("key", ["similarity", "diversity", "tei"])
def test_a_missing_package_is_named_with_its_pins(key, monkeypatch):
    monkeypatch.setattr("lim.stages.registry.find_spec", lambda _name: None)
    able = availability(key, EVERYTHING)
    assert able.ok is False
    assert able.remedy == {
        "tei": 'On the server: pip install "huggingface-api-haystack==3.1.0", then restart it',
    }.get(
        key,
        'On the server: pip install torch "sentence-transformers-haystack==2.0.0" "sentence-transformers<7", '
        "then restart it",
    )


def test_the_remedies_the_extra_and_the_tests_agree():
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]["rankers"]
    assert sorted(extra) == sorted({*SENTENCE_TRANSFORMERS, *HUGGINGFACE_API} - {"torch"})
    lines = (ROOT / "tests" / "requirements-models.txt").read_text("utf-8").splitlines()
    pins = [line.split("#")[0].strip() for line in lines]
    assert pins[0].startswith("torch==")
    assert {each for each in extra if "==" in each} <= set(pins)
    assert any(each.startswith("sentence-transformers==6.") for each in pins)


def test_the_removed_ranker_is_mapped_to_its_successor():
    (removed,) = REMOVED
    assert removed.successor in STAGES
    assert "calibration_factor, which has no successor" in removed.explanation
    step, notices = from_transformers_similarity(
        {
            "model": "ce",
            "top_k": 3,
            "scale_score": True,
            "calibration_factor": 2.0,
            "device": "cpu",
            "score_threshold": None,
        }
    )
    assert step == Step("similarity", {"model": "ce", "top_k": 3, "scale_score": True})
    assert [notice.split(" ")[0] for notice in notices] == ["calibration_factor=2.0", "device"]
    assert nodes(Plan(ranks=(step,)), EVERYTHING)[1].settings["top_k"] == 3
    assert from_transformers_similarity({"calibration_factor": 1.0})[1] == ()
    assert from_transformers_similarity({"calibration_factor": 3, "scale_score": False})[1] == ()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("top_k", [1, 2, 5, 40, 100])
def test_the_comparisons_of_maximum_margin_relevance(count, top_k):
    assert mmr_comparisons(count, top_k) == sum(chosen * (count - chosen) for chosen in range(1, min(count, top_k)))


def test_the_bound_names_the_largest_top_k_that_fits():
    check_mmr(200, 49)
    assert mmr_comparisons(200, 49) <= MAX_MMR_COMPARISONS < mmr_comparisons(200, 50)
    with pytest.raises(Trouble) as caught:
        check_mmr(200, 200)
    assert caught.value.remedy.startswith("Set its top_k to 49 or less")


def test_a_lambda_that_counts_is_a_lambda():
    shares: list[float] = []
    weight = Ticking.of(0.25, 6, 4, shares.append)
    products = [weight * 8.0 for chosen in range(1, 4) for _ in range(6 - chosen)]
    assert products == [2.0] * 12
    assert 1 - weight == 0.75
    assert 0 <= weight <= 1
    assert shares == [5 / 22, 13 / 22, 1.0]


# Who imports a module: the nearest frame that is not the import system's own.
WATCH = """
import importlib.abc, sys, traceback
HEAVY, seen = ("sentence_transformers", "transformers", "torch"), []
class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in HEAVY:
            files = [f.filename for f in traceback.extract_stack()]
            if "<frozen importlib.util>" not in files:  # that one only looks whether it is installed
                seen.append((name, [file for file in files if "importlib" not in file][-2]))
sys.meta_path.insert(0, Watch())
sys.path.insert(0, ROOT)
"""
RUNS = {
    "lim": "import lim",
    "stages": "import lim.stages",
    "plain stages": """
from haystack import Document
from lim.stages import Configuration, Plan, Step, STAGES, availability, run, to_yaml
everything = Configuration(("a",), ("b",), "http://localhost:1", None, ("c",), "http://localhost:1")
[availability(key, everything) for key in STAGES]
plan = Plan(retrieve=Step("bm25"), ranks=(Step("meta_field", {"meta_field": "a"}),))
assert run(plan, [Document(content="a b", meta={"a": 1})], "a").verdict.holds
to_yaml(plan)
""",
    "app": """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file(ROOT + "/app.py", default_timeout=120).run()
assert not app.exception
""",
    "pipeline page": """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file(ROOT + "/app.py", default_timeout=120).switch_page("lim/views/pipeline.py")
app.query_params["rank_1"], app.query_params["pipeline_tab"] = "SentenceTransformersDiversityRanker", "What can run"
app.run()
assert not app.exception and len(app.dataframe) == 1
""",
}


@pytest.mark.parametrize("code", RUNS.values(), ids=RUNS)
def test_no_model_library_is_imported_before_a_stage_needs_it(code):
    printed = fresh(f"ROOT = {str(ROOT)!r}\n{WATCH}\n{code}\nprint([m for m in HEAVY[:2] if m in sys.modules], seen)")
    loaded, by = printed.strip().splitlines()[-1].split("] ", 1)
    assert loaded == "["
    importers = ast.literal_eval(by)
    assert [name for name, file in importers if file.startswith((f"{ROOT}/lim", f"{ROOT}/app.py"))] == []
    assert all(name == "torch" for name, _ in importers)


def test_the_watch_above_would_notice():
    code = (
        f"ROOT = {str(ROOT)!r}\n{WATCH}\ntry:\n    import transformers\nexcept ImportError:\n    pass\nprint(seen[0])"
    )
    assert "('transformers', '<string>')" in fresh(code)
    assert sys.modules.get("sentence_transformers") is None or importlib.util.find_spec("sentence_transformers")
