"""What a run shows: the bump chart beside the prompt, and tabs with every stage, document, text and file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from haystack import Document

from lim.charts import pipeline as draw
from lim.errors import LimError
from lim.frames import pipeline as frames
from lim.prompt import DEFAULT_TEMPLATE
from lim.stages import STAGES, Configuration, Plan, Trace, availability, to_python, to_yaml
from lim.stages.build import Node
from lim.stages.model import MAX_TEXT_CHARACTERS
from lim.stages.removed import REMOVED
from lim.widgets import palette, show, tabbed, tinted, verbatim

SHOWN_CHARACTERS = 100_000  # of a prompt, or of a file to take home
SCRIPT_DOCUMENTS = 50  # the most that a script holds without being asked


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page is about.

    :param plan: the pipeline.
    :param listed: its nodes.
    :param trace: its run, or None while there is none.
    :param documents: the list as given.
    :param others: the second list.
    :param query: the query.
    :param config: what the server offers.
    """

    plan: Plan
    listed: Sequence[Node]
    trace: Trace | None
    documents: Sequence[Document]
    others: Sequence[Document]
    query: str
    config: Configuration


def overview(shown: Shown, trace: Trace) -> None:
    """Show the chart of every document's places, and the prompt beside it."""
    drawn = frames.bump(trace, shown.listed)
    if trace.prompt is None:
        if drawn["column"].nunique() > 1:  # one list alone has no way to show
            show(draw.bump(drawn, trace, shown.listed, palette()), "pipeline_bump")
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if len(drawn):
            show(draw.bump(drawn, trace, shown.listed, palette()), "pipeline_bump")
        else:
            st.info("No document came out of a stage: there is nothing to draw.")
    with right:
        if trace.reply is not None:
            st.markdown("**The answer**  \n:small[:gray[Of the chat model, to the prompt below]]")
            st.code(trace.reply[:SHOWN_CHARACTERS], language=None, wrap_lines=True)
        st.markdown("**The prompt**  \n:small[:gray[Each document is tinted by its relevance and numbered]]")
        the_prompt(trace, "330px")


def slide(index: int, shown: Shown, trace: Trace) -> None:
    """Show one slide of the presenter's view: the way of the documents, what was dropped, the prompt."""
    if index == 0:
        drawn = frames.bump(trace, shown.listed)
        if len(drawn):
            show(draw.bump(drawn, trace, shown.listed, palette()), "pipeline_bump")
    elif index == 1:
        dropped(shown)
    else:
        the_prompt(trace, "calc(100vh - 12rem)")


def the_prompt(trace: Trace, height: str) -> None:
    """Show the prompt, tinted, or say that there is none."""
    if trace.prompt is None:
        st.info("The run ended before the prompt.")
    elif not trace.prompt.text.strip():
        st.info("The prompt has no text.")
    else:
        text = trace.prompt.text
        st.html(tinted(text[:SHOWN_CHARACTERS], frames.passages(trace, SHOWN_CHARACTERS), palette(), height))
        if len(text) > SHOWN_CHARACTERS:
            st.caption(
                f"The first {SHOWN_CHARACTERS:,} of {len(text):,} characters; the file and the verdict have all."
            )


def tabs(shown: Shown) -> None:
    """Show the tabs; only the open one runs."""
    bodies = {
        "Stages": stages,
        "Dropped": dropped,
        "Documents": documents,
        "Prompt": prompt,
        "Take it home": take_home,
        "What can run": what_can_run,
    }
    tabbed({name: partial(body, shown) for name, body in bodies.items()}, "pipeline_tab")


def _run(shown: Shown) -> Trace | None:
    if shown.trace is None:
        st.caption("This is here once the pipeline has run.")
    return shown.trace


def stages(shown: Shown) -> None:
    """Show what each stage did, how long it took, and what should be known about it."""
    if (trace := _run(shown)) is None:
        return
    columns = st.column_config
    st.dataframe(
        frames.stages(trace, shown.listed),
        hide_index=True,
        placeholder="",
        column_config={
            "stage": columns.TextColumn("Stage", width=90),
            "component": columns.TextColumn("Component", width="medium"),
            "given": columns.NumberColumn("Documents in", format="localized", width=95),
            "returned": columns.NumberColumn("out", format="localized", width=60),
            "dropped": columns.NumberColumn("dropped", format="localized", width=70),
            "added": columns.NumberColumn("repeated", format="localized", width=75, help="Given more often than got"),
            "order": columns.TextColumn("Order", width=75, help="Of the documents it kept"),
            "milliseconds": columns.NumberColumn("Time (ms)", format="%.1f", width=85, help="Without loading"),
            "loading": columns.NumberColumn(
                "Loading (s)", format="%.1f", width=85, help="Of its model, waiting for other runs included"
            ),
            "name": columns.TextColumn("Name in the pipeline"),
        },
        alt=f"Every stage that ran. {frames.finding(trace, shown.listed)}",
    )
    names = frames.labels(shown.listed)
    for run in trace.stages:
        for notice in run.notices:
            st.text(f"{names[run.name]}: {notice}")


def dropped(shown: Shown) -> None:
    """Show every document that was dropped, where and why."""
    if (trace := _run(shown)) is None:
        return
    frame = frames.dropped(trace, shown.listed)
    if frame.empty:
        st.write("No document was dropped.")
        return
    columns = st.column_config
    st.dataframe(
        frame,
        hide_index=True,
        lazy=True,
        placeholder="",
        column_config={
            "number": columns.NumberColumn("Document", width=80),
            "stage": columns.TextColumn("Dropped by", width=90),
            "why": columns.TextColumn("Why", width="medium"),
            "place": columns.NumberColumn("Place before", width=90),
            "words": columns.NumberColumn("Words", width=70, format="localized"),
            "id": columns.TextColumn("Id", width="small"),
            "text": columns.TextColumn("Text", width="large"),
        },
        alt=f"Every document that was dropped, with the stage and the reason: {len(frame):,} rows",
    )


def documents(shown: Shown) -> None:
    """Show every document with its place after each stage."""
    if (trace := _run(shown)) is None:
        return
    columns = st.column_config
    frame = frames.journeys(trace, shown.listed)
    places: dict[str, Any] = {
        name: columns.NumberColumn(name, width=75, help=f"Place after {name}")
        for name in frames.labels(shown.listed).values()
    }
    st.dataframe(
        frame,
        hide_index=True,
        lazy=True,
        placeholder="",
        column_config={
            "number": columns.NumberColumn("Document", width=80, help="Place in the list as given"),
            **places,
            "fate": columns.TextColumn("Fate", width=150),
            "id": columns.TextColumn("Id", width="small"),
            "text": columns.TextColumn("Text", width="large"),
        },
        alt=f"Every document with its place after each stage. {frames.headline(trace)}",
    )


def prompt(shown: Shown) -> None:
    """Let a person edit the template; show the prompt, and the messages as a chat model gets them."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        if shown.plan.prompt.stage == "chat_prompt_builder":
            st.text_area(
                "System message (Jinja), blank for none",
                key="pipeline_system",
                persist_state="session",
                max_chars=MAX_TEXT_CHARACTERS,
            )
        st.text_area(
            "Template (Jinja)",
            DEFAULT_TEMPLATE,
            height=320,
            key="pipeline_template",
            persist_state="session",
            max_chars=MAX_TEXT_CHARACTERS,
        )
        if shown.plan.after is not None and shown.plan.after.stage == "sorting_template":
            st.caption("After the arrangement stands a sorting template: it is used in the place of this one.")
    with right:
        if (trace := _run(shown)) is None:
            return
        if len(trace.messages) > 1:
            st.markdown("**System message**")
            st.code(trace.messages[0].text or "", language=None, wrap_lines=True)
        the_prompt(trace, "480px")
        if trace.prompt is not None:
            st.download_button("Download the prompt", trace.prompt.text, "prompt.txt", "text/plain", on_click="ignore")


def take_home(shown: Shown) -> None:
    """Show the pipeline as YAML and as Python."""
    st.caption(
        "What is written here holds Haystack’s own components alone: it needs Haystack and the packages it names, not "
        "this app. The server’s addresses, tokens and folders are not in it: where a comment asks for it, put in yours."
    )
    few = len(shown.documents) + len(shown.others) <= SCRIPT_DOCUMENTS
    beside = st.toggle("Put these documents into the script", few, key=f"script_documents_{few}")
    given = {"documents": shown.documents, "others": shown.others} if beside else {}
    left, right = st.columns(2, gap="medium")
    with left:
        try:
            yaml = to_yaml(shown.plan, shown.config)
        except LimError as error:
            st.error(verbatim(str(error)), title="No YAML can be written")
        except ImportError:
            # Haystack writes the YAML of components that exist; the Python beside it needs none.
            st.warning("Haystack writes YAML only where each component is installed: see What can run.")
        else:
            take(yaml, "pipeline.yaml", "application/yaml", "yaml")
    with right:
        try:
            script = to_python(shown.plan, shown.config, query=shown.query, **given)
        except LimError as error:
            st.error(verbatim(str(error)), title="No script can be written")
        else:
            take(script, "pipeline.py", "text/x-python", "python")


def take(text: str, name: str, mime: str, language: str) -> None:
    """Show a file with the button that downloads it."""
    st.download_button(f"Download {name}", text, name, mime, on_click="ignore", icon=":material/download:")
    if len(text) <= SHOWN_CHARACTERS:
        st.code(text, language=language, wrap_lines=True)
    else:
        st.caption(f"The file has {len(text):,} characters: too many to show here.")


def what_can_run(shown: Shown) -> None:
    """List every stage, whether it can run on this server, and what to do where it cannot."""
    rows = []
    for stage in STAGES.values():
        able = availability(stage.key, shown.config)
        places = ", ".join(slot.value for slot in stage.slots)
        rows.append((stage.title, places, "yes" if able.ok else "no", able.remedy or "", stage.summary))
    rows += [
        (gone.title, "rank", "removed", f"{STAGES[gone.successor].title} replaced it", "See below.") for gone in REMOVED
    ]
    columns = st.column_config
    st.dataframe(
        [dict(zip(("component", "place", "runs", "remedy", "summary"), row, strict=True)) for row in rows],
        hide_index=True,
        placeholder="",
        column_config={
            "component": columns.TextColumn("Component", width="medium"),
            "place": columns.TextColumn("Place", width=90),
            "runs": columns.TextColumn("Runs here", width=80),
            "remedy": columns.TextColumn("If not", width="large"),
            "summary": columns.TextColumn("What it does", width="large"),
        },
        alt="Every stage, whether it can run on this server, and what to do where it cannot",
    )
    for gone in REMOVED:
        st.write(f"**{gone.title}.** {gone.explanation}")
    st.caption(
        "Models, addresses and tokens are the server’s: its README lists the variables. A visitor chooses among them."
    )
