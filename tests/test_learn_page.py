"""Every step of the lesson, without a browser."""

import re
from functools import partial

import pytest
from app_page import opened, press, sound
from streamlit.testing.v1 import AppTest

from lim import lesson

page = partial(opened, "learn")

NAMES = [step.name for step in lesson.STEPS]


def said(at: AppTest) -> str:
    return "\n".join(each.value for kind in ("markdown", "success", "warning", "text") for each in at.get(kind))


@pytest.mark.parametrize("step", lesson.STEPS, ids=lambda step: step.name)
def test_each_step_has_a_link_of_its_own(step):
    at = page(step=step.name)
    assert [title.value for title in at.title] == [step.title]
    assert step.lead in said(at)


def test_an_unknown_step_in_a_link_opens_the_first():
    assert page(step="Nowhere").title[0].value == lesson.STEPS[0].title


def test_the_buttons_walk_through_the_whole_lesson_and_back():
    at = page()
    titles = [at.title[0].value]
    titles += [press(at, "next").title[0].value for _ in NAMES[1:]]
    assert titles == [step.title for step in lesson.STEPS]
    assert at.button(key="next").disabled
    assert press(at, "back").title[0].value == lesson.STEPS[-2].title
    assert page().button(key="back").disabled


def test_the_presenters_view_has_no_sidebar_and_large_print():
    plain, large = page(), page(present="true")
    assert plain.sidebar.selectbox
    assert not large.sidebar.children
    assert large.title[0].value == plain.title[0].value
    assert lesson.STEPS[0].lead not in said(large)


def test_document_4_is_asked_for_before_it_is_shown():
    at = page(step="Idea")
    for _ in range(3):
        press(at, "idea_forward")
    assert "3 of 9 documents placed" in said(at)
    assert "Where will document 4 land?" in said(at)
    assert at.button(key="idea_play").disabled
    press(at, "guess_8")
    assert [each.value for each in at.success] == [lesson.reveal(8, 4, 9)[1]]
    assert "Where will document 4 land?" not in said(at)
    press(at, "idea_end")
    assert "9 of 9 documents placed" in said(at)
    press(at, "idea_back")
    assert "8 of 9 documents placed" in said(at)


def test_a_wrong_guess_is_explained_and_starting_over_asks_again():
    at = page(step="Idea", cards="5")
    for _ in range(3):
        press(at, "idea_forward")
    press(at, "guess_3")
    assert [each.value for each in at.warning] == [lesson.reveal(3, 4, 5)[1]]
    for _ in range(4):
        press(at, "idea_back")
    assert "0 of 5 documents placed" in said(at)
    for _ in range(3):
        press(at, "idea_forward")
    assert "Where will document 4 land?" in said(at)


def test_it_plays_by_itself_until_the_question_and_on_to_the_end():
    at = page(step="Idea")
    press(at, "idea_play")
    runs = 0
    while at.session_state["playing"]:
        sound(at)
        runs += 1
        assert runs < 9
    assert "Where will document 4 land?" in said(at)
    press(at, "guess_8")
    press(at, "idea_play")
    assert at.button(key="idea_play").label == "Pause"
    while at.session_state["playing"]:
        sound(at)
    assert "9 of 9 documents placed" in said(at)


@pytest.mark.parametrize("count", [1, 2, 12])
def test_any_number_of_cards_can_be_placed(count):
    at = page(step="Idea", cards=str(count))
    press(at, "idea_end")
    assert f"{count} of {count} document{'' if count == 1 else 's'} placed" in said(at)


def test_a_persons_own_list_is_placed_and_walked():
    at = page(step="Idea", cards_from="Your list", sample="Small list to teach with")
    assert at.number_input(key="cards").max == 7
    press(at, "idea_end")
    assert "7 of 7 documents placed" in said(at)
    at = page(step="Budget", walk_from="Your list", walk_threshold="85", sample="Small list to teach with")
    press(at, "budget_end")
    assert "A threshold of 85 gives" in said(at)


def test_the_budget_says_why_1004_words_come_out_of_a_threshold_of_1000():
    at = page(step="Budget")
    assert "0 words so far" in said(at)
    for _ in range(8):
        press(at, "budget_forward")
    assert "A threshold of 1,000 gives 1,004 words: 4 more" in said(at)
    assert "That reaches 1,000, so the walk stops here, after document 8 is in" in said(at)


def test_the_unsorted_list_can_be_shuffled_again():
    at = page(step="Blind spots")
    before = said(at)
    assert "Sorted: the best document lands first" in before
    assert "not in descending order" in before.replace("\\", "")
    assert said(press(at, "shuffle")) != before


@pytest.mark.parametrize("way", lesson.WAYS, ids=lambda way: way.name)
def test_each_fault_can_be_switched_off(way):
    at = page(step="Silent losses", way=way.name)
    assert "The order is lost" in said(at)
    assert "What would have caught it" in said(at)
    at.toggle(key="fault").set_value(False)
    assert "The order reaches the prompt as intended" in said(sound(at))
    at.toggle(key="losses_own").set_value(True)
    assert "The order reaches the prompt as intended" in said(sound(at))


def test_the_misreadings_are_demonstrated():
    at = page(step="Misreadings")
    values = {metric.label: metric.value for metric in at.metric}
    assert values["Words in the prompt"] == "1,004"
    assert values["The code returns"] == "A C E D B"


def test_the_questions_are_explained_counted_and_repeatable():
    at = page(step="Check yourself", quiz="7")
    for number, question in enumerate(lesson.quiz(7)):
        wrong = number == 2
        press(at, f"answer_7_{number}_{(question.answer + wrong) % len(question.options)}")
    assert len(at.success) == 5
    assert [lesson.quiz(7)[2].explanation in each.value for each in at.warning] == [True]
    press(at, "new_questions")
    assert at.number_input(key="quiz").value == 8
    assert not at.success
    at.number_input(key="quiz").set_value(7)
    assert len(sound(at).success) == 5


def test_each_curve_shows_its_source():
    at = page(curve_model="deepseek-chat (2026)", curve_documents="500")
    text = said(at).replace("\\", "")
    assert "deepseek-chat, 500 documents: 74% first" in text
    assert re.search(r"Source: \[repository zhs2326/lost-in-the-middle-2026 commit 10e9f3c", text)
    at.selectbox(key="curve_model").set_value("Llama-2-70B-chat (2024)")
    assert "Llama-2-70B-chat, 20 documents" in said(sound(at))
