"""The published tables: measurements, curves, studies, orderings."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


class Finding(StrEnum):
    """Whether a study found that the place of a passage, or the order of the passages, matters."""

    EFFECT = "effect"
    NO_EFFECT = "no effect"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of the table of accuracy by position. Percentages are of 100; None means that it was not reported.

    :param study: the study, as `Study.name`.
    :param setting: what was measured, in words.
    :param model: the model that answered.
    :param documents: how many documents the prompt held.
    :param gold_position: 1-based place of the answer document in the prompt.
    :param accuracy_pct: answers that were right, in percent.
    :param low: lower bound of the published 95% interval.
    :param high: upper bound of the published 95% interval.
    :param questions: how many questions were asked.
    :param closed_book_pct: accuracy without any document.
    :param oracle_pct: accuracy with the answer document alone.
    :param source: the paper and table, or the repository and file.
    :param status: whether it was peer reviewed.
    :param url: where the source can be read.
    """

    study: str
    setting: str
    model: str
    documents: int
    gold_position: int
    accuracy_pct: float
    low: float | None
    high: float | None
    questions: int | None
    closed_book_pct: float | None
    oracle_pct: float | None
    source: str
    status: str
    url: str


@dataclass(frozen=True, slots=True)
class Point:
    """One measured point of a curve; fields as in :class:`Measurement`."""

    gold_position: int
    accuracy_pct: float
    low: float | None
    high: float | None
    questions: int | None


@dataclass(frozen=True, slots=True)
class Curve:
    """The measurements of one study, setting, model and count of documents, by position.

    :param key: short, stable and unique; fit for a URL.
    :param study: the study, as `Study.name`.
    :param setting: what was measured, in words.
    :param model: the model that answered.
    :param documents: how many documents the prompt held.
    :param points: the measured points by position, the first at position 1 and the last at `documents`.
    :param closed_book_pct: accuracy without any document, in percent, or None if not reported.
    :param oracle_pct: accuracy with the answer document alone, in percent, or None if not reported.
    :param source: the paper and table, or the repository and file.
    :param status: whether it was peer reviewed.
    :param url: where the source can be read.
    """

    key: str
    study: str
    setting: str
    model: str
    documents: int
    points: tuple[Point, ...]
    closed_book_pct: float | None
    oracle_pct: float | None
    source: str
    status: str
    url: str


@dataclass(frozen=True, slots=True)
class Study:
    """One study of the tables.

    :param key: short, stable and unique; fit for a URL.
    :param name: authors and year, as in the tables.
    :param title: the title of the paper or the repository.
    :param year: the year of publication.
    :param source: where it was published.
    :param url: where it can be read.
    :param finding: whether it found that position or order matters.
    :param shows: what it shows, in one sentence; every number in it stands in a row of the tables.
    """

    key: str
    name: str
    title: str
    year: int
    source: str
    url: str
    finding: Finding
    shows: str


@dataclass(frozen=True, slots=True)
class Ordering:
    """One row of the table of whole pipelines with the order of the passages varied.

    :param study: the study, as `Study.name`.
    :param setting: what was measured, in words.
    :param model: the model that answered.
    :param documents: how many passages the prompt held, or None if not reported.
    :param ordering: how the passages were ordered, in words.
    :param score: the result, in percent or from 0 to 1.
    :param percent: whether `score` is in percent; if not it runs from 0 to 1. The two do not share an axis.
    :param source: the paper and table.
    :param status: whether it was peer reviewed.
    :param url: where the source can be read.
    """

    study: str
    setting: str
    model: str
    documents: int | None
    ordering: str
    score: float
    percent: bool
    source: str
    status: str
    url: str


STUDIES = (
    Study(
        "liu-2024",
        "Liu et al. 2024",
        "Lost in the Middle: How Language Models Use Long Contexts",
        2024,
        "TACL 2024; preprint of 2023, arXiv:2307.03172 v3",
        "https://arxiv.org/abs/2307.03172v3",
        Finding.EFFECT,
        "The study that named the effect: with 20 documents GPT-3.5-Turbo answers 75.8% of the questions if the answer "
        "document stands first, 63.2% if last and 53.8% if in the middle, fewer than the 56.1% it answers without any "
        "document; yet not every model draws a U: MPT-30B-Instruct is nearly flat, LongChat-13B favours the beginning "
        "and Llama-2-70B-chat the end.",
    ),
    Study(
        "zhs2326-2026",
        "zhs2326 2026 replication",
        "lost-in-the-middle-2026",
        2026,
        "repository zhs2326/lost-in-the-middle-2026, commit 10e9f3c; single author, not peer reviewed",
        "https://github.com/zhs2326/lost-in-the-middle-2026/tree/10e9f3c",
        Finding.MIXED,
        "With models of today the effect at 10 to 30 documents is small and depends on the model (for "
        "claude-sonnet-4-6 at 20 documents no difference between positions excludes zero); it returns at hundreds of "
        "documents, with wide intervals (deepseek-chat at 500: 74% first, 63% to 67% in between, 69% last); without "
        "any document the models already answer 51% to 59%, so part of every curve is recall.",
    ),
    Study(
        "cuconasu-2025",
        "Cuconasu et al. 2025",
        "Do RAG Systems Really Suffer From Positional Bias?",
        2025,
        "EMNLP 2025; read as preprint arXiv:2505.15561 v1, where the title lacks “Really”",
        "https://arxiv.org/abs/2505.15561v1",
        Finding.NO_EFFECT,
        "With 5 passages from a real retriever no ordering differs significantly from a random shuffle, because "
        "relevant and distracting passages both stand at the top; among weak distractors the place of the one relevant "
        "passage moves the accuracy of Qwen2.5-7B between 79% and 82.73%; the order with the best at both ends was not "
        "among those tested.",
    ),
    Study(
        "wang-2024",
        "Wang et al. 2024",
        "Searching for Best Practices in Retrieval-Augmented Generation",
        2024,
        "EMNLP 2024",
        "https://aclanthology.org/2024.emnlp-main.981/",
        Finding.MIXED,
        "In a whole pipeline the order with the best at both ends reaches a RAG score of 0.58, best last 0.56 and best "
        "first 0.542; the overall averages, 0.443, 0.446 and 0.437, lie closer together and favour best last.",
    ),
)

# What a row's source begins with, and where that can be read.
URLS = {
    "arXiv:2307.03172 v3": "https://arxiv.org/abs/2307.03172v3",
    "authors' repository nelson-liu/lost-in-the-middle": "https://github.com/nelson-liu/lost-in-the-middle/blob/main/EXPERIMENTS.md",
    "repository zhs2326/lost-in-the-middle-2026 commit 10e9f3c": "https://github.com/zhs2326/lost-in-the-middle-2026/tree/10e9f3c",
    "arXiv:2505.15561 v1": "https://arxiv.org/abs/2505.15561v1",
    "Wang et al., Searching for Best Practices in RAG": "https://aclanthology.org/2024.emnlp-main.981/",
}


@cache
def measurements() -> tuple[Measurement, ...]:
    """List every measurement of accuracy by position.

    :returns: one a row, in the order of the table: by study, model, documents and position.
    """
    return tuple(
        Measurement(
            row["study"],
            row["setting"],
            row["model"],
            int(row["n_documents"]),
            int(row["gold_position"]),
            float(row["accuracy_pct"]),
            _reported(float, row["ci95_low"]),
            _reported(float, row["ci95_high"]),
            _reported(int, row["n_questions"]),
            _reported(float, row["closed_book_pct"]),
            _reported(float, row["oracle_pct"]),
            row["source"],
            row["status"],
            _url(row["source"]),
        )
        for row in _rows("accuracy_by_position.csv")
    )


@cache
def curves() -> tuple[Curve, ...]:
    """Gather the measurements into curves.

    :returns: one for each study, setting, model and count of documents; each measurement is in exactly one.
    """
    groups: dict[tuple[str, str, str, int], list[Measurement]] = {}
    for row in measurements():
        groups.setdefault((row.study, row.setting, row.model, row.documents), []).append(row)
    keys = {study.name: study.key for study in STUDIES}
    return tuple(
        Curve(
            f"{keys[study]}/{re.sub('[^a-z0-9.]+', '-', model.lower()).strip('-')}/{documents}",
            study,
            setting,
            model,
            documents,
            tuple(
                Point(row.gold_position, row.accuracy_pct, row.low, row.high, row.questions)
                for row in sorted(rows, key=lambda row: row.gold_position)
            ),
            rows[0].closed_book_pct,
            rows[0].oracle_pct,
            rows[0].source,
            rows[0].status,
            rows[0].url,
        )
        for (study, setting, model, documents), rows in groups.items()
    )


def studies() -> tuple[Study, ...]:
    """List the studies.

    :returns: the study that named the effect, the replication, the study where reordering did not beat shuffling, the
        study of whole pipelines.
    """
    return STUDIES


@cache
def orderings() -> tuple[Ordering, ...]:
    """List every result of a whole pipeline with the order of the passages varied.

    :returns: one a row, in the order of the table.
    """
    return tuple(
        Ordering(
            row["study"],
            row["setting"],
            row["model"],
            _reported(int, row["k"]),
            row["ordering"],
            float(row["score"]),
            row["setting"].startswith("answer accuracy %"),
            row["source"],
            row["status"],
            _url(row["source"]),
        )
        for row in _rows("accuracy_by_ordering.csv")
    )


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files("lim").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _reported(convert: Callable[[str], _Number], text: str) -> _Number | None:
    return convert(text) if text else None


def _url(source: str) -> str:
    return next(url for beginning, url in URLS.items() if source.startswith(beginning))
