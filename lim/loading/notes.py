"""Notices gathered while reading: one for each reason, with every place it applies to."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lim.loading.model import Notice, NoticeKind

SHOWN_PLACES = 12
_NUMBERED = re.compile(r"(line|row|part|document) (\d+)")


class Notes:
    """Collects what was guessed, changed or left out; the same message at many places becomes one notice."""

    def __init__(self) -> None:
        """Start with nothing noted."""
        self._entries: dict[tuple[NoticeKind, str], list[str]] = {}

    def guessed(self, message: str, place: str | None = None) -> None:
        """Note that one of several plausible readings was taken.

        :param message: one sentence that says which.
        :param place: where, None for the whole input.
        """
        self._add(NoticeKind.GUESSED, message, place)

    def changed(self, message: str, place: str | None = None) -> None:
        """Note that a value differs from the input's.

        :param message: one sentence that says how.
        :param place: where, None for the whole input.
        """
        self._add(NoticeKind.CHANGED, message, place)

    def left_out(self, message: str, place: str) -> None:
        """Note a record that is not among the documents.

        :param message: one sentence with the reason.
        :param place: where the record stands.
        """
        self._add(NoticeKind.LEFT_OUT, message, place)

    def take(self, notices: Iterable[Notice], prefix: str = "") -> None:
        """Take over the notices of a part of the input.

        :param notices: the part's notices.
        :param prefix: put before each place, such as the name of a file in an archive.
        """
        for notice in notices:
            if notice.places:
                for place in notice.places:
                    self._add(notice.kind, notice.message, prefix + place)
            else:
                self._add(notice.kind, notice.message, prefix.rstrip(": ") or None)

    def _add(self, kind: NoticeKind, message: str, place: str | None) -> None:
        places = self._entries.setdefault((kind, message), [])
        if place is not None:
            places.append(place)

    def notices(self) -> tuple[Notice, ...]:
        """Everything noted, in the order it was first noted.

        :returns: one notice for each kind and message.
        """
        return tuple(
            Notice(kind, message, join_places(places) if places else None, tuple(places))
            for (kind, message), places in self._entries.items()
        )


def join_places(places: list[str]) -> str:
    """Write many places as one phrase, shortened when there are more than a person reads.

    :param places: such as `line 3` and `line 7`.
    :returns: such as `lines 3 and 7`.
    """
    if len(places) == 1:
        return places[0]
    shown = places[:SHOWN_PLACES]
    matches = [_NUMBERED.fullmatch(place) for place in shown]
    words = {match[1] for match in matches if match}
    if len(words) == 1 and all(matches):
        head, names = f"{words.pop()}s ", [match[2] for match in matches if match]
    else:
        head, names = "", shown
    if len(places) > SHOWN_PLACES:
        return f"{head}{', '.join(names)} and {len(places) - SHOWN_PLACES:,} more"
    return f"{head}{', '.join(names[:-1])} and {names[-1]}"
