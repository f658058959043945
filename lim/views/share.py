"""The Lab's Share tab: what a person takes along, how much of the documents it tells, and how it looks."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from lim import charts, export, frames, testing
from lim.export import Shown, Texts
from lim.loading import Session
from lim.prompt import DEFAULT_TEMPLATE
from lim.ranker import Arrangement
from lim.widgets import Picked

TEXTS = {"Full texts": Texts.FULL, "Titles only": Texts.TITLES, "Numbers only": Texts.NUMBERS}
MEANS = {
    Texts.FULL: "The files hold your documents with every field, and the question.",
    Texts.TITLES: "Titles, ids and the question; no text and no other field.",
    Texts.NUMBERS: "Ranks, words, tokens, scores and fates. No text, title, id or field of yours, nor the question.",
}
LOOKS = {"Automatic": "auto", "Light": "light", "Dark": "dark"}
state = st.session_state


def share(picked: Picked, arrangement: Arrangement) -> None:
    """Offer everything that can be taken along; each file is made when it is asked for.

    :param picked: what a person chose to look at.
    :param arrangement: its arrangement under the limits of now.
    """
    bench = picked.bench
    tokens = None if bench.tokens is None else tuple(bench.tokens)
    shown = Shown(bench.ranked, arrangement, tokens, bench.findings)
    left, right = st.columns(2, gap="medium")
    with left:
        label = st.segmented_control(
            "What the files tell", list(TEXTS), default="Full texts", required=True, key="texts", bind="query-params"
        )
        texts = TEXTS[label]
        st.caption(MEANS[texts])
    with right:
        look = LOOKS[
            st.segmented_control(
                "Look", list(LOOKS), default="Automatic", required=True, key="look", bind="query-params"
            )
        ]
        st.caption("Automatic: the page follows the device of whoever reads it; pictures are light.")
    cards: tuple[Callable[[], None], ...] = (
        lambda: session(picked, shown, texts),
        lambda: page(shown, texts, look),
        lambda: report(shown, texts, look),
        lambda: data(picked, shown, texts),
        lambda: pictures(shown, texts, look),
        lambda: code(picked, arrangement, texts),
    )
    for row in (cards[:3], cards[3:]):
        for column, card in zip(st.columns(3, gap="small"), row, strict=True):
            with column.container(border=True, height="stretch", gap="small"):
                card()
    st.caption(link(picked) + " Files are made when you ask for them, and nothing is kept here.")


def session(picked: Picked, shown: Shown, texts: Texts) -> None:
    """Offer the session file."""
    described(
        "Session file",
        "Upload it here and you see exactly this again: documents, order, limits. Hashes tell if it was changed."
        if texts is Texts.FULL
        else "Settings, words and hashes. It opens exactly as it is with your original file beside it. A hash "
        "confirms a text to whoever guesses it.",
    )
    reading = picked.bench.key[1]
    now = Session(
        haystack="",
        word_count_threshold=None,
        top_k=None,
        form=state.get("form") or "Bars",
        picked=state.get("picked"),
        context=state.get("context"),
        reserve=state.get("reserve"),
        template=state.get("template"),
        reading=reading,
    )
    button("Session (JSON)", lambda: export.session_json(shown, now, texts=texts), "session.json", "application/json")


def page(shown: Shown, texts: Texts, look: str) -> None:
    """Offer the stand-alone page."""
    described(
        "Stand-alone page",
        "One HTML file, both charts live with a threshold of its own. It opens from disk and calls nobody.",
    )
    count = len(shown.arrangement.inputs)
    if count > export.MAX_PAGE_DOCUMENTS:
        st.caption(f"It holds at most {export.MAX_PAGE_DOCUMENTS:,} documents, and this list has {count:,}.")
        return
    button(
        "Page (HTML)",
        lambda: export.standalone_page(shown, texts=texts, look=look),
        "lost-in-the-middle.html",
        "text/html",
    )


def report(shown: Shown, texts: Texts, look: str) -> None:
    """Offer the report."""
    described("Report", "Verdict, figures, nearby thresholds and documents for a pull request; packed with pictures.")
    button("Report (Markdown)", lambda: export.report_markdown(shown, texts=texts), "report.md", "text/markdown")
    button(
        "Report and pictures (zip)",
        lambda: export.report_zip(shown, texts=texts, palette=palette(look)),
        "report.zip",
        "application/zip",
    )


def data(picked: Picked, shown: Shown, texts: Texts) -> None:
    """Offer the table and the result."""
    described("Table and result", "Every document with its fate: for a spreadsheet, and for a program.")
    button("Table (CSV)", lambda: table(shown, texts), "arrangement.csv", "text/csv")
    button(
        "Result (JSON)",
        lambda: export.result_json(
            shown.arrangement,
            name=shown.ranked.name,
            query=shown.ranked.query,
            tokens=picked.bench.tokens,
            texts=texts,
        ),
        export.RESULT_FILE,
        "application/json",
    )


def table(shown: Shown, texts: Texts) -> bytes:
    """Make the table: what it may not tell is no column."""
    told = export.redacted(shown, texts)
    frame = frames.table(told.arrangement, told.tokens, told.scores)
    if texts is Texts.TITLES:
        frame = frame.rename(columns={"text": "title"})
    elif texts is Texts.NUMBERS:
        frame = frame.drop(columns=["id", "text"])
    return export.table_csv(frame)


def pictures(shown: Shown, texts: Texts, look: str) -> None:
    """Offer each chart as a picture for a slide."""
    described("Pictures", "1920 × 1080, with the finding as title.")
    names = {export.PICTURES[name]: name for name in export.pictures_of(shown.arrangement)}
    name = names[st.radio("Chart", list(names), key="picture", label_visibility="collapsed")]

    def drawn(kind: str) -> bytes:
        return export.picture(export.redacted(shown, texts).arrangement, name, kind, palette(look))

    button("Picture (SVG)", lambda: drawn("svg"), f"{name}.svg", "image/svg+xml")
    button("Picture (PNG)", lambda: drawn("png"), f"{name}.png", "image/png")


def code(picked: Picked, arrangement: Arrangement, texts: Texts) -> None:
    """Offer the same as code, and the test of the order."""
    described("Code", "The same in Python, as a pipeline, and as a test that no change loses the order unseen.")
    limits = (arrangement.word_count_threshold, arrangement.top_k)
    documents = arrangement.inputs if texts is Texts.FULL else None
    button("Python", lambda: export.python_snippet(*limits, documents).encode(), "arrange.py", "text/x-python")
    button("Pipeline (YAML)", lambda: export.pipeline_yaml(*limits).encode(), "pipeline.yaml", "application/yaml")
    if texts is not Texts.FULL:
        st.caption("The script has examples to replace; a test needs the full texts.")
        return
    button(
        "Test of the order (pytest)",
        lambda: order_test(picked, arrangement),
        "test_prompt_order.py",
        "text/x-python",
    )


def order_test(picked: Picked, arrangement: Arrangement) -> bytes:
    """Write the test that a template keeps the ranker's order."""
    return testing.pytest_file(
        state.get("template") or DEFAULT_TEMPLATE,
        arrangement.inputs,
        variables={"query": picked.bench.ranked.query or ""},
        word_count_threshold=arrangement.word_count_threshold,
        top_k=arrangement.top_k,
    ).encode()


def link(picked: Picked) -> str:
    """Say what the link carries."""
    if picked.sample is not None:
        return "The link in your browser’s address bar reproduces this view: sample, limits, tab."
    return "The link in your browser’s address bar carries the settings only, never a document: send the session too."


def palette(look: str) -> charts.Palette:
    """Choose the colours of a picture."""
    return charts.DARK if look == "dark" else charts.LIGHT


def described(title: str, words: str) -> None:
    """Show what a card is about."""
    st.markdown(f"**{title}**  \n:small[:gray[{words}]]")


def button(label: str, make: Callable[[], bytes], name: str, media: str) -> None:
    """Show a button that makes a file when it is pressed."""
    icons = {"image": ":material/image:", "text/csv": ":material/table:", "text/html": ":material/web:"}
    st.download_button(
        label,
        make,
        name,
        media,
        on_click="ignore",
        width="stretch",
        icon=icons.get(media) or icons.get(media.split("/")[0]) or ":material/download:",
    )
