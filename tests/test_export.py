"""What a visitor downloads opens right, says the same as the page, and runs nothing."""

import csv
import io
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import date
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, version
from math import inf, nan

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert
from haystack import Document
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_lists import ranked_lists, thresholds, top_ks

from lim import SettingError, arrange, export
from lim.export import chart_png, chart_svg, files, pipeline_yaml, python_snippet, result_json, strict, table_csv
from lim.plain import plain

PACKAGE = "lost-in-the-middle-lab"

any_text = st.text(st.characters(codec=None))
formulas = st.builds(
    "{}{}{}".format,
    st.text("' \t\r\n\x00\xa0\u3000\u200b\ufeff", max_size=3),
    st.sampled_from("=+-@＝＋－＠a"),
    any_text,
)


def read_csv(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def objects(**columns):
    """A frame of any Python values: pandas' own string columns take no lone surrogates."""
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


# CSV


def test_a_table_is_written_whole_with_numbers_as_numbers():
    frame = pd.DataFrame(
        {
            "rank": [1, 2, 3],
            "score": [-0.5, nan, 1e-7],
            "position": pd.array([1, None, -2], dtype="Int64"),
            "kept": [True, False, True],
            "text": ["plain", 'comma, "quotes"\nand a line', None],
        }
    )
    assert table_csv(frame) == (
        b"\xef\xbb\xbfrank,score,position,kept,text\r\n"
        b"1,-0.5,1,True,plain\r\n"
        b'2,,,False,"comma, ""quotes""\nand a line"\r\n'
        b"3,1e-07,-2,True,\r\n"
    )


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+41 44", "'+41 44"),
        ("-0.5", "'-0.5"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\nx", "'\nx"),
        ("＝1", "'＝1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠a", "'＠a"),
        ("  =1", "'  =1"),
        ("\xa0\u3000=1", "'\xa0\u3000=1"),
        ("\ufeff\u200b=1", "'\ufeff\u200b=1"),
        ("\x00=1", "'\x00=1"),
        ("'=1", "''=1"),
        ("' =1", "'' =1"),
        ("'quoted'", "'quoted'"),
        ("a=1", "a=1"),
        ("  plain", "  plain"),
        ("naïve 水 \ud83d", "naïve 水 \\ud83d"),
    ],
)
def test_a_text_like_a_formula_gets_an_apostrophe_in_cells_and_headers(text, cell):
    frame = objects(text=[text, 1])
    frame.columns = pd.Index([text], dtype=object)
    assert read_csv(table_csv(frame)) == [[cell], [cell], ["1"]]


@settings(max_examples=300)
@given(st.lists(st.tuples(any_text | formulas, st.none() | st.floats() | st.integers(-(10**6), 10**6)), min_size=1))
def test_no_text_starts_a_formula_every_text_can_be_had_back_and_every_number_is_itself(rows):
    texts, numbers = zip(*rows, strict=True)
    data = table_csv(objects(text=texts, number=numbers).assign(floats=pd.Series(numbers, dtype=float)))
    head, *cells = read_csv(data)
    assert head == ["text", "number", "floats"]
    for text, (cell, _, _) in zip(texts, cells, strict=True):
        assert cell[:1] not in {"\t", "\r", "\n"}
        assert re.sub(r"^[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]+", "", cell)[:1] not in set("=+-@＝＋－＠")
        written = text.encode("utf-8", "backslashreplace").decode()
        assert written in (cell, cell[1:])
        without = cell[1:] if files._FORMULA.match(cell) else cell
        assert without == written
    as_written = ["" if number is None or number != number else str(number) for number in numbers]
    assert [row[1] for row in cells] == as_written
    read = pd.read_csv(io.BytesIO(data), usecols=["floats"], skip_blank_lines=False)
    assert pd.api.types.is_numeric_dtype(read["floats"])
    np.testing.assert_array_equal(read["floats"].to_numpy(float), np.array(numbers, dtype=float))


def test_other_values_are_their_text_and_numbers_of_any_kind_are_numbers():
    values = [np.int64(-3), np.float64(-0.5), Decimal("-1.5"), True, date(2024, 2, 29), [-1], pd.NA, pd.NaT, nan, inf]
    cells = [row[0] for row in read_csv(table_csv(objects(value=values).assign(other=1)))]
    assert cells == ["value", "-3", "-0.5", "-1.5", "True", "2024-02-29", "[-1]", "", "", "", "inf"]


def test_columns_of_one_name_and_an_empty_table_are_written():
    assert table_csv(pd.DataFrame([[1, 2]], columns=["a", "a"], index=["left out"])) == b"\xef\xbb\xbfa,a\r\n1,2\r\n"
    assert table_csv(pd.DataFrame({"a": [], "b": []})) == b"\xef\xbb\xbfa,b\r\n"


# JSON


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def strictly(data):
    return json.loads(data.decode("utf-8", "strict"), parse_constant=no_constant)


def test_a_result_is_written_whole():
    documents = [
        Document(id="a", content="one two", score=0.5, meta={"day": date(2024, 2, 29), "n": np.int64(3)}),
        Document(id="b", content="three \ud83d", score=nan, meta={"bad": [inf, -inf, nan], "set": {1}}),
        Document(id="a", content="copy", score=0.1),
        Document(id="c", content="four", score=None),
    ]
    data = result_json(arrange(documents, 3, 5), name='The "list"', query="水?", tokens=[2, 3, 1, 1])
    fields = (
        *("rank", "slot", "position", "words", "cumulative_words", "fate", "duplicate_of"),
        *("id", "tokens", "score", "meta", "content"),
    )
    rows = [
        (1, 1, 1, 2, 2, "kept", None, "a", 2, 0.5, {"day": "2024-02-29", "n": 3}, "one two"),
        (2, 2, 2, 2, 4, "crosses", None, "b", 3, None, {"bad": [None] * 3, "set": [1]}, "three \ud83d"),
        (3, None, None, 1, None, "duplicate", 1, "a", 1, 0.1, {}, "copy"),
        (4, 3, None, 1, 5, "over threshold", None, "c", 1, None, {}, "four"),
    ]
    assert strictly(data) == {
        "versions": {"haystack-ai": version("haystack-ai"), PACKAGE: strict.package_version(PACKAGE)},
        "settings": {"word_count_threshold": 3, "top_k": 5},
        "name": 'The "list"',
        "query": "水?",
        "order": [1, 2],
        "words": 4,
        "documents": [dict(zip(fields, row, strict=True)) for row in rows],
    }
    assert "水?".encode() in data  # readable, not escaped
    assert rb"three \ud83d" in data
    assert data.count(b"\n") == 1 + 6 + 1 + 4 + 1 + 1  # one value a line, one document a line


def test_this_packages_version_is_the_projects_installed_or_not(monkeypatch):
    def nothing(package):
        raise PackageNotFoundError(package)

    strict.package_version.cache_clear()
    monkeypatch.setattr(strict, "version", nothing)
    assert strict.package_version(PACKAGE) == "0.1.0"
    strict.package_version.cache_clear()


def test_an_empty_list_and_unknown_tokens_are_written():
    parsed = strictly(result_json(arrange([]), name="", query=None))
    assert (parsed["order"], parsed["words"], parsed["documents"], parsed["query"]) == ([], 0, [], None)
    parsed = strictly(result_json(arrange([Document(id="a", content="a")]), name="", query=None))
    assert [document["tokens"] for document in parsed["documents"]] == [None]


def test_tokens_of_another_length_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        result_json(arrange([Document(content="a"), Document(content="b")]), name="", query=None, tokens=[1])


@given(ranked_lists(), thresholds, top_ks, any_text)
def test_every_result_is_strict_json_and_says_what_the_arrangement_says(documents, threshold, top_k, name):
    result = arrange(documents, threshold, top_k)
    parsed = strictly(result_json(result, name=name, query=name))
    assert [document["rank"] for document in parsed["documents"]] == list(range(1, len(documents) + 1))
    placed = sorted((document for document in parsed["documents"] if document["position"]), key=lambda d: d["position"])
    assert [document["rank"] for document in placed] == parsed["order"] == result.order
    # JSON writes two lone halves of one character as that character does
    joined = [
        document.content.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") for document in documents
    ]
    assert [document["content"] for document in parsed["documents"]] == joined


def test_plain_values_end_where_a_value_holds_itself():
    loop: list = []
    loop.append(loop)
    depth, value = 0, plain(loop)
    while value != "…":
        depth, value = depth + 1, value[0]
    assert depth == 50


class Named(str):
    __slots__ = ()


def test_plain_values_are_pythons_own():
    value = {
        1: (1, 2),
        None: {True: frozenset([1])},
        "a": np.array([[1.5, nan]]),
        "s": Named("text"),
        "b": b"bytes",
        "t": np.array([True])[0],
        "d": np.datetime64("2024-02-29"),
        "f": np.float32(0.5),
        "r": range(2),
    }
    expected = {
        "1": [1, 2],
        "null": {"true": [1]},
        "a": [[1.5, None]],
        "s": "text",
        "b": "b'bytes'",
        "t": True,
        "d": "2024-02-29",
        "f": 0.5,
        "r": [0, 1],
    }
    # Spelled out, since True == 1 and Named("text") == "text"
    assert repr(plain(value, finite=True)) == repr(expected)


# Python and YAML


def fresh_python(code, tmp_path):
    """Run code in a new interpreter, away from this repository, with what it prints."""
    environment = {**os.environ, "HAYSTACK_TELEMETRY_ENABLED": "False"}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.parametrize(
    ("limits", "call", "order"),
    [
        ((None, None), "LostInTheMiddleRanker()", ["most", "third", "least", "fourth", "second"]),
        ((5, None), "LostInTheMiddleRanker(word_count_threshold=5)", ["most", "second"]),
        ((None, 3), "LostInTheMiddleRanker(top_k=3)", ["most", "third", "second"]),
        ((10, 4), "LostInTheMiddleRanker(word_count_threshold=10, top_k=4)", ["most", "third", "second"]),
    ],
)
def test_the_script_runs_and_prints_the_order(limits, call, order, tmp_path):
    script = python_snippet(*limits)
    assert f"ranker = {call}\n" in script
    texts = {
        "most": "The most relevant document.",
        "second": "The second most relevant document.",
        "third": "The third most relevant document.",
        "fourth": "The fourth most relevant document.",
        "least": "The least relevant document.",
    }
    printed = [f"{position} {texts[name]}" for position, name in enumerate(order, 1)]
    assert fresh_python(script, tmp_path).splitlines() == printed


NASTY = ["plain one", 'quote \' " \\" and\nline', "{brace} % \\N{DEGREE SIGN}", "水 \u202e\u2028", "tail \\"]


def test_a_persons_few_documents_stand_in_the_script(tmp_path):
    documents = [
        *(Document(content=text, meta={"n": [1, None], text: True}, score=0.5) for text in NASTY),
        Document(id="a '", content="copy", score=0.1),
        Document(id="a '", content="copy", score=0.2),
        Document(content="number", score=nan, meta={"bad": inf}),
    ]
    script = python_snippet(10**6, 7, documents)
    exact = "import json\nprint(json.dumps([[d.id, d.content, d.score, d.meta] for d in result['documents']]))"
    script = script[: script.index("# The best documents now")] + exact
    kept = arrange(documents, 10**6, 7).documents
    assert len(kept) == 7
    expected = [[each.id, each.content, plain(each.score, finite=True), plain(each.meta, finite=True)] for each in kept]
    assert json.loads(fresh_python(script, tmp_path)) == expected


def test_a_half_of_a_character_stands_in_the_script_as_its_escape():
    script = python_snippet(None, None, [Document(id="a", content="x \ud83d")])
    assert """Document(id='a', content='x \\ud83d')""" in script
    script.encode()


@pytest.mark.parametrize("documents", [[f"text {n}" for n in range(13)], ["word " * 2000, "b"]], ids=["many", "long"])
def test_for_more_documents_the_script_reads_the_downloaded_result(documents, tmp_path):
    arrangement = arrange([Document(id=text[:9], content=text, meta={"a": 1}) for text in documents], 9)
    (tmp_path / export.RESULT_FILE).write_bytes(result_json(arrangement, name="list", query=None))
    script = python_snippet(9, None, arrangement.inputs)
    assert f"# The {len(documents)} documents of the Lab: download" in script
    printed = fresh_python(script, tmp_path)
    shown = [f"{position} {each.content}" for position, each in enumerate(arrangement.documents, 1)]
    assert printed == "\n".join(shown) + "\n"


@pytest.mark.parametrize("limits", [(None, None), (6, None), (None, 3), (6, 2)])
def test_the_pipeline_loads_with_haystack_alone_and_gives_the_same_order(limits, tmp_path):
    (tmp_path / "pipeline.yaml").write_text(pipeline_yaml(*limits), "utf-8")
    texts = [f"{number} a b" for number in range(1, 6)]
    code = (
        "from haystack import Document, Pipeline\n"
        "pipeline = Pipeline.loads(open('pipeline.yaml', encoding='utf-8').read())\n"
        f"documents = [Document(content=text) for text in {texts!r}]\n"
        "data = {'ranker': {'documents': documents}, 'prompt_builder': {'query': 'Why?'}}\n"
        "print(pipeline.run(data)['prompt_builder']['prompt'])"
    )
    result = arrange([Document(content=text) for text in texts], *limits)
    numbered = "\n\n".join(f"[{position}] {each.content}" for position, each in enumerate(result.documents, 1))
    assert fresh_python(code, tmp_path) == (
        "Answer the question using only the documents below. If they do not contain the answer, say so.\n\n"
        f"Question: Why?\n\nDocuments:\n\n{numbered}\n\nQuestion: Why?\nAnswer:\n"
    )


@pytest.mark.parametrize("write", [python_snippet, pipeline_yaml])
@pytest.mark.parametrize("limits", [(0, None), (None, -1), (True, None), ("1); import os", None)])
def test_a_limit_out_of_bounds_is_refused(write, limits):
    with pytest.raises(SettingError):
        write(*limits)


# Charts


def chart(**properties):
    data = pd.DataFrame({"rank": [1, 2, 3], "position": [1, 3, 2]})
    pick = alt.selection_point(name="pick", nearest=True, on="[pointerdown, pointerup] > pointermove", fields=["rank"])
    threshold = alt.param(name="threshold", value=2, bind=alt.binding_range(min=0, max=3))
    marks = (
        alt.Chart(data)
        .mark_point(filled=True)
        .encode(
            alt.X("rank:Q"),
            alt.Y("position:Q"),
            opacity=alt.when(pick).then(alt.value(1)).otherwise(alt.value(0.5)),
            tooltip="rank:Q",
        )
        .add_params(pick, threshold)
    )
    rule = alt.Chart(data).mark_rule().encode(x=alt.X("rank:Q")).transform_filter("datum.rank == threshold")
    return (marks + rule).properties(title="Where it lands, 水", height=100, **properties).to_dict()


def size(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


def drawn(spec):
    return ET.fromstring(chart_svg(spec))  # noqa: S314 # our own chart


def test_an_interactive_chart_is_drawn_as_svg_with_its_marks_and_words():
    root = drawn(chart(width=300))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert {"Where it lands, 水", "rank", "position"} <= {element.text for element in root.iter() if element.text}
    marks = [each for each in root.iter() if each.get("aria-roledescription") == "point"]
    rules = [each for each in root.iter() if each.get("aria-roledescription") == "rule mark"]
    assert (len(marks), len(rules)) == (3, 1)


def test_a_picture_has_the_charts_size_times_the_scale():
    root = drawn(chart(width=300))
    width, height = float(root.get("width")), float(root.get("height"))
    assert width > 300
    assert size(chart_png(chart(width=300), scale=1)) == (width, height)
    assert size(chart_png(chart(width=300))) == (2 * width, 2 * height)


def test_a_chart_that_fills_the_page_gets_a_width_of_its_own_and_the_spec_stays_as_it_was():
    spec = chart(width="container")
    assert chart_svg(spec) == chart_svg(chart(width=export.CHART_WIDTH))
    assert spec["width"] == "container"


@pytest.mark.parametrize("draw", [chart_svg, chart_png])
@pytest.mark.parametrize(
    "spec",
    [
        {"data": {"url": "http://127.0.0.1:9/data.csv"}, "mark": "point"},
        {"data": {"values": [{"u": "http://127.0.0.1:9/a.png"}]}, "mark": "image", "encoding": {"url": {"field": "u"}}},
    ],
)
def test_nothing_is_fetched_for_a_chart(draw, spec):
    with pytest.raises(ValueError, match=r"not allowed|may not fetch"):
        draw(spec)


@pytest.mark.parametrize("draw", [chart_svg, chart_png])
def test_what_is_no_chart_is_refused(draw):
    with pytest.raises(ValueError, match="Invalid specification"):
        draw({})


@pytest.mark.parametrize("scale", [0, -1, nan, inf, 11])
def test_a_scale_out_of_bounds_is_refused(scale):
    with pytest.raises(ValueError, match=r"scale is .* above 0 and at most 10"):
        chart_png(chart(), scale)


def test_charts_are_drawn_by_the_vega_lite_that_altair_writes_for():
    assert alt.SCHEMA_VERSION.startswith(f"v{export.VEGA_LITE}.")
    assert export.VEGA_LITE in vl_convert.get_vegalite_versions()
