"""The assertion and the test file it is written into."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage

from lim import arrange
from lim.audit import PromptError
from lim.testing import assert_prompt_order, pytest_file

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_data" / "audit"
TEMPLATE = (
    "Answer.\n{% for d in documents %}\n{{ loop.index }}. {{ d.content }}\n{% endfor %}\nQ: {{ query }} @documents@"
)
SORTING = TEMPLATE.replace("in documents", "in documents | sort(attribute='score', reverse=true)")
TEXTS = [
    'Tide tables are printed "every" year\'s end.',
    "灯台守\u2028は潮を\\記録する。",
    "'''\n\"\"\" {{ not a variable }} {% raw %}",
    "A dredger works at night: 40 % of the silt is sand.",
    "Ships wait at buoy 7\r\nuntil the pilot comes.",
]


def documents() -> list[Document]:
    return [
        Document(content=text, score=1 - n / 10, meta={"n": n, "list": [1, {"a": None}]})
        for n, text in enumerate(TEXTS)
    ]


def prompt_of(given: list[Document]) -> str:
    return "\n".join(f"<d>{document.content}</d>" for document in given)


def test_the_intended_order_passes() -> None:
    given = documents()
    assert_prompt_order(prompt_of(given), given)
    assert_prompt_order([ChatMessage.from_user(prompt_of(given))], given)
    assert_prompt_order(prompt_of(arrange(given).documents), given, expected="arranged")
    assert_prompt_order(prompt_of(given[:2]), given, expected=given[:2])
    assert_prompt_order("\n".join((d.content or "")[:30] for d in given), given)


def test_the_message_shows_both_orders_and_the_culprit() -> None:
    arranged = arrange(documents()).documents
    with pytest.raises(AssertionError) as failed:
        assert_prompt_order(prompt_of(documents()), arranged)
    message = str(failed.value).splitlines()
    assert message[0].startswith("The prompt does not hold the documents in the intended order (relevance order")
    assert message[1:3] == ["intended: 1 2 3 4 5", "actual:   1 5 2 4 3"]
    assert '    1  Tide tables are printed "every" year\'s end.' in message
    assert any(line.startswith("+   5  ") for line in message)
    assert any(line.startswith("-   5  ") for line in message)
    assert "sort_by_score" in message[-1]


def test_missing_repeated_and_unexpected_documents_fail() -> None:
    given = documents()
    with pytest.raises(AssertionError, match="document 2: missing"):
        assert_prompt_order(prompt_of([given[0], *given[2:]]), given)
    with pytest.raises(AssertionError, match="document 4: 2 times in the prompt"):
        assert_prompt_order(prompt_of([*given, given[3]]), given)
    with pytest.raises(AssertionError, match="document 5: unexpected"):
        assert_prompt_order(prompt_of(given), given, expected=given[:4])
    with pytest.raises(AssertionError, match="actual:   none of them"):
        assert_prompt_order("nothing", given)


def run(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "test_prompt_order.py"
    path.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(path)]
    env = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_the_written_file_passes_on_a_good_template(tmp_path: Path) -> None:
    result = run(pytest_file(TEMPLATE, documents(), variables={"query": 'Who\'s "there"?'}, top_k=4), tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout


def test_the_written_file_fails_on_a_template_that_sorts(tmp_path: Path) -> None:
    result = run(pytest_file(SORTING, documents(), variables={"query": "?"}), tmp_path)
    assert result.returncode == 1
    assert "The prompt does not hold the documents in the intended order (relevance order" in result.stdout


def test_the_written_file_holds_what_was_given() -> None:
    template = SORTING + "{{ n }}"
    source = pytest_file(template, documents(), variables={"query": "?", "n": float("nan")}, word_count_threshold=30)
    assert source.isascii()
    names = {
        node.targets[0].id: node.value  # type: ignore[attr-defined] # plain names
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
    }
    assert ast.literal_eval(names["TEMPLATE"]) == template
    assert json.loads(ast.literal_eval(names["VARIABLES"].args[0])) == {"query": "?", "n": None}  # type: ignore[attr-defined]
    written = json.loads(ast.literal_eval(names["DOCUMENTS"].generators[0].iter.args[0]))  # type: ignore[attr-defined]
    assert [Document(**fields) for fields in written] == documents()
    assert "LostInTheMiddleRanker(word_count_threshold=30)" in source


@pytest.mark.parametrize(
    ("end", "placeholders"),
    [("", ""), ("{{ question }}", "question"), ("{{ query }}{% set a = 1 %}{{ a }}{{ b }}{{ ü }}", "b, \\xfc")],
)
def test_the_written_file_passes_whatever_variables_the_template_has(
    tmp_path: Path, end: str, placeholders: str
) -> None:
    source = pytest_file(TEMPLATE.partition("{{ query")[0] + end, documents(), variables={"query": "?"})
    assert ("# To be replaced by real values" in source) is bool(placeholders)
    assert f"values: {placeholders}.\n" in source or not placeholders
    result = run(source, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("template", ["{% for", "{{ 'a' * 10 ** 12 }}", "{{ " + "(" * 5000, "{{ docs }}", ""])
def test_a_template_that_cannot_work_is_written_all_the_same(template: str) -> None:
    source = pytest_file(template, documents(), variables={"query": "?"})
    compile(source, "test_prompt_order.py", "exec")
    assert ("has no variable `documents`" in source) is (template[3:7] not in ("for", "(((("))


def test_no_documents_no_file() -> None:
    with pytest.raises(PromptError, match="Give at least one"):
        pytest_file(TEMPLATE, [])


def test_the_samples_show_what_they_say() -> None:
    index = json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))
    assert sorted(sample["file"] for sample in index) == sorted(
        path.name for path in SAMPLES.iterdir() if path.name != "samples.json"
    )
    failures = {}
    for sample in index:
        if sample["kind"] != "prompt":
            continue
        values = json.loads((SAMPLES / sample["file"]).read_text(encoding="utf-8"))
        given = [Document(**fields) for fields in values["documents"]]
        try:
            assert_prompt_order(values["prompt"], given, expected=values["expected"])
        except AssertionError as error:
            failures[sample["key"]] = str(error)
    assert failures.keys() == {"sorted-by-score", "document-twice", "truncated"}
    assert "DocumentJoiner with sort_by_score" in failures["sorted-by-score"]
    assert "document 1: 2 times in the prompt" in failures["document-twice"]
    assert "the prompt was cut at its end" in failures["truncated"]
    assert "truncated" in failures["truncated"]
    assert sum(path.stat().st_size for path in SAMPLES.iterdir()) < 400_000
