"""Where in a prompt texts stand, and the documents that share a text."""

from __future__ import annotations

from dataclasses import dataclass, field

from lim.audit.model import Match


@dataclass(frozen=True, slots=True)
class Place:
    """Where the prompt holds a text.

    :param start: its first character.
    :param end: the character behind its last.
    :param match: how closely.
    :param encoding: how it is escaped.
    :param similarity: how alike, 0 to 100, see `FUZZY_THRESHOLD`.
    :param surviving: the share of the text that is there, 0 to 1.
    """

    start: int
    end: int
    match: Match
    encoding: str
    similarity: float = 100.0
    surviving: float = 1.0


@dataclass(slots=True, eq=False)
class Group:
    """Documents with one text.

    :param text: the text without whitespace around it, not blank.
    :param members: their numbers, in the order intended.
    :param places: where the prompt holds the text, in the prompt's order once `locate` has returned.
    """

    text: str
    members: list[int]
    places: list[Place] = field(default_factory=list)
