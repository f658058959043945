"""The Pipeline: retrieve, join, rank, arrange, build the prompt, from real Haystack components, each stage visible."""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lim.errors import LimError
from lim.frames import pipeline as frames
from lim.stages import Configuration, Trace, availability, nodes, run
from lim.stages.build import Node
from lim.views.stages import diagram, results
from lim.views.stages.form import Form, choose
from lim.views.stages.results import Shown
from lim.widgets import Picked, documents_there, palette, pick_documents, stage, verbatim, watch_theme
from lim.widgets.pipeline import Job, configuration, models, warm_up

LIVE_DOCUMENTS = 2_000  # the most that run through light stages at every change, without a click
QUICK_SECONDS = 0.3  # a run that is over by then shows no progress
TICK_SECONDS = 0.5
STAND_IN = "no model"
SLIDES = ["The pipeline", "What is dropped", "The prompt"]

state = st.session_state


def drawable(config: Configuration) -> Configuration:
    """Put a stand-in where the server offers no model, so that a pipeline that cannot run is drawn at least."""
    return replace(
        config,
        cross_encoders=config.cross_encoders or (STAND_IN,),
        embedders=config.embedders or (STAND_IN,),
        chat_models=config.chat_models or (STAND_IN,),
    )


@st.fragment(key="pipeline")
def page(picked: Picked, slide: int | None) -> None:
    """Everything that reacts to the stages: it runs alone, without the picker."""
    config = configuration()
    warm_up()
    with stages_slot:
        form = choose(picked, config)
    head, action = st.container(), st.container()
    try:
        listed = nodes(form.plan, drawable(config))
    except LimError as error:
        head.title("This is no pipeline yet", anchor=False)
        st.error(verbatim(str(error)), title="One choice does not fit")
        return
    blocked = [node for node in listed if not availability(node.stage.key, config).ok]
    trace, shown_run = outcome(picked, form, config, listed, blocked, action)
    with head:
        title(trace, blocked, running=shown_run is not None)
    if not slide:
        st.html(diagram.draw(diagram.cards(listed, trace, [node.name for node in blocked]), palette()))
    for node in blocked:
        st.warning(
            verbatim(f"{availability(node.stage.key, config).remedy}"), title=f"{node.stage.title} cannot run here"
        )
    if shown_run is not None:
        under_way(shown_run)
    documents = picked.bench.ranked.documents
    shown = Shown(form.plan, listed, trace, documents, form.others, form.query, config)
    if trace is not None and shown_run is None:
        failure(trace)
        if slide is not None:
            results.slide(slide, shown, trace)
            return
        if trace.prompt is not None:
            figures(trace)
        results.overview(shown, trace)
    if slide is None:
        results.tabs(shown)


def outcome(
    picked: Picked,
    form: Form,
    config: Configuration,
    listed: tuple[Node, ...],
    blocked: list[Node],
    action: DeltaGenerator,
) -> tuple[Trace | None, Job | None]:
    """Find the run of this pipeline on these documents: the last one, one under way, or a new one if it is light."""
    documents = picked.bench.ranked.documents
    identity = (repr(form.plan), form.query, hash(picked.bench.key), form.others_index, repr(config))
    job: Job | None = state.get("pipeline_job")
    if job is not None and job.identity != identity:
        job.stop()
        state["pipeline_job"] = job = None
    if state.get("pipeline_of") != identity:
        state["pipeline_of"], state["pipeline_error"] = identity, ""
    if job is not None and job.wait(QUICK_SECONDS):
        finish(job)
        job = None
    kept = state.get("pipeline_run")
    trace: Trace | None = kept[1] if kept is not None and kept[0] == identity else None
    if blocked:
        return None, None
    light = not any(node.stage.needs for node in listed) and len(documents) + len(form.others) <= LIVE_DOCUMENTS
    loaded = models()
    if trace is None and light:
        trace = run(form.plan, documents, form.query, config, others=form.others, models=loaded)
        state["pipeline_run"] = (identity, trace)

    def start() -> None:
        state["pipeline_job"] = Job(
            identity,
            lambda progress, cancelled: run(
                form.plan,
                documents,
                form.query,
                config,
                others=form.others,
                progress=progress,
                cancelled=cancelled,
                models=loaded,
            ),
        )

    again = trace is not None and (not light or trace.failure is not None)
    if job is None and (trace is None or again):
        action.button(
            "Run again" if again else "Run the pipeline",
            on_click=start,
            type="secondary" if again else "primary",
            icon=":material/play_arrow:",
            key="pipeline_start",
        )
    return trace, job


def finish(job: Job) -> None:
    """Keep what a run that has ended left behind."""
    state["pipeline_job"] = None
    if job.trace is not None:
        state["pipeline_run"] = (job.identity, job.trace)
    state["pipeline_error"] = job.error


@st.fragment(run_every=TICK_SECONDS)
def under_way(job: Job) -> None:
    """Show how far a run is, and let a person stop it."""
    if job.wait(0):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(max(job.share, 0.0), 1.0), verbatim(job.text))
        if job.stopping:
            st.caption("Stopping; what loads, embeds or waits for a server ends first …")
        else:
            st.button("Stop", on_click=job.stop, icon=":material/stop_circle:", key="pipeline_stop")


def title(trace: Trace | None, blocked: list[Node], *, running: bool) -> None:
    """Say first whether the order reaches the prompt."""
    if running:
        st.title("The pipeline runs …", anchor=False)
    elif trace is not None:
        st.title(frames.headline(trace), anchor=False)
    elif blocked:
        st.title(f"{blocked[0].stage.title} cannot run on this server", anchor=False)
    else:
        st.title("This pipeline has not run yet", anchor=False)
        if state.get("pipeline_error"):
            st.error(verbatim(state["pipeline_error"]), title="The run ended early")


def figures(trace: Trace) -> None:
    """Show the figures of a run."""
    reached = trace.verdict.reached
    loading = sum(stage.loading_seconds for stage in trace.stages)
    with st.container(horizontal=True, gap="medium"):
        st.metric("Documents in the prompt", f"{len(set(reached)):,} of {len(trace.documents):,}")
        st.metric("Words in the prompt", f"{len(trace.prompt.text.split()):,}" if trace.prompt else "–")
        st.metric("Time", seconds(sum(stage.seconds for stage in trace.stages)), help="Of all stages together")
        if loading >= 0.01:
            st.metric(
                "Loading models",
                seconds(loading),
                help="Once a server, with what they stand on; and waiting for another run that uses one",
            )


def seconds(value: float) -> str:
    """Write a time as a person reads it."""
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def failure(trace: Trace) -> None:
    """Say why a run ended early: the stage, the cause, the remedy."""
    if (failed := trace.failure) is not None:
        words = f"{failed.cause} {failed.remedy}".strip()
        if failed.cancelled:
            st.info(verbatim(words), title=f"Stopped at {failed.title}")
        else:
            st.error(verbatim(words), title=f"{failed.title} failed")


view = stage("Documents and stages", rest=21)
slide = view.slide(SLIDES, "A Haystack pipeline of real components, each stage visible")
with view.tools:
    picked = pick_documents()
    watch_theme()
    stages_slot = st.container()
if (there := documents_there(picked, "What does each stage do to your documents?")) is not None:
    page(there, slide)
