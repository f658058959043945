"""The Streamlit pieces that pages share: cached calls, the document picker, figures with their words.

Caching lives here and nowhere else, and every cache is bounded.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from haystack import Document

from lim import charts, measure
from lim.audit import AuditReport, audit, parse
from lim.audit.traces import TraceAudit, audit_traces
from lim.checks import Finding, check
from lim.errors import LimError, MissingTextError
from lim.frames.passages import Passage
from lim.loading import Loaded, NoticeKind, Order, RankedList, Reading, load, load_pasted
from lim.loading.decode import to_utf8
from lim.loading.notes import Notes
from lim.ranker import Arrangement, arrange

SAMPLES = Path(__file__).parent.parent / "sample_data"
AUDIT_SAMPLES = SAMPLES / "audit"
SHOWN_NOTICES = 8
NO_FIELD = "(none)"
SETTINGS_ONLY = "A link that leads here carries settings only: the documents stay with whoever made it."
HEARD = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
"""Style of a text for screen readers only."""
AS_READ = "As the input says"


@dataclass(frozen=True, slots=True)
class Sample:
    """One embedded sample.

    :param key: its name in links.
    :param file: its file in `sample_data`.
    :param title: what the picker shows.
    :param reason: why it is there and what to look at.
    :param word_count_threshold: the threshold it is first shown with, or None.
    :param top_k: the `top_k` it is first shown with, or None.
    """

    key: str
    file: str
    title: str
    reason: str
    word_count_threshold: int | None
    top_k: int | None


@dataclass(frozen=True, slots=True)
class Bench:
    """The list on the bench, with everything about it that no limit changes.

    :param ranked: the list.
    :param unlimited: its arrangement without limits; limits are applied with `Arrangement.limited`.
    :param tokens: tokens of each document, or None where they are not available.
    :param findings: what to look at before trusting the arrangement.
    :param key: changes whenever the documents do.
    """

    ranked: RankedList
    unlimited: Arrangement
    tokens: list[int] | None
    findings: tuple[Finding, ...]
    key: tuple[Any, ...]

    @property
    def scores(self) -> Sequence[float | None]:
        """The number to show for each document: its score or its distance."""
        return self.ranked.distances or [document.score for document in self.ranked.documents]


@st.cache_resource
def samples() -> dict[str, Sample]:
    """Read the index of the embedded samples.

    :returns: the samples by key, the first one shown first.
    """
    index = json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))
    return {entry["key"]: Sample(**entry) for entry in index}


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Reading the documents …")
def load_cached(data: bytes, name: str, reading: Reading | None, beside: tuple[bytes, str] | None) -> Loaded:
    """Load a file once for each content and reading.

    :param data: the file's bytes.
    :param name: the file's name.
    :param reading: a person's choices, or None.
    :param beside: a companion file with the texts, or None.
    :returns: as `lim.loading.load`.
    """
    return load(data, name, reading=reading, beside=beside)


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Reading the documents …")
def paste_cached(text: str, reading: Reading | None) -> Loaded:
    """Load a pasted text once for each content and reading.

    :param text: the text.
    :param reading: a person's choices, or None.
    :returns: as `lim.loading.load_pasted`.
    """
    return load_pasted(text, reading=reading)


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Counting words and tokens …")
def bench(_ranked: RankedList, key: tuple[Any, ...]) -> Bench:
    """Measure a list once, whatever limits follow.

    :param _ranked: the list.
    :param key: identifies the list: content, reading and place in its file.
    :returns: the list on the bench.
    """
    unlimited = arrange(_ranked.documents)
    tokens = measure.tokens([document.content or "" for document in _ranked.documents])
    return Bench(_ranked, unlimited, tokens, check(unlimited, _ranked.distances), key)


@dataclass(frozen=True, slots=True)
class AuditSample:
    """One embedded sample of the audit.

    :param key: its name in links.
    :param file: its file in `sample_data/audit`.
    :param kind: `prompt`, with its documents in the file, or `trace`.
    :param title: what the picker shows.
    :param reason: why it is there and what to look at.
    """

    key: str
    file: str
    kind: str
    title: str
    reason: str


@st.cache_resource
def audit_samples() -> dict[str, AuditSample]:
    """Read the index of the audit's samples.

    :returns: the samples by title, in the order of the picker.
    """
    index = json.loads((AUDIT_SAMPLES / "samples.json").read_text(encoding="utf-8"))
    return {entry["title"]: AuditSample(**entry) for entry in index}


@st.cache_resource(max_entries=6)
def audit_sample(file: str) -> tuple[AuditReport, str]:
    """Audit a sample's prompt once.

    :param file: its file in `sample_data/audit`.
    :returns: the report, and the query.
    """
    values = json.loads((AUDIT_SAMPLES / file).read_text(encoding="utf-8"))
    documents = [Document(**fields) for fields in values["documents"]]
    return audit(values["prompt"], documents, expected=values["expected"]), values["query"]


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Looking for the documents …")
def audited(
    text: str, _bench: Bench, key: tuple[Any, ...], *, arranged: bool, threshold: int | None, top_k: int | None
) -> AuditReport:
    """Audit a prompt once for each content.

    :param text: the prompt, or messages as JSON.
    :param _bench: the documents.
    :param key: identifies the documents.
    :param arranged: whether the prompt should hold the ranker's arrangement, else the documents as they are listed.
    :param threshold: the ranker's `word_count_threshold`.
    :param top_k: the ranker's `top_k`.
    :returns: the report.
    """
    limited = _bench.unlimited.limited(threshold, top_k)
    expected = limited.documents if arranged else "as given"
    return audit(parse(text), limited.inputs, expected=expected)


@st.cache_resource(max_entries=4, ttl="2h", show_spinner=False)
def _trace_slot(data: bytes) -> list[TraceAudit]:
    del data
    return []  # filled outside: a cached function may not move a progress bar


def audited_trace(data: bytes) -> TraceAudit:
    """Audit a trace once for each content, with a bar that shows how far it is.

    :param data: the export.
    :returns: the audit.
    """
    slot = _trace_slot(data)
    if not slot:
        bar = st.progress(0.0, "Reading the trace …")

        def advance(done: int, total: int | None) -> None:
            bar.progress(min(done / (total or max(done, 1)), 1.0), "Reading the trace …")

        try:
            slot.append(audit_traces(data, progress=advance))
        finally:
            bar.empty()
    return slot[0]


def text_of(data: bytes, name: str) -> str:
    """Decode an uploaded prompt, whatever its encoding.

    :param data: the file's bytes.
    :param name: the file's name.
    :returns: its text.
    """
    return to_utf8(data, name, Notes()).decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Picked:
    """What a person chose to look at.

    :param bench: the list on the bench.
    :param loaded: the whole input it comes from.
    :param sample: the sample it comes from, or None for a person's own documents.
    """

    bench: Bench
    loaded: Loaded
    sample: Sample | None


def verbatim(text: str) -> str:
    """Escape a text for a place that reads Markdown, such as an alert.

    :param text: any text, such as a message that quotes a person's input.
    :returns: Markdown that shows the text as it is.
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


@lru_cache(maxsize=32)
def specification(draw: Callable[..., charts.Chart], given: tuple[Hashable, ...]) -> dict[str, Any]:
    """Make the specification of a drawing once, whatever its rows.

    :param draw: as of `lim.charts.Drawing`.
    :param given: as of `lim.charts.Drawing`.
    :returns: as `lim.charts.specification`; not to be changed.
    """
    return charts.specification(draw, given)


# Streamlit tells the theme (st.context.theme) but does not run the page when a visitor changes it: the charts would
# keep the colours of the other theme. This asks for a run.
_THEME_WATCH = st.components.v2.component(
    "lim_theme_watch",
    js="""
export default function ({ parentElement, setStateValue }) {
  const element = parentElement.host ?? parentElement;
  const look = () => getComputedStyle(element).getPropertyValue("--st-background-color");
  let seen = look();
  const timer = setInterval(() => {
    const now = look();
    if (now && now !== seen) {
      seen = now;
      setStateValue("background", now);
    }
  }, 300);
  return () => clearInterval(timer);
}
""",
)


def watch_theme() -> None:
    """Run the page again when a visitor changes the theme, so that the charts follow; once a page."""
    _THEME_WATCH(key="theme_watch", on_background_change=lambda: None)


def palette() -> charts.Palette:
    """Choose the colours for the theme the visitor sees.

    :returns: the dark palette in the dark theme, else the light one.
    """
    return charts.DARK if st.context.theme.type == "dark" else charts.LIGHT


def show(figure: charts.Figure, key: str, on_select: Callable[[], None] | None = None) -> None:
    """Show a figure: its finding, its rule, its chart.

    :param figure: the figure.
    :param key: the chart's key; the same on every run, so that the browser updates it in place.
    :param on_select: called when a person selects something in the chart.
    """
    words, drawn = f"**{figure.title}**  \n:small[:gray[{figure.subtitle}]]", figure.drawn
    if not isinstance(drawn, charts.Drawing):
        st.markdown(words)
        st.altair_chart(drawn, key=key, alt=figure.alt, on_select=on_select or "ignore")
        return
    # The browser builds a chart anew when its alt changes. What changes is said beside it, to those who hear the page.
    st.markdown(f"{words}<span style='{HEARD}'>{html.escape(figure.alt)}</span>", unsafe_allow_html=True)
    sent = specification(drawn.draw, drawn.given) | {"datasets": {charts.ROWS: drawn.rows}}
    st.vega_lite_chart(sent, key=key, alt=f"Chart: {figure.title}", on_select=on_select or "ignore")


def tinted(text: str, passages: Sequence[Passage], colours: charts.Palette, height: int = 480) -> str:
    """Put a prompt into HTML, its documents tinted by relevance and numbered; all text is escaped.

    :param text: the prompt.
    :param passages: the pieces that are documents; one that begins inside another is tinted with it.
    :param colours: the theme's colours.
    :param height: of the box, in pixels; a longer prompt scrolls.
    :returns: HTML.
    """
    parts, end = [], 0
    for passage in sorted(passages, key=lambda passage: passage.start):
        if passage.start < end:
            continue
        tint = charts.mix(colours.best, colours.weakest, passage.shade)
        outline = f"outline:2px solid {colours.ink};" if passage.marked else ""
        parts.append(html.escape(text[end : passage.start]))
        parts.append(
            f'<span style="border-left:6px solid {tint};background:{tint}26;padding:1px 4px;{outline}'
            f'box-decoration-break:clone;-webkit-box-decoration-break:clone">'
            f'<b style="font-size:.75em">{html.escape(passage.label)}&nbsp;</b>'
            f"{html.escape(text[passage.start : passage.end])}</span>"
        )
        end = passage.end
    parts.append(html.escape(text[end:]))
    box = f"white-space:pre-wrap;overflow-wrap:anywhere;max-height:{height}px;overflow:auto"
    return f'<div tabindex="0" role="region" aria-label="The prompt" style="{box}">{"".join(parts)}</div>'


def suggest(sample: Sample) -> None:
    """Set the limits a sample is best first seen with, whatever page it is chosen on.

    :param sample: the sample.
    """
    state = st.session_state
    state["limit_words"] = sample.word_count_threshold is not None
    state["limit_documents"] = sample.top_k is not None
    if sample.word_count_threshold:
        state["word_count_threshold"] = sample.word_count_threshold
    if sample.top_k:
        state["top_k"] = sample.top_k


def pick_documents(on_new_sample: Callable[[Sample], None] | None = None) -> Picked | None:
    """Let a person choose documents: a sample, a paste or a file, one of its lists, and how it is read.

    :param on_new_sample: called when another sample is chosen, before the page runs again and after its limits are
        set.
    :returns: what was chosen, or None (with a word to the person) while there is nothing to show.
    """
    catalogue = {sample.title: sample for sample in samples().values()}

    def announce() -> None:
        if st.session_state["source"] == "Sample":
            # Not drawn yet in a session that began with a paste or an upload.
            sample = catalogue[st.session_state.get("sample") or next(iter(catalogue))]
            suggest(sample)
            if on_new_sample is not None:
                on_new_sample(sample)

    source = st.segmented_control(
        "Documents",
        ["Sample", "Paste", "Upload"],
        default="Sample",
        required=True,
        key="source",
        bind="query-params",
        on_change=announce,
        width="stretch",
    )
    try:
        if source == "Sample":
            title = st.selectbox("Sample", list(catalogue), key="sample", bind="query-params", on_change=announce)
            sample = catalogue[title]
            st.caption(sample.reason)
            data, name = (SAMPLES / sample.file).read_bytes(), sample.file
            return _choose(lambda reading: load_cached(data, name, reading, None), ("sample", sample.key), sample)
        return _pasted() if source == "Paste" else _uploaded()
    except LimError as error:
        st.error(verbatim(str(error)), title="This could not be read")
        return None


def _pasted() -> Picked | None:
    text = st.text_area(
        "Ranked documents, most relevant first",
        key="pasted",
        height=220,
        persist_state="session",
        placeholder="First document\n\nSecond document\n\n… or JSON, JSON Lines, CSV",
        help="Separate documents by a blank line, a line of ---, or a form feed. Nothing you paste leaves this server.",
    )
    if not text.strip():
        st.caption("Paste a ranked list, then press Ctrl+Enter or click beside the box. " + SETTINGS_ONLY)
        return None
    return _choose(lambda reading: paste_cached(text, reading), ("paste", text), None)


def _keep_upload() -> None:
    """Keep the file for the other pages: a page's own uploader is empty when a person comes back to it."""
    upload = st.session_state["upload"]
    st.session_state["kept_upload"] = (upload.getvalue(), upload.name) if upload is not None else None


def _uploaded() -> Picked | None:
    upload = st.file_uploader(
        "A ranked list, most relevant first",
        key="upload",
        on_change=_keep_upload,
        help="Text, Markdown, CSV, TSV, JSON, JSON Lines, Parquet, Excel, TREC runs; gzip or zip of these; the "
        "output of most retrieval stacks. Nothing you upload leaves this server, and nothing is stored.",
    )
    if upload is not None:
        st.session_state["kept_upload"] = (upload.getvalue(), upload.name)
    kept = st.session_state.get("kept_upload")
    if kept is None:
        st.caption("Upload a file to see where each document lands. " + SETTINGS_ONLY)
        return None
    data, name = kept
    if upload is None:
        st.text(f"Still here: {name}")
        st.button("Forget it", on_click=_forget_upload, icon=":material/delete:")
    try:
        return _choose(lambda reading: load_cached(data, name, reading, None), ("upload", data, name), None)
    except MissingTextError as error:
        st.warning(verbatim(str(error)), title="Ranks without texts")
    companion = st.file_uploader("The file with the texts: the corpus, or the documents that were sent", key="beside")
    if companion is None:
        return None
    beside = (companion.getvalue(), companion.name)
    return _choose(lambda reading: load_cached(data, name, reading, beside), ("upload", data, name, beside), None)


def _forget_upload() -> None:
    st.session_state["kept_upload"] = None


def _choose(read: Callable[[Reading | None], Loaded], key: tuple[Any, ...], sample: Sample | None) -> Picked | None:
    loaded = read(None)
    _forget_reading(key)
    with st.expander("How it was read", icon=":material/fact_check:"):
        reading = _reading(loaded, fingerprint=str(hash(key)))
        if reading != Reading():
            loaded = read(reading)
        st.caption(f"Recognised as {loaded.format}.")
        for notice in loaded.notices[:SHOWN_NOTICES]:
            st.text(
                f"{notice.kind.value.capitalize()}: {notice.message}" + (f" ({notice.place})" if notice.place else "")
            )
        if len(loaded.notices) > SHOWN_NOTICES:
            st.caption(f"… and {len(loaded.notices) - SHOWN_NOTICES:,} more, all in the Input tab.")
    index = loaded.default
    if len(loaded.lists) > 1:
        names = [
            f"{number}. {ranked.name[:120]} ({len(ranked.documents):,})"
            for number, ranked in enumerate(loaded.lists, 1)
        ]
        name = st.selectbox(
            f"Ranked list, {len(names):,} in this input",
            names,
            index=loaded.default,
            key="list" if sample else f"list_{hash(key)}",
            bind="query-params" if sample else None,  # a person's own queries never go into a link
        )
        index = names.index(name)
    if any(notice.kind is NoticeKind.LEFT_OUT for notice in loaded.notices):
        st.warning("Something in this input is not among the documents: see how it was read.")
    return Picked(bench(loaded.lists[index], (key, reading, index)), loaded, sample)


def _forget_reading(key: tuple[Any, ...]) -> None:
    """Reset how the documents before these were read: an order or ids meant for one list silently change another."""
    origin = key[:1] if key[0] == "paste" else key  # a person edits a paste
    if st.session_state.setdefault("read_from", origin) != origin:
        st.session_state.update(read_from=origin, order=AS_READ, ignore_ids=False, prepend_title=False)


def _reading(loaded: Loaded, fingerprint: str) -> Reading:
    """Offer the other plausible readings; a choice that is the loader's own stays None."""
    taken = loaded.reading
    orders = {
        AS_READ: None,
        "As listed": Order.LISTED,
        "By rank field": Order.RANK,
        "By score, highest first": Order.SCORE,
        "By distance, lowest first": Order.DISTANCE,
    }
    own_order = next((label for label, order in orders.items() if order is taken.order), "As listed")
    order = st.selectbox(
        "Order of relevance",
        list(orders),
        key="order",
        bind="query-params",
        help=f"Of its own accord this input is read *{own_order.lower()}*.",
    )
    ignore_ids = st.toggle(
        "Ignore the ids",
        key="ignore_ids",
        bind="query-params",
        help="Haystack then makes an id of text and meta, so only copies with the same text and meta are duplicates.",
    )
    separator = None
    if loaded.separators:
        cuts = {f"{cut.label} ({cut.count:,})": cut.key for cut in loaded.separators}
        keys = list(cuts.values())
        own = keys.index(taken.separator) if taken.separator in keys else 0
        chosen = st.selectbox("Between documents", list(cuts), index=own, key=f"separator_{fingerprint}")
        separator = cuts[chosen] if cuts[chosen] != keys[own] else None
    fields: dict[str, str | None] = {}
    title = None
    if len(loaded.fields) > 1:
        for part in ("text", "id", "score", "rank", "query"):
            own_field = getattr(taken, part) or NO_FIELD
            options = list(dict.fromkeys([own_field, NO_FIELD, *loaded.fields]))
            picked = st.selectbox(f"Field of the {part}", options, key=f"field_{part}_{fingerprint}")
            fields[part] = None if picked == own_field else "" if picked == NO_FIELD else picked
        if st.toggle("Title before the text", key="prepend_title", bind="query-params"):
            title = True
    return Reading(
        **fields,
        prepend_title=title,
        ignore_ids=ignore_ids,
        order=orders[order],
        separator=separator,
    )
