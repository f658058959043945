"""The Lab: the ranker on real documents, two linked charts, a threshold you can see and move."""

from importlib.metadata import version

import streamlit as st

from lim import charts, frames, story
from lim.checks import Finding, Kind, check_limits
from lim.ranker import Arrangement, same_as_haystack
from lim.thresholds import suggested
from lim.views import details, slides
from lim.widgets import (
    AS_READ,
    Bench,
    Picked,
    documents_there,
    palette,
    pick_documents,
    samples,
    show,
    stage,
    watch_theme,
)
from lim.widgets.limits import number, slider

MAX_CHECKED = 10_000

state = st.session_state


def pointed() -> None:
    """Take the threshold a person pointed at in the budget chart."""
    chosen = state["budget_chart"].selection.get("pointed", [])
    if chosen and chosen[-1].get("handle"):
        state["word_count_threshold"] = int(chosen[-1]["handle"])
        state["limit_words"] = True


def picked_in_landing() -> None:
    """Take the document a person picked among the bars."""
    mark(state["landing_chart"].selection.get("pick", []))


def picked_in_slope() -> None:
    """Take the document a person picked among the slopes."""
    mark(state["slope_chart"].selection.get("pick", []))


def mark(chosen: list[dict[str, int]]) -> None:
    """Mark the document a person picked in every chart, the table and the prompt."""
    state["picked"] = int(chosen[-1]["rank"]) if chosen else None


def set_state(key: str, value: object) -> None:
    """Set a widget's value from a button, then let the whole page run."""
    state[key] = value
    st.rerun()


def limits(picked: Picked) -> tuple[int | None, int | None]:
    """Show the limits in the sidebar; return the threshold and `top_k` in force."""
    total, count = max(picked.bench.unlimited.words, 1), len(picked.bench.unlimited.walk)
    sample = picked.sample or next(iter(samples().values()))
    threshold = top_k = None
    with limits_slot:
        if st.toggle("Limit the words", value=True, key="limit_words", bind="query-params"):
            threshold = limit("word_count_threshold", sample.word_count_threshold or total, total, "word")
            slider(min(threshold, total), total)
        if st.toggle("Limit the documents", key="limit_documents", bind="query-params"):
            top_k = limit("top_k", sample.top_k or min(10, count), count, "document")
    return threshold, top_k


def limit(key: str, default: int, most: int, noun: str) -> int:
    """Show a number for a limit; one beyond the list stays as it is, for the next list, and is said to do nothing."""
    chosen = number(key, default)
    if chosen > most:
        st.caption(f"{chosen:,} is never reached: the list has {story.plural(most, noun)}.")
        if (cut := suggested(most)) < most:
            st.button(f"Try {cut:,}", on_click=state.update, args=({key: cut},), key=f"try_{key}", type="tertiary")
    return chosen


@st.fragment(key="lab")
def lab(picked: Picked, slide: int | None) -> None:
    """Everything that reacts to the limits: it runs alone, without the picker."""
    bench = picked.bench
    if state.get("picked_from") != bench.key:
        state["picked_from"], state["picked"] = bench.key, None
    threshold, top_k = limits(picked)
    arrangement = bench.unlimited.limited(threshold, top_k)
    if slide is not None:
        slides.draw(slide, arrangement, bench.unlimited, pointed)
        return
    colours, marked = palette(), state["picked"]
    st.title(story.verdict(arrangement), anchor=False)
    facts = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    left, right = st.columns(2, gap="medium")
    with left:
        above = st.container()  # the control stands below, so that both charts begin at one height
        form = landing_form(len(arrangement.inputs))
    with above:
        if form == "Slope":
            show(charts.slope(frames.slope(arrangement, marked), arrangement, colours), "slope_chart", picked_in_slope)
        else:
            figure = charts.landing(frames.landing(arrangement, marked), arrangement, colours)
            show(figure, "landing_chart", picked_in_landing)
    with right:
        show(charts.budget(frames.budget(arrangement, marked), arrangement, colours), "budget_chart", pointed)
    with facts:
        figures(bench, arrangement)
        live_check(arrangement)
    chosen_order()
    for finding in (*check_limits(arrangement), *bench.findings):
        warn(finding)
    details.tabs(picked, arrangement)


def landing_form(count: int) -> str:
    """Let a person choose between bars and slope while a slope can be read; return the choice."""
    if count > frames.MAX_SLOPE_DOCUMENTS:
        return "Bars"
    return st.segmented_control(
        "Form of the chart",
        ["Bars", "Slope"],
        default="Bars",
        required=True,
        key="form",
        bind="query-params",
        label_visibility="collapsed",
    )


def figures(bench: Bench, arrangement: Arrangement) -> None:
    """Show the figures beside the verdict."""
    st.metric("Documents in the prompt", f"{arrangement.kept:,} of {len(arrangement.inputs):,}")
    st.metric("Words", f"{arrangement.words:,}")
    if arrangement.word_count_threshold:
        st.metric("Words over the threshold", f"{max(arrangement.words - arrangement.word_count_threshold, 0):,}")
    if bench.tokens is not None:
        st.metric("Tokens (o200k)", f"{sum(bench.tokens[rank - 1] for rank in arrangement.order):,}")
    else:
        st.metric("Tokens", "not available", help="Install toktok-rs to count tokens.")


def chosen_order() -> None:
    """Say that the order is a person's own choice, and let them take it back."""
    order = state.get("order", AS_READ)
    if order == AS_READ:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/sort: The order of relevance is your choice: *{order[0].lower()}{order[1:]}*.")
        st.button("Read it as it was", on_click=set_state, args=("order", AS_READ), key="unsort", type="tertiary")


def live_check(arrangement: Arrangement) -> None:
    """Run the installed Haystack ranker on the same input and say whether it agrees."""
    name = f"haystack-ai {version('haystack-ai')}"
    if len(arrangement.inputs) > MAX_CHECKED:
        st.badge(f"not checked against {name}: over {MAX_CHECKED:,} documents", icon=":material/info:", color="gray")
    elif same_as_haystack(arrangement):
        st.badge(f"identical to {name}", icon=":material/check:", color="green")
    else:
        st.error(f"This differs from what {name} returns. Trust Haystack, and please report it.")


def warn(finding: Finding) -> None:
    """Show one finding with the remedy that fits."""
    titles = {
        Kind.UNSORTED: "Is this list sorted?",
        Kind.DISTANCES: "Scores or distances?",
        Kind.IDS: "One id, different texts",
        Kind.UNSPLITTABLE: "Words say little here",
        Kind.FIRST_EXCEEDS: "Only one document fits",
    }
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container(gap="xsmall"):
            st.markdown(f":orange[:material/warning:] **{titles[finding.kind]}**")
            st.text(finding.message)
        if finding.kind is Kind.UNSORTED:
            st.button("Sort by score first", on_click=set_state, args=("order", "By score, highest first"), key="sort")
        elif finding.kind is Kind.IDS:
            st.button("Ignore the ids", on_click=set_state, args=("ignore_ids", True), key="drop_ids")


view = stage("Documents and limits")
slide = view.slide(slides.NAMES, "Where Haystack's LostInTheMiddleRanker puts each document of a ranked list")
with view.tools:
    picked = pick_documents()
    watch_theme()
    limits_slot = st.container()
    limits_slot.markdown("**Limits**")
if (there := documents_there(picked, "What does the ranker do to your documents?")) is not None:
    lab(there, slide)
