"""The report says what the page says, and renders as it should whatever a document holds."""

import io
import struct
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace

import pytest
from haystack import Document
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from shown import sample, shown

from lim import charts, frames, story
from lim.export import Texts, pictures_of, report_markdown, report_zip
from lim.export.markdown import code, table
from lim.thresholds import staircase

any_text = st.text(st.characters(codec=None))
NASTY = [
    "a | b",
    r"back\|slash",
    "`tick`",
    "``two`` and `one",
    "`",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[link](https://evil.example) ![image](https://evil.example/a.png)",
    "https://evil.example www.evil.example me@evil.example @team #12 :tada:",
    "&amp; &#124; $x$",
    "line\nbreak\r\n\r\n# not a heading",
    "turn\u202earound\u200b\u2066\x00",
    "   ",
]


def rendered(markdown: str):
    return MarkdownIt("commonmark").enable("table").parse(markdown)


def code_spans(tokens) -> list[str]:
    return [each.content for token in tokens for each in token.children or () if each.type == "code_inline"]


def visible(text: str) -> str:
    return code_spans(rendered(code(text)))[0] if code(text) else ""


@given(any_text)
@example("`")
@example("a`")
@example("\\")
def test_any_text_is_one_code_span_and_nothing_else(text):
    tokens = rendered(f"before {code(text)} after")
    (inline,) = (token for token in tokens if token.children)
    kinds = [each.type for each in inline.children]
    assert kinds == (["text", "code_inline", "text"] if code(text) else ["text"])
    assert not set("\n\r\u202e\u2066\x00\ud83d") & set(code(text))


@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=4))
@example([("a | b", r"\|"), ("|", "\\")])
def test_every_cell_of_a_table_is_its_text(rows):
    tokens = rendered(table(["One", "Two:"], [(code(left), code(right)) for left, right in rows]))
    cells = [token.content for index, token in enumerate(tokens) if tokens[index - 1].type == "td_open"]
    assert len(cells) == 2 * len(rows)
    spans = [[each.content for each in token.children] for token in tokens if token.type == "inline"][2:]
    expected = [visible(text) for row in rows for text in row]
    assert ["".join(span) for span in spans] == expected


def test_nothing_a_document_holds_runs_links_or_mentions_anyone():
    documents = [Document(id=text, content=text, meta={"title": text}) for text in NASTY]
    now = shown(documents, 20, query=" ".join(NASTY))
    own = set(rendered_links(report_markdown(shown([Document(content="plain")])).decode()))
    for texts in Texts:
        markdown = report_markdown(now, texts=texts).decode()
        tokens = rendered(markdown)
        assert {token.type for token in tokens} & {"html_block", "fence", "code_block"} == set()
        children = [each for token in tokens for each in token.children or ()]
        assert {each.type for each in children} <= {
            *("text", "code_inline", "strong_open", "strong_close", "link_open", "link_close")
        }
        assert set(rendered_links(markdown)) == own
        outside = "".join(each.content for each in children if each.type == "text")
        assert not {"evil", "script", "@team", "#12", ":tada:"} & set(outside.replace(".", " ").split())


def rendered_links(markdown: str) -> list[str]:
    children = [each for token in rendered(markdown) for each in token.children or ()]
    return [each.attrs["href"] for each in children if each.type == "link_open"]


def test_the_report_has_the_figures_of_the_page():
    now = sample("unsorted.json", 90, 6)
    text = report_markdown(now).decode()
    assert text.startswith(f"# {story.verdict(now.arrangement)}\n")
    tokens = sum(now.tokens[rank - 1] for rank in now.arrangement.order)
    figures = [
        ("`word_count_threshold`", "90"),
        ("`top_k`", "6"),
        ("Documents in the prompt", "4 of 8"),
        ("Words in the prompt", "101"),
        ("Words over the threshold", "11"),
        ("Tokens in the prompt (o200k)", f"{tokens:,}"),
        ("Duplicates dropped", "0"),
    ]
    assert "\n".join(f"| {name} | {value} |" for name, value in figures) in text
    assert now.findings[0].message in text
    steps = {step.kept: step for step in staircase(now.arrangement, now.tokens)}
    here = steps[4]
    assert f"| **{here.lowest} to {here.highest}** | **4** | **101** | **{here.tokens}** |" in text
    assert f"| {steps[6].lowest} and more | 6 | {steps[6].words} | {steps[6].tokens} |" in text
    rows = text[text.index("## Documents") :].splitlines()[4:12]
    fates = frames.table(now.arrangement)["fate"]
    assert [row.split(" | ")[2].split(" (")[0] for row in rows] == list(fates)
    assert [row.split(" | ")[1] for row in rows] == ["1", "4", "2", "3", "", "", "", ""]


def test_the_threshold_too_high_for_the_first_document_is_a_finding():
    assert "The first document alone has 33 words" in report_markdown(sample("unsorted.json", 5)).decode()


def test_a_long_list_is_cut_and_says_so():
    text = report_markdown(sample("long_list.csv", 1250)).decode()
    assert text.count("\n| ") < 80
    assert "150 more documents of the list left out of this table." in text


@pytest.mark.parametrize("documents", [[], [Document(content="")], [Document(content="one")]])
def test_a_list_of_nothing_is_reported(documents):
    for threshold in (None, 5):
        assert report_markdown(shown(documents, threshold)).startswith(b"# ")


def test_the_zip_holds_the_report_and_every_picture_it_links():
    now = sample("teaching.json", 85)
    packed = report_zip(now, palette=charts.DARK)
    assert packed == report_zip(now, palette=charts.DARK)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        names = pictures_of(now.arrangement)
        assert names == ("landing", "budget", "slope", "staircase")
        assert archive.namelist() == ["report.md", *(f"{name}.{kind}" for name in names for kind in ("svg", "png"))]
        text = archive.read("report.md").decode()
        links = [line.partition("](")[2].rstrip(")") for line in text.splitlines() if line.startswith("![")]
        assert links == [f"{name}.svg" for name in names]
        for name in names:
            root = ET.fromstring(archive.read(f"{name}.svg"))  # noqa: S314 # our own drawing
            assert (root.get("width"), root.get("height")) == ("960", "540")
            assert charts.DARK.paper in archive.read(f"{name}.svg").decode()
            assert struct.unpack(">II", archive.read(f"{name}.png")[16:24]) == (1920, 1080)
        words = "".join(ET.fromstring(archive.read("landing.svg")).itertext())  # noqa: S314
        assert story.reach(now.arrangement) in words
        assert "click" not in "".join(ET.fromstring(archive.read("budget.svg")).itertext())  # noqa: S314


def test_a_list_too_long_for_a_slope_has_none():
    arrangement = sample("long_list.csv").arrangement
    assert pictures_of(arrangement) == ("landing", "budget", "staircase")


@pytest.mark.parametrize(
    ("threshold", "line"),
    [
        (None, None),
        (90, "Any threshold from 85 to 101 keeps 4 documents"),
        (10**6, "Any threshold from 192 on keeps 8 documents"),
    ],
)
def test_the_staircase_says_between_which_thresholds_nothing_changes(threshold, line):
    arrangement = sample("unsorted.json", threshold).arrangement
    assert story.same_result(arrangement, staircase(arrangement)) == line


def test_a_step_of_one_threshold_says_so():
    arrangement = shown([Document(content="a"), Document(content="b"), Document(content="c")], 2).arrangement
    assert story.same_result(arrangement, staircase(arrangement)) == "Only a threshold of 2 keeps 2 documents"
    assert story.same_result(replace(arrangement, word_count_threshold=None), staircase(arrangement)) is None
