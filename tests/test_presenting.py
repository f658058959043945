"""The presenter's view of every page, without a browser."""

from functools import partial

import pytest
from app_page import ROOT, opened, press, sound, title

from lim import arrange, lesson, load, story
from lim.views import slides

DOCUMENTS = load((ROOT / "sample_data" / "retrieval.jsonl").read_bytes(), "retrieval.jsonl").lists[0].documents
PAGES = {
    "lab": slides.NAMES,
    "tune": ["How large the prompts get", "What it costs", "The pairs"],
    "learn": [step.name for step in lesson.STEPS],
    "evidence": ["Studies", "Your list", "All curves", "Whole pipelines", "Your metrics", "Other frameworks"],
    "audit": ["The order", "The prompt", "The documents"],
    "pipeline": ["The pipeline", "What is dropped", "The prompt"],
}


page = partial(opened, present="true")


@pytest.mark.parametrize("name", PAGES)
def test_the_slides_follow_one_another_and_end(name):
    at = page(name)
    assert not at.sidebar.children
    assert at.button(key="back").disabled
    key = "step" if name == "learn" else "slide"
    walked = [at.get_by_key(key).value]
    while not at.button(key="next").disabled:
        announced = at.button(key="next").label
        press(at, "next")
        walked.append(at.get_by_key(key).value)
        assert announced == f"Next: {walked[-1]}"
    assert walked == PAGES[name]
    assert at.button(key="back").label == f"Back: {walked[-2]}"
    assert press(at, "back").get_by_key(key).value == walked[-2]


@pytest.mark.parametrize("name", PAGES)
def test_the_switch_leads_back_to_the_whole_page(name):
    at = page(name)
    at.get_by_key("present").set_value(False)
    sound(at)
    assert [each.value for each in at.title] == [title(page(name, present="false"))]
    assert ("next" in [button.key for button in at.button]) == (name == "learn")


def test_a_link_with_a_slide_of_another_page_opens_the_first():
    at = page("audit", slide="What is lost")
    assert at.get_by_key("slide").value == "The order"


def test_the_labs_slides_say_what_the_core_says():
    kept = arrange(DOCUMENTS, word_count_threshold=700)
    lost = len(DOCUMENTS) - kept.kept
    titles = [title(page("lab", slide=name, word_count_threshold="700")) for name in slides.NAMES]
    assert titles[0] == f"A retriever found {len(DOCUMENTS)} documents, the most relevant first"
    assert titles[2] == story.verdict(kept)
    assert titles[3] == f"{lost} of {len(DOCUMENTS)} documents never reach the prompt"
    assert titles[4].startswith("Is it worth it?")


def test_what_is_lost_is_named_or_counted():
    at = page("lab", slide="What is lost", word_count_threshold="700")
    kept = arrange(DOCUMENTS, word_count_threshold=700)
    named = [f"**Rank {rank}**" for rank in range(kept.kept + 1, kept.kept + 1 + slides.MOST_LOST)]
    said = [each.value for each in at.main.markdown]
    assert [each[: each.index(",")] for each in said if each.startswith("**Rank")] == named
    assert f"… and {len(DOCUMENTS) - kept.kept - slides.MOST_LOST} more" in said


def test_nothing_lost_is_said():
    at = page("lab", slide="What is lost", limit_words="false")
    assert title(at) == "Nothing is lost: every document reaches the prompt"


def test_a_trace_has_slides_of_its_own():
    at = page("audit", audit_sample="Trace of 200 requests")
    assert at.get_by_key("slide").options == ["The requests", "The first that lost it", "Its prompt"]
    lost = title(press(at, "next"))
    assert lost.startswith("Request ")
    assert title(press(at, "next")) == lost
