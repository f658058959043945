"""What the written files share: strict JSON and the versions that made them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("haystack-ai", "lost-in-the-middle-lab")


def dumps(value: object) -> str:
    """Write a value as strict JSON on one line, by Python's fast encoder.

    :param value: plain values, no NaN and no infinity among them.
    :returns: readable JSON, not escaped to ASCII.
    :raises ValueError: for NaN or an infinity.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def rows_json(head: dict[str, Any], name: str, rows: Iterable[object]) -> bytes:
    """Write an object as strict JSON (RFC 8259), a field a line and a row a line.

    :param head: the fields before the rows.
    :param name: the name of the field with the rows.
    :param rows: plain values.
    :returns: UTF-8 without a byte order mark; lone surrogates are escaped.
    """
    lines = [f"{dumps(key)}: {dumps(value)}" for key, value in head.items()]
    body = ",\n    ".join(map(dumps, rows))
    lines.append(f"{dumps(name)}: [\n    {body}\n  ]" if body else f"{dumps(name)}: []")
    text = "{\n  " + ",\n  ".join(lines) + "\n}\n"
    # The only characters UTF-8 cannot hold are lone surrogates, and Python's escape for them is JSON's.
    return text.encode("utf-8", "backslashreplace")


def versions() -> dict[str, str | None]:
    """Name the versions that make a file.

    :returns: the version of `haystack-ai` and of this package; None where it is not known.
    """
    return {package: package_version(package) for package in PACKAGES}


def made_with() -> str:
    """Name the versions that make a file, in a phrase.

    :returns: such as `haystack-ai 3.4.1 and lost-in-the-middle-lab 0.1.0`.
    """
    return " and ".join(f"{package} {version or 'unknown'}" for package, version in versions().items())


@cache
def package_version(package: str) -> str | None:
    """Find the version of an installed package, or of this one run from a checkout.

    :param package: its name.
    :returns: the version, None if it is not known.
    """
    try:
        return version(package)
    except PackageNotFoundError:  # this one, run from a checkout that was not installed
        project = Path(__file__).parents[2] / "pyproject.toml"
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"]) if project.exists() else None
