"""Evidence: what was measured, with its source, and what that says about one list."""

import streamlit as st

from lim import evidence, metrics, orders, story
from lim.charts import evidence as draw
from lim.charts import expected as draw_list
from lim.charts.lesson import cards
from lim.errors import LimError
from lim.evidence import Curve
from lim.frames import evidence as frames
from lim.frames import lesson as lesson_frames
from lim.frames import preview
from lim.views.studies import FINDING, beside
from lim.widgets import Bench, palette, pick_documents, show, sources, stage, tabbed, verbatim, watch_theme

MOST_CARDS = 12
MOST_BARS = 200
BELIEFS = {
    "Falling": "Each document, if no better one has the answer, has it with the same probability",
    "Anywhere": "The answer is equally likely in every document",
    "At one rank": "The answer is in one document, whose rank you know",
    "From the scores": "The softmax of the scores: takes them for log-odds, as cross-encoders give them",
}

state = st.session_state


def all_curves() -> None:
    """Show every curve of a number of documents, small and on one axis."""
    lengths = [f"{length:,}" for length in frames.measured_lengths()]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = st.segmented_control(
            "Documents in the prompt",
            lengths,
            default="20",
            required=True,
            key="curves_at",
            bind="query-params",
            wrap=True,
        )
        names = [study.name for study in evidence.studies() if any(c.study == study.name for c in evidence.curves())]
        chosen = st.pills(
            "Studies", names, default=names, selection_mode="multi", key="curves_of", bind="query-params", wrap=True
        )
    shown = [
        curve for curve in evidence.curves() if f"{curve.documents:,}" == length and curve.study in (chosen or names)
    ]
    st.caption("Dashed: accuracy without any document. Dotted: with the answer document alone. Both where reported.")
    if not shown:
        st.info("The chosen studies measured no prompt of that many documents.")
        return
    with st.grid("auto", min_column_width=300):
        for curve in shown:
            with st.container():
                show(draw.curve(frames.points([curve]), palette(), compact=True), f"curve_{curve.key}")
    sources(frames.points(shown))


def whole_pipelines() -> None:
    """Show whole pipelines with the order of their passages varied."""
    rows = frames.orderings(evidence.orderings())
    left, right = st.columns([3, 2], gap="medium")
    with left:
        accuracy = rows[rows["percent"]]
        show(draw.differences(accuracy, palette()), "differences")
        sources(accuracy)
    with right:
        rag = rows[~rows["percent"]]
        show(draw.scores(rag, palette()), "scores")
        sources(rag)
    for study in evidence.studies():
        if study.name in set(rows["study"]):
            st.markdown(f"**{study.name}, {study.finding.value}.** {study.shows}")


def chosen_list() -> Bench | None:
    """Let a person choose the list; return it, or None (with a word to the person) while there is none."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Your documents", icon=":material/description:"):
            picked = pick_documents()
        if picked is not None and picked.bench.unlimited.walk:
            name = picked.sample.title if picked.sample else picked.bench.ranked.name
            st.text(f"{preview(name)}: {story.plural(len(picked.bench.unlimited.walk), 'document')}")
            return picked.bench
    st.info("Choose, paste or upload a list with at least one document.")
    return None


def your_list() -> None:
    """Read a published curve for the orders of a person's list, under an assumption they choose."""
    bench = chosen_list()
    if bench is None:
        return
    ranked = len(bench.unlimited.walk)
    left, right = st.columns([2, 3], gap="large")
    with left:
        if state.get("in_prompt", 0) > ranked:
            state["in_prompt"] = ranked
        count = st.number_input(
            f"Documents in the prompt, of {ranked:,}",
            1,
            ranked,
            frames.covered_length(ranked),
            key="in_prompt",
            bind="query-params",
            help="The first of your list, duplicates left out; the rest does not reach the prompt.",
        )
        curve = which_curve(count)
        where = assumed(bench, ranked, count)
        if where is not None and ranked <= MOST_BARS:
            show(draw_list.assumption(frames.assumption(where, count), palette()), "assumption")
    with right:
        if curve is None:
            lengths = ", ".join(f"{length:,}" for length in frames.measured_lengths())
            st.info(
                f"Prompts were measured with {lengths} documents. A curve is read for up to "
                f"{evidence.LENGTH_TOLERANCE_PERCENT}% more or fewer, and not for {count:,}: choose another number.",
                title=f"Nobody measured a prompt of {story.plural(count, 'document')}",
            )
        elif where is not None:
            table = frames.expected(curve, where, count)
            show(draw_list.expected(table, palette()), "expected")
            st.markdown(draw_list.shares(table))
            sources(frames.points([curve]))
    st.caption(
        "Arithmetic on a published table, not a forecast: another model, other documents and other questions were "
        "measured than yours. Between two measured places it reads the straight line; an answer that does not reach "
        "the prompt counts with the accuracy without documents."
    )


def which_curve(count: int) -> Curve | None:
    """Let a person choose among the curves that speak about prompts of a length."""
    fitting = {f"{curve.model}, {curve.documents:,} ({curve.study})": curve for curve in evidence.curves_at(count)}
    if not fitting:
        return None
    labels = list(fitting)
    if state.get("read_curve") not in (None, *labels):
        del state["read_curve"]  # the length before had other curves
    first = next((label for label in labels if label.startswith("GPT-3.5-Turbo,")), labels[0])
    chosen = st.selectbox("Curve", labels, index=labels.index(first), key="read_curve", bind="query-params")
    return fitting[chosen]


def assumed(bench: Bench, ranked: int, count: int) -> tuple[float, ...] | None:
    """Let a person assume where the answer is."""
    belief = st.segmented_control(
        "Where the answer is",
        list(BELIEFS),
        default="Falling",
        required=True,
        key="answer_is",
        bind="query-params",
        wrap=True,
    )
    st.caption(f"{BELIEFS[belief or 'Falling']}.")
    if belief == "Anywhere":
        return evidence.uniform(ranked)
    if belief == "At one rank":
        if state.get("answer_rank", 0) > ranked:
            state["answer_rank"] = ranked
        middle = min(max(count // 4, 1), ranked)
        return evidence.at_rank(
            st.number_input("Its rank", 1, ranked, middle, key="answer_rank", bind="query-params"), ranked
        )
    if belief == "From the scores":
        walk = bench.unlimited.walk
        scores = [bench.unlimited.inputs[rank - 1].score for rank in walk]
        try:
            return evidence.from_scores(scores)
        except LimError as error:
            st.error(verbatim(str(error)), title="The scores do not say")
            return None
    chance = st.slider("That probability", 0.05, 0.95, 0.3, 0.05, key="answer_chance", bind="query-params")
    return evidence.geometric(chance, ranked)


def your_metrics() -> None:
    """Show what the order after the ranker costs rank-aware metrics."""
    bench = chosen_list()
    if bench is None:
        return
    ranked = len(bench.unlimited.walk)
    left, right = st.columns([2, 3], gap="large")
    with left:
        how = st.segmented_control(
            "Relevant documents",
            ["The first ones", "I mark them"],
            default="The first ones",
            required=True,
            key="relevant",
            bind="query-params",
        )
        if how == "I mark them":
            walk = bench.unlimited.walk
            texts = [preview(bench.unlimited.inputs[rank - 1].content or "", 60) for rank in walk[:MOST_BARS]]
            names = {f"{place}. {text}": place for place, text in enumerate(texts, 1)}
            marked = st.multiselect("Marked as relevant", list(names), key="marked", persist_state="page")
            grades = frames.grades([names[name] for name in marked if name in names], ranked)
            said = f"{story.plural(len(marked), 'document')} marked"
        else:
            if state.get("relevant_top", 0) > ranked:
                state["relevant_top"] = ranked
            top = st.number_input(
                "How many", 1, ranked, min(5, ranked), key="relevant_top", bind="query-params", help="Ranks 1 to this"
            )
            grades, said = metrics.top(top, ranked), f"Taken for relevant: the first {top:,} of {ranked:,}"
        st.markdown(
            "Average precision, nDCG and the reciprocal rank reward relevant documents that come **early**. The ranker "
            "moves half of the best to the **end**, on purpose. Measured after it, the same retrieval looks worse, "
            "and a change for the better may look like a change for the worse. **Measure before this step.** Recall "
            "over the whole prompt is the one that cannot change."
        )
    with right:
        if not any(grades):
            st.info("Mark at least one document as relevant.")
            return
        listed, after = list(range(1, ranked + 1)), orders.haystack(range(ranked, 0, -1))
        comparison = metrics.compare(listed, after, grades, min(5, ranked))
        show(draw_list.metric_change(frames.metric_rows(comparison), said, palette()), "metric_change")
        st.caption("Definitions of trec_eval, computed here from your list's order: no published number is in it.")


def other_frameworks() -> None:
    """Lay one list out as every framework does, side by side."""
    bench = chosen_list()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = st.number_input("Documents", 1, MOST_CARDS, 6, key="frameworks_of", bind="query-params", width=150)
        kinds = ["Falling", "All equal"]
        if bench is not None and bench.unlimited.walk:
            kinds.append("Your list’s")
        kind = st.segmented_control(
            "Scores", kinds, default="Falling", required=True, key="frameworks_scores", bind="query-params", wrap=True
        )
    scores: list[float | None] = [1.0] * count if kind == "All equal" else [float(rank) for rank in range(count, 0, -1)]
    if kind == "Your list’s" and bench is not None:
        walk = bench.unlimited.walk[:count]
        scores = [bench.unlimited.inputs[rank - 1].score for rank in walk]
    rows, refused = frames.frameworks(scores)
    left, right = st.columns([3, 2], gap="large")
    with left:
        title, subtitle = frames.framework_finding(rows, scores)
        table = lesson_frames.cards(rows, len(scores), dict.fromkeys(rows, 1))
        show(cards(table, title, subtitle, palette()), "frameworks")
        for name, reason in refused.items():
            st.caption(f"{name}: {verbatim(reason)}")
    with right:
        st.markdown(
            "**The even-number flip.** LangChain and LlamaIndex begin with the worst document and work outwards, so "
            "with an odd number the best comes first, and with an even number last. One document more or less turns "
            "the prompt around. Haystack begins with the best, which is first whatever the number."
        )
        st.markdown(
            "**The tie trap.** LlamaIndex sorts by score first, lowest first, and a missing score counts as 0. Equal "
            "scores keep their order, which then counts as worst first: the best document ends up in the middle."
        )
        st.table(
            frames.systems(),
            hide_index=True,
            alt="What to know about each system's order, and the version it was learned from",
        )


def every_row() -> None:
    """Show every measured number with its source."""
    table = frames.every_row()
    columns = st.column_config
    st.dataframe(
        table,
        hide_index=True,
        height=480,
        column_config={
            "study": columns.TextColumn("Study"),
            "setting": columns.TextColumn("What was measured", width="medium"),
            "model": columns.TextColumn("Model"),
            "documents": columns.NumberColumn("Documents", width=90),
            "what": columns.TextColumn("Varied"),
            "result": columns.NumberColumn("Result", help="Percent, or 0 to 1 for a RAG score", width=70),
            "low": columns.NumberColumn("95% from", width=80),
            "high": columns.NumberColumn("to", width=60),
            "questions": columns.NumberColumn("Questions", width=85),
            "closed_book": columns.NumberColumn("No documents", width=105),
            "oracle": columns.NumberColumn("Answer alone", width=100),
            "source": columns.TextColumn("Source", width="medium"),
            "status": columns.TextColumn("Review"),
            "url": columns.LinkColumn("Read it", display_text="open", width=70),
        },
        alt=f"All {len(table):,} published results with their sources",
    )
    for study in evidence.studies():
        st.markdown(f"[{study.name}: {study.title}]({study.url}). {verbatim(study.source)}. {study.shows}")


bodies = {
    "Your list": your_list,
    "All curves": all_curves,
    "Whole pipelines": whole_pipelines,
    "Your metrics": your_metrics,
    "Other frameworks": other_frameworks,
    "Every row": every_row,
}
view = stage("Slides")
slide = view.slide(["Studies", *list(bodies)[:-1]], "Every published measurement, each with its source")
watch_theme()
if slide is None:
    st.title(FINDING, anchor=False)
    st.markdown(
        "Strong in 2023 for some models; small and different from model to model at 10 to 30 documents with today’s; "
        "back at hundreds of documents; and in one realistic study no order was better than shuffling."
    )
    beside()
    tabbed(bodies, "shown")
else:
    name, body = [(FINDING, beside), *bodies.items()][slide]
    st.title(name, anchor=False)
    body()
