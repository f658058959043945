"""Tune: one threshold and one top_k for many queries, chosen by what they do to all of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from lim.charts import tune as draw
from lim.errors import LimError
from lim.frames import tune as frames
from lim.story import plural
from lim.tuning import Pool, counts, first_limits, judge, label_fields, labels_of, objectives, read_judgements
from lim.tuning.figures import summed
from lim.tuning.labels import Marks
from lim.tuning.told import verdict, worth
from lim.views.tuning.bench import Tuned, limits, state, use
from lim.views.tuning.goal import FIRST_SHARE, NO_TOKENS, goal, pair_map
from lim.views.tuning.home import home
from lim.views.tuning.queries import queries
from lim.widgets import Picked, palette, pick_documents, samples, show, stage, tabbed, verbatim, watch_theme
from lim.widgets.limits import renew
from lim.widgets.tune import curve_of, grid_of, pooled, ratio_of, top_k_curve_of

FIRST = "many-queries"  # the sample shown first
NAMES = ["How large the prompts get", "What it costs", "The pairs"]
AXES = ["word_count_threshold", "top_k"]
SWITCHES = {"word_count_threshold": "limit_words", "top_k": "limit_documents"}
AS_MARKED = "As the input marks it"
NO_MARK = "Nothing is marked"
RESERVE = 500  # tokens for instructions, question and answer, at first


def pointed(chart: str, axis: str) -> Callable[[], None]:
    """Take the limit a person pointed at in a chart."""

    def take() -> None:
        chosen = state[chart].selection.get("pointed", [])
        if chosen and chosen[-1].get("handle"):
            state[axis], state[SWITCHES[axis]] = int(chosen[-1]["handle"]), True

    return take


def keep_judgements() -> None:
    """Keep the judgements for the way back from another page."""
    upload = state["qrels"]
    state["kept_qrels"] = (upload.getvalue(), upload.name) if upload is not None else None


def forget_judgements() -> None:
    """Forget the judgements that were kept."""
    state["kept_qrels"] = None


def marked(picked: Picked) -> tuple[Marks | None, tuple[Any, ...]]:
    """Let a person say what is relevant; return the marks, None for the input's own, and what identifies them."""
    lists, key = picked.loaded.lists, picked.bench.key[:2]
    own = any(ranked.relevant is not None for ranked in lists)
    fields = label_fields(lists)
    with st.expander("What is relevant", icon=":material/label:", expanded=bool(fields) and not own):
        options = [AS_MARKED if own else NO_MARK, *(f"Field {name}" for name in fields)]
        chosen = st.selectbox("Relevant documents", options, key=f"marks_{hash(key)}", persist_state="session")
        st.file_uploader(
            "Judgements (TREC qrels)",
            key="qrels",
            on_change=keep_judgements,
            help="Lines of query, 0, document, grade; or query, document, grade as BEIR has them. Queries and ids as "
            "in the ranked lists.",
        )
        if (kept := state.get("kept_qrels")) is not None:
            data, name = kept
            try:
                marks = judge(lists, read_judgements(data, name))
            except LimError as error:
                st.error(verbatim(str(error)), title="These judgements cannot be used")
            else:
                st.text(f"{name}: {sum(each is not None for each in marks):,} of {len(lists):,} queries are judged.")
                if state["qrels"] is None:  # a page's own uploader is empty when a person comes back to it
                    st.button("Forget it", key="forget_qrels", on_click=forget_judgements, icon=":material/delete:")
                return marks, ("qrels", data)
    if chosen in options[1:]:
        field = fields[options.index(chosen) - 1]
        return labels_of(lists, field), ("field", field)
    return None, ()


@st.fragment(key="tune")
def tune(picked: Picked, pool: Pool, slide: int | None) -> None:
    """Everything that reacts to the limits: it runs alone, without the picker."""
    thresholds = frames.thresholds_of(pool)
    threshold, top_k, for_documents = first_limits(pool)
    context = for_documents + RESERVE
    if picked.sample is not None and picked.sample.word_count_threshold:
        threshold = picked.sample.word_count_threshold
    renew(word_count_threshold=threshold, context=context)
    with limits_slot:
        threshold_now, top_k_now = limits(threshold, thresholds[-1], top_k, max(pool.longest, 1))
    with budget_slot:
        budget = budgeted(context, pool)
    try:
        counted = counts(pool, threshold_now, top_k_now)
        now = summed(pool, counted, threshold_now, top_k_now, budget)
    except LimError as error:
        st.error(verbatim(str(error)), title="Nothing is left for documents")
        return
    tuned = Tuned(picked, pool, thresholds, budget, counted, now)
    st.title(f"{verdict(now)}.", anchor=False)
    if slide is not None:
        slides(tuned, slide)
        return
    if pool.queries == 1:
        offer(picked)
    with st.container(horizontal=True, gap="medium"):
        for label, (value, said) in frames.figures(now).items():
            st.metric(label, value, help=said, width="content")
    drawn = st.container()  # the controls stand below, so that the charts come first
    axis, unit = shown(tuned)
    with drawn:
        left, right = st.columns(2, gap="medium")
    with left:
        size_chart(tuned, axis, unit)
    with right:
        share_chart(tuned, axis)
    bodies = {"Goal": goal, "Worst queries": queries, "Words and tokens": words_and_tokens, "Take home": home}
    tabbed({name: partial(body, tuned) for name, body in bodies.items()}, "tune_tab")


def budgeted(context: int, pool: Pool) -> int | None:
    """Let a person set the budget; return the tokens for documents, None where tokens are not available."""
    if pool.token_totals is None:
        st.caption(NO_TOKENS)
        return None
    whole = st.number_input("Context budget in tokens", 1, value=context, step=100, key="context", bind="query-params")
    reserve = st.number_input(
        "Reserved for the rest",
        0,
        value=RESERVE,
        step=50,
        key="reserve",
        bind="query-params",
        help="Instructions, question and answer. Tokens are counted a document, so keep some reserve.",
    )
    return int(whole - reserve)


def offer(picked: Picked) -> None:
    """Say that one list is not many, and offer the sample that has many."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            ":material/info: This input has one ranked list. All figures hold for it, but a threshold is chosen for "
            "many queries: give a file with all of yours, one record a document with its query, or one record a query."
        )
        if picked.sample is None or picked.sample.key != FIRST:
            st.button("Show the sample with many", key="offer_sample", on_click=take_sample)


def take_sample() -> None:
    """Choose the sample with many queries."""
    sample = samples()[FIRST]
    state["source"], state["sample"] = "Sample", sample.title
    use(sample.word_count_threshold, sample.top_k)
    state["whole_page"] = True


def size_chart(tuned: Tuned, axis: str, unit: str) -> None:
    """Show how large the prompts get along a limit."""
    now = tuned.now
    if axis == AXES[0]:
        curve = curve_of(tuned.pool, tuned.thresholds, now.top_k)
    else:
        curve = top_k_curve_of(tuned.pool, frames.top_ks_of(tuned.pool), now.word_count_threshold)
    frame = frames.sizes(curve, unit, getattr(now, axis), tuned.budget)
    show(draw.sizes(frame, now, unit, palette(), axis), "tune_sizes", pointed("tune_sizes", axis))


def share_chart(tuned: Tuned, axis: str) -> None:
    """Show what a limit gives and costs."""
    now = tuned.now
    if axis == AXES[0]:
        table = grid_of(tuned.pool, tuned.thresholds, (now.top_k,), tuned.budget)
    else:
        table = grid_of(tuned.pool, (now.word_count_threshold,), frames.top_ks_of(tuned.pool), tuned.budget)
    frame = frames.shares(table, tuned.pool, getattr(now, axis))
    show(draw.shares(frame, now, palette(), axis), "tune_shares", pointed("tune_shares", axis))


def shown(tuned: Tuned) -> tuple[str, str]:
    """Let a person choose along which limit the charts are drawn, and in what; return both."""
    units = [unit for unit in frames.UNITS if unit != "Tokens" or tuned.budget is not None]
    if state.get("tune_unit") not in (None, *units):
        del state["tune_unit"]
    with st.container(horizontal=True, gap="medium"):
        unit = st.segmented_control(
            "In",
            units,
            default=units[0],
            required=True,
            key="tune_unit",
            bind="query-params",
            label_visibility="collapsed",
        )
        axis = st.segmented_control(
            "Along",
            AXES,
            default=AXES[0],
            required=True,
            key="tune_axis",
            bind="query-params",
            label_visibility="collapsed",
        )
    return axis or AXES[0], unit or units[0]


def slides(tuned: Tuned, slide: int) -> None:
    """Show one slide of the presenter's view."""
    if slide == 0:
        size_chart(tuned, AXES[0], "Words" if tuned.budget is None else "Tokens")
    elif slide == 1:
        share_chart(tuned, AXES[0])
    elif tuned.budget is None:
        st.info(NO_TOKENS)
    else:
        pair_map(tuned, FIRST_SHARE / 100, objectives(tuned.pool)[0])


def words_and_tokens(tuned: Tuned) -> None:
    """Show how many tokens a word is worth here, and so what a threshold in words is worth."""
    ratio = ratio_of(tuned.pool)
    if ratio is None:
        st.info(
            "There is nothing to compare: "
            + ("no document has a word." if tuned.pool.tokens is not None else NO_TOKENS)
        )
        return
    threshold = tuned.now.word_count_threshold or tuned.thresholds[len(tuned.thresholds) // 2]
    st.markdown(f"**{worth(threshold, ratio)}**")
    st.caption(
        f"{ratio.words:,} words are {ratio.tokens:,} tokens (o200k_base): {ratio.whole:.2f} tokens a word. Text "
        f"without spaces, code and tables have more."
    )
    columns = st.column_config
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown("**Tokens a word**")
        st.dataframe(
            frames.ratios(ratio),
            hide_index=True,
            column_config={
                "of": columns.TextColumn("Spread over"),
                **{
                    name: columns.NumberColumn(label, format="%.2f")
                    for name, label in (
                        ("least", "Least"),
                        ("q25", "25%"),
                        ("median", "Median"),
                        ("q75", "75%"),
                        ("p95", "95%"),
                        ("most", "Most"),
                    )
                },
            },
            alt="Tokens a word, spread over queries and over documents",
        )
    with right:
        st.markdown("**What a threshold in words is worth in tokens**")
        curve = curve_of(tuned.pool, tuned.thresholds, tuned.now.top_k)
        st.dataframe(
            frames.worths(curve, ratio),
            hide_index=True,
            column_config={
                "threshold": columns.NumberColumn("Threshold, words", format="localized"),
                "low": columns.NumberColumn(
                    "At 25%", help="At the ratio a quarter of the queries is below", format="localized"
                ),
                "tokens": columns.NumberColumn("Tokens", help="At the ratio of the whole corpus", format="localized"),
                "high": columns.NumberColumn("At 75%", format="localized"),
                "median": columns.NumberColumn(
                    "Sent, median", help="With the document that crosses", format="localized"
                ),
                "p95": columns.NumberColumn("Sent, 95%", format="localized"),
                "most": columns.NumberColumn("Sent, most", format="localized"),
            },
            alt="For some thresholds in words, their tokens at this corpus's ratio, and what reaches the prompts",
        )


view = stage("Documents and limits")
slide = view.slide(NAMES, "One threshold and one top_k for all your queries")
if state.pop("whole_page", False):
    st.rerun()
picked = pool = None
with view.tools:
    picked = pick_documents(first=FIRST, whole=True)
    watch_theme()
    if picked is not None:
        count = len(picked.loaded.lists)
        st.caption(f"{plural(count, 'ranked list')}, all of them counted.")
    marks, marks_key = marked(picked) if picked is not None else (None, ())
    limits_slot = st.container()
    limits_slot.markdown("**Limits**")
    budget_slot = st.container()
    budget_slot.markdown("**Budget**")
if picked is not None:
    pool = pooled(picked.loaded.lists, marks, (picked.bench.key[:2], marks_key))
if picked is None or pool is None:
    st.title("Which threshold suits all your queries?", anchor=False)
    st.write(
        "Upload the ranked lists of many queries: one record a document with its query, or one record a query with its "
        "documents; any format the Lab reads. Then choose the threshold by what it does to all of them."
    )
elif not pool.documents:
    st.title("These lists hold no document", anchor=False)
    st.write("Every record was left out; *How it was read* in the sidebar names each with the reason.")
else:
    tune(picked, pool, slide)
