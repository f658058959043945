"""A session opens again exactly, and says what is not as it was saved."""

import codecs
import gzip
import json
from importlib.metadata import version
from math import inf, nan

import pytest
from haystack import Document
from haystack.dataclasses import ByteStream, SparseEmbedding
from hypothesis import given, settings
from ranked_lists import ranked_lists, thresholds, top_ks
from shown import SAMPLES, sample, shown

from lim import load
from lim.errors import LoadError, MissingTextError
from lim.export import Texts, session_json
from lim.loading import Order, Reading, Session
from lim.loading.session import FORMAT, FORMAT_VERSION, whole_hash

HAYSTACK = version("haystack-ai")
SEEN = Session(HAYSTACK, 180, 5, "Slope", 2, 3000, 0, "{{ documents }}", Reading(order=Order.SCORE, ignore_ids=True))

MOVED = "The arrangement is not the saved one: {} when the session was saved, or in another order."


def strictly(data: bytes):
    return json.loads(data.decode("utf-8", "strict"), parse_constant=pytest.fail)


def saved(texts=Texts.FULL, file="duplicates.jsonl") -> bytes:
    return session_json(sample(file, 180, 5), SEEN, texts=texts)


def written(root, *, hashed=True) -> bytes:
    """Write a session that was changed, with a hash that is right again unless a test wants it wrong."""
    if hashed:
        root["sha256"] = whole_hash(root)
    return json.dumps(root).encode()


def test_a_session_is_opened_exactly():
    data = saved()
    root = strictly(data)
    assert (root["format"], root["format_version"], root["versions"]["haystack-ai"]) == (
        FORMAT,
        FORMAT_VERSION,
        HAYSTACK,
    )
    loaded = load(data, "session.json")
    assert loaded.lists == (sample("duplicates.jsonl").ranked,)
    assert loaded.session == SEEN
    assert loaded.notices == ()
    assert load(gzip.compress(data), "session.json.gz") == loaded
    assert load(b"\xef\xbb\xbf" + json.dumps(root, indent=2, sort_keys=True).encode(), "x") == loaded


@settings(max_examples=60)
@given(ranked_lists(), thresholds, top_ks)
def test_any_list_is_opened_bit_for_bit(documents, threshold, top_k):
    # The loader itself gives no half of a character; NaN equals nothing, not even itself.
    documents = [each for each in documents if each.score == each.score and _whole(each.content)]
    now = shown(documents, threshold, top_k)
    data = session_json(now, Session("", None, None))
    loaded = load(data, "session.json")
    strictly(data)
    (ranked,) = loaded.lists
    assert [repr(each.to_dict()) for each in ranked.documents] == [repr(each.to_dict()) for each in documents]
    assert (loaded.session.word_count_threshold, loaded.session.top_k) == (
        (threshold, top_k) if (threshold or 0) < 2**53 else (None, top_k)
    )
    assert loaded.notices == ()


def _whole(text: str) -> bool:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") == text


def test_half_a_character_is_mended_as_in_every_other_file():
    root = strictly(saved())
    root["documents"][0]["content"] = root["documents"][0]["id"] = "x \ud83d"
    document = load(written(root), "s").lists[0].documents[0]
    assert (document.content, document.id) == ("x \ufffd", "x \ufffd")


def test_every_field_of_a_document_comes_back():
    full = Document(
        id="a",
        content="one\u2028two",
        meta={"n": nan, "i": [inf, -inf], "$float": "NaN", "$x": {"$$y": 1, "$float": None}, "deep": {"a": [None]}},
        score=nan,
        embedding=[0.1, 0.2],
        blob=ByteStream(b"\x00\xff", meta={"a": 1}, mime_type="x/y"),
        sparse_embedding=SparseEmbedding([1, 5], [0.5, 0.25]),
    )
    data = session_json(
        shown([full], distances=(0.5,), relevant=(True,), lower_is_better=True), Session("", None, None)
    )
    strictly(data)
    (ranked,) = load(data, "s").lists
    assert repr(ranked.documents[0].to_dict(flatten=False)) == repr(full.to_dict(flatten=False))
    assert (ranked.distances, ranked.relevant, ranked.lower_is_better) == ((0.5,), (True,), True)


@pytest.mark.parametrize("texts", [Texts.TITLES, Texts.NUMBERS])
def test_without_texts_the_original_file_makes_it_exact(texts):
    data = session_json(sample("duplicates.jsonl", 180, 5), Session(HAYSTACK, 180, 5), texts=texts)
    with pytest.raises(MissingTextError, match=r"10 documents with 324 words.*Add the file that held the documents"):
        load(data, "session.json")
    original = (SAMPLES / "duplicates.jsonl").read_bytes()
    loaded = load(data, "session.json", beside=(original, "duplicates.jsonl"))
    assert loaded.lists == (sample("duplicates.jsonl").ranked,)
    assert (loaded.session, loaded.notices) == (Session(HAYSTACK, 180, 5), ())
    with pytest.raises(
        MissingTextError, match=r"does not hold the text of documents 1, 2, 3, 4, 5, 6, 7, 8 and 2 more"
    ):
        load(data, "session.json", beside=((SAMPLES / "teaching.json").read_bytes(), "teaching.json"))


def test_the_reading_of_the_original_file_counts():
    original = json.dumps([{"id": "a", "content": "x y", "score": 0.1}, {"id": "b", "content": "z", "score": 0.9}])
    reading = Reading(order=Order.SCORE, ignore_ids=True)
    ranked = load(original.encode(), "o.json", reading=reading).lists[0]
    now = shown(ranked.documents, 1, name=ranked.name, sources=ranked.sources, score_name=ranked.score_name)
    data = session_json(now, Session("", None, None, reading=reading), texts=Texts.NUMBERS)
    loaded = load(data, "session.json", beside=(original.encode(), "o.json"))
    assert (loaded.lists, loaded.notices) == ((ranked,), ())


def test_other_meta_in_the_original_file_is_named():
    rows = [{"id": "a", "content": "x y", "tag": 1}, {"id": "b", "content": "z", "tag": 2}]
    ranked = load(json.dumps(rows).encode(), "o.json").lists[0]
    data = session_json(shown(ranked.documents, 1), Session("", None, None), texts=Texts.NUMBERS)
    rows[1]["tag"] = 3
    loaded = load(data, "s.json", beside=(json.dumps(rows).encode(), "o.json"))
    (notice,) = loaded.notices
    assert notice.message == (
        "In the second file document 2 has the same text, but another id or other meta than saved."
    )


def test_a_changed_text_is_named_and_shown_as_it_is_now():
    root = strictly(saved())
    root["documents"][1]["content"] += " more"
    root["documents"][3]["meta"] = {"new": 1}
    loaded = load(written(root, hashed=False), "s.json")
    assert [notice.message for notice in loaded.notices] == [
        "The file was changed since it was saved: the hash of the whole differs.",
        "The text of document 2 was changed since the session was saved: its hash differs.",
        "Id or meta of document 4 was changed since the session was saved: its hash differs.",
        MOVED.format("5 documents in the prompt now, 5"),
    ]
    assert loaded.lists[0].documents[1].content.endswith(" more")


def test_a_changed_setting_is_seen_by_the_hash_of_the_whole():
    root = strictly(saved())
    root["settings"]["word_count_threshold"] = 10
    assert [notice.message for notice in load(written(root, hashed=False), "s").notices] == [
        "The file was changed since it was saved: the hash of the whole differs.",
        MOVED.format("1 document in the prompt now, 5"),
    ]


def test_another_haystack_is_named():
    root = strictly(saved())
    root["versions"]["haystack-ai"] = "9.8.7"
    (notice,) = load(written(root), "s.json").notices
    assert notice.message == (
        f"The session was made with haystack-ai 9.8.7, and {HAYSTACK} is installed: the arrangement shown is the "
        f"installed one's."
    )


def test_a_newer_format_is_explained():
    root = strictly(saved())
    root["format_version"] = FORMAT_VERSION + 1
    with pytest.raises(LoadError, match=r"format version 2, and this lab reads up to 1: a newer lab saved it\. Update"):
        load(written(root), "s.json")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.999])
def test_a_truncated_file_is_explained(part):
    data = saved().rstrip()
    with pytest.raises(LoadError, match=r"s\.json is a session file, but .* breaks off or is damaged at line \d+"):
        load(data[: int(len(data) * part)], "s.json")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("documents",), None),
        (("documents", 0), 7),
        (("documents", 0, "content"), 7),
        (("documents", 0, "score"), "high"),
        (("documents", 0, "score"), 10**400),
        (("documents", 0, "distance"), "abc"),
        (("documents", 0, "distance"), 10**400),
        (("list", "query"), 123),
        (("list", "name"), ["a"]),
        (("list", "score_name"), {}),
        (("list", "path"), 1),
        (("texts",), "evil"),
        (("texts",), None),
        (("documents", 0, "meta"), 7),
        (("documents", 0, "meta"), {"a": {"$float": "1"}}),
        (("settings",), {}),
        (("settings", "top_k"), 0),
        (("settings", "word_count_threshold"), 2**60),
        (("view", "form"), "Pie"),
        (("view", "picked"), 11),
        (("view", "template"), 7),
        (("view", "reserve"), -1),
        (("reading", "order"), "random"),
        (("versions",), None),
        (("order",), ...),
        (("texts",), ...),
        (("format_version",), "1"),
        (("format_version",), True),
    ],
)
def test_what_no_session_holds_is_refused_with_a_reason(path, value):
    root = strictly(saved())
    at = root
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    with pytest.raises(LoadError, match=r"s\.json"):
        load(written(root), "s.json")


def test_a_restored_list_can_be_read_otherwise():
    rows = [Document(id="a", content=f"text {n}", score=score) for n, score in enumerate((0.1, None, 0.9))]
    data = session_json(shown(rows, sources=("1", "2", "3")), Session("", None, None))
    (ranked,) = load(data, "s", reading=Reading(order=Order.SCORE, ignore_ids=True)).lists
    assert [(each.content, each.score) for each in ranked.documents] == [
        ("text 2", 0.9),
        ("text 0", 0.1),
        ("text 1", None),
    ]
    assert len({each.id for each in ranked.documents}) == 3
    assert ranked.sources == ("3", "1", "2")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_session_saved_in_another_encoding_is_a_session(encoding):
    text = saved().decode()
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    assert load(mark + text.encode(encoding), "s.json") == load(saved(), "s.json")


def test_documents_about_sessions_are_documents():
    rows = [{"content": f'It says "format": "{FORMAT}" on the first page.'}, {"content": "two"}]
    loaded = load(json.dumps(rows).encode(), "rows.json")
    assert (loaded.session, len(loaded.lists[0].documents)) == (None, 2)
    loaded = load(json.dumps({"documents": rows, "about": {"format": FORMAT}}).encode(), "rows.json")
    assert (loaded.session, len(loaded.lists[0].documents)) == (None, 2)
