"""What the README says is true: its code runs, and its table of formats is the loader's own."""

import re
from pathlib import Path

import pytest

from lim.loading import supported

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
START, END = "<!-- formats -->\n", "<!-- /formats -->\n"


def formats_table() -> str:
    lines = ["| format | recognised by | text | id | score |", "|---|---|---|---|---|"]
    for row in supported():
        cells = (row.name, row.recognised, row.text, row.id, row.score)
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_code_runs_and_prints_what_its_comments_say(block, capsys):
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102 # the README's own code
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"^print\(.*\)  # (\[.*\])$", block, re.MULTILINE)
    assert [line for line in promised if line not in printed] == []


def test_the_table_of_formats_is_the_loaders():
    text = README.read_text(encoding="utf-8")
    assert text[text.index(START) + len(START) : text.index(END)] == formats_table(), (
        "The README's table of formats is behind the loader's registry: run python -m tests.test_readme"
    )


def test_the_pictures_are_there():
    for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / path).is_file(), path


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    before, after = text[: text.index(START) + len(START)], text[text.index(END) :]
    README.write_text(before + formats_table() + after, encoding="utf-8")
