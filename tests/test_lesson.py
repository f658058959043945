"""The lesson says what the ranker does: every figure in it is Haystack's own."""

import re

import pytest
from haystack import Document
from haystack.components.rankers import LostInTheMiddleRanker
from hypothesis import given
from hypothesis import strategies as st

from lim import arrange, charts, export, lesson
from lim import frames as lab_frames
from lim.charts import evidence as evidence_charts
from lim.charts import lesson as draw
from lim.frames import lesson as frames
from lim.lesson.quiz import QUESTIONS

COUNTS = range(1, lesson.MAX_CARDS + 1)


def haystack(documents) -> list[int]:
    ranks = {document.id: rank for rank, document in enumerate(documents, 1)}
    return [ranks[document.id] for document in LostInTheMiddleRanker().run(documents=list(documents))["documents"]]


@pytest.mark.parametrize("count", COUNTS)
def test_every_document_lands_where_haystack_puts_it(count):
    order = haystack(lesson.numbered(count))
    assert lesson.placed(count) == order
    assert [order[lesson.landing_place(rank, count) - 1] for rank in range(1, count + 1)] == list(range(1, count + 1))


@pytest.mark.parametrize("count", COUNTS)
def test_once_placed_no_document_moves_counted_from_its_own_end(count):
    for placed in range(1, count):
        now, then = lesson.placed(placed), lesson.placed(placed + 1)
        for rank in range(1, placed + 1):
            before, after = now.index(rank), then.index(rank)
            assert (before == after) if rank % 2 else (placed - before == placed + 1 - after)


@pytest.mark.parametrize("count", COUNTS)
def test_each_sentence_names_the_place_where_its_document_lands(count):
    order = haystack(lesson.numbered(count))
    for rank in range(2 if count > 1 else 3, count + 1):
        assert f"place {order.index(rank) + 1} of {count}" in lesson.placing_sentence(rank, count)


def test_document_4_of_9_is_second_from_the_end():
    assert lesson.asked(9) == 4
    right, said = lesson.reveal(8, 4, 9)
    assert right
    assert said == "Right. Half of 4 is 2: place 2 counted from the end, so place 8 of 9. Even ranks fill the back."
    wrong, said = lesson.reveal(4, 4, 9)
    assert not wrong
    assert said.startswith("Not place 4. (In its rank's own place")


@pytest.mark.parametrize("count", [3, 5, 8, 12])
def test_exactly_one_guess_is_right(count):
    rank = lesson.asked(count)
    answers = [lesson.reveal(guess, rank, count)[0] for guess in lesson.options(count)]
    assert answers.count(True) == 1
    assert haystack(lesson.numbered(count))[answers.index(True)] == rank


@pytest.mark.parametrize("count", [1, 2])
def test_nothing_is_asked_where_there_is_nothing_to_guess(count):
    assert lesson.asked(count) is None


def test_the_cards_come_out_4_words_over_their_threshold():
    result = arrange(lesson.numbered(9), lesson.THRESHOLD)
    assert (result.word_count_threshold, result.words, result.crossing) == (1000, 1004, 8)
    assert lesson.walk_finding(result) == "A threshold of 1,000 gives 1,004 words: 4 more"
    assert lesson.walk_sentence(result, 8) == (
        "Document 8 brings the total from 900 to 1,004. That reaches 1,000, so the walk stops here, after document 8 "
        "is in: 4 words over the threshold."
    )
    assert "never looked at" in lesson.walk_sentence(result, 9)
    assert "so the walk goes on" in lesson.walk_sentence(result, 7)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 200))
def test_the_walk_names_the_totals_haystack_adds_up(sizes, threshold):
    documents = [Document(id=str(rank), content="word " * size) for rank, size in enumerate(sizes, 1)]
    result = arrange(documents, threshold)
    rows = frames.walk(result, len(sizes))
    kept = LostInTheMiddleRanker(word_count_threshold=threshold).run(documents=documents)["documents"]
    assert int(rows["kept"].sum()) == len(kept)
    assert sorted(rows.loc[rows["kept"], "name"]) == sorted(document.id for document in kept)
    for walked in range(len(sizes) + 1):
        assert lesson.walk_sentence(result, walked)


def test_the_chinese_paragraph_is_one_word():
    sizes = {text.name: text for text in lesson.sized()}
    assert sizes["Chinese"].words == 1
    assert sizes["Chinese"].tokens > 50
    assert all(text.words == len(text.text.split()) for text in sizes.values())


def test_an_unsorted_list_puts_the_best_document_anywhere_and_the_scores_tell():
    documents = lesson.numbered(9)
    fed = lesson.feed(documents, range(1, 10))
    assert (fed.prompt, fed.warning) == ((1, 3, 5, 7, 9, 8, 6, 4, 2), "")
    for seed in range(30):
        given_order = lesson.shuffled(9, seed)
        fed = lesson.feed(documents, given_order)
        assert sorted(given_order) == list(range(1, 10))
        assert fed.prompt[0] == given_order[0] != 1
        assert f"place {fed.prompt.index(1) + 1} of 9" in fed.finding
        assert "not in descending order" in fed.warning


@pytest.mark.parametrize("way", lesson.WAYS, ids=lambda way: way.name)
def test_each_fault_loses_the_order_silently_and_only_the_fault_does(way):
    documents = lesson.numbered(9)
    sound = lesson.demonstrate(way, documents, fault=False)
    assert sound.intended == sound.actual == tuple(haystack(documents))
    assert not sound.lost
    assert sound.caught == ""
    faulty = lesson.demonstrate(way, documents, fault=True)
    assert faulty.lost
    assert faulty.caught
    listed = re.findall(r"Document (\d+) word", faulty.prompt)
    assert [int(number) for number in listed] == list(faulty.actual)


def test_what_each_fault_does_is_what_its_component_promises():
    documents = lesson.numbered(9)
    joiner, ranker, template, duplicates, unsorted = (
        lesson.demonstrate(way, documents, fault=True).actual for way in lesson.WAYS
    )
    assert joiner == template == tuple(range(1, 10))  # back to descending scores
    newest = sorted(range(1, 10), key=lambda rank: -documents[rank - 1].meta["published"])
    assert ranker == tuple(newest)
    assert set(duplicates) == {1, 3, 4, 5, 6, 7, 8, 9} - {4} | {2}
    assert sorted(unsorted) == list(range(1, 10))


@pytest.mark.parametrize("way", lesson.WAYS, ids=lambda way: way.name)
def test_the_faults_work_on_a_persons_own_texts(way):
    texts = ["{{ 7 * 7 }} of [1]", "Zweiter *Text*", "<b>third</b>", "4", "fifth", "sixth"]
    documents = [Document(content=text) for text in texts]
    own = lesson.taken(documents, arrange(documents).walk, 9)
    assert [document.content for document in own] == texts
    assert lesson.demonstrate(way, own, fault=False).actual == (1, 3, 5, 6, 4, 2)
    assert lesson.demonstrate(way, own, fault=True).lost


def test_taken_documents_leave_the_list_alone_and_number_what_the_ranker_reads():
    twice = Document(id="a", content="one two", score=0.2)
    documents = [twice, Document(id="a", content="other", score=0.9), Document(id="b", content="three", score=0.1)]
    own = lesson.taken(documents, arrange(documents).walk, 9)
    assert [(document.id, document.content, document.score) for document in own] == [
        ("document-1", "other", 0.9),
        ("document-2", "three", 0.1),
    ]
    assert (twice.id, twice.meta) == ("a", {})


def test_the_misreadings_show_what_the_code_returns():
    shown = {each.belief: dict(each.shown) for each in lesson.misreadings()}
    cap, tokens, model, repair, published = shown.values()
    assert cap["Words in the prompt"] == "1,004"
    assert tokens["A paragraph of Chinese, in words"] == "1"
    assert model["Its settings, all of them"] == "top_k, word_count_threshold"
    assert repair["Its place in the prompt"] == "5 of 9"
    assert published == {"One write-up prints": "A E D B C", "The code returns": "A C E D B"}
    assert all(each.answer and each.truth for each in lesson.misreadings())


@given(st.integers(1, 9999))
def test_each_question_has_one_right_answer_and_the_same_number_gives_the_same_questions(seed):
    questions = lesson.quiz(seed)
    assert questions == lesson.quiz(seed)
    assert len(questions) == QUESTIONS
    for question in questions:
        assert len(set(question.options)) == len(question.options) == 4
        assert 0 <= question.answer < len(question.options)
    numbers = [[int(number) for number in re.findall(r"\d+", question.text)] for question in questions]
    right = [question.options[question.answer] for question in questions]
    count, rank = numbers[0]
    assert right[0] == f"Place {haystack(lesson.numbered(count)).index(rank) + 1}"
    assert right[1] == f"Document {haystack(lesson.numbered(numbers[1][0]))[numbers[1][0] // 2]}"
    for place, unit in ((2, ""), (3, " words")):
        *sizes, threshold = numbers[place]
        documents = [Document(id=str(n), content="word " * size) for n, size in enumerate(sizes)]
        out = LostInTheMiddleRanker(word_count_threshold=threshold).run(documents=documents)["documents"]
        answer = sum(len(document.content.split()) for document in out) if unit else len(out)
        assert right[place] == f"{answer}{unit}"
    scores = re.findall(r"0\.\d\d", questions[4].text)
    assert right[4] == scores[0] != max(scores)
    assert right[5] == "Last"


def test_another_number_gives_other_questions():
    assert len({lesson.quiz(seed) for seed in range(1, 40)}) > 30


def test_the_steps_can_be_linked_to():
    names = [step.name for step in lesson.STEPS]
    assert len(set(names)) == len(names) == 7


@pytest.mark.parametrize("count", COUNTS)
def test_the_placing_is_drawn_with_one_card_a_document(count):
    for placed in range(count + 1):
        frame = frames.placing(count, placed)
        assert (int(frame["placed"].sum()), int(frame["waiting"].sum())) == (placed, count - placed)
        figure = draw.placing(frame)
        assert figure.title == f"{placed} of {count} document{'' if count == 1 else 's'} placed"
        order = [str(rank) for rank in lesson.placed(count) if rank <= placed]
        assert ", ".join(order) in figure.alt


def test_cards_keep_their_colour_in_every_row_and_can_be_read_on_it():
    frame = frames.cards({"one": [1, 2, 3], "two": [3, 1, 2, 1]}, 3, {"two": 1})
    assert frame.groupby("rank")["shade"].nunique().max() == 1
    assert frame.loc[frame["marked"], "place"].tolist() == [2, 4]
    for palette in (charts.LIGHT, charts.DARK):
        drawn = draw.cards(frame, "Two orders", "", palette)
        assert drawn.alt == "Two orders. one: 1, 2, 3. two: 3, 1, 2, 1."
        assert export.chart_svg(charts.standalone(drawn, palette)).startswith(b"<svg")


def test_the_large_print_changes_sizes_and_nothing_else():
    result = arrange(lesson.numbered(9), 1000)
    for figure in (
        charts.landing(lab_frames.landing(result), result),
        draw.placing(frames.placing(9, 4)),
        draw.walk(frames.walk(result, 5), result),
    ):
        before = figure.chart.to_dict()
        after = charts.enlarged(before, 1.5)
        assert after["datasets"] == before["datasets"]
        assert after["config"]["axis"]["labelFontSize"] == 1.5 * before["config"]["axis"]["labelFontSize"]
        assert export.chart_svg(after | {"width": 600, "height": 400}).startswith(b"<svg")


def test_the_page_to_print_stands_alone_and_escapes_everything():
    picture = lesson.Picture("<A> & B", "<svg></svg>", 'alt "quoted" <x>', "Source & more")
    page = lesson.summary([picture]).decode()
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert not re.search(r"(src|@import|url\()", page)
    assert "&lt;A&gt; &amp; B" in page
    assert 'aria-label="alt &quot;quoted&quot; &lt;x&gt;"' in page
    for way in lesson.WAYS:
        assert way.title.split("'")[0] in page
    assert "1 3 5 7 9 8 6 4 2" in page
    assert evidence_charts.percent(75.8) in page
