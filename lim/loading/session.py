"""Session files: what a person looked at, opened again exactly.

One strict JSON object: `format` and `format_version`, the versions that made it, the settings, the list and its
documents with their hashes, and a hash of the whole. `lim.export.session_json` writes it with the names and hashes of
this module. Texts are in it only if the person chose so; without them the file that held the documents must lie beside
it, and the hashes find each of them again.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from haystack import Document
from haystack.dataclasses import ByteStream, SparseEmbedding

from lim.errors import LoadError, MissingTextError
from lim.loading.containers.jsonish import mend
from lim.loading.limits import check_characters, check_documents
from lim.loading.model import Loaded, Notice, NoticeKind, Order, RankedList, Reading, Session
from lim.ranker import arrange, check_limit
from lim.story import plural

FORMAT = "Lost in the Middle Lab session"
FORMAT_VERSION = 1
SHOWN_RANKS = 8
MAX_NUMBER = 2**53 - 1  # what a browser still counts exactly
CHARTS = ("Bars", "Slope")
TEXTS = ("full texts", "titles only", "numbers only")
MAX_DIGITS = 300  # of a whole number: what a float still holds

_MARK = re.compile(rb'"format"\s*:\s*"' + FORMAT.encode() + b'"')
_START = re.compile(rb"\s*\{")
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class _Found:
    """A document of the second file, its list, and where in the file it stands."""

    document: Document
    ranked: RankedList
    source: str


def is_session(data: bytes) -> bool:
    """Tell a session file, also one that was cut or written anew.

    :param data: bytes of UTF-8.
    :returns: whether it is a JSON object that calls itself one.
    """
    if not _START.match(data[:64]) or FORMAT.encode() not in data or not _MARK.search(data):
        return False
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return _MARK.search(data[:200]) is not None  # as this module writes it, the mark comes first
    return bool(root.get("format") == FORMAT)


def reopen(data: bytes, name: str, reading: Reading, beside: Callable[[Reading], Loaded] | None = None) -> Loaded:
    """Open a session file.

    :param data: its bytes.
    :param name: what a person calls it.
    :param reading: a person's choices; only the order and `ignore_ids` mean anything here.
    :param beside: loads the second file, which held the documents, under a reading; for a session without texts.
    :returns: its one list, with `session` set; what differs from what was saved is said in the notices.
    :raises MissingTextError: if the session has no texts, and there is no second file or one without its documents.
    :raises LoadError: if the file was cut, is of a newer format, or holds values that no session has.
    """
    root = _parsed(data, name)
    notices: list[Notice] = []
    try:
        records = root["documents"]
        check_documents(len(records))
        session = _session(root)
        told: dict[str, Any] = {}
        if root.get("sha256") != whole_hash(root):
            notices.append(_changed("The file was changed since it was saved: the hash of the whole differs."))
        if root["texts"] == TEXTS[0]:
            documents = [_document(record) for record in records]
            notices += _differing(records, documents)
        else:
            documents, found, told = _found_again(root, name, session, beside)
            notices += found
        ranked = replace(_ranked(root["list"], records, documents), **told)
        notices += _versions(session)
        notices += _arranged(root, ranked, session)
        ranked = _read(ranked, reading)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, LoadError):
            raise
        raise LoadError(
            f"{name} calls itself a session of this lab, but a value in it is missing or of the wrong kind ({error}). "
            f"Save the session again, or load the documents themselves."
        ) from error
    return Loaded(
        lists=(ranked,),
        default=0,
        notices=tuple(notices),
        format="session file",
        reading=Reading("", "", "", "", "", prepend_title=False, ignore_ids=reading.ignore_ids, order=reading.order),
        session=session,
    )


def text_hash(text: str) -> str:
    """Hash a text, as `sha256sum` does the file that holds it.

    :param text: any text, lone surrogates too.
    :returns: SHA-256 of its UTF-8, in hexadecimal.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def document_hash(document: Document) -> str:
    """Hash what makes a document itself: id, text and meta.

    :param document: a document.
    :returns: SHA-256, in hexadecimal, of these as JSON.
    """
    return _hash([document.id, document.content, encode(document.meta)])


def whole_hash(root: dict[str, Any]) -> str:
    """Hash a session, whatever blanks and order of fields it is written with.

    :param root: the session.
    :returns: SHA-256, in hexadecimal, of all but its field `sha256`.
    """
    return _hash({key: value for key, value in root.items() if key != "sha256"})


def encode(value: object) -> Any:  # noqa: ANN401 # whatever JSON knows
    """Turn a value into what strict JSON can hold and `decode` makes the same value of.

    :param value: plain values; NaN and infinities become `{"$float": "NaN"}`, and a key that begins with `$` gets
        another one. What JSON does not know is its text.
    :returns: plain values.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return {"$float": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, dict):
        return {f"${key}" if str(key).startswith("$") else str(key): encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return str(value)


def decode(value: Any) -> Any:  # noqa: ANN401 # whatever JSON knows
    """Undo :func:`encode`.

    :param value: what it gave.
    :returns: the value.
    """
    if isinstance(value, dict):
        if set(value) == {"$float"}:
            return _FLOATS[value["$float"]]
        return {key[1:] if key.startswith("$$") else key: decode(item) for key, item in value.items()}
    return [decode(item) for item in value] if isinstance(value, list) else value


def _hash(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    try:
        root: dict[str, Any] = mend(json.loads(data))
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "an unknown place"
        raise LoadError(
            f"{name} is a session file, but it is no complete JSON: it breaks off or is damaged at {where}. Download "
            f"it again, or save the session again."
        ) from error
    made = root.get("format_version")
    if type(made) is not int or made < 1:
        raise LoadError(f"{name} is a session of the format version {made!r}, but it must be a whole number from 1.")
    if made > FORMAT_VERSION:
        raise LoadError(
            f"{name} is a session of format version {made}, and this lab reads up to {FORMAT_VERSION}: a newer lab "
            f"saved it. Update the lab, or load the documents themselves."
        )
    return root


def _session(root: dict[str, Any]) -> Session:
    settings, view, how = root["settings"], root.get("view", {}), root.get("reading", {})
    form = view.get("form", CHARTS[0])
    if form not in CHARTS:
        raise ValueError(f"the chart {form!r}")
    if root["texts"] not in TEXTS:
        raise ValueError(f"the choice of texts {root['texts']!r}")
    numbers = {key: check_limit(key, view.get(key)) for key in ("picked", "context")}
    reserve, template = view.get("reserve"), view.get("template")
    if reserve is not None and (type(reserve) is not int or reserve < 0):
        raise ValueError(f"the reserve {reserve!r}")
    if not isinstance(template, str | None):
        raise TypeError(f"the template {template!r}")
    limits = {key: check_limit(key, settings[key]) for key in ("word_count_threshold", "top_k")}
    if max((value or 0 for value in (*numbers.values(), *limits.values(), reserve)), default=0) > MAX_NUMBER:
        raise ValueError(f"a number above {MAX_NUMBER:,}")
    if (numbers["picked"] or 0) > len(root["documents"]):
        raise ValueError(f"the picked document {numbers['picked']!r}")
    fields = {key: value for key in ("text", "id", "score", "rank", "query") if isinstance(value := how.get(key), str)}
    return Session(
        haystack=str(root["versions"].get("haystack-ai")),
        **limits,
        form=form,
        picked=numbers["picked"],
        context=numbers["context"],
        reserve=reserve,
        template=template,
        reading=Reading(
            **fields,
            prepend_title=True if how.get("prepend_title") is True else None,
            ignore_ids=how.get("ignore_ids") is True,
            order=None if how.get("order") is None else Order(how["order"]),
            separator=how.get("separator") if isinstance(how.get("separator"), str) else None,
        ),
    )


def _document(record: dict[str, Any]) -> Document:
    content, ident = record["content"], record["id"]
    if not isinstance(content, str) or not isinstance(ident, str):
        raise TypeError(f"content or id of document {record.get('rank')!r}")
    check_characters(len(content), f"document {record.get('rank')}")
    extra: dict[str, Any] = {}
    if "embedding" in record:
        extra["embedding"] = decode(record["embedding"])
    if "blob" in record:
        extra["blob"] = ByteStream.from_dict(decode(record["blob"]))
    if "sparse_embedding" in record:
        extra["sparse_embedding"] = SparseEmbedding.from_dict(decode(record["sparse_embedding"]))
    return Document(id=ident, content=content, meta=dict(decode(record["meta"])), score=_score(record), **extra)


def _score(record: dict[str, Any]) -> float | None:
    return _number(record["score"], "score")


def _number(value: object, what: str) -> float | None:
    number = decode(value)
    if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
        raise TypeError(f"the {what} {number!r}")
    if isinstance(number, int) and abs(number) >= 10**MAX_DIGITS:
        raise ValueError(f"a {what} of more than {MAX_DIGITS} digits")
    return number


def _text(entry: dict[str, Any], key: str) -> str | None:
    value = entry.get(key)
    if not isinstance(value, str | None):
        raise TypeError(f"the {key} {value!r}")
    return value


def _differing(records: Sequence[dict[str, Any]], documents: Sequence[Document]) -> Iterable[Notice]:
    pairs = list(enumerate(zip(records, documents, strict=True), 1))
    texts = [rank for rank, (record, each) in pairs if record["content_sha256"] != text_hash(each.content or "")]
    others = [
        rank
        for rank, (record, each) in pairs
        if record["document_sha256"] != document_hash(each) and rank not in set(texts)
    ]
    if texts:
        yield _changed(f"The text of {_named(texts)} was changed since the session was saved: its hash differs.")
    if others:
        yield _changed(f"Id or meta of {_named(others)} was changed since the session was saved: its hash differs.")


def _found_again(
    root: dict[str, Any], name: str, session: Session, beside: Callable[[Reading], Loaded] | None
) -> tuple[list[Document], list[Notice], dict[str, Any]]:
    """Find the documents of a session without texts in the file that held them, and what it says of their list."""
    records = root["documents"]
    if beside is None:
        words = sum(record["words"] for record in records)
        raise MissingTextError(
            f"{name} is a session without texts: {len(records):,} documents with {words:,} words, their hashes and the "
            f"settings. Add the file that held the documents as a second file: the hashes find each of them again, and "
            f"the session opens exactly as it was."
        )
    known: dict[str, deque[_Found]] = defaultdict(deque)
    alike: dict[str, deque[_Found]] = defaultdict(deque)
    for ranked in beside(session.reading).lists:
        for index, document in enumerate(ranked.documents):
            found = _Found(document, ranked, ranked.sources[index] if ranked.sources else "")
            known[document_hash(document)].append(found)
            alike[text_hash(document.content or "")].append(found)
    taken: list[_Found] = []
    changed: list[int] = []
    missing: list[int] = []
    for rank, record in enumerate(records, 1):
        same = known.get(record["document_sha256"]) or alike.get(record["content_sha256"])
        if not same:
            missing.append(rank)
            continue
        if record["document_sha256"] not in known:
            changed.append(rank)
        taken.append(same.popleft() if len(same) > 1 else same[0])  # copies in their order, as often as they are named
    if missing:
        raise MissingTextError(
            f"The second file does not hold the text of {_named(missing)} as it was when {name} was saved: no text in "
            f"it has that hash. Add the very file that the session was made from."
        )
    notices = []
    if changed:
        notices.append(
            _changed(
                f"In the second file {_named(changed)} has the same text, but another id or other meta than saved."
            )
        )
    documents = [replace(each.document, score=_score(record)) for each, record in zip(taken, records, strict=True)]
    if not taken or root["texts"] != TEXTS[2]:
        return documents, notices, {}
    origin = taken[0].ranked
    names = {"name": origin.name, "query": origin.query, "score_name": origin.score_name, "path": origin.path}
    return documents, notices, names | {"sources": tuple(each.source for each in taken) if origin.sources else ()}


def _ranked(entry: dict[str, Any], records: Sequence[dict[str, Any]], documents: Sequence[Document]) -> RankedList:
    distances = tuple(_number(record.get("distance"), "distance") for record in records)
    relevant = tuple(bool(record.get("relevant")) for record in records)
    return RankedList(
        name=_text(entry, "name") or "documents",
        documents=tuple(documents),
        query=_text(entry, "query"),
        lower_is_better=bool(entry.get("lower_is_better")),
        score_name=_text(entry, "score_name"),
        relevant=relevant if any("relevant" in record for record in records) else None,
        sources=tuple(str(record.get("source", "")) for record in records)
        if any("source" in record for record in records)
        else (),
        path=_text(entry, "path") or "",
        distances=distances if any("distance" in record for record in records) else None,
    )


def _versions(session: Session) -> Iterable[Notice]:
    installed = version("haystack-ai")
    if session.haystack != installed:
        yield _changed(
            f"The session was made with haystack-ai {session.haystack}, and {installed} is installed: the arrangement "
            f"shown is the installed one's."
        )


def _arranged(root: dict[str, Any], ranked: RankedList, session: Session) -> Iterable[Notice]:
    """Compare the arrangement of now with the saved one."""
    now = arrange(ranked.documents, session.word_count_threshold, session.top_k)
    counts = [record["words"] for record in root["documents"]]
    if now.order != root["order"] or list(now.word_counts) != counts:
        yield _changed(
            f"The arrangement is not the saved one: {plural(now.kept, 'document')} in the prompt now, "
            f"{len(root['order']):,} when the session was saved, or in another order."
        )


def _read(ranked: RankedList, reading: Reading) -> RankedList:
    """Read a restored list otherwise than it was saved, if a person asks for it."""
    if reading.ignore_ids:
        ranked = replace(ranked, documents=tuple(replace(each, id="") for each in ranked.documents))
    if reading.order not in (Order.SCORE, Order.DISTANCE):
        return ranked
    numbers = ranked.distances or tuple(document.score for document in ranked.documents)
    sign = -1 if reading.order is Order.SCORE else 1
    order = sorted(range(len(numbers)), key=lambda i: (numbers[i] is None, sign * (numbers[i] or 0.0)))
    return replace(
        ranked,
        documents=tuple(ranked.documents[i] for i in order),
        relevant=ranked.relevant and tuple(ranked.relevant[i] for i in order),
        sources=tuple(ranked.sources[i] for i in order) if ranked.sources else (),
        distances=ranked.distances and tuple(ranked.distances[i] for i in order),
    )


def _changed(message: str) -> Notice:
    return Notice(NoticeKind.CHANGED, message)


def _named(ranks: Sequence[int]) -> str:
    shown = ", ".join(f"{rank:,}" for rank in ranks[:SHOWN_RANKS])
    more = f" and {len(ranks) - SHOWN_RANKS:,} more" if len(ranks) > SHOWN_RANKS else ""
    return f"{'document' if len(ranks) == 1 else 'documents'} {shown}{more}"
