"""The audit: whether the prompt that reaches the LLM still holds the documents in the intended order."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from lim import testing
from lim.audit import AuditReport, parse, two_places
from lim.audit.traces import TraceAudit
from lim.charts import audit as draw
from lim.errors import LimError
from lim.frames import audit as frames
from lim.prompt import DEFAULT_TEMPLATE
from lim.widgets import (
    AUDIT_SAMPLES,
    Bench,
    Stage,
    audit_sample,
    audit_samples,
    audited,
    audited_trace,
    palette,
    pick_documents,
    show,
    stage,
    tabbed,
    text_of,
    tinted,
    verbatim,
    watch_theme,
)

SHOWN_CHARACTERS = 100_000  # of a prompt; all of it is audited
TRACE_ENDINGS = (".jsonl", ".ndjson", ".gz", ".log")
ROOM = "calc(100vh - 14rem)"  # of the prompt on a slide of its own
PROMPT_SLIDES = ["The order", "The prompt", "The documents"]
TRACE_SLIDES = ["The requests", "The first that lost it", "Its prompt"]
WELCOME = "Does your prompt still hold the order?"

state = st.session_state
Shown = Callable[[Stage], None]


def from_sample() -> Shown:
    """Let a person choose a sample, which brings its own documents."""
    catalogue = audit_samples()
    title = st.selectbox("Sample", list(catalogue), index=1, key="audit_sample", bind="query-params")
    sample = catalogue[title]
    st.caption(sample.reason)
    if sample.kind == "trace":
        found = audited_trace((AUDIT_SAMPLES / sample.file).read_bytes())
        return lambda view: trace(view, found)
    report, query = audit_sample(sample.file)
    return lambda view: prompt(view, report, query)


def from_paste() -> Shown | None:
    """Let a person paste a prompt."""
    text = st.text_area(
        "The prompt, as it goes to the LLM",
        key="audit_pasted",
        height=180,
        persist_state="session",
        placeholder="The rendered prompt\n\n… or messages as JSON",
        help="Text, or JSON with messages as OpenAI, Anthropic and Gemini have them. It does not leave this server.",
    )
    return beside(text)


def keep_upload() -> None:
    """Keep the file for the way back from another page."""
    upload = state["audit_upload"]
    state["audit_kept"] = (upload.getvalue(), upload.name) if upload is not None else None


def forget_upload() -> None:
    """Forget the file that was kept."""
    state["audit_kept"] = None


def from_upload() -> Shown | None:
    """Let a person upload a prompt or a trace."""
    upload = st.file_uploader(
        "A prompt, or an exported trace",
        key="audit_upload",
        on_change=keep_upload,
        help="A prompt: text, or JSON with messages. A trace: spans or runs of Phoenix, OpenTelemetry, Haystack, "
        "Langfuse or LangSmith as JSON or JSON Lines, gzip too; it brings its own documents. Nothing is stored.",
    )
    kept = state.get("audit_kept")
    if kept is None:
        return None
    data, name = kept
    if upload is None:
        st.text(f"Still here: {name}")
        st.button("Forget it", key="audit_forget", on_click=forget_upload, icon=":material/delete:")
    if is_trace(data, name):
        found = audited_trace(data)
        return lambda view: trace(view, found)
    return beside(text_of(data, name))


def is_trace(data: bytes, name: str) -> bool:
    """Tell a trace from a prompt: by its ending, and JSON by whether it is messages."""
    ending = name.lower()
    return ending.endswith(TRACE_ENDINGS) or (ending.endswith(".json") and isinstance(parse(text_of(data, name)), str))


def beside(text: str) -> Shown | None:
    """Let a person choose the documents beside a prompt, and what of them it should hold."""
    picked = pick_documents()
    if picked is None:
        return None
    bench = picked.bench
    arranged, threshold, top_k = intention(bench)
    if not text.strip():
        return None
    report = audited(text, bench, bench.key, arranged=arranged, threshold=threshold, top_k=top_k)
    limits = (threshold, top_k) if arranged else (None, None)
    sample = picked.sample.title if picked.sample is not None else ""
    return lambda view: prompt(view, report, bench.ranked.query or "", limits, sample)


def intention(bench: Bench) -> tuple[bool, int | None, int | None]:
    """Let a person say what the prompt should hold: the arrangement, under which limits, or the list as it is."""
    should = st.segmented_control(
        "The prompt should hold",
        ["Their arrangement", "The list as it is"],
        default="Their arrangement",
        required=True,
        key="audit_expected",
        bind="query-params",
        help="Their arrangement: the list is in relevance order, and the ranker arranges it. The list as it is: it is "
        "the ranker's output already.",
        width="stretch",
        wrap=True,
    )
    if should != "Their arrangement" or not bench.unlimited.inputs:
        return False, None, None
    threshold = st.number_input(
        "word_count_threshold", 1, value=None, placeholder="none", key="audit_threshold", bind="query-params"
    )
    top_k = st.number_input("top_k", 1, value=None, placeholder="none", key="audit_top_k", bind="query-params")
    return True, threshold, top_k


def prompt(
    view: Stage,
    report: AuditReport,
    query: str,
    limits: tuple[int | None, int | None] = (None, None),
    sample: str = "",
) -> None:
    """Show the audit of one prompt, whole or slide by slide; say if it is searched for the documents of a sample."""
    slide = view.slide(PROMPT_SLIDES, WELCOME)
    if sample:
        st.info(
            f"Your prompt is searched for the documents of the sample “{verbatim(sample)}”. To look for your own, "
            "choose Paste or Upload under **Documents**.",
            icon=":material/info:",
        )
    st.title(frames.verdict(report), anchor=False)
    if slide is None:
        body(report, query, limits)
    elif slide == 0:
        culprit(report.culprit, holds=report.holds)
        show(draw.slope(frames.slope(report), report, palette()), "audit_slope")
    elif slide == 1:
        text(report, ROOM)
    else:
        documents(report)


def body(report: AuditReport, query: str, limits: tuple[int | None, int | None], said: str = "") -> None:
    """Show everything below the verdict on one prompt."""
    culprit(said or report.culprit, holds=report.holds)
    figures(report)
    left, right = st.columns(2, gap="medium")
    with left:
        show(draw.slope(frames.slope(report), report, palette()), "audit_slope")
    with right:
        text(report)
    bodies = {
        "Documents": partial(documents, report),
        "Known orders": partial(orders, report),
        "Test": partial(test, report, query, limits),
    }
    tabbed(bodies, "audit_tab")


def text(report: AuditReport, height: str = "330px") -> None:
    """Show the prompt, its documents tinted, in a box of a height."""
    st.markdown("**The prompt**  \n:small[:gray[Each document found is tinted by its relevance and numbered]]")
    if report.text.strip():
        shown = report.text[:SHOWN_CHARACTERS]
        st.html(tinted(shown, frames.passages(report, SHOWN_CHARACTERS), palette(), height))
        if len(shown) < len(report.text):
            st.caption(f"The first {SHOWN_CHARACTERS:,} of {report.characters:,} characters; all were audited.")
    else:
        st.info("The prompt has no text.")


def culprit(said: str, *, holds: bool) -> None:
    """Show what likely happened."""
    icon = ":green[:material/check_circle:]" if holds else ":orange[:material/warning:]"
    with st.container(border=True):
        st.markdown(f"{icon} {verbatim(said)}")


def figures(report: AuditReport) -> None:
    """Show the figures of one prompt."""
    with st.container(horizontal=True, gap="medium"):
        st.metric("Documents in the prompt", f"{len(report.actual):,} of {len(report.intended):,}")
        st.metric(
            "Kendall’s tau",
            "–" if report.tau is None else two_places(report.tau),
            help="Of the documents found, to the intended order: 1 is the same order, −1 its reverse.",
        )
        st.metric("Words", f"{report.words:,}", help=f"{report.document_words:,} of them are documents")
        if report.tokens is not None:
            st.metric(
                "Tokens (o200k)", f"{report.tokens:,}", help=f"{report.document_tokens or 0:,} of them are documents"
            )
        st.metric("Documents’ share", f"{report.document_share:.0%}", help="Of the prompt's characters")


def documents(report: AuditReport) -> None:
    """Show every document with what became of it."""
    columns = st.column_config
    st.dataframe(
        frames.documents(report),
        hide_index=True,
        lazy=True,
        placeholder="",
        column_config={
            "number": columns.NumberColumn("Document", width=110, help="Place in the list of documents"),
            "rank": columns.NumberColumn("Rank", width=75, help="By relevance, 1 is best"),
            "status": columns.TextColumn("The prompt"),
            "intended": columns.NumberColumn("Intended", width=105, help="Position it should have"),
            "position": columns.NumberColumn(
                "Position", width=105, help="Position it has among the expected documents"
            ),
            "match": columns.TextColumn("Text", help="How closely the prompt's text is the document's"),
            "survives": columns.ProgressColumn(
                "Survives", format="%d%%", min_value=0, max_value=100, help="Share of its characters in the prompt"
            ),
            "message": columns.NumberColumn("Message", width=105, help="Of the conversation"),
            "id": columns.TextColumn("Id", width="small"),
            "text": columns.TextColumn("Document’s text", width="large"),
        },
        alt=f"Every document and what the prompt holds of it. {frames.verdict(report)}",
    )


def orders(report: AuditReport) -> None:
    """Show how far the prompt's order is from every known one."""
    st.dataframe(
        frames.orders(report),
        hide_index=True,
        column_config={
            "order": st.column_config.TextColumn("Known order", width="medium"),
            "tau": st.column_config.NumberColumn(
                "Kendall’s tau", format="%.2f", help="1: the same order; 0: no relation; −1: its reverse"
            ),
            "agrees": st.column_config.TextColumn("The prompt’s order is", width="medium"),
        },
        alt=f"Kendall's tau to every known order; the prompt's is: {report.order.value}",
    )


def test(report: AuditReport, query: str, limits: tuple[int | None, int | None]) -> None:
    """Write a test of a person's own template."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        template = st.text_area(
            "Your template (Jinja)", DEFAULT_TEMPLATE, height=280, key="audit_template", persist_state="session"
        )
        st.caption(
            "Put in your own template, and your own pipeline in the file: then no change loses the order unseen. "
            "The file needs pytest and this project: in the project’s folder, run “pip install .”"
        )
    with right:
        threshold, top_k = limits
        try:
            source = testing.pytest_file(
                template,
                frames.ranked(report),
                variables={"query": query},
                word_count_threshold=threshold,
                top_k=top_k,
            )
        except LimError as error:
            st.error(verbatim(str(error)), title="No test can be written")
            return
        st.download_button(
            "Download test_prompt_order.py",
            source,
            "test_prompt_order.py",
            "text/x-python",
            on_click="ignore",
            icon=":material/download:",
        )
        if len(source) <= SHOWN_CHARACTERS:
            st.code(source, language="python", wrap_lines=True)
        else:
            st.caption(f"The file has {len(source):,} characters, with all your documents: too many to show here.")


def trace(view: Stage, found: TraceAudit) -> None:
    """Show the audit of a trace, whole or slide by slide."""
    number, first = frames.first_lost(found), found.first_lost
    report = first.report if number is not None and first is not None else None
    slide = view.slide(TRACE_SLIDES if report is not None else TRACE_SLIDES[:1], WELCOME)
    if not slide:
        every_request(found, number)
    if report is None or first is None or slide == 0:
        return
    if slide is None:
        st.subheader(f"The first that lost it: request {number:,}", anchor=False)
        st.write(f"{frames.verdict(report)}.")
        body(report, "", (None, None), first.culprit)
        return
    st.title(f"Request {number:,}: {frames.verdict(report)}", anchor=False)
    if slide == 1:
        culprit(first.culprit, holds=report.holds)
        show(draw.slope(frames.slope(report), report, palette()), "audit_slope")
    else:
        text(report, ROOM)


def every_request(found: TraceAudit, lost: int | None) -> None:
    """Show the verdict on all requests of a trace, over time."""
    st.title(frames.trace_verdict(found), anchor=False)
    tally = found.tally
    if tally.unreadable:
        st.warning(f"{tally.unreadable:,} lines could not be read; the first is {verbatim(tally.first_unreadable)}.")
    if tally.unpaired:
        st.caption(f"{tally.unpaired:,} requests lack documents or an LLM call behind them, and are not counted.")
    if not found.requests:
        st.write(f"{tally.records:,} records were read. If this is a prompt and not a trace, paste it as text.")
        return
    with st.container(horizontal=True, gap="medium"):
        st.metric("Kept the order", f"{found.share or 0:.1%}")
        st.metric("Requests", f"{len(found.requests):,}")
        if lost is not None:
            st.metric("First lost", f"request {lost:,}")
        if found.began is not None:
            st.metric("Lost since", f"{found.began:%Y-%m-%d %H:%M}", help="Time of that request, as the trace has it")
    show(draw.requests(frames.outcomes(found), found, palette()), "audit_requests")
    with st.expander("Every request", icon=":material/table_rows:"):
        requests(found)


def requests(found: TraceAudit) -> None:
    """Show the table of the requests."""
    columns = st.column_config
    st.dataframe(
        frames.requests(found),
        hide_index=True,
        lazy=True,
        placeholder="",
        column_config={
            "number": columns.NumberColumn("Request", width=105, format="localized"),
            "started": columns.TextColumn("Started"),
            "kept": columns.TextColumn("The order", width=110),
            "order": columns.TextColumn("The prompt holds"),
            "tau": columns.NumberColumn("Kendall’s tau", width=135, format="%.2f"),
            "found": columns.NumberColumn("Found", width=85),
            "documents": columns.NumberColumn("of", width=50),
            "changed_by": columns.TextColumn("Changed by"),
            "ranker": columns.TextColumn("Arranged by"),
            "llm": columns.TextColumn("LLM call"),
            "trace": columns.TextColumn("Trace", width="small"),
        },
        alt=f"Every request of the trace. {frames.trace_verdict(found)}",
    )


shown: Shown | None = None
view = stage("Prompt or trace", rest=20)
with view.tools:
    watch_theme()
    source = st.segmented_control(
        "Prompt or trace",
        ["Sample", "Paste", "Upload"],
        default="Sample",
        required=True,
        key="audit_source",
        bind="query-params",
        width="stretch",
    )
    try:
        shown = from_sample() if source == "Sample" else from_paste() if source == "Paste" else from_upload()
    except LimError as error:
        st.error(verbatim(str(error)), title="This could not be audited")
if shown is not None:
    shown(view)
else:
    st.title(WELCOME, anchor=False)
    st.write(
        "Give a rendered prompt and the documents it was made of, or an exported trace, which holds both. Every "
        "document is found in the prompt, also escaped, cut or reformatted, and the order they stand in is named."
    )
