"""The pieces of a prompt that are documents, as a page tints them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a prompt that is a document.

    :param start: the first character.
    :param end: the character behind the last.
    :param label: what numbers it.
    :param shade: its place on the colour scale of relevance, 0 to 1.
    :param marked: whether a person picked the document.
    """

    start: int
    end: int
    label: str
    shade: float
    marked: bool = False
