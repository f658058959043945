"""What a load returns: ranked lists, and a word for everything guessed, changed or left out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from haystack import Document


class NoticeKind(StrEnum):
    """What a notice is about."""

    GUESSED = "guessed"  # more than one reading was plausible; this one was taken
    CHANGED = "changed"  # a value differs from the file's (NaN score -> none, decimal comma -> point)
    LEFT_OUT = "left out"  # a record of the file is not among the documents


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing a person should know about how their input was read.

    :param kind: guessed, changed or left out.
    :param message: one sentence, complete without `place`.
    :param place: where in the input, such as `line 3`, `lines 3, 7 and 9` or `hits.hits[2]`; None for the whole input.
        A long run of places is shortened here and complete in `places`.
    :param places: every place, one for each record the notice is about.
    """

    kind: NoticeKind
    message: str
    place: str | None = None
    places: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many records the notice is about; 0 if it is about the whole input."""
        return len(self.places)


class Order(StrEnum):
    """How the relevance order of a list is taken from the input."""

    LISTED = "listed"  # the order the input lists the documents in
    RANK = "rank"  # by a 1..n rank field, ascending
    SCORE = "score"  # by score, highest first; documents without a score last
    DISTANCE = "distance"  # by score read as a distance, lowest first; documents without one last


@dataclass(frozen=True, slots=True)
class Reading:
    """A person's choices of how to read an input; None everywhere means the loader decides.

    Field names are the input's own (dotted for nested ones), as listed in `Loaded.fields`. An empty string means
    "no such field".

    :param text: the field that holds the document's text.
    :param id: the field that holds the document's id.
    :param score: the field that holds the document's score.
    :param rank: the field that holds the 1-based rank.
    :param query: the field that says which query a record belongs to.
    :param prepend_title: the title is put before the text, separated by a newline.
    :param ignore_ids: ids of the input are not used; Haystack hashes content and meta instead.
    :param order: the relevance order, see :class:`Order`.
    :param separator: for plain text, the key of the separator between documents.
    """

    text: str | None = None
    id: str | None = None
    score: str | None = None
    rank: str | None = None
    query: str | None = None
    prepend_title: bool | None = None
    ignore_ids: bool = False
    order: Order | None = None
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class RankedList:
    """One ranked list of documents, in relevance order.

    :param name: what a picker shows: the query, or the list's path in the input.
    :param documents: the documents, most relevant first. Ids are the input's own where it has any (as text);
        meta holds the user's other fields and nothing of ours.
    :param query: the query the list answers, where the input says.
    :param lower_is_better: the numbers are distances: the smallest is the most relevant. They stand in `distances`;
        `Document.score` is None, because Haystack takes a higher score for the better one.
    :param score_name: the name of the field the scores or distances came from, None without either.
    :param relevant: for each document whether the input marks it relevant; None where it says nothing.
    :param sources: for each document where it stands in the input, such as `line 3`.
    :param path: where the list stands in the input, such as `ranker.documents`; empty if it is the whole input.
    :param distances: for each document its distance, where the input has distances and not scores.
    """

    name: str
    documents: tuple[Document, ...]
    query: str | None = None
    lower_is_better: bool = False
    score_name: str | None = None
    relevant: tuple[bool, ...] | None = None
    sources: tuple[str, ...] = ()
    path: str = ""
    distances: tuple[float | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class Separator:
    """One way to cut plain text into documents.

    :param key: what `Reading.separator` takes, such as `blank`.
    :param label: its name for a person, such as `blank line`.
    :param count: how many documents it gives for this text.
    """

    key: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Session:
    """What a session file says of how its list was looked at.

    :param haystack: the version of `haystack-ai` it was made with.
    :param word_count_threshold: the threshold, or None.
    :param top_k: the largest number of documents, or None.
    :param form: the form of the first chart, `Bars` or `Slope`.
    :param picked: the rank of the document a person picked, or None.
    :param context: the context budget in tokens, None if it was left alone.
    :param reserve: the tokens reserved for the rest, None if they were left alone.
    :param template: the template of the prompt, None if it was left alone or left out.
    :param reading: how the documents were read from their own file.
    """

    haystack: str
    word_count_threshold: int | None
    top_k: int | None
    form: str = "Bars"
    picked: int | None = None
    context: int | None = None
    reserve: int | None = None
    template: str | None = None
    reading: Reading = Reading()


@dataclass(frozen=True, slots=True)
class Loaded:
    """What an input held.

    :param lists: one or more ranked lists; never pooled.
    :param default: index into `lists` of the list shown first.
    :param notices: what was guessed, changed or left out, each with its place in the input.
    :param format: what the input was recognised as, in words, such as `JSON Lines, Haystack documents`.
    :param fields: the record fields a person may choose among for text, id, score and rank.
    :param reading: the choices actually taken for the default list, every field filled in ("" for no such field).
    :param preview: up to a few raw records as they stand in the input, shown beside the parsed documents.
    :param separators: for plain text, every separator with the number of documents it would give.
    :param session: for a session file, the settings it was saved with.
    """

    lists: tuple[RankedList, ...]
    default: int
    notices: tuple[Notice, ...]
    format: str
    fields: tuple[str, ...] = ()
    reading: Reading = Reading()
    preview: tuple[str, ...] = ()
    separators: tuple[Separator, ...] = ()
    session: Session | None = None
