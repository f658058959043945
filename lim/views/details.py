"""What stands below the Lab's charts: the documents, the prompt, thresholds, code, what to share, the input."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lim import charts, export, frames, story
from lim.errors import LimError
from lim.frames.passages import Passage
from lim.prompt import DEFAULT_TEMPLATE, Rendered, render
from lim.ranker import Arrangement
from lim.thresholds import fit, staircase
from lim.views.share import share
from lim.widgets import Picked, palette, show, tabbed, tinted, verbatim

ROWS_PER_PAGE = 100
COLUMNS = ["marked", "rank", "position", "text", "fate", "words", "cumulative_words", "tokens", "score", "why", "id"]
state = st.session_state


def tabs(picked: Picked, arrangement: Arrangement) -> None:
    """Show the tabs; only the open one runs.

    :param picked: what a person chose to look at.
    :param arrangement: its arrangement under the limits of now.
    """
    bodies = {
        "Documents": documents,
        "Prompt": prompt,
        "Thresholds that matter": thresholds,
        "Fit a budget": budget,
        "Code": code,
        "Share": share,
        "Input": source,
    }
    tabbed({name: partial(body, picked, arrangement) for name, body in bodies.items()}, "tab")


def documents(picked: Picked, arrangement: Arrangement) -> None:
    """Show every document with its fate, a page at a time; picking a row marks the document everywhere."""
    count, page = len(arrangement.inputs), 1
    if count > ROWS_PER_PAGE:
        pages = -(-count // ROWS_PER_PAGE)
        page = st.number_input(f"Page of {pages:,}, {ROWS_PER_PAGE} documents each", 1, pages, key="page")
    first = (page - 1) * ROWS_PER_PAGE
    frame = frames.table(arrangement, picked.bench.tokens, picked.bench.scores, slice(first, first + ROWS_PER_PAGE))
    frame.insert(0, "marked", ["▶" if rank == state["picked"] else "" for rank in frame["rank"]])
    frame["text"] = [frames.preview(text or "", 160) for text in frame["text"]]

    def pick_row() -> None:
        rows = state["documents_table"].selection.rows
        state["picked"] = first + rows[0] + 1 if rows else None

    columns = st.column_config
    score = picked.bench.ranked.score_name or "score"
    st.dataframe(
        frame,
        key="documents_table",
        hide_index=True,
        on_select=pick_row,
        selection_mode="single-row",
        placeholder="",
        column_order=COLUMNS,
        column_config={
            "marked": columns.TextColumn("", width=20, help="The document you picked"),
            "rank": columns.NumberColumn("Rank", width=60, help="Original rank: place in the input"),
            "position": columns.NumberColumn("Position", width=75, help="Place in the prompt"),
            "fate": columns.TextColumn("Fate"),
            "why": columns.TextColumn("Why"),
            "words": columns.NumberColumn("Words", width=70, format="localized"),
            "cumulative_words": columns.NumberColumn("Cumulative", width=90, format="localized", help="Words so far"),
            "tokens": columns.NumberColumn("Tokens", width=70, format="localized", help="In the o200k vocabulary"),
            "score": columns.NumberColumn(
                "Distance (lower is better)" if picked.bench.ranked.lower_is_better else "Score", help=score
            ),
            "id": columns.TextColumn("Id", width="small"),
            "text": columns.TextColumn("Text", width=330),
        },
        alt=f"Every document with its fate: {story.verdict(arrangement)}",
    )
    if (marked := state["picked"]) is not None:
        document = arrangement.inputs[marked - 1]
        st.markdown(f"**Original rank {marked:,}**")
        st.code(document.content or "", language=None, wrap_lines=True)


def prompt(picked: Picked, arrangement: Arrangement) -> None:
    """Show the prompt as Haystack's PromptBuilder renders it, each document tinted by its relevance."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        template = st.text_area(
            "Template (Jinja)", DEFAULT_TEMPLATE, height=320, key="template", persist_state="session"
        )
        query = st.text_input("Query", picked.bench.ranked.query or "", key=f"query_{hash(picked.bench.key)}")
    with right:
        try:
            rendered = render(template, arrangement.documents, query)
        except LimError as error:
            st.error(verbatim(str(error)), title="The template does not render")
            return
        missing = [arrangement.order[index] for index in rendered.missing]
        if missing:
            st.warning(
                f"The text of rank {', '.join(f'{rank:,}' for rank in missing[:12])} does not stand in the prompt "
                f"as it is: the template changes it or leaves it out."
            )
        st.html(tinted(rendered.text, passages(rendered, arrangement, state["picked"]), palette()))


def passages(rendered: Rendered, arrangement: Arrangement, marked: int | None) -> list[Passage]:
    """List the documents in a rendered prompt, numbered by rank."""
    shades, order = frames.shades(arrangement), arrangement.order
    return [
        Passage(span.start, span.end, f"rank {rank}", float(shades[rank - 1]), rank == marked)
        for span in rendered.spans
        for rank in (order[span.index],)
    ]


def thresholds(picked: Picked, arrangement: Arrangement) -> None:
    """Show every threshold at which the result changes, as a chart and a table."""
    steps = frames.steps(staircase(arrangement, picked.bench.tokens))
    show(charts.staircase(steps, arrangement, palette()), "staircase_chart")
    columns = st.column_config
    shown = steps if picked.bench.tokens is not None else steps.drop(columns="tokens")
    st.dataframe(
        shown,
        hide_index=True,
        lazy=True,
        column_config={
            "kept": columns.NumberColumn("Documents in the prompt", format="localized"),
            "rank": columns.NumberColumn("Last one's rank", format="localized"),
            "lowest": columns.NumberColumn("From threshold", format="localized"),
            "highest": columns.NumberColumn("Up to threshold", format="localized", help="Empty: no upper end"),
            "words": columns.NumberColumn("Words in the prompt", format="localized"),
            "tokens": columns.NumberColumn("Tokens in the prompt", format="localized"),
            "overshoot": columns.NumberColumn("Most words over", format="localized"),
        },
        alt="For each count of documents the thresholds that give it",
    )


def budget(picked: Picked, arrangement: Arrangement) -> None:
    """Find the threshold for a budget of tokens."""
    if picked.bench.tokens is None:
        st.info("Tokens are not available: install toktok-rs on the server to fit a budget of tokens.")
        return
    left, right, answer = st.columns([1, 1, 2], gap="medium", vertical_alignment="bottom")
    context = left.number_input("Context budget in tokens", 1, value=2000, step=100, key="context", bind="query-params")
    reserve = right.number_input(
        "Reserved for the rest",
        0,
        value=500,
        step=50,
        key="reserve",
        bind="query-params",
        help="Instructions, question and answer. Tokens are counted a document, so keep some reserve.",
    )
    result = fit(staircase(arrangement, picked.bench.tokens), context, reserve)
    with answer:
        if result.step is None:
            first = picked.bench.tokens[arrangement.walk[0] - 1]
            st.error(
                f"Not even the first document fits: it has {first:,} tokens and there are {max(result.budget, 0):,} "
                f"for documents. Raise the budget, lower the reserve, or cut the document."
            )
        elif result.threshold is None:
            st.success(
                f"All {result.step.kept:,} documents fit, with {result.step.tokens:,} of {result.budget:,} tokens: no "
                f"threshold is needed."
            )
            st.button("Switch the threshold off", on_click=apply, args=(None,))
        else:
            st.success(
                f"word_count_threshold = {result.threshold:,} is the largest that fits: "
                f"{story.plural(result.step.kept, 'document')}, {result.step.tokens:,} of {result.budget:,} tokens."
            )
            st.button(f"Apply {result.threshold:,}", on_click=apply, args=(result.threshold,))


def apply(threshold: int | None) -> None:
    """Set the threshold from a button."""
    state["limit_words"] = threshold is not None
    if threshold is not None:
        state["word_count_threshold"] = threshold


def code(picked: Picked, arrangement: Arrangement) -> None:
    """Show the same arrangement as Python and as pipeline YAML."""
    limits = (arrangement.word_count_threshold, arrangement.top_k)
    del picked
    st.code(export.python_snippet(*limits, arrangement.inputs), language="python", wrap_lines=True)
    st.code(export.pipeline_yaml(*limits), language="yaml")


def source(picked: Picked, arrangement: Arrangement) -> None:
    """Show how the input was read: raw records beside the documents made of them, and every notice."""
    del arrangement
    loaded, ranked = picked.loaded, picked.bench.ranked
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**The input, first records**")
        for raw in loaded.preview:
            st.code(raw, language=None, wrap_lines=True)
    with right:
        st.markdown("**The documents made of it**")
        for document in ranked.documents[: max(len(loaded.preview), 1)]:
            st.json({"id": document.id, "score": document.score, "meta": document.meta, "content": document.content})
    if loaded.notices:
        st.markdown("**What was guessed, changed or left out**")
        st.dataframe(
            pd.DataFrame(
                [(notice.kind.value, notice.message, notice.place or "") for notice in loaded.notices],
                columns=["what", "message", "place"],
            ),
            hide_index=True,
            alt="Notices of how the input was read",
        )
