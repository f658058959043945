"""The Lab's Share tab, without a browser: what it offers, what it says, and a session that sets the page."""

import csv
import io
import json
import subprocess
import sys

import pytest
from haystack import Document
from test_lab_page import HAYSTACK, ROOT, SAMPLES, limits, open_tab, order, page, paste, sound, title, upload

from lim import arrange, load, widgets
from lim.export import Texts, session_json
from lim.export.told import Shown
from lim.loading import RankedList, Session
from lim.views import share
from lim.widgets import Picked, bench

ROWS = [{"content": f"passage {n} " * (n + 1), "title": f"Title {n}", "score": 1 / (n + 1)} for n in range(6)]
OFFERED = {
    *("Session (JSON)", "Page (HTML)", "Report (Markdown)", "Report and pictures (zip)", "Table (CSV)"),
    *("Result (JSON)", "Picture (SVG)", "Picture (PNG)", "Python", "Pipeline (YAML)"),
}


def offered(at) -> set[str]:
    return {each.proto.label for each in at.get("download_button")}


def said(at) -> str:
    return "\n".join(each.value for each in (*at.caption, *at.markdown, *at.warning, *at.success))


@pytest.mark.parametrize("texts", ["Full texts", "Titles only", "Numbers only"])
def test_everything_is_offered_whatever_is_told(texts):
    at = page(tab="Share", texts=texts)
    test = {"Test of the order (pytest)"} if texts == "Full texts" else set()
    assert offered(at) == OFFERED | test
    assert share.MEANS[share.TEXTS[texts]] in said(at)
    assert ("with your original file beside it" in said(at)) == (texts != "Full texts")
    assert "reproduces this view" in said(at)


def test_the_link_of_a_persons_own_documents_carries_settings_only():
    at = open_tab(paste(json.dumps(ROWS)), "Share")
    assert "carries the settings only, never a document" in said(at)
    assert "passage" not in json.dumps(dict(at.query_params))


def test_a_list_too_long_for_a_page_says_so():
    at = open_tab(paste(json.dumps([{"content": f"text {n}"} for n in range(1_001)])), "Share")
    assert "It holds at most 1,000 documents, and this list has 1,001." in said(at)
    assert offered(at) == (OFFERED | {"Test of the order (pytest)"}) - {"Page (HTML)"}


def saved(*documents: Document) -> bytes:
    shown = Shown(RankedList("documents", documents), arrange(documents), None, ())
    return session_json(shown, Session("", None, None))


def picked(rows=ROWS) -> tuple[Picked, Shown]:
    loaded = load(json.dumps(rows).encode(), "rows.json")
    made = bench(loaded.lists[0], ("upload", json.dumps(rows)))
    arrangement = made.unlimited.limited(12, 5)
    return Picked(made, loaded, None), Shown(made.ranked, arrangement, tuple(made.tokens), made.findings)


@pytest.mark.parametrize(
    ("texts", "columns"),
    [
        (Texts.FULL, {"id", "text"}),
        (Texts.TITLES, {"id", "title"}),
        (Texts.NUMBERS, set()),
    ],
)
def test_the_table_has_no_column_for_what_it_may_not_tell(texts, columns):
    _, shown = picked()
    rows = list(csv.DictReader(io.StringIO(share.table(shown, texts).decode("utf-8-sig"), newline="")))
    numbers = {"rank", "position", "fate", "why", "words", "cumulative_words", "tokens", "score"}
    assert set(rows[0]) == numbers | columns
    assert [row["position"] for row in rows] == ["1", "3", "2", "", "", ""]
    if texts is Texts.TITLES:
        assert [row["title"] for row in rows] == [f"Title {n}" for n in range(6)]


def test_the_test_of_the_order_passes_under_pytest(tmp_path):
    chosen, shown = picked()
    (tmp_path / "test_prompt_order.py").write_bytes(share.order_test(chosen, shown.arrangement))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout


def test_a_session_sets_the_page_once():
    entry = SAMPLES["duplicates"]
    documents = load((ROOT / "sample_data" / entry["file"]).read_bytes(), entry["file"]).lists[0].documents
    ranked = RankedList("documents", documents)
    made = Shown(ranked, arrange(documents, 120, 6), None, ())
    data = session_json(made, Session("", None, None, form="Slope", picked=3, context=900, reserve=50))
    at = upload("session.json", data)
    (opened,) = at.success
    assert opened.value == widgets.verbatim(f"Opened a session made with {HAYSTACK}; settings restored.")
    assert not at.warning
    assert order(at) == made.arrangement.order
    assert (limits(at)[0], at.number_input(key="top_k").value) == (120, 6)
    assert (at.session_state["form"], at.session_state["picked"]) == ("Slope", 3)
    open_tab(at, "Fit a budget")
    assert (at.number_input(key="context").value, at.number_input(key="reserve").value) == (900, 50)
    at.number_input(key="word_count_threshold").set_value(30)
    sound(at)
    assert limits(at)[0] == 30
    assert "your threshold of 30" in title(at)
    at.selectbox(key="order").set_value("By score, highest first")
    sound(at)
    assert limits(at)[0] == 30


def test_a_session_without_limits_switches_them_off_and_one_that_was_changed_warns():
    data = saved(*(Document(content=f"passage {n}") for n in range(4)))
    at = upload("session.json", data.replace(b"passage 2", b"passage two"))
    assert "with no word limit" in title(at)
    assert not at.session_state["limit_words"]
    assert ["hash of the whole" in each.value for each in at.warning] == [True, False]
    assert "The text of document 3 was changed" in at.warning[1].value


def test_a_newer_or_a_cut_session_is_explained_on_the_page():
    data = saved(Document(content="one"), Document(content="two"))
    at = upload("session.json", data.replace(b'"format_version": 1', b'"format_version": 3'))
    assert "a newer lab saved it" in at.error[0].value
    at = upload("session.json", data[:-30])
    assert "breaks off or is damaged at line" in at.error[0].value
