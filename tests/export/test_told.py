"""What a file may not tell, it does not tell, whatever the file."""

import io
import re
import zipfile
from dataclasses import replace

import pytest
from shown import WORDS, sample, secret

from lim import export, frames
from lim.checks import Kind
from lim.export import Texts, redacted
from lim.loading import Reading, Session
from lim.views import share

TOLD = {
    Texts.FULL: set(WORDS),
    Texts.TITLES: {"zqtitle", "zqid", "zqquery"},
    Texts.NUMBERS: set(),
}


def files(texts: Texts) -> dict[str, bytes]:
    shown = secret()
    session = Session("", None, None, template="zqcontent {{ documents }}", reading=Reading(text="zqmeta"))
    with zipfile.ZipFile(io.BytesIO(export.report_zip(shown, texts=texts))) as packed:
        report = {f"zip/{name}": packed.read(name) for name in packed.namelist()}
    return report | {
        "session": export.session_json(shown, session, texts=texts),
        "page": export.standalone_page(shown, texts=texts),
        "report": export.report_markdown(shown, texts=texts),
        "result": export.result_json(
            shown.arrangement, name=shown.ranked.name, query=shown.ranked.query, tokens=shown.tokens, texts=texts
        ),
        "table": share.table(shown, texts),
    }


@pytest.mark.parametrize("texts", Texts)
def test_a_file_tells_no_more_than_was_chosen(texts):
    found = {name: set(re.findall("zq[a-z]+", data.decode("latin-1"))) for name, data in files(texts).items()}
    if texts is Texts.TITLES:
        # A session says where its documents come from: the list, its place, the fields that were chosen.
        found["session"] -= {"zqname", "zqpath", "zqsource", "zqscore", "zqmeta"}
        found["result"] -= {"zqname"}
        assert all("zqtitle" in found[name] for name in ("page", "session", "result", "table", "report"))
    assert {name: words - TOLD[texts] for name, words in found.items() if words - TOLD[texts]} == {}
    if texts is not Texts.NUMBERS:
        assert all("zqid" in found[name] for name in ("page", "session", "result", "table", "report"))
    if texts is Texts.FULL:
        assert all("zqcontent" in found[name] for name in ("page", "session", "result", "table", "report"))


@pytest.mark.parametrize("texts", [Texts.TITLES, Texts.NUMBERS])
@pytest.mark.parametrize(("file", "limits"), [("retrieval.jsonl", (1000, 15)), ("duplicates.jsonl", (180, None))])
def test_no_number_changes_when_the_texts_are_left_out(texts, file, limits):
    shown = sample(file, *limits)
    told = redacted(shown, texts)
    numbers = ["rank", "position", "fate", "why", "words", "cumulative_words", "tokens", "score"]
    tables = [frames.table(each.arrangement, each.tokens, each.scores)[numbers] for each in (shown, told)]
    assert tables[0].equals(tables[1])
    assert told.arrangement.order == shown.arrangement.order
    assert [finding.kind for finding in told.findings] == [finding.kind for finding in shown.findings]


def test_a_finding_quotes_no_id_when_ids_are_not_told():
    (finding,) = (each for each in redacted(secret(), Texts.NUMBERS).findings if each.kind is Kind.IDS)
    (real,) = (each for each in secret().findings if each.kind is Kind.IDS)
    assert finding.message == real.message.replace("zqid4", "of document 4")
    assert finding.ranks == real.ranks


def test_full_texts_are_left_alone():
    shown = secret()
    assert redacted(shown, Texts.FULL) is shown


@pytest.mark.parametrize(
    ("meta", "title"),
    [
        ({"Title": " A\n b "}, "A b"),
        ({"headline": "x" * 300}, "x" * 200),
        ({"title": 7}, None),
        ({"title": "  ", "heading": "H"}, "H"),
        ({"name": "n"}, None),
    ],
)
def test_a_title_is_a_field_called_one(meta, title):
    assert export.title_of(replace(secret().ranked.documents[0], meta=meta)) == title
