"""The session file: what a person looks at, for the Lab to open again exactly."""

from __future__ import annotations

from typing import Any

from lim.export.strict import rows_json, versions
from lim.export.told import Shown, Texts, title_of
from lim.loading import Reading, Session
from lim.loading.session import FORMAT, FORMAT_VERSION, document_hash, encode, text_hash, whole_hash
from lim.ranker import Placement


def session_json(shown: Shown, session: Session, *, texts: Texts = Texts.FULL) -> bytes:
    """Write a session file, which the loader opens again exactly.

    :param shown: what a person looks at: the list and its arrangement under the limits of now.
    :param session: how it is looked at; its limits and its version are taken from `shown` and the installed
        `haystack-ai`.
    :param texts: how much of the documents the file holds. Hashes, words and scores are always in it. Without the
        texts it opens with the file that held the documents beside it. A hash tells nobody a text, but confirms it to
        whoever guesses it.
    :returns: strict JSON, a document a line. `sha256` is the hash of all the rest.
    """
    ranked, arrangement = shown.ranked, shown.arrangement
    told = texts is not Texts.NUMBERS
    rows = [_row(placement, shown, texts) for placement in arrangement.placements]
    head: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": versions(),
        "texts": texts.value,
        "settings": {"word_count_threshold": arrangement.word_count_threshold, "top_k": arrangement.top_k},
        "view": {
            "form": session.form,
            "picked": session.picked,
            "context": session.context,
            "reserve": session.reserve,
            "template": session.template if texts is Texts.FULL else None,
        },
        "reading": _reading(session.reading, told=told),
        "list": {
            "name": ranked.name if told else None,
            "query": ranked.query if told else None,
            "score_name": ranked.score_name if told else None,
            "path": ranked.path if told else "",
            "lower_is_better": ranked.lower_is_better,
        },
        "order": arrangement.order,
        "words": arrangement.words,
    }
    head["sha256"] = whole_hash(head | {"documents": rows})
    return rows_json(head, "documents", rows)


def _row(placement: Placement, shown: Shown, texts: Texts) -> dict[str, Any]:
    document, ranked, index = placement.document, shown.ranked, placement.rank - 1
    row: dict[str, Any] = {"rank": placement.rank, "position": placement.position, "words": placement.words}
    if shown.tokens is not None:
        row["tokens"] = shown.tokens[index]
    row["score"] = encode(document.score)
    if ranked.distances is not None:
        row["distance"] = encode(ranked.distances[index])
    if ranked.relevant is not None:
        row["relevant"] = ranked.relevant[index]
    if texts is not Texts.NUMBERS:
        row["id"] = document.id
        row["title"] = title_of(document)
        if ranked.sources:
            row["source"] = ranked.sources[index]
    row["content_sha256"] = text_hash(document.content or "")
    row["document_sha256"] = document_hash(document)
    if texts is Texts.FULL:
        row["meta"] = encode(document.meta)
        row["content"] = document.content
        row |= {
            name: encode(value if isinstance(value, list) else value.to_dict())
            for name in ("embedding", "blob", "sparse_embedding")
            if (value := getattr(document, name)) is not None
        }
    return row


def _reading(reading: Reading, *, told: bool) -> dict[str, Any]:
    """Write the choices a person made; the names of fields are the person's own."""
    fields = {key: getattr(reading, key) for key in ("text", "id", "score", "rank", "query")} if told else {}
    return {
        **{key: value for key, value in fields.items() if value is not None},
        "prepend_title": reading.prepend_title,
        "ignore_ids": reading.ignore_ids,
        "order": None if reading.order is None else reading.order.value,
        "separator": reading.separator,
    }
