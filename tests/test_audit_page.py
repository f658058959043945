"""The Audit page, without a browser: every sample, a paste, an upload, a trace, and what cannot be audited."""

import gzip
import json
from dataclasses import replace
from functools import partial

import pytest
from app_page import ROOT, metrics, opened, sound, title
from haystack import Document
from streamlit.testing.v1 import AppTest

from lim import arrange, widgets
from lim.audit import Status, audit, two_places
from lim.audit.traces import audit_traces
from lim.charts import audit as draw
from lim.frames import audit as frames

page = partial(opened, "audit")

SAMPLES = ROOT / "sample_data" / "audit"
TITLES = {sample["key"]: sample["title"] for sample in json.loads((SAMPLES / "samples.json").read_text("utf-8"))}
VERDICTS = {
    "intact": "The prompt holds all 8 documents in the intended order",
    "sorted-by-score": "The order was lost: the prompt holds its 8 documents in relevance order",
    "document-twice": "The order is intact, but document 1 stands in the prompt more than once",
    "truncated": "The order is intact, but 3 of 8 documents are missing and document 8 is there only in part",
    "trace": "109 of 200 requests kept the intended order; most have lost it since request 105",
}
TEXTS = [f"{word} is the text of a document that nobody would confuse." for word in ("One", "Two", "Three", "Four")]


def sample(key: str, **more: str) -> AppTest:
    return page(audit_sample=TITLES[key], **more)


def paste(prompt: str, documents: str = "\n\n".join(TEXTS), at: AppTest | None = None) -> AppTest:
    at = at or page()
    at.get_by_key("audit_source").set_value("Paste")
    sound(at)
    at.get_by_key("source").set_value("Paste")
    sound(at)
    at.text_area(key="pasted").set_value(documents)
    at.text_area(key="audit_pasted").set_value(prompt)
    return sound(at)


def upload(name: str, data: bytes) -> AppTest:
    at = page(audit_source="Upload")
    at.file_uploader(key="audit_upload").upload(name, data)
    return sound(at)


def rows(at: AppTest, *columns: str) -> list[tuple]:
    frame = at.dataframe[0].value[list(columns)].astype(object)
    return list(frame.where(frame.notna(), None).itertuples(index=False, name=None))


@pytest.mark.parametrize("key", TITLES)
def test_every_sample_leads_with_its_verdict(key):
    at = sample(key)
    assert title(at) == VERDICTS[key]
    assert not at.error
    assert len(at.get("vega_lite_chart")) == (2 if key == "trace" else 1)


def test_without_a_choice_the_page_shows_what_it_is_for():
    assert title(page()) == VERDICTS["sorted-by-score"]


def test_the_facts_are_those_of_the_audit():
    at = sample("truncated")
    report, _ = widgets.audit_sample("truncated.json")
    assert metrics(at) == {
        "Documents in the prompt": "5 of 8",
        "Kendall’s tau": "1.00",
        "Words": f"{report.words:,}",
        "Tokens (o200k)": f"{report.tokens:,}",
        "Documents’ share": f"{report.document_share:.0%}",
    }
    assert rows(at, "number", "status", "position", "survives") == [
        (1, "in the prompt", 1, 100),
        (2, "missing", None, 0),
        (3, "in the prompt", 2, 100),
        (4, "missing", None, 0),
        (5, "in the prompt", 3, 100),
        (6, "missing", None, 0),
        (7, "in the prompt", 4, 100),
        (8, "in the prompt, in part", 5, 67),
    ]
    assert any("likely the prompt was cut at its end" in mark.value for mark in at.markdown)


def test_known_orders_tell_the_distance_to_each():
    at = sample("sorted-by-score", audit_tab="Known orders")
    told = {order: (tau, agrees) for order, tau, agrees in rows(at, "order", "tau", "agrees")}
    assert told["intended order"] == (0.1429, "differs from position 2 on")
    assert told["relevance order"] == (1.0, "the same")


def test_the_generated_test_holds_the_documents_and_the_template():
    at = sample("sorted-by-score", audit_tab="Test")
    at.text_area(key="audit_template").set_value("{% for d in documents %}<{{ d.content }}>{% endfor %}")
    (code,) = sound(at).code
    compile(code.value, "test_prompt_order.py", "exec")
    assert "light-1" in code.value
    assert "<{{ d.content }}>" in code.value
    assert any("pip install ." in caption.value for caption in at.caption)


def test_a_trace_tells_when_it_began_and_shows_the_first_that_lost_it():
    at = sample("trace")
    assert metrics(at)["Kept the order"] == "54.5%"
    assert metrics(at)["First lost"] == "request 105"
    assert metrics(at)["Lost since"] == "2025-03-04 21:53"
    assert at.subheader[0].value == "The first that lost it: request 105"
    assert any("DocumentJoiner gave the documents in another order" in mark.value for mark in at.markdown)
    table = rows(at, "number", "kept", "changed_by")
    assert len(table) == 200
    assert [kept for _, kept, _ in table].count("kept") == 109
    assert table[103:105] == [(104, "kept", ""), (105, "lost", "DocumentJoiner")]


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 2, 3, 1], "The prompt holds all 4 documents in the intended order"),
        ([0, 1, 2, 3], "The order was lost: the prompt holds its 4 documents in relevance order"),
        (
            [1, 0, 3],
            "The order was lost: the prompt holds its 3 documents in no known order; 1 of 4 documents is missing",
        ),
    ],
)
def test_a_pasted_prompt_is_audited_beside_pasted_documents(order, said):
    at = paste("Question?\n" + "\n".join(f"- {TEXTS[index]}" for index in order))
    assert title(at) == said
    assert "audit_pasted" not in at.query_params
    assert not any(text in str(dict(at.query_params)) for text in TEXTS)


def test_messages_may_be_pasted_as_json():
    content = " ".join(TEXTS[index] for index in (0, 2, 3, 1))
    at = paste(json.dumps([{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]))
    assert title(at) == VERDICTS["intact"].replace("8", "4")
    assert [message for (message,) in rows(at, "message")] == [2, 2, 2, 2]


def test_limits_and_the_list_as_it_is_change_what_is_expected():
    at = paste(" ".join(TEXTS[:2]))
    at.number_input(key="audit_top_k").set_value(2)
    assert title(sound(at)) == "The prompt holds all 2 documents in the intended order"
    assert [status for (status,) in rows(at, "status")][2:] == ["left out, as intended"] * 2
    at = paste(" ".join(TEXTS))
    at.get_by_key("audit_expected").set_value("The list as it is")
    assert title(sound(at)) == "The prompt holds all 4 documents in the intended order"


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_paste_says_what_to_do(prompt):
    at = paste(prompt)
    assert title(at) == "Does your prompt still hold the order?"
    assert not at.error


@pytest.mark.parametrize("prompt", ["{", "[]", "[1, 2]", '{"role": "user", "content": null}', "<b>*x*</b> $a$ \x00"])
def test_a_prompt_without_the_documents_says_so(prompt):
    at = paste(prompt)
    assert title(at) == "The prompt holds none of the 4 documents"
    assert any("None of the documents is in the prompt" in mark.value for mark in at.markdown)


def test_documents_without_a_prompt_and_a_prompt_without_documents():
    assert title(paste("A prompt", "")) == "Does your prompt still hold the order?"
    at = paste("A prompt", json.dumps([{"content": ""}]))
    assert title(at) == "No document has a text to look for"


def test_an_uploaded_trace_may_be_gzipped():
    at = upload("export.jsonl.gz", gzip.compress((SAMPLES / "trace.jsonl").read_bytes()))
    assert title(at) == VERDICTS["trace"]


def test_an_uploaded_prompt_is_read_as_text():
    at = upload("prompt.txt", "Frühling\n".encode("cp1252") + TEXTS[0].encode())
    assert title(at).startswith("The prompt holds none of the")  # the documents beside it are the Lab's sample
    at = upload("prompt.json", json.dumps({"messages": [{"role": "user", "content": "Hello"}]}).encode())
    assert title(at).startswith("The prompt holds none of the")


@pytest.mark.parametrize("name", ["trace.jsonl", "trace.json", "trace.gz"])
def test_a_damaged_trace_is_told_in_words(name):
    at = upload(name, gzip.compress(b"{}" * 999)[:20] if name.endswith("gz") else b"\x00\xff no trace")
    assert len(at.error) == 1 or "No request" in title(at)


def test_a_trace_without_documents_says_what_was_read():
    at = upload("trace.jsonl", b'{"name": "step"}\n{"name": "step"}\n')
    assert title(at) == "No request in this trace has both documents and an LLM call"


def test_a_persons_text_is_only_ever_escaped():
    evil = "<img src=x onerror=alert(1)> & this is the text of an evil document"
    at = paste(f"<script>alert(2)</script> {evil}", json.dumps([{"content": evil}]))
    (html,) = [each.proto.body for each in at.get("html")]
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; this" in html
    assert "&lt;script&gt;" in html
    assert "<img" not in html
    assert "<script" not in html


def test_a_copy_is_a_line_of_its_own_and_a_missing_document_a_point():
    documents = [Document(content=text) for text in TEXTS]
    report = audit("\n".join((TEXTS[0], TEXTS[2], TEXTS[1], TEXTS[2])), documents, expected="arranged")
    slope = frames.slope(report)
    placed = slope[slope["side"] == frames.ACTUAL]
    rows = set(zip(placed["place"], placed["label"], placed["straight"], strict=True))
    assert (1, "1", True) in rows
    assert {label for place, label, _ in rows if place in (2, 4)} == {"3", "3 again"}
    assert slope[slope["number"] == 4]["label"].tolist() == ["4 missing"]
    assert report.numbers(Status.MISSING) == (4,)


def test_long_lists_are_thinned_and_the_chart_says_so():
    documents = [Document(content=f"Document with the number {n:04} and nothing else.") for n in range(600)]
    report = audit("\n".join(d.content for d in arrange(documents).documents), documents, expected="arranged")
    figure = draw.slope(frames.slope(report), report)
    assert frames.slope(report)["number"].nunique() == 240
    assert "240 of 600 documents drawn" in figure.subtitle
    backwards = audit("\n".join(d.content for d in documents[::-1]), documents)
    assert draw.slope(frames.slope(backwards), backwards).title == "600 of 600 passages stand elsewhere than intended"
    figure.chart.to_dict()


def test_where_nothing_is_found_nothing_is_said_to_stand_right():
    report = audit("What is the time?", [Document(content=text) for text in TEXTS])
    assert draw.slope(frames.slope(report), report).title == "None of the documents was found in the prompt"
    assert "may be the wrong ones" in report.culprit


@pytest.mark.parametrize(("tau", "said"), [(-0.0049, "0.00"), (0.0, "0.00"), (-0.006, "-0.01"), (1.0, "1.00")])
def test_tau_has_no_sign_where_it_rounds_to_zero(tau, said):
    assert two_places(tau) == said
    report = audit("\n".join(TEXTS), [Document(content=text) for text in TEXTS])
    report = replace(report, comparisons=(replace(report.comparisons[0], tau=tau),))
    (shown,) = frames.orders(report)["tau"]
    assert f"{shown:.2f}" == said


def test_a_prompt_beside_the_sample_says_whose_documents_are_sought():
    at = page(audit_source="Paste")
    at.text_area(key="audit_pasted").set_value("A prompt of one's own")
    (info,) = sound(at).info
    assert "choose Paste or Upload under **Documents**" in info.value
    assert not paste("A prompt of one's own").info
    assert not sample("intact").info


def test_the_bars_of_a_trace_count_every_request():
    trace = audit_traces(SAMPLES / "trace.jsonl")
    bars = frames.outcomes(trace)
    assert bars.groupby("outcome")["count"].sum().to_dict() == {"kept": 109, "lost": 91}
    assert draw.requests(bars, trace).alt == f"{VERDICTS['trace']}."
