"""Real pipelines in which a component behind the ranker undoes the order: each is identified."""

import asyncio
import logging
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder, PromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker, MetaFieldRanker
from haystack.components.routers import LLMMessagesRouter
from haystack.core.errors import PipelineConnectError, PipelineRuntimeError
from haystack.dataclasses import ChatMessage

from lim import SettingError, arrange
from lim.audit import KnownOrder, PromptError, PromptOrderAudit, audit
from lim.audit.component import PromptOrderError

TEMPLATE = "{% for d in documents %}{{ loop.index }}. {{ d.content }}\n{% endfor %}Question: {{ query }}"
SORTING = "{% for d in documents | sort(attribute='score', reverse=true) %}{{ d.content }}\n{% endfor %}"
BY_TEXT = "{% for d in documents | sort(attribute='content') %}{{ d.content }}\n{% endfor %}"
PLACES = ["Oslo", "Bergen", "Turku", "Aarhus", "Visby", "Riga", "Narva", "Gdansk"]
DAYS = ["2024-03-05", "2021-01-01", "2023-07-30", "2022-02-02", "2020-12-24", "2025-01-01", "2019-05-05", "2024-12-01"]
MODULES = ["lim.audit.component"]


def documents() -> list[Document]:
    return [
        Document(content=f"The harbour of {place} was dredged.", score=1 - rank / 10, meta={"date": DAYS[rank]})
        for rank, place in enumerate(PLACES)
    ]


def pipeline(*between: tuple[str, Any, str], template: str = TEMPLATE, **settings: Any) -> Pipeline:
    """Ranker, what stands between, prompt builder, and the audit of what came out."""
    built = Pipeline()
    built.add_component("ranker", LostInTheMiddleRanker())
    built.add_component("builder", PromptBuilder(template, required_variables=["documents"]))
    built.add_component("audit", PromptOrderAudit(**settings))
    sender = "ranker.documents"
    for name, instance, output in between:
        built.add_component(name, instance)
        built.connect(sender, name)
        sender = f"{name}.{output}"
    built.connect(sender, "builder.documents")
    built.connect("builder.prompt", "audit.prompt")
    built.connect("ranker.documents", "audit.documents")
    return built


def report_of(built: Pipeline) -> dict[str, Any]:
    result = built.run({"ranker": {"documents": documents()}}, include_outputs_from={"builder"})
    assert result["audit"]["prompt"] is result["builder"]["prompt"]
    report: dict[str, Any] = result["audit"]["report"]
    return report


def test_the_prompt_is_passed_on_as_the_very_object() -> None:
    messages = [ChatMessage.from_user("Hello")]
    assert PromptOrderAudit().run(messages, [])["prompt"] is messages


def test_nothing_between() -> None:
    report = report_of(pipeline(on_mismatch="raise"))
    assert report["holds"]
    assert report["order"] == KnownOrder.INTENDED


UNDOING = [
    ([("joiner", DocumentJoiner(sort_by_score=True), "documents")], TEMPLATE, KnownOrder.RELEVANCE, "sort_by_score"),
    ([("second", MetaFieldRanker("date"), "documents")], TEMPLATE, KnownOrder.SORTED, "MetaFieldRanker"),
    ([("second", LostInTheMiddleRanker(), "documents")], TEMPLATE, KnownOrder.ARRANGED_TWICE, "arranged twice"),
    ([], SORTING, KnownOrder.RELEVANCE, "a template that sorts"),
    ([], BY_TEXT, KnownOrder.SORTED, "content, ascending"),
]


@pytest.mark.parametrize(("between", "template", "order", "said"), UNDOING)
def test_what_undoes_the_order_is_identified(between: Any, template: str, order: KnownOrder, said: str) -> None:
    report = report_of(pipeline(*between, template=template))
    assert not report["holds"]
    assert report["order"] == order
    assert said in report["culprit"]


def test_a_limit_behind_the_ranker() -> None:
    report = report_of(pipeline(("joiner", DocumentJoiner(sort_by_score=False, top_k=5), "documents")))
    assert not report["holds"]
    assert len(report["missing"]) == 3
    assert report["order"] == KnownOrder.INTENDED


def test_a_joiner_that_keeps_the_order_is_no_culprit() -> None:
    assert report_of(pipeline(("joiner", DocumentJoiner(sort_by_score=False), "documents")))["holds"]


def test_raising_stops_the_pipeline() -> None:
    built = pipeline(("joiner", DocumentJoiner(), "documents"), on_mismatch="raise")
    with pytest.raises((PipelineRuntimeError, PromptOrderError), match="relevance order") as failed:
        built.run({"ranker": {"documents": documents()}})
    assert "Oslo" not in str(failed.value)


def test_the_log_line_is_structured_and_without_texts(caplog: pytest.LogCaptureFixture) -> None:
    built = pipeline(("joiner", DocumentJoiner(), "documents"))
    with caplog.at_level(logging.WARNING):
        report_of(built)
    (record,) = [each for each in caplog.records if each.name == "lim.audit.component"]
    assert "order=relevance order" in record.getMessage()
    assert "actual=[" in record.getMessage()
    assert "Oslo" not in record.getMessage()
    assert record.order == "relevance order"  # type: ignore[attr-defined] # Haystack passes the fields on
    assert record.first_departure == 2  # type: ignore[attr-defined]


def test_texts_are_logged_when_asked(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        report = report_of(pipeline(("joiner", DocumentJoiner(), "documents"), log_text=True))
    assert "Oslo" in caplog.text
    assert "Oslo" in report["prompt"]


@pytest.mark.parametrize("settings", [{}, {"sample_rate": 0.25, "on_mismatch": "raise", "log_text": True}])
def test_yaml_round_trip(settings: dict[str, Any]) -> None:
    built = pipeline(prompt_type="string", **settings)
    again = Pipeline.loads(built.dumps(), allowed_modules=MODULES)
    assert again.to_dict()["components"] == built.to_dict()["components"]
    assert set(again.graph.edges) == set(built.graph.edges)
    assert vars(again.get_component("audit"))["sample_rate"] == settings.get("sample_rate", 1.0)
    result = again.run({"ranker": {"documents": documents()}})
    assert result["audit"]["report"].get("holds", True)


def test_async_runs_alike() -> None:
    built = pipeline(("joiner", DocumentJoiner(), "documents"))
    result = asyncio.run(built.run_async({"ranker": {"documents": documents()}}))
    assert result["audit"]["report"] == report_of(built)


def chat(audit_component: PromptOrderAudit) -> Pipeline:
    built = Pipeline()
    messages = [ChatMessage.from_system("Answer."), ChatMessage.from_user(TEMPLATE)]
    built.add_component("ranker", LostInTheMiddleRanker())
    built.add_component("builder", ChatPromptBuilder(messages, required_variables=["documents"]))
    built.add_component("audit", audit_component)
    built.add_component("llm", MockChatGenerator())
    built.connect("ranker.documents", "builder.documents")
    built.connect("ranker.documents", "audit.documents")
    built.connect("builder.prompt", "audit.prompt")
    built.connect("audit.prompt", "llm.messages")
    return built


@pytest.mark.parametrize("prompt_type", ["any", "messages"])
def test_messages_go_to_a_chat_generator_unchanged(prompt_type: Any) -> None:
    built = Pipeline.loads(chat(PromptOrderAudit(prompt_type=prompt_type)).dumps(), allowed_modules=MODULES)
    result = built.run({"ranker": {"documents": documents()}}, include_outputs_from={"audit", "builder"})
    assert result["audit"]["prompt"] == result["builder"]["prompt"]
    assert result["audit"]["report"]["holds"]
    assert result["audit"]["report"]["documents"][0]["message"] == 2
    assert result["llm"]["replies"]


def test_a_string_goes_to_a_chat_generator() -> None:
    built = pipeline()
    built.add_component("llm", MockChatGenerator())
    built.connect("audit.prompt", "llm.messages")
    assert built.run({"ranker": {"documents": documents()}})["llm"]["replies"]


def test_a_component_that_takes_messages_only_needs_the_type_said() -> None:
    router = LLMMessagesRouter(chat_generator=MockChatGenerator(), output_names=["ok"], output_patterns=["."])
    for prompt_type, fits in (("any", False), ("messages", True)):
        built = Pipeline()
        built.add_component("audit", PromptOrderAudit(prompt_type=prompt_type))  # type: ignore[arg-type] # both are
        built.add_component("router", router if fits else _messages_only())
        if fits:
            built.connect("audit.prompt", "router.messages")
        else:
            with pytest.raises(PipelineConnectError):
                built.connect("audit.prompt", "router.messages")


def _messages_only() -> Any:
    @component
    class MessagesOnly:
        @component.output_types(count=int)
        def run(self, messages: list[ChatMessage]) -> dict[str, int]:
            return {"count": len(messages)}

    return MessagesOnly()


def test_a_prompt_of_another_type_than_promised_is_refused() -> None:
    with pytest.raises(PromptError, match="prompt_type is 'messages'"):
        PromptOrderAudit(prompt_type="messages").run("text", documents())


@pytest.mark.parametrize(
    "settings",
    [
        {"sample_rate": 1.5},
        {"sample_rate": True},
        {"sample_rate": "1"},
        {"sample_rate": float("nan")},
        {"on_mismatch": "ignore"},
        {"prompt_type": "list"},
    ],
)
def test_settings_out_of_bounds_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=str(next(iter(settings)))):
        PromptOrderAudit(**settings)


def test_only_a_sample_is_audited() -> None:
    given = arrange(documents()).documents
    prompt = "\n".join(document.content or "" for document in given)
    audited = [PromptOrderAudit(sample_rate=0.3).run(prompt, given)["report"]["audited"] for _ in range(400)]
    assert 60 < sum(audited) < 180
    assert PromptOrderAudit(sample_rate=0, on_mismatch="raise").run("nothing", given)["report"] == {"audited": False}


def test_a_prompt_that_cannot_be_audited_passes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("lim.audit.prompts.MAX_PROMPT_CHARACTERS", 10)
    result = PromptOrderAudit().run("x" * 20, documents())
    assert result["prompt"] == "x" * 20
    assert "at most 10" in result["report"]["error"]
    assert "was not audited" in caplog.text
    with pytest.raises(PromptError, match="at most 10"):
        PromptOrderAudit(on_mismatch="raise").run("x" * 20, documents())


def test_the_report_is_that_of_the_library() -> None:
    given = arrange(documents()).documents
    prompt = "\n".join(document.content or "" for document in given[::-1])
    report = PromptOrderAudit().run(prompt, given)["report"]
    assert report == {"audited": True, **audit(prompt, given).to_dict(tokens=False)}
