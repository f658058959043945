"""The Tune page, without a browser: the sample, an upload, a paste, one list, the goal, the way to the Lab."""

import csv
import io
import json
import re
from functools import partial
from importlib.metadata import version

import pytest
import streamlit as st
from app_page import ROOT, metrics, opened, press, sound, title
from streamlit.testing.v1 import AppTest

from lim import export, load, measure
from lim.frames import tune as frames
from lim.tuning import Objective, best, counts, gather, outcome, told

page = partial(opened, "tune")

FILE = ROOT / "sample_data" / "many_queries.jsonl.gz"
LISTS = load(FILE.read_bytes(), FILE.name).lists
POOL = gather(LISTS)
HAYSTACK = version("haystack-ai")
QUESTIONS = "\n".join(
    json.dumps({"question": f"Q{number}", "passage": "word " * (10 * rank), "useful": rank == 2, "docid": f"d{rank}"})
    for number in range(3)
    for rank in range(1, number + 4)
)


def paste(text: str) -> AppTest:
    at = page(source="Paste")
    at.text_area(key="pasted").set_value(text)
    return sound(at)


def said(at: AppTest) -> str:
    return re.sub(r"\\(.)", r"\1", " ".join(each.value for each in [*at.markdown, *at.caption]))


@pytest.fixture(scope="module")
def first() -> AppTest:
    return page()


def test_the_page_opens_with_the_sample_of_many_queries(first):
    figures = outcome(POOL, 500, None, 1000)
    assert title(first) == f"{told.verdict(figures)}."
    assert metrics(first) == {
        "Over the budget": "3.2%",
        "Relevant kept": "97.9%",
        "Lose a relevant one": "6.8%",
        "95% have at most": "938 tokens",
        "Documents, median": "6",
        "Words over, mean": "55.1",
    }
    assert len(first.get("vega_lite_chart")) == 4
    assert not first.error
    assert not first.warning


def test_the_best_pair_is_shown_and_used_with_a_click():
    at = page()
    found = best(POOL, 1000, 0.01, Objective.RELEVANT)
    assert told.answer(found, 0.01, 1000, 250) in said(at)
    press(at, "use_best")
    limits = (at.number_input(key="word_count_threshold").value, at.number_input(key="top_k").value)
    assert limits == (found.best.word_count_threshold, found.best.top_k)
    assert title(at) == f"{told.verdict(found.best)}."
    assert at.session_state["slid"] == found.best.word_count_threshold


def test_another_goal_has_another_answer():
    at = page(goal_share="5.0", goal_keep="words", context="2000", reserve="600")
    assert told.answer(best(POOL, 1400, 0.05, Objective.WORDS), 0.05, 1400, 250) in said(at)
    at = page(context="500", reserve="480", goal_share="0.0")
    assert "No pair keeps at most 0 of 250 queries" in re.sub(r"\\(.)", r"\1", at.error[0].value)
    at.number_input(key="reserve").set_value(600)
    sound(at)
    assert "-100 tokens for documents" in re.sub(r"\\(.)", r"\1", at.error[0].value)


@pytest.mark.parametrize("tab", ["Worst queries", "Words and tokens", "Take home"])
def test_every_tab_opens(tab):
    at = page(tune_tab=tab, limit_documents="true", top_k="6")
    figures = outcome(POOL, 500, 6, 1000)
    assert title(at) == f"{told.verdict(figures)}."
    if tab == "Worst queries":
        table = at.dataframe[0].value
        assert table["tokens"].tolist() == sorted(table["tokens"], reverse=True)
        assert table["tokens"].iloc[0] == figures.tokens.most
    elif tab == "Words and tokens":
        assert at.dataframe[0].value["of"].tolist() == ["queries", "documents"]
    else:
        assert at.code[0].value == told.sentence(
            figures, POOL.documents, int(POOL.inputs.sum()) - POOL.documents, f"the sample {FILE.name}", HAYSTACK
        )


def test_one_list_is_welcome_and_the_sample_with_many_is_offered():
    at = paste("one two three\n\nfour five\n\nsix")
    assert title(at) == "The query exceeds 4 tokens, and 2 documents reach the prompt."
    assert "This input has one ranked list" in said(at)
    assert "marks no document as relevant" in said(at)
    press(at, "offer_sample")
    assert title(at) == f"{told.verdict(outcome(POOL, 500, None, 1000))}."


def test_a_pasted_file_of_questions_marks_relevance_by_a_field():
    at = paste(QUESTIONS)
    lists = load(QUESTIONS.encode(), "x.jsonl").lists
    assert len(lists) == 3
    assert "3 ranked lists, all of them counted." in [caption.value for caption in at.caption]
    assert "Relevant kept" not in metrics(at)
    (marks,) = [box for box in at.selectbox if box.label == "Relevant documents"]
    assert marks.options == ["Nothing is marked", "Field useful"]
    marks.select("Field useful")
    sound(at)
    at.number_input(key="word_count_threshold").set_value(10)
    sound(at)
    assert metrics(at)["Relevant kept"] == "0%"
    assert at.session_state["goal_keep"] == "documents marked relevant"  # now that there are some
    assert metrics(at)["Lose a relevant one"] == "100%"
    at.number_input(key="word_count_threshold").set_value(11)
    sound(at)
    assert metrics(at)["Relevant kept"] == "100%"


def test_judgements_mark_relevance_and_bad_ones_are_named():
    at = page(source="Upload")
    at.file_uploader(key="upload").upload("runs.jsonl", QUESTIONS.encode())
    sound(at)
    at.file_uploader(key="qrels").upload("qrels.txt", b"Q0 0 d1 1\nQ1 0 d3 1\n")
    sound(at)
    assert "qrels.txt: 2 of 3 queries are judged." in [text.value for text in at.text]
    assert "Relevant kept" in metrics(at)
    at.file_uploader(key="qrels").set_value([])
    at.file_uploader(key="qrels").upload("qrels.txt", b"these are no judgements\n")
    sound(at)
    assert any("Line 1 of" in error.value for error in at.error)


@pytest.mark.parametrize("source", ["Sample", "Paste", "Upload"])
def test_the_worst_query_opens_in_the_lab_with_the_limits(source):
    if source == "Sample":
        at = page(tune_tab="Worst queries", word_count_threshold="300")
        lists, threshold = LISTS, 300
    else:
        lists, threshold = load(QUESTIONS.encode(), "x.jsonl").lists, 25
        if source == "Paste":
            at = paste(QUESTIONS)
        else:
            at = page(source="Upload")
            at.file_uploader(key="upload").upload("runs.jsonl", QUESTIONS.encode())
            sound(at)
        at.number_input(key="word_count_threshold").set_value(threshold)
        at.session_state["tune_tab"] = "Worst queries"
        sound(at)
    number = int(at.dataframe[0].value["number"].iloc[0])
    kept, of = at.dataframe[0].value[["kept", "documents"]].iloc[0]
    press(at, "open_worst")
    assert metrics(at)["Documents in the prompt"] == f"{kept} of {of}"
    (chosen,) = [box for box in at.selectbox if box.label.startswith("Ranked list")]
    assert chosen.value.startswith(f"{number}. {lists[number - 1].name}"[:60])
    assert at.number_input(key="word_count_threshold").value == threshold
    assert at.get_by_key("source").value == source


def test_without_tokens_the_page_works_in_words(monkeypatch):
    monkeypatch.setattr(measure, "toktok", None)
    st.cache_resource.clear()
    try:
        at = page()
        assert title(at).startswith("Half of the queries send at most")
        assert "95% have at most" in metrics(at)
        assert any("toktok-rs" in info.value for info in at.info)
        for tab in ("Worst queries", "Words and tokens", "Take home"):
            at.session_state["tune_tab"] = tab
            sound(at)
    finally:
        monkeypatch.undo()
        st.cache_resource.clear()


def test_the_charts_can_run_along_top_k():
    at = page(tune_axis="top_k", tune_unit="Documents", limit_words="false", limit_documents="true", top_k="6")
    figures = outcome(POOL, None, 6, 1000)
    assert title(at) == f"{told.verdict(figures)}."
    assert f"Half of the queries send at most {figures.documents.median} documents" in said(at)
    rows = json.loads(at.get("vega_lite_chart")[0].proto.spec)
    assert "top_k" in json.dumps(rows)


def test_nothing_chosen_says_what_the_page_is_for():
    assert title(page(source="Paste")) == "Which threshold suits all your queries?"


def test_the_presenters_slides_show_one_chart_each():
    for slide in ("How large the prompts get", "What it costs", "The pairs"):
        at = page(present="true", slide=slide)
        assert len(at.get("vega_lite_chart")) == 1
        assert title(at) == f"{told.verdict(outcome(POOL, 500, None, 1000))}."


def test_the_queries_file_has_every_query():
    frame = frames.queries(LISTS, POOL, counts(POOL, 500), 1000, "tokens", POOL.queries)
    rows = list(csv.DictReader(io.StringIO(export.table_csv(frame).decode("utf-8-sig"))))
    assert sorted(int(row["number"]) for row in rows) == list(range(1, 251))
