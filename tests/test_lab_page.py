"""Every state of the Lab, without a browser."""

import json
import re
from functools import partial
from html import unescape
from importlib.metadata import version

import pytest
from app_page import ROOT, metrics, opened, sound, title
from haystack.components.rankers import LostInTheMiddleRanker as HaystackRanker
from streamlit.testing.v1 import AppTest

from lim import load, measure, story, widgets
from lim.ranker import Arrangement, arrange

page = partial(opened, "lab")

HAYSTACK = f"haystack-ai {version('haystack-ai')}"
SAMPLES = {entry["key"]: entry for entry in json.loads((ROOT / "sample_data" / "samples.json").read_text("utf-8"))}
FIRST = (
    "12 of 20 documents reach the prompt: 1,110 words, 110 over your threshold of 1,000, because the document that "
    "crosses it is kept."
)


def paste(text: str, at: AppTest | None = None) -> AppTest:
    at = at or page()
    at.get_by_key("source").set_value("Paste")
    sound(at)
    at.text_area(key="pasted").set_value(text)
    return sound(at)


def upload(name: str, data: bytes, at: AppTest | None = None) -> AppTest:
    at = at or page()
    at.get_by_key("source").set_value("Upload")
    sound(at)
    at.file_uploader(key="upload").upload(name, data)
    return sound(at)


def records(*texts: str, **columns: list) -> str:
    return json.dumps(
        [{"content": text, **{name: values[n] for name, values in columns.items()}} for n, text in enumerate(texts)]
    )


def words(*counts: int) -> str:
    return records(*(f"d{n} " + "word " * (count - 1) if count else "" for n, count in enumerate(counts)))


def limits(at: AppTest) -> tuple[int, int]:
    return at.number_input(key="word_count_threshold").value, at.slider[0].value


def table(at: AppTest, *columns: str) -> list[tuple]:
    frame = at.dataframe[0].value[list(columns)].astype(object)
    return list(frame.where(frame.notna(), None).itertuples(index=False, name=None))


def order(at: AppTest) -> list[int]:
    """Give the ranks in the order of the prompt, as the table tells it."""
    placed = [(position, rank) for rank, position in table(at, "rank", "position") if position is not None]
    return [rank for _, rank in sorted(placed)]


def badges(at: AppTest) -> list[str]:
    return [text.value for text in at.markdown if "-badge[" in text.value]


def charts(at: AppTest) -> list[str]:
    """List what each chart says to those who cannot see it: a hidden text beside it."""
    said = [unescape(text) for mark in at.markdown for text in re.findall(r"<span style=.*?>(.*?)</span>", mark.value)]
    assert len(said) == len(at.get("vega_lite_chart"))
    return said


def open_tab(at: AppTest, name: str) -> AppTest:
    at.session_state["tab"] = name
    return sound(at)


def test_first_paint_works_before_anything_is_typed():
    at = page()
    assert title(at) == FIRST
    assert metrics(at) == {
        "Documents in the prompt": "12 of 20",
        "Words": "1,110",
        "Words over the threshold": "110",
        "Tokens (o200k)": "1,272",
    }
    (badge,) = badges(at)
    assert f"identical to {HAYSTACK}" in badge
    assert badge.startswith(":green-badge[")
    assert limits(at) == (1000, 1000)
    assert len(charts(at)) == 2
    assert order(at) == [1, 3, 5, 7, 9, 11, 12, 10, 8, 6, 4, 2]
    assert not at.error
    assert not at.warning


@pytest.mark.parametrize("key", SAMPLES)
def test_every_sample_opens_at_its_own_limits_with_its_reason(key):
    sample = SAMPLES[key]
    at = page()
    at.selectbox(key="sample").select(sample["title"])
    sound(at)
    loaded = load((ROOT / "sample_data" / sample["file"]).read_bytes(), sample["file"])
    documents = list(loaded.lists[loaded.default].documents)
    expected = arrange(documents, sample["word_count_threshold"], sample["top_k"])
    assert title(at) == story.verdict(expected)
    assert sample["reason"] in [caption.value for caption in at.caption]
    assert f"identical to {HAYSTACK}" in badges(at)[0]
    theirs = HaystackRanker(word_count_threshold=sample["word_count_threshold"]).run(documents=documents)["documents"]
    ranks = {id(document): rank for rank, document in enumerate(documents, 1)}
    expected_order = [ranks[id(document)] for document in theirs]
    if len(documents) <= 100:  # a longer table is paged
        assert order(at) == expected_order
    assert metrics(at)["Documents in the prompt"] == f"{len(theirs)} of {len(documents)}"


@pytest.mark.parametrize("key", SAMPLES)
def test_every_tab_opens_for_every_sample(key):
    at = page(sample=SAMPLES[key]["title"])
    for tab in ("Prompt", "Thresholds that matter", "Fit a budget", "Code", "Share", "Input"):
        open_tab(at, tab)
        assert at.session_state["tab"] == tab
        assert not at.error


def test_the_first_list_of_several_is_shown_and_another_can_be_chosen():
    at = page(sample=SAMPLES["several-queries"]["title"])
    picker = at.selectbox(key="list")
    assert len(picker.options) == 6
    assert picker.options[3].startswith("4. ")
    picker.select(picker.options[3])
    sound(at)
    assert metrics(at)["Documents in the prompt"] == "3 of 12"


def test_a_link_reproduces_the_view():
    at = page(
        sample=SAMPLES["teaching"]["title"],
        word_count_threshold="50",
        limit_documents="true",
        top_k="4",
        form="Slope",
        tab="Code",
    )
    assert limits(at)[0] == 50
    assert title(at).endswith("3 documents are left out by top_k = 4.")
    assert at.get_by_key("form").value == "Slope"
    assert charts(at)[0].startswith("3 of 7 documents reach the prompt. Original ranks from the top of the prompt:")
    assert "LostInTheMiddleRanker(word_count_threshold=50, top_k=4)" in at.code[0].value


@pytest.mark.parametrize("threshold", ["0", "-5", "abc", "1.5", "99999999999999999999"])
def test_a_link_with_a_bad_threshold_shows_the_page(threshold):
    at = page(word_count_threshold=threshold)
    assert 1 <= limits(at)[0] <= 1538
    assert not at.error


def test_a_pasted_text_is_split_and_arranged():
    at = paste("best one here\n\nsecond\n\nthird and last")
    assert title(at).startswith("All 3 documents reach the prompt: 7 words")
    assert table(at, "rank", "text") == [(1, "best one here"), (2, "second"), (3, "third and last")]
    assert order(at) == [1, 3, 2]
    separator = next(box for box in at.selectbox if box.label == "Between documents")
    assert "(3)" in separator.value


def test_pasted_json_keeps_its_ids_and_scores():
    at = paste(json.dumps([{"id": "a", "text": "one", "score": -0.5}, {"id": "b", "text": "two"}]))
    assert table(at, "id", "score", "text") == [("a", -0.5, "one"), ("b", None, "two")]


@pytest.mark.parametrize("text", ["", "   \n\n  \t"])
def test_an_empty_paste_invites(text):
    at = paste(text)
    assert title(at) == "What does the ranker do to your documents?"
    (invitation,) = [caption.value for caption in at.caption if caption.value.startswith("Paste a ranked list")]
    assert "press Ctrl+Enter" in invitation
    assert "the documents stay with whoever made it" in invitation
    assert not at.error
    assert not at.dataframe


def test_nothing_uploaded_yet_invites():
    at = page()
    at.get_by_key("source").set_value("Upload")
    sound(at)
    assert title(at) == "What does the ranker do to your documents?"
    assert not at.error


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{}", "There is no ranked list in the pasted text"),
        ('[{"rank": 1, "score": 0.5}]', "The fields are: rank, score."),
        ('[{"text": null}]', "No record of the pasted text has a text"),
        (
            '[{"**bold** [link](https://shop.example) $x$": 1}]',
            "The fields are: **bold** [link](https://shop.example) $x$.",
        ),
    ],
)
def test_a_paste_that_cannot_be_read_is_an_error_in_words_shown_verbatim(text, named):
    at = paste(text)
    (error,) = at.error
    assert named in re.sub(r"\\(.)", r"\1", error.value)
    assert not re.search(r"(?<!\\)[*$\[:_]", error.value)  # no mark that Markdown would take for its own
    assert title(at) == "What does the ranker do to your documents?"


@pytest.mark.parametrize(("name", "data"), [("a.json", b"\x00\x01\x02"), ("b.parquet", b"PAR1"), ("c.gz", b"\x1f\x8b")])
def test_a_file_that_cannot_be_read_is_an_error_in_words(name, data):
    at = upload(name, data)
    (error,) = at.error
    assert len(error.value) > 20
    assert title(at) == "What does the ranker do to your documents?"


def test_switching_the_word_limit_off_and_on():
    at = page()
    at.toggle(key="limit_words").set_value(False)
    sound(at)
    assert title(at).startswith("All 20 documents reach the prompt: 1,538 words, with no word limit.")
    assert "Words over the threshold" not in metrics(at)
    assert not at.number_input
    at.toggle(key="limit_words").set_value(True)
    sound(at)
    assert title(at) == FIRST  # the threshold comes back


def test_limiting_the_documents():
    at = page()
    at.toggle(key="limit_documents").set_value(True)
    sound(at)
    assert at.number_input(key="top_k").value == 10
    assert metrics(at)["Documents in the prompt"] == "10 of 20"
    at.number_input(key="top_k").set_value(3)
    sound(at)
    assert title(at).endswith("17 documents are left out by top_k = 3.")
    assert order(at) == [1, 3, 2]
    at.toggle(key="limit_documents").set_value(False)
    sound(at)
    assert title(at) == FIRST


def test_slider_and_number_agree():
    at = page()
    at.slider[0].set_value(500)
    sound(at)
    assert limits(at) == (500, 500)
    at.number_input(key="word_count_threshold").set_value(700)
    sound(at)
    assert limits(at) == (700, 700)
    assert "your threshold of 700" in title(at)


def test_zero_is_not_offered():
    at = page(limit_documents="true")
    assert [at.number_input(key=key).min for key in ("word_count_threshold", "top_k")] == [1, 1]
    assert at.slider[0].min == 1


def test_a_threshold_beyond_the_list_is_kept_and_said_to_do_nothing():
    at = page()
    at.number_input(key="word_count_threshold").set_value(5000)
    sound(at)
    assert limits(at) == (5000, 1538)  # the number stays for the next list; the slider ends with the list
    assert "5,000 is never reached: the list has 1,538 words." in [caption.value for caption in at.caption]
    assert title(at) == (
        "All 20 documents reach the prompt: 1,538 words, 3,462 below the threshold of 5,000, which is never reached."
    )
    at.number_input(key="word_count_threshold").set_value(1000)
    sound(at)
    assert not [caption for caption in at.caption if "never reached" in caption.value]


def test_limits_in_a_link_beyond_the_list_do_nothing_and_say_so():
    at = page(word_count_threshold="5000", limit_documents="true", top_k="99")
    captions = [caption.value for caption in at.caption]
    assert "5,000 is never reached: the list has 1,538 words." in captions
    assert "99 is never reached: the list has 20 documents." in captions
    assert metrics(at)["Documents in the prompt"] == "20 of 20"


def test_a_smaller_input_in_between_changes_no_limit():
    at = page(limit_documents="true", top_k="15")
    at = paste("one two\n\nthree", at)
    assert limits(at) == (1000, 3)
    captions = [caption.value for caption in at.caption]
    assert "1,000 is never reached: the list has 3 words." in captions
    assert "15 is never reached: the list has 2 documents." in captions
    at = paste("\n\n".join(f"{number} " + "word " * 99 for number in range(12)), at)
    assert limits(at) == (1000, 1000)
    assert title(at).startswith("10 of 12 documents reach the prompt: 1,000 words, exactly your threshold of 1,000")


@pytest.mark.parametrize("source", ["Paste", "Upload"])
def test_a_session_that_began_without_a_sample_can_go_to_one(source):
    at = page(source=source)
    at.segmented_control(key="source").set_value("Sample")
    sound(at)
    assert title(at).startswith("12 of 20 documents reach the prompt")


def test_one_document():
    at = paste(words(18))
    assert title(at).startswith("The only document reaches the prompt: 18 words")
    at.number_input(key="word_count_threshold").set_value(5)
    sound(at)
    assert title(at).endswith("A list of one document ignores the threshold of 5.")
    assert order(at) == [1]
    assert len(charts(at)) == 2
    assert f"identical to {HAYSTACK}" in badges(at)[0]


def test_one_word():
    at = paste("word")
    assert title(at).endswith("reaches the prompt: 1 word. A list of one document ignores the threshold of 1,000.")
    assert not at.slider  # from 1 to 1 there is nothing to slide
    assert len(charts(at)) == 2


@pytest.mark.parametrize("tab", ["Documents", "Prompt", "Thresholds that matter", "Fit a budget", "Share", "Input"])
def test_documents_without_words(tab):
    documents = [{"id": name, "content": ""} for name in "abc"]
    at = open_tab(paste(json.dumps(documents)), tab)
    assert title(at).startswith("All 3 documents reach the prompt: 0 words")
    assert not at.slider
    assert len(charts(at)) >= 2


def test_a_list_without_scores():
    at = paste(records("one", "two", "three"))
    assert table(at, "score") == [(None,)] * 3
    assert order(at) == [1, 3, 2]
    assert not [text for text in at.text if "score" in text.value]


def test_duplicates_name_the_copy_that_won():
    at = paste(json.dumps([{"id": i, "content": t, "score": s} for i, t, s in [("a", "x y", 0.2), ("a", "x y", 0.9)]]))
    assert title(at).startswith("1 of 2 documents reaches the prompt")
    assert "1 duplicate is dropped by id." in title(at)
    assert table(at, "rank", "fate", "why", "cumulative_words") == [
        (1, "dropped: duplicate", "same id as rank 2, which is kept", None),
        (2, "in the prompt", "", 2),
    ]


def test_ids_over_different_texts_can_be_ignored():
    at = paste(
        json.dumps([{"id": "a", "content": text} for text in ("one", "two", "three")]), page(limit_words="false")
    )
    assert metrics(at)["Documents in the prompt"] == "1 of 3"
    assert [text for text in at.text if "The id 'a' stands over different texts" in text.value]
    at.button(key="drop_ids").click()
    sound(at)
    assert metrics(at)["Documents in the prompt"] == "3 of 3"
    assert at.toggle(key="ignore_ids").value is True
    assert not [button for button in at.button if button.key == "drop_ids"]


def test_an_unsorted_list_can_be_sorted_by_choice_only():
    at = page(sample=SAMPLES["unsorted"]["title"])
    assert [score for (score,) in table(at, "score")][:2] == [0.7412, 0.7105]  # as listed
    assert [text for text in at.text if "rank 5 (0.9467) is higher than rank 4 (0.593)" in text.value]
    at.button(key="sort").click()
    sound(at)
    scores = [score for (score,) in table(at, "score")]
    assert scores == sorted(scores, reverse=True)
    assert at.selectbox(key="order").value == "By score, highest first"
    assert not [button for button in at.button if button.key == "sort"]
    chosen = ":material/sort: The order of relevance is your choice: *by score, highest first*."
    assert chosen in [each.value for each in at.main.markdown]
    at.button(key="unsort").click()
    sound(at)
    assert [score for (score,) in table(at, "score")][:2] == [0.7412, 0.7105]
    assert chosen not in [each.value for each in at.main.markdown]


def test_a_choice_of_order_does_not_outlive_its_documents():
    at = page(sample=SAMPLES["unsorted"]["title"])
    at.button(key="sort").click()
    sound(at)
    at = paste(records("one", "two", score=[0.1, 0.9]), at)
    assert table(at, "score") == [(0.1,), (0.9,)]
    assert at.selectbox(key="order").value == "As the input says"


def test_a_rank_field_orders_the_list_and_the_person_can_overrule_it():
    at = paste("rank,text\n2,second\n1,first\n3,third")
    assert table(at, "text") == [("first",), ("second",), ("third",)]
    at.selectbox(key="order").select("As listed")
    sound(at)
    assert table(at, "text") == [("second",), ("first",), ("third",)]


def test_scores_that_look_like_distances_are_pointed_out():
    at = paste(records("one", "two", "three", score=[0.1, 0.2, 0.3]))
    assert [text for text in at.text if "they look like distances" in text.value]


def test_a_first_document_over_the_threshold_is_pointed_out():
    at = page(word_count_threshold="20")
    assert [text for text in at.text if text.value.startswith("The first document alone has 33 words")]


def test_words_that_say_little_are_pointed_out():
    at = page(sample=SAMPLES["multilingual"]["title"])
    assert [text for text in at.text if "the word count says little" in text.value]


def test_a_new_file_of_the_same_name_replaces_the_old_one_everywhere():
    first = records("green tea leaves", "water below boiling", "black tea").encode()
    second = records("returns", "opened headphones", "refunds appear", "gift orders").encode()
    at = upload("results.json", first)
    at.session_state["picked"] = 2
    sound(at)
    assert at.code[0].value == "water below boiling"
    at.file_uploader(key="upload").set_value([("results.json", second, "application/json")])
    sound(at)
    assert table(at, "text") == [("returns",), ("opened headphones",), ("refunds appear",), ("gift orders",)]
    assert order(at) == [1, 3, 4, 2]
    assert at.session_state["picked"] is None
    for tab in ("Prompt", "Input"):
        open_tab(at, tab)
        assert "tea" not in " ".join(element.value for element in (*at.html, *at.code))


def test_an_upload_survives_every_change_of_the_limits():
    at = upload("list.json", words(10, 20, 30, 40).encode())
    for threshold in range(5, 95, 9):
        at.slider[0].set_value(threshold)
        sound(at)
        assert limits(at) == (threshold, threshold)
        assert len(at.dataframe[0].value) == 4


def test_field_names_of_every_kind_reach_no_chart():
    header = 'payload.text,payload.source[0],a:b,score,score,"size ""mm""",path\\to'
    rows = [f"text number {n} here,doc{n}.md,{n},0.{9 - n},{5 - n},{n},x" for n in range(3)]
    at = paste("\n".join([header, *rows]))
    assert order(at) == [1, 3, 2]
    assert len(charts(at)) == 2
    fields = next(box for box in at.selectbox if box.label == "Field of the text").options
    assert {"payload.text", "payload.source[0]", "a:b", 'size "mm"', "path\\to"} <= set(fields)


def test_another_field_can_be_the_text():
    at = paste("text,summary\nlong text of one,short one\nlong text of two,short two")
    box = next(box for box in at.selectbox if box.label == "Field of the text")
    box.select("summary")
    sound(at)
    assert table(at, "text") == [("short one",), ("short two",)]


def test_a_mismatch_with_haystack_is_shown_in_red(monkeypatch):
    monkeypatch.setattr("lim.ranker.rankers.LostInTheMiddleRanker.run", lambda *_, documents: {"documents": documents})
    at = page()
    assert [error.value for error in at.error] == [
        f"This differs from what {HAYSTACK} returns. Trust Haystack, and please report it."
    ]
    assert badges(at) == []


@pytest.mark.parametrize(("count", "checked"), [(10_000, True), (10_001, False)])
def test_a_list_too_long_to_check_says_that_it_was_not_checked(count, checked, monkeypatch):
    runs = []

    def same(arrangement: Arrangement) -> bool:
        runs.append(len(arrangement.inputs))
        return True

    monkeypatch.setattr("lim.ranker.same_as_haystack", same)
    at = upload("long.jsonl", "\n".join(json.dumps({"text": f"number {n}"}) for n in range(count)).encode())
    (badge,) = badges(at)
    assert (count in runs) == checked
    said = f"identical to {HAYSTACK}" if checked else f"not checked against {HAYSTACK}: over 10,000 documents"
    assert said in badge
    assert at.number_input(key="page").label == f"Page of {-(-count // 100)}, 100 documents each".replace(
        "of 100,", "of 100,"
    )
    assert len(at.dataframe[0].value) == 100


def test_without_the_tokenizer_tokens_are_not_available(monkeypatch):
    monkeypatch.setattr(measure, "toktok", None)
    widgets.bench.clear()
    at = page()
    assert metrics(at)["Tokens"] == "not available"
    assert "tokens" not in at.dataframe[0].value
    open_tab(at, "Fit a budget")
    assert [info.value for info in at.info] == [
        "Tokens are not available: install toktok-rs on the server to fit a budget of tokens."
    ]
    open_tab(at, "Thresholds that matter")
    assert "tokens" not in at.dataframe[0].value
    widgets.bench.clear()


def test_a_budget_of_tokens_is_fitted_and_applied():
    at = open_tab(page(context="1000", reserve="500"), "Fit a budget")
    (answer,) = at.success
    button = next(button for button in at.button if button.label.startswith("Apply"))
    threshold = int(button.label.removeprefix("Apply ").replace(",", ""))
    assert f"word_count_threshold = {threshold} is the largest that fits" in answer.value.replace("\\", "")
    button.click()
    sound(at)
    assert limits(at) == (threshold, threshold)
    assert int(metrics(at)["Tokens (o200k)"].replace(",", "")) <= 500
    at.number_input(key="word_count_threshold").set_value(threshold + 1)
    sound(at)
    assert int(metrics(at)["Tokens (o200k)"].replace(",", "")) > 500


def test_a_budget_for_everything_switches_the_threshold_off():
    at = open_tab(page(context="100000"), "Fit a budget")
    next(button for button in at.button if button.label == "Switch the threshold off").click()
    sound(at)
    assert at.toggle(key="limit_words").value is False
    assert title(at).startswith("All 20 documents reach the prompt")


def test_a_budget_too_small_for_the_first_document_says_so():
    at = open_tab(page(context="100", reserve="90"), "Fit a budget")
    assert at.error[0].value.startswith("Not even the first document fits: it has ")
    assert "there are 10 for documents" in at.error[0].value


def test_the_prompt_is_haystacks_with_every_text_escaped():
    at = open_tab(paste(records("<b>bold</b> & $5", "{{ 7 * 7 }}", "third")), "Prompt")
    (html,) = [element.value for element in at.html]
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; $5" in html
    assert "{{ 7 * 7 }}" in html
    assert [html.index(f"rank {rank}&nbsp;") for rank in (1, 3, 2)] == sorted(
        html.index(f"rank {rank}&nbsp;") for rank in (1, 2, 3)
    )


@pytest.mark.parametrize("template", ["{% for %}", "{{ 1 / 0 }}"])
def test_a_template_that_does_not_render_says_so_in_place(template):
    at = open_tab(page(), "Prompt")
    at.text_area(key="template").set_value(template)
    sound(at)
    (error,) = at.error
    assert len(error.value) > 10
    assert title(at) == FIRST
    assert not at.html


def test_a_template_that_leaves_documents_out_is_pointed_out():
    at = open_tab(page(), "Prompt")
    at.text_area(key="template").set_value("{{ documents[0].content }}")
    sound(at)
    assert any("does not stand in the prompt" in warning.value for warning in at.warning)


def test_thresholds_that_matter_are_the_staircase():
    at = open_tab(paste(words(40, 35, 25, 30, 20)), "Thresholds that matter")
    assert table(at, "kept", "lowest", "highest", "words", "overshoot") == [
        (1, 1, 40, 40, 39),
        (2, 41, 75, 75, 34),
        (3, 76, 100, 100, 24),
        (4, 101, 130, 130, 29),
        (5, 131, None, 150, 19),
    ]
    assert len(charts(at)) == 3


def test_a_picked_document_is_shown_in_full_and_verbatim():
    text = "Use $HOME/bin or ~~ /usr/local/bin ~~ and *never* sudo. [terms](https://shop.example) :warning: <5%"
    at = paste(records("one", text))
    at.session_state["picked"] = 2
    sound(at)
    assert at.code[0].value == text
    assert table(at, "text")[1] == (text,)
    assert not [element for element in at.markdown if "sudo" in element.value]


def test_a_new_threshold_reaches_the_charts_as_rows_alone():
    def kept_in_place(
        at: AppTest,
    ) -> list[tuple[str, str]]:  # the browser builds a chart anew when one of these changes
        return [(chart.proto.spec, chart.proto.alt) for chart in at.get("vega_lite_chart")]

    at = page(tab="Thresholds that matter")
    before, said = kept_in_place(at), charts(at)
    at.number_input(key="word_count_threshold").set_value(300)
    sound(at)
    assert len(before) == 3
    assert kept_in_place(at) == before
    assert all(now != then for now, then in zip(charts(at), said, strict=True))


def test_the_charts_follow_the_theme():
    light, dark = page(), AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    dark.context = {"theme": "dark"}
    sound(dark)
    papers = [[chart.proto.spec for chart in at.get("vega_lite_chart")] for at in (light, dark)]
    assert "#08306b" in papers[0][0]
    assert "#2f7de0" in papers[1][0]


@pytest.mark.parametrize("key", ["word_count_threshold", "top_k", "context", "reserve"])
@pytest.mark.parametrize("number", ["1e400", "-inf", "Infinity"])
def test_a_number_without_an_end_in_a_link_is_left_out(key, number):
    assert title(page(**{key: number}, limit_documents="false", tab="Fit a budget")) == FIRST


def test_a_limit_that_is_never_reached_comes_with_one_that_is():
    at = paste("\n\n".join(f"d{n} " * 10 for n in range(9)))
    at.button(key="try_word_count_threshold").click()
    assert limits(sound(at)) == (54, 54)
    assert title(at).startswith("6 of 9 documents reach the prompt")
