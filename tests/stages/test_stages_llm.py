"""The ranking language model and the answering one, with Haystack's `MockChatGenerator` and over HTTP."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.rankers import LLMRanker
from stage_cases import QUERY, alone, bare, documents, told

from lim.stages import Configuration, Models, Plan, Step, run

CONFIG = Configuration(chat_models=("mock",), chat_url="http://localhost:1/v1")


def answering(reply) -> Models:
    return Models(chat=lambda _config, _model: MockChatGenerator(reply))


def ranked(reply, given=None, **settings):
    trace = run(
        alone(Step("llm", settings)), documents(5) if given is None else given, QUERY, CONFIG, models=answering(reply)
    )
    assert trace.failure is None
    return trace.stages[1]


def indices(*numbers) -> str:
    return json.dumps({"documents": [{"index": number} for number in numbers]})


FALLBACK = "LLMRanker returned all 5 documents in the order it got them; top_k is not applied."
UNUSED = {
    "fenced": ("```json\n" + indices(2, 1) + "\n```", "it is fenced with ```"),
    "truncated": (indices(3, 1, 2)[:-6], "it is not JSON, or was cut off"),
    "prose": ("The best document is 3.", "it is not JSON."),
    "empty": ("", "it is empty"),
    "list": ("[3, 1]", "Expected a JSON object containing a dictionary but got list"),
    "other key": ('{"ranking": []}', "Missing expected keys in JSON"),
    "no list": ('{"documents": {"index": 1}}', "Expected 'documents' in ranking response to be a list"),
    "bare numbers": ('{"documents": [3, 1]}', "Expected each ranked document entry to be a JSON object"),
    "out of range": (indices(9, 0, -1), "did not contain any valid document indices"),
}


@pytest.mark.parametrize(("reply", "cause"), UNUSED.values(), ids=UNUSED)
def test_an_answer_that_was_not_used_is_named(reply, cause):
    theirs = LLMRanker(chat_generator=MockChatGenerator(reply), top_k=2).run(query=QUERY, documents=documents(5))
    stage = ranked(reply, top_k=2)
    assert told(stage.documents) == told(theirs["documents"])
    assert stage.outputs == (1, 2, 3, 4, 5)
    (notice,) = stage.notices
    assert notice.startswith("The model's answer was not used: ")
    assert cause in notice
    assert notice.endswith(FALLBACK)


USED = {
    "good": (indices(4, 2, 1), 10, (4, 2, 1), ()),
    "text numbers": ('{"documents": [{"index": "5"}, {"index": 1}]}', 10, (5, 1), ()),
    "cut by top_k": (indices(4, 2, 1), 2, (4, 2), ()),
    "none relevant": (indices(), 10, (), ()),
    "twice": (indices(3, 3, 1), 10, (3, 3, 1), ("named the same document more than once (its number 3)",)),
    "some invalid": (indices(3, 77, 1), 10, (3, 1), ("1 of the 3 entries in the model's answer name no document",)),
    "no index": ('{"documents": [{"rank": 1}, {"index": 2}]}', 10, (2,), ("1 of the 2 entries",)),
}


@pytest.mark.parametrize(("reply", "top_k", "outputs", "notices"), USED.values(), ids=USED)
def test_an_answer_that_was_used(reply, top_k, outputs, notices):
    theirs = LLMRanker(chat_generator=MockChatGenerator(reply), top_k=top_k).run(query=QUERY, documents=documents(5))
    stage = ranked(reply, top_k=top_k)
    assert told(stage.documents) == told(theirs["documents"])
    assert stage.outputs == outputs
    assert len(stage.notices) == len(notices)
    assert all(part in notice for part, notice in zip(notices, stage.notices, strict=True))


def test_a_repeated_document_is_added_and_taken_out_by_the_arrangement():
    plan = Plan(ranks=(Step("llm"),))
    trace = run(plan, documents(5), QUERY, CONFIG, models=answering(indices(3, 3, 1)))
    assert trace.stages[1].added == (3,)
    assert trace.stages[2].outputs == (3, 1)
    assert trace.stages[2].notices == ("1 left out: copies of another.",)


def test_indices_count_documents_without_copies():
    given = [Document(id="a", content="1"), Document(id="a", content="1"), Document(id="b", content="2")]
    stage = ranked(indices(2), given)
    assert stage.outputs == (3,)


def test_raise_on_failure_fails():
    trace = run(alone(Step("llm", {"raise_on_failure": True})), documents(5), QUERY, CONFIG, models=answering("prose"))
    assert trace.failure is not None
    assert "JSON was expected" in trace.failure.cause
    assert trace.failure.remedy == "Check LIM_CHAT_MODEL, LIM_CHAT_URL and LIM_CHAT_TOKEN."


def test_the_run_equals_the_pipelines():
    plan = Plan(ranks=(Step("llm"),), generate=Step("chat_generator"))
    models = answering(indices(4, 2, 1))
    trace = run(plan, documents(), QUERY, CONFIG, models=models)
    theirs = bare(plan, documents(), config=CONFIG, chat=models.chat)
    assert told(trace.stages[1].documents) == told(theirs["ranker"]["documents"])
    assert trace.reply == theirs["llm"]["replies"][0].text == indices(4, 2, 1)
    assert trace.stages[-1].inputs == (trace.stages[-2].outputs,)
    assert trace.verdict.holds is True


@pytest.mark.parametrize("prompt", ["prompt_builder", "chat_prompt_builder"])
def test_the_answer_is_to_the_prompt(prompt):
    plan = Plan(prompt=Step(prompt), generate=Step("chat_generator"))
    trace = run(plan, documents(), QUERY, CONFIG, models=answering(None))  # it echoes
    assert trace.prompt is not None
    assert trace.reply == trace.prompt.text


def test_an_empty_answer_is_said():
    trace = run(Plan(generate=Step("chat_generator")), documents(), QUERY, CONFIG, models=answering(""))
    assert trace.reply == ""
    assert trace.stages[-1].notices == ("The model's answer is empty.",)


@contextmanager
def chat_server(status: int, content: str) -> Iterator[tuple[str, list[dict]]]:
    """Speak OpenAI's chat API on loopback."""
    asked: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({"path": self.path, "authorization": self.headers["Authorization"], **body})
            message = {"role": "assistant", "content": content}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            answer = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
            data = json.dumps(answer if status == 200 else {"error": {"message": "no"}}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def test_the_configured_server_ranks_and_answers():
    with chat_server(200, indices(2, 1)) as (url, asked):
        config = Configuration(chat_models=("small",), chat_url=url, chat_token="t0ken")  # noqa: S106 # a test's
        plan = Plan(ranks=(Step("llm"),), generate=Step("chat_generator"))
        trace = run(plan, documents(5), QUERY, config)
    assert trace.failure is None
    assert trace.stages[1].outputs == (2, 1)
    assert trace.reply == indices(2, 1)
    assert [(each["path"], each["authorization"], each["model"]) for each in asked] == [
        ("/v1/chat/completions", "Bearer t0ken", "small")
    ] * 2


@pytest.mark.parametrize(
    ("status", "cause"), [(401, "status 401 (it wants a valid token)"), (404, "status 404"), (400, "status 400")]
)
def test_a_server_that_refuses_is_told_without_its_address(status, cause):
    with chat_server(status, "") as (url, _):
        config = Configuration(chat_models=("small",), chat_url=url)
        trace = run(Plan(ranks=(Step("llm"),), generate=Step("chat_generator")), documents(5), QUERY, config)
    assert cause in trace.stages[1].notices[0]
    assert trace.failure is not None
    assert trace.failure.name == "llm"
    assert cause in trace.failure.cause
    assert "127.0.0.1" not in trace.failure.cause + trace.stages[1].notices[0]


def test_a_server_that_is_not_there():
    trace = run(Plan(generate=Step("chat_generator")), documents(5), QUERY, CONFIG)
    assert trace.failure is not None
    assert trace.failure.cause == "The server could not be reached or hung up (APIConnectionError)."
    assert trace.prompt is not None


def test_without_a_generator_the_stage_says_what_to_set():
    config = Configuration(chat_models=("m",))
    trace = run(Plan(generate=Step("chat_generator")), documents(5), QUERY, config)
    assert trace.failure is not None
    assert trace.failure.remedy.startswith("Set LIM_CHAT_TOKEN")
    assert len(trace.stages) == 3
