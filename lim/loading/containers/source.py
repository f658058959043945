"""What a container gives: a tree of plain values, and where each of its top-level records stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload


class ExactFloat(float):
    """A number that remembers how it was written, because it may be an id."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, written: str) -> ExactFloat:
        """Read a number.

        :param written: its digits.
        """
        value = super().__new__(cls, written)
        value.written = written
        return value


@dataclass(frozen=True, slots=True)
class Places:
    """Where the records of one list stand, as text made only when asked for.

    :param prefix: before the number, such as `line ` or `hits.hits[`.
    :param numbers: the number of each record; empty text for one that has none.
    :param suffix: after the number, such as `]`.
    """

    prefix: str
    numbers: Sequence[int | str]
    suffix: str = ""

    def __getitem__(self, index: int) -> str:
        """Name the place of one record.

        :param index: the record's place in the list.
        :returns: such as `line 3`.
        """
        return f"{self.prefix}{self.numbers[index]}{self.suffix}"

    def all(self, indices: Sequence[int]) -> tuple[str, ...]:
        """Name many places.

        :param indices: which.
        :returns: their names.
        """
        prefix, numbers, suffix = self.prefix, self.numbers, self.suffix
        return tuple([f"{prefix}{numbers[index]}{suffix}" for index in indices])

    def pick(self, indices: Sequence[int]) -> Places:
        """Take some of the places.

        :param indices: which.
        :returns: those places.
        """
        return Places(self.prefix, [self.numbers[index] for index in indices], self.suffix)


class Rows(Sequence[dict[str, str]]):
    """Rows of a large table, held by column: a row becomes an object only when asked for."""

    __slots__ = ("columns", "names")

    def __init__(self, names: Sequence[str], columns: Sequence[list[str]]) -> None:
        """Hold a table.

        :param names: the names of the columns.
        :param columns: the cells of each.
        """
        self.names = tuple(names)
        self.columns = tuple(columns)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.columns[0])

    @overload
    def __getitem__(self, index: int) -> dict[str, str]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, str]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, str] | list[dict[str, str]]:
        """Make objects of rows.

        :param index: which row, or which rows.
        :returns: an object, or a list of objects.
        """
        if isinstance(index, slice):
            cells = zip(*(column[index] for column in self.columns), strict=True)
            return [dict(zip(self.names, row, strict=True)) for row in cells]
        return {name: column[index] for name, column in zip(self.names, self.columns, strict=True)}

    def column(self, name: str) -> list[str] | None:
        """Take one column.

        :param name: its name.
        :returns: its cells, None if there is no such column.
        """
        return self.columns[self.names.index(name)] if name in self.names else None


@dataclass(slots=True)
class Source:
    """The input as plain values.

    :param format: the container, in words, such as `JSON Lines`.
    :param root: a JSON-like value; for a container of rows, the list of rows.
    :param places: where each row stands; None if the root is one tree.
    :param table: rows are rows of a table: every cell is text, and an empty cell is an empty text or nothing.
    :param columns: the names of a table's columns, in order.
    :param preview: the first few raw records.
    """

    format: str
    root: Any
    places: Places | None = None
    table: bool = False
    columns: tuple[str, ...] = ()
    preview: tuple[str, ...] = field(default=())
