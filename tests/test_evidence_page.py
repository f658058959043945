"""The Evidence page, without a browser: every number in it is a row's, and every row has its source."""

import io
import re
from functools import partial
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pytest
from app_page import opened, sound
from streamlit.testing.v1 import AppTest

from lim import evidence, metrics, orders
from lim.frames import evidence as frames

page = partial(opened, "evidence")

TABS = ["Your list", "All curves", "Whole pipelines", "Your metrics", "Other frameworks", "Every row"]
POSITIONS = {
    (row.source, row.model, row.documents, row.gold_position): (
        row.accuracy_pct,
        row.low,
        row.high,
        row.questions,
        row.closed_book_pct,
        row.oracle_pct,
        row.url,
    )
    for row in evidence.measurements()
}
ORDERINGS = {(row.source, row.setting, row.model, row.ordering): (row.score, row.url) for row in evidence.orderings()}
PUBLISHED = {
    round(number, 2)
    for row in evidence.measurements()
    for number in (row.accuracy_pct, row.low, row.high, row.closed_book_pct, row.oracle_pct)
    if number is not None
} | {row.score for row in evidence.orderings()}


def said(at: AppTest) -> str:
    kinds = ("markdown", "info", "caption", "text", "error")
    return "\n".join(each.value for kind in kinds for each in at.get(kind)).replace("\\", "")


def charted(at: AppTest) -> list[pd.DataFrame]:
    """List the data of every chart on the page, as the browser gets it."""
    found = []
    for chart in at.get("vega_lite_chart"):
        for dataset in chart.proto.datasets:
            with pa.ipc.open_stream(io.BytesIO(dataset.data.data)) as stream:
                found.append(stream.read_all().to_pandas())
    return found


def check_rows(frame: pd.DataFrame) -> int:
    """Check each measured row against the published table; return how many there were."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    for row in rows:
        if "position" in row and "accuracy" in row and "source" in row:
            key = (row["source"], row["model"], row["documents"], row["position"])
            shown = (*(row[name] for name in ("accuracy", "low", "high", "questions", "closed_book", "oracle")),)
            assert (*shown, row["url"]) == POSITIONS[key]
        elif "ordering" in row:
            key = (row["source"], row["setting"], row["model"], row["ordering"])
            assert (row["score"], row["url"]) == ORDERINGS[key]
        else:
            return 0
    return len(rows)


@pytest.mark.parametrize("tab", TABS)
def test_every_number_that_is_drawn_is_a_row_with_a_source(tab):
    at = page(shown=tab)
    drawn = sum(map(check_rows, charted(at)))
    assert drawn >= 35 + 20 + 20  # the default view stands above every tab


@pytest.mark.parametrize("length", frames.measured_lengths())
def test_every_curve_of_every_length_is_drawn_from_its_rows(length):
    at = page(shown="All curves", curves_at=f"{length:,}")
    rows = sum(map(check_rows, charted(at)))
    wanted = sum(len(curve.points) for curve in evidence.curves() if curve.documents == length)
    assert rows == wanted + 35 + 20 + 20
    for curve in evidence.curves():
        if curve.documents == length:
            assert curve.source in said(at)


def test_every_percentage_in_a_finding_is_a_published_number():
    at = page(shown="All curves")
    findings = [line for line in said(at).split("\n") if line.startswith("**") and "%" in line]
    assert len(findings) >= 11
    for line in findings:
        for number in re.findall(r"(\d+(?:\.\d+)?)%", line):
            assert float(number) in PUBLISHED, line


def test_the_default_view_shows_the_effect_the_replication_and_the_study_without_one_equally():
    text = said(page())
    liu, replication, realistic = (study.name for study in evidence.studies()[:3])
    assert "GPT-3.5-Turbo 75.8% to 53.8%" in text
    assert "MPT-30B-Instruct 53.7% to 51.8%" in text
    assert f"{replication}, first to worst place" in text
    assert f"{realistic}, whole pipelines: no order of the passages is significantly better" in text
    assert text.index(liu) < text.index(replication) < text.index(realistic)


def test_every_row_of_the_tables_can_be_read_with_its_source():
    table = page(shown="Every row").dataframe[0].value
    assert len(table) == len(evidence.measurements()) + len(evidence.orderings())
    assert table["source"].str.len().min() > 0
    assert table["url"].str.startswith("https://").all()


def test_the_arithmetic_for_a_list_is_the_cores_own():
    at = page(answer_is="At one rank", answer_rank="5")
    curve = next(curve for curve in evidence.curves() if curve.key == "liu-2024/gpt-3.5-turbo/20")
    where = evidence.at_rank(5, 20)
    listed = evidence.expected_accuracy(curve, range(1, 21), where).value
    ours = evidence.expected_accuracy(curve, orders.haystack(range(20, 0, -1)), where).value
    mixed = evidence.shuffled(curve, range(1, 21), where).mean.value
    title = f"Arranged {round(ours, 1):g}%, as listed {round(listed, 1):g}%, shuffled {round(mixed, 1):g}%"
    assert listed == 57.2
    assert title in said(at)
    assert "not a forecast" in said(at)
    assert curve.source in said(at)


def test_what_no_row_speaks_about_is_named():
    at = page(sample="Small list to teach with", in_prompt="7")
    assert "Nobody" in said(at) or "not for 7" in said(at)
    at = page(in_prompt="10", answer_is="Anywhere")
    assert "50%** on documents outside the prompt, counted with 56.1%" in said(at)


def test_a_share_without_a_published_floor_counts_as_uncovered():
    at = page(sample="Small list to teach with", answer_is="Anywhere")
    assert at.number_input(key="in_prompt").value == 5
    assert "29%** is not covered by any row" in said(at)


def test_scores_that_are_missing_are_named():
    at = page(answer_is="From the scores")
    at.get_by_key("source").set_value("Paste")
    sound(at)
    at.text_area(key="pasted").set_value("one\n\ntwo\n\nthree\n\nfour\n\nfive")
    assert "The score of rank 1 is None" in said(sound(at))


def test_a_page_without_a_list_asks_for_one():
    at = page(shown="Your metrics", source="Paste")
    assert "Choose, paste or upload a list" in said(at)


def test_the_metrics_before_and_after_are_the_cores_own():
    at = page(shown="Your metrics", relevant_top="5")
    grades = metrics.top(5, 20)
    after = metrics.average_precision(orders.haystack(range(20, 0, -1)), grades)
    assert f"Average precision 1.00 goes to {after:.2f}" in said(at)
    at.get_by_key("relevant").set_value("I mark them")
    assert "Mark at least one" in said(sound(at))
    options = at.multiselect(key="marked").options
    at.multiselect(key="marked").set_value([options[0]])
    assert "Average precision 1.00 stays at 1.00" in said(sound(at))


@pytest.mark.parametrize(
    ("count", "scores", "finding"),
    [
        ("6", "Falling", "6 documents: LangChain and LlamaIndex put the best last"),
        ("5", "Falling", "5 documents: every system puts the best first"),
        (
            "6",
            "All equal",
            "6 documents with equal or missing scores: LangChain puts the best last, LlamaIndex puts it in the middle",
        ),
    ],
)
def test_the_even_number_flip_and_the_tie_trap_are_shown(count, scores, finding):
    assert finding in said(page(shown="Other frameworks", frameworks_of=count, frameworks_scores=scores))


def test_a_system_that_needs_scores_says_so():
    at = page(shown="Other frameworks", frameworks_scores="Your list’s")
    at.get_by_key("source").set_value("Paste")
    sound(at)
    at.text_area(key="pasted").set_value("one\n\ntwo\n\nthree")
    sound(at)
    at.get_by_key("frameworks_scores").set_value("Your list’s")
    assert "AutoRAG needs a finite number for every document" in said(sound(at))


def test_labels_at_the_end_of_lines_never_cover_each_other():
    for length in frames.measured_lengths():
        curves = [curve for curve in evidence.curves() if curve.documents == length]
        heights = sorted(frames.end_labels(frames.points(curves), 45, 92)["height"])
        gaps = [after - before for before, after in pairwise(heights)]
        assert min(gaps, default=99) >= 47 * frames.LABEL_GAP - 1e-9
        assert not heights or heights[-1] <= 92


def test_the_first_length_looked_at_is_one_that_was_measured():
    counts = {1: 1, 4: 4, 5: 5, 7: 5, 12: 11, 20: 20, 25: 22, 200: 200, 100_000: 550}
    assert {count: frames.covered_length(count) for count in counts} == counts
