"""The steps of the lesson, in order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the lesson.

    :param name: short and unique; what the progress shows and what stands in a link.
    :param title: what a person should remember of it, in one sentence.
    :param lead: one or two sentences before the figure.
    """

    name: str
    title: str
    lead: str


STEPS = (
    Step(
        "Curve",
        "Some models read the middle of a long prompt worst",
        "The same question, the same documents: only the place of the one document with the answer changes. Some "
        "models find it less often when it stands in the middle.",
    ),
    Step(
        "Idea",
        "So put the strongest at both ends",
        "Documents arrive in order of relevance and are placed one by one: odd ranks from the front, even ranks from "
        "the back. What is left for the middle is the weakest.",
    ),
    Step(
        "Budget",
        "The budget stops after the document that crosses it",
        "Before anything is placed, the ranker walks down the list and adds up words. It stops at the document that "
        "reaches the threshold, and keeps that document.",
    ),
    Step(
        "Blind spots",
        "It computes nothing: it trusts the order it is given",
        "The ranker reads no question and looks at no score. Feed it an unsorted list and it puts the wrong documents "
        "at the ends, without a word.",
    ),
    Step(
        "Silent losses",
        "Five ways to lose the order while the pipeline stays green",
        "Each is a real Haystack pipeline that runs here, without an error, with the change and without it.",
    ),
    Step(
        "Misreadings",
        "Five things people believe about it that are not so",
        "Each with the installed Haystack's own answer.",
    ),
    Step(
        "Check yourself",
        "Six questions, answered by the code",
        "The lists are generated: the same number gives the same questions, another number gives new ones.",
    ),
)
"""The seven steps."""
