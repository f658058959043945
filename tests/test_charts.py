"""Every figure is a valid chart, says its numbers, draws a bar for every document, and stays the same chart."""

import json
import re
from html import unescape

import pytest
from haystack import Document
from ranked_lists import of_words

from lim import arrange, charts, export, frames
from lim.thresholds import staircase

LISTS = {
    "one": of_words([30]),
    "two": of_words([30, 20]),
    "seven": of_words([14, 20, 0, 25, 16, 13, 22]),
    "twenty": of_words([33, 119, 64, 239, 21, 89, 54, 153, 29, 74, 99, 136, 15, 69, 118, 8, 49, 85, 24, 60]),
    "forty": of_words(range(1, 41)),
    "two hundred": of_words([10, 30] * 100),
    "a thousand": of_words([10] * 1000),
    "all empty": of_words([0, 0, 0]),
    "duplicates": [*of_words([9, 8, 7]), *of_words([9, 8, 7])],
}
LIMITS = [(None, None), (20, None), (10**6, 3)]


def landing(arrangement, palette=charts.LIGHT, picked=None):
    return charts.landing(frames.landing(arrangement, picked), arrangement, palette)


def budget(arrangement, palette=charts.LIGHT, picked=None):
    return charts.budget(frames.budget(arrangement, picked), arrangement, palette)


def slope(arrangement, palette=charts.LIGHT, picked=None):
    return charts.slope(frames.slope(arrangement, picked), arrangement, palette)


def steps(arrangement, palette=charts.LIGHT, picked=None):
    del picked  # the staircase marks no document
    return charts.staircase(frames.steps(staircase(arrangement)), arrangement, palette)


FIGURES = {"landing": landing, "budget": budget, "slope": slope, "staircase": steps}


def walk(node):
    """Yield every object of a specification."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(child)


def without_data(figure):
    """Give the specification as the browser compares it: the rows, and the hash that names them, left out."""
    specification = figure.chart.to_dict()
    specification.pop("datasets")
    for node in walk(specification):
        node.pop("data", None)
    # Altair numbers views by a hash of their rows; Streamlit gives them stable names.
    return re.sub(r"view_[0-9a-f]+_\d+", "view", json.dumps(specification, sort_keys=True))


def drawn(figure, palette=charts.LIGHT):
    return export.chart_svg(charts.standalone(figure, palette)).decode()


def marks(svg, role):
    """List the tags of all marks of a role, such as `bar`."""
    return re.findall(rf'<[a-z]+ [^>]*aria-roledescription="{role}"[^>]*>', svg)


def texts(svg):
    return [unescape(re.sub("<[^>]*>", "", found)) for found in re.findall(r"<text[^>]*>(.*?)</text>", svg)]


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("kind", FIGURES)
def test_every_figure_builds_into_a_valid_chart_with_words(kind, name, limits):
    arrangement = arrange(LISTS[name], *limits)
    figure = FIGURES[kind](arrangement, charts.DARK, picked=1)
    specification = figure.chart.to_dict()  # validates against Vega-Lite's schema
    assert specification["width"] == "container"
    assert figure.title
    assert figure.subtitle
    assert figure.alt.endswith(".")
    json.dumps(specification, allow_nan=False)


@pytest.mark.parametrize("name", ["two", "seven", "twenty", "forty", "a thousand"])
@pytest.mark.parametrize("kind", FIGURES)
def test_a_new_limit_or_pick_changes_rows_and_never_the_chart(kind, name):
    states = [(None, None, None), (1, None, 1), (60, None, 2), (10**6, None, None)]
    if kind != "staircase":
        states += [(None, 2, 2), (20, 2, 1)]  # with another top_k there are other steps
    same = {
        without_data(FIGURES[kind](arrange(LISTS[name], threshold, top_k), picked=picked))
        for threshold, top_k, picked in states
    }
    assert len(same) == 1
    assert without_data(FIGURES[kind](arrange(LISTS[name]), charts.DARK)) not in same


@pytest.mark.parametrize("kind", FIGURES)
def test_no_name_in_a_chart_is_a_persons(kind):
    documents = [
        Document(id=f"id.{n}[0]", content=f"secret{n}.text[0]: \"q\" 'a'", meta={"a.b": 1, "c:Q": 2, "size \"mm'\\": 3})
        for n in range(3)
    ]
    specification = FIGURES[kind](arrange(documents, 2)).chart.to_dict()
    datasets = specification.pop("datasets")
    assert all(name.isidentifier() for rows in datasets.values() for row in rows for name in row)
    fields = [node["field"] for node in walk(specification) if "field" in node]
    assert fields
    assert all(field.isidentifier() for field in fields)
    assert not re.search(r"secret|id\.|a\.b|c:Q|mm", json.dumps(specification))
    assert not re.search(r"a\.b|c:Q|mm", json.dumps(datasets))


ALTERNATIVES = {
    "landing": (
        "12 of 20 documents reach the prompt. Original ranks in the order of the prompt: "
        "1, 3, 5, 7, 9, 11, 12, 10, 8, 6, 4, 2."
    ),
    "budget": (
        "The budget runs out at rank 12: 1,110 words. 12 of 20 documents reach the prompt: 1,110 words, 110 over your "
        "threshold of 1,000, because the document that crosses it is kept. Thresholds can be pointed at in steps of "
        "20 words."
    ),
    "slope": (
        "12 of 20 documents reach the prompt. Original ranks from the top of the prompt: "
        "1, 3, 5, 7, 9, 11, 12, 10, 8, 6, 4, 2."
    ),
    "staircase": "20 steps between threshold 1 and 1,538. 12 of 20 documents reach the prompt.",
}


@pytest.mark.parametrize("kind", FIGURES)
def test_the_alternative_text_states_the_numbers(kind):
    assert FIGURES[kind](arrange(LISTS["twenty"], 1000)).alt == ALTERNATIVES[kind]


def test_the_alternative_text_of_a_long_list_shortens_the_order():
    alt = landing(arrange(LISTS["two hundred"])).alt
    assert alt == (
        "All 200 documents reach the prompt. Original ranks in the order of the prompt: 1, 3, 5, 7 … 8, 6, 4, 2."
    )


@pytest.mark.parametrize(("threshold", "order"), [(1000, [1, 3, 5, 7, 9, 11, 12, 10, 8, 6, 4, 2]), (30, [1])])
def test_landing_draws_a_numbered_bar_for_each_document_in_the_prompt(threshold, order):
    svg = drawn(landing(arrange(LISTS["twenty"], threshold)))
    assert len(marks(svg, "bar")) == len(order)
    labels = texts(svg)
    assert labels[: len(order)] == [str(position) for position in range(1, len(order) + 1)]  # the axis
    assert [label for label in labels if label.isdigit()][-len(order) :] == [str(rank) for rank in order]
    assert "Where each document lands" in labels
    assert len(re.findall(f'stroke="{charts.LIGHT.threshold}"', svg)) == 1  # the one that crosses


def test_equal_texts_do_not_share_a_bar():
    documents = [Document(id=str(rank), content="FAQ") for rank in range(1, 13)]
    svg = drawn(landing(arrange(documents)))
    assert len(marks(svg, "bar")) == 12
    ranks = [label for label in texts(svg) if label.isdigit()][-12:]
    assert ranks == ["1", "3", "5", "7", "9", "11", "12", "10", "8", "6", "4", "2"]


@pytest.mark.parametrize("palette", [charts.LIGHT, charts.DARK])
def test_budget_draws_a_step_for_each_document_and_the_threshold(palette):
    svg = drawn(budget(arrange(LISTS["twenty"], 1000), palette), palette)
    bars = marks(svg, "bar")
    assert len(bars) == 20
    assert sum(f'fill="{palette.out}"' in bar for bar in bars) == 8  # dropped
    assert [f'stroke="{palette.threshold}"' in bar for bar in bars] == [rank == 12 for rank in range(1, 21)]
    labels = texts(svg)
    assert labels[:20] == [str(rank) for rank in range(1, 21)]
    assert "word_count_threshold = 1,000+110 words, kept" in labels
    assert "8 dropped" in labels
    (rule,) = marks(svg, "rule mark")
    assert f'stroke="{palette.threshold}"' in rule
    assert 'opacity="1"' in rule


def test_budget_without_a_threshold_draws_no_rule():
    svg = drawn(budget(arrange(LISTS["twenty"])))
    assert len(marks(svg, "bar")) == 20
    assert all('opacity="0"' in rule for rule in marks(svg, "rule mark"))
    assert not [label for label in texts(svg) if "threshold" in label and "drag" not in label]


@pytest.mark.parametrize(("threshold", "over"), [(1538, "exactly reached"), (1600, "not reached"), (1537, "+1 words")])
def test_budget_says_how_the_threshold_is_met(threshold, over):
    assert any(over in label for label in texts(drawn(budget(arrange(LISTS["twenty"], threshold)))))


@pytest.mark.parametrize("top_k", [None, 7])
@pytest.mark.parametrize("name", ["seven", "twenty", "a thousand"])
@pytest.mark.parametrize("share", [0, 0.31, 0.77, 1])
def test_pointing_shows_what_haystack_would_do_before_the_server_answers(name, share, top_k):
    arrangement = arrange(LISTS[name], 20, top_k)
    handles = frames.handle_thresholds(arrangement.totals[-1]).tolist()
    handle = handles[round(share * (len(handles) - 1))]
    figure = budget(arrangement)
    row = next(row for row in frames.budget(arrangement).to_dict("records") if row["handle"] == handle)
    specification = charts.standalone(figure, charts.LIGHT)
    pointed = next(param for param in specification["params"] if param["name"] == "pointed")
    pointed["value"] = [{field: row[field] for field in pointed["select"]["fields"]}]
    labels = texts(export.chart_svg(specification).decode())
    answer = arrange(LISTS[name], handle, top_k)
    over = answer.words - handle
    said = f"+{over:,} words, kept" if over > 0 else "not reached" if over < 0 else "exactly reached"
    assert [label for label in labels if label.startswith("word_count")] == [f"word_count_threshold = {handle:,}{said}"]
    dropped = len(answer.walk) - answer.kept
    assert [label for label in labels if re.fullmatch("[0-9,]+ dropped", label)] == (
        [f"{dropped:,} dropped"] if dropped else []
    )


def test_an_old_pointed_value_does_not_outlive_a_new_threshold():
    specification = charts.standalone(budget(arrange(LISTS["twenty"], 500)), charts.LIGHT)
    pointed = next(param for param in specification["params"] if param["name"] == "pointed")
    pointed["value"] = [dict.fromkeys(pointed["select"]["fields"], 1000)]  # made when 1,000 was the threshold
    labels = texts(export.chart_svg(specification).decode())
    assert [label for label in labels if label.startswith("word_count")] == [
        "word_count_threshold = 500+65 words, kept"
    ]


def test_slope_draws_both_sides():
    svg = drawn(slope(arrange(LISTS["seven"], 60)))
    assert len(marks(svg, "line mark")) == 7
    labels = [label for label in texts(svg) if label.isdigit()]
    assert labels == ["1", "2", "3", "4", "5", "6", "7", "1", "2", "3", "4", "5"]
    assert len(marks(svg, "point")) == 12


def test_a_binned_chart_says_so():
    arrangement = arrange(of_words([10] * 6000))
    for figure, words in [
        (landing(arrangement), "Each bar is about 25 positions, drawn to its best rank"),
        (budget(arrangement), "Each bar is about 25 documents"),
        (steps(arrangement), "240 of 6,000 steps are drawn"),
    ]:
        assert words in figure.subtitle
        assert len(json.dumps(figure.chart.to_dict())) < 150_000
    assert "is about" not in landing(arrange(of_words([10] * 240))).subtitle
    assert "is about" not in budget(arrange(of_words([10] * 240))).subtitle


@pytest.mark.parametrize("name", ["one", "seven", "a thousand"])
def test_a_picked_document_is_outlined_in_every_chart(name):
    arrangement = arrange(LISTS[name])
    ink = f'stroke="{charts.LIGHT.ink}"'
    readable = len(LISTS[name]) <= frames.MAX_SLOPE_DOCUMENTS
    for figure in (landing, budget, slope) if readable else (landing, budget):
        assert ink in drawn(figure(arrangement, picked=1))
        assert ink not in drawn(figure(arrangement))


@pytest.mark.parametrize(("shade", "colour"), [(0, "#08306b"), (1, "#9ecae1"), (0.5, "#537da6")])
def test_colours_mix_as_the_charts_mix_them(shade, colour):
    assert charts.mix(charts.LIGHT.best, charts.LIGHT.weakest, shade) == colour
