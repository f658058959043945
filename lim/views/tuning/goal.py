"""The goal: at most so many queries over the budget, keep as much as possible; the best pair, and all the others."""

from __future__ import annotations

import streamlit as st

from lim.charts import tune as draw
from lim.frames import tune as frames
from lim.tuning import Answer, Objective, objectives, round_thresholds, some_top_ks
from lim.tuning.told import answer, searched
from lim.views.tuning.bench import Tuned, state, use
from lim.widgets import palette, show, verbatim
from lim.widgets.tune import best_of, grid_of, tradeoff_of

FIRST_SHARE = 1.0  # percent
NO_TOKENS = "Tokens are not available: install toktok-rs on the server for goals in tokens."


def wanted(tuned: Tuned) -> tuple[float, Objective]:
    """Let a person state the goal.

    :param tuned: what the page is about.
    :returns: the share of queries that may exceed the budget, 0 to 1, and what to keep.
    """
    choices = objectives(tuned.pool)
    first = str(choices[0])
    keep, before = state.get("goal_keep"), state.get("goal_first", first)
    if keep is not None and (keep not in map(str, choices) or (keep == before != first)):
        state["goal_keep"] = first  # marks came or went, and nobody chose
    state["goal_first"] = first
    left, right = st.columns([1, 2], gap="medium", vertical_alignment="bottom")
    with left:
        share = st.number_input(
            "Queries that may exceed the budget, in percent",
            0.0,
            100.0,
            FIRST_SHARE,
            step=0.5,
            format="%.2f",
            key="goal_share",
            bind="query-params",
        )
    with right:
        objective = st.segmented_control(
            "Keep as many as possible of the",
            [str(each) for each in choices],
            default=first,
            required=True,
            key="goal_keep",
            bind="query-params",
            width="stretch",
        )
    return share / 100, Objective(objective or choices[0])


def goal(tuned: Tuned) -> None:
    """Show the best pair for the goal, with what it is compared with, and the trade-off."""
    if tuned.budget is None:
        st.info(NO_TOKENS)
        return
    share, objective = wanted(tuned)
    found = best_of(tuned.pool, tuned.budget, share, objective)
    said = verbatim(answer(found, share, tuned.budget, tuned.pool.queries))
    if found.best is None:
        st.error(said)
    else:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f":green[:material/check_circle:] **Best:** {said}")
            pair = (found.best.word_count_threshold, found.best.top_k)
            if pair == (tuned.now.word_count_threshold, tuned.now.top_k):
                st.badge("in use", icon=":material/check:", color="green")
            else:
                st.button("Use these", key="use_best", on_click=use, args=pair)
    compared(tuned, found)
    left, right = st.columns(2, gap="medium")
    with left:
        points = tradeoff_of(tuned.pool, tuned.budget, objective)
        frame = frames.tradeoff(points, tuned.pool, objective, tuned.now)
        show(draw.tradeoff(frame, objective, palette()), "tune_tradeoff", point_chosen)
    with right:
        pair_map(tuned, share, objective)
    if objective is not Objective.RELEVANT and Objective.RELEVANT not in objectives(tuned.pool):
        st.caption(
            "This input marks no document as relevant, so the goal can only count documents or words, which favours "
            "large prompts. Marks come from a field such as `relevant`, `is_gold` or `hasanswer`, or from judgements: "
            "see *What is relevant* in the sidebar."
        )


def compared(tuned: Tuned, found: Answer) -> None:
    """Show the best pair beside the runner-up, one limit alone, and the limits of now."""
    frame = frames.answers(found, tuned.now)
    columns = st.column_config
    shown = frame if tuned.now.recall is not None else frame.drop(columns=["recall", "losing"])
    st.dataframe(
        shown,
        hide_index=True,
        placeholder="none",
        column_config={
            "what": columns.TextColumn("", width=110),
            "word_count_threshold": columns.NumberColumn("Threshold", format="localized", width=70),
            "top_k": columns.NumberColumn("top_k", width=50),
            "over": columns.NumberColumn("Over", help="Queries over the budget", format="localized", width=70),
            "over_share": columns.NumberColumn("Over, %", format="%.1f", width=60),
            "recall": columns.NumberColumn("Relevant kept, %", format="%.1f", width=110),
            "losing": columns.NumberColumn(
                "Lose one, %", format="%.1f", width=85, help="Of queries with a relevant one"
            ),
            "documents": columns.NumberColumn("Documents", format="localized", width=70),
            "median_tokens": columns.NumberColumn("Tokens, median", format="localized"),
            "p95_tokens": columns.NumberColumn("95%", format="localized"),
            "most_tokens": columns.NumberColumn("Largest", format="localized"),
        },
        alt="The best pair of limits beside the runner-up, the threshold alone, top_k alone and the limits of now",
    )
    st.caption(verbatim(searched(found)))


def pair_map(tuned: Tuned, share: float, objective: Objective) -> None:
    """Show the map of pairs for a goal.

    :param tuned: what the page is about, with a budget.
    :param share: the share of queries that may exceed the budget, 0 to 1.
    :param objective: what to keep.
    """
    budget = tuned.budget or 0
    found = best_of(tuned.pool, budget, share, objective)
    chosen = [tuned.now, *([found.best] if found.best is not None else [])]
    rows = (*round_thresholds(tuned.pool), *(each.word_count_threshold for each in chosen))
    columns = (*some_top_ks(tuned.pool.longest), *(each.top_k for each in chosen))
    table = grid_of(tuned.pool, tuple(dict.fromkeys(rows)), tuple(dict.fromkeys(columns)), budget)
    frame = frames.pairs(table, tuned.pool, objective, found.allowed, tuned.now, found.best)
    goal = (
        f"Blue: at most {100 * share:g}% of the queries over; number: {objective} kept, in percent; grey: more over; "
        f"★ best; outlined: your limits. Click one"
    )
    show(draw.pairs(frame, goal, palette()), "tune_pairs", pair_chosen)


def pair_chosen() -> None:
    """Take the pair a person chose in the map."""
    _take("tune_pairs", "pair")


def point_chosen() -> None:
    """Take the pair a person chose along the trade-off."""
    _take("tune_tradeoff", "point")


def _take(chart: str, name: str) -> None:
    chosen = state[chart].selection.get(name, [])
    if chosen and "threshold" in chosen[-1]:
        use(int(chosen[-1]["threshold"]) or None, int(chosen[-1]["top_k"]) or None)
