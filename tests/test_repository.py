"""What the repository promises as a whole: its layout, its pins, its silence."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOP_LEVEL = {"app.py", "lim", "tests", "requirements.txt", "sample_data", "README.md", "pyproject.toml"}
REQUIREMENTS = sorted(ROOT.glob("requirements*.txt")) + sorted((ROOT / "tests").glob("requirements*.txt"))


def repository_files() -> list[str]:
    """List the files that are in the repository or would be added to it; without git, those that lie here."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0:
        return listing.stdout.splitlines()
    return [path.name for path in ROOT.iterdir()]


def fresh_python(code: str, **environment: str) -> str:
    """Run code in a new interpreter from the repository's root and return what it prints."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_the_top_level_holds_only_what_is_agreed():
    names = {path.split("/")[0] for path in repository_files()}
    assert {"lim", "tests", "pyproject.toml"} <= names
    assert {name for name in names if not name.startswith(".")} - TOP_LEVEL == set()


def test_the_core_pulls_in_no_page_chart_or_table_library():
    loaded = fresh_python("import lim, sys; print([m for m in ('streamlit', 'altair', 'pandas') if m in sys.modules])")
    assert loaded == "[]"


@pytest.mark.parametrize("wish", ["True", "1", ""])
def test_haystack_sends_no_telemetry_whatever_the_environment_says(wish):
    code = (
        "import lim, os; from haystack.telemetry import _telemetry;"
        "print(os.environ['HAYSTACK_TELEMETRY_ENABLED'], _telemetry.telemetry)"
    )
    assert fresh_python(code, HAYSTACK_TELEMETRY_ENABLED=wish) == "False None"


def test_streamlit_sends_no_usage_statistics():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["browser"]["gatherUsageStats"] is False


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_requirement_is_pinned(path):
    lines = [line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines()]
    packages = [line for line in lines if line]
    assert packages
    assert [line for line in packages if not re.fullmatch(r"[A-Za-z0-9._-]+(\[[a-z,-]+\])?==[A-Za-z0-9.]+", line)] == []


def test_every_library_the_code_imports_is_required():
    distributions = importlib.metadata.packages_distributions()
    imported = set()
    for path in [ROOT / "app.py", *(ROOT / "lim").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            imported |= {name.split(".")[0] for name in names}
    libraries = imported - sys.stdlib_module_names - {"lim"}
    required = {
        line.split("==")[0].strip().lower() for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    }
    undeclared = {name for name in libraries if not {d.lower() for d in distributions.get(name, [])} & required}
    assert {"streamlit", "haystack"} <= libraries
    assert undeclared == set()


def test_the_checks_run_the_same_everywhere():
    ci = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert ci == ["#!/usr/bin/env bash", 'exec bash "$(dirname "$0")/../tests/run.sh" --models']
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
